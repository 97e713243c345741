# SPDX-License-Identifier: BSD-2-Clause
"""Legal sessions of the control protocol (docs/control.md) with something wrong in them."""

import json

VALUES = (None, True, False, 0, 1, -1, 2, 255, 256, 65535, 65536, (1 << 24) - 1, 1 << 24, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32,
          (1 << 63) - 1, 1 << 63, (1 << 64) - 1, 1 << 64, -(1 << 31), -(1 << 63), 10 ** 30, -(10 ** 30), 0.5, -0.0, 1e308, "", "0", "-1", "x",
          "\0", "\x7f\x1b[2J", "é" * 100, "a" * 5000, [], {}, [1], [[]], ["remote_write"], {"op": "hello"}, "any", "10.9.0.2", "::")
RIGHTS = ("local_write", "remote_write", "remote_read", "remote_atomic", "flush_global", "flush_persistent")
OPCODES = ("send", "send_with_immediate", "send_with_invalidate", "write", "write_with_immediate", "read", "compare_swap", "fetch_add",
           "atomic_write", "flush")
OPERATIONS = ("create_memory", "fill_memory", "check_memory", "read_memory", "write_memory", "create_qp", "connect_qp", "accept_qp",
              "reject_next", "qp_status", "destroy_qp", "post_receive", "post_send", "poll", "sink", "sink_status", "counters", "hello")
MEMORY = 1 << 20  # bytes, of what is asked for without harm
LONGEST_LINE = 4 << 20


class Session:
    """What one connection made so far, and requests that fit it but for one thing, mostly."""

    def __init__(self, random, token=None):
        self.random = random
        self.token = token
        self.memories = []  # (number, length)
        self.qps = []

    def learn(self, answer):
        if not isinstance(answer, dict) or answer.get("ok") is not True:
            return
        if "memory" in answer and "length" in answer:
            self.memories.append((answer["memory"], answer["length"]))
        elif "psn" in answer and "qp" in answer:
            self.qps.append(answer["qp"])

    def hello(self):
        return {"op": "hello", "version": 1, **({"token": self.token} if self.token else {})}

    def _range(self):
        if not self.memories:
            return {"memory": 1}
        number, length = self.random.choice(self.memories)
        offset = self.random.randrange(length)
        return {"memory": number, "offset": offset, "length": self.random.randrange(length - offset + 1)}

    def _qp(self):
        return self.random.choice(self.qps) if self.qps else 1

    def legal(self):
        """A request that the documentation allows here, as far as anything was made that it can be about."""
        random = self.random
        op = random.choice(OPERATIONS[:-1])
        if len(self.memories) < 2:
            op = "create_memory"
        elif len(self.qps) < 2:
            op = "create_qp"
        members = {
            "create_memory": lambda: {"length": random.randrange(1, MEMORY), "access": random.sample(RIGHTS, random.randrange(6)),
                                      "invalidatable": random.random() < 0.2},
            "fill_memory": lambda: {**self._range(), "seed": random.getrandbits(64)},
            "check_memory": lambda: {**self._range(), "seed": random.getrandbits(64)} if random.random() < 0.5 else {
                "memory": self._range()["memory"], "parts": [{"offset": i, "length": 8, "seed": i} for i in range(random.randrange(20))]},
            "read_memory": lambda: {**self._range(), "length": random.randrange(64)},
            "write_memory": lambda: {"memory": self._range()["memory"], "offset": 0, "data": random.randbytes(random.randrange(64)).hex()},
            "create_qp": lambda: {"type": random.choice(("rc", "uc", "ud")), "max_send": random.randrange(1, 200)},
            "connect_qp": lambda: {"qp": self._qp(), "gid": random.choice(("10.9.0.1", "10.9.0.9", "::ffff:10.9.0.1")),
                                   "psn": random.getrandbits(24), "remote_qp": random.getrandbits(24), "timeout": random.randrange(1, 12),
                                   "retry_count": random.randrange(8)},
            "accept_qp": lambda: {"qp": self._qp(), "cm_port": random.randrange(1, 65536)},
            "reject_next": lambda: {"cm_port": random.randrange(1, 65536)},
            "post_receive": lambda: {"qp": self._qp(), **self._range(), "wr_id": random.getrandbits(63)},
            "post_send": lambda: {"qp": self._qp(), "opcode": random.choice(OPCODES), **self._range(), "remote_address": random.getrandbits(64),
                                  "r_key": random.getrandbits(32), "immediate": random.getrandbits(32), "remote_qp": random.getrandbits(24),
                                  "wr_id": random.getrandbits(63), "fence": random.random() < 0.1},
            "sink": lambda: {"qp": self._qp(), "memory": self._range()["memory"], "slot_bytes": random.randrange(1, 200),
                             "slots": random.randrange(1, 9), "seed": random.getrandbits(64)},
            "poll": lambda: {"max": random.randrange(1, 4097)},
            "counters": lambda: {} if random.random() < 0.5 else {"qp": self._qp()},
        }.get(op, lambda: {"qp": self._qp()})()
        if op == "destroy_qp" and members["qp"] in self.qps and random.random() < 0.9:
            self.qps.remove(members["qp"])
        return {"op": op, **members}

    def mutated(self):
        """The bytes of one or several lines, with a newline at the end or (rarely) without."""
        random = self.random
        request = self.legal()
        choice = random.random()
        if choice < 0.15:
            return self._line(request)
        if choice < 0.70:
            for _ in range(random.choice((1, 1, 1, 2, 3))):
                name = random.choice([*request, "id", "wr_id", "nobody_knows"])
                value = random.choice(VALUES)
                if name == "length" and request["op"] == "create_memory" and isinstance(value, int) and 1 << 24 < value <= 1 << 32:
                    value = 1 << 24  # what is large is a part of its own
                request[name] = value
            return self._line(request)
        if choice < 0.76:
            request.pop(random.choice(list(request)))
            return self._line(request)
        if choice < 0.80:  # a member twice
            name = random.choice(list(request))
            return self._line(request)[:-2] + f", {json.dumps(name)}: {json.dumps(random.choice(VALUES))}}}\n".encode()
        if choice < 0.84:
            depth = random.choice((10, 60, 500, 3000, 20_000))
            opens, closes = random.choice((("[", "]"), ('{"a":', "}")))
            inside = opens * depth + "1" + closes * random.choice((depth, depth - 1))
            return self._line(request)[:-2] + f', "{random.choice(("id", "parts", "x"))}": {inside}}}\n'.encode()
        if choice < 0.92:
            line = bytearray(self._line(request))
            for _ in range(random.randrange(1, 4)):
                at = random.randrange(len(line) - 1)
                line[at:at + random.randrange(2)] = random.choice((b"\0", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\n", b'"', b"\\u0000",
                                                                   b"\\ud800", b"{", b"]", b",", b"\r", bytes([random.randrange(256)])))
            return bytes(line)
        if choice < 0.97:
            return random.choice((b"\n", b"[]\n", b"1\n", b"null\n", b"{}\n", b'"hello"\n', b"\xef\xbb\xbf{}\n", b"{\n", b"\0\n",
                                  random.randbytes(random.randrange(200)) + b"\n", b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"))
        if choice < 0.995:
            many = random.randrange(1, 300)
            return random.choice((b'{"op":"x","a":[' + b"1," * many + b"1]}\n", b'{"op":"' + b"x" * many * 10 + b'"}\n',
                                  b'{"op":"poll",' + b",".join(b'"m%d":0' % i for i in range(many)) + b"}\n"))
        length = random.choice((LONGEST_LINE - 100, LONGEST_LINE + 100, LONGEST_LINE // 2))
        return b'{"op":"write_memory","memory":1,"data":"' + b"00" * (length // 2) + b'"}\n'

    @staticmethod
    def _line(request):
        return json.dumps(request).encode() + b"\n"
