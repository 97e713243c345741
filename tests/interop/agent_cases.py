# SPDX-License-Identifier: BSD-2-Clause
"""roce-agent in the guest, which serves the control protocol from rxe0: with itself, and with a queue pair of `roce-gen peer`."""

import os
import re
import socket
import subprocess
import tempfile
import time

from control import Control
from guest import GuestError
from rdma_cm_cases import RdmaCm

CONTROL_PORT = 4790
FOLDER = "/tmp/agent"
TOKEN = "of these cases"
# Rights of memory that the other end may use.
ALL = ["remote_write", "remote_read", "remote_atomic", "mw_bind"]
SIZE = 1 << 16
WAIT = 30


class Agent(RdmaCm):
    """Base of the cases with an agent in the guest. It has none itself."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if cls.roce_agent is None:
            return
        cls.guest.check(["mkdir", "-p", FOLDER])
        with tempfile.TemporaryDirectory() as folder:
            stripped = os.path.join(folder, "roce-agent")
            subprocess.run(["strip", "-o", stripped, cls.roce_agent], check=True)
            cls.carry(stripped)
        # The guest has the libraries of verbs, and none of C++.
        needed = subprocess.run(["ldd", cls.roce_agent], stdout=subprocess.PIPE, text=True, check=True).stdout
        for path in re.findall(r"=> (\S*/lib(?:fmt|stdc\+\+)\.so\S*)", needed):
            cls.carry(path)
        cls.guest.put(TOKEN.encode() + b"\n", f"{FOLDER}/token", 0o600)

    @classmethod
    def carry(cls, path):
        """Copies a file into the guest, over the network: its channel is slow."""
        host = cls.network.host4
        with cls.network.host.call(lambda: socket.create_server((host, 0))) as server, open(path, "rb") as file:
            server.settimeout(WAIT)
            target = f"{FOLDER}/{os.path.basename(path)}"
            process = cls.guest.popen(f"nc {host} {server.getsockname()[1]} >{target} && chmod 755 {target}")
            with server.accept()[0] as connection:
                connection.sendfile(file)
        if process.wait().code:
            raise GuestError(cls.guest.explain(f"{path} did not get into the guest: {process.output()}"))

    def setUp(self):
        super().setUp()
        if self.roce_agent is None:
            self.skipTest("there is no roce-agent: ROCE_AGENT does not name it")

    def agent_command(self, *words):
        return " ".join(map(str, [f"LD_LIBRARY_PATH={FOLDER}", f"{FOLDER}/roce-agent", "--device", "rxe0", *words]))

    def agent(self, *words):
        """Starts an agent on TCP."""
        process = self.in_guest(self.agent_command("--listen", f"{self.network.guest4}:{CONTROL_PORT}", "--token-file",
                                                   f"{FOLDER}/token", *words))
        process.wait_listening(CONTROL_PORT)
        return process

    def connection(self):
        return self.network.host.call(lambda: socket.create_connection((self.network.guest4, CONTROL_PORT), 10))

    def client(self, **greeting):
        client = Control(self.connection(), **{"version": 2, "token": TOKEN, **greeting})
        self.addCleanup(client.close)
        return client

    def until(self, found, timeout=WAIT):
        """Asks again and again, each time over a socket; what it found."""
        deadline = time.monotonic() + timeout
        while not (answer := found()):
            self.assertLess(time.monotonic(), deadline, "it did not come to that")
        return answer

    def completions(self, client, count, **more):
        done = []

        def enough():
            done.extend(client.call("poll", **more)["completions"])
            return len(done) >= count
        self.until(enough)
        return done

    def pair(self, client, **more):
        """Two queue pairs of the agent, connected with each other."""
        ends = [client.call("create_qp", type="rc", **more) for _ in range(2)]
        for one, other in (ends, reversed(ends)):
            client.call("connect_qp", qp=one["qp"], gid=client.hello["gid"], remote_qp=other["qp"], remote_psn=other["psn"],
                        psn=one["psn"], timeout=18)
        return [end["qp"] for end in ends]

    def refused(self, client, words, op, **members):
        answer = client.ask(op, **members)
        self.assertFalse(answer["ok"], answer)
        self.assertIn(words, answer["error"])


class AgentCases(Agent):
    def test_it_says_what_the_device_can_do(self):
        agent = self.agent()
        hello = self.client().hello
        self.assertEqual((hello["version"], hello["gid"], hello["max_path_mtu"]), (2, self.network.guest4, 1024))
        self.assertEqual(set(hello["features"]), {"rc", "uc", "ud", "atomics", "windows_1", "windows_2", "invalidate", "counters"})
        self.assertNotIn("features", self.client(version=1).hello)
        self.assertIn("rxe0 port 1, GID 1 = 10.77.0.2, path MTU 1024; control on TCP 10.77.0.2 port 4790", agent.output())

    def test_one_after_the_other(self):
        """WRITE, READ, SEND and atomics, from one queue pair of the agent to another one."""
        self.agent()
        client = self.client()
        here = client.call("create_memory", length=SIZE)
        there = client.call("create_memory", length=SIZE, access=ALL)
        first, second = self.pair(client)
        client.call("fill_memory", memory=here["memory"], length=10000, seed=7)
        remote = {"remote_address": there["address"], "r_key": there["r_key"]}
        client.call("post_send", qp=first, opcode="write", wr_id=1, memory=here["memory"], length=10000, **remote)
        self.assertEqual(self.completions(client, 1),
                         [{"wr_id": 1, "status": "success", "opcode": "RDMA WRITE", "qp": first}])
        self.assertTrue(client.call("check_memory", memory=there["memory"], length=10000, seed=7)["equal"])
        self.assertEqual(client.call("check_memory", memory=there["memory"], parts=[
            {"length": 10000, "seed": 7}, {"offset": 10000, "length": 8, "seed": 1}])["wrong_at"], 10000)
        client.call("post_send", qp=first, opcode="read", wr_id=2, memory=here["memory"], offset=20000, length=10000, **remote)
        self.assertEqual(self.completions(client, 1), [
            {"wr_id": 2, "status": "success", "opcode": "RDMA READ", "qp": first, "byte_length": 10000}])
        self.assertTrue(client.call("check_memory", memory=here["memory"], offset=20000, length=10000, seed=7)["equal"])
        client.call("write_memory", memory=there["memory"], offset=16384, data="0100000000000000")
        counter = {"remote_address": there["address"] + 16384, "r_key": there["r_key"]}
        for opcode, more, text, before in (("fetch_add", {"compare_add": 41}, "fetch and add", 1),
                                           ("compare_swap", {"compare_add": 42, "swap": 5}, "compare and swap", 42)):
            client.call("post_send", qp=first, opcode=opcode, wr_id=3, memory=here["memory"], length=8, **counter, **more)
            self.assertEqual(self.completions(client, 1), [
                {"wr_id": 3, "status": "success", "opcode": text, "qp": first, "byte_length": 8}])
            self.assertEqual(client.call("read_memory", memory=here["memory"], length=8)["data"], before.to_bytes(8, "little").hex())
        self.assertEqual(client.call("read_memory", memory=there["memory"], offset=16384, length=8)["data"], "0500000000000000")
        client.call("post_receive", qp=second, wr_id=9, memory=there["memory"], offset=32768, length=4096)
        client.call("post_send", qp=first, opcode="send_with_immediate", wr_id=4, memory=here["memory"], offset=20000, length=100,
                    immediate=0x01020304, solicited=True)
        done = {one["wr_id"]: one for one in self.completions(client, 2)}
        self.assertEqual(done[4], {"wr_id": 4, "status": "success", "opcode": "SEND", "qp": first})
        self.assertEqual(done[9], {"wr_id": 9, "status": "success", "opcode": "receive", "qp": second, "byte_length": 100,
                                   "immediate": 0x01020304})
        self.assertTrue(client.call("check_memory", memory=there["memory"], offset=32768, length=100, seed=7)["equal"])
