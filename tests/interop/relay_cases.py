# SPDX-License-Identifier: BSD-2-Clause
"""rc and srq ping-pong with Soft-RoCE while `roce-gen relay`, in the cut cable, has its way with the packets.

UC and UD have nothing to make up for a loss with, and wait for ever for what was lost: they are left out. At the relay,
a is the guest's side.
"""

import collections
import contextlib
import itertools
import typing

from pingpong_cases import PORT, Pingpong
from stage import Case
from turns import this_turn

SEED = 1
ROLES = ("client", "server")
EXCHANGES = (("rc", "ipv4"), ("rc", "ipv6"), ("srq", "ipv4"))


class Fault(typing.NamedTuple):
    """What the relay does, and the counters at our and at the guest's end that have to show it."""

    rule: str
    ours: tuple
    theirs: tuple


# Where packets are missing or late, both ends have seen a gap and sent again.
GAPS = ("out_of_sequence", "retransmitted_packets"), ("out_of_seq_request", "completer_retry_err")
FAULTS = {
    "loss": Fault("drop:probability=0.02", *GAPS),
    "duplication": Fault("duplicate:probability=0.02", ("duplicate_requests",), ("duplicate_request",)),
    "reordering": Fault("reorder:probability=0.02,by=3", *GAPS),
    # rxe does not count a wrong ICRC; the gap shows it.
    "corruption": Fault("corrupt:probability=0.02", ("icrc_errors", *GAPS[0]), GAPS[1]),
    # Less than what a requester waits for, so that only the order of the packets suffers.
    "delay": Fault("delay:probability=0.02,by=3ms", *GAPS),
}


class Relayed(Case):
    """Base of the cases in which a relay carries everything. It has none itself."""

    @classmethod
    def setUpClass(cls):
        cls.enterClassContext(cls.network.bump())

    @contextlib.contextmanager
    def relay(self, *rules):
        """A relay carries everything within the block; gives a dict that has its totals after it."""
        guest_side, our_side = self.network.wire_interfaces
        options = itertools.chain.from_iterable(("-e", rule) for rule in rules)
        relay = self.gen("relay", "-i", guest_side, "-o", our_side, "--json", "--seed", SEED, *options,
                         namespace=self.network.wire)
        relay.event("ready")
        totals = {}
        yield totals
        relay.stop()
        totals.update(relay.event("totals"))
        self.assertEqual(relay.wait(), 0, relay.explain("The relay failed."))
        for way in ("a_to_b", "b_to_a"):
            # Or it was not the rule.
            self.assertEqual(totals[way]["lost"], 0, totals)


class RelayCases(Relayed, Pingpong):
    # Of 4096 bytes, each way and for each role: some 2000 packets, of which the relay picks some 20 each way.
    iterations = 100

    def survives(self, fault, kind, ip):
        ended, counters = [], collections.Counter()
        with self.counted() as rose, self.relay(fault.rule) as totals:
            for role in ROLES:
                theirs, ours = self.begin(role, kind, ip)
                report = self.good_report(kind, theirs, ours)
                counters.update(report["counters"])
                ended.append(ours)
            for ours in ended:
                self.assertEqual(ours.wait(), 0)
        self.assert_done(fault.rule, totals)
        self.assertEqual([name for name in fault.ours if not counters[name]], [], (counters, totals))
        self.assertEqual([name for name in fault.theirs if not rose[name]], [], (rose, totals))

    def assert_done(self, rule, totals):
        """The relay has done, to packets of both ways, what the rule says and nothing else."""
        action = rule.partition(":")[0]
        for way in ("a_to_b", "b_to_a"):
            count, seen = totals["rules"][0][way], totals[way]
            self.assertGreater(count, 0, totals)
            dropped, duplicates = (count if action == name else 0 for name in ("drop", "duplicate"))
            self.assertEqual((seen["dropped"], seen["duplicates"]), (dropped, duplicates), totals)
            self.assertEqual(seen["passed"], seen["received"] - dropped + duplicates, totals)

    def come_to_nothing(self, roles, options, *rules):
        """The exchange fails on our side and comes to no good end on the guest's. Returns the relay's totals."""
        with self.counted() as rose, self.relay(*rules) as totals:
            begun = [self.begin(role, "rc", "ipv4", *options, port=PORT + number) for number, role in enumerate(roles)]
            for role, (theirs, ours) in zip(roles, begun):
                with self.subTest(role):
                    report = ours.event("pingpong")
                    self.assertEqual((ours.wait(), report["ok"]), (1, False), report)
                    # It has begun: what failed is not the handshake.
                    self.assertGreater(report["counters"]["sent_packets"], 0)
                    theirs.kill()
                    self.assertNotEqual(theirs.wait().code, 0, theirs.output())
        self.assertEqual(rose["rcvd_pkts"], 0)
        return totals

    def test_a_wrong_icrc_fails(self):
        self.come_to_nothing(ROLES, ["--bad-icrc"])

    def test_a_relay_that_drops_everything_fails(self):
        # As server roce-gen gives up only after a long silence; as client, when it has sent often enough.
        totals = self.come_to_nothing(["server"], [], "drop:probability=1")
        self.assertGreater(totals["b_to_a"]["dropped"], 0, totals)


def add_cases():
    for (name, fault), exchange in this_turn(itertools.product(FAULTS.items(), EXCHANGES)):
        setattr(RelayCases, "test_{0}_{1}_{2}".format(name, *exchange),
                lambda self, case=(fault, *exchange): self.survives(*case))


add_cases()
