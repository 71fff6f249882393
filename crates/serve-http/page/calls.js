// Every call of a session, past ones too, in a list that stays quick; the
// chosen one whole beside it.

import { el, keyed, setAttr, setText } from "./dom.js";
import { clock } from "./format.js";
import { partBody, startOf, stateOf, titleOf, tookOf } from "./part.js";
import { Record } from "./recorded.js";
import { store } from "./store.js";
import { VirtualList } from "./virtual.js";

const STATES = [["", "every state"], ["pending", "pending"], ["running", "running"], ["stopped", "done"], ["failed", "failed"]];

export function openCalls({ session }) {
  let chosen = null;
  const detail = el("section", { class: "call-detail", "aria-label": "The chosen call", hidden: true });
  const count = el("span", { class: "faint" });
  const filter = el("input", { type: "search", placeholder: "Filter calls", "aria-label": "Filter calls", spellcheck: false, autocomplete: "off", oninput: () => draw() });
  const tool = el("select", { class: "by-tool", "aria-label": "Tool", onchange: () => draw() });
  const state = el("select", { class: "by-state", "aria-label": "State", onchange: () => draw() }, STATES.map(([value, name]) => el("option", { value }, name)));
  const list = new VirtualList({ height: 28, label: "Calls", make: makeRow, update: updateRow });
  const node = el("div", { class: "calls" }, el("div", { class: "log-tools" }, filter, tool, state, count), el("div", { class: "calls-body" }, list.node, detail));

  function makeRow() {
    const row = el("div", { class: "call" });
    const button = el("button", { onclick: () => choose(row.item) });
    button.append(...["time", "dot", "tool", "what", "took"].map((name) => el("span", { class: name })));
    row.append(button);
    return row;
  }

  function updateRow(row, item) {
    if (row.item === item && row.chosen === chosen?.part.id) return;
    row.item = item;
    row.chosen = chosen?.part.id;
    const { message, part } = item;
    const [time, dot, tool, what, took] = row.firstChild.children;
    setText(time, clock(startOf(part, message)));
    setAttr(dot, "data-state", stateOf(part));
    setText(tool, part.tool);
    setText(what, titleOf(part));
    setText(took, tookOf(part));
    setAttr(row.firstChild, "aria-current", chosen?.part.id === part.id ? "true" : null);
  }

  async function choose(item) {
    chosen = item;
    draw();
    detail.hidden = false;
    const part = await record.whole(item.message, item.part).catch(() => item.part);
    if (chosen !== item) return;
    detail.replaceChildren(
      el("header", {}, el("strong", {}, part.tool), el("span", { class: "faint" }, `${part.callID} · ${stateOf(part)} ${tookOf(part)}`), el("span", { class: "grow" }), el("button", { "aria-label": "Close", onclick: close }, "×")),
      partBody(part),
    );
  }

  function close() {
    chosen = null;
    detail.hidden = true;
    draw();
  }

  const items = new Map();
  function draw() {
    const wanted = filter.value.trim().toLowerCase();
    const all = [];
    const tools = new Set();
    let total = 0;
    for (const message of record.messages) {
      for (const part of message.parts) {
        if (part.type !== "tool") continue;
        total++;
        tools.add(part.tool);
        if (tool.value && part.tool !== tool.value) continue;
        if (state.value && stateOf(part) !== state.value) continue;
        if (wanted && !`${part.tool} ${titleOf(part)} ${stateOf(part)}`.toLowerCase().includes(wanted)) continue;
        let item = items.get(part.id);
        if (item?.part !== part) items.set(part.id, (item = { message, part }));
        all.push(item);
      }
    }
    setText(count, `${all.length === total ? total : `${all.length} of ${total}`} calls${record.isWhole ? "" : "…"}`);
    keyed(tool, ["", ...[...tools].sort()], (name) => name, (name) => el("option", { value: name }, name || "every tool"));
    list.set(all);
    const asked = store.chosenCall && items.get(store.chosenCall);
    if (asked) {
      store.chosenCall = null;
      choose(asked);
      list.reveal(all.indexOf(asked));
    }
  }
  let due = false;
  const record = new Record(session, {
    brief: true,
    changed() {
      if (due) return;
      due = true;
      requestAnimationFrame(() => {
        due = false;
        draw();
      });
    },
  });
  record.loadAll();
  return {
    node,
    close() {
      record.close();
      list.close();
    },
  };
}
