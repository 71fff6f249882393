"""AutoGen: `autogen-ext[mcp]`, a workbench and `mcp_server_tools`."""

import contextlib

from autogen_core.tools import StaticWorkbench
from autogen_ext.tools.mcp import (
    McpWorkbench,
    StdioServerParams,
    StreamableHttpServerParams,
    mcp_server_tools,
)

from checks import Stdio, Tools, main


def params(server):
    if isinstance(server, Stdio):
        return StdioServerParams(command=server.command, args=server.args, env=server.env)
    return StreamableHttpServerParams(url=server.url, headers=server.headers)


class Framework:
    transports = ("stdio", "http")

    @contextlib.asynccontextmanager
    async def open(self, server):
        async with McpWorkbench(params(server)) as workbench:
            schemas = {tool["name"]: tool["parameters"] for tool in await workbench.list_tools()}

            async def call(name, arguments):
                return (await workbench.call_tool(name, arguments)).to_text()

            yield Tools(schemas, call)

    @contextlib.asynccontextmanager
    async def per_call(self, server):
        # An agent wraps the tools that it is given so.
        workbench = StaticWorkbench(await mcp_server_tools(params(server)))
        schemas = {tool["name"]: tool["parameters"] for tool in await workbench.list_tools()}

        async def call(name, arguments):
            return (await workbench.call_tool(name, arguments)).to_text()

        yield Tools(schemas, call)


main(Framework())
