"""Runs the program: ``python -m codeagent``."""

import sys

from codeagent.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
