"""Runs a sitting with the Python client: `sit.py stdio WINDLASS` or `sit.py http URL TOKEN`."""

import asyncio
import json
import sys

import httpx2
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client


async def sit(session):
    await session.initialize()
    names = [tool.name for tool in (await session.list_tools()).tools]
    assert {"shell", "git", "await"} <= set(names), names

    async def call(name, **arguments):
        result = await session.call_tool(name, arguments)
        assert not result.is_error, result
        return result.structured_content

    spawned = await call("shell", action="spawn", id="cat", command="cat")
    assert spawned["state"] == "running", spawned
    applied = await call("shell", action="apply", id="cat", input="hello")
    assert applied["content"] == "hello\n", applied
    await call("shell", action="spawn", id="short", command="sleep 0.1; echo done")
    awaited = await call("await", all=["short"])
    assert awaited["completed"][0]["result"] == "done\n", awaited
    aborted = await call("shell", action="abort", id="cat")
    assert aborted["ended"] >= 1, aborted


async def main():
    how, where, *rest = sys.argv[1:]
    if how == "stdio":
        transport = stdio_client(StdioServerParameters(command=where, args=["mcp"]))
    else:
        client = httpx2.AsyncClient(headers={"Authorization": f"Bearer {rest[0]}"})
        transport = streamable_http_client(where, http_client=client)
    async with transport as (read, write, *_):
        async with ClientSession(read, write) as session:
            await sit(session)
    print(json.dumps("well"))


asyncio.run(main())
