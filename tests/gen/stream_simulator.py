# SPDX-License-Identifier: BSD-2-Clause
"""A simulation with a time of its own that talks to endpoints through stream links (docs/stream-link.md).

It stands for the simulation of an FPGA: here it is a wire between two ends, with a delay and a speed, that may lose frames. It
shares nothing with roce-gen but the format.
"""

import heapq
import os
import select
import socket
import struct

WAIT = 60  # seconds for anything
HELLO, FRAME, TIME, NEXT, WAKE, ERROR = range(1, 7)
NEVER = 2**64 - 1
VIRTUAL_TIME = 1


def message(kind, body=b""):
    return struct.pack(">IB", 1 + len(body), kind) + body


def hello(version=1, flags=VIRTUAL_TIME, longest=9018):
    return message(HELLO, b"RoCE" + struct.pack(">HHI", version, flags, longest))


class Closed(Exception):
    """The endpoint closed the stream; the argument is what it said, or nothing."""


class Stream:
    """The simulation's end of a stream."""

    def __init__(self, connection, **about):
        self.connection = connection
        connection.settimeout(WAIT)
        connection.sendall(hello(**about))
        kind, body = self.read()
        assert kind == HELLO and body[:4] == b"RoCE", (kind, body)
        self.version, self.flags, self.longest = struct.unpack(">HHI", body[4:])

    def _read(self, size):
        parts = b""
        while len(parts) < size:
            part = self.connection.recv(size - len(parts))
            if not part:
                raise Closed("")
            parts += part
        return parts

    def read(self):
        length, kind = struct.unpack(">IB", self._read(5))
        body = self._read(length - 1)
        if kind == ERROR:
            raise Closed(body.decode())
        return kind, body

    def send(self, *messages):
        self.connection.sendall(b"".join(messages))


class End:
    """An endpoint at the wire, as the simulation sees it."""

    def __init__(self, stream):
        self.stream = stream
        self.next = 0  # when it wants to be asked
        self.free_at = 0  # the wire in its direction
        self.is_there = True

    def ask(self, now, frames):
        """Lets it know what came and what time it is: the frames that it sends then."""
        sent = []
        try:
            self.stream.send(*(message(FRAME, frame) for frame in frames), message(TIME, struct.pack(">Q", now)))
            while True:
                kind, body = self.stream.read()
                if kind == FRAME:
                    sent.append(body)
                elif kind == NEXT:
                    self.next = struct.unpack(">Q", body)[0]
                    assert self.next > now, (self.next, now)
                    return sent
                else:
                    assert kind == WAKE, kind
        except (Closed, ConnectionError):
            self.is_there, self.next = False, NEVER
            return sent


class Wire:
    """Two endpoints at the ends of a wire. Times are in nanoseconds."""

    def __init__(self, streams, delay=10000, bits_per_second=10**10, lose=lambda number, frame: False):
        self.ends = [End(stream) for stream in streams]
        self.delay, self.bits_per_second, self.lose = delay, bits_per_second, lose
        self.now = 0
        self.log = []  # (time, end, frame) of each that was sent
        self._under_way = []  # (arrival, number, end, frame)

    def _send(self, end, frame):
        sender = self.ends[end]
        # Preamble, FCS and gap are on the wire too.
        begin = max(self.now, sender.free_at)
        sender.free_at = begin + (len(frame) + 24) * 8 * 10**9 // self.bits_per_second
        number = len(self.log)
        self.log.append((self.now, end, frame))
        if not self.lose(number, frame):
            heapq.heappush(self._under_way, (sender.free_at + self.delay, number, 1 - end, frame))

    def run(self, is_over=lambda: False):
        """Until both endpoints are gone, or something else is over."""
        while any(end.is_there for end in self.ends) and not is_over():
            due = min([end.next for end in self.ends] + [arrival for arrival, *_ in self._under_way[:1]])
            if due == NEVER:
                self._wait_for_wake()
                continue
            self.now = max(self.now, due)
            arrived = [[], []]
            while self._under_way and self._under_way[0][0] <= self.now:
                _, _, end, frame = heapq.heappop(self._under_way)
                arrived[end].append(frame)
            for number, end in enumerate(self.ends):
                if end.is_there and (arrived[number] or end.next <= self.now):
                    for frame in end.ask(self.now, arrived[number]):
                        self._send(number, frame)

    def _wait_for_wake(self):
        """Nothing is going on inside: something from outside has to come."""
        there = {end.stream.connection: end for end in self.ends if end.is_there}
        ready, _, _ = select.select(list(there), [], [], WAIT)
        assert ready, "no endpoint has anything to do, and none ends"
        for connection in ready:
            end = there[connection]
            try:
                kind, _ = end.stream.read()
                assert kind == WAKE, kind
                end.next = self.now
            except (Closed, ConnectionError):
                end.is_there = False


def listener(path):
    """A socket at which an endpoint connects."""
    if os.path.exists(path):
        os.unlink(path)
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(path)
    listening.listen()
    listening.settimeout(WAIT)
    return listening
