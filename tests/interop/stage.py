# SPDX-License-Identifier: BSD-2-Clause
"""What the cases of interop_test.py have in common: one network, one guest, one roce-gen."""

import contextlib
import json
import os
import queue
import re
import subprocess
import tempfile
import threading
import unittest

from guest import COUNTERS, GuestError

# What the kernel prints when something in it went wrong.
KERNEL_COMPLAINTS = re.compile(r"BUG|WARNING|Oops|Call Trace|general protection|lockdep|refcount_t|soft lockup|hung task")


class Program:
    """A roce-gen that runs in a namespace with --json: its events as they come, and its end."""

    def __init__(self, namespace, words):
        self.words = words
        self._process = namespace.popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self._lines = queue.Queue()
        self.said, self.stderr = [], ""
        self._threads = [threading.Thread(target=self._read_stdout, daemon=True),
                         threading.Thread(target=self._read_stderr, daemon=True)]
        for thread in self._threads:
            thread.start()

    def _read_stdout(self):
        with self._process.stdout as pipe:
            for line in pipe:
                self.said.append(line)
                self._lines.put(line)
        self._lines.put(None)

    def _read_stderr(self):
        with self._process.stderr as pipe:
            for line in pipe:
                self.stderr += line

    def explain(self, text):
        return f"{text}\n`{' '.join(self.words)}` said:\n{''.join(self.said)}{self.stderr}"

    def tell(self, line):
        """Writes a line to its standard input."""
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()

    def event(self, name, timeout=30):
        """The next event of that name, or of one of several names."""
        names = (name,) if isinstance(name, str) else name
        while True:
            try:
                line = self._lines.get(timeout=timeout)
            except queue.Empty:
                raise GuestError(self.explain(f"No event {name} within {timeout} s.")) from None
            if line is None:
                raise GuestError(self.explain(f"It ended before the event {name}."))
            with contextlib.suppress(ValueError):
                event = json.loads(line)
                if event.get("event") in names:
                    return event

    def wait(self, timeout=30):
        """Its exit code."""
        try:
            code = self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            self._process.kill()
            raise GuestError(self.explain(f"It did not end within {timeout} s.")) from None
        for thread in self._threads:
            thread.join()
        self._process.stdin.close()
        return code

    def stop(self):
        """Asks it to end, by SIGTERM."""
        self._process.terminate()

    def end(self):
        self._process.kill()
        self.wait()


class Case(unittest.TestCase):
    """Base of all cases. interop_test.py sets what they share before the first one runs."""

    network = guest = roce_gen = roce_analyze = roce_replay = roce_agent = roce_conform = roce_run = link = recovery = None
    _complaints = ()

    def setUp(self):
        self._processes = []
        # For files of the case; goes with it.
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.capture = os.path.join(self.folder, "ours.pcapng")

    def tearDown(self):
        for process in self._processes:
            process.kill()
            process.wait(10)
        self.assertEqual(self.new_complaints(), [], "the guest's kernel complains")

    def new_complaints(self):
        """What the guest's kernel complains of that no call has returned yet. Its log holds the newest lines only."""
        lines = [line for line in self.guest.dmesg().splitlines() if KERNEL_COMPLAINTS.search(line)]
        new = [line for line in lines if line not in Case._complaints]
        Case._complaints = [*Case._complaints, *new]
        return new

    def in_guest(self, command):
        """Starts a command in the guest that ends with the case at the latest."""
        process = self.guest.popen(command)
        self._processes.append(process)
        return process

    def gen(self, command, *words, namespace=None):
        """Starts a command of roce-gen, in the host's namespace unless told another; it ends with the case at the latest."""
        if self.roce_gen is None:
            self.skipTest("there is no roce-gen: ROCE_GEN does not name it")
        options = ["--link", self.link] if self.link else []
        # The relay has no queue pairs.
        options += ["--recovery", self.recovery] if self.recovery and command != "relay" else []
        program = Program(namespace or self.network.host, [self.roce_gen, command, *options, *map(str, words)])
        self.addCleanup(program.end)
        return program

    def replay(self, command, *words):
        """Starts a command of roce-replay in the host's namespace; it ends with the case at the latest."""
        if self.roce_replay is None:
            self.skipTest("there is no roce-replay: ROCE_REPLAY does not name it")
        options = ["--link", self.link] if self.link else []
        program = Program(self.network.host, [self.roce_replay, command, *options, *map(str, words)])
        self.addCleanup(program.end)
        return program

    def needs_several_endpoints(self):
        """Skips a case with several endpoints of ours at the same time where an interface takes one only."""
        if self.link == "xdp":
            self.skipTest("an interface takes one XDP program")

    def listening(self, port):
        """Until somebody in the guest listens on an RDMA port."""
        waiter = self.guest.run("until /usr/bin/rdma resource show cm_id | grep 'state LISTEN' | "
                                f"grep -q 'src-addr [^ ]*:{port} '; do usleep 20000; done", 20)
        if waiter.code:
            raise GuestError(self.guest.explain(f"nobody listens on RDMA port {port}: {waiter}"))

    @contextlib.contextmanager
    def counted(self):
        """Gives a dict that, after the block, has by how much each of rxe0's counters rose within it."""
        before, rose = self.guest.hw_counters(), {}
        yield rose
        rose.update((name, value - before[name]) for name, value in self.guest.hw_counters().items())

    def wait_for(self, counter, rise, begun=None):
        """Until one of rxe's counters has risen by so much, from now on or from what it was."""
        if begun is None:
            begun = self.guest.hw_counters()[counter]
        waited = self.guest.run(f"until [ $(cat {COUNTERS}/{counter}) -ge {begun + rise} ]; do usleep 20000; done", 30)
        self.assertEqual(waited.code, 0, waited)

    def analyze(self, *words):
        """The objects that roce-analyze prints as JSON."""
        if self.roce_analyze is None:
            self.skipTest("there is no roce-analyze: ROCE_ANALYZE does not name it")
        said = subprocess.run([self.roce_analyze, *words], stdout=subprocess.PIPE, check=True)
        return [json.loads(line) for line in said.stdout.splitlines()]

    def decoded(self, capture):
        """The RoCE packets of a capture, as `roce-analyze decode` shows them."""
        return [packet for packet in self.analyze("decode", "--json", capture) if packet["kind"] == "roce"]

    def rules_left_out(self):
        """The rules that loss recovery breaks on purpose: one NAK for a gap."""
        return {"RC-RESP-02"} if self.recovery else set()

    def assert_keeps_the_rules(self, capture, address):
        """What `address` sent breaks none of the protocol's rules, as roce-analyze judges the capture."""
        source = f"ipv6.src == {address}" if ":" in address else f"ip.src == {address}"
        broken = [(event["frame"], event["rule"], event["text"])
                  for event in self.analyze("events", "--json", "-Y", source, capture)
                  if event["rule"] and event["rule"] not in self.rules_left_out()]
        self.assertEqual(broken, [])
