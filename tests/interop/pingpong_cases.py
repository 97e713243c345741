# SPDX-License-Identifier: BSD-2-Clause
"""`roce-gen peer` and `roce-gen pingpong` with the ibv_*_pingpong programs of rdma-core on Linux's Soft-RoCE."""

import itertools
import os

from stage import Case
from turns import this_turn

ITERATIONS = 20
# The path MTU of a 1500-byte network. A message of UD has to fit one packet.
MTU = 1024
SIZES = {"rc": 4096, "uc": 4096, "ud": 1024, "srq": 4096}
PORT = 18515
# ibv_srq_pingpong's default.
SRQ_QPS = 16
# What rises only when a packet was lost, damaged or not understood.
TROUBLE = ("out_of_seq_request", "rcvd_seq_err", "retry_exceeded_err", "send_err", "rcvd_rnr_err", "retry_rnr_exceeded_err")
# What rises also when an answer takes longer than 67 ms, as it happens on a busy machine.
HASTE = ("duplicate_request", "completer_retry_err")
# No stall of the machine makes them rise so far, but an end that never understands the other's answers and sends everything again.
HASTY = 60
# The role of the guest, the program, and the version of IP that RoCE has; the handshake goes over IPv4.
EXCHANGES = list(itertools.product(("client", "server"), SIZES, ("ipv4", "ipv6")))


class Pingpong(Case):
    """Base of the cases that let two programs play ping-pong, `iterations` messages each way. It has none itself."""

    iterations = ITERATIONS

    def guest_command(self, kind, ip, *more):
        gid = self.guest.gid_index(self.network.guest6 if ip == "ipv6" else self.network.guest4)
        mtu = [] if kind == "ud" else ["-m", MTU]
        return " ".join(map(str, [f"ibv_{kind}_pingpong", "-d", "rxe0", "-g", gid, "-c", "-n", self.iterations,
                                  "-s", SIZES[kind], *mtu, *more]))

    def gen_options(self, kind, ip):
        # The handshake goes over IPv4 either way: the programs of rdma-core 44 take no IPv6 address for it.
        address = self.network.host6 if ip == "ipv6" else self.network.host4
        return ["-i", self.network.interface, "--json", "-k", kind, "-n", self.iterations, "-s", SIZES[kind], "-m", MTU,
                "--address", address]

    def begin(self, role, kind, ip, *more, port=PORT):
        """Starts an exchange, `role` being the guest's. Returns the guest's Process and our Program."""
        port = ["-p", port]
        if role == "client":
            # Not where other peers, of this test or of another on this machine, have theirs.
            control = ["--control", os.path.join(self.folder, f"{port[1]}.sock")]
            ours = self.gen("peer", "--once", *port, *control, *self.gen_options(kind, ip), *more)
            ours.event("ready")
            return self.in_guest(self.guest_command(kind, ip, *port, self.network.host4)), ours
        theirs = self.in_guest(self.guest_command(kind, ip, *port))
        theirs.wait_listening(port[1])
        return theirs, self.gen("pingpong", *port, *self.gen_options(kind, ip), *more, self.network.guest4)

    def good_report(self, kind, theirs, ours):
        """Waits until an exchange that has to succeed is over. Returns our report; roce-gen itself ends a second later."""
        theirs, report = theirs.wait(), ours.event("pingpong")
        self.assertEqual(theirs.code, 0, (theirs, report))
        self.assertIn("iters in", theirs.stdout)
        self.assertNotIn("invalid data", theirs.stdout + theirs.stderr)
        self.assertTrue(report["ok"], report)
        # Who shares a receive queue between QPs stops when all of them together are done; others may have gone on.
        most = self.iterations + (SRQ_QPS - 1 if kind == "srq" else 0)
        for way in ("messages_sent", "messages_received"):
            self.assertTrue(self.iterations <= report[way] <= most, report)
        return report


class PingpongCases(Pingpong):
    def good(self, role, kind, ip):
        with self.counted() as rose:
            theirs, ours = self.begin(role, kind, ip)
            self.good_report(kind, theirs, ours)
        self.assertEqual(ours.wait(), 0)
        packets = ITERATIONS * -(-SIZES[kind] // MTU)
        self.assertGreaterEqual(rose["rcvd_pkts"], packets)
        self.assertGreaterEqual(rose["sent_pkts"], packets)
        self.assertEqual({name: rose[name] for name in TROUBLE if rose[name]}, {})
        self.assertEqual({name: rose[name] for name in HASTE if rose[name] >= HASTY}, {})

    def all_fail(self, cases):
        self.needs_several_endpoints()
        # All at once: each waits long for what never comes.
        with self.counted() as rose:
            begun = {case: self.begin(*case, "--bad-icrc", port=PORT + 1 + number) for number, case in enumerate(cases)}
            for case, (theirs, ours) in begun.items():
                with self.subTest(case):
                    report = ours.event("pingpong", 60)
                    self.assertEqual((ours.wait(), report["ok"]), (1, False), report)
                    # It has begun: what failed is not the handshake.
                    self.assertIsNotNone(report["counters"], report)
                    self.assertGreater(report["counters"]["sent_packets"], 0)
                    # UC and UD wait for ever.
                    theirs.kill()
                    self.assertNotEqual(theirs.wait().code, 0, theirs.output())
        self.assertEqual(rose["rcvd_pkts"], 0)

    # Or the good cases show nothing. Not all sixteen at once: an emulated guest takes seconds to start so many.
    def test_a_wrong_icrc_fails_each_of_them_over_ipv4(self):
        self.all_fail([case for case in EXCHANGES if case[2] == "ipv4"])

    def test_a_wrong_icrc_fails_each_of_them_over_ipv6(self):
        self.all_fail([case for case in EXCHANGES if case[2] == "ipv6"])


def add_cases():
    for case in this_turn(EXCHANGES):
        setattr(PingpongCases, "test_{1}_guest_is_{0}_{2}".format(*case), lambda self, case=case: self.good(*case))


add_cases()
