// The types of the wire. Generated from `schemas/` by `xtask/sdk/generate_types.py`: do not edit.

/** One of the options. */
export interface AnswerTypeSelect {
  Select: AnswerTypeSelectSelect;
}

export interface AnswerTypeSelectSelect {
  /** What may be answered, exactly one of these. */
  options: string[];
}

/** A question on its way to whoever answers it. */
export interface Ask {
  /** Names the asking. */
  ask: string;
  /** The call that it belongs to. */
  call?: string;
  /** The handle that it belongs to. */
  handle?: HandleId;
  /** The tool that asks. */
  tool: string;
  /** What it asks. */
  question: Question;
  /** The tool's words beside the question, such as the hunk that it asks about. */
  content?: string;
  /** The form that the question is a field of. */
  form?: QuestionForm;
  /** How it is shown to a person, where one is asked. */
  rendering?: RequestRendering;
}

/** What `await` found. */
export interface AwaitReply {
  /** The handles that have stopped. */
  completed: HandleView[];
  /** Those that have not, without their output. */
  pending: HandleView[];
  /** The conditions that came to hold. */
  matched?: Matched[];
  /** The conditions whose handle stopped first. */
  unmet?: Condition[];
  /** Those that wait for an answer that only the caller can give. */
  needs_answer?: HandleId[];
  /** The time was up first. */
  timed_out?: boolean;
}

/** The arguments of `await`. Everything given must hold. */
export interface AwaitRequest {
  /** At least one of these has stopped. */
  any?: string[];
  /** Every one of these has stopped. */
  all?: string[];
  /** Every one of these holds. */
  until?: Condition[];
  /** How long to wait at most; without it, as long as it takes. */
  timeout_secs?: number | null;
}

/** The replies to a batch. */
export interface BatchReply {
  /** The batch they answer. */
  batch: string;
  /** One reply per call, in call order. */
  replies: CallReply[];
  /** What the assistant had not been told yet. */
  notices?: Notice[];
}

/** The reply to one call. */
export interface CallReply {
  /** The call it answers. */
  id: string;
  /** What the assistant reads. */
  content: ReplyContent;
  /** The call was refused, or a one-shot failed. */
  is_error: boolean;
  /** The error of a one-shot beside its message. The content says the same in words. */
  error?: ErrorView;
}

/** One condition of `until`, as it is written: an id and one thing to wait for. */
export interface Condition {
  /** The handle. */
  id: string;
  /** A line of its output matches this regular expression. */
  pattern?: string;
  /** Only lines that come from now on count. */
  new?: boolean;
  /** It has printed nothing for this long. */
  idle_secs?: number;
  /** Something accepts connections on this local port. */
  port?: number;
  /** It waits for an answer or for input. */
  waiting?: boolean;
}

/** What becomes of these handles at the turn's end? */
export interface DriveEventInquire {
  event: "inquire";
  /** Names the inquiry. */
  ask: string;
  /** The handles that still run. */
  handles: TurnEndHandle[];
}

/** Events are gone that the driver has not read in time. */
export interface DriveEventMissed {
  event: "missed";
  /** How many. */
  count: number;
}

/** May this run? */
export interface DriveEventPermission {
  event: "permission";
  /** The request. */
  request: PermissionRequest;
}

/** A tool asks. */
export interface DriveEventQuestion extends Ask {
  event: "question";
}

/** A run of the driver's is to end soon. Its end is still reported. */
export interface DriveEventToolAbort {
  event: "tool_abort";
  /** The run. */
  run: string;
}

/** A run of the driver's has its answer. */
export interface DriveEventToolAnswer {
  event: "tool_answer";
  /** The run. */
  run: string;
  /** The question, by the id that the tool gave it. */
  question: string;
  /** The answer. */
  value: unknown;
}

/** A question that was told is no longer open, and not by an answer of the driver's. */
export interface DriveEventWithdrawn {
  event: "withdrawn";
  /** The question, by the id it was asked under. */
  ask: string;
}

/** A line was not understood; nothing else changed. */
export interface DriveOutputError {
  /** What would have been. */
  error: string;
}

/** The turn has ended. */
export interface DriveOutputTurnEnd {
  /** What became of its handles. */
  turn_end: TurnEndReport;
}

/** A call that the driver is to run. */
export interface DriverCall {
  event: "tool_call";
  /** Names the run in reports and orders. */
  run: string;
  /** The tool. */
  tool: string;
  /** The handle, unless it is a one-shot. */
  handle?: HandleId;
  /** The call's arguments. They fit the tool's parameters. */
  arguments: Record<string, unknown>;
}

/** The reply to a request: a value, or an error. */
export interface DriverReply {
  /** The request. */
  reply: string;
  /** The value that was asked for; `{}` where nothing was. */
  value?: DriverValue;
  /** The reason why the request was refused, and what would work. */
  error?: string;
}

/** It has failed. Nothing follows. */
export interface DriverReportError {
  report: "error";
  /** The error. */
  error: ToolError;
}

/** It has written a line, or several. */
export interface DriverReportOutput {
  report: "output";
  /** The text, without the newline at its end. */
  text: string;
}

/** It asks something and waits for the answer. */
export interface DriverReportQuestion {
  report: "question";
  /** The question. */
  question: Question;
  /** Words beside the question. */
  content?: string | null;
}

/** It has ended well. Nothing follows. */
export interface DriverReportResult {
  report: "result";
  /** Its result. */
  text: string;
}

/** It has done what it does at once, and goes on. A `spawn`, and an answer to a question, are replied to now. */
export interface DriverReportRunning {
  report: "running";
}

/** Adds a tool that the driver runs. */
export interface DriverRequestAddTool {
  op: "add_tool";
  /** Its name, as the model calls it. */
  name: string;
  /** A line for the model. */
  summary?: string | null;
  /** Details, given only on `describe_tools`. */
  description?: string | null;
  /** The JSON Schema of an object: its arguments. Default: it takes none. */
  parameters?: unknown;
  /** It can be spawned, and then lasts as a handle. */
  background?: boolean;
  /** Nobody is asked before it runs, unless the configuration says otherwise. */
  unattended?: boolean;
  /** How long a one-shot may take. Default: as the configuration says, else 600. */
  timeout_secs?: number | null;
  /** The fate of its handles at the turn's end. Default: the assistant is asked. */
  on_turn_end?: OnTurnEnd | null;
}

/** Tells every event of the session from now on. One that is followed already is followed from here. */
export interface DriverRequestFollow {
  op: "follow";
  /** The number of the event before the first one that is told. Default: the newest. */
  after?: number | null;
}

/** Every handle that can be read, and every one-shot that runs. */
export interface DriverRequestHandles {
  op: "handles";
}

/** The output of a handle from an offset on. The assistant's cursor does not move. */
export interface DriverRequestOutput {
  op: "output";
  /** The handle. */
  handle: HandleId;
  /** The offset of the first byte. Default: 0. */
  from?: number;
  /** The reply waits for output beyond the offset, or until the handle has stopped. */
  wait?: boolean;
  /** Only whole lines are told, without control sequences; the last one once the handle has stopped. */
  lines?: boolean;
}

/** The screen of a handle. */
export interface DriverRequestScreen {
  op: "screen";
  /** The handle. */
  handle: HandleId;
  /** The generation that the driver has seen. Default: all rows are told. */
  since?: number | null;
  /** The reply waits until the screen has changed since then, or the handle has stopped. */
  wait?: boolean;
}

/** The session. */
export interface DriverRequestSession {
  op: "session";
}

/** The tools that a model is offered. */
export interface DriverRequestTools {
  op: "tools";
  /** The dialect of their parameters. Default: `json-schema`. */
  dialect?: string | null;
}

/** Tells no more events. */
export interface DriverRequestUnfollow {
  op: "unfollow";
}

/** The screen of a handle. */
export interface DriverScreen {
  /** Grows with every change; names what the reader has seen. */
  generation: number;
  /** How many rows there are. */
  rows: number;
  /** How many columns there are. */
  cols: number;
  /** Row and column of the cursor, from 1 on. */
  cursor: [number, number];
  /** The program shows the cursor. */
  cursor_visible: boolean;
  /** How it is to be drawn; default: a block that does not blink. */
  cursor_look?: ScreenCursor;
  /** The program has the whole screen to itself. */
  full_screen: boolean;
  /** What the program wants of the keyboard. */
  modes: KeyboardModes;
  /** The window's title. */
  title?: string;
  /** The rows that changed. */
  changed: ScreenRow[];
  /** The handle has stopped: the screen does not change any more. */
  ended: boolean;
}

/** The session of a driver. */
export interface DriverSession {
  /** The session. */
  id: SessionId;
  /** The process of the runtime. */
  pid: number;
  /** The version of the runtime. */
  version: string;
  /** The project's root folder. */
  root: string;
  /** The driver needs no permission for anything. */
  trusted: boolean;
  /** The number of the newest event. */
  last_event: number;
}

/** How a tool failed, beside its message: that is the `result` of a handle's view, and the text of a one-shot's reply. */
export interface ErrorView {
  /** Trying again may help. */
  transient: boolean;
  /** The causes, where the tool reports them. */
  trace?: string[];
}

/** A file that came with a call's output. */
export interface FilePart {
  /** Names the part. */
  id: PartId;
  /** The session that called. */
  sessionID: SessionId;
  /** The message that holds the call. */
  messageID: MessageId;
  /** Its media type. */
  mime: string;
  /** Its name. */
  filename?: string;
  /** Where it is, or its bytes as a `data:` URL. */
  url: string;
  /** Where it came from, as its origin described it. */
  source?: unknown;
  type: "file";
}

/** A handle as somebody sees it who looks on. */
export interface HandleInfo {
  /** The handle. A one-shot has no handle; this is the id by which a person reads and ends it while it runs. */
  id: HandleId;
  /** Whether it is a handle or a one-shot. */
  kind: HandleKind;
  /** Its tool. */
  tool: string;
  /** Its state. */
  state: HandleState;
  /** The command that it runs, or its arguments. */
  command?: string;
  /** How long it has run, or ran. */
  elapsed_secs: number;
  /** How many bytes it has written. */
  written: number;
  /** It has a screen. */
  terminal: boolean;
  /** A person has taken it over. */
  locked: boolean;
  /** The last line of its output. */
  last_line?: string;
  /** What it asks, when waiting. */
  question?: Question;
  /** Its result of its own or its error message, when stopped. */
  result?: string;
  /** It stopped with an error. */
  failed?: boolean;
  /** The exit code of its process, when stopped with one other than 0. */
  exit_code?: number;
  /** The signal that ended its process, such as `SIGKILL`. */
  signal?: string;
  /** Its use of the machine now, where that is known. */
  usage?: HandleUse;
}

/** The use of the machine by a tool and everything that it has started. */
export interface HandleUse {
  /** CPU time in seconds. */
  cpu_secs: number;
  /** Bytes of memory. */
  memory: number;
  /** Processes that run. */
  processes: number;
}

/** How a handle stands, and what is new about it. Absent fields are left out. */
export interface HandleView {
  /** The handle. */
  id: HandleId;
  /** Its state. */
  state: HandleState;
  /** What it said that was not delivered yet. Of a handle that stopped well, the output is its `result`. */
  content?: string;
  /** What it asks, when waiting. */
  question?: Question;
  /** Set while the user is asked: that they are waited for, and the command by which they answer. */
  note?: string;
  /** Its output or its error message, when stopped. */
  result?: string;
  /** Set when it stopped badly. */
  error?: ErrorView;
  /** The exit code, when not 0. */
  exit_code?: number;
  /** The signal that ended it. */
  signal?: string;
  /** Who or what ended it, where the tool reported a result of its own all the same. */
  aborted?: string;
  /** How many processes an abort ended. */
  ended?: number;
  /** How much of the output was left out. */
  omitted_bytes?: number;
  /** Where all of the output can be read. */
  log?: string;
  /** The program is blocked at a prompt. */
  awaiting_input?: boolean;
  /** Where the cursor is, as row and column from 1 on, while the program has the whole screen to itself. */
  cursor?: [number, number];
}

/** What a program has asked of the keyboard and the mouse. */
export interface KeyboardModes {
  /** Arrow keys send `ESC O A` instead of `ESC [ A`. */
  application_cursor: boolean;
  /** Pasted text is to come between `ESC [200~` and `ESC [201~`. */
  bracketed_paste: boolean;
  /** The mouse is to be sent too. */
  mouse: boolean;
  /** The use of the mouse that is to be sent. */
  mouse_reports?: MouseReports;
  /** The mouse is to be sent as `ESC [ < … M`. */
  mouse_sgr?: boolean;
  /** Gaining and losing the focus is to be sent. */
  focus?: boolean;
}

/** A condition that came to hold. */
export interface Matched {
  /** The handle. */
  id: string;
  /** A line of its output matches this regular expression. */
  pattern?: string;
  /** Only lines that come from now on count. */
  new?: boolean;
  /** It has printed nothing for this long. */
  idle_secs?: number;
  /** Something accepts connections on this local port. */
  port?: number;
  /** It waits for an answer or for input. */
  waiting?: boolean;
  /** The line that matched. */
  line?: string;
}

/** One thing the assistant should know, delivered exactly once. */
export interface Notice {
  /** How much it matters. */
  level: NoticeLevel;
  /** What it is about. */
  kind: NoticeKind;
  /** The handle it concerns. */
  handle?: HandleId;
  /** The tool it concerns. */
  tool?: string;
  /** A sentence for the assistant. */
  text: string;
}

/** A piece of a handle's output. */
export interface OutputPiece {
  /** The offset of its first byte. */
  from: number;
  /** The offset after its last byte, where the next piece begins. */
  to: number;
  /** The text. Bytes that are not UTF-8 are told as U+FFFD. */
  text: string;
  /** How many bytes between the two offsets are no longer kept. */
  omitted_bytes?: number;
  /** The handle has stopped, and there is no output beyond this piece. */
  ended: boolean;
}

/** When a call started. */
export interface PartTime {
  /** Milliseconds since the epoch. */
  start: Millis;
}

/** When a call started and ended. */
export interface PartTimeWithEnd {
  /** Milliseconds since the epoch. */
  start: Millis;
  /** Milliseconds since the epoch. */
  end: Millis;
  /** When its output was dropped from the record. */
  compacted?: Millis;
}

/** A request for permission, as it is put to a person. */
export interface PermissionRequest {
  /** Names the request; begins with `per`. */
  id: PermissionId;
  /** The session that asks; begins with `ses`. */
  sessionID: SessionId;
  /** What kind of thing is asked for; a built-in tool's name. */
  permission: string;
  /** What would be done, one pattern each. */
  patterns: string[];
  /** The arguments and whatever else helps to decide. */
  metadata: Record<string, unknown>;
  /** What an "always" would remember. */
  always: string[];
  /** The call it is for. */
  tool?: PermissionToolContext;
}

/** The call that a permission is asked for. */
export interface PermissionToolContext {
  /** The message that holds the call. */
  messageID: MessageId;
  /** The call. */
  callID: string;
}

/** One question of a tool. A handle has at most one open at a time. */
export interface Question {
  /** Names the question among the tool's own, and keys its answer. */
  id: string;
  /** What is asked. */
  text: string;
  /** What to show before the question, such as a diff. */
  pre_amble?: string;
  /** What kind of answer is wanted. */
  answer_type: AnswerType;
  /** The answer to take when nobody can be asked. */
  default?: unknown;
  /** The answer is a secret: it goes from the person to the program and nowhere else. */
  secret?: boolean;
}

/** A form of several fields that a question is the first open field of. Whoever can show it whole answers the question with an object of all its fields. */
export interface QuestionForm {
  /** The text above the form. */
  message: string;
  /** The fields as a JSON Schema of a flat object, as MCP's elicitation has it. */
  schema: unknown;
}

/** One thing beside the command. */
export interface RenderedField {
  /** `cwd`, `env`, or another argument's name. */
  name: string;
  /** Its value. */
  lines: string[];
}

/** A request in plain text that is safe to show. Every string is one line. */
export interface RequestRendering {
  /** Who asks for what. */
  title: string;
  /** The tool's own words, before the request itself. */
  lead?: string[];
  /** The command that would run, or the question. */
  body: string[];
  /** Where and how it would run, and its other arguments. */
  fields?: RenderedField[];
  /** The patterns that an "always" would remember. */
  always?: string[];
}

/** How a cursor is drawn. */
export interface ScreenCursor {
  /** Its shape. */
  shape: ScreenCursorShape;
  /** Whether it blinks. */
  blinks: boolean;
}

/** One row of a screen. */
export interface ScreenRow {
  /** Its place, from 1 on. */
  row: number;
  /** Its text from left to right, without unstyled blanks at the end. */
  runs: ScreenRun[];
}

/** Neighbouring text that looks the same. Absent fields are how a terminal looks when nothing was said. */
export interface ScreenRun {
  /** The text; wide characters fill two columns. */
  text: string;
  /** The colour of the text. */
  fg?: ScreenColour;
  /** The colour behind it. */
  bg?: ScreenColour;
  /** Bold or bright. */
  bold?: boolean;
  /** Faint. */
  dim?: boolean;
  /** Slanted. */
  italic?: boolean;
  /** Underlined in any way. */
  underline?: boolean;
  /** How it is underlined, unless with a single straight line. */
  underline_kind?: ScreenUnderline;
  /** The address that the program has put under it, as it wrote it: it may be of any scheme. */
  link?: string;
  /** With foreground and background exchanged. */
  inverse?: boolean;
  /** There, but not to be seen. */
  hidden?: boolean;
  /** Struck through. */
  strikeout?: boolean;
}

/** A call that ended well. */
export interface StateCompleted {
  status: "completed";
  /** The arguments. */
  input: Record<string, unknown>;
  /** What the assistant read. */
  output: string;
  /** What to show for it. */
  title: string;
  /** Anything else worth keeping. */
  metadata: Record<string, unknown>;
  /** When it started and ended. */
  time: PartTimeWithEnd;
  /** Files that came with the output. */
  attachments?: FilePart[];
}

/** A call that ended with an error. */
export interface StateError {
  status: "error";
  /** The arguments. */
  input: Record<string, unknown>;
  /** What went wrong. */
  error: string;
  /** Anything else worth keeping. */
  metadata?: Record<string, unknown>;
  /** When it started and ended. */
  time: PartTimeWithEnd;
}

/** A call that has been created and does not run yet. */
export interface StatePending {
  status: "pending";
  /** The arguments. */
  input: Record<string, unknown>;
  /** The arguments as the model wrote them. */
  raw: string;
}

/** A call that runs. */
export interface StateRunning {
  status: "running";
  /** The arguments. */
  input: Record<string, unknown>;
  /** What to show for it. */
  title?: string;
  /** Anything else worth keeping. */
  metadata?: Record<string, unknown>;
  /** When it started. */
  time: PartTime;
}

/** A tool is being ended. */
export interface StreamedEventAborting {
  event: "update";
  /** The session it happened in. */
  session: SessionId;
  /** Its place in the session's journal. */
  number: number;
  /** When it happened. */
  at: Millis;
  type: "aborting";
  /** Its number within the session; one-shots have one too. */
  tool_number: number;
  /** The handle's id, unless it is a one-shot. */
  handle?: HandleId;
  /** The id by which a person finds it, if it is a one-shot. */
  one_shot?: HandleId;
  /** How many bytes of the tool's output preceded the event. */
  offset: number;
  /** By whom, or why. */
  reason: string;
}

/** A tool's question was answered. */
export interface StreamedEventAnswered extends ToolPlace {
  event: "update";
  /** The session it happened in. */
  session: SessionId;
  /** Its place in the session's journal. */
  number: number;
  /** When it happened. */
  at: Millis;
  type: "answered";
}

/** A tool asks something and waits. */
export interface StreamedEventAsked {
  event: "update";
  /** The session it happened in. */
  session: SessionId;
  /** Its place in the session's journal. */
  number: number;
  /** When it happened. */
  at: Millis;
  type: "asked";
  /** Its number within the session; one-shots have one too. */
  tool_number: number;
  /** The handle's id, unless it is a one-shot. */
  handle?: HandleId;
  /** The id by which a person finds it, if it is a one-shot. */
  one_shot?: HandleId;
  /** How many bytes of the tool's output preceded the event. */
  offset: number;
  /** What it asks. */
  question: Question;
}

/** A call came in. */
export interface StreamedEventCalled {
  event: "update";
  /** The session it happened in. */
  session: SessionId;
  /** Its place in the session's journal. */
  number: number;
  /** When it happened. */
  at: Millis;
  type: "called";
  /** The call. */
  call: string;
  /** Its tool. */
  tool: string;
  /** Its action, unless it is a one-shot. */
  action?: HandleAction;
  /** Its handle, unless it is a one-shot. */
  handle?: HandleId;
}

/** The session ended; nothing follows. */
export interface StreamedEventClosed {
  event: "update";
  /** The session it happened in. */
  session: SessionId;
  /** Its place in the session's journal. */
  number: number;
  /** When it happened. */
  at: Millis;
  type: "closed";
}

/** The assistant has been told, or a reply has made the notices needless. */
export interface StreamedEventDelivered {
  event: "update";
  /** The session it happened in. */
  session: SessionId;
  /** Its place in the session's journal. */
  number: number;
  /** When it happened. */
  at: Millis;
  type: "delivered";
  /** The numbers that the notices have in the journal. */
  notices: number[];
}

/** A person has taken a handle over. */
export interface StreamedEventLocked {
  event: "update";
  /** The session it happened in. */
  session: SessionId;
  /** Its place in the session's journal. */
  number: number;
  /** When it happened. */
  at: Millis;
  type: "locked";
  /** The handle. */
  handle: HandleId;
}

/** The assistant will be told this. */
export interface StreamedEventNoticed {
  event: "update";
  /** The session it happened in. */
  session: SessionId;
  /** Its place in the session's journal. */
  number: number;
  /** When it happened. */
  at: Millis;
  type: "noticed";
  /** What. */
  notice: Notice;
}

/** A call as it is recorded has changed; this is all of it. */
export interface StreamedEventPart {
  event: "update";
  /** The session it happened in. */
  session: SessionId;
  /** Its place in the session's journal. */
  number: number;
  /** When it happened. */
  at: Millis;
  type: "part";
  /** The part. */
  part: ToolPart;
}

/** A person is asked for permission. */
export interface StreamedEventPermission {
  event: "update";
  /** The session it happened in. */
  session: SessionId;
  /** Its place in the session's journal. */
  number: number;
  /** When it happened. */
  at: Millis;
  type: "permission";
  /** The request. */
  request: PermissionRequest;
}

/** A permission was decided without asking anybody. */
export interface StreamedEventPermissionDecided {
  event: "update";
  /** The session it happened in. */
  session: SessionId;
  /** Its place in the session's journal. */
  number: number;
  /** When it happened. */
  at: Millis;
  type: "permission_decided";
  /** What would have been asked. */
  request: PermissionRequest;
  /** The reply. */
  reply?: PermissionReply;
}

/** The request was replied to, or withdrawn when there is no reply. */
export interface StreamedEventPermissionReplied {
  event: "update";
  /** The session it happened in. */
  session: SessionId;
  /** Its place in the session's journal. */
  number: number;
  /** When it happened. */
  at: Millis;
  type: "permission_replied";
  /** The request. */
  permission: PermissionId;
  /** The reply. */
  reply?: PermissionReply;
}

/** A question is on its way to whoever answers it. */
export interface StreamedEventQuestion extends Ask {
  event: "update";
  /** The session it happened in. */
  session: SessionId;
  /** Its place in the session's journal. */
  number: number;
  /** When it happened. */
  at: Millis;
  type: "question";
}

/** A question was answered, or withdrawn. */
export interface StreamedEventQuestionClosed {
  event: "update";
  /** The session it happened in. */
  session: SessionId;
  /** Its place in the session's journal. */
  number: number;
  /** When it happened. */
  at: Millis;
  type: "question_closed";
  /** The asking. */
  ask: string;
}

/** A call was answered. */
export interface StreamedEventReplied {
  event: "update";
  /** The session it happened in. */
  session: SessionId;
  /** Its place in the session's journal. */
  number: number;
  /** When it happened. */
  at: Millis;
  type: "replied";
  /** The call. */
  call: string;
  /** It was refused or failed. */
  is_error: boolean;
}

/** A tool runs. */
export interface StreamedEventStarted extends ToolPlace {
  event: "update";
  /** The session it happened in. */
  session: SessionId;
  /** Its place in the session's journal. */
  number: number;
  /** When it happened. */
  at: Millis;
  type: "started";
}

/** A tool has ended. */
export interface StreamedEventStopped {
  event: "update";
  /** The session it happened in. */
  session: SessionId;
  /** Its place in the session's journal. */
  number: number;
  /** When it happened. */
  at: Millis;
  type: "stopped";
  /** Its number within the session; one-shots have one too. */
  tool_number: number;
  /** The handle's id, unless it is a one-shot. */
  handle?: HandleId;
  /** The id by which a person finds it, if it is a one-shot. */
  one_shot?: HandleId;
  /** How many bytes of the tool's output preceded the event. */
  offset: number;
  /** It ended badly. */
  failed: boolean;
  /** Its error's message. */
  message?: string;
}

/** The turn ended. */
export interface StreamedEventTurnEnded {
  event: "update";
  /** The session it happened in. */
  session: SessionId;
  /** Its place in the session's journal. */
  number: number;
  /** When it happened. */
  at: Millis;
  type: "turn_ended";
}

/** A person has handed a handle back. */
export interface StreamedEventUnlocked {
  event: "update";
  /** The session it happened in. */
  session: SessionId;
  /** Its place in the session's journal. */
  number: number;
  /** When it happened. */
  at: Millis;
  type: "unlocked";
  /** The handle. */
  handle: HandleId;
}

/** A tool wrote. */
export interface StreamedEventWrote {
  event: "update";
  /** The session it happened in. */
  session: SessionId;
  /** Its place in the session's journal. */
  number: number;
  /** When it happened. */
  at: Millis;
  type: "wrote";
  /** Its number within the session; one-shots have one too. */
  tool_number: number;
  /** The handle's id, unless it is a one-shot. */
  handle?: HandleId;
  /** The id by which a person finds it, if it is a one-shot. */
  one_shot?: HandleId;
  /** How many bytes of the tool's output preceded the event. */
  offset: number;
  /** How many bytes. */
  bytes: number;
}

/** Why a tool failed. */
export interface ToolError {
  /** What went wrong, for the assistant to read. */
  message: string;
  /** The causes, outermost first. */
  trace?: string[];
  /** Trying again may help. */
  transient?: boolean;
}

/** A tool as a model is offered it. */
export interface ToolOffer {
  /** Its name. */
  name: string;
  /** A line for the model. */
  description: string;
  /** The JSON Schema of its parameters, in the dialect that was asked for. */
  parameters: unknown;
}

/** One call in the record. */
export interface ToolPart {
  /** Names the part. */
  id: PartId;
  /** The session that called. */
  sessionID: SessionId;
  /** The message that holds the call. */
  messageID: MessageId;
  /** The call. */
  callID: string;
  /** The tool's name. */
  tool: string;
  /** How far the call has come. */
  state: PartState;
  /** Anything else worth keeping. */
  metadata?: Record<string, unknown>;
  type: "tool";
}

/** Which tool something happened to. */
export interface ToolPlace {
  /** Its number within the session; one-shots have one too. */
  tool_number: number;
  /** The handle's id, unless it is a one-shot. */
  handle?: HandleId;
  /** The id by which a person finds it, if it is a one-shot. */
  one_shot?: HandleId;
  /** How many bytes of the tool's output preceded the event. */
  offset: number;
}

/** A handle that still runs when the turn ends. */
export interface TurnEndHandle {
  /** The handle. */
  id: HandleId;
  /** Its tool. */
  tool: string;
  /** Its state. */
  state: HandleState;
  /** How long it has run. */
  elapsed_secs: number;
  /** The end of its output. */
  output_preview: string;
  /** Its open question, when waiting. */
  question?: Question;
}

/** What became of the handles at a turn's end. */
export interface TurnEndReport {
  /** Those that were ended. */
  ended: HandleId[];
  /** Those that were waited for and have stopped. */
  awaited: HandleId[];
  /** Those that the inquiry should have decided on and did not, because it failed. They were ended. */
  undecided?: HandleId[];
  /** Those that go on, because the session keeps them between its turns. */
  kept?: HandleId[];
  /** What came of those that the inquiry said to wait for. */
  results?: HandleView[];
}

/** What kind of answer a question wants. */
export type AnswerType = "Boolean" | AnswerTypeSelect | "Text";

/** Something that the driver is asked or told. */
export type DriveEvent = DriveEventPermission | DriveEventQuestion | DriveEventWithdrawn | DriveEventInquire | DriverCall | DriveEventToolAnswer | DriveEventToolAbort | StreamedEvent | DriveEventMissed;

/** A line to the driver. */
export type DriveOutput = BatchReply | DriveOutputTurnEnd | DriveEvent | DriverReply | DriveOutputError;

/** A report of the driver about one of its runs. */
export type DriverReport = DriverReportRunning | DriverReportOutput | DriverReportQuestion | DriverReportResult | DriverReportError;

/** A request of the driver. */
export type DriverRequest = DriverRequestSession | DriverRequestTools | DriverRequestHandles | DriverRequestScreen | DriverRequestOutput | DriverRequestAddTool | DriverRequestFollow | DriverRequestUnfollow;

/** The value of a reply, by the request. */
export type DriverValue = DriverSession | ToolOffer[] | HandleInfo[] | DriverScreen | OutputPiece | Record<string, unknown>;

/** What may be done with a handle.
`spawn`: Start a tool under an id.
`fetch`: Read what is new.
`apply`: Send input, or answer the open question.
`abort`: End it, tree and all. */
export type HandleAction = "spawn" | "fetch" | "apply" | "abort";

/** A handle's id, chosen by the assistant: 1 to 64 of `A-Z a-z 0-9 _ . -`. */
export type HandleId = string;

/** The two kinds of running tools.
`handle`: The assistant drives it.
`one_shot`: A call runs it to its end. It is listed only while it runs. */
export type HandleKind = "handle" | "one_shot";

/** The word for a handle's state.
`pending`: The id is taken and nothing runs yet.
`running`: It runs.
`waiting`: It waits for an answer.
`stopped`: It has ended. */
export type HandleState = "pending" | "running" | "waiting" | "stopped";

/** Names a message of a session; begins with `msg`. */
export type MessageId = string;

/** Milliseconds since the epoch; read from any JSON number, written whole. */
export type Millis = number;

/** The use of the mouse that a program wants to hear of. Each includes the one before it.
`presses`: Buttons that are pressed.
`clicks`: Buttons that are let go, and the wheel.
`drags`: Movements while a button is down.
`motion`: All movements. */
export type MouseReports = "presses" | "clicks" | "drags" | "motion";

/** What a notice is about.
`success`: A handle stopped well.
`failure`: A handle stopped with an error.
`waiting`: A handle waits for an answer.
`content`: A running handle has new output.
`left_running`: A one-shot left processes running.
`kept`: A handle of an earlier runtime: it runs on, or how it ended.
`server`: A server that tools depend on came or went.
`record`: The record cannot be written, or can be again.
`edited`: A person changed the arguments of a call before it ran.
`trust`: The project's own tools are not there until the user trusts them, or are there now.
`sandbox`: A person lets a handle that its sandbox has denied something run again. */
export type NoticeKind = "success" | "failure" | "waiting" | "content" | "left_running" | "kept" | "server" | "record" | "edited" | "trust" | "sandbox";

/** How much a notice matters.
`info`: Good to know.
`warning`: Something may want attention.
`error`: Something failed.
`critical`: The model is interrupted for it. */
export type NoticeLevel = "info" | "warning" | "error" | "critical";

/** What becomes of a handle that still runs when the turn ends.
`inquire`: The assistant is asked, handle by handle.
`await`: It is waited for.
`abort`: It is ended. */
export type OnTurnEnd = "inquire" | "await" | "abort";

/** Names a part of a message; begins with `prt`. */
export type PartId = string;

/** How far a recorded call has come. */
export type PartState = StatePending | StateRunning | StateCompleted | StateError;

/** Names a permission request; begins with `per`. */
export type PermissionId = string;

/** A person's reply to a permission request.
`once`: This time.
`always`: This time, and whenever the request's `always` patterns cover it.
`reject`: No. */
export type PermissionReply = "once" | "always" | "reject";

/** What the assistant reads in reply to a call. */
export type ReplyContent = unknown;

/** A colour: a number of the terminal's 256, or red, green and blue. */
export type ScreenColour = number | number[];

/** The shape of a cursor.
`block`: A whole cell.
`underline`: A line under the character.
`bar`: A line before the character. */
export type ScreenCursorShape = "block" | "underline" | "bar";

/** A line under text other than a single straight one.
`double`: Two lines.
`curly`: A wave.
`dotted`: Dots.
`dashed`: Dashes. */
export type ScreenUnderline = "double" | "curly" | "dotted" | "dashed";

/** Names a session; begins with `ses`. */
export type SessionId = string;

/** One event of the event stream. */
export type StreamedEvent = StreamedEventCalled | StreamedEventReplied | StreamedEventPart | StreamedEventStarted | StreamedEventWrote | StreamedEventAsked | StreamedEventAnswered | StreamedEventAborting | StreamedEventStopped | StreamedEventPermission | StreamedEventPermissionReplied | StreamedEventPermissionDecided | StreamedEventQuestion | StreamedEventQuestionClosed | StreamedEventNoticed | StreamedEventDelivered | StreamedEventLocked | StreamedEventUnlocked | StreamedEventTurnEnded | StreamedEventClosed;
