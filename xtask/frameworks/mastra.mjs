// Mastra: `@mastra/mcp`. It validates arguments itself before it passes them on.

import { MCPClient } from '@mastra/mcp';
import { drive } from './driver.mjs';

const PREFIX = 'windlass_';

await drive(async (server) => {
  const entry = server.url
    ? { url: new URL(server.url), requestInit: { headers: server.headers } }
    : { command: server.command, args: server.args, env: server.env };
  const client = new MCPClient({ servers: { windlass: entry }, timeout: 30_000 });
  const tools = await client.listTools();
  const schemas = {};
  for (const [name, tool] of Object.entries(tools)) {
    schemas[name.slice(PREFIX.length)] = written(tool.inputSchema);
  }
  return {
    schemas,
    lenient: false,
    call: (name, given) => tools[PREFIX + name].execute(given, {}),
    close: () => client.disconnect(),
  };
});

// A schema is JSON, or an object that makes it on demand.
function written(schema) {
  const standard = schema?.['~standard']?.jsonSchema;
  return standard ? standard.input({ target: 'draft-07' }) : schema?.jsonSchema ?? schema;
}
