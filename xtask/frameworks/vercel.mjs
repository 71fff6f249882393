// Vercel AI SDK: `ai` and `@ai-sdk/mcp`.

import { createMCPClient } from '@ai-sdk/mcp';
import { Experimental_StdioMCPTransport as StdioTransport } from '@ai-sdk/mcp/mcp-stdio';
import { asSchema } from 'ai';
import { drive } from './driver.mjs';

await drive(async (server) => {
  const transport = server.url
    ? { type: 'http', url: server.url, headers: server.headers }
    : new StdioTransport({ command: server.command, args: server.args, env: server.env });
  const client = await createMCPClient({ transport });
  const tools = await client.tools();
  const schemas = {};
  for (const [name, tool] of Object.entries(tools)) {
    schemas[name] = await asSchema(tool.inputSchema).jsonSchema;
  }
  return {
    schemas,
    call: (name, given) => tools[name].execute(given, { toolCallId: '1', messages: [] }),
    close: () => client.close(),
  };
});
