// A call as it is recorded: in a line, and whole.

import { AnsiLines } from "./ansi.js";
import { raw } from "./api.js";
import { el, setText } from "./dom.js";
import { millis, summary } from "./format.js";
import { row } from "./log.js";

const WORDS = { pending: "pending", running: "running", completed: "stopped", error: "failed" };

/** What a dot shows for a part. */
export const stateOf = (part) => WORDS[part.state.status] ?? "pending";

export function titleOf(part) {
  const { title, input } = part.state;
  const action = part.metadata?.action;
  if (action && action !== "spawn") return `${action} ${part.metadata.handle ?? ""} ${summary(input)}`.trim();
  const text = input?.command ? summary(input) : title && title !== part.tool ? title : summary(input);
  return part.metadata?.handle ? `${part.metadata.handle}: ${text}` : text;
}

export function startOf(part, message) {
  return part.state.time?.start ?? message?.info.time.created ?? null;
}

export function tookOf(part) {
  const { time } = part.state;
  return time?.end ? millis(time.end - time.start) : "";
}

/** The arguments and what was answered. Both are text, whatever they say. */
export function partBody(part) {
  const { state } = part;
  const answer = state.output ?? state.error;
  const preview = state.status === "running" ? state.metadata?.output : undefined;
  return el(
    "div",
    { class: "part-body" },
    el("h4", {}, "Arguments"),
    el("pre", {}, JSON.stringify(state.input, null, 2)),
    preview !== undefined && el("h4", {}, "Output so far"),
    preview !== undefined && el("pre", {}, preview),
    answer !== undefined && el("h4", {}, state.error === undefined ? "Answer" : "Error"),
    answer !== undefined && el("pre", { class: state.error === undefined ? "" : "failed" }, pretty(answer)),
    state.metadata?.digest?.log && wholeOutput(part),
  );
}

/** All of the output that the answer shows in part, once somebody wants it, with the numbers of its markers. */
function wholeOutput(part) {
  const lines = el("div", { class: "log-lines" });
  const problem = el("span", { class: "problem", role: "alert" });
  const more = el("button", { onclick: () => show().catch((error) => setText(problem, error.message)) }, "Show all of the output");
  const text = new TextDecoder();
  const ansi = new AnsiLines();
  let at = 0;
  let next = 1;
  async function show() {
    const response = await raw(`/record/parts/${encodeURIComponent(part.id)}/output?from=${at}`);
    const bytes = new Uint8Array(await response.arrayBuffer());
    at += bytes.length;
    lines.append(...ansi.take(text.decode(bytes, { stream: true })).map((runs) => row(runs, next++)));
    const isWhole = !bytes.length || at >= Number(response.headers.get("windlass-log-size"));
    if (isWhole && ansi.open.length) lines.append(row(ansi.open, next));
    more.hidden = isWhole;
    setText(more, "Show more of the output");
  }
  return el("div", { class: "whole-output" }, more, problem, lines);
}

function pretty(text) {
  if (!text.startsWith("{")) return text;
  try {
    return readable(JSON.parse(text));
  } catch {
    return text;
  }
}

/** An object a field per line, with texts of several lines as they are. */
function readable(object) {
  return Object.entries(object)
    .map(([name, value]) => {
      if (typeof value !== "string") return `${name}: ${JSON.stringify(value)}`;
      return value.includes("\n") ? `${name}:\n${value}` : `${name}: ${value}`;
    })
    .join("\n");
}
