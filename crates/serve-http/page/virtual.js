// A list of which only what is in sight is in the page, so that thousands of
// rows scroll as smoothly as ten.

import { el } from "./dom.js";

export class VirtualList {
  #items = [];
  #rows = new Map();
  #height;
  #make;
  #update;
  #due = false;

  /** Rows of one height; `update(row, item)` makes a row show an item. */
  constructor({ height, make, update, label }) {
    this.#height = height;
    this.#make = make;
    this.#update = update;
    this.space = el("div", { class: "virtual-space", role: "list", "aria-label": label });
    this.node = el("div", { class: "scroller virtual", tabIndex: 0 }, this.space);
    this.node.addEventListener("scroll", () => this.#later());
    this.sized = new ResizeObserver(() => this.#later());
    this.sized.observe(this.node);
  }

  /** Shows these items; a view at the end stays at the end. */
  set(items) {
    const { node } = this;
    const atEnd = node.scrollHeight - node.scrollTop - node.clientHeight < this.#height;
    const grown = (items.length - this.#items.length) * this.#height;
    const first = this.#items[0];
    const prepended = first && items[0] !== first && items.includes(first);
    this.#items = items;
    this.space.style.height = `${items.length * this.#height}px`;
    if (atEnd) node.scrollTop = node.scrollHeight;
    else if (prepended) node.scrollTop += grown;
    this.#later();
  }

  /** Scrolls to an item. */
  reveal(index) {
    if (index >= 0) this.node.scrollTop = Math.max(0, index * this.#height - this.node.clientHeight / 2);
  }

  close() {
    this.sized.disconnect();
  }

  #later() {
    if (this.#due) return;
    this.#due = true;
    requestAnimationFrame(() => {
      this.#due = false;
      this.#draw();
    });
  }

  #draw() {
    const { node, space } = this;
    const from = Math.max(0, Math.floor(node.scrollTop / this.#height) - 8);
    const to = Math.min(this.#items.length, Math.ceil((node.scrollTop + node.clientHeight) / this.#height) + 8);
    const free = [];
    for (const [index, row] of this.#rows) {
      if (index < from || index >= to) {
        free.push(row);
        this.#rows.delete(index);
      }
    }
    for (let index = from; index < to; index++) {
      let row = this.#rows.get(index);
      if (!row) {
        row = free.pop() ?? this.#fresh();
        this.#rows.set(index, row);
        row.style.transform = `translateY(${index * this.#height}px)`;
        row.setAttribute("aria-posinset", index + 1);
      }
      row.setAttribute("aria-setsize", this.#items.length);
      this.#update(row, this.#items[index]);
    }
    for (const row of free) row.remove();
    space.dataset.drawn = this.#rows.size;
  }

  #fresh() {
    const row = this.#make();
    row.setAttribute("role", "listitem");
    row.style.height = `${this.#height}px`;
    this.space.append(row);
    return row;
  }
}
