"""A small model behind a server that speaks Chat Completions, for `cargo xtask real-model`.

The model is far too small to decide by itself that a tool is to be used, so a
request that ends with the user's word is held to the grammar of the tools' calls: which
arguments it fills in is its own. Prints its port, and ends with its stdin.
"""

import http.server
import json
import sys
import threading
import urllib.request

import xllamacpp

parameters = xllamacpp.CommonParams()
parameters.model.path = sys.argv[1]
parameters.n_ctx = 8192
parameters.n_predict = 200
# One thread is faster than two with a model this small.
parameters.cpuparams.n_threads = 1
parameters.cpuparams_batch.n_threads = 1
parameters.port = 0
server = xllamacpp.Server(parameters)


def complete(messages, form):
    """What the model says."""
    body = {"messages": messages, "temperature": 0, **form}
    request = urllib.request.Request(
        server.listening_address + "/v1/chat/completions",
        json.dumps(body).encode(),
        {"content-type": "application/json"},
    )
    answer = json.loads(urllib.request.urlopen(request).read())
    return answer["choices"][0]["message"]["content"]


def bounded(schema):
    """The same for short texts: a model this small finds no end by itself."""
    if schema.get("type") == "string":
        return {**schema, "maxLength": 40}
    if "properties" in schema:
        properties = {name: bounded(it) for name, it in schema["properties"].items()}
        return {**schema, "properties": properties}
    return schema


def form_of(tools):
    """The grammar of a call of one of these."""
    calls = [
        {
            "type": "object",
            "properties": {
                "name": {"const": tool["function"]["name"]},
                "arguments": bounded(tool["function"]["parameters"]),
            },
            "required": ["name", "arguments"],
            "additionalProperties": False,
        }
        for tool in tools
    ]
    schema = {"name": "call", "schema": {"anyOf": calls}}
    return {"response_format": {"type": "json_schema", "json_schema": schema}}


def told(message):
    """A message without what the model has no words for."""
    if message["role"] == "tool":
        return {"role": "user", "content": "The tool said: " + str(message["content"])}
    calls = json.dumps([call["function"] for call in message.get("tool_calls") or []])
    return {"role": message["role"], "content": message.get("content") or calls}


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        messages = [told(message) for message in body["messages"]]
        calls = body.get("tools") and body["messages"][-1]["role"] == "user"
        said = complete(messages, form_of(body["tools"]) if calls else {})
        if calls:
            call = json.loads(said)
            function = {"name": call["name"], "arguments": json.dumps(call["arguments"])}
            delta = {"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": function}]}
        else:
            delta = {"content": said}
        finish = "tool_calls" if calls else "stop"
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for choice in [{"delta": delta}, {"delta": {}, "finish_reason": finish}]:
            chunk = {"object": "chat.completion.chunk", "choices": [{"index": 0, **choice}]}
            self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
        self.wfile.write(b"data: [DONE]\n\n")

    def log_message(self, *_):
        pass


proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=proxy.serve_forever, daemon=True).start()
print(proxy.server_port, flush=True)
sys.stdin.read()
