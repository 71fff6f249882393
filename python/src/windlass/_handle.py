"""A handle: a running instance of a tool."""

from __future__ import annotations

import json
from types import TracebackType
from typing import TYPE_CHECKING, Any, AsyncIterator, Dict, List, Optional, Sequence, Tuple, Type, cast

from ._errors import ConnectionLost, RequestRefused
from .types import DriverScreen, HandleView, OutputPiece

if TYPE_CHECKING:
    from ._session import Session

__all__ = ["Handle", "Screen"]


class Screen:
    """The screen of a terminal."""

    def __init__(self) -> None:
        self._rows: Dict[int, str] = {}
        #: Increases with every change.
        self.generation = -1
        #: The number of rows and columns.
        self.size: Tuple[int, int] = (0, 0)
        #: Row and column of the cursor, counted from 1.
        self.cursor: Tuple[int, int] = (1, 1)
        #: Whether the program uses the whole screen, as an editor does.
        self.full_screen = False
        #: The window's title.
        self.title: Optional[str] = None
        #: Whether the handle has stopped, so that the screen no longer changes.
        self.ended = False

    @property
    def rows(self) -> List[str]:
        """The text of every row."""
        return [self._rows.get(row, "") for row in range(1, self.size[0] + 1)]

    @property
    def text(self) -> str:
        """The rows as one text, without empty rows at the end."""
        return "\n".join(self.rows).rstrip("\n")

    def _update(self, update: DriverScreen) -> "Screen":
        screen = Screen()
        if (update["rows"], update["cols"]) == self.size:
            screen._rows = dict(self._rows)
        for row in update["changed"]:
            screen._rows[row["row"]] = "".join(run["text"] for run in row["runs"])
        screen.generation = update["generation"]
        screen.size = (update["rows"], update["cols"])
        screen.cursor = (update["cursor"][0], update["cursor"][1])
        screen.full_screen = update["full_screen"]
        screen.title = update.get("title")
        screen.ended = update["ended"]
        return screen


class Handle:
    """A spawned tool. As an async context manager, it ends the tool when the block is left."""

    def __init__(self, session: "Session", tool: str, id: str, view: Optional[HandleView] = None) -> None:
        self._session = session
        #: Its tool.
        self.tool = tool
        #: Its id.
        self.id = id
        #: Its last known view.
        self.view: HandleView = view if view is not None else cast(HandleView, {"id": id, "state": "running"})

    def __repr__(self) -> str:
        return f"<Handle {self.id!r} of {self.tool!r}: {self.state}>"

    @property
    def state(self) -> str:
        """The last known state: ``pending``, ``running``, ``waiting`` or ``stopped``."""
        return self.view["state"]

    @property
    def result(self) -> Optional[str]:
        """Its output or its error message, once it is known to have stopped."""
        return self.view.get("result")

    async def fetch(self, view: Optional[str] = None) -> HandleView:
        """Reads the new output, as the model would; ``view`` may be ``new``, ``screen`` or ``all``."""
        return await self._act("fetch", {} if view is None else {"view": view})

    async def apply(self, input: Any = None, *, enter: Optional[bool] = None, keys: Optional[Sequence[str]] = None) -> HandleView:
        """Types into it, or answers its question."""
        arguments: Dict[str, Any] = {}
        if input is not None:
            arguments["input"] = input
        if enter is not None:
            arguments["enter"] = enter
        if keys is not None:
            arguments["keys"] = list(keys)
        return await self._act("apply", arguments)

    async def abort(self) -> HandleView:
        """Ends it and everything that it started. The view's ``ended`` is the number of ended processes."""
        return await self._act("abort", {})

    async def wait(self, timeout: Optional[float] = None) -> HandleView:
        """Waits until it has stopped; after ``timeout`` seconds it returns the view at that time."""
        reply = await self._session.wait(all=[self], timeout=timeout)
        for view in [*reply["completed"], *reply["pending"]]:
            if view["id"] == self.id:
                self.view = view
        return self.view

    async def lines(self) -> AsyncIterator[str]:
        """The lines of its output from the beginning, as they arrive, without control sequences.

        What the model reads of the handle is not affected.
        """
        rest = ""
        async for piece in self._pieces(lines=True):
            lines = (rest + piece["text"]).split("\n")
            rest = lines.pop()
            for line in lines:
                yield line
        if rest:
            yield rest

    async def output(self) -> AsyncIterator[str]:
        """Its output from the beginning, as it arrives, with every byte that the program wrote."""
        async for piece in self._pieces(lines=False):
            yield piece["text"]

    async def screen(self) -> Screen:
        """The present screen of its terminal."""
        update = await self._session._request({"op": "screen", "handle": self.id})
        return Screen()._update(update)

    async def screens(self) -> AsyncIterator[Screen]:
        """The screen of its terminal, now and after every change until it has stopped. A slow reader skips intermediate screens."""
        screen = Screen()
        request: Dict[str, Any] = {"op": "screen", "handle": self.id, "wait": True}
        while not screen.ended:
            before = screen.generation
            screen = screen._update(await self._session._request(request))
            request["since"] = screen.generation
            if screen.generation != before:
                yield screen

    async def _pieces(self, lines: bool) -> AsyncIterator[OutputPiece]:
        start = 0
        while True:
            piece: OutputPiece = await self._session._request(
                {"op": "output", "handle": self.id, "from": start, "wait": True, "lines": lines}
            )
            if piece["text"]:
                yield piece
            if piece["ended"]:
                return
            start = piece["to"]

    async def _act(self, action: str, arguments: Dict[str, Any]) -> HandleView:
        content = await self._session._call(self.tool, {"action": action, "id": self.id, **arguments})
        self.view = cast(HandleView, content)
        return self.view

    async def __aenter__(self) -> "Handle":
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        if self.state != "stopped" and self._session._is_open:
            try:
                await self.abort()
            except ConnectionLost:
                pass
