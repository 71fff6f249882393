// Says whether what is shown is how things are.

import { setAttr, setText } from "./dom.js";
import { showCount } from "./notify.js";
import { store } from "./store.js";

const WORDS = { connecting: "connecting", live: "live", gone: "reconnecting", stale: "access denied", none: "no token" };
const BANNERS = {
  gone: "The server cannot be reached. The page shows the last known state and keeps trying to reconnect.",
};

export function showConnection() {
  const { connection } = store;
  const pill = document.getElementById("connection");
  setText(pill, WORDS[connection]);
  setAttr(pill, "data-state", connection);
  const banner = document.getElementById("banner");
  const text = BANNERS[connection];
  banner.hidden = !text;
  setText(banner, text);
  // Without a token there is nothing to list.
  document.getElementById("listed").hidden = connection === "none" || connection === "stale";
  showCount();
}
