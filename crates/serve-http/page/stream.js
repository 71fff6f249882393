// One event stream, read with `fetch` so that the token travels in a header.
// It reconnects automatically and continues from the last event.

import { headers } from "./api.js";

const SILENCE = 25_000;
const LONGEST = 5_000;

export class Stream {
  #path;
  #last = null;
  #wait = 0;
  #abort = null;
  #generation = 0;

  /** `on.event(name, data)`, `on.state("live" | "gone" | "stale")`. */
  constructor(path, on) {
    this.#path = path;
    this.on = on;
  }

  /** Reads from another address from now on, without missing anything. */
  move(path) {
    if (path === this.#path && this.#abort) return;
    this.#path = path;
    this.start();
  }

  /** Reads no more. */
  stop() {
    this.#generation++;
    this.#abort?.abort();
  }

  start() {
    this.#abort?.abort();
    this.#wait = 0;
    this.#run(++this.#generation);
  }

  async #run(generation) {
    while (generation === this.#generation) {
      const abort = (this.#abort = new AbortController());
      try {
        await this.#read(abort, generation);
      } catch (error) {
        if (error?.status === 404) return;
        if (error?.status === 401) {
          this.on.state("stale");
          return;
        }
      }
      if (generation !== this.#generation) return;
      this.on.state("gone");
      this.#wait = Math.min(LONGEST, (this.#wait || 125) * 2);
      await new Promise((done) => setTimeout(done, this.#wait * (0.75 + Math.random() / 2)));
    }
  }

  async #read(abort, generation) {
    const resume = this.#last ? { "last-event-id": this.#last } : {};
    let watchdog = setTimeout(() => abort.abort(), SILENCE);
    try {
      const response = await fetch(`/api/v1${this.#path}`, {
        headers: headers({ accept: "text/event-stream", ...resume }),
        cache: "no-store",
        signal: abort.signal,
      });
      if (!response.ok) throw Object.assign(new Error("refused"), { status: response.status });
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      const parser = new Parser();
      for (;;) {
        const { done, value } = await reader.read();
        if (done || generation !== this.#generation) return;
        clearTimeout(watchdog);
        watchdog = setTimeout(() => abort.abort(), SILENCE);
        for (const event of parser.take(value)) {
          if (event.id) this.#last = event.id;
          if (event.name === "hello" || event.name === "missed") {
            this.#wait = 0;
            this.on.state("live");
          }
          this.on.event(event.name, JSON.parse(event.data));
        }
      }
    } finally {
      clearTimeout(watchdog);
    }
  }
}

/** Parses text and returns the complete events. */
export class Parser {
  #rest = "";
  #event = { name: "message", id: null, data: "" };

  *take(text) {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop();
    for (const line of lines) {
      if (line === "" || line === "\r") {
        const event = this.#event;
        this.#event = { name: "message", id: null, data: "" };
        if (event.data) yield event;
        continue;
      }
      const colon = line.indexOf(":");
      const field = line.slice(0, colon);
      const value = line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
      if (field === "event") this.#event.name = value;
      else if (field === "id") this.#event.id = value;
      else if (field === "data") this.#event.data += this.#event.data ? `\n${value}` : value;
    }
  }
}
