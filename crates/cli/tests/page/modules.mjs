// The page's modules that need no browser: keys, colours, events, lanes.
// Argument: the folder of the page's files.

import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";

const page = (name) => import(pathToFileURL(`${process.argv[2]}/${name}`));

const { bytesOf, pasted } = await page("keys.js");
const key = (name, with_ = {}, modes = {}) =>
  bytesOf({ key: name, ctrlKey: false, altKey: false, shiftKey: false, metaKey: false, ...with_ }, modes);
const ctrl = { ctrlKey: true };
const alt = { altKey: true };
assert.equal(key("a"), null, "text is not a key");
assert.equal(key("c", ctrl), "\x03");
assert.equal(key(" ", ctrl), "\0");
assert.equal(key("[", ctrl), "\x1b");
assert.equal(key("b", alt), "\x1bb");
assert.equal(key("ä", alt), null);
assert.equal(key("Enter"), "\r");
assert.equal(key("Backspace"), "\x7f");
assert.equal(key("Tab", { shiftKey: true }), "\x1b[Z");
assert.equal(key("ArrowUp"), "\x1b[A");
assert.equal(key("ArrowUp", {}, { application_cursor: true }), "\x1bOA");
assert.equal(key("ArrowRight", ctrl), "\x1b[1;5C");
assert.equal(key("F1"), "\x1bOP");
assert.equal(key("F5"), "\x1b[15~");
assert.equal(key("F12", { shiftKey: true }), "\x1b[24;2~");
assert.equal(key("Delete"), "\x1b[3~");
assert.equal(key("c", { metaKey: true }), null, "the system's own shortcuts stay its own");
assert.equal(key("Shift"), null);
assert.equal(pasted("a\r\nb\n"), "a\rb\r");
assert.equal(pasted("a\x1b[201~b", { bracketed_paste: true }), "\x1b[200~a[201~b\x1b[201~");

const { AnsiLines } = await page("ansi.js");
const lines = (...pieces) => {
  const ansi = new AnsiLines();
  const ended = pieces.flatMap((piece) => ansi.take(piece));
  return [...ended, ansi.open].map((runs) => runs.map((run) => run.text).join(""));
};
assert.deepEqual(lines("one\r\ntwo\n"), ["one", "two", ""]);
assert.deepEqual(lines("10 %\r20 %\r30 %\ndone"), ["30 %", "done"]);
assert.deepEqual(lines("one\r", "\ntwo"), ["one", "two"]);
assert.deepEqual(lines("a\x1b[3", "1mb\x1b", "]0;title\x07c"), ["abc"]);
assert.deepEqual(lines("x\x1b]8;;http://there\x1b\\link\x1b]8;;\x1b\\"), ["xlink"]);
const coloured = new AnsiLines();
coloured.take("\x1b[1;31mred\x1b[0m plain \x1b[38;5;200mpink\x1b[48;2;1;2;3mdeep");
assert.deepEqual(coloured.open, [
  { bold: true, fg: 1, text: "red" },
  { text: " plain " },
  { fg: 200, text: "pink" },
  { fg: 200, bg: [1, 2, 3], text: "deep" },
]);

const { fixed } = await page("colours.js");
assert.deepEqual([fixed(16), fixed(196), fixed(231), fixed(232)], [[0, 0, 0], [255, 0, 0], [255, 255, 255], [8, 8, 8]]);

const { Parser } = await page("stream.js");
const parser = new Parser();
const read = (text) => [...parser.take(text)];
assert.deepEqual(read("event: up"), []);
assert.deepEqual(read("date\nid: 7\ndata: {\"a\":"), []);
assert.deepEqual(read("1}\n\n: beat\n\nevent: x\r\ndata: 2\r\n\r\n").map((event) => event.data.trim()), ['{"a":1}', "2"]);

const { Screen } = await page("screen.js");
const screen = new Screen();
const update = { generation: 1, rows: 2, cols: 4, cursor: [1, 1], cursor_visible: true, full_screen: false, modes: {} };
assert.deepEqual(screen.take({ ...update, changed: [{ row: 2, runs: [{ text: "hi" }] }] }), [0, 1]);
assert.deepEqual(screen.take({ ...update, generation: 2, changed: [{ row: 1, runs: [{ text: "x" }] }] }), [0]);
assert.equal(screen.lastText(), "hi");

const { lanesOf } = await page("lanes.js");
const part = (id, tool, state, metadata) => ({ type: "tool", id, callID: id, messageID: "m", tool, state, metadata });
const done = (start, end, output = "", input = {}) => ({ status: "completed", input, output, title: "", time: { start, end } });
const messages = [
  {
    info: { id: "m", time: { created: 1000 } },
    parts: [
      part("a", "shell", done(1000, 1010), { action: "spawn", handle: "h" }),
      part("b", "await", done(1000, 3000, "", { all: ["h"] })),
      part("c", "shell", { status: "error", input: {}, error: "no", time: { start: 1000, end: 1200 } }),
      part("d", "shell", done(2000, 2010), { action: "apply", handle: "h" }),
    ],
  },
];
const events = [
  { type: "started", handle: "h", at: 1005 },
  { type: "asked", handle: "h", at: 1500 },
  { type: "answered", handle: "h", at: 1700 },
  { type: "stopped", handle: "h", at: 2900, failed: false },
  { type: "turn_ended", at: 3100 },
];
const timeline = lanesOf({ messages, events, isLive: true, now: 4000 });
const [handle, call] = timeline.lanes;
assert.deepEqual(
  handle.spans.map(({ state, from, to }) => [state, from, to]),
  [["pending", 1000, 1005], ["running", 1005, 1500], ["waiting", 1500, 1700], ["running", 1700, 2900]],
);
assert.deepEqual(handle.end, { at: 2900, state: "stopped" });
assert.deepEqual(handle.marks.map((mark) => mark.text), ["apply"]);
assert.equal(call.end.state, "failed");
assert.deepEqual(timeline.awaits[0].handles, ["h"]);
assert.deepEqual([timeline.batches[0].from, timeline.batches[0].to, timeline.turns], [1000, 3000, [3100]]);

const { placed } = await page("runs.js");
const columns = (text) => placed(text).map((piece) => piece.columns);
assert.deepEqual(columns("plain ─│"), [8], "text of one width is one piece");
assert.deepEqual(columns("a日e\u0301🎉"), [1, 2, 1, 0, 2]);
