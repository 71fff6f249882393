// The runtime, which opens sessions.

import { findBinary } from "./binary.js";
import { Session, type OpenWire, type SessionOptions } from "./session.js";
import { connect, start } from "./wire.js";

/** The location of the tools. */
export interface RuntimeOptions {
  /** The address of `windlass serve`. */
  url?: string;
  /** Its token; default: `WINDLASS_TOKEN`. */
  token?: string;
  /** The program to start; default: the one that is found. */
  binary?: string;
  /** The folder that tools run in. */
  cwd?: string;
  /** The environment of the program. */
  env?: Record<string, string | undefined>;
  /** Arguments of the program, before its command. */
  arguments?: string[];
}

/**
 * The tools of this machine, or those of a server. `new Runtime()` starts the `windlass` program of this package, a process
 * for each session; `new Runtime({ url, token })` connects to `windlass serve`.
 */
export class Runtime implements AsyncDisposable, Disposable {
  readonly #options: RuntimeOptions;
  readonly #sessions = new Set<Session>();

  constructor(options: RuntimeOptions = {}) {
    const { url, binary, cwd, env, arguments: given } = options;
    if (url !== undefined && [binary, cwd, env, given].some((one) => one !== undefined)) {
      throw new TypeError("a server has its own program, folder and environment; give `url` without them");
    }
    this.#options = options;
  }

  /** Begins a session. */
  async session(options: SessionOptions = {}): Promise<Session> {
    const session = await Session.begin(this.#open, options, (ended) => this.#sessions.delete(ended));
    this.#sessions.add(session);
    return session;
  }

  /** Ends every session. */
  async close(): Promise<void> {
    await Promise.all([...this.#sessions].map((session) => session.close()));
  }

  /** Ends every session. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Ends every session, without waiting for that. */
  [Symbol.dispose](): void {
    this.close().catch(() => undefined);
  }

  readonly #open: OpenWire = async (ask, take, lost) => {
    const { url, token, binary, cwd, env, arguments: given } = this.#options;
    if (url !== undefined) return connect(url, token ?? process.env["WINDLASS_TOKEN"], ask, take, lost);
    // Ctrl-C is for this process, which then ends the runtime.
    const drive = [...(given ?? []), "drive", "--ignore-interrupts", ...(ask ? ["--ask"] : [])];
    return start({ binary: binary ?? findBinary(), arguments: drive, cwd, env }, take, lost);
  };
}
