"""Pydantic AI: `pydantic-ai-slim[mcp]`, with the schemas that its OpenAI models send in strict mode."""

import contextlib

from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from pydantic_ai import ModelRetry, RunContext
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.models.test import TestModel
from pydantic_ai.profiles.openai import OpenAIJsonSchemaTransformer
from pydantic_ai.usage import RunUsage

from checks import Stdio, Tools, main


class Framework:
    transports = ("stdio", "http")

    @contextlib.asynccontextmanager
    async def open(self, server):
        if isinstance(server, Stdio):
            transport = StdioTransport(server.command, server.args, env=server.env, keep_alive=False)
        else:
            transport = StreamableHttpTransport(server.url, headers=server.headers)
        async with MCPToolset(transport) as toolset:
            context = RunContext(deps=None, model=TestModel(), usage=RunUsage())
            by_name = await toolset.get_tools(context)
            schemas = {
                name: OpenAIJsonSchemaTransformer(tool.tool_def.parameters_json_schema, strict=True).walk()
                for name, tool in by_name.items()
            }

            async def call(name, arguments):
                try:
                    return await toolset.call_tool(name, arguments, context, by_name[name])
                except ModelRetry as error:  # The agent hands it to its model.
                    return str(error)

            yield Tools(schemas, call)


main(Framework())
