// The timeline of a session: loads it, follows it, zooms, opens and exports.

import { get } from "./api.js";
import { show } from "./address.js";
import { el, keyed, setAttr, setText } from "./dom.js";
import { onUpdate } from "./follow.js";
import { millis, short } from "./format.js";
import { lanesOf } from "./lanes.js";
import { partBody } from "./part.js";
import { LABELS, picture } from "./picture.js";
import { Record } from "./recorded.js";
import { fromOf, hasFailed, rowsOf, timeOf } from "./rows.js";
import { handleOf, store } from "./store.js";

/** How often a picture of what goes on is drawn anew. */
const FRAME = 500;

export function openTimeline({ session, isLive }) {
  const scroller = el("div", { class: "scroller timeline", tabIndex: 0, role: "region", "aria-label": "Timeline" });
  const none = el("p", { class: "nothing", hidden: true });
  const detail = el("section", { class: "call-detail", "aria-label": "The chosen call", hidden: true });
  const count = el("span", { class: "faint" });
  const tool = el("select", { class: "by-tool", "aria-label": "Tool", onchange: () => filtered() });
  const failed = el("button", { id: "only-failed", class: "chip", "aria-pressed": "false", onclick: () => listOf("failed") }, "Failed");
  const slow = el("button", { id: "slowest", class: "chip", "aria-pressed": "false", onclick: () => listOf("slow") }, "Slowest");
  const tools = el(
    "div",
    { class: "log-tools" },
    el("button", { id: "zoom-out", "aria-label": "Zoom out", onclick: () => zoom(1 / 1.5) }, "−"),
    el("button", { id: "zoom-in", "aria-label": "Zoom in", onclick: () => zoom(1.5) }, "+"),
    el("button", { onclick: () => zoom(null) }, "Fit"),
    el("button", { id: "export", onclick: () => save() }, "Export SVG"),
    tool,
    slow,
    failed,
    legend(),
    el("span", { class: "grow" }),
    count,
  );
  const node = el("div", { class: "timeline-view" }, tools, el("div", { class: "calls-body" }, scroller, none, detail));
  const events = [];
  const known = new Set();
  let scale = null;
  let timeline = null;
  let rows = [];
  /** Which lanes are listed beside the picture: `failed`, `slow` or none. */
  let listed = null;
  let due = 0;
  let isOpen = true;

  const record = new Record(session, { brief: true, changed: () => later(60) });
  record.loadAll();
  loadHistory();
  const stop = onUpdate((event) => {
    if (event.session !== session || event.type === "wrote") return;
    keep(event);
    later(FRAME);
  });

  function keep(event) {
    if (known.has(event.number)) return;
    known.add(event.number);
    if (event.type !== "part" && event.type !== "called") events.push(event);
  }

  async function loadHistory() {
    if (!isLive) return;
    const history = await get(`/sessions/${encodeURIComponent(session)}/history`).catch(() => ({ events: [] }));
    history.events.forEach(keep);
    events.sort((one, other) => one.number - other.number);
    later(0);
  }

  function later(pause) {
    if (!due && isOpen) due = setTimeout(draw, pause);
  }

  function draw() {
    due = 0;
    if (!isOpen) return;
    const past = store.past.find((other) => other.id === session);
    timeline = lanesOf({ messages: record.messages, events, isLive, now: Date.now(), ended: past?.time.ended ?? past?.time.updated });
    none.hidden = timeline.lanes.length > 0 || timeline.awaits.length > 0;
    scroller.hidden = !none.hidden;
    setText(none, record.isLoaded ? "There are no calls yet." : "Loading…");
    keyed(tool, ["", ...new Set(timeline.lanes.map((lane) => lane.part.tool))], (name) => name, (name) => el("option", { value: name }, name || "every tool"));
    filtered();
    if (isLive && [...(store.sessions.get(session)?.handles.values() ?? [])].some(({ info }) => info.state !== "stopped")) later(FRAME);
  }

  const isWanted = (lane) => (!tool.value || lane.part.tool === tool.value) && (listed !== "failed" || hasFailed(lane));

  function filtered() {
    if (!timeline) return;
    rows = rowsOf(timeline, isWanted);
    const shown = rows.reduce((sum, row) => sum + row.lanes.length, 0);
    setText(count, `${shown === timeline.lanes.length ? shown : `${shown} of ${timeline.lanes.length}`} calls`);
    redraw();
  }

  /** Lists the slowest calls, or those that failed; pressed again, it lists nothing. */
  function listOf(kind) {
    if (!timeline) return;
    listed = listed === kind ? null : kind;
    setAttr(failed, "aria-pressed", String(listed === "failed"));
    setAttr(slow, "aria-pressed", String(listed === "slow"));
    filtered();
    detail.hidden = listed === null;
    if (listed === null) return;
    const found = timeline.lanes.filter((lane) => !tool.value || lane.part.tool === tool.value);
    const shown = listed === "failed" ? found.filter(hasFailed).reverse() : found.sort((one, other) => timeOf(other) - timeOf(one));
    detail.replaceChildren(
      detailHead(listed === "failed" ? `Failed (${shown.length})` : "The slowest"),
      el("ol", { class: "lane-list" }, shown.slice(0, 100).map((lane) => el("li", {}, el("button", { onclick: () => reveal(lane) }, el("span", { class: "dot", "data-state": hasFailed(lane) ? "failed" : "stopped" }), el("span", { class: "what" }, `${lane.label} ${lane.detail ?? ""}`), el("span", { class: "took faint" }, millis(timeOf(lane))))))),
    );
  }

  function detailHead(text) {
    return el("header", {}, el("strong", {}, text), el("span", { class: "grow" }), el("button", { "aria-label": "Close", onclick: () => (detail.hidden = true) }, "×"));
  }

  /** Brings a lane into sight and opens it. */
  function reveal(lane) {
    const room = scroller.clientWidth - LABELS - 60;
    scale = Math.min(4, Math.max(fit(), (room * 0.5) / Math.max(50, timeOf(lane))));
    redraw();
    scroller.scrollLeft = (fromOf(lane) - timeline.from) * scale - room * 0.2;
    const at = rows.findIndex((row) => row.lanes.includes(lane));
    scroller.scrollTop = Math.max(0, at * 26 - scroller.clientHeight / 3);
    open(lane, { isStaying: true });
  }

  function fit() {
    return Math.max(20, scroller.clientWidth - LABELS - 60) / (timeline.to - timeline.from);
  }

  function redraw() {
    if (!timeline) return;
    const within = { from: scroller.scrollTop - 200, to: scroller.scrollTop + scroller.clientHeight + 200 };
    const focused = document.activeElement?.closest?.("[data-lane]")?.dataset.lane;
    const left = scroller.scrollLeft;
    const now = scale ?? fit();
    const time = (pixels) => timeline.from + (pixels - LABELS) / now;
    const seen = { from: time(left - 200), to: time(left + scroller.clientWidth + 200) };
    const zoomIn = (at) => zoom(8, (at - timeline.from) * now + LABELS - left);
    scroller.replaceChildren(picture(timeline, { rows, scale: now, within, seen, left, open, zoom: zoomIn }));
    scroller.scrollLeft = left;
    if (focused) scroller.querySelector(`[data-lane="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  }

  function zoom(factor, at = scroller.clientWidth / 2) {
    if (!timeline) return;
    if (factor === null) {
      scale = null;
      return redraw();
    }
    const before = scale ?? fit();
    const time = (scroller.scrollLeft + at - LABELS) / before;
    scale = Math.min(4, Math.max(fit(), before * factor));
    redraw();
    scroller.scrollLeft = time * scale - at + LABELS;
  }

  function open(lane, { isStaying = false } = {}) {
    const live = lane.handle && handleOf(session, lane.handle);
    if (live && isLive && !isStaying) return show({ handle: lane.handle, tab: "output" });
    const message = record.messages.find((other) => other.info.id === lane.part.messageID);
    detail.hidden = false;
    record.whole(message, lane.part).catch(() => lane.part).then((part) => {
      detail.replaceChildren(detailHead(`${lane.label} · ${millis(timeOf(lane))}`), partBody(part));
    });
  }

  async function save() {
    if (!timeline) return;
    const whole = picture(timeline, { rows, scale: scale ?? fit() });
    whole.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    whole.prepend(await looks());
    const file = new Blob([new XMLSerializer().serializeToString(whole)], { type: "image/svg+xml" });
    const link = el("a", { href: URL.createObjectURL(file), download: `windlass-${short(session)}.svg` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }

  scroller.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2, event.clientX - scroller.getBoundingClientRect().left);
  }, { passive: false });
  let scrolling = false;
  scroller.addEventListener("scroll", () => {
    if (scrolling) return;
    scrolling = true;
    requestAnimationFrame(() => {
      scrolling = false;
      redraw();
    });
  });
  const sized = new ResizeObserver(() => redraw());
  sized.observe(scroller);

  return {
    node,
    close() {
      isOpen = false;
      clearTimeout(due);
      stop();
      record.close();
      sized.disconnect();
    },
  };
}

/** An exported picture contains its styles. */
async function looks() {
  const style = document.createElementNS("http://www.w3.org/2000/svg", "style");
  const names = ["--running", "--waiting", "--stopped", "--failed", "--pending", "--line", "--text", "--faint", "--ground", "--accent", "--batch"];
  const computed = getComputedStyle(document.documentElement);
  const values = names.map((name) => `${name}:${computed.getPropertyValue(name)}`).join(";");
  const rules = await (await fetch("/assets/timeline.css")).text();
  style.textContent = `svg{${values};background:var(--ground);font-family:system-ui,sans-serif}${rules}`;
  return style;
}

function legend() {
  return el("span", { class: "legend", "aria-hidden": "true" }, ...["running", "waiting", "stopped", "failed"].map((state) => el("span", {}, el("span", { class: "dot", "data-state": state }), state)), el("span", { class: "bracket" }, "[ ] await"));
}
