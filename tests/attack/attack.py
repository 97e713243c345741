#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The whole attack: each part as a program of its own, one after the other, and one table of what they did and found."""

import argparse
import json
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
PARTS = ("frames", "cm", "control", "captures", "hostile", "kills")
SKIPPED = 77
RESULTS = {0: "held", 1: "FOUND", SKIPPED: "skipped"}


def last_line(output):
    """The object at a part's end, or an empty one."""
    lines = output.strip().splitlines()
    try:
        said = json.loads(lines[-1]) if lines else {}
    except ValueError:
        said = {}
    return said if isinstance(said, dict) else {}


def run_part(name, arguments):
    """(exit code, seconds, the object at its end); what it prints passes through."""
    line = [sys.executable, "-B", str(HERE / f"{name}.py"), "--build", arguments.build, "--seed", str(arguments.seed), "--scale", arguments.scale]
    begun = time.monotonic()
    output = []
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True, errors="replace") as process:
        for text in process.stdout:
            output.append(text)
            if not text.startswith("{"):
                print(text, end="", flush=True)
    return process.returncode, time.monotonic() - begun, last_line("".join(output))


def main():
    there = [name for name in PARTS if (HERE / f"{name}.py").exists()]
    parser = argparse.ArgumentParser(prog="tests/attack/attack.py", description=__doc__)
    parser.add_argument("parts", metavar="PART", nargs="*", default=[], help=f"only these: {' '.join(there)}")
    parser.add_argument("--build", required=True, help="folder of the build whose programs are attacked (build/dev)")
    parser.add_argument("--seed", type=int, default=1, help="of all random choices (1)")
    parser.add_argument("--scale", choices=["short", "long"], default="short", help="how much is done (short)")
    parser.add_argument("--json", metavar="FILE", help="write what each part says at its end, one object a line")
    arguments = parser.parse_args()
    for name in arguments.parts:
        if name not in there:
            parser.error(f"there is no part {name}; there are: {' '.join(there)}")
    rows, objects = [], []
    for name in arguments.parts or there:
        print(f"--- {name}", flush=True)
        code, seconds, said = run_part(name, arguments)
        objects.append({**said, "part": name, "seed": arguments.seed, "exit_code": code, "seconds": round(seconds, 1)})
        done = ", ".join(f"{number} {what}" for what, number in said.get("done", {}).items() if isinstance(number, int))
        rows.append((name, RESULTS.get(code, f"exit code {code}"), f"{seconds:.0f}", str(said.get("crashes", "")), str(said.get("hangs", "")),
                     str(len(said.get("findings", ()))), done))
        if arguments.json:
            pathlib.Path(arguments.json).write_text("".join(json.dumps(one) + "\n" for one in objects), encoding="utf-8")
    titles = ("part", "result", "seconds", "crashes", "hangs", "findings", "done")
    widths = [max(len(row[i]) for row in [titles, *rows]) for i in range(6)]
    print()
    for row in [titles, *rows]:
        print("  ".join([*(text.ljust(width) for text, width in zip(row, widths)), row[6]]))
    return 1 if any(row[1] not in (RESULTS[0], RESULTS[SKIPPED]) for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
