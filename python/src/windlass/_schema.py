"""From the signature of a function to the JSON Schema of its arguments, and back to values."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import types
import typing
from typing import Any, Callable, Dict, List, Literal, Mapping, Tuple, Type, Union, get_args, get_origin, get_type_hints

__all__ = ["Signature", "read_signature"]

_PLAIN: Dict[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


class Signature:
    """The parameters of a function, for a model."""

    def __init__(self, schema: Dict[str, Any], hints: Mapping[str, Any], context: "str | None") -> None:
        self.schema = schema
        self._hints = hints
        #: The parameter that takes the context, if there is one.
        self.context = context

    def values(self, arguments: Mapping[str, Any]) -> Dict[str, Any]:
        """Converts arguments to the types of the function."""
        return {name: convert(self._hints.get(name, Any), value) for name, value in arguments.items()}


def read_signature(function: Callable[..., Any], context_type: Type[Any]) -> Signature:
    """Reads a function's type hints. A parameter of ``context_type`` is hidden from the model."""
    hints = get_type_hints(function, include_extras=True)
    properties: Dict[str, Any] = {}
    required: List[str] = []
    context = None
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise TypeError(f"parameter `{name}` of {function.__name__}() cannot be given by name")
        hint = hints.get(name, Any)
        if hint is context_type:
            context = name
            continue
        properties[name] = schema_of(hint)
        if parameter.default is parameter.empty:
            required.append(name)
        elif _is_json(parameter.default):
            properties[name]["default"] = parameter.default
    schema: Dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    if required:
        schema["required"] = required
    return Signature(schema, hints, context)


def schema_of(hint: Any) -> Dict[str, Any]:
    """The JSON Schema of a type."""
    if hint in (Any, inspect.Parameter.empty):
        return {}
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is typing.Annotated:
        schema = schema_of(arguments[0])
        for note in arguments[1:]:
            if isinstance(note, str):
                schema["description"] = note
            elif isinstance(note, Mapping):
                schema.update(note)
        return schema
    if origin is Literal:
        return _with_type({"enum": list(arguments)}, arguments)
    if origin is Union or origin is types.UnionType:
        members = [schema_of(member) for member in arguments]
        plain = [member["type"] for member in members if list(member) == ["type"] and isinstance(member["type"], str)]
        if len(plain) == len(members):
            return {"type": plain}
        return {"anyOf": members}
    return _of_class(hint, origin, arguments)


def _of_class(hint: Any, origin: Any, arguments: Tuple[Any, ...]) -> Dict[str, Any]:
    if origin is tuple:
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return {"type": "array", "items": schema_of(arguments[0])}
        items = [schema_of(item) for item in arguments]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
    kind: Any = origin or hint
    if isinstance(kind, type):
        if issubclass(kind, enum.Enum):
            values = [member.value for member in kind]
            return _with_type({"enum": values}, values)
        if hasattr(kind, "model_json_schema"):
            return dict(kind.model_json_schema())
        if dataclasses.is_dataclass(kind):
            return _of_dataclass(kind)
        if typing.is_typeddict(kind):
            return _of_fields(get_type_hints(kind, include_extras=True), getattr(kind, "__required_keys__"))
        if issubclass(kind, (list, set, frozenset)) or kind.__module__ == "collections.abc" and not issubclass(kind, typing.Mapping):
            return {"type": "array", "items": schema_of(arguments[0])} if arguments else {"type": "array"}
        if issubclass(kind, (dict, typing.Mapping)):
            inner = schema_of(arguments[1]) if len(arguments) == 2 else {}
            return {"type": "object", **({"additionalProperties": inner} if inner else {})}
    raise TypeError(f"{hint!r} has no JSON Schema; give the tool its `parameters`")


def _of_dataclass(kind: Any) -> Dict[str, Any]:
    missing = dataclasses.MISSING
    fields = dataclasses.fields(kind)
    required = [field.name for field in fields if field.default is missing and field.default_factory is missing]
    return _of_fields(get_type_hints(kind, include_extras=True), required)


def _of_fields(hints: Mapping[str, Any], required: typing.Iterable[str]) -> Dict[str, Any]:
    names = set(required)
    properties = {name: schema_of(hint) for name, hint in hints.items()}
    schema: Dict[str, Any] = {"type": "object", "properties": properties}
    if names:
        schema["required"] = [name for name in properties if name in names]
    return schema


def _with_type(schema: Dict[str, Any], values: typing.Iterable[Any]) -> Dict[str, Any]:
    kinds = {_PLAIN.get(type(value)) for value in values}
    if len(kinds) == 1 and None not in kinds:
        return {"type": kinds.pop(), **schema}
    return schema


def _is_json(value: Any) -> bool:
    return value is None or isinstance(value, (str, int, float, bool))


def convert(hint: Any, value: Any) -> Any:
    """Converts a JSON value to its type: an enumeration, a dataclass, a model."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is typing.Annotated:
        return convert(arguments[0], value)
    if origin is Union or origin is types.UnionType:
        inner = [member for member in arguments if member is not type(None)]
        return convert(inner[0], value) if value is not None and len(inner) == 1 else value
    if origin in (list, set, frozenset, tuple) and isinstance(value, list) and arguments:
        last = len(arguments) - 1
        items = [convert(arguments[min(place, last)] if origin is tuple and arguments[-1] is not Ellipsis else arguments[0], item) for place, item in enumerate(value)]
        return origin(items)
    if isinstance(hint, type):
        if issubclass(hint, enum.Enum):
            return hint(value)
        if hasattr(hint, "model_validate"):
            return hint.model_validate(value)
        if dataclasses.is_dataclass(hint) and isinstance(value, Mapping):
            hints = get_type_hints(hint, include_extras=True)
            return hint(**{name: convert(hints.get(name, Any), item) for name, item in value.items()})
        if hint in (set, frozenset, tuple) and isinstance(value, list):
            return hint(value)
        if hint is float and isinstance(value, int) and not isinstance(value, bool):
            return float(value)
    return value
