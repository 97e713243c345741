# SPDX-License-Identifier: BSD-2-Clause
"""roce-conform without an agent: roce-gen as the server program in a namespace beside its own.

usage: server_test.py ROCE_CONFORM ROCE_GEN CASES [UNITTEST ARGUMENT...]

Makes the namespaces itself, in a user namespace of its own, so that it needs no privilege; prints why and exits with 77 where
that is forbidden.
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "gen"))

from live import Program, Wire, enter_namespaces

HOST = "10.9.0.2"


class ServerTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="roce-server-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.wire = Wire(4200)
        cls.addClassCleanup(cls.wire.close)

    def peer(self, *arguments):
        program = Program(ROCE_GEN, self.wire, "b", "peer", "-i", "v", "--control", os.path.join(self.folder, "control.sock"), *arguments)
        # It tells of each client, and would wait for a reader of a full pipe.
        reader = threading.Thread(target=lambda: [None for _ in program.process.stdout])
        reader.start()
        self.addCleanup(program.end)
        self.addCleanup(reader.join)
        self.addCleanup(program.process.kill)
        return program

    def fake(self, answer, after):
        """A server in namespace b that tells each client the bytes of `answer`, once it has read so many."""
        process = subprocess.Popen(self.wire.inside("b", sys.executable, "-c", FAKE, answer, str(after)), stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        process.stdout.readline()

    def conform(self, server, *arguments, host=HOST):
        """A run of roce-conform in namespace a, and the results that it wrote."""
        path = os.path.join(self.folder, "results.json")
        command = self.wire.inside("a", ROCE_CONFORM, "run", CASES, "-i", "v", "--server", server, "--host", host, "--json", path, *arguments)
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if not os.path.exists(path):
            return run, []
        with open(path, encoding="utf-8") as file:
            results = json.load(file)["results"]
        os.remove(path)
        return run, results


# A server that tells its client this, after it has read so many bytes.
FAKE = """
import socket, sys
listener = socket.create_server(("10.9.0.2", 18515))
print("listens", flush=True)
while True:
    client, _ = listener.accept()
    client.recv(int(sys.argv[2]), socket.MSG_WAITALL)
    client.sendall(bytes.fromhex(sys.argv[1]))
    client.recv(1 << 16)
"""


class Verdicts(ServerTest):
    def check(self, server, only, *arguments):
        run, results = self.conform(server, *(word for pattern in only for word in ("--only", pattern)), *arguments)
        self.assertEqual(({one["result"] for one in results}, run.returncode, run.stderr), ({"pass"}, 0, ""), run.stdout[-3000:])
        # Steps that the wire does not show are left out, and the report says so.
        self.assertIn("seen on the wire only", json.dumps(results))

    def test_pass_at_a_pingpong_server(self):
        self.peer("--no-compare")
        self.check("ibv_rc_pingpong", ("psn-gap", "bth-pad-bytes[pad=1,words=3]", "hdr-tver[type=rc,version=8,*]", "snd-sizes[size=mtu,mtu=1024,*,version=v2_ipv4]"))

    def test_pass_where_nothing_is_acknowledged(self):
        self.peer("--no-compare", "-k", "uc")
        self.check("ibv_uc_pingpong", ("hdr-tver[type=uc,version=8,*]", "bth-migreq[to=uc_responder,*]"))

    def test_pass_where_datagrams_are_taken(self):
        self.peer("--no-compare", "-k", "ud", "-s", "1024")
        self.check("ibv_ud_pingpong", ("ud-opcode[opcode=96]", "ud-header[wrong=icrc]", "ud-deliver[size=3,op=SEND_ONLY_IMM,ack_req=false,version=v2_ipv4]"))

    def test_pass_at_perftest(self):
        self.peer("--perftest", "ib_write_bw")
        self.check("ib_write_bw", ("psn-gap", "wr-zero[op=WRITE_ONLY,*]", "ip-ttl[*,version=v2_ipv4]"))

    def test_pass_at_a_server_that_is_started_for_each_instance(self):
        socket = os.path.join(self.folder, "control.sock")
        started = os.path.join(self.folder, "started")
        peer = shlex.join(self.wire.inside("b", ROCE_GEN, "peer", "-i", "v", "--control", socket, "--no-compare"))
        self.check("ibv_rc_pingpong", ("psn-gap",), "--server-command", f"echo >>{started}; exec {peer}")
        with open(started, encoding="utf-8") as file:
            # Once to see that it is one, and once for each instance.
            self.assertEqual(len(file.readlines()), 5)

    def test_fail_for_a_device_that_breaks_a_rule(self):
        self.peer("--no-compare", "--bad-icrc")
        run, results = self.conform("ibv_rc_pingpong", "--only", "psn-gap", "--quick")
        self.assertEqual((run.returncode, [one["result"] for one in results]), (1, ["fail"]))
        self.assertIn("the ICRC is", results[0]["failure"]["message"])

    def test_fail_where_a_message_was_not_delivered(self):
        # Its receives take no SEND at all: RNR is no answer on UC.
        self.fake(pingpong(HOST), 52)
        run, results = self.conform("ibv_uc_pingpong", "--only", "bth-migreq[to=uc_responder,mig_req=true]")
        self.assertEqual((run.returncode, [one["result"] for one in results]), (1, ["fail"]), run.stdout + run.stderr)
        self.assertIn("expected the server to answer", results[0]["failure"]["message"])

    def test_skip_what_the_server_does_not_take(self):
        self.peer("--no-compare")
        _, results = self.conform("ibv_rc_pingpong", "--only", "rd-zero", "--only", "nak-access", "--only", "hdr-tver[type=uc,*]", "--quick")
        lacks = {one["name"].partition("[")[0]: (one["result"], one["lacks"]) for one in results}
        self.assertEqual({result for result, _ in lacks.values()}, {"skip"})
        self.assertIn("READ_REQUEST", lacks["rd-zero"][1])
        self.assertEqual(lacks["nak-access"][1], "agent")
        self.assertIn("is RC", lacks["hdr-tver"][1])


class Refusals(ServerTest):
    def refused(self, words, *arguments, server="ibv_rc_pingpong", host=HOST):
        run, results = self.conform(server, "--only", "psn-gap", *arguments, host=host)
        self.assertEqual((run.returncode, results), (2, []), run.stdout + run.stderr)
        self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
        self.assertIn(words, run.stderr)

    def test_a_program_that_is_not_known(self):
        self.refused("there is no server ibv_srq_pingpong; the programs that are known: ibv_rc_pingpong, ", server="ibv_srq_pingpong")

    def test_a_server_that_is_not_there(self):
        self.refused("Connection refused; start it there, or say how with --server-command", "--server-time", "300ms")

    def test_a_server_of_rdma_cm_that_is_not_there(self):
        self.refused("ucmatose at port 7471 of RDMA CM: no answer", "--server-time", "300ms", server="ucmatose")
        self.peer()
        self.refused("rping at port 9 of RDMA CM: nobody listens there; start the program", "--server-time", "300ms", "--server-port", "9",
                     server="rping")

    def test_a_host_that_is_not_there(self):
        self.refused("10.9.0.77", "--server-time", "300ms", host="10.9.0.77")

    def test_a_command_that_ends(self):
        self.refused("of --server-command the command ended with status 3", "--server-command", "exit 3")

    def test_a_server_that_hangs(self):
        self.fake("", 52)
        self.refused("expected its queue pair, and after 0 of 52 bytes nothing more came in time", "--server-time", "300ms")
        self.refused("does not go on with the handshake in time", "--server-time", "300ms", server="ib_write_bw")

    def test_a_server_that_speaks_something_else(self):
        self.fake(b"SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3".ljust(52).hex(), 1)
        self.refused('got "SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3')
        self.refused("expected the version of a perftest program", server="ib_write_bw")

    def test_a_server_whose_roce_address_is_another(self):
        self.fake(pingpong("10.9.0.99"), 52)
        self.refused("its RoCE address is 10.9.0.99 and not 10.9.0.2")

    def test_a_server_without_a_gid(self):
        self.fake((b"0000:000011:000007:" + b"0" * 32 + b"\0").hex(), 52)
        self.refused("it told no GID")


def pingpong(address):
    """The message of a pingpong server at an address, as hexadecimal digits."""
    return (b"0000:000011:000007:" + b"0" * 20 + b"ffff" + bytes(map(int, address.split("."))).hex().encode() + b"\0").hex()


if __name__ == "__main__":
    enter_namespaces()
    ROCE_CONFORM, ROCE_GEN, CASES = (os.path.abspath(argument) for argument in sys.argv[1:4])
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
