// What needs a person: permissions and questions by session, on top of
// everything, with the keys that answer them while one has the focus.

import { post } from "./api.js";
import { show } from "./address.js";
import { clipped } from "./clipped.js";
import { announce, el, keyed, pressed, setText } from "./dom.js";
import { folder, short } from "./format.js";
import { notifyButton } from "./notify.js";
import { changed, store } from "./store.js";
import { questionForm } from "./question.js";

const place = document.getElementById("asks");
const title = el("h2", { tabIndex: -1, onkeydown: (event) => goOn(event) });
const list = el("ol", { class: "asks" });
place.append(el("header", { class: "asks-head" }, title, el("span", { class: "grow" }), notifyButton()), list);
/** Where the request stood that had the focus when it was answered. */
let leftAt = 0;

const cards = () => [...list.querySelectorAll(".ask")];

export function showAsks() {
  const asks = [...store.asks.values()];
  place.hidden = asks.length === 0;
  setText(title, asks.length ? `Needs you (${asks.length})` : "");
  const focused = list.contains(document.activeElement) ? document.activeElement.closest(".ask") : null;
  const at = focused ? cards().indexOf(focused) : 0;
  keyed(list, groups(asks), ([session]) => session, makeGroup, updateGroup);
  // The focus must not fall on another request: the next letter would answer it.
  if (focused && !list.contains(focused)) {
    leftAt = at;
    (asks.length ? title : document.getElementById("view")).focus();
  }
}

/** The requests of each session, the session that asked first before the others. */
function groups(asks) {
  const found = new Map();
  for (const ask of asks) found.set(ask.session, [...(found.get(ask.session) ?? []), ask]);
  return [...found];
}

function makeGroup([session]) {
  const name = el("button", { class: "link", onclick: () => show({ session, handle: null, tab: null }) });
  return el("li", { class: "ask-group" }, el("h3", {}, name), el("ol", {}));
}

function updateGroup(node, [id, asks]) {
  const session = store.sessions.get(id)?.info;
  setText(node.firstChild.firstChild, session ? `${folder(session.root)} · ${session.front_end} · ${short(id)}` : id);
  keyed(node.lastChild, asks, (ask) => ask.id, makeAsk);
}

/** Goes on from the place of a request that was answered. */
function goOn(event) {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const to = { j: leftAt, k: leftAt - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  const all = cards();
  all[Math.max(0, Math.min(to, all.length - 1))]?.focus();
}

/** Focuses the first request. */
export function focusAsk() {
  if (!store.asks.size) return;
  document.body.classList.add("menu-open");
  cards()[0]?.focus();
}

function makeAsk(ask) {
  return ask.kind === "permission" ? makePermission(ask) : makeQuestion(ask);
}

function makePermission(ask) {
  const { request } = ask;
  const { metadata } = request;
  const args = metadata.arguments ?? {};
  // A runtime of an older version sends none.
  const rendering = metadata.rendering ?? { body: request.patterns, always: request.always };
  const error = el("p", { class: "problem", role: "alert" });
  const message = el("input", { class: "message", hidden: true, placeholder: "Message to the assistant, with a rejection", "aria-label": "Message to the assistant" });
  const editor = el("textarea", { class: "edit", hidden: true, spellcheck: false, "aria-label": "Arguments to run with instead", rows: 6 });
  const shown = clipped(el("div", { class: "request" }, ...rendered(rendering)), () => !editor.hidden);
  const body = (reply) => {
    const sent = { reply };
    if (reply === "reject" && message.value.trim()) sent.message = message.value.trim();
    if (reply !== "reject" && !editor.hidden) sent.arguments = JSON.parse(editor.value);
    return sent;
  };
  const send = (reply) => {
    if (reply !== "reject" && !shown.isSeen()) return announce("All of it is shown now; press again to answer");
    answer(`/permissions/${request.id}`, () => body(reply), error, item);
  };
  const edit = () => {
    editor.hidden = !editor.hidden;
    if (!editor.hidden) {
      editor.value = JSON.stringify(args, null, 2);
      editor.focus();
    }
  };
  const say = () => {
    message.hidden = false;
    message.focus();
  };
  message.addEventListener("keydown", (event) => event.key === "Enter" && !event.isComposing && send("reject"));
  const action = metadata.action && metadata.action !== "run" ? ` ${metadata.action}` : "";
  const always = rendering.always ?? [];
  const isExact = coversExactly(always, rendering.body);
  const item = el(
    "li",
    { class: "ask", tabIndex: 0, "data-ask": ask.id, "aria-label": `Permission for ${metadata.tool ?? request.permission}: ${rendering.body.join(", ")}` },
    el(
      "header",
      {},
      el("strong", {}, `${metadata.tool ?? request.permission}${action}`),
      el("span", { class: "grow" }),
      el(
        "div",
        { class: "buttons" },
        el("button", { class: "yes", onclick: pressed(() => send("once")) }, "Once ", el("kbd", {}, "y")),
        request.always.length > 0 && el("button", { title: isExact ? "Always: exactly this" : null, onclick: pressed(() => send("always")) }, "Always ", el("kbd", {}, "a")),
        el("button", { class: "no", onclick: pressed(() => send("reject")) }, "Reject"),
        el("button", { class: "say", title: "Reject with a message to the assistant", onclick: say }, "Say ", el("kbd", {}, "n")),
        el("button", { onclick: edit }, "Edit ", el("kbd", {}, "e")),
      ),
    ),
    shown.node,
    always.length > 0 && !isExact && el("p", { class: "always" }, "Always: ", ...always.map((pattern) => el("code", {}, pattern))),
    editor,
    message,
    error,
  );
  item.addEventListener("keydown", keysOf(item, { y: () => send("once"), a: () => request.always.length && send("always"), n: say, e: edit }));
  return item;
}

/** Whether patterns allow only the shown commands. */
function coversExactly(patterns, lines) {
  const shown = lines.join("\n");
  return patterns.length > 0 && patterns.every((pattern) => !/[*?]/.test(pattern) && shown.includes(pattern));
}

/** A request as every front end shows it: the server has made all of it visible. */
function rendered({ lead = [], body, fields = [] }) {
  return [
    lead.length > 0 && el("pre", {}, lead.join("\n")),
    body.length > 0 && el("pre", { class: "command" }, body.join("\n")),
    fields.length > 0 && el("dl", {}, ...fields.flatMap(({ name, lines }) => [el("dt", {}, name), el("dd", {}, lines.join("\n"))])),
  ];
}

function makeQuestion(ask) {
  const { question, tool, handle } = ask.ask;
  const { lead = [], body } = ask.ask.rendering ?? { lead: [question.pre_amble ?? ""].filter(Boolean), body: [question.text] };
  const error = el("p", { class: "problem", role: "alert" });
  const context = clipped(el("div", { class: "request" }, lead.length > 0 && el("pre", {}, lead.join("\n"))), () => false);
  const send = (value) => {
    if (!context.isSeen()) return announce("All of it is shown now; press again to answer");
    answer(`/questions/${ask.id}`, () => ({ value }), error, item);
  };
  const { form, keys } = questionForm(question, send);
  const where = handle ? `${handle} · ${tool}` : tool;
  const item = el(
    "li",
    { class: "ask question", tabIndex: 0, "data-ask": ask.id, "aria-label": `${tool} asks: ${body.join(" ")}` },
    el("header", {}, handle ? el("button", { class: "link strong", onclick: () => show({ session: ask.session, handle, tab: "output" }) }, where) : el("strong", {}, where)),
    lead.length > 0 && context.node,
    el("p", { class: "text" }, body.join("\n")),
    form,
    error,
  );
  item.addEventListener("keydown", keysOf(item, keys));
  return item;
}

/** Single letters answer only while the card itself has the focus. */
function keysOf(item, keys) {
  return (event) => {
    if (event.key === "Escape") item.focus();
    if (event.target !== item || event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
    if (event.key === "j" || event.key === "k") {
      const all = cards();
      all[all.indexOf(item) + (event.key === "j" ? 1 : -1)]?.focus();
      event.stopPropagation();
      return;
    }
    const does = keys[event.key];
    if (!does) return;
    event.preventDefault();
    event.stopPropagation();
    does();
  };
}

async function answer(path, body, error, item) {
  if (item.classList.contains("sending")) return;
  try {
    const sent = body();
    item.classList.add("sending");
    await post(path, sent);
    store.asks.delete(item.dataset.ask);
    announce("Answered");
    changed();
  } catch (problem) {
    item.classList.remove("sending");
    if ([404, 409, 410].includes(problem.status)) {
      // Answered elsewhere, or withdrawn.
      store.asks.delete(item.dataset.ask);
      changed();
    } else error.textContent = problem.message;
  }
}
