# SPDX-License-Identifier: BSD-2-Clause
"""`roce-analyze summary` of captures with one cause for many findings: it names the cause first.

usage: causes_test.py ROCE_ANALYZE [UNITTEST ARGUMENT...]
"""

import os
import random
import struct
import sys
import unittest

from made_captures import MS, START, TIMEOUT, Summary, conversation, tries
from roce_frames import write_pcap
from roce_packets import RNR_NAK, SEND_FIRST, SEND_LAST, SEND_MIDDLE, SEQUENCE_NAK, Host, ethernet


def message(host, other, qp, psn, begin, packets=16, size=4096):
    """A message of several packets, one each 10 us."""
    kinds = [SEND_FIRST] + [SEND_MIDDLE] * (packets - 2) + [SEND_LAST]
    return [(begin + i * 10_000, host.send(other, qp, psn + i, size, kind, kind == SEND_LAST)) for i, kind in enumerate(kinds)]


class Causes(Summary):


    def setUp(self):
        super().setUp()
        self.a, self.b, self.c, self.d = (Host(f"02:00:00:00:00:0{i}", f"10.0.0.{i}") for i in range(1, 5))


class Sizes(Causes):
    def small(self, **more):
        """A connection whose packets have up to 1,024 bytes."""
        frames = []
        for i in range(310):
            at = i * 10 * MS
            frames.append((at, self.a.send(self.b, 0x22, 1000 + i, size=64 if i % 2 else 1024)))
            frames.append((at + 20_000, self.b.answer(self.a, 0x21, 1000 + i, i + 1)))
        return frames

    def large(self, count=8):
        return [frame for i in range(count) for frame in message(self.a, self.b, 0x32, 5000, 100 * MS + i * TIMEOUT)]

    def test_everything_over_a_size_is_lost(self):
        facts, text = self.first(self.small() + self.large(), "path_mtu")
        self.assertEqual((facts["from"], facts["to"]), ("10.0.0.1", "10.0.0.2"))
        self.assertEqual((facts["lost"], facts["smallest_lost"], facts["arrived"], facts["largest_arrived"]),
                         (128, 4096, 310, 1024))
        self.assertEqual(facts["since_ns"], 100 * MS)
        self.assertIn("all 128 packets with more than 1024 bytes of payload were lost from 0.100000 s on", text)
        self.assertIn("use a path MTU of 2048 bytes or less", text)

    def test_a_small_end_that_arrives(self):
        # The responder has sent its one NAK for the gap, and is silent since.
        frames = self.small() + [(100 * MS + 60_000, self.b.answer(self.a, 0x31, 5000, 0, SEQUENCE_NAK))]
        for i in range(6):
            at = 100 * MS + i * TIMEOUT
            frames += message(self.a, self.b, 0x32, 5000, at, packets=3)[:2]
            frames.append((at + 30_000, self.a.send(self.b, 0x32, 5002, 100, SEND_LAST)))
        self.assertEqual(self.first(frames, "path_mtu")[0]["lost"], 12)

    def test_too_few_tries_are_chance(self):
        self.assert_silent(self.small() + self.large(3), "path_mtu")

    def test_a_host_that_dies_with_the_first_large_message(self):
        self.assert_silent([frame for frame in self.small() if frame[0] < 100 * MS] + self.large(), "path_mtu")

    def test_large_packets_that_arrive_elsewhere(self):
        frames = self.small() + self.large()
        frames += message(self.a, self.b, 0x42, 100, 50 * MS) + [(51 * MS, self.b.answer(self.a, 0x41, 115, 1))]
        self.assert_silent(frames, "path_mtu")

    def test_losses_of_all_sizes(self):
        for seed in range(20):
            dice, frames, at = random.Random(seed), [], 0
            for psn in range(0, 400, 4):
                while True:
                    packets = message(self.a, self.b, 0x22, psn, at, 4, 4096 if psn % 8 else 256)
                    frames += packets
                    if dice.random() < 0.7:
                        break
                    at += TIMEOUT
                frames.append((at + 60_000, self.b.answer(self.a, 0x21, psn + 3, psn // 4 + 1)))
                at += MS
            self.assert_silent(frames, "path_mtu")

    def test_sizes_that_are_refused_arrived(self):
        # The responder has no receive for them: each try has an RNR NAK.
        frames = self.small() + self.large()
        frames += [(100 * MS + i * TIMEOUT + 30_000, self.b.answer(self.a, 0x31, 5000, 0, RNR_NAK)) for i in range(8)]
        self.assert_silent(frames, "path_mtu")
        # A single one shows that the size arrives, though all later ones are lost.
        self.assert_silent(frames[:len(frames) - 7], "path_mtu")

    def test_sizes_in_frames_that_are_cut(self):
        frames = self.small()
        frames += [(100 * MS + 60_000, self.b.answer(self.a, 0x31, 5000, 0, SEQUENCE_NAK))]
        for i in range(6):
            at = 100 * MS + i * TIMEOUT
            frames += message(self.a, self.b, 0x32, 5000, at, packets=3)[:2]
            frames.append((at + 30_000, self.a.send(self.b, 0x32, 5002, 1500, SEND_LAST)))
        whole = self.first(frames, "path_mtu")[0]
        self.assertEqual((whole["lost"], whole["smallest_lost"]), (12, 4096))
        self.snap_length = 256
        self.assertEqual(self.first(frames, "path_mtu")[0], whole)

    def test_mtus_of_both_directions(self):
        frames = message(self.a, self.b, 0x22, 100, 0) + [(MS, self.b.answer(self.a, 0x21, 115, 1))]
        frames += message(self.b, self.a, 0x21, 500, 2 * MS, size=1024) + [(3 * MS, self.a.answer(self.b, 0x22, 515, 1))]
        texts = [statement["text"] for statement in self.summary(frames)["statements"]]
        self.assertTrue(any("10.0.0.1 sends packets of 4096 bytes and 10.0.0.2 of 1024" in text for text in texts), texts)
        # Such a note is not the headline where there is more.
        frames += [(5 * MS, self.a.send(self.b, 0x62, 7)), (5 * MS + 9000, self.b.answer(self.a, 0x61, 7, 0, RNR_NAK)),
                   (9 * MS, self.a.send(self.b, 0x62, 7)), (9 * MS + 9000, self.b.answer(self.a, 0x61, 7, 1))]
        summary = self.summary(frames)
        self.assertIn("found no receive posted", summary["verdict"])
        self.assertFalse(summary["clean"])


class SilentHosts(Causes):
    # From 1 s on, A does not get what is sent, for 1.2 s.
    FROM, UNTIL = 1000 * MS, 2200 * MS

    def requests(self, other, number, stays=False, busy=True):
        """Requests of another host to A: one each 10 ms, each until it is answered."""
        frames, at, qps = [], number * 100_000, (0x20 + number, 0x40 + number)
        for i in range(300):
            wait = TIMEOUT
            while True:
                frames.append((at, other.send(self.a, qps[1], 1000 + i)))
                if stays or not self.FROM <= at < self.UNTIL:
                    break
                at += wait
            frames.append((at + 20_000, self.a.answer(other, qps[0], 1000 + i, i + 1)))
            at += 10 * MS
            if not busy and self.FROM <= at + 10 * MS < self.UNTIL:
                at = self.UNTIL + number * 100_000
        return frames

    def flap(self, **more):
        return sum((self.requests(host, i, **more) for i, host in enumerate((self.b, self.c, self.d), 1)), [])

    def test_a_flap(self):
        facts, text = self.first(self.flap(), "host_silent")
        self.assertEqual((facts["host"], facts["connections"], facts["hosts"]), ("10.0.0.1", 3, 3))
        self.assertAlmostEqual(facts["since_ns"], self.FROM, delta=15 * MS)
        self.assertAlmostEqual(facts["until_ns"], self.UNTIL, delta=70 * MS)
        self.assertIn("10.0.0.1 was silent from ", text)
        self.assertIn("on all 3 connections that had requests for it, with 3 hosts", text)
        self.assertEqual(len(self.causes(self.summary(self.flap()), "host_silent")), 1)

    def test_a_failover(self):
        frames = self.requests(self.b, 1) + self.requests(self.b, 2)
        self.assert_silent(frames, "host_silent")
        announced = (self.UNTIL, self.a.arp("10.0.0.1"))
        self.assertIn("it announced its address again at 2.199900 s", self.first(frames + [announced], "host_silent")[1])
        moved = Host("02:00:00:00:00:99", "10.0.0.1")
        frames += [(0, self.a.arp("10.0.0.2", 2, self.b.mac)), (self.UNTIL, moved.arp("10.0.0.2", 2, self.b.mac))]
        text = self.first(frames, "host_silent")[1]
        self.assertIn("it came back with the MAC address 02:00:00:00:00:99 instead of 02:00:00:00:00:01", text)

    def test_a_host_that_dies(self):
        frames = [frame for frame in self.flap() if frame[0] < self.UNTIL - 70 * MS]
        facts, text = self.first(frames, "host_silent")
        self.assertNotIn("until_ns", facts)
        self.assertIn("10.0.0.1 has been silent since ", text)
        self.assertIn("or the process that owned its QPs ended", text)

    def test_a_process_that_dies(self):
        frames = [frame for frame in self.flap() if frame[0] < self.UNTIL - 70 * MS]
        before = (self.FROM - 100 * MS, self.a.arp("10.0.0.2"))
        self.first(frames + [before], "host_silent")
        # Its host still answers, or asks, long after its last packet.
        for told in (self.a.arp("10.0.0.2", 2, self.b.mac), self.a.arp("10.0.0.2")):
            self.assert_silent(frames + [before, (self.FROM + 500 * MS, told)], "host_silent")

    def test_a_host_that_was_stopped(self):
        pauses = [(self.FROM + time, data) for time, data in Storms.xoffs(self, 150 * MS)]
        self.assert_silent(self.flap() + pauses, "host_silent")
        self.first(self.flap() + [(time - 900 * MS, data) for time, data in pauses], "host_silent")

    def test_a_host_that_has_nothing_to_say(self):
        self.assert_silent(self.flap(busy=False), "host_silent")

    def test_a_host_that_answers_one(self):
        self.assert_silent(self.requests(self.b, 1) + self.requests(self.c, 2) + self.requests(self.d, 3, stays=True),
                           "host_silent")

    def test_a_host_that_sends_other_things(self):
        frames = self.requests(self.b, 1) + self.requests(self.c, 2)
        frames += conversation(self.a, self.d, count=300, gap=10 * MS)
        self.assert_silent(frames, "host_silent")


class Storms(Causes):
    def xoffs(self, length, quanta=65535, gap=100_000, xon=None):
        frames = []
        for i in range(length // gap):
            value = 0 if xon and i % xon == 0 else quanta
            frames.append((i * gap, ethernet("02:00:00:00:00:0f", "01:80:c2:00:00:01", 0x8808)
                           + struct.pack("!HH8H", 0x0101, 8, 0, 0, 0, value, 0, 0, 0, 0) + bytes(26)))
        return frames

    def losses(self):
        """Requests of the time after the watchdog has begun to drop them."""
        return conversation(self.a, self.b, begin=0, count=100, gap=2 * MS) + tries(self.a, self.b, 0x22, 1100, 250 * MS)

    def test_a_storm_and_the_losses_after_it(self):
        # They follow each other in time even on a link of 800 Gbit/s.
        facts, text = self.first(self.xoffs(400 * MS, gap=40_000) + self.losses(), "pfc_storm")
        self.assertEqual((facts["station"], facts["priority"], facts["xoffs"]), ("02:00:00:00:00:0f", "3", 10_000))
        self.assertAlmostEqual(facts["duration_ns"], 400 * MS, delta=MS)
        self.assertIn("PFC storm: 02:00:00:00:00:0f stopped priority 3 (PFC) for 400 ms without a break, from 0.0", text)
        self.assertEqual((facts["first_frame"], os.path.basename(facts["file"])), (1, "made.pcap"))
        self.assertEqual(facts["filter"], "eth.src == 02:00:00:00:00:0f && macc.opcode == 0x0101")
        self.assertNotIn("host", facts)

    def test_a_storm_of_a_host_that_is_known(self):
        storm = [(time, ethernet(self.b.mac, "01:80:c2:00:00:01", 0x8808) + data[14:]) for time, data in self.xoffs(400 * MS, gap=40_000)]
        facts, text = self.first(storm + conversation(self.a, self.b), "pfc_storm")
        self.assertEqual((facts["station"], facts["host"]), (self.b.mac, "10.0.0.2"))
        self.assertIn(f"PFC storm: 10.0.0.2 ({self.b.mac}) stopped priority 3", text)
        facts, text = self.first(storm + conversation(self.a, self.b) + conversation(self.a, Host(self.b.mac, "10.0.9.9"), MS), "pfc_storm")
        self.assertNotIn("host", facts)
        self.assertIn(f"PFC storm: {self.b.mac} (a router, by its packets) stopped", text)

    def test_a_storm_on_a_link_of_unknown_speed(self):
        frames = self.xoffs(400 * MS) + conversation(self.a, self.b)
        text = self.first(frames, "pfc_storm")[1]
        self.assertIn("PFC storm, if the link has 10 Gbit/s: ", text)
        self.assertIn("give --link-speed", text)
        self.assertEqual(self.causes(self.summary(frames), "pfc_storm")[0]["severity"], "warning")
        for speed in ("10G", "100G"):
            storm = self.causes(self.summary(frames, "--link-speed", speed), "pfc_storm")[0]
            self.assertEqual(storm["severity"], "error")
            self.assertNotIn("--link-speed", storm["text"])
        self.assertEqual(self.causes(self.summary(frames, "--link-speed", "400G"), "pfc_storm"), [])
        # A connection that died comes before what may be.
        summary = self.summary(frames + tries(self.a, self.b, 0x22, 1020, 100 * MS, count=3)
                               + conversation(self.a, self.c, 2000 * MS, 5, qps=(0x31, 0x32)))
        at = summary["statements"].index(self.causes(summary, "pfc_storm")[0])
        self.assertEqual({each["severity"] for each in summary["statements"][:at]}, {"error"})

    def test_where_a_storm_was_something_is_wrong(self):
        storm = self.xoffs(400 * MS, gap=40_000)
        clean = conversation(self.a, self.b)
        summary = self.summary(storm + clean)
        self.assertFalse([each for each in summary["statements"] if "nothing wrong" in each["text"]])
        other = os.path.join(self.folder.name, "other.pcap")
        write_pcap(other, [(START + time, data) for time, data in clean])
        summary = self.summary(storm + clean, other)
        self.assertEqual([each["text"] for each in summary["statements"] if "nothing wrong" in each["text"]],
                         ["nothing wrong seen at other"])

    def test_a_long_pause_is_named_where_no_storm_is(self):
        frames = self.xoffs(5 * MS, gap=40_000) + conversation(self.a, self.b)
        facts, text = self.first(frames, "long_pause", "--link-speed", "100G")
        self.assertEqual((facts["station"], facts["priority"], facts["xoffs"], facts["first_frame"]), ("02:00:00:00:00:0f", "3", 125, 1))
        self.assertAlmostEqual(facts["duration_ns"], 5 * MS, delta=MS)
        self.assertIn("long PFC pause: 02:00:00:00:00:0f stopped priority 3 (PFC) for 4.96 ms without a break", text)
        summary = self.summary(frames, "--link-speed", "100G")
        self.assertFalse([each for each in summary["statements"] if "nothing wrong" in each["text"]])
        # Without the speed it is one as well: on a link of any speed each XOFF lasts until the next.
        self.assertEqual(len(self.causes(self.summary(frames), "long_pause")), 1)
        self.assert_silent(self.xoffs(5 * MS, gap=40_000, xon=20) + conversation(self.a, self.b), "long_pause")
        self.assertEqual(self.causes(self.summary(self.xoffs(400 * MS, gap=40_000) + frames), "long_pause"), [])

    def test_shorter_pauses_are_none(self):
        self.assert_silent(self.xoffs(190 * MS) + self.losses(), "pfc_storm")
        self.assert_silent(self.xoffs(400 * MS, xon=20) + self.losses(), "pfc_storm")
        # A timer of 100 quanta is over before the next XOFF on any link.
        self.assert_silent(self.xoffs(400 * MS, quanta=100, gap=MS) + self.losses(), "pfc_storm")


class Losses(Causes):
    TAIL = 1020 * MS

    def tail(self, until):
        """The last of 21 requests is lost, and answered at the second try."""
        frames = conversation(self.a, self.b, count=20, gap=50 * MS) + tries(self.a, self.b, 0x22, 1020, self.TAIL, count=2)
        return frames + [(self.TAIL + until, self.b.answer(self.a, 0x21, 1020, 21))]

    def test_they_have_their_times_and_what_they_cost(self):
        facts, text = self.first(self.tail(TIMEOUT + 20_000), "losses")
        self.assertEqual((facts["before"], facts["after"], facts["beyond"]), (0, 0, 1))
        self.assertEqual((facts["since_ns"], facts["until_ns"]), (self.TAIL, self.TAIL))
        self.assertIn("1 of 1 connection lost packets: 1 lost on the responder's side of the capture point", text)
        self.assertIn("; at 1.020000 s", text)
        (stall,) = self.causes(self.summary(self.tail(TIMEOUT + 20_000)), "stall")
        self.assertEqual(stall["facts"], {"stream": 0, "silent": "10.0.0.2", "since_ns": self.TAIL,
                                          "until_ns": self.TAIL + TIMEOUT + 20_000, "tries": 1})
        self.assertIn("longest stall: stream 0 heard nothing from 10.0.0.2 for 67.0 ms, from 1.020000 s on, until 10.0.0.1 had "
                      "sent again (1 time)", stall["text"])

    def test_a_pause_that_nobody_waits_for_is_no_stall(self):
        summary = self.summary(conversation(self.a, self.b) + conversation(self.a, self.b, 900 * MS, 5, psn=1020))
        self.assertEqual(self.causes(summary, "stall"), [])

    def test_the_first_packet_of_each_finding(self):
        summary = self.summary(self.tail(TIMEOUT + 20_000))
        (again,) = (each for each in summary["findings"] if each["verdict"] == "retransmission")
        self.assertEqual((again["first_frame"], again["first_ns"], again["last_ns"]),
                         (42, self.TAIL + TIMEOUT, self.TAIL + TIMEOUT))
        self.assertTrue(again["file"].endswith("made.pcap"))


class CleanHour(Causes):
    def test_it_names_nothing(self):
        frames = conversation(self.a, self.b, count=3600, gap=1000 * MS)
        for i, host in enumerate((self.b, self.c, self.d), 1):
            frames += conversation(host, self.a, begin=i * MS, count=600, gap=6000 * MS, qps=(0x50 + i, 0x60 + i))
            for minute in range(60):
                begin = minute * 60_000 * MS + i * 20 * MS + 500 * MS
                frames += message(host, self.a, 0x80 + i, minute * 16, begin)
                frames.append((begin + MS, self.a.answer(host, 0x70 + i, minute * 16 + 15, minute + 1)))
        # Half of the time everybody rests, and an hour has some short pauses and an address that is announced.
        frames = [frame for frame in frames if frame[0] % (120_000 * MS) < 60_000 * MS]
        pauses = Storms.xoffs(self, 2 * MS)
        frames += [(minute * 60_000 * MS + time, data) for minute in range(60) for time, data in pauses]
        frames.append((1_800_000 * MS, self.a.arp("10.0.0.1")))
        summary = self.summary(frames)
        self.assertEqual([statement for statement in summary["statements"] if "cause" in statement], [])
        self.assertEqual(summary["verdict"], "nothing wrong seen")


if __name__ == "__main__":
    Summary.tool = sys.argv[1]
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
