"""Agno: `agno`."""

import contextlib

from agno.tools.function import FunctionCall
from agno.tools.mcp import MCPTools
from agno.tools.mcp.params import StreamableHTTPClientParams
from mcp import StdioServerParameters

from checks import Stdio, Tools, main


class Framework:
    transports = ("stdio", "http")

    @contextlib.asynccontextmanager
    async def open(self, server):
        if isinstance(server, Stdio):
            params = StdioServerParameters(command=server.command, args=server.args, env=server.env)
            toolkit = MCPTools(server_params=params, transport="stdio", timeout_seconds=30)
        else:
            params = StreamableHTTPClientParams(url=server.url, headers=server.headers)
            toolkit = MCPTools(server_params=params, transport="streamable-http", timeout_seconds=30)
        async with toolkit:
            by_name = {**toolkit.functions, **getattr(toolkit, "async_functions", {})}
            schemas = {name: function.parameters for name, function in by_name.items()}

            async def call(name, arguments):
                call = FunctionCall(function=by_name[name], arguments=arguments)
                result = await call.aexecute()
                return str(getattr(result.result, "content", result.result) or result.error)

            yield Tools(schemas, call)


main(Framework())
