# SPDX-License-Identifier: BSD-2-Clause
"""What `roce-replay send` sends and writes: the frames of the file, when they are due, and PSNs that go on over loops.

usage: send_test.py ROCE_REPLAY ROCE_ANALYZE CAPTURES_FOLDER [UNITTEST ARGUMENT...]

Makes namespaces itself, in a user namespace of its own, so that it needs no privilege; prints why and exits with 77 where
that is forbidden.
"""

import collections
import json
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "gen"))
from live import WAIT, Namespaces, Program, enter_namespaces  # noqa: E402

Record = collections.namedtuple("Record", "ns bytes")


def read_pcap(path):
    """The records of a classic pcap file of Ethernet frames."""
    data = pathlib.Path(path).read_bytes()
    unit = {0xA1B2C3D4: 1000, 0xA1B23C4D: 1}[struct.unpack_from("=I", data)[0]]
    records, at = [], 24
    while at < len(data):
        seconds, fraction, captured, _ = struct.unpack_from("=IIII", data, at)
        records.append(Record(seconds * 10**9 + fraction * unit, data[at + 16:at + 16 + captured]))
        at += 16 + captured
    return records


def write_pcap(path, records, link_type=1, cut=0):
    """`cut` bytes are left out at the end of each frame, as by a snap length."""
    with open(path, "wb") as file:
        file.write(struct.pack("=IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, link_type))
        for ns, frame in records:
            held = frame[:len(frame) - cut]
            file.write(struct.pack("=IIII", ns // 10**9, ns % 10**9, len(held), len(frame)) + held)


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.out = self.folder / "out.pcap"
        self.capture = CAPTURES / "softroce" / "rc-mix-v4.tx.pcap"

    def send(self, *arguments, code=0):
        done = subprocess.run([PROGRAM, "send", *map(str, arguments)], capture_output=True, text=True, timeout=WAIT, check=False)
        self.assertEqual(done.returncode, code, (arguments, done.stdout, done.stderr))
        return done

    def refused(self, *arguments):
        """What it says when it refuses to begin."""
        return self.send(*arguments, code=2).stderr

    def write(self, *arguments):
        """The records of the file that it writes."""
        self.send(*arguments, "-w", self.out)
        return read_pcap(self.out)

    def decode(self, path):
        lines = subprocess.run([ANALYZE, "decode", "--json", path], capture_output=True, text=True, timeout=WAIT,
                               check=True).stdout.splitlines()
        return [json.loads(line) for line in lines]


class Files(Case):
    def test_frames_and_their_gaps_are_those_of_the_file(self):
        given, written = read_pcap(self.capture), self.write(self.capture)
        self.assertEqual([record.bytes for record in written], [record.bytes for record in given])
        self.assertEqual([record.ns - written[0].ns for record in written], [record.ns - given[0].ns for record in given])

    def test_times_that_64_bits_do_not_hold_stay_the_last(self):
        frame = next(record.bytes for record in read_pcap(self.capture) if record.bytes[36:38] == b"\x12\xb7")
        far, out = self.folder / "far.pcap", self.folder / "out.pcapng"
        write_pcap(far, [(0, frame), ((2**32 - 1) * 10**9, frame)])
        self.send(far, "-w", out, "--loops", 3)
        times = [float(packet["frame"]["time_epoch"]) for packet in self.decode(out)]
        self.assertEqual(len(times), 6)
        self.assertEqual(times, sorted(times))

    def test_a_factor_divides_the_gaps(self):
        given, written = read_pcap(self.capture), self.write(self.capture, "--speed", 4)
        self.assertEqual([record.ns - written[0].ns for record in written],
                         [(record.ns - given[0].ns) // 4 for record in given])

    def test_rates_are_kept_exactly(self):
        written = self.write(self.capture, "--pps", 300)
        self.assertEqual([record.ns - written[0].ns for record in written],
                         [number * 10**9 // 300 for number in range(len(written))])
        written = self.write(self.capture, "--rate", "70Mbit")
        bits = 0
        for record in written:
            self.assertEqual(record.ns - written[0].ns, bits * 10**9 // 70_000_000)
            bits += 8 * len(record.bytes)

    def test_several_files_are_merged_by_their_times(self):
        given = read_pcap(self.capture)
        first, second = self.folder / "first.pcap", self.folder / "second.pcap"
        # Runs of three, so that order is not that of taking turns.
        write_pcap(first, [record for number, record in enumerate(given) if number // 3 % 2])
        write_pcap(second, [record for number, record in enumerate(given) if not number // 3 % 2])
        self.assertEqual([record.bytes for record in self.write(first, second)], [record.bytes for record in given])

    def test_what_rewrite_can_be_told_is_done_on_the_fly(self):
        rules = ("--ip-map", "10.77.0.0/24=192.0.2.0/24", "--ip-map", "fe80::/10=fd07::/10", "--unmapped", "keep", "--psn-offset", 1000, "--dscp", 26)
        expected = self.folder / "expected.pcap"
        subprocess.run([PROGRAM, "rewrite", *map(str, rules), self.capture, expected], check=True, capture_output=True, timeout=WAIT)
        written = self.write(self.capture, *rules)
        self.assertEqual([record.bytes for record in written], [record.bytes for record in read_pcap(expected)])
        self.write(self.capture, *rules, "--loops", 2)
        self.assertEqual({packet["icrc"]["status"] for packet in self.decode(self.out) if "bth" in packet}, {"good"})
        self.assertIn("10.77.0.3 is in no --ip-map", self.refused(self.capture, "--ip-map", "10.77.0.2=192.0.2.2", "-w", self.folder / "none.pcap"))

    def test_messages_are_cut_on_the_fly(self):
        expected = self.folder / "expected.pcap"
        subprocess.run([PROGRAM, "rewrite", "--path-mtu", "256", self.capture, expected], check=True, capture_output=True, timeout=WAIT)
        frames = [record.bytes for record in read_pcap(expected)]
        self.assertGreater(len(frames), len(read_pcap(self.capture)))
        for how in ["--preload", "--stream"]:
            self.assertEqual([record.bytes for record in self.write(self.capture, "--path-mtu", 256, how)], frames)
        # PSNs go on where the cut connection ends.
        self.write(self.capture, "--path-mtu", 256, "--loops", 2)
        events = subprocess.run([ANALYZE, "events", "--json", self.out], capture_output=True, text=True, timeout=WAIT, check=True).stdout
        self.assertNotIn('"severity":"error"', events)

    def test_faults_befall_frames_on_the_way(self):
        faults = ("-e", "drop:nth=3", "-e", "duplicate:nth=5", "-e", "delay:nth=9,by=200ms", "-e", "corrupt:nth=12", "--seed", 5)
        expected = self.folder / "expected.pcap"
        subprocess.run([PROGRAM, "rewrite", *map(str, faults), self.capture, expected], check=True, capture_output=True, timeout=WAIT)
        expected = read_pcap(expected)
        for how in ["--preload", "--stream"]:
            written = self.write(self.capture, *faults, how)
            self.assertEqual([record.bytes for record in written], [record.bytes for record in expected])
            self.assertEqual([record.ns - written[0].ns for record in written], [record.ns - expected[0].ns for record in expected])
        self.assertEqual([packet["icrc"]["status"] for packet in self.decode(self.out) if "bth" in packet].count("bad"), 1)
        # The last one is delayed beyond the end.
        last = self.write(self.capture, "-e", f"delay:nth={len(read_pcap(self.capture))},by=1s")
        self.assertEqual(len(last), len(read_pcap(self.capture)))

    def test_faults_are_counted_and_the_same_in_each_loop(self):
        report = json.loads(self.send(self.capture, "-e", "drop:nth=3", "--loops", 3, "-w", self.out, "--json").stdout)
        self.assertEqual(report["faults"], {"dropped": 1, "duplicates": 0})
        self.assertEqual(report["frames"], 3 * (len(read_pcap(self.capture)) - 1))
        self.assertIn("drip", self.refused(self.capture, "-e", "drip:nth=3", "--dry-run"))

    def test_streaming_and_memory_give_the_same(self):
        from_memory = [record.bytes for record in self.write(self.capture, "--loops", 3, "--preload")]
        self.assertEqual([record.bytes for record in self.write(self.capture, "--loops", 3, "--stream")], from_memory)

    def psns(self, packets):
        """PSNs by QP and whether it is an answer, in order; of datagrams by the QP that sends them."""
        found = collections.defaultdict(list)
        for packet in packets:
            if "bth" not in packet:
                continue
            sender = packet.get("deth", {}).get("src_qp")
            network = packet.get("ip", packet.get("ipv6", packet.get("grh")))
            key = ((network["src"], sender) if sender is not None else
                   (network["src"], network["dst"], packet["bth"]["dest_qp"], "aeth" in packet or "RESPONSE" in packet["roce"]["opcode"]))
            found[key].append(packet["bth"]["psn"])
        return found

    def test_psns_go_on_over_loops(self):
        for name in ("rc-mix-v4.tx", "rc-mix-v6.tx", "rc-psn-wrap.tx", "uc-mix.tx", "ud-mix.tx", "cm-rping.tx"):
            with self.subTest(name):
                given = CAPTURES / "softroce" / f"{name}.pcap"
                self.write(given, "--loops", 3)
                packets = self.decode(self.out)
                self.assertEqual({packet["icrc"]["status"] for packet in packets if "bth" in packet}, {"good"})
                before, after = self.psns(self.decode(given)), self.psns(packets)
                self.assertEqual(before.keys(), after.keys())
                for flow, psns in before.items():
                    count = len(psns)
                    self.assertEqual(after[flow][:count], psns)
                    step = (after[flow][count] - psns[0]) % 2**24
                    self.assertNotEqual(step, 0)
                    for play in (1, 2):
                        self.assertEqual(after[flow][play * count:(play + 1) * count],
                                         [(psn + play * step) % 2**24 for psn in psns], flow)

    def test_loops_of_a_sound_connection_are_one_sound_connection(self):
        for name in ("rc-mix-v4.tx", "rc-mix-v6.tx", "cm-rping.tx"):
            with self.subTest(name):
                self.write(CAPTURES / "softroce" / f"{name}.pcap", "--loops", 4)
                events = subprocess.run([ANALYZE, "events", self.out], capture_output=True, text=True, timeout=WAIT, check=False)
                self.assertEqual(events.stdout, "")

    def test_psns_stay_if_that_is_wanted(self):
        given = read_pcap(self.capture)
        written = self.write(self.capture, "--loops", 2, "--keep-psn")
        self.assertEqual([record.bytes for record in written], 2 * [record.bytes for record in given])

    def test_what_was_wrong_stays_wrong_in_the_same_bits(self):
        given = CAPTURES / "softroce" / "rc-corrupt.rx.pcap"
        self.write(given, "--loops", 2)
        errors = [packet["icrc"].get("stored", 0) ^ packet["icrc"].get("computed", 0)
                  for packet in self.decode(given) if "icrc" in packet]
        self.assertTrue(any(errors))
        written = [packet["icrc"].get("stored", 0) ^ packet["icrc"].get("computed", 0)
                   for packet in self.decode(self.out) if "icrc" in packet]
        self.assertEqual(written, 2 * errors)

    def test_udp_checksums_follow_the_psn(self):
        given = []
        for ns, frame in read_pcap(self.capture):
            if frame[12:14] == b"\x08\x00" and frame[23] == 17 and frame[36:38] == b"\x12\xb7":
                frame = frame[:40] + bytes(2) + frame[42:]
                frame = frame[:40] + struct.pack(">H", self.udp_sum(frame) ^ 0xFFFF or 0xFFFF) + frame[42:]
            given.append(Record(ns, frame))
        path = self.folder / "summed.pcap"
        write_pcap(path, given)
        sums = [self.udp_sum(record.bytes) for record in self.write(path, "--loops", 3) if record.bytes[36:38] == b"\x12\xb7"]
        self.assertEqual(set(sums), {0xFFFF})

    def udp_sum(self, frame):
        length = struct.unpack_from(">H", frame, 38)[0]
        message = frame[26:34] + struct.pack(">HH", 17, length) + frame[34:34 + length] + bytes(length % 2)
        total = sum(struct.unpack(f">{len(message) // 2}H", message))
        while total >> 16:
            total = (total & 0xFFFF) + (total >> 16)
        return total

    def test_super_frames_are_cut(self):
        self.write(CAPTURES / "made" / "super-frames.pcapng")
        packets = self.decode(self.out)
        self.assertEqual({packet["icrc"]["status"] for packet in packets}, {"good"})
        self.assertLess(max(packet["frame"]["length"] for packet in packets), 5000)

    def test_a_dry_run_says_what_would_be_sent(self):
        given = read_pcap(self.capture)
        said = json.loads(self.send(self.capture, "--dry-run", "--json", "--loops", 2, "--pps", 100).stdout)
        self.assertEqual(said["frames"], len(given))
        self.assertEqual(said["bytes"], sum(len(record.bytes) for record in given))
        self.assertAlmostEqual(said["seconds"], 2 * len(given) / 100)

    def test_options_come_from_a_file_too(self):
        config = self.folder / "replay.ini"
        config.write_text("[send]\npps = 1000\n")
        done = subprocess.run([PROGRAM, "--config", config, "send", self.capture, "--dry-run", "--json"], capture_output=True,
                              text=True, timeout=WAIT, check=True)
        self.assertAlmostEqual(json.loads(done.stdout)["seconds"], len(read_pcap(self.capture)) / 1000)

    def test_a_capture_comes_by_a_pipe(self):
        done = subprocess.run([PROGRAM, "send", "-", "-w", self.out], input=self.capture.read_bytes(), capture_output=True,
                              timeout=WAIT, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([record.bytes for record in read_pcap(self.out)],
                         [record.bytes for record in read_pcap(self.capture)])

    def test_bad_input_is_named_and_nothing_is_written(self):
        given = read_pcap(self.capture)
        made = self.folder / "made.pcap"
        self.assertIn("none.pcap", self.send(self.folder / "none.pcap", "-w", self.out, code=1).stderr)
        write_pcap(made, given, link_type=101)
        self.assertIn("link type 101", self.refused(made, "-w", self.out))
        write_pcap(made, [record for record in given if record.bytes[36:38] != b"\x12\xb7"])
        self.assertIn("no RoCE", self.refused(made, "-w", self.out))
        write_pcap(made, [])
        self.assertIn("no frames", self.refused(made, "-w", self.out))
        write_pcap(made, given, cut=4)
        self.assertIn(f"frame 1 of {made} and {len(given) - 1} more were cut", self.refused(made, "-w", self.out))
        self.assertIn("--pps", self.refused(self.capture, "--topspeed", "--pps", 5, "-w", self.out))
        self.assertIn("no rate", self.refused(self.capture, "--rate", "fast", "-w", self.out))
        self.assertIn("where to?", self.refused(self.capture))
        self.assertIn("--start-at", self.refused(self.capture, "-w", self.out, "--start-at", "noon"))
        self.assertIn("ago", self.refused(self.capture, "-w", self.out, "--start-at", "2001-01-01T00:00:00Z"))
        self.assertIn("\"nobody\"", self.refused(self.capture, "-i", "lo", "-I", "none", "--side-a", "nobody"))
        self.assertFalse(self.out.exists())

    def test_damage_in_the_middle_is_found_before_anything_is_written(self):
        data = self.capture.read_bytes()
        tenth = 24 + sum(16 + len(record.bytes) for record in read_pcap(self.capture)[:9])
        (self.folder / "damaged.pcap").write_bytes(data[:tenth] + b"\xff" * 16 + data[tenth + 16:])
        self.assertIn("damaged.pcap", self.send(self.folder / "damaged.pcap", "-w", self.out, code=1).stderr)
        self.assertFalse(self.out.exists())


IPV4 = b"\x08\x00"


class Listener:
    """Collects what arrives at an interface. tcpdump, because a plain packet socket has room for some hundred frames only where
    one is not root of the host."""

    def __init__(self, namespaces, name, interface):
        # As root it would become another user, of which there may be none here.
        stay = ["-Z", "root"] if os.geteuid() == 0 else []
        self.process = subprocess.Popen(
            namespaces.inside(name, "setpriv", "--pdeathsig", "KILL", "tcpdump", "-i", interface, "-Q", "in", "-B", "65536", "-s", "8000",
                              "--immediate-mode", "-U", *stay, "-w", "-"), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while b"listening on" not in self.process.stderr.readline():
            if self.process.poll() is not None:
                raise AssertionError("tcpdump did not start")
        self.frames = []
        self.arrived = threading.Condition()
        self.thread = threading.Thread(target=self.listen, daemon=True)
        self.thread.start()

    def listen(self):
        self.process.stdout.read(24)
        while header := self.process.stdout.read(16):
            frame = self.process.stdout.read(struct.unpack("=IIII", header)[2])
            with self.arrived:
                self.frames.append(frame)
                self.arrived.notify()

    def wait_for(self, count, ether_type=b""):
        """All that arrived, or all of an EtherType, once it is so many."""
        def arrived():
            return [frame for frame in self.frames if frame[12:14].startswith(ether_type)]
        with self.arrived:
            if not self.arrived.wait_for(lambda: len(arrived()) >= count, WAIT):
                raise AssertionError(f"{len(arrived())} of {count} frames arrived")
            return arrived()

    def close(self):
        self.process.kill()
        self.process.wait(WAIT)
        self.thread.join(WAIT)
        self.process.stdout.close()
        self.process.stderr.close()


class Interfaces(Case):
    """Interfaces v and w in namespace a, which are joined with those of the same names in b. Nobody else sends there."""

    def setUp(self):
        super().setUp()
        self.space = Namespaces("ab")
        self.addCleanup(self.space.close)
        for interface in "vw":
            self.space.join("a", interface, "b", interface)
            for name in "ab":
                self.space.ip(name, "link", "set", interface, "addrgenmode", "none")
                self.space.ip(name, "link", "set", interface, "up", "mtu", "4200")
        for interface in "vw":
            for name in "ab":
                self.space.wait_until_usable(name, interface)

    def listener(self, interface="v"):
        listener = Listener(self.space, "b", interface)
        self.addCleanup(listener.close)
        return listener

    def live(self, *arguments, code=0):
        done = subprocess.run(self.space.inside("a", PROGRAM, "send", *map(str, arguments), "--json"), capture_output=True,
                              text=True, timeout=WAIT, check=False)
        self.assertEqual(done.returncode, code, (arguments, done.stdout, done.stderr))
        lines = done.stdout.splitlines()
        return json.loads(lines[-1]) if lines else done.stderr

    def start(self, *arguments):
        program = Program(PROGRAM, self.space, "a", "send", *map(str, arguments))
        self.addCleanup(program.end)
        return program


class Live(Interfaces):
    def test_what_arrives_is_what_the_file_holds(self):
        given = read_pcap(self.capture)
        listener = self.listener()
        began = time.monotonic()
        said = self.live(self.capture, "-i", "v")
        took = time.monotonic() - began
        self.assertEqual(listener.wait_for(len(given)), [record.bytes for record in given])
        self.assertEqual((said["frames"], said["bytes"]), (len(given), sum(len(record.bytes) for record in given)))
        length = (given[-1].ns - given[0].ns) / 1e9
        self.assertGreaterEqual(said["seconds"], length)
        self.assertGreaterEqual(took, length)
        self.assertLessEqual(said["lateness_us"]["p50"], said["lateness_us"]["p99"])
        self.assertLessEqual(said["lateness_us"]["p99"], said["lateness_us"]["max"])

    def test_loops_arrive_as_they_are_written(self):
        expected = [record.bytes for record in self.write(self.capture, "--loops", 5)]
        for way in ("--preload", "--stream"):
            listener = self.listener()
            self.live(self.capture, "-i", "v", "--loops", 5, "--pps", 5000, way)
            self.assertEqual(listener.wait_for(len(expected)), expected)

    def test_each_side_leaves_by_its_interface(self):
        given = [record.bytes for record in read_pcap(self.capture)]
        here, there = self.listener("v"), self.listener("w")
        side_a = socket.inet_aton("10.77.0.2")
        ours = [frame for frame in given if frame[26:30] == side_a and frame[12:14] == b"\x08\x00"]
        theirs = [frame for frame in given if frame[30:34] == side_a and frame[12:14] == b"\x08\x00"]
        arguments = (self.capture, "-i", "v", "-I", "w", "--side-a", "10.77.0.2", "--pps", 2000)
        said = self.live(*arguments, code=2)
        self.assertIn(f"and {len(given) - len(ours) - len(theirs) - 1} more", said)
        said = self.live(*arguments, "--skip-unfit")
        self.assertEqual(here.wait_for(len(ours)), ours)
        self.assertEqual(there.wait_for(len(theirs)), theirs)
        self.assertEqual([interface["frames"] for interface in said["interfaces"]], [len(ours), len(theirs)])
        self.assertEqual(said["skipped"], {"no_side": len(given) - len(ours) - len(theirs)})

    def test_sides_are_those_of_connections(self):
        capture = CAPTURES / "softroce" / "cm-rping.tx.pcap"
        given = [record.bytes for record in read_pcap(capture)]
        client = socket.inet_aton("10.77.0.3")
        ours = [frame for frame in given if frame[26:30] == client]
        theirs = [frame for frame in given if frame[26:30] != client]
        for members in (["clients"], ["qp=0x36@10.77.0.3"]):
            with self.subTest(members):
                here, there = self.listener("v"), self.listener("w")
                said = self.live(capture, "-i", "v", "-I", "w", *(word for one in members for word in ("--side-a", one)), "--pps", 2000)
                self.assertEqual(here.wait_for(len(ours)), ours)
                self.assertEqual(there.wait_for(len(theirs)), theirs)
                self.assertEqual(said["skipped"], {})
        self.assertIn("no CM REQ", self.live(self.capture, "-i", "v", "-I", "w", "--side-a", "clients", code=2))
        self.assertIn("qp=0x123:", self.live(self.capture, "-i", "v", "-I", "w", "--side-a", "qp=0x123", code=2))

    def give_addresses(self, ours, theirs):
        """To interface v of namespaces a and b. The neighbour is known, so that nothing waits for ARP."""
        for name, address in [("a", ours), ("b", theirs)]:
            self.space.ip(name, "address", "add", f"{address}/24", "dev", "v")
        (shown,) = json.loads(self.space.ip("b", "-j", "link", "show", "v"))
        self.space.ip("a", "neigh", "add", theirs, "lladdr", shown["address"], "dev", "v")

    def test_udp_carries_what_has_an_own_address(self):
        self.give_addresses("10.9.0.1", "10.9.0.2")
        rules = ("--ip-map", "10.77.0.2=10.9.0.1", "--ip-map", "10.77.0.3=10.9.0.2", "--unmapped", "keep", "--only-roce", "--dscp", 26)
        rewritten = self.folder / "rewritten.pcap"
        subprocess.run([PROGRAM, "rewrite", *map(str, rules), self.capture, rewritten], check=True, capture_output=True, timeout=WAIT)
        ours = [record.bytes for record in read_pcap(rewritten) if record.bytes[26:30] == socket.inet_aton("10.9.0.1")]
        arguments = (self.capture, "-i", "v", "--link", "udp", *rules, "--pps", 2000)
        self.assertIn("from an address that the interface does not have", self.live(*arguments, code=2))
        self.assertIn("no RoCE v2 packet", self.live(*arguments, "--to-version", "v1", code=2))
        listener = self.listener()
        said = self.live(*arguments, "--skip-unfit")
        self.assertEqual((said["frames"], said["skipped"]), (len(ours), {"not_own": len(read_pcap(rewritten)) - len(ours)}))
        came = listener.wait_for(len(ours), IPV4)  # kernels ask for addresses now and then
        # Addresses, traffic class, source port, and from the BTH to the ICRC.
        self.assertEqual([(frame[15], frame[26:36], frame[42:-4]) for frame in came],
                         [(frame[15], frame[26:36], frame[42:-4]) for frame in ours])
        write_pcap(self.out, [(0, frame) for frame in came])
        self.assertEqual({packet["icrc"]["status"] for packet in self.decode(self.out)}, {"good"})

    def test_udp_keeps_a_wrong_icrc_wrong(self):
        self.give_addresses("10.77.0.3", "10.77.0.2")
        capture = CAPTURES / "softroce" / "rc-corrupt.rx.pcap"
        listener = self.listener()
        said = self.live(capture, "-i", "v", "--link", "udp", "--pps", 2000, "--skip-unfit")
        came = listener.wait_for(said["frames"], IPV4)
        write_pcap(self.out, [(0, frame) for frame in came])
        given = self.folder / "given.pcap"
        write_pcap(given, [record for record in read_pcap(capture) if record.bytes[26:30] == socket.inet_aton("10.77.0.3")])
        verdicts = [[packet["icrc"]["status"] for packet in self.decode(path)] for path in (self.out, given)]
        self.assertEqual(*verdicts)
        self.assertIn("bad", verdicts[0])

    def test_udp_needs_an_address(self):
        self.assertIn("v, which has none: ip address add", self.live(self.capture, "-i", "v", "--link", "udp", code=2))

    def test_frames_that_do_not_fit_are_named_and_none_is_sent(self):
        given = read_pcap(self.capture)
        for name in "ab":
            self.space.ip(name, "link", "set", "v", "mtu", "500")
        fit = [record.bytes for record in given if len(record.bytes) <= 514]
        first = next(number for number, record in enumerate(given, 1) if len(record.bytes) > 514)
        listener = self.listener()
        said = self.live(self.capture, "-i", "v", "--topspeed", code=2)
        self.assertIn(f"frame {first} of {self.capture} and {len(given) - len(fit) - 1} more are longer", said)
        said = self.live(self.capture, "-i", "v", "--pps", 2000, "--skip-unfit")
        self.assertEqual(listener.wait_for(len(fit)), fit)
        self.assertEqual(said["skipped"], {"too_long": len(given) - len(fit)})

    def test_ctrl_c_reports_what_was_sent(self):
        listener = self.listener()
        program = self.start(self.capture, "-i", "v", "--loops", 0, "--pps", 500)
        listener.wait_for(20)
        code, said = program.result(signal.SIGINT)
        self.assertEqual((code, said["stopped"]), (0, True))
        self.assertEqual(len(listener.wait_for(said["frames"])), said["frames"])

    def test_ctrl_c_before_the_end_is_a_failure(self):
        listener = self.listener()
        program = self.start(self.capture, "-i", "v", "--loops", 1000, "--pps", 500)
        listener.wait_for(20)
        program.process.send_signal(signal.SIGTERM)
        self.assertEqual(program.process.wait(WAIT), 1)
        self.assertIn(f"of {1000 * len(read_pcap(self.capture))} frames", program.process.stderr.read())

    def test_a_link_that_goes_down_ends_it_with_what_was_sent(self):
        listener = self.listener()
        program = self.start(self.capture, "-i", "v", "--loops", 0, "--pps", 500)
        listener.wait_for(20)
        self.space.ip("a", "link", "set", "v", "down")
        code = program.process.wait(WAIT)
        said = json.loads(program.process.stdout.read().splitlines()[-1])
        self.assertEqual(code, 1)
        self.assertIn("v went down", program.process.stderr.read())
        # The frame that the kernel holds at that moment may go down with the link.
        self.assertLessEqual(said["frames"] - len(listener.wait_for(said["frames"] - 1)), 1)

    def test_an_interface_that_is_not_there_or_down_is_named(self):
        self.assertIn("nowhere", self.live(self.capture, "-i", "nowhere", code=2))
        self.space.ip("a", "link", "set", "w", "down")
        self.assertIn("w is down", self.live(self.capture, "-i", "w", code=2))

    def test_it_starts_when_it_is_told(self):
        listener = self.listener()
        at = time.time() + 5
        program = self.start(self.capture, "-i", "v", "--topspeed", "--start-at", f"{at:.6f}")
        listener.wait_for(1)
        self.assertGreaterEqual(time.time(), at)
        self.assertEqual(program.result()[0], 0)


if __name__ == "__main__":
    PROGRAM, ANALYZE = map(os.path.abspath, sys.argv[1:3])
    CAPTURES = pathlib.Path(sys.argv[3]).resolve()
    enter_namespaces("--map-user=1000", "--map-group=1000", "--keep-caps")
    del sys.argv[1:4]
    unittest.main()
