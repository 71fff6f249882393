// The landing view: ask or start something, the live terminals of all
// sessions, the project's hosts, what ran in the last hour, and how an agent is
// connected.

import { askBox } from "./ask.js";
import { connectGuide } from "./connect.js";
import { el, setText } from "./dom.js";
import { openHosts } from "./hosts.js";
import { openRecent } from "./recent.js";
import { startButtons } from "./start.js";
import { store } from "./store.js";
import { makeWall } from "./wall.js";

/** The maximum number of sessions whose screens the server sends at once. */
const SESSIONS = 64;

export function openHome() {
  const ask = askBox({});
  const wall = makeWall({ handles: liveTerminals, watched: liveSessions, isNamed: true });
  const hosts = openHosts();
  const recent = openRecent();
  const guide = connectGuide();
  const count = el("span", { class: "faint" });
  const terminals = el("section", { class: "home-part", "aria-label": "Live terminals" }, el("header", {}, el("h2", {}, "Live terminals"), count, el("span", { class: "grow" }), wall.sizes), wall.list);
  const node = el(
    "div",
    { class: "home scroller", tabIndex: 0, role: "region", "aria-label": "Overview" },
    el("section", { class: "home-part", "aria-label": "Begin" }, el("header", {}, el("h2", {}, "Ask, or start something"), el("span", { class: "grow" }), startButtons()), ask.node),
    terminals,
    hosts.node,
    recent.node,
    guide.node,
  );
  return {
    node,
    update() {
      const shown = wall.update();
      terminals.hidden = shown === 0;
      setText(count, String(shown));
      hosts.update();
      recent.update();
      guide.update({ isFirst: store.sessions.size === 0 && store.past.length === 0 });
    },
    close() {
      ask.close();
      wall.close();
      hosts.close();
      recent.close();
    },
  };
}

function liveTerminals() {
  const found = [];
  for (const [session, { handles }] of store.sessions) {
    for (const { info } of handles.values()) if (info.terminal && info.state !== "stopped") found.push({ session, info });
  }
  return found;
}

function liveSessions() {
  const sessions = new Set(liveTerminals().map(({ session }) => session));
  return [...sessions].slice(0, SESSIONS).map((session) => `${session}/*`).join(",");
}
