// Resizes a program's terminal to the window, and
// again when the window changes.

import { handlePath, post } from "./api.js";

/** How long a window must rest before the program is told its size. */
const REST = 120;

export class Fit {
  #place;
  #isOn = false;
  #timer = 0;
  #told = "";
  #sized;

  constructor(place) {
    this.#place = place;
    this.#sized = new ResizeObserver(() => this.#isOn && this.#later());
    this.#sized.observe(place.scroller);
  }

  get isOn() {
    return this.#isOn;
  }

  /** Fits now and after every change. */
  start() {
    this.#isOn = true;
    this.#told = "";
    return this.#fit();
  }

  /** The size is the program's again. */
  stop() {
    this.#isOn = false;
    clearTimeout(this.#timer);
  }

  close() {
    this.stop();
    this.#sized.disconnect();
  }

  #later() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#fit(), REST);
  }

  async #fit() {
    const { scroller, grid, screen, session, handle, problem } = this.#place;
    const cell = grid.getBoundingClientRect().width / screen.cols;
    const height = parseFloat(getComputedStyle(grid).lineHeight);
    const padding = 2 * parseFloat(getComputedStyle(scroller).paddingLeft);
    const within = (value, least, most) => Math.max(least, Math.min(most, Math.floor(value)));
    const cols = within((scroller.clientWidth - padding) / cell, 20, 1024);
    const rows = within((scroller.clientHeight - padding) / height, 4, 512);
    if (this.#told === `${rows}x${cols}`) return;
    this.#told = `${rows}x${cols}`;
    try {
      await post(`${handlePath(session, handle)}/resize`, { rows, cols });
    } catch (error) {
      problem(error.message);
    }
  }
}
