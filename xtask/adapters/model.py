#!/usr/bin/env python3
"""A scripted model that speaks Anthropic's Messages, OpenAI's Chat Completions and OpenAI's Responses, on loopback.

It calls `shell` to spawn a handle and `await` to wait for its line in one reply, then `weather`, a tool of the program's
own, and then says what it has heard. It refuses a request that lacks a tool or a result, so that a program that ends well
has used all of them. It prints its address, and when it is told to end, how many turns it has finished.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FINISHED = 0
FIRST = [
    ("call_spawn", "shell", {"action": "spawn", "id": "job", "command": "echo handle-says-hello; sleep 600"}),
    ("call_await", "await", {"until": [{"id": "job", "pattern": "handle-says-hello"}], "timeout_secs": 60}),
]
SECOND = [("call_weather", "weather", {"city": "Oslo"})]
WORDS = "It is sunny in Oslo, and the handle says hello."


class Fault(Exception):
    """Something that a client should have sent is missing."""


def next_calls(tools, results):
    """The calls of the next reply; none when the turn is over."""
    for name in ("shell", "await", "weather"):
        if name not in tools:
            raise Fault(f"the tool `{name}` is not offered: {sorted(tools)}")
    if not results:
        return FIRST
    for call, _, _ in FIRST:
        if call not in results:
            raise Fault(f"there is no result of {call}: {results}")
    if "handle-says-hello" not in results["call_await"] + results["call_spawn"]:
        raise Fault(f"nobody heard the handle: {results}")
    if "matched" not in results["call_await"]:
        raise Fault(f"the await did not match: {results['call_await']}")
    if "call_weather" not in results:
        return SECOND
    if "sunny in Oslo" not in results["call_weather"]:
        raise Fault(f"the weather is wrong: {results['call_weather']}")
    return []


def text_of(content):
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content or [])


def anthropic(body):
    tools = {tool["name"] for tool in body.get("tools", [])}
    blocks = [block for message in body["messages"] if isinstance(message["content"], list) for block in message["content"]]
    results = {block["tool_use_id"]: text_of(block.get("content")) for block in blocks if block["type"] == "tool_result"}
    calls = next_calls(tools, results)
    content = [{"type": "tool_use", "id": id, "name": name, "input": input} for id, name, input in calls]
    usage = {"input_tokens": 1, "output_tokens": 1}
    return calls, {
        "id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "stop_sequence": None, "usage": usage,
        "stop_reason": "tool_use" if calls else "end_turn", "content": content or [{"type": "text", "text": WORDS}],
    }


def chat(body):
    tools = {tool["function"]["name"] for tool in body.get("tools", [])}
    results = {message["tool_call_id"]: text_of(message["content"]) for message in body["messages"] if message["role"] == "tool"}
    calls = next_calls(tools, results)
    message = {"role": "assistant", "content": None if calls else WORDS}
    if calls:
        message["tool_calls"] = [
            {"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(input)}} for id, name, input in calls
        ]
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return calls, {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": body["model"], "choices": [choice], "usage": usage}


def responses(body):
    tools = {tool["name"] for tool in body.get("tools", [])}
    items = body["input"] if isinstance(body["input"], list) else []
    results = {item["call_id"]: text_of(item["output"]) for item in items if item.get("type") == "function_call_output"}
    calls = next_calls(tools, results)
    output = [
        {"type": "function_call", "id": f"fc_{id}", "call_id": id, "name": name, "arguments": json.dumps(input), "status": "completed"}
        for id, name, input in calls
    ]
    text = {"type": "output_text", "text": WORDS, "annotations": [], "logprobs": []}
    said = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [text]}
    usage = {
        "input_tokens": 1, "output_tokens": 1, "total_tokens": 2,
        "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0},
    }
    return calls, {
        "id": "resp_1", "object": "response", "created_at": 1, "status": "completed", "model": body["model"], "error": None,
        "incomplete_details": None, "instructions": None, "metadata": {}, "parallel_tool_calls": True, "temperature": 1.0,
        "tool_choice": "auto", "tools": [], "top_p": 1.0, "usage": usage, "output": output or [said],
    }


class Model(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        path = self.path.partition("?")[0]
        answer = next((answer for end, answer in (("/messages", anthropic), ("/chat/completions", chat), ("/responses", responses)) if path.endswith(end)), None)
        try:
            if answer is None:
                raise Fault(f"nothing is at {path}")
            calls, reply = answer(body)
            if not calls:
                global FINISHED
                FINISHED += 1
            self.send(200, reply)
        except Fault as fault:
            print(f"fault: {fault}", file=sys.stderr, flush=True)
            self.send(400, {"error": {"type": "invalid_request_error", "message": str(fault)}})

    def send(self, status, value):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def main():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    server.daemon_threads = True
    import threading

    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    sys.stdin.read()
    print(FINISHED, flush=True)


if __name__ == "__main__":
    main()
