// Starts something by hand: a terminal, or a tool by a form that is made from
// its schema. Both run in a session of their own that asks for no permission:
// the person has typed them.

import { get, post } from "./api.js";
import { show } from "./address.js";
import { announce, el } from "./dom.js";
import { schemaForm } from "./form.js";
import { loadSession } from "./follow.js";
import { handleOf, store } from "./store.js";
import { takeOverNew } from "./takeover.js";

const KEY = "windlass-own-session";
/** It lasts for a week without anybody who looks. */
const IDLE = 7 * 24 * 3600;

export function startButtons() {
  return el("span", { class: "buttons" }, el("button", { id: "start-terminal", onclick: () => terminalDialog() }, "Start a terminal"), el("button", { id: "start-tool", onclick: () => toolDialog() }, "Start a tool"));
}

/** The session for whatever a person starts; begun when it is needed. */
async function ownSession() {
  const known = sessionStorage.getItem(KEY);
  if (known && store.sessions.has(known)) return known;
  const { id } = await post("/sessions", { trusted: true, idle_secs: IDLE });
  sessionStorage.setItem(KEY, id);
  await loadSession(id);
  return id;
}

/** An id that no handle of the session has. */
function freeId(session, name) {
  const stem = name.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 20) || "tool";
  let id = stem;
  for (let number = 2; handleOf(session, id); number++) id = `${stem}-${number}`;
  return id;
}

async function spawn(session, tool, given, name = tool) {
  const id = freeId(session, name);
  const { replies } = await post(`/sessions/${encodeURIComponent(session)}/calls`, [{ tool, arguments: { action: "spawn", id, ...given } }]);
  if (replies[0].is_error) throw new Error(text(replies[0].content));
  await loadSession(session);
  show({ session, handle: id, tab: "output" });
}

const text = (content) => (typeof content === "string" ? content : JSON.stringify(content));

function dialogOf(title, ...children) {
  const problem = el("p", { class: "problem", role: "alert" });
  const dialog = el("dialog", { class: "help start", "aria-label": title }, el("h2", {}, title), ...children, problem);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return {
    dialog,
    async run(work) {
      problem.textContent = "";
      try {
        await work();
        dialog.close();
      } catch (error) {
        problem.textContent = error.message;
      }
    },
  };
}

function terminalDialog() {
  const command = el("input", { id: "terminal-command", value: "", placeholder: "your shell", "aria-label": "Command; empty for your shell", spellcheck: false, autocomplete: "off" });
  const start = () =>
    opened.run(async () => {
      const typed = command.value.trim();
      const name = typed.split(/\s/)[0].split("/").at(-1) || "terminal";
      await spawn(await ownSession(), "shell", { command: typed || "exec ${SHELL:-sh}", terminal: true }, name);
      // A person who starts a terminal wants to type into it.
      await takeOverNew(store.shown.session, store.shown.handle);
    });
  command.addEventListener("keydown", (event) => event.key === "Enter" && start());
  const opened = dialogOf("Start a terminal", el("p", { class: "start-field" }, command), el("p", { class: "buttons" }, el("button", { class: "yes", onclick: start }, "Start"), el("button", { onclick: () => opened.dialog.close() }, "Cancel")));
  command.focus();
}

async function toolDialog() {
  let session;
  let tools;
  try {
    session = await ownSession();
    tools = await get(`/sessions/${encodeURIComponent(session)}/tools`);
  } catch (error) {
    return announce(error.message);
  }
  const place = el("div", { class: "form-place" });
  const summary = el("p", { class: "faint" });
  const choice = el("select", { id: "tool-choice", "aria-label": "Tool" }, tools.map((tool) => el("option", { value: tool.name }, tool.name)));
  let form = null;
  const choose = () => {
    const tool = tools.find(({ name }) => name === choice.value);
    summary.textContent = tool?.summary ?? "";
    form = schemaForm(tool?.schema ?? {});
    place.replaceChildren(form.node);
  };
  choice.addEventListener("change", choose);
  choose();
  const opened = dialogOf(
    "Start a tool",
    choice,
    summary,
    place,
    el("p", { class: "buttons" }, el("button", { class: "yes", onclick: () => opened.run(() => runTool(session, tools.find(({ name }) => name === choice.value), form.value())) }, "Start"), el("button", { onclick: () => opened.dialog.close() }, "Cancel")),
  );
}

async function runTool(session, tool, given) {
  if (tool.spawns) return spawn(session, tool.name, given);
  const { replies } = await post(`/sessions/${encodeURIComponent(session)}/calls`, [{ tool: tool.name, arguments: given }]);
  if (replies[0].is_error) throw new Error(text(replies[0].content));
  await loadSession(session);
  show({ session, handle: null, tab: "conversation" });
}
