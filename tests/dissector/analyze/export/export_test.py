# SPDX-License-Identifier: BSD-2-Clause
"""roce-analyze export beside the commands that list the same things, and what it says to wrong command lines and outputs.

    export_test.py ROCE_ANALYZE CAPTURES [-- unittest arguments]"""

import json
import os
import pathlib
import pty
import re
import resource
import struct
import subprocess
import sys
import tempfile
import unittest

USAGE, FAILED = 2, 1
TABLES = ("packets", "messages", "events", "streams", "intervals")
SUFFIX = {"parquet": b"PAR1", "ndjson": b"{"}


def capture(frames, snap=65535):
    """A pcapng file of (time in units of 1 s since 1970, bytes) of one Ethernet interface."""
    def block(kind, body):
        body += b"\0" * (-len(body) % 4)
        return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)

    # if_tsresol 0: whole seconds, so that any year fits.
    resolution = struct.pack("<HHB3x", 9, 1, 0) + struct.pack("<HH", 0, 0)
    made = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)) + block(1, struct.pack("<HHI", 1, 0, snap) + resolution)
    for time, frame in frames:
        made += block(6, struct.pack("<IIIII", 0, (time >> 32) & 0xFFFFFFFF, time & 0xFFFFFFFF, len(frame), len(frame)) + frame)
    return made


class ExportTest(unittest.TestCase):
    program = captures = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.drops = f"{self.captures}/softroce/rc-drop-random.tx.pcap"

    def path(self, name):
        return f"{self.folder}/{name}"

    def run_export(self, *arguments, **options):
        return subprocess.run([self.program, "export", *arguments], stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False, **options)

    def rows(self, *arguments):
        done = self.run_export(*arguments, "--format", "ndjson")
        self.assertEqual((0, b""), (done.returncode, done.stderr))
        return [json.loads(line) for line in done.stdout.splitlines()]

    def listed(self, command):
        done = subprocess.run([self.program, command, "--json", self.drops], capture_output=True, timeout=120, check=True)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def assert_refused(self, code, said, *arguments, **options):
        done = self.run_export(*arguments, **options)
        text = done.stderr.decode()
        self.assertEqual(code, done.returncode, text)
        self.assertRegex(text, rf"\Aroce-analyze( export)?: [^\n]*{said}[^\n]*\n\Z")
        self.assertEqual(b"", done.stdout)

    def test_messages_are_those_of_messages(self):
        rows, listed = self.rows("messages", self.drops), self.listed("messages")
        self.assertGreater(len(rows), 40)
        same = ("stream", "message", "type", "first_frame", "last_frame", "answer_frame", "first_psn", "psn_count", "bytes", "resent", "latency_ns")
        self.assertEqual([[each[name] for name in same] + [each["end"]] for each in listed],
                         [[each[name] for name in same] + [each["outcome"]] for each in rows])
        for row in rows:
            if row["latency_ns"] is not None:
                self.assertEqual(row["end_ns"] - row["start_ns"], row["latency_ns"])

    def test_events_are_those_of_events(self):
        rows, listed = self.rows("events", self.drops), self.listed("events")
        self.assertGreater(len(rows), 40)
        same = ("event", "frame", "segment", "stream", "verdict", "severity", "first_psn", "psn_count", "spurious", "file", "point")
        self.assertEqual([[each[name] for name in same] for each in listed], [[each[name] for name in same] for each in rows])
        self.assertEqual([each["other"] for each in listed], [each["other_frame"] or 0 for each in rows])
        self.assertEqual([each["when"] == "retrospective" for each in listed], [each["retrospective"] for each in rows])

    def test_streams_are_those_of_streams(self):
        rows, listed = self.rows("streams", self.drops), self.listed("streams")
        listed.sort(key=lambda each: each["stream"])
        self.assertEqual(len(listed), len(rows))
        for wanted, row in zip(listed, rows):
            self.assertEqual([end["address"] for end in wanted["ends"]], [row["end0"], row["end1"]])
            self.assertEqual([end["qp"] for end in wanted["ends"]], [row["qp0"], row["qp1"]])
            for number, direction in enumerate(wanted["directions"]):
                for name in ("packets", "bytes", "request_bytes", "response_bytes", "goodput_bytes", "acks"):
                    self.assertEqual(direction[name], row[f"{name}_{number}"])
                self.assertEqual(direction["latency"].get("p99_ns"), row[f"p99_ns_{number}"])
            self.assertEqual(list(wanted["lost"].values()), [row["lost_before"], row["lost_after"], row["lost_beyond"]])

    def test_packets_are_those_of_decode(self):
        rows = self.rows("packets", self.drops)
        done = subprocess.run([self.program, "decode", "--json", self.drops], capture_output=True, check=True)
        decoded = [each for each in map(json.loads, done.stdout.splitlines()) if "bth" in each]
        self.assertEqual(len(decoded), len(rows))
        for wanted, row in zip(decoded, rows):
            self.assertEqual([wanted["bth"]["psn"], wanted["bth"]["dest_qp"], wanted["bth"]["opcode"], wanted["bth"]["opcode_name"], wanted["bth"]["ack_req"],
                              wanted["icrc"]["status"], wanted["ip"]["ttl"], wanted["udp"]["srcport"]],
                             [row["psn"], row["dest_qp"], row["opcode"], row["opcode_name"], row["ack_req"], row["icrc"], row["hop_limit"], row["udp_source_port"]])

    def test_intervals_add_up_to_the_packets(self):
        packets = self.rows("packets", self.drops)
        for width, name in ((1_000_000, "1ms"), (1_000_000_000, "1s")):
            rows = self.rows("intervals", "--interval", name, self.drops)
            self.assertEqual((len(packets), sum(each["wire"] for each in packets)), (sum(each["packets"] for each in rows), sum(each["bytes"] for each in rows)))
            self.assertEqual(len(rows), len({(each["time_ns"], each["stream"]) for each in rows}))
            self.assertEqual({width}, {each["width_ns"] for each in rows})
            self.assertEqual({0}, {each["time_ns"] % width for each in rows})
            for each in packets:
                self.assertIn((each["time_ns"] // width * width, each["stream"]), {(row["time_ns"], row["stream"]) for row in rows})

    def test_all_tables_have_the_columns_of_the_schema(self):
        done = self.run_export("--schema", "--json")
        schema = {}
        for column in map(json.loads, done.stdout.splitlines()):
            schema.setdefault(column["table"], []).append(column)
        self.assertEqual(list(TABLES), list(schema))
        for table, columns in schema.items():
            rows = self.rows(table, "--run", "a \"run\"", self.drops)
            self.assertEqual([each["column"] for each in columns], list(rows[0]))
            self.assertEqual({'a "run"'}, {row["run"] for row in rows})
            for column in columns:
                kinds = {type(row[column["column"]]) for row in rows}
                wanted = {"String": str, "Bool": bool}.get(column["type"], int)
                self.assertLessEqual(kinds, {wanted} | ({type(None)} if column["nullable"] else set()), column)

    def test_columns_come_in_the_order_that_is_asked_for(self):
        for row in self.rows("packets", "--columns", "psn,frame", "--columns", "icrc", self.drops):
            self.assertEqual(["psn", "frame", "icrc"], list(row))

    def test_rows_do_not_depend_on_the_format_or_the_threads(self):
        for table in TABLES:
            alone = self.run_export(table, "--threads", "1", self.drops).stdout
            self.assertEqual(alone, self.run_export(table, self.drops).stdout)
            self.assertEqual(b"PAR1", alone[:4])

    def test_a_stream_and_a_filter_choose_rows(self):
        self.assertEqual({0}, {row["stream"] for row in self.rows("packets", "--stream", "0", self.drops)})
        chosen = self.rows("packets", "-Y", "bth.ack_req == 1", self.drops)
        self.assertEqual([row for row in self.rows("packets", self.drops) if row["ack_req"]], chosen)

    def test_pieces_carried_on_have_the_rows_of_one_run(self):
        whole = {table: self.rows(table, self.drops) for table in ("messages", "events")}
        records = pathlib.Path(self.drops).read_bytes()
        at, frames = 24, []
        while at < len(records):
            length = struct.unpack_from("<I", records, at + 8)[0]
            frames.append(records[at:at + 16 + length])
            at += 16 + length
        for name, part in (("one.pcap", frames[:70]), ("two.pcap", frames[70:])):
            pathlib.Path(self.path(name)).write_bytes(records[:24] + b"".join(part))
        state = self.path("state")
        for table, wanted in whole.items():
            rows = self.rows(table, "--point", f"p={self.path('one.pcap')}", "--carry", state)
            rows += self.rows(table, "--point", f"p={self.path('two.pcap')}", "--after", state)
            # Verdicts that only later packets give are numbered where they become known.
            names = [name for name in wanted[0] if not re.search("file|frame|^point$|^event$", name)]
            self.assertEqual(sorted(repr([row[name] for name in names]) for row in wanted), sorted(repr([row[name] for name in names]) for row in rows), table)

    def test_names_are_columns(self):
        address = self.rows("packets", self.drops)[0]["src"]
        pathlib.Path(self.path("names")).write_text(f'{address} the "first" host\n', encoding="utf-8")
        row = self.rows("packets", "--names", self.path("names"), self.drops)[0]
        self.assertEqual(('the "first" host', None), (row["src_name"], row["dst_name"]))

    def test_names_of_qps_are_columns(self):
        before = self.rows("streams", self.drops)[0]
        pathlib.Path(self.path("list")).write_text(json.dumps([{"lqpn": before["qp0"], "comm": "trainer"}]), encoding="utf-8")
        row = self.rows("streams", "--names", f"{before['end0']}={self.path('list')}", self.drops)[0]
        self.assertEqual(("trainer", None, None), (row["qp0_name"], row["qp1_name"], row["end0_name"]))

    def test_names_are_not_overwritten(self):
        pathlib.Path(self.path("list")).write_text("[]", encoding="utf-8")
        done = self.run_export("streams", "--names", f"10.0.0.1={self.path('list')}", "-o", self.path("list"), self.drops)
        self.assertNotEqual(0, done.returncode)
        self.assertEqual("[]", pathlib.Path(self.path("list")).read_text(encoding="utf-8"))

    def test_hostile_captures(self):
        frame = next(iter(self.frames()))
        name = os.fsdecode(self.path("").encode() + b"quote\" and \\ and \xff\xfe.pcapng")
        # The years 1970, 3000 and, as far as 64 bits of seconds go, the end of time.
        pathlib.Path(name).write_bytes(capture([(0, frame), (32_503_680_000, frame), (2**64 - 1, frame)]))
        rows = [json.loads(line) for line in self.run_export("packets", "--format", "ndjson", name).stdout.splitlines()]
        self.assertEqual(3, len(rows))
        self.assertIn('quote" and \\ and \ufffd\ufffd.pcapng', rows[0]["file"])
        self.assertEqual(0, rows[0]["time_ns"])
        for row in rows:
            self.assertTrue(row["time_ns"] is None or -2**63 <= row["time_ns"] < 2**63)
        pathlib.Path(self.path("empty.pcapng")).write_bytes(capture([]))
        for table in TABLES:
            self.assertEqual([], self.rows(table, self.path("empty.pcapng")))
            done = self.run_export(table, self.path("empty.pcapng"))
            self.assertEqual((0, b"PAR1", b"PAR1"), (done.returncode, done.stdout[:4], done.stdout[-4:]))

    def frames(self):
        records = pathlib.Path(self.drops).read_bytes()
        at = 24
        while at < len(records):
            length = struct.unpack_from("<I", records, at + 8)[0]
            if records[at + 16 + 36:at + 16 + 38] == b"\x12\xb7":  # UDP port 4791
                yield records[at + 16:at + 16 + length]
            at += 16 + length

    def test_a_damaged_capture_has_the_rows_that_could_be_read(self):
        cut = pathlib.Path(self.drops).read_bytes()[:-20]
        pathlib.Path(self.path("cut.pcap")).write_bytes(cut)
        done = self.run_export("packets", "-o", self.path("rows.parquet"), self.path("cut.pcap"))
        self.assertEqual(FAILED, done.returncode)
        self.assertEqual(1, done.stderr.count(b"\n"), done.stderr)
        self.assertTrue(pathlib.Path(self.path("rows.parquet")).exists())

    def test_wrong_command_lines(self):
        self.assert_refused(USAGE, "which table", )
        self.assert_refused(USAGE, r"no table 'packet' \(did you mean packets\?\)", "packet", self.drops)
        self.assert_refused(USAGE, "no table", self.drops)
        self.assert_refused(USAGE, "given twice", "events,events", "-o", self.path("x"), self.drops)
        self.assert_refused(USAGE, r"no column 'psm' \(did you mean psn\?\)", "packets", "--columns", "frame,psm", self.drops)
        self.assert_refused(USAGE, "'psn' is given twice", "packets", "--columns", "psn", "--columns", "psn", self.drops)
        self.assert_refused(USAGE, "--columns are those of one table", "all", "--columns", "run", "-o", self.path("x"), self.drops)
        self.assert_refused(USAGE, "-o FOLDER", "all", self.drops)
        self.assert_refused(USAGE, "--interval takes", "intervals", "--interval", "0s", self.drops)
        self.assert_refused(USAGE, "--format", "packets", "--format", "arrow", self.drops)
        self.assert_refused(USAGE, "which file", "packets")
        self.assert_refused(USAGE, "no stream 7", "packets", "--stream", "7", "-o", self.path("x"), self.drops)
        self.assertFalse(os.path.exists(self.path("x")))

    def test_no_input_is_overwritten(self):
        pathlib.Path(self.path("in.pcap")).write_bytes(pathlib.Path(self.drops).read_bytes())
        self.assert_refused(USAGE, "in.pcap", "packets", "-o", self.path("in.pcap"), self.path("in.pcap"))
        self.assertEqual(pathlib.Path(self.drops).read_bytes(), pathlib.Path(self.path("in.pcap")).read_bytes())

    def test_outputs_that_cannot_be_written(self):
        self.assert_refused(FAILED, "No such file", "packets", "-o", self.path("no/such/folder.parquet"), self.drops)
        pathlib.Path(self.path("file")).write_text("kept", encoding="utf-8")
        self.assert_refused(USAGE, "need a folder", "all", "-o", self.path("file"), self.drops)
        self.assertEqual("kept", pathlib.Path(self.path("file")).read_text(encoding="utf-8"))
        self.assert_refused(FAILED, "No space left", "packets", "-o", "/dev/full", self.drops)
        for form in ("parquet", "native", "ndjson"):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([self.program, "export", "packets", "--format", form, self.drops], stdout=full, stderr=subprocess.PIPE, check=False)
            self.assertEqual(FAILED, done.returncode)
            self.assertRegex(done.stderr.decode(), r"\A[^\n]*No space left[^\n]*\n\Z")

    def test_a_full_disk_leaves_nothing(self):
        limit = 20_000  # bytes of a file: as good as a full disk, and needs no mount

        def limited():
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        done = self.run_export("all", "--format", "ndjson", "-o", self.path("rows"), self.drops, preexec_fn=limited)
        self.assertEqual(FAILED, done.returncode, done.stderr)
        self.assertEqual(1, done.stderr.count(b"\n"), done.stderr)
        self.assertFalse(os.path.exists(self.path("rows")), os.listdir(self.folder))

    def test_a_terminal_gets_no_bytes(self):
        for form, code in (("parquet", USAGE), ("native", USAGE), ("ndjson", 0)):
            main, side = pty.openpty()
            done = subprocess.run([self.program, "export", "streams", "--format", form, self.drops], stdout=side, stderr=subprocess.PIPE, check=False)
            os.close(side)
            try:
                printed = os.read(main, 100_000)
            except OSError:
                printed = b""
            os.close(main)
            self.assertEqual((code, code == 0), (done.returncode, printed != b""), form)
            self.assertTrue(code == 0 or re.fullmatch(rb"roce-analyze: [^\n]* terminal[^\n]*\n", done.stderr), done.stderr)

    def test_a_reader_that_goes_is_no_error(self):
        done = subprocess.run(["sh", "-c", f'"{self.program}" export packets --format ndjson "{self.drops}" | head -n 1; '], capture_output=True, check=False)
        self.assertEqual((b"", 1), (done.stderr, done.stdout.count(b"\n")))


if __name__ == "__main__":
    ExportTest.program, ExportTest.captures = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
