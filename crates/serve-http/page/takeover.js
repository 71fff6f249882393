// Taking a handle over and handing it back.

import { handlePath, headers, post, remove } from "./api.js";
import { show } from "./address.js";
import { announce, el, setText } from "./dom.js";
import { changed, handleOf, lockKey, store } from "./store.js";

async function takeOver(session, handle) {
  const { lock } = await post(`${handlePath(session, handle)}/lock`);
  store.locks.set(lockKey(session, handle), lock);
  announce(`You have taken ${handle} over`);
  changed();
}

export async function handBack(session, handle) {
  const key = lockKey(session, handle);
  const lock = store.locks.get(key);
  store.locks.delete(key);
  changed();
  if (!lock) return;
  // It may have stopped, or been handed back by the server already.
  await remove(`${handlePath(session, handle)}/lock/${lock}`).catch(() => {});
  announce(`${handle} was handed back; the assistant is told`);
}

/** Does whichever of both is possible for what is shown. */
export async function toggleTakeover() {
  const { session, handle } = store.shown;
  const info = handleOf(session, handle)?.info;
  if (!info) return;
  if (store.locks.has(lockKey(session, handle))) return handBack(session, handle);
  if (info.state === "stopped" || info.locked) return;
  show({ tab: "output" });
  await takeOver(session, handle).catch((error) => announce(error.message));
}

export function takeoverButton() {
  const node = el("button", { id: "takeover", onclick: () => toggleTakeover() });
  return {
    node,
    update(handle) {
      const { session } = store.shown;
      const mine = handle && store.locks.has(lockKey(session, handle.info.id));
      node.hidden = !handle || handle.info.state === "stopped" || handle.info.state === "pending";
      node.disabled = Boolean(handle?.info.locked && !mine);
      node.classList.toggle("yes", Boolean(mine));
      setText(node, mine ? "Hand back" : handle?.info.locked ? "Taken over elsewhere" : "Take over");
    },
  };
}

/** Whoever closes the page hands back what they had. */
export function setUpHandBack() {
  addEventListener("pagehide", () => {
    for (const [key, lock] of store.locks) {
      const at = key.indexOf("/");
      const path = handlePath(key.slice(0, at), key.slice(at + 1));
      fetch(`/api/v1${path}/lock/${lock}`, { method: "DELETE", headers: headers(), keepalive: true }).catch(() => {});
    }
  });
}
