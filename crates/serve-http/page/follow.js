// Keeps the store up to date: loads everything, then follows the event stream.

import { get } from "./api.js";
import { loadHeld } from "./held.js";
import { Stream } from "./stream.js";
import { announce } from "./dom.js";
import { notify } from "./notify.js";
import { changed, handleOf, lockKey, store } from "./store.js";

/** How often it is told that tools wrote. */
const WRITTEN = 500;

const events = new Set();
const screens = new Set();
let stream = null;

/** Receives every update of every session. */
export function onUpdate(listener) {
  events.add(listener);
  return () => events.delete(listener);
}

/** Hears every screen that is drawn. */
export function onScreen(listener) {
  screens.add(listener);
  return () => screens.delete(listener);
}

export function follow() {
  stream = new Stream(address(), { event: take, state: setConnection });
  stream.start();
}

/** The screens that are drawn, and how often at most. */
let drawn = { list: "", pause: 40 };

/** Draws these screens from now on, `SESSION/HANDLE` separated by commas, at most this often. */
export function watchScreens(list, pause = 40) {
  drawn = { list, pause };
  stream?.move(address());
}

/** Names the page's locks with its stream: they are handed back when it breaks. */
export function holdLocks() {
  stream?.move(address());
}

function address() {
  const query = new URLSearchParams({ written_ms: WRITTEN });
  if (drawn.list) {
    query.set("screens", drawn.list);
    query.set("pause_ms", drawn.pause);
  }
  const held = [...store.locks].map(([key, lock]) => `${key}/${lock}`);
  if (held.length) query.set("holding", held.join(","));
  return `/events?${query}`;
}

function setConnection(state) {
  const before = store.connection;
  store.connection = state;
  if (state === "live" && before !== "live") load();
  changed();
}

/** Events that arrive during the load. The replies may not include them, so they are applied afterwards. */
let later = null;
const AGAIN = 1000;

/** Loads everything. Of concurrent loads the newest counts. */
export async function load() {
  const events = (later = [...(later ?? [])]);
  try {
    const [sessions, permissions, questions] = await Promise.all([
      get("/sessions"),
      get("/permissions"),
      get("/questions"),
    ]);
    if (later !== events) return;
    store.taking.clear();
    for (const id of store.sessions.keys()) {
      if (!sessions.some((info) => info.id === id)) store.sessions.delete(id);
    }
    for (const info of sessions) takeSession(info);
    store.asks.clear();
    for (const request of permissions) store.asks.set(request.id, permissionAsk(request));
    for (const question of questions) store.asks.set(question.ask, questionAsk(question.session, question));
    takeLater(events);
    changed();
    await Promise.all([...store.sessions.keys()].map(loadHandles));
    await Promise.all([loadPast(), loadHeld()]);
  } catch {
    if (later !== events) return;
    takeLater(events);
    // When the server is gone, the stream reports that, and everything is reloaded when it is back.
    setTimeout(() => store.connection === "live" && load(), AGAIN);
  }
}

function takeLater(events) {
  later = null;
  for (const [name, data] of events) take(name, data);
}

let pastLoads = 0;

/** Reloads the recorded sessions, or older ones too. Of concurrent loads the newest counts. */
export async function loadPast(more = false) {
  const own = ++pastLoads;
  const last = more ? store.past.at(-1) : null;
  const before = last ? `&before=${encodeURIComponent(last.id)}` : "";
  const found = await get(`/record/sessions?limit=50${before}`).catch(() => []);
  if (own !== pastLoads) return;
  store.past = more ? [...store.past, ...found] : found;
  store.pastIsWhole = found.length < 50;
  changed();
}

/** Reloads the data of the sessions themselves. A session that has closed meanwhile is not added again. */
async function loadSessions() {
  for (const info of await get("/sessions").catch(() => [])) {
    if (store.sessions.has(info.id)) takeSession(info);
  }
  changed();
}

function takeSession(info) {
  const known = store.sessions.get(info.id);
  if (known) known.info = info;
  else store.sessions.set(info.id, { info, handles: new Map() });
}

/** Looks at one session now, which may be new to the page. */
export async function loadSession(id) {
  takeSession(await get(`/sessions/${encodeURIComponent(id)}`));
  await loadHandles(id);
  changed();
}

const loading = new Map();

/** The interval at which the resource use of the shown session is fetched. */
const USE_EVERY = 2000;

/** Polls the CPU and memory use of the handles of the shown session, because no event reports it. */
export function followUse() {
  setInterval(() => {
    const id = store.shown.session;
    const handles = [...(store.sessions.get(id)?.handles.values() ?? [])];
    const isUsed = handles.some((handle) => handle.info.usage && handle.info.state !== "stopped");
    if (isUsed && !document.hidden && store.connection === "live") loadHandles(id);
  }, USE_EVERY);
}

/** Reloads a session's handles: at once, and once more if requested meanwhile. */
async function loadHandles(id) {
  if (loading.has(id)) {
    loading.set(id, true);
    return;
  }
  loading.set(id, false);
  try {
    const infos = await get(`/sessions/${encodeURIComponent(id)}/handles`);
    const session = store.sessions.get(id);
    if (session) {
      const at = performance.now();
      session.handles = new Map(infos.map((info) => [info.id, { info, at }]));
      changed();
    }
  } catch {
    // It has ended, or the server is gone; the stream reports that.
  }
  const again = loading.get(id);
  loading.delete(id);
  if (again) await loadHandles(id);
}

function take(name, data) {
  if (name === "screen") {
    for (const listener of screens) listener(data);
  } else if (name === "written") {
    for (const id of new Set(data.handles.map((place) => place.session))) loadHandles(id);
    for (const place of data.handles) tell({ ...place, type: "wrote" });
  } else if (name === "missed") {
    if (store.connection === "live") load();
  } else if (later) {
    later.push([name, data]);
  } else if (name === "session") {
    takeSession(data);
    loadHandles(data.id);
    if (store.held.length) loadHeld();
    changed();
  } else if (name === "peer_gone") {
    for (const [id, session] of store.sessions) if (session.info.pid === data.pid) end(id);
    loadHeld();
    changed();
  } else if (name === "update") {
    update(data);
    tell(data);
  }
}

function tell(event) {
  for (const listener of events) listener(event);
}

function end(id) {
  store.sessions.delete(id);
  loadHeld();
  for (const [key, ask] of store.asks) if (ask.session === id) store.asks.delete(key);
  loadPast();
}

/** What an update does to a handle's state before its handle is looked at again. */
const STATES = { started: "running", asked: "waiting", answered: "running", stopped: "stopped" };

function update(event) {
  const { session, type } = event;
  if (type === "permission") {
    const ask = permissionAsk(event.request);
    store.asks.set(ask.id, ask);
    notify(ask);
    announce(`Permission asked: ${ask.request.metadata.rendering?.title ?? ask.request.permission}`);
  } else if (type === "permission_replied") store.asks.delete(event.permission);
  else if (type === "question") {
    store.asks.set(event.ask, questionAsk(session, event));
    notify(store.asks.get(event.ask));
    announce(`Question: ${event.question.text}`);
  } else if (type === "question_closed") store.asks.delete(event.ask);
  else if (type === "closed") end(session);
  else if (type === "noticed" && event.notice.kind === "record") loadSessions();
  else if (type === "locked") store.taking.delete(lockKey(session, event.handle));
  else if (type === "unlocked" || (type === "stopped" && event.handle)) {
    const key = lockKey(session, event.handle);
    if (type === "stopped") store.taking.delete(key);
    if (!store.taking.has(key)) store.locks.delete(key);
  }
  if (type in STATES || type === "turn_ended" || type === "locked" || type === "unlocked" || event.action === "spawn") {
    const id = event.handle ?? event.one_shot;
    const handle = id && handleOf(session, id);
    if (handle && type in STATES) {
      handle.info = { ...handle.info, elapsed_secs: handle.info.elapsed_secs + (performance.now() - handle.at) / 1000, state: STATES[type] };
      handle.at = performance.now();
    }
    loadHandles(session);
  }
  changed();
}

function permissionAsk(request) {
  return { id: request.id, kind: "permission", session: request.sessionID, request };
}

function questionAsk(session, ask) {
  return { id: ask.ask, kind: "question", session, handle: ask.handle, ask };
}
