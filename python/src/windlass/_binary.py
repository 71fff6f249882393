"""Finds the ``windlass`` program."""

from __future__ import annotations

import os
import shutil
import sysconfig
from pathlib import Path

from ._errors import BinaryNotFound

__all__ = ["find_binary"]


def find_binary() -> str:
    """The program that came with this package, else ``WINDLASS_BIN``, else the one in ``PATH``."""
    scripts = sysconfig.get_path("scripts")
    bundled = [Path(__file__).parent / "bin" / "windlass"]
    if scripts:
        bundled.append(Path(scripts) / "windlass")
    for program in bundled:
        if _is_native(program):
            return str(program)
    named = os.environ.get("WINDLASS_BIN")
    if named:
        if os.access(named, os.X_OK):
            return named
        raise BinaryNotFound(f"WINDLASS_BIN is {named!r}, which is not a program")
    found = shutil.which("windlass")
    if found is None:
        raise BinaryNotFound(
            "there is no program `windlass`: this package was installed without one; "
            "put it into PATH, or set WINDLASS_BIN to its path"
        )
    return found


def _is_native(program: Path) -> bool:
    """Whether it is an executable and not a script: a script of this name would start this package again."""
    if not os.access(program, os.X_OK):
        return False
    with program.open("rb") as file:
        return file.read(2) != b"#!"
