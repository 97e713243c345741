# SPDX-License-Identifier: BSD-2-Clause
"""`roce-analyze nvme` beside what the host's kernel traced, tshark's own dissector, and captures in which things go wrong.

usage: nvme_test.py ROCE_ANALYZE CAPTURES [UNITTEST ARGUMENT...]
"""

import datetime
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

HOST, TARGET = "10.77.0.3", "10.77.0.2"
# The names of the kernel's tracepoints, by the specification's.
TRACED = {"nvme_fabrics_type_connect": "Connect", "nvme_fabrics_type_property_get": "Property Get",
          "nvme_fabrics_type_property_set": "Property Set", "nvme_admin_identify": "Identify",
          "nvme_admin_get_log_page": "Get Log Page", "nvme_admin_set_features": "Set Features",
          "nvme_admin_keep_alive": "Keep Alive", "nvme_cmd_read": "Read", "nvme_cmd_write": "Write",
          "nvme_cmd_flush": "Flush", "nvme_cmd_dsm": "Dataset Management", "nvme_cmd_write_zeroes": "Write Zeroes"}


def traced_commands(path):
    """Each command that the kernel traced: start and end in seconds, queue, identifier, name, bytes, status."""
    commands, waiting = [], {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            event = re.search(r"(\d+\.\d+): (nvme_setup_cmd|nvme_complete_rq): .*?qid=(\d+), cmdid=(\d+), (.*)", line)
            if not event:
                continue
            time, rest = float(event[1]), event[5]
            key = int(event[3]), int(event[4])
            if event[2] == "nvme_complete_rq":
                start, queue, name, size = waiting.pop(key)
                commands.append((start, time, queue, key[1], name, size, int(re.search(r"status=(0x\w+)", rest)[1], 0)))
                continue
            name = TRACED[re.search(r"cmd=\((\w+)", rest)[1]]
            blocks = re.search(r"slba=\d+, len=(\d+)", rest) if name in ("Read", "Write") else None
            # The driver counts the Connect of an I/O queue to the admin queue.
            connects = re.search(r"recfmt=0, qid=(\d+)", rest)
            queue = int(connects[1]) if connects else key[0]
            waiting[key] = time, queue, name, 512 * (int(blocks[1]) + 1) if blocks else None
    return sorted(commands), waiting


def sealed(data):
    """A frame of Ethernet, IPv4 and UDP with the ICRC that it should have."""
    masked = bytearray(data[14:-4])
    for at in (1, 8, 10, 11, 26, 27, 32):
        masked[at] = 0xFF
    return data[:-4] + struct.pack("<I", zlib.crc32(b"\xff" * 8 + masked))


def tagged_ipv6(data):
    """The frame with IPv6 instead of IPv4, a VLAN tag, and the ICRC that it should have then; others as they are."""
    if data[12:14] != b"\x08\x00" or data[23] != 17:
        return data
    network = bytes.fromhex("20010db8") + bytes(8)
    header = struct.pack("!IHBB", 6 << 28, len(data) - 34, 17, 64) + network + data[26:30] + network + data[30:34]
    packet = header + data[34:40] + bytes(2) + data[42:-4]
    masked = bytearray(packet)
    masked[0] = 0x6F
    for at in (1, 2, 3, 7, 46, 47, 52):
        masked[at] = 0xFF
    return data[:12] + bytes.fromhex("8100000786dd") + packet + struct.pack("<I", zlib.crc32(b"\xff" * 8 + masked))


class Pcap:
    """The frames of a capture, to be taken out, copied and moved."""

    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        self.header, self.frames, place = data[:24], [], 24
        while place < len(data):
            seconds, micros, size, _ = struct.unpack_from("<IIII", data, place)
            self.frames.append((seconds * 1_000_000 + micros, data[place + 16 : place + 16 + size]))
            place += 16 + size

    def number(self, number):
        return self.frames[number - 1]

    def write(self, path, frames):
        with open(path, "wb") as file:
            file.write(self.header)
            for time, data in sorted(frames, key=lambda frame: frame[0]):
                file.write(struct.pack("<IIII", time // 1_000_000, time % 1_000_000, len(data), len(data)) + data)
        return path


class NvmeTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.capture = os.path.join(CAPTURES, "nvme", "nvme-rdma.pcap")

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_tool(self, *words, code=0, err=""):
        done = subprocess.run((ROCE_ANALYZE, "nvme", *words), capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn(err, done.stderr)
        return done.stdout

    def found(self, *words, top=1000, **keywords):
        """The queues, the commands and the statements."""
        lines = [json.loads(line) for line in self.run_tool("--json", "--top", str(top), *words, **keywords).splitlines()]
        return ([line for line in lines if "operations" in line],
                sorted((line for line in lines if "command_id" in line), key=lambda line: line["frame"]),
                [(line["severity"], line["statement"]) for line in lines if "statement" in line])

    def one(self, commands, frame):
        (found,) = [command for command in commands if command["frame"] == frame]
        return found

    # The kernel.

    def test_every_command_is_as_the_kernel_traced_it(self):
        traced, open_ones = traced_commands(os.path.join(CAPTURES, "nvme", "nvme-rdma.host.trace.txt"))
        queues, commands, _ = self.found(self.capture)
        self.assertEqual(open_ones, {})
        self.assertEqual(len(traced), 40)
        self.assertEqual([(queue, number, name, status) for _, _, queue, number, name, _, status in traced],
                         [(one["queue"], one["command_id"], one["name"], one["status"]["type"] << 8 | one["status"]["code"])
                          for one in commands])
        self.assertEqual([size for *_, size, _ in traced if size],
                         [one["bytes"] for one in commands if one["name"] in ("Read", "Write")])
        counts = {(queue["queue"], one["name"]): one["commands"] for queue in queues for one in queue["operations"]}
        # The kernel does not trace event requests.
        self.assertEqual(counts.pop((0, "Asynchronous Event Request")), 1)
        self.assertEqual(counts, {(queue, name): sum(one[2] == queue and one[4] == name for one in traced)
                                  for _, _, queue, _, name, *_ in traced})

    def test_every_command_lies_between_the_times_of_the_kernel(self):
        """The clocks of capture and guest differ by a constant, and the kernel's times include its own work: an emulated
        guest takes longer for that than the wire for the rest. So each command has to fit into its tracepoints."""
        traced, _ = traced_commands(os.path.join(CAPTURES, "nvme", "nvme-rdma.host.trace.txt"))
        _, commands, _ = self.found(self.capture)
        least, most = -1e18, 1e18
        for (start, end, *_), one in zip(traced, commands, strict=True):
            begin = datetime.datetime.fromisoformat(one["start"][:26] + "+00:00").timestamp()
            least = max(least, start - begin)
            most = min(most, end - begin - one["latency_ns"] / 1e9)
        self.assertLess(least, most)
        # All but half a millisecond of 14 seconds is decided by that.
        self.assertLess(most - least, 0.001)

    def test_tshark_counts_the_same(self):
        if shutil.which("tshark") is None:
            self.skipTest("tshark is not installed")
        queues, commands, _ = self.found(self.capture)
        fields = subprocess.run(("tshark", "-r", self.capture, "-Y", "nvme.cqe.cid", "-T", "fields", "-e", "frame.number"),
                                capture_output=True, text=True, check=True).stdout.split()
        # The built-in dissector finds no capsules of several packets, nor what belongs to them.
        whole = {str(one["response_frame"]) for one in commands
                 if one["first_data_frame"] != one["frame"] or one["last_data_frame"] == one["frame"]}
        self.assertEqual(set(fields), whole)
        self.assertEqual(sum(queue["answered"] for queue in queues), 40)

    # Its output.

    def test_queues_are_as_they_were_agreed(self):
        (admin, io), _, statements = self.found(self.capture)
        self.assertEqual((admin["queue"], admin["size"], admin["admin"], admin["controller"]), (0, 32, True, 1))
        self.assertEqual((io["queue"], io["size"], io["admin"], io["controller"]), (1, 16, False, 1))
        self.assertEqual((admin["host"], admin["target"]), (HOST, TARGET))
        self.assertEqual((admin["target_qp"], admin["host_qp"], io["target_qp"], io["host_qp"]), (18, 20, 19, 21))
        self.assertEqual(admin["event_requests"], 1)
        self.assertEqual((admin["unanswered"], admin["open"], io["unanswered"]), (0, 0, 0))
        keep_alive = admin["keep_alive"]
        self.assertEqual((keep_alive["timeout_ns"], keep_alive["commands"]), (10_000_000_000, 2))
        # From the Connect (frame 6) to the first (frame 394).
        self.assertEqual(keep_alive["longest_gap_ns"], 10_456_284_000)
        # From a READ (frame 173) to a WRITE (frame 182).
        self.assertEqual(keep_alive["longest_silence_ns"], 3_987_746_000)
        self.assertEqual([severity for severity, _ in statements], ["note"])

    def test_a_read_and_both_kinds_of_writes_in_parts(self):
        _, commands, _ = self.found(self.capture)
        read = self.one(commands, 278)
        self.assertEqual((read["first_data_frame"], read["last_data_frame"], read["response_frame"]), (280, 343, 344))
        self.assertEqual((read["name"], read["bytes"], read["ask_frame"]), ("Read", 65536, None))
        write = self.one(commands, 209)
        self.assertEqual((write["ask_frame"], write["first_data_frame"], write["last_data_frame"], write["response_frame"]),
                         (211, 212, 275, 276))
        in_capsule = self.one(commands, 182)
        self.assertEqual((in_capsule["first_data_frame"], in_capsule["last_data_frame"], in_capsule["bytes"]),
                         (182, 186, 4096))
        small = self.one(commands, 360)
        self.assertEqual((small["first_data_frame"], small["last_data_frame"], small["bytes"]), (360, 360, 512))
        flush = self.one(commands, 378)
        self.assertEqual((flush["first_data_frame"], flush["until_data_ns"], flush["latency_ns"]),
                         (None, None, flush["until_response_ns"]))
        for one in commands:
            self.assertEqual(one["latency_ns"],
                             (one["until_data_ns"] or 0) + (one["data_ns"] or 0) + one["until_response_ns"], one)

    def test_one_stream_a_filter_and_names(self):
        (io,), _, _ = self.found("--stream", "3", self.capture)
        self.assertEqual(io["queue"], 1)
        queues, commands, _ = self.found("-Y", "frame.number == 344", self.capture)
        self.assertEqual([(one["queue"], one["commands"]) for one in queues], [(1, 1)])
        self.assertEqual([one["frame"] for one in commands], [278])
        with open(self.path("names"), "w", encoding="utf-8") as file:
            file.write(f"{TARGET} array1\n")
        self.assertIn("10.77.0.3 -> array1", self.run_tool("--names", self.path("names"), self.capture).replace("→", "->"))
        self.assertEqual(self.found("--names", self.path("names"), self.capture)[0][0]["names"], [HOST, "array1"])

    def test_in_two_files(self):
        pcap = Pcap(self.capture)
        parts = [pcap.write(self.path(f"part{i}.pcap"), frames) for i, frames in enumerate((pcap.frames[:210], pcap.frames[210:]))]
        whole, commands, _ = self.found(self.capture)
        _, both, _ = self.found(*parts)
        self.assertEqual(len(commands), len(both))
        write = self.one([one for one in both if one["file"] == parts[0]], 209)
        self.assertEqual((write["first_data_frame"], write["response_frame"]), (2, 66))
        self.assertEqual(write["latency_ns"], self.one(commands, 209)["latency_ns"])
        self.assertEqual(whole[0]["commands"], 25)

    def test_two_points_are_told_apart(self):
        pcap = Pcap(self.capture)
        copy = pcap.write(self.path("b.pcap"), pcap.frames)
        queues, _, _ = self.found("--point", f"a={self.capture}", "--point", f"b={copy}")
        self.assertEqual([(one["point"], one["queue"], one["commands"]) for one in queues],
                         [("a", 0, 25), ("a", 1, 16), ("b", 0, 25), ("b", 1, 16)])

    # Where something is wrong.

    def test_a_command_without_an_answer(self):
        pcap = Pcap(self.capture)
        cut = pcap.write(self.path("cut.pcap"), [frame for i, frame in enumerate(pcap.frames, 1) if not 380 <= i <= 393])
        queues, commands, statements = self.found(cut)
        self.assertEqual(queues[1]["unanswered"], 1)
        flush = self.one(commands, 378)
        self.assertEqual((flush["end"], flush["status"], flush["response_frame"]), ("unanswered", None, None))
        self.assertIn(("error", "stream 3, queue 1, 10.77.0.3 → 10.77.0.2: 1 command was never answered, the first in frame 378"),
                      [(severity, text.replace("->", "→")) for severity, text in statements])

    def test_an_answer_that_only_the_capture_lacks(self):
        """Identifier 9 is used again: the host had its answer."""
        pcap = Pcap(self.capture)
        cut = pcap.write(self.path("cut.pcap"), [frame for i, frame in enumerate(pcap.frames, 1) if i not in (147, 149)])
        queues, _, statements = self.found(cut)
        self.assertEqual((queues[1]["missed"], queues[1]["unanswered"]), (1, 0))
        self.assertNotIn("error", [severity for severity, _ in statements])

    def test_an_answer_that_the_host_acknowledged(self):
        """That of the last command before the connection ends: the PSNs show that one is missing in the capture."""
        pcap = Pcap(self.capture)
        cut = pcap.write(self.path("cut.pcap"), [frame for i, frame in enumerate(pcap.frames, 1) if i not in (380, 381)])
        queues, _, statements = self.found(cut)
        self.assertEqual((queues[1]["missed"], queues[1]["unanswered"]), (1, 0))
        self.assertNotIn("error", [severity for severity, _ in statements])

    def test_a_command_is_open_where_the_capture_ends(self):
        pcap = Pcap(self.capture)
        queues, _, _ = self.found(pcap.write(self.path("cut.pcap"), pcap.frames[:280]))
        self.assertEqual((queues[1]["open"], queues[1]["unanswered"]), (1, 0))

    def test_statuses_that_are_not_0(self):
        pcap = Pcap(self.capture)
        frames = list(pcap.frames)
        for number in (362, 380):
            time, data = frames[number - 1]
            self.assertEqual(sealed(data), data)
            place = 14 + 20 + 8 + 12 + 14
            # LBA Out of Range, Do Not Retry.
            frames[number - 1] = time, sealed(data[:place] + struct.pack("<H", 0x8000 | 0x80 << 1) + data[place + 2 :])
        queues, commands, statements = self.found(pcap.write(self.path("status.pcap"), frames))
        (status,) = queues[1]["statuses"]
        self.assertEqual((status["type"], status["code"], status["name"], status["count"], status["first_frame"]),
                         (0, 0x80, "LBA Out of Range", 2, 362))
        self.assertEqual(self.one(commands, 360)["status"]["name"], "LBA Out of Range")
        self.assertTrue(any(severity == "warning" and "LBA Out of Range" in text for severity, text in statements))

    def test_a_host_that_falls_silent(self):
        """From its last keep-alive on nothing comes for 30 seconds but a packet of another host."""
        pcap = Pcap(self.capture)
        frames = pcap.frames[:397]
        frames.append((frames[-1][0] + 30_000_000, pcap.number(1)[1]))
        frames.append((frames[-1][0], pcap.number(397)[1]))
        queues, _, statements = self.found(pcap.write(self.path("silent.pcap"), frames))
        self.assertGreater(queues[0]["keep_alive"]["longest_silence_ns"], 29_000_000_000)
        self.assertTrue(any(severity == "error" and "no Keep Alive for 30.0 s" in text for severity, text in statements))

    def test_a_data_packet_that_was_lost(self):
        """Frame 152 (a WRITE FIRST of an admin command) is lost behind the capture point, and everything is sent again."""
        pcap = Pcap(self.capture)
        last = int.from_bytes(pcap.number(161)[1][18:20], "big")
        again = []
        for number in range(152, 162):
            time, data = pcap.number(number)
            number_on_wire = struct.pack("!H", last + number - 151 & 0xFFFF)
            again.append((time + 40_000, sealed(data[:18] + number_on_wire + data[20:])))
        time, ack = pcap.number(162)
        # The place of the PSN, and behind it the MSN: a NAK for frame 152.
        nak = ack[:51] + pcap.number(152)[1][51:54] + b"\x60" + ack[55:]
        again.insert(0, (time, sealed(nak)))
        acks = [(pcap.number(number)[0] + 40_000, pcap.number(number)[1]) for number in (162, 163)]
        queues, commands, statements = self.found(pcap.write(self.path("lost.pcap"), pcap.frames[:161] + again + acks))
        log = self.one(commands, 150)
        self.assertEqual((log["resent"], log["because"], log["response_frame"]), (10, "loss", 172))
        self.assertGreater(log["lost_ns"], 39_000_000)
        self.assertEqual(log["bytes"], self.one(self.found(self.capture)[1], 150)["bytes"])
        self.assertEqual(queues[0]["resent_commands"], 1)
        self.assertTrue(any("1 command waited most of its time for lost packets" in text for _, text in statements))

    # Without the set-up.

    def without_cm(self):
        pcap = Pcap(self.capture)
        return pcap.write(self.path("no-cm.pcap"), [frame for i, frame in enumerate(pcap.frames, 1)
                                                    if i not in (3, 4, 5, 82, 83, 84, 402, 403, 412, 413)])

    def test_without_the_set_up_nothing_is_guessed(self):
        out = self.run_tool(self.without_cm(), err="--target ADDRESS a target whose connections may be older than the capture")
        self.assertEqual(out, "")

    def test_without_the_set_up_the_user_can_name_the_target(self):
        (admin, io), commands, _ = self.found("--target", TARGET, self.without_cm())
        self.assertEqual((admin["queue"], admin["commands"], io["queue"], io["commands"]), (0, 25, 1, 16))
        self.assertEqual(len(commands), 40)

    def test_from_the_middle_on(self):
        pcap = Pcap(self.capture)
        middle = pcap.write(self.path("middle.pcap"), pcap.frames[85:401])
        queues, commands, _ = self.found("--target", TARGET, middle)
        admin = next(queue for queue in queues if queue["admin"])
        io = next(queue for queue in queues if not queue["admin"])
        self.assertEqual((admin["queue"], admin["size"], io["queue"], io["size"]), (None, None, None, None))
        names = {one["name"] for one in io["operations"]}
        self.assertEqual(names, {"Read", "Write", "Flush", "Dataset Management", "Write Zeroes"})
        self.assertEqual(sum(one["end"] == "unanswered" for one in commands), 0)

    def test_a_target_that_does_not_speak_nvme(self):
        capture = os.path.join(CAPTURES, "softroce", "rc-mix-v4.tx.pcap")
        self.run_tool("--target", "10.77.0.2", capture, err="there are no NVMe commands")

    def test_another_port(self):
        pcap = Pcap(self.capture)
        frames = list(pcap.frames)
        for number in (3, 82):
            time, data = frames[number - 1]
            # The service ID: IP protocol 6, port 4420.
            self.assertEqual(data.count(b"\x01\x06\x11\x44"), 1)
            frames[number - 1] = time, sealed(data.replace(b"\x01\x06\x11\x44", b"\x01\x06\x11\x45"))
        other = pcap.write(self.path("port.pcap"), frames)
        self.assertEqual(self.found("--port", "4421", other)[0][0]["commands"], 25)
        self.run_tool(other, err="there are no NVMe commands")

    # Bad input.

    def test_options_that_are_wrong(self):
        for words, sentence in ((("--target", "array"), "--target takes the address of an NVMe target"),
                                (("--target", "10.0.0.0/8"), "--target takes the address"),
                                (("--port", "0"), "--port: expected"), (("--port", "65536"), "--port: expected")):
            self.assertEqual(self.run_tool(*words, self.capture, code=2, err=sentence), "")

    def cut_to(self, size, change=lambda data: data):
        pcap = Pcap(self.capture)
        short = self.path(f"cut-to-{size}.pcap")
        with open(short, "wb") as file:
            file.write(pcap.header)
            for time, data in ((time, change(data)) for time, data in pcap.frames):
                file.write(struct.pack("<IIII", time // 1_000_000, time % 1_000_000, min(len(data), size), len(data)) + data[:size])
        return short

    def test_a_snap_length_that_leaves_the_capsules(self):
        """Of the connection requests, which are longer, too little is left."""
        (admin, io), _, _ = self.found("--target", TARGET, self.cut_to(128))
        self.assertEqual((admin["queue"], admin["commands"], io["queue"], io["commands"]), (0, 25, 1, 16))
        self.assertEqual((admin["bytes"], io["bytes"]), tuple(one["bytes"] for one in self.found(self.capture)[0]))
        self.run_tool(self.cut_to(128), err="there are no NVMe commands")

    def test_a_snap_length_that_leaves_the_capsules_of_ipv6(self):
        target = "2001:db8::" + TARGET
        (admin, io), _, _ = self.found("--target", target, self.cut_to(160, tagged_ipv6))
        self.assertEqual((admin["queue"], admin["commands"], io["queue"], io["commands"]), (0, 25, 1, 16))
        self.run_tool("--target", target, self.cut_to(141, tagged_ipv6), err="capture 160 bytes of each frame or more")

    def test_a_snap_length_that_cuts_the_capsules(self):
        self.run_tool("--target", TARGET, self.cut_to(80), err="a snap length has cut")


if __name__ == "__main__":
    ROCE_ANALYZE, CAPTURES = sys.argv[1:3]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
