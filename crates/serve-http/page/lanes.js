// The timeline as data: one lane per handle and call, with what it was doing
// when. Made of a session's parts and, where it still lives, its events.

/**
 * Gives `{ lanes, batches, turns, awaits, from, to }`. A lane is
 * `{ key, label, handle?, part?, spans: [{ state, from, to }], marks: [{ at, text }] }`.
 */
export function lanesOf({ messages, events, isLive, now, ended }) {
  const parts = messages.flatMap((message) =>
    message.parts.filter((part) => part.type === "tool").map((part) => ({ part, message, ...timesOf(part, message) })),
  );
  const timeline = { lanes: [], batches: [], turns: [], awaits: [], from: Infinity, to: 0 };
  const handles = new Handles(timeline, isLive ? now : (ended ?? null));
  for (const item of parts) {
    const { action, handle } = item.part.metadata ?? {};
    if (item.part.tool === "await") awaits(timeline, item, now);
    else if (action === "spawn") handles.spawned(item);
    else if (handle) handles.touched(item, action);
    else oneShot(timeline, item, now);
  }
  handles.refine(events);
  turns(timeline, messages, events);
  permissions(timeline, events, now);
  handles.finish();
  for (const message of messages) batch(timeline, message, now);
  bound(timeline, now);
  return timeline;
}

/** A person's message begins a turn; its end is marked if it is known. */
function turns(timeline, messages, events) {
  const began = messages.filter(({ info, parts }) => info.role === "user" && parts.some((part) => part.type === "text" && part.text.trim())).map(({ info }) => info.time.created);
  const ended = events.filter(({ type }) => type === "turn_ended").map(({ at }) => at);
  timeline.turns = [...new Set([...began, ...ended])].sort((one, other) => one - other);
}

function timesOf(part, message) {
  const { time, status } = part.state;
  const start = time?.start ?? message.info.time.created;
  return { start, end: time?.end ?? (status === "pending" || status === "running" ? null : start), status };
}

function oneShot(timeline, { part, start, end, status }, now) {
  const spans = [{ state: end || status === "running" ? "running" : "pending", from: start, to: end ?? now }];
  const lane = { key: part.id, label: part.tool, detail: part.state.input?.command ?? part.state.title, part, call: part.callID, spans, marks: [] };
  if (end) lane.end = { at: end, state: status === "error" ? "failed" : "stopped" };
  timeline.lanes.push(lane);
}

function awaits(timeline, { part, start, end }, now) {
  const { any = [], all = [], until = [] } = part.state.input ?? {};
  const ids = [...any, ...all, ...until.map((condition) => condition.id)].filter(Boolean);
  timeline.awaits.push({ part, from: start, to: end ?? now, isOpen: !end, handles: [...new Set(ids)] });
}

/** Handles by the order of their spawns: an id may be used again. */
class Handles {
  #timeline;
  #end;
  #byId = new Map();

  constructor(timeline, end) {
    this.#timeline = timeline;
    this.#end = end;
  }

  spawned({ part, start, end, status }) {
    const { handle } = part.metadata;
    const lane = { key: part.id, label: handle, detail: part.state.input?.command ?? part.state.title, handle, part, call: part.callID, spans: [], marks: [], began: start, stopped: null, changes: [] };
    if (status === "error") lane.stopped = { at: end, failed: true };
    else this.#told(lane, part, end);
    this.#timeline.lanes.push(lane);
    const lanes = this.#byId.get(handle) ?? [];
    lanes.push(lane);
    this.#byId.set(handle, lanes);
  }

  touched({ part, start, end }, action) {
    const lane = this.#at(part.metadata.handle, start);
    if (!lane) return;
    lane.marks.push({ at: start, text: action, part });
    this.#told(lane, part, end);
  }

  /** A reply that tells of the end is the latest that it can have been. */
  #told(lane, part, end) {
    const output = part.state.output ?? "";
    if (lane.stopped || !output.includes('"state":"stopped"')) return;
    lane.stopped = { at: end, failed: output.includes('"error":{') };
  }

  #at(handle, time) {
    return (this.#byId.get(handle) ?? []).findLast((lane) => lane.began <= time + 1) ?? null;
  }

  /** Events have exact times for changes that replies report later. */
  refine(events) {
    for (const event of events) {
      if (!event.handle || !["started", "asked", "answered", "stopped", "locked", "unlocked"].includes(event.type)) continue;
      const lane = this.#at(event.handle, event.at);
      if (!lane) continue;
      if (event.type === "stopped") lane.stopped = { at: event.at, failed: event.failed };
      else if (event.type === "locked" || event.type === "unlocked") lane.marks.push({ at: event.at, text: event.type === "locked" ? "a person took it over" : "handed back" });
      else lane.changes.push({ at: event.at, state: event.type === "asked" ? "waiting" : "running" });
    }
  }

  finish() {
    for (const lanes of this.#byId.values()) {
      lanes.forEach((lane, index) => {
        const next = lanes[index + 1]?.began;
        const end = lane.stopped?.at ?? next ?? this.#end ?? lane.began;
        let state = lane.changes.length ? "pending" : "running";
        let from = lane.began;
        for (const change of lane.changes) {
          if (change.at > from) lane.spans.push({ state, from, to: change.at });
          [state, from] = [change.state, Math.max(from, change.at)];
        }
        lane.spans.push({ state, from, to: Math.max(end, from) });
        if (lane.stopped) lane.end = { at: Math.max(end, from), state: lane.stopped.failed ? "failed" : "stopped" };
      });
    }
  }
}

/** A call that waits for a permission waits for a person. */
function permissions(timeline, events, now) {
  const asked = new Map();
  const add = (request, from, to) => {
    const lane = timeline.lanes.find((other) => other.call && other.call === request.tool?.callID && other.part.messageID === request.tool?.messageID);
    lane?.spans.push({ state: "waiting", from, to, text: "waits for a permission" });
    lane?.changes?.push({ at: to, state: "running" });
  };
  for (const event of events) {
    if (event.type === "permission") asked.set(event.request.id, event);
    else if (event.type === "permission_replied" && asked.has(event.permission)) {
      const begun = asked.get(event.permission);
      asked.delete(event.permission);
      add(begun.request, begun.at, event.at);
    }
  }
  for (const begun of asked.values()) add(begun.request, begun.at, now);
}

function batch(timeline, message, now) {
  const calls = message.parts.filter((part) => part.type === "tool");
  if (!calls.length) return;
  const times = calls.map((part) => timesOf(part, message));
  timeline.batches.push({ from: Math.min(...times.map(({ start }) => start)), to: Math.max(...times.map(({ end }) => end ?? now)), count: calls.length });
}

function bound(timeline, now) {
  for (const lane of timeline.lanes) {
    for (const span of lane.spans) {
      timeline.from = Math.min(timeline.from, span.from);
      timeline.to = Math.max(timeline.to, span.to);
    }
  }
  for (const wait of timeline.awaits) {
    timeline.from = Math.min(timeline.from, wait.from);
    timeline.to = Math.max(timeline.to, wait.to);
  }
  if (timeline.from === Infinity) timeline.from = now - 1000;
  timeline.to = Math.max(timeline.to, timeline.from + 1000);
}
