# SPDX-License-Identifier: BSD-2-Clause
"""roce-gen peer --dcbx: two ends of a wire in network namespaces agree by DCBX. tshark reads what they sent.

usage: dcbx_test.py ROCE_GEN DCB_NETLINK [UNITTEST ARGUMENT...]
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

from live import SKIPPED, Program, Wire, enter_namespaces

LLDPAD_SETTINGS = """lldp : {{ v : {{
  adminStatus = 3;
  tlvid0080c20b : {{ enableTx = true; willing = {willing}; enabled = 8; }};
  tlvid0080c209 : {{ enableTx = true; willing = {willing}; tsa = "0:ets,1:ets"; up2tc = "3:1"; tcbw = "20,80"; }};
  tlvid0080c20a : {{ enableTx = true; tsa = "0:ets,1:ets"; up2tc = "3:1"; tcbw = "30,70"; }};
}}; }};
"""
LLDPAD = shutil.which("lldpad", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
LOW, HIGH = "02:00:00:00:00:01", "02:00:00:00:00:02"


class Ends(unittest.TestCase):
    """What the tests have in common; it has none itself."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.wire = Wire(mtu=1500)
        self.addCleanup(self.wire.close)

    def peer(self, name, settings, *options):
        program = Program(ROCE_GEN, self.wire, name, "peer", "-i", "v", "--link", "raw", "--dcbx", settings, "--control",
                          os.path.join(self.folder, f"{name}.sock"), *options)
        self.addCleanup(program.end)
        return program

    def wait_for(self, program, *texts):
        """The next thing said of DCBX, since the program was ready, that has all of these texts in it."""
        said = []
        for line in program.process.stdout:
            note = json.loads(line)
            if note["event"] == "dcbx":
                said.append(note["text"])
                if all(part in note["text"] for part in texts):
                    return note["text"]
        raise AssertionError(f"{texts} not in {said}")

    def stop(self, program):
        self.assertEqual(program.result(signal.SIGINT)[0], 0)


class Dcbx(Ends):
    def test_the_willing_end_takes_what_the_other_one_is_set_to_until_that_leaves(self):
        switch = self.peer("a", "willing=none,pfc=3,shares=012467:40/3:60,recommend,app=udp:4791:3,app=dscp:26:3")
        nic = self.peer("b", "willing=both,pfc=5")
        self.assertEqual([note["text"] for note in nic.notes if note["event"] == "dcbx"],
                         ["DCBX, alone: lossless priority 5 (own); shares strict for 0-7 (own)"])
        self.assertEqual(self.wait_for(nic, "with the other end"),
                         "DCBX, with the other end: lossless priority 3 (the other end's); "
                         "shares 40 % for 0-2,4-7, 60 % for 3 (recommended); "
                         "the other end announces UDP port 4791 priority 3, DSCP 26 priority 3")
        self.stop(switch)
        self.assertIn("lossless priority 5 (own)", self.wait_for(nic, "alone"))
        self.stop(nic)

    def test_tshark_reads_what_was_sent(self):
        path = os.path.join(self.folder, "dcbx.pcapng")
        peer = self.peer("a", "willing=ets,pfc=34,shares=01267:40/3:60/45:strict,recommend,app=udp:4791:3,app=ethertype:0x8915:4,"
                         "capability=2", "--pcap", path)
        self.stop(peer)
        text = subprocess.run(["tshark", "-r", path, "-O", "lldp", "-Y", "lldp"], capture_output=True, text=True, check=True).stdout
        frames = text.split("Link Layer Discovery Protocol")[1:]
        self.assertNotIn("Malformed", text)
        first = [" ".join(line.split()) for line in frames[0].splitlines()]
        for line in ("Time To Live = 121 sec", "Port Id: v", "Willing: Yes", "Willing: No", "Max PFC Enabled Traffic Classes: 2",
                     "PGID for Prio 3: 1", "PGID for Prio 5: 2", "Bandwidth for PGID 1: 60",
                     "TSA for Traffic Class 0: Enhanced Transmission Selection (2)", "TSA for Traffic Class 2: Strict Priority (0)",
                     "Priority 3: Enabled", "Priority 4: Enabled", "Priority 5: Disabled"):
            self.assertTrue(any(line in shown for shown in first), f"{line} not in:\n" + "\n".join(first))
        self.assertIn("Time To Live = 0 sec", frames[-1], "it says that it leaves")


class JudgedByLldpad(Ends):
    """lldpad, the DCBX of Linux, at the other end. Its card is tests/gen/dcb_netlink.cc, which prints what lldpad sets."""

    def lldpad(self, name, willing):
        """lldpad pauses priority 3, has 80 % for it and recommends 70 %."""
        settings = os.path.join(self.folder, "lldpad.conf")
        with open(settings, "w", encoding="ascii") as file:
            file.write(LLDPAD_SETTINGS.format(willing=int(willing)))
        # It keeps its state in folders of the system, and takes what another one left there for one that runs.
        script = ("for folder in /run /dev/shm /var/lib/lldpad; do mount -t tmpfs none $folder; done; "
                  f"exec env LD_PRELOAD={DCB_NETLINK} {LLDPAD} -p -t -f {settings}")
        process = subprocess.Popen(self.wire.inside(name, "unshare", "--mount", "setpriv", "--pdeathsig", "KILL", "sh", "-c", script),
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def wait_until_set(self, lldpad, *wanted):
        """Until lldpad's card was set so; returns all that it was set to."""
        seen = []
        for line in lldpad.stdout:
            if line.startswith("card: "):
                seen.append(line[len("card: "):].strip())
                if all(one in seen for one in wanted):
                    return seen
        raise AssertionError(f"{wanted} not in {seen}")

    def start(self, ours_is_lower, ours_is_willing, lldpad_is_willing):
        """Both ends; ours pauses priority 5, has 60 % for class 1 and recommends that."""
        for name, address in (("a", LOW if ours_is_lower else HIGH), ("b", HIGH if ours_is_lower else LOW)):
            self.wire.ip(name, "link", "set", "v", "address", address)
        lldpad = self.lldpad("b", lldpad_is_willing)
        ours = self.peer("a", f"willing={'both' if ours_is_willing else 'none'},pfc=5,shares=012467:40/35:60,recommend")
        return ours, lldpad

    def test_our_willing_end_takes_what_lldpad_has(self):
        ours, lldpad = self.start(ours_is_lower=False, ours_is_willing=True, lldpad_is_willing=False)
        self.assertIn("lossless priority 3 (the other end's); shares 30 % for 0-2,4-7, 70 % for 3 (recommended)",
                      self.wait_for(ours, "with the other end"))
        lldpad.kill()
        self.assertNotIn("card: pfc 0x20", lldpad.stdout.read())
        self.stop(ours)

    def test_willing_lldpad_takes_what_ours_has_and_leaves_it_when_ours_leaves(self):
        ours, lldpad = self.start(ours_is_lower=True, ours_is_willing=False, lldpad_is_willing=True)
        self.wait_until_set(lldpad, "pfc 0x20", "class of priority 3: 1, percent of class 1: 60")
        self.stop(ours)
        self.wait_until_set(lldpad, "pfc 0x08", "class of priority 3: 1, percent of class 1: 80")

    def test_of_two_willing_ends_the_lower_one_takes_the_other_ones_priorities(self):
        ours, lldpad = self.start(ours_is_lower=True, ours_is_willing=True, lldpad_is_willing=True)
        self.assertIn("lossless priority 3 (the other end's)", self.wait_for(ours, "with the other end"))
        # Shares are taken both ways.
        self.assertNotIn("pfc 0x20", self.wait_until_set(lldpad, "class of priority 3: 1, percent of class 1: 60"))
        self.stop(ours)

    def test_of_two_willing_ends_the_higher_one_keeps_its_priorities(self):
        ours, lldpad = self.start(ours_is_lower=False, ours_is_willing=True, lldpad_is_willing=True)
        self.wait_until_set(lldpad, "pfc 0x20", "class of priority 3: 1, percent of class 1: 60")
        self.assertIn("lossless priority 5 (own)", self.wait_for(ours, "with the other end"))
        self.stop(ours)

    def test_neither_willing_end_takes_anything(self):
        ours, lldpad = self.start(ours_is_lower=True, ours_is_willing=False, lldpad_is_willing=False)
        said = self.wait_for(ours, "neither is willing")
        self.assertIn("lossless priority 5 (own); shares 40 % for 0-2,4,6,7, 60 % for 3,5 (own)", said)
        lldpad.kill()
        self.assertNotIn("card: pfc 0x20", lldpad.stdout.read())
        self.stop(ours)


if __name__ == "__main__":
    if "JudgedByLldpad" in sys.argv and LLDPAD is None:
        print("skipped: there is no lldpad; scripts/setup ci installs it")
        sys.exit(SKIPPED)
    enter_namespaces()
    ROCE_GEN, DCB_NETLINK = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
