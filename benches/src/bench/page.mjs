// Looks at fifty terminals on the page of a server and measures it: what the
// browser's processes cost, how soon a key is answered, and how late the last
// screens are.
//
// Arguments: the folder of the npm packages, the server's address, its token,
// the session, how many seconds to measure. It prints `ready` when the page
// shows the terminals, and at the end one line of JSON.

import { createRequire } from "node:module";

const [packages, url, token, session, seconds] = process.argv.slice(2);
const { chromium } = createRequire(`${packages}/`)("playwright-core");
const TERMINALS = 50;

const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  headless: true,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
const page = await browser.newPage({ viewport: { width: 1600, height: 1000 } });
page.setDefaultTimeout(120_000);
await page.goto(`${url}/#token=${token}`);
await page.waitForSelector("#connection[data-state=live]");
await page.evaluate((id) => {
  localStorage.setItem("windlass-wall", "tiny");
  location.hash = `#/${id}//terminals`;
}, session);
await page.reload();
const count = (selector) => page.locator(selector).count();
while ((await count(".tile[data-generation]")) < TERMINALS) await pause(50);
await page.evaluate(() => {
  window.late = {};
  const look = () => {
    for (const tile of document.querySelectorAll(".tile")) {
      const end = /END (\d+)/.exec(tile.querySelector(".last").textContent);
      if (end) window.late[tile.dataset.handle] ??= Date.now() - Number(end[1]);
    }
  };
  new MutationObserver(look).observe(document.querySelector(".wall"), { subtree: true, characterData: true, childList: true });
});
console.log("ready");

const cdp = await browser.newBrowserCDPSession();
await pause(1500);
const [before, began] = [await used(), performance.now()];
await pause(seconds * 1000);
const [after, took] = [await used(), (performance.now() - began) / 1000];
const keys = [];
for (let press = 0; press < 10; press++) keys.push(await answered());
while ((await page.evaluate(() => Object.keys(window.late).length)) < TERMINALS) await pause(50);
const late = await page.evaluate(() => Object.values(window.late));
console.log(JSON.stringify({ page: ((after.page - before.page) / took) * 100, all: ((after.all - before.all) / took) * 100, keys, late }));
await browser.close();

/** How long it takes from a key to the frame in which the page has answered it. */
async function answered() {
  await page.evaluate(() => {
    document.activeElement?.blur();
    window.answered = new Promise((done) => {
      addEventListener(
        "keydown",
        (event) => {
          const pressed = event.timeStamp;
          const look = () => (document.querySelector("dialog[open]") ? done(performance.now() - pressed) : requestAnimationFrame(look));
          requestAnimationFrame(look);
        },
        { once: true, capture: true },
      );
    });
  });
  await page.keyboard.press("?");
  const took = await page.evaluate(() => window.answered);
  await page.keyboard.press("?");
  await page.waitForSelector("dialog[open]", { state: "hidden" });
  return took;
}

/** The processor time of the page's processes, and of all of the browser's. */
async function used() {
  const { processInfo } = await cdp.send("SystemInfo.getProcessInfo");
  const sum = (wanted) => processInfo.filter(wanted).reduce((total, process) => total + process.cpuTime, 0);
  return { page: sum(({ type }) => type === "renderer" || type === "GPU"), all: sum(() => true) };
}

function pause(millis) {
  return new Promise((done) => setTimeout(done, millis));
}
