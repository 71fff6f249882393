// A terminal's present screen: only rows that changed are replaced.

const BLOCK = { shape: "block", blinks: false };

export class Screen {
  generation = null;
  rows = 24;
  cols = 80;
  cursor = [1, 1];
  cursorVisible = true;
  cursorLook = BLOCK;
  fullScreen = false;
  modes = {};
  title = null;
  /** The runs of each row. */
  lines = [];

  /** Takes an update in; gives the numbers of the rows that changed, from zero. */
  take(update) {
    const resized = update.rows !== this.rows || update.cols !== this.cols || this.generation === null;
    this.generation = update.generation;
    this.rows = update.rows;
    this.cols = update.cols;
    this.cursor = update.cursor;
    this.cursorVisible = update.cursor_visible;
    this.cursorLook = update.cursor_look ?? BLOCK;
    this.fullScreen = update.full_screen;
    this.modes = update.modes;
    this.title = update.title ?? null;
    if (resized) {
      this.lines.length = Math.min(this.lines.length, this.rows);
      while (this.lines.length < this.rows) this.lines.push([]);
    }
    for (const { row, runs } of update.changed) this.lines[row - 1] = runs;
    return resized ? this.lines.map((_, row) => row) : update.changed.map(({ row }) => row - 1);
  }

  text(row) {
    return (this.lines[row] ?? []).map((run) => run.text).join("");
  }

  /** The last row that is not empty. */
  lastText() {
    for (let row = this.lines.length - 1; row >= 0; row--) {
      const text = this.text(row).trim();
      if (text) return text;
    }
    return "";
  }
}
