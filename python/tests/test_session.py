"""Sessions as a program uses them."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import subprocess
import sys
import unittest
from typing import Any, List, Optional, cast

import windlass
from windlass import _session

from .support import ROOT, Project, Serve, eventually


class Sessions(unittest.IsolatedAsyncioTestCase):
    def setUp(self) -> None:
        self.project = Project()
        self.addCleanup(self.project.__exit__)

    async def test_the_example_of_the_guide(self) -> None:
        async def ask(request: Any) -> str:
            return "once"

        async def answer(question: Any) -> str:
            return "yes"

        (self.project.root / "Makefile").write_text("all:\n\t@echo one\n\t@echo two\n")
        async with self.project.runtime() as runtime:
            async with runtime.session(on_permission=ask, on_question=answer) as session:
                tools = session.tools("anthropic")
                self.assertEqual([tool["name"] for tool in tools], ["shell", "git", "await"])
                self.assertIn("input_schema", tools[0])
                reply = await session.run([{"id": "1", "name": "shell", "arguments": {"command": "echo hello"}}])
                self.assertEqual(reply["replies"][0]["content"], "hello\n")
                build = await session.spawn("shell", id="build", command="printf 'one\\ntwo\\n'")
                self.assertEqual([line async for line in build.lines()], ["one", "two"])
                done = await session.wait(all=[build], timeout=60)
                self.assertEqual(done["completed"][0]["state"], "stopped")
                self.assertEqual(build.state, "stopped")

    async def test_calls_of_every_provider_are_read(self) -> None:
        async with self.project.runtime() as runtime, runtime.session() as session:
            arguments = {"command": "echo hi"}
            reply = await session.run(
                [
                    {"id": "a", "name": "shell", "arguments": arguments},
                    {"type": "tool_use", "id": "b", "name": "shell", "input": arguments},
                    {"id": "c", "type": "function", "function": {"name": "shell", "arguments": json.dumps(arguments)}},
                    {"type": "function_call", "id": "fc", "call_id": "d", "name": "shell", "arguments": json.dumps(arguments)},
                ]
            )
            self.assertEqual([one["id"] for one in reply["replies"]], ["a", "b", "c", "d"])
            self.assertEqual({one["content"] for one in reply["replies"]}, {"hi\n"})
            self.assertEqual(
                session.results(reply, "anthropic")[0], {"type": "tool_result", "tool_use_id": "a", "content": "hi\n"}
            )
            self.assertEqual(
                session.results(reply, "openai-responses")[3], {"type": "function_call_output", "call_id": "d", "output": "hi\n"}
            )
            with self.assertRaises(TypeError):
                await session.run(["ls"])

    async def test_a_refused_call_is_an_error_that_says_what_would_work(self) -> None:
        async with self.project.runtime() as runtime, runtime.session() as session:
            with self.assertRaisesRegex(windlass.ToolFailed, "shell"):
                await session.call("nosuch")
            with self.assertRaisesRegex(ValueError, "anthropic"):
                session.tools("klingon")  # type: ignore[arg-type]
            with self.assertRaises(windlass.RequestRefused):
                await session.handle("nosuch").screen()
            self.assertEqual(await session.call("shell", command="echo on"), "on\n")

    async def test_a_handle_in_a_block_ends_with_it(self) -> None:
        async with self.project.runtime() as runtime, runtime.session() as session:
            async with await session.spawn("shell", id="x", command="sleep 3700.1") as handle:
                await self.project.wait_for_processes("^sleep 3700", 1)
            self.assertEqual(handle.state, "stopped")
            self.assertIn("ended", handle.view)
            await self.project.wait_for_processes("^sleep 3700", 0)

    async def test_a_cancelled_run_ends_its_one_shots(self) -> None:
        async with self.project.runtime() as runtime, runtime.session() as session:
            task = asyncio.create_task(session.call("shell", command="sleep 3700.2"))
            await self.project.wait_for_processes("^sleep 3700", 1)
            task.cancel()
            await self.project.wait_for_processes("^sleep 3700", 0)
            with self.assertRaises(asyncio.CancelledError):
                await task
            self.assertEqual(await session.call("shell", command="echo on"), "on\n")

    async def test_a_session_that_is_left_with_calls_under_way_ends_at_once(self) -> None:
        async with self.project.runtime() as runtime:
            async with runtime.session() as session:
                await session.spawn("shell", id="x", command="sleep 3700.3")
                waiting = asyncio.create_task(session.wait(all=["x"]))
                await self.project.wait_for_processes("^sleep 3700", 1)
                await eventually("the wait is under way", lambda: bool(session._batches))
            with self.assertRaises((windlass.ToolFailed, windlass.ConnectionLost)):
                await waiting
            await self.project.wait_for_processes("", 0)
            with self.assertRaises(windlass.ConnectionLost):
                await session.call("shell", command="true")

    async def test_notices_are_told_once(self) -> None:
        notices: List[Any] = []
        async with self.project.runtime() as runtime, runtime.session(on_notice=notices.append) as session:
            seen = asyncio.create_task(_until(session, "noticed"))
            await asyncio.sleep(0)
            await session.spawn("shell", id="x", command="until [ -e go ]; do sleep 0.01; done; exit 3")
            (self.project.root / "go").touch()
            await seen
            reply = await session.run([{"id": "1", "name": "shell", "arguments": {"command": "true"}}])
            self.assertEqual([notice["handle"] for notice in notices], ["x"])
            self.assertIn("[notice] ", session.results(reply, "anthropic")[-1]["content"])
            await session.call("shell", command="true")
            self.assertEqual(len(notices), 1)

    async def test_two_readers_have_every_event(self) -> None:
        async with self.project.runtime() as runtime, runtime.session() as session:
            await session.call("shell", command="true")
            first = asyncio.create_task(_until(session, "turn_ended"))
            await asyncio.sleep(0)
            second = asyncio.create_task(_until(session, "turn_ended"))
            await session.call("shell", command="true")
            await session.end_turn()
            for events in (await first, await second):
                numbers = [event["number"] for event in events]
                self.assertEqual(numbers, list(range(1, len(numbers) + 1)))

    async def test_a_later_reader_takes_nothing_from_an_earlier_one(self) -> None:
        async with self.project.runtime() as runtime, runtime.session() as session:
            await session.call("shell", command="true")
            earlier = _session._Reader(0)
            session._readers.add(earlier)
            later = asyncio.create_task(_until(session, "turn_ended", after=None))
            await eventually("both read", lambda: len(session._readers) == 2)
            await session.end_turn()
            last = (await later)[-1]["number"]
            await eventually("it has all", lambda: earlier.seen == last)
            taken = [cast(Any, earlier.queue.get_nowait())["number"] for _ in range(earlier.queue.qsize())]
            self.assertEqual(taken, list(range(1, last + 1)))

    async def test_a_reader_from_the_beginning_waits_for_its_first_event(self) -> None:
        async with self.project.runtime() as runtime, runtime.session() as session:
            reader = _session._Reader(0)
            session._readers.add(reader)
            for number in (12, 1, 2, 2, 13, 3):
                session._take({"event": "update", "number": number})
            session._take({"event": "missed", "count": 5})
            session._take({"event": "update", "number": 9})
            session._readers.discard(reader)
            taken = [reader.queue.get_nowait() for _ in range(reader.queue.qsize())]
            self.assertEqual([cast(Any, event).get("number") for event in taken], [1, 2, 3, None, 9])

    async def test_a_callback_that_fails_rejects(self) -> None:
        def broken(request: Any) -> str:
            raise KeyError("oops")

        async with self.project.runtime() as runtime, runtime.session(on_permission=broken) as session:
            with self.assertLogs("windlass", "ERROR"), self.assertRaisesRegex(windlass.ToolFailed, "oops"):
                await session.call("shell", command="true")

    async def test_a_terminal_has_a_screen(self) -> None:
        async with self.project.runtime() as runtime, runtime.session() as session:
            vim = await session.spawn("shell", id="v", command="printf 'one\\ntwo'; sleep 3700.4", terminal=True, rows=4, cols=20)
            async for screen in vim.screens():
                if "two" in screen.text:
                    break
            self.assertEqual(screen.rows, ["one", "two", "", ""])
            self.assertEqual(screen.size, (4, 20))
            self.assertEqual((await vim.screen()).text, "one\ntwo")

    async def test_a_runtime_that_dies_is_told(self) -> None:
        async with self.project.runtime() as runtime, runtime.session() as session:
            waiting = asyncio.create_task(session.call("shell", command="sleep 3700.5"))
            await self.project.wait_for_processes("^sleep 3700", 1)
            os.kill(session.info["pid"], 9)
            with self.assertRaises(windlass.ConnectionLost):
                await waiting
            await self.project.wait_for_processes("^sleep 3700", 0)

    async def test_a_config_that_does_not_load_is_told(self) -> None:
        self.project.config("this is not = = toml")
        async with self.project.runtime() as runtime:
            with self.assertRaisesRegex(windlass.ConnectionLost, "config.toml"):
                async with runtime.session():
                    self.fail("there is no session")

    async def test_a_session_that_has_ended_is_not_kept(self) -> None:
        async with self.project.runtime() as runtime:
            for _ in range(3):
                async with runtime.session() as session:
                    self.assertEqual(await session.call("shell", command="echo on"), "on\n")
            del session
            gc.collect()
            self.assertEqual(len(runtime._sessions), 0)

    async def test_a_program_that_is_not_there_is_told(self) -> None:
        with self.assertRaises(FileNotFoundError):
            async with windlass.Runtime(binary="/nowhere/windlass") as runtime, runtime.session():
                self.fail("there is no session")


async def _until(session: windlass.Session, kind: str, after: Optional[int] = 0) -> List[Any]:
    events: List[Any] = []
    async for event in session.events(after=after):
        events.append(event)
        if event["type"] == kind:  # type: ignore[typeddict-item]
            return events
    raise AssertionError(f"no {kind}")


class Servers(unittest.IsolatedAsyncioTestCase):
    def setUp(self) -> None:
        self.project = Project()
        self.addCleanup(self.project.__exit__)

    async def test_a_server_is_as_good_as_a_process(self) -> None:
        asked: List[Any] = []

        def ask(request: Any) -> str:
            asked.append(request)
            return "once"

        with Serve(self.project) as serve:
            async with windlass.Runtime(url=serve.url, token=serve.token) as runtime:
                async with runtime.session(on_permission=ask) as session:

                    @session.tool(unattended=True)
                    async def add(left: int, right: int) -> int:
                        """Adds two numbers."""
                        return left + right

                    self.assertEqual([tool["name"] for tool in session.tools()][-1], "add")
                    self.assertEqual(await session.call("add", left=40, right=2), "42")
                    self.assertEqual(await session.call("shell", command="echo hello"), "hello\n")
                    self.assertEqual(len(asked), 1)
                    flood = await session.spawn("shell", id="flood", command="seq 1 100000")
                    lines = [line async for line in flood.lines()]
                    self.assertEqual((len(lines), lines[-1]), (100000, "100000"))
                    await session.spawn("shell", id="x", command="sleep 3701.1")
                    await self.project.wait_for_processes("^sleep 3701", 1)
                await self.project.wait_for_processes("^sleep 3701", 0)

    async def test_a_server_that_dies_is_told_and_one_that_comes_back_is_used(self) -> None:
        with Serve(self.project) as serve:
            async with windlass.Runtime(url=serve.url, token=serve.token) as runtime:
                async with runtime.session() as session:
                    waiting = asyncio.create_task(session.call("shell", command="sleep 3701.2"))
                    await self.project.wait_for_processes("^sleep 3701", 1)
                    serve.kill()
                    with self.assertRaises(windlass.ConnectionLost):
                        await waiting
                with self.assertRaisesRegex(windlass.ConnectionLost, "there is no server"):
                    async with runtime.session():
                        self.fail("there is no server")
                with Serve(self.project, serve.url.partition("://")[2]):
                    async with runtime.session() as session:
                        self.assertEqual(await session.call("shell", command="echo back"), "back\n")

    async def test_a_wrong_token_is_refused(self) -> None:
        with Serve(self.project) as serve:
            async with windlass.Runtime(url=serve.url, token="wrong") as runtime:
                with self.assertRaisesRegex(windlass.RequestRefused, "401"):
                    async with runtime.session():
                        self.fail("there is no session")


class Crashes(unittest.IsolatedAsyncioTestCase):
    async def test_ctrl_c_is_for_the_program(self) -> None:
        with Project() as project:
            async with project.runtime() as runtime, runtime.session() as session:
                os.kill(session.info["pid"], 2)
                self.assertEqual(await session.call("shell", command="echo on"), "on\n")

    async def test_a_killed_program_leaves_nothing(self) -> None:
        program = """
import asyncio, sys, windlass
async def main():
    async with windlass.Runtime() as runtime, runtime.session() as session:
        await session.spawn("shell", id="tree", command="sleep 3702.1 & setsid sleep 3702.2 & (nohup sleep 3702.3 >/dev/null 2>&1 &); wait")
        await session.spawn("shell", id="term", command="sleep 3702.4", terminal=True)
        await session.call("shell", command="sleep 3702.5")
asyncio.run(main())
"""
        with Project() as project:
            env = {**project.env, "PYTHONPATH": str(ROOT / "python/src"), "WINDLASS_BIN": windlass.find_binary()}
            process = subprocess.Popen([sys.executable, "-c", program], env=env, cwd=project.root)
            await project.wait_for_processes("^sleep 3702", 5)
            process.kill()
            process.wait()
            await project.wait_for_processes("", 0)


if __name__ == "__main__":
    unittest.main()
