"""Strands: `strands-agents`."""

import contextlib

from mcp import StdioServerParameters, stdio_client
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client
from strands.tools.mcp import MCPClient

from checks import Stdio, Tools, in_thread, main


class Framework:
    transports = ("stdio", "http")

    @contextlib.asynccontextmanager
    async def open(self, server):
        def connect():
            if isinstance(server, Stdio):
                return stdio_client(
                    StdioServerParameters(command=server.command, args=server.args, env=server.env)
                )
            client = create_mcp_http_client(headers=server.headers)
            return streamable_http_client(server.url, http_client=client)

        async with in_thread(lambda: MCPClient(connect)) as client:
            listed = client.list_tools_sync()
            schemas = {tool.tool_name: tool.tool_spec["inputSchema"]["json"] for tool in listed}

            def call(name, arguments):
                return client.call_tool_sync("1", name, arguments)

            yield Tools(schemas, call)


main(Framework())
