// The left: sessions with their handles, and past sessions.

import { show } from "./address.js";
import { el, keyed, setAttr, setText } from "./dom.js";
import { isFiltering, isWanted, setUpFilters } from "./filters.js";
import { loadPast } from "./follow.js";
import { day, elapsed, folder, short, use } from "./format.js";
import { asksOf, elapsedOf, lockKey, needsYou, store } from "./store.js";

const filters = document.getElementById("filters");
const list = document.getElementById("sessions");
const past = document.getElementById("past");
setUpFilters(filters);

export function showSide() {
  const sessions = [...store.sessions.values()].sort((one, other) => other.info.created - one.info.created);
  keyed(list, sessions, (session) => session.info.id, makeSession, updateSession);
  list.classList.toggle("empty", sessions.length === 0 && store.connection === "live");
  showPast();
}

function makeSession({ info }) {
  const title = el("button", { class: "session-title", onclick: () => show({ session: info.id, handle: null, tab: null }) });
  title.append(
    el("span", { class: "name" }, folder(info.root)),
    el("span", { class: "badge" }, info.front_end),
    el("span", { class: "faint" }, short(info.id)),
    el("span", { class: "grow" }),
    el("span", { class: "count" }),
  );
  title.title = `${info.root}\n${info.id}, process ${info.pid}`;
  return el("section", { class: "session", "aria-label": `Session ${folder(info.root)}, ${info.front_end}, ${short(info.id)}` }, title, el("ul", { class: "handles" }));
}

function updateSession(node, session) {
  const { info, handles } = session;
  const wanted = [...handles.values()].filter((handle) => isWanted(info, handle.info));
  const active = [...handles.values()].filter((handle) => handle.info.state !== "stopped").length;
  node.hidden = isFiltering() && wanted.length === 0;
  const title = node.firstChild;
  setText(title.lastChild, info.record?.error ? "not recorded" : active ? `${active} active` : "idle");
  setAttr(title.lastChild, "title", info.record?.error ? `The record cannot be written (${info.record.error}): ${info.record.waiting} changes are waiting, ${info.record.lost} are lost.` : null);
  setAttr(title, "aria-current", store.shown.session === info.id && !store.shown.handle ? "true" : null);
  node.classList.toggle("needs-you", asksOf(info.id).length > 0);
  wanted.sort((one, other) => rank(one) - rank(other));
  keyed(node.lastChild, wanted, (handle) => handle.info.id, (handle) => makeHandle(info.id, handle), (item, handle) => updateHandle(item, info.id, handle));
}

/** What runs comes before what has stopped. */
function rank(handle) {
  return handle.info.state === "stopped" ? 1 : 0;
}

function makeHandle(session, { info }) {
  const button = el("button", { class: "handle", onclick: () => show({ session, handle: info.id, tab: "output" }) });
  button.append(
    el("span", { class: "dot" }),
    el("span", { class: "name" }, info.id),
    el("span", { class: "tool" }),
    el("span", { class: "grow" }),
    el("span", { class: "state" }),
    el("span", { class: "elapsed" }),
    el("span", { class: "last" }),
  );
  return el("li", {}, button);
}

function updateHandle(item, session, handle) {
  const { info } = handle;
  const button = item.firstChild;
  const [dot, , tool, , state, time, last] = button.children;
  const mine = store.locks.has(lockKey(session, info.id));
  const needs = needsYou(session, info);
  const word = info.state === "stopped" && info.failed ? "failed" : info.state;
  setAttr(dot, "data-state", needs ? "needs-you" : word);
  setText(tool, info.kind === "one_shot" ? `${info.tool} · one-shot` : info.tool);
  button.title = info.command ?? "";
  setText(state, mine ? "yours" : info.locked ? "taken over" : needs ? "needs you" : word);
  setText(time, elapsed(elapsedOf(handle)));
  setAttr(time, "title", use(info.usage) || null);
  setText(last, info.state === "waiting" && info.question ? info.question.text : (info.last_line ?? info.result ?? info.command ?? ""));
  setAttr(button, "aria-current", store.shown.session === session && store.shown.handle === info.id ? "true" : null);
}

let pastIsOpen = false;

function showPast() {
  const over = store.past.filter((record) => !store.sessions.has(record.id));
  past.hidden = over.length === 0;
  if (!past.firstChild) {
    const toggle = el("button", { class: "past-title", "aria-expanded": "false" }, "Past sessions");
    toggle.addEventListener("click", () => {
      pastIsOpen = !pastIsOpen;
      setAttr(toggle, "aria-expanded", String(pastIsOpen));
      showPast();
    });
    const more = el("button", { class: "more", onclick: () => loadPast(true) }, "Earlier sessions");
    past.append(toggle, el("ul", { class: "past-list" }), more);
  }
  const [, entries, more] = past.children;
  entries.hidden = !pastIsOpen;
  more.hidden = !pastIsOpen || store.pastIsWhole;
  if (pastIsOpen) keyed(entries, over, (record) => record.id, makePast, updatePast);
}

function makePast(record) {
  const button = el("button", { class: "past-session", onclick: () => show({ session: record.id, handle: null, tab: "timeline" }) });
  button.append(
    el("span", { class: "name" }, record.title || folder(record.directory)),
    el("span", { class: "badge" }, record.frontEnd),
    el("span", { class: "grow" }),
    el("span", { class: "faint" }, day(record.time.created)),
  );
  button.title = `${record.directory}\n${record.id}`;
  return el("li", {}, button);
}

function updatePast(item, record) {
  setAttr(item.firstChild, "aria-current", store.shown.session === record.id ? "true" : null);
}
