// The types of the wire. Generated from `schemas/` by `xtask/sdk/generate_types.py`: do not edit.

/** One of the options. */
export interface AnswerTypeSelect {
  Select: AnswerTypeSelectSelect;
}

export interface AnswerTypeSelectSelect {
  /** The valid answers. */
  options: string[];
}

/** A question that waits for an answer. */
export interface Ask {
  /** The question's id in the session. */
  ask: string;
  /** The call that it belongs to. */
  call?: string;
  /** The handle that it belongs to. */
  handle?: HandleId;
  /** The tool that asks. */
  tool: string;
  /** The question itself. */
  question: Question;
  /** The tool's text that belongs to the question, such as the hunk that it asks about. */
  content?: string;
  /** The form that the question is a field of. */
  form?: QuestionForm;
  /** The form in which a person sees it, if a person is asked. */
  rendering?: RequestRendering;
}

/** The result of an `await`. */
export interface AwaitReply {
  /** The handles that have stopped. */
  completed: HandleView[];
  /** Those that have not, without their output. */
  pending: HandleView[];
  /** The conditions that came to hold. */
  matched?: Matched[];
  /** The conditions whose handle stopped first. */
  unmet?: Condition[];
  /** Handles whose question only the caller can answer. */
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
  /** The longest time to wait; default: no limit. */
  timeout_secs?: number | null;
}

/** The replies to a batch. */
export interface BatchReply {
  /** The batch they answer. */
  batch: string;
  /** One reply per call, in call order. */
  replies: CallReply[];
  /** Notices that the assistant has not received yet. */
  notices?: Notice[];
}

/** The reply to one call. */
export interface CallReply {
  /** The call it answers. */
  id: string;
  /** The text or object for the assistant. */
  content: ReplyContent;
  /** The call was refused, or a one-shot failed. */
  is_error: boolean;
  /** Error details of a one-shot beside its message. The content has them as text. */
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

/** Asks for decisions about these handles at the turn's end. */
export interface DriveEventInquire {
  event: "inquire";
  /** The inquiry's id. */
  ask: string;
  /** The handles that still run. */
  handles: TurnEndHandle[];
}

/** Events were dropped because the driver did not read them in time. */
export interface DriveEventMissed {
  event: "missed";
  /** The number of dropped events. */
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

/** A run of the driver must end soon. Its end is still reported. */
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

/** A question is closed, and not by an answer of the driver. */
export interface DriveEventWithdrawn {
  event: "withdrawn";
  /** The question, by the id it was asked under. */
  ask: string;
}

/** A line was not understood; nothing else changed. */
export interface DriveOutputError {
  /** The error, with a line that would work. */
  error: string;
}

/** The turn has ended. */
export interface DriveOutputTurnEnd {
  /** The report on its handles. */
  turn_end: TurnEndReport;
}

/** A call that the driver must run. */
export interface DriverCall {
  event: "tool_call";
  /** The run's id, used in reports and orders. */
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
  /** The requested value; `{}` if the request has none. */
  value?: DriverValue;
  /** The reason for the refusal, and a request that would work. */
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

/** It finished successfully. Nothing follows. */
export interface DriverReportResult {
  report: "result";
  /** Its result. */
  text: string;
}

/** The first step is done and the run continues. Windlass now replies to the `spawn`, or to the answer of a question. */
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
  /** The JSON Schema of its arguments, an object. Default: no arguments. */
  parameters?: unknown;
  /** It can be spawned and then runs as a handle. */
  background?: boolean;
  /** It runs without asking a person, unless the configuration says otherwise. */
  unattended?: boolean;
  /** Time limit of a one-shot in seconds. Default: the configured one, else 600. */
  timeout_secs?: number | null;
  /** The fate of its handles at the turn's end. Default: the assistant is asked. */
  on_turn_end?: OnTurnEnd | null;
}

/** Sends every event of the session from now on. Following a followed session again restarts at this point. */
export interface DriverRequestFollow {
  op: "follow";
  /** Events after this number are sent. Default: the newest. */
  after?: number | null;
}

/** Every readable handle, and every running one-shot. */
export interface DriverRequestHandles {
  op: "handles";
}

/** The output of a handle from an offset. The assistant's cursor does not move. */
export interface DriverRequestOutput {
  op: "output";
  /** The handle. */
  handle: HandleId;
  /** The offset of the first byte. Default: 0. */
  from?: number;
  /** Delays the reply until there is output beyond the offset, or the handle has stopped. */
  wait?: boolean;
  /** Sends only whole lines, without control sequences; an unfinished last line is sent once the handle has stopped. */
  lines?: boolean;
}

/** The screen of a handle. */
export interface DriverRequestScreen {
  op: "screen";
  /** The handle. */
  handle: HandleId;
  /** The generation that the driver has seen. Default: all rows are sent. */
  since?: number | null;
  /** Delays the reply until the screen has changed since then, or the handle has stopped. */
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
  /** A counter that grows with every change; a reader names the last one it has seen. */
  generation: number;
  /** The number of rows. */
  rows: number;
  /** The number of columns. */
  cols: number;
  /** Row and column of the cursor, from 1 on. */
  cursor: [number, number];
  /** The program shows the cursor. */
  cursor_visible: boolean;
  /** The cursor's look; default: a block that does not blink. */
  cursor_look?: ScreenCursor;
  /** The program has the whole screen to itself. */
  full_screen: boolean;
  /** The keyboard modes that the program has set. */
  modes: KeyboardModes;
  /** The window's title. */
  title?: string;
  /** The rows that changed. */
  changed: ScreenRow[];
  /** The handle has stopped: the screen no longer changes. */
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

/** Details of a tool's error, beside its message. The message is the `result` of a handle's view, or the text of a one-shot's reply. */
export interface ErrorView {
  /** Trying again may help. */
  transient: boolean;
  /** The causes, where the tool reports them. */
  trace?: string[];
}

/** A file that came with a call's output. */
export interface FilePart {
  /** The part's id. */
  id: PartId;
  /** The session that called. */
  sessionID: SessionId;
  /** The message that holds the call. */
  messageID: MessageId;
  /** Its media type. */
  mime: string;
  /** Its name. */
  filename?: string;
  /** Its location, or its content as a `data:` URL. */
  url: string;
  /** Its origin, as the origin described it. */
  source?: unknown;
  type: "file";
}

/** A handle as an observer sees it. */
export interface HandleInfo {
  /** The handle's id. A one-shot has no handle; this id identifies it while it runs. */
  id: HandleId;
  /** Whether it is a handle or a one-shot. */
  kind: HandleKind;
  /** Its tool. */
  tool: string;
  /** Its state. */
  state: HandleState;
  /** The command that it runs, or its arguments. */
  command?: string;
  /** Its running time. */
  elapsed_secs: number;
  /** The number of bytes it has written. */
  written: number;
  /** It has a screen. */
  terminal: boolean;
  /** A person has taken it over. */
  locked: boolean;
  /** The last line of its output. */
  last_line?: string;
  /** The question, when waiting. */
  question?: Question;
  /** Its reported result or its error message, when stopped. */
  result?: string;
  /** It stopped with an error. */
  failed?: boolean;
  /** The exit code of its process, when stopped with a code other than 0. */
  exit_code?: number;
  /** The signal that ended its process, such as `SIGKILL`. */
  signal?: string;
  /** Its current resource usage, if known. */
  usage?: HandleUse;
}

/** The resource usage of a tool with all of its child processes. */
export interface HandleUse {
  /** CPU time in seconds. */
  cpu_secs: number;
  /** Bytes of memory. */
  memory: number;
  /** Processes that run. */
  processes: number;
}

/** The state of a handle, and its new output. Absent fields are omitted. */
export interface HandleView {
  /** The handle. */
  id: HandleId;
  /** Its state. */
  state: HandleState;
  /** Output that was not delivered yet. The output of a handle that finished successfully is its `result`. */
  content?: string;
  /** The question, when waiting. */
  question?: Question;
  /** Set while the user is asked. Names the command by which the user answers. */
  note?: string;
  /** Its output or its error message, when stopped. */
  result?: string;
  /** Set when it stopped badly. */
  error?: ErrorView;
  /** The exit code, when not 0. */
  exit_code?: number;
  /** The signal that ended it. */
  signal?: string;
  /** The cause of its abort, if the tool reported a result nevertheless. */
  aborted?: string;
  /** The number of processes that an abort ended. */
  ended?: number;
  /** The number of omitted bytes of output. */
  omitted_bytes?: number;
  /** The file with the whole output. */
  log?: string;
  /** The program is blocked at a prompt. */
  awaiting_input?: boolean;
  /** The cursor's row and column, from 1, while the program uses the whole screen. */
  cursor?: [number, number];
}

/** The keyboard and mouse modes that a program has set. */
export interface KeyboardModes {
  /** Arrow keys send `ESC O A` instead of `ESC [ A`. */
  application_cursor: boolean;
  /** Pasted text is sent between `ESC [200~` and `ESC [201~`. */
  bracketed_paste: boolean;
  /** Mouse events are sent too. */
  mouse: boolean;
  /** The mouse events to send. */
  mouse_reports?: MouseReports;
  /** Mouse events are sent as `ESC [ < … M`. */
  mouse_sgr?: boolean;
  /** Focus changes are sent. */
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
  /** The severity. */
  level: NoticeLevel;
  /** The subject. */
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
  /** The text. Invalid UTF-8 is replaced by U+FFFD. */
  text: string;
  /** The number of bytes between the two offsets that are no longer stored. */
  omitted_bytes?: number;
  /** The handle has stopped, and this is the last of its output. */
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

/** A request for permission, addressed to a person. */
export interface PermissionRequest {
  /** The request's id; begins with `per`. */
  id: PermissionId;
  /** The session that asks; begins with `ses`. */
  sessionID: SessionId;
  /** The kind of permission; for a built-in tool, its name. */
  permission: string;
  /** The patterns of the requested action. */
  patterns: string[];
  /** The arguments and whatever else helps to decide. */
  metadata: Record<string, unknown>;
  /** The patterns that an "always" would remember. */
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

/** A question of a tool. A handle has at most one open question. */
export interface Question {
  /** The question's id among the tool's questions, and the key of its answer. */
  id: string;
  /** The text of the question. */
  text: string;
  /** Text to show before the question, such as a diff. */
  pre_amble?: string;
  /** The type of the answer. */
  answer_type: AnswerType;
  /** The answer to use if nobody can be asked. */
  default?: unknown;
  /** The answer is a secret: it is passed from the person to the program only. */
  secret?: boolean;
}

/** A form of several fields; the question is its first unanswered field. A front end that can show the whole form answers with an object of all its fields. */
export interface QuestionForm {
  /** The text above the form. */
  message: string;
  /** The fields as the JSON Schema of a flat object, as in MCP elicitation. */
  schema: unknown;
}

/** One thing beside the command. */
export interface RenderedField {
  /** `cwd`, `env`, or another argument's name. */
  name: string;
  /** Its value. */
  lines: string[];
}

/** A request in plain text that is safe to show. Every string is a single line. */
export interface RequestRendering {
  /** The tool, and the kind of request. */
  title: string;
  /** The tool's own text, before the request itself. */
  lead?: string[];
  /** The command that would run, or the question. */
  body: string[];
  /** The folder and mode in which it would run, and its other arguments. */
  fields?: RenderedField[];
  /** The patterns that an "always" would remember. */
  always?: string[];
}

/** The look of a cursor. */
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

/** Adjacent text of one style. Absent fields have the terminal's default. */
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
  /** The underline style, unless it is a single straight line. */
  underline_kind?: ScreenUnderline;
  /** The hyperlink that the program set, verbatim: it may have any scheme. */
  link?: string;
  /** With foreground and background exchanged. */
  inverse?: boolean;
  /** There, but not to be seen. */
  hidden?: boolean;
  /** Struck through. */
  strikeout?: boolean;
}

/** A call that finished successfully. */
export interface StateCompleted {
  status: "completed";
  /** The arguments. */
  input: Record<string, unknown>;
  /** The output that the assistant read. */
  output: string;
  /** The title to show. */
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
  /** The error message. */
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
  /** The title to show. */
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
  /** The id of a one-shot, by which a person finds it. */
  one_shot?: HandleId;
  /** The number of output bytes before the event. */
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
  /** The id of a one-shot, by which a person finds it. */
  one_shot?: HandleId;
  /** The number of output bytes before the event. */
  offset: number;
  /** The question. */
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

/** Notices were delivered to the assistant, or became obsolete by a reply. */
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

/** A notice for the assistant was queued. */
export interface StreamedEventNoticed {
  event: "update";
  /** The session it happened in. */
  session: SessionId;
  /** Its place in the session's journal. */
  number: number;
  /** When it happened. */
  at: Millis;
  type: "noticed";
  /** The notice. */
  notice: Notice;
}

/** A recorded call has changed; this is its whole part. */
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
  /** The request that would have been made. */
  request: PermissionRequest;
  /** The reply. */
  reply?: PermissionReply;
}

/** A request was replied to, or withdrawn if there is no reply. */
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

/** A question was opened. */
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
  /** The id of a one-shot, by which a person finds it. */
  one_shot?: HandleId;
  /** The number of output bytes before the event. */
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
  /** The id of a one-shot, by which a person finds it. */
  one_shot?: HandleId;
  /** The number of output bytes before the event. */
  offset: number;
  /** The number of bytes. */
  bytes: number;
}

/** Why a tool failed. */
export interface ToolError {
  /** The message for the assistant. */
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
  /** The JSON Schema of its parameters, in the requested dialect. */
  parameters: unknown;
}

/** One call in the record. */
export interface ToolPart {
  /** The part's id. */
  id: PartId;
  /** The session that called. */
  sessionID: SessionId;
  /** The message that holds the call. */
  messageID: MessageId;
  /** The call. */
  callID: string;
  /** The tool's name. */
  tool: string;
  /** The call's state. */
  state: PartState;
  /** Anything else worth keeping. */
  metadata?: Record<string, unknown>;
  type: "tool";
}

/** The tool that an event is about. */
export interface ToolPlace {
  /** Its number within the session; one-shots have one too. */
  tool_number: number;
  /** The handle's id, unless it is a one-shot. */
  handle?: HandleId;
  /** The id of a one-shot, by which a person finds it. */
  one_shot?: HandleId;
  /** The number of output bytes before the event. */
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
  /** The time since its start. */
  elapsed_secs: number;
  /** The end of its output. */
  output_preview: string;
  /** Its open question, when waiting. */
  question?: Question;
}

/** The handles' fates at a turn's end. */
export interface TurnEndReport {
  /** Those that were ended. */
  ended: HandleId[];
  /** Those that were waited for and have stopped. */
  awaited: HandleId[];
  /** Handles that were ended because the inquiry about them failed. */
  undecided?: HandleId[];
  /** Handles that continue, because the session keeps them between turns. */
  kept?: HandleId[];
  /** The final views of the handles that the inquiry decided to wait for. */
  results?: HandleView[];
}

/** The type of an answer. */
export type AnswerType = "Boolean" | AnswerTypeSelect | "Text";

/** An event or request for the driver. */
export type DriveEvent = DriveEventPermission | DriveEventQuestion | DriveEventWithdrawn | DriveEventInquire | DriverCall | DriveEventToolAnswer | DriveEventToolAbort | StreamedEvent | DriveEventMissed;

/** A line to the driver. */
export type DriveOutput = BatchReply | DriveOutputTurnEnd | DriveEvent | DriverReply | DriveOutputError;

/** The driver's report about one of its runs. */
export type DriverReport = DriverReportRunning | DriverReportOutput | DriverReportQuestion | DriverReportResult | DriverReportError;

/** A request of the driver. */
export type DriverRequest = DriverRequestSession | DriverRequestTools | DriverRequestHandles | DriverRequestScreen | DriverRequestOutput | DriverRequestAddTool | DriverRequestFollow | DriverRequestUnfollow;

/** The value of a reply, by the request. */
export type DriverValue = DriverSession | ToolOffer[] | HandleInfo[] | DriverScreen | OutputPiece | Record<string, unknown>;

/** An action on a handle.
`spawn`: Start a tool under an id.
`fetch`: Read new output.
`apply`: Send input, or answer the open question.
`abort`: End it, tree and all. */
export type HandleAction = "spawn" | "fetch" | "apply" | "abort";

/** A handle's id, chosen by the assistant: 1 to 64 of `A-Z a-z 0-9 _ . -`. */
export type HandleId = string;

/** The two kinds of running tools.
`handle`: The assistant drives it.
`one_shot`: A call runs it to its end. It is listed only while it runs. */
export type HandleKind = "handle" | "one_shot";

/** The name of a handle's state.
`pending`: The id is taken and nothing runs yet.
`running`: It runs.
`waiting`: It waits for an answer.
`stopped`: It has ended. */
export type HandleState = "pending" | "running" | "waiting" | "stopped";

/** Names a message of a session; begins with `msg`. */
export type MessageId = string;

/** Milliseconds since the epoch; read from any JSON number, written whole. */
export type Millis = number;

/** The mouse events that a program requests. Each includes the one before it.
`presses`: Buttons that are pressed.
`clicks`: Buttons that are let go, and the wheel.
`drags`: Movements while a button is down.
`motion`: All movements. */
export type MouseReports = "presses" | "clicks" | "drags" | "motion";

/** The subject of a notice.
`success`: A handle finished successfully.
`failure`: A handle stopped with an error.
`waiting`: A handle waits for an answer.
`content`: A running handle has new output.
`left_running`: A one-shot left processes running.
`kept`: A handle of an earlier runtime: it still runs, or its end.
`server`: A server that tools depend on came or went.
`record`: The record cannot be written, or can be again.
`edited`: A person changed the arguments of a call before it ran.
`trust`: The project's own tools are unavailable until the user trusts the project, or are available now.
`sandbox`: A person lets a handle run again after its sandbox denied it something. */
export type NoticeKind = "success" | "failure" | "waiting" | "content" | "left_running" | "kept" | "server" | "record" | "edited" | "trust" | "sandbox";

/** The severity of a notice.
`info`: Good to know.
`warning`: Something may want attention.
`error`: Something failed.
`critical`: The model is interrupted for it. */
export type NoticeLevel = "info" | "warning" | "error" | "critical";

/** The action on a handle that still runs when the turn ends.
`inquire`: The assistant is asked, handle by handle.
`await`: It is waited for.
`abort`: It is ended. */
export type OnTurnEnd = "inquire" | "await" | "abort";

/** Names a part of a message; begins with `prt`. */
export type PartId = string;

/** The state of a recorded call. */
export type PartState = StatePending | StateRunning | StateCompleted | StateError;

/** Names a permission request; begins with `per`. */
export type PermissionId = string;

/** A person's reply to a permission request.
`once`: This time.
`always`: Allow it now, and whenever the request's `always` patterns match.
`reject`: No. */
export type PermissionReply = "once" | "always" | "reject";

/** The content of a reply, for the assistant. */
export type ReplyContent = unknown;

/** A colour: a number of the terminal's 256, or red, green and blue. */
export type ScreenColour = number | number[];

/** The shape of a cursor.
`block`: A whole cell.
`underline`: A line under the character.
`bar`: A line before the character. */
export type ScreenCursorShape = "block" | "underline" | "bar";

/** An underline style other than a single straight line.
`double`: Two lines.
`curly`: A wave.
`dotted`: Dots.
`dashed`: Dashes. */
export type ScreenUnderline = "double" | "curly" | "dotted" | "dashed";

/** Names a session; begins with `ses`. */
export type SessionId = string;

/** One event of the event stream. */
export type StreamedEvent = StreamedEventCalled | StreamedEventReplied | StreamedEventPart | StreamedEventStarted | StreamedEventWrote | StreamedEventAsked | StreamedEventAnswered | StreamedEventAborting | StreamedEventStopped | StreamedEventPermission | StreamedEventPermissionReplied | StreamedEventPermissionDecided | StreamedEventQuestion | StreamedEventQuestionClosed | StreamedEventNoticed | StreamedEventDelivered | StreamedEventLocked | StreamedEventUnlocked | StreamedEventTurnEnded | StreamedEventClosed;
