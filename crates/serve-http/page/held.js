// Kept handles whose runtime is gone: the rest of each lease, and a button to end it.

import { get, post } from "./api.js";
import { announce, el, keyed, setAttr, setText } from "./dom.js";
import { elapsed, folder } from "./format.js";
import { changed, store } from "./store.js";

/** How often holders are asked: nothing tells when a runtime dies or a lease ends. */
const AGAIN = 5_000;

const section = document.getElementById("held");
const list = el("ul", { class: "held-list" });
section.append(el("h2", {}, "Kept without a runtime"), list);
let due = 0;

/** Fetches the kept handles, and polls them. */
export async function loadHeld() {
  clearTimeout(due);
  due = setTimeout(loadHeld, AGAIN);
  if (document.hidden || store.connection !== "live") return;
  const at = performance.now();
  const found = await get("/held").catch(() => null);
  if (found) {
    store.held = found.map((info) => ({ info, at }));
    changed();
  }
}

export function showHeld() {
  section.hidden = store.held.length === 0;
  keyed(list, store.held, (held) => held.info.name, make, update);
}

function make({ info }) {
  const end = el("button", { class: "no" }, "End");
  let sure = 0;
  const forget = () => {
    clearTimeout(sure);
    sure = 0;
    setText(end, "End");
  };
  end.addEventListener("click", async () => {
    if (!sure) {
      sure = setTimeout(forget, 3000);
      setText(end, "End it and all it started?");
      return;
    }
    forget();
    try {
      const receipt = await post(`/held/${encodeURIComponent(info.name)}/end`);
      announce(`${info.handle} was ended, ${receipt.ended} processes`);
    } catch (error) {
      announce(error.message);
    }
    loadHeld();
  });
  const item = el("li", { class: "held-handle" });
  item.append(el("span", { class: "name" }, info.handle), el("span", { class: "tool" }, info.tool), el("span", { class: "grow" }), el("span", { class: "left" }), end, el("span", { class: "last" }));
  item.title = `${info.command ?? ""}\n${info.root}\n${info.session}`;
  return item;
}

function update(item, { info, at }) {
  const [, , , left, end, last] = item.children;
  setText(left, standing(info, at));
  setText(last, `${folder(info.root)} · ${info.command ?? ""}`);
  end.hidden = !(info.standing === "held" || info.standing === "stopped");
  setAttr(end, "aria-label", `End ${info.handle}`);
}

/** How it stands, in a few words. */
function standing(info, at) {
  const time = () => elapsed(Math.max(0, info.left_secs - (performance.now() - at) / 1000));
  switch (info.standing) {
    case "held":
      return `${time()} left`;
    case "stopped":
      return `stopped · ${time()} left`;
    case "ended":
      return `ended · ${info.receipt.ended} processes`;
    case "lost":
      return "lost";
    case "silent":
      return "does not answer";
    default:
      return info.standing;
  }
}
