// Terminals side by side, each as a small picture of its screen: those of a
// session, or of all sessions.
// Pictures that are out of sight are not drawn; all that changed is drawn together.

import { show } from "./address.js";
import { css, isNamed, palette } from "./colours.js";
import { el, keyed, setAttr, setText } from "./dom.js";
import { onScreen, watchScreens } from "./follow.js";
import { placed } from "./runs.js";
import { Screen } from "./screen.js";
import { folder } from "./format.js";
import { lockKey, store } from "./store.js";

/** How often the server tells a screen. */
const PAUSE = 60;
/** How often the page draws: the more pictures a frame has, the later the next one is. */
const frame = (pictures) => Math.min(115, 40 + 2 * pictures);
const SIZES = { tiny: 3, small: 5, middle: 8, large: 11 };
/** The width of a character of the page's monospace font, of its size. */
const ADVANCE = 0.602;
const GAP = 8;
const BORDERS = 2;
/** Letters of a picture are not larger than those of the terminal itself. */
const LARGEST = 13;

/** All terminals of a session. */
export function openWall({ session }) {
  const wall = makeWall({
    handles: () => [...(store.sessions.get(session)?.handles.values() ?? [])].map(({ info }) => ({ session, info })),
    watched: () => `${session}/*`,
  });
  const none = el("p", { class: "nothing" }, "No handle of this session has a terminal.");
  return {
    node: el("div", { class: "wall-view" }, wall.sizes, none, el("div", { class: "scroller", tabIndex: 0, role: "region", "aria-label": "Terminals" }, wall.list)),
    update() {
      none.hidden = wall.update() > 0;
    },
    close: wall.close,
  };
}

/**
 * Pictures of terminals. `handles()` gives `{ session, info }` of those that may
 * be shown, `watched()` the screens that are followed; `named` adds the session.
 */
export function makeWall({ handles, watched, isNamed: named = false }) {
  const tiles = new Map();
  /** Screens that came before their handles were known. */
  const early = new Map();
  const list = el("ul", { class: "wall" });
  const sizes = el("div", { class: "choice", role: "group", "aria-label": "Size" });
  let size = localStorage.getItem("windlass-wall") ?? "middle";
  let colours = null;
  let timer = 0;
  let next = 0;
  /** How the pictures stand: see `arrange`. */
  let grid = { columns: 1, width: 0 };

  const seen = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      const tile = tiles.get(target.dataset.key);
      if (!tile) continue;
      tile.isSeen = isIntersecting;
      if (isIntersecting) later();
    }
  });

  function later() {
    if (timer) return;
    // All that came since the last frame is drawn in one.
    timer = setTimeout(() => requestAnimationFrame(draw), Math.max(0, next - performance.now()));
  }

  function draw() {
    timer = 0;
    // Without a width nothing can be placed; `arrange` has it drawn then.
    if (!grid.width) return;
    const began = performance.now();
    let pictures = 0;
    colours ??= palette(list);
    for (const tile of tiles.values()) {
      if (tile.screen.generation === null) continue;
      if (tile.told !== tile.screen.generation) {
        tile.told = tile.screen.generation;
        setText(tile.last, tile.screen.lastText());
        setAttr(tile.button, "data-generation", tile.told);
      }
      if (!tile.isSeen || !tile.dirty.size) continue;
      drawTile(tile, place(tile), colours);
      tile.dirty.clear();
      pictures += 1;
    }
    next = began + frame(pictures);
  }

  /**
   * As many columns as terminals of 80 columns fit in the chosen size, about:
   * they are made a little larger or smaller, so that the width is used.
   */
  function arrange() {
    const room = list.clientWidth;
    if (!room || !tiles.size) return;
    const usual = 80 * ADVANCE * SIZES[size] + BORDERS + GAP;
    const columns = Math.max(1, Math.min(tiles.size, Math.round((room + GAP) / usual)));
    const width = Math.floor((room + GAP) / columns) - GAP;
    if (grid.columns === columns && grid.width === width) return;
    grid = { columns, width };
    list.style.gridTemplateColumns = `repeat(${columns}, ${width}px)`;
    redraw();
  }

  /** The size of a terminal's letters. A wide one has more than one column. */
  function place({ screen, button }) {
    const wanted = screen.cols * ADVANCE * SIZES[size] + BORDERS;
    const span = Math.max(1, Math.min(grid.columns, Math.round((wanted + GAP) / (grid.width + GAP))));
    const column = span > 1 ? `span ${span}` : "";
    if (button.parentNode.style.gridColumn !== column) button.parentNode.style.gridColumn = column;
    const room = span * (grid.width + GAP) - GAP - BORDERS;
    const fitting = room / (screen.cols * ADVANCE);
    return Math.min(Math.max(LARGEST, SIZES[size]), Math.floor(fitting * 20) / 20);
  }

  function redraw() {
    colours = null;
    for (const tile of tiles.values()) {
      tile.size = null;
      tile.screen.lines.forEach((_, row) => tile.dirty.add(row));
    }
    later();
  }

  function make({ session, info }) {
    const key = lockKey(session, info.id);
    const canvas = el("canvas", { "aria-hidden": "true" });
    const root = store.sessions.get(session)?.info.root;
    const name = el("span", { class: "name" }, named && root ? `${info.id} · ${folder(root)}` : info.id);
    const last = el("span", { class: "last" });
    const dot = el("span", { class: "dot" });
    const state = el("span", { class: "aside" });
    const button = el("button", { class: "tile", onclick: () => show({ session, handle: info.id, tab: "output" }) }, el("span", { class: "tile-head" }, dot, name, state, last), canvas);
    button.dataset.handle = info.id;
    button.dataset.key = key;
    const screen = early.get(key) ?? new Screen();
    early.delete(key);
    tiles.set(key, { screen, dirty: new Set(screen.lines.keys()), canvas, button, last, dot, state, isSeen: false, size: null });
    seen.observe(button);
    later();
    return el("li", {}, button);
  }

  const stop = onScreen((update) => {
    const key = lockKey(update.session, update.handle);
    const tile = tiles.get(key);
    if (!tile) {
      if (!early.has(key)) early.set(key, new Screen());
      early.get(key).take(update);
      return;
    }
    for (const row of tile.screen.take(update)) tile.dirty.add(row);
    later();
  });
  const choose = (name) => {
    size = name;
    localStorage.setItem("windlass-wall", name);
    for (const button of sizes.children) setAttr(button, "aria-pressed", String(button.textContent === name));
    grid.width = 0;
    arrange();
  };
  for (const name of Object.keys(SIZES)) sizes.append(el("button", { class: "chip", onclick: () => choose(name) }, name));
  choose(size in SIZES ? size : "middle");
  const resized = new ResizeObserver(arrange);
  resized.observe(list);
  document.addEventListener("windlass-theme", redraw);
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  scheme.addEventListener("change", redraw);
  let watching = null;

  return {
    list,
    sizes,
    /** Shows the handles as they are now; gives how many terminals there are. */
    update() {
      const shown = handles().filter(({ info }) => info.terminal);
      const keys = new Set(shown.map(({ session, info }) => lockKey(session, info.id)));
      keyed(list, shown, ({ session, info }) => lockKey(session, info.id), make, (_, { session, info }) => {
        const tile = tiles.get(lockKey(session, info.id));
        setAttr(tile.dot, "data-state", info.state === "stopped" && info.failed ? "failed" : info.state);
        setText(tile.state, info.state);
      });
      for (const key of tiles.keys()) if (!keys.has(key)) tiles.delete(key);
      arrange();
      // Their pictures exist now, so that none of the first screens is lost.
      const wanted = watched();
      if (watching !== wanted) watchScreens(wanted, PAUSE);
      watching = wanted;
      return shown.length;
    },
    close() {
      stop();
      clearTimeout(timer);
      seen.disconnect();
      resized.disconnect();
      document.removeEventListener("windlass-theme", redraw);
      scheme.removeEventListener("change", redraw);
      watchScreens("");
    },
  };
}

function drawTile(tile, size, colours) {
  const { canvas, screen } = tile;
  const scale = Math.min(2, devicePixelRatio || 1);
  const [width, height] = [size * ADVANCE, Math.ceil(size * 1.25)];
  const key = `${screen.cols}x${screen.rows}x${size}`;
  const pen = (tile.pen ??= canvas.getContext("2d", { alpha: false }));
  if (tile.size !== key) {
    tile.size = key;
    canvas.width = Math.ceil(screen.cols * width * scale);
    canvas.height = screen.rows * height * scale;
    canvas.style.width = `${Math.ceil(screen.cols * width)}px`;
    canvas.style.height = `${screen.rows * height}px`;
    // They hold until the next size, and a font costs a look at all styles.
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.font = `${size}px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace`;
    pen.textBaseline = "top";
    screen.lines.forEach((_, row) => tile.dirty.add(row));
  }
  for (const row of tile.dirty) {
    const top = row * height;
    pen.fillStyle = colours.bg;
    pen.fillRect(0, top, canvas.width, height);
    let column = 0;
    for (const run of screen.lines[row] ?? []) {
      let fg = colour(run.fg, colours, colours.fg);
      let bg = colour(run.bg, colours, null);
      if (run.inverse) [fg, bg] = [bg ?? colours.bg, fg];
      for (const { text, columns } of placed(run.text)) {
        if (bg) {
          pen.fillStyle = bg;
          pen.fillRect(column * width, top, columns * width, height);
        }
        if (!run.hidden && text.trim()) {
          pen.fillStyle = fg;
          pen.fillText(text, (column + Math.min(0, columns - 1)) * width, top + height - size);
        }
        column += columns;
      }
    }
  }
}

function colour(value, colours, usual) {
  if (value === undefined) return usual;
  return isNamed(value) ? colours.named[value] : css(value);
}
