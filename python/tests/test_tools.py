"""Tools that are written in Python."""

from __future__ import annotations

import asyncio
import dataclasses
import enum
import subprocess
import sys
import threading
import unittest
from typing import Annotated, Any, Dict, List, Literal, Optional, TypedDict, Union

import windlass
from windlass._schema import convert, schema_of

from .support import ROOT, Project, eventually


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0


class Options(TypedDict, total=False):
    deep: bool


class Schemas(unittest.TestCase):
    def test_types_become_schemas(self) -> None:
        for hint, schema in [
            (str, {"type": "string"}),
            (Any, {}),
            (Optional[int], {"type": ["integer", "null"]}),
            (List[str], {"type": "array", "items": {"type": "string"}}),
            (list, {"type": "array"}),
            (Dict[str, float], {"type": "object", "additionalProperties": {"type": "number"}}),
            (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
            (Colour, {"type": "string", "enum": ["red", "blue"]}),
            (Annotated[int, "How many."], {"type": "integer", "description": "How many."}),
            (Union[int, List[int]], {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "integer"}}]}),
            (Point, {"type": "object", "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}}, "required": ["x"]}),
            (Options, {"type": "object", "properties": {"deep": {"type": "boolean"}}}),
        ]:
            with self.subTest(hint=hint):
                self.assertEqual(schema_of(hint), schema)
        with self.assertRaisesRegex(TypeError, "give the tool its `parameters`"):
            schema_of(threading.Lock)

    def test_values_become_what_the_types_say(self) -> None:
        self.assertEqual(convert(Colour, "red"), Colour.RED)
        self.assertEqual(convert(List[Point], [{"x": 1}]), [Point(1)])
        self.assertEqual(convert(Optional[Colour], None), None)
        self.assertEqual(convert(float, 1), 1.0)

    def test_the_generated_types_are_fresh(self) -> None:
        script = ROOT / "xtask/sdk/generate_types.py"
        subprocess.run([sys.executable, str(script), "--check"], check=True)


class Tools(unittest.IsolatedAsyncioTestCase):
    def setUp(self) -> None:
        self.project = Project()
        self.addCleanup(self.project.__exit__)

    async def test_a_decorated_function_is_a_tool(self) -> None:
        async with self.project.runtime() as runtime, runtime.session() as session:

            @session.tool
            async def paint(where: Point, colour: Colour = Colour.RED, note: Annotated[str, "A remark."] = "") -> Dict[str, Any]:
                """Paints a point.

                It dries within the hour.
                """
                return {"x": where.x, "colour": colour.name, "note": note}

            offered = next(tool for tool in session.tools("openai") if tool["function"]["name"] == "paint")["function"]
            self.assertEqual(offered["description"], "Paints a point.")
            self.assertEqual(offered["parameters"]["required"], ["where"])
            self.assertEqual(await session.call("paint", where={"x": 3}, colour="blue"), '{"x": 3, "colour": "BLUE", "note": ""}')
            with self.assertRaisesRegex(windlass.ToolFailed, "where"):
                await session.call("paint", colour="blue")
            self.assertEqual((await paint(Point(1)))["x"], 1, "it is still a function")

    async def test_a_function_without_async_runs_in_a_thread(self) -> None:
        async with self.project.runtime() as runtime, runtime.session() as session:
            threads: List[str] = []

            @session.tool
            def slow(ctx: windlass.Context) -> None:
                """Takes its time."""
                threads.append(threading.current_thread().name)
                ctx.print("working")

            self.assertEqual(await session.call("slow"), "")
            self.assertNotEqual(threads, [threading.current_thread().name])

    async def test_a_tool_fails_with_its_words(self) -> None:
        async with self.project.runtime() as runtime, runtime.session() as session:

            @session.tool
            async def fetch(url: str) -> str:
                """Fetches."""
                try:
                    raise OSError("no route")
                except OSError as error:
                    raise windlass.ToolError("the host is away", transient=True, trace=["no route"]) from error

            reply = (await session.run([{"id": "1", "name": "fetch", "arguments": {"url": "x"}}]))["replies"][0]
            self.assertTrue(reply["is_error"])
            self.assertIn("the host is away", reply["content"])
            self.assertEqual(reply["error"], {"transient": True, "trace": ["no route"]})

            @session.tool
            async def broken() -> None:
                """Is broken."""
                raise ValueError("bad value")

            with self.assertRaisesRegex(windlass.ToolFailed, "ValueError: bad value"):
                await session.call("broken")

    async def test_a_tool_asks_the_person(self) -> None:
        asked: List[Any] = []

        async def answer(ask: Any) -> str:
            asked.append(ask)
            return "blue"

        async with self.project.runtime() as runtime, runtime.session(on_question=answer) as session:

            @session.tool
            async def choose(ctx: windlass.Context) -> str:
                """Chooses."""
                return "chose " + await ctx.ask("Which?", options=["red", "blue"], content="two pots")

            self.assertEqual(await session.call("choose"), "chose blue")
            self.assertEqual(asked[0]["question"]["answer_type"], {"Select": {"options": ["red", "blue"]}})
            self.assertEqual(asked[0]["content"], "two pots")

    async def test_a_tool_lasts_and_is_ended(self) -> None:
        ended: List[str] = []
        async with self.project.runtime() as runtime, runtime.session() as session:

            @session.tool(background=True)
            async def watch(ctx: windlass.Context, count: int) -> str:
                """Watches."""
                try:
                    for number in range(count):
                        ctx.print(f"{ctx.handle} {number}")
                    if await ctx.ask("Go on?", boolean=True):
                        ctx.print("goes on")
                        await asyncio.Event().wait()
                    return "stopped"
                except asyncio.CancelledError:
                    ended.append("cancelled")
                    raise

            handle = await session.spawn("watch", id="w", count=2)
            self.assertEqual(handle.state, "waiting")
            self.assertEqual(handle.view.get("content"), "w 0\nw 1")
            await handle.apply(True)
            self.assertEqual((handle.state, handle.view.get("content")), ("running", "goes on"))
            await handle.abort()
            self.assertEqual((handle.state, ended), ("stopped", ["cancelled"]))
            other = await session.spawn("watch", id="v", count=0)
            await other.apply(False)
            self.assertEqual(other.result, "stopped")

    async def test_a_tool_calls_the_session_that_called_it(self) -> None:
        async with self.project.runtime() as runtime, runtime.session() as session:

            @session.tool
            async def twice(ctx: windlass.Context, command: str) -> str:
                """Runs a command twice."""
                return str(await ctx.session.call("shell", command=command) + await ctx.session.call("shell", command=command))

            self.assertEqual(await session.call("twice", command="echo x"), "x\nx\n")

    async def test_a_name_that_is_taken_is_refused(self) -> None:
        async with self.project.runtime() as runtime, runtime.session() as session:
            with self.assertRaisesRegex(windlass.RequestRefused, "built-in"):

                @session.tool(name="shell")
                async def mine() -> None:
                    """Mine."""

    async def test_what_runs_ends_with_the_session(self) -> None:
        ended: List[str] = []
        async with self.project.runtime() as runtime:
            async with runtime.session() as session:

                @session.tool(background=True)
                async def stay() -> None:
                    """Stays."""
                    try:
                        await asyncio.Event().wait()
                    finally:
                        ended.append("ended")

                await session.spawn("stay", id="s")
            await eventually("the tool has ended", lambda: ended == ["ended"])
