"""Google ADK: `google-adk`, with the schemas that it sends to Gemini."""

import contextlib
from unittest.mock import MagicMock

from google.adk.tools.mcp_tool import McpToolset, StdioConnectionParams, StreamableHTTPConnectionParams
from mcp import StdioServerParameters

from checks import Stdio, Tools, main


class Framework:
    transports = ("stdio", "http")

    @contextlib.asynccontextmanager
    async def open(self, server):
        if isinstance(server, Stdio):
            child = StdioServerParameters(command=server.command, args=server.args, env=server.env)
            params = StdioConnectionParams(server_params=child, timeout=30)
        else:
            params = StreamableHTTPConnectionParams(url=server.url, headers=server.headers, timeout=30)
        toolset = McpToolset(connection_params=params)
        try:
            by_name = {tool.name: tool for tool in await toolset.get_tools()}
            schemas = {name: declared(tool) for name, tool in by_name.items()}

            async def call(name, arguments):
                context = MagicMock()
                context.function_call_id = "1"
                return await by_name[name]._run_async_impl(
                    args=arguments, tool_context=context, credential=None
                )

            yield Tools(schemas, call)
        finally:
            await toolset.close()


def declared(tool):
    declaration = tool._get_declaration()
    schema = declaration.parameters_json_schema
    if schema is None:
        schema = declaration.parameters.model_dump(mode="json", exclude_none=True)
    return schema


main(Framework())
