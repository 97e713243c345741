# SPDX-License-Identifier: BSD-2-Clause
"""roce-gen craft, cnp, pfc and pause: what they write and send, read by scapy, tshark and roce-analyze.

usage: craft_test.py ROCE_GEN ROCE_ANALYZE [UNITTEST ARGUMENT...]

Makes namespaces itself, in a user namespace of its own, so that it needs no privilege; prints why and exits with 77 where
that is forbidden, or where there is no scapy.
"""

import json
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import unittest

from control import Control
from live import SKIPPED, WAIT, Program, Wire, enter_namespaces

try:
    from scapy.contrib.mac_control import MACControlClassBasedFlowControl, MACControlPause
    from scapy.contrib.roce import BTH
    from scapy.layers.inet import IP, UDP
    from scapy.layers.l2 import Ether
    from scapy.utils import rdpcap, wrpcap
except ImportError as error:
    print(f"no scapy: {error}")
    sys.exit(1 if os.environ.get("CI") else SKIPPED)

# What stands in these says what comes behind, or how long the header is: with any value in it the header may not be found.
SHAPES = re.compile(r"(ip|ipv6|grh)\.(version|header_length)$")
STACKS = [
    "eth vlan ip udp bth reth immdt",
    "eth ipv6 udp bth deth",
    "eth grh bth aeth atomicacketh",
    "eth mac_control pfc;mac_control.opcode=PFC",
    "eth mac_control pause;mac_control.opcode=PAUSE",
]


def run(*command, code=0, **options):
    done = subprocess.run(command, capture_output=True, text=True, timeout=WAIT, check=False, **options)
    assert done.returncode == code, (command, done.returncode, done.stderr)
    return done


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(folder.name, "crafted.pcap")

    def craft(self, *arguments):
        return run(ROCE_GEN, "craft", "-w", self.path, *arguments)

    def packets(self):
        return list(rdpcap(self.path))

    def tshark(self, *fields):
        names = [word for field in fields for word in ("-e", field)]
        lines = run("tshark", "-o", "ip.check_checksum:TRUE", "-r", self.path, "-T", "fields", *names).stdout.splitlines()
        return [line.split("\t") for line in lines]

    def test_icrcs_are_those_of_scapy(self):
        self.craft("-n", "300", "opcode=RC_WRITE_ONLY", "bth.psn=0xffff80+1", "bth.dest_qp=rand", "ip.src=10.0.0.1+1",
                   "ip.ttl=rand", "ip.dscp=0..63", "udp.srcport=rand", "reth.va=rand", "payload_length=256")
        packets = self.packets()
        self.assertEqual(len(packets), 300)
        for number, packet in enumerate(packets):
            stored = bytes(packet)[-4:]
            self.assertEqual(packet[BTH].psn, (0xffff80 + number) & 0xffffff)
            self.assertEqual(packet[IP].src, f"10.0.{(1 + number) // 256}.{(1 + number) % 256}")
            self.assertEqual(packet[IP].tos >> 2, number % 64)
            checksum = packet[IP].chksum
            packet[IP].chksum = packet[BTH].icrc = None
            again = Ether(bytes(packet))
            self.assertEqual(bytes(again)[-4:], stored)
            self.assertEqual(again[IP].chksum, checksum)
        self.assertGreater(len({packet[BTH].dqpn for packet in packets}), 290)
        self.assertGreater(len({packet[UDP].sport for packet in packets}), 280)

    def test_tshark_reads_what_was_asked_for(self):
        self.craft("-n", "6", "opcode=RC_SEND_ONLY_IMM", "bth.psn=100+10", "bth.dest_qp=0x11/0x12/0x13", "bth.p_key=0x8001",
                   "immdt.data=0xabc+1", "ip.dst=192.0.2.1", "payload_length=0..8+4", "bth.se=true/false")
        rows = self.tshark("infiniband.bth.opcode", "infiniband.bth.psn", "infiniband.bth.destqp", "infiniband.bth.p_key",
                           "infiniband.immdt", "ip.dst", "ip.checksum.status", "infiniband.bth.se", "frame.len")
        self.assertEqual([[int(word, 0) for word in row[:4]] for row in rows],
                         [[5, 100 + 10 * i, 0x11 + i % 3, 0x8001] for i in range(6)])
        self.assertEqual([[row[5], row[6]] for row in rows], [["192.0.2.1", "1"]] * 6)
        # tshark 4.4 writes them as words.
        self.assertEqual([row[7] in ("1", "True") for row in rows], [True, False] * 3)
        self.assertLessEqual({row[7] for row in rows}, {"0", "1", "False", "True"})
        self.assertEqual([int(row[8]) for row in rows], [62, 66, 70] * 2)

    def test_icrcs_are_wrong_on_purpose_only(self):
        self.craft("-n", "4", "icrc=auto/wrong", "payload_length=64")
        good = []
        for packet in self.packets():
            stored = bytes(packet)[-4:]
            packet[BTH].icrc = None
            good.append(bytes(packet)[-4:] == stored)
        self.assertEqual(good, [True, False, True, False])

    def test_sends_the_packets_of_a_file_in_turn(self):
        path = os.path.join(self.folder, "packets.yaml")
        with open(path, "w", encoding="ascii") as file:
            file.write("- opcode: RC_SEND_FIRST\n  bth: {psn: 1+3}\n  payload_length: 256\n"
                       "- opcode: RC_SEND_MIDDLE\n  bth.psn: 2+3\n  payload_length: 256\n"
                       "- {opcode: RC_SEND_LAST, bth.psn: 3+3, payload: '00'}\n")
        self.craft("-f", path, "-n", "7", "bth.dest_qp=0x99")
        self.assertEqual([(packet[BTH].opcode, packet[BTH].psn, packet[BTH].dqpn) for packet in self.packets()],
                         [(i % 3, 1 + i, 0x99) for i in range(7)])

    def test_times_in_files_follow_the_schedule(self):
        self.craft("-n", "6", "--rate", "1kpps", "--burst", "2")
        times = [packet.time for packet in self.packets()]
        self.assertEqual([round(float(time - times[0]) * 1e6) for time in times], [0, 0, 2000, 2000, 4000, 4000])
        self.craft("-D", "0.025", "--rate", "1kpps", "--duty", "2ms/8ms")
        times = [packet.time for packet in self.packets()]
        self.assertEqual([round(float(time - times[0]) * 1e3) for time in times], [0, 1, 10, 11, 20, 21])

    def test_the_same_seed_gives_the_same_packets(self):
        def crafted(seed):
            self.craft("-n", "20", "--seed", str(seed), "bth.psn=rand", "payload_length=rand:0..64")
            return [bytes(packet) for packet in self.packets()]
        self.assertEqual(crafted(5), crafted(5))
        self.assertNotEqual(crafted(5), crafted(6))

    def test_every_field_can_be_set_and_is_read_back(self):
        source = random.Random(1)
        seen = set()
        stacks = [("headers", stack) for stack in STACKS]
        opcodes = ["RC_WRITE_ONLY", "RC_ACKNOWLEDGE", "RC_COMPARE_SWAP", "RC_ATOMIC_ACKNOWLEDGE", "RC_SEND_ONLY_INVALIDATE", "RC_FLUSH",
                   "UD_SEND_ONLY_IMM", "RD_WRITE_ONLY", "XRC_SEND_ONLY", "CNP"]
        for key, value in stacks + [("opcode", opcode) for opcode in opcodes]:
            base = [f"{key}={value}".split(";")[0], "payload_length=32", *value.split(";")[1:]]
            listed = run(ROCE_GEN, "craft", "--list", *base)
            values = dict(line.split(": ", 1) for line in listed.stdout.splitlines() if ": " in line)
            for name, present in values.items():
                if "." not in name or any(word.startswith(name) for word in base):
                    continue
                wanted = self.other_value(name, present, source)
                crafted = run(ROCE_GEN, "craft", "--dry-run", *base, f"{name}={wanted}")
                shown = {match[0]: match[1] for match in re.findall(r"^ +[\d:-]+  (\S+) +(\S+)", crafted.stdout, re.M)}
                if name not in shown:
                    self.assertTrue(SHAPES.search(name) or self.is_hidden(name, base), f"{name} = {wanted}: {crafted.stdout}")
                    continue
                self.assertEqual(self.plain(shown[name]), self.plain(wanted), name)
                seen.add(re.sub(r"\[\d+\]", "", name))
        self.assertGreater(len(seen), 95, sorted(seen))

    def is_hidden(self, name, base):
        """Whether the headers of a packet do not show this one even as they are."""
        shown = run(ROCE_GEN, "craft", "--dry-run", *base).stdout
        return f" {name} " not in shown

    @staticmethod
    def plain(text):
        try:
            return int(text, 0)
        except ValueError:
            return {"true": 1, "false": 0}.get(text, text.rstrip("0"))

    @staticmethod
    def other_value(name, present, source):
        """A value that the field takes: of the same form as the one that it has."""
        if present in ("true", "false"):
            return "false" if present == "true" else "true"
        if re.fullmatch(r"([0-9a-f]{2}:){5}[0-9a-f]{2}", present):
            return f"02:00:00:00:00:{source.randrange(16, 256):02x}"
        if re.fullmatch(r"\d+(\.\d+){3}", present):
            return f"10.1.2.{source.randrange(1, 255)}"
        if "::" in present:
            return f"fd00::{source.randrange(1, 9999):x}"
        if present.startswith("0x"):
            return f"{source.randrange(1, min(1 << (4 * (len(present) - 2)), 4)):#x}"
        if re.fullmatch(r"[0-9a-f]{16,}", present):
            return f"{source.randrange(16, 256):02x}" * (len(present) // 2)
        return "1" if present != "1" else "0"

    def test_dry_run_prints_what_decode_prints(self):
        words = ["opcode=UD_SEND_ONLY", "deth.q_key=7", "payload_length=5", "-n", "2", "bth.psn=+1"]
        self.craft(*words)
        decoded = run(ROCE_ANALYZE, "decode", "-v", "--payload", self.path).stdout
        printed = run(ROCE_GEN, "craft", "--dry-run", *words).stdout
        without_frame = [re.sub(r"^Frame (\d+) .*$", r"Frame \1", text, flags=re.M) for text in (decoded, printed)]
        self.assertEqual(*without_frame)

    def test_pause_frames_are_those_of_scapy(self):
        run(ROCE_GEN, "pfc", "-w", self.path, "-p", "3=100,5-6", "-q", "7")
        (packet,) = self.packets()
        self.assertEqual(len(packet), 60)
        pfc = packet[MACControlClassBasedFlowControl]
        self.assertEqual(packet.dst, "01:80:c2:00:00:01")
        self.assertEqual([getattr(pfc, f"c{i}_enabled") for i in range(8)], [0, 0, 0, 1, 0, 1, 1, 0])
        self.assertEqual([getattr(pfc, f"c{i}_pause_time") for i in range(8)], [0, 0, 0, 100, 0, 7, 7, 0])
        run(ROCE_GEN, "pause", "-w", self.path, "-q", "10/20/30", "-n", "4")
        self.assertEqual([packet[MACControlPause].pause_time for packet in self.packets()], [10, 20, 30, 10])

    def test_a_storm_has_no_gap_and_ends_with_a_resume(self):
        for speed, pause in (("10Gbit", 3.355), ("400Gbit", 0.0839)):
            said = json.loads(run(ROCE_GEN, "pfc", "-w", self.path, "-p", "3", "--storm", "-D", "0.05", "--speed", speed,
                                  "--json").stdout)
            self.assertTrue(said["gapless"])
            packets = self.packets()
            times = [float(packet.time) * 1e3 for packet in packets]
            self.assertLess(max(later - earlier for earlier, later in zip(times, times[1:])), pause)
            quanta = [packet[MACControlClassBasedFlowControl].c3_pause_time for packet in packets]
            self.assertEqual(quanta, [65535] * (len(quanta) - 1) + [0])

    def test_cnps_are_cnps(self):
        run(ROCE_GEN, "cnp", "-w", self.path, "--qp", "0x11..0x13", "-n", "4", "--dscp", "46")
        rows = self.tshark("infiniband.bth.opcode", "infiniband.bth.destqp", "ip.dsfield.dscp", "frame.len")
        self.assertEqual([[int(word, 0) for word in row] for row in rows], [[0x81, 0x11 + i % 3, 46, 74] for i in range(4)])
        decoded = run(ROCE_ANALYZE, "decode", "--json", self.path).stdout.splitlines()
        for line in map(json.loads, decoded):
            self.assertEqual((line["bth"]["becn"], line["icrc"]["status"]), (True, "good"))

    def refused(self, *arguments, code=2):
        done = run(ROCE_GEN, *arguments, code=code)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertEqual(done.stdout, "")
        return done.stderr

    def test_says_what_is_wrong(self):
        for words, said in (
                (["bth.nope=1"], "the BTH has no such field; it has opcode"),
                (["bth.psn=0x1000000"], "bth.psn: expected 0 … 16777215, found '0x1000000'"),
                (["bth.psn="], "bth.psn: expected"),
                (["bth.psn"], "expected NAME=VALUE such as bth.psn=+1, found 'bth.psn'"),
                (["bth.psn=1", "bth.psn=2"], "bth.psn is there twice"),
                (["payload_length=65530"], "do not fit its length field"),
                (["--burst", "4"], "give both"),
                (["--rate", "fast"], "is no rate"),
                (["--rate", "1kpps", "--duty", "10ms"], "expected two times such as 10ms/90ms"),
                (["-n", "0"], "needs an end"),
                (["-D", "1"], "needs an end")):
            self.assertIn(said, self.refused("craft", "-w", self.path, *words))
            self.assertFalse(os.path.exists(self.path), "nothing may be written")
        self.assertIn("cannot read the packets in /nowhere.yaml", self.refused("craft", "-w", self.path, "-f", "/nowhere.yaml", code=1))
        self.assertIn("where to?", self.refused("craft", "bth.psn=1"))
        self.assertIn("there is no network interface 'nope'", self.refused("craft", "-i", "nope"))
        self.assertIn("expected priorities such as", self.refused("pfc", "-w", self.path, "-p", "8"))
        self.assertIn("quanta of 0 do not", self.refused("pfc", "-w", self.path, "-p", "1", "-q", "0", "--storm", "-D", "1"))
        self.assertIn("bth.dest_qp: expected", self.refused("cnp", "-w", self.path, "--qp", "0x1000000"))


# Seconds: of the longest pause, 65535 times 512 bits at the 10 Gbit/s of a veth; and in which a stalled machine sees what came.
EXPIRY = 0.0033
STALL = 0.05


class OnTheWire(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.wire = Wire(9000)
        self.addCleanup(self.wire.close)

    def start(self, name, *arguments):
        program = Program(ROCE_GEN, self.wire, name, *arguments)
        self.addCleanup(program.end)
        return program

    def craft(self, *arguments, code=0):
        done = run(*self.wire.inside("a", ROCE_GEN, *arguments), code=code)
        return done

    def test_what_is_sent_arrives_as_it_was_asked_for(self):
        link = self.wire.packet_socket("b", "v", 0x0800)
        self.addCleanup(link.close)
        said = self.craft("craft", "-i", "v", "--to", "10.9.0.2", "-n", "40", "bth.psn=+1", "payload_length=1000", "--json")
        totals = json.loads(said.stdout.splitlines()[-1])
        self.assertEqual((totals["frames"], totals["refused"]), (40, 0))
        self.assertGreaterEqual(totals["interface"]["sent_frames"], 40)
        psn = 0
        while psn < 40:
            packet = Ether(link.recv(2000))
            if BTH not in packet:
                continue
            self.assertEqual((packet[BTH].psn, packet[IP].src, packet[IP].dst), (psn, "10.9.0.1", "10.9.0.2"))
            stored = bytes(packet)[-4:]
            packet[BTH].icrc = None
            self.assertEqual(bytes(packet)[-4:], stored)
            psn += 1

    def sent_segmented(self, *words):
        """What arrives of 60 segmented frames behind a sender whose kernel cuts them, and the report."""
        self.wire.cut_when_sending("a", "v")
        link = self.wire.packet_socket("b", "v", 0x86DD if "version=v2_ipv6" in words else 0x0800)
        self.addCleanup(link.close)
        said = self.craft("craft", "-i", "v", "--to", "fd09::2" if "version=v2_ipv6" in words else "10.9.0.2", "--segmentation", "--json",
                          "-n", "60", *words)
        packets = []
        while len(packets) < 60:
            packet = Ether(link.recv(10000))
            if BTH in packet:
                packets.append(packet)
        return packets, json.loads(said.stdout.splitlines()[-1])

    def test_segmented_frames_arrive_with_good_icrcs(self):
        for version in ("v2_ipv4", "v2_ipv6"):
            packets, totals = self.sent_segmented(f"version={version}", "bth.psn=+1", "payload_length=1000")
            self.assertEqual((totals["frames"], totals["refused"]), (60, 0))
            self.assertGreaterEqual(totals["super_frames"], 1)
            self.assertLess(totals["super_frames"], 15)
            self.assertEqual(totals["bytes"], 60 * len(packets[0]))
            for number, packet in enumerate(packets):
                self.assertEqual(packet[BTH].psn, number)
                self.assertNotEqual(packet[UDP].chksum, 0)
                # scapy knows no ICRC over IPv6.
                if version == "v2_ipv4":
                    self.assertEqual(packet[IP].id, number)
                    stored = bytes(packet)[-4:]
                    packet[BTH].icrc = None
                    self.assertEqual(bytes(packet)[-4:], stored, number)
            path = os.path.join(self.folder, f"{version}.pcap")
            wrpcap(path, packets)
            decoded = run(ROCE_ANALYZE, "decode", "--json", path).stdout.splitlines()
            self.assertEqual([json.loads(line)["icrc"]["status"] for line in decoded], ["good"] * 60)

    def test_segments_only_what_stays_as_it_was_asked_for(self):
        for words, least, most in ((("ip.id=7",), 0, 0), (("udp.srcport=+1",), 0, 0), (("version=v1",), 0, 0), (("icrc=wrong",), 4, 40),
                                   (("ip.id=0xfff0+1",), 4, 40)):
            said = self.craft("craft", "-i", "v", "--segmentation", "--json", "-n", "200", "bth.psn=+1", "payload_length=1000", *words)
            totals = json.loads(said.stdout.splitlines()[-1])
            self.assertEqual(totals["frames"], 200)
            self.assertIn(totals["super_frames"], range(least, most + 1), words)
        said = self.craft("craft", "-i", "v", "--segmentation", "-n", "3", "ip.id=7")
        self.assertIn("no super-frames: one is made of", said.stdout)

    def test_keeps_a_rate(self):
        said = self.craft("craft", "-i", "v", "-D", "0.5", "--rate", "2kpps", "--burst", "10", "--json")
        totals = json.loads(said.stdout.splitlines()[-1])
        self.assertIn(totals["frames"], range(900, 1011))

    def test_ends_on_a_signal_with_what_it_did(self):
        craft = self.start("a", "craft", "-i", "v", "-n", "0", "--rate", "1kpps")
        code, totals = craft.result(signal.SIGINT)
        self.assertEqual((code, totals["event"], totals["stopped"]), (0, "craft", True))

    def test_refuses_what_the_interface_does_not_carry(self):
        done = self.craft("craft", "-i", "v", "payload_length=8..9100", code=2)
        self.assertIn("is longer than v carries", done.stderr)
        self.wire.ip("a", "link", "set", "v", "down")
        self.assertIn("interface v is down", self.craft("craft", "-i", "v", code=2).stderr)

    def test_a_cnp_reaches_its_queue_pair(self):
        path = os.path.join(self.folder, "control.sock")
        self.start("b", "peer", "-i", "v", "--link", "raw", "--control", path)
        control = Control(path)
        self.addCleanup(control.close)
        made = control.call("create_qp", type="rc")
        control.call("connect_qp", qp=made["qp"], gid="10.9.0.1", remote_qp=0x123, psn=made["psn"])
        self.craft("cnp", "-i", "v", "--to", "10.9.0.2", "--qp", str(made["qp"]), "-n", "3")
        while (handled := control.call("counters", qp=made["qp"])["counters"]["cnps_handled"]) < 3:
            pass
        self.assertEqual(handled, 3)

    def check_storm(self, *options):
        """A storm for priority 2, from before a transfer with it begins until one with priority 0 has ended. Times of the pauses and of the
        transfer's packets, as its sender saw them, and the file with both."""
        control = os.path.join(self.folder, "control.sock")
        self.start("b", "peer", "-i", "v", "--link", "raw", "--control", control)
        storm = self.start("b", "pfc", "-i", "v", "-p", "2", "--storm", *options)
        path = os.path.join(self.folder, "held.pcapng")
        # It goes on until long after the storm, however often that has let it go because the machine stalled.
        held = self.start("a", "write", "-i", "v", "--link", "raw", "-s", "64", "-D", "6", "--rate", "2kpps", "--tos", "8", "--pcap", path,
                          control)
        free = self.start("a", "write", "-i", "v", "--link", "raw", "-n", "2000", "--tos", "0", control)
        code, result = free.result()
        self.assertEqual(code, 0, result)
        code, said = storm.result(signal.SIGINT)
        self.assertEqual(code, 0)
        self.assertEqual(said["effect_confirmed"], False)
        code, result = held.result()
        self.assertEqual(code, 0, result)
        pauses, data = [], []
        for line in run(ROCE_ANALYZE, "decode", "--json", path).stdout.splitlines():
            packet = json.loads(line)
            if "pfc" in packet:
                pauses.append((float(packet["frame"]["time_epoch"]), packet["pfc"]["timer2"]))
            elif packet["ip"]["src"] == "10.9.0.1":
                data.append(float(packet["frame"]["time_epoch"]))
        return pauses, data, path

    def test_a_storm_stops_its_priority_and_no_other(self):
        pauses, data, path = self.check_storm()
        self.assertEqual(pauses[-1][1], 0)
        times = [time for time, _ in pauses]
        # Where the machine stalled a pause may run out before the next one is there, and be noticed late.
        free = [(last + EXPIRY, new + STALL) for last, new in zip(times, times[1:]) if new - last > EXPIRY]
        sent = [time for time in data if times[0] + STALL < time < times[-1]]
        self.assertEqual([time for time in sent if not any(begin <= time <= end for begin, end in free)], [])
        self.assertGreater(len([time for time in data if time >= times[-1]]), 0)
        timeline = run(ROCE_ANALYZE, "timeline", path).stdout
        self.assertIn("XOFF", timeline)

    def test_without_a_resume_the_priority_goes_on_when_its_time_is_over(self):
        pauses, data, _ = self.check_storm("--no-resume")
        last = pauses[-1][0]
        self.assertEqual(pauses[-1][1], 65535)
        after = [time - last for time in data if time > last]
        self.assertGreaterEqual(min(after), EXPIRY)

    def test_a_peer_that_runs_low_of_receives_holds_the_other_end(self):
        # It posts its 4096 receives again after each batch of datagrams that it took: those of a burst are gone for a moment.
        path = os.path.join(self.folder, "held.pcapng")
        control = os.path.join(self.folder, "control.sock")
        peer = self.start("b", "peer", "-i", "v", "--link", "raw", "--pfc", "0:4090:4095", "--control", control, "--pcap", path)
        client = self.start("a", "ud", "-i", "v", "--link", "raw", "-s", "64", "-n", "20000", "-t", "256", control)
        code, result = client.result()
        self.assertEqual(code, 0, result)
        self.assertEqual(peer.result(signal.SIGINT)[0], 0)
        timers = [json.loads(line)["pfc"]["timer0"] for line in
                  run(ROCE_ANALYZE, "decode", "--json", path).stdout.splitlines() if '"pfc"' in line]
        self.assertIn(65535, timers)
        self.assertEqual(timers[-1], 0)

    def test_says_what_is_wrong_with_thresholds(self):
        for text in ("8:1:2", "0:5:5", "0:1", "x", "0:1:2x", "0:-1:2"):
            done = run(*self.wire.inside("b", ROCE_GEN, "peer", "-i", "v", "--pfc", text), code=2)
            self.assertIn("pfc: expected PRIORITY:LOW:ENOUGH", done.stderr)
        done = run(*self.wire.inside("b", ROCE_GEN, "peer", "-i", "v", "--link", "udp", "--pfc", "0:1:2"), code=2)
        self.assertIn("PFC is sent as Ethernet frames, which the UDP link cannot", done.stderr)

    def test_examples_of_the_help_work(self):
        with open(os.path.join(self.folder, "packets.yaml"), "w", encoding="ascii") as file:
            file.write("opcode: RC_SEND_ONLY\nbth: {psn: +1}\n")
        examples = []
        for command in ("craft", "cnp", "pfc", "pause"):
            text = run(ROCE_GEN, command, "--help").stdout
            found = re.findall(rf"^  (roce-gen {command} .*?)(?:  +[^-].*)?$", text, re.M)
            self.assertGreater(len(found), 3, command)
            examples += found
        for example in examples:
            with self.subTest(example):
                text = example.replace("eth0", "v").replace("192.0.2.7", "10.9.0.2")
                words = shlex.split(re.sub(r"-D (10|60)\b", "-D 0.1", text))[1:]
                endless = "-n 0" in text or ("--storm" in text and "-D" not in text)
                if not endless:
                    run(*self.wire.inside("a", ROCE_GEN, *words), cwd=self.folder)
                    continue
                program = Program(ROCE_GEN, self.wire, "a", *[word.replace("packets.yaml", f"{self.folder}/packets.yaml")
                                                             for word in words])
                self.addCleanup(program.end)
                self.assertEqual(program.result(signal.SIGINT)[0], 0)


if __name__ == "__main__":
    enter_namespaces()
    ROCE_GEN = sys.argv.pop(1)
    ROCE_ANALYZE = sys.argv.pop(1)
    unittest.main()
