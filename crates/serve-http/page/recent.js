// The calls of the last hour in all sessions, the newest first, and those of
// them that failed.

import { get } from "./api.js";
import { show } from "./address.js";
import { el, keyed, setAttr, setText } from "./dom.js";
import { onUpdate } from "./follow.js";
import { clock, folder } from "./format.js";
import { startOf, stateOf, titleOf, tookOf } from "./part.js";
import { handleOf, store } from "./store.js";

const HOUR = 3_600_000;
/** How many sessions are read, and how many messages of each. */
const SESSIONS = 20;
const MESSAGES = 30;
/** How many calls are listed. */
const LISTED = 40;

export function openRecent() {
  const list = el("ol", { class: "recent" });
  const none = el("p", { class: "faint" });
  const title = el("h2", {});
  const failedOnly = el("button", { class: "chip", "aria-pressed": "false", onclick: () => toggle() }, "Failed");
  const node = el("section", { class: "home-part", "aria-label": "The last hour" }, el("header", {}, title, el("span", { class: "grow" }), failedOnly), list, none);
  /** By the id of the part: `{ session, part, at }`. */
  const calls = new Map();
  const read = new Set();
  let isFailedOnly = false;

  function toggle() {
    isFailedOnly = !isFailedOnly;
    setAttr(failedOnly, "aria-pressed", String(isFailedOnly));
    draw();
  }

  const stop = onUpdate((event) => {
    if (event.type !== "part") return;
    keep(event.session, event.part, startOf(event.part) ?? event.at);
    later();
  });

  function keep(session, part, at) {
    if (part.type === "tool") calls.set(part.id, { session, part, at });
  }

  async function load(session) {
    read.add(session);
    const path = `/record/sessions/${encodeURIComponent(session)}/messages?limit=${MESSAGES}&brief=true`;
    const messages = await get(path).catch(() => []);
    for (const message of messages) for (const part of message.parts) if (!calls.has(part.id)) keep(session, part, startOf(part, message));
    later();
  }

  let due = 0;
  function later() {
    due ||= setTimeout(draw, 300);
  }

  function draw() {
    clearTimeout(due);
    due = 0;
    const since = Date.now() - HOUR;
    for (const [id, call] of calls) if (call.at < since) calls.delete(id);
    const all = [...calls.values()].sort((one, other) => other.at - one.at);
    const failed = all.filter((call) => outcomeOf(call) === "failed");
    setText(title, `The last hour: ${all.length} calls, ${failed.length} failed`);
    const shown = (isFailedOnly ? failed : all).slice(0, LISTED);
    none.hidden = shown.length > 0;
    setText(none, isFailedOnly ? "No call has failed." : "There were no calls.");
    keyed(list, shown, ({ part }) => part.id, makeCall, updateCall);
  }

  return {
    node,
    update() {
      const since = Date.now() - HOUR;
      const wanted = store.past.filter((record) => (record.time.updated ?? record.time.created) > since).slice(0, SESSIONS);
      for (const { id } of wanted) if (!read.has(id)) load(id);
      if (!title.textContent) draw();
    },
    close() {
      stop();
      clearTimeout(due);
    },
  };
}

/** How a call stands; a spawn went well, but its handle may have failed since. */
function outcomeOf({ session, part }) {
  const { action, handle } = part.metadata ?? {};
  const info = action === "spawn" ? handleOf(session, handle)?.info : null;
  return info?.state === "stopped" && info.failed ? "failed" : stateOf(part);
}

function makeCall({ session, part }) {
  const button = el("button", { onclick: () => show({ session, handle: null, tab: "calls", call: part.id }) });
  button.append(...["time", "dot", "tool", "what", "took", "where"].map((name) => el("span", { class: name })));
  return el("li", { class: "call" }, button);
}

function updateCall(item, { session, part, at }) {
  const [time, dot, tool, what, took, where] = item.firstChild.children;
  setText(time, clock(at));
  setAttr(dot, "data-state", outcomeOf({ session, part }));
  setText(tool, part.tool);
  setText(what, titleOf(part));
  setText(took, tookOf(part));
  const root = store.sessions.get(session)?.info.root ?? store.past.find((record) => record.id === session)?.directory;
  setText(where, root ? folder(root) : "");
}
