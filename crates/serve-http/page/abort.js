// Ends a handle, after asking once more.

import { handlePath, post } from "./api.js";
import { announce, el, setText } from "./dom.js";
import { changed, store } from "./store.js";

export function abortButton() {
  let sure = 0;
  const node = el("button", { class: "no", id: "abort" }, "End");
  node.addEventListener("click", async () => {
    if (!sure) {
      sure = setTimeout(forget, 3000);
      setText(node, "End it and all it started?");
      return;
    }
    forget();
    const { session, handle } = store.shown;
    try {
      const receipt = await post(`${handlePath(session, handle)}/abort`);
      announce(`${handle} was ended, ${receipt.ended} processes`);
    } catch (error) {
      announce(error.message);
    }
    changed();
  });
  const forget = () => {
    clearTimeout(sure);
    sure = 0;
    setText(node, "End");
  };
  return { node, update: (handle) => (node.hidden = !handle || handle.info.state === "stopped") };
}
