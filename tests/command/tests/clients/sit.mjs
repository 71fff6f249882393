// Runs a sitting with a client from npm:
// `sit.mjs PACKAGES sdk|client stdio WINDLASS` or `sit.mjs PACKAGES sdk|client http URL TOKEN`.

import assert from "node:assert";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [packages, kind, how, where, token] = process.argv.slice(2);
const require = createRequire(pathToFileURL(packages + "/x.js"));
const load = (name) => import(pathToFileURL(require.resolve(name)).href);

let Client, Stdio, Http, options;
if (kind === "sdk") {
  ({ Client } = await load("@modelcontextprotocol/sdk/client/index.js"));
  ({ StdioClientTransport: Stdio } = await load("@modelcontextprotocol/sdk/client/stdio.js"));
  ({ StreamableHTTPClientTransport: Http } = await load("@modelcontextprotocol/sdk/client/streamableHttp.js"));
} else {
  ({ Client, StreamableHTTPClientTransport: Http } = await load("@modelcontextprotocol/client"));
  ({ StdioClientTransport: Stdio } = await load("@modelcontextprotocol/client/stdio"));
  options = { versionNegotiation: { mode: "auto" } };
}
const transport =
  how === "stdio"
    ? new Stdio({ command: where, args: ["mcp"], env: process.env })
    : new Http(new URL(where), { requestInit: { headers: { Authorization: `Bearer ${token}` } } });
const client = new Client({ name: "sitting", version: "1" }, options);
await client.connect(transport);

const { tools } = await client.listTools();
const names = tools.map((tool) => tool.name);
for (const name of ["shell", "git", "await"]) assert(names.includes(name), names.join());
const call = async (name, args) => {
  const result = await client.callTool({ name, arguments: args });
  assert(!result.isError, JSON.stringify(result));
  return result.structuredContent;
};
const spawned = await call("shell", { action: "spawn", id: "cat", command: "cat" });
assert.equal(spawned.state, "running");
const applied = await call("shell", { action: "apply", id: "cat", input: "hello" });
assert.equal(applied.content, "hello\n");
await call("shell", { action: "spawn", id: "short", command: "sleep 0.1; echo done" });
const awaited = await call("await", { all: ["short"] });
assert.equal(awaited.completed[0].result, "done\n");
const aborted = await call("shell", { action: "abort", id: "cat" });
assert(aborted.ended >= 1);
await client.close();
console.log(JSON.stringify("well"));
