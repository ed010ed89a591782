"""The command ``windlass``, as ``python -m windlass`` and as a console script."""

from __future__ import annotations

import sys

from ._windlass import run_command


def main() -> int:
    """Run the command with the arguments of this process, and return its exit code."""
    return run_command(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
