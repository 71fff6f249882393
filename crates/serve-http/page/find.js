// Finds text in a terminal: on its screen and in the rows that have left it.

import { el, setText } from "./dom.js";

/** `rows()` gives the rows from top to bottom; `load()` resolves when all are there. */
export function finder({ rows, load, scroller }) {
  const count = el("span", { class: "faint", role: "status" });
  const input = el("input", { id: "log-search", type: "search", placeholder: "Find in the terminal", "aria-label": "Find in the terminal", spellcheck: false, autocomplete: "off" });
  const step = (by, label) => el("button", { class: "chip", "aria-label": label, onclick: () => go(by) }, by < 0 ? "↑" : "↓");
  const node = el("div", { class: "finder" }, input, step(-1, "Previous match"), step(1, "Next match"), count);
  let found = [];
  let at = -1;

  function clear() {
    for (const row of scroller.querySelectorAll(".found")) row.classList.remove("found", "chosen");
    found = [];
    at = -1;
    setText(count, "");
  }

  async function find() {
    clear();
    const wanted = input.value.toLowerCase();
    if (!wanted) return;
    await load();
    found = rows().filter((row) => row.textContent.toLowerCase().includes(wanted));
    for (const row of found) row.classList.add("found");
    at = found.length;
    go(-1);
  }

  /** The rows were drawn anew: what was found is marked again, and the chosen one stays. */
  function again() {
    if (!found.length) return;
    const wanted = input.value.toLowerCase();
    found = rows().filter((row) => row.textContent.toLowerCase().includes(wanted));
    for (const row of found) row.classList.add("found");
    at = Math.min(at, found.length - 1);
    found[at]?.classList.add("chosen");
    setText(count, found.length ? `${at + 1} of ${found.length}` : "nothing found");
  }

  function go(by) {
    if (!found.length) return setText(count, input.value ? "nothing found" : "");
    found[at]?.classList.remove("chosen");
    at = (at + by + found.length) % found.length;
    found[at].classList.add("chosen");
    found[at].scrollIntoView({ block: "center" });
    setText(count, `${at + 1} of ${found.length}`);
  }

  let searched = "";
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      input.value = searched = "";
      clear();
      scroller.focus();
    }
    if (event.key !== "Enter") return;
    if (searched === input.value && found.length) go(event.shiftKey ? 1 : -1);
    else {
      searched = input.value;
      find();
    }
  });
  return { node, again };
}
