"""The lines of ``windlass drive``, over the pipes of a process or a connection to a server.

Start at :class:`Wire`. Descriptors are read when the event loop says that they can be, without a thread and without
``asyncio`` streams: a call costs little, and :meth:`Wire.pump` can wait for a line without an event loop.
"""

from __future__ import annotations

import asyncio
import json
import os
import select
import socket
import ssl
import subprocess
import tempfile
import urllib.parse
from typing import Any, Callable, Dict, IO, List, Mapping, Optional, Sequence

from ._errors import ConnectionLost, RequestRefused

__all__ = ["Wire", "connect", "start"]

_CHUNK = 1 << 18
#: The time limit for the exit of a runtime after the end of its input.
_GRACE = 20.0


class _Pipes:
    """The pipes of a process."""

    def __init__(self, process: "subprocess.Popen[bytes]", errors: IO[bytes]) -> None:
        assert process.stdin is not None and process.stdout is not None
        self.process = process
        self._errors = errors
        self._stdin, self._stdout = process.stdin, process.stdout
        self.reads, self.writes = self._stdout.fileno(), self._stdin.fileno()
        os.set_blocking(self.reads, False)
        os.set_blocking(self.writes, False)

    def read(self) -> Optional[bytes]:
        """The available bytes; empty at the end, ``None`` if there are none yet."""
        try:
            return os.read(self.reads, _CHUNK)
        except BlockingIOError:
            return None

    def write(self, data: memoryview) -> int:
        try:
            return os.write(self.writes, data)
        except BlockingIOError:
            return 0

    def end_input(self) -> None:
        try:
            self._stdin.close()
        except OSError:
            pass

    async def close(self) -> None:
        """Waits for the exit of the process after the end of its input."""
        self.end_input()
        loop = asyncio.get_running_loop()
        try:
            await loop.run_in_executor(None, self.process.wait, _GRACE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            await loop.run_in_executor(None, self.process.wait)
        finally:
            self._stdout.close()
            self._errors.close()

    def abandon(self) -> None:
        """Ends the process without waiting."""
        self.end_input()
        self.process.kill()
        self.process.wait()
        self._stdout.close()
        self._errors.close()

    def complaint(self) -> str:
        """The last part of the process's standard error."""
        if self._errors.closed:
            return ""
        end = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, end - 2000))
        return self._errors.read().decode("utf-8", "replace").strip()


class _Socket:
    """A connection to a server."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._socket.setblocking(False)
        self.reads = self.writes = connection.fileno()

    def read(self) -> Optional[bytes]:
        parts: List[bytes] = []
        while True:
            try:
                data = self._socket.recv(_CHUNK)
            except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
                return b"".join(parts) if parts else None
            except OSError:
                data = b""
            if not data:
                return b"".join(parts)
            parts.append(data)
            # Buffered decrypted bytes do not wake the event loop.
            if not (isinstance(self._socket, ssl.SSLSocket) and self._socket.pending()):
                return b"".join(parts)

    def write(self, data: memoryview) -> int:
        try:
            return self._socket.send(data)
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return 0

    def end_input(self) -> None:
        try:
            self._socket.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    async def close(self) -> None:
        self._socket.close()

    def abandon(self) -> None:
        self._socket.close()

    def complaint(self) -> str:
        return ""


class Wire:
    """Sends and receives lines. Received lines are passed to ``take`` in order."""

    def __init__(self, carrier: "_Pipes | _Socket", take: Callable[[Dict[str, Any]], None], lost: Callable[[ConnectionLost], None]) -> None:
        self._carrier = carrier
        self._take = take
        self._lost = lost
        self._unread: List[bytes] = []
        self._unsent = bytearray()
        self._loop: Optional[asyncio.AbstractEventLoop] = None
        self._ended = asyncio.Event()
        self._closing = False

    def follow(self) -> None:
        """Starts to read whenever bytes arrive."""
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._carrier.reads, self._readable)

    @property
    def is_open(self) -> bool:
        return not self._closing and not self._ended.is_set()

    def send(self, line: Mapping[str, Any]) -> None:
        """Sends a line, now or as soon as the other side reads."""
        if not self.is_open:
            raise ConnectionLost("the session has ended")
        data = json.dumps(line, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        if self._unsent:
            self._unsent += data
            return
        sent = self._write(memoryview(data))
        if sent < len(data):
            self._unsent += data[sent:]
            if self._loop is not None:
                self._loop.add_writer(self._carrier.writes, self._writable)

    def pump(self, done: Callable[[], bool]) -> None:
        """Reads lines, without the event loop, until ``done``. For requests with an immediate reply."""
        while not done():
            if self._ended.is_set():
                raise ConnectionLost("the session has ended")
            poll = select.poll()
            poll.register(self._carrier.reads, select.POLLIN)
            if self._unsent:
                # For a socket, the two are one descriptor.
                same = self._carrier.reads == self._carrier.writes
                poll.register(self._carrier.writes, select.POLLOUT | (select.POLLIN if same else 0))
            poll.poll()
            if self._unsent:
                self._writable()
            self._readable()

    async def close(self) -> None:
        """Ends the input and waits for the other side to end."""
        if not self._ended.is_set():
            self._closing = True
            deadline = asyncio.get_running_loop().time() + _GRACE
            while self._unsent and not self._ended.is_set() and asyncio.get_running_loop().time() < deadline:
                await asyncio.sleep(0.005)
            self._unwatch_writes()
            self._carrier.end_input()
            try:
                await asyncio.wait_for(self._ended.wait(), _GRACE)
            except asyncio.TimeoutError:
                self._unwatch()
                self._ended.set()
        await self._carrier.close()

    def abandon(self) -> None:
        """Closes everything at once."""
        self._closing = True
        self._unwatch_writes()
        self._unwatch()
        self._ended.set()
        self._carrier.abandon()

    def _readable(self) -> None:
        data = self._carrier.read()
        if data is None:
            return
        if not data:
            return self._end()
        if b"\n" not in data:
            self._unread.append(data)
            return
        lines = data.split(b"\n")
        self._unread.append(lines[0])
        lines[0] = b"".join(self._unread)
        self._unread = [lines.pop()]
        for line in lines:
            if line:
                self._take(json.loads(line))

    def _writable(self) -> None:
        sent = self._write(memoryview(bytes(self._unsent)))
        del self._unsent[:sent]
        if not self._unsent:
            self._unwatch_writes()

    def _write(self, data: memoryview) -> int:
        try:
            return self._carrier.write(data)
        except OSError:
            # Reading detects the end of the other side.
            return len(data)

    def _end(self) -> None:
        self._unwatch()
        self._unwatch_writes()
        self._ended.set()
        said = self._carrier.complaint()
        self._lost(ConnectionLost("the runtime has ended" + (f": {said}" if said else "")))

    def _unwatch(self) -> None:
        if self._loop is not None:
            self._loop.remove_reader(self._carrier.reads)

    def _unwatch_writes(self) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.remove_writer(self._carrier.writes)


def start(
    program: str,
    arguments: Sequence[str],
    *,
    cwd: Optional[str],
    env: Optional[Mapping[str, str]],
    take: Callable[[Dict[str, Any]], None],
    lost: Callable[[ConnectionLost], None],
) -> Wire:
    """Starts a program that reads and writes lines."""
    errors = tempfile.TemporaryFile()
    try:
        process = subprocess.Popen(
            [program, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=cwd,
            env=None if env is None else dict(env),
        )
    except BaseException:
        errors.close()
        raise
    return Wire(_Pipes(process, errors), take, lost)


def connect(
    url: str,
    token: Optional[str],
    *,
    ask: bool,
    take: Callable[[Dict[str, Any]], None],
    lost: Callable[[ConnectionLost], None],
) -> Wire:
    """Connects to ``windlass serve``. Blocks until it is connected."""
    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in ("http", "https") or parts.hostname is None:
        raise RequestRefused(f"{url!r} is not the address of a server; for example http://127.0.0.1:8413")
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        connection: socket.socket = socket.create_connection((parts.hostname, port), timeout=30)
    except OSError as error:
        raise ConnectionLost(f"there is no server at {url}: {error}") from error
    try:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if parts.scheme == "https":
            context = ssl.create_default_context()
            connection = context.wrap_socket(connection, server_hostname=parts.hostname)
        lines = [
            f"GET {parts.path.rstrip('/')}/api/v1/drive?ask={'true' if ask else 'false'} HTTP/1.1",
            f"Host: {parts.netloc.rpartition('@')[2]}",
            "Connection: upgrade",
            "Upgrade: windlass-drive",
        ]
        if token:
            lines.append(f"Authorization: Bearer {token}")
        connection.sendall("\r\n".join([*lines, "", ""]).encode())
        head = b""
        while b"\r\n\r\n" not in head:
            # One byte at a time: the bytes after the head belong to the wire.
            data = connection.recv(1)
            if not data:
                raise ConnectionLost(f"the server at {url} closed the connection")
            head += data
        status = head.split(b"\r\n", 1)[0].decode("latin-1")
        if " 101 " not in status:
            raise RequestRefused(f"{url} answered {status.partition(' ')[2]}: {_reason(connection, head)}")
    except BaseException:
        connection.close()
        raise
    return Wire(_Socket(connection), take, lost)


def _reason(connection: socket.socket, head: bytes) -> str:
    """The message of a refusal."""
    length = 0
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            length = int(line.partition(b":")[2])
    body = b""
    while len(body) < min(length, 4096):
        data = connection.recv(4096)
        if not data:
            break
        body += data
    try:
        return str(json.loads(body)["error"])
    except (ValueError, KeyError, TypeError):
        return body.decode("utf-8", "replace") or "nothing more"
