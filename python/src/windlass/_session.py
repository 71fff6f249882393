"""A session: one conversation, which owns its handles."""

from __future__ import annotations

import asyncio
import inspect
import itertools
import logging
from collections import deque
from types import TracebackType
from typing import Any, AsyncIterator, Awaitable, Callable, Deque, Dict, Generator, Iterable, List, Mapping, Optional, Sequence, Set, Tuple, Type, TypeVar, Union, cast, overload

from . import _wire
from ._dialects import Dialect, dialect_of_parameters, offered, read_call, reply_text, results
from ._errors import ConnectionLost, Decline, RequestRefused, ToolFailed
from ._handle import Handle
from ._tools import Context, Tool
from .types import Ask, AwaitReply, BatchReply, DriveEventMissed, DriverSession, HandleInfo, HandleView, Notice, ToolOffer, PermissionRequest, StreamedEvent, TurnEndHandle, TurnEndReport

__all__ = ["Batch", "Session"]

_log = logging.getLogger("windlass")

T = TypeVar("T")
Callback = Callable[[T], Any]
Function = TypeVar("Function", bound=Callable[..., Any])
Event = Union[StreamedEvent, DriveEventMissed]


class _Reader:
    """A reader of events."""

    def __init__(self, seen: int) -> None:
        self.seen = seen
        self.has_missed = False
        self.queue: "asyncio.Queue[Optional[Event]]" = asyncio.Queue()

    def take(self, event: Event, number: int) -> None:
        """Takes the next event. All readers share one stream, so events that are not the next one of this reader are ignored."""
        if number == self.seen + 1 or (self.has_missed and number > self.seen):
            self.seen = number
            self.has_missed = False
            self.queue.put_nowait(event)


class Session:
    """One conversation with the tools. Created by :meth:`Runtime.session`; everything that runs ends with it."""

    def __init__(
        self,
        open_wire: Callable[..., Awaitable[_wire.Wire]],
        *,
        on_permission: Optional[Callback[PermissionRequest]],
        on_question: Optional[Callback[Ask]],
        on_inquiry: Optional[Callback[List[TurnEndHandle]]],
        on_notice: Optional[Callback[Notice]],
    ) -> None:
        self._open_wire = open_wire
        self._on_permission = on_permission
        self._on_question = on_question
        self._on_inquiry = on_inquiry
        self._on_notice = on_notice
        self._wire: Optional[_wire.Wire] = None
        self._numbers = itertools.count(1)
        self._batches: "Dict[str, asyncio.Future[BatchReply]]" = {}
        self._requests: "Dict[str, Callable[[Dict[str, Any]], None]]" = {}
        self._turns: "Deque[asyncio.Future[TurnEndReport]]" = deque()
        self._tools: Dict[str, Tool] = {}
        self._runs: "Dict[str, Tuple[asyncio.Task[None], Context]]" = {}
        self._asks: "Dict[str, asyncio.Task[None]]" = {}
        self._tasks: "Set[asyncio.Task[None]]" = set()
        self._readers: Set[_Reader] = set()
        self._loss: Optional[ConnectionLost] = None
        self._info: Optional[DriverSession] = None

    @property
    def info(self) -> DriverSession:
        """The session's id, its process and its folder."""
        if self._info is None:
            raise RuntimeError("the session has not begun; use `async with runtime.session() as session`")
        return self._info

    @property
    def id(self) -> str:
        """The session's id, by which the page and other commands know it."""
        return self.info["id"]

    # Tools

    def tools(self, dialect: Dialect = "json-schema") -> List[Dict[str, Any]]:
        """The tools to offer to a model, in its provider's format."""
        asked = dialect_of_parameters(dialect)
        tools: List[ToolOffer] = self._request_now({"op": "tools", "dialect": asked})
        return [offered(tool, dialect) for tool in tools]

    @overload
    def tool(self, function: Function) -> Function: ...

    @overload
    def tool(
        self,
        *,
        name: Optional[str] = ...,
        description: Optional[str] = ...,
        parameters: Optional[Mapping[str, Any]] = ...,
        background: bool = ...,
        unattended: bool = ...,
        timeout: Optional[int] = ...,
        on_turn_end: Optional[str] = ...,
    ) -> Callable[[Function], Function]: ...

    def tool(
        self,
        function: Optional[Function] = None,
        *,
        name: Optional[str] = None,
        description: Optional[str] = None,
        parameters: Optional[Mapping[str, Any]] = None,
        background: bool = False,
        unattended: bool = False,
        timeout: Optional[int] = None,
        on_turn_end: Optional[str] = None,
    ) -> Any:
        """Makes a function a tool of this session: ``@session.tool``, or with options ``@session.tool(background=True)``.

        The parameters come from its type hints, the words for the model from its docstring. A parameter of type
        :class:`Context` is how it writes, asks and knows its handle. With ``background`` it can be spawned;
        ``unattended`` lets it run without asking for permission. A function without ``async`` runs in a thread.
        """

        def register(function: Function) -> Function:
            tool = Tool(
                function,
                name=name,
                description=description,
                parameters=parameters,
                background=background,
                unattended=unattended,
                timeout=timeout,
                on_turn_end=on_turn_end,
            )
            line = {key: value for key, value in tool.line.items() if value is not None}
            self._request_now({"op": "add_tool", **line})
            self._tools[tool.name] = tool
            return function

        return register if function is None else register(function)

    # Calls

    async def run(self, calls: Iterable[Any]) -> BatchReply:
        """Runs the calls of one model reply; returns their replies together, in call order.

        A call is ``{"id", "name", "arguments"}``, or as Anthropic or OpenAI give it. Cancelling the task cancels the
        calls: one-shots among them are ended, handles stay.
        """
        return await self.begin(calls)

    def begin(self, calls: Iterable[Any]) -> "Batch":
        """Starts to run calls. Await the result for their reply; a cancelled batch gets a reply too."""
        batch = str(next(self._numbers))
        read = [read_call(call, place) for place, call in enumerate(calls, 1)]
        future: "asyncio.Future[BatchReply]" = asyncio.get_running_loop().create_future()
        self._batches[batch] = future
        try:
            self._send({"batch": batch, "calls": read, "concurrent": True})
        except BaseException:
            del self._batches[batch]
            raise
        return Batch(self, batch, future)

    @staticmethod
    def results(reply: BatchReply, dialect: Dialect = "openai") -> List[Dict[str, Any]]:
        """The replies in the provider's format, with the notices at the end of the last one."""
        return results(reply, dialect)

    async def call(self, tool: str, /, **arguments: Any) -> Any:
        """Runs one call and returns its content. Raises :class:`ToolFailed` when it is refused or fails."""
        return await self._call(tool, arguments)

    async def spawn(self, tool: str, /, *, id: str, **arguments: Any) -> Handle:
        """Spawns a tool under this id."""
        content = await self._call(tool, {"action": "spawn", "id": id, **arguments})
        return Handle(self, tool, id, cast(HandleView, content))

    def handle(self, id: str, tool: str = "shell") -> Handle:
        """A handle that a model has spawned."""
        return Handle(self, tool, id)

    async def handles(self) -> List[HandleInfo]:
        """Every readable handle, and every running one-shot."""
        return cast("List[HandleInfo]", await self._request({"op": "handles"}))

    async def wait(
        self,
        *,
        any: Optional[Sequence[Union[Handle, str]]] = None,
        all: Optional[Sequence[Union[Handle, str]]] = None,
        until: Optional[Sequence[Mapping[str, Any]]] = None,
        timeout: Optional[float] = None,
    ) -> AwaitReply:
        """Waits until one of ``any``, or every one of ``all``, has stopped, or the conditions ``until`` hold.

        A condition is ``{"id"}`` with one of ``pattern``, ``idle_secs``, ``port`` and ``waiting``.
        """
        arguments: Dict[str, Any] = {}
        if any is not None:
            arguments["any"] = [_id(handle) for handle in any]
        if all is not None:
            arguments["all"] = [_id(handle) for handle in all]
        if until is not None:
            arguments["until"] = [{**condition, "id": _id(condition["id"])} for condition in until]
        if timeout is not None:
            arguments["timeout_secs"] = timeout
        reply = cast(AwaitReply, await self._call("await", arguments))
        views = {view["id"]: view for view in [*reply["completed"], *reply["pending"]]}
        for handle in [*(any or ()), *(all or ())]:
            if isinstance(handle, Handle) and handle.id in views:
                handle.view = views[handle.id]
        return reply

    async def end_turn(self) -> TurnEndReport:
        """Ends the turn: the policy of its tool decides about each handle that still runs."""
        future: "asyncio.Future[TurnEndReport]" = asyncio.get_running_loop().create_future()
        self._turns.append(future)
        self._send({"turn_end": True})
        return await future

    async def events(self, after: Optional[int] = None) -> AsyncIterator[Event]:
        """The events of the session, in order, from now on or after the event with that number.

        An event of type ``missed`` reports lost events, for a reader that is too slow.
        """
        session = cast(DriverSession, await self._request({"op": "session"}))
        reader = _Reader(session["last_event"] if after is None else after)
        self._readers.add(reader)
        try:
            # One stream serves all readers, so it restarts at the position of the slowest reader.
            await self._request({"op": "follow", "after": min(reader.seen for reader in self._readers)})
            while True:
                event = await reader.queue.get()
                if event is None:
                    return
                yield event
        finally:
            self._readers.discard(reader)
            if not self._readers and self._is_open:
                self._send_if_open({"request": f"r{next(self._numbers)}", "op": "unfollow"})

    async def close(self) -> None:
        """Ends the session and everything that runs in it."""
        wire, self._wire = self._wire, None
        if wire is None:
            return
        # Waiting calls would delay the end.
        for batch, future in list(self._batches.items()):
            if not future.done():
                try:
                    wire.send({"cancel": batch})
                except ConnectionLost:
                    break
        # So would unanswered questions.
        for task in [*self._asks.values(), *self._tasks, *(task for task, _ in self._runs.values())]:
            task.cancel()
        self._asks.clear()
        await asyncio.shield(wire.close())
        self._fail(ConnectionLost("the session has ended"))

    async def __aenter__(self) -> "Session":
        asks = not (self._on_permission is None and self._on_question is None and self._on_inquiry is None)
        self._wire = await self._open_wire(asks, self._take, self._fail)
        try:
            self._wire.follow()
            self._info = cast(DriverSession, await self._request({"op": "session"}))
        except BaseException:
            self._wire.abandon()
            self._wire = None
            raise
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        await self.close()

    # The wire

    @property
    def _is_open(self) -> bool:
        return self._wire is not None and self._wire.is_open

    def _send(self, line: Mapping[str, Any]) -> None:
        if self._wire is None or self._loss is not None:
            raise self._loss or ConnectionLost("the session has ended, or has not begun")
        self._wire.send(line)

    def _send_if_open(self, line: Mapping[str, Any]) -> None:
        if self._is_open:
            try:
                self._send(line)
            except ConnectionLost:
                pass

    async def _call(self, tool: str, arguments: Mapping[str, Any]) -> Any:
        reply = (await self.run([{"id": "1", "name": tool, "arguments": arguments}]))["replies"][0]
        if reply["is_error"]:
            raise ToolFailed(reply_text(reply))
        return reply["content"]

    async def _request(self, request: Mapping[str, Any]) -> Any:
        future: "asyncio.Future[Dict[str, Any]]" = asyncio.get_running_loop().create_future()

        def take(reply: Dict[str, Any]) -> None:
            if not future.done():
                future.set_result(reply)

        id = f"r{next(self._numbers)}"
        self._requests[id] = take
        try:
            self._send({"request": id, **request})
            return _value(await future)
        finally:
            self._requests.pop(id, None)

    def _request_now(self, request: Mapping[str, Any]) -> Any:
        """Sends a request with an immediate reply, from a function that is not async."""
        replies: List[Dict[str, Any]] = []
        id = f"r{next(self._numbers)}"
        self._requests[id] = replies.append
        self._send({"request": id, **request})
        assert self._wire is not None
        self._wire.pump(lambda: bool(replies))
        self._requests.pop(id, None)
        return _value(replies[0])

    def _take(self, line: Dict[str, Any]) -> None:
        """Handles a line of the runtime."""
        if "event" in line:
            kind = line["event"]
            if kind == "update":
                for reader in self._readers:
                    reader.take(cast(Event, line), line["number"])
            else:
                getattr(self, f"_on_{kind}_line", self._on_unknown_line)(line)
        elif "replies" in line:
            future = self._batches.pop(line["batch"], None)
            if future is not None and not future.done():
                future.set_result(cast(BatchReply, line))
        elif "reply" in line:
            take = self._requests.pop(line["reply"], None)
            if take is not None:
                take(line)
        elif "turn_end" in line:
            if self._turns:
                turn = self._turns.popleft()
                if not turn.done():
                    turn.set_result(line["turn_end"])
        elif "error" in line:
            # A cancel or an answer that came too late.
            _log.debug("the runtime did not take a line: %s", line["error"])

    def _on_unknown_line(self, line: Dict[str, Any]) -> None:
        _log.debug("an event that this version does not know: %s", line.get("event"))

    def _on_missed_line(self, line: Dict[str, Any]) -> None:
        for reader in self._readers:
            reader.has_missed = True
            reader.queue.put_nowait(cast(Event, {**line, "type": "missed"}))

    def _on_permission_line(self, line: Dict[str, Any]) -> None:
        request = line["request"]
        self._start(self._ask_permission(request))

    def _on_question_line(self, line: Dict[str, Any]) -> None:
        task = self._start(self._ask_question(cast(Ask, line)))
        self._asks[line["ask"]] = task
        task.add_done_callback(lambda _: self._asks.pop(line["ask"], None))

    def _on_withdrawn_line(self, line: Dict[str, Any]) -> None:
        task = self._asks.pop(line["ask"], None)
        if task is not None:
            task.cancel()

    def _on_inquire_line(self, line: Dict[str, Any]) -> None:
        self._start(self._ask_inquiry(line["ask"], line["handles"]))

    def _on_tool_call_line(self, line: Dict[str, Any]) -> None:
        tool = self._tools.get(line["tool"])
        run = line["run"]
        if tool is None:
            message = f"the tool `{line['tool']}` is no longer there"
            self._send_if_open({"run": run, "report": "error", "error": {"message": message}})
            return
        context = Context(self, run, line.get("handle"))
        task = asyncio.get_running_loop().create_task(self._run_tool(tool, context, run, line["arguments"]))
        self._runs[run] = (task, context)
        context._say_when_running()

    def _on_tool_answer_line(self, line: Dict[str, Any]) -> None:
        if line["run"] in self._runs:
            self._runs[line["run"]][1]._answered(line["value"])

    def _on_tool_abort_line(self, line: Dict[str, Any]) -> None:
        if line["run"] in self._runs:
            self._runs[line["run"]][0].cancel()

    async def _run_tool(self, tool: Tool, context: Context, run: str, arguments: Mapping[str, Any]) -> None:
        try:
            report = await tool.run(context, arguments)
        except asyncio.CancelledError:
            report = {"report": "error", "error": {"message": "aborted"}}
        finally:
            self._runs.pop(run, None)
        self._send_if_open({"run": run, **report})

    async def _ask_permission(self, request: PermissionRequest) -> None:
        reply: Dict[str, Any]
        if self._on_permission is None:
            # A driver that only answers questions is trusted with the rest.
            reply = {"reply": "once"}
        else:
            try:
                answer = await _called(self._on_permission, request)
                reply = _permission_reply(answer)
            except Exception as error:
                _log.exception("on_permission failed; the request is rejected")
                reply = {"reply": "reject", "message": f"{type(error).__name__}: {error}"}
        self._send_if_open({"permission": request["id"], **reply})

    async def _ask_question(self, ask: Ask) -> None:
        why = "nobody answers questions here"
        if self._on_question is not None:
            try:
                value = await _called(self._on_question, ask)
            except Decline as decline:
                value, why = None, str(decline) or why
            except Exception as error:
                _log.exception("on_question failed; the question is declined")
                value, why = None, f"{type(error).__name__}: {error}"
            if value is not None:
                self._send_if_open({"answer": ask["ask"], "value": value})
                return
        elif "handle" in ask and not ask["question"].get("secret"):
            # The model may answer it with `apply`.
            return
        elif "default" in ask["question"]:
            self._send_if_open({"answer": ask["ask"], "value": ask["question"]["default"]})
            return
        self._send_if_open({"answer": ask["ask"], "decline": why})

    async def _ask_inquiry(self, ask: str, handles: List[TurnEndHandle]) -> None:
        decisions: Dict[str, str] = {}
        if self._on_inquiry is not None:
            try:
                decisions = dict(await _called(self._on_inquiry, handles) or {})
            except Exception:
                _log.exception("on_inquiry failed; the handles are ended")
        for handle in handles:
            decisions.setdefault(handle["id"], "abort")
        self._send_if_open({"inquire": ask, "decisions": decisions})

    def _start(self, work: Any) -> "asyncio.Task[None]":
        task: "asyncio.Task[None]" = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _fail(self, error: ConnectionLost) -> None:
        """The wire has ended."""
        if self._loss is None:
            self._loss = error
        futures: List[asyncio.Future[Any]] = [*self._batches.values(), *self._turns]
        for future in futures:
            if not future.done():
                future.set_exception(error)
                # The waiting caller may be gone too.
                future.exception()
        self._turns.clear()
        for take in list(self._requests.values()):
            take({"lost": error})
        for reader in self._readers:
            reader.queue.put_nowait(None)
        for task, _ in self._runs.values():
            task.cancel()


class Batch:
    """Running calls. Await it for their reply."""

    def __init__(self, session: Session, id: str, future: "asyncio.Future[BatchReply]") -> None:
        self._session = session
        self._id = id
        self._future = future

    def cancel(self) -> None:
        """Cancels the unanswered calls: one-shots are ended, handles stay. The reply still arrives."""
        if not self._future.done():
            self._session._send_if_open({"cancel": self._id})

    def __await__(self) -> Generator[Any, None, BatchReply]:
        return self._reply().__await__()

    async def _reply(self) -> BatchReply:
        try:
            reply = await self._future
        except asyncio.CancelledError:
            # The reply to a cancelled batch has no reader.
            self._session._send_if_open({"cancel": self._id})
            raise
        if self._session._on_notice is not None:
            for notice in reply.get("notices", []):
                await _called(self._session._on_notice, notice)
        return reply


def _id(handle: Union[Handle, str]) -> str:
    return handle.id if isinstance(handle, Handle) else handle


def _value(reply: Dict[str, Any]) -> Any:
    if "lost" in reply:
        raise reply["lost"]
    if "error" in reply:
        raise RequestRefused(reply["error"])
    return reply["value"]


async def _called(callback: Callable[[Any], Any], argument: Any) -> Any:
    """Calls a function, async or not."""
    result = callback(argument)
    return await result if inspect.isawaitable(result) else result


def _permission_reply(answer: Any) -> Dict[str, Any]:
    """``True``, ``False``, ``once``, ``always``, ``reject``, or a whole reply: ``{"reply", "message", "arguments"}``."""
    if isinstance(answer, Mapping):
        return dict(answer)
    if answer is True:
        return {"reply": "once"}
    if answer in ("once", "always"):
        return {"reply": answer}
    return {"reply": "reject"}
