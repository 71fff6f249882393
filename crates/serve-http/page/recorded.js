// The messages of a session as they are recorded, and its calls as they
// change. One list per session, shared by whoever shows it.

import { get } from "./api.js";
import { onUpdate } from "./follow.js";

/** How many messages are asked for at once. */
const PAGE = 200;

export class Record {
  /** Messages in order, `{ info, parts }`; parts hold only beginnings where `brief`. */
  messages = [];
  isWhole = false;
  /** Whether the newest messages are loaded. */
  isLoaded = false;
  #byId = new Map();
  #session;
  #brief;
  #listener;
  #stop;
  #again = 0;

  constructor(session, { brief, changed }) {
    this.#session = session;
    this.#brief = brief;
    this.#listener = changed;
    this.#stop = onUpdate((event) => this.#update(event));
  }

  /** The newest messages, or those before what is known. */
  async load(earlier = false) {
    const before = earlier && this.messages.length ? `&before=${encodeURIComponent(this.messages[0].info.id)}` : "";
    const path = `/record/sessions/${encodeURIComponent(this.#session)}/messages?limit=${PAGE}&brief=${this.#brief}${before}`;
    const found = await get(path).catch(() => []);
    if (before || !this.isLoaded) this.isWhole = found.length < PAGE;
    this.isLoaded = true;
    const ids = new Set(found.map((message) => message.info.id));
    const others = this.messages.filter((message) => !ids.has(message.info.id));
    const recorded = found.map((message) => {
      const known = this.#byId.get(message.info.id) ?? message;
      this.#byId.set(message.info.id, known);
      return Object.assign(known, message, { isEarly: false });
    });
    // Calls arrive before the record has the message that led to them.
    const early = others.filter((message) => message.isEarly);
    const rest = others.filter((message) => !message.isEarly);
    this.messages = before ? [...recorded, ...rest, ...early] : [...rest, ...recorded, ...early];
    this.#listener();
  }

  /** Loads everything backwards from the newest, while it is needed. */
  async loadAll() {
    await this.load();
    while (!this.isWhole && this.#stop) await this.load(true);
  }

  /** A call with all of its output. */
  async whole(message, part) {
    const at = this.messages.indexOf(message);
    const next = this.messages[at + 1];
    const before = next ? `&before=${encodeURIComponent(next.info.id)}` : "";
    const found = await get(`/record/sessions/${encodeURIComponent(this.#session)}/messages?limit=1${before}`);
    return found[0]?.parts.find((other) => other.id === part.id) ?? part;
  }

  close() {
    this.#stop?.();
    this.#stop = null;
    clearTimeout(this.#again);
  }

  #update(event) {
    if (event.session !== this.#session) return;
    if (event.type === "part") {
      this.#part(event.part, event.at);
      this.#listener();
    }
    // What was said is not among the events; the record has it.
    if ((event.type === "replied" || event.type === "turn_ended") && !this.#brief && !this.#again) {
      this.#again = setTimeout(() => {
        this.#again = 0;
        this.load();
      }, 700);
    }
  }

  #part(part, at) {
    let message = this.#byId.get(part.messageID);
    if (!message) {
      message = { info: { id: part.messageID, role: "assistant", time: { created: at } }, parts: [], isEarly: true };
      this.#byId.set(part.messageID, message);
      this.messages = [...this.messages, message];
    }
    const index = message.parts.findIndex((known) => known.id === part.id);
    if (index >= 0) message.parts = message.parts.with(index, part);
    else message.parts = [...message.parts, part];
  }
}
