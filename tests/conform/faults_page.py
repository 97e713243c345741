# SPDX-License-Identifier: BSD-2-Clause
"""Writes docs/results/conformance-faults.md: the faults that can be planted in the endpoint, and the cases that find each of them.

usage: faults_page.py TEST_CONFORM_MUTANTS SOURCE [FAULT...]
       faults_page.py --check SOURCE

Runs every instance of every case with every FAULT, by default with all: minutes of all cores. What the page says of other
faults stays. With --check it runs and writes nothing, and exits with 1 if the page lacks a fault or names one that is not
there, or does not say of a case that it finds a fault that the case names.
"""

import collections
import os
import pathlib
import re
import subprocess
import sys

PAGE = "docs/results/conformance-faults.md"
HEAD = """# What the cases of roce-conform find

Written by `tests/conform/faults_page.py`. Each fault was planted in our endpoint (profile strict), and each case was run
against it in memory. [Proof that cases can fail](../conformance.md#proof-that-cases-can-fail) says how. The number behind a
case is that of its instances that failed; a **bold** case names the fault, so that a test fails if it does not find it.
Cases of level *info* measure, and need not find any.

"""
FAULT = re.compile(r'^ROCE_FAULT\((\w+), "(.*)"\)$', re.MULTILINE)
NAMED = re.compile(r"^mutants: \[(.*)\]$", re.MULTILINE)
LEVEL = re.compile(r"^level: (\w+)$", re.MULTILINE)
FOUND = re.compile(r"^(\w+) +([a-z0-9-]+) +(\d+) of \d+ ", re.MULTILINE)
ROW = re.compile(r"^\| `(\w+)` \| .* \| (.*) \|$", re.MULTILINE)
FINDER = re.compile(r"\*{0,2}([a-z0-9-]+)\*{0,2} (\d+)")


def planted(source):
    """The faults with their sentences, in the order of the tables."""
    return dict(pair for part in ("cm", "port", "transport")
                for pair in FAULT.findall((source / f"libroce/src/{part}/faults.inc").read_text(encoding="utf-8")))


def cases(source):
    """The cases by name: the level, and the faults that the case names."""
    known = {}
    for path in sorted(source.glob("conform/cases/*/*.yaml")):
        text = path.read_text(encoding="utf-8")
        named = NAMED.search(text)
        known[path.stem] = (LEVEL.search(text).group(1), re.findall(r"\w+", named.group(1)) if named else [])
    return known


def on_page(source):
    """What the page says: the cases that find each fault, with the number of their instances."""
    path = source / PAGE
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return {fault: {case: int(count) for case, count in FINDER.findall(finders)} for fault, finders in ROW.findall(text)}


def run(program, faults):
    """Runs all cases with the faults; returns what `on_page` does."""
    environment = {**os.environ, "ROCE_MUTANTS": ",".join(faults)}
    done = subprocess.run([program, "--gtest_filter=*EachCaseFindsTheFaultsThatItNames"], capture_output=True, text=True,
                          env=environment, check=False)
    if done.returncode != 0:
        sys.exit(f"{program} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    found = {fault: {} for fault in faults}
    for fault, case, count in FOUND.findall(done.stdout):
        found[fault][case] = int(count)
    return found


def page(faults, known, found):
    """The text of the page."""
    finders = collections.Counter(case for fault in faults for case in found[fault])
    silent = [fault for fault in faults if not found[fault]]
    lines = [f"{len(faults)} faults, of which {len(faults) - len(silent)} are found; {len(known)} cases.", "",
             "| fault | the endpoint then | found by |", "|---|---|---|"]
    for fault, sentence in faults.items():
        by = [f"**{case}** {count}" if fault in known[case][1] else f"{case} {count}"
              for case, count in sorted(found[fault].items()) if case in known]
        lines.append(f"| `{fault}` | {sentence} | {', '.join(by)} |")
    lines += ["", "## How many faults each case finds", "", "| case | level | faults |", "|---|---|---|"]
    lines += [f"| {case} | {level} | {finders[case]} |" for case, (level, _) in known.items()]
    return HEAD + "\n".join(lines) + "\n"


def check(source):
    """Returns what is wrong with the page, in sentences."""
    faults, known, found = planted(source), cases(source), on_page(source)
    wrong = [f"{fault} is not on the page" for fault in faults if fault not in found]
    wrong += [f"the page has {fault}, which no faults.inc has" for fault in found if fault not in faults]
    for case, (level, named) in known.items():
        wrong += [f"{case} names {fault}, and the page does not say that it finds it"
                  for fault in named if case not in found.get(fault, {case: 1})]
        if level != "info" and not any(case in finders for finders in found.values()):
            wrong.append(f"{case} of level {level} finds no fault")
    return wrong


def main():
    if sys.argv[1] == "--check":
        wrong = check(pathlib.Path(sys.argv[2]))
        for sentence in wrong:
            print(f"{PAGE}: {sentence}; run tests/conform/faults_page.py with the faults that it is about")
        sys.exit(1 if wrong else 0)
    program, source = sys.argv[1], pathlib.Path(sys.argv[2])
    faults, known = planted(source), cases(source)
    asked = sys.argv[3:] or list(faults)
    if unknown := [fault for fault in asked if fault not in faults]:
        sys.exit(f"there is no fault {', '.join(unknown)}")
    found = {**dict.fromkeys(faults, {}), **on_page(source), **run(program, asked)}
    (source / PAGE).write_text(page(faults, known, found), encoding="utf-8")


if __name__ == "__main__":
    main()
