# SPDX-License-Identifier: BSD-2-Clause
"""Programs of others as judges of our libibverbs and librdmacm: what the scripts beside have in common.

usage: SCRIPT ROCE_RUN ROCE_ANALYZE [--write] [--only PATTERN]

Each has named runs, and a list of those that pass: one more or one fewer is a failure. The list is in SCRIPT.passed, or, where there is
such a file for the version of the package that is judged by, in SCRIPT-VERSION.passed (ucx-1.18.passed). --write writes that file, also
one that was empty before. --only runs those in whose names the pattern is found, and prints what each said that fails. All happens in namespaces of
the script's own, as a user; exits with 77, and a sentence, where these are forbidden or the programs are not installed.
"""

import argparse
import glob
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
FABRIC = "fa"
FABRIC_ADDRESSES = ["10.90.0.1", "10.90.0.2", "10.90.0.3", "10.90.0.4"]
SECONDS = 20  # for a run, which takes a few if it ends


def needs(packages):
    """Ends the script unless there is each program or file of `packages`, which names their packages."""
    missing = sorted({package for name, package in packages.items() if not (shutil.which(name) or os.path.exists(name))})
    if missing:
        print(f"skipped: not installed: {' '.join(missing)} (scripts/setup judges)")
        sys.exit(SKIPPED)


def has_ucx_over_verbs():
    """Whether UCX has its transports over verbs: Debian has built 1.23 without them."""
    return bool(glob.glob("/usr/lib/*/ucx/libuct_ib.so.0"))


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


def needs_word(program, word):
    """Leaves a run out unless a program's help has this option, or name of a test, which later releases have."""
    done = subprocess.run([program, "--help"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if word not in re.split(r"[\s,]+", done.stdout):
        raise unittest.SkipTest(f"this {program} has no {word}")


def make_fabric():
    """An interface FABRIC with the addresses of FABRIC_ADDRESSES, unless it is there: libfabric does not look at the loopback interface."""
    if subprocess.run(["ip", "link", "show", FABRIC], capture_output=True, check=False).returncode == 0:
        return
    addresses = [f"address add {address}/24 dev {FABRIC}" for address in FABRIC_ADDRESSES]
    for command in (f"link add {FABRIC} type veth peer name fb", *addresses, "link set fb up", f"link set {FABRIC} up"):
        subprocess.run(["ip", *command.split()], check=True)


def list_of_passed(script, package):
    """The file with the names of what passes with the version of a package that is installed."""
    script = pathlib.Path(script)
    version = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True, check=True).stdout
    parts = re.split(r"[.+~-]", version)
    named = (script.with_name(f"{script.stem}-{'.'.join(parts[:count])}.passed") for count in range(len(parts), 0, -1))
    return next((file for file in named if file.exists()), script.with_suffix(".passed"))


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
    """All that a script does. The first of the packages is the one whose version names the list. `runs`: by name, a function of Pairs
    that raises AssertionError if something is wrong, and SkipTest if this system has not what it takes; it is called once the network is
    there. `cannot`: by name, why a run fails; it is still tried."""
    arguments = arguments_of("roce_run", "roce_analyze")
    needs(packages)
    enter_namespaces_of_a_user()
    Pairs.roce_run, Pairs.roce_analyze = arguments.roce_run, arguments.roce_analyze
    Pairs.patience = SECONDS
    Pairs.setUpClass()
    chosen = {name: run for name, run in runs.items() if arguments.only.search(name)}
    listed = list_of_passed(script, next(iter(packages.values())))
    expected = set(listed.read_text(encoding="ascii").splitlines()) if listed.exists() else set()
    expected = {name for name in expected if arguments.only.search(name)}
    begin, passed, left_out = time.monotonic(), set(), set()
    for name, run in chosen.items():
        try:
            wrong = attempt(run)
        except unittest.SkipTest as why:
            print(f"{name}: left out: {why}", flush=True)
            left_out.add(name)
            continue
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
        print(f"{name}: in {listed.name}, but there is no such run")
    print(f"{len(passed)} of {len(chosen) - len(left_out)} runs pass ({time.monotonic() - begin:.0f} s)")
    if arguments.write:
        listed.write_text("".join(f"{name}\n" for name in sorted(passed | left_out & expected)), encoding="ascii")
        return 0
    return int(passed != expected - left_out)
