// A row of text with its looks, as elements.

import { css, isNamed } from "./colours.js";

// Characters that fill two columns, and are given them whatever the font says.
const WIDE = /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]/u;

const ATTRIBUTES = ["bold", "dim", "italic", "underline", "inverse", "hidden", "strikeout"];

/** The text in pieces that stand at their own columns, each with how many it fills. */
export function placed(text) {
  // All of one width, as text is most often.
  if (!WIDE.test(text) && !/[\p{M}\u{10000}-\u{10ffff}]/u.test(text)) return [{ text, columns: text.length }];
  return [...text].map((character) => ({ text: character, columns: breadth(character) }));
}

function breadth(character) {
  if (WIDE.test(character)) return 2;
  return /\p{M}/u.test(character) ? 0 : 1;
}

/** Makes a row show these runs. */
export function paint(row, runs) {
  if (runs.length === 1 && isPlain(runs[0])) {
    const { firstChild } = row;
    // The cheapest change there is, and the most frequent.
    if (firstChild?.nodeType === Node.TEXT_NODE && !firstChild.nextSibling) firstChild.data = runs[0].text;
    else row.textContent = runs[0].text;
    return;
  }
  row.replaceChildren(...runs.flatMap(nodes));
}

function isPlain(run) {
  return run.fg === undefined && run.bg === undefined && !ATTRIBUTES.some((name) => run[name]) && !WIDE.test(run.text);
}

function nodes(run) {
  const pieces = WIDE.test(run.text) ? widened(run.text) : [document.createTextNode(run.text)];
  if (isPlain({ ...run, text: "" })) return pieces;
  const span = document.createElement("span");
  const classes = ATTRIBUTES.filter((name) => run[name]);
  let { fg, bg } = run;
  if (run.inverse) [fg, bg] = [bg ?? "ground", fg ?? "text"];
  colour(span, classes, fg, "f", "color");
  colour(span, classes, bg, "b", "backgroundColor");
  span.className = classes.join(" ");
  span.append(...pieces);
  return [span];
}

function colour(span, classes, value, prefix, property) {
  if (value === undefined) return;
  if (typeof value === "string" || isNamed(value)) classes.push(`${prefix}-${value}`);
  else span.style[property] = css(value);
}

function widened(text) {
  const pieces = [];
  let plain = "";
  for (const character of text) {
    if (!WIDE.test(character)) {
      plain += character;
      continue;
    }
    if (plain) pieces.push(document.createTextNode(plain));
    plain = "";
    const wide = document.createElement("span");
    wide.className = "wide";
    wide.textContent = character;
    pieces.push(wide);
  }
  if (plain) pieces.push(document.createTextNode(plain));
  return pieces;
}
