// Drives Chromium for the tests of the page: a JSON command per line in, its
// result per line out. What is done and what must be true is the test's.
//
// Arguments: the folder of the npm packages, the browser, a folder for its data.

import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [packages, executablePath, data] = process.argv.slice(2);
const require = createRequire(`${packages}/`);
const { chromium } = require("playwright-core");

const context = await chromium.launchPersistentContext(data, {
  executablePath,
  headless: true,
  viewport: { width: 1280, height: 800 },
  acceptDownloads: true,
  args: [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ],
});
context.setDefaultTimeout(60_000);
const page = context.pages()[0] ?? (await context.newPage());

const requests = [];
const problems = [];
context.on("request", (request) => requests.push(request.url()));
page.on("pageerror", (error) => problems.push(`error: ${error.message}`));
page.on("dialog", (dialog) => {
  problems.push(`dialog: ${dialog.message()}`);
  dialog.dismiss();
});

const commands = {
  goto: ({ url }) => page.goto(url).then(() => null),
  click: ({ selector }) => page.click(selector),
  fill: ({ selector, text }) => page.fill(selector, text),
  press: ({ key }) => page.keyboard.press(key),
  type: ({ text }) => page.keyboard.type(text),
  // What a person pastes, as the browser hands it to the page.
  paste: ({ selector, text }) =>
    page.locator(selector).evaluate((field, pasted) => {
      const clipboardData = new DataTransfer();
      clipboardData.setData("text/plain", pasted);
      field.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
    }, text),
  wait: ({ selector, state }) => page.waitForSelector(selector, { state: state ?? "visible" }).then(() => null),
  until: ({ script }) => until(script),
  evaluate: ({ script }) => page.evaluate(script),
  text: ({ selector }) => page.locator(selector).first().innerText(),
  look: ({ scheme, width, height }) =>
    Promise.all([page.emulateMedia({ colorScheme: scheme }), page.setViewportSize({ width, height })]).then(() => null),
  screenshot: ({ path }) => page.screenshot({ path }).then(() => null),
  download: async ({ selector, path }) => {
    const [download] = await Promise.all([page.waitForEvent("download"), page.click(selector)]);
    await download.saveAs(path);
    return download.suggestedFilename();
  },
  // Two presses at one place, as fast as a hand can.
  doubleClick: ({ selector }) => page.dblclick(selector),
  // The browser dies as by SIGKILL: no page hears of it.
  crash: async () => {
    const devtools = await context.newCDPSession(page);
    devtools.send("Browser.crash").catch(() => {});
    return null;
  },
  mouse: ({ selector, x, y, what, delta }) => mouse(selector, x, y, what, delta),
  // What an assistive program would stumble over, as axe-core finds it.
  axe: async () => {
    await page.evaluate(readFileSync(require.resolve("axe-core/axe.min.js"), "utf8"));
    const found = await page.evaluate("axe.run(document)");
    return found.violations.map(({ id, nodes }) => ({ id, nodes: nodes.slice(0, 3).map(({ html, failureSummary }) => `${html} ${failureSummary}`) }));
  },
  allow: ({ permissions }) => context.grantPermissions(permissions).then(() => null),
  clipboard: () => page.evaluate("navigator.clipboard.readText()"),
  seen: async () => ({ requests, problems }),
};

/** Uses the mouse at a place within an element, in parts of its size. */
async function mouse(selector, x, y, what, delta) {
  const box = await page.locator(selector).first().boundingBox();
  await page.mouse.move(box.x + box.width * x, box.y + box.height * y);
  if (what === "wheel") await page.mouse.wheel(0, delta);
  if (what === "click") await page.mouse.click(box.x + box.width * x, box.y + box.height * y);
  return null;
}

// Asked again and again from outside: within, the page's policy forbids it.
async function until(script) {
  const end = Date.now() + 60_000;
  while (!(await page.evaluate(script))) {
    if (Date.now() > end) throw new Error("it did not become true");
    await new Promise((done) => setTimeout(done, 30));
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const { command, ...given } = JSON.parse(line);
  let said;
  try {
    said = { ok: (await commands[command](given)) ?? null };
  } catch (error) {
    said = { error: String(error?.message ?? error), seen: await page.evaluate("document.body.innerText").catch(() => "") };
  }
  process.stdout.write(`${JSON.stringify(said)}\n`);
}
await context.close().catch(() => {});
