// For the Vercel AI SDK: `generateText({ model, tools: tools(session, jsonSchema) })`.

import type { Session } from "../session.js";
import { collectorOf } from "./collect.js";

/** A tool of the AI SDK. `S` is what its `jsonSchema` makes. */
export interface AiTool<S> {
  description: string;
  inputSchema: S;
  execute: (input: object) => Promise<string>;
}

/** The tools of a session as the AI SDK takes them. `jsonSchema` is the SDK's own function. */
export async function tools<S>(session: Session, jsonSchema: (schema: never) => S): Promise<Record<string, AiTool<S>>> {
  const collector = collectorOf(session);
  const offered = await session.tools("openai");
  return Object.fromEntries(
    offered.map(({ function: { name, description, parameters } }) => [
      name,
      { description, inputSchema: jsonSchema(parameters as never), execute: (input: object) => collector.call(name, input) },
    ]),
  );
}
