# SPDX-License-Identifier: BSD-2-Clause
"""What the programs do with their files: none that is read is written over, none is left half, what was cut is said.

usage: files_test.py ROCE_ANALYZE ROCE_REPLAY ROCE_GEN CAPTURES_FOLDER
"""

import gzip
import os
import pathlib
import random
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

ANALYZE = REPLAY = GEN = ""
CAPTURES = pathlib.Path()
WAIT = 60  # seconds until a program that should have moved on has failed

# What the programs exit with: a wrong command line; a file that cannot be read, or output that cannot be written.
USAGE, FAILED = 2, 1


def program(name):
    return {"analyze": ANALYZE, "replay": REPLAY, "gen": GEN}[name]


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.content = (CAPTURES / "softroce" / "rc-mix-v4.tx.pcap").read_bytes()
        self.capture = self.file("in.pcap", self.content)

    def file(self, name, content):
        path = self.folder / name
        path.write_bytes(content)
        return path

    def long_capture(self, name, least_bytes):
        """One that no pipe and no buffer holds: the same packets again and again."""
        random_bytes = random.Random(1).randbytes
        # What nobody can compress, and is no RoCE.
        frame = bytes(12) + b"\x08\x06"
        records = self.content[24:]
        content = self.content[:24]
        while len(content) < least_bytes:
            content += records + self.content[24:32] + struct.pack("<II", 20_000, 20_000) + frame + random_bytes(20_000 - len(frame))
        return self.file(name, content)

    def run_program(self, name, *arguments, **options):
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, **options}
        return subprocess.run([program(name), *map(str, arguments)], stderr=subprocess.PIPE, timeout=WAIT, check=False, **options)

    def assert_ended(self, done, name, code):
        """With this exit code, and one line that begins with the program."""
        error = done.stderr.decode()
        self.assertEqual(done.returncode, code, error)
        self.assertRegex(error.splitlines()[-1], f"^roce-{name}: ")
        return error

    def names(self):
        return sorted(path.name for path in self.folder.iterdir())

    def wait_for(self, holds):
        until = time.monotonic() + WAIT
        while not holds():
            self.assertLess(time.monotonic(), until)
            time.sleep(0.001)


class WhatIsRead(Files):
    """Commands that write, as (program, arguments in front of the name of what is written)."""

    WRITERS = [
        ("replay", ["rewrite", "{in}"]),
        ("replay", ["send", "{in}", "-w"]),
        ("analyze", ["annotate", "{in}"]),
        ("analyze", ["extract", "--stream", "0", "{in}", "-o"]),
        ("analyze", ["summary", "{in}", "--carry"]),
        ("gen", ["craft", "-f", "{in}", "-w"]),
    ]

    def setUp(self):
        super().setUp()
        # A name that annotate and extract take.
        self.capture = self.capture.rename(self.folder / "in.pcapng")

    def refused(self, name, arguments, out, **options):
        filled = [argument.replace("{in}", str(self.capture)) for argument in arguments]
        done = self.run_program(name, *filled, out, **options)
        self.assertIn("it is the file that is read", self.assert_ended(done, name, USAGE))
        self.assertEqual(self.capture.read_bytes(), self.content)

    def test_is_not_written_whatever_its_name(self):
        soft, hard = self.folder / "soft.pcapng", self.folder / "hard.pcapng"
        soft.symlink_to("in.pcapng")
        hard.hardlink_to(self.capture)
        before = self.names()
        for name, arguments in self.WRITERS:
            for out in (self.capture, soft, hard, self.folder / ".." / self.folder.name / "in.pcapng"):
                with self.subTest(command=[name, *arguments], out=out):
                    self.refused(name, arguments, out)
            with self.subTest(command=[name, *arguments], out="a descriptor"), open(self.capture, "r+b") as opened:
                self.refused(name, arguments, f"/dev/fd/{opened.fileno()}", pass_fds=[opened.fileno()])
        self.assertEqual(self.names(), before)

    def test_is_not_written_as_standard_input(self):
        for arguments in (["rewrite", "-", self.capture], ["send", "-", "-w", self.capture], ["rewrite", self.capture, "/dev/stdin"]):
            with self.subTest(arguments=arguments), open(self.capture, "rb") as opened:
                done = self.run_program("replay", *arguments, stdin=opened)
                self.assertIn("it is the file that is read", self.assert_ended(done, "replay", USAGE))
        self.assertEqual(self.capture.read_bytes(), self.content)

    def test_is_not_written_by_a_report(self):
        for name, arguments in [("analyze", ["summary"]), ("analyze", ["decode"]), ("analyze", ["events", "--json"]),
                                ("replay", ["info"]), ("replay", ["send", "--dry-run"]), ("replay", ["rewrite", "--dry-run"]),
                                ("replay", ["converse", "-i", "lo", "--dry-run"])]:
            with self.subTest(command=[name, *arguments]), open(self.capture, "ab") as out:
                done = self.run_program(name, *arguments, self.capture, stdout=out)
                self.assertIn("to standard output", self.assert_ended(done, name, USAGE))
            self.assertEqual(self.capture.read_bytes(), self.content)

    def test_lists_of_names_are_not_written(self):
        names = self.file("names", b"192.0.2.1 host\n")
        done = self.run_program("analyze", "summary", "--names", names, self.capture, "--carry", names)
        self.assertIn("it is the file that is read", self.assert_ended(done, "analyze", USAGE))
        self.assertEqual(names.read_bytes(), b"192.0.2.1 host\n")

    def test_one_pipe_is_not_both(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        self.assert_ended(self.run_program("replay", "rewrite", pipe, pipe), "replay", USAGE)

    def test_a_state_may_be_replaced(self):
        state = self.folder / "state"
        for options in (["--carry", state], ["--after", state, "--carry", state]):
            done = self.run_program("analyze", "summary", *options, self.capture)
            self.assertEqual((done.returncode, done.stderr), (0, b""))


class WhatIsWritten(Files):
    """Commands that write a file of some 100 KB, with `OUT` behind them."""

    WRITERS = [
        ("replay", ["rewrite", "{in}"], "out.pcap"),
        ("replay", ["rewrite", "{in}"], "out.pcapng.gz"),
        ("replay", ["send", "{in}", "-w"], "out.pcap"),
        ("analyze", ["annotate", "{in}"], "out.pcapng"),
        ("analyze", ["extract", "--stream", "0", "{in}", "-o"], "out.pcapng.zst"),
        ("analyze", ["summary", "{in}", "--carry"], "out.state"),
        ("gen", ["craft", "-n", "1000", "payload_length=1000", "-w"], "out.pcap"),
    ]

    def commands(self):
        for name, arguments, out in self.WRITERS:
            yield name, [argument.replace("{in}", str(self.capture)) for argument in arguments], self.folder / out

    def test_is_whole_or_not_there(self):
        for name, arguments, out in self.commands():
            for old in (None, b"old"):
                with self.subTest(command=[name, *arguments], old=old):
                    if old is not None:
                        out.write_bytes(old)
                    # A limit of the file's size stands for a full disk, which needs root.
                    small = self.run_program(name, *arguments, out, preexec_fn=lambda: resource.setrlimit(
                        resource.RLIMIT_FSIZE, (600, resource.RLIM_INFINITY)))
                    error = self.assert_ended(small, name, FAILED)
                    self.assertIn(f"{out}: cannot write: File too large", error)
                    self.assertEqual(self.names(), ["in.pcap"] + ([] if old is None else [out.name]))
                    if old is not None:
                        self.assertEqual(out.read_bytes(), old)
            done = self.run_program(name, *arguments, out)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.names(), ["in.pcap", out.name])
            self.assertGreater(out.stat().st_size, 600)
            out.unlink()

    def test_does_not_survive_a_signal_half(self):
        out, partial = self.folder / "out.pcap", self.folder / "out.pcap.partial"
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            for old in (None, b"old"):
                with self.subTest(signal=number, old=old):
                    out.unlink(missing_ok=True)
                    if old is not None:
                        out.write_bytes(old)
                    with subprocess.Popen([REPLAY, "rewrite", "-", out], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                          stderr=subprocess.DEVNULL) as running:
                        running.stdin.write(self.content)
                        running.stdin.flush()
                        self.wait_for(partial.exists)
                        running.send_signal(number)
                        self.assertEqual(running.wait(WAIT), -number)
                    self.assertFalse(partial.exists())
                    self.assertEqual(out.exists(), old is not None)
                    if old is not None:
                        self.assertEqual(out.read_bytes(), old)

    def test_is_named_for_what_it_is_when_the_program_is_killed(self):
        out, partial = self.folder / "out.pcap", self.folder / "out.pcap.partial"
        with subprocess.Popen([REPLAY, "rewrite", "-", out], stdin=subprocess.PIPE) as running:
            running.stdin.write(self.content)
            running.stdin.flush()
            self.wait_for(partial.exists)
            running.kill()
            running.wait(WAIT)
        self.assertEqual(self.names(), ["in.pcap", "out.pcap.partial"])
        # The next run does not mind.
        self.assertEqual(self.run_program("replay", "rewrite", self.capture, out).returncode, 0)
        self.assertEqual(self.names(), ["in.pcap", "out.pcap", "out.pcap.partial"])

    def test_reports_that_cannot_be_written_are_errors(self):
        for name, arguments in [("analyze", ["summary"]), ("analyze", ["decode"]), ("analyze", ["streams", "--json"]),
                                ("analyze", ["rules"]), ("analyze", ["--help"]), ("analyze", ["--version"]),
                                ("replay", ["info"]), ("replay", ["info", "--json"]),
                                ("replay", ["rewrite", "--dry-run", "--json"]), ("replay", ["send", "--dry-run"]),
                                ("replay", ["send", "--dry-run", "--json"]), ("replay", ["converse", "-i", "lo", "--dry-run"]),
                                ("replay", ["--help"]), ("replay", ["--version"]),
                                ("gen", ["craft", "--dry-run"]), ("gen", ["craft", "--list"]), ("gen", ["craft", "-w", "-"]),
                                ("gen", ["gids"]), ("gen", ["--help"]), ("gen", ["--version"])]:
            takes_capture = name != "gen" and arguments[-1] not in ("rules", "--help", "--version")
            with self.subTest(command=[name, *arguments]), open("/dev/full", "wb") as full:
                done = self.run_program(name, *arguments, *([self.capture] if takes_capture else []), stdout=full)
                self.assertIn("cannot write", self.assert_ended(done, name, FAILED))


class WhatWasCut(Files):
    def setUp(self):
        super().setUp()
        long = self.long_capture("long.pcap", 1_000_000)
        for name in ("long.pcapng", "long.pcap.zst", "long.pcapng.zst"):
            self.assertEqual(self.run_program("replay", "rewrite", long, self.folder / name).returncode, 0)
        self.file("long.pcap.gz", gzip.compress(long.read_bytes()))
        self.cut = []
        for whole in sorted(self.folder.glob("long.*")):
            content = whole.read_bytes()
            # In the middle, and so early that of a compressed file nothing can be read.
            for share, name in ((0.5, "cut"), (0.999, "end")):
                self.cut.append(self.file(whole.name.replace("long", name), content[:int(len(content) * share) // 4 * 4 + 1]))
            if whole.suffix in (".gz", ".zst"):
                self.cut.append(self.file(whole.name.replace("long", "nothing"), content[:30]))
            whole.unlink()

    def test_is_judged_as_far_as_it_goes(self):
        for capture in self.cut:
            for name, arguments in [("analyze", ["summary"]), ("analyze", ["decode"]), ("analyze", ["streams"]),
                                    ("analyze", ["messages"]), ("analyze", ["events"]), ("analyze", ["latency"]),
                                    ("analyze", ["timeline"]), ("analyze", ["paths"]), ("analyze", ["incast"]),
                                    ("analyze", ["waits"]), ("analyze", ["counters"]), ("replay", ["info"])]:
                with self.subTest(capture=capture.name, command=[name, *arguments]):
                    done = self.run_program(name, *arguments, capture)
                    error = self.assert_ended(done, name, FAILED)
                    self.assertRegex(error, rf"{capture.name}: (byte \d+: the file ends inside|.*the compressed data ends early)")
                    if not capture.name.startswith("nothing"):
                        self.assertNotEqual(done.stdout, b"")

    def test_copies_have_what_could_be_read(self):
        out = self.folder / "out.pcapng"
        for capture in self.cut:
            for arguments in (["annotate", capture, out], ["extract", "--stream", "0", "-o", out, capture]):
                with self.subTest(capture=capture.name, command=arguments[0]):
                    self.assert_ended(self.run_program("analyze", *arguments), "analyze", FAILED)
                    self.assertEqual(out.exists(), not capture.name.startswith("nothing"))
                    if out.exists():
                        self.assertEqual(self.run_program("analyze", "streams", out).returncode, 0)
                        out.unlink()

    def test_is_not_played_again(self):
        out = self.folder / "out.pcap"
        for capture in self.cut:
            for arguments in (["rewrite", capture, out], ["send", capture, "-w", out], ["send", capture, "--dry-run"],
                              ["converse", "-i", "lo", "--dry-run", capture]):
                with self.subTest(capture=capture.name, arguments=arguments):
                    self.assert_ended(self.run_program("replay", *arguments), "replay", FAILED)
                    self.assertFalse(out.exists())


class WhatChanges(Files):
    """A file that is cut while it is read: the program waits at a pipe that nobody reads from."""

    def cut_while_read(self, name, *arguments):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        capture = self.long_capture("long.pcap", 8_000_000)
        arguments = [str(argument).replace("{in}", str(capture)).replace("{pipe}", str(pipe)) for argument in arguments]
        to_pipe = any(str(pipe) in argument for argument in arguments)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        out = subprocess.DEVNULL if to_pipe else os.open(pipe, os.O_WRONLY)
        with subprocess.Popen([program(name), *arguments], stdout=out, stderr=subprocess.PIPE) as running:
            if not to_pipe:
                os.close(out)
            os.set_blocking(reader, True)
            first = b""
            def has_begun():
                nonlocal first
                first += os.read(reader, 1)
                return first
            self.wait_for(has_begun)
            os.truncate(capture, 1_000_000)
            with open(reader, "rb") as rest:
                written = first + rest.read()
            error = running.stderr.read().decode()
            self.assertEqual(running.wait(WAIT), FAILED, error)
        self.assertRegex(error, rf"{capture}: byte \d+: the file was cut while it was read: it had \d+ bytes when it was opened, "
                                r"it has 1000000; .*; the \d+ packets before it were read")
        return written

    def test_decoding(self):
        self.assertGreater(len(self.cut_while_read("analyze", "decode", "{in}").splitlines()), 100)

    def test_rewriting(self):
        self.cut_while_read("replay", "rewrite", "{in}", "{pipe}")


if __name__ == "__main__":
    ANALYZE, REPLAY, GEN, CAPTURES = (*sys.argv[1:4], pathlib.Path(sys.argv[4]))
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]])
