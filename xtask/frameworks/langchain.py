"""LangChain: `langchain-mcp-adapters`."""

import contextlib

from langchain_core.utils.function_calling import convert_to_openai_tool
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools

from checks import Stdio, Tools, main


class Framework:
    transports = ("stdio", "http")

    @contextlib.asynccontextmanager
    async def open(self, server):
        async with self.client(server).session("windlass") as session:
            yield tools(await load_mcp_tools(session))

    @contextlib.asynccontextmanager
    async def per_call(self, server):
        yield tools(await self.client(server).get_tools())

    def client(self, server):
        if isinstance(server, Stdio):
            connection = {"transport": "stdio", "command": server.command, "args": server.args, "env": server.env}
        else:
            connection = {"transport": "streamable_http", "url": server.url, "headers": server.headers}
        return MultiServerMCPClient({"windlass": connection})


def tools(listed):
    by_name = {tool.name: tool for tool in listed}
    schemas = {
        name: convert_to_openai_tool(tool, strict=True)["function"]["parameters"] for name, tool in by_name.items()
    }

    async def call(name, arguments):
        try:
            return await by_name[name].ainvoke(arguments)
        except Exception as error:  # An agent's loop hands it to the model.
            return str(error)

    return Tools(schemas, call)


main(Framework())
