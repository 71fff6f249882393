// A box to ask a model with: begins a conversation in the server's project, or
// goes on with one.

import { get, post } from "./api.js";
import { show } from "./address.js";
import { announce, el, setText } from "./dom.js";
import { Stream } from "./stream.js";
import { store } from "./store.js";

/** The models that the server knows; fetched once. */
let models = null;

function loadModels() {
  models ??= get("/ask").catch((error) => {
    models = null;
    throw error;
  });
  return models;
}

/**
 * A box. `session` is the conversation that goes on, or `null`; `hear` is given
 * the reply as it grows, `said` is called when a part of it is whole.
 */
export function askBox({ session = null, isLive = true, hear = () => {}, said = () => {} }) {
  const field = el("textarea", { class: "ask-field", rows: 2, placeholder: "Ask a model to do something in this project", "aria-label": "Message to the model" });
  const model = el("input", { class: "ask-model", list: "ask-models", placeholder: "provider/model", "aria-label": "Model", spellcheck: false, autocomplete: "off" });
  const choices = el("datalist", { id: "ask-models" });
  const send = el("button", { class: "yes", onclick: () => submit() }, "Ask");
  const stop = el("button", { class: "no", hidden: true, onclick: () => interrupt(false) }, "Stop");
  const stopTools = el("button", { hidden: true, onclick: () => interrupt(true) }, "Stop tools");
  const problem = el("p", { class: "problem", role: "alert" });
  const missing = el("div", { class: "ask-missing", hidden: true });
  const node = el("section", { class: "ask-box", "aria-label": "Ask a model" }, missing, field, el("div", { class: "ask-tools" }, model, choices, el("span", { class: "grow" }), stopTools, stop, send), problem);
  let stream = null;
  let text = "";
  let reply = 0;
  let isWorking = false;

  loadModels().then(
    (known) => {
      model.value ||= known.model ?? "";
      const ready = known.providers.filter((provider) => provider.ready);
      choices.append(...[...new Set([known.model, ...ready.map(({ name }) => `${name}/`)])].filter(Boolean).map((value) => el("option", { value })));
      if (!known.model) explain(missing, known.providers);
    },
    (error) => setText(problem, error.message),
  );

  function follow() {
    if (stream || !session) return;
    stream = new Stream(`/ask/${encodeURIComponent(session)}/events`, { event: take, state: () => {} });
    stream.start();
  }

  function take(name, progress) {
    if (name !== "progress") return;
    if (progress.reply !== reply) {
      reply = progress.reply;
      said();
    }
    if (progress.anew) text = "";
    text += progress.text;
    isWorking = progress.working;
    if (!isWorking) said();
    hear({ ...progress, text });
    setText(problem, progress.error ?? "");
    showWorking();
  }

  function showWorking() {
    stop.hidden = stopTools.hidden = !isWorking;
    setText(send, isWorking ? "Send" : "Ask");
    field.placeholder = isWorking ? "Message to the model during its turn" : session ? "Continue the conversation" : "Ask a model to do something in this project";
  }

  async function submit() {
    const message = field.value.trim();
    if (!message) return field.focus();
    send.disabled = true;
    setText(problem, "");
    try {
      const begun = await post("/ask", { message, model: model.value.trim() || undefined, session: session ?? undefined });
      field.value = "";
      if (begun.interjected) announce("Sent; the model reads it after its current calls");
      if (session) {
        stream?.stop();
        stream = null;
        follow();
        said();
      } else show({ session: begun.session, handle: null, tab: "conversation" });
    } catch (error) {
      setText(problem, error.message);
    }
    send.disabled = false;
    field.focus();
  }

  function interrupt(tools) {
    post(`/ask/${encodeURIComponent(session)}/stop`, { tools }).catch((error) => setText(problem, error.message));
  }

  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    submit();
  });
  // The server has the progress of what was asked here since it started.
  if (session && isLive && store.sessions.get(session)?.info.front_end === "ask") follow();
  showWorking();

  return {
    node,
    /** A session of another program cannot be continued here. */
    update(messages = []) {
      if (!session) return;
      const owner = store.sessions.get(session)?.info.front_end;
      const isTalk = messages.some(({ info }) => info.role === "user") || owner === "ask";
      node.hidden = !isTalk || (owner !== undefined && owner !== "ask");
    },
    close: () => stream?.stop(),
  };
}

/** Says what to set where no model is configured. */
function explain(node, providers) {
  node.hidden = false;
  const ready = providers.filter((provider) => provider.ready);
  node.replaceChildren(
    el("p", {}, "No model is chosen. Enter one below, or set it permanently in ", el("code", {}, "~/.config/windlass/config.toml"), ":"),
    el("pre", {}, '[assistant]\nmodel = "provider/name"'),
    el("p", {}, ready.length ? "Providers that are ready: " : "No provider has a key yet. ", ready.map(({ name, note }) => el("span", { class: "badge", title: note }, name))),
    el("details", {}, el("summary", {}, "Keys that the others need"), el("ul", {}, providers.filter((provider) => !provider.ready).map(({ name, note }) => el("li", {}, el("strong", {}, name), " ", note)))),
  );
}
