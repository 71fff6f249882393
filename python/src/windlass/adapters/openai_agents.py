"""For the OpenAI Agents SDK: ``Agent(tools=tools(session))``."""

# pyright: reportMissingImports=false

from __future__ import annotations

import json
from typing import Any, Awaitable, Callable, List

from agents import FunctionTool

from .._session import Session
from ._collect import callables

__all__ = ["tools"]


def tools(session: Session) -> List[Any]:
    """The tools of a session as ``FunctionTool``."""

    def invoke(run: Callable[..., Awaitable[str]]) -> Callable[[Any, str], Awaitable[str]]:
        async def invoked(_context: Any, arguments: str) -> str:
            return await run(**json.loads(arguments or "{}"))

        return invoked

    return [
        FunctionTool(
            name=tool["name"],
            description=tool["description"],
            params_json_schema=tool["parameters"],
            on_invoke_tool=invoke(run),
            # Strict mode would make every parameter required.
            strict_json_schema=False,
        )
        for tool, run in callables(session)
    ]
