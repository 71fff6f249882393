// Taking a handle over and handing it back.

import { handlePath, headers, post, remove } from "./api.js";
import { show } from "./address.js";
import { announce, el, setAttr, setText } from "./dom.js";
import { holdLocks } from "./follow.js";
import { changed, handleOf, lockKey, store } from "./store.js";

async function takeOver(session, handle, anyway) {
  const key = lockKey(session, handle);
  store.taking.add(key);
  try {
    const { lock } = await post(`${handlePath(session, handle)}/lock`, { anyway });
    store.locks.set(key, lock);
  } catch (error) {
    store.taking.delete(key);
    throw error;
  }
  holdLocks();
  announce(`You have taken ${handle} over; Control and right bracket hands it back`);
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
  announce(`${handle} was handed back; the assistant gets a notice`);
}

/** Whether this page has taken over the handle that is shown. */
export function isShownMine() {
  const { session, handle } = store.shown;
  return store.locks.has(lockKey(session, handle));
}

/** Takes a handle over that was started just now, which the page may not know yet. */
export function takeOverNew(session, handle) {
  return takeOver(session, handle, false);
}

/** Does whichever of both is possible for the shown handle. */
export async function toggleTakeover({ anyway = false } = {}) {
  const { session, handle } = store.shown;
  const info = handleOf(session, handle)?.info;
  if (!info) return;
  if (isShownMine()) return handBack(session, handle);
  if (info.state === "stopped" || info.state === "pending" || (info.locked && !anyway)) return;
  show({ tab: "output" });
  await takeOver(session, handle, anyway).catch((error) => announce(error.message));
}

export function takeoverButton() {
  const node = el("button", { id: "takeover", onclick: () => toggleTakeover({ anyway: true }) });
  return {
    node,
    update(handle) {
      const { session } = store.shown;
      const mine = handle && store.locks.has(lockKey(session, handle.info.id));
      const isElsewhere = Boolean(handle?.info.locked && !mine);
      node.hidden = !handle || handle.info.state === "stopped" || handle.info.state === "pending";
      node.classList.toggle("yes", Boolean(mine));
      setText(node, mine ? "Hand back" : isElsewhere ? "Take it anyway" : "Take over");
      setAttr(node, "title", isElsewhere ? "Another client has taken it over; this takes it from them" : mine ? "Ctrl-]" : "t");
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
