"""Measures the overhead of the Python package over raw `drive`, and how fast it follows events. Prints JSON."""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import time

import windlass

CALLS = 1000
WARM = 100
EVENTS = 60_000
SPAWN = {"action": "spawn", "id": "x", "command": "sleep 600"}
FETCH = {"action": "fetch", "id": "x"}


class Raw:
    """The lines, and nothing else."""

    def __init__(self):
        self.process = subprocess.Popen([windlass.find_binary(), "drive"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.call(SPAWN)

    def call(self, arguments):
        line = json.dumps([{"id": "1", "tool": "shell", "arguments": arguments}])
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


async def overhead(runtime):
    raw = Raw()
    bare, packaged = [], []
    async with runtime.session() as session:
        handle = await session.spawn("shell", id="x", command="sleep 600")
        # One after the other, so that both have the same machine.
        for number in range(CALLS + WARM):
            start = time.perf_counter()
            raw.call(FETCH)
            middle = time.perf_counter()
            await handle.fetch()
            end = time.perf_counter()
            if number >= WARM:
                bare.append(middle - start)
                packaged.append(end - middle)
    raw.close()
    return statistics.median(bare) * 1000, statistics.median(packaged) * 1000


async def follow(runtime):
    async with runtime.session() as session:
        await session.spawn("shell", id="x", command="sleep 600")
        seen = missed = 0

        async def read():
            nonlocal seen, missed
            async for event in session.events():
                if event["type"] == "missed":
                    missed += event["count"]
                else:
                    seen += 1
                if seen + missed >= EVENTS:
                    return

        reader = asyncio.create_task(read())
        await asyncio.sleep(0.1)
        calls = [{"id": str(number), "name": "shell", "arguments": FETCH} for number in range(250)]
        start = time.perf_counter()
        while not reader.done():
            await session.run(calls)
        return seen, missed, seen / (time.perf_counter() - start)


async def main():
    async with windlass.Runtime() as runtime:
        bare, packaged = await overhead(runtime)
        seen, missed, rate = await follow(runtime)
    print(json.dumps({"raw_ms": bare, "package_ms": packaged, "events": seen, "missed": missed, "events_per_second": rate}))


asyncio.run(main())
