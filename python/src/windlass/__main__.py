"""``python -m windlass``: the program itself."""

import os
import sys

from ._binary import find_binary


def main() -> None:
    """Replaces this process by the ``windlass`` program."""
    program = find_binary()
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    main()
