// Types into a handle that this page has taken over: keys, text, pasting, and
// a row of keys for those whose keyboard has none.

import { handlePath, post } from "./api.js";
import { el } from "./dom.js";
import { bytesOf, pasted } from "./keys.js";
import { handBack } from "./takeover.js";
import { lockKey, store } from "./store.js";

const ROW = [
  ["Esc", { key: "Escape" }],
  ["Tab", { key: "Tab" }],
  ["Ctrl-C", { key: "c", ctrlKey: true }],
  ["Ctrl-D", { key: "d", ctrlKey: true }],
  ["Ctrl-Z", { key: "z", ctrlKey: true }],
  ["Ctrl-W", { key: "w", ctrlKey: true }],
  ["←", { key: "ArrowLeft" }],
  ["↑", { key: "ArrowUp" }],
  ["↓", { key: "ArrowDown" }],
  ["→", { key: "ArrowRight" }],
  ["Enter", { key: "Enter" }],
];

export class Keyboard {
  #place;
  #queue = "";
  #isSending = false;
  #wasMine = false;

  constructor(place) {
    this.#place = place;
    this.field = el("textarea", {
      class: "keys-field",
      rows: 1,
      spellcheck: false,
      autocapitalize: "off",
      autocomplete: "off",
      "data-keys": "",
      "aria-label": `Type into ${place.handle}; Control and right bracket hands it back`,
    });
    this.field.addEventListener("keydown", (event) => this.#key(event));
    this.field.addEventListener("input", (event) => this.#text(event));
    this.field.addEventListener("compositionend", () => this.#flush());
    this.field.addEventListener("paste", (event) => this.#paste(event));
    this.problem = el("span", { class: "problem", role: "alert" });
    const keys = ROW.map(([label, key]) =>
      el("button", { class: "key", tabIndex: -1, onmousedown: (event) => event.preventDefault(), onclick: () => this.#press(key) }, label),
    );
    this.node = el(
      "div",
      { class: "keyboard", hidden: true },
      this.field,
      el("span", { class: "yours" }, "You are typing. The assistant waits until you hand it back."),
      el("div", { class: "keys" }, keys),
      el("button", { class: "fit", onclick: () => this.#fit() }, "Fit to window"),
      this.problem,
    );
    place.scroller.addEventListener("mouseup", () => {
      if (this.#isMine() && getSelection().isCollapsed) this.field.focus({ preventScroll: true });
    });
    this.field.addEventListener("focus", () => place.grid.classList.add("focused"));
    this.field.addEventListener("blur", () => place.grid.classList.remove("focused"));
  }

  update() {
    const mine = this.#isMine();
    if (mine === this.#wasMine) return;
    this.#wasMine = mine;
    this.node.hidden = !mine;
    this.#place.grid.classList.toggle("mine", mine);
    this.problem.textContent = "";
    if (mine) this.field.focus({ preventScroll: true });
  }

  #lock() {
    return store.locks.get(lockKey(this.#place.session, this.#place.handle));
  }

  #isMine() {
    return Boolean(this.#lock());
  }

  #key(event) {
    event.stopPropagation();
    if (event.isComposing || event.key === "Process" || event.key === "Dead") return;
    if (event.ctrlKey && event.key === "]") {
      event.preventDefault();
      handBack(this.#place.session, this.#place.handle);
      return;
    }
    // Copying and pasting stay the browser's own.
    if (event.ctrlKey && event.shiftKey && /^[cv]$/i.test(event.key)) return;
    if (event.shiftKey && event.key === "Insert") return;
    // What a third level of the keyboard writes is text.
    if (event.getModifierState("AltGraph") && event.key.length === 1) return;
    const bytes = bytesOf(event, this.#place.screen.modes);
    if (bytes === null) return;
    event.preventDefault();
    this.#send(bytes);
  }

  #press(key) {
    this.#send(bytesOf({ ctrlKey: false, altKey: false, shiftKey: false, metaKey: false, ...key }, this.#place.screen.modes));
    this.field.focus({ preventScroll: true });
  }

  #text(event) {
    if (!event.isComposing) this.#flush();
  }

  #flush() {
    const text = this.field.value;
    this.field.value = "";
    if (text) this.#send(text.replace(/\r?\n/g, "\r"));
  }

  #paste(event) {
    event.preventDefault();
    const text = event.clipboardData.getData("text/plain");
    if (text) this.#send(pasted(text, this.#place.screen.modes));
  }

  /** What is typed goes in order: one request at a time, with all that came meanwhile. */
  async #send(text) {
    this.#queue += text;
    if (this.#isSending) return;
    this.#isSending = true;
    while (this.#queue) {
      const bytes = base64(this.#queue);
      this.#queue = "";
      try {
        const { session, handle } = this.#place;
        await post(`${handlePath(session, handle)}/input`, { bytes, lock: this.#lock() });
        this.problem.textContent = "";
      } catch (error) {
        this.#queue = "";
        this.problem.textContent = error.message;
      }
    }
    this.#isSending = false;
  }

  /** Gives the program as many rows and columns as there is room for. */
  async #fit() {
    const { scroller, grid, session, handle } = this.#place;
    const style = getComputedStyle(grid);
    const cell = grid.getBoundingClientRect().width / this.#place.screen.cols;
    const height = parseFloat(style.getPropertyValue("line-height"));
    const padding = 2 * parseFloat(getComputedStyle(scroller).paddingLeft);
    const cols = Math.max(20, Math.min(1024, Math.floor((scroller.clientWidth - padding) / cell)));
    const rows = Math.max(4, Math.min(512, Math.floor((scroller.clientHeight - padding) / height)));
    try {
      await post(`${handlePath(session, handle)}/resize`, { rows, cols });
    } catch (error) {
      this.problem.textContent = error.message;
    }
    this.field.focus({ preventScroll: true });
  }
}

function base64(text) {
  const bytes = new TextEncoder().encode(text);
  let binary = "";
  for (let at = 0; at < bytes.length; at += 8192) binary += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(binary);
}
