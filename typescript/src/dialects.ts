// Tools, calls and results in the dialects of model providers.

import type { BatchReply, CallReply, Notice, ToolOffer } from "./types.js";

/** A provider's dialect. `openai` is Chat Completions and compatible APIs, `json-schema` the canonical form. */
export type Dialect = "anthropic" | "openai" | "openai-responses" | "mcp" | "ollama" | "llama-cpp" | "json-schema";

const DIALECTS: Dialect[] = ["anthropic", "openai", "openai-responses", "mcp", "ollama", "llama-cpp", "json-schema"];

/** The dialect of the parameters' schemas. */
export function dialectOfParameters(dialect: Dialect): string {
  if (!DIALECTS.includes(dialect)) {
    throw new TypeError(`"${String(dialect)}" is not a dialect; use one of ${DIALECTS.join(", ")}`);
  }
  return dialect === "openai-responses" ? "openai" : dialect;
}

/** A JSON Schema of an object. */
export type ObjectSchema = { type: "object"; [keyword: string]: unknown };

/** A tool in the format of each dialect. */
export interface DialectTools {
  anthropic: { name: string; description: string; input_schema: ObjectSchema };
  openai: { type: "function"; function: { name: string; description: string; parameters: ObjectSchema } };
  "openai-responses": { type: "function"; name: string; description: string; parameters: ObjectSchema; strict: false };
  mcp: { name: string; description: string; inputSchema: ObjectSchema };
  ollama: DialectTools["openai"];
  "llama-cpp": DialectTools["openai"];
  "json-schema": { name: string; description: string; parameters: ObjectSchema };
}

/** A tool in the provider's format. */
export function offered<D extends Dialect>(tool: ToolOffer, dialect: D): DialectTools[D];
export function offered(tool: ToolOffer, dialect: Dialect): unknown {
  const { name, description } = tool;
  const parameters = tool.parameters as ObjectSchema;
  switch (dialect) {
    case "anthropic":
      return { name, description, input_schema: parameters };
    case "mcp":
      return { name, description, inputSchema: parameters };
    case "openai-responses":
      return { type: "function", name, description, parameters, strict: false };
    case "openai":
    case "ollama":
    case "llama-cpp":
      return { type: "function", function: { name, description, parameters } };
    case "json-schema":
      return { name, description, parameters };
  }
}

/** A call: `{id, name, arguments}`, or in the format of Anthropic or OpenAI. */
export type Call = object;

/** Converts a call from any provider's format to an entry of a batch. */
export function readCall(given: Call, place: number): { id: string; tool: string; arguments: object } {
  let call = given as Record<string, unknown>;
  // A call of a Responses item is answered by its `call_id`.
  const id = call["call_id"] ?? call["callId"] ?? call["id"] ?? String(place);
  if (typeof call["function"] === "object" && call["function"] !== null) {
    call = call["function"] as Record<string, unknown>;
  }
  const tool = call["tool"] ?? call["name"];
  let input = call["arguments"] ?? call["input"] ?? {};
  if (typeof input === "string") input = input.trim() ? JSON.parse(input) : {};
  if (typeof tool !== "string" || typeof input !== "object" || input === null) {
    throw new TypeError(`not a call: ${JSON.stringify(given)}; for example {"id": "1", "name": "shell", "arguments": {"command": "ls"}}`);
  }
  return { id: String(id), tool, arguments: input };
}

/** A reply as one string for the model. */
export function replyText(reply: CallReply): string {
  return typeof reply.content === "string" ? reply.content : JSON.stringify(reply.content);
}

/** Notices as text for the model. */
export function noticeText(notices: Notice[]): string {
  return notices.map((notice) => `[notice] ${notice.text}`).join("\n");
}

/** A result in the format of each dialect. */
export interface DialectResults {
  anthropic: { type: "tool_result"; tool_use_id: string; content: string; is_error?: true };
  "openai-responses": { type: "function_call_output"; call_id: string; output: string };
  openai: { role: "tool"; tool_call_id: string; content: string };
}

/** The replies in the provider's format. Notices are at the end of the last one. */
export function results<D extends keyof DialectResults>(reply: BatchReply, dialect: D): DialectResults[D][];
export function results(reply: BatchReply, dialect: keyof DialectResults): unknown[] {
  const texts = reply.replies.map(replyText);
  const notices = noticeText(reply.notices ?? []);
  const last = texts.length - 1;
  if (last >= 0 && notices) texts[last] = texts[last] ? `${texts[last]}\n\n${notices}` : notices;
  return reply.replies.map((one, place) => {
    const text = texts[place] ?? "";
    switch (dialect) {
      case "anthropic":
        return { type: "tool_result", tool_use_id: one.id, content: text, ...(one.is_error ? { is_error: true } : {}) };
      case "openai-responses":
        return { type: "function_call_output", call_id: one.id, output: text };
      default:
        return { role: "tool", tool_call_id: one.id, content: text };
    }
  });
}
