"""The types of the wire, as ``TypedDict``.

Generated from ``schemas/`` by ``xtask/sdk/generate_types.py``: do not edit.
"""

from __future__ import annotations

from typing import Any, Dict, List, Literal, TypedDict, Union

__all__ = [
    "AnswerType",
    "AnswerTypeSelect",
    "AnswerTypeSelectSelect",
    "Ask",
    "AwaitReply",
    "AwaitRequest",
    "BatchReply",
    "CallReply",
    "Condition",
    "DriveEvent",
    "DriveEventInquire",
    "DriveEventMissed",
    "DriveEventPermission",
    "DriveEventQuestion",
    "DriveEventToolAbort",
    "DriveEventToolAnswer",
    "DriveEventWithdrawn",
    "DriveOutput",
    "DriveOutputError",
    "DriveOutputTurnEnd",
    "DriverCall",
    "DriverReply",
    "DriverReport",
    "DriverReportError",
    "DriverReportOutput",
    "DriverReportQuestion",
    "DriverReportResult",
    "DriverReportRunning",
    "DriverRequest",
    "DriverRequestAddTool",
    "DriverRequestFollow",
    "DriverRequestHandles",
    "DriverRequestOutput",
    "DriverRequestScreen",
    "DriverRequestSession",
    "DriverRequestTools",
    "DriverRequestUnfollow",
    "DriverScreen",
    "DriverSession",
    "DriverValue",
    "ErrorView",
    "FilePart",
    "HandleAction",
    "HandleId",
    "HandleInfo",
    "HandleKind",
    "HandleState",
    "HandleUse",
    "HandleView",
    "KeyboardModes",
    "Matched",
    "MessageId",
    "Millis",
    "MouseReports",
    "Notice",
    "NoticeKind",
    "NoticeLevel",
    "OnTurnEnd",
    "OutputPiece",
    "PartId",
    "PartState",
    "PartTime",
    "PartTimeWithEnd",
    "PermissionId",
    "PermissionReply",
    "PermissionRequest",
    "PermissionToolContext",
    "Question",
    "QuestionForm",
    "RenderedField",
    "ReplyContent",
    "RequestRendering",
    "ScreenColour",
    "ScreenCursor",
    "ScreenCursorShape",
    "ScreenRow",
    "ScreenRun",
    "ScreenUnderline",
    "SessionId",
    "StateCompleted",
    "StateError",
    "StatePending",
    "StateRunning",
    "StreamedEvent",
    "StreamedEventAborting",
    "StreamedEventAnswered",
    "StreamedEventAsked",
    "StreamedEventCalled",
    "StreamedEventClosed",
    "StreamedEventDelivered",
    "StreamedEventLocked",
    "StreamedEventNoticed",
    "StreamedEventPart",
    "StreamedEventPermission",
    "StreamedEventPermissionDecided",
    "StreamedEventPermissionReplied",
    "StreamedEventQuestion",
    "StreamedEventQuestionClosed",
    "StreamedEventReplied",
    "StreamedEventStarted",
    "StreamedEventStopped",
    "StreamedEventTurnEnded",
    "StreamedEventUnlocked",
    "StreamedEventWrote",
    "ToolError",
    "ToolOffer",
    "ToolPart",
    "ToolPlace",
    "TurnEndHandle",
    "TurnEndReport",
]


class AnswerTypeSelectSelect(TypedDict):
    """No more than its fields."""

    options: List[str]
    """The valid answers."""


class AnswerTypeSelect(TypedDict):
    """One of the options."""

    Select: AnswerTypeSelectSelect


class _Ask(TypedDict):
    ask: str
    """The question's id in the session."""
    tool: str
    """The tool that asks."""
    question: Question
    """The question itself."""


class Ask(_Ask, total=False):
    """A question that waits for an answer."""

    call: str
    """The call that it belongs to."""
    handle: HandleId
    """The handle that it belongs to."""
    content: str
    """The tool's text that belongs to the question, such as the hunk that it asks about."""
    form: QuestionForm
    """The form that the question is a field of."""
    rendering: RequestRendering
    """The form in which a person sees it, if a person is asked."""


class _AwaitReply(TypedDict):
    completed: List[HandleView]
    """The handles that have stopped."""
    pending: List[HandleView]
    """Those that have not, without their output."""


class AwaitReply(_AwaitReply, total=False):
    """The result of an `await`."""

    matched: List[Matched]
    """The conditions that came to hold."""
    unmet: List[Condition]
    """The conditions whose handle stopped first."""
    needs_answer: List[HandleId]
    """Handles whose question only the caller can answer."""
    timed_out: bool
    """The time was up first."""


class _AwaitRequest(TypedDict):
    pass


class AwaitRequest(_AwaitRequest, total=False):
    """The arguments of `await`. Everything given must hold."""

    any: List[str]
    """At least one of these has stopped."""
    all: List[str]
    """Every one of these has stopped."""
    until: List[Condition]
    """Every one of these holds."""
    timeout_secs: Union[float, None]
    """The longest time to wait; default: no limit."""


class _BatchReply(TypedDict):
    batch: str
    """The batch they answer."""
    replies: List[CallReply]
    """One reply per call, in call order."""


class BatchReply(_BatchReply, total=False):
    """The replies to a batch."""

    notices: List[Notice]
    """Notices that the assistant has not received yet."""


class _CallReply(TypedDict):
    id: str
    """The call it answers."""
    content: ReplyContent
    """The text or object for the assistant."""
    is_error: bool
    """The call was refused, or a one-shot failed."""


class CallReply(_CallReply, total=False):
    """The reply to one call."""

    error: ErrorView
    """Error details of a one-shot beside its message. The content has them as text."""


class _Condition(TypedDict):
    id: str
    """The handle."""


class Condition(_Condition, total=False):
    """One condition of `until`, as it is written: an id and one thing to wait for."""

    pattern: str
    """A line of its output matches this regular expression."""
    new: bool
    """Only lines that come from now on count."""
    idle_secs: float
    """It has printed nothing for this long."""
    port: int
    """Something accepts connections on this local port."""
    waiting: bool
    """It waits for an answer or for input."""


class DriveEventPermission(TypedDict):
    """May this run?"""

    event: Literal['permission']
    request: PermissionRequest
    """The request."""


class DriveEventQuestion(Ask):
    """A tool asks."""

    event: Literal['question']


class DriveEventWithdrawn(TypedDict):
    """A question is closed, and not by an answer of the driver."""

    event: Literal['withdrawn']
    ask: str
    """The question, by the id it was asked under."""


class DriveEventInquire(TypedDict):
    """Asks for decisions about these handles at the turn's end."""

    event: Literal['inquire']
    ask: str
    """The inquiry's id."""
    handles: List[TurnEndHandle]
    """The handles that still run."""


class DriveEventToolAnswer(TypedDict):
    """A run of the driver's has its answer."""

    event: Literal['tool_answer']
    run: str
    """The run."""
    question: str
    """The question, by the id that the tool gave it."""
    value: Any
    """The answer."""


class DriveEventToolAbort(TypedDict):
    """A run of the driver must end soon. Its end is still reported."""

    event: Literal['tool_abort']
    run: str
    """The run."""


class DriveEventMissed(TypedDict):
    """Events were dropped because the driver did not read them in time."""

    event: Literal['missed']
    count: int
    """The number of dropped events."""


class DriveOutputTurnEnd(TypedDict):
    """The turn has ended."""

    turn_end: TurnEndReport
    """The report on its handles."""


class DriveOutputError(TypedDict):
    """A line was not understood; nothing else changed."""

    error: str
    """The error, with a line that would work."""


class _DriverCall(TypedDict):
    event: Literal['tool_call']
    run: str
    """The run's id, used in reports and orders."""
    tool: str
    """The tool."""
    arguments: Dict[str, Any]
    """The call's arguments. They fit the tool's parameters."""


class DriverCall(_DriverCall, total=False):
    """A call that the driver must run."""

    handle: HandleId
    """The handle, unless it is a one-shot."""


class _DriverReply(TypedDict):
    reply: str
    """The request."""


class DriverReply(_DriverReply, total=False):
    """The reply to a request: a value, or an error."""

    value: DriverValue
    """The requested value; `{}` if the request has none."""
    error: str
    """The reason for the refusal, and a request that would work."""


class DriverReportRunning(TypedDict):
    """The first step is done and the run continues. Windlass now replies to the `spawn`, or to the answer of a question."""

    report: Literal['running']


class DriverReportOutput(TypedDict):
    """It has written a line, or several."""

    report: Literal['output']
    text: str
    """The text, without the newline at its end."""


class _DriverReportQuestion(TypedDict):
    report: Literal['question']
    question: Question
    """The question."""


class DriverReportQuestion(_DriverReportQuestion, total=False):
    """It asks something and waits for the answer."""

    content: Union[str, None]
    """Words beside the question."""


class DriverReportResult(TypedDict):
    """It finished successfully. Nothing follows."""

    report: Literal['result']
    text: str
    """Its result."""


class DriverReportError(TypedDict):
    """It has failed. Nothing follows."""

    report: Literal['error']
    error: ToolError
    """The error."""


class DriverRequestSession(TypedDict):
    """The session."""

    op: Literal['session']


class _DriverRequestTools(TypedDict):
    op: Literal['tools']


class DriverRequestTools(_DriverRequestTools, total=False):
    """The tools that a model is offered."""

    dialect: Union[str, None]
    """The dialect of their parameters. Default: `json-schema`."""


class DriverRequestHandles(TypedDict):
    """Every readable handle, and every running one-shot."""

    op: Literal['handles']


class _DriverRequestScreen(TypedDict):
    op: Literal['screen']
    handle: HandleId
    """The handle."""


class DriverRequestScreen(_DriverRequestScreen, total=False):
    """The screen of a handle."""

    since: Union[int, None]
    """The generation that the driver has seen. Default: all rows are sent."""
    wait: bool
    """Delays the reply until the screen has changed since then, or the handle has stopped."""


class _DriverRequestOutput(TypedDict):
    op: Literal['output']
    handle: HandleId
    """The handle."""


_DriverRequestOutputOptional = TypedDict("_DriverRequestOutputOptional", {"from": int, "wait": bool, "lines": bool}, total=False)


class DriverRequestOutput(_DriverRequestOutput, _DriverRequestOutputOptional):
    """The output of a handle from an offset. The assistant's cursor does not move."""


class _DriverRequestAddTool(TypedDict):
    op: Literal['add_tool']
    name: str
    """Its name, as the model calls it."""


class DriverRequestAddTool(_DriverRequestAddTool, total=False):
    """Adds a tool that the driver runs."""

    summary: Union[str, None]
    """A line for the model."""
    description: Union[str, None]
    """Details, given only on `describe_tools`."""
    parameters: Any
    """The JSON Schema of its arguments, an object. Default: no arguments."""
    background: bool
    """It can be spawned and then runs as a handle."""
    unattended: bool
    """It runs without asking a person, unless the configuration says otherwise."""
    timeout_secs: Union[int, None]
    """Time limit of a one-shot in seconds. Default: the configured one, else 600."""
    on_turn_end: Union[OnTurnEnd, None]
    """The fate of its handles at the turn's end. Default: the assistant is asked."""


class _DriverRequestFollow(TypedDict):
    op: Literal['follow']


class DriverRequestFollow(_DriverRequestFollow, total=False):
    """Sends every event of the session from now on. Following a followed session again restarts at this point."""

    after: Union[int, None]
    """Events after this number are sent. Default: the newest."""


class DriverRequestUnfollow(TypedDict):
    """Tells no more events."""

    op: Literal['unfollow']


class _DriverScreen(TypedDict):
    generation: int
    """A counter that grows with every change; a reader names the last one it has seen."""
    rows: int
    """The number of rows."""
    cols: int
    """The number of columns."""
    cursor: List[int]
    """Row and column of the cursor, from 1 on."""
    cursor_visible: bool
    """The program shows the cursor."""
    full_screen: bool
    """The program has the whole screen to itself."""
    modes: KeyboardModes
    """The keyboard modes that the program has set."""
    changed: List[ScreenRow]
    """The rows that changed."""
    ended: bool
    """The handle has stopped: the screen no longer changes."""


class DriverScreen(_DriverScreen, total=False):
    """The screen of a handle."""

    cursor_look: ScreenCursor
    """The cursor's look; default: a block that does not blink."""
    title: str
    """The window's title."""


class DriverSession(TypedDict):
    """The session of a driver."""

    id: SessionId
    """The session."""
    pid: int
    """The process of the runtime."""
    version: str
    """The version of the runtime."""
    root: str
    """The project's root folder."""
    trusted: bool
    """The driver needs no permission for anything."""
    last_event: int
    """The number of the newest event."""


class _ErrorView(TypedDict):
    transient: bool
    """Trying again may help."""


class ErrorView(_ErrorView, total=False):
    """Details of a tool's error, beside its message. The message is the `result` of a handle's view, or the text of a one-shot's reply."""

    trace: List[str]
    """The causes, where the tool reports them."""


class _FilePart(TypedDict):
    id: PartId
    """The part's id."""
    sessionID: SessionId
    """The session that called."""
    messageID: MessageId
    """The message that holds the call."""
    mime: str
    """Its media type."""
    url: str
    """Its location, or its content as a `data:` URL."""
    type: Literal['file']


class FilePart(_FilePart, total=False):
    """A file that came with a call's output."""

    filename: str
    """Its name."""
    source: Any
    """Its origin, as the origin described it."""


class _HandleInfo(TypedDict):
    id: HandleId
    """The handle's id. A one-shot has no handle; this id identifies it while it runs."""
    kind: HandleKind
    """Whether it is a handle or a one-shot."""
    tool: str
    """Its tool."""
    state: HandleState
    """Its state."""
    elapsed_secs: float
    """Its running time."""
    written: int
    """The number of bytes it has written."""
    terminal: bool
    """It has a screen."""
    locked: bool
    """A person has taken it over."""


class HandleInfo(_HandleInfo, total=False):
    """A handle as an observer sees it."""

    command: str
    """The command that it runs, or its arguments."""
    last_line: str
    """The last line of its output."""
    question: Question
    """The question, when waiting."""
    result: str
    """Its reported result or its error message, when stopped."""
    failed: bool
    """It stopped with an error."""
    exit_code: int
    """The exit code of its process, when stopped with a code other than 0."""
    signal: str
    """The signal that ended its process, such as `SIGKILL`."""
    usage: HandleUse
    """Its current resource usage, if known."""


class HandleUse(TypedDict):
    """The resource usage of a tool with all of its child processes."""

    cpu_secs: float
    """CPU time in seconds."""
    memory: int
    """Bytes of memory."""
    processes: int
    """Processes that run."""


class _HandleView(TypedDict):
    id: HandleId
    """The handle."""
    state: HandleState
    """Its state."""


class HandleView(_HandleView, total=False):
    """The state of a handle, and its new output. Absent fields are omitted."""

    content: str
    """Output that was not delivered yet. The output of a handle that finished successfully is its `result`."""
    question: Question
    """The question, when waiting."""
    note: str
    """Set while the user is asked. Names the command by which the user answers."""
    result: str
    """Its output or its error message, when stopped."""
    error: ErrorView
    """Set when it stopped badly."""
    exit_code: int
    """The exit code, when not 0."""
    signal: str
    """The signal that ended it."""
    aborted: str
    """The cause of its abort, if the tool reported a result nevertheless."""
    ended: int
    """The number of processes that an abort ended."""
    omitted_bytes: int
    """The number of omitted bytes of output."""
    log: str
    """The file with the whole output."""
    awaiting_input: bool
    """The program is blocked at a prompt."""
    cursor: List[int]
    """The cursor's row and column, from 1, while the program uses the whole screen."""


class _KeyboardModes(TypedDict):
    application_cursor: bool
    """Arrow keys send `ESC O A` instead of `ESC [ A`."""
    bracketed_paste: bool
    """Pasted text is sent between `ESC [200~` and `ESC [201~`."""
    mouse: bool
    """Mouse events are sent too."""


class KeyboardModes(_KeyboardModes, total=False):
    """The keyboard and mouse modes that a program has set."""

    mouse_reports: MouseReports
    """The mouse events to send."""
    mouse_sgr: bool
    """Mouse events are sent as `ESC [ < … M`."""
    focus: bool
    """Focus changes are sent."""


class _Matched(TypedDict):
    id: str
    """The handle."""


class Matched(_Matched, total=False):
    """A condition that came to hold."""

    pattern: str
    """A line of its output matches this regular expression."""
    new: bool
    """Only lines that come from now on count."""
    idle_secs: float
    """It has printed nothing for this long."""
    port: int
    """Something accepts connections on this local port."""
    waiting: bool
    """It waits for an answer or for input."""
    line: str
    """The line that matched."""


class _Notice(TypedDict):
    level: NoticeLevel
    """The severity."""
    kind: NoticeKind
    """The subject."""
    text: str
    """A sentence for the assistant."""


class Notice(_Notice, total=False):
    """One thing the assistant should know, delivered exactly once."""

    handle: HandleId
    """The handle it concerns."""
    tool: str
    """The tool it concerns."""


_OutputPiece = TypedDict("_OutputPiece", {"from": int, "to": int, "text": str, "ended": bool})


class OutputPiece(_OutputPiece, total=False):
    """A piece of a handle's output."""

    omitted_bytes: int
    """The number of bytes between the two offsets that are no longer stored."""


class PartTime(TypedDict):
    """When a call started."""

    start: Millis
    """Milliseconds since the epoch."""


class _PartTimeWithEnd(TypedDict):
    start: Millis
    """Milliseconds since the epoch."""
    end: Millis
    """Milliseconds since the epoch."""


class PartTimeWithEnd(_PartTimeWithEnd, total=False):
    """When a call started and ended."""

    compacted: Millis
    """When its output was dropped from the record."""


class _PermissionRequest(TypedDict):
    id: PermissionId
    """The request's id; begins with `per`."""
    sessionID: SessionId
    """The session that asks; begins with `ses`."""
    permission: str
    """The kind of permission; for a built-in tool, its name."""
    patterns: List[str]
    """The patterns of the requested action."""
    metadata: Dict[str, Any]
    """The arguments and whatever else helps to decide."""
    always: List[str]
    """The patterns that an "always" would remember."""


class PermissionRequest(_PermissionRequest, total=False):
    """A request for permission, addressed to a person."""

    tool: PermissionToolContext
    """The call it is for."""


class PermissionToolContext(TypedDict):
    """The call that a permission is asked for."""

    messageID: MessageId
    """The message that holds the call."""
    callID: str
    """The call."""


class _Question(TypedDict):
    id: str
    """The question's id among the tool's questions, and the key of its answer."""
    text: str
    """The text of the question."""
    answer_type: AnswerType
    """The type of the answer."""


class Question(_Question, total=False):
    """A question of a tool. A handle has at most one open question."""

    pre_amble: str
    """Text to show before the question, such as a diff."""
    default: Any
    """The answer to use if nobody can be asked."""
    secret: bool
    """The answer is a secret: it is passed from the person to the program only."""


class QuestionForm(TypedDict):
    """A form of several fields; the question is its first unanswered field. A front end that can show the whole form answers with an object of all its fields."""

    message: str
    """The text above the form."""
    schema: Any
    """The fields as the JSON Schema of a flat object, as in MCP elicitation."""


class RenderedField(TypedDict):
    """One thing beside the command."""

    name: str
    """`cwd`, `env`, or another argument's name."""
    lines: List[str]
    """Its value."""


class _RequestRendering(TypedDict):
    title: str
    """The tool, and the kind of request."""
    body: List[str]
    """The command that would run, or the question."""


class RequestRendering(_RequestRendering, total=False):
    """A request in plain text that is safe to show. Every string is a single line."""

    lead: List[str]
    """The tool's own text, before the request itself."""
    fields: List[RenderedField]
    """The folder and mode in which it would run, and its other arguments."""
    always: List[str]
    """The patterns that an "always" would remember."""


class ScreenCursor(TypedDict):
    """The look of a cursor."""

    shape: ScreenCursorShape
    """Its shape."""
    blinks: bool
    """Whether it blinks."""


class ScreenRow(TypedDict):
    """One row of a screen."""

    row: int
    """Its place, from 1 on."""
    runs: List[ScreenRun]
    """Its text from left to right, without unstyled blanks at the end."""


class _ScreenRun(TypedDict):
    text: str
    """The text; wide characters fill two columns."""


class ScreenRun(_ScreenRun, total=False):
    """Adjacent text of one style. Absent fields have the terminal's default."""

    fg: ScreenColour
    """The colour of the text."""
    bg: ScreenColour
    """The colour behind it."""
    bold: bool
    """Bold or bright."""
    dim: bool
    """Faint."""
    italic: bool
    """Slanted."""
    underline: bool
    """Underlined in any way."""
    underline_kind: ScreenUnderline
    """The underline style, unless it is a single straight line."""
    link: str
    """The hyperlink that the program set, verbatim: it may have any scheme."""
    inverse: bool
    """With foreground and background exchanged."""
    hidden: bool
    """There, but not to be seen."""
    strikeout: bool
    """Struck through."""


class _StateCompleted(TypedDict):
    status: Literal['completed']
    input: Dict[str, Any]
    """The arguments."""
    output: str
    """The output that the assistant read."""
    title: str
    """The title to show."""
    metadata: Dict[str, Any]
    """Anything else worth keeping."""
    time: PartTimeWithEnd
    """When it started and ended."""


class StateCompleted(_StateCompleted, total=False):
    """A call that finished successfully."""

    attachments: List[FilePart]
    """Files that came with the output."""


class _StateError(TypedDict):
    status: Literal['error']
    input: Dict[str, Any]
    """The arguments."""
    error: str
    """The error message."""
    time: PartTimeWithEnd
    """When it started and ended."""


class StateError(_StateError, total=False):
    """A call that ended with an error."""

    metadata: Dict[str, Any]
    """Anything else worth keeping."""


class StatePending(TypedDict):
    """A call that has been created and does not run yet."""

    status: Literal['pending']
    input: Dict[str, Any]
    """The arguments."""
    raw: str
    """The arguments as the model wrote them."""


class _StateRunning(TypedDict):
    status: Literal['running']
    input: Dict[str, Any]
    """The arguments."""
    time: PartTime
    """When it started."""


class StateRunning(_StateRunning, total=False):
    """A call that runs."""

    title: str
    """The title to show."""
    metadata: Dict[str, Any]
    """Anything else worth keeping."""


class _StreamedEventCalled(TypedDict):
    event: Literal['update']
    session: SessionId
    """The session it happened in."""
    number: int
    """Its place in the session's journal."""
    at: Millis
    """When it happened."""
    type: Literal['called']
    call: str
    """The call."""
    tool: str
    """Its tool."""


class StreamedEventCalled(_StreamedEventCalled, total=False):
    """A call came in."""

    action: HandleAction
    """Its action, unless it is a one-shot."""
    handle: HandleId
    """Its handle, unless it is a one-shot."""


class StreamedEventReplied(TypedDict):
    """A call was answered."""

    event: Literal['update']
    session: SessionId
    """The session it happened in."""
    number: int
    """Its place in the session's journal."""
    at: Millis
    """When it happened."""
    type: Literal['replied']
    call: str
    """The call."""
    is_error: bool
    """It was refused or failed."""


class StreamedEventPart(TypedDict):
    """A recorded call has changed; this is its whole part."""

    event: Literal['update']
    session: SessionId
    """The session it happened in."""
    number: int
    """Its place in the session's journal."""
    at: Millis
    """When it happened."""
    type: Literal['part']
    part: ToolPart
    """The part."""


class _ToolPlace(TypedDict):
    tool_number: int
    """Its number within the session; one-shots have one too."""
    offset: int
    """The number of output bytes before the event."""


class ToolPlace(_ToolPlace, total=False):
    """The tool that an event is about."""

    handle: HandleId
    """The handle's id, unless it is a one-shot."""
    one_shot: HandleId
    """The id of a one-shot, by which a person finds it."""


class StreamedEventStarted(ToolPlace):
    """A tool runs."""

    event: Literal['update']
    session: SessionId
    """The session it happened in."""
    number: int
    """Its place in the session's journal."""
    at: Millis
    """When it happened."""
    type: Literal['started']


class _StreamedEventWrote(TypedDict):
    event: Literal['update']
    session: SessionId
    """The session it happened in."""
    number: int
    """Its place in the session's journal."""
    at: Millis
    """When it happened."""
    type: Literal['wrote']
    tool_number: int
    """Its number within the session; one-shots have one too."""
    offset: int
    """The number of output bytes before the event."""
    bytes: int
    """The number of bytes."""


class StreamedEventWrote(_StreamedEventWrote, total=False):
    """A tool wrote."""

    handle: HandleId
    """The handle's id, unless it is a one-shot."""
    one_shot: HandleId
    """The id of a one-shot, by which a person finds it."""


class _StreamedEventAsked(TypedDict):
    event: Literal['update']
    session: SessionId
    """The session it happened in."""
    number: int
    """Its place in the session's journal."""
    at: Millis
    """When it happened."""
    type: Literal['asked']
    tool_number: int
    """Its number within the session; one-shots have one too."""
    offset: int
    """The number of output bytes before the event."""
    question: Question
    """The question."""


class StreamedEventAsked(_StreamedEventAsked, total=False):
    """A tool asks something and waits."""

    handle: HandleId
    """The handle's id, unless it is a one-shot."""
    one_shot: HandleId
    """The id of a one-shot, by which a person finds it."""


class StreamedEventAnswered(ToolPlace):
    """A tool's question was answered."""

    event: Literal['update']
    session: SessionId
    """The session it happened in."""
    number: int
    """Its place in the session's journal."""
    at: Millis
    """When it happened."""
    type: Literal['answered']


class _StreamedEventAborting(TypedDict):
    event: Literal['update']
    session: SessionId
    """The session it happened in."""
    number: int
    """Its place in the session's journal."""
    at: Millis
    """When it happened."""
    type: Literal['aborting']
    tool_number: int
    """Its number within the session; one-shots have one too."""
    offset: int
    """The number of output bytes before the event."""
    reason: str
    """By whom, or why."""


class StreamedEventAborting(_StreamedEventAborting, total=False):
    """A tool is being ended."""

    handle: HandleId
    """The handle's id, unless it is a one-shot."""
    one_shot: HandleId
    """The id of a one-shot, by which a person finds it."""


class _StreamedEventStopped(TypedDict):
    event: Literal['update']
    session: SessionId
    """The session it happened in."""
    number: int
    """Its place in the session's journal."""
    at: Millis
    """When it happened."""
    type: Literal['stopped']
    tool_number: int
    """Its number within the session; one-shots have one too."""
    offset: int
    """The number of output bytes before the event."""
    failed: bool
    """It ended badly."""


class StreamedEventStopped(_StreamedEventStopped, total=False):
    """A tool has ended."""

    handle: HandleId
    """The handle's id, unless it is a one-shot."""
    one_shot: HandleId
    """The id of a one-shot, by which a person finds it."""
    message: str
    """Its error's message."""


class StreamedEventPermission(TypedDict):
    """A person is asked for permission."""

    event: Literal['update']
    session: SessionId
    """The session it happened in."""
    number: int
    """Its place in the session's journal."""
    at: Millis
    """When it happened."""
    type: Literal['permission']
    request: PermissionRequest
    """The request."""


class _StreamedEventPermissionReplied(TypedDict):
    event: Literal['update']
    session: SessionId
    """The session it happened in."""
    number: int
    """Its place in the session's journal."""
    at: Millis
    """When it happened."""
    type: Literal['permission_replied']
    permission: PermissionId
    """The request."""


class StreamedEventPermissionReplied(_StreamedEventPermissionReplied, total=False):
    """A request was replied to, or withdrawn if there is no reply."""

    reply: PermissionReply
    """The reply."""


class _StreamedEventPermissionDecided(TypedDict):
    event: Literal['update']
    session: SessionId
    """The session it happened in."""
    number: int
    """Its place in the session's journal."""
    at: Millis
    """When it happened."""
    type: Literal['permission_decided']
    request: PermissionRequest
    """The request that would have been made."""


class StreamedEventPermissionDecided(_StreamedEventPermissionDecided, total=False):
    """A permission was decided without asking anybody."""

    reply: PermissionReply
    """The reply."""


class StreamedEventQuestion(Ask):
    """A question was opened."""

    event: Literal['update']
    session: SessionId
    """The session it happened in."""
    number: int
    """Its place in the session's journal."""
    at: Millis
    """When it happened."""
    type: Literal['question']


class StreamedEventQuestionClosed(TypedDict):
    """A question was answered, or withdrawn."""

    event: Literal['update']
    session: SessionId
    """The session it happened in."""
    number: int
    """Its place in the session's journal."""
    at: Millis
    """When it happened."""
    type: Literal['question_closed']
    ask: str
    """The asking."""


class StreamedEventNoticed(TypedDict):
    """A notice for the assistant was queued."""

    event: Literal['update']
    session: SessionId
    """The session it happened in."""
    number: int
    """Its place in the session's journal."""
    at: Millis
    """When it happened."""
    type: Literal['noticed']
    notice: Notice
    """The notice."""


class StreamedEventDelivered(TypedDict):
    """Notices were delivered to the assistant, or became obsolete by a reply."""

    event: Literal['update']
    session: SessionId
    """The session it happened in."""
    number: int
    """Its place in the session's journal."""
    at: Millis
    """When it happened."""
    type: Literal['delivered']
    notices: List[int]
    """The numbers that the notices have in the journal."""


class StreamedEventLocked(TypedDict):
    """A person has taken a handle over."""

    event: Literal['update']
    session: SessionId
    """The session it happened in."""
    number: int
    """Its place in the session's journal."""
    at: Millis
    """When it happened."""
    type: Literal['locked']
    handle: HandleId
    """The handle."""


class StreamedEventUnlocked(TypedDict):
    """A person has handed a handle back."""

    event: Literal['update']
    session: SessionId
    """The session it happened in."""
    number: int
    """Its place in the session's journal."""
    at: Millis
    """When it happened."""
    type: Literal['unlocked']
    handle: HandleId
    """The handle."""


class StreamedEventTurnEnded(TypedDict):
    """The turn ended."""

    event: Literal['update']
    session: SessionId
    """The session it happened in."""
    number: int
    """Its place in the session's journal."""
    at: Millis
    """When it happened."""
    type: Literal['turn_ended']


class StreamedEventClosed(TypedDict):
    """The session ended; nothing follows."""

    event: Literal['update']
    session: SessionId
    """The session it happened in."""
    number: int
    """Its place in the session's journal."""
    at: Millis
    """When it happened."""
    type: Literal['closed']


class _ToolError(TypedDict):
    message: str
    """The message for the assistant."""


class ToolError(_ToolError, total=False):
    """Why a tool failed."""

    trace: List[str]
    """The causes, outermost first."""
    transient: bool
    """Trying again may help."""


class ToolOffer(TypedDict):
    """A tool as a model is offered it."""

    name: str
    """Its name."""
    description: str
    """A line for the model."""
    parameters: Any
    """The JSON Schema of its parameters, in the requested dialect."""


class _ToolPart(TypedDict):
    id: PartId
    """The part's id."""
    sessionID: SessionId
    """The session that called."""
    messageID: MessageId
    """The message that holds the call."""
    callID: str
    """The call."""
    tool: str
    """The tool's name."""
    state: PartState
    """The call's state."""
    type: Literal['tool']


class ToolPart(_ToolPart, total=False):
    """One call in the record."""

    metadata: Dict[str, Any]
    """Anything else worth keeping."""


class _TurnEndHandle(TypedDict):
    id: HandleId
    """The handle."""
    tool: str
    """Its tool."""
    state: HandleState
    """Its state."""
    elapsed_secs: float
    """The time since its start."""
    output_preview: str
    """The end of its output."""


class TurnEndHandle(_TurnEndHandle, total=False):
    """A handle that still runs when the turn ends."""

    question: Question
    """Its open question, when waiting."""


class _TurnEndReport(TypedDict):
    ended: List[HandleId]
    """Those that were ended."""
    awaited: List[HandleId]
    """Those that were waited for and have stopped."""


class TurnEndReport(_TurnEndReport, total=False):
    """The handles' fates at a turn's end."""

    undecided: List[HandleId]
    """Handles that were ended because the inquiry about them failed."""
    kept: List[HandleId]
    """Handles that continue, because the session keeps them between turns."""
    results: List[HandleView]
    """The final views of the handles that the inquiry decided to wait for."""


AnswerType = Union[Literal['Boolean'], AnswerTypeSelect, Literal['Text']]
"""The type of an answer."""

DriverReport = Union[DriverReportRunning, DriverReportOutput, DriverReportQuestion, DriverReportResult, DriverReportError]
"""The driver's report about one of its runs."""

DriverRequest = Union[DriverRequestSession, DriverRequestTools, DriverRequestHandles, DriverRequestScreen, DriverRequestOutput, DriverRequestAddTool, DriverRequestFollow, DriverRequestUnfollow]
"""A request of the driver."""

DriverValue = Union[DriverSession, List[ToolOffer], List[HandleInfo], DriverScreen, OutputPiece, Dict[str, Any]]
"""The value of a reply, by the request."""

HandleAction = Literal['spawn', 'fetch', 'apply', 'abort']
"""An action on a handle.
`spawn`: Start a tool under an id.
`fetch`: Read new output.
`apply`: Send input, or answer the open question.
`abort`: End it, tree and all."""

HandleId = str
"""A handle's id, chosen by the assistant: 1 to 64 of `A-Z a-z 0-9 _ . -`."""

HandleKind = Literal['handle', 'one_shot']
"""The two kinds of running tools.
`handle`: The assistant drives it.
`one_shot`: A call runs it to its end. It is listed only while it runs."""

HandleState = Literal['pending', 'running', 'waiting', 'stopped']
"""The name of a handle's state.
`pending`: The id is taken and nothing runs yet.
`running`: It runs.
`waiting`: It waits for an answer.
`stopped`: It has ended."""

MessageId = str
"""Names a message of a session; begins with `msg`."""

Millis = float
"""Milliseconds since the epoch; read from any JSON number, written whole."""

MouseReports = Literal['presses', 'clicks', 'drags', 'motion']
"""The mouse events that a program requests. Each includes the one before it.
`presses`: Buttons that are pressed.
`clicks`: Buttons that are let go, and the wheel.
`drags`: Movements while a button is down.
`motion`: All movements."""

NoticeKind = Literal['success', 'failure', 'waiting', 'content', 'left_running', 'kept', 'server', 'record', 'edited', 'trust', 'sandbox']
"""The subject of a notice.
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
`sandbox`: A person lets a handle run again after its sandbox denied it something."""

NoticeLevel = Literal['info', 'warning', 'error', 'critical']
"""The severity of a notice.
`info`: Good to know.
`warning`: Something may want attention.
`error`: Something failed.
`critical`: The model is interrupted for it."""

OnTurnEnd = Literal['inquire', 'await', 'abort']
"""The action on a handle that still runs when the turn ends.
`inquire`: The assistant is asked, handle by handle.
`await`: It is waited for.
`abort`: It is ended."""

PartId = str
"""Names a part of a message; begins with `prt`."""

PartState = Union[StatePending, StateRunning, StateCompleted, StateError]
"""The state of a recorded call."""

PermissionId = str
"""Names a permission request; begins with `per`."""

PermissionReply = Literal['once', 'always', 'reject']
"""A person's reply to a permission request.
`once`: This time.
`always`: Allow it now, and whenever the request's `always` patterns match.
`reject`: No."""

ReplyContent = Any
"""The content of a reply, for the assistant."""

ScreenColour = Union[int, List[int]]
"""A colour: a number of the terminal's 256, or red, green and blue."""

ScreenCursorShape = Literal['block', 'underline', 'bar']
"""The shape of a cursor.
`block`: A whole cell.
`underline`: A line under the character.
`bar`: A line before the character."""

ScreenUnderline = Literal['double', 'curly', 'dotted', 'dashed']
"""An underline style other than a single straight line.
`double`: Two lines.
`curly`: A wave.
`dotted`: Dots.
`dashed`: Dashes."""

SessionId = str
"""Names a session; begins with `ses`."""

StreamedEvent = Union[StreamedEventCalled, StreamedEventReplied, StreamedEventPart, StreamedEventStarted, StreamedEventWrote, StreamedEventAsked, StreamedEventAnswered, StreamedEventAborting, StreamedEventStopped, StreamedEventPermission, StreamedEventPermissionReplied, StreamedEventPermissionDecided, StreamedEventQuestion, StreamedEventQuestionClosed, StreamedEventNoticed, StreamedEventDelivered, StreamedEventLocked, StreamedEventUnlocked, StreamedEventTurnEnded, StreamedEventClosed]
"""One event of the event stream."""

DriveEvent = Union[DriveEventPermission, DriveEventQuestion, DriveEventWithdrawn, DriveEventInquire, DriverCall, DriveEventToolAnswer, DriveEventToolAbort, StreamedEvent, DriveEventMissed]
"""An event or request for the driver."""

DriveOutput = Union[BatchReply, DriveOutputTurnEnd, DriveEvent, DriverReply, DriveOutputError]
"""A line to the driver."""
