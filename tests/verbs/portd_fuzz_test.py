#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""roce-portd under records that no program of ours would send, from many connections at once: right ones with members of other
commands, of other processes and by chance, wrong ones, and datagrams to QP1.

usage: portd_fuzz_test.py ROCE_PORTD [--seconds SECONDS] [--seed SEED]

Afterwards the daemon has to be there still, and a process has to get a share and a connection from it."""

import argparse
import os
import random
import resource
import socket
import struct
import subprocess
import sys
import time

from portd_records import (CHANNEL, COMMANDS, CONNECT, LISTEN, RDMA_TCP, RDMA_UDP, RECORD, ROCE_PORT, SHARE, VERBS, VERSION,
                           addresses, answer_to, command, connect, join_request, mapped)

ADDRESS = f"127.94.{os.getpid() >> 8 & 255}.{os.getpid() & 255 or 1}"
MOST_CONNECTIONS = 48


def private_data(chance):
    """The beginning of a REQ to an RDMA port, or anything."""
    if chance.random() < 0.7:
        return addresses(ADDRESS)
    return chance.randbytes(chance.choice((0, 1, 35, 36, 92, 224)))


class Fuzzer:
    """Connections to the daemon, and what was learnt from its answers."""

    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.fresh, self.commands, self.channels = [], [], []
        self.processes, self.known = [1], [1]  # numbers of processes, of connections of the manager
        self.counts = {}

    def number(self, known):
        """A number that means something, or nearly, or nothing."""
        kind = self.chance.random()
        if kind < 0.7 and known:
            return self.chance.choice(known)
        return self.chance.choice((0, 1, 2, 3, 0xFFFF_FFFF, 0x8000_0000, self.chance.getrandbits(32)))

    def record(self):
        chance = self.chance
        service = chance.choice((RDMA_TCP, RDMA_UDP)) + chance.choice((7471, 7472, 0, 65535))
        if chance.random() < 0.05:
            service = chance.getrandbits(64)
        remote = mapped(chance.choice((ADDRESS, ADDRESS, ADDRESS, "127.94.255.254", "0.0.0.0", "239.1.1.1", "192.0.2.1")))
        if chance.random() < 0.05:
            remote = chance.randbytes(16)
        data = private_data(chance)
        verb = chance.randrange(VERBS + 1) if chance.random() < 0.95 else chance.getrandbits(32)
        body = struct.pack("=IIIIQ16s", verb, self.number([0, 1, 2]), self.number([1, 2, 3]), self.number(self.known), service, remote)
        body += struct.pack("=II", chance.getrandbits(24), chance.getrandbits(24)) + chance.randbytes(8)
        size = len(data) if chance.random() < 0.95 else chance.choice((225, 256, 0x7FFF_FFFF, 0xFFFF_FFFF))
        return (body + struct.pack("=II", chance.getrandbits(32), size) + data).ljust(RECORD, b"\0")[:RECORD]

    def count(self, what):
        self.counts[what] = self.counts.get(what, 0) + 1

    def drop(self, connection):
        for pool in (self.fresh, self.commands, self.channels):
            if connection in pool:
                pool.remove(connection)
        connection.close()

    def say(self, connection, data):
        """Sends; drops the connection if the daemon has closed it."""
        try:
            connection.send(data)
            return True
        except OSError:
            self.drop(connection)
            return False

    @staticmethod
    def answer_of(connection, most):
        """The answer; none if the daemon has closed the connection. It is an error if it says nothing."""
        try:
            return connection.recv(most)
        except ConnectionError:
            return b""

    def join(self):
        connection = self.chance.choice(self.fresh)
        purpose = self.chance.choice((SHARE, COMMANDS, COMMANDS, CHANNEL, CHANNEL, self.chance.getrandbits(32)))
        version = VERSION if self.chance.random() < 0.95 else self.chance.getrandbits(32)
        request = join_request(purpose, self.number(self.processes), self.chance.randrange(4), version)
        if not self.say(connection, request):
            return
        self.fresh.remove(connection)
        answer = self.answer_of(connection, 1024)
        refused = len(answer) < 9 or answer[8] != 0
        self.count(f"joined {purpose}" if not refused and purpose <= CHANNEL else "refused to join")
        if refused or purpose == SHARE:
            connection.close()
        elif purpose == COMMANDS:
            self.processes.append(struct.unpack_from("=I", answer, 4)[0])
            self.commands.append(connection)
        else:
            connection.setblocking(False)
            self.channels.append(connection)

    def command(self):
        connection = self.chance.choice(self.commands)
        if not self.say(connection, self.record()):
            return
        answer = self.answer_of(connection, 100)
        if len(answer) != 8:
            self.count("connections closed")
            self.drop(connection)
            return
        error, number = struct.unpack("=iI", answer)
        self.count("commands done" if error == 0 else "commands refused")
        if number:
            self.known.append(number)

    def listen_to(self):
        """Reads a channel: its notices name connections that peers have asked for."""
        connection = self.chance.choice(self.channels)
        try:
            while notice := connection.recv(1024):
                self.count("notices")
                self.known.append(struct.unpack_from("=I", notice, 4)[0])
        except BlockingIOError:
            return
        except OSError:
            pass
        self.drop(connection)

    def datagram(self):
        length = self.chance.choice((1, 11, 12, 20, 280, 300))
        destination = self.chance.choice((0, 1, 2, 0xFFFFFF))
        bth = bytes((self.chance.choice((0x64, 0x65, 4, 0x81)), 0x40, 0xFF, 0xFF)) + destination.to_bytes(4, "big")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.sendto((bth + self.chance.randbytes(300))[:length], (ADDRESS, ROCE_PORT))
        self.count("datagrams")

    def step(self):
        pools = (*self.fresh, *self.commands, *self.channels)
        kind = self.chance.random()
        if len(pools) < MOST_CONNECTIONS and kind < 0.1:
            self.fresh.append(connect(ADDRESS))
        elif self.fresh and kind < 0.2:
            self.join()
        elif self.channels and kind < 0.3:
            self.listen_to()
        elif kind < 0.32:
            self.datagram()
        elif pools and kind < 0.34:
            self.drop(self.chance.choice(pools))
        elif pools and kind < 0.36:
            # Records of no size that there is.
            self.say(self.chance.choice(pools), self.chance.randbytes(self.chance.choice((1, 3, 4, 15, 17, 287, 289, 2000))))
        elif self.commands:
            self.command()
        self.known = self.known[-64:]
        self.processes = self.processes[-16:]

    def close(self):
        for connection in (*self.fresh, *self.commands, *self.channels):
            connection.close()


def serves_still():
    """Asks as a program does: a share, and a connection to itself by the manager."""
    share, commands, channel = (connect(ADDRESS) for _ in range(3))
    share.send(join_request(SHARE))
    answer, control, _, _ = share.recvmsg(1024, socket.CMSG_SPACE(4))
    assert answer[8] == 0 and control, answer
    os.close(struct.unpack("i", control[0][2][:4])[0])
    commands.send(join_request(COMMANDS))
    process = struct.unpack_from("=I", commands.recv(1024), 4)[0]
    channel.send(join_request(CHANNEL, process))
    channel.recv(1024)
    listener = 77
    for verb in (LISTEN, CONNECT):
        error, _ = answer_to(commands, command(verb, ADDRESS, listener=listener, service=RDMA_TCP + 9999))
        assert error == 0, (verb, error)
    # The request that the manager gets from itself.
    assert struct.unpack_from("=III", channel.recv(1024))[2] == listener
    for connection in (share, commands, channel):
        connection.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("portd")
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(32))
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    print(f"seed {options.seed}", flush=True)
    with subprocess.Popen([options.portd, "--address", ADDRESS, "--foreground"]) as daemon:
        try:
            fuzzer = Fuzzer(options.seed)
            end = time.monotonic() + options.seconds
            steps = 0
            while time.monotonic() < end:
                fuzzer.step()
                steps += 1
                assert daemon.poll() is None, f"roce-portd ended with {daemon.returncode} after {steps} steps"
            fuzzer.close()
            serves_still()
            for what in ("commands done", "notices", "joined 0", "joined 1", "joined 2"):
                assert fuzzer.counts.get(what), f"{what}: none, so that little was tried"
            print(f"{steps} steps:", ", ".join(f"{count} {what}" for what, count in sorted(fuzzer.counts.items())))
        finally:
            daemon.kill()


if __name__ == "__main__":
    sys.exit(main())
