// The steps that connect an agent to Windlass: shown first, and later one
// to look up.

import { el } from "./dom.js";
import { codeBlock } from "./markdown.js";
import { token } from "./token.js";

export function connectGuide() {
  const over = () => `claude mcp add --transport http windlass ${location.origin}/mcp --header "Authorization: Bearer ${token()}"`;
  const body = el(
    "div",
    { class: "connect" },
    el("p", {}, "Windlass shows the tools that your agents run. Add it to an agent's config once; everything that the agent starts then appears here."),
    el("h3", {}, "An agent on this machine"),
    codeBlock("windlass mcp install claude", "or codex, opencode, gemini, qwen, cline, copilot, pi, zed, vscode, cursor"),
    el("h3", {}, "Or by the address of this server"),
    secretBlock(over),
    el("h3", {}, "Without an agent"),
    codeBlock('windlass query "what changed in this repository since yesterday?"', "a model, with all the tools"),
  );
  const details = el("details", { class: "home-part guide" }, el("summary", {}, el("h2", {}, "Connect an agent")), body);
  let isSet = false;
  return {
    node: details,
    update({ isFirst }) {
      // On the first run it is what there is to see.
      if (isFirst && !isSet) details.open = true;
      isSet ||= isFirst;
    },
  };
}

/** A command with the token in it, which is copied but not shown. */
function secretBlock(command) {
  const shown = command().replace(/Bearer .*"/, 'Bearer …"');
  const block = codeBlock(shown, "the copy contains the token");
  const copy = block.querySelector(".copy");
  copy.addEventListener(
    "click",
    (event) => {
      event.stopImmediatePropagation();
      navigator.clipboard.writeText(command()).then(() => (copy.textContent = "Copied"));
    },
    { capture: true },
  );
  return block;
}
