// Keys of a keyboard as the bytes that a terminal sends for them.

const CURSOR = { ArrowUp: "A", ArrowDown: "B", ArrowRight: "C", ArrowLeft: "D", Home: "H", End: "F" };
const TILDE = { Insert: 2, Delete: 3, PageUp: 5, PageDown: 6, F5: 15, F6: 17, F7: 18, F8: 19, F9: 20, F10: 21, F11: 23, F12: 24 };
const FUNCTION = { F1: "P", F2: "Q", F3: "R", F4: "S" };
const CONTROL = { " ": 0, "@": 0, 2: 0, "[": 27, 3: 27, "\\": 28, 4: 28, "]": 29, 5: 29, "^": 30, 6: 30, _: 31, "-": 31, "/": 31, 7: 31, 8: 127, "?": 127 };

/** The bytes of a key, as a string; `null` where it is text or nothing. */
export function bytesOf({ key, ctrlKey: ctrl, altKey: alt, shiftKey: shift, metaKey: meta }, modes = {}) {
  if (meta) return null;
  const modifier = 1 + (shift ? 1 : 0) + (alt ? 2 : 0) + (ctrl ? 4 : 0);
  if (key in CURSOR) {
    if (modifier > 1) return `\x1b[1;${modifier}${CURSOR[key]}`;
    return `\x1b${modes.application_cursor ? "O" : "["}${CURSOR[key]}`;
  }
  if (key in TILDE) return `\x1b[${TILDE[key]}${modifier > 1 ? `;${modifier}` : ""}~`;
  if (key in FUNCTION) return modifier > 1 ? `\x1b[1;${modifier}${FUNCTION[key]}` : `\x1bO${FUNCTION[key]}`;
  const escape = alt ? "\x1b" : "";
  switch (key) {
    case "Enter":
      return `${escape}\r`;
    case "Escape":
      return `${escape}\x1b`;
    case "Backspace":
      return `${escape}${ctrl ? "\b" : "\x7f"}`;
    case "Tab":
      return shift ? "\x1b[Z" : `${escape}\t`;
  }
  if ([...key].length !== 1) return null;
  if (ctrl) {
    const code = key.toLowerCase().charCodeAt(0);
    if (code >= 97 && code <= 122) return escape + String.fromCharCode(code - 96);
    return key in CONTROL ? escape + String.fromCharCode(CONTROL[key]) : null;
  }
  // Alt with a letter is a letter after escape, unless the keyboard writes
  // another character with it, as many do.
  return alt && /^[\x20-\x7e]$/.test(key) ? `\x1b${key}` : null;
}

/** Pasted text as a terminal sends it. It cannot end its own brackets. */
export function pasted(text, modes = {}) {
  const lines = text.replace(/\r?\n/g, "\r");
  return modes.bracketed_paste ? `\x1b[200~${lines.replaceAll("\x1b", "")}\x1b[201~` : lines;
}
