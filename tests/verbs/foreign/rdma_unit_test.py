#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The unit tests of Google's rdma-unit-test over our libibverbs, each in a process of its own.

usage: rdma_unit_test.py ROCE_RUN [--write] [--only PATTERN]

ROCE_RDMA_UNIT_TEST is a folder with its sources and a Makefile that makes BUILD/rdma_unit_test of them; they are not part of this
project. Those that pass are in rdma_unit_test.passed: one more or one fewer is a failure, and so is one that fails and is not named
in DEVIATIONS. --write writes that file; --only runs those in whose names the pattern is found, and prints what each said that fails.
Six tests lock more than the 8 MiB that a user may usually lock, and fail then. Exits with 77, and a sentence, where there is no such
folder, and where no network namespace can be made."""

import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1] / "gen")]

from judge import SKIPPED, arguments_of
from live import enter_network_of_the_host
from pairs import enter_namespaces_of_a_user

SECONDS = 90  # for a test; the longest takes 30
AT_ONCE = 4   # most of them wait
# Tests wait 2 s for a completion. In these a QP sends up to 8 times in vain, with an ACK timeout of 1.07 s; others show that nothing
# comes within 2 s.
PATIENT = re.compile(r"RemoteRcQpStateTest|ResponderNotReadyToReceive/|RcSendToUd$|PostRecvInit$")
PATIENCE = 6
DEVICE = "roce_lo"
LATE_END = "took more than"
LISTED = HERE / "rdma_unit_test.passed"
NO_TIMEOUT = "a QP in ERR answers nothing, and the QP that waits for it has no ACK timeout: the test waits for ever"
STATES = "work that the state of the QP does not allow is refused when it is posted"
ORDER = "of an atomic's wrong key and wrong address the key is found first, as with Soft-RoCE"
# Why tests fail, by patterns of their names.
DEVIATIONS = {
    r"MwType2AdvancedTest\.Rebind$": NO_TIMEOUT,
    r"QpStateTest\.Post(SendReset|RecvReset|SendInit|SendRtr)$": STATES,
    r"LoopbackRcQpTest\.(FetchAdd|CompareSwap)UnalignedInvalidRKey$": ORDER,
    r"RequestNotificationOnCqWithoutCompChannel$": "a CQ without a channel can be armed; the event goes nowhere, as with Soft-RoCE",
}


def build(sources):
    """Builds the tests beside what else is kept between runs; returns the program."""
    folder = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "roce-rdma-unit-test"
    made = subprocess.run(["make", "-s", f"-j{os.cpu_count()}", "-C", sources, f"BUILD={folder}"], check=False)
    if made.returncode != 0:
        sys.exit(f"rdma_unit_test: make fails in {sources}; of Debian's packages it needs those of `scripts/setup judges`")
    return folder / "rdma_unit_test"


def names_in(listing):
    """The names of the tests in what --gtest_list_tests prints."""
    suite = ""
    for line in listing.splitlines():
        if line.startswith("  "):
            yield suite + line.split()[0]
        elif re.match(r"\S+\.", line):
            suite = line.split()[0]


def run(arguments, program, number, test):
    """Runs one test; returns how it ended, and what it said."""
    # Each has an address of its own, with a roce-portd of its own.
    address = f"127.1.{number // 250}.{number % 250 + 1}"
    patience = PATIENCE if PATIENT.search(test) else 1
    try:
        done = subprocess.run([arguments.roce_run, "--address", address, program, "--ipv4_only", f"--device_name={DEVICE}",
                               f"--completion_wait_multiplier={patience}", f"--gtest_filter={test}"],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired as late:
        return "failed", f"{LATE_END} {SECONDS} s\n{(late.stdout or b'').decode(errors='replace')}"
    said = done.stdout.decode(errors="replace")
    if done.returncode == 0:
        return ("skipped" if "[  SKIPPED ]" in said else "passed" if "[  PASSED  ] 1 test" in said else "failed"), said
    return "failed", said


def deviation_of(test, said):
    """Why a test fails; nothing if it should not, or not in this way."""
    why = next((why for pattern, why in DEVIATIONS.items() if re.search(pattern, test)), None)
    fails_as_it_should = said.startswith(LATE_END) if why is NO_TIMEOUT else "[  FAILED  ]" in said
    return why if fails_as_it_should else None


def main():
    arguments = arguments_of("roce_run")
    sources = os.environ.get("ROCE_RDMA_UNIT_TEST")
    if not sources:
        print("skipped: ROCE_RDMA_UNIT_TEST names no folder with the sources of rdma-unit-test")
        return SKIPPED
    program = build(sources)
    # Some tests lock more memory than users may, so that root stays root.
    if os.geteuid() == 0:
        enter_network_of_the_host()
    else:
        enter_namespaces_of_a_user()
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    listing = subprocess.run([arguments.roce_run, "--address", "127.0.0.2", program, "--gtest_list_tests"], capture_output=True,
                             text=True, check=True).stdout
    tests = [test for test in names_in(listing) if arguments.only.search(test)]
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as workers:
        ended = list(workers.map(lambda numbered: run(arguments, program, *numbered), enumerate(tests)))
    results = dict(zip(tests, ended))
    passed = {test for test, (end, _) in results.items() if end == "passed"}
    failed = {test for test, (end, _) in results.items() if end == "failed"}
    unexplained = {test for test in failed if deviation_of(test, results[test][1]) is None}
    counts = collections.Counter(end for end, _ in ended)
    print(f"{len(tests)} tests: {counts['passed']} pass, {counts['failed']} fail ({len(failed) - len(unexplained)} named deviations), "
          f"{counts['skipped']} skip themselves")
    for test in sorted(failed if arguments.only.pattern else unexplained):
        print(f"{test}: fails: {deviation_of(test, results[test][1]) or 'not a named deviation'}\n{results[test][1][-2000:]}")
    if arguments.write:
        LISTED.write_text("".join(f"{test}\n" for test in sorted(passed)), encoding="ascii")
        return int(bool(unexplained))
    listed = LISTED.read_text(encoding="ascii").split() if LISTED.exists() else []
    expected = {test for test in listed if arguments.only.search(test)}
    for what, which in (("does not pass any more", expected - passed - failed), ("passes now", passed - expected),
                        ("is listed, and fails", expected & failed)):
        for test in sorted(which):
            print(f"{test}: {what}")
    return int(bool(unexplained) or passed != expected)


if __name__ == "__main__":
    sys.exit(main())
