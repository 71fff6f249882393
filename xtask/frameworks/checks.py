"""The checks that every framework in Python is put through.

A driver defines `Framework` and calls `main(Framework())`:

- `transports`: the transports that the framework can use
- `open(server)`: an async context manager over one session, which gives `Tools`
- `per_call(server)`: the same with a session per call, for frameworks that do
  so by default; absent otherwise. Where there is no other way, `open` is it
  too, and checks over several calls are made in a named session alone

`Tools` has `schemas`, the schemas as the framework hands them to a model, by
name, and `call(name, arguments)`, which gives the text that the model reads.

One line of JSON is printed for each check: `{"check": …, "fault": … or null}`.
"""

import asyncio
import contextlib
import json
import os
import sys
import traceback
from dataclasses import dataclass, field


@dataclass
class Stdio:
    """`windlass mcp` as a child."""

    command: str
    args: list = field(default_factory=lambda: ["mcp"])
    env: dict = field(default_factory=lambda: dict(os.environ))


@dataclass
class Http:
    """`windlass mcp --http`."""

    url: str
    headers: dict


class Tools:
    """The tools of a session, as the framework made them."""

    def __init__(self, schemas, call, lenient=True):
        self.schemas = schemas
        # The framework passes values on that the schema does not admit.
        self.lenient = lenient
        self._call = call

    async def call(self, tool, **arguments):
        """The text of a result, or of an error."""
        if asyncio.iscoroutinefunction(self._call):
            result = await self._call(tool, arguments)
        else:
            result = await asyncio.to_thread(self._call, tool, arguments)
        return result if isinstance(result, str) else json.dumps(result, default=str)


def untyped(schema, path="", defs=None):
    """The paths of all properties that have no type."""
    found = []
    for name, value in (schema.get("properties") or {}).items():
        here = f"{path}/{name}"
        known = ("type", "anyOf", "oneOf", "allOf", "enum", "const", "$ref")
        if not isinstance(value, dict) or not any(key in value for key in known):
            found.append(here)
        else:
            found += untyped(value, here)
            if isinstance(value.get("items"), dict):
                found += untyped(value["items"], here + "/items")
    return found


def neutral(schema):
    """A value that the schema admits and that says nothing, as a model gives that must fill every field."""
    if "default" in schema:
        return schema["default"]
    branches = [schema, *schema.get("anyOf", [])]
    kinds = [kind for branch in branches for kind in as_list(branch.get("type"))]
    if "null" in kinds or schema.get("nullable"):
        return None
    for branch in branches:
        if branch.get("enum"):
            return branch["enum"][0]
    least = max([0] + [branch.get("minimum") or 0 for branch in branches])
    values = {"string": "", "array": [], "object": {}, "boolean": False, "integer": least, "number": least}
    kinds = [str(kind).lower() for kind in kinds]
    return next((values[kind] for kind in kinds if kind in values), None)


def as_list(value):
    return value if isinstance(value, list) else [value]


def contains(text, *wanted):
    plain = text.replace("\\", "")
    missing = [word for word in wanted if word not in plain]
    assert not missing, f"{missing} missing in {text[:600]}"


async def sits_well(tools):
    """One session: list, one-shot, handle."""
    missing = {"shell", "await", "git"} - set(tools.schemas)
    assert not missing, f"not offered: {missing}; offered: {list(tools.schemas)}"


async def has_types(tools):
    for name, schema in tools.schemas.items():
        bare = untyped(schema)
        assert not bare, f"{name}: properties without a type: {bare}"


async def one_shot(tools):
    contains(await tools.call("shell", command="echo one-$((20 + 3))"), "one-23")


async def failing(tools):
    contains(await tools.call("shell", command="echo broken; exit 7"), "broken", "7")


async def filled(tools):
    """Every field filled, as strict converters make a model do."""

    async def call(tool, **given):
        schema = tools.schemas[tool]["properties"]
        return await tools.call(tool, **{**{name: neutral(value) for name, value in schema.items()}, **given})

    contains(await call("shell", command="sleep 0.1; echo filled-$((40 + 2))"), "filled-42")
    zero = {"timeout_secs": 0, "rows": 0, "cols": 0}
    if tools.lenient:
        contains(await call("shell", command="sleep 0.1; echo zero-$((40 + 2))", **zero), "zero-42")
    contains(await call("shell", action="spawn", id="f", command="read line; sleep 1000"), "running")
    contains(await call("shell", action="fetch", id="f"), "running")
    contains(await call("await", until=[{"id": "f", "idle_secs": 0.1}], timeout_secs=20), "f")
    contains(await call("shell", action="abort", id="f"), "aborted")


async def handle(tools):
    command = "read line; echo got-$line; sleep 1000"
    contains(await tools.call("shell", action="spawn", id="j", command=command), "running")
    contains(await tools.call("shell", action="fetch", id="j"), "running")
    contains(await tools.call("shell", action="apply", id="j", input="word"), "got-word")
    contains(await tools.call("shell", action="spawn", id="k", command="echo over"), '"k"')
    contains(await tools.call("await", all=["k"]), "completed", "k")
    contains(await tools.call("shell", action="abort", id="j"), "aborted")


async def session_per_call(tools):
    await tools.call("shell", action="spawn", id="j", command="sleep 1000")
    said = await tools.call("shell", action="fetch", id="j")
    contains(said, "Handle `j` not found", "this session is new")


async def named_spawn(tools):
    contains(await tools.call("shell", action="spawn", id="n", command="sleep 1000"), "running")


async def named_fetch(tools):
    contains(await tools.call("shell", action="fetch", id="n"), "running")
    contains(await tools.call("shell", action="abort", id="n"), "aborted")


CHECKS = [
    ("list", sits_well),
    ("types", has_types),
    ("one-shot", one_shot),
    ("failing one-shot", failing),
    ("every field filled", filled),
    ("handle", handle),
]


async def check(name, server, opened, work):
    fault = None
    try:
        async with asyncio.timeout(60):
            async with opened(server) as tools:
                await work(tools)
    except BaseException as error:  # noqa: BLE001 - frameworks raise groups and cancellations
        fault = describe(error)
        if os.environ.get("VERBOSE"):
            traceback.print_exc()
    print(json.dumps({"check": name, "fault": fault}), flush=True)


def describe(error):
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"[:900]


def needs_session(work):
    return work in (filled, handle)


def only_per_call(framework):
    return getattr(framework, "only_per_call", False)


async def run(framework, windlass, url, token):
    bearer = {"Authorization": f"Bearer {token}"}
    servers = {"stdio": Stdio(windlass), "http": Http(url, bearer)}
    for transport in framework.transports:
        for name, work in CHECKS:
            if needs_session(work) and only_per_call(framework):
                continue
            await check(f"{transport}: {name}", servers[transport], framework.open, work)
        if hasattr(framework, "per_call"):
            name = f"{transport}: session per call"
            await check(name, servers[transport], framework.per_call, session_per_call)
    if "http" in framework.transports:
        named = Http(url, {**bearer, "Windlass-Session": f"of-{os.getpid()}"})
        opened = getattr(framework, "per_call", framework.open)
        await check("http: named session, spawn", named, opened, named_spawn)
        await check("http: named session, fetch", named, opened, named_fetch)
        if only_per_call(framework):
            for name, work in CHECKS:
                if needs_session(work):
                    await check(f"http: named session, {name}", named, opened, work)


@contextlib.asynccontextmanager
async def in_thread(make):
    """A synchronous context manager as an asynchronous one."""
    opened = await asyncio.to_thread(make)
    value = await asyncio.to_thread(opened.__enter__)
    try:
        yield value
    finally:
        await asyncio.to_thread(opened.__exit__, None, None, None)


def main(framework):
    windlass, url, token = sys.argv[1:4]
    asyncio.run(run(framework, windlass, url, token))
    # Some frameworks leave threads behind that never end.
    sys.stdout.flush()
    os._exit(0)
