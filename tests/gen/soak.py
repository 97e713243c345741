# SPDX-License-Identifier: BSD-2-Clause
"""Every operation at once on 1000 queue pairs, for minutes, on a wire that loses packets, and the peer killed in the middle.

usage: soak.py [--seconds N] [--loss SHARE] ROCE_GEN

Two namespaces and the relay between them, in a user namespace of its own: needs no privilege; prints why and exits with 77 where
that is forbidden. Three parts: exchanges that run to their end; exchanges under which the peer is killed and started again, each
of which has to end by itself with an error; and exchanges with the new peer that run to their end. Exit code 0 if everything
that was sent arrived right, nothing hung, and no program grew.
"""

import argparse
import os
import select
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from live import Program, RelayedWire, enter_namespaces

# Rates that leave the processors of a small machine time: a queue in front of them is a delay, and at last a timeout.
OPERATIONS = (
    ("send", ["-q", "200", "-t", "4", "-s", "1-8k", "--rate", "5kpps"]),
    ("write", ["-q", "200", "-t", "4", "-s", "1,1500,16384", "--rate", "5kpps"]),
    ("read", ["-q", "200", "-t", "2", "-s", "64,4096", "--rate", "1kpps"]),
    ("atomic", ["-q", "150", "-t", "4", "--rate", "2kpps"]),
    ("flush", ["-q", "150", "-t", "2", "-s", "3000", "--rate", "3kpps"]),
    ("ud", ["-q", "100", "-t", "1", "-s", "1-1k", "--rate", "2kpps", "--allow-loss"]),
)
QUEUE_PAIRS = sum(int(options[options.index("-q") + 1]) for _, options in OPERATIONS)
PATIENCE = 60  # seconds from the death of the peer to the end of the exchanges, and from their last message to their results
MIB = 1 << 20
# Of the resident memory, from the second fifth of an exchange's time to the last: neither a share nor an amount beyond these.
GROWTH_SHARE = 0.05
GROWTH_BYTES = MIB


def resident_bytes(pid):
    """None if the program is gone."""
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return None


class Memory:
    """Samples of the resident memory of a program."""

    def __init__(self, seconds):
        self.seconds = seconds
        self.samples = []

    def take(self, pid, at):
        size = resident_bytes(pid)
        if size:
            self.samples.append((at, size))

    def median(self, begin, end):
        chosen = [size for at, size in self.samples if begin * self.seconds <= at < end * self.seconds]
        return statistics.median(chosen) if chosen else 0

    @property
    def begin(self):
        return self.median(0.2, 0.4)

    @property
    def end(self):
        return self.median(0.8, 1.0)


class Soak:
    def __init__(self, program, seconds, loss, folder):
        self.program = program
        self.socket = os.path.join(folder, "control.sock")
        self.wrong = []  # sentences
        self.rows = []
        self.network = RelayedWire()
        # With the udp link only one program may have an address's port 4791.
        for number, _ in enumerate(OPERATIONS):
            self.network.ip("a", "address", "add", f"10.9.0.{10 + number}/24", "dev", "va")
        for name, interface in (("a", "va"), ("m", "ra"), ("m", "rb"), ("b", "vb")):
            self.network.wait_until_usable(name, interface)
        self.seconds = 0.4 * seconds
        self.relay = Program(program, self.network, "m", "relay", "-i", "ra", "-o", "rb", "-e", f"drop:probability={loss}")
        self.peer = self.start_peer()

    def start_peer(self):
        return Program(self.program, self.network, "b", "peer", "-i", "vb", "--link", "raw", "--control", self.socket)

    def start_exchanges(self, link, seconds):
        # Eight programs may share two processors: an acknowledgement may take long without being lost (2^18 * 4.096 us = 1.1 s).
        return {name: Program(self.program, self.network, "a", name, "-i", "va", "--link", link, "--address",
                              f"10.9.0.{10 + number}", "--timeout", "18", "-D", f"{seconds:g}", *options, self.socket)
                for number, (name, options) in enumerate(OPERATIONS)}

    def whole_exchanges(self, part, link):
        """Exchanges that run to their end, and have to succeed."""
        exchanges = self.start_exchanges(link, self.seconds)
        watched = {**exchanges, "peer": self.peer, "relay": self.relay}
        memory = {name: Memory(self.seconds) for name in watched}
        begun = time.monotonic()
        while (elapsed := time.monotonic() - begun) < self.seconds:
            for name, program in watched.items():
                memory[name].take(program.process.pid, elapsed)
            time.sleep(min(2, self.seconds / 25))
        for name, program in exchanges.items():
            self.take_result(part, name, program, memory[name])
        for name in ("peer", "relay"):
            self.add_row((part, name, "", "", "", "", ""), memory[name])

    def take_result(self, part, name, program, memory):
        result = {}
        if not self.ends(program, PATIENCE):
            self.wrong.append(f"{part}: {name} did not end in {PATIENCE} s")
            program.end()
        else:
            code, said = program.result()
            if code != 0 or not isinstance(said, dict):
                self.wrong.append(f"{part}: {name} ended with exit code {code}: {said}".strip())
            else:
                result = said
        if name != "ud" and result.get("lost", 0) != 0:
            self.wrong.append(f"{part}: {name} lost {result['lost']} messages")
        counts = [result.get(key, "?") for key in ("qps", "messages")]
        again = result.get("counters", {}).get("retransmitted_packets", "?")
        self.add_row((part, name, *counts, again, result.get("lost", "?"), "yes" if result else "NO"), memory)

    @staticmethod
    def ends(program, seconds):
        """Whether it ends in this time. What it prints at the end is little, so that it can do so without being read."""
        try:
            program.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def add_row(self, row, memory):
        part, name, *_ = row
        if not memory.end:
            self.wrong.append(f"{part}: {name} was gone before its time")
        if memory.end - memory.begin > min(GROWTH_SHARE * memory.begin, GROWTH_BYTES):
            self.wrong.append(f"{part}: the memory of {name} grew from {memory.begin / MIB:.1f} to {memory.end / MIB:.1f} MiB")
        self.rows.append((*row, f"{memory.begin / MIB:.1f}", f"{memory.end / MIB:.1f}"))

    def broken_exchanges(self, seconds):
        """The peer dies under exchanges, which have to notice; there is a new one at once."""
        exchanges = self.start_exchanges("raw", 10 * PATIENCE)
        time.sleep(seconds)
        for name, program in exchanges.items():
            if program.process.poll() is not None:
                self.wrong.append(f"restart: {name} ended before the peer did: {program.result()}")
        self.peer.end()
        died = time.monotonic()
        self.peer = self.start_peer()
        slowest = 0
        for name, program in exchanges.items():
            if not self.ends(program, max(0, died + PATIENCE - time.monotonic())):
                self.wrong.append(f"restart: {name} did not end in {PATIENCE} s after the peer was killed")
                program.end()
                continue
            slowest = time.monotonic() - died
            code, error = program.process.returncode, program.process.stderr.read()
            if code != 1 or error.count("\n") != 1:
                self.wrong.append(f"restart: {name} ended with exit code {code}: {error}")
            print(f"  {name:<7} {error.strip()}")
            program.end()
        print(f"  the last ended {slowest:.1f} s after the peer was killed", flush=True)

    def run(self, broken_seconds):
        print(f"exchanges on {QUEUE_PAIRS} queue pairs for {self.seconds:g} s", flush=True)
        self.whole_exchanges("before", "raw")
        print(f"the peer is killed under such after {broken_seconds:g} s, and started again", flush=True)
        self.broken_exchanges(broken_seconds)
        print(f"exchanges with the new one for {self.seconds:g} s", flush=True)
        self.whole_exchanges("after", "udp")
        code, error = self.peer.result(signal.SIGTERM)
        if code != 0:
            self.wrong.append(f"the peer ended with exit code {code}: {error}")
        code, totals = self.relay.result(signal.SIGTERM)
        if code != 0:
            self.wrong.append(f"the relay ended with exit code {code}: {totals}")
            return
        frames, dropped = (sum(totals[way][count] for way in ("a_to_b", "b_to_a")) for count in ("received", "dropped"))
        print(f"the relay dropped {dropped} of {frames} frames")
        if not dropped:
            self.wrong.append("the relay dropped nothing")

    def print_table(self):
        names = ("part", "operation", "QPs", "messages", "retransmitted", "lost", "verified", "MiB begin", "end")
        print()
        for part, name, qps, messages, again, lost, verified, begin, end in [names, *self.rows]:
            print(f"{part:<7} {name:<9} {qps:>4} {messages:>9} {again:>13} {lost:>6} {verified:>8} {begin:>9} {end:>6}")
        print()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("program", metavar="ROCE_GEN")
    parser.add_argument("--seconds", type=float, default=600, help="of all parts together (default: 600)")
    parser.add_argument("--loss", type=float, default=0.001, help="share of packets that the relay loses (default: 0.001)")
    arguments = parser.parse_args()
    enter_namespaces()
    with tempfile.TemporaryDirectory(prefix="roce-soak-") as folder:
        soak = Soak(os.path.abspath(arguments.program), arguments.seconds, arguments.loss, folder)
        try:
            soak.run(0.1 * arguments.seconds)
        finally:
            soak.relay.end()
            soak.peer.end()
            soak.network.close()
    soak.print_table()
    for sentence in soak.wrong:
        print("wrong:", sentence)
    print("FAILED" if soak.wrong else "all messages verified, no memory grew, and every exchange ended")
    return 1 if soak.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
