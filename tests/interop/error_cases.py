# SPDX-License-Identifier: BSD-2-Clause
"""What has to fail, at Soft-RoCE or here, and how: no receives, wrong Q_Keys, connections that are not wanted or have lost their other end.

Where the other end has to do what no program does, it is a queue pair of the control protocol.
"""

import collections
import ipaddress
import json
import os
import signal
import socket
import time

from control import Control
from pingpong_cases import PORT
from rdma_cm_cases import RdmaCm
from relay_cases import Relayed

# An RDMA port where no program of ours listens.
FREE_PORT = 7999
# As large as a path MTU.
SIZE = 1024
NETWORK_HEADER = 40
# Of ibv_ud_pingpong.
Q_KEY, WRONG_Q_KEY = 0x11111111, 0x22222222


class Controlled(RdmaCm):
    """Base of the cases with a queue pair of the control protocol here. It has none itself."""

    def control(self):
        """A peer, and a connection to it with some memory."""
        peer = self.peer("ipv4", "--pcap", self.capture)
        control = Control(os.path.join(self.folder, "control.sock"))
        self.addCleanup(control.close)
        self.memory = control.call("create_memory", length=16 * SIZE)["memory"]
        return peer, control

    def counters(self, control, qp):
        return control.call("counters", qp=qp)["counters"]

    def until(self, condition, timeout=30):
        """Asks again and again; each time an answer comes over a socket."""
        deadline = time.monotonic() + timeout
        while not condition():
            self.assertLess(time.monotonic(), deadline, "it did not come to that")

    def receive(self, control, qp, count):
        for _ in range(count):
            control.call("post_receive", qp=qp, memory=self.memory, length=SIZE + NETWORK_HEADER)

    def send(self, control, qp, count, size=SIZE, **more):
        for number in range(count):
            control.call("post_send", qp=qp, opcode="send", wr_id=number, memory=self.memory, length=size, **more)

    def pingpong_server(self, kind, *more):
        """One in the guest that listens."""
        gid = self.guest.gid_index(self.network.guest4)
        words = [f"ibv_{kind}_pingpong", "-d", "rxe0", "-g", gid, "-p", PORT, "-s", SIZE, *more]
        server = self.in_guest(" ".join(map(str, words)))
        server.wait_listening(PORT)
        return server

    def shake_hands(self, qp):
        """Tells the server of this queue pair; returns the number of its own, and its first PSN."""
        gid = ipaddress.IPv6Address(f"::ffff:{self.network.host4}").packed.hex()
        with self.network.host.call(lambda: socket.create_connection((self.network.guest4, PORT), 10)) as connection:
            connection.sendall(f"0000:{qp['qp']:06x}:{qp['psn']:06x}:{gid}\0".encode())
            _, qpn, psn, _ = connection.recv(52, socket.MSG_WAITALL).split(b":")
            connection.sendall(b"done\0")
        return int(qpn, 16), int(psn, 16)


class ErrorCases(Controlled):
    def assert_as_many(self, more, fewer, timeouts):
        """RNR NAKs. A requester whose timer runs out while the machine stalls gets more of them than it takes notice of."""
        if timeouts:
            self.assertGreaterEqual(more, fewer)
        else:
            self.assertEqual(more, fewer)

    def ucmatose_without_receives(self, rnr_retry):
        """ucmatose in the guest, connected to a queue pair here that has no receives."""
        peer, control = self.control()
        qp = control.call("create_qp", type="rc")["qp"]
        control.call("accept_qp", qp=qp, cm_port=FREE_PORT, rnr_retry=rnr_retry)
        theirs = self.in_guest(f"ucmatose -p {FREE_PORT} -s {self.network.host4}")
        self.until(lambda: control.call("qp_status", qp=qp)["connection"] == "connected")
        # It sends its own ten when it has these.
        self.send(control, qp, 10, 100)
        return peer, control, qp, theirs

    def test_no_receives_here(self):
        begun = self.guest.hw_counters()["retry_rnr_exceeded_err"]
        with self.counted() as rose:
            peer, control, qp, theirs = self.ucmatose_without_receives(2)
            self.wait_for("retry_rnr_exceeded_err", 1, begun)
            ours = self.counters(control, qp)
            # It does not look at how its messages ended, and waits for the end of the connection.
            control.call("destroy_qp", qp=qp)
            theirs.wait()
            peer.stop()
            self.assertEqual(peer.wait(), 0)
        self.assertEqual(rose["retry_rnr_exceeded_err"], 1)
        self.assert_as_many(rose["rcvd_rnr_err"], 3, rose["completer_retry_err"])
        self.assert_as_many(ours["rnr_naks_sent"], rose["rcvd_rnr_err"], rose["completer_retry_err"])
        self.assert_keeps_the_rules(self.capture, self.network.host4)

    def test_no_receives_here_for_a_while(self):
        with self.counted() as rose:
            peer, control, qp, theirs = self.ucmatose_without_receives(7)
            self.until(lambda: self.counters(control, qp)["rnr_naks_sent"] > 10)
            self.receive(control, qp, 10)
            received = [one for one in control.completions(20) if one["opcode"] == "receive"]
            self.assertEqual({(one["status"], one["byte_length"]) for one in received}, {("success", 100)})
            ours = self.counters(control, qp)
            control.call("destroy_qp", qp=qp)
            self.assertEqual(theirs.wait().code, 0)
            peer.stop()
            self.assertEqual(peer.wait(), 0)
        self.assertEqual(rose["retry_rnr_exceeded_err"], 0)
        self.assert_as_many(ours["rnr_naks_sent"], rose["rcvd_rnr_err"], rose["completer_retry_err"])
        self.assert_keeps_the_rules(self.capture, self.network.host4)

    def test_no_receives_there(self):
        # Four receives, and nobody who posts more.
        server = self.pingpong_server("rc", "-r", 4, "-n", 100, "-m", SIZE)
        peer, control = self.control()
        made = control.call("create_qp", type="rc")
        qp = made["qp"]
        with self.counted() as rose:
            qpn, psn = self.shake_hands(made)
            server.kill(signal.SIGSTOP)
            control.call("connect_qp", qp=qp, gid=self.network.guest4, remote_qp=qpn, remote_psn=psn, psn=made["psn"],
                         path_mtu=SIZE, rnr_retry=2)
            # One too many: behind it there would be NAKs for a gap besides.
            self.send(control, qp, 5)
            done = collections.Counter(one["status"] for one in control.completions(5))
            ours = self.counters(control, qp)
        self.assertEqual(done, {"success": 4, "RNR retry counter exceeded": 1})
        self.assert_as_many(ours["rnr_naks_received"], 3, ours["timeouts"])
        self.assert_as_many(rose["send_rnr_err"], ours["rnr_naks_received"], ours["timeouts"])
        peer.stop()
        self.assertEqual(peer.wait(), 0)
        self.assert_keeps_the_rules(self.capture, self.network.host4)

    def datagrams(self, q_key):
        """A UD queue pair with this Q_Key here and one, of ibv_ud_pingpong, in the guest. It answers each datagram."""
        self.pingpong_server("ud", "-n", 100)
        _, control = self.control()
        made = control.call("create_qp", type="ud", q_key=q_key)
        qpn, _ = self.shake_hands(made)
        control.call("connect_qp", qp=made["qp"], gid=self.network.guest4, psn=made["psn"])
        self.receive(control, made["qp"], 4)
        return control, made["qp"], qpn

    def test_a_wrong_q_key_of_ours(self):
        control, qp, theirs = self.datagrams(Q_KEY)
        with self.counted() as rose:
            self.send(control, qp, 1, remote_qp=theirs, q_key=WRONG_Q_KEY)
            self.send(control, qp, 1, remote_qp=theirs, q_key=Q_KEY)
            done = control.completions(3)
        # One answer to two datagrams; rxe counts only what it takes.
        self.assertEqual(sorted(one["opcode"] for one in done), ["SEND", "SEND", "receive"])
        self.assertEqual((rose["rcvd_pkts"], rose["sent_pkts"]), (1, 1))

    def test_a_wrong_q_key_of_theirs(self):
        control, qp, theirs = self.datagrams(WRONG_Q_KEY)
        self.send(control, qp, 1, remote_qp=theirs, q_key=Q_KEY)
        self.until(lambda: self.counters(control, qp)["q_key_violations"])
        self.assertEqual([one["opcode"] for one in control.completions(1)], ["SEND"])
        self.assertEqual(control.call("poll")["completions"], [])

    def test_a_program_here_rejects(self):
        peer, control = self.control()
        control.call("reject_next", cm_port=FREE_PORT)
        result = self.in_guest(f"rping -c -p {FREE_PORT} -a {self.network.host4}").wait()
        self.assertNotEqual(result.code, 0)
        # For a reason of the program's own.
        self.assertIn("RDMA_CM_EVENT_REJECTED, error 28", result.stdout + result.stderr)
        peer.stop()
        self.assertEqual(peer.wait(), 0)

    def test_a_program_there_rejects(self):
        self.needs_several_endpoints()
        # ucmatose takes as many connections as it was told, and looks at others only when it is done with those. This one takes seconds.
        messages = ["-C", 5000]
        theirs = self.in_guest(f"ucmatose -c 1 -C {messages[1]} -b {self.network.guest4}")
        self.listening(7471)
        first = self.gen("ucmatose", *self.our_options("ipv4"), *messages, self.network.guest4)
        first.event("connected")
        second = self.gen("ucmatose", *self.our_options("ipv4"), "--pcap", self.capture, self.network.guest4)
        report = first.event("ucmatose")
        self.assertTrue(report["ok"], report)
        report = second.event("ucmatose")
        self.assertEqual((second.wait(), report["ok"]), (1, False), report)
        self.assertIn("rejected the connection: consumer", report["error"])
        theirs.wait()
        self.assert_keeps_the_rules(self.capture, self.network.host4)


class RelayedErrorCases(Relayed, Controlled):
    def test_a_doubled_REQ_guest_is_client(self):
        with self.relay("duplicate:dir=a_to_b,qp=1,nth=1") as totals:
            theirs, ours = self.begin("client", "rping", "ipv4")
            self.good_report("rping", theirs, ours)
        self.assertEqual(totals["a_to_b"]["duplicates"], 1, totals)
        self.assert_keeps_the_rules(self.capture, self.network.host4)

    def test_a_doubled_REQ_guest_is_server(self):
        with self.relay("duplicate:dir=b_to_a,qp=1,nth=1") as totals:
            theirs, ours = self.begin("server", "rping", "ipv4")
            self.good_report("rping", theirs, ours)
        self.assertEqual(totals["b_to_a"]["duplicates"], 1, totals)
        self.assert_keeps_the_rules(self.capture, self.network.host4)

    def test_a_stale_connection(self):
        # We go without a word, and come again with the same queue pair: the relay sees to that, since we take another each time.
        theirs = self.in_guest(f"rping -s -P -a {self.network.guest4}")
        self.listening(7174)
        with self.relay():
            ours = self.gen("rping", *self.our_options("ipv4"), "-C", 1000000, self.network.guest4)
            ours.event("connected")
            ours.end()
        qps = json.loads(self.guest.check("/usr/bin/rdma -j resource show qp"))
        qpn, = (qp["rqpn"] for qp in qps if qp.get("rqpn"))
        with self.relay(f"edit:dir=b_to_a,qp=1,nth=1,field=cm_req.local_qpn,value={qpn}"):
            again = self.gen("rping", *self.our_options("ipv4"), self.network.guest4)
            report = again.event("rping")
            self.assertEqual((again.wait(), report["ok"]), (1, False), report)
            self.assertIn("rejected the connection: stale connection", report["error"])
        # Which ended the old one there.
        with self.relay():
            last = self.gen("rping", *self.our_options("ipv4"), "-C", 5, self.network.guest4)
            self.assertTrue(last.event("rping")["ok"], last.said)
        theirs.kill()

    def test_nobody_answers(self):
        self.needs_several_endpoints()
        peer = self.peer("ipv4")
        server = self.in_guest(f"rping -s -a {self.network.guest4}")
        self.listening(7174)
        with self.relay("drop:probability=1"):
            theirs = self.in_guest(f"rping -c -a {self.network.host4}")
            ours = self.gen("rping", *self.our_options("ipv4"), self.network.guest4)
            # 16 times 4.1 s, and the guest's 6.1 s at first.
            report = ours.event("rping", 120)
            result = theirs.wait(120)
        self.assertEqual((ours.wait(), report["ok"]), (1, False), report)
        self.assertIn("does not answer", report["error"])
        self.assertNotEqual(result.code, 0)
        self.assertIn("RDMA_CM_EVENT_UNREACHABLE", result.stdout + result.stderr)
        server.kill()
        peer.stop()
        self.assertEqual(peer.wait(), 0)
