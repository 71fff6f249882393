// Ends a handle, after asking once more.

import { handlePath, post } from "./api.js";
import { announce, el, setText } from "./dom.js";
import { changed, lockKey, store } from "./store.js";

/** How long the button stays armed, in milliseconds. */
const ARMED = 3000;

export function abortButton() {
  /** The handle that a second press ends, and the timer that disarms. */
  let armed = null;
  const node = el("button", { class: "no", id: "abort" }, "End");
  node.addEventListener("click", async () => {
    const { session, handle } = store.shown;
    const key = lockKey(session, handle);
    if (armed?.key !== key) {
      disarm();
      armed = { key, timer: setTimeout(disarm, ARMED) };
      setText(node, "End it and all it started?");
      announce(`Press again to end ${handle}`);
      return;
    }
    disarm();
    try {
      const receipt = await post(`${handlePath(session, handle)}/abort`);
      announce(`${handle} was ended, ${receipt.ended} processes`);
    } catch (error) {
      announce(error.message);
    }
    changed();
  });
  function disarm() {
    clearTimeout(armed?.timer);
    armed = null;
    setText(node, "End");
  }
  return {
    node,
    update(handle) {
      const { session } = store.shown;
      const canEnd = handle && handle.info.state !== "stopped";
      node.hidden = !canEnd;
      if (armed && (!canEnd || armed.key !== lockKey(session, handle.info.id))) disarm();
    },
  };
}
