# SPDX-License-Identifier: BSD-2-Clause
"""Frames that are cut, damaged or made to mislead: tshark comes to its end, finds no bug in the plugin, and forgets a capture
that is closed.

    hostile_test.py PLUGIN ROCE_ANALYZE [unittest arguments]"""

import json
import random
import struct
import subprocess

import wireshark

FRAMES = 20_000
MODES = ("own", "wrap")
# With the protocol's name: Wireshark 4.4 has a line of expert information for each bug, too, which does not say whose it is.
BUGS = (b"issector bug, protocol", b"WARNING", b"CRITICAL", b"terminate called")


def pcap(frames):
    """A capture of (captured bytes, length on the wire), a microsecond apart."""
    header = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1)
    return header + b"".join(struct.pack("<IIII", i // 10**6, i % 10**6, len(data), length) + data
                             for i, (data, length) in enumerate(frames))


def real_frames():
    """Frames of all captures of Soft-RoCE, and of those made for the codec."""
    frames = []
    for path in wireshark.CAPTURES:
        if path.suffix != ".pcap":
            continue
        data = path.read_bytes()
        offset = 24
        while offset < len(data):
            length = struct.unpack_from("<I", data, offset + 8)[0]
            frames.append(data[offset + 16:offset + 16 + length])
            offset += 16 + length
    return frames


def damaged(seed, count):
    """Real frames with bits flipped, bytes set, ends cut off, lengths that lie."""
    chance = random.Random(seed)
    originals = real_frames()
    for _ in range(count):
        frame = bytearray(chance.choice(originals)[:400])
        for _ in range(chance.randrange(4)):
            # Mostly behind the addresses, where our headers are.
            place = min(len(frame) - 1, chance.randrange(12, 120))
            frame[place] = chance.choice([0, 0xFF, chance.randrange(256), frame[place] ^ 1 << chance.randrange(8)])
        cut = chance.randrange(len(frame)) if chance.random() < 0.4 else len(frame)
        yield bytes(frame[:cut]), max(cut, len(frame) + chance.choice([0, 0, 4, 1000]))


class Hostile(wireshark.PluginTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.seed = 20261121
        cls.hostile = cls.wireshark.write("hostile.pcap", pcap(damaged(cls.seed, FRAMES)))

    def test_tshark_comes_to_its_end_and_finds_no_bug(self):
        for mode in MODES:
            for options in (["-2", "-V"], ["-q", "-z", "expert"], ["-T", "fields", "-e", "roce.bth.psn", "-e", "roce.icrc.explanation"]):
                done = self.wireshark.process("tshark", "-r", self.hostile, *options, preferences={"roce.mode": mode})
                self.assertEqual(0, done.returncode, f"seed {self.seed}: {done.stderr[-2000:]}")
                lines = [line for line in (done.stdout + done.stderr).splitlines() if any(word in line for word in BUGS)]
                ours = [line for line in lines if wireshark.KNOWN_BUG.encode() not in line]
                self.assertFalse(ours[:5], f"seed {self.seed}, {mode}, {options}")

    def test_a_cut_packet_is_never_said_to_have_a_bad_icrc(self):
        frames = [(frame[:length], len(frame)) for frame in real_frames()[:400] for length in (60, len(frame) - 1)]
        path = self.wireshark.write("cut.pcap", pcap(frames))
        rows = self.wireshark.rows(["roce.icrc.status"], "-r", path, "-Y", "roce.bth && frame.cap_len < frame.len")
        self.assertGreater(len(rows), 100)
        self.assertEqual({"2"}, {status for row in rows for status in row[0]})

    def resident(self, loads, with_plugin):
        """MiB that sharkd has after so many loads of the hostile capture."""
        environment = dict(self.wireshark.environment)
        if not with_plugin:
            environment["WIRESHARK_PLUGIN_DIR"] = environment["HOME"]
        with subprocess.Popen([*self.wireshark.drop, "sharkd", "-"], env=environment, cwd="/", stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as sharkd:
            for number in range(loads):
                load = {"jsonrpc": "2.0", "id": number + 1, "method": "load", "params": {"file": str(self.hostile)}}
                sharkd.stdin.write(json.dumps(load).encode() + b"\n")
                sharkd.stdin.flush()
                self.assertIn(b"result", sharkd.stdout.readline())
            with open(f"/proc/{sharkd.pid}/status", encoding="ascii") as status:
                kibibytes = next(int(row.split()[1]) for row in status if row.startswith("VmRSS"))
            sharkd.stdin.close()
        return kibibytes / 1024

    def test_a_closed_capture_is_forgotten(self):
        # What Wireshark 4.4 takes once, it has taken after ten loads.
        few, many = 10, 25
        grown = self.resident(many, True) - self.resident(few, True)
        # Wireshark 4.0 itself keeps 13 MiB of each capture.
        of_wireshark = self.resident(many, False) - self.resident(few, False)
        # Without forgetting it would be 45 MiB more: the analysis of these frames takes three.
        self.assertLess(grown - of_wireshark, 20, f"{grown:.0f} MiB in 15 loads, {of_wireshark:.0f} without the plugin")


if __name__ == "__main__":
    wireshark.main()
