// A session's conversation as it is recorded, with its calls folded.

import { el, keyed, setAttr, setText } from "./dom.js";
import { clock } from "./format.js";
import { partBody, stateOf, titleOf, tookOf } from "./part.js";
import { Record } from "./recorded.js";

export function openConversation({ session }) {
  const list = el("ol", { class: "messages" });
  const none = el("p", { class: "nothing", hidden: true }, "Nothing of this session is recorded yet.");
  const more = el("button", { class: "more", hidden: true, onclick: () => record.load(true) }, "Earlier messages");
  const scroller = el("div", { class: "scroller" }, more, list, none);
  let due = false;
  const draw = () => {
    due = false;
    const atEnd = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 40;
    more.hidden = record.isWhole || !record.messages.length;
    none.hidden = record.messages.length > 0;
    keyed(list, record.messages, (message) => message.info.id, makeMessage, updateMessage);
    if (atEnd) scroller.scrollTop = scroller.scrollHeight;
  };
  const record = new Record(session, {
    brief: false,
    changed() {
      if (due) return;
      due = true;
      requestAnimationFrame(draw);
    },
  });
  record.load();
  return { node: el("div", { class: "conversation" }, scroller), close: () => record.close() };
}

function makeMessage({ info }) {
  const who = info.role === "user" ? "You" : "Assistant";
  return el("li", { class: `message ${info.role}` }, el("header", {}, el("strong", {}, who), el("time", { class: "faint" }, clock(info.time.created))), el("div", { class: "parts" }));
}

function updateMessage(node, message) {
  keyed(node.lastChild, message.parts, (part) => part.id, makePart, updatePart);
}

function makePart(part) {
  if (part.type === "text") return el("p", { class: "said" });
  const details = el(
    "details",
    { class: "part" },
    el("summary", {}, el("span", { class: "dot" }), el("span", { class: "tool" }), el("span", { class: "what" }), el("span", { class: "took faint" })),
  );
  // Drawn when it is opened: most are not.
  details.addEventListener("toggle", () => drawBody(details));
  return details;
}

function updatePart(node, part) {
  if (part.type === "text") return setText(node, part.text);
  if (node.shownPart === part) return;
  node.shownPart = part;
  const [dot, tool, what, took] = node.firstChild.children;
  setAttr(dot, "data-state", stateOf(part));
  setText(tool, part.tool);
  setText(what, titleOf(part));
  setText(took, tookOf(part));
  setAttr(node.firstChild, "aria-label", `${part.tool}, ${stateOf(part)}: ${what.textContent}`);
  if (node.open) drawBody(node);
}

function drawBody(details) {
  while (details.children.length > 1) details.lastChild.remove();
  if (details.open) details.append(partBody(details.shownPart));
}
