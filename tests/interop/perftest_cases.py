# SPDX-License-Identifier: BSD-2-Clause
"""`roce-gen peer --perftest` and `roce-gen perftest` with the programs of perftest on Linux's Soft-RoCE."""

import collections
import os
import socket

from stage import Case

PORT = 18515
MTU = 1024

# The role of the guest; of each queue pair `iterations` messages of `size` bytes; `more` are options of both ends,
# with `cm` both have -R.
Exchange = collections.namedtuple("Exchange", "program role size iterations qps mtu ip more cm", defaults=(1, MTU, "ipv4", (), False))

# Servers that print no results.
SILENT = (("read_lat", "server"), ("atomic_lat", "server"))
# A bandwidth program of ours would otherwise have more packets under way than an emulated guest takes.
MOST_UNDER_WAY = 128
WRITES, SENDS = Exchange("write_lat", "client", 1, 300), Exchange("send_bw", "server", 65536, 20)


class Perftest(Case):
    """Base of the cases with two ends of a program of perftest. It has none itself."""

    def guest_command(self, exchange, host=""):
        gid = self.guest.gid_index(self.network.guest6 if exchange.ip == "ipv6" else self.network.guest4)
        # -F: the guest's processor has no frequency to complain about.
        words = [f"ib_{exchange.program}", "-d", "rxe0", "-x", gid, "-F", "-p", PORT, "-n", exchange.iterations, *exchange.more]
        if "atomic" not in exchange.program:
            words += ["-s", exchange.size]
        if exchange.program.endswith("bw"):
            words += ["-q", exchange.qps]
        if exchange.cm:
            words += ["-R"]
        return " ".join(map(str, [*words, "-m", exchange.mtu, host]))

    def gen_options(self, exchange, prefix):
        address = self.network.host6 if exchange.ip == "ipv6" else self.network.host4
        more = [f"--{prefix}atomic" if word == "-A" else word for word in exchange.more]
        return ["-i", self.network.interface, "--json", "-p", PORT, "--address", address, f"--{prefix}iters", exchange.iterations,
                f"--{prefix}size", exchange.size, f"--{prefix}qps", exchange.qps, *more]

    def begin(self, exchange, *more):
        """Starts both ends. Returns the guest's Process and our Program; a server of ours stays until it is stopped, as a kernel does that
        answers what is repeated because the answer was lost."""
        if exchange.role == "client":
            ours = self.gen("peer", "--control", os.path.join(self.folder, "peer.sock"),
                            "--perftest", f"ib_{exchange.program}", *self.gen_options(exchange, "perftest-"), *more)
            ours.event("ready")
            return self.in_guest(self.guest_command(exchange, self.network.host4)), ours
        depth = max(1, min(4, MOST_UNDER_WAY // (-(-exchange.size // exchange.mtu) * exchange.qps)))
        theirs = self.in_guest(self.guest_command(exchange))
        if exchange.cm:
            self.listening(PORT)
            more = (*more, "-R")
        else:
            theirs.wait_listening(PORT)
        return theirs, self.gen("perftest", *self.gen_options(exchange, ""), "-t", depth, *more, exchange.program,
                                self.network.guest4)


class PerftestCases(Perftest):
    def test_a_wrong_icrc_fails(self):
        # Or the good cases show nothing.
        with self.counted() as rose:
            theirs, ours = self.begin(SENDS, "--bad-icrc")
            report = ours.event("perftest")
            self.assertEqual((ours.wait(), report["ok"]), (1, False), report)
            self.assertIn("retry counter exceeded", report["error"])
            # It has begun: what failed is not the handshake.
            self.assertGreater(report["counters"]["sent_packets"], 0)
            # It waits for ever.
            theirs.kill()
            self.assertNotEqual(theirs.wait().code, 0, theirs.output())
        self.assertEqual(rose["rcvd_pkts"], 0)

    def refused(self, ours, theirs, status, syndrome):
        """Our end refuses the guest's requests by a NAK with this syndrome, and there the first of them ends so."""
        peer = self.gen("peer", "--once", "--control", os.path.join(self.folder, "peer.sock"), "--pcap", self.capture,
                        "--perftest", f"ib_{ours.program}", *self.gen_options(ours, "perftest-"))
        peer.event("ready")
        guest = self.in_guest(self.guest_command(theirs, self.network.host4))
        report = peer.event("perftest")
        result = guest.wait()
        self.assertNotEqual(result.code, 0, result)
        self.assertIn(f"Failed status {status}:", result.stdout + result.stderr)
        self.assertEqual((peer.wait(), report["ok"]), (1, False), report)
        naks = [packet["aeth"]["syndrome"] for packet in self.decoded(self.capture)
                if "aeth" in packet and packet["ip"]["src"] == self.network.host4]
        self.assertEqual(naks, [syndrome])
        self.assert_keeps_the_rules(self.capture, self.network.host4)

    def test_writes_beyond_our_memory_are_refused(self):
        self.refused(Exchange("write_bw", "client", 4096, 20), Exchange("write_bw", "client", 65536, 20), 10, 0x62)

    def test_reads_without_the_right_are_refused(self):
        self.refused(Exchange("write_bw", "client", 4096, 20), Exchange("read_bw", "client", 4096, 20), 9, 0x61)

    def test_what_is_no_perftest_is_told_so(self):
        ours = self.gen("peer", "--control", os.path.join(self.folder, "peer.sock"),
                        *self.gen_options(WRITES, "perftest-"), "--perftest", "ib_write_lat")
        ours.event("ready")
        version = b"6.06".ljust(16, b"\0")
        for sent, said in ((b"GET / HTTP/1.1\r\n\r\n", 'got "GET / HTTP/1.1..'), (b"", "closed the connection"),
                           (version, "the cycle buffer"),
                           (version + b"\0\0\x10\0\0\0\0\x403\0" + b"0001:" * 22, "the keys of a queue pair")):
            with self.subTest(sent):
                with self.network.host.call(lambda: socket.create_connection((self.network.host4, PORT), 10)) as connection:
                    connection.sendall(sent)
                    connection.shutdown(socket.SHUT_WR)
                    report = ours.event("perftest")
                self.assertFalse(report["ok"])
                self.assertIn("expected", report["error"])
                self.assertIn(said, report["error"])
        ours.stop()
        self.assertEqual(ours.wait(), 1)

    def test_what_is_no_perftest_by_cm_is_told_so(self):
        ours = self.gen("peer", "--control", os.path.join(self.folder, "peer.sock"),
                        *self.gen_options(WRITES, "perftest-"), "--perftest", "ib_write_lat")
        ours.event("ready")
        theirs = self.in_guest(f"rping -c -C 1 -p {PORT} -a {self.network.host4}")
        report = ours.event("perftest")
        self.assertEqual((report["ok"], report["rdma_cm"]), (False, True), report)
        self.assertIn("expected the version of a perftest program", report["error"])
        # It ends, since it is told.
        theirs.wait()
        ours.stop()
        self.assertEqual(ours.wait(), 1)

    def test_nobody_listens_by_cm(self):
        ours = self.gen("perftest", *self.gen_options(SENDS, ""), "-R", "send_bw", self.network.guest4)
        report = ours.event("perftest")
        self.assertEqual((ours.wait(), report["ok"]), (1, False), report)
        self.assertIn("rejected the connection: invalid service ID", report["error"])

    def test_our_peer_is_killed(self):
        # Without a word: the guest finds out by its timeouts, and rxe goes on with them for ever. Of writes it always has some under way; a
        # program whose ends take turns may have nothing that it waits for but our word.
        theirs, ours = self.begin(Exchange("write_bw", "client", 1024, 100_000, cm=True))
        self.wait_for("rcvd_pkts", 1000)
        ours.end()
        self.wait_for("completer_retry_err", 1)
        theirs.kill()
        self.assertNotEqual(theirs.wait().code, 0)
