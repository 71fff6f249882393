#!/usr/bin/env python3
"""Counts the functions and files on the paths of five kinds of calls.

    python3 xtask/paths/count.py PROGRAM ROOT OUT [PATH…]

PROGRAM is a `windlass` of an unoptimised build, ROOT the sources that it was
built from, OUT a folder for traces and lists; valgrind must be installed. The
paths are `drive`, `mcp`, `http`, `page` and `query`.

A function is on the path of a call if each further call runs it again: the
program runs under callgrind with 3 and with 6 calls, and the functions of
`crates/` whose number of executions grew by at least 3 are taken. Closures and
async bodies belong to their function; derived and generated code is not counted.
Left out are

1. bodies of less than two lines, unless they await another function: accessors,
   conversions and short constructors are not counted, forwarding layers are;
2. everything below a door: `process` except starting and waiting, `output`,
   `digest`, `sandbox`, `hold-wire`, `store`, `schema`, the journal below
   `append`, the parser of command lines, rendering, a provider's wire;
3. side branches, which carry neither the request to the child nor the reply
   back, or return at once for such a call: the record except its three states,
   notices, limits, kept handles, digests, denials, previews, progress, and
   events for other readers.

`page` is a call whose permission is granted over HTTP: the functions that a call
without a request does not run, and those that decide about permissions.
"""

import collections
import http.client
import http.server
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

LOW, HIGH = 3, 6
CALL = {"tool": "shell", "arguments": {"command": "echo hi"}}

# ── Tracing ───────────────────────────────────────────────────────────────────


class Tracer:
    def __init__(self, program, out):
        self.out, self.base = out, os.path.join(out, "base")
        os.makedirs(out, exist_ok=True)
        # Valgrind cannot execute itself again: the zygote is the unchanged
        # program, under a path of the same length as `/proc/self/exe`.
        self.helper = f"/tmp/w{os.getpid():08d}"
        assert len(self.helper) == len("/proc/self/exe")
        shutil.copy(program, self.helper)
        with open(program, "rb") as file:
            code = file.read().replace(b"/proc/self/exe", self.helper.encode())
        self.program = os.path.join(out, "traced")
        with open(self.program, "wb") as file:
            file.write(code)
        os.chmod(self.program, 0o755)

    def trace(self, name, calls):
        getattr(self, name)(calls)

    def environment(self):
        shutil.rmtree(self.base, ignore_errors=True)
        for folder in ("home/config/windlass", "run", "project"):
            os.makedirs(f"{self.base}/{folder}")
        os.chmod(f"{self.base}/run", 0o700)
        return {
            "PATH": os.environ["PATH"], "HOME": f"{self.base}/home", "SHELL": "/bin/sh",
            "XDG_RUNTIME_DIR": f"{self.base}/run", "XDG_STATE_HOME": f"{self.base}/home/state",
            "XDG_CONFIG_HOME": f"{self.base}/home/config", "LANG": "C.UTF-8",
        }

    def configure(self, text):
        with open(f"{self.base}/home/config/windlass/config.toml", "w") as file:
            file.write(text)

    def start(self, name, calls, arguments, environment):
        out = f"{self.out}/{name}-{calls}"
        command = ["valgrind", "--tool=callgrind", "--compress-strings=no", "--compress-pos=no",
                   f"--callgrind-out-file={out}.cg", f"--log-file={out}.log", self.program]
        return subprocess.Popen(command + arguments, cwd=f"{self.base}/project", env=environment,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def drive(self, calls):
        process = self.start("drive", calls, ["drive"], self.environment())
        for number in range(calls):
            say(process, {"batch": f"b{number}", "calls": [dict(CALL, id="c")]})
            check(process.stdout.readline())
        process.stdin.close()
        process.wait(300)

    def mcp(self, calls):
        process = self.start("mcp", calls, ["mcp"], self.environment())

        def ask(number, method, params):
            say(process, {"jsonrpc": "2.0", "id": number, "method": method, "params": params})
            for line in process.stdout:
                if json.loads(line).get("id") == number:
                    return line
            raise SystemExit("the server has ended")

        client = {"name": "count", "version": "1"}
        ask(0, "initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        say(process, {"jsonrpc": "2.0", "method": "notifications/initialized"})
        for number in range(1, calls + 1):
            check(ask(number, "tools/call", {"name": "shell", "arguments": CALL["arguments"]}))
        process.stdin.close()
        process.wait(300)

    def http(self, calls):
        self.serve("http", calls, "", True)

    def page(self, calls):
        self.serve("page", calls, '[conversation.tools.shell]\nrun = "ask"\n', False)

    def serve(self, name, calls, config, trusted):
        environment = self.environment()
        self.configure(config)
        process = self.start(name, calls, ["serve", "--listen", "127.0.0.1:0", "--json"], environment)
        ready = json.loads(process.stdout.readline())
        address = re.match(r"http://([^/#]+)", ready["url"])[1]
        headers = {"Authorization": f"Bearer {ready['token']}", "Content-Type": "application/json"}

        def request(path, body):
            connection = http.client.HTTPConnection(address, timeout=300)
            connection.request("POST", "/api/v1" + path, json.dumps(body), headers)
            reply = connection.getresponse()
            text = reply.read()
            assert reply.status < 300, (path, reply.status, text)
            return text.decode()

        # The page follows the events.
        stream = http.client.HTTPConnection(address, timeout=300)
        stream.request("GET", "/api/v1/events", headers=headers)
        events, changed = stream.getresponse(), threading.Condition()
        asked = []

        def follow():
            for line in iter(events.fp.readline, b""):
                with changed:
                    asked.extend(set(re.findall(r'"(per_\w+)"', line.decode())) - set(asked))
                    changed.notify_all()

        threading.Thread(target=follow, daemon=True).start()
        session = json.loads(request("/sessions", {"trusted": trusted}))["id"]
        for number in range(calls):
            replies = []
            body = {"batch": f"b{number}", "calls": [dict(CALL, id="c")]}
            call = threading.Thread(
                target=lambda body=body, replies=replies: replies.append(request(f"/sessions/{session}/calls", body)))
            call.start()
            if not trusted:
                with changed:
                    changed.wait_for(lambda number=number: len(asked) > number, 300)
                request(f"/permissions/{asked[number]}", {"reply": "once"})
            call.join(300)
            check(replies[0])
        process.send_signal(signal.SIGTERM)
        process.wait(300)

    def query(self, calls):
        model = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
        model.calls = calls
        threading.Thread(target=model.serve_forever, daemon=True).start()
        environment = self.environment()
        self.configure('[assistant]\nmodel = "ollama/m"\n[providers.llm.ollama]\n'
                       f'base_url = "http://127.0.0.1:{model.server_port}"\n'
                       '[conversation.tools.shell]\nrun = "unattended"\n')
        process = self.start("query", calls, ["query", "go"], environment)
        process.stdin.close()
        assert "done" in process.stdout.read()
        process.wait(300)
        model.shutdown()


class Model(http.server.BaseHTTPRequestHandler):
    """A model of Ollama's wire that calls the shell, and then says "done"."""

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.reply(b"{}")

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        replied = sum(message["role"] == "tool" for message in request["messages"])
        message = {"role": "assistant", "content": "done"}
        if replied < self.server.calls:
            function = {"name": CALL["tool"], "arguments": CALL["arguments"]}
            message = {"role": "assistant", "content": "", "tool_calls": [{"function": function}]}
        end = {"role": "assistant", "content": ""}
        lines = [{"message": message, "done": False}, {"message": end, "done": True, "done_reason": "stop"}]
        self.reply("".join(json.dumps(dict(line, model="m")) + "\n" for line in lines).encode())

    def reply(self, body):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def say(process, value):
    process.stdin.write(json.dumps(value) + "\n")
    process.stdin.flush()


def check(reply):
    assert "hi" in str(reply), reply


# ── Counting ──────────────────────────────────────────────────────────────────


def executions(path):
    """The number of executions of each function, and its file."""
    counts, files, file, callee_file = collections.Counter(), {}, None, None
    with open(path, errors="replace") as lines:
        for line in lines:
            key, _, value = line.rstrip("\n").partition("=")
            if key == "fl":
                file = value
            elif key == "fn":
                files.setdefault(value, file)
            elif key in ("cfi", "cfl"):
                callee_file = value
            elif key == "cfn":
                callee = value
            elif key == "calls":
                counts[callee] += int(value.split()[0])
                if callee_file:
                    files.setdefault(callee, callee_file)
                callee_file = None
    return counts, files


def function_name(symbol):
    symbol = re.sub(r"'\d+$", "", symbol).replace("::{{closure}}", "")
    if symbol.endswith(">"):
        depth = 0
        for at in range(len(symbol) - 1, -1, -1):
            depth += {">": 1, "<": -1}.get(symbol[at], 0)
            if depth == 0:
                symbol = symbol[:at].rstrip(":")
                break
    return symbol.rsplit("::", 1)[-1]


def bodies(path, known={}):
    """The bodies of the functions of a file, by name."""
    if path not in known:
        found = collections.defaultdict(list)
        text = open(path).read() if os.path.exists(path) else ""
        blank = re.sub(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'|//[^\n]*', lambda m: re.sub(r"[^\n]", " ", m[0]), text)
        for head in re.finditer(r"\bfn\s+(\w+)", blank):
            end = re.compile(r"[{;]").search(blank, head.end())
            while end and end[0] == ";" and blank.count("[", head.end(), end.start()) > blank.count("]", head.end(), end.start()):
                end = re.compile(r"[{;]").search(blank, end.end())
            if not end or end[0] == ";":
                continue
            depth, at = 1, end.end()
            while depth and at < len(blank):
                depth += {"{": 1, "}": -1}.get(blank[at], 0)
                at += 1
            lines = blank[end.end() : at - 1].split("\n")
            found[head[1]].append([line for line in lines if line.strip()])
        known[path] = found
    return known[path]


DOORS = re.compile(
    r"crates/(store|output|hold-wire|sandbox|digest|schema|host|pool|kept)/|process/src/(?!launcher|process\.rs)"
    r"|runtime/src/(feed|ring|weight|journal)\.rs|executors/src/(commands|listening)|assistant/src/(frames|wire/)")
SIDE = re.compile(
    r"runtime/src/(notice|cut|digesting|denied|keeping|session_limits|registry|session)\.rs|executors/src/(confined|held|kept)\.rs"
    r"|protocol/src/(ids|part|misspelt|defaults|call|event|record|tool)\.rs|cli/src/(signals|stdout|drive/progress|serve/place)"
    r"|(control|serve-http)/src/(hub|update|watching|metrics|numbered|client|slots|first_bytes|gate|connection|stream|events|logged|socket|rate)\.rs"
    r"|serve-mcp/src/(progress|grace|clients|listen|relay|passing|http/)")
ONLY = {"part.rs": {"created", "running", "ended", "completed"}, "process.rs": {"wait"}, "launcher.rs": {"start", "launch"},
        "starting.rs": {"start", "launch"}, "rendering.rs": {"of_permission"}}
BESIDE = {"handle.rs": {"journal_output", "known_as", "event", "within_limit", "apply_wrote"}, "one_shot.rs": {"drop", "tell_previews", "new"},
          "text.rs": {"drop", "log_of"}, "access.rs": {"without_port", "is_open", "refusal"}, "server.rs": {"sealing"}}
PERMISSION = re.compile(r"runtime/src/(permission|rules|subject|pending|request_table|desk|person|dispatch/permitting)\b|rendering")


def on_path(name, out, root):
    few, _ = executions(f"{out}/{name}-{LOW}.cg")
    many, files = executions(f"{out}/{name}-{HIGH}.cg")
    found = set()
    for symbol, count in many.items():
        file = files.get(symbol) or ""
        at = file.find("/crates/")
        if at < 0 or "windlass" not in symbol or count - few[symbol] < HIGH - LOW:
            continue
        file, function = file[at + 1 :], function_name(symbol)
        base = os.path.basename(file)
        if DOORS.search(file) or SIDE.search(file) or function in BESIDE.get(base, ()):
            continue
        if base in ONLY and function not in ONLY[base]:
            continue
        of_function = bodies(os.path.join(root, file)).get(function, [])
        if any(len(body) > 1 or ".await" in "".join(body) for body in of_function):
            found.add((file, function))
    return found


def main():
    program, root, out, *names = sys.argv[1:]
    names = names or ["drive", "mcp", "http", "page", "query"]
    tracer = Tracer(program, out)
    try:
        for name in names:
            for calls in (LOW, HIGH):
                tracer.trace(name, calls)
    finally:
        os.remove(tracer.helper)
    for name in names:
        path = on_path(name, out, root)
        if name == "page" and "http" in names:
            without = on_path("http", out, root)
            path = {it for it in path if it not in without or PERMISSION.search(it[0]) or it[1] in ("permit", "subject")}
        files = collections.defaultdict(list)
        for file, function in sorted(path):
            files[file].append(function)
        print(f"{name}: {len(path)} functions in {len(files)} files")
        with open(f"{out}/{name}.md", "w") as lists:
            for file, functions in files.items():
                lists.write(f"- `{file}`: {', '.join(functions)}\n")


if __name__ == "__main__":
    main()
