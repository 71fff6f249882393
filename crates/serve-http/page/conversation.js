// A session's conversation as it is recorded, with its calls folded, and a box
// to go on with it.

import { askBox } from "./ask.js";
import { el, keyed, setAttr, setText } from "./dom.js";
import { clock } from "./format.js";
import { showMarkdown } from "./markdown.js";
import { partBody, stateOf, titleOf, tookOf } from "./part.js";
import { Record } from "./recorded.js";

export function openConversation({ session, isLive }) {
  const list = el("ol", { class: "messages" });
  const none = el("p", { class: "nothing", hidden: true }, "Nothing of this session is recorded yet.");
  const more = el("button", { class: "more", hidden: true, onclick: () => record.load(true) }, "Earlier messages");
  const saying = el("div", { class: "said markdown" });
  const working = el("p", { class: "working faint", role: "status" });
  const pending = el("section", { class: "message assistant pending", hidden: true, "aria-label": "The reply so far" }, el("header", {}, el("strong", {}, "Assistant")), saying, working);
  const scroller = el("div", { class: "scroller", tabIndex: 0, role: "region", "aria-label": "Conversation" }, more, list, pending, none);
  const isAtEnd = () => scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 40;
  const keepEnd = (change) => {
    const atEnd = isAtEnd();
    change();
    if (atEnd) scroller.scrollTop = scroller.scrollHeight;
  };
  let due = false;
  const draw = () => {
    due = false;
    keepEnd(() => {
      const shown = record.messages.filter(saysSomething);
      more.hidden = record.isWhole || !record.messages.length;
      none.hidden = shown.length > 0 || !pending.hidden;
      setText(none, record.isLoaded ? "Nothing of this session is recorded yet." : "Loading…");
      keyed(list, shown, (message) => message.info.id, makeMessage, updateMessage);
    });
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
  const ask = askBox({
    session,
    isLive,
    hear(progress) {
      keepEnd(() => {
        pending.hidden = !progress.working;
        none.hidden ||= !pending.hidden;
        showMarkdown(saying, progress.text);
        setText(working, progress.working ? (progress.text ? "…" : `${progress.model} is working…`) : "");
      });
    },
    said: () => record.load(),
  });
  return {
    node: el("div", { class: "conversation" }, scroller, ask.node),
    update: () => ask.update(record.messages),
    close() {
      ask.close();
      record.close();
    },
  };
}

/** Notices and turn ends may be recorded as separate messages without text. */
function saysSomething({ parts }) {
  return parts.some((part) => part.type !== "text" || part.text.trim());
}

function makeMessage({ info }) {
  const who = info.role === "user" ? "You" : "Assistant";
  return el("li", { class: `message ${info.role}` }, el("header", {}, el("strong", {}, who), el("time", { class: "faint" }, clock(info.time.created))), el("div", { class: "parts" }));
}

function updateMessage(node, message) {
  keyed(node.lastChild, message.parts, (part) => part.id, makePart, (part, shown) => updatePart(part, shown, message.info.role));
}

function makePart(part) {
  if (part.type === "text") return el("div", { class: "said" });
  const details = el(
    "details",
    { class: "part" },
    el("summary", {}, el("span", { class: "dot" }), el("span", { class: "tool" }), el("span", { class: "what" }), el("span", { class: "took faint" })),
  );
  // Drawn when it is opened: most are not.
  details.addEventListener("toggle", () => drawBody(details));
  return details;
}

function updatePart(node, part, role) {
  if (part.type === "text") return showText(node, part.text, role);
  if (node.shownPart === part) return;
  node.shownPart = part;
  const [dot, tool, what, took] = node.firstChild.children;
  setAttr(dot, "data-state", stateOf(part));
  setText(tool, part.tool);
  setText(what, titleOf(part));
  setText(took, tookOf(part));
  if (node.open) drawBody(node);
}

/** A person's text is shown unchanged; a model's is Markdown. */
function showText(node, text, role) {
  node.hidden = !text.trim();
  if (role === "user") return setText(node, text);
  node.classList.add("markdown");
  showMarkdown(node, text);
}

function drawBody(details) {
  while (details.children.length > 1) details.lastChild.remove();
  if (details.open) details.append(partBody(details.shownPart));
}
