// Copies text, and says so.

import { announce, el } from "./dom.js";

export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    announce("Copied");
    return true;
  } catch {
    announce("The browser does not let the page copy; select the text and copy it");
    return false;
  }
}

/** A button that copies what `text()` gives when it is pressed. */
export function copyButton(text, label = "Copy") {
  const node = el("button", { class: "copy" }, label);
  node.addEventListener("click", async (event) => {
    event.stopPropagation();
    if (!(await copyText(text()))) return;
    node.textContent = "Copied";
    setTimeout(() => (node.textContent = label), 1500);
  });
  return node;
}
