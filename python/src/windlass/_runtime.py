"""The runtime, which opens sessions."""

from __future__ import annotations

import asyncio
import os
from types import TracebackType
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Type, Union
from weakref import WeakSet

from . import _wire
from ._binary import find_binary
from ._errors import ConnectionLost
from ._session import Callback, Session
from .types import Ask, Notice, PermissionRequest, TurnEndHandle

__all__ = ["Runtime"]


class Runtime:
    """The tools of this machine, or those of a server.

    ``Runtime()`` starts the ``windlass`` program of this package, a process for each session, in the folder ``cwd``.
    ``Runtime(url=…, token=…)`` connects to ``windlass serve``; the token is that of ``WINDLASS_TOKEN`` unless given.
    """

    def __init__(
        self,
        *,
        url: Optional[str] = None,
        token: Optional[str] = None,
        binary: "Optional[Union[str, os.PathLike[str]]]" = None,
        cwd: "Optional[Union[str, os.PathLike[str]]]" = None,
        env: Optional[Mapping[str, str]] = None,
        arguments: Sequence[str] = (),
    ) -> None:
        if url is not None and (binary is not None or cwd is not None or env is not None or arguments):
            raise TypeError("a server has its own program, folder and environment; give `url` without them")
        self._url = url
        self._token = token
        self._binary = None if binary is None else os.fspath(binary)
        self._cwd = None if cwd is None else os.fspath(cwd)
        self._env = env
        self._arguments = list(arguments)
        # A session that is open is held by the event loop.
        self._sessions: WeakSet[Session] = WeakSet()

    def session(
        self,
        *,
        on_permission: Optional[Callback[PermissionRequest]] = None,
        on_question: Optional[Callback[Ask]] = None,
        on_inquiry: Optional[Callback[List[TurnEndHandle]]] = None,
        on_notice: Optional[Callback[Notice]] = None,
    ) -> Session:
        """A session, to be begun with ``async with``. Callbacks may be async.

        Without callbacks this program is trusted: nothing is asked, and questions of one-shots take their default or
        fail. ``on_permission`` answers ``once``, ``always`` or ``reject`` (or true and false, or
        ``{"reply", "message", "arguments"}``); ``on_question`` gives the answer, or ``None`` to decline;
        ``on_inquiry`` says what becomes of handles at the turn's end, ``{"id": "wait"}`` or ``"abort"``;
        ``on_notice`` hears the notices of every reply.
        """
        session = Session(
            self._open,
            on_permission=on_permission,
            on_question=on_question,
            on_inquiry=on_inquiry,
            on_notice=on_notice,
        )
        self._sessions.add(session)
        return session

    async def close(self) -> None:
        """Ends every session."""
        await asyncio.gather(*(session.close() for session in list(self._sessions)))

    async def __aenter__(self) -> "Runtime":
        if self._url is None and self._binary is None:
            self._binary = find_binary()
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        await self.close()

    async def _open(
        self,
        ask: bool,
        take: Callable[[Dict[str, Any]], None],
        lost: Callable[[ConnectionLost], None],
    ) -> _wire.Wire:
        if self._url is not None:
            token = self._token if self._token is not None else os.environ.get("WINDLASS_TOKEN")
            url = self._url
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(None, lambda: _wire.connect(url, token, ask=ask, take=take, lost=lost))
        # Ctrl-C is for this process, which then ends the runtime.
        arguments = [*self._arguments, "drive", "--ignore-interrupts", *(["--ask"] if ask else [])]
        binary = self._binary or find_binary()
        return _wire.start(binary, arguments, cwd=self._cwd, env=self._env, take=take, lost=lost)
