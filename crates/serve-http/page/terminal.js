// A terminal: the rows of its screen, the cursor, and above them the rows that
// have left it.

import { copyButton, copyText } from "./clipboard.js";
import { el, setText } from "./dom.js";
import { finder } from "./find.js";
import { Fit } from "./fit.js";
import { onScreen, watchScreens } from "./follow.js";
import { Keyboard } from "./keyboard.js";
import { linkAt, linksOn, showLinks } from "./links.js";
import { cellAt, followMouse } from "./mouse.js";
import { followPast } from "./past.js";
import { paint } from "./runs.js";
import { Screen } from "./screen.js";

export function openTerminal({ session, handle }) {
  const screen = new Screen();
  const past = el("div", { class: "past-lines", role: "group", "aria-label": "Scrollback" });
  const rows = el("div", { class: "rows" });
  const cursor = el("div", { class: "cursor" });
  const grid = el("div", { class: "grid", role: "group", "aria-label": `Screen of ${handle}` }, rows, cursor);
  const scroller = el("div", { class: "scroller", tabIndex: 0, role: "region", "aria-label": `Terminal of ${handle}` }, past, grid);
  const status = el("span", { class: "status faint" });
  const fit = new Fit({ session, handle, screen, grid, scroller, problem: (text) => setText(keyboard.problem, text) });
  const copySelected = () => copyText(selectedIn(scroller) || screenText(screen));
  const keyboard = new Keyboard({ session, handle, screen, grid, scroller, fit, copy: copySelected });
  const scrollback = followPast(session, handle, scroller, past, () => find.again());
  const find = finder({ rows: () => [...past.querySelectorAll(".row"), ...rows.children], load: () => scrollback.load(), scroller });
  const copy = copyButton(() => selectedIn(scroller) || screenText(screen));
  copy.addEventListener("mousedown", (event) => event.preventDefault());
  const tools = el("div", { class: "terminal-tools" }, status, el("span", { class: "grow" }), find.node, el("button", { class: "chip", onclick: () => showLinks(linksOn(screen)) }, "Links"), copy);
  copy.classList.add("chip");
  const node = el("div", { class: "terminal" }, scroller, keyboard.node, tools);

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
    drawCursor();
    setText(status, `${screen.cols} × ${screen.rows}${screen.title ? ` · ${screen.title}` : ""}`);
    past.hidden = screen.fullScreen;
    if (atEnd) scrollback.toEnd();
    node.dataset.generation = screen.generation;
  };
  function drawCursor() {
    const { shape, blinks } = screen.cursorLook;
    cursor.hidden = !screen.cursorVisible;
    cursor.className = `cursor ${shape}${blinks ? " blinks" : ""}`;
    cursor.style.setProperty("--row", screen.cursor[0] - 1);
    cursor.style.setProperty("--col", screen.cursor[1] - 1);
  }
  const stop = onScreen((update) => {
    if (update.session !== session || update.handle !== handle) return;
    for (const row of screen.take(update)) dirty.add(row);
    if (due) return;
    due = true;
    requestAnimationFrame(draw);
  });
  const stopMouse = followMouse({ grid, screen, isMine: () => keyboard.isMine(), send: (bytes) => keyboard.sendBytes(bytes), press: (key) => keyboard.press({ key }), focus: () => keyboard.focus() });
  followLinks(grid, screen, () => keyboard.isMine());
  watchScreens(`${session}/${handle}`);

  return {
    node,
    update: () => keyboard.update(),
    close() {
      stop();
      stopMouse();
      fit.close();
      scrollback.close();
      watchScreens("");
    },
  };
}

/** A click on an address shows where it leads; the program's own clicks come first. */
function followLinks(grid, screen, isMine) {
  const isOurs = (event) => !(isMine() && screen.modes.mouse) || event.ctrlKey || event.metaKey;
  const found = (event) => {
    const { row, col } = cellAt(grid, screen, event);
    return linkAt(screen, row, col);
  };
  grid.addEventListener("click", (event) => {
    if (!isOurs(event) || !getSelection().isCollapsed) return;
    const address = found(event);
    if (address !== null) showLinks([address]);
  });
  let looking = false;
  grid.addEventListener("mousemove", (event) => {
    if (looking || event.buttons) return;
    looking = true;
    requestAnimationFrame(() => {
      looking = false;
      grid.classList.toggle("over-link", isOurs(event) && found(event) !== null);
    });
  });
}

function selectedIn(node) {
  const selection = getSelection();
  return !selection.isCollapsed && node.contains(selection.anchorNode) ? selection.toString() : "";
}

function screenText(screen) {
  const lines = screen.lines.map((_, row) => screen.text(row).trimEnd());
  return lines.join("\n").trimEnd();
}
