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

const lined = new AnsiLines();
lined.take("\x1b[4:3mwave\x1b[4mline\x1b[24mnone\x1b[38:2::1:2:3mdeep");
assert.deepEqual(lined.open, [
  { underline: true, underline_kind: "curly", text: "wave" },
  { underline: true, text: "line" },
  { text: "none" },
  { fg: [1, 2, 3], text: "deep" },
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
assert.deepEqual(columns("a日e\u0301🎉"), [1, 2, 1, 2]);
assert.deepEqual(columns("👨‍👩‍👧x"), [6, 1], "a family is one picture in the columns of its members");
assert.deepEqual(columns("🇩🇪✅❤️"), [2, 2, 1]);

const { mouseBytes } = await page("mouse.js");
const use = { kind: "press", button: 0, row: 5, col: 3, shift: false, alt: false, ctrl: false };
const clicks = { mouse_reports: "clicks", mouse_sgr: true };
assert.equal(mouseBytes(use, {}), null, "a program that does not ask is told nothing");
assert.equal(mouseBytes(use, clicks), "\x1b[<0;3;5M");
assert.equal(mouseBytes({ ...use, kind: "release", ctrl: true }, clicks), "\x1b[<16;3;5m");
assert.equal(mouseBytes({ ...use, kind: "wheel", button: 65 }, clicks), "\x1b[<65;3;5M");
assert.equal(mouseBytes({ ...use, kind: "drag" }, clicks), null);
assert.equal(mouseBytes({ ...use, kind: "drag" }, { ...clicks, mouse_reports: "drags" }), "\x1b[<32;3;5M");
assert.equal(mouseBytes({ ...use, kind: "move" }, { ...clicks, mouse_reports: "motion" }), "\x1b[<35;3;5M");
assert.equal(mouseBytes(use, { mouse_reports: "clicks" }), "\x1b[M #%");
assert.equal(mouseBytes({ ...use, kind: "release" }, { mouse_reports: "clicks" }), "\x1b[M##%");
assert.equal(mouseBytes({ ...use, col: 224 }, { mouse_reports: "clicks" }), null);
assert.equal(mouseBytes({ ...use, kind: "release" }, { mouse_reports: "presses" }), null);

const { addressesIn, linkAt, safeAddress } = await page("links.js");
const found = (text) => addressesIn(text).map((address) => address.text);
assert.deepEqual(found("see https://a.example/x, or (http://b.example/y_(z))."), ["https://a.example/x", "http://b.example/y_(z)"]);
assert.deepEqual(found("nothing: //here javascript://x"), []);
assert.equal(safeAddress("https://a.example/x").host, "a.example");
for (const refused of ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "https://google.com@evil.example/", "http://127.0.0.1:8413/#token=x", "vbscript:x", "nonsense", ""]) {
  assert.equal(safeAddress(refused, "http://127.0.0.1:8413"), null, refused);
}
const linked = new Screen();
linked.take({ ...update, rows: 3, cols: 24, changed: [
  { row: 1, runs: [{ text: "go " }, { text: "日here", link: "https://under.example/" }, { text: " x" }] },
  { row: 2, runs: [{ text: "https://long.example/abc" }] },
  { row: 3, runs: [{ text: "def end" }] },
] });
assert.equal(linkAt(linked, 1, 3), null);
assert.equal(linkAt(linked, 1, 4), "https://under.example/");
assert.equal(linkAt(linked, 1, 9), "https://under.example/");
assert.equal(linkAt(linked, 1, 10), null);
assert.equal(linkAt(linked, 2, 1), "https://long.example/abcdef", "an address goes on in the next row");
assert.equal(linkAt(linked, 3, 2), "https://long.example/abcdef");
assert.equal(linkAt(linked, 3, 6), null);

const { tokenIn } = await page("token.js");
const token = "A-_9".repeat(11).slice(0, 43);
for (const given of [token, ` ${token}\n`, `http://127.0.0.1:8413/#token=${token}`, `Windlass listens at http://x/#token=${token}`]) {
  assert.equal(tokenIn(given), token, given);
}
assert.equal(tokenIn("http://127.0.0.1:8413/"), null);
assert.equal(tokenIn("short"), null);
