# SPDX-License-Identifier: BSD-2-Clause
"""roce-conform against a device on a wire: roce-gen peer in a namespace beside its own.

usage: link_test.py ROCE_CONFORM ROCE_GEN CASES [UNITTEST ARGUMENT...]

Makes the namespaces itself, in a user namespace of its own, so that it needs no privilege; prints why and exits with 77 where
that is forbidden.
"""

import collections
import contextlib
import itertools
import json
import os
import random
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "gen"))

from live import WAIT, Program, RelayedWire, Wire, enter_namespaces

EVERYTHING = 3  # ETH_P_ALL
DEVICE = bytes([10, 9, 0, 2])


class LinkTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="roce-conform-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.wire = Wire(4200)
        self.addCleanup(self.wire.close)
        self.socket = os.path.join(self.folder, "control.sock")

    def peer(self, *arguments):
        program = Program(ROCE_GEN, self.wire, "b", "peer", "-i", "v", "--control", self.socket, *arguments)
        self.addCleanup(program.end)
        return program

    def conform(self, *arguments, agent=None, cases=None):
        """A run of roce-conform in namespace a, and the results that it wrote."""
        path = os.path.join(self.folder, "results.json")
        command = self.wire.inside("a", ROCE_CONFORM, "run", *(cases or [CASES]), "-i", "v", "--agent", agent or self.socket, "--json", path, *arguments)
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        results = []
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                results = json.load(file)["results"]
        return run, results

    def frames(self, stop):
        """All frames that come to the device until `stop` is set."""
        with self.wire.packet_socket("b", "v", EVERYTHING) as link:
            link.settimeout(0.1)
            while not stop.is_set():
                with contextlib.suppress(TimeoutError):
                    frame, (_, _, kind, *_) = link.recvfrom(65536)
                    if kind != socket.PACKET_OUTGOING:
                        yield frame


def for_whole_runs():
    """The cases but those of the communication manager, which take the time of its timers, those of PFC, for which a busy tester is
    too slow, and cc-rate, for which the device sends as fast as it can: a tester on a socket of a busy machine says rightly that it
    had no room for all of that."""
    paths = [os.path.join(folder, name) for folder, _, names in os.walk(CASES) for name in names]

    def needs_cm(path):
        with open(path, encoding="utf-8") as file:
            return re.search(r"^needs: \[.*\bcm\b", file.read(), re.MULTILINE)

    return sorted(path for path in paths if path.endswith(".yaml") and not path.endswith("/cc-rate.yaml") and "/pfc/" not in path
                  and not needs_cm(path))


class Verdicts(LinkTest):
    # An agent has addresses of one version, and does not tell whether the device does these.
    LACKING = ("an address for ", "a communication manager that the tester can ask, over packets of ", "multicast")

    def check(self, run, results, count):
        wrong = [f"{one['name']}: {one['failure']['message']}" for one in results if one["result"] not in ("pass", "skip")]
        self.assertEqual((wrong, run.returncode, run.stderr), ([], 0, ""), run.stdout[-2000:])
        lacking = {one["lacks"] for one in results if one["result"] == "skip"}
        self.assertEqual([lack for lack in lacking if not lack.startswith(self.LACKING)], [])
        self.assertGreater(sum(one["result"] == "pass" for one in results), count)

    def test_every_instance_passes_on_a_raw_link(self):
        self.peer("--profile", "strict", "--link", "raw")
        self.check(*self.conform("--to-others", cases=for_whole_runs()), 3500)

    def test_one_instance_of_each_case_passes_with_jobs_of_one(self):
        self.peer("--profile", "hardware_like", "--link", "raw")
        self.check(*self.conform("--quick", "--to-others", "-j", "1", cases=for_whole_runs()), 150)

    def test_connections_of_the_communication_manager(self):
        self.peer("--profile", "strict", "--link", "raw")
        # These two take minutes.
        folders = [os.path.join(CASES, group) for group in ("cm", "gsi")]
        names = [name.removesuffix(".yaml") for folder in folders for name in os.listdir(folder)]
        chosen = [argument for name in names if name not in ("cm-req-again", "cm-flood") for argument in ("--only", name)]
        run, results = self.conform("--quick", *chosen, cases=folders)
        self.check(run, results, 20)
        self.assertNotIn("skip", {one["result"] for one in results})

    def test_flow_control(self):
        self.peer("--profile", "strict", "--link", "raw")
        # A pause of at most 3.4 ms is over before a busy tester has looked; pfc-storm lasts 10 s.
        chosen = [argument for name in ("class", "odd", "pause", "time", "vector") for argument in ("--only", f"pfc-{name}")]
        run, results = self.conform("--to-others", *chosen)
        verdicts = collections.Counter(one["result"] for one in results)
        self.assertLessEqual(set(verdicts), {"pass", "inconclusive"}, run.stdout[-3000:])
        self.assertEqual(run.stderr, "")
        self.assertGreater(verdicts["pass"], 30)

    def test_udp_sockets_keep_the_rules_of_the_transport(self):
        self.peer("--profile", "strict", "--link", "udp")
        self.check(*self.conform("--quick", "--only", "nak-*", "--only", "psn-*", "--only", "uc-*", "--only", "wr-*"), 30)

    def test_ipv6(self):
        self.peer("--profile", "strict", "--link", "raw", "--address", "fd09::2")
        self.check(*self.conform("--quick", "--only", "nak-*", "--only", "psn-*", "--only", "snd-*", "--only", "ud-deliver", "--only", "ud-requester"), 22)

    def test_a_device_that_breaks_a_rule_is_found(self):
        self.peer("--profile", "strict", "--link", "raw", "--bad-icrc")
        run, results = self.conform("--only", "nak-access", "--quick")
        self.assertEqual((run.returncode, [one["result"] for one in results]), (1, ["fail"]))
        self.assertIn("the ICRC is", results[0]["failure"]["message"])


class Addresses(LinkTest):
    def test_nothing_is_sent_to_an_address_that_was_not_named(self):
        self.peer("--profile", "strict", "--link", "raw")
        station = self.wire.ip("b", "-j", "link", "show", "v")
        device = bytes.fromhex(json.loads(station)[0]["address"].replace(":", ""))
        stop = threading.Event()
        seen = []
        reader = threading.Thread(target=lambda: seen.extend(self.frames(stop)))
        reader.start()
        try:
            run, results = self.conform("--quick", "--only", "eth-*", "--only", "ip-*", "--only", "hdr-*", "--only", "icrc-*")
        finally:
            stop.set()
            reader.join()
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        skipped = [one["name"] for one in results if one["result"] == "skip"]
        self.assertTrue(any(name.startswith("eth-frame") for name in skipped), skipped)
        # The kernel looks for the device's address, and both kernels tell of groups.
        roce = [frame for frame in seen if frame[12:14] not in (b"\x08\x06", b"\x86\xdd")]
        self.assertGreater(len(roce), 100)
        for frame in roce:
            self.assertEqual(frame[:6], device, frame.hex())
            at = 14
            while frame[at - 2:at] in (b"\x81\x00", b"\x88\xa8"):
                at += 4
            self.assertEqual(frame[at + 16:at + 20], DEVICE, frame.hex())


class Agents(LinkTest):
    def refused(self, words, *arguments, **where):
        run, results = self.conform("--only", "nak-access", *arguments, **where)
        self.assertEqual((run.returncode, results), (2, []), run.stdout + run.stderr)
        self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
        self.assertIn(words, run.stderr)

    def test_one_that_is_not_there(self):
        self.refused("start roce-gen peer there")
        run = subprocess.run([ROCE_CONFORM, "run", CASES, "-i", "v"], capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 2)
        self.assertIn("needs both --interface", run.stderr)
        self.peer()
        run = subprocess.run(self.wire.inside("a", ROCE_CONFORM, "run", CASES, "-i", "none", "--agent", self.socket), capture_output=True,
                             text=True, check=False)
        self.assertEqual(run.returncode, 2)
        self.assertIn("none", run.stderr)

    def test_a_wrong_token(self):
        token = os.path.join(self.folder, "token")
        for text in ("right", "wrong"):
            with open(os.open(f"{token}.{text}", os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
                file.write(f"{text}\n")
        program = Program(ROCE_GEN, self.wire, "b", "peer", "-i", "v", "--control-port", "7000", "--token-file", f"{token}.right")
        self.addCleanup(program.end)
        self.refused("the token is wrong", "--token-file", f"{token}.wrong", agent="10.9.0.2:7000")
        self.refused("wants a token", agent="10.9.0.2:7000")
        run, results = self.conform("--only", "nak-access", "--quick", "--token-file", f"{token}.right", agent="10.9.0.2:7000")
        self.assertEqual((run.returncode, len(results)), (0, 1), run.stderr)

    def answering(self, *answers):
        """A server on the control socket that gives these answers to each client, and then none."""
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(self.socket)
        listener.listen()

        def serve():
            with contextlib.suppress(OSError):
                while True:
                    client, _ = listener.accept()
                    with client:
                        for answer in answers:
                            client.recv(65536)
                            client.sendall(json.dumps(answer).encode() + b"\n")
                        while client.recv(65536):
                            pass

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        # A thread in accept is woken by the end of the socket, not by closing it.
        self.addCleanup(listener.close)
        self.addCleanup(listener.shutdown, socket.SHUT_RDWR)

    def test_one_of_another_version(self):
        self.answering({"id": 1, "ok": False, "error": "version 2 is not spoken here, 1 is"})
        self.refused("version 2 is not spoken here")

    def test_one_that_answers_as_version_1(self):
        self.answering({"id": 1, "ok": True, "version": 1, "gid": "10.9.0.2", "max_path_mtu": 1024, "shard": 0, "shards": 1})
        self.refused("does not speak version 2")

    def test_one_that_hangs(self):
        self.answering()
        self.refused("did not answer \"hello\" in 10 s")

    def test_one_that_speaks_something_else(self):
        self.answering(["SSH-2.0"])
        self.refused("does not speak the control protocol")


class Fuzzed(LinkTest):
    def fuzz(self, target, *arguments, programs=40):
        command = self.wire.inside("a", ROCE_CONFORM, "fuzz", "-i", "v", "--agent", self.socket, "--target", target, "--programs", str(programs), *arguments)
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def test_a_device_that_keeps_the_rules_has_no_findings(self):
        self.peer("--profile", "strict", "--link", "raw")
        run = self.fuzz("10.9.0.2")
        self.assertEqual((run.returncode, run.stderr), (0, ""), run.stdout)
        self.assertIn("40 programs", run.stdout)

    def test_frames_leave_at_the_rate(self):
        self.peer("--profile", "strict", "--link", "raw")
        stop = threading.Event()
        frames = []
        reader = threading.Thread(target=lambda: frames.extend(self.frames(stop)))
        reader.start()
        begin = time.monotonic()
        try:
            run = self.fuzz("10.9.0.2", "--rate", "200", programs=5)
        finally:
            spent = time.monotonic() - begin
            stop.set()
            reader.join()
        self.assertEqual(run.returncode, 0, run.stderr)
        roce = [frame for frame in frames if frame[36:38] == (4791).to_bytes(2, "big")]
        self.assertGreater(len(roce), 32)
        self.assertGreater(spent, (len(roce) - 1) / 200)

    def test_only_the_device_that_was_named_is_one(self):
        self.peer("--profile", "strict", "--link", "raw")
        other = self.fuzz("10.9.0.3")
        self.assertEqual((other.returncode, other.stdout), (2, ""))
        self.assertIn("the agent is that of another device: expected 10.9.0.3, found 10.9.0.2", other.stderr)
        self.wire.ip("a", "route", "add", "default", "via", "10.9.0.2")
        router = self.fuzz("10.9.0.2")
        self.assertEqual((router.returncode, router.stdout), (2, ""))
        self.assertIn("is a router of this host", router.stderr)


class Losses(LinkTest):
    def setUp(self):
        super().setUp()
        self.relayed = RelayedWire()
        self.addCleanup(self.relayed.close)

    def conform_with_loss(self, loss, profile, *arguments):
        """As `conform`, with a relay on the way that loses this share of the frames in each direction."""
        return self.conform_through_relay(f"drop:probability={loss}", profile, *arguments)

    def conform_through_relay(self, rule, profile, *arguments):
        wire = self.relayed
        for name, interface in (("a", "va"), ("m", "ra"), ("m", "rb"), ("b", "vb")):
            wire.ip(name, "link", "set", interface, "mtu", "4200")
        for arguments_of_program in (("m", "relay", "-i", "ra", "-o", "rb", "-e", rule),
                                     ("b", "peer", "-i", "vb", "--control", self.socket, "--profile", profile, "--link", "raw")):
            self.addCleanup(Program(ROCE_GEN, wire, *arguments_of_program).end)
        path = os.path.join(self.folder, "results.json")
        run = subprocess.run(wire.inside("a", ROCE_CONFORM, "run", CASES, "-i", "va", "--agent", self.socket, "--json", path, *arguments),
                             capture_output=True, text=True, check=False)
        with open(path, encoding="utf-8") as file:
            return run, json.load(file)

    def test_make_no_device_fail_that_keeps_the_rules(self):
        run, report = self.conform_with_loss(0.03, "strict", "--only", "nak-access")
        results = report["results"]
        verdicts = {one["result"] for one in results}
        self.assertLessEqual(verdicts, {"pass", "inconclusive"}, run.stdout[-3000:])
        self.assertLessEqual(sum(one["result"] == "inconclusive" for one in results), 2)
        self.assertGreater(report["noise"]["lost"], 0)
        self.assertIn("of the frames are lost in each direction", run.stdout)
        repeated = [one for one in results if any(each["result"] == "fail" for each in one["tries"])]
        self.assertGreater(len(repeated), 0)
        self.assertIn("had failed in a try before", run.stdout)

    def test_of_one_in_a_hundred_change_no_verdict(self):
        chosen = [argument for group in ("at", "nak", "psn", "snd", "uc", "wr") for argument in ("--only", f"{group}-*")]
        run, report = self.conform_with_loss(0.01, "strict", "--quick", *chosen)
        verdicts = collections.Counter(one["result"] for one in report["results"])
        self.assertLessEqual(set(verdicts), {"pass", "inconclusive"}, run.stdout[-3000:])
        self.assertGreater(verdicts["pass"], 40)
        self.assertLessEqual(verdicts["inconclusive"], 2, run.stdout[-3000:])

    def test_of_time_alone_let_the_agent_overtake_no_frame(self):
        # Whoever asks the agent meanwhile gets an answer before the device has seen the frame.
        chosen = [argument for cases in ("nak-*", "uc-*", "ud-*", "req-local-key", "req-rnr-*", "cm-rtu-lost",
                                                 "cm-mra[s=12]") for argument in ("--only", cases)]
        run, report = self.conform_through_relay("delay:any_frame=true,by=2ms", "strict", *chosen)
        verdicts = {one["result"] for one in report["results"]}
        self.assertLessEqual(verdicts, {"pass", "skip"}, run.stdout[-3000:])
        self.assertIn("pass", verdicts)

    def test_hide_no_deviation(self):
        run, report = self.conform_with_loss(0.01, "rxe", "--only", "req-credits[*,op=send]")
        self.assertEqual({one["result"] for one in report["results"]}, {"fail"}, run.stdout[-3000:])
        self.assertIn("seen after", report["results"][0]["failure"]["message"])
        self.assertRegex(run.stdout, "try 4 of 4: alone, fail")

    def test_of_everything_are_a_deaf_device(self):
        run, report = self.conform_with_loss(1, "strict", "--only", "nak-access", "-j", "1")
        self.assertEqual([one["result"] for one in report["results"][:2]], ["dead", "not_run"], run.stdout)
        self.assertEqual((report["results"][0]["damage"], run.returncode), ("device deaf", 1))
        self.assertIn("answered none of 10 WRITEs", run.stdout)
        self.assertIn("damage: the device is deaf", run.stdout)


class Deaths(LinkTest):
    def test_what_was_found_before_the_device_died_is_kept(self):
        peer = self.peer("--profile", "strict", "--link", "raw")
        stop = threading.Event()

        def kill_after(count):
            for number, _ in enumerate(self.frames(stop)):
                if number == count:
                    peer.process.kill()
                    return

        killer = threading.Thread(target=kill_after, args=(200,))
        killer.start()
        try:
            run, results = self.conform("-j", "2", "--probes", "0")
        finally:
            stop.set()
            killer.join()
        self.assertEqual(run.returncode, 1, run.stderr)
        counts = {result: sum(one["result"] == result for one in results) for result in ("pass", "dead", "not_run", "fail", "error", "skip")}
        self.assertGreater(counts["pass"], 0)
        self.assertIn(counts["dead"], (1, 2))
        self.assertGreater(counts["not_run"], 0)
        self.assertEqual(sum(counts.values()), len(results))
        dead = next(one for one in results if one["result"] == "dead")
        self.assertRegex(dead["failure"]["message"], "the peer (is gone|closed the control connection)")
        self.assertEqual(dead["damage"], "agent gone")
        self.assertIn("DEAD", run.stdout)


class Recoveries(LinkTest):
    PEER = ("--profile", "strict", "--link", "raw")

    def setUp(self):
        super().setUp()
        self.pid = os.path.join(self.folder, "pid")
        self.told = os.path.join(self.folder, "told")
        inside = shlex.join(self.wire.inside("b", ROCE_GEN, "peer", "-i", "v", "--control", self.socket, *self.PEER))
        # The peer outlives the command, and would keep the output of roce-conform open.
        self.command = (f'echo "$ROCE_DAMAGE: $ROCE_INSTANCES" >>{self.told}; {inside} >{self.folder}/log 2>&1 & echo $! >{self.pid}')
        self.addCleanup(self.kill)

    def kill(self):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            with open(self.pid, encoding="utf-8") as file:
                os.kill(int(file.read()), signal.SIGKILL)

    def run_and_kill(self, is_moment, *arguments):
        """A run of cases during which the device is killed each time when a frame comes of which `is_moment` is true."""
        return self.while_killed(is_moment, lambda: self.conform("--recover-command", self.command, *arguments))

    def while_killed(self, is_moment, run):
        peer = self.peer(*self.PEER)
        with open(self.pid, "w", encoding="utf-8") as file:
            file.write(str(peer.process.pid))
        stop = threading.Event()

        def watch():
            for frame in self.frames(stop):
                if is_moment(frame):
                    self.kill()
                    if peer.process.poll() is None:
                        peer.process.wait(WAIT)

        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            return run()
        finally:
            stop.set()
            watcher.join()

    def test_all_instances_get_a_verdict_after_a_death_in_the_middle(self):
        count = 0

        def is_moment(_):
            nonlocal count
            count += 1
            return count == 120

        run, results = self.run_and_kill(is_moment, "--only", "nak-access", "--only", "wr-immediate", "-j", "4", "--probes", "0")
        self.assertGreater(count, 120)
        self.assertEqual(({one["result"] for one in results}, run.returncode), ({"pass"}, 0), run.stdout[-3000:] + run.stderr)
        with open(self.told, encoding="utf-8") as file:
            self.assertRegex(file.read(), r"\Aagent gone: (nak|wr)-")
        self.assertIn("the device died while these ran, and did not when each ran again alone: ", run.stdout)

    def test_an_instance_that_stops_the_device_is_found(self):
        firsts = []

        def is_first_fetch_add(frame):
            if frame[12:14] != b"\x08\0" or frame[42:43] != b"\x14":
                return False
            # The same seed has the same PSNs: each run of the instance kills once.
            firsts.append(frame[51:54])
            return firsts[-1] == firsts[0]

        run, results = self.run_and_kill(is_first_fetch_add, "--quick", "--only", "at-pipelined", "--only", "wr-*", "-j", "2")
        verdicts = {one["name"].split("[")[0]: one["result"] for one in results}
        self.assertEqual(verdicts.pop("at-pipelined"), "dead")
        self.assertEqual(set(verdicts.values()), {"pass"}, run.stdout[-3000:])
        self.assertEqual(run.returncode, 1)
        self.assertIn("it stops the device: twice of two", run.stdout)

    def test_a_recovery_that_fails_ends_the_run(self):
        for command, words in (("exit 3", "the command ended with status 3"), ("kill -TERM $$", "the command was ended by signal 15"), ("sleep 60", "the command took too long"),
                               ("true", "start roce-gen peer there")):
            with self.subTest(command):
                self.command = command
                run, results = self.run_and_kill(lambda frame: frame[42:43] == b"\x14", "--quick", "--only", "at-pipelined", "--only", "nak-*",
                                                 "-j", "1", "--recover-time", "300ms")
                self.assertEqual(run.returncode, 1, run.stderr)
                self.assertIn("dead", {one["result"] for one in results})
                self.assertIn("not_run", {one["result"] for one in results})
                self.assertIn("the recovery failed: ", run.stdout)
                self.assertIn(words, run.stdout)

    def test_a_fuzzer_goes_on_whenever_the_device_dies(self):
        chance = random.Random(5)
        # Each of the four begins with 40 frames that fill memory.
        moments = list(itertools.accumulate(chance.randrange(200, 600) for _ in range(10)))
        seen = itertools.count(1)
        path = os.path.join(self.folder, "summary.json")
        command = self.wire.inside("a", ROCE_CONFORM, "fuzz", "-i", "v", "--agent", self.socket, "--target", "10.9.0.2", "--programs", "400", "-j", "4",
                                   "--corpus", os.path.join(self.folder, "corpus"), "--json", path, "--recover-command", self.command)
        run = self.while_killed(lambda _: next(seen) in moments, lambda: subprocess.run(command, capture_output=True, text=True, check=False))
        self.assertEqual((run.returncode, run.stderr), (0, ""), run.stdout)
        with open(path, encoding="utf-8") as file:
            summary = json.load(file)
        # Two deaths may be so close that one recovery is for both.
        self.assertGreaterEqual(summary["counts"]["recoveries"], 8)
        self.assertEqual(summary["counts"]["programs"], 400)
        self.assertEqual((summary["ended"], summary["counts"]["damaged_files"]), ("", 0))
        self.assertLessEqual({one["oracle"] for one in summary["findings"]}, {"gone"}, run.stdout)
        self.assertEqual({one["shown"] for one in summary["findings"]}, {0}, summary["findings"])


if __name__ == "__main__":
    enter_namespaces()
    ROCE_CONFORM, ROCE_GEN, CASES = (os.path.abspath(argument) for argument in sys.argv[1:4])
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
