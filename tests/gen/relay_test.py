# SPDX-License-Identifier: BSD-2-Clause
"""roce-gen relay between a peer and a client, each in a network namespace of its own.

usage: relay_test.py ROCE_GEN [UNITTEST ARGUMENT...]

Makes the namespaces itself, in a user namespace of its own, so that it needs no privilege; prints why and exits with 77 where
that is forbidden.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from live import ETHERTYPE, WAIT, Program, RelayedWire, enter_namespaces, frame


class RelayTest(unittest.TestCase):
    link = ()  # options of the relay that say how frames go

    def setUp(self):
        self.network = RelayedWire()
        self.addCleanup(self.network.close)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def start(self, name, *arguments):
        program = Program(ROCE_GEN, self.network, name, *arguments)
        self.addCleanup(program.end)
        return program

    def packet_socket(self, end):
        link = self.network.packet_socket(end, f"v{end}", ETHERTYPE)
        self.addCleanup(link.close)
        return link

    def relay(self, *arguments):
        return self.start("m", "relay", "-i", "ra", "-o", "rb", *self.link, *arguments)

    def refused(self, *arguments, code=2):
        """What a relay that cannot start says."""
        run = subprocess.run(self.network.inside("m", ROCE_GEN, "relay", *arguments), capture_output=True, text=True,
                             timeout=WAIT, check=False)
        self.assertEqual(run.returncode, code, run.stderr)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        return run.stderr

    def check_balance(self, totals):
        for way in ("a_to_b", "b_to_a"):
            count = totals[way]
            self.assertEqual(count["received"] + count["duplicates"],
                             count["passed"] + count["dropped"] + count["unsendable"] + count["refused"] + count["held"], count)

    def exchange(self, *rules):
        """A whole pingpong through a relay with rules: its totals and the lines of its log."""
        log = os.path.join(self.folder, "log.jsonl")
        options = [argument for rule in rules for argument in ("-e", rule)]
        relay = self.relay(*options, "--log", log)
        peer = self.start("b", "peer", "-i", "vb", "--link", "raw", "-n", "200", "--once")
        client = self.start("a", "pingpong", "-i", "va", "--link", "raw", "-n", "200", "10.9.0.2")
        for program in (client, peer):
            code, result = program.result()
            self.assertEqual((code, result["ok"], result["messages_received"]), (0, True, 200), result)
        code, totals = relay.result(signal.SIGTERM)
        self.assertEqual(code, 0)
        self.check_balance(totals)
        with open(log, encoding="ascii") as file:
            actions = [json.loads(line) for line in file]
        for rule in totals["rules"]:
            of_rule = [action for action in actions if action["rule"] == rule["rule"]]
            for way in ("a_to_b", "b_to_a"):
                self.assertEqual(len([action for action in of_rule if action["direction"] == way]), rule[way])
            self.assertTrue(all(action["action"] == rule["action"] for action in of_rule))
        self.assertEqual(len(actions), sum(rule["a_to_b"] + rule["b_to_a"] for rule in totals["rules"]))
        return totals, actions


class Passes(RelayTest):
    def test_is_a_wire_without_rules(self):
        totals, actions = self.exchange()
        self.assertEqual(actions, [])
        for way in ("a_to_b", "b_to_a"):
            # 200 messages of four packets, and what acknowledges and connects.
            self.assertGreater(totals[way]["passed"], 800)
            self.assertEqual((totals[way]["lost"], totals[way]["dropped"], totals[way]["duplicates"]), (0, 0, 0))
            self.assertEqual(totals[way]["passed_bytes"], totals[way]["received_bytes"])

    def test_passes_the_packets_of_super_frames_one_by_one(self):
        relay = self.relay()
        control = os.path.join(self.folder, "control.sock")
        self.start("b", "peer", "-i", "vb", "--link", "raw", "--control", control)
        for link in ("raw", "udp"):
            client = self.start("a", "write", "-i", "va", "--link", link, "-s", "64k", "-n", "50", control)
            code, result = client.result()
            self.assertEqual((code, result["ok"]), (0, True), result)
        code, totals = relay.result(signal.SIGTERM)
        self.check_balance(totals)
        # None was longer than what the other side carries.
        self.assertEqual((totals["a_to_b"]["unsendable"], totals["b_to_a"]["unsendable"]), (0, 0), totals)
        # 64 packets a message.
        self.assertGreaterEqual(totals["a_to_b"]["passed"], 2 * 50 * 64)

    def test_drops(self):
        totals, actions = self.exchange("drop:probability=0.02")
        self.assertGreater(len(actions), 5)
        self.assertEqual(totals["a_to_b"]["dropped"] + totals["b_to_a"]["dropped"], len(actions))
        times = [action["time_ns"] for action in actions]
        self.assertLess(max(times) - min(times), totals["seconds"] * 1e9)

    def test_passes_all_frames_in_order_both_ways(self):
        relay = self.relay("--pcap", os.path.join(self.folder, "all.pcapng"))
        a, b = self.packet_socket("a"), self.packet_socket("b")
        sent = [frame(number, 60 + number % 1400) for number in range(2000)]
        for source, sink in ((a, b), (b, a)):
            for first in range(0, len(sent), 50):
                for bytes_out in sent[first:first + 50]:
                    source.send(bytes_out)
                for bytes_out in sent[first:first + 50]:
                    self.assertEqual(sink.recv(2000), bytes_out)
        code, totals = relay.result(signal.SIGTERM)
        self.assertEqual(code, 0)
        for way in ("a_to_b", "b_to_a"):
            self.assertEqual((totals[way]["received"], totals[way]["passed"]), (2000, 2000))
        self.assertGreater(os.path.getsize(os.path.join(self.folder, "all.pcapng")), 4 * sum(map(len, sent)))

    def test_delays_and_says_what_it_holds_at_the_end(self):
        relay = self.relay("-e", "delay:any_frame=true,dir=a_to_b,by=100ms", "-e", "delay:any_frame=true,dir=b_to_a,by=1000s")
        a, b = self.packet_socket("a"), self.packet_socket("b")
        b.send(frame(1))
        a.send(frame(2))
        self.assertEqual(b.recv(2000), frame(2))
        code, totals = relay.result(signal.SIGTERM)
        self.assertEqual(code, 0)
        self.assertGreaterEqual(totals["seconds"], 0.1)
        self.assertEqual((totals["a_to_b"]["passed"], totals["a_to_b"]["held"]), (1, 0))
        self.assertEqual((totals["b_to_a"]["passed"], totals["b_to_a"]["held"]), (0, 1))
        self.check_balance(totals)

    def test_counts_frames_that_the_other_side_cannot_carry(self):
        for interface, name in (("va", "a"), ("ra", "m")):
            self.network.ip(name, "link", "set", interface, "mtu", "9000")
        relay = self.relay()
        self.assertEqual([note["event"] for note in relay.notes], ["warning"])
        a, b = self.packet_socket("a"), self.packet_socket("b")
        for number, size in ((1, 4000), (2, 1514)):
            a.send(frame(number, size))
        self.assertEqual(b.recv(2000), frame(2, 1514))
        code, totals = relay.result(signal.SIGTERM)
        self.assertEqual((code, totals["a_to_b"]["unsendable"], totals["a_to_b"]["passed"]), (0, 1, 1))
        self.check_balance(totals)

    def test_leaves_nothing_behind_when_killed(self):
        before = self.network.ip("m", "-d", "link", "show")
        relay = self.relay("-e", "delay:any_frame=true,by=1000s")
        a = self.packet_socket("a")
        for number in range(100):
            a.send(frame(number))
        self.assertIn("promiscuity 1", self.network.ip("m", "-d", "link", "show"))
        relay.result(signal.SIGKILL)
        # The kernel takes a process apart after it was waited for.
        deadline = time.monotonic() + WAIT
        while (after := self.network.ip("m", "-d", "link", "show")) != before and time.monotonic() < deadline:
            pass
        self.assertEqual(after, before)
        self.exchange()

    def test_goes_on_when_an_interface_was_down(self):
        relay = self.relay()
        a, b = self.packet_socket("a"), self.packet_socket("b")
        for interface in ("ra", "rb"):
            self.network.ip("m", "link", "set", interface, "down")
            self.network.ip("m", "link", "set", interface, "up")
        for name in "ab":
            self.network.wait_until_usable(name, f"v{name}")
        for source, sink in ((a, b), (b, a)):
            # That the other end is up says nothing of the moment in which the relay's end takes frames again.
            sink.settimeout(0.2)
            for _ in range(100):
                source.send(frame(1))
                with contextlib.suppress(TimeoutError):
                    self.assertEqual(sink.recv(2000), frame(1))
                    break
            else:
                self.fail("nothing passes any more")
        self.assertEqual(relay.result(signal.SIGTERM)[0], 0)

    def test_ends_when_an_interface_goes_away(self):
        relay = self.relay()
        self.network.ip("m", "link", "del", "ra")
        error = relay.process.stderr.read()
        code, totals = relay.result()
        self.assertEqual((code, totals["event"]), (1, "totals"))
        self.assertIn("interface ra is gone", error)


class Faults(RelayTest):
    def test_duplicates(self):
        totals, actions = self.exchange("duplicate:probability=0.02,copies=2")
        self.assertGreater(len(actions), 5)
        self.assertEqual(totals["a_to_b"]["duplicates"] + totals["b_to_a"]["duplicates"], 2 * len(actions))

    def test_reorders(self):
        _, actions = self.exchange("reorder:probability=0.02,by=3")
        self.assertGreater(len(actions), 5)

    def test_corrupts(self):
        _, actions = self.exchange("corrupt:probability=0.02")
        self.assertGreater(len(actions), 5)

    def test_repairs_the_icrc_after_edits(self):
        # A packet whose ICRC did not fit would be thrown away, and this many lost packets end the exchange.
        _, actions = self.exchange("edit:field=bth.se,value=1,op=send", "edit:field=bth.ack_req,value=1,op=send")
        self.assertGreaterEqual(len(actions), 3200)


class Told(RelayTest):
    def test_goes_through_several_rules_of_a_file(self):
        events = os.path.join(self.folder, "events")
        with open(events, "w", encoding="ascii") as file:
            file.write("# lose the third packet once\ndrop:dir=a_to_b,op=send,psn=2,tx=1,name=third\n\nduplicate:op=ack,nth=2\n")
        relay = self.relay("--events", events, "-e", "drop:op=cnp")
        code, totals = relay.result(signal.SIGINT)
        self.assertEqual(code, 0)
        self.assertEqual([(rule["action"], rule["name"]) for rule in totals["rules"]],
                         [("drop", "third"), ("duplicate", ""), ("drop", "")])

    def test_says_that_the_log_could_not_be_written(self):
        relay = self.relay("-e", "duplicate:any_frame=true", "--log", "/dev/full")
        a, b = self.packet_socket("a"), self.packet_socket("b")
        a.send(frame(1))
        self.assertEqual([b.recv(2000), b.recv(2000)], [frame(1)] * 2)
        relay.process.send_signal(signal.SIGTERM)
        error = relay.process.stderr.read()
        self.assertEqual(relay.result()[0], 1)
        self.assertIn("the log could not be written whole: /dev/full: cannot write", error)

    def test_says_what_is_wrong(self):
        self.assertIn("there is no network interface 'rx'", self.refused("-i", "rx", "-o", "rb"))
        self.assertIn("are both ra", self.refused("-i", "ra", "-o", "ra"))
        self.assertIn("-e \"drop:psn=five\": rule 1: psn: expected", self.refused("-i", "ra", "-o", "rb", "-e", "drop:psn=five"))
        events = os.path.join(self.folder, "events")
        with open(events, "w", encoding="ascii") as file:
            file.write("# one; two\n\ndrop;drop:psn=1 # fine\n\ndrop; loose:psn=2\n")
        self.assertIn("line 5: rule 4: ", self.refused("-i", "ra", "-o", "rb", "--events", events))
        with open(events + ".json", "w", encoding="ascii") as file:
            file.write('[{"action": "drop"}, {"action": "drop", "psn": "five"}]')
        self.assertIn("rule 2: psn: expected", self.refused("-i", "ra", "-o", "rb", "--events", events + ".json"))
        self.assertIn("cannot read the rules", self.refused("-i", "ra", "-o", "rb", "--events", events + ".none", code=1))
        self.assertIn("cannot write the log", self.refused("-i", "ra", "-o", "rb", "--log", events + "/log"))
        self.network.ip("m", "link", "set", "rb", "down")
        self.assertIn("interface rb is down", self.refused("-i", "ra", "-o", "rb"))

    def test_says_that_it_is_not_allowed(self):
        run = subprocess.run(self.network.inside("m", "setpriv", "--bounding-set=-net_raw", "--inh-caps=-net_raw", ROCE_GEN,
                                                 "relay", "-i", "ra", "-o", "rb"),
                             capture_output=True, text=True, timeout=WAIT, check=False)
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertIn("this needs CAP_NET_RAW", run.stderr)


if __name__ == "__main__":
    enter_namespaces()
    ROCE_GEN = sys.argv.pop(1)
    unittest.main()
