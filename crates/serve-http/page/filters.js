// Which handles are listed.

import { changed } from "./store.js";
import { el, setAttr } from "./dom.js";

const STATES = ["all", "active", "waiting", "stopped"];
const filter = { text: "", state: "all" };

/** Whether the text of a handle in the list matches the filter. */
export function isWanted(session, info) {
  const { state, text } = filter;
  if (state === "active" && info.state === "stopped") return false;
  if (state === "waiting" && info.state !== "waiting") return false;
  if (state === "stopped" && info.state !== "stopped") return false;
  if (!text) return true;
  const seen = `${info.id} ${info.tool} ${info.state} ${info.last_line ?? ""} ${session.root} ${session.front_end} ${session.id}`;
  return seen.toLowerCase().includes(text);
}

export function isFiltering() {
  return filter.text !== "" || filter.state !== "all";
}

export function setUpFilters(place) {
  const input = el("input", {
    id: "filter",
    type: "search",
    placeholder: "Filter handles",
    "aria-label": "Filter handles",
    autocomplete: "off",
    spellcheck: false,
    oninput: () => {
      filter.text = input.value.trim().toLowerCase();
      changed();
    },
  });
  const buttons = STATES.map((state) =>
    el("button", { class: "chip", "aria-pressed": state === "all", onclick: () => choose(state) }, state),
  );
  const choose = (state) => {
    filter.state = state;
    buttons.forEach((button, index) => setAttr(button, "aria-pressed", STATES[index] === state ? "true" : "false"));
    changed();
  };
  choose("all");
  place.append(input, el("div", { class: "chips", role: "group", "aria-label": "States" }, buttons));
}
