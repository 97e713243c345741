# SPDX-License-Identifier: BSD-2-Clause
"""What the attacks on a live peer have in common: a switch with three hosts, the peer, a clean exchange beside, the report."""

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "gen"))

from live import SKIPPED, WAIT, Namespaces, Program, enter_namespaces, enter_network_of_the_host  # noqa: E402, F401

ATTACKER, PEER, CLEAN = 1, 2, 3  # the last byte of the addresses
NAMES = {ATTACKER: "a", PEER: "b", CLEAN: "c"}
PATIENCE = 60  # seconds for a program to end
# Of the resident memory, from the second fifth of the attack to the last: neither a share nor an amount beyond these.
GROWTH_SHARE = 0.05
GROWTH_KIB = 1024


class Switch(Namespaces):
    """Hosts a, b and c with an interface "v" each, at a bridge in a namespace of its own: 10.9.0.N and fd09::N."""

    def __init__(self):
        super().__init__("mabc")
        self.ip("m", "link", "add", "switch", "type", "bridge")
        self.ip("m", "link", "set", "switch", "up")
        for number, name in NAMES.items():
            subprocess.run(self.inside(name, "sh", "-c", "echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad"), check=True)
            self.join("m", f"p{name}", name, "v")
            self.ip("m", "link", "set", f"p{name}", "master", "switch", "up")
            self.ip(name, "address", "add", f"10.9.0.{number}/24", "dev", "v")
            self.ip(name, "address", "add", f"fd09::{number}/64", "dev", "v", "nodad")
            self.ip(name, "link", "set", "lo", "up")
            self.ip(name, "link", "set", "v", "up")
        for name in NAMES.values():
            self.wait_until_usable(name, "v")
        # What the attacker hears is single packets, which is all that it reads.
        self.cut_when_sending("b", "v")
        # XDP programs see only the VLAN tags that are in the frame, not beside it.
        subprocess.run(self.inside("m", "ethtool", "-K", "pb", "txvlan", "off"), check=True, capture_output=True)

    def mac(self, name):
        (interface,) = json.loads(self.ip(name, "-j", "link", "show", "v"))
        return [int(octet, 16) for octet in interface["address"].split(":")]


def address(number, family):
    return f"10.9.0.{number}" if family == 4 else f"fd09::{number}"


def resident_kib(pid):
    """None if the program is gone."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            return next((int(line.split()[1]) for line in file if line.startswith("VmRSS:")), None)
    except OSError:
        return None


class Beside:
    """Clean exchanges with the peer from another host, one after the other, until `stop`; and the peer's memory."""

    def __init__(self, program, network, peer, commands):
        self.program = program
        self.network = network
        self.peer = peer
        self.commands = commands
        self.wrong = []  # sentences
        self.verified = 0
        self.messages = 0
        self.samples = []
        self.warm = self.cool = None  # the numbers of samples before the peer was warm, and before something else began
        self.full = None  # the memory at a moment that the attacker chose
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.exchange)
        self.thread.start()

    def exchange(self):
        while not self.wrong:
            for arguments in self.commands:
                if self.wrong or (self.over.is_set() and self.verified):
                    return
                self.run(arguments)

    def run(self, arguments):
        command = self.network.inside("c", "setpriv", "--pdeathsig", "KILL", self.program, *arguments, "--json")
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
        except subprocess.TimeoutExpired:
            self.wrong.append(f"the clean {arguments[0]} beside the attack did not end in {PATIENCE} s")
            return
        if done.returncode != 0:
            self.wrong.append(f"the clean {arguments[0]} beside the attack failed: {done.stderr.strip() or done.stdout[-300:]}")
            return
        self.verified += 1
        self.messages += json.loads(done.stdout.splitlines()[-1]).get("messages", 0)

    def sample(self):
        size = resident_kib(self.peer.process.pid)
        if size is not None:
            self.samples.append(size)

    def stop(self):
        self.over.set()
        self.thread.join()

    def fifth(self, number):
        """The median of the memory in one fifth of the attack on the warm peer, counted from 0; 0 if that was too short."""
        warm = self.samples[self.warm:self.cool] if self.warm is not None else []
        part = sorted(warm[number * len(warm) // 5:(number + 1) * len(warm) // 5])
        return part[len(part) // 2] if len(warm) >= 10 else 0


def grew(start, end):
    return end - start > max(GROWTH_SHARE * start, GROWTH_KIB)


class Peer(Program):
    """A peer whose output is read as it comes, so that it never waits for that."""

    def __init__(self, *arguments, **more):
        super().__init__(*arguments, **more)
        self.said = {self.process.stdout: [], self.process.stderr: []}
        self.lines = 0  # of both
        self.readers = [threading.Thread(target=self.read, args=(stream,), daemon=True) for stream in self.said]
        for reader in self.readers:
            reader.start()

    def read(self, stream):
        for line in stream:
            self.lines += 1
            self.said[stream].append(line)
            del self.said[stream][:-200]

    @property
    def errors(self):
        return "".join(self.said[self.process.stderr])

    def stop(self, allowed=(0,)):
        """Tells it to end. None if it does so by itself, and with an exit code that is allowed; else what is wrong."""
        was_gone = self.process.poll() is not None
        if not was_gone:
            self.process.send_signal(signal.SIGINT)
        try:
            code = self.process.wait(WAIT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(WAIT)
            return f"the peer did not end in {WAIT} s"
        for reader in self.readers:
            reader.join(WAIT)
        if was_gone or code not in allowed:
            return f"the peer {'was gone' if was_gone else 'ended'}, exit code {code}: {self.errors}"
        return None


def parse_arguments(description, scales, xdp=False):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, help="the folder in which the project was built")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scale", choices=("short", "long"), default="short")
    parser.add_argument("--count", type=int, help=f"how many, instead of {scales}")
    parser.add_argument("--peer", help="only the one of this name")
    parser.add_argument("--memory", metavar="FILE", help="write the peer's resident memory, as it was sampled")
    if xdp:
        parser.add_argument("--xdp", action="store_true", help="a peer on AF_XDP, as root of the host")
        parser.add_argument("--self-check", action="store_true", help="break each promise on purpose, and see it found")
    arguments = parser.parse_args()
    if arguments.count is None:
        arguments.count = scales[arguments.scale]
    arguments.build = os.path.abspath(arguments.build)
    for program in ("gen/roce-gen", f"tests/attack/attack_{parser.prog.removesuffix('.py')}"):
        if not os.access(os.path.join(arguments.build, program), os.X_OK):
            parser.error(f"there is no {program} in {arguments.build}; build it first")
    # Sanitizers keep what was freed for a while.
    with open(os.path.join(arguments.build, "gen", "roce-gen"), "rb") as file:
        arguments.sanitized = b"__asan_init" in file.read()
    return arguments


def attack(network, program, options, beside, when_warm=None):
    """Runs an attacking program on host a, and calls something when the peer is warm; what that returns, if anything, is called
    after each sample of the peer's memory. The program's report."""
    command = network.inside("a", "setpriv", "--pdeathsig", "KILL", program, json.dumps(options))
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as attacker:
        said = after_sample = None
        for line in attacker.stdout:
            said = json.loads(line)
            event = said.get("event")
            if event == "warm":
                beside.warm = len(beside.samples)
                if when_warm:
                    after_sample = when_warm()
            elif event == "sample":
                beside.sample()
                if after_sample:
                    after_sample()
            elif event == "cool":
                beside.cool = len(beside.samples)
            elif event == "full":
                beside.full = resident_kib(beside.peer.process.pid)
            if event:
                said = None
        error = attacker.stderr.read().strip()
    if said is None or "Sanitizer" in error:
        raise AssertionError(f"{os.path.basename(program)} ended with exit code {attacker.returncode}: {error}")
    return said


def conclude(part, seed, done, reports, beside, sanitized, findings):
    """Prints the last line. The exit code of the whole."""
    judged = [each for each in beside if each.fifth(1)]
    start, end = ([max((each.fifth(number) for each in judged), default=0) for number in (1, 4)])
    if not sanitized:
        for each in judged:
            if grew(each.fifth(1), each.fifth(4)):
                findings.append(f"the peer's memory grew from {each.fifth(1)} to {each.fifth(4)} KiB")
    for each in beside:
        findings += each.wrong
    verified = bool(beside) and all(each.verified > 0 and not each.wrong for each in beside)
    for report in reports:
        findings += report["findings"]
    crashes = sum(report["crashes"] for report in reports)
    hangs = sum(report["hangs"] for report in reports)
    outside = sum(report["bytes_changed_outside"] for report in reports)
    print(json.dumps({"part": part, "seed": seed, "done": done, "crashes": crashes, "hangs": hangs,
                      "bytes_changed_outside": outside, "rss_start_kib": start, "rss_end_kib": end,
                      "clean_exchange_verified": verified, "findings": findings}), flush=True)
    return 1 if findings or crashes or hangs or outside or not verified else 0


def now():
    return time.monotonic()
