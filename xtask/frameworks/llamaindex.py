"""LlamaIndex: `llama-index-tools-mcp`. Its client opens a session per call."""

import contextlib

from llama_index.tools.mcp import BasicMCPClient, McpToolSpec

from checks import Stdio, Tools, main


class Framework:
    transports = ("stdio", "http")
    only_per_call = True

    @contextlib.asynccontextmanager
    async def open(self, server):
        if isinstance(server, Stdio):
            client = BasicMCPClient(server.command, args=server.args, env=server.env)
        else:
            client = BasicMCPClient(server.url, headers=server.headers)
        listed = await McpToolSpec(client=client).to_tool_list_async()
        by_name = {tool.metadata.name: tool for tool in listed}
        schemas = {name: tool.metadata.get_parameters_dict() for name, tool in by_name.items()}

        async def call(name, arguments):
            return (await by_name[name].acall(**arguments)).content

        yield Tools(schemas, call)

    per_call = open


main(Framework())
