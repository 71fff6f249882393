"""An MCP server over stdin and stdout for the conformance suite.

`server.py old` speaks 2025-11-25 and asks its client by requests of its own;
`server.py new` speaks 2026-07-28 and asks by results. Both have only what the
suite's scenarios call by name. Calls run in threads, since they may wait for
answers.
"""

import base64
import json
import struct
import sys
import threading
import time
import zlib

OLD = sys.argv[1] == "old"
VERSION = "2025-11-25" if OLD else "2026-07-28"
SCHEMA = {"type": "object", "properties": {}}


def png():
    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    pixels = chunk(b"IDAT", zlib.compress(b"\0\xff\0\0"))
    return b"\x89PNG\r\n\x1a\n" + header + pixels + chunk(b"IEND", b"")


def wav():
    samples = b"\0" * 16
    form = struct.pack("<HHIIHH", 1, 1, 8000, 8000, 1, 8)
    body = b"WAVEfmt " + struct.pack("<I", len(form)) + form + b"data" + struct.pack("<I", len(samples)) + samples
    return b"RIFF" + struct.pack("<I", len(body)) + body


IMAGE = {"type": "image", "data": base64.b64encode(png()).decode(), "mimeType": "image/png"}
AUDIO = {"type": "audio", "data": base64.b64encode(wav()).decode(), "mimeType": "audio/wav"}


def text(words):
    return {"type": "text", "text": words}


def resource(uri, words, kind="text/plain"):
    return {"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": words}}


# ── The wire ───────────────────────────────────────────────────────────────

writing = threading.Lock()
answers = {}
answered = threading.Condition()


def send(message):
    with writing:
        print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def ask(method, params):
    """A request of ours, and the client's answer to it."""
    with answered:
        number = f"ask-{len(answers)}"
        answers[number] = None
    send({"id": number, "method": method, "params": params})
    with answered:
        answered.wait_for(lambda: answers[number] is not None)
        return answers[number]


class Refused(Exception):
    def __init__(self, code, message, data=None):
        super().__init__(message)
        self.error = {"code": code, "message": message, **({"data": data} if data else {})}


# ── Tools ──────────────────────────────────────────────────────────────────


def content(*blocks):
    return lambda params: {"content": list(blocks)}


def logging(_):
    for words in ["Tool execution started", "Tool processing data", "Tool execution completed"]:
        send({"method": "notifications/message", "params": {"level": "info", "logger": "fixture", "data": words}})
        time.sleep(0.05)
    return {"content": [text("logged")]}


def progress(params):
    token = params.get("_meta", {}).get("progressToken")
    for done in [0, 50, 100]:
        if token is not None:
            report = {"progressToken": token, "progress": done, "total": 100}
            send({"method": "notifications/progress", "params": report})
        time.sleep(0.05)
    return {"content": [text("done")]}


def sampling(params):
    prompt = params["arguments"].get("prompt", "Say something.")
    message = {"role": "user", "content": text(prompt)}
    answer = ask("sampling/createMessage", {"messages": [message], "maxTokens": 100})
    if "error" in answer:
        return {"isError": True, "content": [text(answer["error"]["message"])]}
    return {"content": [text(f"LLM response: {answer['result']['content']['text']}")]}


def eliciting(properties, required=()):
    def run(params):
        schema = {"type": "object", "properties": properties, "required": list(required)}
        message = params["arguments"].get("message", "Please fill this in")
        answer = ask("elicitation/create", {"message": message, "requestedSchema": schema})
        return {"content": [text(f"User response: {json.dumps(answer.get('result'))}")]}

    return run


def refusing(_):
    # Long enough for the call to have become a task.
    time.sleep(2)
    raise Refused(-32603, "the server is broken")


def changing_prompts(_):
    send({"method": "notifications/prompts/list_changed"})
    return {"content": [text("changed")]}


DEFAULTS = {
    "name": {"type": "string", "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    "verified": {"type": "boolean", "default": True},
}
PLAIN = ["option1", "option2", "option3"]
TITLED = [{"const": f"value{n}", "title": title} for n, title in enumerate(["First", "Second", "Third"], 1)]
ENUMS = {
    "untitledSingle": {"type": "string", "enum": PLAIN},
    "titledSingle": {"type": "string", "oneOf": TITLED},
    "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["One", "Two", "Three"]},
    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": PLAIN}},
    "titledMulti": {"type": "array", "items": {"anyOf": TITLED}},
}
WORDS = {"type": "string"}
CONDITIONAL = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {"street": WORDS, "city": WORDS}}},
    "properties": {
        "name": WORDS,
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": WORDS,
        "email": WORDS,
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}

OLD_TOOLS = {
    "test_image_content": (SCHEMA, content(IMAGE)),
    "test_audio_content": (SCHEMA, content(AUDIO)),
    "test_embedded_resource": (SCHEMA, content(resource("test://embedded-resource", "An embedded resource."))),
    "test_multiple_content_types": (
        SCHEMA,
        content(
            text("Multiple content types test:"),
            IMAGE,
            resource("test://mixed-content-resource", '{"test":"data","value":123}', "application/json"),
        ),
    ),
    "test_tool_with_logging": (SCHEMA, logging),
    "test_logging_tool": (SCHEMA, logging),
    "test_tool_with_progress": (SCHEMA, progress),
    "test_sampling": ({"type": "object", "properties": {"prompt": WORDS}, "required": ["prompt"]}, sampling),
    "test_missing_capability": (SCHEMA, sampling),
    "test_elicitation": (
        {"type": "object", "properties": {"message": WORDS}, "required": ["message"]},
        eliciting({"username": WORDS, "email": WORDS}, ["username", "email"]),
    ),
    "test_elicitation_sep1034_defaults": (SCHEMA, eliciting(DEFAULTS)),
    "test_elicitation_sep1330_enums": (SCHEMA, eliciting(ENUMS)),
    "json_schema_2020_12_tool": (CONDITIONAL, content(text("fine"))),
    "test_custom_headers": (
        {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}},
        content(text("fine")),
    ),
    "test_trigger_prompt_change": (SCHEMA, changing_prompts),
    "protocol_error_job": (SCHEMA, refusing),
}

# What a tool wants to know first, by key.
NAME = {
    "method": "elicitation/create",
    "params": {
        "message": "What is your name?",
        "requestedSchema": {"type": "object", "properties": {"name": WORDS}, "required": ["name"]},
    },
}
GREETING = {
    "method": "sampling/createMessage",
    "params": {"messages": [{"role": "user", "content": text("Generate a greeting")}], "maxTokens": 50},
}
ROOTS = {"method": "roots/list"}
CONTEXT = {
    "method": "elicitation/create",
    "params": {
        "message": "What context should the prompt use?",
        "requestedSchema": {"type": "object", "properties": {"context": WORDS}, "required": ["context"]},
    },
}


def wanting(complete, **requests):
    def run(params):
        given = params.get("inputResponses") or {}
        missing = {key: request for key, request in requests.items() if key not in given}
        if not missing:
            return complete(given)
        return {"resultType": "input_required", "inputRequests": missing, "requestState": "round"}

    return run


def told(given):
    return {"content": [text(f"was told {json.dumps(given)}")]}


NEW_TOOLS = {
    "test_input_required_result_sampling": (SCHEMA, wanting(told, capital_question=GREETING)),
    "test_input_required_result_list_roots": (SCHEMA, wanting(told, client_roots=ROOTS)),
    "test_input_required_result_multiple_inputs": (
        SCHEMA,
        wanting(told, user_name=NAME, greeting=GREETING, client_roots=ROOTS),
    ),
    "test_input_required_result_capabilities": (SCHEMA, wanting(told, user_name=NAME, greeting=GREETING)),
}
TOOLS = OLD_TOOLS if OLD else NEW_TOOLS

# ── Prompts and resources ──────────────────────────────────────────────────


def argument(name):
    return {"name": name, "description": f"The argument {name}", "required": True}


def says(*blocks):
    return {"messages": [{"role": "user", "content": block} for block in blocks]}


def with_arguments(given):
    return says(text(f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'"))


OLD_PROMPTS = {
    "test_simple_prompt": ([], lambda given: says(text("This is a simple prompt for testing."))),
    "test_prompt_with_arguments": ([argument("arg1"), argument("arg2")], with_arguments),
    "test_prompt_with_embedded_resource": (
        [argument("resourceUri")],
        lambda given: says(
            resource(given["resourceUri"], "Embedded resource content for testing."),
            text("Please process the embedded resource above."),
        ),
    ),
    "test_prompt_with_image": ([], lambda given: says(IMAGE, text("Please analyze the image above."))),
}
PROMPTS = OLD_PROMPTS if OLD else {"test_input_required_result_prompt": ([], None)}


def get_prompt(params):
    name = params["name"]
    if name not in PROMPTS:
        raise Refused(-32602, f"there is no prompt {name}")
    if not OLD:
        return wanting(lambda given: says(text(json.dumps(given))), user_context=CONTEXT)(params)
    return PROMPTS[name][1](params.get("arguments", {}))


RESOURCES = {
    "test://static-text": {"mimeType": "text/plain", "text": "This is the content of the static text resource."},
    "test://static-binary": {"mimeType": "image/png", "blob": IMAGE["data"]},
    "test://watched-resource": {"mimeType": "text/plain", "text": "It may change."},
}


def read_resource(params):
    uri = params["uri"]
    if uri.startswith("test://template/") and uri.endswith("/data"):
        identity = uri.split("/")[3]
        data = {"id": identity, "templateTest": True, "data": f"Data for ID: {identity}"}
        return {"contents": [{"uri": uri, "mimeType": "application/json", "text": json.dumps(data)}]}
    if not OLD or uri not in RESOURCES:
        raise Refused(-32602, "Resource not found", {"uri": uri})
    return {"contents": [{"uri": uri, **RESOURCES[uri]}]}


# ── Requests ───────────────────────────────────────────────────────────────

CAPABILITIES = {"tools": {}, "prompts": {"listChanged": OLD}}
if OLD:
    CAPABILITIES.update(resources={"subscribe": True}, completions={}, logging={})
INFO = {"name": "fixture", "version": "1"}
TEMPLATE = {"uriTemplate": "test://template/{id}/data", "name": "template", "mimeType": "application/json"}


def call_tool(params):
    return TOOLS[params["name"]][1](params)


def listed(name):
    return {"name": name, "description": f"For the conformance suite: {name}.", "inputSchema": TOOLS[name][0]}


METHODS = {
    "ping": lambda params: {},
    "tools/list": lambda params: {"tools": [listed(name) for name in TOOLS]},
    "tools/call": call_tool,
    "prompts/list": lambda params: {
        "prompts": [
            {"name": name, "description": f"For the conformance suite: {name}.", "arguments": arguments}
            for name, (arguments, _) in PROMPTS.items()
        ]
    },
    "prompts/get": get_prompt,
}
if OLD:
    METHODS.update(
        {
            "initialize": lambda params: {"protocolVersion": VERSION, "capabilities": CAPABILITIES, "serverInfo": INFO},
            "logging/setLevel": lambda params: {},
            "completion/complete": lambda params: {"completion": {"values": ["paris", "park"], "hasMore": False}},
            "resources/list": lambda params: {"resources": [{"uri": uri, "name": uri} for uri in RESOURCES]},
            "resources/templates/list": lambda params: {"resourceTemplates": [TEMPLATE]},
            "resources/read": read_resource,
            "resources/subscribe": lambda params: {},
            "resources/unsubscribe": lambda params: {},
        }
    )
else:
    METHODS["server/discover"] = lambda params: {
        "supportedVersions": [VERSION],
        "capabilities": CAPABILITIES,
        "_meta": {"io.modelcontextprotocol/serverInfo": INFO},
    }


def finished(result):
    """A result as the version wants it."""
    if OLD:
        return result
    hints = {"ttlMs": 0, "cacheScope": "private"}
    return {"resultType": "complete", **hints, **result}


def answer(message):
    try:
        method = METHODS.get(message["method"])
        if method is None:
            raise Refused(-32601, f"there is no method {message['method']}")
        result = finished(method(message.get("params") or {}))
        send({"id": message["id"], "result": result})
    except Refused as refused:
        send({"id": message["id"], "error": refused.error})


for line in sys.stdin:
    message = json.loads(line)
    if "method" not in message:
        with answered:
            answers[message["id"]] = message
            answered.notify_all()
    elif "id" in message:
        threading.Thread(target=answer, args=[message], daemon=True).start()
