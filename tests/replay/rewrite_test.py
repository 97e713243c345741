# SPDX-License-Identifier: BSD-2-Clause
"""What `roce-replay rewrite` and `info` do with capture files, with roce-analyze and tshark as judges.

usage: rewrite_test.py ROCE_REPLAY ROCE_ANALYZE CAPTURES_FOLDER
"""

import json
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

REPLAY = ""
ANALYZE = ""
CAPTURES = pathlib.Path()


def run(*arguments, stdin=None):
    return subprocess.run([str(argument) for argument in arguments], capture_output=True, text=True, check=False, stdin=stdin)


def packets(path):
    """What roce-analyze decode says of each RoCE packet."""
    done = run(ANALYZE, "decode", "--json", path)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def read_frames(path):
    """The frames of a pcap file."""
    content, offset, frames = path.read_bytes(), 24, []
    while offset < len(content):
        captured = struct.unpack_from("<I", content, offset + 8)[0]
        frames.append(content[offset + 16:offset + 16 + captured])
        offset += 16 + captured
    return frames


def pcap(frames, link_type=1):
    """The bytes of a capture file with these frames."""
    header = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, link_type)
    return header + b"".join(struct.pack("<IIII", i, 0, len(frame), len(frame)) + frame for i, frame in enumerate(frames))


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.out = self.folder / "out.pcap"

    def rewrite(self, *arguments):
        """A rewriting that succeeds; the report of it."""
        done = run(REPLAY, "rewrite", "--json", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def refused(self, *arguments, code=1):
        """What a rewriting that fails says; it leaves nothing behind."""
        done = run(REPLAY, "rewrite", *arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual([path.name for path in self.folder.iterdir() if path.name.startswith("out")], [])
        return done.stderr

    def file(self, name, content):
        path = self.folder / name
        path.write_bytes(content)
        return path


class BadInput(Files):
    capture = property(lambda self: CAPTURES / "softroce" / "rc-mix-v4.tx.pcap")

    def test_a_missing_file_is_named(self):
        self.assertIn("none.pcap", self.refused(self.folder / "none.pcap", self.out))

    def test_an_address_in_no_map_is_named_with_its_frame(self):
        error = self.refused("--ip-map", "10.77.0.2=192.0.2.1", self.capture, self.out)
        self.assertIn("frame 15: 10.77.0.3", error)

    def test_a_file_of_another_link_type(self):
        error = self.refused(self.file("wifi.pcap", pcap([bytes(60)], link_type=127)), self.out)
        self.assertIn("link type is 127", error)
        self.assertIn("expected Ethernet", error)

    def test_a_file_without_roce(self):
        error = self.refused(self.file("arp.pcap", pcap([bytes(12) + b"\x08\x06" + bytes(46)])), self.out)
        self.assertIn("there is no RoCE packet in its 1 frame", error)

    def test_a_file_that_is_cut_in_the_middle_of_its_format(self):
        self.refused(self.file("bad.pcap", b"nonsense" * 8), self.out)

    def test_wrong_options(self):
        for options, words in [
                (["--set", "bth.colour=1"], "there is no field 'bth.colour'; BTH has: bth.opcode"),
                (["--set", "bath.psn=1"], "there is no header 'bath'"),
                (["--set", "bth.psn=0x1000000"], "bth.psn"),
                (["--ip-map", "10.0.0.1"], "--ip-map 10.0.0.1: expected OLD=NEW"),
                (["--ip-map", "10.0.0.0/24=fd00::/64"], "expected as many bits behind both prefixes, found 8 and 64"),
                (["--ip-map", "10.0.0.0/33=10.0.0.0/8"], "expected a prefix length of 0 … 32"),
                (["--qpn-map", "1=5"], "management QP"),
                (["--udp-source-port", "many"], "expected keep, flow-label, random or 0 … 65535"),
                (["-e", "drip:psn=5"], "drip"),
                (["--key", "secret"], "--anonymise"),
        ]:
            with self.subTest(options=options):
                self.assertIn(words, self.refused(*options, self.capture, self.out, code=2))

    def test_the_input_is_not_overwritten(self):
        copy = self.file("in.pcap", self.capture.read_bytes())
        done = run(REPLAY, "rewrite", copy, copy)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(copy.read_bytes(), self.capture.read_bytes())

    def test_an_old_output_stays_where_rewriting_fails(self):
        old = self.file("old.pcap", b"old")
        self.assertEqual(run(REPLAY, "rewrite", "--ip-map", "10.77.0.2=192.0.2.1", self.capture, old).returncode, 1)
        self.assertEqual(old.read_bytes(), b"old")


class Rewrite(Files):
    def test_good_icrcs_stay_good_and_bad_ones_bad(self):
        options = ["--ip-map", "10.77.0.0/24=198.18.0.0/24", "--ip-map", "fd77::/64=fd99::/64", "--unmapped", "keep", "--psn-offset",
                   "77", "--vlan-add", "5:3", "--dscp", "26", "--keep-bad-icrc", "--keep-bad-checksums"]
        for name in ["cm-rping.tx.pcap", "cm-rping-v6.tx.pcap", "rc-errors.tx.pcap", "ud-mix.tx.pcap", "rc-corrupt.rx.pcap"]:
            capture = CAPTURES / "softroce" / name
            with self.subTest(capture=name):
                report = self.rewrite(*options, capture, self.out)
                self.assertEqual(report["frames"], report["written"])
                verdicts = [packet["icrc"] for packet in packets(capture)]
                self.assertEqual([packet["icrc"]["status"] for packet in packets(self.out)],
                                 [verdict["status"] for verdict in verdicts])

    def test_wrong_icrcs_are_repaired(self):
        report = self.rewrite(CAPTURES / "softroce" / "rc-corrupt.rx.pcap", self.out)
        self.assertGreater(report["bad_icrc"], 0)
        self.assertEqual({packet["icrc"]["status"] for packet in packets(self.out)}, {"good"})

    def test_times_and_comments_stay(self):
        capture = CAPTURES / "made" / "opcodes-v1.pcapng"
        out = self.folder / "out.pcapng"
        self.rewrite("--to-version", "v2", capture, out)
        if not shutil.which("tshark"):
            self.skipTest("tshark is not installed")
        fields = ["-T", "fields", "-e", "frame.time_epoch", "-e", "frame.comment"]
        self.assertEqual(run("tshark", "-r", out, *fields).stdout, run("tshark", "-r", capture, *fields).stdout)

    def test_compressed_output_and_standard_input(self):
        capture = CAPTURES / "softroce" / "cm-rping.tx.pcap"
        out = self.folder / "out.pcap.zst"
        with open(capture, "rb") as stdin:
            done = run(REPLAY, "rewrite", "-", out, stdin=stdin)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(out.read_bytes()[:4], b"\x28\xb5\x2f\xfd")
        self.assertEqual([packet["icrc"] for packet in packets(out)], [packet["icrc"] for packet in packets(capture)])

    def test_a_dry_run_writes_nothing(self):
        report = self.rewrite("--dry-run", "--ip-map", "10.77.0.0/24=192.0.2.0/24", CAPTURES / "softroce" / "cm-rping.tx.pcap")
        self.assertEqual((report["out"], report["written"], report["changed"]), (None, 65, 65))
        self.assertGreaterEqual(report["changes"]["address"], 130)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_options_of_a_file(self):
        config = self.file("options.ini", b"[rewrite]\nip-map = 10.77.0.0/24=192.0.2.0/24\njson = true\n")
        done = run(REPLAY, "--config", config, "rewrite", CAPTURES / "softroce" / "cm-rping.tx.pcap", self.out)
        self.assertEqual(json.loads(done.stdout)["changed"], 65, done.stderr)

    def test_faults(self):
        capture = CAPTURES / "softroce" / "rc-mix-v4.tx.pcap"
        report = self.rewrite("-e", "drop:nth=3", "-e", "duplicate:nth=5", capture, self.out)
        self.assertEqual(report["faults"], {"dropped": 1, "duplicates": 1})
        before = packets(capture)
        expected = before[:2] + before[3:5] + [before[4]] + before[5:]
        self.assertEqual([packet["icrc"] for packet in packets(self.out)], [packet["icrc"] for packet in expected])

    def test_delayed_packets_come_at_their_time(self):
        self.rewrite("-e", "delay:nth=1,by=1s", CAPTURES / "softroce" / "cm-rping.tx.pcap", self.out)
        content = self.out.read_bytes()
        times, offset = [], 24
        while offset < len(content):
            seconds, fraction, captured = struct.unpack_from("<III", content, offset)
            times.append(seconds * 10**9 + fraction)
            offset += 16 + captured
        self.assertEqual(times, sorted(times))
        self.assertGreater(times[-1] - times[0], 9 * 10**8)

    def test_anonymised_files_have_no_address_of_the_original(self):
        capture = CAPTURES / "nvme" / "nvme-rdma.pcap"
        report = self.rewrite("--anonymise", "--key", "secret", capture, self.out)
        content = self.out.read_bytes()
        original = capture.read_bytes()
        for secret in [bytes([10, 77, 0, 2]), bytes([10, 77, 0, 3]), bytes.fromhex("525400770061"), b"nqn.", b"line"]:
            self.assertNotIn(secret, content)
        self.assertIn(bytes([10, 77, 0, 2]), original)
        self.assertIn(b"nqn.", original)
        self.assertEqual({packet["icrc"]["status"] for packet in packets(self.out)}, {"good"})
        again = self.folder / "again.pcap"
        self.rewrite("--anonymise", "--key", "secret", capture, again)
        self.assertEqual(again.read_bytes(), content)
        self.assertGreater(report["changes"]["data"], 0)


class PathMtu(Files):
    def messages(self, path):
        """Direction, type, length and end of each message, as roce-analyze sees them."""
        done = run(ANALYZE, "messages", "--json", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        return sorted((row["ends"], row["message"], row["type"], row["bytes"], row["end"]) for row in rows if "message" in row)

    def test_messages_stay_what_they_are(self):
        capture = CAPTURES / "softroce" / "rc-mtu-sweep.tx.pcap"
        for mtu in [256, 512, 1024, 2048, 4096]:
            with self.subTest(mtu=mtu):
                report = self.rewrite("--path-mtu", mtu, capture, self.out)
                self.assertEqual(report["path_mtu"]["left"], [])
                self.assertEqual(self.messages(self.out), self.messages(capture))
                decoded = packets(self.out)
                self.assertEqual({packet["icrc"]["status"] for packet in decoded if "bth" in packet}, {"good"})
                self.assertEqual(report["written"], len(read_frames(self.out)))
                if shutil.which("tshark"):
                    self.assertEqual(run("tshark", "-r", self.out, "-Y", "_ws.malformed").stdout, "")

    def test_there_and_back_is_the_same_file(self):
        capture = CAPTURES / "nvme" / "nvme-rdma.pcap"
        there, unchanged = self.folder / "there.pcap", self.folder / "unchanged.pcap"
        report = self.rewrite("--path-mtu", 256, capture, there)
        self.assertEqual(report["path_mtu"]["connections"], 2)
        self.rewrite("--path-mtu", 1024, there, self.out)
        self.rewrite(capture, unchanged)
        self.assertNotEqual(there.read_bytes(), unchanged.read_bytes())
        self.assertEqual(self.out.read_bytes(), unchanged.read_bytes())

    def test_other_rules_act_on_what_was_cut(self):
        report = self.rewrite("--path-mtu", 256, "--psn-offset", 7, "-e", "drop:nth=5", CAPTURES / "softroce" / "rc-mix-v4.tx.pcap", self.out)
        self.assertEqual(report["faults"]["dropped"], 1)
        self.assertEqual({packet["icrc"]["status"] for packet in packets(self.out) if "bth" in packet}, {"good"})

    def test_a_connection_that_cannot_be_cut_is_named(self):
        capture = CAPTURES / "softroce" / "uc-drop.rx.pcap"
        done = run(REPLAY, "rewrite", "--path-mtu", 256, capture, self.out)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("10.77.0.3 -> 10.77.0.2 QP 0x33 stays as it is: packets are missing", done.stderr)
        self.assertEqual(read_frames(self.out), read_frames(capture))

    def test_what_cannot_be_asked_for(self):
        capture = CAPTURES / "softroce" / "rc-mix-v4.tx.pcap"
        self.assertIn("--path-mtu", self.refused("--path-mtu", "1000", capture, self.out, code=2))
        with open(capture, "rb") as stdin:
            done = run(REPLAY, "rewrite", "--path-mtu", 256, "-", self.out, stdin=stdin)
        self.assertEqual(done.returncode, 2)
        self.assertIn("reads the capture twice", done.stderr)
        self.assertFalse(self.out.exists())


class Tshark(Files):
    def setUp(self):
        super().setUp()
        if not shutil.which("tshark"):
            self.skipTest("tshark is not installed")

    def shark(self, path, *fields):
        arguments = [word for field in fields for word in ("-e", field)]
        done = run("tshark", "-r", path, "-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE", "-o",
                   "tcp.check_checksum:TRUE", "-T", "fields", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [line.split("\t") for line in done.stdout.splitlines()]

    def test_addresses_and_checksums(self):
        for name, prefix, old, new in [("rc-mix-v4.tx.pcap", 24, "10.77.0.", "198.18.7."), ("cm-rping-v6.tx.pcap", 64, "fd77::", "fd99::")]:
            with self.subTest(name=name):
                capture = CAPTURES / "softroce" / name
                zero = "0" if prefix == 24 else ""
                self.rewrite("--ip-map", f"{old}{zero}/{prefix}={new}{zero}/{prefix}", "--unmapped", "keep", capture, self.out)
                checks = ["ip.checksum.status", "udp.checksum.status", "tcp.checksum.status", "icmpv6.checksum.status"]
                self.assertEqual(self.shark(self.out, *checks), self.shark(capture, *checks))
                before = self.shark(capture, "ip.src", "ip.dst", "ipv6.src", "ipv6.dst")
                expected = [[value.replace(old, new) for value in row] for row in before]
                self.assertEqual(self.shark(self.out, "ip.src", "ip.dst", "ipv6.src", "ipv6.dst"), expected)

    def test_udp_checksums_of_roce(self):
        # Linux's UDP segmentation leaves them in; this capture is given them by way of --set and repaired.
        self.rewrite("--set", "udp.checksum=0x1234", CAPTURES / "softroce" / "cm-rping.tx.pcap", self.out)
        again = self.folder / "again.pcap"
        self.rewrite("--ip-map", "10.77.0.0/24=192.0.2.0/24", self.out, again)
        self.assertEqual({row[0] for row in self.shark(again, "udp.checksum.status")}, {"1"})

    def test_versions_and_numbers(self):
        capture = CAPTURES / "softroce" / "cm-rping.tx.pcap"
        self.rewrite("--to-version", "v1", "--psn-offset", "10", "--qpn-map", "0x36=0x1234", capture, self.out)
        rows = self.shark(self.out, "eth.type", "infiniband.bth.destqp", "infiniband.bth.psn", "infiniband.grh.nxthdr")
        self.assertEqual({row[0] for row in rows}, {"0x8915"})
        self.assertEqual({int(row[1], 0) for row in rows}, {1, 0x1234})
        before = self.shark(capture, "infiniband.bth.psn")
        self.assertEqual([int(row[2]) for row in rows], [(int(row[0]) + 10) % 2**24 for row in before])

    def test_cm_messages(self):
        capture = CAPTURES / "softroce" / "cm-rping.tx.pcap"
        self.rewrite("--ip-map", "10.77.0.0/24=192.0.2.0/24", "--qpn-map", "0x36@10.77.0.3=0x1234", "--psn-offset", "10", capture, self.out)
        fields = ["infiniband.cm.req.localqpn", "infiniband.cm.req.startpsn", "infiniband.cm.rep.localqpn"]
        before = next(row for row in self.shark(capture, *fields) if row[0])
        after = next(row for row in self.shark(self.out, *fields) if row[0])
        self.assertEqual(int(before[0], 0), 0x36)
        self.assertEqual(int(after[0], 0), 0x1234)
        self.assertEqual(int(after[1], 0), int(before[1], 0) + 10)
        reply = next(row for row in self.shark(self.out, *fields) if row[2])
        self.assertEqual(int(reply[2], 0), 0x36)


class Info(Files):
    def info(self, path):
        done = run(REPLAY, "info", "--json", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_what_is_in_a_file(self):
        info = self.info(CAPTURES / "softroce" / "cm-rping.tx.pcap")
        self.assertEqual((info["frames"], info["roce_packets"], info["versions"]), (65, 65, {"RoCEv2/IPv4": 65}))
        self.assertEqual([host["address"] for host in info["hosts"]], ["10.77.0.2", "10.77.0.3"])
        (connection,) = info["connections"]
        self.assertEqual(connection["not_reproducible"], [])
        self.assertEqual([end["qpn"] for end in connection["ends"]], [0x36, 0x36])
        self.assertEqual(connection["ends"][1]["messages"]["read"], 5)

    def test_a_start_that_is_missing(self):
        frames = read_frames(CAPTURES / "softroce" / "rc-mtu-sweep.tx.pcap")
        write_middle = 0x07
        start = next(i for i, frame in enumerate(frames) if len(frame) > 42 and frame[42] == write_middle)
        late = self.file("late.pcap", pcap(frames[start:]))
        obstacles = {name for connection in self.info(late)["connections"] for name in connection["not_reproducible"]}
        self.assertIn("began_before", obstacles)

    def test_payload_that_was_cut(self):
        frames = read_frames(CAPTURES / "softroce" / "rc-mix-v4.tx.pcap")
        header = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1)
        content = header + b"".join(
            struct.pack("<IIII", i, 0, min(len(frame), 96), len(frame)) + frame[:96] for i, frame in enumerate(frames))
        info = self.info(self.file("cut.pcap", content))
        self.assertGreater(info["cut_frames"], 0)
        self.assertIn("payload_cut", {name for connection in info["connections"] for name in connection["not_reproducible"]})

    def test_bad_input(self):
        for content, words in [(pcap([bytes(60)], link_type=127), "link type is 127"),
                               (pcap([bytes(60)]), "there is no RoCE packet in its 1 frame")]:
            done = run(REPLAY, "info", self.file("bad.pcap", content))
            self.assertEqual(done.returncode, 1)
            self.assertIn(words, done.stderr)

    def test_it_is_written_for_people_too(self):
        done = run(REPLAY, "info", CAPTURES / "softroce" / "rc-mix-v4.tx.pcap")
        self.assertEqual(done.returncode, 0, done.stderr)
        for words in ["sides", "connections", "--ip-map 10.77.0.2=NEW"]:
            self.assertIn(words, done.stdout)


if __name__ == "__main__":
    REPLAY, ANALYZE = sys.argv[1:3]
    CAPTURES = pathlib.Path(sys.argv[3])
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
