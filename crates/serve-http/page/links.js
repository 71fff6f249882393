// Links in a terminal: addresses that a program has put under its text, and
// those that stand in the text itself. None is opened before a person has seen
// where it leads.

import { announce, el } from "./dom.js";
import { copyText } from "./clipboard.js";
import { visible } from "./format.js";
import { placed } from "./runs.js";

const PLAIN = /https?:\/\/[^\s"'<>`\\^{}|]+/g;
/** Characters that end a sentence rather than an address. */
const TRAILING = /[.,;:!?'")\]]+$/;

/**
 * An address that may be opened: of the web, of another place than this page,
 * and without a name before the host that would pass for one. `null` otherwise.
 */
export function safeAddress(text, own = globalThis.location?.origin) {
  let url;
  try {
    url = new URL(text);
  } catch {
    return null;
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") return null;
  if (url.username || url.password || url.origin === own) return null;
  return url;
}

/** The addresses in a text, each with its place: `{ from, to, text }`. */
export function addressesIn(text) {
  if (!text.includes("://")) return [];
  return Array.from(text.matchAll(PLAIN), (match) => {
    const bare = balanced(match[0].replace(TRAILING, ""), match[0]);
    return { from: match.index, to: match.index + bare.length, text: bare };
  });
}

/** Keeps a closing bracket whose opening bracket is in the address. */
function balanced(bare, whole) {
  const open = bare.split("(").length - bare.split(")").length;
  return open > 0 && whole[bare.length] === ")" ? `${bare})` : bare;
}

/** The address under a cell of a screen, row and column from 1 on. */
export function linkAt(screen, row, col) {
  const runs = screen.lines[row - 1] ?? [];
  let column = 0;
  for (const run of runs) {
    const width = placed(run.text).reduce((sum, piece) => sum + piece.columns, 0);
    if (run.link !== undefined && col > column && col <= column + width) return run.link;
    column += width;
  }
  const [text, at] = lineAround(screen, row, col);
  return addressesIn(text).find(({ from, to }) => at >= from && at < to)?.text ?? null;
}

/** The text of a row with the rows that it goes on in, and the place of a cell in it. */
function lineAround(screen, row, col) {
  const isFull = (index) => screen.text(index).length >= screen.cols;
  let first = row - 1;
  while (first > 0 && isFull(first - 1)) first--;
  let last = row - 1;
  while (last + 1 < screen.rows && isFull(last)) last++;
  let text = "";
  let at = 0;
  for (let index = first; index <= last; index++) {
    if (index === row - 1) at = text.length + offsetOf(screen.text(index), col);
    text += screen.text(index);
  }
  return [text, at];
}

function offsetOf(text, col) {
  let column = 0;
  let offset = 0;
  for (const piece of placed(text)) {
    if (column + piece.columns >= col) return offset + (piece.columns === piece.text.length ? col - 1 - column : 0);
    column += piece.columns;
    offset += piece.text.length;
  }
  return text.length;
}

/** Every address on a screen, once. */
export function linksOn(screen) {
  const found = new Set();
  for (let row = 0; row < screen.rows; row++) {
    for (const run of screen.lines[row] ?? []) if (run.link !== undefined) found.add(run.link);
    const [text] = lineAround(screen, row + 1, 1);
    for (const { text: address } of addressesIn(text)) found.add(address);
  }
  return [...found];
}

/** Shows where links lead, and opens one if the person wants to. */
export function showLinks(addresses) {
  const dialog = el("dialog", { class: "help links", "aria-label": "Links" });
  const items = addresses.map((address) => linkItem(address, dialog));
  dialog.append(
    el("h2", {}, addresses.length === 1 ? "A link in the terminal" : addresses.length ? "Links on the screen" : "There is no link on the screen"),
    el("ul", {}, items),
    el("button", { onclick: () => dialog.close() }, "Close"),
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

function linkItem(address, dialog) {
  const url = safeAddress(address);
  const copy = el("button", { onclick: () => copyText(address) }, "Copy");
  if (!url) {
    return el("li", {}, el("code", {}, visible(address)), el("p", { class: "faint" }, "This address is not opened from here."), copy);
  }
  const open = el("a", { class: "button yes", href: url.href, target: "_blank", rel: "noopener noreferrer", onclick: () => dialog.close() }, "Open in a new tab");
  announce(`Link to ${url.host}`);
  return el("li", {}, el("p", {}, "Leads to ", el("strong", {}, url.host)), el("code", {}, visible(url.href)), el("p", { class: "buttons" }, open, copy));
}
