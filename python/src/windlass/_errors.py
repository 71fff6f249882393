"""The errors of this package."""

from __future__ import annotations

from typing import Sequence

__all__ = ["BinaryNotFound", "ConnectionLost", "Decline", "RequestRefused", "ToolError", "ToolFailed", "WindlassError"]


class WindlassError(Exception):
    """The base of every error of this package."""


class BinaryNotFound(WindlassError):
    """There is no ``windlass`` program to start."""


class ConnectionLost(WindlassError):
    """The runtime has ended, or the connection to it is gone."""


class RequestRefused(WindlassError):
    """The runtime refused a request. The message says what would work."""


class Decline(WindlassError):
    """Raised by ``on_question``: the question is declined, and its tool ends with this message."""


class ToolFailed(WindlassError):
    """A call was refused, or its tool failed. The message is the text that a model would get."""


class ToolError(WindlassError):
    """Raised by a tool written in Python, to report its failure.

    ``transient`` says that trying again may help; ``trace`` holds the causes, outermost first.
    """

    def __init__(self, message: str, *, transient: bool = False, trace: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.transient = transient
        self.trace = list(trace)
