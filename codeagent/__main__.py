"""Runs the program, for ``python -m codeagent`` and for the command: the instant prompt first, then all the rest."""

import gc
import os
import sys

from codeagent.cli.first_frame import show_first_frame


def main() -> int:
    """Runs the program and returns its exit code; the garbage collector rests until everything is loaded."""
    gc.disable()
    frame = show_first_frame(sys.argv[1:], os.environ)
    from codeagent.cli.main import main as run

    return run(frame=frame)


if __name__ == "__main__":
    sys.exit(main())
