"""smolagents: `smolagents[mcp]`. A tool that is a word of Python, such as `await`, gets an underscore."""

import contextlib

from mcp import StdioServerParameters
from smolagents import MCPClient
from smolagents.models import get_tool_json_schema

from checks import Stdio, Tools, in_thread, main


class Framework:
    transports = ("stdio", "http")

    @contextlib.asynccontextmanager
    async def open(self, server):
        if isinstance(server, Stdio):
            params = StdioServerParameters(command=server.command, args=server.args, env=server.env)
        else:
            params = {"transport": "streamable-http", "url": server.url, "headers": server.headers}
        async with in_thread(lambda: MCPClient(params, structured_output=False)) as listed:
            by_name = {tool.name.rstrip("_"): tool for tool in listed}
            schemas = {
                name: get_tool_json_schema(tool)["function"]["parameters"] for name, tool in by_name.items()
            }

            def call(name, arguments):
                try:
                    return str(by_name[name](**arguments))
                except Exception as error:  # The agent hands it to its model.
                    return str(error)

            yield Tools(schemas, call)


main(Framework())
