"""Tools written in Python: functions of this program that a model can call."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import inspect
import itertools
import json
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Sequence

from ._errors import ToolError
from ._schema import Signature, read_signature

if TYPE_CHECKING:
    from ._session import Session

__all__ = ["Context", "Tool"]


class Context:
    """The context of a running tool. A parameter of this type is filled in by Windlass, not by the model."""

    def __init__(self, session: "Session", run: str, handle: Optional[str]) -> None:
        self._session = session
        self._run = run
        self._loop = asyncio.get_running_loop()
        self._questions = itertools.count(1)
        self._answer: "Optional[asyncio.Future[Any]]" = None
        #: The handle's id; ``None`` for a one-shot.
        self.handle = handle

    @property
    def session(self) -> "Session":
        """The session that the tool was called in."""
        return self._session

    def print(self, *values: object, sep: str = " ") -> None:
        """Writes a line to the output of the handle."""
        text = sep.join(str(value) for value in values)
        self._report({"report": "output", "text": text})

    async def ask(
        self,
        text: str,
        *,
        options: Optional[Sequence[str]] = None,
        boolean: bool = False,
        default: Any = None,
        content: Optional[str] = None,
        secret: bool = False,
        id: Optional[str] = None,
    ) -> Any:
        """Asks the person or the model a question, and waits for the answer.

        The answer is a text, one of ``options``, or with ``boolean`` true or false. ``content`` is shown beside the
        question.
        """
        answer_type: Any = "Boolean" if boolean else {"Select": {"options": list(options)}} if options else "Text"
        question: Dict[str, Any] = {"id": id or f"question-{next(self._questions)}", "text": text, "answer_type": answer_type}
        if default is not None:
            question["default"] = default
        if secret:
            question["secret"] = True
        report: Dict[str, Any] = {"report": "question", "question": question}
        if content is not None:
            report["content"] = content
        if self._answer is not None:
            raise RuntimeError("a tool asks one question at a time")
        self._answer = self._loop.create_future()
        self._report(report)
        try:
            return await self._answer
        finally:
            self._answer = None

    def _report(self, report: Mapping[str, Any]) -> None:
        line = {"run": self._run, **report}
        try:
            here = asyncio.get_running_loop() is self._loop
        except RuntimeError:
            here = False
        if here:
            self._session._send_if_open(line)
        else:
            # A function without `async` runs in a thread.
            self._loop.call_soon_threadsafe(self._session._send_if_open, line)

    def _answered(self, value: Any) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(value)
            self._say_when_running()

    def _say_when_running(self) -> None:
        """Reports that the tool has settled and continues to run."""
        # The next step of the function is scheduled before this callback, so it has run by then.
        self._loop.call_soon(lambda: self._loop.call_soon(lambda: self._loop.call_soon(self._running)))

    def _running(self) -> None:
        if self._run in self._session._runs and (self._answer is None or self._answer.done()):
            self._report({"report": "running"})


class Tool:
    """A function as a tool."""

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        name: Optional[str],
        description: Optional[str],
        parameters: Optional[Mapping[str, Any]],
        background: bool,
        unattended: bool,
        timeout: Optional[int],
        on_turn_end: Optional[str],
    ) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.name = name or function.__name__
        self._signature: Signature = read_signature(function, Context) if parameters is None else _with_context(function, parameters)
        words = inspect.cleandoc(description or function.__doc__ or "")
        summary, _, rest = words.partition("\n\n")
        self.line: Dict[str, Any] = {
            "name": self.name,
            "summary": " ".join(summary.split()) or None,
            "description": rest.strip() or None,
            "parameters": self._signature.schema,
            "background": background,
            "unattended": unattended,
            "timeout_secs": timeout,
            "on_turn_end": on_turn_end,
        }

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function directly, not as a tool."""
        return self.function(*args, **kwargs)

    async def run(self, context: Context, arguments: Mapping[str, Any]) -> Dict[str, Any]:
        """Runs a call; returns the report on its end."""
        try:
            values = self._signature.values(arguments)
            if self._signature.context is not None:
                values[self._signature.context] = context
            if inspect.iscoroutinefunction(self.function):
                result = await self.function(**values)
            else:
                call = functools.partial(contextvars.copy_context().run, self.function, **values)
                result = await asyncio.get_running_loop().run_in_executor(None, call)
                if inspect.isawaitable(result):
                    result = await result
            return {"report": "result", "text": _text(result)}
        except asyncio.CancelledError:
            raise
        except ToolError as error:
            return _failure(error.message, error.trace, error.transient)
        except Exception as error:
            causes: List[str] = []
            cause = error.__cause__ or error.__context__
            while cause is not None:
                causes.append(f"{type(cause).__name__}: {cause}")
                cause = cause.__cause__ or cause.__context__
            return _failure(f"{type(error).__name__}: {error}", causes, False)


def _with_context(function: Callable[..., Any], parameters: Mapping[str, Any]) -> Signature:
    """A function with an explicit schema gets the arguments unchanged."""
    hints = inspect.get_annotations(function, eval_str=True)
    context = next((name for name, hint in hints.items() if hint is Context), None)
    return Signature(dict(parameters), {}, context)


def _text(result: Any) -> str:
    """Text unchanged, anything else as JSON."""
    if result is None:
        return ""
    if isinstance(result, str):
        return result
    if hasattr(result, "model_dump_json"):
        return str(result.model_dump_json())
    return json.dumps(result, ensure_ascii=False, default=str)


def _failure(message: str, trace: List[str], transient: bool) -> Dict[str, Any]:
    return {"report": "error", "error": {"message": message, "trace": trace, "transient": transient}}
