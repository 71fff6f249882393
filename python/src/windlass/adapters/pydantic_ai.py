"""For Pydantic AI: ``Agent(model, tools=tools(session))``."""

# pyright: reportMissingImports=false

from __future__ import annotations

from typing import Any, List

from pydantic_ai import Tool

from .._session import Session
from ._collect import callables

__all__ = ["tools"]


def tools(session: Session) -> List[Any]:
    """The tools of a session as ``Tool``."""
    return [
        Tool.from_schema(  # pyright: ignore[reportAttributeAccessIssue]
            run, name=tool["name"], description=tool["description"], json_schema=tool["parameters"]
        )
        for tool, run in callables(session)
    ]
