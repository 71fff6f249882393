"""CrewAI: `crewai-tools[mcp]`."""

import contextlib

from crewai_tools import MCPServerAdapter
from mcp import StdioServerParameters

from checks import Stdio, Tools, in_thread, main


class Framework:
    transports = ("stdio", "http")

    @contextlib.asynccontextmanager
    async def open(self, server):
        if isinstance(server, Stdio):
            params = StdioServerParameters(command=server.command, args=server.args, env=server.env)
        else:
            params = {"transport": "streamable-http", "url": server.url, "headers": server.headers}
        async with in_thread(lambda: MCPServerAdapter(params)) as listed:
            by_name = {tool.name: tool for tool in listed}
            schemas = {name: tool.args_schema.model_json_schema() for name, tool in by_name.items()}

            def call(name, arguments):
                try:
                    return str(by_name[name].run(**arguments))
                except Exception as error:  # The agent hands it to its model.
                    return str(error)

            # Its models of the arguments refuse what the schema does not admit.
            yield Tools(schemas, call, lenient=False)


main(Framework())
