// Draws a timeline: lanes from top to bottom, time from left to right.

import { svg } from "./dom.js";
import { clock, millis } from "./format.js";

const LANE = 26;
const TOP = 34;
export const LABELS = 170;

/**
 * A picture of those lanes that lie between two heights; all of them without.
 * `scale` is pixels per millisecond. The names stand at `left`, over the rest.
 * `open(lane)` is called when one is chosen.
 */
export function picture(timeline, { scale, within, left = 0, open }) {
  const width = LABELS + Math.ceil((timeline.to - timeline.from) * scale) + 40;
  const height = TOP + timeline.lanes.length * LANE + 24;
  const x = (time) => LABELS + (time - timeline.from) * scale;
  const root = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Timeline, ${timeline.lanes.length} lanes`, class: "timeline-picture" });
  const rows = new Map(timeline.lanes.map((lane, index) => [lane, index]));
  const isSeen = (index) => !within || (TOP + (index + 1) * LANE >= within.from && TOP + index * LANE <= within.to);
  root.append(batches(timeline, x, height), axis(timeline, x, scale, width, height));
  for (const [lane, index] of rows) if (isSeen(index)) root.append(drawLane(lane, index, x, open));
  const named = timeline.lanes.filter((_, index) => isSeen(index));
  root.append(brackets(timeline, rows, x, isSeen), turns(timeline, x, height), labels(named, rows, left, height));
  return root;
}

function drawLane(lane, index, x, open) {
  const top = TOP + index * LANE;
  const group = svg("g", { class: "lane", tabindex: "0", role: "button", "aria-label": `${lane.label}: ${lane.spans.map((span) => `${span.state} ${millis(span.to - span.from)}`).join(", ")}`, "data-lane": lane.label });
  const ground = svg("rect", { class: "lane-ground", x: 0, y: top, width: "100%", height: LANE });
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

function labels(lanes, rows, left, height) {
  const group = svg("g", { class: "labels", transform: `translate(${left} 0)` });
  group.append(svg("rect", { class: "labels-ground", x: 0, y: 0, width: LABELS - 6, height }));
  for (const lane of lanes) {
    const text = lane.handle ?? `${lane.label} ${lane.detail ?? ""}`;
    const cut = text.length > 24 ? `${text.slice(0, 23)}…` : text;
    group.append(svg("text", { class: lane.handle ? "lane-label handle-label" : "lane-label", x: 8, y: TOP + rows.get(lane) * LANE + LANE / 2 + 4 }, cut));
  }
  return group;
}

/** Every await as a pair of brackets around the lanes that it waits for. */
function brackets(timeline, rows, x, isSeen) {
  const group = svg("g", { class: "awaits" });
  for (const wait of timeline.awaits) {
    const lanes = wait.handles.map((id) => timeline.lanes.findLast((lane) => lane.handle === id && lane.began <= wait.to)).filter(Boolean);
    const places = lanes.map((lane) => rows.get(lane));
    const [first, last] = places.length ? [Math.min(...places), Math.max(...places)] : [0, timeline.lanes.length - 1];
    if (!isSeen(first) && !isSeen(last) && places.length) continue;
    const [top, bottom] = [TOP + first * LANE + 2, TOP + (last + 1) * LANE - 2];
    const [left, right] = [x(wait.from), Math.max(x(wait.to), x(wait.from) + 8)];
    const path = svg("path", { class: wait.isOpen ? "await open" : "await", d: `M${left + 5} ${top}H${left}V${bottom}H${left + 5}M${right - 5} ${top}H${right}V${bottom}H${right - 5}` });
    path.append(svg("title", {}, `await ${wait.handles.join(", ")}, ${millis(wait.to - wait.from)}`));
    group.append(path);
  }
  return group;
}

function batches(timeline, x, height) {
  const group = svg("g", { class: "batches" });
  for (const { from, to, count } of timeline.batches) {
    const band = svg("rect", { class: "batch", x: x(from) - 1, y: TOP - 8, width: Math.max(3, x(to) - x(from) + 2), height: height - TOP + 8 });
    band.append(svg("title", {}, `batch of ${count}`));
    group.append(band);
  }
  return group;
}

function turns(timeline, x, height) {
  const group = svg("g", { class: "turns" });
  for (const at of timeline.turns) {
    group.append(svg("line", { class: "turn", x1: x(at), x2: x(at), y1: TOP - 14, y2: height }), svg("text", { class: "turn-label", x: x(at) + 3, y: TOP - 6 }, "turn"));
  }
  return group;
}

const STEPS = [10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5, 72e5, 216e5, 864e5];

function axis(timeline, x, scale, width, height) {
  const group = svg("g", { class: "axis" });
  const step = STEPS.find((candidate) => candidate * scale >= 90) ?? STEPS.at(-1);
  for (let time = Math.ceil(timeline.from / step) * step; x(time) < width; time += step) {
    const text = step < 1000 ? `${clock(time)}.${String(time % 1000).padStart(3, "0")}` : clock(time);
    group.append(svg("line", { x1: x(time), x2: x(time), y1: TOP - 8, y2: height }), svg("text", { x: x(time) + 4, y: 14 }, text));
  }
  return group;
}
