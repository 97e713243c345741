# SPDX-License-Identifier: BSD-2-Clause
"""roce-agent in the guest, which serves the control protocol from rxe0: with itself, and with a queue pair of `roce-gen peer`."""

import collections
import json
import os
import random
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
ALL = ["local_write", "remote_write", "remote_read", "remote_atomic", "mw_bind"]
SIZE = 1 << 16
# Of requests whose values are any: how many there are, which ones, and how often each.
NONSENSE = 4000
OPERATIONS = [*2 * ["create_memory", "create_window", "create_pd", "create_cq", "destroy_qp"], *4 * ["create_region"], *6 * ["create_qp"],
              *8 * ["connect_qp"], *12 * ["modify_qp"], *20 * ["post_send"], *8 * ["post_receive"], "destroy_pd", "destroy_cq", "destroy_region",
              "destroy_window", "window_status", "qp_status", "poll", "arm_cq", "poll_events", "read_memory", "write_memory", "check_memory",
              "fill_memory", "cm_listen", "cm_connect", "cm_events"]
# Which of them finds a connection that it is about is left to chance.
OF_CONNECTIONS = ["cm_accept", "cm_reject", "cm_disconnect"]
OPCODES = ["send", "send_with_immediate", "send_with_invalidate", "write", "write_with_immediate", "read", "compare_swap", "fetch_add",
           "local_invalidate", *4 * ["bind_window"]]
WAIT = 30
# Port 7200 of the TCP port space.
SERVICE = 0x01061C20


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
        return " ".join(map(str, ["exec", "env", f"LD_LIBRARY_PATH={FOLDER}", f"{FOLDER}/roce-agent", "--device", "rxe0", *words]))

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
        self.assertEqual(set(hello["features"]), {"rc", "uc", "ud", "atomics", "windows_1", "windows_2", "invalidate", "counters", "service_level",
                                                  "cq_events", "srq", "cm", "memory_digest"})
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

    def test_regions_and_windows(self):
        """What a key allows: a region's, and a window's of either type, until that is invalidated, bound again or destroyed."""
        self.agent()
        client = self.client()
        here = client.call("create_memory", length=SIZE)
        there = client.call("create_memory", length=SIZE)
        client.call("fill_memory", memory=here["memory"], seed=3)
        region = client.call("create_region", memory=there["memory"], offset=0x100, length=5000, access=ALL)
        self.assertEqual((region["address"], region["length"]), (there["address"] + 0x100, 5000))

        def write(first, key, address, length=8):
            client.call("post_send", qp=first, opcode="write", memory=here["memory"], length=length, r_key=key,
                        remote_address=address)
            done, = self.completions(client, 1)
            return done["status"]
        for address, length, status in ((region["address"], 5000, "success"), (region["address"] + 1, 5000, "remote access error")):
            first, _ = self.pair(client)
            self.assertEqual(write(first, region["r_key"], address, length), status)
        self.assertTrue(client.call("check_memory", memory=there["memory"], offset=0x100, length=5000, seed=3)["equal"])
        self.assertEqual(client.call("read_memory", memory=there["memory"], offset=0x100 + 5000, length=8)["data"], 16 * "0")
        for kind in (1, 2):
            with self.subTest(kind=kind):
                first, second = self.pair(client)
                window = client.call("create_window", type=kind)
                variant = (window["r_key"] + 1) % 256
                client.call("post_send", qp=second, opcode="bind_window", wr_id=5, window=window["window"], region=region["region"],
                            bind_address=region["address"], bind_length=64, access=["remote_write"], key_variant=variant)
                key = client.call("window_status", window=window["window"])["r_key"]
                if kind == 2:
                    self.assertEqual(key, window["r_key"] & ~0xFF | variant)
                self.assertEqual(self.completions(client, 1), [
                    {"wr_id": 5, "status": "success", "opcode": "bind memory window", "qp": second}])
                self.assertEqual(write(first, key, region["address"]), "success")
                if kind == 2:
                    client.call("post_send", qp=second, opcode="local_invalidate", invalidate=key)
                    self.assertEqual(self.completions(client, 1)[0]["opcode"], "local invalidate")
                else:
                    client.call("post_send", qp=second, opcode="bind_window", window=window["window"], access=[])
                    self.assertEqual(self.completions(client, 1)[0]["opcode"], "bind memory window")
                self.assertEqual(write(first, key, region["address"]), "remote access error")
                client.call("destroy_window", window=window["window"])
        client.call("destroy_region", region=region["region"])
        first, _ = self.pair(client)
        self.assertEqual(write(first, region["r_key"], region["address"]), "remote access error")

    def test_a_region_that_counts_from_zero(self):
        self.agent()
        client = self.client()
        memory = client.call("create_memory", length=SIZE)
        region = client.call("create_region", memory=memory["memory"], offset=4096, length=4096, access=[*ALL, "zero_based"])
        self.assertEqual(region["address"], 0)
        first, _ = self.pair(client)
        client.call("fill_memory", memory=memory["memory"], byte=0xA5)
        client.call("write_memory", memory=memory["memory"], data="0102030405060708")
        client.call("post_send", qp=first, opcode="write", memory=memory["memory"], length=8, r_key=region["r_key"], remote_address=16)
        self.assertEqual(self.completions(client, 1)[0]["status"], "success")
        self.assertEqual(client.call("read_memory", memory=memory["memory"], offset=4096 + 15, length=10)["data"],
                         "a50102030405060708a5")

    def test_protection_domains_and_completion_queues(self):
        self.agent()
        client = self.client()
        memory = client.call("create_memory", length=SIZE, access=ALL)
        pd = client.call("create_pd")["pd"]
        other = client.call("create_region", memory=memory["memory"], access=ALL, pd=pd)
        first, _ = self.pair(client)
        client.call("post_send", qp=first, opcode="write", memory=memory["memory"], length=8, r_key=other["r_key"],
                    remote_address=other["address"])
        self.assertEqual(self.completions(client, 1)[0]["status"], "remote access error")
        self.refused(client, "destroy_pd: ibv_dealloc_pd: Device or resource busy; destroy what uses it", "destroy_pd", pd=pd)
        client.call("destroy_region", region=other["region"])
        client.call("destroy_pd", pd=pd)
        # Pieces are judged by the device: a key of nothing is the end of the queue pair.
        sends, receives = (client.call("create_cq", size=16)["cq"] for _ in range(2))
        first, second = self.pair(client, send_cq=sends, receive_cq=receives, max_pieces=2)
        key = client.call("create_region", memory=memory["memory"], access=["local_write"])["l_key"]
        pieces = [{"address": memory["address"] + at, "length": 10, "l_key": key} for at in (100, 200)]
        client.call("fill_memory", memory=memory["memory"], length=20, seed=9)
        client.call("post_receive", qp=second, wr_id=6, pieces=pieces)
        client.call("post_send", qp=first, opcode="send", wr_id=7, memory=memory["memory"], length=20, signaled=False)
        self.assertEqual(self.completions(client, 1, cq=receives), [
            {"wr_id": 6, "status": "success", "opcode": "receive", "qp": second, "byte_length": 20}])
        data = client.call("read_memory", memory=memory["memory"], length=20)["data"]
        for at, part in ((100, data[:20]), (200, data[20:])):
            self.assertEqual(client.call("read_memory", memory=memory["memory"], offset=at, length=10)["data"], part)
        client.call("post_send", qp=first, opcode="send", wr_id=8, pieces=[{**pieces[0], "l_key": key ^ 0x5500}])
        self.assertEqual(self.completions(client, 1, cq=sends), [
            {"wr_id": 8, "status": "local QP operation error", "qp": first}])
        self.assertEqual(client.call("poll")["completions"], [])
        self.refused(client, "destroy_cq: ibv_destroy_cq: Device or resource busy; destroy what uses it", "destroy_cq", cq=sends)
        for qp in (first, second):
            client.call("destroy_qp", qp=qp)
        client.call("destroy_cq", cq=sends)

    def test_errors_events_and_states(self):
        self.agent()
        client = self.client()
        memory = client.call("create_memory", length=SIZE)
        first, second = self.pair(client)
        self.assertEqual(client.call("qp_status", qp=first), {"ok": True, "state": "RTS", "remote_qp": second, "connection": "none"})
        client.call("post_send", qp=first, opcode="write", wr_id=1, memory=memory["memory"], length=8, r_key=1)
        client.call("post_send", qp=first, opcode="write", wr_id=2, memory=memory["memory"], length=8, r_key=1)
        self.assertEqual(self.completions(client, 2), [
            {"wr_id": 1, "status": "remote access error", "qp": first},
            {"wr_id": 2, "status": "work request flushed error", "qp": first}])
        self.assertEqual(client.call("qp_status", qp=first)["state"], "ERR")
        client.call("modify_qp", qp=first, state="RESET")
        self.assertEqual(client.call("qp_status", qp=first)["state"], "RESET")
        client.call("modify_qp", qp=first, state="INIT", access=["remote_read"])
        client.call("modify_qp", qp=first, state="RTR", gid=client.hello["gid"], path_mtu=512, dest_qp=second, rq_psn=1,
                    max_dest_rd_atomic=4, min_rnr_timer=5)
        self.refused(client, "modify_qp: ibv_modify_qp to INIT: Invalid argument", "modify_qp", qp=first, state="INIT")
        client.call("modify_qp", qp=first, state="RTS", sq_psn=5, max_rd_atomic=4, timeout=18, retry_count=7, rnr_retry=7)
        self.assertEqual(client.call("poll_events"), {"ok": True, "events": [], "lost": 0})
        client.call("modify_qp", qp=first, state="SQD")
        self.assertEqual(self.until(lambda: client.call("poll_events")["events"]), [{"event": "send queue drained", "qp": first}])
        client.call("destroy_qp", qp=first)
        # A completion queue with room for one.
        cq = client.call("create_cq", size=1)["cq"]
        first, _ = self.pair(client, send_cq=cq)
        for number in range(4):
            client.call("post_send", qp=first, opcode="write", wr_id=number)
        self.assertIn({"event": "CQ overflow", "cq": cq}, self.until(lambda: client.call("poll_events")["events"]))

    def test_datagrams(self):
        self.agent()
        client = self.client()
        memory = client.call("create_memory", length=SIZE)["memory"]
        ends = [client.call("create_qp", type="ud") for _ in range(2)]
        first, second = (end["qp"] for end in ends)
        self.refused(client, "the queue pair has no address yet", "post_send", qp=first, opcode="send", remote_qp=second)
        for end in ends:
            client.call("connect_qp", qp=end["qp"], gid=client.hello["gid"], psn=end["psn"])
        client.call("fill_memory", memory=memory, length=500, seed=8)
        client.call("post_receive", qp=second, wr_id=1, memory=memory, offset=1000, length=1000)
        client.call("post_send", qp=first, opcode="send_with_immediate", wr_id=2, memory=memory, length=500, immediate=3,
                    remote_qp=second)
        done = {one["wr_id"]: one for one in self.completions(client, 2)}
        self.assertEqual(done[1], {"wr_id": 1, "status": "success", "opcode": "receive", "qp": second, "byte_length": 540,
                                   "immediate": 3, "source_qp": first})
        self.assertTrue(client.call("check_memory", memory=memory, offset=1040, length=500, seed=8)["equal"])

    def test_everything_goes_with_its_connection(self):
        self.agent("--max-qp", 3, "--memory-limit", "1M")
        client, other = self.client(), self.client()

        def held():
            return sum(int(value) for value in re.findall(r"(?:pd|mr|qp) (\d+)", self.guest.check("/usr/bin/rdma resource show rxe0")))
        before = held()

        def fill():
            memory = client.call("create_memory", length=1 << 20, access=ALL)["memory"]
            client.call("create_region", memory=memory, pd=client.call("create_pd")["pd"])
            client.call("create_window", type=2)
            first, _ = self.pair(client)
            client.call("post_send", qp=first, opcode="write", r_key=1)
            client.call("create_qp", type="ud", send_cq=client.call("create_cq", size=8)["cq"])
            return memory
        for _ in range(3):
            memory = fill()
            self.refused(other, "there are 3 queue pairs; start roce-agent with a larger --max-qp", "create_qp", type="rc")
            self.refused(other, "are more than the 0 that are left of the 1048576", "create_memory", length=1)
            client.call("destroy_all")
            self.assertEqual(client.call("poll"), {"ok": True, "completions": [], "lost": 0})
            self.assertEqual(held(), before)
            self.refused(client, "was not made by this connection", "read_memory", memory=memory)
        self.refused(other, "was not made by this connection", "read_memory", memory=fill())
        client.close()
        self.until(lambda: held() < before)
        other.call("create_memory", length=1 << 20)

    def cm_event(self, client, kind):
        """The next event of the communication manager, which has to be of this kind."""
        events = self.until(lambda: client.call("cm_events", max=1)["events"])
        self.assertEqual([event["event"] for event in events], [kind])
        return events[0]

    def test_connections_by_rdma_cm(self):
        self.agent()
        server, client = self.client(), self.client()
        for waits in (False, True):
            there, here = (one.call("create_qp", type="rc")["qp"] for one in (server, client))
            memory = server.call("create_memory", length=4096)["memory"]
            server.call("post_receive", qp=there, wr_id=5, memory=memory, length=4096)
            server.call("cm_listen", service=SERVICE, qps=[{"qp": there}], waits=waits, private_data="0102")
            self.refused(client, "Address already in use", "cm_listen", service=SERVICE, qps=[{"qp": here}])
            client.call("cm_connect", qp=here, gid=self.network.guest4, service=SERVICE, private_data="a1a2a3")
            self.assertTrue(self.cm_event(server, "request")["private_data"].startswith("a1a2a300"))
            if waits:
                server.call("cm_accept", private_data="0102")
            self.assertTrue(self.cm_event(client, "reply")["private_data"].startswith("010200"))
            self.cm_event(server, "established")
            client.call("post_send", qp=here, wr_id=1, opcode="send")
            self.assertEqual([one["status"] for one in self.completions(client, 1)], ["success"])
            self.assertEqual([(one["wr_id"], one["status"]) for one in self.completions(server, 1)], [(5, "success")])
            client.call("cm_disconnect", qp=here)
            for one, qp in ((server, there), (client, here)):
                self.cm_event(one, "disconnected")
                self.assertEqual(one.call("qp_status", qp=qp)["state"], "ERR")
                one.call("destroy_all")

    def test_a_client_that_goes_away_ends_its_connections(self):
        self.agent()
        server, client = self.client(), self.client()
        there, here = (one.call("create_qp", type="rc")["qp"] for one in (server, client))
        server.call("cm_listen", service=SERVICE, qps=[{"qp": there}])
        client.call("cm_connect", qp=here, gid=self.network.guest4, service=SERVICE)
        self.cm_event(client, "reply")
        for kind in ("request", "established"):
            self.cm_event(server, kind)
        client.close()
        self.cm_event(server, "disconnected")
        server.call("destroy_all")
        # The service is free again.
        server.call("cm_listen", service=SERVICE, qps=[])

    def test_a_request_that_cannot_be_accepted_is_rejected(self):
        self.agent()
        server, client = self.client(), self.client()
        here = client.call("create_qp", type="rc")["qp"]
        server.call("cm_listen", service=SERVICE, qps=[], waits=True)
        client.call("cm_connect", qp=here, gid=self.network.guest4, service=SERVICE)
        self.cm_event(server, "request")
        self.refused(server, "has more than 255 bytes", "cm_accept", private_data="00" * 256)
        self.refused(server, "no QP is left for the request", "cm_accept")
        self.assertEqual(self.cm_event(client, "rejected")["reason"], 28)
        self.refused(server, "no request waits", "cm_accept")

    def test_what_verbs_do_not_have_is_refused(self):
        self.agent()
        client = self.client()
        memory = client.call("create_memory", length=4096)["memory"]
        qp = client.call("create_qp", type="rc", state="RESET")["qp"]
        window = client.call("create_window", type=1)["window"]
        self.assertEqual(client.call("qp_status", qp=qp)["state"], "RESET")
        for words, op, members in (
                ("has no sinks", "sink", {"qp": qp, "memory": memory, "slot_bytes": 1, "slots": 1, "seed": 1}),
                ("has no sinks", "sink_status", {"qp": qp}),
                ("does not take connections by itself", "accept_qp", {"qp": qp, "cm_port": 1}),
                ("does not take connections by itself", "reject_next", {"cm_port": 1}),
                ("is of no port space", "cm_listen", {"service": 7, "qps": []}),
                ("is of no port space", "cm_connect", {"service": 0x013F0001, "qp": qp, "gid": "10.77.0.1"}),
                ("\"service\" is missing", "cm_listen", {"qps": []}),
                ("no connections of UC", "cm_listen", {"service": SERVICE, "qps": [{"qp": client.call("create_qp", type="uc")["qp"]}]}),
                ("was not made by this connection", "cm_listen", {"service": SERVICE, "qps": [{"qp": 0xFFFFFF}]}),
                ("cannot send an MRA", "cm_delay", {}),
                ("with reason 28", "cm_reject", {"reason": 4}),
                ("no request waits", "cm_accept", {}),
                ("no request waits", "cm_reject", {}),
                ("has no connection", "cm_disconnect", {"qp": qp}),
                ("have no flush", "post_send", {"qp": qp, "opcode": "flush"}),
                ("have no atomic_write", "post_send", {"qp": qp, "opcode": "atomic_write"}),
                ("have no flush_global", "create_memory", {"length": 1, "access": ["flush_global"]}),
                ("no memory that a SEND can invalidate", "create_memory", {"length": 1, "invalidatable": True}),
                ("no counters of one queue pair", "counters", {"qp": qp}),
                ("connect_qp: ibv_modify_qp to RTR: Invalid argument", "connect_qp", {"qp": qp, "gid": "10.77.0.1", "psn": 0}),
                ("post_send: ibv_post_send: ", "post_send", {"qp": qp, "opcode": "read"}),
                ("\"region\" was not made by this connection", "post_send", {"qp": qp, "opcode": "bind_window", "window": window}),
                ("\"memory\" or \"pieces\", not both", "post_receive", {"qp": qp, "memory": memory, "pieces": []}),
                ("\"length\" is 4097", "read_memory", {"memory": memory, "length": 4097}),
                ("there is no operation \"frob\"", "frob", {})):
            self.refused(client, words, op, **members)

    def test_no_request_ends_it(self):
        """Requests whose members are the right ones, and whose values are any: not even the user's half of a driver may fall over."""
        agent = self.agent("--memory-limit", "64M")
        client = self.client()
        choose = random.Random(1)
        keys, addresses, made = [0, 1, 2**32 - 1], [0, 1, 2**64 - 1], collections.defaultdict(list)
        succeeded = collections.Counter()
        for number in range(NONSENSE):
            op = choose.choice(OPERATIONS + OF_CONNECTIONS)
            members = self.nonsense(choose, op, keys, addresses, made)
            answer = client.ask(op, **{name: value for name, value in members.items() if choose.random() < 0.97})
            succeeded[op] += answer["ok"]
            keys += [answer[name] for name in ("r_key", "l_key") if name in answer]
            addresses += [answer["address"]] if "address" in answer else []
            for kind in ("memory", "region", "window", "pd", "cq", "qp"):
                made[kind] += [answer[kind]] if kind in answer else []
            if number % 200 == 199:
                client.call("destroy_all")
                made.clear()
        self.assertTrue(agent.running())
        for op in set(OPERATIONS):
            self.assertGreater(succeeded[op], NONSENSE / 1000, succeeded)

    def nonsense(self, choose, op, keys, addresses, made):
        """The members of a request."""
        number = choose.choice([0, 1, 2, 3, 5, 8, 100, 4096, 5000])
        states = {"INIT": ["access"], "RTR": ["gid", "path_mtu", "dest_qp", "rq_psn", "max_dest_rd_atomic", "min_rnr_timer"],
                  "RTS": ["sq_psn", "max_rd_atomic", "timeout", "retry_count", "rnr_retry"], "RESET": [], "SQD": [], "ERR": []}
        rights = choose.sample(["local_write", "remote_write", "remote_read", "remote_atomic", "mw_bind", "zero_based"], choose.randrange(6))
        objects = {kind: choose.choice(numbers) for kind, numbers in made.items() if numbers}
        piece = {"address": choose.choice(addresses) + number, "length": number, "l_key": choose.choice(keys)}
        piece["address"] %= 2**64
        members = {**objects, "offset": number, "length": number + 1, "seed": number, "data": "00" * number, "size": number + 1, "access": rights,
                   "type": choose.choice([1, 2]) if op == "create_window" else choose.choice(["rc", "rc", "uc", "ud"]),
                   "gid": self.network.guest4, "psn": number, "path_mtu": choose.choice([256, 1024]), "rd_atomic": number % 17,
                   "remote_qp": objects.get("qp", 0), "pieces": choose.randrange(4) * [piece], "max_pieces": choose.choice([1, 2, 16]),
                   "max_send": choose.choice([1, 64]), "opcode": choose.choice(OPCODES), "signaled": choose.random() < 0.5,
                   "fence": choose.random() < 0.5, "remote_address": choose.choice(addresses), "r_key": choose.choice(keys),
                   "invalidate": choose.choice(keys), "bind_address": choose.choice(addresses), "bind_length": number,
                   "key_variant": choose.randrange(256), "wr_id": number,
                   "service": choose.choice([SERVICE, SERVICE + 1, SERVICE + 0xB0000, number]), "waits": choose.random() < 0.5,
                   "qps": [{"qp": objects.get("qp", 0)} for _ in range(choose.randrange(3))], "private_data": "00" * (number % 300)}
        for name in ("pd", "cq", "pieces" if choose.random() < 0.5 else "memory"):
            if op in ("create_region", "create_qp", "create_window", "post_send", "post_receive", "poll") and choose.random() < 0.8:
                members.pop(name, None)
        if op in ("post_send", "post_receive") and "pieces" in members:
            members.pop("memory", None)
        if op == "create_memory":
            members["length"] += SIZE
        if op == "modify_qp":
            values = {**members, "dest_qp": objects.get("qp", 0), "rq_psn": number, "max_dest_rd_atomic": 4, "min_rnr_timer": 1, "sq_psn": number,
                      "max_rd_atomic": 4, "timeout": 14, "retry_count": 1, "rnr_retry": 1}
            state = choose.choice(sorted(states))
            members = {"qp": objects.get("qp", 0), "state": state, **{name: values[name] for name in states[state]}}
        return members

    def test_strangers(self):
        agent = self.agent()
        for _ in range(3):
            with self.assertRaisesRegex(AssertionError, "the token is wrong"):
                Control(self.connection(), version=2, token=TOKEN[:-1])
        with self.connection() as connection:
            self.assertIn(b"too many wrong tokens came from your address", connection.recv(1000))
        agent.kill(15)
        self.assertEqual(agent.wait().code, 0)
        self.assertIn("wrong tokens came from one address; it is refused for 10 s", agent.output())
        agent = self.agent()
        with self.connection() as connection:
            connection.sendall(20 * b"{}\n")
            with connection.makefile() as lines:
                self.assertEqual(len(lines.readlines()), 16)
        with self.connection() as connection:
            connection.sendall(5000 * b"x")
            self.assertEqual(connection.recv(1000), b"")
        agent.kill(15)
        agent.wait()
        agent = self.agent("--peer", "10.77.0.9")
        with self.connection() as connection:
            self.assertEqual(connection.recv(1000), b"")
        result = self.guest.run(self.agent_command("--gid-index", 9))
        self.assertEqual(result.code, 2)
        self.assertIn("no GID of RoCE v2 at index 9; there are: 0 (fe80", result.stderr)
        result = self.guest.run(self.agent_command().replace("rxe0", "mlx5_0"))
        self.assertEqual((result.code, result.stderr), (2, "roce-agent: there is no RDMA device 'mlx5_0'; there are: rxe0\n"))

    def test_on_a_unix_socket(self):
        path = f"{FOLDER}/control.sock"
        agent = self.in_guest(self.agent_command("--json", "--control", path))
        ready = json.loads(agent.wait_lines(1)[0])
        self.assertEqual(ready["event"], "ready")
        self.assertIn(f"control on {path} (this user and root)", ready["text"])
        self.assertEqual(self.guest.check(["stat", "-c", "%a", path]), "600\n")
        client = "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.sendall(sys.argv[2].encode()); " \
                 "s.shutdown(socket.SHUT_WR); print(s.makefile().read(), end='')"
        requests = '{"op": "create_pd"}\n{"op": "hello", "version": 2, "id": "x"}\n{"op": "create_pd"}\n'
        refused, hello, made = map(json.loads, self.guest.check(["python3", "-c", client, path, requests]).splitlines())
        self.assertEqual(refused, {"ok": False, "error": "say hello first"})
        self.assertEqual((hello["ok"], hello["id"], made), (True, "x", {"ok": True, "pd": 1}))
        result = self.guest.run(self.agent_command("--control", path))
        self.assertEqual(result.code, 2)
        self.assertIn("stop the agent that uses it", result.stderr)
        agent.kill(15)
        self.assertEqual(agent.wait().code, 0)
        self.assertNotEqual(self.guest.run(["test", "-e", path]).code, 0)

    def test_with_a_queue_pair_of_ours(self):
        """Each of them writes to the other, reads from it and sends to it; the packets keep the rules."""
        self.agent()
        theirs = self.client()
        peer = self.peer("ipv4", "--pcap", self.capture)
        ours = Control(os.path.join(self.folder, "control.sock"))
        self.addCleanup(ours.close)
        ends = [(client, client.call("create_qp", type="rc"), client.call("create_memory", length=SIZE, access=ALL[:-1]))
                for client in (theirs, ours)]
        for (client, qp, memory), (other, remote, _) in (ends, reversed(ends)):
            client.call("connect_qp", qp=qp["qp"], gid=other.hello["gid"], remote_qp=remote["qp"], remote_psn=remote["psn"],
                        psn=qp["psn"], timeout=18)
            client.call("fill_memory", memory=memory["memory"], length=10000, seed=qp["qp"])
        for (client, qp, memory), (other, remote, target) in (ends, reversed(ends)):
            address = {"remote_address": target["address"] + 20000, "r_key": target["r_key"]}
            client.call("post_send", qp=qp["qp"], opcode="write", memory=memory["memory"], length=10000, **address)
            client.call("post_send", qp=qp["qp"], opcode="read", memory=memory["memory"], offset=40000, length=10000, **address)
            other.call("post_receive", qp=remote["qp"], memory=target["memory"], offset=50000, length=5000)
            client.call("post_send", qp=qp["qp"], opcode="send", memory=memory["memory"], length=5000)
            self.assertEqual([one["status"] for one in self.completions(client, 3) + self.completions(other, 1)], 4 * ["success"])
            for one, checked, offset, length in ((other, target, 20000, 10000), (client, memory, 40000, 10000), (other, target, 50000, 5000)):
                self.assertTrue(one.call("check_memory", memory=checked["memory"], offset=offset, length=length, seed=qp["qp"])["equal"])
        self.assertGreater(theirs.call("counters")["counters"]["rcvd_pkts"], 30)
        peer.stop()
        self.assertEqual(peer.wait(), 0)
        for address in (self.network.host4, self.network.guest4):
            self.assert_keeps_the_rules(self.capture, address)
