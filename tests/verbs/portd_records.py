# SPDX-License-Identifier: BSD-2-Clause
"""The records of roce-portd, as its programs send them (verbs/port/messages.h, verbs/cm/cm_records.h), and the way to it: what its
tests have in common."""

import os
import socket
import struct
import time

VERSION = 2
ROCE_PORT = 4791
WAIT = 20  # seconds, for anything
# Purposes of a connection, and commands for the connection manager.
SHARE, COMMANDS, CHANNEL = 0, 1, 2
LISTEN, STOP, CONNECT, REJECT, DISCONNECT = 0, 1, 2, 5, 6
VERBS = 13
RDMA_TCP, RDMA_UDP = 0x1060000, 0x1110000  # service IDs of port 0
PROPOSAL_END = 60
RECORD = 288


def name_of(address):
    return f"\0roce/{os.getuid()}/{address}"


def connect(address):
    """A connection to the daemon at an address, as soon as there is one."""
    end = time.monotonic() + WAIT
    while True:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # A socket that Python gives a timeout does not block, and then fails where there are too many that wait.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", WAIT, 0))
        try:
            connection.connect(name_of(address))
            connection.settimeout(WAIT)
            return connection
        except ConnectionRefusedError:
            connection.close()
            if time.monotonic() > end:
                raise
            os.sched_yield()


def join_request(purpose=SHARE, process=0, channel=0, version=VERSION):
    return struct.pack("=IIII", version, purpose, process, channel)


def mapped(address):
    """The GID of an IPv4 address."""
    return bytes(10) + b"\xff\xff" + socket.inet_aton(address)


def addresses(address):
    """The private data that a request from an address to itself begins with, at an RDMA port."""
    source_port = 4711
    return struct.pack(">BBH", 0, 0x40, source_port) + 2 * (bytes(12) + socket.inet_aton(address))


def command(verb, address, channel=0, listener=0, connection=0, service=0):
    """A record for the manager, for a connection from an address to itself."""
    qpn = 0x1234
    record = struct.pack("=IIIIQ16sI", verb, channel, listener, connection, service, mapped(address), qpn).ljust(PROPOSAL_END, b"\0")
    data = addresses(address)
    return (record + struct.pack("=I", len(data)) + data).ljust(RECORD, b"\0")


def answer_to(connection, record):
    """-> the number of errno.h, the connection."""
    connection.send(record)
    return struct.unpack("=iI", connection.recv(100))
