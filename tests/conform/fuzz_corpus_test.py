#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The files of roce-conform fuzz: a corpus survives what happens to fuzzers, is shared and merged, and is never made
worse. Usage: fuzz_corpus_test.py ROCE_CONFORM"""

import os
import pty
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

CONFORM = sys.argv.pop(1)
FOREVER = ["--time", "600s"]
WAIT = 60


def command(corpus, *options):
    return [CONFORM, "fuzz", "--corpus", str(corpus), *options]


def fuzz(corpus, *options, **keywords):
    return subprocess.run(command(corpus, *options), capture_output=True, text=True, check=False, **keywords)


def programs_of(corpus):
    return {path.name: path.read_bytes() for path in corpus.glob("program-*.yaml")}


def state_of(corpus, seed):
    """Returns the numbers of a state, which a rename makes whole at all times; none before the first one."""
    try:
        lines = (corpus / f"fuzzer-{seed}.yaml").read_text().splitlines()
    except FileNotFoundError:
        return {"programs": 0, "signatures": 0}
    return {name: int(value) for name, value in (line.split(": ") for line in lines if ": " in line)
            if name in ("programs", "signatures")}


def signatures_of(corpus, seed):
    """Returns the numbers of what a fuzzer has seen happen."""
    content = (corpus / f"fuzzer-{seed}.signatures").read_bytes()
    return {content[at:at + 8] for at in range(0, len(content) - 7, 8)}


class Corpus(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.corpus = self.folder / "corpus"

    def make(self, corpus=None, seed=1, programs=300):
        done = fuzz(corpus or self.corpus, "--programs", str(programs), "--seed", str(seed))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def wait_until(self, is_so, fuzzer):
        """Until something is to be seen in the corpus, which is looked for again and again: the fuzzer says nothing when it writes."""
        end = time.monotonic() + WAIT
        while not is_so():
            self.assertIsNone(fuzzer.poll(), "the fuzzer ended")
            self.assertLess(time.monotonic(), end, "the fuzzer does not write its state")
            time.sleep(0.01)

    def refuse(self, sentence, corpus, *options, **keywords):
        done = fuzz(corpus, *options, **keywords)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn(sentence, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def test_stays_with_its_state_when_a_capture_cannot_be_read(self):
        self.make()
        state = (self.corpus / "fuzzer-1.yaml").read_bytes()
        done = fuzz(self.corpus, "--programs", "1", "--capture", str(self.folder / "none.pcap"))
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn("none.pcap", done.stderr)
        self.assertEqual((self.corpus / "fuzzer-1.yaml").read_bytes(), state)

    def test_is_whole_whenever_a_fuzzer_is_killed(self):
        chance = random.Random(7)
        kept, state = {}, {"programs": 0, "signatures": 0}
        for number in range(10):
            resume = ["--resume"] if number else []
            fuzzer = subprocess.Popen(command(self.corpus, *FOREVER, "--rate", "1500", *resume), stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, text=True)
            self.wait_until(lambda: state_of(self.corpus, 1)["programs"] != state["programs"], fuzzer)
            # No event is waited for: the kill is to come at any time.
            time.sleep(chance.random() * 0.3)
            fuzzer.send_signal(signal.SIGKILL)
            _, errors = fuzzer.communicate()
            self.assertEqual(errors, "")
            after, left = programs_of(self.corpus), state_of(self.corpus, 1)
            self.assertEqual({name: after.get(name) for name in kept}, kept)
            self.assertGreater(left["programs"], state["programs"])
            self.assertGreaterEqual(left["signatures"], state["signatures"])
            kept, state = after, left
        done = fuzz(self.corpus, "--resume", "--programs", str(state["programs"] + 100))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(f"{state['programs'] + 100} programs", done.stdout)
        self.assertGreaterEqual(state_of(self.corpus, 1)["signatures"], state["signatures"])

    def test_is_shared(self):
        self.make(seed=1)
        first = state_of(self.corpus, 1)["signatures"]
        self.make(seed=2, programs=len(programs_of(self.corpus)))
        self.assertGreaterEqual(state_of(self.corpus, 2)["signatures"], first)

    def test_takes_programs_that_another_fuzzer_adds(self):
        self.make(self.folder / "other", seed=2)
        fuzzer = subprocess.Popen(command(self.corpus, *FOREVER, "--rate", "1000"), stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True)
        self.wait_until((self.corpus / "fuzzer-1.yaml").exists, fuzzer)
        damaged = self.corpus / "program-0000000000000001.yaml"
        damaged.write_text("program: 3\n")
        self.addCleanup(fuzzer.kill)
        self.assertIn(str(damaged), fuzzer.stderr.readline())
        fuzzer.terminate()
        fuzzer.communicate()
        self.assertEqual(fuzzer.returncode, 2)

    def test_two_fuzzers_learn_from_each_other(self):
        """Each knows in the end what the other one found, which two seeds do not find by themselves. Not quite all of it: what a frame
        for a QP beside that of the program meets depends on what else the device has."""
        fuzzers = {seed: subprocess.Popen(command(self.corpus, *FOREVER, "--seed", str(seed), "--rate", "4000"), stdout=subprocess.DEVNULL)
                   for seed in (1, 2)}
        for fuzzer in fuzzers.values():
            self.addCleanup(fuzzer.wait)
            self.addCleanup(fuzzer.kill)
        found = {}
        for seed, fuzzer in fuzzers.items():
            self.wait_until(lambda seed=seed: state_of(self.corpus, seed)["programs"] >= 300, fuzzer)
            found[seed] = signatures_of(self.corpus, seed)
        def knows(seed, other):
            return len(found[other] - signatures_of(self.corpus, seed)) <= len(found[other]) // 50

        self.assertFalse(knows(1, 2) or knows(2, 1))
        for seed, other in ((1, 2), (2, 1)):
            self.wait_until(lambda seed=seed, other=other: knows(seed, other), fuzzers[seed])

    def test_is_of_one_fuzzer_for_each_seed(self):
        fuzzer = subprocess.Popen(command(self.corpus, *FOREVER), stdout=subprocess.DEVNULL)
        self.addCleanup(fuzzer.wait)
        self.addCleanup(fuzzer.kill)
        self.wait_until((self.corpus / "fuzzer-1.yaml").exists, fuzzer)
        self.refuse("give this one another --seed", self.corpus)

    def test_merges_to_fewer_that_show_as_much(self):
        self.make(self.folder / "a", seed=1)
        self.make(self.folder / "b", seed=2)
        sources = {name: programs_of(self.folder / name) for name in "ab"}
        done = fuzz(self.corpus, "--merge", str(self.folder / "a"), str(self.folder / "b"))
        self.assertEqual(done.returncode, 0, done.stderr)
        merged = programs_of(self.corpus)
        union = {**sources["a"], **sources["b"]}
        self.assertLess(len(merged), len(union))
        self.assertLessEqual(merged.items(), union.items())
        self.assertEqual({name: programs_of(self.folder / name) for name in "ab"}, sources)
        signatures = done.stdout.split(" all ")[1]
        whole = self.folder / "whole"
        again = fuzz(whole, "--merge", str(self.corpus))
        self.assertEqual(again.stdout.split(" all ")[1], signatures)
        fuzz(self.folder / "a", "--merge", str(self.folder / "b"))
        self.assertEqual(len(programs_of(self.folder / "a")), len(merged))

    def test_names_a_damaged_program_and_goes_on(self):
        self.make()
        damaged = sorted(self.corpus.glob("program-*.yaml"))[3]
        damaged.write_bytes(damaged.read_bytes()[:-20])
        content = damaged.read_bytes()
        done = fuzz(self.corpus, "--programs", "20")
        self.assertEqual(done.returncode, 2)
        self.assertIn(str(damaged), done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertIn("20 programs", done.stdout)
        self.assertEqual(damaged.read_bytes(), content)

    def test_of_another_version_is_refused(self):
        self.make()
        program = sorted(self.corpus.glob("program-*.yaml"))[0]
        program.write_text(program.read_text().replace("program: 3", "program: 4"))
        before = programs_of(self.corpus)
        self.refuse("another version", self.corpus)
        self.assertEqual(programs_of(self.corpus), before)
        state = self.corpus / "fuzzer-1.yaml"
        program.unlink()
        self.make()
        state.write_text(state.read_text().replace("fuzzer: 3", "fuzzer: 4"))
        self.refuse("expected version 3, found 4", self.corpus, "--resume")

    def test_state_has_to_fit(self):
        self.refuse("begin without --resume", self.corpus, "--resume")
        self.make()
        self.refuse("of another device", self.corpus, "--resume", "--profile", "rxe")
        signatures = self.corpus / "fuzzer-1.signatures"
        content = signatures.read_bytes()
        signatures.write_bytes(content[:-8])
        self.refuse(f"{signatures}: expected {len(content) // 8} signatures", self.corpus, "--resume")
        signatures.write_bytes(bytes(8) + content[8:])
        self.refuse(f"{signatures}: is damaged", self.corpus, "--resume")

    def test_full_disk_is_said(self):
        self.make(programs=50)
        before = programs_of(self.corpus)
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))
        self.refuse("File too large", self.corpus, "--programs", "500", "--seed", "2", preexec_fn=limit)
        self.assertEqual(programs_of(self.corpus), before)

    def test_folder_that_cannot_be_is_said(self):
        self.refuse("cannot be made a folder", "/proc/corpus")
        self.refuse("is no folder", self.corpus, "--merge", str(self.folder / "nothing"))


class Screen(unittest.TestCase):
    def test_says_a_plateau_at_the_end(self):
        done = subprocess.run([CONFORM, "fuzz", "--programs", "20", "--plateau", "0s"], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("\nplateau: no new signature for 0 s\n", done.stdout)

    def test_is_a_line_of_the_width_of_the_terminal(self):
        ours, its = pty.openpty()
        fuzzer = subprocess.Popen([CONFORM, "fuzz", *FOREVER], stderr=its, stdout=subprocess.DEVNULL, env={**os.environ, "COLUMNS": "60"})
        self.addCleanup(fuzzer.wait)
        self.addCleanup(fuzzer.kill)
        os.close(its)
        seen = b""
        while seen.count(b"\r") < 3:
            seen += os.read(ours, 4096)
        os.close(ours)
        line = seen.split(b"\r\x1b[K")[1].decode()
        self.assertRegex(line, r"^\d+ s: 0 findings, \d+ of 105 states, \d+ signatures, ")
        self.assertEqual(len(line), 59)


class Target(unittest.TestCase):
    def refuse(self, sentence, *options):
        done = subprocess.run([CONFORM, "fuzz", *options], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn(sentence, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def test_has_to_be_named_with_all_that_leads_to_it(self):
        needs = "needs --target, its address, --interface, the way to it, and --agent"
        self.refuse(needs, "-i", "lo")
        self.refuse(needs, "-i", "lo", "--agent", "/nowhere")
        self.refuse(needs, "--target", "192.0.2.7")

    def test_is_one_address(self):
        way = ["-i", "lo", "--agent", "/nowhere", "--target"]
        self.refuse("a name may become that of another host", *way, "switch7")
        self.refuse("expected an IPv4 or IPv6 address", *way, "192.0.2.0/24")
        for address in ("255.255.255.255", "224.0.0.1", "127.0.0.1", "0.0.0.0", "ff02::1", "::", "::1"):
            self.refuse("single other host", *way, address)


if __name__ == "__main__":
    os.environ.pop("COLUMNS", None)
    unittest.main()
