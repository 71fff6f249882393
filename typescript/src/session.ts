// A session: one conversation, which owns its handles.

import { dialectOfParameters, offered, readCall, replyText, results, type Call, type Dialect, type DialectResults, type DialectTools } from "./dialects.js";
import { ConnectionLost, Decline, RequestRefused, ToolFailed } from "./errors.js";
import { Handle } from "./handle.js";
import { addition, Context, runTool, type ToolDefinition } from "./tools.js";
import type { Ask, AwaitReply, BatchReply, DriveEventMissed, DriverRequest, DriverSession, HandleInfo, HandleView, Notice, ToolOffer, PermissionRequest, StreamedEvent, TurnEndHandle, TurnEndReport } from "./types.js";
import type { Line, Wire } from "./wire.js";

/** An event of a session, or the number of missed events. */
export type SessionEvent = StreamedEvent | (DriveEventMissed & { type: "missed" });

/** The reply to a permission request. */
export type PermissionAnswer =
  | boolean
  | "once"
  | "always"
  | "reject"
  | { reply: "once" | "always" | "reject"; message?: string; arguments?: object };

/** The callbacks for requests of a session. */
export interface SessionOptions {
  /** Decides whether a call may run. Without any callback this program is trusted and no requests are sent. */
  onPermission?: (request: PermissionRequest) => PermissionAnswer | Promise<PermissionAnswer>;
  /** Answers a question of a tool. `undefined`, or a thrown `Decline`, declines. */
  onQuestion?: (ask: Ask) => unknown;
  /** Decides about handles at the end of a turn. Handles without a decision are ended. */
  onInquiry?: (handles: TurnEndHandle[]) => Record<string, "wait" | "abort"> | Promise<Record<string, "wait" | "abort">>;
  /** Receives the notices of every reply. */
  onNotice?: (notice: Notice) => unknown;
}

interface Deferred<T> {
  resolve(value: T): void;
  reject(error: Error): void;
}

interface Reader {
  seen: number;
  hasMissed: boolean;
  queue: (SessionEvent | undefined)[];
  wake: (() => void) | undefined;
}

/** Opens the wire of a session. */
export type OpenWire = (ask: boolean, take: (line: Line) => void, lost: (error: ConnectionLost) => void) => Promise<Wire>;

/** Conditions to wait for. */
export interface WaitOptions {
  /** Until one of these has stopped. */
  any?: (Handle | string)[];
  /** Until every one of these has stopped. */
  all?: (Handle | string)[];
  /** Until all of these hold: `id` and one of `pattern`, `idle_secs`, `port` and `waiting`. */
  until?: { id: Handle | string; pattern?: string; new?: boolean; idle_secs?: number; port?: number; waiting?: boolean }[];
  /** The maximum time to wait, in seconds. */
  timeout?: number;
}

/** Running calls. Await it for their reply. */
export class Batch implements PromiseLike<BatchReply> {
  readonly #reply: Promise<BatchReply>;
  /** Cancels the unanswered calls: one-shots are ended, handles stay. The reply still arrives. */
  readonly cancel: () => void;

  /** @internal */
  constructor(reply: Promise<BatchReply>, cancel: () => void) {
    this.#reply = reply;
    this.cancel = cancel;
    // A caller that only cancels does not need the result.
    reply.catch(() => undefined);
  }

  then<A = BatchReply, B = never>(
    fulfilled?: ((value: BatchReply) => A | PromiseLike<A>) | null,
    rejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#reply.then(fulfilled, rejected);
  }
}

/** One conversation with the tools. Everything that runs ends with it. */
export class Session implements AsyncDisposable, Disposable {
  readonly #options: SessionOptions;
  #wire!: Wire;
  #info!: DriverSession;
  #loss: ConnectionLost | undefined;
  #closing: Promise<void> | undefined;
  #number = 0;
  readonly #batches = new Map<string, Deferred<BatchReply>>();
  readonly #requests = new Map<string, Deferred<unknown>>();
  readonly #turns: Deferred<TurnEndReport>[] = [];
  readonly #tools = new Map<string, ToolDefinition<never>>();
  readonly #runs = new Map<string, Context>();
  readonly #withdrawn = new Set<string>();
  readonly #readers = new Set<Reader>();

  readonly #ended: (session: Session) => void;

  private constructor(options: SessionOptions, ended: (session: Session) => void) {
    this.#options = options;
    this.#ended = ended;
  }

  /** @internal */
  static async begin(open: OpenWire, options: SessionOptions, ended: (session: Session) => void): Promise<Session> {
    const session = new Session(options, ended);
    const ask = options.onPermission !== undefined || options.onQuestion !== undefined || options.onInquiry !== undefined;
    session.#wire = await open(ask, (line) => session.#take(line), (error) => session.#fail(error));
    try {
      session.#info = (await session.request({ op: "session" })) as DriverSession;
    } catch (error) {
      session.#wire.abandon();
      throw error;
    }
    return session;
  }

  /** The session's id, its process and its folder. */
  get info(): DriverSession {
    return this.#info;
  }

  /** The session's id, by which the page and other commands know it. */
  get id(): string {
    return this.#info.id;
  }

  /** Calls can be run. */
  get isOpen(): boolean {
    return this.#loss === undefined && this.#wire.isOpen;
  }

  /** The tools to offer to a model, in its provider's format. */
  async tools<D extends Dialect>(dialect: D): Promise<DialectTools[D][]> {
    const tools = await this.request({ op: "tools", dialect: dialectOfParameters(dialect) });
    return (tools as ToolOffer[]).map((tool) => offered(tool, dialect));
  }

  /** Makes a function a tool of this session. */
  async tool<T = Record<string, unknown>>(tool: ToolDefinition<T>): Promise<void> {
    const added = tool as unknown as ToolDefinition<never>;
    const line = await addition(added);
    await this.request(line as unknown as DriverRequest);
    this.#tools.set(tool.name, added);
  }

  /**
   * Runs the calls of one model reply; returns their replies together, in call order. A call is `{id, name, arguments}`, or in the format
   * of Anthropic or OpenAI. Aborting the signal ends the calls: one-shots among them are ended, handles stay.
   */
  async run(calls: Iterable<Call>, options: { signal?: AbortSignal } = {}): Promise<BatchReply> {
    options.signal?.throwIfAborted();
    const batch = this.begin(calls);
    options.signal?.addEventListener("abort", batch.cancel, { once: true });
    try {
      return await batch;
    } finally {
      options.signal?.removeEventListener("abort", batch.cancel);
    }
  }

  /** Starts to run calls. Await the result for their reply; they can be cancelled. */
  begin(calls: Iterable<Call>): Batch {
    const batch = String(++this.#number);
    const read = [...calls].map((call, place) => readCall(call, place + 1));
    const reply = new Promise<BatchReply>((resolve, reject) => {
      this.#send({ batch, calls: read, concurrent: true });
      this.#batches.set(batch, { resolve, reject });
    });
    return new Batch(this.#withNotices(reply), () => {
      if (this.#batches.has(batch)) this.#sendIfOpen({ cancel: batch });
    });
  }

  /** The replies in the provider's format, with the notices at the end of the last one. */
  results<D extends keyof DialectResults>(reply: BatchReply, dialect: D): DialectResults[D][] {
    return results(reply, dialect);
  }

  /** Runs one call and returns its content. Throws `ToolFailed` when it is refused or fails. */
  async call(tool: string, input: object = {}, options: { signal?: AbortSignal } = {}): Promise<unknown> {
    const reply = (await this.run([{ id: "1", name: tool, arguments: input }], options)).replies[0]!;
    if (reply.is_error) throw new ToolFailed(replyText(reply));
    return reply.content;
  }

  /** Spawns a tool under this id. */
  async spawn(tool: string, input: { id: string; [argument: string]: unknown }): Promise<Handle> {
    const content = await this.call(tool, { action: "spawn", ...input });
    return new Handle(this, tool, input.id, content as HandleView);
  }

  /** A handle that a model has spawned. */
  handle(id: string, tool = "shell"): Handle {
    return new Handle(this, tool, id);
  }

  /** Every readable handle, and every running one-shot. */
  async handles(): Promise<HandleInfo[]> {
    return (await this.request({ op: "handles" })) as HandleInfo[];
  }

  /** Waits until one of `any`, or every one of `all`, has stopped, or the conditions `until` hold. */
  async wait(options: WaitOptions): Promise<AwaitReply> {
    const id = (handle: Handle | string) => (typeof handle === "string" ? handle : handle.id);
    const reply = (await this.call("await", {
      ...(options.any === undefined ? {} : { any: options.any.map(id) }),
      ...(options.all === undefined ? {} : { all: options.all.map(id) }),
      ...(options.until === undefined ? {} : { until: options.until.map((one) => ({ ...one, id: id(one.id) })) }),
      ...(options.timeout === undefined ? {} : { timeout_secs: options.timeout }),
    })) as AwaitReply;
    const views = new Map([...reply.completed, ...reply.pending].map((view) => [view.id, view]));
    for (const handle of [...(options.any ?? []), ...(options.all ?? [])]) {
      if (typeof handle !== "string") handle.view = views.get(handle.id) ?? handle.view;
    }
    return reply;
  }

  /** Ends the turn: the policy of its tool decides about each handle that still runs. */
  async endTurn(): Promise<TurnEndReport> {
    return new Promise((resolve, reject) => {
      this.#send({ turn_end: true });
      this.#turns.push({ resolve, reject });
    });
  }

  /**
   * The events of the session, in order, from now on or after the event with that number. An event of type
   * `missed` reports lost events, for a reader that is too slow.
   */
  async *events(options: { after?: number } = {}): AsyncGenerator<SessionEvent, void, undefined> {
    const last = ((await this.request({ op: "session" })) as DriverSession).last_event;
    const reader: Reader = { seen: options.after ?? last, hasMissed: false, queue: [], wake: undefined };
    this.#readers.add(reader);
    try {
      // One stream serves all readers, so it restarts at the position of the slowest reader.
      const after = Math.min(...[...this.#readers].map((reader) => reader.seen));
      await this.request({ op: "follow", after });
      for (;;) {
        const events = reader.queue;
        reader.queue = [];
        for (const event of events) {
          if (event === undefined) return;
          yield event;
        }
        if (reader.queue.length === 0) await new Promise<void>((wake) => (reader.wake = wake));
      }
    } finally {
      this.#readers.delete(reader);
      if (this.#readers.size === 0) this.#sendIfOpen({ request: `r${++this.#number}`, op: "unfollow" });
    }
  }

  /** Ends the session and everything that runs in it. */
  async close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    // Waiting calls would delay the end.
    for (const batch of this.#batches.keys()) this.#sendIfOpen({ cancel: batch });
    for (const context of this.#runs.values()) context.abort();
    await this.#wire.close();
    this.#fail(new ConnectionLost("the session has ended"));
    this.#ended(this);
  }

  /** Ends the session. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Ends the session, without waiting for that. */
  [Symbol.dispose](): void {
    this.close().catch(() => undefined);
  }

  /** Sends a request of the protocol; returns the value of its reply. */
  async request(request: DriverRequest): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const id = `r${++this.#number}`;
      this.#send({ request: id, ...request });
      this.#requests.set(id, { resolve, reject });
    });
  }

  async #withNotices(pending: Promise<BatchReply>): Promise<BatchReply> {
    const reply = await pending;
    if (this.#options.onNotice !== undefined) {
      for (const notice of reply.notices ?? []) await this.#options.onNotice(notice);
    }
    return reply;
  }

  #send(line: Line): void {
    if (this.#loss !== undefined) throw this.#loss;
    this.#wire.send(line);
  }

  #sendIfOpen(line: Line): void {
    if (this.isOpen) this.#wire.send(line);
  }

  /** Handles a line of the runtime. */
  #take(line: Line): void {
    if (typeof line["event"] === "string") return this.#hear(line["event"], line);
    if (line["replies"] !== undefined) {
      const batch = this.#batches.get(line["batch"] as string);
      this.#batches.delete(line["batch"] as string);
      batch?.resolve(line as unknown as BatchReply);
    } else if (line["reply"] !== undefined) {
      const request = this.#requests.get(line["reply"] as string);
      this.#requests.delete(line["reply"] as string);
      if (line["error"] === undefined) request?.resolve(line["value"]);
      else request?.reject(new RequestRefused(line["error"] as string));
    } else if (line["turn_end"] !== undefined) {
      this.#turns.shift()?.resolve(line["turn_end"] as TurnEndReport);
    }
    // The rest are errors: a cancel or an answer that came too late.
  }

  #hear(kind: string, line: Line): void {
    const run = line["run"] as string;
    switch (kind) {
      case "update":
      case "missed":
        for (const reader of this.#readers) this.#tell(reader, line);
        break;
      case "permission":
        void this.#askPermission(line["request"] as PermissionRequest);
        break;
      case "question":
        void this.#askQuestion(line as unknown as Ask);
        break;
      case "withdrawn":
        this.#withdrawn.add(line["ask"] as string);
        break;
      case "inquire":
        void this.#askInquiry(line["ask"] as string, line["handles"] as TurnEndHandle[]);
        break;
      case "tool_call":
        this.#runTool(run, line);
        break;
      case "tool_answer": {
        const context = this.#runs.get(run);
        context?.answered(line["value"]);
        if (context !== undefined) this.#sayWhenRunning(run, context);
        break;
      }
      case "tool_abort":
        this.#runs.get(run)?.abort();
        break;
    }
  }

  #tell(reader: Reader, line: Line): void {
    const number = line["number"] as number;
    // All readers share one stream, so events that are not the next one of this reader are ignored.
    const isNext = number === reader.seen + 1 || (reader.hasMissed && number > reader.seen);
    if (line["event"] === "missed") {
      reader.hasMissed = true;
      reader.queue.push({ ...line, type: "missed" } as unknown as SessionEvent);
    } else if (isNext) {
      reader.seen = number;
      reader.hasMissed = false;
      reader.queue.push(line as unknown as SessionEvent);
    } else {
      return;
    }
    reader.wake?.();
  }

  #runTool(run: string, line: Line): void {
    const tool = this.#tools.get(line["tool"] as string);
    if (tool === undefined) {
      const message = `the tool \`${String(line["tool"])}\` is no longer there`;
      return this.#sendIfOpen({ run, report: "error", error: { message } });
    }
    const context = new Context(this, (report) => this.#sendIfOpen(report), run, line["handle"] as string | undefined);
    this.#runs.set(run, context);
    void runTool(tool, context, line["arguments"]).then((report) => {
      this.#runs.delete(run);
      this.#sendIfOpen({ run, ...report });
    });
    this.#sayWhenRunning(run, context);
  }

  /** Reports that a tool has settled and continues to run. */
  #sayWhenRunning(run: string, context: Context): void {
    setImmediate(() => {
      if (this.#runs.has(run) && !context.waits) this.#sendIfOpen({ run, report: "running" });
    });
  }

  async #askPermission(request: PermissionRequest): Promise<void> {
    let reply: Line;
    try {
      // A driver that only answers questions is trusted with the rest.
      const answer = this.#options.onPermission === undefined ? "once" : await this.#options.onPermission(request);
      if (typeof answer === "object" && answer !== null) reply = { ...answer };
      else reply = { reply: answer === true ? "once" : answer === "once" || answer === "always" ? answer : "reject" };
    } catch (error) {
      reply = { reply: "reject", message: String(error) };
    }
    this.#sendIfOpen({ permission: request.id, ...reply });
  }

  async #askQuestion(ask: Ask): Promise<void> {
    let why = "nobody answers questions here";
    if (this.#options.onQuestion !== undefined) {
      try {
        const value = await this.#options.onQuestion(ask);
        if (this.#withdrawn.delete(ask.ask)) return;
        if (value !== undefined && value !== null) return this.#sendIfOpen({ answer: ask.ask, value });
      } catch (error) {
        why = error instanceof Decline ? error.message || why : String(error);
      }
    } else if (ask.handle !== undefined && !ask.question.secret) {
      // The model may answer it with `apply`.
      return;
    } else if (ask.question.default !== undefined && ask.question.default !== null) {
      return this.#sendIfOpen({ answer: ask.ask, value: ask.question.default });
    }
    this.#sendIfOpen({ answer: ask.ask, decline: why });
  }

  async #askInquiry(ask: string, handles: TurnEndHandle[]): Promise<void> {
    let decided: Record<string, "wait" | "abort"> = {};
    try {
      decided = { ...(await this.#options.onInquiry?.(handles)) };
    } catch {
      // They are ended then.
    }
    const decisions = Object.fromEntries(handles.map((handle) => [handle.id, decided[handle.id] ?? "abort"]));
    this.#sendIfOpen({ inquire: ask, decisions });
  }

  /** The wire has ended. */
  #fail(error: ConnectionLost): void {
    this.#loss ??= error;
    for (const waiting of [...this.#batches.values(), ...this.#requests.values(), ...this.#turns]) waiting.reject(this.#loss);
    this.#batches.clear();
    this.#requests.clear();
    this.#turns.length = 0;
    for (const reader of this.#readers) {
      reader.queue.push(undefined);
      reader.wake?.();
    }
    for (const context of this.#runs.values()) context.abort();
  }
}
