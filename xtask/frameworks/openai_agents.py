"""OpenAI Agents SDK: `openai-agents`, with its conversion to strict schemas."""

import contextlib
import json

from agents import Agent, RunContextWrapper
from agents.mcp import MCPServerStdio, MCPServerStreamableHttp, MCPUtil
from agents.tool_context import ToolContext

from checks import Stdio, Tools, main


class Framework:
    transports = ("stdio", "http")

    @contextlib.asynccontextmanager
    async def open(self, server):
        if isinstance(server, Stdio):
            params = {"command": server.command, "args": server.args, "env": server.env}
            client = MCPServerStdio(params=params, client_session_timeout_seconds=30)
        else:
            params = {"url": server.url, "headers": server.headers}
            client = MCPServerStreamableHttp(params=params, client_session_timeout_seconds=30)
        async with client:
            agent = Agent(name="tester", mcp_servers=[client])
            context = RunContextWrapper(context=None)
            listed = await MCPUtil.get_function_tools(client, True, context, agent)
            by_name = {tool.name: tool for tool in listed}
            schemas = {name: tool.params_json_schema for name, tool in by_name.items()}
            lax = [name for name, tool in by_name.items() if not tool.strict_json_schema]

            async def call(name, arguments):
                written = json.dumps(arguments)
                context = ToolContext(
                    context=None, tool_name=name, tool_call_id="1", tool_arguments=written
                )
                return await by_name[name].on_invoke_tool(context, written)

            tools = Tools(schemas, call)
            tools.notes = [f"not strict: {', '.join(lax)}"] if lax else []
            yield tools


main(Framework())
