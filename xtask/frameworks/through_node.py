"""Frameworks for Node: the driver is a program that reads calls and prints results, a line of JSON each.

`NODE` is the program that runs it, `DRIVER` the module; it is started once for each session.
"""

import asyncio
import contextlib
import dataclasses
import json
import os

from checks import Tools, main


class Framework:
    transports = ("stdio", "http")

    @contextlib.asynccontextmanager
    async def open(self, server):
        child = await asyncio.create_subprocess_exec(
            os.environ["NODE"],
            os.environ["DRIVER"],
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=1 << 24,
        )

        async def ask(question):
            child.stdin.write(json.dumps(question).encode() + b"\n")
            line = await child.stdout.readline()
            assert line, "the driver has gone"
            answer = json.loads(line)
            assert "fault" not in answer, answer["fault"]
            return answer

        try:
            listed = await ask(dataclasses.asdict(server))

            async def call(name, arguments):
                return (await ask({"name": name, "arguments": arguments}))["result"]

            yield Tools(listed["schemas"], call, listed["lenient"])
        finally:
            child.stdin.close()
            await child.wait()


main(Framework())
