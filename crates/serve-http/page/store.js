// What the page knows: sessions, their handles, and what is asked. Whoever
// shows some of it says so with `onChange` and is called once per frame.

export const store = {
  /** By id: `{ info, handles: Map }`; a handle is `{ info, at }`. */
  sessions: new Map(),
  /** By id: permission requests and questions that wait for a person. */
  asks: new Map(),
  /** Kept handles whose runtime is gone: `{ info, at }`. */
  held: [],
  /** Sessions of the record, the newest first. */
  past: [],
  /** `connecting`, `live`, `gone`, `stale` or `none` (no token). */
  connection: "connecting",
  /** Handles that this page has taken over, by `session/handle`. */
  locks: new Map(),
  /** Handles that this page takes over, until the stream tells of it. Somebody else's lock is freed before that. */
  taking: new Set(),
  /** What is shown: `{ session, handle, tab }`. */
  shown: { session: null, handle: null, tab: null },
  /** A call to open in the list of calls. */
  chosenCall: null,
};

const listeners = new Set();
let due = false;

export function onChange(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Something is not as it was. */
export function changed() {
  if (due) return;
  due = true;
  const tell = () => {
    due = false;
    for (const listener of listeners) listener();
  };
  // A page in the background draws no frames, and should not lag for that.
  if (document.hidden) setTimeout(tell, 200);
  else requestAnimationFrame(tell);
}

export function handleOf(session, handle) {
  return store.sessions.get(session)?.handles.get(handle) ?? null;
}

/** How long a handle has run, or ran, by now. */
export function elapsedOf(handle) {
  const { info, at } = handle;
  const since = info.state === "stopped" ? 0 : (performance.now() - at) / 1000;
  return info.elapsed_secs + since;
}

/** What waits for a person in a session. */
export function asksOf(session) {
  return [...store.asks.values()].filter((ask) => ask.session === session);
}

/** Whether a handle waits for a person: by its question, or by the permission to start. */
export function needsYou(session, info) {
  if (info.state === "stopped") return false;
  return asksOf(session).some((ask) =>
    ask.kind === "question" ? ask.handle === info.id : info.state === "pending" && (ask.request.metadata.action === "spawn" || ask.request.metadata.handle === info.id),
  );
}

export const lockKey = (session, handle) => `${session}/${handle}`;
