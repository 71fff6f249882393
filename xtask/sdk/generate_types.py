#!/usr/bin/env python3
"""Writes the types of the Python and TypeScript packages from ``schemas/``.

``--check`` says whether they are fresh instead. It needs nothing but Python.
"""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILES = ["driveOutput", "driverRequest", "driverReport", "awaitRequest"]
PYTHON = ROOT / "python/src/windlass/types.py"
TYPESCRIPT = ROOT / "typescript/src/types.ts"


def load():
    """Every definition by its name; a file's own schema has the file's name."""
    definitions = {}
    for name in FILES:
        schema = json.loads((ROOT / f"schemas/{name}.schema.json").read_text())
        for key, value in schema.pop("$defs", {}).items():
            definitions.setdefault(key, value)
        schema.pop("$schema")
        schema.pop("title")
        definitions[name[0].upper() + name[1:]] = schema
    return definitions


class Model:
    """Objects and unions by name, in an order in which each comes after those that it extends."""

    def __init__(self, definitions):
        self.definitions = definitions
        #: name -> (description, bases, {field: (schema, required, description)})
        self.objects = {}
        #: name -> (description, schema)
        self.aliases = {}
        for name in sorted(definitions):
            self.add(name, definitions[name])

    def add(self, name, schema):
        description = schema.get("description", "")
        members = schema.get("oneOf") or schema.get("anyOf")
        if members and "properties" in schema:
            # Fields that every member has, beside those of the member.
            names = []
            for member in members:
                own = name + self.tag(member)
                self.extend(own, schema, member)
                names.append({"$ref": f"#/$defs/{own}"})
            self.aliases[name] = (description, {"anyOf": names})
        elif members:
            refs = []
            for place, member in enumerate(members):
                if "$ref" in member and "properties" not in member:
                    refs.append({"$ref": member["$ref"]})
                elif member.get("properties"):
                    own = name + (self.tag(member) or f"Member{place}")
                    self.extend(own, {}, member)
                    refs.append({"$ref": f"#/$defs/{own}"})
                else:
                    refs.append(member)
            self.aliases[name] = (description, {"anyOf": refs})
        elif "properties" in schema:
            self.extend(name, {}, schema)
        else:
            self.aliases[name] = (description, schema)

    def extend(self, name, common, member):
        fields = {}
        for part in (common, member):
            required = part.get("required", [])
            for field, schema in part.get("properties", {}).items():
                schema = self.inline(name, field, schema)
                fields[field] = (schema, field in required, schema.get("description", ""))
        bases = [member["$ref"].rpartition("/")[2]] if "$ref" in member else []
        self.objects[name] = (member.get("description", ""), bases, fields)

    def inline(self, name, field, schema):
        """Gives an object within an object a name of its own."""
        if schema.get("properties"):
            own = name + camel(field)
            self.add(own, schema)
            return {"$ref": f"#/$defs/{own}", "description": schema.get("description", "")}
        if schema.get("items", {}).get("properties"):
            own = name + camel(field)
            self.add(own, schema["items"])
            return {**schema, "items": {"$ref": f"#/$defs/{own}"}}
        return schema

    @staticmethod
    def tag(member):
        """The name of a member: its constant, or its only field."""
        properties = member.get("properties", {})
        for schema in properties.values():
            if "const" in schema:
                return camel(str(schema["const"]))
        return camel(next(iter(properties))) if properties else ""


def camel(name):
    return "".join(part[:1].upper() + part[1:] for part in name.replace("-", "_").split("_"))


def name_of(schema):
    return schema["$ref"].rpartition("/")[2]


# Python


def python_type(schema, quote=False):
    of = lambda inner: python_type(inner, quote)
    if "$ref" in schema:
        name = name_of(schema)
        return f'"{name}"' if quote else name
    if "const" in schema:
        return f"Literal[{schema['const']!r}]"
    if "enum" in schema:
        return "Literal[" + ", ".join(repr(value) for value in schema["enum"]) + "]"
    members = schema.get("oneOf") or schema.get("anyOf")
    if members:
        types = list(dict.fromkeys(of(member) for member in members))
        if "Any" in types:
            return "Any"
        return types[0] if len(types) == 1 else "Union[" + ", ".join(types) + "]"
    kind = schema.get("type")
    if isinstance(kind, list):
        types = [of({**schema, "type": one}) for one in kind]
        return "Union[" + ", ".join(types) + "]"
    if kind == "array":
        if "prefixItems" in schema:
            return "List[" + ("Union[" + ", ".join(dict.fromkeys(of(item) for item in schema["prefixItems"])) + "]" if len({of(item) for item in schema["prefixItems"]}) > 1 else of(schema["prefixItems"][0])) + "]"
        return f"List[{of(schema.get('items', {}))}]"
    if kind == "object":
        inner = schema.get("additionalProperties")
        return f"Dict[str, {of(inner) if isinstance(inner, dict) else 'Any'}]"
    return {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}.get(kind, "Any")


def python(model):
    out = [
        '"""The types of the wire, as ``TypedDict``.',
        "",
        "Generated from ``schemas/`` by ``xtask/sdk/generate_types.py``: do not edit.",
        '"""',
        "",
        "from __future__ import annotations",
        "",
        "from typing import Any, Dict, List, Literal, TypedDict, Union",
        "",
        f"__all__ = [",
        *(f'    "{name}",' for name in sorted([*model.objects, *model.aliases])),
        "]",
        "",
    ]
    done = set()

    def write(name):
        if name in done:
            return
        done.add(name)
        description, bases, fields = model.objects[name]
        for base in bases:
            write(base)
        required = {field: schema for field, (schema, is_required, _) in fields.items() if is_required}
        optional = {field: schema for field, (schema, is_required, _) in fields.items() if not is_required}
        keyword = lambda part: any(field in ("from", "class") for field in part)
        text = (description or "No more than its fields.").replace("\\", "\\\\")
        if not optional:
            python_class(name, bases, required, True, text, keyword(required))
            return
        python_class(f"_{name}", bases, required, True, "", keyword(required))
        if keyword(optional):
            python_class(f"_{name}Optional", [], optional, False, "", True)
            python_class(name, [f"_{name}", f"_{name}Optional"], {}, True, text, False)
        else:
            python_class(name, [f"_{name}"], optional, False, text, False)

    def python_class(name, bases, fields, total, text, keyword):
        out.append("")
        if keyword:
            assert not bases
            inner = ", ".join(f'"{field}": {python_type(schema, True)}' for field, schema in fields.items())
            rest = "" if total else ", total=False"
            out.extend([f'{name} = TypedDict("{name}", {{{inner}}}{rest})', ""])
            return
        parents = ", ".join(bases or ["TypedDict"])
        out.append(f"class {name}({parents}{'' if total else ', total=False'}):")
        if text:
            out.append(f'    """{text}"""')
            if fields:
                out.append("")
        for field, schema in fields.items():
            out.append(f"    {field}: {python_type(schema)}")
            if schema.get("description"):
                note = schema["description"].replace("\\", "\\\\")
                out.append(f'    """{note}"""')
        if not fields and not text:
            out.append("    pass")
        out.append("")

    for name in model.objects:
        write(name)
    left = dict(model.aliases)
    while left:
        for name in list(left):
            description, schema = left[name]
            # An alias in quotes within an alias is known late enough.
            waits = [other for other in left if other != name and f'"{other}"' in python_type(schema, True)]
            if waits:
                continue
            text = python_type(schema, True)
            for known in [*model.objects, *model.aliases]:
                text = text.replace(f'"{known}"', known)
            out.extend(["", f"{name} = {text}"])
            if description:
                out.append(f'"""{description}"""')
            del left[name]
    return "\n".join(out).replace("\n\n\n\n", "\n\n\n") + "\n"


# TypeScript


def typescript_type(schema):
    of = typescript_type
    if "$ref" in schema:
        return name_of(schema)
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    members = schema.get("oneOf") or schema.get("anyOf")
    if members:
        types = list(dict.fromkeys(of(member) for member in members))
        return "unknown" if "unknown" in types else " | ".join(types)
    kind = schema.get("type")
    if isinstance(kind, list):
        return " | ".join(of({**schema, "type": one}) for one in kind)
    if kind == "array":
        if "prefixItems" in schema:
            return "[" + ", ".join(of(item) for item in schema["prefixItems"]) + "]"
        inner = of(schema.get("items", {}))
        return f"({inner})[]" if " " in inner else f"{inner}[]"
    if kind == "object":
        inner = schema.get("additionalProperties")
        return f"Record<string, {of(inner) if isinstance(inner, dict) else 'unknown'}>"
    return {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}.get(kind, "unknown")


def typescript(model):
    out = [
        "// The types of the wire. Generated from `schemas/` by `xtask/sdk/generate_types.py`: do not edit.",
        "",
    ]
    for name in sorted(model.objects):
        description, bases, fields = model.objects[name]
        if description:
            out.append(f"/** {description} */")
        extends = f" extends {', '.join(bases)}" if bases else ""
        out.append(f"export interface {name}{extends} {{")
        for field, (schema, required, note) in fields.items():
            if note:
                out.append(f"  /** {note} */")
            out.append(f"  {field}{'' if required else '?'}: {typescript_type(schema)};")
        out.extend(["}", ""])
    for name in sorted(model.aliases):
        description, schema = model.aliases[name]
        if description:
            out.append(f"/** {description} */")
        out.extend([f"export type {name} = {typescript_type(schema)};", ""])
    return "\n".join(out[:-1]) + "\n"


def main():
    model = Model(load())
    stale = []
    for path, text in ((PYTHON, python(model)), (TYPESCRIPT, typescript(model))):
        if "--check" in sys.argv:
            if not path.exists() or path.read_text() != text:
                stale.append(str(path.relative_to(ROOT)))
        else:
            path.write_text(text)
    if stale:
        sys.exit(f"stale: {', '.join(stale)}; run `cargo xtask schemas`")


if __name__ == "__main__":
    main()
