"""Tries limits and sandboxes with the `windlass` command, as the user that runs this.

Each check is one line: `@@`, the user, the check, the result and a text, separated by tabs. The results are `ok`,
`told` (information), `open` (not enforced, and refused unless the configuration accepts that) and `FAILED`.
"""

import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

USER = sys.argv[1]
HOME = pathlib.Path(os.environ["HOME"])
PROJECT = HOME / "project"
CONFIG = HOME / ".config/windlass/config.toml"
TOKEN = "86421.97531"


def report(check, result, text=""):
    text = " ".join(str(text).split())
    print(f"@@\t{USER}\t{check}\t{result}\t{text[-400:]}", flush=True)


def judge(check, good, text=""):
    report(check, "ok" if good else "FAILED", text)


def configure(line):
    CONFIG.parent.mkdir(parents=True, exist_ok=True)
    CONFIG.write_text(f'[conversation.tools."*"]\n{line}\n')


def windlass(*words):
    done = subprocess.run(["windlass", *words], cwd=PROJECT, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout + done.stderr


def shell(command):
    return windlass("call", "shell", json.dumps({"command": command}))


def group():
    own = pathlib.Path("/proc/self/cgroup").read_text().strip().removeprefix("0::/")
    return pathlib.Path("/sys/fs/cgroup") / own


def running(token):
    count = 0
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            count += token.encode() in (folder / "cmdline").read_bytes()
        except OSError:
            pass
    return count


def limits():
    configure('limits = { memory = "200MiB" }')
    code, text = shell("cat /proc/self/cgroup; d=/sys/fs/cgroup/$(cut -d: -f3 /proc/self/cgroup); cat $d/memory.max $d/memory.oom.group")
    judge("a limited program has a control group", code == 0 and "windlass-" in text and "209715200" in text, text)
    hogs = {
        "600 MB in one process": "python3 -c 'b = bytearray(600 << 20); print(\"held\")'",
        "600 MB of shared memory": "python3 -c 'import mmap; m = mmap.mmap(-1, 600 << 20); [m.write(b\"x\" * (1 << 20)) for _ in range(600)]; print(\"held\")'",
        "600 MB in files in memory": "head -c 600M /dev/zero > /dev/shm/hog-$$ && echo held; code=$?; rm -f /dev/shm/hog-$$; exit $code",
        "600 MB in six processes": "for i in 1 2 3 4 5 6; do python3 -c 'import time; b = bytearray(b\"x\" * (100 << 20)); time.sleep(20)' & done; wait; echo held",
    }
    for name, hog in hogs.items():
        code, text = shell(hog)
        judge(name, code != 0 and "held" not in text and "memory" in text.lower() and "running until" not in text, text)
        for left in pathlib.Path("/dev/shm").glob("hog-*"):
            left.unlink()
    configure("limits = { processes = 64 }")
    bomb = f"f() {{ sleep {TOKEN} & f & f & wait; }}; f {TOKEN}"
    code, text = shell(bomb)
    judge("a fork bomb is named", code != 0 and "limit processes" in text and "running until" not in text, text)
    until = time.monotonic() + 20
    while running(TOKEN) and time.monotonic() < until:
        time.sleep(0.05)
    judge("a fork bomb leaves 0 processes", running(TOKEN) == 0, running(TOKEN))
    left = [folder.name for folder in group().parent.glob("windlass-*")]
    judge("no control group is left", not left, left)


def doctor():
    _, text = windlass("doctor")
    lines = text.splitlines()
    for line in lines:
        if any(word in line for word in ("Landlock", "seccomp", "namespace", "cgroup", "rlimits")):
            report("doctor", "told", line)
    judge("doctor knows the control groups", "cgroup v2, and" in text)


def listener(family, address):
    made = socket.socket(family)
    made.bind(address)
    made.listen()
    return made


def outside(command):
    """Runs a command without Windlass."""
    done = subprocess.run(["sh", "-c", command], cwd=PROJECT, capture_output=True, text=True, timeout=60)
    return done.stdout


def sandbox():
    (HOME / ".ssh").mkdir(exist_ok=True)
    (HOME / ".ssh/id_rsa").write_text("the key")
    (HOME / "notes").write_text("notes")
    (PROJECT / ".git/hooks").mkdir(parents=True, exist_ok=True)
    (PROJECT / ".git/config").write_text("[core]\n")
    configure('sandbox = "workspace"')
    code, text = shell("echo in > file && cat file")
    is_whole = code == 0 and "in" in text
    if is_whole:
        report("the sandbox starts programs", "ok")
    else:
        judge("the sandbox refuses, and names what is missing", "keep programs from" in text or "unprotected" in text or "Landlock" in text, text)
        configure('sandbox = { unavailable = "warn" }')
        code, text = shell("echo in > file && cat file")
        judge("with a warning it starts programs", code == 0 and "in" in text, text)
    tcp = listener(socket.AF_INET, ("127.0.0.1", 0))
    port = tcp.getsockname()[1]
    path = HOME / "agent.sock"
    path.unlink(missing_ok=True)
    unix = listener(socket.AF_UNIX, str(path))
    abstract = listener(socket.AF_UNIX, f"\0outside-{os.getpid()}")
    victim = subprocess.Popen(["sleep", "1000"])
    connect = "python3 -c 'import socket; s = socket.socket({}); s.connect({}); print(\"got out\")'"
    attempts = {
        "write outside": f"echo x >> {HOME}/notes && echo got out",
        "truncate outside": f"truncate -s 0 {HOME}/notes && echo got out",
        "write /etc": "echo x >> /etc/hosts && echo got out",
        "read a key": f"grep -q key {HOME}/.ssh/id_rsa && echo got out",
        "write a hook": "echo x > .git/hooks/pre-commit && echo got out",
        "write git's configuration": "echo x >> .git/config && echo got out",
        "connect by TCP": connect.format(2, f"(\"127.0.0.1\", {port})"),
        "send by UDP": "python3 -c 'import socket; socket.socket(2, 2).sendto(b\"x\", (\"127.0.0.1\", 53)); print(\"got out\")'",
        "connect to a socket in a folder": connect.format(1, f"\"{path}\""),
        "connect to an abstract socket": connect.format(1, f"\"\\0outside-{os.getpid()}\""),
        "create a user namespace": "unshare -U true && echo got out",
        "mount": "unshare -Urm mount -t tmpfs none /mnt && echo got out",
        "debug a process outside": f"python3 -c 'import ctypes; ctypes.CDLL(None).ptrace(16, {victim.pid}, 0, 0) == 0 and print(\"got out\")'",
        "read memory of a process outside": f"head -c 1 /proc/{victim.pid}/environ | grep -q . && echo got out",
        "signal a process outside": f"kill -CONT {victim.pid} && echo got out",
    }
    # Each attempt succeeds without a sandbox, unless this user is not allowed to do it anyway.
    possible = {name for name, attempt in attempts.items() if "got out" in outside(attempt)}
    (HOME / "notes").write_text("notes")
    (PROJECT / ".git/hooks/pre-commit").unlink(missing_ok=True)
    got_out = set()
    for name, attempt in attempts.items():
        _, text = shell(attempt)
        if "got out" in text:
            got_out.add(name)
            report(name, "FAILED" if is_whole else "open", text)
        elif name in possible:
            report(name, "ok", "held")
        else:
            report(name, "told", "held, and not possible without a sandbox either")
    judge("most attempts are possible without a sandbox", len(possible) >= 12, len(possible))
    if not got_out & {"write outside", "truncate outside"}:
        judge("files outside are unchanged", (HOME / "notes").read_text() == "notes")
    victim.send_signal(signal.SIGKILL)
    for made in (tcp, unix, abstract):
        made.close()


PROJECT.mkdir(exist_ok=True)
for part in (doctor, limits, sandbox):
    try:
        part()
    except Exception as error:
        report(part.__name__, "FAILED", repr(error))
