// Markdown as elements. Everything that is not understood stays text; HTML is
// text; a link shows where it leads before it is opened.

import { copyButton } from "./clipboard.js";
import { el } from "./dom.js";
import { safeAddress, showLinks } from "./links.js";

/** How deep lists and quotations are followed. */
const DEEPEST = 8;
/** The maximum length of a paragraph with inline marks: parsing takes quadratic time. */
const LONGEST = 5000;

/** The blocks of a text: `{ type, … }`, with their texts not read yet. */
export function blocksOf(text) {
  return readBlocks(text.replace(/\r\n?/g, "\n").split("\n"));
}

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^`]*)$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const RULE = /^ {0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])(?: +(.*)|$)/;
const TABLE_RULE = /^ {0,3}\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)+\|?\s*$/;

function readBlocks(lines) {
  const blocks = [];
  let paragraph = [];
  const flush = () => {
    if (paragraph.length) blocks.push({ type: "paragraph", text: paragraph.join("\n") });
    paragraph = [];
  };
  let at = 0;
  while (at < lines.length) {
    const line = lines[at];
    let match;
    if (!line.trim()) {
      flush();
      at++;
    } else if ((match = FENCE.exec(line))) {
      flush();
      at = readFence(blocks, lines, at, match);
    } else if ((match = HEADING.exec(line))) {
      flush();
      blocks.push({ type: "heading", level: match[1].length, text: match[2] });
      at++;
    } else if (RULE.test(line)) {
      flush();
      blocks.push({ type: "rule" });
      at++;
    } else if (QUOTE.test(line)) {
      flush();
      const inner = [];
      while (at < lines.length && QUOTE.test(lines[at])) inner.push(lines[at++].replace(QUOTE, ""));
      blocks.push({ type: "quote", lines: inner });
    } else if (ITEM.test(line) && (!paragraph.length || !/^\d/.test(line.trim()))) {
      flush();
      at = readList(blocks, lines, at);
    } else if (line.includes("|") && TABLE_RULE.test(lines[at + 1] ?? "")) {
      flush();
      at = readTable(blocks, lines, at);
    } else {
      paragraph.push(line.trim());
      at++;
    }
  }
  flush();
  return blocks;
}

function readFence(blocks, lines, at, [, fence, info]) {
  const code = [];
  const ends = new RegExp(`^ {0,3}\\${fence[0]}{${fence.length},}\\s*$`);
  at++;
  while (at < lines.length && !ends.test(lines[at])) code.push(lines[at++]);
  blocks.push({ type: "code", language: info.trim().split(/\s/)[0], text: code.join("\n") });
  return at + 1;
}

function readList(blocks, lines, at) {
  const first = ITEM.exec(lines[at]);
  const isOrdered = /\d/.test(first[2]);
  const items = [];
  while (at < lines.length) {
    const match = ITEM.exec(lines[at]);
    if (match && /\d/.test(match[2]) === isOrdered && match[1].length < first[1].length + 2) {
      items.push([match[3] ?? ""]);
      at++;
      continue;
    }
    const isIndented = /^(?: {2,}|\t)/.test(lines[at]);
    const goesOn = !lines[at].trim() && (/^(?: {2,}|\t)/.test(lines[at + 1] ?? "") || ITEM.test(lines[at + 1] ?? ""));
    if (!isIndented && !goesOn) break;
    items.at(-1).push(lines[at].replace(/^(?: {1,4}|\t)/, ""));
    at++;
  }
  blocks.push({ type: "list", isOrdered, start: isOrdered ? parseInt(first[2], 10) : 1, items });
  return at;
}

function readTable(blocks, lines, at) {
  const cells = (line) => line.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
  const head = cells(lines[at]);
  const rows = [];
  at += 2;
  while (at < lines.length && lines[at].includes("|")) rows.push(cells(lines[at++]));
  blocks.push({ type: "table", head, rows });
  return at;
}

const INLINE = /(`+)([^`]|[^`][\s\S]*?[^`])\1(?!`)|!?\[((?:[^[\]\\]|\\.)*)\]\(\s*<?((?:[^()\s<>\\]|\\.|\([^()\s]*\))*)>?(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)|<(https?:\/\/[^\s<>]+)>|(\*\*|__)(?=\S)([\s\S]*?\S)\6|(\*|_)(?=\S)([\s\S]*?\S)\8(?!\w)|~~(?=\S)([\s\S]*?\S)~~|\\([!-/:-@[-`{-~])|(https?:\/\/[^\s<>"'`]*[^\s<>"'`.,;:!?)\]])/;

/** The inline parts of a text: strings, and `{ type, … }`. */
export function inlineOf(text, depth = 0) {
  const parts = [];
  let rest = text;
  while (rest) {
    const match = depth < DEEPEST && text.length <= LONGEST ? INLINE.exec(rest) : null;
    if (!match) {
      parts.push(rest);
      break;
    }
    // A mark within a word is a character as any other.
    const before = rest[match.index - 1];
    if (match[8] === "_" && /\w/.test(before ?? "")) {
      parts.push(rest.slice(0, match.index + 1));
      rest = rest.slice(match.index + 1);
      continue;
    }
    if (match.index) parts.push(rest.slice(0, match.index));
    parts.push(inlinePart(match, depth));
    rest = rest.slice(match.index + match[0].length);
  }
  return parts;
}

function inlinePart(match, depth) {
  const [whole, , code, label, address, auto, , strong, , em, struck, escaped, plain] = match;
  if (code !== undefined) return { type: "code", text: code.replace(/^ (.*) $/s, "$1") };
  if (label !== undefined) return { type: "link", address, parts: inlineOf(label || address, depth + 1), isImage: whole[0] === "!" };
  if (auto !== undefined || plain !== undefined) return { type: "link", address: auto ?? plain, parts: [auto ?? plain] };
  if (strong !== undefined) return { type: "strong", parts: inlineOf(strong, depth + 1) };
  if (em !== undefined) return { type: "em", parts: inlineOf(em, depth + 1) };
  if (struck !== undefined) return { type: "struck", parts: inlineOf(struck, depth + 1) };
  return escaped;
}

/** Makes a node show a text as Markdown. */
export function showMarkdown(node, text) {
  if (node.shownText === text) return;
  node.shownText = text;
  node.replaceChildren(...ranked(blocksOf(text)).map((block) => blockNode(block, 0)));
}

/** Headings come below the page's own, and none skips a rank. */
function ranked(blocks) {
  let rank = 2;
  return blocks.map((block) => (block.type === "heading" ? { ...block, rank: (rank = Math.min(rank + 1, block.level + 2, 6)) } : block));
}

function blockNode(block, depth) {
  switch (block.type) {
    case "heading":
      return el(block.rank ? `h${block.rank}` : "p", { class: `md-h${block.level}` }, inlineNodes(block.text));
    case "code":
      return codeBlock(block.text, block.language);
    case "rule":
      return el("hr", {});
    case "quote":
      return el("blockquote", {}, nested(block.lines, depth));
    case "list":
      return el(block.isOrdered ? "ol" : "ul", { class: "md-list", ...(block.isOrdered && block.start !== 1 ? { start: block.start } : {}) }, block.items.map((lines) => el("li", {}, itemNodes(lines, depth))));
    case "table":
      return el("div", { class: "md-table", tabIndex: 0, role: "group", "aria-label": "Table" }, el("table", {}, el("thead", {}, tableRow(block.head, "th")), el("tbody", {}, block.rows.map((row) => tableRow(row, "td")))));
    default:
      return el("p", {}, inlineNodes(block.text));
  }
}

function nested(lines, depth) {
  if (depth >= DEEPEST) return [lines.join("\n")];
  return readBlocks(lines).map((block) => blockNode(block, depth + 1));
}

/** An item of one paragraph needs no paragraph. */
function itemNodes(lines, depth) {
  const task = /^\[([ xX])\] /.exec(lines[0]);
  const mark = task ? [task[1] === " " ? "☐ " : "☑ "] : [];
  const rest = task ? [lines[0].slice(4), ...lines.slice(1)] : lines;
  const nodes = nested(rest, depth);
  const first = nodes[0];
  return first instanceof Element && first.tagName === "P" ? [...mark, ...first.childNodes, ...nodes.slice(1)] : [...mark, ...nodes];
}

function tableRow(cells, tag) {
  return el("tr", {}, cells.map((cell) => el(tag, {}, inlineNodes(cell))));
}

/** Code in its own letters, with a button that copies it. */
export function codeBlock(text, language = "") {
  return el(
    "div",
    { class: "code-block" },
    el("div", { class: "code-head" }, el("span", {}, language), copyButton(() => text)),
    el("pre", { tabIndex: 0, role: "group", "aria-label": language ? `Code, ${language}` : "Code" }, text),
  );
}

function inlineNodes(text) {
  return partNodes(inlineOf(text));
}

function partNodes(parts) {
  return parts.map((part) => {
    if (typeof part === "string") return part;
    switch (part.type) {
      case "code":
        return el("code", {}, part.text);
      case "link":
        return linkNode(part);
      case "struck":
        return el("s", {}, partNodes(part.parts));
      default:
        return el(part.type, {}, partNodes(part.parts));
    }
  });
}

/** A link is a button: it shows the whole address first. */
function linkNode({ address, parts, isImage }) {
  const inner = partNodes(parts);
  if (!safeAddress(address)) return el("span", { title: address }, isImage ? "image: " : null, inner);
  return el("button", { class: "link md-link", title: address, onclick: () => showLinks([address]) }, isImage ? "image: " : null, inner);
}
