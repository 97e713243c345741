#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""`roce-gen peer` under clients of its control protocol and of its handshakes that mean it no good, with a clean exchange beside them
from beginning to end: nothing crashes, nothing waits for more than five seconds, no memory grows, and no byte of others changes."""

import contextlib
import itertools
import json
import os
import queue
import random
import signal
import socket
import subprocess
import sys
import threading
import time

import bounded
import network
from control_session import Session
from part import Part, main

from live import Wire, enter_namespaces, enter_network

SHORT = 3000
LONG = 100_000
HANDSHAKES = {"short": 300, "long": 3000}
ROUNDS = 15  # with each peer
THREADS = 3
PATIENCE = 5  # seconds for an answer
DYING = 0.1  # seconds in which a program ends that a signal has hit
PEER = "10.9.0.2"
CONTROL_PORT = 18599
PINGPONG_PORT = 18515
TOKEN = "a secret of forty characters and no more"
# Where clients come from: those with wrong tokens are refused by address, and that must not be the others'.
CLEAN, MUTATED, WRONG, SILENT, GARBAGE = (f"10.9.0.{number}" for number in (1, 61, 62, 63, 64))
# glibc gives back what is free, rather than keep up to 64 MiB of it for later: what is resident is what the peer holds.
GIVE_BACK = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}
GROWTH_SHARE, GROWTH_BYTES = 0.05, 1 << 20
MOST_REFUSED = 3000  # connections of one client in a round, with 10 ms after each
MOST_BEFORE_HELLO = 1 << 20  # bytes for each connection that has said nothing
GUARDED = 1 << 20


class Peer(network.Peer):
    """One under attack, which gives back to the system what it frees."""

    def __init__(self, part, wire, *arguments):
        super().__init__(part.gen, wire, "b", "peer", "-i", "v", *arguments, environment={**bounded.environment(), **GIVE_BACK})
        self.part = part
        self.is_told = False

    def status(self, key):
        """In bytes."""
        try:
            with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
                return next(int(line.split()[1]) * 1024 for line in status if line.startswith(key + ":"))
        except (OSError, StopIteration):
            return 0

    def is_alive(self, what):
        """Whether it is; how it ended is a finding, once."""
        if self.process.poll() is None:
            return True
        if not self.is_told:
            self.is_told = True
            for reader in self.readers:
                reader.join(network.WAIT)
            code = self.process.returncode
            kind = "crash" if code < 0 or "Sanitizer" in self.errors else "exit code"
            how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
            self.part.find(kind, f"{what}: the peer is gone: {how} {bounded.last_words(self.errors.encode())}")
        return False

    def is_alive_after(self, what):
        """The same, where it may be about to die of what it was just sent."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(DYING)
        return self.is_alive(what)

    def end(self):
        """Told to end, and judged."""
        # 1: a pingpong failed, as it should.
        if self.is_alive("at the end") and (wrong := self.stop(allowed=(0, 1))):
            self.part.find("hang" if "did not end" in wrong else "crash", wrong)


class Client:
    """A connection that is written to and read as bytes."""

    def __init__(self, where, source=None):
        if isinstance(where, str):
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(PATIENCE)
            self.socket.connect(where)
        else:
            self.socket = socket.create_connection(where, PATIENCE, (source or CLEAN, 0))
        self.socket.settimeout(PATIENCE)
        self.rest = b""

    def send(self, data):
        self.socket.sendall(data)

    def answers(self, until=None):
        """Lines until one has this id, or the connection ends; (lines, whether it is open). TimeoutError after PATIENCE."""
        lines, deadline = [], time.monotonic() + PATIENCE
        while True:
            while b"\n" in self.rest:
                line, self.rest = self.rest.split(b"\n", 1)
                lines.append(line)
                if until is not None and until in line:
                    return lines, True
            self.socket.settimeout(max(0.01, deadline - time.monotonic()))
            got = self.socket.recv(1 << 16)
            if not got:
                return lines, False
            self.rest += got

    def ask(self, op, **members):
        self.send(json.dumps({"op": op, "id": "ask", **members}).encode() + b"\n")
        lines, _ = self.answers(b'"ask"')
        return json.loads(lines[-1]) if lines else {"ok": False, "error": "closed"}

    def close(self):
        self.socket.close()


class CleanExchanges(threading.Thread):
    """Exchanges that run one after the other as long as the attack does, each of which has to be right."""

    OPERATIONS = (("write", "-s", "4096", "-n", "200"), ("read", "-s", "8k", "-n", "100"), ("send", "-s", "1024", "-n", "200"),
                  ("atomic", "-n", "100"))

    def __init__(self, part, wire, target):
        super().__init__(daemon=True)
        self.part = part
        self.wire = wire
        self.target = target
        self.over = threading.Event()
        self.between = queue.SimpleQueue()  # what is to be done where none is under way
        self.verified = 0
        self.longest = 0
        self.doing = ""

    def run(self):
        for operation in itertools.cycle(self.OPERATIONS):
            while not self.between.empty():
                self.between.get()()
            if self.over.is_set():
                return
            line = self.wire.inside("a", self.part.gen, operation[0], "-i", "v", "--address", CLEAN, "--timeout", "16", *operation[1:], *self.target)
            begun = time.monotonic()
            try:
                done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=60, env=bounded.environment())
            except subprocess.TimeoutExpired:
                self.part.find("hang", f"a clean {operation[0]} did not end in a minute, beside {self.doing}")
                continue
            if done.returncode != 0 or "all data compared and right" not in done.stdout:
                if not self.over.is_set():
                    self.part.find("clean exchange", f"{operation[0]} through {self.target[-1]}, beside {self.doing}: exit code "
                                   f"{done.returncode}: {done.stderr.strip()[:300]}")
                continue
            self.verified += 1
            self.longest = max(self.longest, time.monotonic() - begun)

    def pause_for(self, work):
        """What `work` returns, called while none is under way."""
        results = queue.SimpleQueue()
        self.between.put(lambda: results.put(work()))
        return results.get(timeout=90)

    def end(self):
        self.over.set()
        self.join(90)


class Guard:
    """Memory of a client that does no harm, which nobody else may change."""

    def __init__(self, part, client, **token):
        self.part = part
        self.client = client
        self.changed = 0
        self.memories = []
        assert self.client.ask("hello", version=1, **token)["ok"]
        for i in range(4):
            made = self.client.ask("create_memory", length=GUARDED, access=["remote_write", "remote_read", "remote_atomic"])
            self.client.ask("fill_memory", memory=made["memory"], seed=i)
            self.memories.append(made["memory"])

    def check(self, what):
        """Whether it is as it was; also asks how long an answer takes."""
        begun = time.monotonic()
        try:
            for i, memory in enumerate(self.memories):
                answer = self.client.ask("check_memory", memory=memory, seed=i)
                if answer.get("error") == "closed":
                    raise ConnectionError("it was closed")
                if answer.get("equal") is not True:
                    self.changed += 1
                    self.part.find("bytes changed", f"{what}: memory of another client: {answer}")
        except TimeoutError:
            self.part.find("hang", f"{what}: another client had no answer for {PATIENCE} s")
            with contextlib.suppress(OSError):
                self.client.answers(b'"ask"')
        except OSError as error:
            self.part.find("closed", f"{what}: the connection of another client: {error}")
            return PATIENCE
        return time.monotonic() - begun


class Attack:
    """One peer, whose control protocol is on TCP or on a Unix socket, and what is done to it."""

    def __init__(self, part, wire, over_tcp):
        self.part = part
        self.wire = wire
        self.over_tcp = over_tcp
        self.sock = part.folder / "control.sock"
        self.token_file = part.folder / "token"
        self.token_file.write_text(TOKEN + "\n", encoding="ascii")
        self.token_file.chmod(0o600)
        self.lock = threading.Lock()
        self.peer = None
        self.exchanges = None
        self.guard = None

    def connect(self, source):
        return Client((PEER, CONTROL_PORT), source) if self.over_tcp else Client(str(self.sock))

    @property
    def token(self):
        return TOKEN if self.over_tcp else None

    def start(self):
        if self.over_tcp:
            self.peer = Peer(self.part, self.wire, "--control-port", str(CONTROL_PORT), "--token-file", str(self.token_file))
            target = ("--token-file", str(self.token_file), f"{PEER}:{CONTROL_PORT}")
        else:
            self.peer = Peer(self.part, self.wire, "--control", str(self.sock))
            target = (str(self.sock),)
        self.guard = Guard(self.part, self.connect(CLEAN), **({"token": TOKEN} if self.over_tcp else {}))
        self.exchanges = CleanExchanges(self.part, self.wire, target)
        self.exchanges.start()

    def stop(self):
        self.exchanges.end()
        self.peer.end()
        with contextlib.suppress(FileNotFoundError):
            self.sock.unlink()

    def kill(self):
        if self.exchanges is not None:
            self.exchanges.over.set()
        if self.peer is not None and self.peer.process.poll() is None:
            self.peer.process.kill()
            self.peer.process.wait()

    def restart_if_dead(self, what):
        if self.peer.is_alive_after(what):
            return
        exchanges, changed = self.exchanges, self.guard.changed
        exchanges.end()
        with contextlib.suppress(FileNotFoundError):
            self.sock.unlink()
        self.start()
        self.exchanges.verified += exchanges.verified
        self.guard.changed += changed

    def now_doing(self, what):
        self.exchanges.doing = what

    def count(self, what, number=1):
        with self.lock:
            self.part.count(what, number)

    def find(self, *arguments):
        with self.lock:
            self.part.find(*arguments)

    # A session with mistakes.

    def session(self, seed, requests):
        """One connection: the number of requests that were sent, 0 if it was refused."""
        chance = random.Random(seed)
        session = Session(chance, self.token)
        sent = 0
        try:
            client = self.connect(MUTATED)
        except OSError:
            time.sleep(0.01)  # until others have made room
            return 0
        history = []
        try:
            if chance.random() < 0.95:
                client.send(json.dumps(session.hello()).encode() + b"\n")
                sent += 1
            while sent < requests:
                batch = [session.mutated() for _ in range(chance.choice((1, 1, 2, 5, 20)))]
                history = batch
                sent += len(batch)
                data = b"".join(batch)
                if chance.random() < 0.02:  # gone in the middle
                    client.send(data[:chance.randrange(len(data))])
                    break
                marker = b'"mark%d"' % sent
                data += b'{"op":"counters","id":' + marker + b"}\n"
                for piece in self.pieces(chance, data):
                    client.send(piece)
                lines, is_open = client.answers(marker)
                for line in lines:
                    answer = json.loads(line)
                    if not isinstance(answer.get("ok"), bool):
                        raise ValueError(f"an answer without ok: {line[:200]}")
                    session.learn(answer)
                if not is_open:
                    break
        except TimeoutError:
            self.keep_session("hang", f"no answer for {PATIENCE} s", seed, history)
        except (ValueError, RecursionError) as error:
            self.keep_session("answer", f"no answer as documented: {error}", seed, history)
        except OSError:
            pass  # closed on us, as a line that is too long may be
        finally:
            client.close()
        return sent

    def keep_session(self, kind, what, seed, history):
        path = self.part.folder / f"session-{abs(hash(seed))}.txt"
        path.write_bytes(b"".join(history))
        with self.lock:
            self.part.find(kind, f"session {seed}: {what}", None, [path])

    @staticmethod
    def pieces(chance, data):
        if chance.random() < 0.8 or len(data) > 100_000:
            return [data]
        cuts = sorted(chance.randrange(len(data)) for _ in range(chance.randrange(1, 5)))
        return [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)])]

    def resident(self):
        """The peer's memory once it has stopped giving back, piece by piece, what clients left that are gone."""
        last, size = None, self.peer.status("VmRSS")
        while last is None or size < last:
            time.sleep(0.05)  # no event tells
            last, size = size, self.peer.status("VmRSS")
        return size

    def sessions(self, number):
        samples = []
        for round_number in range(ROUNDS):
            def work(thread, round_number=round_number):
                sent = refused = 0
                for i in itertools.count():
                    if sent >= number / ROUNDS / THREADS or self.peer.process.poll() is not None:
                        break
                    seed = f"control {self.part.options.seed} {self.over_tcp} {round_number} {thread} {i}"
                    length = random.Random(seed + "length").choice((5, 20, 100, 400))
                    sent_now = self.session(seed, min(length, number // ROUNDS // THREADS - sent + 1))
                    sent += sent_now
                    refused += sent_now == 0
                    if refused > MOST_REFUSED:
                        self.find("locked out", f"{refused} connections of one client were refused")
                        break
                self.count("control requests", sent)
                self.count("refused connections", refused)
            self.now_doing("sessions with mistakes")
            threads = [threading.Thread(target=work, args=(i,)) for i in range(THREADS)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.restart_if_dead(f"round {round_number} of sessions")
            self.guard.check(f"round {round_number} of sessions")
            # What clients have is theirs: it counts when they are gone.
            samples.append(self.exchanges.pause_for(self.resident))
        self.part.facts[f"resident MiB, {'TCP' if self.over_tcp else 'Unix'}"] = " ".join(f"{size / bounded.MIB:.0f}" for size in samples)
        # The least of each fifth: what a client left is given back piece by piece.
        fifth = len(samples) // 5
        begin, end = min(samples[fifth:2 * fifth]), min(samples[-fifth:])
        grown = self.part.facts.get("rss_end_kib", 0) - self.part.facts.get("rss_start_kib", 0)
        if (int(end) - int(begin)) // 1024 >= grown:  # of the two peers the one that grew more
            self.part.facts |= {"rss_start_kib": int(begin) // 1024, "rss_end_kib": int(end) // 1024}
        if not self.part.sanitized and end - begin > max(GROWTH_SHARE * begin, GROWTH_BYTES):
            self.find("memory", f"the peer's resident memory grew from {begin / bounded.MIB:.1f} to {end / bounded.MIB:.1f} MiB")

    # What is of one kind.

    def before_hello(self):
        """Lines of somebody without the token that are made to break the reader."""
        self.now_doing("lines before hello")
        for name, line in {
                "an id nested 100,000 deep": b'{"op":"hello","id":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n",
                "objects nested 100,000 deep": b'{"id":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"}\n",
                "a line nested 2,000,000 deep": b"[" * 2_000_000 + b"\n",
                "a million members": b'{"op":"hello",' + b",".join(b'"%d":0' % i for i in range(300_000)) + b"}\n",
                "a number of a million digits": b'{"op":"hello","version":' + b"1" * 1_000_000 + b"}\n",
                "4 MiB without a newline": b"a" * (4 << 20)}.items():
            client = None
            try:
                client = self.connect(MUTATED)
                client.send(line)
                client.send(b"\n" + b'{"op":"counters","id":"mark"}\n')
                client.answers(b'"mark"')
            except TimeoutError:
                self.find("hang", f"{name}: no answer for {PATIENCE} s")
            except OSError:
                pass
            finally:
                if client:
                    client.close()
            self.count("lines before hello")
            self.restart_if_dead(name)
            self.guard.check(name)

    def wrong_tokens(self):
        """After a wrong one nothing more is served, and whoever guesses is slowed down."""
        self.now_doing("wrong tokens")
        served, answered, tries, begun = 0, 0, 60, time.monotonic()
        for i in range(tries):
            client = None
            try:
                client = self.connect(WRONG)
                client.send(b'{"op":"hello","version":1,"token":"guess %d"}\n' % i
                            + b'{"op":"hello","version":1,"token":"%s"}\n' % TOKEN.encode()
                            + b'{"op":"create_memory","length":4096}\n{"op":"counters","id":"mark"}\n')
                lines, is_open = client.answers(b'"mark"')
                served += any(json.loads(line).get("ok") for line in lines)
                answered += any(b"token is wrong" in line for line in lines)
                if is_open:
                    served += 1
            except TimeoutError:
                self.find("hang", "after a wrong token the connection is neither served nor closed")
            except OSError:
                pass
            finally:
                if client:
                    client.close()
            self.count("wrong tokens")
        if served:
            self.find("token", f"of {tries} connections with a wrong token {served} were served what was sent with it")
        if answered == tries and time.monotonic() - begun < 30:
            self.find("token", f"{tries} wrong tokens of one address were all looked at, in {time.monotonic() - begun:.1f} s")
        self.restart_if_dead("wrong tokens")
        self.guard.check("wrong tokens")

    def silence(self):
        """Connections that say nothing cost nothing, lock nobody out, and do not stay."""
        self.now_doing("connections that say nothing")
        before = self.peer.status("VmData")
        silent = []
        for _ in range(100):
            with contextlib.suppress(OSError):
                silent.append(Client((PEER, CONTROL_PORT), SILENT))
        self.count("connections that say nothing", len(silent))
        # Its answers come after it has looked at them.
        self.guard.check("connections that say nothing")
        grown = self.peer.status("VmData") - before
        if not self.part.sanitized and grown > MOST_BEFORE_HELLO * len(silent) // 4:
            self.find("memory", f"{len(silent)} connections that have said nothing take {grown / bounded.MIB:.0f} MiB of the peer")
        with contextlib.suppress(OSError):
            client = Client((PEER, CONTROL_PORT), CLEAN)
            try:
                answer = client.ask("hello", version=1, token=TOKEN)
                if not answer.get("ok"):
                    self.find("locked out", f"beside {len(silent)} connections that say nothing, one with the token is told: {answer}")
            except (OSError, ValueError) as error:
                self.find("locked out", f"beside {len(silent)} connections that say nothing, one with the token: {error}")
            client.close()
        deadline = time.monotonic() + 15
        left = 0
        for client in silent:
            try:
                client.socket.settimeout(max(0.01, deadline - time.monotonic()))
                while client.socket.recv(4096):
                    pass
            except TimeoutError:
                left += 1
            except OSError:
                pass
            client.close()
        if left:
            self.find("silent", f"{left} of {len(silent)} connections that say nothing stay for more than 15 s")
        self.restart_if_dead("connections that say nothing")

    def long_work(self):
        """Work of one client that takes long does not hold up the others."""
        self.now_doing("long work of one client")
        # The memory of a sanitizer's allocator is not given back.
        large = 256 << 20 if self.part.sanitized else 3 << 30
        parts = json.dumps([{"offset": 0, "seed": 0}] * 3000)
        for name, lines in {
                f"create_memory of {large >> 20} MiB": [b'{"op":"create_memory","length":%d}' % large],
                f"fill_memory of {large >> 20} MiB": [b'{"op":"create_memory","length":%d}' % large, b'{"op":"fill_memory","memory":1,"seed":0}'],
                "check_memory of 3000 parts": [b'{"op":"create_memory","length":%d}' % (64 << 20), b'{"op":"fill_memory","memory":1,"seed":0}',
                                               b'{"op":"check_memory","memory":1,"parts":%s}' % parts.encode()]}.items():
            with contextlib.suppress(OSError):
                client = self.connect(CLEAN)
                client.send(json.dumps(Session(random, self.token).hello()).encode() + b"\n" + b"\n".join(lines) + b"\n")
                longest, until = 0.0, time.monotonic() + 4
                while time.monotonic() < until:
                    waited = bounded.time_kept_waiting(self.peer.process.pid)
                    took = self.guard.check(name)
                    longest = max(longest, took - (bounded.time_kept_waiting(self.peer.process.pid) - waited))
                    time.sleep(0.02)  # as somebody who asks now and then, and not all the time
                self.count("long works")
                if longest > (3 if self.part.sanitized else 1):
                    self.find("held up", f"{name}: another client's request took {longest:.1f} s")
                client.close()
            self.restart_if_dead(name)
        self.guard.check("long work of one client")

    def handshakes(self, number, port, prepare, name):
        """Garbage where a handshake is expected, and then a good one beside connections that stay silent."""
        chance = random.Random(f"handshakes {self.part.options.seed} {name}")
        lines_before, open_ones = self.peer.lines, []
        for _ in range(number):
            try:
                client = socket.create_connection((PEER, port), PATIENCE, (GARBAGE, 0))
            except OSError:
                continue
            self.count(f"garbage handshakes of {name}")
            data = bytearray(prepare(chance))
            choice = chance.randrange(7)
            if choice == 0:
                data = chance.randbytes(chance.randrange(2000))
            elif choice == 1:
                data = data[:chance.randrange(len(data))]
            elif choice == 2:
                data = data * chance.randrange(2, 100)
            elif choice in (3, 4):
                for _ in range(chance.randrange(1, 6)):
                    data[chance.randrange(len(data))] = chance.randrange(256)
            elif choice == 5:
                data = bytes(chance.randrange(1, 300))
            with contextlib.suppress(OSError):
                client.sendall(data)
            if chance.random() < 0.02:
                open_ones.append(client)
            else:
                if chance.random() < 0.3:
                    client.settimeout(0.02)
                    with contextlib.suppress(OSError):
                        client.recv(1000)
                client.close()
        # It has read them when it serves who came after them.
        with contextlib.suppress(OSError):
            client = self.connect(CLEAN)
            client.ask("hello", version=1)
            client.close()
        printed = self.peer.lines - lines_before
        if printed > max(number // 10, 20):
            self.find("noise", f"{number} garbage handshakes of {name}: {printed} lines printed")
        for client in open_ones:
            client.close()

    def clean_handshake(self, what, *command):
        done = subprocess.run(self.wire.inside("a", self.part.gen, *command), capture_output=True, text=True, check=False, timeout=120,
                              env=bounded.environment())
        if done.returncode != 0:
            self.find("clean exchange", f"{what}: exit code {done.returncode}: {done.stderr.strip()[:300]}")
        self.count(f"clean {what}")


def pingpong_hello(chance):
    return f"{0:04x}:{chance.getrandbits(24):06x}:{chance.getrandbits(24):06x}:00000000000000000000ffff0a090001".encode() + b"\0"


def perftest_hello(chance):
    """The versions, as perftest begins, and keys behind them."""
    return b"5.60\0" + bytes(11) + b"".join(b"%04x:%06x:%06x:%08x:%016x:" % (0, chance.getrandbits(24), chance.getrandbits(24), chance.getrandbits(32),
                                                                             chance.getrandbits(64)) for _ in range(2))


def add_addresses(wire):
    for address in (MUTATED, WRONG, SILENT, GARBAGE):
        wire.ip("a", "address", "add", f"{address}/24", "dev", "v")
    # From now on this program is in the namespace of the clients.
    there = os.open(f"/proc/{wire.holders['a'].pid}/ns/net", os.O_RDONLY)
    enter_network(there)
    os.close(there)


def run(part):
    wire = Wire(1500)
    number = part.options.count or (LONG if part.long else SHORT)
    handshakes = HANDSHAKES[part.options.scale]
    add_addresses(wire)
    verified, longest, changed = 0, 0.0, 0
    try:
        for over_tcp in (True, False):
            attack = Attack(part, wire, over_tcp)
            try:
                attack.start()
                attack.before_hello()
                attack.sessions(number // 2)
                if over_tcp:
                    attack.wrong_tokens()
                    attack.silence()
                else:
                    attack.long_work()
                    garbage_for_pingpong(attack, handshakes)
                attack.stop()
            finally:
                attack.kill()
            verified += attack.exchanges.verified
            longest = max(longest, attack.exchanges.longest)
            changed += attack.guard.changed
        perftest(part, wire, handshakes)
    finally:
        wire.close()
    part.count("clean exchanges verified", verified)
    part.facts |= {"clean_exchange_verified": verified > 0 and not any(finding["kind"] == "clean exchange" for finding in part.findings),
                   "longest_clean_exchange_seconds": round(longest, 2), "bytes_changed_outside": changed}


def garbage_for_pingpong(attack, handshakes):
    attack.now_doing("garbage handshakes of pingpong")
    attack.handshakes(handshakes, PINGPONG_PORT, pingpong_hello, "pingpong")
    attack.restart_if_dead("garbage handshakes of pingpong")
    attack.guard.check("garbage handshakes of pingpong")
    attack.clean_handshake("pingpong after garbage", "pingpong", "-i", "v", "--address", CLEAN, "-n", "100", PEER)


def perftest(part, wire, handshakes):
    """Of perftest's handshake there is another peer."""
    attack = Attack(part, wire, over_tcp=False)
    attack.peer = Peer(part, wire, "--control", str(attack.sock), "--perftest", "ib_write_bw", "--perftest-iters", "100")
    try:
        attack.handshakes(handshakes, PINGPONG_PORT, perftest_hello, "perftest")
        if attack.peer.is_alive("garbage handshakes of perftest"):
            attack.clean_handshake("perftest after garbage", "perftest", "-i", "v", "--address", CLEAN, "-n", "100", "ib_write_bw", PEER)
            attack.peer.end()
    finally:
        attack.kill()


if __name__ == "__main__":
    enter_namespaces()
    sys.exit(main(Part("control", __doc__), run))
