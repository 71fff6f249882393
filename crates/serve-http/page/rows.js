// The rows of a timeline: lanes that do not overlap in time share a row, so
// that thousands of calls stay a picture.

/** The maximum number of handles with separate rows. */
const OWN_ROWS = 40;
/** Between two lanes of a row there is at least this part of the whole time. */
const GAP = 0.004;

/**
 * Puts lanes into rows: `{ label, lanes, isShared }`. `isWanted(lane)` leaves
 * lanes out.
 */
export function rowsOf(timeline, isWanted = () => true) {
  const lanes = timeline.lanes.filter(isWanted);
  const handles = lanes.filter((lane) => lane.handle);
  const gap = (timeline.to - timeline.from) * GAP;
  const rows = [];
  if (handles.length <= OWN_ROWS) rows.push(...handles.map((lane) => ({ label: lane.handle, lanes: [lane], isShared: false })));
  else rows.push(...shared("handles", handles, gap));
  const byTool = new Map();
  for (const lane of lanes) {
    if (lane.handle) continue;
    if (!byTool.has(lane.label)) byTool.set(lane.label, []);
    byTool.get(lane.label).push(lane);
  }
  for (const [tool, calls] of byTool) {
    if (calls.length === 1) rows.push({ label: tool, lanes: calls, isShared: false });
    else rows.push(...shared(tool, calls, gap));
  }
  return rows;
}

/** How many rows calls of one tool may have; more of them are drawn over each other. */
const ROWS_PER_TOOL = 12;

function shared(label, lanes, gap) {
  const rows = [];
  const ordered = [...lanes].sort((one, other) => fromOf(one) - fromOf(other));
  for (const lane of ordered) {
    const free = rows.find((row) => row.end <= fromOf(lane));
    const row = free ?? (rows.length < ROWS_PER_TOOL ? undefined : rows.reduce((least, row) => (row.end < least.end ? row : least)));
    if (row) {
      row.lanes.push(lane);
      row.end = Math.max(row.end, toOf(lane) + gap);
    } else rows.push({ label, lanes: [lane], isShared: true, end: toOf(lane) + gap });
  }
  return rows.map(({ label, lanes }, index) => ({ label: index ? "" : `${label} (${ordered.length})`, lanes, isShared: true }));
}

export const fromOf = (lane) => lane.spans[0]?.from ?? lane.end?.at ?? 0;
export const toOf = (lane) => lane.spans.reduce((last, span) => Math.max(last, span.to), lane.end?.at ?? 0);
export const hasFailed = (lane) => lane.end?.state === "failed";

/** How long a lane ran, in milliseconds. */
export const timeOf = (lane) => toOf(lane) - fromOf(lane);

/** How many lanes begin in each of so many parts of the time, and how many of them failed. */
export function densityOf(timeline, lanes, parts) {
  const bins = Array.from({ length: parts }, () => ({ count: 0, failed: 0 }));
  const span = timeline.to - timeline.from;
  for (const lane of lanes) {
    const at = Math.min(parts - 1, Math.max(0, Math.floor(((fromOf(lane) - timeline.from) / span) * parts)));
    bins[at].count++;
    if (hasFailed(lane)) bins[at].failed++;
  }
  return bins;
}
