# SPDX-License-Identifier: BSD-2-Clause
"""The programs of perftest with Soft-RoCE: program, role, connection, IP version, path MTU, size, queue pairs and fault on the way.

Each two settings meet in one of the cases, a third of which are done in a run (turns.py); with ROCE_INTEROP_ALL each three meet, in one run.
At the relay, a is the guest's side.
"""

import collections

from covering import covering
from perftest_cases import SILENT, Exchange, Perftest
from relay_cases import FAULTS, Relayed
from turns import everything, this_turn

FACTORS = {
    "program": ("send_bw", "send_lat", "write_bw", "write_lat", "read_bw", "read_lat", "atomic_bw", "atomic_lat"),
    "role": ("client", "server"),  # the guest's
    "connection": ("tcp", "cm"),
    "ip": ("ipv4", "ipv6"),
    "mtu": (256, 512, 1024, 2048, 4096),
    "size": (1, 100, 4096, 65536, 1 << 20),
    "qps": (1, 8),
    "fault": ("none", *FAULTS),
}
ATOMIC = 8
# Packets: what is under way at most, so that an emulated guest takes it in less time than a requester waits for an answer.
LONGEST = 300
# Packets that the relay may still hold when the QP is gone to which they go.
LATE = 8
# How many packets more the receiver of a direction gets for each that the rule has hit.
MORE = {"loss": -1, "corruption": -1, "duplication": 1}


def possible(case):
    is_bandwidth = case["program"].endswith("bw")
    return not (
        # perftest resolves no IPv6 addresses.
        (case["connection"] == "cm" and case["ip"] == "ipv6")
        # What librdmacm's REQ says is the interface's.
        or (case["connection"] == "cm" and case["role"] == "client" and case["mtu"] != FACTORS["mtu"][-1])
        or (not is_bandwidth and case["qps"] != 1)
        # An emulated guest takes longer for what is lost of these than a requester waits.
        or (case["fault"] != "none" and case["size"] == FACTORS["size"][-1])
        # Atomics have one size.
        or ("atomic" in case["program"] and case["size"] != FACTORS["size"][0])
        or case["size"] * case["qps"] > LONGEST * case["mtu"])


def iterations(case):
    """So few messages that a case takes a second or two, and so many packets that the relay picks some."""
    packets = -(-case["size"] // case["mtu"]) * case["qps"]
    return max(5, min(200 if case["program"].endswith("bw") else 60, 1000 // packets))


class MatrixCases(Relayed, Perftest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.addClassCleanup(cls.guest.set_mtu, cls.guest.mtu)
        cls.guest.set_mtu(9000)

    def survives(self, case):
        size = ATOMIC if "atomic" in case["program"] else case["size"]
        exchange = Exchange(case["program"], case["role"], size, iterations(case), case["qps"], case["mtu"], case["ip"],
                            (), case["connection"] == "cm")
        fault = FAULTS.get(case["fault"])
        drops = self.network.drops()
        with self.counted() as rose, self.relay(*([fault.rule] if fault else [])) as totals:
            theirs, ours = self.begin(exchange, "--pcap", self.capture)
            report = ours.event("perftest", 60)
            # Their program waits for ever for what ours has given up.
            self.assertTrue(report["ok"], report)
            ended = theirs.wait(60)
            if exchange.role == "client":
                ours.stop()
            self.assertEqual((ended.code, ours.wait()), (0, 0), (report, ended))
        messages = exchange.iterations * exchange.qps
        self.assertEqual((report["program"], report["messages"], report["bytes"], report["path_mtu"], report["rdma_cm"]),
                         (f"ib_{exchange.program}", messages, messages * size, exchange.mtu, exchange.cm), report)
        if (exchange.program, exchange.role) not in SILENT:
            self.assertIn("#iterations", ended.stdout)
        hits = totals["rules"][0] if fault else {"a_to_b": 0, "b_to_a": 0}
        if fault:
            self.assertGreater(hits["a_to_b"] + hits["b_to_a"], 0, totals)
        more = {way: MORE.get(case["fault"], 0) * hits[way] for way in hits}
        self.assert_same_story(case, rose, report["counters"], more, self.network.drops() - drops)
        self.assert_keeps_the_rules(self.capture, self.address(case))

    def assert_between(self, found, most, missing):
        self.assertLessEqual(found, most)
        self.assertGreaterEqual(found, most - missing)

    def address(self, case):
        return self.network.host6 if case["ip"] == "ipv6" else self.network.host4

    def assert_same_story(self, case, rose, counters, more, drops):
        """rxe's counters, ours, and what was recorded here, but for what the relay has added or taken, and the tap, that may drop frames
        which are not RoCE too."""
        sent = received = 0
        for packet in self.decoded(self.capture):
            if packet["ipv6" if case["ip"] == "ipv6" else "ip"]["src"] == self.address(case):
                sent += 1
            elif packet["icrc"]["status"] == "good":
                received += 1
        ours = collections.Counter(counters)
        # The second answer to what was repeated may come when nobody waits for it any more.
        is_repeated = ours["retransmitted_packets"] or rose["completer_retry_err"]
        late = LATE if is_repeated or case["fault"] in ("delay", "reordering") else 0
        # Our client ends with the last packet, and not with its copy.
        last_copy = 1 if case["fault"] == "duplication" and case["role"] == "server" else 0
        self.assert_between(received, rose["sent_pkts"] + more["a_to_b"], late or last_copy)
        self.assert_between(rose["rcvd_pkts"], sent + more["b_to_a"], drops + late)
        if case["connection"] == "tcp":
            # By RDMA CM there are also QP1 and the queue pair of the handshake, which are not in the report.
            self.assertEqual((ours["sent_packets"], ours["received_packets"]), (sent, received))
        # What is late, or comes after the QP has gone back, is answered by nobody.
        self.assertLessEqual(ours["sequence_naks_received"], rose["out_of_seq_request"])
        self.assertLessEqual(rose["rcvd_seq_err"], ours["out_of_sequence"])
        if case["fault"] in ("none", "duplication") and drops == 0:
            self.assertEqual((rose["out_of_seq_request"], ours["out_of_sequence"]), (0, 0))


def add_cases():
    for case in this_turn(covering(FACTORS, possible, 3 if everything() else 2)):
        name = "test_{program}_guest_is_{role}_{connection}_{ip}_mtu_{mtu}_size_{size}_qps_{qps}_{fault}".format(**case)
        setattr(MatrixCases, name, lambda self, case=case: self.survives(case))


add_cases()
