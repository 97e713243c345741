# SPDX-License-Identifier: BSD-2-Clause
"""The programs of perftest with Soft-RoCE while `roce-gen relay` loses, copies, reorders and damages packets."""

import itertools
import os

from perftest_cases import Exchange, Perftest
from relay_cases import FAULTS, Relayed

PROGRAMS = ("send_bw", "write_bw", "read_bw", "atomic_bw", "send_lat", "write_lat", "read_lat", "atomic_lat")
ROLES = ("client", "server")
# So few messages that each case takes a second or two, and so many packets that the relay picks some.
SIZES = {"bw": (16384, 20), "lat": (2000, 60)}
# Every program once, every fault in both roles.
USUALLY = {(program, tuple(FAULTS)[number % 4], ROLES[number // 4]) for number, program in enumerate(PROGRAMS)}


class PerftestFaultCases(Relayed, Perftest):
    def survives(self, program, fault, role):
        size, iterations = (8, 200) if "atomic" in program else SIZES[program.rpartition("_")[2]]
        exchange = Exchange(program, role, size, iterations)
        with self.relay(FAULTS[fault].rule) as totals:
            theirs, ours = self.begin(exchange)
            report = ours.event("perftest", 60)
            ended = theirs.wait(60)
            self.assertEqual((ended.code, ours.wait(), report["ok"]), (0, 0, True), (report, ended))
        self.assertEqual(report["messages"], iterations, report)
        self.assertGreater(sum(totals["rules"][0][way] for way in ("a_to_b", "b_to_a")), 0, totals)


def add_cases():
    for case in itertools.product(PROGRAMS, FAULTS, ROLES):
        if os.environ.get("ROCE_INTEROP_ALL") or case in USUALLY:
            setattr(PerftestFaultCases, "test_{0}_{1}_guest_is_{2}".format(*case),
                    lambda self, case=case: self.survives(*case))


add_cases()
