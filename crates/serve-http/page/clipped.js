// A request that is too long for its card. It is cut until the person opens it,
// and cannot be granted while a part of it is hidden.

import { el, setText } from "./dom.js";

/** Wraps a node; `isMoot()` says that another text will be run instead. */
export function clipped(content, isMoot) {
  const more = el("button", { class: "link more-lines", hidden: true, onclick: () => open() }, "");
  const node = el("div", { class: "clipped" }, content, more);
  let isOpen = false;
  const isCut = () => !isOpen && content.scrollHeight > content.clientHeight + 2;
  function open() {
    isOpen = true;
    node.classList.add("open");
    measure();
  }
  function measure() {
    const cut = isCut();
    more.hidden = !cut;
    if (cut) setText(more, `Show all of it (${Math.round(content.scrollHeight / 17)} lines)`);
  }
  const sized = new ResizeObserver(() => measure());
  sized.observe(content);
  return {
    node,
    /** Whether all of it can be seen; otherwise it is opened. */
    isSeen() {
      if (isMoot() || !isCut()) return true;
      open();
      return false;
    },
  };
}
