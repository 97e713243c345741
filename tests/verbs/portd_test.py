# SPDX-License-Identifier: BSD-2-Clause
"""roce-portd: shares of one UDP port, lent to processes and taken back, and what it refuses.

usage: portd_test.py ROCE_PORTD [UNITTEST ARGUMENT...]
"""

import array
import errno
import functools
import os
import random
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import time
import unittest

import portd_records
from portd_records import (CHANNEL, COMMANDS, CONNECT, DISCONNECT, LISTEN, RDMA_TCP, REJECT, ROCE_PORT, STOP, VERSION, WAIT, answer_to,
                           join_request, mapped)

# All of 127.0.0.0/8 is this machine's own; other tests use other addresses.
ADDRESS = f"127.92.{os.getpid() >> 8 & 255}.{os.getpid() & 255 or 1}"
SHARES = 255
REST = 2  # seconds that the daemon goes on without a process
SERVICE = RDMA_TCP + 7471
command = functools.partial(portd_records.command, address=ADDRESS)
connect = functools.partial(portd_records.connect, ADDRESS)


def join(connection, request=join_request()):
    """-> the shard, the socket or None, the refusal."""
    connection.send(request)
    answer, control, _, _ = connection.recvmsg(1024, socket.CMSG_SPACE(4))
    version, shard = struct.unpack_from("=II", answer)
    assert version == VERSION, answer
    descriptors = array.array("i", control[0][2]) if control else []
    receiver = socket.socket(fileno=descriptors[0]) if descriptors else None
    return shard, receiver, answer[8:].split(b"\0")[0].decode()


class PortdTest(unittest.TestCase):
    def setUp(self):
        self.daemon = self.start()

    def start(self, *options):
        daemon = subprocess.Popen([ROCE_PORTD, "--address", ADDRESS, "--foreground", *options], stdout=subprocess.PIPE, text=True)
        self.addCleanup(daemon.stdout.close)
        self.addCleanup(daemon.wait, WAIT)
        self.addCleanup(daemon.kill)
        return daemon

    def joined(self, **arguments):
        connection = connect()
        self.addCleanup(connection.close)
        shard, receiver, refusal = join(connection, **arguments)
        if receiver:
            self.addCleanup(receiver.close)
        return connection, shard, receiver, refusal

    def test_gives_each_process_the_datagrams_to_its_queue_pairs(self):
        _, first, receiver, _ = self.joined()
        _, second, other, _ = self.joined()
        self.assertNotEqual(first, second)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            for i, shard in enumerate((first, second, first)):
                sender.sendto(bytes(5) + bytes((7, i, shard)) + bytes(4), (ADDRESS, ROCE_PORT))
        for to, expected in ((receiver, (0, 2)), (other, (1,))):
            for i in expected:
                self.assertTrue(select.select([to], [], [], WAIT)[0])
                self.assertEqual(to.recv(100)[6], i)
            self.assertFalse(select.select([to], [], [], 0)[0])

    def test_lends_255_shares_and_says_why_not_more(self):
        joined = [self.joined() for _ in range(SHARES)]
        self.assertEqual({shard for _, shard, _, _ in joined}, set(range(1, SHARES + 1)))
        connection, _, receiver, refusal = self.joined()
        self.assertIsNone(receiver)
        self.assertIn("255 processes use UDP port 4791", refusal)
        connection.close()
        # A place that is given back is there for the next.
        gone, shard, receiver, _ = joined[7]
        receiver.close()
        gone.close()
        end = time.monotonic() + WAIT
        while True:
            connection, again, receiver, _ = self.joined()
            if receiver:
                break
            connection.close()
            self.assertLess(time.monotonic(), end)
        self.assertEqual(again, shard)

    def test_lends_what_was_given_back_last_last(self):
        connection, shard, receiver, _ = self.joined()
        receiver.close()
        connection.close()
        others = [self.joined()[1] for _ in range(20)]
        self.assertNotIn(shard, others)

    def test_goes_on_when_processes_die_and_talk_nonsense(self):
        rng = random.Random(20261128)
        _, shard, receiver, _ = self.joined()
        for _ in range(2000):
            connection = connect()
            if rng.random() < 0.8:
                connection.send(rng.randbytes(rng.choice((0, 1, 3, 4, 5, 400))))
            connection.close()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.sendto(bytes(6) + bytes((5, shard)) + bytes(4), (ADDRESS, ROCE_PORT))
        self.assertTrue(select.select([receiver], [], [], WAIT)[0])
        self.assertIsNone(self.daemon.poll())
        self.assertIsNotNone(self.joined()[2])
        with open(f"/proc/{self.daemon.pid}/status", encoding="ascii") as status:
            self.assertLess(int(re.search(r"VmRSS:\s+(\d+) kB", status.read())[1]), 64 << 10)

    def test_refuses_another_version(self):
        _, _, receiver, refusal = self.joined(request=struct.pack("=I", VERSION + 1))
        self.assertIsNone(receiver)
        self.assertIn("of another version", refusal)

    def test_ends_by_itself_once_nobody_is_there(self):
        connection = self.joined()[0]
        # It waits from the end of the last one on, however long that was there.
        with self.assertRaises(subprocess.TimeoutExpired):
            self.daemon.wait(REST + 0.5)
        connection.close()
        begin = time.monotonic()
        self.assertEqual(self.daemon.wait(WAIT), 0)
        self.assertGreater(time.monotonic() - begin, REST / 2)

    def test_leaves_the_address_to_the_one_that_came_first(self):
        connect().close()
        self.assertEqual(self.start().wait(WAIT), 0)
        self.assertIsNotNone(self.joined()[2])

    def join_manager(self, purpose, process=0, channel=0):
        connection, number, _, refusal = self.joined(request=join_request(purpose, process, channel))
        self.assertEqual(refusal, "")
        return connection, number

    def test_manages_connections(self):
        server, process = self.join_manager(COMMANDS)
        notices, _ = self.join_manager(CHANNEL, process, 5)
        listen = command(LISTEN, channel=5, listener=9, service=SERVICE)
        self.assertEqual(answer_to(server, listen), (0, 0))
        self.assertEqual(answer_to(server, listen)[0], errno.EINVAL)
        client, process = self.join_manager(COMMANDS)
        self.assertEqual(answer_to(client, command(LISTEN, listener=1, service=SERVICE))[0], errno.EADDRINUSE)
        error, connection = answer_to(client, command(CONNECT, channel=6, service=SERVICE))
        self.assertEqual(error, 0)
        request = notices.recv(1024)
        kind, of, listener = struct.unpack_from("=B3xII", request)
        self.assertEqual((kind, listener), (0, 9))
        # A connection is that of its process.
        self.assertEqual(answer_to(client, command(REJECT, connection=of))[0], errno.ENOTCONN)
        self.assertEqual(answer_to(server, command(REJECT, connection=of))[0], 0)
        self.assertEqual(answer_to(client, command(DISCONNECT, connection=connection))[0] in (errno.EINVAL, errno.ENOTCONN), True)
        # A request that finds a listener just gone waits for the next one.
        self.assertEqual(answer_to(server, command(STOP, listener=9)), (0, 0))
        self.assertEqual(answer_to(client, command(CONNECT, channel=6, service=SERVICE))[0], 0)
        self.assertEqual(answer_to(server, command(LISTEN, channel=5, listener=10, service=SERVICE)), (0, 0))
        self.assertEqual(struct.unpack_from("=B7xI", notices.recv(1024)), (0, 10))
        # A process that is gone listens no more.
        server.close()
        end = time.monotonic() + WAIT
        while answer_to(client, command(LISTEN, listener=1, service=SERVICE))[0] != 0:
            self.assertLess(time.monotonic(), end)

    def test_survives_commands_of_any_kind(self):
        chance = random.Random(1)
        commands, process = self.join_manager(COMMANDS)
        notices, _ = self.join_manager(CHANNEL, process, 1)
        for _ in range(3000):
            record = bytearray(chance.randbytes(len(command(LISTEN))))
            struct.pack_into("=IIII", record, 0, chance.randrange(14), chance.randrange(3), chance.randrange(4), chance.choice((0, 1, chance.getrandbits(32))))
            # Nothing is sent to addresses of others.
            record[24:40] = mapped(ADDRESS)
            self.assertIsNotNone(answer_to(commands, bytes(record)))
            while select.select([notices], [], [], 0)[0]:
                notices.recv(1024)
        commands.send(bytes(3))
        self.assertEqual(commands.recv(10), b"")
        self.assertIsNotNone(self.joined()[2])

    def test_refuses_what_it_cannot_hold(self):
        taken = f"127.93.{os.getpid() >> 8 & 255}.{os.getpid() & 255 or 1}"
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as holder:
            holder.bind((taken, ROCE_PORT))
            for address, why in ((taken, "the port is taken"), ("192.0.2.1", "no interface of this machine that is up has the address"),
                                 ("nowhere", "is not an IP address")):
                daemon = subprocess.run([ROCE_PORTD, "--address", address], capture_output=True, text=True, check=False)
                self.assertEqual(daemon.returncode, 2, daemon)
                self.assertIn(why, daemon.stdout)
                self.assertEqual(daemon.stdout.count("\n"), 1)

    def test_is_seen_to_end_by_those_that_it_serves(self):
        connection, _, _, _ = self.joined()
        self.daemon.send_signal(signal.SIGKILL)
        self.assertEqual(connection.recv(1), b"")


if __name__ == "__main__":
    ROCE_PORTD = sys.argv.pop(1)
    unittest.main()
