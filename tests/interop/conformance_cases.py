# SPDX-License-Identifier: BSD-2-Clause
"""roce-conform judges Soft-RoCE: what the profile of the guest's kernel says, conform/devices/soft-roce-6.1.yaml or another, is all
that it deviates in.

A run has one instance of each pinned deviation and of the cases of its turn. With ROCE_INTEROP_ALL=1 it has all instances, and writes
the page ROCE_CONFORMANCE_PAGE=FILE (docs/results/conformance-rxe.md).
"""

import json
import os
import re
import subprocess

from agent_cases import CONTROL_PORT, TOKEN, Agent
from conformance_page import read_deviations, write_page
from guest import GuestError
from turns import everything, this_turn

HERE = os.path.dirname(os.path.realpath(__file__))
CASES = os.path.join(HERE, "..", "..", "conform", "cases")
DEVICES = os.path.join(HERE, "..", "..", "conform", "devices")
# rxe warns, once, of an answer that it takes for an error and reports as a success: the deviation is pinned.
WARNING = re.compile(r"WARNING: .* rxe_completer\+")


def case_of(deviation):
    return deviation.patterns[0].partition("[")[0]


def fitting_profile(machine):
    """The profile of the kernel of a guest: that of 6.1.0-49-amd64 is soft-roce-6.1.yaml."""
    release = machine.check("uname -r").strip()
    name = f"soft-roce-{'.'.join(re.split('[.+-]', release)[:2])}.yaml"
    profile = os.path.join(DEVICES, name)
    if not os.path.isfile(profile):
        raise GuestError(f"The guest has Linux {release}, and conform/devices has no {name}: write it, or choose another guest with "
                         "ROCE_INTEROP_SUITE.")
    return profile


class Judged(Agent):
    """Base of the cases that judge the guest through an agent. It has none itself."""

    def setUp(self):
        super().setUp()
        if self.roce_conform is None:
            self.skipTest("there is no roce-conform: ROCE_CONFORM does not name it")
        self.path = os.path.join(self.folder, "result.json")
        self.token = os.path.join(self.folder, "token")
        with open(self.token, "w", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write(TOKEN + "\n")
        self.make_ready()

    def make_ready(self):
        # Cases of path MTU 4096 are among them.
        self.guest.set_mtu(9000)
        self.addCleanup(self.guest.set_mtu, 1500)
        # QEMU's interface drops what has a VLAN tag, VLAN 0 too, unless the guest has asked for that VLAN or for everything.
        self.guest.check("ip link set eth0 promisc on")
        self.addCleanup(self.guest.check, "ip link set eth0 promisc off")
        self.profile = fitting_profile(self.guest)
        self.agent()

    def new_complaints(self):
        new = super().new_complaints()
        is_known = new and WARNING.search(new[0]) and all("Call Trace" in line for line in new[1:])
        return [] if is_known else new

    def command(self, *words):
        agent = f"{self.network.guest4}:{CONTROL_PORT}"
        return [self.roce_conform, "run", "-i", self.network.interface, "--agent", agent, "--token-file", self.token, "--device", self.profile,
                "--to-others", "--jobs", "12", "--tries", "8", "--json", self.path, *words, CASES]

    def results(self):
        with open(self.path, encoding="utf-8") as file:
            return json.load(file)


class Reviving(Judged):
    """Base of those in which the guest dies while roce-conform is at it. It has none itself."""

    def boot(self):
        # What ran in the old one is gone with it.
        self._processes.clear()
        self.guest.start_anew()
        type(self).setUpClass()
        self.make_ready()

    def ask_here(self):
        """Makes the two ends of a --recover-command: the descriptor on which it asks, and says what died, and the command."""
        asks, self.is_up = (os.path.join(self.folder, name) for name in ("asks", "is_up"))
        for path in (asks, self.is_up):
            os.mkfifo(path)
        question = os.open(asks, os.O_RDWR | os.O_NONBLOCK)
        self.addCleanup(os.close, question)
        return question, f'echo "$ROCE_DAMAGE: $ROCE_INSTANCES" >{asks}; cat {self.is_up}'

    def started(self, command, **more):
        """Starts it in the namespace of the host; the process, and a descriptor that is readable once it has ended."""
        run = self.network.host.popen(command, stderr=subprocess.STDOUT, **more)
        self.addCleanup(run.kill)
        end = os.pidfd_open(run.pid)
        self.addCleanup(os.close, end)
        return run, end

    def revive(self, question):
        """Boots the guest, and lets the command that asked end; what it said."""
        damage = os.read(question, 1 << 16).decode()
        self.boot()
        os.close(os.open(self.is_up, os.O_WRONLY | os.O_NONBLOCK))
        return damage


class ConformanceCases(Judged):
    def conform(self, *words, timeout=180):
        """Runs roce-conform against the guest; the result."""
        run = self.network.host.run(self.command(*words), timeout)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        return self.results(), self.path

    def test_soft_roce_deviates_as_pinned_and_nowhere_else(self):
        if everything():
            self.judge_all()
        else:
            self.judge_some()

    def judge_some(self):
        listed = self.network.host.run([self.roce_conform, "list", "--json", CASES])
        names = [json.loads(line)["case"] for line in listed.stdout.splitlines()]
        pinned = read_deviations(self.profile)
        # --quick takes one instance of each case, so deviations of one case are judged in runs after each other.
        runs = [[name for name in this_turn(names) if not any(name == case_of(one) for one in pinned)]]
        for deviation in pinned:
            case = case_of(deviation)
            run = next((run for run in runs if not any(pattern.partition("[")[0] == case for pattern in run)), None)
            if run is None:
                runs.append(run := [])
            run.append(deviation.patterns[0])
        for run in runs:
            result, _ = self.conform("--quick", "--probes", "0", *(word for pattern in run for word in ("--only", pattern)))
            self.assertEqual(len(result["results"]), len(run))

    def judge_all(self):
        result, path = self.conform("--failures", "0", timeout=600)
        self.assertGreater(len(result["results"]), 3000)
        page = os.environ.get("ROCE_CONFORMANCE_PAGE")
        if page:
            write_page(path, self.profile, page, self.roce_analyze, self.system())

    def system(self):
        """What the guest is, in words."""
        kernel = self.guest.run("uname -v").stdout.split()
        library = self.guest.run("ls /usr/lib/x86_64-linux-gnu").stdout
        version = re.search(r"libibverbs\.so\.1\.\d+\.([\d.]+)", library)[1]
        return f"Linux {kernel[-2]} of Debian, rdma-core {version}"
