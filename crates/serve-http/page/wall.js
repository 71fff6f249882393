// All terminals of a session at once, each as a small picture of its screen.
// Pictures that are out of sight are not drawn; all that changed is drawn together.

import { show } from "./address.js";
import { css, isNamed, palette } from "./colours.js";
import { el, keyed, setAttr, setText } from "./dom.js";
import { onScreen, watchScreens } from "./follow.js";
import { placed } from "./runs.js";
import { Screen } from "./screen.js";
import { store } from "./store.js";

/** How often the server tells a screen. */
const PAUSE = 60;
/** How often the page draws: the more pictures a frame has, the later the next one is. */
const frame = (pictures) => Math.min(115, 40 + 2 * pictures);
const SIZES = { tiny: 3, small: 5, middle: 8, large: 11 };

export function openWall({ session }) {
  const tiles = new Map();
  /** Screens that came before their handles were known. */
  const early = new Map();
  const list = el("ul", { class: "wall" });
  const none = el("p", { class: "nothing" }, "No handle of this session has a terminal.");
  const sizes = el("div", { class: "choice", role: "group", "aria-label": "Size" });
  const node = el("div", { class: "wall-view" }, sizes, none, el("div", { class: "scroller" }, list));
  let size = localStorage.getItem("windlass-wall") ?? "middle";
  let colours = null;
  let timer = 0;
  let next = 0;

  const seen = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      const tile = tiles.get(target.dataset.handle);
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
    const began = performance.now();
    let pictures = 0;
    colours ??= palette(node);
    for (const tile of tiles.values()) {
      if (tile.screen.generation === null) continue;
      if (tile.told !== tile.screen.generation) {
        tile.told = tile.screen.generation;
        setText(tile.last, tile.screen.lastText());
        setAttr(tile.button, "data-generation", tile.told);
      }
      if (!tile.isSeen || !tile.dirty.size) continue;
      drawTile(tile, SIZES[size], colours);
      tile.dirty.clear();
      pictures += 1;
    }
    next = began + frame(pictures);
  }

  function redraw() {
    colours = null;
    for (const tile of tiles.values()) {
      tile.size = null;
      tile.screen.lines.forEach((_, row) => tile.dirty.add(row));
    }
    later();
  }

  function make({ info }) {
    const canvas = el("canvas", { "aria-hidden": "true" });
    const name = el("span", { class: "name" }, info.id);
    const last = el("span", { class: "last" });
    const dot = el("span", { class: "dot" });
    const button = el("button", { class: "tile", onclick: () => show({ handle: info.id, tab: "output" }) }, el("span", { class: "tile-head" }, dot, name, last), canvas);
    button.dataset.handle = info.id;
    const screen = early.get(info.id) ?? new Screen();
    early.delete(info.id);
    tiles.set(info.id, { screen, dirty: new Set(screen.lines.keys()), canvas, button, last, dot, isSeen: false, size: null });
    seen.observe(button);
    later();
    return el("li", {}, button);
  }

  const stop = onScreen((update) => {
    if (update.session !== session) return;
    const tile = tiles.get(update.handle);
    if (!tile) {
      if (!early.has(update.handle)) early.set(update.handle, new Screen());
      early.get(update.handle).take(update);
      return;
    }
    for (const row of tile.screen.take(update)) tile.dirty.add(row);
    later();
  });
  const choose = (name) => {
    size = name;
    localStorage.setItem("windlass-wall", name);
    for (const button of sizes.children) setAttr(button, "aria-pressed", String(button.textContent === name));
    redraw();
  };
  for (const name of Object.keys(SIZES)) sizes.append(el("button", { class: "chip", onclick: () => choose(name) }, name));
  choose(size in SIZES ? size : "middle");
  document.addEventListener("windlass-theme", redraw);
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  scheme.addEventListener("change", redraw);
  let isWatching = false;

  return {
    node,
    update() {
      const handles = [...(store.sessions.get(session)?.handles.values() ?? [])].filter(({ info }) => info.terminal);
      none.hidden = handles.length > 0;
      keyed(list, handles, ({ info }) => info.id, make, (_, { info }) => {
        const tile = tiles.get(info.id);
        setAttr(tile.dot, "data-state", info.state === "stopped" && info.failed ? "failed" : info.state);
        setAttr(tile.button, "aria-label", `${info.id}, ${info.tool}, ${info.state}`);
      });
      for (const id of tiles.keys()) if (!handles.some(({ info }) => info.id === id)) tiles.delete(id);
      // Their pictures exist now, so that none of the first screens is lost.
      if (!isWatching) watchScreens(`${session}/*`, PAUSE);
      isWatching = true;
    },
    close() {
      stop();
      clearTimeout(timer);
      seen.disconnect();
      document.removeEventListener("windlass-theme", redraw);
      scheme.removeEventListener("change", redraw);
      watchScreens("");
    },
  };
}

function drawTile(tile, size, colours) {
  const { canvas, screen } = tile;
  const scale = Math.min(2, devicePixelRatio || 1);
  const [width, height] = [size * 0.602, Math.ceil(size * 1.25)];
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
          pen.fillText(text, (column + Math.min(0, columns - 1)) * width, top);
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
