# SPDX-License-Identifier: BSD-2-Clause
"""A client of the control protocol (docs/control.md)."""

import json
import socket

WAIT = 30  # seconds for an answer


def unix_connection(path):
    """A socket that is connected to a Unix socket."""
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)
    return connection


class Control:
    """A connection to a server: by the path of its Unix socket, or a socket that is connected to it. `greeting` is more for
    `hello`, whose answer is in `hello`."""

    def __init__(self, server, **greeting):
        self._socket = server if isinstance(server, socket.socket) else unix_connection(server)
        self._socket.settimeout(WAIT)
        self._lines = self._socket.makefile("rw", encoding="utf-8")
        try:
            self.hello = self.call("hello", **{"version": 1, **greeting})
        except AssertionError:
            self.close()
            raise

    def receive(self):
        """The next answer."""
        return json.loads(self._lines.readline())

    def send(self, text):
        """The answer to a line, which may be anything."""
        self._socket.sendall(text)
        return self.receive()

    def ask(self, op, **members):
        """The answer, whatever it is."""
        return self.send(json.dumps({"op": op, **members}).encode() + b"\n")

    def call(self, op, **members):
        """The answer to what must not be refused."""
        answer = self.ask(op, **members)
        if not answer["ok"]:
            raise AssertionError(f"{op} {members}: {answer['error']}")
        return answer

    def completions(self, count):
        """The next so many."""
        found = []
        while len(found) < count:
            found += self.call("poll", max=count - len(found))["completions"]
        return found

    def close(self):
        self._lines.close()
        self._socket.close()
