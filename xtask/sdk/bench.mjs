// Measures the overhead of the TypeScript package over raw `drive`, and how fast it follows events. Prints JSON.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

const { findBinary, Runtime } = await import(process.argv[2]);

const CALLS = 1000;
const WARM = 100;
const EVENTS = 60_000;
const SPAWN = { action: "spawn", id: "x", command: "sleep 600" };
const FETCH = { action: "fetch", id: "x" };

/** The lines, and nothing else. */
class Raw {
  constructor() {
    this.child = spawn(findBinary(), ["drive"], { stdio: ["pipe", "pipe", "inherit"] });
    this.lines = createInterface({ input: this.child.stdout });
    this.lines.on("line", (line) => this.resolve(JSON.parse(line)));
  }

  call(input) {
    return new Promise((resolve) => {
      this.resolve = resolve;
      this.child.stdin.write(JSON.stringify([{ id: "1", tool: "shell", arguments: input }]) + "\n");
    });
  }

  async close() {
    this.child.stdin.end();
    await new Promise((done) => this.child.once("close", done));
  }
}

const median = (numbers) => numbers.sort((one, other) => one - other)[numbers.length >> 1];

async function overhead(runtime) {
  const raw = new Raw();
  await raw.call(SPAWN);
  const session = await runtime.session();
  const handle = await session.spawn("shell", { id: "x", command: "sleep 600" });
  const bare = [];
  const packaged = [];
  // One after the other, so that both have the same machine.
  for (let number = 0; number < CALLS + WARM; number++) {
    const start = performance.now();
    await raw.call(FETCH);
    const middle = performance.now();
    await handle.fetch();
    const end = performance.now();
    if (number >= WARM) {
      bare.push(middle - start);
      packaged.push(end - middle);
    }
  }
  await session.close();
  await raw.close();
  return [median(bare), median(packaged)];
}

async function follow(runtime) {
  const session = await runtime.session();
  await session.spawn("shell", { id: "x", command: "sleep 600" });
  let seen = 0;
  let missed = 0;
  let done = false;
  const reading = (async () => {
    for await (const event of session.events()) {
      if (event.type === "missed") missed += event.count;
      else seen += 1;
      if (seen + missed >= EVENTS) break;
    }
    done = true;
  })();
  await sleep(100);
  const calls = Array.from({ length: 250 }, (_, number) => ({ id: String(number), name: "shell", arguments: FETCH }));
  const start = performance.now();
  while (!done) await session.run(calls);
  const seconds = (performance.now() - start) / 1000;
  await reading;
  await session.close();
  return [seen, missed, seen / seconds];
}

const runtime = new Runtime();
const [raw_ms, package_ms] = await overhead(runtime);
const [events, missed, events_per_second] = await follow(runtime);
await runtime.close();
console.log(JSON.stringify({ raw_ms, package_ms, events, missed, events_per_second }));
