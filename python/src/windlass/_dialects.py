"""Tools, calls and results in the dialects of model providers."""

from __future__ import annotations

import json
from typing import Any, Dict, Iterable, List, Literal, Mapping, Tuple

from .types import BatchReply, CallReply, Notice, ToolOffer

__all__ = ["Dialect", "dialect_of_parameters", "offered", "read_call", "reply_text", "results"]

Dialect = Literal["anthropic", "openai", "openai-responses", "mcp", "ollama", "llama-cpp", "json-schema"]
"""A provider's dialect. ``openai`` is Chat Completions and compatible APIs, ``json-schema`` the canonical form."""

_DIALECTS: Tuple[str, ...] = ("anthropic", "openai", "openai-responses", "mcp", "ollama", "llama-cpp", "json-schema")


def dialect_of_parameters(dialect: str) -> str:
    """The dialect of the parameters' schemas."""
    if dialect not in _DIALECTS:
        raise ValueError(f"{dialect!r} is not a dialect; use one of {', '.join(_DIALECTS)}")
    return "openai" if dialect == "openai-responses" else dialect


def offered(tool: ToolOffer, dialect: str) -> Dict[str, Any]:
    """A tool in the provider's format."""
    name, description, parameters = tool["name"], tool["description"], tool["parameters"]
    if dialect == "anthropic":
        return {"name": name, "description": description, "input_schema": parameters}
    if dialect == "mcp":
        return {"name": name, "description": description, "inputSchema": parameters}
    function = {"name": name, "description": description, "parameters": parameters}
    if dialect == "openai-responses":
        return {"type": "function", **function, "strict": False}
    if dialect in ("openai", "ollama", "llama-cpp"):
        return {"type": "function", "function": function}
    return function


def read_call(call: Any, place: int) -> Dict[str, Any]:
    """Converts a call from any provider's format to an entry of a batch.

    Known are ``{"id", "name", "arguments"}``, Anthropic's ``tool_use`` blocks, OpenAI's ``tool_calls`` and
    ``function_call`` items, as dictionaries or as the objects of their libraries.
    """
    if not isinstance(call, Mapping):
        if not hasattr(call, "model_dump"):
            raise TypeError(f"{call!r} is not a call; for example {{'id': '1', 'name': 'shell', 'arguments': {{'command': 'ls'}}}}")
        call = call.model_dump()
    # A call of a Responses item is answered by its `call_id`.
    id = call.get("call_id") or call.get("id") or str(place)
    function = call.get("function")
    if isinstance(function, Mapping):
        call = function
    name = call.get("tool") or call.get("name")
    arguments = call.get("arguments", call.get("input", {}))
    if isinstance(arguments, str):
        arguments = json.loads(arguments) if arguments.strip() else {}
    if not isinstance(name, str) or not isinstance(arguments, Mapping):
        raise TypeError(f"{call!r} is not a call: it needs a `name`, and `arguments` that are an object")
    return {"id": str(id), "tool": name, "arguments": arguments}


def reply_text(reply: CallReply) -> str:
    """A reply as one string for the model."""
    content = reply["content"]
    return content if isinstance(content, str) else json.dumps(content, separators=(",", ":"), ensure_ascii=False)


def results(reply: BatchReply, dialect: str) -> List[Dict[str, Any]]:
    """The replies in the provider's format. Notices are at the end of the last one."""
    texts = [reply_text(one) for one in reply["replies"]]
    notices = notice_text(reply.get("notices", []))
    if texts and notices:
        texts[-1] = f"{texts[-1]}\n\n{notices}" if texts[-1] else notices
    return [_result(one, text, dialect) for one, text in zip(reply["replies"], texts)]


def notice_text(notices: Iterable[Notice]) -> str:
    """Notices as text for the model."""
    return "\n".join(f"[notice] {notice['text']}" for notice in notices)


def _result(reply: CallReply, text: str, dialect: str) -> Dict[str, Any]:
    if dialect == "anthropic":
        result = {"type": "tool_result", "tool_use_id": reply["id"], "content": text}
        return {**result, "is_error": True} if reply["is_error"] else result
    if dialect == "openai-responses":
        return {"type": "function_call_output", "call_id": reply["id"], "output": text}
    return {"role": "tool", "tool_call_id": reply["id"], "content": text}
