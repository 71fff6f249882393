// Sits with opencode's own SDK, which answers permissions over one endpoint:
// `opencode.mjs PACKAGES v1|v2 session|request URL TOKEN`. Every event is
// printed, a line each, and then what the lists had.

import assert from "node:assert";
import { pathToFileURL } from "node:url";

const [packages, generation, endpoint, baseUrl, token] = process.argv.slice(2);
const folder = pathToFileURL(`${packages}/node_modules/@opencode-ai/sdk/dist/`).href;
const file = generation === "v1" ? "client.js" : "v2/client.js";
const { createOpencodeClient } = await import(folder + file);
const headers = { Authorization: `Bearer ${token}` };
const client = createOpencodeClient({ baseUrl, headers, throwOnError: true });
const v1 = generation === "v1";

const print = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
const { stream } = await client.event.subscribe();
const ranks = { pending: 0, running: 1, completed: 2, error: 2 };
const parts = new Map();

/** The next event that is wanted. */
async function until(wanted) {
  for (;;) {
    const { value: event, done } = await stream.next();
    assert(!done, "the stream has ended");
    print({ event });
    if (event.type === "message.part.updated") {
      const { part } = event.properties;
      const before = parts.get(part.id);
      assert(!before || ranks[before.state.status] <= ranks[part.state.status], "a part went back");
      assert(before?.state.status !== "completed" && before?.state.status !== "error");
      parts.set(part.id, part);
    }
    if (wanted(event)) return event;
  }
}
const part = (status) =>
  until((event) => event.type === "message.part.updated" && event.properties.part.state.status === status);

await until((event) => event.type === "server.connected");
const { data: session } = v1
  ? await client.session.create({ body: { title: "a sitting" } })
  : await client.session.create({ title: "a sitting" });
assert(session.id.startsWith("ses_"));
assert.equal(session.title, "a sitting");
const created = await until((event) => event.type === "session.created");
assert.equal(created.properties.info.id, session.id);

/** Has the assistant call a tool; resolves with the reply. */
async function call(command) {
  const body = JSON.stringify([{ tool: "shell", arguments: { command } }]);
  const url = `${baseUrl}/api/v1/sessions/${session.id}/calls`;
  const answer = await fetch(url, { method: "POST", headers, body });
  return (await answer.json()).replies[0];
}

/** Waits until permission is asked for; gives the request. */
async function asked() {
  const name = v1 ? "permission.updated" : "permission.asked";
  const { properties } = await until((event) => event.type === name);
  assert(properties.id.startsWith("per_"));
  assert.equal(properties.sessionID, session.id);
  if (v1) assert.equal(properties.callID, "1");
  else assert.equal(properties.tool.callID, "1");
  return properties;
}

async function reply(request, word, message) {
  let replied;
  if (v1)
    replied = await client.postSessionIdPermissionsPermissionId({
      path: { id: session.id, permissionID: request.id },
      body: { response: word },
    });
  else if (endpoint === "session")
    replied = await client.permission.respond({
      sessionID: session.id,
      permissionID: request.id,
      response: word,
    });
  else replied = await client.permission.reply({ requestID: request.id, reply: word, message });
  assert.equal(replied.data, true);
  const { properties } = await until((event) => event.type === "permission.replied");
  assert.deepEqual(
    v1 ? [properties.permissionID, properties.response] : [properties.requestID, properties.reply],
    [request.id, word],
  );
}

// Once: it runs, and is seen to.
let calling = call("echo once");
const pending = await part("pending");
let request = await asked();
if (!v1) assert.deepEqual((await client.permission.list()).data.map(({ id }) => id), [request.id]);
await reply(request, "once");
const running = await part("running");
const completed = await part("completed");
const ids = [pending, running, completed].map((event) => event.properties.part.id);
assert.deepEqual(ids, [ids[0], ids[0], ids[0]]);
assert(ids[0].startsWith("prt_"));
assert.equal(completed.properties.part.state.output, "once\n");
assert.equal((await calling).content, "once\n");
await until((event) => event.type === "session.idle");

// Always: it runs, and is not asked for again.
calling = call("echo always");
await reply(await asked(), "always");
await part("completed");
assert.equal((await calling).content, "always\n");
calling = call("echo always");
const settled = await until(
  (event) => event.type.startsWith("permission.") || event.properties.part?.state.status === "completed",
);
assert.equal(settled.type, "message.part.updated");
await calling;

// Reject: nothing runs.
calling = call("touch rejected");
request = await asked();
await reply(request, "reject", "not now");
const failed = await part("error");
const refused = await calling;
assert.equal(refused.is_error, true);
assert.equal(failed.properties.part.state.error, refused.content);
if (endpoint === "request") assert.match(refused.content, /not now/);

// It cannot be answered twice, which the client understands.
const again = await reply(request, "once").catch((error) => error);
assert.match(again.message, /answered|asked for/);

// What was told is what is there.
const { data: messages } = v1
  ? await client.session.messages({ path: { id: session.id } })
  : await client.session.messages({ sessionID: session.id });
const listed = messages.flatMap((message) => message.parts);
assert.deepEqual(
  listed.map(({ id, state }) => [id, state.status]),
  [...parts.values()].map(({ id, state }) => [id, state.status]),
);
assert(messages.every(({ info }) => info.role === "assistant" && info.time.completed));
const { data: sessions } = await client.session.list();
assert.deepEqual(
  sessions.filter(({ id }) => id === session.id).map(({ title }) => title),
  ["a sitting"],
);
const one = v1
  ? await client.session.get({ path: { id: session.id } })
  : await client.session.get({ sessionID: session.id });
assert.equal(one.data.id, session.id);
print({ messages });
process.exit(0);
