// What one handle shows: its terminal or its log, its question above them, and
// a line to type into where there is no terminal.

import { handlePath, post } from "./api.js";
import { el, setText } from "./dom.js";
import { openLog } from "./log.js";
import { lockKey, handleOf, store } from "./store.js";
import { openTerminal } from "./terminal.js";

export function openOutput(place) {
  const { session, handle } = place;
  const result = el("p", { class: "result", hidden: true });
  const choice = el("div", { class: "choice", role: "group", "aria-label": "Screen or log" });
  const body = el("div", { class: "output-body" });
  const line = typeLine(place);
  const node = el("div", { class: "output" }, choice, result, body, line.node);
  let inner = null;
  let shown = null;
  let wanted = null;

  const open = (kind) => {
    if (kind === shown) return;
    inner?.close();
    shown = kind;
    inner = kind === "screen" ? openTerminal(place) : openLog(place);
    body.replaceChildren(inner.node);
    for (const button of choice.children) button.setAttribute("aria-pressed", String(button.dataset.kind === kind));
  };
  for (const [kind, text] of [["screen", "Screen"], ["log", "Log"]]) {
    choice.append(el("button", { class: "chip", "data-kind": kind, onclick: () => open((wanted = kind)) }, text));
  }

  return {
    node,
    update() {
      const info = handleOf(session, handle)?.info;
      if (!info) {
        if (!shown) setText(body, "This handle no longer exists. Its calls are in the conversation.");
        return;
      }
      choice.hidden = !info.terminal;
      if (info.state === "pending" && !shown) {
        setText(body, "It has not started yet.");
        return;
      }
      open(info.terminal ? (wanted ?? "screen") : "log");
      result.hidden = info.state !== "stopped" || !info.result;
      result.classList.toggle("failed", info.failed);
      setText(result, result.hidden ? "" : info.result);
      line.update(info, shown);
      inner.update?.();
    },
    close: () => inner?.close(),
  };
}

/** A line for programs without a terminal; with one, the terminal itself is typed into. */
function typeLine({ session, handle }) {
  const problem = el("span", { class: "problem", role: "alert" });
  const input = el("input", { placeholder: "A line for the program", "aria-label": `A line for ${handle}`, spellcheck: false, autocomplete: "off" });
  const send = async (body) => {
    try {
      await post(`${handlePath(session, handle)}/input`, { ...body, lock: store.locks.get(lockKey(session, handle)) });
      problem.textContent = "";
    } catch (error) {
      problem.textContent = error.message;
    }
  };
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing) return;
    send({ typing: { input: input.value } });
    input.value = "";
  });
  let wasOpen = false;
  const node = el(
    "div",
    { class: "type-line", hidden: true },
    input,
    el("button", { onclick: () => send({ typing: { keys: ["ctrl-c"] } }) }, "Ctrl-C"),
    el("button", { onclick: () => send({ typing: { keys: ["eof"] } }) }, "End of input"),
    el("span", { class: "faint" }, "Ctrl-] hands it back"),
    problem,
  );
  return {
    node,
    update(info, shown) {
      const mine = store.locks.has(lockKey(session, handle));
      const isOpen = mine && shown !== "screen" && !info.terminal;
      if (isOpen === wasOpen) return;
      wasOpen = isOpen;
      node.hidden = !isOpen;
      if (isOpen) input.focus();
      else document.getElementById("takeover").focus();
    },
  };
}
