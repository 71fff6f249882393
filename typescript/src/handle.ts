// A handle: a tool that lasts.

import { ConnectionLost } from "./errors.js";
import type { Session } from "./session.js";
import type { DriverScreen, HandleState, HandleView, OutputPiece } from "./types.js";

/** What a terminal shows. */
export interface Screen {
  /** Grows with every change. */
  generation: number;
  /** The text of every row. */
  rows: string[];
  /** The rows as one text, without empty rows at the end. */
  text: string;
  /** Row and column of the cursor, from 1 on. */
  cursor: [number, number];
  /** How many columns there are. */
  columns: number;
  /** The program has the whole screen to itself. */
  fullScreen: boolean;
  /** The window's title. */
  title?: string;
  /** The handle has stopped: the screen does not change any more. */
  ended: boolean;
}

function updated(before: Screen | undefined, update: DriverScreen): Screen {
  const same = before?.columns === update.cols && before.rows.length === update.rows;
  const rows = same ? [...before.rows] : Array.from({ length: update.rows }, () => "");
  for (const row of update.changed) rows[row.row - 1] = row.runs.map((run) => run.text).join("");
  return {
    generation: update.generation,
    rows,
    text: rows.join("\n").replace(/\n+$/, ""),
    cursor: update.cursor as [number, number],
    columns: update.cols,
    fullScreen: update.full_screen,
    ...(update.title === undefined ? {} : { title: update.title }),
    ended: update.ended,
  };
}

/** A tool that was spawned. With `using` or `await using` it is ended when the block is left. */
export class Handle implements AsyncDisposable, Disposable {
  readonly #session: Session;
  /** Its tool. */
  readonly tool: string;
  /** Its id. */
  readonly id: string;
  /** How it stood when it was last told. */
  view: HandleView;

  /** @internal */
  constructor(session: Session, tool: string, id: string, view?: HandleView) {
    this.#session = session;
    this.tool = tool;
    this.id = id;
    this.view = view ?? { id, state: "running" };
  }

  /** Its state, as it was last told. */
  get state(): HandleState {
    return this.view.state;
  }

  /** Its output or its error message, once it has been told that it stopped. */
  get result(): string | undefined {
    return this.view.result;
  }

  /** Reads what is new, as the model would. */
  async fetch(view?: "new" | "screen" | "all"): Promise<HandleView> {
    return this.#act("fetch", view === undefined ? {} : { view });
  }

  /** Types into it, or answers its question. */
  async apply(input?: unknown, options: { enter?: boolean; keys?: string[] } = {}): Promise<HandleView> {
    return this.#act("apply", { ...(input === undefined ? {} : { input }), ...options });
  }

  /** Ends it and everything that it started. The view's `ended` is how many processes that were. */
  async abort(): Promise<HandleView> {
    return this.#act("abort", {});
  }

  /** Waits until it has stopped; after `timeout` seconds the view says how it stands. */
  async wait(timeout?: number): Promise<HandleView> {
    await this.#session.wait({ all: [this], ...(timeout === undefined ? {} : { timeout }) });
    return this.view;
  }

  /**
   * The lines of its output from the beginning, as they come, without control sequences. What the model reads of the
   * handle is not affected.
   */
  async *lines(): AsyncGenerator<string, void, undefined> {
    let rest = "";
    for await (const piece of this.#pieces(true)) {
      const lines = (rest + piece.text).split("\n");
      rest = lines.pop() ?? "";
      yield* lines;
    }
    if (rest) yield rest;
  }

  /** Its output from the beginning, as it comes, with everything that the program wrote. */
  async *output(): AsyncGenerator<string, void, undefined> {
    for await (const piece of this.#pieces(false)) yield piece.text;
  }

  /** What its terminal shows now. */
  async screen(): Promise<Screen> {
    return updated(undefined, (await this.#session.request({ op: "screen", handle: this.id })) as DriverScreen);
  }

  /** What its terminal shows, now and at every change until it has stopped. A slow reader misses pictures in between. */
  async *screens(): AsyncGenerator<Screen, void, undefined> {
    let screen: Screen | undefined;
    while (!screen?.ended) {
      const since = screen === undefined ? {} : { since: screen.generation };
      const update = await this.#session.request({ op: "screen", handle: this.id, wait: true, ...since });
      const before: number | undefined = screen?.generation;
      screen = updated(screen, update as DriverScreen);
      if (screen.generation !== before) yield screen;
    }
  }

  async *#pieces(lines: boolean): AsyncGenerator<OutputPiece, void, undefined> {
    let from = 0;
    for (;;) {
      const piece = (await this.#session.request({ op: "output", handle: this.id, from, wait: true, lines })) as OutputPiece;
      if (piece.text) yield piece;
      if (piece.ended) return;
      from = piece.to;
    }
  }

  async #act(action: string, input: object): Promise<HandleView> {
    this.view = (await this.#session.call(this.tool, { action, id: this.id, ...input })) as HandleView;
    return this.view;
  }

  /** Ends it. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.state === "stopped" || !this.#session.isOpen) return;
    try {
      await this.abort();
    } catch (error) {
      if (!(error instanceof ConnectionLost)) throw error;
    }
  }

  /** Ends it, without waiting for that. */
  [Symbol.dispose](): void {
    this[Symbol.asyncDispose]().catch(() => undefined);
  }
}
