// The loop of a driver in Node: the first line says where the server is, each further one is a call.
//
// `open(server)` gives `{schemas, lenient, call, close}`; `server` is `{command, args, env}` or `{url, headers}`.

import { createInterface } from 'node:readline';

export async function drive(open) {
  let tools;
  for await (const line of createInterface({ input: process.stdin })) {
    const asked = JSON.parse(line);
    try {
      if (tools === undefined) {
        tools = await open(asked);
        print({ schemas: tools.schemas, lenient: tools.lenient ?? true });
      } else {
        print({ result: await said(tools, asked) });
      }
    } catch (error) {
      print({ fault: String(error?.stack ?? error) });
    }
  }
  await tools?.close();
  process.exit(0);
}

// An agent's loop hands the message of an error to its model.
async function said(tools, { name, arguments: given }) {
  try {
    const result = await tools.call(name, given);
    return typeof result === 'string' ? result : JSON.stringify(result);
  } catch (error) {
    return String(error?.message ?? error);
  }
}

function print(value) {
  process.stdout.write(JSON.stringify(value) + '\n');
}
