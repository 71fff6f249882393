// Draws a timeline: rows from top to bottom, time from left to right, and
// above them how much happened when.

import { svg } from "./dom.js";
import { clock, millis } from "./format.js";
import { densityOf, fromOf, hasFailed, toOf } from "./rows.js";

const LANE = 26;
const DENSITY = 22;
const TOP = 34 + DENSITY;
export const LABELS = 170;
/** More lanes than this in the sight of a row are drawn as density. */
const MANY = 160;
const BIN = 4;

/**
 * A picture of those rows that lie between two heights; all of them without.
 * `scale` is pixels per millisecond. The names stand at `left`, over the rest.
 * `open(lane)` is called when one is chosen, `zoom(time)` where many stand.
 */
export function picture(timeline, { rows, scale, within, seen, left = 0, open, zoom }) {
  const width = LABELS + Math.ceil((timeline.to - timeline.from) * scale) + 40;
  const height = TOP + rows.length * LANE + 24;
  const x = (time) => LABELS + (time - timeline.from) * scale;
  const root = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": `Timeline, ${timeline.lanes.length} lanes`, class: "timeline-picture" });
  const index = new Map(rows.flatMap((row, at) => row.lanes.map((lane) => [lane, at])));
  const isSeen = (at) => !within || (TOP + (at + 1) * LANE >= within.from && TOP + at * LANE <= within.to);
  const view = { x, scale, open, zoom, seen };
  root.append(batches(timeline, x, height, seen), axis(timeline, x, scale, width, height, seen), density(timeline, rows, x, width));
  rows.forEach((row, at) => isSeen(at) && root.append(drawRow(row, at, view)));
  root.append(brackets(timeline, index, x, isSeen, rows.length), turns(timeline, x, height, seen), labels(rows, isSeen, left, height));
  return root;
}

function drawRow(row, at, view) {
  const group = svg("g", { class: "timeline-row" });
  const lanes = view.seen ? row.lanes.filter((lane) => toOf(lane) >= view.seen.from && fromOf(lane) <= view.seen.to) : row.lanes;
  if (lanes.length > MANY) group.append(crowd(lanes, at, view));
  else for (const lane of lanes) group.append(drawLane(lane, at, view, row.isShared));
  return group;
}

/** Many lanes, as columns that are the darker the more begin there. */
function crowd(lanes, at, { x, zoom }) {
  const bins = new Map();
  for (const lane of lanes) {
    const bin = Math.floor(x(fromOf(lane)) / BIN);
    const known = bins.get(bin) ?? { count: 0, failed: 0, at: fromOf(lane) };
    known.count++;
    if (hasFailed(lane)) known.failed++;
    bins.set(bin, known);
  }
  const most = Math.max(...[...bins.values()].map(({ count }) => count));
  const top = TOP + at * LANE;
  const group = svg("g", { class: "crowd", tabindex: "0", role: "button", "aria-label": `${lanes.length} calls; zoom in to tell them apart` });
  for (const [bin, { count, failed, at: time }] of bins) {
    const column = svg("rect", { class: failed ? "dense failed" : "dense", x: bin * BIN, y: top + 5, width: BIN, height: LANE - 10, "fill-opacity": (0.25 + (0.75 * count) / most).toFixed(2) });
    column.append(svg("title", {}, `${count} calls${failed ? `, ${failed} failed` : ""} at ${clock(time)}`));
    if (zoom) column.addEventListener("click", () => zoom(time));
    group.append(column);
  }
  if (zoom) group.addEventListener("keydown", (event) => (event.key === "Enter" || event.key === " ") && zoom(fromOf(lanes[0])));
  return group;
}

function drawLane(lane, at, { x, open }, isShared) {
  const top = TOP + at * LANE;
  const group = svg("g", { class: "lane", tabindex: "0", role: "button", "aria-label": `${lane.label}: ${lane.spans.map((span) => `${span.state} ${millis(span.to - span.from)}`).join(", ")}`, "data-lane": lane.label, "data-key": lane.key });
  // Within a shared row only the lane itself is pressed.
  const ground = isShared
    ? svg("rect", { class: "lane-ground", x: x(fromOf(lane)) - 2, y: top, width: Math.max(6, x(toOf(lane)) - x(fromOf(lane)) + 4), height: LANE })
    : svg("rect", { class: "lane-ground", x: 0, y: top, width: "100%", height: LANE });
  ground.append(svg("title", {}, `${lane.label}${lane.detail ? `\n${lane.detail}` : ""}`));
  group.append(ground);
  for (const span of lane.spans) {
    const bar = svg("rect", { class: `span ${span.state}`, x: x(span.from), y: top + 6, width: Math.max(2, x(span.to) - x(span.from)), height: LANE - 12, rx: 3 });
    bar.append(svg("title", {}, `${lane.label}: ${span.text ?? span.state}, ${millis(span.to - span.from)}${lane.detail ? `\n${lane.detail}` : ""}`));
    group.append(bar);
  }
  if (lane.end) group.append(svg("rect", { class: `end ${lane.end.state}`, x: x(lane.end.at) - 2, y: top + 4, width: 4, height: LANE - 8, rx: 1 }));
  for (const mark of lane.marks) {
    const tick = svg("circle", { class: "mark", cx: x(mark.at), cy: top + LANE / 2, r: 3 });
    tick.append(svg("title", {}, `${mark.text} at ${clock(mark.at)}`));
    group.append(tick);
  }
  if (open) {
    group.addEventListener("click", () => open(lane));
    group.addEventListener("keydown", (event) => (event.key === "Enter" || event.key === " ") && open(lane));
  }
  return group;
}

/** The number of calls that began, over time. */
function density(timeline, rows, x, width) {
  const group = svg("g", { class: "density", "aria-hidden": "true" });
  const room = width - LABELS - 40;
  const parts = Math.max(1, Math.min(400, Math.floor(room / 3)));
  const bins = densityOf(timeline, rows.flatMap((row) => row.lanes), parts);
  const most = Math.max(1, ...bins.map(({ count }) => count));
  bins.forEach(({ count, failed }, at) => {
    if (!count) return;
    const tall = Math.max(2, (count / most) * (DENSITY - 4));
    const [from, wide] = [LABELS + (at * room) / parts, Math.max(1, room / parts - 0.5)];
    const column = svg("rect", { class: "dense", x: from, y: 20 + DENSITY - tall, width: wide, height: tall });
    column.append(svg("title", {}, `${count} calls${failed ? `, ${failed} failed` : ""}`));
    group.append(column);
    if (failed) group.append(svg("rect", { class: "dense failed", x: from, y: 20 + DENSITY - (tall * failed) / count, width: wide, height: (tall * failed) / count }));
  });
  return group;
}

function labels(rows, isSeen, left, height) {
  const group = svg("g", { class: "labels", transform: `translate(${left} 0)` });
  group.append(svg("rect", { class: "labels-ground", x: 0, y: 0, width: LABELS - 6, height }));
  rows.forEach((row, at) => {
    if (!isSeen(at) || !row.label) return;
    const [lane] = row.lanes;
    const text = row.isShared || lane.handle ? row.label : `${row.label} ${lane.detail ?? ""}`;
    const cut = text.length > 24 ? `${text.slice(0, 23)}…` : text;
    group.append(svg("text", { class: lane.handle && !row.isShared ? "lane-label handle-label" : "lane-label", x: 8, y: TOP + at * LANE + LANE / 2 + 4 }, cut));
  });
  return group;
}

/** Every await as a pair of brackets around the lanes that it waits for. */
function brackets(timeline, index, x, isSeen, rows) {
  const group = svg("g", { class: "awaits" });
  for (const wait of timeline.awaits) {
    const lanes = wait.handles.map((id) => timeline.lanes.findLast((lane) => lane.handle === id && lane.began <= wait.to)).filter((lane) => lane && index.has(lane));
    const places = lanes.map((lane) => index.get(lane));
    const [first, last] = places.length ? [Math.min(...places), Math.max(...places)] : [0, rows - 1];
    if (!isSeen(first) && !isSeen(last) && places.length) continue;
    const [top, bottom] = [TOP + first * LANE + 2, TOP + (last + 1) * LANE - 2];
    const [left, right] = [x(wait.from), Math.max(x(wait.to), x(wait.from) + 8)];
    const path = svg("path", { class: wait.isOpen ? "await open" : "await", d: `M${left + 5} ${top}H${left}V${bottom}H${left + 5}M${right - 5} ${top}H${right}V${bottom}H${right - 5}` });
    path.append(svg("title", {}, `await ${wait.handles.join(", ")}, ${millis(wait.to - wait.from)}`));
    group.append(path);
  }
  return group;
}

const isIn = (seen, from, to) => !seen || (to >= seen.from && from <= seen.to);

function batches(timeline, x, height, seen) {
  const group = svg("g", { class: "batches" });
  for (const { from, to, count } of timeline.batches) {
    // Thousands of bands would be one.
    if (!isIn(seen, from, to) || (timeline.batches.length > 400 && x(to) - x(from) < 1)) continue;
    const band = svg("rect", { class: "batch", x: x(from) - 1, y: TOP - 8, width: Math.max(3, x(to) - x(from) + 2), height: height - TOP + 8 });
    band.append(svg("title", {}, `batch of ${count}`));
    group.append(band);
  }
  return group;
}

function turns(timeline, x, height, seen) {
  const group = svg("g", { class: "turns" });
  let labelled = -Infinity;
  for (const at of timeline.turns) {
    if (!isIn(seen, at, at)) continue;
    group.append(svg("line", { class: "turn", x1: x(at), x2: x(at), y1: TOP - 14, y2: height }));
    // Names that would overlap are left out.
    if (x(at) - labelled < 34) continue;
    labelled = x(at);
    group.append(svg("text", { class: "turn-label", x: x(at) + 3, y: TOP - 6 }, "turn"));
  }
  return group;
}

const STEPS = [10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5, 72e5, 216e5, 864e5];

function axis(timeline, x, scale, width, height, seen) {
  const group = svg("g", { class: "axis" });
  const step = STEPS.find((candidate) => candidate * scale >= 90) ?? STEPS.at(-1);
  const first = seen ? Math.max(timeline.from, seen.from) : timeline.from;
  const last = seen ? seen.to : Infinity;
  for (let time = Math.ceil(first / step) * step; x(time) < width && time <= last; time += step) {
    const text = step < 1000 ? `${clock(time)}.${String(time % 1000).padStart(3, "0")}` : clock(time);
    group.append(svg("line", { x1: x(time), x2: x(time), y1: TOP - 8, y2: height }), svg("text", { x: x(time) + 4, y: 14 }, text));
  }
  return group;
}
