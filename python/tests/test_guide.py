"""The programs of the guide run as they are."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import unittest

import windlass

from .support import ROOT, Project


class Guide(unittest.TestCase):
    def test_every_program_of_the_guide_runs(self) -> None:
        programs = re.findall(r"\n```python\n(.*?)\n```", (ROOT / "docs/guide/python.md").read_text(), re.S)
        said = []
        for program in programs:
            with Project() as project:
                env = {**project.env, "PYTHONPATH": str(ROOT / "python/src"), "WINDLASS_BIN": windlass.find_binary()}
                run = subprocess.run([sys.executable, "-W", "error", "-c", program], env=env, cwd=project.root, capture_output=True, text=True, timeout=120)
                self.assertEqual(run.returncode, 0, run.stderr)
                said.append(run.stdout.split("\n"))
        self.assertEqual(len(said), 2)
        self.assertEqual(said[0][-4:], ["Run `shell`?", "one", "two", ""])
        self.assertEqual(said[1], ["deployed to production", "all is well", ""])
