// Times, sizes and names in few letters.

export function elapsed(seconds) {
  if (seconds < 10) return `${Math.max(0, seconds).toFixed(1)} s`;
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} m ${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${String(minutes % 60).padStart(2, "0")}`;
  return `${Math.floor(hours / 24)} d`;
}

export function millis(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return elapsed(ms / 1000);
}

export function clock(ms) {
  return new Date(ms).toLocaleTimeString([], { hour12: false });
}

export function day(ms) {
  const then = new Date(ms);
  const today = new Date().toDateString() === then.toDateString();
  return today ? clock(ms) : then.toLocaleString([], { hour12: false, dateStyle: "short", timeStyle: "short" });
}

export function bytes(count) {
  if (count < 1024) return `${count} B`;
  if (count < 1 << 20) return `${(count / 1024).toFixed(1)} kB`;
  return `${(count / (1 << 20)).toFixed(1)} MB`;
}

/** The resource use of a handle, or an empty text. */
export function use(usage) {
  if (!usage) return "";
  const processes = usage.processes === 1 ? "1 process" : `${usage.processes} processes`;
  return `${elapsed(usage.cpu_secs)} CPU, ${bytes(usage.memory)}, ${processes}`;
}

export function folder(path) {
  const parts = path.split("/").filter(Boolean);
  return parts.at(-1) ?? "/";
}

/** The end of an id, which is what tells two of them apart. */
export function short(id) {
  return id.slice(-8);
}

/** A call in one line: its arguments as a person would write them. */
export function summary(input) {
  if (typeof input?.command === "string") return input.command;
  const rest = Object.entries(input ?? {}).filter(([name]) => name !== "action" && name !== "id");
  return rest.map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`).join("  ");
}

/** Text in which nothing is invisible or reorders its neighbours. */
export function visible(text) {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]/gu, (letter) => `\\u{${letter.codePointAt(0).toString(16)}}`);
}
