# SPDX-License-Identifier: BSD-2-Clause
"""rping with Soft-RoCE while `roce-gen relay` loses messages of the connection manager, or has its way with all packets.

At the relay, a is the guest's side. Which message is lost is said by its number among those that its side sends from QP1. Repetitions come
after 4.1 s, or 6.1 s for the guest's REQ, so that these cases take a while: they take turns (turns.py).
"""

import itertools

from relay_cases import FAULTS, Relayed
from rdma_cm_cases import RdmaCm
from turns import this_turn

# Of the active side, and of the passive side.
NUMBERS = {"REQ": 1, "RTU": 2, "DREQ": 3, "REP": 1, "DREP": 2}
ACTIVE = ("REQ", "RTU", "DREQ")


class RdmaCmFaultCases(Relayed, RdmaCm):
    def survives_loss_of(self, role, message):
        guest_sends = (role == "client") == (message in ACTIVE)
        rule = f"drop:dir={'a_to_b' if guest_sends else 'b_to_a'},qp=1,nth={NUMBERS[message]}"
        with self.relay(rule) as totals:
            theirs, ours = self.begin(role, "rping", "ipv4")
            self.good_report("rping", theirs, ours)
        self.assertEqual(totals["a_to_b"]["dropped"] + totals["b_to_a"]["dropped"], 1, totals)
        self.assert_keeps_the_rules(self.capture, self.network.host4)

    def test_lost_DREQ_guest_is_client(self):
        # The guest's client ends at once, and with it the kernel forgets its DREQ: no other end ever learns of it.
        with self.relay("drop:dir=a_to_b,qp=1,nth=3") as totals:
            theirs, ours = self.begin("client", "rping", "ipv4")
            self.assertEqual(theirs.wait().code, 0)
            ours.stop()
            self.assertEqual(ours.wait(), 0)
        self.assertEqual(totals["a_to_b"]["dropped"], 1, totals)

    def survives(self, fault, role):
        with self.relay(fault.rule) as totals:
            theirs, ours = self.begin(role, "rping", "ipv4")
            self.good_report("rping", theirs, ours)
        self.assertGreater(totals["a_to_b"]["received"], 0)
        self.assert_keeps_the_rules(self.capture, self.network.host4)


def add_cases():
    cases = {}
    for role, message in itertools.product(("client", "server"), NUMBERS):
        if (role, message) != ("client", "DREQ"):
            cases[f"test_lost_{message}_guest_is_{role}"] = lambda self, case=(role, message): self.survives_loss_of(*case)
    for (name, fault), role in itertools.product(FAULTS.items(), ("client", "server")):
        cases[f"test_{name}_guest_is_{role}"] = lambda self, case=(fault, role): self.survives(*case)
    for name in this_turn(cases):
        setattr(RdmaCmFaultCases, name, cases[name])


add_cases()
