// The address contains the present view, so that Back and Reload work.

import { changed, store } from "./store.js";

export const TABS = ["output", "terminals", "timeline", "conversation", "calls"];

/** Shows only the overview. */
export function showHome() {
  show({ session: null, handle: null, tab: null });
}

/** Shows `{ session, handle, tab }`, and in the list of calls `call`. */
export function show(shown) {
  const next = { ...store.shown, ...shown };
  if (same(next, store.shown)) return;
  // An opened call is not part of the address.
  const { call, ...place } = next;
  store.shown = place;
  store.chosenCall = call ?? null;
  const parts = [next.session, next.handle ?? "", next.tab ?? ""].map((part) => encodeURIComponent(part ?? ""));
  history.pushState(null, "", next.session ? `#/${parts.join("/")}` : location.pathname);
  document.body.classList.remove("menu-open");
  changed();
}

export function readAddress() {
  const read = () => {
    const [, session, handle, tab] = location.hash.slice(1).split("/").map(decode);
    store.shown = { session: session || null, handle: handle || null, tab: TABS.includes(tab) ? tab : null };
    changed();
  };
  addEventListener("popstate", read);
  if (location.hash.startsWith("#/")) read();
}

function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}

function same(one, other) {
  return one.session === other.session && one.handle === other.handle && one.tab === other.tab;
}
