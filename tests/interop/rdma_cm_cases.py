# SPDX-License-Identifier: BSD-2-Clause
"""rping, ucmatose and udaddy of librdmacm, connected by RDMA CM, with `roce-gen peer` and with roce-gen as their client."""

import itertools
import os
import typing

from pingpong_cases import HASTE, HASTY, PORT, TROUBLE
from stage import Case

PINGS = 10


class Program(typing.NamedTuple):
    """One of the programs: how the guest is its client and its server, and our client."""

    port: int
    client: str  # its server's address follows
    server: str  # the address that it listens at follows
    ours: tuple  # the guest's address follows
    messages: int


PROGRAMS = {
    "rping": Program(7174, f"rping -c -V -C {PINGS} -S 1000 -a", f"rping -s -V -C {PINGS} -S 1000 -a",
                     ("-C", PINGS, "-S", 1000), PINGS),
    "ucmatose": Program(7471, "ucmatose -s", "ucmatose -b", (), 10),
    "udaddy": Program(7174, "udaddy -s", "udaddy -b", (), 10),
}
EXCHANGES = list(itertools.product(("client", "server"), PROGRAMS, ("ipv4", "ipv6")))


class RdmaCm(Case):
    """Base of the cases that let two programs connect by RDMA CM. It has none itself."""

    def our_options(self, ip):
        return ["-i", self.network.interface, "--json", "--address", self.network.host6 if ip == "ipv6" else self.network.host4]

    def peer(self, ip, *more):
        # Not where other peers, of this test or of another on this machine, have theirs.
        ours = self.gen("peer", "-p", PORT, "--control", os.path.join(self.folder, "control.sock"), *self.our_options(ip), *more)
        ours.event("ready")
        return ours

    def begin(self, role, name, ip, *more):
        """Starts an exchange, `role` being the guest's. Returns the guest's Process and our Program."""
        more = ("--pcap", self.capture, *more)
        program = PROGRAMS[name]
        ours, theirs = ((self.network.host6, self.network.guest6) if ip == "ipv6" else
                        (self.network.host4, self.network.guest4))
        if role == "client":
            peer = self.peer(ip, "--once", *more)
            return self.in_guest(f"{program.client} {ours}"), peer
        server = self.in_guest(f"{program.server} {theirs}")
        self.listening(program.port)
        return server, self.gen(name, *self.our_options(ip), *program.ours, *more, theirs)

    def good_report(self, name, theirs, ours):
        """Waits until an exchange that has to succeed is over. Returns our report."""
        report = ours.event(name)
        result = theirs.wait()
        self.assertEqual(result.code, 0, (result, report))
        self.assertTrue(report["ok"], report)
        self.assertEqual(report["messages"], PROGRAMS[name].messages, report)
        self.assertEqual(ours.wait(), 0, ours.explain("It failed."))
        return report


class RdmaCmCases(RdmaCm):
    def good(self, role, name, ip):
        with self.counted() as rose:
            theirs, ours = self.begin(role, name, ip)
            self.good_report(name, theirs, ours)
        self.assertGreaterEqual(rose["rcvd_pkts"], PROGRAMS[name].messages)
        self.assertEqual({key: rose[key] for key in TROUBLE if rose[key]}, {})
        self.assertEqual({key: rose[key] for key in HASTE if rose[key] >= HASTY}, {})
        self.assert_keeps_the_rules(self.capture, self.network.host6 if ip == "ipv6" else self.network.host4)
        if name != "udaddy":
            self.assert_ports_follow_the_flow_label()

    def assert_ports_follow_the_flow_label(self):
        """The packets of the connection have, both ways, the UDP source port that the REQ's flow label gives."""
        ports, labels = set(), set()
        for packet in self.decoded(self.capture):
            if packet["bth"]["dest_qp"] != 1:
                ports.add(packet["udp"]["srcport"])
            elif "cm_req" in packet:
                labels.add(packet["cm_req"]["primary_flow_label"])
        # 14 bits of the label, and the other 6 added without carry (Linux: rdma_flow_label_to_udp_sport).
        label, = labels
        self.assertEqual(ports, {0xC000 | (label & 0x3FFF) ^ (label >> 14)})

    def test_rdma_names_the_guests_queue_pair(self):
        theirs = self.in_guest(f"rping -s -P -a {self.network.guest4}")
        self.listening(PROGRAMS["rping"].port)
        ours = self.gen("rping", *self.our_options("ipv4"), "--pcap", self.capture, "-C", 1000000, self.network.guest4)
        ours.event("connected")
        listed = os.path.join(self.folder, "qps.json")
        with open(listed, "w", encoding="utf-8") as file:
            file.write(self.guest.check("/usr/bin/rdma -j resource show qp"))
        ours.stop()
        ours.wait()
        theirs.kill()
        streams = self.analyze("streams", "--json", "--names", f"{self.network.guest4}={listed}", self.capture)
        named = {end["address"]: end.get("qp_name") for stream in streams if stream["service"] == "RC" for end in stream["ends"]}
        self.assertIsNone(named[self.network.host4])
        self.assertRegex(named[self.network.guest4], r"^rping pid \d+ rxe0$")

    GROUP = "239.1.2.3"

    def test_mckey_guest_receives(self):
        theirs = self.in_guest(f"mckey -m {self.GROUP} -b {self.network.guest4}")
        # Joined: the group in the kernel's order of bytes.
        waited = self.guest.run("until grep -q 030201EF /proc/net/igmp; do usleep 20000; done", 20)
        self.assertEqual(waited.code, 0, waited)
        # Its QP is attached to the group only after that, which nothing shows from outside: again until it has them all.
        for _ in range(30):
            ours = self.gen("mckey", "-s", *self.our_options("ipv4"), self.GROUP)
            self.assertEqual((ours.event("mckey")["messages"], ours.wait()), (10, 0))
            if theirs.ends_within(1):
                break
        result = theirs.wait()
        self.assertEqual(result.code, 0, result)
        self.assertIn("receiving data transfers", result.stdout)

    def test_mckey_guest_sends(self):
        ours = self.gen("mckey", *self.our_options("ipv4"), "--pcap", self.capture, self.GROUP)
        ours.event("ready")
        theirs = self.in_guest(f"mckey -m {self.GROUP} -s -b {self.network.guest4}")
        report = ours.event("mckey")
        self.assertEqual((ours.wait(), report["ok"], report["messages"]), (0, True, 10), report)
        self.assertEqual(theirs.wait().code, 0)

    def test_nobody_listens_here(self):
        ours = self.peer("ipv4")
        result = self.in_guest(f"rping -c -p 7999 -a {self.network.host4}").wait()
        self.assertNotEqual(result.code, 0)
        # RDMA_CM_EVENT_REJECTED with the reason of an invalid service ID.
        self.assertIn("RDMA_CM_EVENT_REJECTED, error 8", result.stdout + result.stderr)
        ours.stop()
        self.assertEqual(ours.wait(), 0)

    def test_nobody_listens_in_the_guest(self):
        ours = self.gen("rping", *self.our_options("ipv4"), "-p", 7999, self.network.guest4)
        report = ours.event("rping")
        self.assertEqual((ours.wait(), report["ok"]), (1, False), report)
        self.assertIn("rejected the connection: invalid service ID", report["error"])
        ours = self.gen("udaddy", *self.our_options("ipv4"), "-p", 7999, self.network.guest4)
        report = ours.event("udaddy")
        self.assertEqual((ours.wait(), report["ok"]), (1, False), report)
        self.assertIn("no queue pair for RDMA port 7999: service ID not supported", report["error"])

    def test_messages_too_long_for_us(self):
        ours = self.peer("ipv4", "--once", "--cm-size", 100, "--pcap", self.capture)
        theirs = self.in_guest(f"ucmatose -S 200 -s {self.network.host4}")
        report = ours.event("ucmatose")
        self.assertEqual((ours.wait(), report["ok"], report["messages"]), (1, False, 0), report)
        self.assertIn("ended with: local length error", report["error"])
        # The program does not look at how its messages ended; the NAK for an invalid request tells it.
        theirs.wait()
        syndromes = {packet["aeth"]["syndrome"] for packet in self.decoded(self.capture)
                     if "aeth" in packet and packet["ip"]["src"] == self.network.host4}
        self.assertIn(0x61, syndromes)
        self.assert_keeps_the_rules(self.capture, self.network.host4)

    def test_messages_of_another_size_from_the_guest(self):
        # As server it sends first, and we see at once that it has another size.
        theirs = self.in_guest(f"ucmatose -S 100 -b {self.network.guest4}")
        self.listening(PROGRAMS["ucmatose"].port)
        ours = self.gen("ucmatose", *self.our_options("ipv4"), "-S", 200, self.network.guest4)
        report = ours.event("ucmatose")
        self.assertEqual((ours.wait(), report["ok"]), (1, False), report)
        self.assertIn("a message of 100 bytes came, expected 200", report["error"])
        theirs.wait()

    def test_our_peer_is_stopped(self):
        # With a DREQ: the guest is told.
        ours = self.peer("ipv4")
        theirs = self.in_guest(f"rping -c -C 1000000 -a {self.network.host4}")
        self.wait_for("rcvd_pkts", 1000)
        with self.counted() as rose:
            ours.stop()
            self.assertEqual(ours.wait(), 0)
            theirs.wait_said("DISCONNECT EVENT")
            # It may post one more RECV when its QP is in the error state, which librxe does not flush: then it never ends.
            theirs.kill()
        self.assertEqual(rose["retry_exceeded_err"], 0)

    def test_the_guest_is_killed(self):
        # Its kernel ends the connection for it.
        ours = self.peer("ipv4", "--once")
        theirs = self.in_guest(f"rping -c -C 1000000 -a {self.network.host4}")
        self.wait_for("rcvd_pkts", 1000)
        theirs.kill()
        report = ours.event("rping")
        self.assertGreater(report["messages"], 0)
        # At any moment of a ping.
        self.assertEqual(ours.wait(), 0 if report["ok"] else 1, report)
        # Told by a DREQ, and not by messages that nobody answers.
        self.assertEqual(report["counters"].get("retries_exceeded", 0), 0, report)


def add_cases():
    for case in EXCHANGES:
        setattr(RdmaCmCases, "test_{1}_guest_is_{0}_{2}".format(*case), lambda self, case=case: self.good(*case))


add_cases()
