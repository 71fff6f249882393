// Types into a handle that this page has taken over: keys, text, pasting, and
// a row of keys for keyboards without them.

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
  #queue = [];
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
      el("button", { class: "key", tabIndex: -1, onmousedown: (event) => event.preventDefault(), onclick: () => this.press(key) }, label),
    );
    this.node = el(
      "div",
      { class: "keyboard", hidden: true },
      this.field,
      el("span", { class: "yours" }, "You are typing and the assistant waits; Ctrl-] hands back."),
      el("div", { class: "keys" }, keys),
      el("button", { class: "fit", onclick: () => this.#fit() }, "Fit to window"),
      this.problem,
    );
    place.scroller.addEventListener("mouseup", () => {
      if (this.isMine() && getSelection().isCollapsed) this.field.focus({ preventScroll: true });
    });
    this.field.addEventListener("focus", () => this.#focused(true));
    this.field.addEventListener("blur", () => this.#focused(false));
  }

  #focused(is) {
    this.#place.grid.classList.toggle("focused", is);
    if (this.isMine() && this.#place.screen.modes.focus) this.#send(is ? "\x1b[I" : "\x1b[O");
  }

  update() {
    const mine = this.isMine();
    if (mine === this.#wasMine) return;
    this.#wasMine = mine;
    this.node.hidden = !mine;
    this.#place.grid.classList.toggle("mine", mine);
    this.problem.textContent = "";
    if (mine) this.field.focus({ preventScroll: true });
    else {
      this.#place.fit.stop();
      this.#place.scroller.focus({ preventScroll: true });
    }
  }

  #lock() {
    return store.locks.get(lockKey(this.#place.session, this.#place.handle));
  }

  isMine() {
    return Boolean(this.#lock());
  }

  focus() {
    this.field.focus({ preventScroll: true });
  }

  #key(event) {
    event.stopPropagation();
    if (event.isComposing || event.key === "Process" || event.key === "Dead") return;
    if (event.ctrlKey && event.key === "]") {
      event.preventDefault();
      handBack(this.#place.session, this.#place.handle);
      return;
    }
    if (event.ctrlKey && event.shiftKey && event.key.toLowerCase() === "c") {
      event.preventDefault();
      this.#place.copy();
      return;
    }
    // Pasting stays the browser's own.
    if (event.ctrlKey && event.shiftKey && event.key.toLowerCase() === "v") return;
    if (event.shiftKey && event.key === "Insert") return;
    // A character of the third keyboard level (AltGr) is text.
    if (event.getModifierState("AltGraph") && event.key.length === 1) return;
    const bytes = bytesOf(event, this.#place.screen.modes);
    if (bytes === null) return;
    event.preventDefault();
    this.#send(bytes);
  }

  /** Presses a key in the person's name. */
  press(key) {
    this.#send(bytesOf({ ctrlKey: false, altKey: false, shiftKey: false, metaKey: false, ...key }, this.#place.screen.modes));
    this.focus();
  }

  /** Sends bytes that need not be text, each as a character below 256. */
  sendBytes(bytes) {
    this.#push(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0)));
  }

  async #fit() {
    await this.#place.fit.start();
    this.focus();
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

  #send(text) {
    this.#push(new TextEncoder().encode(text));
  }

  /** What is typed goes in order: one request at a time, with all that came meanwhile. */
  async #push(bytes) {
    for (const byte of bytes) this.#queue.push(byte);
    if (this.#isSending) return;
    this.#isSending = true;
    while (this.#queue.length) {
      const sent = base64(this.#queue);
      this.#queue = [];
      try {
        const { session, handle } = this.#place;
        await post(`${handlePath(session, handle)}/input`, { bytes: sent, lock: this.#lock() });
        this.problem.textContent = "";
      } catch (error) {
        this.#queue = [];
        this.problem.textContent = error.message;
      }
    }
    this.#isSending = false;
  }
}

function base64(bytes) {
  let binary = "";
  for (let at = 0; at < bytes.length; at += 8192) binary += String.fromCharCode(...bytes.slice(at, at + 8192));
  return btoa(binary);
}
