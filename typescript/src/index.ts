// Long-running tools for agent loops. Start at `Runtime`.

export { findBinary } from "./binary.js";
export { noticeText, replyText, type Call, type Dialect, type DialectResults, type DialectTools, type ObjectSchema } from "./dialects.js";
export { BinaryNotFound, ConnectionLost, Decline, RequestRefused, ToolError, ToolFailed, WindlassError } from "./errors.js";
export { Handle, type Screen } from "./handle.js";
export { Runtime, type RuntimeOptions } from "./runtime.js";
export { Batch, Session, type PermissionAnswer, type SessionEvent, type SessionOptions, type WaitOptions } from "./session.js";
export { Context, type AskOptions, type Schema, type StandardSchema, type ToolDefinition } from "./tools.js";
export type * from "./types.js";
