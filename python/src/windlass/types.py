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
    """What may be answered, exactly one of these."""


class AnswerTypeSelect(TypedDict):
    """One of the options."""

    Select: AnswerTypeSelectSelect


class _Ask(TypedDict):
    ask: str
    """Names the asking."""
    tool: str
    """The tool that asks."""
    question: Question
    """What it asks."""


class Ask(_Ask, total=False):
    """A question on its way to whoever answers it."""

    call: str
    """The call that it belongs to."""
    handle: HandleId
    """The handle that it belongs to."""
    content: str
    """The tool's words beside the question, such as the hunk that it asks about."""
    form: QuestionForm
    """The form that the question is a field of."""
    rendering: RequestRendering
    """How it is shown to a person, where one is asked."""


class _AwaitReply(TypedDict):
    completed: List[HandleView]
    """The handles that have stopped."""
    pending: List[HandleView]
    """Those that have not, without their output."""


class AwaitReply(_AwaitReply, total=False):
    """What `await` found."""

    matched: List[Matched]
    """The conditions that came to hold."""
    unmet: List[Condition]
    """The conditions whose handle stopped first."""
    needs_answer: List[HandleId]
    """Those that wait for an answer that only the caller can give."""
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
    """How long to wait at most; without it, as long as it takes."""


class _BatchReply(TypedDict):
    batch: str
    """The batch they answer."""
    replies: List[CallReply]
    """One reply per call, in call order."""


class BatchReply(_BatchReply, total=False):
    """The replies to a batch."""

    notices: List[Notice]
    """What the assistant had not been told yet."""


class _CallReply(TypedDict):
    id: str
    """The call it answers."""
    content: ReplyContent
    """What the assistant reads."""
    is_error: bool
    """The call was refused, or a one-shot failed."""


class CallReply(_CallReply, total=False):
    """The reply to one call."""

    error: ErrorView
    """The error of a one-shot beside its message. The content says the same in words."""


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
    """A question that was told is no longer open, and not by an answer of the driver's."""

    event: Literal['withdrawn']
    ask: str
    """The question, by the id it was asked under."""


class DriveEventInquire(TypedDict):
    """What becomes of these handles at the turn's end?"""

    event: Literal['inquire']
    ask: str
    """Names the inquiry."""
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
    """A run of the driver's is to end soon. Its end is still reported."""

    event: Literal['tool_abort']
    run: str
    """The run."""


class DriveEventMissed(TypedDict):
    """Events are gone that the driver has not read in time."""

    event: Literal['missed']
    count: int
    """How many."""


class DriveOutputTurnEnd(TypedDict):
    """The turn has ended."""

    turn_end: TurnEndReport
    """What became of its handles."""


class DriveOutputError(TypedDict):
    """A line was not understood; nothing else changed."""

    error: str
    """What would have been."""


class _DriverCall(TypedDict):
    event: Literal['tool_call']
    run: str
    """Names the run in reports and orders."""
    tool: str
    """The tool."""
    arguments: Dict[str, Any]
    """The call's arguments. They fit the tool's parameters."""


class DriverCall(_DriverCall, total=False):
    """A call that the driver is to run."""

    handle: HandleId
    """The handle, unless it is a one-shot."""


class _DriverReply(TypedDict):
    reply: str
    """The request."""


class DriverReply(_DriverReply, total=False):
    """The reply to a request: a value, or an error."""

    value: DriverValue
    """The value that was asked for; `{}` where nothing was."""
    error: str
    """The reason why the request was refused, and what would work."""


class DriverReportRunning(TypedDict):
    """It has done what it does at once, and goes on. A `spawn`, and an answer to a question, are replied to now."""

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
    """It has ended well. Nothing follows."""

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
    """Every handle that can be read, and every one-shot that runs."""

    op: Literal['handles']


class _DriverRequestScreen(TypedDict):
    op: Literal['screen']
    handle: HandleId
    """The handle."""


class DriverRequestScreen(_DriverRequestScreen, total=False):
    """The screen of a handle."""

    since: Union[int, None]
    """The generation that the driver has seen. Default: all rows are told."""
    wait: bool
    """The reply waits until the screen has changed since then, or the handle has stopped."""


class _DriverRequestOutput(TypedDict):
    op: Literal['output']
    handle: HandleId
    """The handle."""


_DriverRequestOutputOptional = TypedDict("_DriverRequestOutputOptional", {"from": int, "wait": bool, "lines": bool}, total=False)


class DriverRequestOutput(_DriverRequestOutput, _DriverRequestOutputOptional):
    """The output of a handle from an offset on. The assistant's cursor does not move."""


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
    """The JSON Schema of an object: its arguments. Default: it takes none."""
    background: bool
    """It can be spawned, and then lasts as a handle."""
    unattended: bool
    """Nobody is asked before it runs, unless the configuration says otherwise."""
    timeout_secs: Union[int, None]
    """How long a one-shot may take. Default: as the configuration says, else 600."""
    on_turn_end: Union[OnTurnEnd, None]
    """The fate of its handles at the turn's end. Default: the assistant is asked."""


class _DriverRequestFollow(TypedDict):
    op: Literal['follow']


class DriverRequestFollow(_DriverRequestFollow, total=False):
    """Tells every event of the session from now on. One that is followed already is followed from here."""

    after: Union[int, None]
    """The number of the event before the first one that is told. Default: the newest."""


class DriverRequestUnfollow(TypedDict):
    """Tells no more events."""

    op: Literal['unfollow']


class _DriverScreen(TypedDict):
    generation: int
    """Grows with every change; names what the reader has seen."""
    rows: int
    """How many rows there are."""
    cols: int
    """How many columns there are."""
    cursor: List[int]
    """Row and column of the cursor, from 1 on."""
    cursor_visible: bool
    """The program shows the cursor."""
    full_screen: bool
    """The program has the whole screen to itself."""
    modes: KeyboardModes
    """What the program wants of the keyboard."""
    changed: List[ScreenRow]
    """The rows that changed."""
    ended: bool
    """The handle has stopped: the screen does not change any more."""


class DriverScreen(_DriverScreen, total=False):
    """The screen of a handle."""

    cursor_look: ScreenCursor
    """How it is to be drawn; default: a block that does not blink."""
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
    """How a tool failed, beside its message: that is the `result` of a handle's view, and the text of a one-shot's reply."""

    trace: List[str]
    """The causes, where the tool reports them."""


class _FilePart(TypedDict):
    id: PartId
    """Names the part."""
    sessionID: SessionId
    """The session that called."""
    messageID: MessageId
    """The message that holds the call."""
    mime: str
    """Its media type."""
    url: str
    """Where it is, or its bytes as a `data:` URL."""
    type: Literal['file']


class FilePart(_FilePart, total=False):
    """A file that came with a call's output."""

    filename: str
    """Its name."""
    source: Any
    """Where it came from, as its origin described it."""


class _HandleInfo(TypedDict):
    id: HandleId
    """The handle. A one-shot has no handle; this is the id by which a person reads and ends it while it runs."""
    kind: HandleKind
    """Whether it is a handle or a one-shot."""
    tool: str
    """Its tool."""
    state: HandleState
    """Its state."""
    elapsed_secs: float
    """How long it has run, or ran."""
    written: int
    """How many bytes it has written."""
    terminal: bool
    """It has a screen."""
    locked: bool
    """A person has taken it over."""


class HandleInfo(_HandleInfo, total=False):
    """A handle as somebody sees it who looks on."""

    command: str
    """The command that it runs, or its arguments."""
    last_line: str
    """The last line of its output."""
    question: Question
    """What it asks, when waiting."""
    result: str
    """Its result of its own or its error message, when stopped."""
    failed: bool
    """It stopped with an error."""
    exit_code: int
    """The exit code of its process, when stopped with one other than 0."""
    signal: str
    """The signal that ended its process, such as `SIGKILL`."""
    usage: HandleUse
    """Its use of the machine now, where that is known."""


class HandleUse(TypedDict):
    """The use of the machine by a tool and everything that it has started."""

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
    """How a handle stands, and what is new about it. Absent fields are left out."""

    content: str
    """What it said that was not delivered yet. Of a handle that stopped well, the output is its `result`."""
    question: Question
    """What it asks, when waiting."""
    note: str
    """Set while the user is asked: that they are waited for, and the command by which they answer."""
    result: str
    """Its output or its error message, when stopped."""
    error: ErrorView
    """Set when it stopped badly."""
    exit_code: int
    """The exit code, when not 0."""
    signal: str
    """The signal that ended it."""
    aborted: str
    """Who or what ended it, where the tool reported a result of its own all the same."""
    ended: int
    """How many processes an abort ended."""
    omitted_bytes: int
    """How much of the output was left out."""
    log: str
    """Where all of the output can be read."""
    awaiting_input: bool
    """The program is blocked at a prompt."""
    cursor: List[int]
    """Where the cursor is, as row and column from 1 on, while the program has the whole screen to itself."""


class _KeyboardModes(TypedDict):
    application_cursor: bool
    """Arrow keys send `ESC O A` instead of `ESC [ A`."""
    bracketed_paste: bool
    """Pasted text is to come between `ESC [200~` and `ESC [201~`."""
    mouse: bool
    """The mouse is to be sent too."""


class KeyboardModes(_KeyboardModes, total=False):
    """What a program has asked of the keyboard and the mouse."""

    mouse_reports: MouseReports
    """The use of the mouse that is to be sent."""
    mouse_sgr: bool
    """The mouse is to be sent as `ESC [ < … M`."""
    focus: bool
    """Gaining and losing the focus is to be sent."""


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
    """How much it matters."""
    kind: NoticeKind
    """What it is about."""
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
    """How many bytes between the two offsets are no longer kept."""


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
    """Names the request; begins with `per`."""
    sessionID: SessionId
    """The session that asks; begins with `ses`."""
    permission: str
    """What kind of thing is asked for; a built-in tool's name."""
    patterns: List[str]
    """What would be done, one pattern each."""
    metadata: Dict[str, Any]
    """The arguments and whatever else helps to decide."""
    always: List[str]
    """What an "always" would remember."""


class PermissionRequest(_PermissionRequest, total=False):
    """A request for permission, as it is put to a person."""

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
    """Names the question among the tool's own, and keys its answer."""
    text: str
    """What is asked."""
    answer_type: AnswerType
    """What kind of answer is wanted."""


class Question(_Question, total=False):
    """One question of a tool. A handle has at most one open at a time."""

    pre_amble: str
    """What to show before the question, such as a diff."""
    default: Any
    """The answer to take when nobody can be asked."""
    secret: bool
    """The answer is a secret: it goes from the person to the program and nowhere else."""


class QuestionForm(TypedDict):
    """A form of several fields that a question is the first open field of. Whoever can show it whole answers the question with an object of all its fields."""

    message: str
    """The text above the form."""
    schema: Any
    """The fields as a JSON Schema of a flat object, as MCP's elicitation has it."""


class RenderedField(TypedDict):
    """One thing beside the command."""

    name: str
    """`cwd`, `env`, or another argument's name."""
    lines: List[str]
    """Its value."""


class _RequestRendering(TypedDict):
    title: str
    """Who asks for what."""
    body: List[str]
    """The command that would run, or the question."""


class RequestRendering(_RequestRendering, total=False):
    """A request in plain text that is safe to show. Every string is one line."""

    lead: List[str]
    """The tool's own words, before the request itself."""
    fields: List[RenderedField]
    """Where and how it would run, and its other arguments."""
    always: List[str]
    """The patterns that an "always" would remember."""


class ScreenCursor(TypedDict):
    """How a cursor is drawn."""

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
    """Neighbouring text that looks the same. Absent fields are how a terminal looks when nothing was said."""

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
    """How it is underlined, unless with a single straight line."""
    link: str
    """The address that the program has put under it, as it wrote it: it may be of any scheme."""
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
    """What the assistant read."""
    title: str
    """What to show for it."""
    metadata: Dict[str, Any]
    """Anything else worth keeping."""
    time: PartTimeWithEnd
    """When it started and ended."""


class StateCompleted(_StateCompleted, total=False):
    """A call that ended well."""

    attachments: List[FilePart]
    """Files that came with the output."""


class _StateError(TypedDict):
    status: Literal['error']
    input: Dict[str, Any]
    """The arguments."""
    error: str
    """What went wrong."""
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
    """What to show for it."""
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
    """A call as it is recorded has changed; this is all of it."""

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
    """How many bytes of the tool's output preceded the event."""


class ToolPlace(_ToolPlace, total=False):
    """Which tool something happened to."""

    handle: HandleId
    """The handle's id, unless it is a one-shot."""
    one_shot: HandleId
    """The id by which a person finds it, if it is a one-shot."""


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
    """How many bytes of the tool's output preceded the event."""
    bytes: int
    """How many bytes."""


class StreamedEventWrote(_StreamedEventWrote, total=False):
    """A tool wrote."""

    handle: HandleId
    """The handle's id, unless it is a one-shot."""
    one_shot: HandleId
    """The id by which a person finds it, if it is a one-shot."""


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
    """How many bytes of the tool's output preceded the event."""
    question: Question
    """What it asks."""


class StreamedEventAsked(_StreamedEventAsked, total=False):
    """A tool asks something and waits."""

    handle: HandleId
    """The handle's id, unless it is a one-shot."""
    one_shot: HandleId
    """The id by which a person finds it, if it is a one-shot."""


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
    """How many bytes of the tool's output preceded the event."""
    reason: str
    """By whom, or why."""


class StreamedEventAborting(_StreamedEventAborting, total=False):
    """A tool is being ended."""

    handle: HandleId
    """The handle's id, unless it is a one-shot."""
    one_shot: HandleId
    """The id by which a person finds it, if it is a one-shot."""


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
    """How many bytes of the tool's output preceded the event."""
    failed: bool
    """It ended badly."""


class StreamedEventStopped(_StreamedEventStopped, total=False):
    """A tool has ended."""

    handle: HandleId
    """The handle's id, unless it is a one-shot."""
    one_shot: HandleId
    """The id by which a person finds it, if it is a one-shot."""
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
    """The request was replied to, or withdrawn when there is no reply."""

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
    """What would have been asked."""


class StreamedEventPermissionDecided(_StreamedEventPermissionDecided, total=False):
    """A permission was decided without asking anybody."""

    reply: PermissionReply
    """The reply."""


class StreamedEventQuestion(Ask):
    """A question is on its way to whoever answers it."""

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
    """The assistant will be told this."""

    event: Literal['update']
    session: SessionId
    """The session it happened in."""
    number: int
    """Its place in the session's journal."""
    at: Millis
    """When it happened."""
    type: Literal['noticed']
    notice: Notice
    """What."""


class StreamedEventDelivered(TypedDict):
    """The assistant has been told, or a reply has made the notices needless."""

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
    """What went wrong, for the assistant to read."""


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
    """The JSON Schema of its parameters, in the dialect that was asked for."""


class _ToolPart(TypedDict):
    id: PartId
    """Names the part."""
    sessionID: SessionId
    """The session that called."""
    messageID: MessageId
    """The message that holds the call."""
    callID: str
    """The call."""
    tool: str
    """The tool's name."""
    state: PartState
    """How far the call has come."""
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
    """How long it has run."""
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
    """What became of the handles at a turn's end."""

    undecided: List[HandleId]
    """Those that the inquiry should have decided on and did not, because it failed. They were ended."""
    kept: List[HandleId]
    """Those that go on, because the session keeps them between its turns."""
    results: List[HandleView]
    """What came of those that the inquiry said to wait for."""


AnswerType = Union[Literal['Boolean'], AnswerTypeSelect, Literal['Text']]
"""What kind of answer a question wants."""

DriverReport = Union[DriverReportRunning, DriverReportOutput, DriverReportQuestion, DriverReportResult, DriverReportError]
"""A report of the driver about one of its runs."""

DriverRequest = Union[DriverRequestSession, DriverRequestTools, DriverRequestHandles, DriverRequestScreen, DriverRequestOutput, DriverRequestAddTool, DriverRequestFollow, DriverRequestUnfollow]
"""A request of the driver."""

DriverValue = Union[DriverSession, List[ToolOffer], List[HandleInfo], DriverScreen, OutputPiece, Dict[str, Any]]
"""The value of a reply, by the request."""

HandleAction = Literal['spawn', 'fetch', 'apply', 'abort']
"""What may be done with a handle.
`spawn`: Start a tool under an id.
`fetch`: Read what is new.
`apply`: Send input, or answer the open question.
`abort`: End it, tree and all."""

HandleId = str
"""A handle's id, chosen by the assistant: 1 to 64 of `A-Z a-z 0-9 _ . -`."""

HandleKind = Literal['handle', 'one_shot']
"""The two kinds of running tools.
`handle`: The assistant drives it.
`one_shot`: A call runs it to its end. It is listed only while it runs."""

HandleState = Literal['pending', 'running', 'waiting', 'stopped']
"""The word for a handle's state.
`pending`: The id is taken and nothing runs yet.
`running`: It runs.
`waiting`: It waits for an answer.
`stopped`: It has ended."""

MessageId = str
"""Names a message of a session; begins with `msg`."""

Millis = float
"""Milliseconds since the epoch; read from any JSON number, written whole."""

MouseReports = Literal['presses', 'clicks', 'drags', 'motion']
"""The use of the mouse that a program wants to hear of. Each includes the one before it.
`presses`: Buttons that are pressed.
`clicks`: Buttons that are let go, and the wheel.
`drags`: Movements while a button is down.
`motion`: All movements."""

NoticeKind = Literal['success', 'failure', 'waiting', 'content', 'left_running', 'kept', 'server', 'record', 'edited', 'trust', 'sandbox']
"""What a notice is about.
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
`sandbox`: A person lets a handle that its sandbox has denied something run again."""

NoticeLevel = Literal['info', 'warning', 'error', 'critical']
"""How much a notice matters.
`info`: Good to know.
`warning`: Something may want attention.
`error`: Something failed.
`critical`: The model is interrupted for it."""

OnTurnEnd = Literal['inquire', 'await', 'abort']
"""What becomes of a handle that still runs when the turn ends.
`inquire`: The assistant is asked, handle by handle.
`await`: It is waited for.
`abort`: It is ended."""

PartId = str
"""Names a part of a message; begins with `prt`."""

PartState = Union[StatePending, StateRunning, StateCompleted, StateError]
"""How far a recorded call has come."""

PermissionId = str
"""Names a permission request; begins with `per`."""

PermissionReply = Literal['once', 'always', 'reject']
"""A person's reply to a permission request.
`once`: This time.
`always`: This time, and whenever the request's `always` patterns cover it.
`reject`: No."""

ReplyContent = Any
"""What the assistant reads in reply to a call."""

ScreenColour = Union[int, List[int]]
"""A colour: a number of the terminal's 256, or red, green and blue."""

ScreenCursorShape = Literal['block', 'underline', 'bar']
"""The shape of a cursor.
`block`: A whole cell.
`underline`: A line under the character.
`bar`: A line before the character."""

ScreenUnderline = Literal['double', 'curly', 'dotted', 'dashed']
"""A line under text other than a single straight one.
`double`: Two lines.
`curly`: A wave.
`dotted`: Dots.
`dashed`: Dashes."""

SessionId = str
"""Names a session; begins with `ses`."""

StreamedEvent = Union[StreamedEventCalled, StreamedEventReplied, StreamedEventPart, StreamedEventStarted, StreamedEventWrote, StreamedEventAsked, StreamedEventAnswered, StreamedEventAborting, StreamedEventStopped, StreamedEventPermission, StreamedEventPermissionReplied, StreamedEventPermissionDecided, StreamedEventQuestion, StreamedEventQuestionClosed, StreamedEventNoticed, StreamedEventDelivered, StreamedEventLocked, StreamedEventUnlocked, StreamedEventTurnEnded, StreamedEventClosed]
"""One event of the event stream."""

DriveEvent = Union[DriveEventPermission, DriveEventQuestion, DriveEventWithdrawn, DriveEventInquire, DriverCall, DriveEventToolAnswer, DriveEventToolAbort, StreamedEvent, DriveEventMissed]
"""Something that the driver is asked or told."""

DriveOutput = Union[BatchReply, DriveOutputTurnEnd, DriveEvent, DriverReply, DriveOutputError]
"""A line to the driver."""
