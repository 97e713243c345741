# SPDX-License-Identifier: BSD-2-Clause
"""roce-conform judges Soft-RoCE without an agent, through programs that the guest runs anyway.

A run has a few instances for a third of the programs. With ROCE_INTEROP_ALL=1 it has all.
"""

import collections
import json
import os

from conformance_cases import CASES, fitting_profile
from stage import Case
from turns import everything, this_turn

# Each has a verdict of its own kind: a NAK, silence, and an acknowledgement.
SOME = {
    "ibv_rc_pingpong": ("psn-gap[n=2,ack_req=true]", "icrc-imitation[icrc=0,op=SEND_ONLY,version=v2_ipv4]",
                        "bth-pad-bytes[pad=1,words=3]",
                        # Skipped inside a message, after which the server has to end for the next one.
                        "snd-sizes[size=4mtu+5,mtu=1024,kind=plain,version=v2_ipv4]",
                        "snd-sizes[size=4mtu+5,mtu=1024,kind=solicited,version=v2_ipv4]"),
    "ibv_uc_pingpong": ("hdr-tver[type=uc,version=1,op=SEND_ONLY]", "bth-migreq[to=uc_responder,mig_req=false]"),
    "ibv_ud_pingpong": ("ud-opcode[opcode=102]", "ud-header[wrong=version_8]", "ud-header[wrong=p_key_other]",
                        "ud-deliver[size=3,op=SEND_ONLY,ack_req=true,version=v2_ipv4]"),
    "ucmatose": ("psn-gap[n=2,ack_req=true]", "icrc-imitation[icrc=0,op=SEND_ONLY,version=v2_ipv4]", "bth-pad-bytes[pad=1,words=3]"),
    "ib_write_bw": ("psn-gap[n=2,ack_req=true]", "ip-ttl[ttl=1,version=v2_ipv4]",
                    "wr-zero[op=WRITE_ONLY,key=variant,address=nowhere]"),
}
# A server with memory of its own starts slowly, for each instance anew.
PATIENCE, PATIENCE_FOR_ALL = 900, 3600
# One that nothing makes fail ends with its messages.
COMMANDS = {"ibv_rc_pingpong": "-d rxe0 -g {gid}", "ibv_uc_pingpong": "-d rxe0 -n 1 -g {gid}", "ibv_ud_pingpong": "-d rxe0 -n 4 -g {gid}",
            "ib_write_bw": "-d rxe0 -F -x {gid}", "ucmatose": "-C 100", "rping": "-s"}


class ServerConformanceCases(Case):
    def setUp(self):
        super().setUp()
        if self.roce_conform is None:
            self.skipTest("there is no roce-conform: ROCE_CONFORM does not name it")
        # QEMU's interface drops what has a VLAN tag unless the guest has asked for everything.
        self.guest.check("ip link set eth0 promisc on")
        self.addCleanup(self.guest.check, "ip link set eth0 promisc off")

    def judge(self, program):
        """Runs instances against a server that the guest starts again and again; the result."""
        gid = self.guest.gid_index(self.network.guest4)
        server = self.in_guest(f"while :; do {program} {COMMANDS[program].format(gid=gid)}; done >/dev/null 2>&1")
        path = os.path.join(self.folder, f"{program}.json")
        some = () if everything() or program not in SOME else (word for name in SOME[program] for word in ("--only", name))
        run = self.network.host.run([self.roce_conform, "run", "-i", self.network.interface, "--server", program, "--host",
                                     self.network.guest4, "--device", fitting_profile(self.guest), "--failures", "0", "--json", path, *some,
                                     CASES], PATIENCE_FOR_ALL if everything() else PATIENCE)
        server.kill()
        self.assertEqual(run.stderr, "", run.stdout)
        with open(path, encoding="utf-8") as file:
            results = json.load(file)["results"]
        return run, collections.Counter(one["result"] for one in results)

    def check(self, program):
        run, counts = self.judge(program)
        self.assertEqual(run.returncode, 0, run.stdout)
        self.assertEqual(counts["pass"] + counts["skip"], sum(counts.values()), run.stdout)
        self.assertGreaterEqual(counts["pass"], 2, run.stdout)


def add_cases():
    for program in this_turn(COMMANDS):
        setattr(ServerConformanceCases, f"test_{program}", lambda self, program=program: self.check(program))


add_cases()
