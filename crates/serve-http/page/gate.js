// A field for the token, where the page has none or one that the server does
// not know.

import { follow } from "./follow.js";
import { el } from "./dom.js";
import { keepToken, tokenIn } from "./token.js";
import { changed, store } from "./store.js";

const WHY = {
  none: ["The page needs the token of this server. It is in the link that ", el("code", {}, "windlass serve"), " prints."],
  stale: ["The server rejected this token. The server has a new token, or this one belongs to another server."],
};

/** A node that is shown while the token is missing. */
export function tokenGate() {
  const why = el("p", {});
  const problem = el("p", { class: "problem", role: "alert" });
  const field = el("input", { id: "token-field", type: "password", autocomplete: "off", spellcheck: false, "aria-label": "Token, or the whole link", placeholder: "Token, or the whole link" });
  const open = () => {
    const token = tokenIn(field.value);
    if (!token) {
      problem.textContent = "This contains no token: a token has 43 letters, digits, - and _.";
      return;
    }
    problem.textContent = "";
    field.value = "";
    keepToken(token);
    store.connection = "connecting";
    follow();
    changed();
  };
  field.addEventListener("keydown", (event) => event.key === "Enter" && open());
  const node = el(
    "section",
    { class: "gate", "aria-label": "Token" },
    el("h2", {}, "Connect to Windlass"),
    why,
    el("p", { class: "gate-form" }, field, el("button", { class: "yes", onclick: open }, "Connect")),
    problem,
    el("p", { class: "faint" }, "In a terminal of this machine: ", el("code", {}, "cat ~/.local/state/windlass/token")),
  );
  return {
    node,
    update() {
      const text = WHY[store.connection];
      const wasHidden = node.hidden;
      node.hidden = !text;
      if (!text) return;
      if (why.dataset.of !== store.connection) why.replaceChildren(...text);
      why.dataset.of = store.connection;
      if (wasHidden || !node.dataset.shown) {
        node.dataset.shown = "true";
        field.focus();
      }
    },
  };
}
