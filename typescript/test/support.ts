// A project in a folder of its own, and a look at `/proc`.

import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { findBinary, Runtime } from "../src/index.js";

/** The root of the repository. */
export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "../../..");
export const DEADLINE = 60_000;
let projects = 0;

/** A folder with a home. Whatever runs in it carries a marker in its environment. */
export class Project implements Disposable {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), "windlass-node-")));
  readonly root = join(this.folder, "project");
  readonly home = join(this.folder, "home");
  readonly marker = `node-${process.pid}-${projects++}`;
  readonly env: Record<string, string>;

  constructor() {
    mkdirSync(this.root);
    mkdirSync(this.home);
    this.env = { PATH: process.env["PATH"] ?? "", SHELL: "/bin/sh", HOME: this.home, WINDLASS_VECTOR: this.marker };
    for (const name of ["config", "state", "data", "cache"]) this.env[`XDG_${name.toUpperCase()}_HOME`] = join(this.home, name);
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Writes the user's configuration. */
  config(text: string): void {
    mkdirSync(join(this.home, "config/windlass"), { recursive: true });
    writeFileSync(join(this.home, "config/windlass/config.toml"), text);
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.root, name), text);
  }

  runtime(): Runtime {
    return new Runtime({ cwd: this.root, env: this.env });
  }

  /** The processes of this project whose command line the expression matches. */
  processes(pattern = ""): number[] {
    const expression = new RegExp(pattern);
    return readdirSync("/proc")
      .filter((entry) => /^\d+$/.test(entry))
      .filter((entry) => {
        try {
          const environment = readFileSync(`/proc/${entry}/environ`, "utf8").split("\0");
          const command = readFileSync(`/proc/${entry}/cmdline`, "utf8").replaceAll("\0", " ");
          return environment.includes(`WINDLASS_VECTOR=${this.marker}`) && expression.test(command);
        } catch {
          return false;
        }
      })
      .map(Number);
  }

  async waitForProcesses(pattern: string, count: number, patience = DEADLINE): Promise<void> {
    await eventually(`\`${pattern}\`: ${count} processes`, () => this.processes(pattern).length === count, patience);
  }
}

export async function eventually(what: string, holds: () => boolean, patience = DEADLINE): Promise<void> {
  const start = Date.now();
  while (!holds()) {
    if (Date.now() - start > patience) throw new Error(`never: ${what}`);
    await sleep(5);
  }
}

/** A running `windlass serve`. */
export class Serve implements Disposable {
  private constructor(
    readonly process: ChildProcess,
    readonly url: string,
    readonly token: string,
  ) {}

  static async start(project: Project): Promise<Serve> {
    const child = spawn(findBinary(), ["serve", "--listen", "127.0.0.1:0", "--json"], {
      cwd: project.root,
      env: project.env,
      stdio: ["ignore", "pipe", "ignore"],
    });
    for await (const line of createInterface({ input: child.stdout! })) {
      const { url, token } = JSON.parse(line) as { url: string; token: string };
      return new Serve(child, url, token);
    }
    throw new Error("the server does not start");
  }

  async kill(): Promise<void> {
    const exited = new Promise((done) => this.process.once("exit", done));
    this.process.kill("SIGKILL");
    await exited;
  }

  [Symbol.dispose](): void {
    this.process.kill("SIGKILL");
  }
}
