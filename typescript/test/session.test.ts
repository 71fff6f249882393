// Sessions as a program uses them.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { z } from "zod";

import { ConnectionLost, findBinary, RequestRefused, Runtime, ToolError, ToolFailed, type Notice, type Session, type SessionEvent } from "../src/index.js";
import { eventually, Project, Serve } from "./support.js";

const command = (text: string) => ({ command: text });

async function until(session: Session, type: string): Promise<SessionEvent[]> {
  const events: SessionEvent[] = [];
  for await (const event of session.events({ after: 0 })) {
    events.push(event);
    if (event.type === type) return events;
  }
  throw new Error(`no ${type}`);
}

test("the example of the guide", async () => {
  using project = new Project();
  await using runtime = project.runtime();
  await using session = await runtime.session({ onPermission: () => "once", onQuestion: async () => "yes" });
  const tools = await session.tools("anthropic");
  assert.deepEqual(tools.map((tool) => tool.name), ["shell", "git", "await"]);
  const reply = await session.run([{ id: "1", name: "shell", arguments: command("echo hello") }]);
  assert.equal(reply.replies[0]?.content, "hello\n");
  await using build = await session.spawn("shell", { id: "build", command: "printf 'one\\ntwo\\n'" });
  const lines: string[] = [];
  for await (const line of build.lines()) lines.push(line);
  assert.deepEqual(lines, ["one", "two"]);
  await session.wait({ all: [build], timeout: 60 });
  assert.equal(build.state, "stopped");
});

test("calls of every provider are read and answered", async () => {
  using project = new Project();
  await using runtime = project.runtime();
  await using session = await runtime.session();
  const text = JSON.stringify(command("echo hi"));
  const reply = await session.run([
    { id: "a", name: "shell", arguments: command("echo hi") },
    { type: "tool_use", id: "b", name: "shell", input: command("echo hi") },
    { id: "c", type: "function", function: { name: "shell", arguments: text } },
    { type: "function_call", id: "fc", call_id: "d", name: "shell", arguments: text },
  ]);
  assert.deepEqual(reply.replies.map((one) => [one.id, one.content]), ["a", "b", "c", "d"].map((id) => [id, "hi\n"]));
  assert.deepEqual(session.results(reply, "anthropic")[0], { type: "tool_result", tool_use_id: "a", content: "hi\n" });
  await assert.rejects(session.run([{ nothing: true }]), TypeError);
  await assert.rejects(session.call("nosuch"), ToolFailed);
  await assert.rejects(session.tools("klingon" as "openai"), TypeError);
  await assert.rejects(session.handle("nosuch").screen(), RequestRefused);
});

test("a signal ends one-shots", async () => {
  using project = new Project();
  await using runtime = project.runtime();
  await using session = await runtime.session();
  const abort = new AbortController();
  const running = session.call("shell", command("sleep 3710.1"), { signal: abort.signal });
  await project.waitForProcesses("^sleep 3710", 1);
  abort.abort();
  await assert.rejects(running, ToolFailed);
  await project.waitForProcesses("^sleep 3710", 0);
});

test("a handle and a session end with their blocks", async () => {
  using project = new Project();
  await using runtime = project.runtime();
  let waiting: Promise<unknown>;
  {
    await using session = await runtime.session();
    {
      await using handle = await session.spawn("shell", { id: "x", command: "sleep 3711.1" });
      assert.equal(handle.state, "running");
      await project.waitForProcesses("^sleep 3711", 1);
    }
    await project.waitForProcesses("^sleep 3711", 0);
    {
      using handle = await session.spawn("shell", { id: "y", command: "sleep 3711.2" });
      assert.equal(handle.state, "running");
    }
    await project.waitForProcesses("^sleep 3711", 0);
    await session.spawn("shell", { id: "z", command: "sleep 3711.3" });
    waiting = session.wait({ all: ["z"] });
    waiting.catch(() => undefined);
  }
  await assert.rejects(waiting);
  await project.waitForProcesses("", 0);
});

test("notices are told once, and events to every reader", async () => {
  using project = new Project();
  await using runtime = project.runtime();
  const notices: Notice[] = [];
  await using session = await runtime.session({ onNotice: (notice) => notices.push(notice) });
  const noticed = until(session, "noticed");
  const ended = until(session, "turn_ended");
  await session.spawn("shell", { id: "x", command: "until [ -e go ]; do sleep 0.01; done; exit 3" });
  project.write("go", "");
  await noticed;
  const reply = await session.run([{ id: "1", name: "shell", arguments: command("true") }]);
  assert.match(session.results(reply, "openai")[0]!.content, /\[notice\] /);
  await session.call("shell", command("true"));
  assert.deepEqual(notices.map((notice) => notice.handle), ["x"]);
  await session.endTurn();
  const numbers = (await ended).map((event) => (event as { number: number }).number);
  assert.deepEqual(numbers, numbers.map((_, place) => place + 1));
});

test("tools with Zod and JSON Schema", async () => {
  using project = new Project();
  await using runtime = project.runtime();
  await using session = await runtime.session({ onQuestion: () => "blue" });
  await session.tool({
    name: "paint",
    description: "Paints a point.\n\nIt dries within the hour.",
    parameters: z.object({ x: z.int(), colour: z.enum(["red", "blue"]).default("red") }),
    run: ({ x, colour }) => ({ x: x + 1, colour }),
  });
  await session.tool({
    name: "choose",
    parameters: { type: "object", properties: { what: { type: "string" } }, required: ["what"] },
    run: async (input, context) => `${String(input["what"])}: ${await context.ask("Which?", { options: ["red", "blue"] })}`,
  });
  await session.tool({
    name: "breaks",
    run: () => {
      throw new ToolError("the host is away", { transient: true, trace: ["no route"] });
    },
  });
  const offered = (await session.tools("openai")).find((tool) => tool.function.name === "paint")!.function;
  assert.equal(offered.description, "Paints a point.");
  assert.deepEqual(offered.parameters["required"], ["x"]);
  assert.equal(await session.call("paint", { x: 3 }), '{"x":4,"colour":"red"}');
  await assert.rejects(session.call("paint", { x: "three" }), /x/);
  assert.equal(await session.call("choose", { what: "pot" }), "pot: blue");
  const { replies } = await session.run([{ id: "1", name: "breaks", arguments: {} }]);
  assert.deepEqual(replies[0]?.error, { transient: true, trace: ["no route"] });
  await assert.rejects(session.tool({ name: "shell", run: () => "" }), /built-in/);
});

test("a tool lasts, asks and is ended", async () => {
  using project = new Project();
  await using runtime = project.runtime();
  await using session = await runtime.session();
  let ended = 0;
  await session.tool({
    name: "watch",
    background: true,
    run: async (_, context) => {
      context.signal.addEventListener("abort", () => (ended += 1));
      context.print(`${context.handle} begins`);
      if (!(await context.ask("Go on?", { boolean: true }))) return "stopped";
      context.print("goes on");
      await new Promise(() => undefined);
    },
  });
  const watch = await session.spawn("watch", { id: "w" });
  assert.deepEqual([watch.state, watch.view.content], ["waiting", "w begins"]);
  await watch.apply(true);
  assert.deepEqual([watch.state, watch.view.content], ["running", "goes on"]);
  await watch.abort();
  assert.deepEqual([watch.state, ended], ["stopped", 1]);
  const other = await session.spawn("watch", { id: "v" });
  await other.apply(false);
  assert.equal(other.result, "stopped");
});

test("a runtime that dies, and a config that does not load, are told", async () => {
  using project = new Project();
  await using runtime = project.runtime();
  {
    await using session = await runtime.session();
    const lost = assert.rejects(session.call("shell", command("sleep 3712.1")), ConnectionLost);
    await project.waitForProcesses("^sleep 3712", 1);
    process.kill(session.info.pid, "SIGKILL");
    await lost;
    await project.waitForProcesses("^sleep 3712", 0);
  }
  project.config("this is not = = toml");
  await assert.rejects(runtime.session(), /config\.toml/);
  await assert.rejects(new Runtime({ binary: "/nowhere/windlass" }).session(), /ENOENT/);
});

test("a server is as good as a process", async () => {
  using project = new Project();
  using serve = await Serve.start(project);
  await using runtime = new Runtime({ url: serve.url, token: serve.token });
  const asked: unknown[] = [];
  {
    await using session = await runtime.session({ onPermission: (request) => asked.push(request) > 0 });
    await session.tool({ name: "add", unattended: true, parameters: z.object({ left: z.number(), right: z.number() }), run: ({ left, right }) => left + right });
    assert.equal(await session.call("add", { left: 40, right: 2 }), "42");
    assert.equal(await session.call("shell", command("echo hello")), "hello\n");
    assert.equal(asked.length, 1);
    let count = 0;
    const flood = await session.spawn("shell", { id: "flood", command: "seq 1 100000" });
    for await (const line of flood.lines()) count = Number(line);
    assert.equal(count, 100000);
    await session.spawn("shell", { id: "x", command: "sleep 3713.1" });
    await project.waitForProcesses("^sleep 3713", 1);
  }
  await project.waitForProcesses("^sleep 3713", 0);
  await assert.rejects(new Runtime({ url: serve.url, token: "wrong" }).session(), /401/);
  await using session = await runtime.session();
  const waiting = session.call("shell", command("sleep 3713.2"));
  await project.waitForProcesses("^sleep 3713", 1);
  const lost = assert.rejects(waiting, ConnectionLost);
  await serve.kill();
  await lost;
  await assert.rejects(runtime.session(), /there is no server/);
});

test("a killed program leaves nothing", async () => {
  using project = new Project();
  const entry = join(dirname(fileURLToPath(import.meta.url)), "../src/index.js");
  const program = `
    import { Runtime } from ${JSON.stringify(entry)};
    const session = await new Runtime().session();
    await session.spawn("shell", { id: "tree", command: "sleep 3714.1 & setsid sleep 3714.2 & (nohup sleep 3714.3 >/dev/null 2>&1 &); wait" });
    await session.spawn("shell", { id: "term", command: "sleep 3714.4", terminal: true });
    await session.call("shell", { command: "sleep 3714.5" });
  `;
  const env = { ...project.env, WINDLASS_BIN: findBinary() };
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], { env, cwd: project.root, stdio: "inherit" });
  await project.waitForProcesses("^sleep 3714", 5);
  child.kill("SIGKILL");
  await project.waitForProcesses("", 0);
  await eventually("it is gone", () => child.signalCode === "SIGKILL");
});
