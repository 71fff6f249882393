// The timeline of a session: loads it, follows it, zooms, opens and exports.

import { get } from "./api.js";
import { show } from "./address.js";
import { el, setText } from "./dom.js";
import { onUpdate } from "./follow.js";
import { short } from "./format.js";
import { lanesOf } from "./lanes.js";
import { partBody } from "./part.js";
import { LABELS, picture } from "./picture.js";
import { Record } from "./recorded.js";
import { handleOf, store } from "./store.js";

/** How often a picture of what goes on is drawn anew. */
const FRAME = 500;

export function openTimeline({ session, isLive }) {
  const scroller = el("div", { class: "scroller timeline", tabIndex: 0, "aria-label": "Timeline" });
  const none = el("p", { class: "nothing", hidden: true }, "Nothing has been called yet.");
  const detail = el("section", { class: "call-detail", "aria-label": "The chosen call", hidden: true });
  const count = el("span", { class: "faint" });
  const tools = el(
    "div",
    { class: "log-tools" },
    el("button", { id: "zoom-out", "aria-label": "Zoom out", onclick: () => zoom(1 / 1.5) }, "−"),
    el("button", { id: "zoom-in", "aria-label": "Zoom in", onclick: () => zoom(1.5) }, "+"),
    el("button", { onclick: () => zoom(null) }, "Fit"),
    el("button", { id: "export", onclick: () => save() }, "Export SVG"),
    legend(),
    el("span", { class: "grow" }),
    count,
  );
  const node = el("div", { class: "timeline-view" }, tools, el("div", { class: "calls-body" }, scroller, detail), none);
  const events = [];
  const known = new Set();
  let scale = null;
  let timeline = null;
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
    setText(count, `${timeline.lanes.length} lanes`);
    redraw();
    if (isLive && [...(store.sessions.get(session)?.handles.values() ?? [])].some(({ info }) => info.state !== "stopped")) later(FRAME);
  }

  function fit() {
    return Math.max(20, scroller.clientWidth - LABELS - 60) / (timeline.to - timeline.from);
  }

  function redraw() {
    if (!timeline) return;
    const within = { from: scroller.scrollTop - 200, to: scroller.scrollTop + scroller.clientHeight + 200 };
    const focused = document.activeElement?.closest?.("[data-lane]")?.dataset.lane;
    const left = scroller.scrollLeft;
    scroller.replaceChildren(picture(timeline, { scale: scale ?? fit(), within, left, open }));
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

  function open(lane) {
    const live = lane.handle && handleOf(session, lane.handle);
    if (live && isLive) return show({ handle: lane.handle, tab: "output" });
    const message = record.messages.find((other) => other.info.id === lane.part.messageID);
    detail.hidden = false;
    record.whole(message, lane.part).catch(() => lane.part).then((part) => {
      detail.replaceChildren(el("header", {}, el("strong", {}, lane.label), el("span", { class: "grow" }), el("button", { "aria-label": "Close", onclick: () => (detail.hidden = true) }, "×")), partBody(part));
    });
  }

  async function save() {
    if (!timeline) return;
    const whole = picture(timeline, { scale: scale ?? fit() });
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

/** A picture that leaves the page takes its looks along. */
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
