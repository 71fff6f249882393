// Creates and updates elements. All text goes through
// `textContent` or an attribute; nothing here ever reads a string as HTML.

/** An element with properties, attributes (`aria-…`, `data-…`) and children. */
export function el(tag, props = {}, ...children) {
  return fill(document.createElement(tag), props, children);
}

const SVG = "http://www.w3.org/2000/svg";

/** Creates an SVG element. */
export function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children.filter((child) => child != null));
  return node;
}

function fill(node, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (value == null || value === false) continue;
    if (name === "class") node.className = value;
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name.includes("-") || name === "role" || name === "for" || name === "list") node.setAttribute(name, value);
    else node[name] = value;
  }
  node.append(...children.flat().filter((child) => child != null && child !== false));
  return node;
}

/** Sets a text only if it changes, to avoid needless layout. */
export function setText(node, text) {
  const value = text ?? "";
  if (node.textContent !== value) node.textContent = value;
}

/** Sets an attribute only if it changes. */
export function setAttr(node, name, value) {
  if (value == null || value === false) {
    if (node.hasAttribute(name)) node.removeAttribute(name);
  } else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

/** Makes a parent's children those of a list, keeping the elements of keys that stay. */
export function keyed(parent, items, key, make, update) {
  const known = (parent.keyedNodes ??= new Map());
  const seen = new Set();
  let place = parent.firstChild;
  for (const item of items) {
    const name = key(item);
    seen.add(name);
    let node = known.get(name);
    if (!node) known.set(name, (node = make(item)));
    update?.(node, item);
    if (node === place) place = place.nextSibling;
    else parent.insertBefore(node, place);
  }
  for (const [name, node] of known) {
    if (!seen.has(name)) {
      known.delete(name);
      node.remove();
    }
  }
}

/** Announces a text to screen readers. */
export function announce(text) {
  document.getElementById("announce").textContent = text;
}

/** A press of a button; the second one of a double click is meant for what was there before. */
export const pressed = (does) => (event) => {
  if (event.detail < 2) does();
};
