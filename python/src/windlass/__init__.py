"""Long-running tools for agent loops.

::

    async with windlass.Runtime() as runtime:
        async with runtime.session() as session:
            tools = session.tools("anthropic")
            reply = await session.run([{"id": "1", "name": "shell", "arguments": {"command": "ls"}}])

Start at :class:`Runtime`.
"""

from ._binary import find_binary
from ._dialects import Dialect, reply_text
from ._errors import BinaryNotFound, ConnectionLost, Decline, RequestRefused, ToolError, ToolFailed, WindlassError
from ._handle import Handle, Screen
from ._runtime import Runtime
from ._session import Batch, Event, Session
from ._tools import Context

__version__ = "0.1.0"

__all__ = [
    "Batch",
    "BinaryNotFound",
    "ConnectionLost",
    "Context",
    "Decline",
    "Dialect",
    "Event",
    "Handle",
    "RequestRefused",
    "Runtime",
    "Screen",
    "Session",
    "ToolError",
    "ToolFailed",
    "WindlassError",
    "find_binary",
    "reply_text",
]
