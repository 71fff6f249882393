// The errors of this package.

/** The base of every error of this package. */
export class WindlassError extends Error {
  constructor(message: string) {
    super(message);
    this.name = new.target.name;
  }
}

/** There is no `windlass` program to start. */
export class BinaryNotFound extends WindlassError {}

/** The runtime has ended, or the connection to it is gone. */
export class ConnectionLost extends WindlassError {}

/** The runtime refused a request. The message says what would work. */
export class RequestRefused extends WindlassError {}

/** A call was refused, or its tool failed. The message is the text that a model would get. */
export class ToolFailed extends WindlassError {}

/** Thrown by `onQuestion`: the question is declined, and its tool ends with this message. */
export class Decline extends WindlassError {}

/** Thrown by a tool of this program, to report its failure. */
export class ToolError extends WindlassError {
  /** A retry may succeed. */
  readonly transient: boolean;
  /** The causes, outermost first. */
  readonly trace: string[];

  constructor(message: string, options: { transient?: boolean; trace?: string[] } = {}) {
    super(message);
    this.transient = options.transient ?? false;
    this.trace = options.trace ?? [];
  }
}
