// Where the page begins. Read on in `follow.js` (what it knows), `side.js`
// (the left) and `view.js` (the right).

import { takeToken } from "./token.js";
import { follow, followUse } from "./follow.js";
import { store, changed, onChange } from "./store.js";
import { showHeld } from "./held.js";
import { showSide } from "./side.js";
import { showAsks } from "./asks.js";
import { showView } from "./view.js";
import { showConnection } from "./connection.js";
import { readAddress } from "./address.js";
import { setUpTheme } from "./theme.js";
import { setUpKeys } from "./shortcuts.js";
import { setUpHandBack } from "./takeover.js";

const has = takeToken();
setUpTheme();
setUpKeys();
setUpHandBack();
readAddress();
for (const show of [showConnection, showAsks, showHeld, showSide, showView]) onChange(show);
if (has) follow();
else store.connection = "none";
changed();
followUse();
// Times advance without events.
setInterval(() => {
  if (!document.hidden && store.connection === "live") changed();
}, 1000);
