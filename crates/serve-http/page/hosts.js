// The hosts of the server's project: whether each is connected, and of pools
// the workers and what runs there. Asked for only while the section is shown.

import { get } from "./api.js";
import { el, keyed, setAttr, setText } from "./dom.js";
import { elapsed, visible } from "./format.js";
import { store } from "./store.js";

/** How often hosts are asked for: a broker is connected to for each answer. */
const AGAIN = 5_000;

export function openHosts() {
  const list = el("ul", { class: "hosts" });
  const count = el("span", { class: "faint" });
  const node = el("section", { class: "home-part", "aria-label": "Hosts", hidden: true }, el("header", {}, el("h2", {}, "Hosts"), count), list);
  const ending = new AbortController();
  let due = 0;
  let isAsking = false;

  async function load() {
    clearTimeout(due);
    if (ending.signal.aborted) return;
    due = setTimeout(load, AGAIN);
    if (isAsking || document.hidden || store.connection !== "live") return;
    isAsking = true;
    const hosts = await get("/hosts", { signal: ending.signal }).catch(() => null);
    isAsking = false;
    if (!hosts || ending.signal.aborted) return;
    node.hidden = hosts.length === 0;
    setText(count, String(hosts.length));
    keyed(list, hosts, (host) => host.name, makeHost, updateHost);
  }

  const onVisible = () => document.hidden || load();
  document.addEventListener("visibilitychange", onVisible);
  return {
    node,
    update() {
      if (!due && store.connection === "live") load();
    },
    close() {
      ending.abort();
      clearTimeout(due);
      document.removeEventListener("visibilitychange", onVisible);
    },
  };
}

function makeHost() {
  const head = el("div", { class: "host-head" }, el("span", { class: "dot" }), el("h3", {}), el("span", { class: "host-labels" }), el("span", { class: "standing" }));
  return el("li", { class: "host" }, head, el("p", { class: "host-way" }), el("ul", { class: "workers" }));
}

function updateHost(item, host) {
  const [head, way, workers] = item.children;
  const [dot, name, labels, standing] = head.children;
  setAttr(dot, "data-state", dotOf(host));
  setText(name, visible(host.name));
  setLabels(labels, host.labels);
  setText(standing, standingOf(host));
  setAttr(standing, "class", host.standing === "unreached" ? "standing problem" : "standing");
  setText(way, visible(host.way));
  workers.hidden = !host.workers?.length;
  keyed(workers, host.workers ?? [], (worker) => worker.name, makeWorker, (node, worker) => updateWorker(node, worker, missing(host, worker)));
}

function dotOf(host) {
  switch (host.standing) {
    case "connected":
      return "running";
    case "lost":
      return "waiting";
    case "unreached":
      return "failed";
    case "pool":
      return host.workers.some((worker) => missing(host, worker).length === 0) ? "running" : "waiting";
    default:
      return "stopped";
  }
}

/** How a host stands, in a few words. */
function standingOf(host) {
  switch (host.standing) {
    case "connected":
      return `connected to ${visible(host.machine)} · ${counted(host.programs, "program")}`;
    case "lost":
      return `link lost ${elapsed((Date.now() - host.since) / 1000)} ago · ${counted(host.programs, "program")}`;
    case "unreached":
      return visible(host.error);
    case "pool": {
      const all = host.workers.length;
      const fitting = host.workers.filter((worker) => missing(host, worker).length === 0);
      const slots = fitting.reduce((sum, worker) => sum + worker.slots, 0);
      const running = fitting.reduce((sum, worker) => sum + worker.running, 0);
      if (all === 0) return "no workers";
      const workers = fitting.length === all ? counted(all, "worker") : `${fitting.length} of ${counted(all, "worker")} with its labels`;
      return `${workers} · ${running} of ${slots} slots in use`;
    }
    default:
      return "not connected; Windlass connects when a tool needs it";
  }
}

/** The labels of a host that a worker of its pool does not have. */
const missing = (host, worker) => host.labels.filter((label) => !worker.labels.includes(label));

const counted = (number, noun) => (number === 1 ? `1 ${noun}` : `${number} ${noun}s`);

function makeWorker() {
  const names = ["name", "slots", "load", "machine", "host-labels", "unfit", "draining"];
  const head = el("div", { class: "worker-head" }, ...names.map((name) => el("span", { class: name })));
  const programs = el("details", {}, el("summary", {}), el("ul", { class: "programs" }));
  return el("li", { class: "worker" }, head, programs);
}

function updateWorker(item, worker, lacking) {
  const [head, programs] = item.children;
  const [name, slots, load, machine, labels, unfit, draining] = head.children;
  setText(name, visible(worker.name));
  setText(slots, `${worker.running}/${worker.slots} slots`);
  setText(load, `load ${(worker.load / 1000).toFixed(2)} of ${worker.cpus}`);
  setText(machine, visible(worker.machine));
  setLabels(labels, worker.labels);
  setText(unfit, lacking.length ? `not used: lacks ${visible(lacking.join(", "))}` : "");
  setText(draining, worker.is_draining ? "draining" : "");
  programs.hidden = worker.programs.length === 0;
  const more = worker.running - worker.programs.length;
  setText(programs.firstChild, counted(worker.programs.length, "program") + (more > 0 ? ` of ${worker.running}` : ""));
  const numbered = worker.programs.map((program, number) => ({ ...program, number }));
  keyed(programs.lastChild, numbered, (program) => `${program.started} ${program.runtime} ${program.program} ${program.number}`, makeProgram, updateProgram);
}

function makeProgram(program) {
  return el("li", {}, el("code", {}, visible(program.program)), el("span", { class: "faint" }), el("span", { class: "faint" }, `for ${visible(program.runtime)}`));
}

function updateProgram(item, program) {
  setText(item.children[1], elapsed((Date.now() - program.started) / 1000));
}

function setLabels(node, labels) {
  keyed(node, [...new Set(labels)], (label) => label, (label) => el("span", { class: "badge" }, visible(label)));
}
