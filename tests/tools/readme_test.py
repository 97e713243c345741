#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs the commands of README.md and those of the guides as they stand, between hosts that are network
namespaces of this test.

usage: readme_test.py BUILD SOURCE
"""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

SOURCE = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else ".").resolve()
sys.path.insert(0, str(SOURCE / "tests/gen"))

from live import WAIT, Namespaces, enter_namespaces  # noqa: E402

BUILD = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()


def blocks(text):
    """The blocks of shell of a page or a part of it."""
    return re.findall(r"^```sh\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def commands():
    """The lines of all blocks of shell of README.md, without the comments at their ends."""
    return [re.sub(r"\s+#.*", "", line) for block in blocks((SOURCE / "README.md").read_text(encoding="utf-8")) for line in block.splitlines()]


def recipes(page):
    """(heading, block) of each block of shell among the recipes of a page."""
    text = (SOURCE / page).read_text(encoding="utf-8")
    part = re.search(r"^## Recipes\n(.*?)^## ", text, re.DOTALL | re.MULTILINE).group(1)
    return [(recipe.splitlines()[0], block) for recipe in re.split(r"^### ", part, flags=re.MULTILINE)[1:] for block in blocks(recipe)]


class Hosts(unittest.TestCase):
    """Two hosts with the addresses that the pages name. Host c, if there is one, is between them."""

    names = "ab"

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="roce-readme-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.environment = {**os.environ, "PATH": f"{BUILD / 'bin'}:{os.environ['PATH']}", "NO_COLOR": "1"}
        self.space = Namespaces(self.names)
        self.addCleanup(self.space.close)
        if "c" in self.names:
            self.space.join("a", "eth0", "c", "eth1")
            self.space.join("b", "eth0", "c", "eth2")
        else:
            self.space.join("a", "eth0", "b", "eth0")
        for name, address in (("a", "192.0.2.1/24"), ("b", "192.0.2.7/24")):
            self.space.ip(name, "address", "add", address, "dev", "eth0")
            self.space.ip(name, "link", "set", "eth0", "up")
        if "c" not in self.names:
            for name in "ab":
                self.space.wait_until_usable(name, "eth0")

    def start(self, host, command):
        process = subprocess.Popen(self.space.inside(host, "setpriv", "--pdeathsig", "KILL", "sh", "-ec", command), cwd=self.folder,
                                   env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=WAIT)

    def run_to_its_end(self, host, command):
        process = self.start(host, command)
        said, errors = process.communicate(timeout=WAIT)
        self.assertEqual(process.returncode, 0, f"{command}\n{said}{errors}")
        return said, errors

    def start_until(self, host, command, word):
        """Starts a program that keeps running, and waits for its first line, which has this word."""
        process = self.start(host, "exec " + command)
        line = process.stderr.readline()
        self.assertIn(word, line, f"{command} did not start")
        return process

    def stop(self, process):
        """Ends a program as Ctrl-C does; it has to end well."""
        os.killpg(process.pid, signal.SIGINT)
        said, errors = process.communicate(timeout=WAIT)
        self.assertEqual(process.returncode, 0, errors)
        return said, errors


class ReadmeTest(Hosts):
    def setUp(self):
        super().setUp()
        self.commands = commands()

    def command(self, beginning):
        """The one command of README that begins so."""
        (found,) = [line for line in self.commands if line.startswith(beginning)]
        return found

    def test_the_programs_are_in_one_folder(self):
        for program in ("roce-analyze", "roce-gen", "roce-replay"):
            done = subprocess.run([BUILD / "bin" / program, "--version"], capture_output=True, text=True, check=True)
            self.assertIn(program, done.stdout)

    def test_scripts_are_there(self):
        scripts = [word for line in self.commands for word in line.split() if word.startswith("scripts/")]
        self.assertEqual(scripts, ["scripts/demo", "scripts/package"])
        for script in scripts:
            subprocess.run(["bash", "-n", SOURCE / script], check=True)

    def test_every_command_is_one_that_is_run_here(self):
        known = ("scripts/", "export PATH=", "roce-analyze trace", "roce-analyze events", "roce-analyze -i ", "roce-analyze --follow ", "(umask ", "roce-gen peer", "roce-gen write")
        self.assertEqual([line for line in self.commands if not line.startswith(known)], [])

    def test_a_capture_is_judged(self):
        shutil.copy(SOURCE / "captures/softroce/rc-drop-random.tx.pcap", self.folder / "trace.pcapng")
        said, errors = self.run_to_its_end("a", self.command("roce-analyze trace"))
        self.assertIn("1 of 1 connection lost packets", said, errors)
        said, errors = self.run_to_its_end("a", self.command("roce-analyze events"))
        self.assertRegex(said, r"error +request_lost_after +\d+", errors)

    def test_two_hosts_exchange_and_a_third_program_watches(self):
        self.run_to_its_end("b", self.command("(umask "))
        self.assertEqual((self.folder / "token").stat().st_mode & 0o777, 0o600)
        watching = self.start("a", self.command("roce-analyze -i "))
        while "captures on eth0" not in (line := watching.stderr.readline()):
            self.assertTrue(line, "roce-analyze did not start")
        self.start_until("b", self.command("roce-gen peer"), "192.0.2.7")
        said, errors = self.run_to_its_end("a", self.command("roce-gen write"))
        self.assertIn("all data compared and right", said, errors)
        subprocess.run(["pkill", "--signal", "INT", "--session", str(watching.pid), "--exact", "roce-analyze"], check=True)
        said, errors = watching.communicate(timeout=WAIT)
        self.assertRegex(said, r"2 hosts, \d+ connection", errors)
        self.assertIn("nothing wrong seen\n", said, errors)
        self.assertNotRegex(said, r"\n  (gap|missed_by_capture|unexplained) ", errors)


class RecipesTest(Hosts):
    """The recipes for one host or two: programs that keep running are on host b."""

    def setUp(self):
        super().setUp()
        (make_token,) = [line for line in commands() if line.startswith("(umask ")]
        self.run_to_its_end("a", make_token)

    def follow(self, block):
        """What the commands of a recipe print."""
        if block.startswith("unshare "):
            return self.run_to_its_end("a", block)[0]
        peers = []
        said = ""
        for line in block.replace("\\\n", " ").splitlines():
            if line.startswith("roce-gen peer"):
                peers.append(self.start_until("b", line, "192.0.2.7"))
            elif "--loops 0" in line:
                self.stop(self.start_until("a", line, "eth0"))
            else:
                said += self.run_to_its_end("a", line)[0]
        for peer in peers:
            self.stop(peer)
        return said

    def test_roce_gen(self):
        for heading, block in recipes("docs/roce-gen.md"):
            if "-i eth1 -o eth2" in block:
                continue
            with self.subTest(recipe=heading):
                said = self.follow(block)
                exchanges = len(re.findall("roce-gen (?:write|read|ud) ", block))
                self.assertEqual(said.count("all data compared and right"), exchanges, said)

    def test_roce_replay(self):
        captures = SOURCE / "captures"
        for line in (f"rewrite --ip-map 2001:db8::1=fe80::1 --ip-map 2001:db8::2=fe80::2 {captures}/made/opcodes-v1.pcapng v1.pcap",
                     "rewrite --ip-map 10.77.0.2=10.1.2.3 --ip-map 10.77.0.3=10.1.2.4 --qpn-map 0x11@10.77.0.3=0x36 "
                     f"{captures}/softroce/rc-mix-v4.tx.pcap customer.pcap"):
            self.run_to_its_end("a", "roce-replay " + line)
        shutil.copy(self.folder / "customer.pcap", self.folder / "customer.pcapng")
        shutil.copy(captures / "softroce/rc-mix-v4.tx.pcap", self.folder / "trace.pcap")
        shutil.copy(captures / "softroce/rc-drop-requests.tx.pcap", self.folder / "storm.pcap")
        for heading, block in recipes("docs/replay.md"):
            with self.subTest(recipe=heading):
                self.follow(block)
        for name in ("v2.pcapng", "share.pcapng", "lab.pcap", "lossy.pcap"):
            self.assertTrue((self.folder / name).exists(), name)


class RelayRecipesTest(Hosts):
    """The recipes for a third machine between the hosts."""

    names = "abc"

    def test_each_recipe(self):
        found = [(heading, block) for heading, block in recipes("docs/roce-gen.md") if "-i eth1 -o eth2" in block]
        self.assertGreater(len(found), 1)
        for heading, block in found:
            with self.subTest(recipe=heading):
                before, relay, after = re.fullmatch(r"(.*?)^(roce-gen relay.*?)$\n(.*)", block, re.DOTALL | re.MULTILINE).groups()
                for interface in ("eth1", "eth2"):
                    self.space.ip("c", "link", "set", interface, "up")
                if before:
                    self.run_to_its_end("c", before)
                running = self.start_until("c", relay, "eth1")
                for name in "ab":
                    self.space.wait_until_usable(name, "eth0")
                peer = self.start_until("b", "roce-gen peer -i eth0", "192.0.2.7")
                self.run_to_its_end("a", "roce-gen pingpong -i eth0 192.0.2.7")
                self.stop(peer)
                self.stop(running)
                if after:
                    self.assertIn("RC_SEND", self.run_to_its_end("c", after)[0])


class AnalyzeGuideTest(unittest.TestCase):
    """The commands of docs/analyze.md, with captures that have the names it uses."""

    def test_each_command(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="roce-analyze-"))
        self.addCleanup(shutil.rmtree, folder)
        captures = SOURCE / "captures"
        (folder / "spine").mkdir()
        for name, copy in (("counters/drop-requests.a.pcap", "trace.pcap"), ("counters/drop-requests.a.before.txt", "a.json"),
                           ("counters/drop-requests.a.after.json", "b.json"), ("softroce/rc-drop-random.tx.pcap", "sender.pcap"),
                           ("softroce/rc-drop-random.rx.pcap", "receiver.pcap"), ("softroce/rc-drop-random.tx.pcap", "leaf1.pcap"),
                           ("softroce/rc-corrupt.tx.pcap", "leaf2.pcap"), ("softroce/rc-drop-random.rx.pcap", "spine/1.pcap")):
            shutil.copy(captures / name, folder / copy)
        shutil.copy(folder / "trace.pcap", folder / "trace.pcapng")
        shutil.copytree(folder / "spine", folder / "ring")
        for number, packets in enumerate(("1-60", "61-120", "121-1000"), 1):
            subprocess.run(["editcap", "-r", "trace.pcap", f"ring_0000{number}_20261120.pcapng", packets], cwd=folder, check=True)
        (folder / "frame.txt").write_text("0200 0000 0002 0200 0000 0001 0806 0001", encoding="ascii")
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        lines = [line for block in blocks((SOURCE / "docs/analyze.md").read_text(encoding="utf-8")) for line in block.splitlines()]
        self.assertGreater(len(lines), 15)
        environment = {**os.environ, "PATH": f"{BUILD / 'bin'}:{os.environ['PATH']}", "NO_COLOR": "1"}
        for line in lines:
            if "jq" in line and shutil.which("jq") is None:
                line = line.split(" | ")[0]
            with self.subTest(line):
                if re.search(r"--follow|-i eth0", line):
                    self.follow(line.replace("eth0", "lo"), folder, environment)
                    continue
                done = subprocess.run(["sh", "-c", line], cwd=folder, env=environment, capture_output=True, text=True, timeout=WAIT, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue(done.stdout or " -o " in line or "annotate" in line, "it prints nothing")
        for name in ("judged.pcapng", "stream0.pcapng", "loss.pcapng", "naks.pcapng"):
            self.assertGreater((folder / name).stat().st_size, 300, name)

    def follow(self, line, folder, environment):
        """Runs a command that goes on until Ctrl-C, which comes once it has said something."""
        with subprocess.Popen(["sh", "-c", f"exec {line}"], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
            watch = threading.Timer(WAIT, run.kill)
            watch.start()
            self.assertTrue(run.stdout.readline(), "it prints nothing")
            run.send_signal(signal.SIGINT)
            run.stdout.read()
            self.assertEqual(run.wait(), 0, run.stderr.read())
            watch.cancel()


if __name__ == "__main__":
    # As root tcpdump would become another user, which it may not in these namespaces.
    enter_namespaces("--map-user=1000", "--map-group=1000", "--keep-caps")
    del sys.argv[1:]
    unittest.main()
