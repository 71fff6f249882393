// The form that answers a question, by the kind of answer that it wants.

import { el, pressed } from "./dom.js";
import { visible } from "./format.js";

/** Gives `{ form, keys }`; `send` is called with the answer. */
export function questionForm(question, send) {
  const type = question.answer_type;
  if (type === "Boolean") return yesOrNo(send);
  if (type?.Select) return oneOf(type.Select.options, send);
  return text(question, send);
}

function yesOrNo(send) {
  const form = el(
    "div",
    { class: "buttons" },
    el("button", { class: "yes", onclick: pressed(() => send(true)) }, "Yes ", el("kbd", {}, "y")),
    el("button", { class: "no", onclick: pressed(() => send(false)) }, "No ", el("kbd", {}, "n")),
  );
  return { form, keys: { y: () => send(true), n: () => send(false) } };
}

function oneOf(options, send) {
  const keys = {};
  const buttons = options.map((option, index) => {
    if (index < 9) keys[index + 1] = () => send(option);
    return el("button", { onclick: pressed(() => send(option)) }, `${visible(option)} `, index < 9 && el("kbd", {}, String(index + 1)));
  });
  return { form: el("div", { class: "buttons" }, buttons), keys };
}

function text(question, send) {
  const input = el("input", {
    type: question.secret ? "password" : "text",
    autocomplete: question.secret ? "new-password" : "off",
    spellcheck: false,
    value: typeof question.default === "string" ? question.default : "",
    "aria-label": question.secret ? "The secret; only the program receives it" : "Answer",
  });
  const submit = () => {
    const { value } = input;
    if (question.secret) input.value = "";
    send(value);
  };
  input.addEventListener("keydown", (event) => event.key === "Enter" && !event.isComposing && submit());
  const form = el("div", { class: "answer" }, input, el("button", { class: "yes", onclick: submit }, "Answer"));
  if (question.secret) form.append(el("p", { class: "faint" }, "Only the program receives it."));
  return { form, keys: { Enter: () => input.focus() } };
}
