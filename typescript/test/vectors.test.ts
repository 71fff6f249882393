// The test vectors that every client shares. `vectors/README.md` says what they mean.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { ConnectionLost, Decline, ToolError, type Batch, type Context, type Session } from "../src/index.js";
import { DEADLINE, eventually, Project, ROOT } from "./support.js";

type Json = any;

class Mismatch extends Error {}

function expect(expected: Json, got: Json, place = ""): void {
  const keys = isObject(expected) ? Object.keys(expected) : [];
  if (keys.length === 1 && keys[0]!.startsWith("$")) {
    const value = expected[keys[0]!];
    const fits: Record<string, () => boolean> = {
      $any: () => true,
      $re: () => typeof got === "string" && new RegExp(value).test(got),
      $shorter: () => typeof got === "string" && got.length < value,
      $without: () => !JSON.stringify(got).includes(value),
    };
    if (keys[0] === "$all") for (const one of value) expect(one, got, place);
    else if (keys[0] === "$has") {
      if (!isObject(got)) throw new Mismatch(`${place}: ${JSON.stringify(got)} is not an object`);
      for (const field of Object.keys(value)) expect(value[field], got[field], `${place}.${field}`);
    } else if (!fits[keys[0]!]!()) throw new Mismatch(`${place}: ${JSON.stringify(got)} does not fit ${JSON.stringify(expected)}`);
  } else if (isObject(expected) && isObject(got)) {
    assertSame(keys.sort(), Object.keys(got).sort(), place);
    for (const field of keys) expect(expected[field], got[field], `${place}.${field}`);
  } else if (Array.isArray(expected) && Array.isArray(got)) {
    if (expected.length !== got.length) throw new Mismatch(`${place}: ${JSON.stringify(got)} has not ${expected.length}`);
    expected.forEach((one, number) => expect(one, got[number], `${place}[${number}]`));
  } else if (expected !== got) {
    throw new Mismatch(`${place}: ${JSON.stringify(got)} is not ${JSON.stringify(expected)}`);
  }
}

function assertSame(expected: string[], got: string[], place: string): void {
  if (expected.join() !== got.join()) throw new Mismatch(`${place}: fields ${got.join()} instead of ${expected.join()}`);
}

function isObject(value: Json): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function fits(expected: Json, got: Json): boolean {
  try {
    expect(expected, got);
    return true;
  } catch {
    return false;
  }
}

/** A value with its `times` written out. */
function expanded(value: Json): Json {
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, expanded(inner)]));
  if (!Array.isArray(value)) return value;
  return value.flatMap((item) => {
    let count: number, inner: Json;
    if (isObject(item) && item.$times !== undefined) [count, inner] = item.$times;
    else if (isObject(item) && item.times !== undefined) ({ times: count, ...inner } = item);
    else return [expanded(item)];
    const text = JSON.stringify(inner);
    return Array.from({ length: count }, (_, place) => JSON.parse(text.replaceAll("$i", String(place + 1))));
  });
}

class Runner {
  readonly #vector: Json;
  readonly #project: Project;
  readonly #patience: number;
  readonly #batches = new Map<string, Batch>();
  readonly #events: Json[] = [];
  readonly #faults: unknown[] = [];
  readonly #queues: Record<string, Json[]>;
  #session!: Session;

  constructor(vector: Json, project: Project, patience: number) {
    this.#vector = vector;
    this.#project = project;
    this.#patience = patience;
    const queue = (key: string) => [...(vector[key] ?? [])];
    this.#queues = { permissions: queue("permissions"), questions: queue("questions"), inquiries: queue("inquiries") };
  }

  async run(): Promise<void> {
    const vector = this.#vector;
    if (vector.config !== undefined) this.#project.config(vector.config);
    for (const [name, text] of Object.entries(vector.files ?? {})) this.#project.write(name, text as string);
    {
      await using runtime = this.#project.runtime();
      await using session = await runtime.session(vector.ask ? this.#callbacks() : {});
      this.#session = session;
      const following = this.#follow();
      for (const tool of vector.tools ?? []) await this.#addTool(tool);
      for (const step of vector.steps) await this.#step(step);
      await session.close();
      await following;
    }
    if (this.#faults.length > 0) throw this.#faults[0];
    for (const [key, rest] of Object.entries(this.#queues)) {
      if (rest.length > 0) throw new Mismatch(`never asked: ${key}: ${JSON.stringify(rest)}`);
    }
    await this.#project.waitForProcesses("", vector.left, this.#patience);
  }

  async #follow(): Promise<void> {
    try {
      for await (const event of this.#session.events({ after: 0 })) this.#events.push(event);
    } catch (error) {
      // A vector without steps is over before its events are followed.
      if (!(error instanceof ConnectionLost)) throw error;
    }
  }

  async #step(step: Json): Promise<void> {
    if (step.begin !== undefined) this.#batches.set(step.begin, this.#session.begin(expanded(step.run)));
    else if (step.run !== undefined) {
      this.#batches.set("run", this.#session.begin(expanded(step.run)));
      await this.#finish("run", step);
    } else if (step.cancel !== undefined) this.#batches.get(step.cancel)!.cancel();
    else if (step.finish !== undefined) await this.#finish(step.finish, step);
    else if (step.turn_end !== undefined) expect(step.turn_end, await this.#session.endTurn());
    else if (step.event !== undefined) {
      await eventually(JSON.stringify(step), () => this.#events.some((event) => fits({ $has: step.event }, event)));
    } else if (step.lines !== undefined) {
      const lines: string[] = [];
      for await (const line of this.#session.handle(step.lines).lines()) lines.push(line);
      expect(step.are, lines);
    } else if (step.screen !== undefined) {
      for await (const screen of this.#session.handle(step.screen).screens()) if (screen.text.includes(step.shows)) return;
      throw new Mismatch(`never shown: ${step.shows}`);
    } else if (step.processes !== undefined) {
      await this.#project.waitForProcesses(step.processes, step.count, this.#patience);
    } else if (step.kill !== undefined) {
      for (const pid of this.#project.processes(step.kill)) process.kill(pid, "SIGKILL");
    } else if (step.touch !== undefined) this.#project.write(step.touch, "");
    else throw new Mismatch(`no runner knows this step: ${JSON.stringify(step)}`);
  }

  async #finish(name: string, step: Json): Promise<void> {
    const reply = await this.#batches.get(name)!;
    expect(expanded(step.replies), reply.replies);
    expect(step.notices ?? [], reply.notices ?? []);
  }

  #callbacks() {
    const noting = <T>(key: string, got: Json, answer: (expected: Json) => T): T => {
      try {
        const expected = this.#queues[key]!.shift();
        if (expected === undefined) throw new Mismatch(`not expected: ${JSON.stringify(got)}`);
        return answer(expected);
      } catch (fault) {
        if (!(fault instanceof Decline)) this.#faults.push(fault);
        throw fault;
      }
    };
    return {
      onPermission: (request: Json) =>
        noting("permissions", request, (expected) => {
          expect(expected.request, request);
          return expected.reply;
        }),
      onQuestion: (ask: Json) =>
        noting("questions", ask, (expected) => {
          expect(expected.ask, ask);
          if (expected.decline !== undefined) throw new Decline(expected.decline);
          return expected.value;
        }),
      onInquiry: (handles: Json[]) =>
        noting("inquiries", handles, (expected) => {
          expect(expected.handles, handles.map((handle) => handle.id));
          return expected.decisions;
        }),
    };
  }

  async #addTool({ tool, script }: Json): Promise<void> {
    await this.#session.tool({
      name: tool.name,
      ...(tool.summary === undefined ? {} : { description: tool.summary }),
      ...(tool.parameters === undefined ? {} : { parameters: tool.parameters }),
      background: tool.background ?? false,
      unattended: tool.unattended ?? false,
      run: async (_input: unknown, context: Context) => {
        let answer = "";
        for (const step of script) {
          if (step.output !== undefined) context.print(step.output);
          else if (step.question !== undefined) {
            answer = await context.ask(step.question.text, { id: step.question.id, ...(step.content === undefined ? {} : { content: step.content }) });
          } else if (step.error !== undefined) throw new ToolError(step.error.message, step.error);
          else if (step.wait !== undefined) await new Promise(() => undefined);
          else if (step.result !== undefined) return step.result.replace("$answer", answer);
        }
        return "";
      },
    });
  }
}

function load(name: string): Json[] {
  return JSON.parse(readFileSync(join(ROOT, "vectors", name), "utf8")).vectors;
}

for (const vector of load("scenarios.json")) {
  test(vector.name, { timeout: 2 * DEADLINE }, async () => {
    using project = new Project();
    await new Runner(vector, project, DEADLINE).run();
  });
}

for (const vector of load("wrong.json")) {
  test(`${vector.name} fails`, async () => {
    using project = new Project();
    await assert.rejects(new Runner(vector, project, 500).run(), { message: new RegExp(vector.fails) });
  });
}
