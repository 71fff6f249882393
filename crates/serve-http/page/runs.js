// A row of text with its looks, as elements.

import { css, isNamed } from "./colours.js";

// Characters that are two columns wide in a terminal, regardless of the font.
const WIDE = /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18aff}\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]|(?![\u{1f1e6}-\u{1f1ff}])\p{Emoji_Presentation}/u;
// Characters without a column of their own.
const NARROWEST = /[\p{M}\p{Cf}\u1160-\u11ff]/u;
// Text with characters that may not be one column wide.
const UNEVEN = /[\p{M}\p{Cf}\u1100-\u11ff\u{10000}-\u{10ffff}]/u;
// Text that must be put into its columns piece by piece.
const PLACED = /[\u200d\ufe0f\u{1f1e6}-\u{1f1ff}]/u;

const ATTRIBUTES = ["bold", "dim", "italic", "underline", "inverse", "hidden", "strikeout"];
const UNDERLINES = new Set(["double", "curly", "dotted", "dashed"]);

const clusters = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** The text in pieces that stand at their own columns, each with how many it fills. */
export function placed(text) {
  // All of one width, as text is most often.
  if (!WIDE.test(text) && !UNEVEN.test(text)) return [{ text, columns: text.length }];
  // A family or a flag is one picture, in all columns of its members.
  return Array.from(clusters.segment(text), ({ segment }) => ({ text: segment, columns: breadth(segment) }));
}

function breadth(cluster) {
  let columns = 0;
  for (const character of cluster) columns += WIDE.test(character) ? 2 : NARROWEST.test(character) ? 0 : 1;
  return columns;
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

const isEven = (text) => !WIDE.test(text) && !PLACED.test(text);

function isPlain(run) {
  return isUnstyled(run) && isEven(run.text);
}

function isUnstyled(run) {
  return run.fg === undefined && run.bg === undefined && run.link === undefined && !ATTRIBUTES.some((name) => run[name]);
}

function nodes(run) {
  const pieces = isEven(run.text) ? [document.createTextNode(run.text)] : widened(run.text);
  if (isUnstyled(run)) return pieces;
  const span = document.createElement("span");
  const classes = ATTRIBUTES.filter((name) => run[name]);
  if (UNDERLINES.has(run.underline_kind)) classes.push(run.underline_kind);
  if (run.link !== undefined) classes.push("linked");
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
  for (const { text: cluster, columns } of placed(text)) {
    if (columns === 1 && !PLACED.test(cluster)) {
      plain += cluster;
      continue;
    }
    if (plain) pieces.push(document.createTextNode(plain));
    plain = "";
    const wide = document.createElement("span");
    wide.className = "wide";
    wide.style.width = `${columns}ch`;
    wide.textContent = cluster;
    pieces.push(wide);
  }
  if (plain) pieces.push(document.createTextNode(plain));
  return pieces;
}
