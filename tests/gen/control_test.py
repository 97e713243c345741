# SPDX-License-Identifier: BSD-2-Clause
"""The control protocol of roce-gen peer in the hands of those who mean harm, or ask for much.

usage: control_test.py ROCE_GEN [UNITTEST ARGUMENT...]

Makes the namespaces itself, in a user namespace of its own, so that it needs no privilege; prints why and exits with 77 where
that is forbidden.
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from control import Control
from live import WAIT, Program, Wire, enter_namespaces, enter_network

PORT = 7000
WORD = 0x9E3779B97F4A7C15


def line(**members):
    return json.dumps(members).encode() + b"\n"


def nested(depth):
    return b'{"op":"hello","version":1,"id":' + b"[" * depth + b"]" * depth + b"}\n"


class ControlTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="roce-gen-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.wire = Wire(1500)
        self.addCleanup(self.wire.close)
        self.token = os.path.join(self.folder, "token")
        with open(os.open(self.token, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
            file.write("right\n")
        self.socket = os.path.join(self.folder, "control.sock")

    def peer(self, *arguments):
        program = Program(ROCE_GEN, self.wire, "b", "peer", "-i", "v", *arguments)
        self.addCleanup(program.end)
        return program

    def local_peer(self, *arguments):
        return self.peer("--control", self.socket, *arguments)

    def remote_peer(self):
        return self.peer("--control-port", str(PORT), "--token-file", self.token)

    def control(self):
        control = Control(self.socket)
        self.addCleanup(control.close)
        return control

    def connect(self, address="10.9.0.2", port=PORT):
        """A TCP connection from namespace a."""
        own = os.open("/proc/self/ns/net", os.O_RDONLY)
        there = os.open(f"/proc/{self.wire.holders['a'].pid}/ns/net", os.O_RDONLY)
        try:
            enter_network(there)
            stream = socket.create_connection((address, port), WAIT)
        finally:
            enter_network(own)
            os.close(own)
            os.close(there)
        self.addCleanup(stream.close)
        return stream

    @staticmethod
    def answers(stream):
        """All that comes until the other end closes."""
        text = b""
        with contextlib.suppress(OSError):
            while part := stream.recv(65536):
                text += part
        return [json.loads(part) for part in text.splitlines()]

    def say(self, *lines, **where):
        """What is answered to these lines, sent at once."""
        stream = self.connect(**where)
        # One that is refused may be closed before anything was said.
        with contextlib.suppress(OSError):
            stream.sendall(b"".join(lines))
            stream.shutdown(socket.SHUT_WR)
        return self.answers(stream)


RIGHT = line(op="hello", version=1, token="right")
WRONG = line(op="hello", version=1, token="wrong")


class Requests(ControlTest):
    def test_a_deep_one_does_no_harm(self):
        self.local_peer()
        control = self.control()
        for depth in (17, 100_000, 2_000_000):
            answer = control.send(nested(depth))
            self.assertFalse(answer["ok"])
            self.assertIn("at most 16 deep", answer["error"])
        for other in (b'{"op":"poll","parts":' + b'{"a":' * 50_000 + b"1" + b"}" * 50_000 + b"}\n", b"[" * 4_000_000 + b"\n"):
            self.assertFalse(control.send(other)["ok"])
        control.call("counters")

    def test_a_deep_one_before_hello(self):
        self.remote_peer()
        self.say(nested(100_000))
        self.say(nested(1_000))
        self.assertTrue(self.say(RIGHT)[0]["ok"])

    def test_an_id_is_one_value(self):
        self.local_peer()
        control = self.control()
        for name in (7, "seven", None, True, -1.5, "x" * 256):
            self.assertEqual(control.ask("counters", id=name)["id"], name)
        for name in ([], {}, [1], "x" * 257):
            answer = control.ask("counters", id=name)
            self.assertFalse(answer["ok"])
            self.assertNotIn("id", answer)
            self.assertIn('"id" is', answer["error"])

    def test_what_is_wrong_is_told_in_few_words(self):
        self.local_peer()
        control = self.control()
        long = "y" * 1_000_000
        for members in ({"op": long}, {"op": "create_memory", "length": long}, {"op": "create_memory", "length": 1, "access": [[long]]}):
            answer = control.ask(**members)
            self.assertFalse(answer["ok"])
            self.assertLess(len(answer["error"]), 300)
        for text in (b'{"op":"poll","op":"poll"}\n', b'{"op":"poll","max":1e999}\n', b'{"op":"\xff"}\n', b'{"op":"\\ud800"}\n', b"\xff\n"):
            self.assertFalse(control.send(text)["ok"])

    def test_answers_come_in_order(self):
        self.local_peer()
        control = self.control()
        memory = control.call("create_memory", length=32 << 20)["memory"]
        requests = [("fill_memory", {"seed": 1}), ("check_memory", {"seed": 1}), ("read_memory", {"length": 1 << 20}),
                    ("check_memory", {"seed": 2}), ("counters", {})]
        text = b"".join(line(op=op, id=number, memory=memory, **members) for number, (op, members) in enumerate(requests))
        answers = [control.send(text)] + [control.receive() for _ in requests[1:]]
        self.assertEqual([answer["id"] for answer in answers], list(range(len(requests))))
        self.assertEqual([answer.get("equal") for answer in answers], [None, True, None, False, None])
        self.assertEqual(answers[3]["wrong_at"], 0)
        self.assertEqual(answers[2]["data"][:16], (2 * WORD % 2**64).to_bytes(8, "little").hex())

    def test_every_part_of_a_large_memory_is_compared(self):
        self.local_peer()
        control = self.control()
        length = (3 << 20) + 5
        memory = control.call("create_memory", length=length)["memory"]
        control.call("fill_memory", memory=memory, seed=9)
        for place in (0, (256 << 10) - 1, 256 << 10, 1 << 20, length - 1):
            was = control.call("read_memory", memory=memory, offset=place, length=1)["data"]
            control.call("write_memory", memory=memory, offset=place, data=f"{int(was, 16) ^ 1:02x}")
            self.assertEqual(control.call("check_memory", memory=memory, seed=9).get("wrong_at"), place)
            control.call("write_memory", memory=memory, offset=place, data=was)
        self.assertTrue(control.call("check_memory", memory=memory, seed=9)["equal"])


class Strangers(ControlTest):
    def test_after_a_wrong_token_nothing_is_served(self):
        self.remote_peer()
        answers = self.say(WRONG, RIGHT, line(op="create_memory", length=64))
        self.assertEqual([answer["ok"] for answer in answers], [False])
        self.assertIn("the token is wrong", answers[0]["error"])

    def test_nobody_tries_many_tokens(self):
        peer = self.remote_peer()
        for _ in range(3):
            self.assertIn("the token is wrong", self.say(WRONG)[0]["error"])
        self.assertIn("wait", self.say(RIGHT)[0]["error"])
        # Others are not concerned.
        self.assertTrue(self.say(RIGHT, address="fd09::2")[0]["ok"])
        peer.process.send_signal(signal.SIGTERM)
        self.assertIn("wrong tokens", peer.process.stdout.read())

    def test_what_was_open_before_does_not_help(self):
        self.remote_peer()
        streams = [self.connect() for _ in range(8)]
        told = []
        for stream in streams:
            stream.sendall(WRONG)
            told += self.answers(stream)
        self.assertEqual(["wait" in answer["error"] for answer in told], [False] * 3 + [True] * 5)

    def test_many_keep_nobody_out_and_cost_little(self):
        peer = self.remote_peer()

        def resident():
            with open(f"/proc/{peer.process.pid}/status") as status:
                return int(next(text for text in status if text.startswith("VmRSS")).split()[1]) >> 10

        before = resident()
        waiting = [self.connect() for _ in range(100)]
        self.assertIn("before this one said hello", self.answers(waiting[0])[0]["error"])
        self.assertLess(resident() - before, 20)  # MiB
        self.assertTrue(self.say(RIGHT)[0]["ok"])
        self.assertTrue(self.say(RIGHT, address="fd09::2")[0]["ok"])

    def test_one_who_waits_is_not_displaced_by_a_crowd(self):
        self.remote_peer()
        patient = self.connect(address="fd09::2")
        crowd = [self.connect() for _ in range(40)]
        self.assertFalse(self.answers(crowd[0])[0]["ok"])
        patient.sendall(RIGHT)
        patient.shutdown(socket.SHUT_WR)
        self.assertTrue(self.answers(patient)[0]["ok"])

    def test_hello_has_ten_seconds(self):
        self.remote_peer()
        silent, talking = self.connect(), self.connect()
        talking.sendall(RIGHT)
        self.assertEqual([answer["error"] for answer in self.answers(silent)], ["no hello came in 10 s"])
        talking.sendall(line(op="counters"))
        talking.shutdown(socket.SHUT_WR)
        self.assertEqual([answer["ok"] for answer in self.answers(talking)], [True, True])

    def test_what_comes_before_hello_is_little(self):
        self.remote_peer()
        self.assertEqual(len(self.say(*[line(op="poll")] * 100)), 16)
        self.assertEqual(self.say(b'{"x":"' + b"y" * 5000 + b'"}\n', RIGHT), [])


class Shared(ControlTest):
    def test_memory_is_limited_for_all_together(self):
        self.local_peer("--memory-limit", "1M")
        one, other = self.control(), self.control()
        one.call("create_memory", length=600_000)
        answer = other.ask("create_memory", length=600_000)
        self.assertFalse(answer["ok"])
        self.assertIn("--memory-limit", answer["error"])
        other.call("create_memory", length=400_000)
        one.close()
        deadline = time.monotonic() + WAIT
        while not other.ask("create_memory", length=600_000)["ok"]:
            self.assertLess(time.monotonic(), deadline, "the memory of who is gone does not come back")

    def test_a_limit_is_a_size(self):
        for text in ("0", "-1", "x", "1T", "2000G", "1.5G", "99999999999999999999"):
            done = subprocess.run(self.wire.inside("b", ROCE_GEN, "peer", "-i", "v", "--control", self.socket, "--memory-limit", text),
                                  capture_output=True, text=True, check=False, timeout=WAIT)
            self.assertEqual(done.returncode, 2, text)
            self.assertIn("--memory-limit", done.stderr)

    def test_heavy_work_of_one_does_not_hinder_others(self):
        self.local_peer()
        heavy = self.control()
        size = 64 << 20
        memory = heavy.call("create_memory", length=size)["memory"]
        heavy.call("fill_memory", memory=memory, seed=3)
        is_over = threading.Event()
        rounds = []

        def work():
            while not is_over.is_set():
                heavy.call("create_memory", length=1 << 20)
                rounds.append(heavy.call("check_memory", memory=memory, parts=[{"seed": 3}] * 64)["equal"])

        worker = threading.Thread(target=work)
        worker.start()
        try:
            for operation in ("write", "send", "read"):
                done = subprocess.run(self.wire.inside("a", ROCE_GEN, operation, "-i", "v", "-n", "2000", "-s", "4096", "--json", self.socket),
                                      capture_output=True, text=True, check=False, timeout=WAIT)
                self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
                self.assertTrue(json.loads(done.stdout.splitlines()[-1])["ok"])
        finally:
            is_over.set()
            worker.join()
        self.assertTrue(rounds and all(rounds))


class Sinks(ControlTest):
    def test_a_write_is_no_message_of_a_sink(self):
        self.wire.ip("b", "address", "show")
        program = Program(ROCE_GEN, self.wire, "b", "peer", "-i", "lo", "--link", "udp", "--address", "127.0.0.1", "--control", self.socket)
        self.addCleanup(program.end)
        control = self.control()
        whole = 1 << 20
        memory = control.call("create_memory", length=whole, access=["remote_write"])
        control.call("fill_memory", memory=memory["memory"], seed=5)
        pairs = [control.call("create_qp", type="rc") for _ in range(2)]
        for own, other in (pairs, pairs[::-1]):
            control.call("connect_qp", qp=own["qp"], gid="127.0.0.1", psn=own["psn"], remote_qp=other["qp"], remote_psn=other["psn"])
        # Slots of 16 bytes in the pattern that longer messages would have.
        control.call("sink", qp=pairs[1]["qp"], memory=memory["memory"], slot_bytes=16, slots=1, seed=5)
        control.call("post_send", qp=pairs[0]["qp"], opcode="write_with_immediate", memory=memory["memory"], length=4096,
                     remote_address=memory["address"], r_key=memory["r_key"])
        self.assertEqual(control.completions(1)[0]["status"], "success")
        deadline = time.monotonic() + WAIT
        while (status := control.call("sink_status", qp=pairs[1]["qp"]))["received"] == 0:
            self.assertLess(time.monotonic(), deadline)
        self.assertEqual((status["received"], status["wrong"]), (1, 1))


    def test_receives_of_a_refused_sink_are_not_those_of_the_next(self):
        program = Program(ROCE_GEN, self.wire, "b", "peer", "-i", "lo", "--link", "udp", "--address", "127.0.0.1", "--control", self.socket)
        self.addCleanup(program.end)
        control = self.control()
        large = control.call("create_memory", length=32 << 20)["memory"]
        small = control.call("create_memory", length=4096)["memory"]
        pairs = [control.call("create_qp", type="rc", max_receive=16) for _ in range(2)]
        for own, other in (pairs, pairs[::-1]):
            control.call("connect_qp", qp=own["qp"], gid="127.0.0.1", psn=own["psn"], remote_qp=other["qp"], remote_psn=other["psn"])
        sender, receiver = (pair["qp"] for pair in pairs)

        def send():
            control.call("post_send", qp=sender, opcode="send", memory=small, length=64)
            self.assertEqual(control.completions(1)[0]["status"], "success")

        # There is room for 16 of 32 receives, and after a message for one more.
        self.assertFalse(control.ask("sink", qp=receiver, memory=large, slot_bytes=1 << 20, slots=32, seed=1)["ok"])
        send()
        control.call("sink", qp=receiver, memory=small, slot_bytes=4096, slots=1, seed=1)
        for _ in range(15):
            send()
            self.assertEqual(control.call("sink_status", qp=receiver)["received"], 0)
        send()
        deadline = time.monotonic() + WAIT
        while (status := control.call("sink_status", qp=receiver))["received"] == 0:
            self.assertLess(time.monotonic(), deadline)
        self.assertEqual((status["received"], status["wrong"]), (1, 1))


class Handshakes(ControlTest):
    def garbage(self, count, port, text):
        for _ in range(count):
            stream = self.connect(port=port)
            with contextlib.suppress(OSError):
                stream.sendall(text)
                stream.shutdown(socket.SHUT_WR)
                stream.recv(1)
            stream.close()

    def notes_after_garbage(self, *arguments):
        peer = self.local_peer(*arguments)
        self.garbage(200, 18515, b"\xff\xfe rubbish\x1b[2J" + bytes(60))
        peer.process.send_signal(signal.SIGTERM)
        notes = [json.loads(text) for text in peer.process.stdout.read().splitlines()]
        peer.process.wait(WAIT)
        return notes

    def check(self, notes, event):
        told = [note for note in notes if note["event"] == event]
        self.assertTrue(told and not any(note["ok"] for note in told))
        self.assertLess(len(told), 100)
        left_out = [note["text"] for note in notes if note["event"] == "handshakes"]
        self.assertEqual(len(told) + sum(int(text.split()[0]) for text in left_out), 200)

    def test_garbage_for_pingpong_fills_no_log(self):
        self.check(self.notes_after_garbage(), "pingpong")

    def test_garbage_for_perftest_fills_no_log(self):
        self.check(self.notes_after_garbage("--perftest", "ib_write_bw"), "perftest")

    def test_a_crowd_keeps_nobody_out(self):
        for arguments, client in (((), ("pingpong", "-i", "v", "-n", "10", "10.9.0.2")),
                                  (("--perftest", "ib_write_bw"), ("perftest", "ib_write_bw", "-i", "v", "-n", "10", "10.9.0.2"))):
            with self.subTest(arguments=arguments):
                peer = self.local_peer(*arguments)
                waiting = [self.connect(port=18515) for _ in range(100)]
                done = subprocess.run(self.wire.inside("a", ROCE_GEN, *client, "--json"), capture_output=True, text=True, check=False,
                                      timeout=WAIT)
                self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
                for stream in waiting:
                    stream.close()
                peer.end()


if __name__ == "__main__":
    enter_namespaces()
    ROCE_GEN = os.path.abspath(sys.argv[1])
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
