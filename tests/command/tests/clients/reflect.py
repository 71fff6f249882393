"""Finds the services by reflection alone, and calls them.

Given the address and the token; prints what it found as JSON.
"""

import json
import sys

import grpc
from google.protobuf import descriptor_pool, json_format, message_factory
from grpc_reflection.v1alpha import reflection_pb2 as alpha
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
    ProtoReflectionDescriptorDatabase,
)

address, token = sys.argv[1:]
PATIENCE = 60


class Bearer(grpc.UnaryUnaryClientInterceptor, grpc.UnaryStreamClientInterceptor,
             grpc.StreamStreamClientInterceptor):
    """Shows the token with every request."""

    def with_token(self, continuation, details, request):
        metadata = [*(details.metadata or []), ("authorization", f"Bearer {token}")]
        return continuation(details._replace(metadata=metadata, timeout=PATIENCE), request)

    intercept_unary_unary = with_token
    intercept_unary_stream = with_token
    intercept_stream_stream = with_token


def services(channel, version):
    """The names that one version of the reflection service lists."""
    path = f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo"
    # Both versions have the same messages.
    ask = channel.stream_stream(
        path,
        request_serializer=alpha.ServerReflectionRequest.SerializeToString,
        response_deserializer=alpha.ServerReflectionResponse.FromString,
    )
    answer = next(ask(iter([alpha.ServerReflectionRequest(list_services="")])))
    return sorted(service.name for service in answer.list_services_response.service)


def code_of(call):
    try:
        call()
    except grpc.RpcError as error:
        return error.code().name
    return "OK"


bare = grpc.insecure_channel(address)
channel = grpc.intercept_channel(bare, Bearer())
found = {
    "stranger": code_of(lambda: services(bare, "v1")),
    "services": services(channel, "v1"),
    "alpha": services(channel, "v1alpha"),
}
pool = descriptor_pool.DescriptorPool(ProtoReflectionDescriptorDatabase(channel))


def method(name):
    """A method of the tool service, as its descriptor tells it."""
    described = pool.FindServiceByName("opencode.tool.ToolService").FindMethodByName(name)
    ask = message_factory.GetMessageClass(described.input_type)
    answer = message_factory.GetMessageClass(described.output_type)
    make = channel.unary_stream if described.server_streaming else channel.unary_unary
    call = make(
        f"/{described.containing_service.full_name}/{name}",
        request_serializer=ask.SerializeToString,
        response_deserializer=answer.FromString,
    )
    return lambda fields: call(json_format.ParseDict(fields, ask()))


session = method("OpenSession")({"trusted": True}).session_id
calls = [{"tool": "shell", "arguments": {"command": "echo from python"}}]
statuses = []
for response in method("RunCalls")({"sessionId": session, "calls": calls}):
    update = json_format.MessageToDict(response)
    if "part" in update:
        part = update["part"]
        statuses += [part[state]["status"] for state in part if "status" in (part[state] or {})]
    else:
        found["content"] = update["reply"]["replies"][0]["content"]
found["statuses"] = statuses
method("CloseSession")({"sessionId": session})
nothing = channel.unary_unary("/opencode.tool.ToolService/Nothing")
found["no_such_method"] = code_of(lambda: nothing(b""))
print(json.dumps(found))
