#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""roce-replay converse --dry-run on captures whose packets ask for more than there is.

usage: converse_limits_test.py ROCE-REPLAY CAPTURES
"""

import json
import os
import resource
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

REPLAY, CAPTURES = sys.argv[1:3] if len(sys.argv) > 2 else ("", "")
WRITE_FIRST, WRITE_ONLY, ACKNOWLEDGE = 6, 10, 17
MIB = 1 << 20
SHARE = 20  # the longest that a whole run may take, in seconds


def reth(address, length, key=7):
    return struct.pack(">QII", address, key, length)


def frame(opcode, qp, psn, body, back=False):
    """RoCE v2 over IPv4 with the right ICRC."""
    hosts = (bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2]))
    source, destination = reversed(hosts) if back else hosts
    bth = struct.pack(">BBHII", opcode, 0, 0xFFFF, qp + back, 1 << 31 | psn)
    length = 8 + len(bth) + len(body) + 4
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + length, 0, 0x4000, 64, 17, 0) + source + destination
    udp = struct.pack(">HHHH", 0xC000, 4791, length, 0)
    masked = (b"\xff" * 8 + ip[:1] + b"\xff" + ip[2:8] + b"\xff" + ip[9:10] + b"\xff\xff" + ip[12:] + udp[:6] + b"\xff\xff" + bth[:4] + b"\xff" +
              bth[5:] + body)
    return bytes(12) + b"\x08\x00" + ip + udp + bth + body + struct.pack("<I", zlib.crc32(masked))


def ack(qp, psn, syndrome=0x1F):
    return frame(ACKNOWLEDGE, qp, psn, struct.pack(">I", syndrome << 24 | 1), back=True)


def far_apart(connections, distance):
    """Connections with two WRITEs of 16 bytes each, which lie so far apart."""
    frames = []
    for i in range(connections):
        for psn, address in ((5, 0), (6, distance)):
            frames += [frame(WRITE_ONLY, 0x20 + 2 * i, psn, reth(address, 16) + bytes(range(16))), ack(0x20 + 2 * i, psn)]
    return frames


class Limits(unittest.TestCase):
    def setUp(self):
        self.path = os.path.join(self.enterContext(tempfile.TemporaryDirectory()), "damaged.pcap")

    def dry_run(self, frames, *words):
        """Exit code, events, standard error and bytes of output."""
        with open(self.path, "wb") as file:
            file.write(struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
            for number, packet in enumerate(frames):
                file.write(struct.pack("<IIII", 1, number, len(packet), len(packet)) + packet)
        run = subprocess.run([REPLAY, "converse", "--json", "--dry-run", *words, self.path], capture_output=True, text=True, timeout=SHARE,
                             check=False)
        return run.returncode, [json.loads(line) for line in run.stdout.splitlines()], run.stderr, len(run.stdout)

    def test_a_write_with_more_than_its_reth_says(self):
        bad = [frame(WRITE_ONLY, 0x20, 5, reth(0x1000, 8) + bytes(1000)), ack(0x20, 5)]
        code, said, errors, _ = self.dry_run(bad + far_apart(1, 64)[2:4], "--details")
        self.assertEqual(code, 2, errors)
        self.assertIn("has 1000 bytes of payload, its RETH says 8", said[0]["why"][0])

    def test_memory_of_all_connections_together(self):
        code, said, errors, size = self.dry_run(far_apart(50, 300 * MIB), "--details")
        self.assertEqual(code, 1, errors)
        named = [line for line in said if line["event"] == "not_reproducible"]
        self.assertEqual(len(named), 49)
        for line in named:
            self.assertIn("raise --memory", line["why"][0])
        # The details of the one are too long for the output.
        left_out = [line for line in said if line["event"] == "left_out"]
        self.assertEqual([line["stream"] for line in left_out], [0])
        self.assertIn("raise --output", left_out[0]["why"])
        self.assertLess(size, MIB)
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, 1 << 20, "KiB")

    def test_more_memory_is_an_option(self):
        code, said, errors, _ = self.dry_run(far_apart(50, 300 * MIB), "--memory", "50000")
        self.assertEqual((code, errors), (0, ""))
        self.assertEqual([line["event"] for line in said], ["reproducible"] * 50)

    def test_output_of_all_connections_together(self):
        frames = far_apart(50, 100000)
        code, said, errors, size = self.dry_run(frames, "--details", "--output", "1")
        self.assertEqual(code, 1)
        self.assertLess(size, MIB * 1.1)
        printed = {line["stream"] for line in said if line["event"] == "captured_memory"}
        left_out = {line["stream"] for line in said if line["event"] == "left_out"}
        self.assertEqual((len(printed), printed | left_out, printed & left_out), (2, set(range(50)), set()))
        self.assertIn("raise --output", errors)
        code, said, errors, _ = self.dry_run(frames, "--details")
        self.assertEqual((code, errors), (0, ""))
        self.assertEqual(len([line for line in said if line["event"] == "captured_memory"]), 50)

    def test_refused_writes_of_gigabytes(self):
        frames = []
        for i in range(30):
            frames += [frame(WRITE_FIRST, 0x20 + 2 * i, 5, reth(0x1000, 0x7FFFFFFF) + bytes(1024)), ack(0x20 + 2 * i, 5, 0x62)]
        code, said, errors, _ = self.dry_run(frames, "--details")
        self.assertEqual(code, 2, errors)
        self.assertEqual(len(said), 30)
        for line in said:
            self.assertIn("buffers of 2049 MiB", line["why"][0])

    def test_captured_connections_need_no_option(self):
        folder = os.path.join(CAPTURES, "softroce")
        done = 0
        for name in sorted(os.listdir(folder)):
            if not name.startswith("rc-") or not name.endswith(".tx.pcap"):
                continue
            run = subprocess.run([REPLAY, "converse", "--json", "--dry-run", "--details", os.path.join(folder, name)], capture_output=True,
                                 text=True, timeout=SHARE, check=False)
            self.assertNotIn("--memory", run.stdout, name)
            self.assertNotIn("left_out", run.stdout, name)
            done += run.returncode == 0
        self.assertGreater(done, 10)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
