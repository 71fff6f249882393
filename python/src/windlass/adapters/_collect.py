"""Calls that a framework makes one by one, as the batches of the model's replies."""

from __future__ import annotations

import asyncio
from typing import Any, Awaitable, Callable, Dict, Iterator, List, Mapping, Tuple
from weakref import WeakKeyDictionary

from .._dialects import results
from .._session import Session

__all__ = ["callables", "collector_of"]

#: Calls of one reply come within this time of each other. Beside a model's reply it does not count.
_WINDOW = 0.005


class Collector:
    """Runs calls that come together as one batch, so that a spawn and an ``await`` of it can stand in one reply."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._waiting: "List[Tuple[Dict[str, Any], asyncio.Future[str]]]" = []
        self._tasks: "set[asyncio.Task[None]]" = set()

    async def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Runs a call; gives the text that the model reads."""
        loop = asyncio.get_running_loop()
        future: "asyncio.Future[str]" = loop.create_future()
        if not self._waiting:
            loop.call_later(_WINDOW, self._start)
        self._waiting.append(({"id": str(len(self._waiting) + 1), "name": name, "arguments": dict(arguments)}, future))
        return await future

    def _start(self) -> None:
        batch, self._waiting = self._waiting, []
        task = asyncio.get_running_loop().create_task(self._run(batch))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

        def cancel_with_all(_: object) -> None:
            if all(future.cancelled() for _, future in batch):
                task.cancel()

        for _, future in batch:
            future.add_done_callback(cancel_with_all)

    async def _run(self, batch: "List[Tuple[Dict[str, Any], asyncio.Future[str]]]") -> None:
        try:
            reply = await self._session.run([call for call, _ in batch])
        except Exception as error:
            for _, future in batch:
                if not future.done():
                    future.set_exception(error)
            return
        for (_, future), result in zip(batch, results(reply, "openai")):
            if not future.done():
                future.set_result(result["content"])


_COLLECTORS: "WeakKeyDictionary[Session, Collector]" = WeakKeyDictionary()


def collector_of(session: Session) -> Collector:
    """The one collector of a session."""
    return _COLLECTORS.setdefault(session, Collector(session))


def callables(session: Session) -> Iterator[Tuple[Dict[str, Any], Callable[..., Awaitable[str]]]]:
    """The tools of a session, each with an async function of its arguments."""
    collector = collector_of(session)

    def runs(name: str) -> Callable[..., Awaitable[str]]:
        async def run(**arguments: Any) -> str:
            return await collector.call(name, arguments)

        return run

    for offered in session.tools("openai"):
        tool = offered["function"]
        yield tool, runs(tool["name"])
