// A handle's log: its end, followed as it grows; earlier stretches when
// the person scrolls up; and lines that match.

import { handlePath, raw, get } from "./api.js";
import { AnsiLines } from "./ansi.js";
import { el, setText } from "./dom.js";
import { onUpdate } from "./follow.js";
import { paint } from "./runs.js";

/** How much is read at once. */
const STRETCH = 64 << 10;
/** How many lines are kept in the page. */
const LINES = 6000;

export function openLog({ session, handle }) {
  const path = handlePath(session, handle);
  const lines = el("div", { class: "log-lines", role: "log", "aria-live": "off", "aria-label": `Log of ${handle}` });
  const scroller = el("div", { class: "scroller log", tabIndex: 0 }, lines);
  const matches = el("ol", { class: "matches", hidden: true, "aria-label": "Lines that match" });
  const problem = el("span", { class: "problem", role: "alert" });
  const search = el("input", { id: "log-search", type: "search", placeholder: "Search the log (regular expression)", "aria-label": "Search the log", spellcheck: false, autocomplete: "off" });
  const toEnd = el("button", { hidden: true, onclick: () => jump(null) }, "Follow the end");
  const node = el("div", { class: "log-view" }, el("div", { class: "log-tools" }, search, toEnd, problem), matches, scroller);

  const decoder = () => ({ text: new TextDecoder(), lines: new AnsiLines() });
  let reading = decoder();
  let start = 0;
  let end = 0;
  /** The number of the next line that ends, as markers of a digest name it. */
  let next = 1;
  let follows = true;
  let busy = Promise.resolve();

  // One stretch after the other, in order.
  const queue = (work) => (busy = busy.then(work).catch((error) => setText(problem, error.message)));

  async function stretch(from, to) {
    const response = await raw(`${path}/log?from=${from}${to === undefined ? "" : `&to=${to}`}`);
    const bytes = new Uint8Array(await response.arrayBuffer());
    const header = (name) => Number(response.headers.get(`windlass-log-${name}`));
    return { bytes, start: header("start"), end: header("end"), line: header("line") };
  }

  /** Restarts at an offset, or at the end. */
  function jump(at) {
    queue(async () => {
      follows = at === null;
      const from = at === null ? -STRETCH : Math.max(0, at - STRETCH / 4);
      const got = await stretch(from, at === null ? undefined : at + STRETCH);
      reading = decoder();
      lines.replaceChildren();
      ({ start, end } = got);
      next = got.line;
      append(got.bytes, got.start > 0);
      toEnd.hidden = follows;
      if (follows) scroller.scrollTop = scroller.scrollHeight;
      else markNear(at - got.start, got.bytes);
    });
  }

  function append(bytes, cutFirst = false) {
    const ended = reading.lines.take(reading.text.decode(bytes, { stream: true }));
    // The first line of a stretch may have begun before it.
    if (cutFirst && ended.shift()) next++;
    lines.querySelector(".open")?.remove();
    lines.append(...ended.map((runs) => row(runs, next++)));
    if (reading.lines.open.length) {
      const open = row(reading.lines.open);
      open.classList.add("open");
      lines.append(open);
    }
    while (lines.children.length > LINES) lines.firstChild.remove();
  }

  function grow() {
    if (!follows) return;
    queue(async () => {
      for (;;) {
        const got = await stretch(end);
        if (!got.bytes.length) return;
        const atEnd = isAtEnd();
        // Output that is written faster than it is read is skipped: the view follows the end.
        end = got.end;
        append(got.bytes);
        if (atEnd) scroller.scrollTop = scroller.scrollHeight;
        if (got.bytes.length < 1 << 20) return;
      }
    });
  }

  function earlier() {
    if (start === 0) return;
    queue(async () => {
      const from = Math.max(0, start - STRETCH);
      const got = await stretch(from, start);
      const older = decoder();
      const ended = older.lines.take(older.text.decode(got.bytes));
      const first = from > 0 && ended.shift() ? got.line + 1 : got.line;
      if (older.lines.open.length) ended.push(older.lines.open);
      const height = scroller.scrollHeight;
      lines.prepend(...ended.map((runs, place) => row(runs, first + place)));
      start = got.start;
      scroller.scrollTop += scroller.scrollHeight - height;
    });
  }

  const isAtEnd = () => scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 24;
  scroller.addEventListener("scroll", () => scroller.scrollTop < 40 && lines.children.length < LINES && earlier());

  function markNear(offset, bytes) {
    const before = new TextDecoder().decode(bytes.subarray(0, offset)).split("\n").length - 1;
    const found = lines.children[start > 0 ? before - 1 : before] ?? lines.lastChild;
    found?.classList.add("found");
    found?.scrollIntoView({ block: "center" });
  }

  search.addEventListener("keydown", async (event) => {
    if (event.key !== "Enter") return;
    matches.hidden = search.value === "";
    setText(problem, "");
    if (!search.value) return;
    try {
      const found = await get(`${path}/search?limit=500&pattern=${encodeURIComponent(search.value)}`);
      matches.replaceChildren(
        ...found.matches.map((match) => el("li", {}, el("button", { onclick: () => jump(match.from) }, match.line || " "))),
      );
      if (!found.matches.length) matches.append(el("li", { class: "faint" }, "No line matches."));
    } catch (error) {
      setText(problem, error.message);
    }
  });

  const stop = onUpdate((event) => {
    if (event.session !== session || event.handle !== handle) return;
    if (event.type === "wrote" || event.type === "stopped") grow();
    // Another handle uses the id now.
    if (event.type === "started") jump(null);
  });
  jump(null);
  return { node, close: stop };
}

/** A line and its number; one that is still open has none. */
export function row(runs, number = "") {
  const made = el("div", { class: "row", "data-line": String(number) });
  paint(made, runs);
  if (!runs.length) made.textContent = " ";
  return made;
}
