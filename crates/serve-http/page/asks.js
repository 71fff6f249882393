// What needs a person: permissions and questions, on top of everything, with
// the keys that answer them while one has the focus.

import { post } from "./api.js";
import { show } from "./address.js";
import { announce, el, keyed, setText } from "./dom.js";
import { folder } from "./format.js";
import { changed, store } from "./store.js";
import { questionForm } from "./question.js";

const place = document.getElementById("asks");
const title = el("h2", {});
const list = el("ol", { class: "asks" });
place.append(title, list);

export function showAsks() {
  const asks = [...store.asks.values()];
  place.hidden = asks.length === 0;
  setText(title, asks.length ? `Needs you (${asks.length})` : "");
  const focused = list.contains(document.activeElement);
  keyed(list, asks, (ask) => ask.id, makeAsk);
  // Whoever answers one by the keyboard goes on with the next.
  if (focused && !list.contains(document.activeElement)) focusAsk();
}

/** Puts the focus on the first that is asked. */
export function focusAsk() {
  document.body.classList.add("menu-open");
  list.querySelector(".ask")?.focus();
}

function makeAsk(ask) {
  return ask.kind === "permission" ? makePermission(ask) : makeQuestion(ask);
}

function whose(ask, text) {
  const session = store.sessions.get(ask.session)?.info;
  const name = session ? `${folder(session.root)} · ${session.front_end}` : ask.session;
  return el(
    "header",
    {},
    el("strong", {}, text),
    el("button", { class: "link", onclick: () => show({ session: ask.session, handle: ask.handle ?? null, tab: ask.handle ? "output" : null }) }, name),
  );
}

function makePermission(ask) {
  const { request } = ask;
  const { metadata } = request;
  const args = metadata.arguments ?? {};
  // A runtime of an older version sends none.
  const rendering = metadata.rendering ?? { body: request.patterns, always: request.always };
  const error = el("p", { class: "problem", role: "alert" });
  const message = el("input", { class: "message", placeholder: "A word to the assistant, with a reject", "aria-label": "A word to the assistant" });
  const editor = el("textarea", { class: "edit", hidden: true, spellcheck: false, "aria-label": "Arguments to run with instead", rows: 6 });
  const send = (reply) => answer(`/permissions/${request.id}`, () => body(reply), error, item);
  const body = (reply) => {
    const sent = { reply };
    if (reply === "reject" && message.value.trim()) sent.message = message.value.trim();
    if (reply !== "reject" && !editor.hidden) sent.arguments = JSON.parse(editor.value);
    return sent;
  };
  const edit = () => {
    editor.hidden = !editor.hidden;
    if (!editor.hidden) {
      editor.value = JSON.stringify(args, null, 2);
      editor.focus();
    }
  };
  const reject = () => (message.value || document.activeElement === message ? send("reject") : message.focus());
  message.addEventListener("keydown", (event) => event.key === "Enter" && send("reject"));
  const action = metadata.action ? ` ${metadata.action}` : "";
  const item = el(
    "li",
    { class: "ask", tabIndex: 0, "data-ask": ask.id, "aria-label": `Permission for ${metadata.tool ?? request.permission}: ${rendering.body.join(", ")}` },
    whose(ask, `${metadata.tool ?? request.permission}${action}`),
    ...shown(rendering),
    rendering.always?.length > 0 && el("p", { class: "always" }, "Always would remember ", ...rendering.always.map((pattern) => el("code", {}, pattern))),
    editor,
    el(
      "div",
      { class: "buttons" },
      el("button", { class: "yes", onclick: () => send("once") }, "Once ", el("kbd", {}, "y")),
      request.always.length > 0 && el("button", { onclick: () => send("always") }, "Always ", el("kbd", {}, "a")),
      el("button", { class: "no", onclick: () => send("reject") }, "Reject ", el("kbd", {}, "n")),
      el("button", { onclick: edit }, "Edit ", el("kbd", {}, "e")),
    ),
    message,
    error,
  );
  item.addEventListener("keydown", keysOf(item, { y: () => send("once"), a: () => request.always.length && send("always"), n: reject, e: edit }));
  return item;
}

/** A request as every front end shows it: the server has made all of it visible. */
function shown({ lead = [], body, fields = [] }) {
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
  const send = (value) => answer(`/questions/${ask.id}`, () => ({ value }), error, item);
  const { form, keys } = questionForm(question, send);
  const item = el(
    "li",
    { class: "ask question", tabIndex: 0, "data-ask": ask.id, "aria-label": `${tool} asks: ${body.join(" ")}` },
    whose(ask, handle ? `${handle} · ${tool}` : tool),
    lead.length > 0 && el("pre", {}, lead.join("\n")),
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
    if (event.target !== item || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "j" || event.key === "k") {
      (event.key === "j" ? item.nextElementSibling : item.previousElementSibling)?.focus();
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
