"""``python -m windlass``: the program itself."""

import os
import sys

from ._binary import find_binary


def main() -> None:
    """Becomes the ``windlass`` program."""
    program = find_binary()
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    main()
