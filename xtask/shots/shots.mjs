// Makes the pictures of the page that the documentation shows: starts a server
// in a made-up project, lets things happen in it, and photographs the views.
//
// Arguments: the folder of the npm packages, the browser, the `windlass`
// command, the folder for the pictures, and optionally names of pictures.

import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [packages, executablePath, windlass, out, ...wanted] = process.argv.slice(2);
const { chromium } = createRequire(`${packages}/`)("playwright-core");

const home = mkdtempSync(join(tmpdir(), "windlass-shots-"));
const project = join(home, "web-shop");
const ended = [];
async function main() {
  const model = await scriptedModel();
  const server = await startServer(model);
  const api = client(server);
  const session = (await api("POST", "/sessions", { trusted: true })).id;
  await fill(api, session);
  const asking = (await api("POST", "/sessions", {})).id;
  for (const command of REQUESTS) api("POST", `/sessions/${asking}/calls`, [{ tool: "shell", arguments: { command } }]).catch(() => {});
  await until(async () => (await api("GET", "/permissions")).length === REQUESTS.length);

  const browser = await chromium.launch({ executablePath, headless: true, args: FLAGS });
  ended.push(() => browser.close());
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, colorScheme: "light" });
  page.setDefaultTimeout(60_000);
  await page.goto(`${server.url}/#token=${server.token}`);
  await page.waitForSelector("#connection[data-state=live]");
  const look = (scheme, width, height) => Promise.all([page.emulateMedia({ colorScheme: scheme }), page.setViewportSize({ width, height })]);
  const take = async (name) => {
    if (wanted.length && !wanted.includes(name)) return;
    await page.screenshot({ path: join(out, `${name}.png`) });
    console.log(`${name}.png`);
  };

  // Asked from outside: within, the page's policy forbids it.
  await until(() => page.evaluate("document.querySelectorAll('.tile[data-generation]').length >= 3"));
  await page.waitForSelector(".recent .call >> nth=4");
  await take("page-overview-light");
  await look("dark", 390, 844);
  await take("page-overview-narrow-dark");
  await look("light", 1440, 900);

  await page.click(".handle:has-text('tests')");
  await page.waitForSelector(".rows :text('test result')");
  await page.click("#takeover");
  await page.waitForSelector(".keyboard");
  await take("page-light");
  await page.keyboard.press("Control+]");
  await page.waitForSelector(".keyboard", { state: "hidden" });

  await look("dark", 1440, 900);
  await page.click("#tab-timeline");
  await page.waitForSelector(".lane");
  await take("page-timeline-dark");

  await look("light", 1440, 900);
  await page.keyboard.press("h");
  await page.fill(".ask-box .ask-field", "Which tests fail, and why?");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".message .code-block");
  await take("page-ask-light");
}

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

const REQUESTS = ["git push origin main", "npm install --save-dev vitest", "docker compose up -d postgres"];

const TESTS = String.raw`printf '\033[1;32m   Compiling\033[0m shop v0.3.0\n\033[1;32m    Finished\033[0m test profile in 4.21s\n\033[1;32m     Running\033[0m tests/cart.rs\n\nrunning 3 tests\n'
for name in adds_an_item applies_a_voucher; do printf "test cart::$name ... \033[32mok\033[0m\n"; done
printf 'test cart::rounds_prices ... \033[31mFAILED\033[0m\n\ntest result: \033[31mFAILED\033[0m. 2 passed; 1 failed\n\n'; exec cat`;

async function fill(api, session) {
  const call = (tool, given) => api("POST", `/sessions/${session}/calls`, [{ tool, arguments: given }]);
  await call("shell", { command: "git init -q . && git add -A && git -c user.name=shop -c user.email=shop@example.com commit -qm 'Cart: round prices once'" });
  await call("shell", { action: "spawn", id: "tests", command: TESTS, terminal: true });
  await call("shell", { action: "spawn", id: "web", command: String.raw`printf '\033[36mready\033[0m on \033[4mhttp://localhost:5173/\033[0m\n'; exec cat`, terminal: true });
  await call("shell", { action: "spawn", id: "repl", command: "python3 -q", terminal: true });
  await call("shell", { action: "apply", id: "repl", input: "sum(range(10))" });
  await call("shell", { command: "git log --oneline" });
  await call("shell", { command: "grep -rn 'round' src" });
  await call("shell", { command: "cat missing.txt" });
  await api("POST", `/sessions/${session}/calls`, [
    { tool: "shell", arguments: { action: "spawn", id: "lint", command: "sleep 0.4; echo 1 warning; exit 1" } },
    { tool: "shell", arguments: { action: "spawn", id: "unit", command: "sleep 0.9; echo 42 passed" } },
    { tool: "await", arguments: { all: ["lint", "unit"] } },
  ]);
}

const ANSWER = "One test fails: **`cart::rounds_prices`**. It expects `9.99`, and the cart gives `9.98`, because prices are rounded twice:\n\n```rust\nlet total = items.iter().map(|item| item.price.round()).sum::<f64>().round();\n```\n\n- Round once, after the sum.\n- Keep prices as cents, so that nothing has to be rounded.\n\nShall I change it?";

/** A model that runs a command and then answers, as Ollama would stream it. */
async function scriptedModel() {
  let asked = 0;
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => {
      response.setHeader("content-type", "application/x-ndjson");
      const call = { function: { name: "shell", arguments: { command: "grep -rn round src" } } };
      const messages = asked++ === 0 ? [{ role: "assistant", content: "I look at the cart.", tool_calls: [call] }] : ANSWER.match(/\S+\s*/g).map((content) => ({ role: "assistant", content }));
      for (const message of messages) response.write(`${JSON.stringify({ model: "demo", message, done: false })}\n`);
      response.end(`${JSON.stringify({ model: "demo", message: { role: "assistant", content: "" }, done: true, done_reason: "stop" })}\n`);
    });
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  ended.push(() => server.close());
  return `http://127.0.0.1:${server.address().port}`;
}

async function startServer(model) {
  mkdirSync(join(project, "src"), { recursive: true });
  mkdirSync(join(home, "config/windlass"), { recursive: true });
  writeFileSync(join(project, "src/cart.rs"), "pub fn total(items: &[Item]) -> f64 {\n    items.iter().map(|item| item.price.round()).sum::<f64>().round()\n}\n");
  writeFileSync(join(home, "config/windlass/config.toml"), `[assistant]\nmodel = "ollama/demo"\n[providers.llm.ollama]\nbase_url = "${model}"\n[conversation.tools.shell]\nrun = "ask"\n[conversation.tools.shell.permissions]\n"grep *" = "allow"\n`);
  const folder = (name) => join(home, name);
  const env = { PATH: process.env.PATH, HOME: home, SHELL: "/bin/sh", XDG_CONFIG_HOME: folder("config"), XDG_STATE_HOME: folder("state"), XDG_DATA_HOME: folder("data"), XDG_CACHE_HOME: folder("cache") };
  const child = spawn(windlass, ["serve", "--listen", "127.0.0.1:0", "--json"], { cwd: project, env, stdio: ["ignore", "pipe", "inherit"] });
  ended.push(() => {
    if (child.exitCode !== null) return;
    const gone = new Promise((exited) => child.once("exit", exited));
    child.kill();
    return gone;
  });
  const line = await new Promise((said, failed) => {
    child.stdout.once("data", (bytes) => said(String(bytes)));
    child.once("exit", (code) => failed(new Error(`windlass serve has ended with ${code}`)));
  });
  return JSON.parse(line);
}

function client({ url, token }) {
  return async (method, path, body) => {
    const response = await fetch(`${url}/api/v1${path}`, { method, headers: { authorization: `Bearer ${token}`, "content-type": "application/json" }, body: body && JSON.stringify(body) });
    return response.json();
  };
}

async function until(isTrue) {
  while (!(await isTrue())) await new Promise((next) => setTimeout(next, 50));
}

try {
  await main();
} finally {
  for (const end of ended.reverse()) await end();
  rmSync(home, { recursive: true, force: true });
}
