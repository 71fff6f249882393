"""For LangChain and LangGraph: ``create_agent(model, tools=tools(session))``."""

# pyright: reportMissingImports=false

from __future__ import annotations

from typing import Any, List

from langchain_core.tools import StructuredTool

from .._session import Session
from ._collect import callables

__all__ = ["tools"]


def tools(session: Session) -> List[Any]:
    """The tools of a session as ``StructuredTool``."""
    return [
        StructuredTool(name=tool["name"], description=tool["description"], args_schema=tool["parameters"], coroutine=run)
        for tool, run in callables(session)
    ]
