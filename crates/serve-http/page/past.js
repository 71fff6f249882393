// The rows that have left a terminal's screen, with their looks. They are
// fetched when the person scrolls up to them, or searches.

import { get, handlePath } from "./api.js";
import { el } from "./dom.js";
import { paint } from "./runs.js";

/** How many rows are laid out together: those out of sight cost nothing. */
const CHUNK = 100;
const HEIGHT = 17;

/** `drawn` is called when the rows are others than before. */
export function followPast(session, handle, scroller, past, drawn) {
  let atEnd = true;
  let loading = null;
  const fromEnd = () => scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight;

  function load() {
    loading ??= read().finally(() => (loading = null));
    return loading;
  }

  async function read() {
    try {
      const { rows } = await get(`${handlePath(session, handle)}/past`);
      const left = fromEnd();
      past.replaceChildren(...chunks(rows));
      drawn();
      scroller.scrollTop = atEnd ? scroller.scrollHeight : scroller.scrollHeight - scroller.clientHeight - left;
    } catch {
      // The screen is shown without them.
    }
  }

  scroller.addEventListener("scroll", () => {
    const before = atEnd;
    atEnd = fromEnd() < 4;
    if (before && !atEnd) load();
  });
  // What fits the window differently is still at its end.
  const sized = new ResizeObserver(() => atEnd && (scroller.scrollTop = scroller.scrollHeight));
  sized.observe(scroller);
  load();
  return {
    load,
    isAtEnd: () => atEnd,
    toEnd: () => {
      if (fromEnd() >= 1) scroller.scrollTop = scroller.scrollHeight;
    },
    close: () => sized.disconnect(),
  };
}

function* chunks(rows) {
  for (let at = 0; at < rows.length; at += CHUNK) {
    const some = rows.slice(at, at + CHUNK);
    const node = el("div", { class: "past-chunk" }, some.map(makeRow));
    node.style.containIntrinsicSize = `auto ${some.length * HEIGHT}px`;
    yield node;
  }
}

function makeRow(runs) {
  const row = el("div", { class: "row" });
  paint(row, runs);
  return row;
}
