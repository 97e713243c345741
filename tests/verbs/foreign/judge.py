# SPDX-License-Identifier: BSD-2-Clause
"""Programs of others as judges of our libibverbs and librdmacm: what the scripts beside have in common.

usage: SCRIPT ROCE_RUN ROCE_ANALYZE [--write] [--only PATTERN]

Each has named runs, and a file SCRIPT.passed with the names of those that pass: one more or one fewer is a failure. --write writes
that file. --only runs those in whose names the pattern is found, and prints what each said that fails. All happens in namespaces of
the script's own, as a user; exits with 77, and a sentence, where these are forbidden or the programs are not installed.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from pairs import Pairs, enter_namespaces_of_a_user

SKIPPED = 77
SECONDS = 20  # for a run, which takes a few if it ends


def needs(packages):
    """Ends the script unless there is each program or file of `packages`, which names their packages."""
    missing = sorted({package for name, package in packages.items() if not (shutil.which(name) or os.path.exists(name))})
    if missing:
        print(f"skipped: not installed: {' '.join(missing)} (scripts/setup judges)")
        sys.exit(SKIPPED)


def arguments_of(*files):
    """What the command line says, which begins with these files."""
    parser = argparse.ArgumentParser()
    for file in files:
        parser.add_argument(file, type=lambda name: pathlib.Path(name).resolve())
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--only", type=re.compile, default=re.compile(""))
    arguments = parser.parse_args()
    if arguments.write and arguments.only.pattern:
        parser.error("--write writes the whole list: without --only")
    return arguments


def attempt(run):
    """Runs one to its end; returns what is wrong, or nothing."""
    pairs = Pairs()
    try:
        pairs.setUp()
        run(pairs)
    except unittest.SkipTest:
        raise
    except (AssertionError, OSError, subprocess.SubprocessError) as error:
        return str(error) or repr(error)
    finally:
        pairs.doCleanups()
    return None


def judge(script, packages, runs, cannot=None):
    """All that a script does. `runs`: by name, a function of Pairs that raises AssertionError if something is wrong; it is called once
    the network is there. `cannot`: by name, why a run fails; it is still tried."""
    arguments = arguments_of("roce_run", "roce_analyze")
    needs(packages)
    enter_namespaces_of_a_user()
    Pairs.roce_run, Pairs.roce_analyze = arguments.roce_run, arguments.roce_analyze
    Pairs.patience = SECONDS
    Pairs.setUpClass()
    chosen = {name: run for name, run in runs.items() if arguments.only.search(name)}
    listed = pathlib.Path(script).with_suffix(".passed")
    expected = set(listed.read_text(encoding="ascii").splitlines()) if listed.exists() else set()
    expected = {name for name in expected if arguments.only.search(name)}
    begin, passed = time.monotonic(), set()
    for name, run in chosen.items():
        wrong = attempt(run)
        if wrong is None:
            passed.add(name)
            if name not in expected:
                print(f"{name}: passes, and is not in {listed.name}", flush=True)
        elif name in expected:
            print(f"{name}: does not pass:\n{wrong}", flush=True)
        else:
            said = f"\n{wrong}" if arguments.write or arguments.only.pattern else ""
            print(f"{name}: cannot: {(cannot or {}).get(name, 'not in the list')}{said}", flush=True)
    for name in sorted(expected - chosen.keys()):
        print(f"{name}: in {listed.name}, but there is no such run any more")
    print(f"{len(passed)} of {len(chosen)} runs pass ({time.monotonic() - begin:.0f} s)")
    if arguments.write:
        listed.write_text("".join(f"{name}\n" for name in sorted(passed)), encoding="ascii")
        return 0
    return int(passed != expected)
