// The mouse as the bytes that a terminal sends for it, to programs that ask.

/** The reported mouse events, by the requested mode. */
const HEARD = {
  presses: new Set(["press"]),
  clicks: new Set(["press", "release", "wheel"]),
  drags: new Set(["press", "release", "wheel", "drag"]),
  motion: new Set(["press", "release", "wheel", "drag", "move"]),
};
/** The last place that the older way of telling it has room for. */
const FARTHEST = 223;
/** How far a wheel turns for one step, in pixels. */
const STEP = 34;

/**
 * The bytes of something that the mouse did, as a string of bytes; `null` where
 * the program does not want to hear of it. `use` is
 * `{ kind, button, row, col, shift, alt, ctrl }`, with places from 1 on.
 */
export function mouseBytes(use, modes) {
  const { kind, button, row, col } = use;
  if (!HEARD[modes.mouse_reports]?.has(kind)) return null;
  const isBare = modes.mouse_reports === "presses";
  const modifiers = isBare ? 0 : (use.shift ? 4 : 0) + (use.alt ? 8 : 0) + (use.ctrl ? 16 : 0);
  const moves = kind === "drag" || kind === "move" ? 32 : 0;
  const code = (kind === "move" ? 3 : button) + modifiers + moves;
  if (modes.mouse_sgr) return `\x1b[<${code};${col};${row}${kind === "release" ? "m" : "M"}`;
  if (row > FARTHEST || col > FARTHEST) return null;
  // The older encoding does not name the released button.
  const told = kind === "release" ? 3 + modifiers : code;
  return `\x1b[M${String.fromCharCode(32 + told, 32 + col, 32 + row)}`;
}

/**
 * Sends the mouse on a screen to a program. `place` has `grid`, `screen`,
 * `isMine()`, and `send(bytes, arrows)`.
 */
export function followMouse(place) {
  const { grid, screen } = place;
  let down = null;
  let last = "";
  let turned = 0;
  // With shift the mouse is the browser's own, to select text.
  const isSent = (event) => place.isMine() && screen.modes.mouse && !event.shiftKey;

  function tell(event, kind, button) {
    const { row, col } = cellAt(grid, screen, event);
    const bytes = mouseBytes({ kind, button, row, col, shift: event.shiftKey, alt: event.altKey, ctrl: event.ctrlKey }, screen.modes);
    if (bytes !== null) place.send(bytes);
  }

  const onDown = (event) => {
    if (!isSent(event)) return;
    event.preventDefault();
    down = event.button;
    tell(event, "press", down);
    place.focus();
  };
  const onUp = (event) => {
    if (down === null) return;
    tell(event, "release", down);
    down = null;
  };
  const onMove = (event) => {
    if (!isSent(event)) return;
    const { row, col } = cellAt(grid, screen, event);
    if (last === `${row},${col}`) return;
    last = `${row},${col}`;
    tell(event, down === null ? "move" : "drag", down ?? 0);
  };
  const onWheel = (event) => {
    const isAlone = place.isMine() && screen.fullScreen && !screen.modes.mouse;
    if (!isSent(event) && !isAlone) return;
    event.preventDefault();
    turned += event.deltaMode === 0 ? event.deltaY : event.deltaY * STEP;
    const steps = Math.trunc(turned / STEP);
    turned -= steps * STEP;
    for (let step = 0; step < Math.min(30, Math.abs(steps)); step++) {
      // A program that fills the screen and does not know the mouse knows arrows.
      if (isAlone) place.press(steps < 0 ? "ArrowUp" : "ArrowDown");
      else tell(event, "wheel", steps < 0 ? 64 : 65);
    }
  };
  grid.addEventListener("mousedown", onDown);
  addEventListener("mouseup", onUp);
  grid.addEventListener("mousemove", onMove);
  grid.addEventListener("wheel", onWheel, { passive: false });
  grid.addEventListener("contextmenu", (event) => isSent(event) && event.preventDefault());
  return () => removeEventListener("mouseup", onUp);
}

/** The cell under the pointer, from 1 on. */
export function cellAt(grid, screen, event) {
  const box = grid.getBoundingClientRect();
  const within = (value, most) => Math.max(1, Math.min(most, Math.floor(value) + 1));
  return {
    row: within(((event.clientY - box.top) / box.height) * screen.rows, screen.rows),
    col: within(((event.clientX - box.left) / box.width) * screen.cols, screen.cols),
  };
}
