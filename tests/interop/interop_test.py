#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Our programs against Linux's Soft-RoCE, in a guest that runs for all cases.

usage: [ROCE_GEN=FILE] [ROCE_ANALYZE=FILE] [ROCE_REPLAY=FILE] [ROCE_AGENT=FILE] [ROCE_CONFORM=FILE] [ROCE_RUN=FILE] interop_test.py [UNITTEST-ARGUMENT...]       for instance -v -k pingpong

Prints a line for each group of cases, with -v for each case, and what failed as soon as it has.

The guest is emulated, and a machine that others use too may hold it up for seconds: a single case that failed is done once more. Both
results are printed; if it fails again, or if more than one failed, so does the run.

With ROCE_INTEROP_ALL=1 every case runs, else those of one of three turns, which ROCE_INTEROP_TURN=NUMBER chooses.

With ROCE_INTEROP_LINK=KIND our side's frames go that way (--link KIND of roce-gen): raw or xdp.

With ROCE_INTEROP_RECOVERY=PARTS our queue pairs do that about losses (--recovery of roce-gen).

With ROCE_INTEROP_TABLE=FILE the results go, as a table, between the two markers of that file (docs/results/interop.md).

Exit code 77, with the reason, where it cannot run; with ROCE_INTEROP_REQUIRED set that is a failure instead.
"""

import os
import shutil
import sys
import time
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "gen")]

# pylint: disable=wrong-import-position
import guest
import network
from agent_cases import AgentCases  # pylint: disable=unused-import
from conformance_cases import ConformanceCases  # pylint: disable=unused-import
from converse_cases import ConverseCases  # pylint: disable=unused-import
from death_cases import DeathCases  # pylint: disable=unused-import
from error_cases import ErrorCases, RelayedErrorCases  # pylint: disable=unused-import
from harness_cases import GuestCases, NetworkCases  # pylint: disable=unused-import
from matrix_cases import MatrixCases  # pylint: disable=unused-import
from perftest_cases import PerftestCases  # pylint: disable=unused-import
from nvme_cases import NvmeCases  # pylint: disable=unused-import
from pingpong_cases import PingpongCases  # pylint: disable=unused-import
from rdma_cm_cases import RdmaCmCases  # pylint: disable=unused-import
from rdma_cm_fault_cases import RdmaCmFaultCases  # pylint: disable=unused-import
from relay_cases import RelayCases  # pylint: disable=unused-import
from server_conformance_cases import ServerConformanceCases  # pylint: disable=unused-import
from stage import Case
from turns import everything
from verbs_cases import RelayedVerbsCases, VerbsCases

# They wait for most of their minutes.
if not everything():
    del DeathCases, RelayedErrorCases
if not os.environ.get("ROCE_RUN"):
    del RelayedVerbsCases, VerbsCases

SKIPPED = 77
MARKERS = "<!-- results -->", "<!-- end of results -->"
PROGRAMS = (guest.QEMU, "ip", "ethtool", "depmod", "modprobe", "cpio", "dpkg-deb", "apt-get")


def obstacle():
    """Why this cannot run here; None when it can."""
    if os.geteuid() != 0:
        return "it needs root, for network namespaces and a tap"
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if missing:
        return f"{', '.join(missing)} missing (`scripts/setup interop` installs what is needed)"
    try:
        os.close(os.open("/dev/net/tun", os.O_RDWR))
    except OSError as error:
        return f"/dev/net/tun cannot be opened: {error.strerror}"
    probe = network.Namespace("probe")
    try:
        probe.create()
    except guest.GuestError as error:
        return f"no network namespace can be made: {error}"
    probe.delete()
    return None


class TimedResult(unittest.TextTestResult):
    """Says at once what failed, of each case or each group how long it took, and keeps all for the table."""

    rows = []

    def __init__(self, stream, descriptions, verbosity, **more):
        # No dot for each case: where only the beginning of the output is kept, it is what failed that should be in it.
        super().__init__(stream, descriptions, verbosity if verbosity > 1 else 0, **more)
        self.failed = []

    def startTest(self, test):
        self._begin = time.monotonic()
        super().startTest(test)

    def stopTest(self, test):
        super().stopTest(test)
        if self.showAll:
            self.stream.writeln(f"    {self.rows[-1][3]:.1f} s")

    def _end(self, test, word, error=None):
        self.rows.append((type(test).__name__, test._testMethodName, word, time.monotonic() - self._begin))
        if error is not None:
            self.failed.append(getattr(test, "test_case", test))
            self.stream.writeln(f"{word}: {test}\n{self._exc_info_to_string(error, test)}")

    def addSuccess(self, test):
        super().addSuccess(test)
        self._end(test, "passed")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._end(test, "skipped")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._end(test, "FAILED", err)

    def addError(self, test, err):
        super().addError(test, err)
        self._end(test, "FAILED", err)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._end(subtest, "FAILED", err)

    def printErrors(self):
        """Once is enough."""


class Runner(unittest.TextTestRunner):
    resultclass = TimedResult


class GroupedSuite(unittest.TestSuite):
    """Says after each group of cases how many passed and how long they took."""

    def run(self, result, debug=False):
        begin, first = time.monotonic(), len(result.rows)
        is_group = any(isinstance(test, Case) for test in self)
        super().run(result, debug)
        if is_group:
            rows = result.rows[first:]
            passed = sum(row[2] == "passed" for row in rows)
            result.stream.writeln(f"{rows[0][0]}: {passed} of {len(rows)} passed, {time.monotonic() - begin:.1f} s")
            result.stream.flush()
        return result


class Loader(unittest.TestLoader):
    suiteClass = GroupedSuite


def passes_again(result):
    """Whether what failed, if that is a single case, passes when it is done once more."""
    failed = {test.id(): test for test in result.failed}.values()
    if len(failed) != 1:
        return False
    case, = failed
    result.stream.writeln(f"Once more: {case}")
    # Only a suite sets up what the cases of a class share.
    second = Runner(verbosity=2).run(GroupedSuite([type(case)(case._testMethodName)]))
    result.stream.writeln(f"{case}: {'FAILED, then passed: held up, or a race' if second.wasSuccessful() else 'FAILED twice'}")
    return second.wasSuccessful()


def write_table(path, rows):
    """Puts the rows, a table for each class, between the markers of a Markdown file."""
    lines = []
    for group in dict.fromkeys(row[0] for row in rows):
        cases = [row for row in rows if row[0] == group]
        lines += [f"{group}: {sum(row[2] == 'passed' for row in cases)} of {len(cases)} passed", "", "| case | result | s |",
                  "|---|---|---|", *(f"| {name.removeprefix('test_').replace('_', ' ')} | {word} | {seconds:.1f} |"
                                     for _, name, word, seconds in cases), ""]
    with open(path, encoding="utf-8") as file:
        before, _, rest = file.read().partition(MARKERS[0])
    after = rest.partition(MARKERS[1])[2]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join([before + MARKERS[0], "", *lines]) + MARKERS[1] + after)


def main():
    reason = obstacle()
    if reason is not None:
        print(f"interop_test: not run: {reason}", file=sys.stderr)
        return 1 if os.environ.get("ROCE_INTEROP_REQUIRED") else SKIPPED
    guest.on_signals_exit()
    Case.roce_gen = os.environ.get("ROCE_GEN") or None
    Case.roce_replay = os.environ.get("ROCE_REPLAY") or None
    Case.roce_analyze = os.environ.get("ROCE_ANALYZE") or None
    Case.roce_agent = os.environ.get("ROCE_AGENT") or None
    Case.roce_conform = os.environ.get("ROCE_CONFORM") or None
    Case.roce_run = os.environ.get("ROCE_RUN") or None
    Case.link = os.environ.get("ROCE_INTEROP_LINK") or None
    Case.recovery = os.environ.get("ROCE_INTEROP_RECOVERY") or None
    begin = time.monotonic()
    with network.Network() as Case.network, guest.Guest(Case.network) as Case.guest:
        print(f"guest: {Case.guest.accelerator}, rxe0 ACTIVE {Case.guest.seconds:.1f} s after its start, "
              f"{time.monotonic() - begin:.1f} s in all", file=sys.stderr, flush=True)
        program = unittest.main(exit=False, testRunner=Runner, testLoader=Loader())
        passed = program.result.testsRun and (program.result.wasSuccessful() or passes_again(program.result))
    if os.environ.get("ROCE_INTEROP_TABLE"):
        write_table(os.environ["ROCE_INTEROP_TABLE"], TimedResult.rows)
    return 0 if passed else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except guest.Ended as ended:
        sys.exit(ended.args[0])
