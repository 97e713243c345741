#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The table of docs/results/fuzzing.md: the frames until fuzzers that know less than ours find 20 planted faults.

usage: fuzz_ablation.py [-h] [--seconds N] [--seeds N] [--jobs N] [--levels LEVEL,...] FUZZ_ABLATION

The faults are five of each class of fuzz_faults.py, drawn with the same seed each time. FUZZ_ABLATION is built by
`cmake --build build/dev --target fuzz_ablation`.
"""

import argparse
import concurrent.futures
import random
import statistics
import subprocess
import sys

from fuzz_faults import FAULTS

LEVELS = ["flips", "replay", "grammar", "model", "corpus", "coverage"]
OF_A_CLASS = 5
SEED = 2024


def draw_faults():
    numbers = random.Random(SEED)
    return [(letter, fault) for letter, faults in FAULTS.items() for fault in numbers.sample(faults, OF_A_CLASS)]


def run(program, fault, level, seed, seconds):
    """Returns the frames until the fault was found; None if it was not."""
    done = subprocess.run([program, fault, level, str(seed), str(seconds)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{fault}, {level}, seed {seed}: {done.stdout}{done.stderr}")
    word, _, frames = done.stdout.splitlines()[-1].split()
    return int(frames) if word == "found" else None


def cell(frames):
    found = [count for count in frames if count is not None]
    if not found:
        return "–"
    return f"{statistics.median(found):,.0f}" if len(found) == len(frames) else f"{len(found)} of {len(frames)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=120, help="the most time of a processor for each run")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="runs at the same time")
    parser.add_argument("--levels", type=lambda names: names.split(","), default=LEVELS, help="only these, with commas between them")
    parser.add_argument("program", metavar="FUZZ_ABLATION")
    arguments = parser.parse_args()
    levels = arguments.levels
    seeds = range(1, arguments.seeds + 1)
    print("| fault | class | " + " | ".join(levels) + " |")
    print("|---|---|" + "---|" * len(levels))
    totals = dict.fromkeys(levels, 0)
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for letter, fault in draw_faults():
            cells = []
            for level in levels:
                frames = list(pool.map(lambda seed, level=level: run(arguments.program, fault, level, seed, arguments.seconds), seeds))
                totals[level] += all(count is not None for count in frames)
                cells.append(cell(frames))
            print(f"| `{fault}` | {letter} | " + " | ".join(cells) + " |", flush=True)
    print("| found with every seed | | " + " | ".join(str(totals[level]) for level in levels) + " |")
    print(f"\n{arguments.seeds} seeds, at most {arguments.seconds} s of a processor each.")


if __name__ == "__main__":
    main()
