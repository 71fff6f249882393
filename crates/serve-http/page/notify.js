// Tells of open requests outside of the page: in the title, in the icon of the
// tab, and on the desktop where the person has allowed it.

import { el, svg } from "./dom.js";
import { visible } from "./format.js";
import { changed, store } from "./store.js";

const KEY = "windlass-notify";
/** How many characters of a request the desktop shows. */
const LONGEST = 160;

/** Asks for the permission to notify, or turns notifying off and on. */
export function notifyButton() {
  const node = el("button", { class: "quiet notify", onclick: () => toggle() });
  const update = () => {
    node.hidden = !("Notification" in window) || Notification.permission === "denied";
    node.replaceChildren(bell(isOn()));
    node.setAttribute("aria-label", "Notify on the desktop");
    node.setAttribute("aria-pressed", String(isOn()));
    node.title = isOn() ? "Desktop notifications of new requests are on; press to turn them off" : "Press to turn on desktop notifications of new requests";
  };
  async function toggle() {
    const wanted = !isOn();
    if (wanted && Notification.permission === "default") await Notification.requestPermission();
    localStorage.setItem(KEY, wanted ? "on" : "off");
    update();
  }
  update();
  return node;
}

/** A bell, struck out while the desktop is not told. Not every system has a font with one. */
function bell(rings) {
  const line = (d) => svg("path", { d, fill: "none", stroke: "currentColor", "stroke-width": "1.4", "stroke-linecap": "round", "stroke-linejoin": "round" });
  const shape = [line("M3.5 11.5h9l-1.3-2V6.7a3.2 3.2 0 0 0-6.4 0v2.8z"), line("M6.8 13.6h2.4")];
  if (!rings) shape.push(line("M2.5 2.5l11 11"));
  return svg("svg", { viewBox: "0 0 16 16", width: "15", height: "15", "aria-hidden": "true" }, ...shape);
}

function isOn() {
  return "Notification" in window && Notification.permission === "granted" && localStorage.getItem(KEY) !== "off";
}

/** A new request. Nobody needs to be told of what they are looking at. */
export function notify(ask) {
  if (!isOn() || (document.hasFocus() && !document.hidden)) return;
  const what = ask.kind === "permission" ? `Permission: ${ask.request.metadata.tool ?? ask.request.permission}` : `Question of ${ask.ask.tool}`;
  const lines = ask.kind === "permission" ? (ask.request.metadata.rendering?.body ?? ask.request.patterns) : [ask.ask.question.text];
  const shown = new Notification(`Windlass · ${visible(what)}`, { body: visible(lines.join(" ")).slice(0, LONGEST), tag: ask.id });
  shown.addEventListener("click", () => {
    window.focus();
    shown.close();
    changed();
  });
}

let told = null;

/** The number of open requests in the title and in the icon. */
export function showCount() {
  const count = store.asks.size;
  if (count === told) return;
  told = count;
  document.getElementById("menu").dataset.count = count || "";
  document.title = count ? `(${count}) Windlass` : "Windlass";
  const icon = document.querySelector("link[rel=icon]");
  icon.type = count ? "image/png" : "image/svg+xml";
  icon.href = count ? drawn(count) : "/assets/icon.svg";
}

function drawn(count) {
  const canvas = el("canvas", { width: 64, height: 64 });
  const pen = canvas.getContext("2d");
  pen.fillStyle = "#2f6f6a";
  pen.beginPath();
  pen.roundRect(0, 0, 64, 64, 14);
  pen.fill();
  pen.fillStyle = "#c2571a";
  pen.beginPath();
  pen.arc(36, 36, 28, 0, 2 * Math.PI);
  pen.fill();
  pen.fillStyle = "#fff";
  pen.font = "bold 40px system-ui, sans-serif";
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.fillText(count > 9 ? "9+" : String(count), 36, 39);
  return canvas.toDataURL("image/png");
}
