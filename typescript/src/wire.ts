// The lines of `windlass drive`, over the pipes of a process or a connection to a server.

import { spawn } from "node:child_process";
import { closeSync, fstatSync, mkdtempSync, openSync, readSync, rmSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";

import { ConnectionLost, RequestRefused } from "./errors.js";

/** A line in either direction. */
export type Line = Record<string, unknown>;

/** The time limit for the exit of a runtime after the end of its input, in milliseconds. */
const GRACE = 20_000;

/** The other end of a wire. */
interface Carrier {
  readonly input: Writable;
  readonly output: Readable;
  /** The last part of its standard error. */
  complaint(): string;
  /** Resolves when it has ended. */
  readonly ended: Promise<void>;
  /** Ends it at once. */
  kill(): void;
}

/** Sends and receives lines. */
export class Wire {
  readonly #carrier: Carrier;
  readonly #take: (line: Line) => void;
  readonly #lost: (error: ConnectionLost) => void;
  #unread: Buffer[] = [];
  #open = true;

  constructor(carrier: Carrier, take: (line: Line) => void, lost: (error: ConnectionLost) => void) {
    this.#carrier = carrier;
    this.#take = take;
    this.#lost = lost;
    carrier.output.on("data", (data: Buffer) => this.#read(data));
    carrier.output.on("error", () => undefined);
    // Reading detects the end of the other side.
    carrier.input.on("error", () => undefined);
    void carrier.ended.then(() => this.#end());
  }

  get isOpen(): boolean {
    return this.#open;
  }

  /** Sends a line, now or as soon as the other side reads. */
  send(line: Line): void {
    if (!this.#open) throw new ConnectionLost("the session has ended");
    this.#carrier.input.write(JSON.stringify(line) + "\n");
  }

  /** Ends the input and waits for the other side to end. */
  async close(): Promise<void> {
    this.#open = false;
    this.#carrier.input.end();
    const late = setTimeout(() => this.#carrier.kill(), GRACE);
    await this.#carrier.ended;
    clearTimeout(late);
  }

  /** Closes everything at once. */
  abandon(): void {
    this.#open = false;
    this.#carrier.input.destroy();
    this.#carrier.kill();
  }

  #read(data: Buffer): void {
    let start = 0;
    for (let end = data.indexOf(10); end >= 0; end = data.indexOf(10, start)) {
      let line = data.toString("utf8", start, end);
      if (this.#unread.length > 0) {
        line = Buffer.concat([...this.#unread, data.subarray(start, end)]).toString("utf8");
        this.#unread = [];
      }
      start = end + 1;
      if (line) this.#take(JSON.parse(line) as Line);
    }
    if (start < data.length) this.#unread.push(data.subarray(start));
  }

  #end(): void {
    this.#open = false;
    const said = this.#carrier.complaint();
    this.#lost(new ConnectionLost("the runtime has ended" + (said ? `: ${said}` : "")));
  }
}

/** Options for starting a program. */
export interface Program {
  binary: string;
  arguments: string[];
  cwd?: string | undefined;
  env?: Record<string, string | undefined> | undefined;
}

/** Starts a program that reads and writes lines. */
export async function start(
  program: Program,
  take: (line: Line) => void,
  lost: (error: ConnectionLost) => void,
): Promise<Wire> {
  // A file, because an unread pipe would block the program.
  const folder = mkdtempSync(join(tmpdir(), "windlass-"));
  const errors = openSync(join(folder, "stderr"), "w+", 0o600);
  rmSync(folder, { recursive: true });
  const child = spawn(program.binary, program.arguments, {
    stdio: ["pipe", "pipe", errors],
    ...(program.cwd === undefined ? {} : { cwd: program.cwd }),
    ...(program.env === undefined ? {} : { env: program.env }),
  });
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", (error) => {
      closeSync(errors);
      reject(error);
    });
  });
  const { stdin, stdout } = child;
  if (stdin === null || stdout === null) throw new Error("pipes were asked for");
  let said: string | undefined;
  const carrier: Carrier = {
    input: stdin,
    output: stdout,
    complaint: () => said ?? "",
    // `close` comes when all output has been read, too.
    ended: new Promise((resolve) => {
      child.once("close", () => {
        said = tail(errors);
        closeSync(errors);
        resolve();
      });
    }),
    kill: () => void child.kill("SIGKILL"),
  };
  return new Wire(carrier, take, lost);
}

function tail(file: number): string {
  const size = fstatSync(file).size;
  const buffer = Buffer.alloc(Math.min(size, 2000));
  readSync(file, buffer, 0, buffer.length, size - buffer.length);
  return buffer.toString("utf8").trim();
}

/** Connects to `windlass serve`. */
export async function connect(
  address: string,
  token: string | undefined,
  ask: boolean,
  take: (line: Line) => void,
  lost: (error: ConnectionLost) => void,
): Promise<Wire> {
  const url = new URL(address);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new RequestRefused(`"${address}" is not the address of a server; for example http://127.0.0.1:8413`);
  }
  url.pathname = url.pathname.replace(/\/$/, "") + "/api/v1/drive";
  url.search = `?ask=${ask}`;
  const send = url.protocol === "https:" ? httpsRequest : httpRequest;
  const headers: Record<string, string> = { Connection: "upgrade", Upgrade: "windlass-drive" };
  if (token) headers["Authorization"] = `Bearer ${token}`;
  const carrier = await new Promise<Carrier>((resolve, reject) => {
    const request = send(url, { headers });
    request.once("error", (error) => {
      reject(new ConnectionLost(`there is no server at ${address}: ${error.message}`));
    });
    request.once("response", (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (text: string) => (body += text));
      response.on("end", () => {
        let why = body;
        try {
          why = (JSON.parse(body) as { error: string }).error;
        } catch {
          // The body is not JSON, and is the reason itself.
        }
        reject(new RequestRefused(`${address} answered ${response.statusCode}: ${why}`));
      });
    });
    request.once("upgrade", (_response, socket, head) => {
      socket.setNoDelay?.(true);
      if (head.length > 0) socket.unshift(head);
      resolve({
        input: socket,
        output: socket,
        complaint: () => "",
        ended: new Promise((done) => socket.once("close", () => done())),
        kill: () => void socket.destroy(),
      });
    });
    request.end();
  });
  return new Wire(carrier, take, lost);
}

declare module "node:stream" {
  interface Duplex {
    setNoDelay?(noDelay?: boolean): unknown;
  }
}
