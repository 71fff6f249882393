// A handle: a running instance of a tool.

import { ConnectionLost } from "./errors.js";
import type { Session } from "./session.js";
import type { DriverScreen, HandleState, HandleView, OutputPiece } from "./types.js";

/** The screen of a terminal. */
export interface Screen {
  /** Increases with every change. */
  generation: number;
  /** The text of every row. */
  rows: string[];
  /** The rows as one text, without empty rows at the end. */
  text: string;
  /** Row and column of the cursor, counted from 1. */
  cursor: [number, number];
  /** The number of columns. */
  columns: number;
  /** Whether the program uses the whole screen, as an editor does. */
  fullScreen: boolean;
  /** The window's title. */
  title?: string;
  /** Whether the handle has stopped, so that the screen no longer changes. */
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

/** A spawned tool. With `using` or `await using`, the tool ends when the block is left. */
export class Handle implements AsyncDisposable, Disposable {
  readonly #session: Session;
  /** Its tool. */
  readonly tool: string;
  /** Its id. */
  readonly id: string;
  /** Its last known view. */
  view: HandleView;

  /** @internal */
  constructor(session: Session, tool: string, id: string, view?: HandleView) {
    this.#session = session;
    this.tool = tool;
    this.id = id;
    this.view = view ?? { id, state: "running" };
  }

  /** Its last known state. */
  get state(): HandleState {
    return this.view.state;
  }

  /** Its output or its error message, once it is known to have stopped. */
  get result(): string | undefined {
    return this.view.result;
  }

  /** Reads the new output, as the model would. */
  async fetch(view?: "new" | "screen" | "all"): Promise<HandleView> {
    return this.#act("fetch", view === undefined ? {} : { view });
  }

  /** Types into it, or answers its question. */
  async apply(input?: unknown, options: { enter?: boolean; keys?: string[] } = {}): Promise<HandleView> {
    return this.#act("apply", { ...(input === undefined ? {} : { input }), ...options });
  }

  /** Ends it and everything that it started. The view's `ended` is the number of ended processes. */
  async abort(): Promise<HandleView> {
    return this.#act("abort", {});
  }

  /** Waits until it has stopped; after `timeout` seconds it returns the view at that time. */
  async wait(timeout?: number): Promise<HandleView> {
    await this.#session.wait({ all: [this], ...(timeout === undefined ? {} : { timeout }) });
    return this.view;
  }

  /**
   * The lines of its output from the beginning, as they arrive, without control sequences. The model's own reads of the
   * handle are not affected.
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

  /** Its output from the beginning, as it arrives, with every byte that the program wrote. */
  async *output(): AsyncGenerator<string, void, undefined> {
    for await (const piece of this.#pieces(false)) yield piece.text;
  }

  /** The present screen of its terminal. */
  async screen(): Promise<Screen> {
    return updated(undefined, (await this.#session.request({ op: "screen", handle: this.id })) as DriverScreen);
  }

  /** The screen of its terminal, now and after every change until it has stopped. A slow reader skips intermediate screens. */
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
