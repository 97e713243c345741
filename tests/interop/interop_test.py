#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Our programs against Linux's Soft-RoCE, in a guest that runs for all cases.

usage: [ROCE_GEN=FILE] [ROCE_ANALYZE=FILE] interop_test.py [UNITTEST-ARGUMENT...]       for instance -v -k pingpong

Exit code 77, with the reason, where it cannot run; with ROCE_INTEROP_REQUIRED set that is a failure instead.
"""

import os
import shutil
import sys
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

# pylint: disable=wrong-import-position
import guest
import network
from harness_cases import GuestCases, NetworkCases  # pylint: disable=unused-import
from pingpong_cases import PingpongCases  # pylint: disable=unused-import
from rdma_cm_cases import RdmaCmCases  # pylint: disable=unused-import
from rdma_cm_fault_cases import RdmaCmFaultCases  # pylint: disable=unused-import
from relay_cases import RelayCases  # pylint: disable=unused-import
from stage import Case

SKIPPED = 77
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
    """Says of each case how long it took."""

    def startTest(self, test):
        self._begin = time.monotonic()
        super().startTest(test)

    def addSuccess(self, test):
        super().addSuccess(test)
        if self.showAll:
            self.stream.writeln(f"    {time.monotonic() - self._begin:.1f} s")


def main():
    reason = obstacle()
    if reason is not None:
        print(f"interop_test: not run: {reason}", file=sys.stderr)
        return 1 if os.environ.get("ROCE_INTEROP_REQUIRED") else SKIPPED
    guest.on_signals_exit()
    Case.roce_gen = os.environ.get("ROCE_GEN") or None
    Case.roce_analyze = os.environ.get("ROCE_ANALYZE") or None
    begin = time.monotonic()
    with network.Network() as Case.network, guest.Guest(Case.network) as Case.guest:
        print(f"guest: {Case.guest.accelerator}, rxe0 ACTIVE {Case.guest.seconds:.1f} s after its start, "
              f"{time.monotonic() - begin:.1f} s in all", file=sys.stderr, flush=True)
        program = unittest.main(exit=False, testRunner=unittest.TextTestRunner(resultclass=TimedResult, verbosity=2))
    return 0 if program.result.wasSuccessful() and program.result.testsRun else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except guest.Ended as ended:
        sys.exit(ended.args[0])
