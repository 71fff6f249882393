// Tools of this program.

import { ToolError } from "./errors.js";
import type { Session } from "./session.js";
import type { Line } from "./wire.js";

/** The JSON Schema of an object, or a schema of Zod 4 or of another library with Standard JSON Schema. */
export type Schema<T> = Record<string, unknown> | StandardSchema<T>;

/** The interface that schema libraries share. */
export interface StandardSchema<T> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => unknown;
    readonly types?: { readonly input: unknown; readonly output: T } | undefined;
  };
}

/** A function as a tool. */
export interface ToolDefinition<T = Record<string, unknown>> {
  /** Its name for the model. */
  name: string;
  /** A line for the model; text after an empty line is returned only by `describe_tools`. */
  description?: string;
  /** Its arguments. Default: none. */
  parameters?: Schema<T>;
  /** Whether it can be spawned as a handle. */
  background?: boolean;
  /** Whether it runs without permission. */
  unattended?: boolean;
  /** The time limit of a one-shot, in seconds. */
  timeout?: number;
  /** The policy for its handles at the end of a turn. */
  onTurnEnd?: "inquire" | "await" | "abort";
  /** Runs a call. A text is the result, anything else is converted to JSON. */
  run: (input: T, context: Context) => unknown;
}

/** A question of a tool. */
export interface AskOptions {
  /** The answer is one of these. */
  options?: string[];
  /** The answer is true or false. */
  boolean?: boolean;
  /** The answer if no one can be asked. */
  default?: unknown;
  /** Shown beside the question. */
  content?: string;
  /** Whether the answer is a secret. */
  secret?: boolean;
  /** Names the question; by default its number. */
  id?: string;
}

/** The context of a running tool. */
export class Context {
  readonly #send: (line: Line) => void;
  readonly #run: string;
  readonly #abort = new AbortController();
  #asked = 0;
  #answer: ((value: unknown) => void) | undefined;
  #refuse: ((error: Error) => void) | undefined;
  /** The handle's id; `undefined` for a one-shot. */
  readonly handle: string | undefined;
  /** The session that the tool was called in. */
  readonly session: Session;
  /** Aborted when the call must end. */
  readonly signal = this.#abort.signal;

  /** @internal */
  constructor(session: Session, send: (line: Line) => void, run: string, handle: string | undefined) {
    this.session = session;
    this.#send = send;
    this.#run = run;
    this.handle = handle;
  }

  /** Writes a line to the output of the handle. */
  print(text: string): void {
    this.#send({ run: this.#run, report: "output", text });
  }

  /** Asks the person or the model a question, and waits for the answer. */
  async ask(text: string, options: AskOptions & { boolean: true }): Promise<boolean>;
  async ask(text: string, options?: AskOptions): Promise<string>;
  async ask(text: string, options: AskOptions = {}): Promise<unknown> {
    if (this.#answer !== undefined) throw new Error("a tool asks one question at a time");
    this.#asked += 1;
    const answerType = options.boolean ? "Boolean" : options.options ? { Select: { options: options.options } } : "Text";
    const question: Line = { id: options.id ?? `question-${this.#asked}`, text, answer_type: answerType };
    if (options.default !== undefined) question["default"] = options.default;
    if (options.secret) question["secret"] = true;
    const report: Line = { run: this.#run, report: "question", question };
    if (options.content !== undefined) report["content"] = options.content;
    this.signal.throwIfAborted();
    try {
      return await new Promise<unknown>((resolve, reject) => {
        this.#answer = resolve;
        this.#refuse = reject;
        this.#send(report);
      });
    } finally {
      this.#answer = this.#refuse = undefined;
    }
  }

  /** @internal */
  answered(value: unknown): void {
    this.#answer?.(value);
    this.#answer = undefined;
  }

  /** @internal */
  abort(): void {
    this.#abort.abort(new ToolError("aborted"));
    this.#refuse?.(new ToolError("aborted"));
  }

  /** @internal */
  get waits(): boolean {
    return this.#answer !== undefined;
  }
}

/** The line that adds a tool. */
export async function addition(tool: ToolDefinition<never>): Promise<Line> {
  const [summary, ...rest] = (tool.description ?? "").trim().split("\n\n");
  const line: Line = {
    op: "add_tool",
    name: tool.name,
    parameters: tool.parameters === undefined ? { type: "object", properties: {}, additionalProperties: false } : await jsonSchema(tool.parameters),
  };
  if (summary) line["summary"] = summary.split(/\s+/).join(" ");
  if (rest.length > 0) line["description"] = rest.join("\n\n");
  if (tool.background) line["background"] = true;
  if (tool.unattended) line["unattended"] = true;
  if (tool.timeout !== undefined) line["timeout_secs"] = tool.timeout;
  if (tool.onTurnEnd !== undefined) line["on_turn_end"] = tool.onTurnEnd;
  return line;
}

async function jsonSchema(schema: Schema<never>): Promise<unknown> {
  const standard = (schema as StandardSchema<never>)["~standard"] as
    | { vendor?: string; jsonSchema?: { input(options: { target: string }): Record<string, unknown> } }
    | undefined;
  if (standard === undefined) return schema;
  let found: Record<string, unknown>;
  if (standard.jsonSchema !== undefined) {
    found = standard.jsonSchema.input({ target: "draft-2020-12" });
  } else if (standard.vendor === "zod") {
    const zod = (await import("zod")) as unknown as { toJSONSchema(schema: unknown, options: object): Record<string, unknown> };
    found = zod.toJSONSchema(schema, { io: "input" });
  } else {
    throw new TypeError(`a schema of ${standard.vendor ?? "this library"} has no JSON Schema; give the tool a JSON Schema`);
  }
  const { $schema: _, ...rest } = found;
  return rest;
}

/** Validates arguments with the schema, which adds defaults and converts types. */
async function validated(schema: Schema<never> | undefined, input: unknown): Promise<unknown> {
  const standard = (schema as StandardSchema<never> | undefined)?.["~standard"];
  if (standard === undefined) return input;
  const result = (await standard.validate(input)) as { value?: unknown; issues?: { message: string; path?: unknown[] }[] };
  if (result.issues === undefined) return result.value;
  const faults = result.issues.map((issue) => `${(issue.path ?? []).map(String).join(".") || "arguments"}: ${issue.message}`);
  throw new ToolError(`the arguments do not fit: ${faults.join("; ")}`);
}

/** Runs a call; returns the report on its end. */
export async function runTool(tool: ToolDefinition<never>, context: Context, input: unknown): Promise<Line> {
  const aborted = new Promise<never>((_, reject) => {
    const stop = () => reject(new ToolError("aborted"));
    if (context.signal.aborted) stop();
    else context.signal.addEventListener("abort", stop, { once: true });
  });
  aborted.catch(() => undefined);
  try {
    const work = (async () => tool.run((await validated(tool.parameters, input)) as never, context))();
    const result = await Promise.race([work, aborted]);
    return { report: "result", text: textOf(result) };
  } catch (error) {
    if (error instanceof ToolError) {
      return { report: "error", error: { message: error.message, trace: error.trace, transient: error.transient } };
    }
    const trace: string[] = [];
    for (let cause = (error as Error)?.cause; cause !== undefined && cause !== null; cause = (cause as Error).cause) {
      trace.push(String(cause));
    }
    return { report: "error", error: { message: String(error), trace, transient: false } };
  }
}

function textOf(result: unknown): string {
  if (result === undefined || result === null) return "";
  return typeof result === "string" ? result : JSON.stringify(result);
}
