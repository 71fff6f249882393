// Keys of the page itself. While a terminal is taken over they belong to it.

import { show, showHome, TABS } from "./address.js";
import { focusAsk } from "./asks.js";
import { el } from "./dom.js";
import { store } from "./store.js";
import { nextTheme } from "./theme.js";
import { handBack, isShownMine, toggleTakeover } from "./takeover.js";

const SHORTCUTS = [
  ["?", "this list", () => toggleHelp()],
  ["p", "go to what needs you; there y once, a always, n reject, e edit, 1–9 choose", () => focusAsk()],
  ["h", "overview of all sessions", () => showHome()],
  ["j", "next handle", () => step(1)],
  ["k", "previous handle", () => step(-1)],
  ["/", "filter handles", () => document.getElementById("filter").focus()],
  ["1", "output of the handle", () => tab(0)],
  ["2", "all terminals of the session", () => tab(1)],
  ["3", "timeline", () => tab(2)],
  ["4", "conversation", () => tab(3)],
  ["5", "calls", () => tab(4)],
  ["t", "take the handle over; Ctrl-] hands it back", () => toggleTakeover()],
  ["s", "find in the terminal or the log", () => document.getElementById("log-search")?.focus()],
  ["+", "zoom the timeline in", () => document.getElementById("zoom-in")?.click()],
  ["-", "zoom the timeline out", () => document.getElementById("zoom-out")?.click()],
  ["d", "light or dark", () => nextTheme()],
  ["Escape", "leave a field or this list", () => document.activeElement?.blur()],
];

export function setUpKeys() {
  document.getElementById("help").addEventListener("click", toggleHelp);
  document.getElementById("home").addEventListener("click", showHome);
  document.getElementById("menu").addEventListener("click", () => {
    const open = document.body.classList.toggle("menu-open");
    document.getElementById("menu").setAttribute("aria-expanded", String(open));
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey && event.key === "]" && isShownMine()) {
      event.preventDefault();
      handBack(store.shown.session, store.shown.handle);
      return;
    }
    if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
    // In a dialog, only its own keys work.
    if (document.querySelector("dialog[open]") && event.key !== "?") return;
    const typing = event.target.closest?.("input, textarea, select, [data-keys]");
    if (typing && event.key !== "Escape") return;
    if (event.target.closest?.("[data-keys]")) return;
    const found = SHORTCUTS.find(([key]) => key === event.key);
    if (!found) return;
    event.preventDefault();
    found[2]();
  });
}

function tab(index) {
  if (store.shown.session) show({ tab: TABS[index] });
}

/** Goes to the handle that is listed after, or before, the one that is shown. */
function step(by) {
  const all = [...document.querySelectorAll("#sessions .handle")].filter((button) => button.offsetParent);
  const at = all.findIndex((button) => button.getAttribute("aria-current") === "true");
  const next = all[at < 0 ? 0 : Math.min(all.length - 1, Math.max(0, at + by))];
  next?.click();
  next?.scrollIntoView({ block: "nearest" });
}

let dialog = null;

function toggleHelp() {
  if (dialog?.open) return dialog.close();
  dialog ??= makeHelp();
  dialog.showModal();
}

function makeHelp() {
  const rows = SHORTCUTS.flatMap(([key, does]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, does)]);
  const made = el("dialog", { class: "help", "aria-label": "Keyboard shortcuts" }, el("h2", {}, "Keyboard"), el("dl", {}, rows), el("button", { class: "yes", onclick: () => made.close() }, "Close"));
  document.body.append(made);
  return made;
}
