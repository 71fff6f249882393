"""A project in a folder of its own, and a look at ``/proc``."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import re
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional

import windlass

ROOT = Path(__file__).resolve().parents[2]
DEADLINE = 60.0
_NUMBERS = itertools.count()


class Project:
    """A folder with a home. Whatever runs in it carries a marker in its environment."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="windlass-python-")
        self.folder = Path(self._folder.name).resolve()
        self.root = self.folder / "project"
        self.home = self.folder / "home"
        self.root.mkdir()
        self.home.mkdir()
        self.marker = f"python-{os.getpid()}-{next(_NUMBERS)}"
        self.env = {
            "PATH": os.environ["PATH"],
            "SHELL": "/bin/sh",
            "HOME": str(self.home),
            "WINDLASS_VECTOR": self.marker,
        }
        for name in ("config", "state", "data", "cache"):
            self.env[f"XDG_{name.upper()}_HOME"] = str(self.home / name)

    def __enter__(self) -> "Project":
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def config(self, text: str) -> None:
        """Writes the user's configuration."""
        path = self.home / "config/windlass/config.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def runtime(self) -> windlass.Runtime:
        return windlass.Runtime(cwd=self.root, env=self.env)

    def processes(self, pattern: str = "") -> List[int]:
        """The processes of this project whose command line the expression matches."""
        marker = f"WINDLASS_VECTOR={self.marker}".encode()
        found = []
        for entry in os.listdir("/proc"):
            if not entry.isdigit():
                continue
            try:
                environment = Path(f"/proc/{entry}/environ").read_bytes().split(b"\0")
                command = Path(f"/proc/{entry}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            except OSError:
                continue
            if marker in environment and re.search(pattern, command):
                found.append(int(entry))
        return found

    async def wait_for_processes(self, pattern: str, count: int, patience: float = DEADLINE) -> None:
        start = time.monotonic()
        while len(found := self.processes(pattern)) != count:
            if time.monotonic() - start > patience:
                raise AssertionError(f"`{pattern}`: {count} processes wanted, there are {found}")
            await asyncio.sleep(0.005)


async def eventually(what: str, holds: Callable[[], bool]) -> None:
    start = time.monotonic()
    while not holds():
        if time.monotonic() - start > DEADLINE:
            raise AssertionError(f"never: {what}")
        await asyncio.sleep(0.005)


class Serve:
    """A running ``windlass serve``."""

    def __init__(self, project: Project, listen: str = "127.0.0.1:0") -> None:
        self.process = subprocess.Popen(
            [windlass.find_binary(), "serve", "--listen", listen, "--json"],
            cwd=project.root,
            env=project.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self.process.stdout is not None
        said: Dict[str, Any] = json.loads(self.process.stdout.readline())
        self.url: str = said["url"]
        self.token: str = said["token"]

    def __enter__(self) -> "Serve":
        return self

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def __exit__(self, *_: object) -> None:
        self.kill()
        assert self.process.stdout is not None
        self.process.stdout.close()
