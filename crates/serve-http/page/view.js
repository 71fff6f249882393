// The right: one handle's output, or a session's terminals, timeline,
// conversation and calls. What is open is a room with `node`, `update`, `close`.

import { show, TABS } from "./address.js";
import { el, setAttr, setText } from "./dom.js";
import { elapsed, folder, short, use } from "./format.js";
import { tokenGate } from "./gate.js";
import { elapsedOf, handleOf, store } from "./store.js";
import { openHome } from "./home.js";
import { openOutput } from "./output.js";
import { openWall } from "./wall.js";
import { openTimeline } from "./timeline.js";
import { openConversation } from "./conversation.js";
import { openCalls } from "./calls.js";
import { abortButton } from "./abort.js";
import { takeoverButton } from "./takeover.js";

const ROOMS = { home: openHome, output: openOutput, terminals: openWall, timeline: openTimeline, conversation: openConversation, calls: openCalls };
const NAMES = { output: "Output", terminals: "Terminals", timeline: "Timeline", conversation: "Conversation", calls: "Calls" };

const view = document.getElementById("view");
const name = el("h2", {});
const about = el("span", { class: "about" });
const abort = abortButton();
const takeover = takeoverButton();
const tabs = TABS.map((tab) =>
  el("button", { role: "tab", id: `tab-${tab}`, "aria-controls": "room", onclick: () => show({ tab }), onkeydown: (event) => moveTab(event, tab) }, NAMES[tab]),
);
const head = el(
  "header",
  { class: "view-head" },
  el("div", { class: "title" }, name, about, el("span", { class: "grow" }), takeover.node, abort.node),
  el("div", { class: "tabs", role: "tablist", "aria-label": "Views" }, tabs),
);
const body = el("div", { id: "room", role: "tabpanel" });
const nothing = el("p", { class: "nothing" });
const gate = tokenGate();
view.append(gate.node, nothing, head, body);

let room = null;
let roomKey = null;

export function showView() {
  const { session, handle } = store.shown;
  const live = session && store.sessions.get(session);
  const record = session && store.past.find((past) => past.id === session);
  gate.update();
  const isHome = !session && store.connection !== "connecting";
  const known = gate.node.hidden && (isHome || Boolean(live || record));
  view.classList.toggle("open", known);
  view.classList.toggle("at-home", known && isHome);
  nothing.hidden = known || !gate.node.hidden;
  setText(nothing, known ? "" : waiting());
  if (!known) return close();
  const tab = isHome ? "home" : tabOf(live);
  const key = `${tab}|${session}|${handle}|${live ? "live" : "past"}`;
  if (key !== roomKey) {
    close();
    roomKey = key;
    room = ROOMS[tab]({ session, handle, isLive: Boolean(live) });
    body.replaceChildren(room.node);
  }
  if (!isHome) showHead(live, record, tab);
  room.update?.();
}

function close() {
  room?.close?.();
  room = null;
  roomKey = null;
  body.replaceChildren();
}

function waiting() {
  if (store.connection === "connecting") return "";
  if (store.connection !== "live") return "";
  return "This session has ended and was not recorded, or does not exist.";
}

function tabOf(live) {
  const { handle, tab } = store.shown;
  if (!live) return tab === "output" || tab === "terminals" || !tab ? "timeline" : tab;
  if (tab === "output" && !handle) return "timeline";
  return tab ?? (handle ? "output" : "timeline");
}

function showHead(live, record, tab) {
  const { session, handle } = store.shown;
  const found = handleOf(session, handle);
  const root = live?.info.root ?? record.directory;
  const place = `${folder(root)} · ${live?.info.front_end ?? record.frontEnd} · ${short(session)}`;
  setText(name, handle ?? (record?.title || folder(root)));
  const used = found?.info.usage ? ` · ${use(found.info.usage)}` : "";
  setText(about, found ? `${found.info.tool} · ${stateOf(found.info)} · ${elapsed(elapsedOf(found))}${used} · ${place}` : handle ? `gone · ${place}` : live ? place : `${place} · ended`);
  tabs.forEach((button, index) => {
    const chosen = TABS[index] === tab;
    setAttr(button, "aria-selected", String(chosen));
    setAttr(button, "tabindex", chosen ? "0" : "-1");
    button.hidden = !live && (TABS[index] === "output" || TABS[index] === "terminals");
    button.disabled = TABS[index] === "output" && !handle;
  });
  abort.update(found);
  takeover.update(found);
}

function stateOf(info) {
  if (info.state === "stopped" && info.failed) return "failed";
  return info.locked ? `${info.state}, taken over` : info.state;
}

function moveTab(event, tab) {
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!by) return;
  const open = TABS.filter((_, index) => !tabs[index].hidden && !tabs[index].disabled);
  const next = open[(open.indexOf(tab) + by + open.length) % open.length];
  show({ tab: next });
  document.getElementById(`tab-${next}`).focus();
}
