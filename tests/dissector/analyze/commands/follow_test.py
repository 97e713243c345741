# SPDX-License-Identifier: BSD-2-Clause
"""Follows captures that grow, and compares what is said at each moment with what is said of a capture that ends there."""

import json
import os
import pathlib
import pty
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import unittest

PROGRAM = ""
CAPTURES = pathlib.Path()
PATIENCE = 60  # seconds; only a failure takes as long


def records(capture):
    """Returns the file header and the records of a pcap file."""
    data = capture.read_bytes()
    assert data[:4] == b"\xd4\xc3\xb2\xa1", "microseconds, this byte order"
    found, at = [], 24
    while at < len(data):
        length = struct.unpack_from("<I", data, at + 8)[0]
        found.append(data[at:at + 16 + length])
        at += 16 + length
    return data[:24], found


class Follower:
    """A run of the program whose output is read line by line."""

    def __init__(self, *arguments, **options):
        self.run = subprocess.Popen([PROGRAM, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                    **options)
        self.watch = threading.Timer(PATIENCE, self.run.kill)
        self.watch.start()

    def line(self):
        return self.run.stdout.readline()

    def line_with(self, is_wanted):
        while text := self.line():
            if is_wanted(text):
                return text
        raise AssertionError(f"the program ended without it: {self.run.stderr.read()}")

    def end(self, by=signal.SIGINT):
        """Returns the rest of the output, the errors and the exit code."""
        if by is not None:
            self.run.send_signal(by)
        out, err = self.run.stdout.read(), self.run.stderr.read()
        code = self.run.wait()
        self.watch.cancel()
        self.run.stdout.close()
        self.run.stderr.close()
        return out, err, code


class FollowTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="roce-follow-"))
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "so_far").mkdir()

    def summary(self, *inputs):
        run = subprocess.run([PROGRAM, "--json", *map(str, inputs)], capture_output=True, text=True, check=True)
        return json.loads(run.stdout)

    def test_the_summary_is_that_of_a_capture_that_ends_here(self):
        for name in ("rc-drop-requests.rx", "rc-rnr.tx", "rc-drop-responses.tx", "cm-rping.tx"):
            header, packets = records(CAPTURES / "softroce" / f"{name}.pcap")
            growing, so_far = self.folder / "trace.pcap", self.folder / "so_far" / "trace.pcap"
            growing.write_bytes(header)
            follower = Follower("--follow", "--json", growing)
            for part in range(1, 6):
                count = len(packets) * part // 5
                so_far.write_bytes(header + b"".join(packets[:count]))
                begun = len(packets) * (part - 1) // 5
                new = b"".join(packets[begun:count])
                with growing.open("ab") as file:
                    # Of the packet before them half was there.
                    file.write(new if part == 1 else new[10:])
                    if part < 5:
                        file.write(packets[count][:10])
                seen = json.loads(follower.line_with(lambda text: json.loads(text)["capture"]["frames"] == count))
                expected = json.loads(json.dumps(self.summary(so_far)).replace(str(so_far), str(growing)))
                self.assertEqual(seen, expected, f"{name}: the first {count} of {len(packets)} packets")
            out, err, code = follower.end()
            self.assertEqual((code, err), (0, ""))
            self.assertEqual(json.loads(out.splitlines()[-1]), expected)

    def test_events_come_while_the_capture_goes_on(self):
        capture = CAPTURES / "softroce" / "rc-drop-requests.rx.pcap"
        header, packets = records(capture)
        follower = Follower("events", "--follow", "--json", "-", stdin=subprocess.PIPE)
        pipe = follower.run.stdin.buffer
        pipe.write(header + b"".join(packets[:60]))
        pipe.flush()
        events = [json.loads(follower.line())]
        self.assertLessEqual(events[0]["frame"], 60)
        pipe.write(b"".join(packets[60:]))
        pipe.close()
        out, err, code = follower.end(by=None)
        self.assertEqual((code, err), (0, ""))
        events += [json.loads(line) for line in out.splitlines()]
        whole = subprocess.run([PROGRAM, "events", "--json", str(capture)], capture_output=True, text=True, check=True).stdout
        expected = [json.loads(line) for line in whole.splitlines()]

        def identity(event):
            return [event[key] for key in ("frame", "verdict", "first_psn", "psn_count")]

        self.assertEqual(sorted(map(identity, events)), sorted(map(identity, expected)))

    def test_a_ring_of_files_is_one_capture(self):
        header, packets = records(CAPTURES / "softroce" / "rc-drop-requests.rx.pcap")
        ring = self.folder / "ring"
        ring.mkdir()
        follower = Follower("--follow", "--json", ring)
        size = len(packets) // 6 + 1
        for number in range(6):
            with (ring / f"trace_{number + 1:05}.pcap").open("wb") as file:
                file.write(header)
                for packet in packets[number * size:(number + 1) * size]:
                    file.write(packet)
                    file.flush()
            count = min((number + 1) * size, len(packets))
            seen = json.loads(follower.line_with(lambda text: json.loads(text)["capture"]["frames"] == count))
        out, err, code = follower.end()
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(json.loads(out.splitlines()[-1]), self.summary(ring))
        self.assertEqual(len(seen["capture"]["files"]), 6)

    def test_what_was_not_read_of_a_folder_is_said(self):
        header, packets = records(CAPTURES / "softroce" / "rc-drop-requests.rx.pcap")
        ring = self.folder / "ring"
        ring.mkdir()
        follower = Follower("--follow", "--json", ring)
        (ring / "a_1.pcap").write_bytes(header + b"".join(packets[:40]))
        follower.line_with(lambda text: json.loads(text)["capture"]["frames"] == 40)
        # A newer file comes, and the one before it goes on all the same.
        (ring / "b_1.pcap").write_bytes(header + b"".join(packets[60:80]) + packets[80][:20])
        follower.line_with(lambda text: json.loads(text)["capture"]["frames"] == 60)
        with (ring / "a_1.pcap").open("ab") as file:
            file.write(b"".join(packets[40:60]))
        # The one after it ends the second one in the middle of a packet.
        (ring / "c_1.pcap").write_bytes(header + b"".join(packets[100:]))
        follower.line_with(lambda text: json.loads(text)["capture"]["frames"] == 60 + len(packets) - 100)
        out, err, code = follower.end()
        self.assertEqual(code, 1)
        self.assertIn("1 file has grown after a newer file had come, and the rest was not read", err)
        self.assertRegex(err, r"b_1\.pcap: byte \d+: the file ends inside a packet: 20 bytes of it are there")
        problems = [problem for file in json.loads(out.splitlines()[-1])["capture"]["files"] for problem in file["problems"]]
        self.assertEqual(len(problems), 2, problems)

    def test_standard_input_is_followed_to_its_end(self):
        capture = CAPTURES / "softroce" / "rc-rnr.tx.pcap"
        header, packets = records(capture)
        follower = Follower("--follow", "--json", "-", stdin=subprocess.PIPE)
        pipe = follower.run.stdin.buffer
        pipe.write(header + b"".join(packets[:50]))
        pipe.flush()
        follower.line_with(lambda text: json.loads(text)["capture"]["frames"] == 50)
        pipe.write(b"".join(packets[50:]))
        pipe.close()
        out, err, code = follower.end(by=None)
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(json.loads(out.splitlines()[-1])["verdict"], self.summary(capture)["verdict"])

    def test_each_new_headline_is_a_line_if_no_terminal_is_there(self):
        header, packets = records(CAPTURES / "softroce" / "rc-drop-requests.rx.pcap")
        growing = self.folder / "trace.pcap"
        growing.write_bytes(header + b"".join(packets[:5]))
        follower = Follower("--follow", growing)
        self.assertRegex(follower.line(), r"there are no RoCE packets to judge")
        with growing.open("ab") as file:
            file.write(b"".join(packets[5:]))
        self.assertRegex(follower.line_with(lambda text: "lost packets" in text),
                         r"^2026-11-20T22:21:4[45]\.\d+Z  1 of 1 connection lost packets: \d+ lost before the capture point; (?:at|from) [\d.]+ s(?: to [\d.]+ s)?$")
        out, err, code = follower.end(signal.SIGTERM)
        self.assertEqual((code, err), (0, ""))
        self.assertIn("What was found, and what to do", out)

    def test_a_terminal_is_drawn_anew_and_given_back(self):
        growing = self.folder / "trace.pcap"
        shutil.copy(CAPTURES / "softroce" / "rc-drop-requests.rx.pcap", growing)
        master, slave = pty.openpty()
        run = subprocess.Popen([PROGRAM, "--follow", str(growing)], stdout=slave, stderr=slave,
                               env={**os.environ, "LINES": "8", "COLUMNS": "100", "TERM": "xterm"})
        os.close(slave)
        watch = threading.Timer(PATIENCE, run.kill)
        watch.start()
        shown = b""
        while b"\x1b[J" not in shown:
            shown += os.read(master, 4096)
        run.send_signal(signal.SIGINT)
        rest = b""
        try:
            while more := os.read(master, 4096):
                rest += more
        except OSError:
            pass  # Linux's way to say that the other end is closed
        watch.cancel()
        os.close(master)
        self.assertEqual(run.wait(), 0)
        self.assertTrue(shown.startswith(b"\x1b[?1049h\x1b[H"), shown)
        self.assertLessEqual(shown.count(b"\r\n"), 7, "more lines than there is room for")
        self.assertTrue(rest.startswith(b"\x1b[?1049l"), rest)
        self.assertIn(b"What was found, and what to do", rest)

    def test_faults_are_named(self):
        capture = CAPTURES / "softroce" / "rc-rnr.tx.pcap"
        for arguments, code, sentence in (
            (["--follow", capture, capture], 2, "what is followed is one file, one directory, - or one --interface"),
            (["--follow", "--point", f"a={capture}"], 2, "what is followed is one file"),
            (["--follow", "-i", "lo", capture], 2, "what is followed is one file"),
            (["--follow"], 2, "which file?"),
            (["--follow", "--report", self.folder / "x.html", capture], 2, "--report"),
            (["--follow", "--stream", "0", capture], 2, "leave out --report, --quick, -Y and --stream"),
            (["--follow", "--quick", capture], 2, "leave out --report, --quick"),
            (["events", "--follow", "--carry", self.folder / "s", capture], 2, "leave out --after and --carry"),
            (["--follow", self.folder / "nothing"], 1, "No such file or directory"),
            (["-i", "no-such-if0"], 1, "no-such-if0: cannot capture"),
        ):
            run = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual(run.returncode, code, (arguments, run.stderr))
            self.assertIn(sentence, run.stderr)
        self.assertEqual(list(self.folder.iterdir()), [self.folder / "so_far"])


if __name__ == "__main__":
    PROGRAM, CAPTURES = sys.argv[1], pathlib.Path(sys.argv[2])
    unittest.main(argv=sys.argv[:1], verbosity=2)
