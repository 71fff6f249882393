"""Haystack: `mcp-haystack`."""

import asyncio
import contextlib

from haystack_integrations.tools.mcp import MCPToolset, StdioServerInfo, StreamableHttpServerInfo

from checks import Stdio, Tools, main


class Framework:
    transports = ("stdio", "http")

    @contextlib.asynccontextmanager
    async def open(self, server):
        if isinstance(server, Stdio):
            info = StdioServerInfo(command=server.command, args=server.args, env=server.env)
        else:
            info = StreamableHttpServerInfo(url=server.url, headers=server.headers)
        toolset = await asyncio.to_thread(lambda: MCPToolset(info, eager_connect=True))
        try:
            by_name = {tool.name: tool for tool in toolset}
            schemas = {name: tool.parameters for name, tool in by_name.items()}

            def call(name, arguments):
                try:
                    return by_name[name].invoke(**arguments)
                except Exception as error:  # The agent hands it to its model.
                    return str(error)

            yield Tools(schemas, call)
        finally:
            await asyncio.to_thread(toolset.close)


main(Framework())
