// Calls that a framework makes one by one, as the batches of the model's replies.

import { results } from "../dialects.js";
import type { Session } from "../session.js";

/** Calls of one reply come within this time of each other, in milliseconds. Beside a model's reply it does not count. */
const WINDOW = 5;

interface Waiting {
  call: { id: string; name: string; arguments: object };
  resolve(text: string): void;
  reject(error: unknown): void;
}

/** Runs calls that come together as one batch, so that a spawn and an `await` of it can stand in one reply. */
export class Collector {
  readonly #session: Session;
  #waiting: Waiting[] = [];

  constructor(session: Session) {
    this.#session = session;
  }

  /** Runs a call; gives the text that the model reads. */
  async call(name: string, input: object): Promise<string> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) setTimeout(() => void this.#run(), WINDOW);
      const call = { id: String(this.#waiting.length + 1), name, arguments: input };
      this.#waiting.push({ call, resolve, reject });
    });
  }

  async #run(): Promise<void> {
    const batch = this.#waiting;
    this.#waiting = [];
    try {
      const reply = await this.#session.run(batch.map((one) => one.call));
      const texts = results(reply, "openai").map((result) => result.content);
      batch.forEach((one, place) => one.resolve(texts[place] ?? ""));
    } catch (error) {
      for (const one of batch) one.reject(error);
    }
  }
}

const collectors = new WeakMap<Session, Collector>();

/** The one collector of a session. */
export function collectorOf(session: Session): Collector {
  const collector = collectors.get(session) ?? new Collector(session);
  collectors.set(session, collector);
  return collector;
}
