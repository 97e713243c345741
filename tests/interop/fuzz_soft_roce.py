#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""roce-conform fuzz against Soft-RoCE in a guest, which is booted again whenever its kernel dies. A measurement, no test.

usage: ROCE_AGENT=FILE ROCE_CONFORM=FILE fuzz_soft_roce.py FOLDER [OPTION OF roce-conform fuzz...]

FOLDER gets the findings, the corpus and the summary. With --resume a run goes on where one with the same folder and seed ended.
"""

import os
import select
import sys
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "gen")]

# pylint: disable=wrong-import-position
import guest
import network
from agent_cases import CONTROL_PORT
from conformance_cases import Reviving
from interop_test import obstacle
from stage import Case

DAY = 86400  # seconds


class Fuzzed(Reviving):
    """The fuzzer beside the guest. It is no test of its own."""

    folder_of_results = None
    options = ()

    def runTest(self):
        question, hook = self.ask_here()
        results = self.folder_of_results
        run, end = self.started([
            self.roce_conform, "fuzz", "-i", self.network.interface, "--target", self.network.guest4,
            "--agent", f"{self.network.guest4}:{CONTROL_PORT}", "--token-file", self.token, "--findings", os.path.join(results, "findings"),
            "--corpus", os.path.join(results, "corpus"), "--json", os.path.join(results, "summary.json"), "--recover-command", hook,
            *self.options])
        while question in select.select([question, end], [], [], DAY)[0]:
            tail = self.guest.console.tail()
            print(f"the device is gone: {self.revive(question).strip()}\n{tail}", flush=True)
        run.wait()


def main():
    if len(sys.argv) < 2:
        print(__doc__.split("\n\n", maxsplit=2)[1], file=sys.stderr)
        return 2
    reason = obstacle()
    if reason is not None:
        print(f"fuzz_soft_roce: not run: {reason}", file=sys.stderr)
        return 1
    guest.on_signals_exit()
    Fuzzed.folder_of_results, Fuzzed.options = os.path.abspath(sys.argv[1]), sys.argv[2:]
    os.makedirs(Fuzzed.folder_of_results, exist_ok=True)
    Case.roce_agent, Case.roce_conform = (os.path.abspath(os.environ[name]) for name in ("ROCE_AGENT", "ROCE_CONFORM"))
    with network.Network() as Case.network, guest.Guest(Case.network) as Case.guest:
        return 0 if unittest.TextTestRunner().run(unittest.TestSuite([Fuzzed()])).wasSuccessful() else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except guest.Ended as ended:
        sys.exit(ended.args[0])
