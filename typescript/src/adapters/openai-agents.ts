// For OpenAI Agents JS: `new Agent({ tools: await tools(session, tool) })`.

import type { Session } from "../session.js";
import { collectorOf } from "./collect.js";

/** What the SDK's `tool` function takes. */
export interface AgentToolOptions {
  name: string;
  description: string;
  parameters: { type: "object"; properties: Record<string, unknown>; required: string[]; additionalProperties: true };
  strict: false;
  execute: (input: unknown) => Promise<string>;
}

/** The tools of a session as the Agents SDK takes them. `tool` is the SDK's own function. */
export async function tools<T>(session: Session, tool: (options: never) => T): Promise<T[]> {
  const collector = collectorOf(session);
  const offered = await session.tools("openai");
  return offered.map(({ function: { name, description, parameters } }) => {
    const options: AgentToolOptions = {
      name,
      description,
      parameters: { properties: {}, required: [], ...parameters, additionalProperties: true } as AgentToolOptions["parameters"],
      // Strict mode would make every parameter required.
      strict: false,
      execute: (input) => collector.call(name, (typeof input === "string" ? JSON.parse(input || "{}") : input) as object),
    };
    return tool(options as never);
  });
}
