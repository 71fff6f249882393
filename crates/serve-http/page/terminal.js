// A terminal: the rows of its screen, the cursor, and above them the lines
// that have left it.

import { handlePath, raw } from "./api.js";
import { el, setText } from "./dom.js";
import { onScreen, watchScreens } from "./follow.js";
import { paint } from "./runs.js";
import { Screen } from "./screen.js";
import { Keyboard } from "./keyboard.js";

export function openTerminal({ session, handle }) {
  const screen = new Screen();
  const past = el("pre", { class: "past-lines", "aria-label": "Lines that have left the screen" });
  const rows = el("div", { class: "rows" });
  const cursor = el("div", { class: "cursor" });
  const grid = el("div", { class: "grid", role: "group", "aria-label": `Screen of ${handle}` }, rows, cursor);
  const scroller = el("div", { class: "scroller", tabIndex: 0, "aria-label": `Terminal of ${handle}` }, past, grid);
  const status = el("p", { class: "status faint" });
  const keyboard = new Keyboard({ session, handle, screen, grid, scroller });
  const node = el("div", { class: "terminal" }, scroller, keyboard.node, status);
  const scrollback = followScrollback(session, handle, scroller, past);

  const dirty = new Set();
  let due = false;
  const draw = () => {
    due = false;
    const atEnd = scrollback.isAtEnd();
    while (rows.children.length > screen.rows) rows.lastChild.remove();
    while (rows.children.length < screen.rows) rows.append(el("div", { class: "row" }));
    for (const row of dirty) if (rows.children[row]) paint(rows.children[row], screen.lines[row]);
    dirty.clear();
    grid.style.setProperty("--cols", screen.cols);
    cursor.hidden = !screen.cursorVisible;
    cursor.style.setProperty("--row", screen.cursor[0] - 1);
    cursor.style.setProperty("--col", screen.cursor[1] - 1);
    setText(status, `${screen.cols} × ${screen.rows}${screen.title ? ` · ${screen.title}` : ""}`);
    past.hidden = screen.fullScreen;
    if (atEnd) scrollback.toEnd();
    node.dataset.generation = screen.generation;
  };
  const stop = onScreen((update) => {
    if (update.session !== session || update.handle !== handle) return;
    for (const row of screen.take(update)) dirty.add(row);
    if (due) return;
    due = true;
    requestAnimationFrame(draw);
  });
  watchScreens(`${session}/${handle}`);

  return {
    node,
    update: () => keyboard.update(),
    close() {
      stop();
      scrollback.close();
      watchScreens("");
    },
  };
}

/** Lines that have left the screen are fetched when somebody scrolls up to them. */
function followScrollback(session, handle, scroller, past) {
  let atEnd = true;
  let isLoading = false;
  const fromEnd = () => scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight;
  const load = async () => {
    if (isLoading) return;
    isLoading = true;
    try {
      const lines = await (await raw(`${handlePath(session, handle)}/scrollback`)).text();
      const left = fromEnd();
      setText(past, lines);
      scroller.scrollTop = atEnd ? scroller.scrollHeight : scroller.scrollHeight - scroller.clientHeight - left;
    } catch {
      // The screen is shown without them.
    }
    isLoading = false;
  };
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
    isAtEnd: () => atEnd,
    toEnd: () => {
      if (fromEnd() >= 1) scroller.scrollTop = scroller.scrollHeight;
    },
    close: () => sized.disconnect(),
  };
}
