"""``python -m tests.benchmarks NAME``: runs one benchmark and prints its table, or JSON with ``--json``."""

from __future__ import annotations

import argparse
import importlib
import json
from dataclasses import asdict
from pathlib import Path

HERE = Path(__file__).parent
NO_BENCHMARKS = {"__main__", "__init__", "row", "driver", "stall", "steps"}
NAMES = sorted(
    path.stem
    for path in HERE.glob("*.py")
    if path.stem not in {"__main__", "__init__", "row", "driver", "stall", "steps"}
)


def main() -> None:
    """Runs the benchmark named on the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("name", choices=NAMES)
    parser.add_argument("--json", action="store_true", help="one JSON object a row")
    found = parser.parse_args()
    rows = importlib.import_module(f"tests.benchmarks.{found.name}").run()
    if found.json:
        for one in rows:
            print(json.dumps(asdict(one)))
        return
    width = max(len(one.what) for one in rows)
    print(f"{'':{width}}  {'median':>9}  {'least':>9}  {'most':>9}")
    for one in rows:
        verdict = {None: "", True: "reached", False: "MISSED"}[one.reached]
        figures = f"{one.median:9.2f}  {one.least:9.2f}  {one.most:9.2f} {one.unit:6}"
        print(f"{one.what:{width}}  {figures} {one.bar}  {verdict}")


if __name__ == "__main__":
    main()
