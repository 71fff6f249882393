"""The test vectors that every client shares. ``vectors/README.md`` says what they mean."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import unittest
from typing import Any, Callable, Dict, List, Optional

import windlass

from .support import DEADLINE, ROOT, Project, eventually


class Mismatch(AssertionError):
    """A value does not fit."""


def expect(expected: Any, got: Any, place: str = "") -> None:
    if isinstance(expected, dict) and len(expected) == 1 and next(iter(expected)).startswith("$"):
        key, value = next(iter(expected.items()))
        if key == "$all":
            for one in value:
                expect(one, got, place)
            return
        if key == "$has":
            for field, inner in value.items():
                if not isinstance(got, dict):
                    raise Mismatch(f"{place}: {got!r} is not an object")
                expect(inner, got.get(field), f"{place}.{field}")
            return
        fits = {
            "$any": lambda: True,
            "$re": lambda: isinstance(got, str) and re.search(value, got) is not None,
            "$shorter": lambda: isinstance(got, str) and len(got) < value,
            "$without": lambda: value not in json.dumps(got),
        }[key]()
        if not fits:
            raise Mismatch(f"{place}: {got!r} does not fit {expected!r}")
    elif isinstance(expected, dict) and isinstance(got, dict):
        if expected.keys() != got.keys():
            raise Mismatch(f"{place}: fields {sorted(got)} instead of {sorted(expected)}: {got!r}")
        for field in expected:
            expect(expected[field], got[field], f"{place}.{field}")
    elif isinstance(expected, list) and isinstance(got, list):
        if len(expected) != len(got):
            raise Mismatch(f"{place}: {len(got)} instead of {len(expected)}: {got!r}")
        for number, (one, other) in enumerate(zip(expected, got)):
            expect(one, other, f"{place}[{number}]")
    elif type(expected) is not type(got) or expected != got:
        raise Mismatch(f"{place}: {got!r} is not {expected!r}")


def expanded(value: Any) -> Any:
    """A value with its ``times`` written out."""
    if isinstance(value, dict):
        return {key: expanded(inner) for key, inner in value.items()}
    if not isinstance(value, list):
        return value
    items: List[Any] = []
    for item in value:
        if isinstance(item, dict) and "$times" in item:
            count, item = item["$times"]
        elif isinstance(item, dict) and "times" in item:
            item = dict(item)
            count = item.pop("times")
        else:
            items.append(expanded(item))
            continue
        text = json.dumps(item)
        items.extend(json.loads(text.replace("$i", str(number))) for number in range(1, count + 1))
    return items


class Runner:
    def __init__(self, vector: Dict[str, Any], project: Project, patience: float) -> None:
        self.vector = vector
        self.project = project
        self.patience = patience
        self.batches: Dict[str, windlass.Batch] = {}
        self.events: List[Any] = []
        self.faults: List[BaseException] = []
        self.queues = {key: list(vector.get(key, [])) for key in ("permissions", "questions", "inquiries")}

    async def run(self) -> None:
        if "config" in self.vector:
            self.project.config(self.vector["config"])
        for name, text in self.vector.get("files", {}).items():
            (self.project.root / name).write_text(text)
        callbacks: Dict[str, Any] = {}
        if self.vector.get("ask"):
            callbacks = {"on_permission": self.permission, "on_question": self.question, "on_inquiry": self.inquiry}
        async with self.project.runtime() as runtime:
            async with runtime.session(**callbacks) as session:
                self.session = session
                follower = asyncio.create_task(self.follow())
                for tool in self.vector.get("tools", []):
                    self.add_tool(tool)
                try:
                    for step in self.vector["steps"]:
                        await asyncio.wait_for(self.step(step), DEADLINE)
                finally:
                    follower.cancel()
        if self.faults:
            raise self.faults[0]
        for key, rest in self.queues.items():
            if rest:
                raise Mismatch(f"never asked: {key}: {rest}")
        await self.project.wait_for_processes("", self.vector["left"], self.patience)

    async def follow(self) -> None:
        async for event in self.session.events(after=0):
            self.events.append(event)

    async def step(self, step: Dict[str, Any]) -> None:
        if "begin" in step:
            self.begin(step["begin"], step["run"])
        elif "run" in step:
            self.begin("run", step["run"])
            await self.finish("run", step)
        elif "cancel" in step:
            self.batches[step["cancel"]].cancel()
        elif "finish" in step:
            await self.finish(step["finish"], step)
        elif "turn_end" in step:
            expect(step["turn_end"], await self.session.end_turn())
        elif "event" in step:
            await eventually(str(step), lambda: any(fits({"$has": step["event"]}, event) for event in self.events))
        elif "lines" in step:
            lines = [line async for line in self.session.handle(step["lines"]).lines()]
            expect(step["are"], lines)
        elif "screen" in step:
            async for screen in self.session.handle(step["screen"]).screens():
                if step["shows"] in screen.text:
                    return
            raise Mismatch(f"never shown: {step['shows']}")
        elif "processes" in step:
            await self.project.wait_for_processes(step["processes"], step["count"], self.patience)
        elif "kill" in step:
            for pid in self.project.processes(step["kill"]):
                os.kill(pid, signal.SIGKILL)
        elif "touch" in step:
            (self.project.root / step["touch"]).touch()
        else:
            raise Mismatch(f"no runner knows this step: {step}")

    def begin(self, name: str, calls: Any) -> None:
        self.batches[name] = self.session.begin(expanded(calls))

    async def finish(self, name: str, step: Dict[str, Any]) -> None:
        reply = await self.batches.pop(name)
        expect(expanded(step["replies"]), reply["replies"])
        expect(step.get("notices", []), reply.get("notices", []))

    def next(self, key: str, got: Any) -> Dict[str, Any]:
        if not self.queues[key]:
            raise Mismatch(f"not expected: {got}")
        expected: Dict[str, Any] = self.queues[key].pop(0)
        return expected

    def noting(self, work: Callable[[], Any]) -> Any:
        """A fault within a callback is the vector's."""
        try:
            return work()
        except BaseException as fault:
            self.faults.append(fault)
            raise

    async def permission(self, request: Any) -> Any:
        def answer() -> Any:
            expected = self.next("permissions", request)
            expect(expected["request"], request)
            return expected["reply"]

        return self.noting(answer)

    async def question(self, ask: Any) -> Any:
        def answer() -> Any:
            expected = self.next("questions", ask)
            expect(expected["ask"], ask)
            return expected

        expected = self.noting(answer)
        if "decline" in expected:
            raise windlass.Decline(expected["decline"])
        return expected["value"]

    def inquiry(self, handles: Any) -> Any:
        def answer() -> Any:
            expected = self.next("inquiries", handles)
            expect(expected["handles"], [handle["id"] for handle in handles])
            return expected["decisions"]

        return self.noting(answer)

    def add_tool(self, tool: Dict[str, Any]) -> None:
        description = tool["tool"]

        async def play(ctx: windlass.Context, **arguments: Any) -> str:
            answer = ""
            for step in tool["script"]:
                if "output" in step:
                    ctx.print(step["output"])
                elif "question" in step:
                    question = step["question"]
                    answer = await ctx.ask(question["text"], id=question["id"], content=step.get("content"))
                elif "error" in step:
                    raise windlass.ToolError(**step["error"])
                elif "wait" in step:
                    await asyncio.Event().wait()
                elif "result" in step:
                    return str(step["result"].replace("$answer", answer))
            return ""

        nothing = {"type": "object", "properties": {}, "additionalProperties": False}
        self.session.tool(
            name=description["name"],
            description=description.get("summary"),
            parameters=description.get("parameters", nothing),
            background=description.get("background", False),
            unattended=description.get("unattended", False),
        )(play)


def fits(expected: Any, got: Any) -> bool:
    try:
        expect(expected, got)
    except Mismatch:
        return False
    return True


def load(name: str) -> List[Dict[str, Any]]:
    vectors: List[Dict[str, Any]] = json.loads((ROOT / "vectors" / name).read_text())["vectors"]
    return vectors


class Vectors(unittest.IsolatedAsyncioTestCase):
    async def test_wrong_vectors_fail(self) -> None:
        for vector in load("wrong.json"):
            with Project() as project, self.subTest(vector["name"]):
                with self.assertRaisesRegex(AssertionError, vector["fails"]):
                    await Runner(vector, project, 0.5).run()


def _test(vector: Dict[str, Any]) -> Callable[[Vectors], Any]:
    async def test(self: Vectors) -> None:
        with Project() as project:
            await Runner(vector, project, DEADLINE).run()

    return test


for _vector in load("scenarios.json"):
    setattr(Vectors, f"test_{_vector['name']}", _test(_vector))
