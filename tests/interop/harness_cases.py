# SPDX-License-Identifier: BSD-2-Clause
"""Shows that the guest, its verbs and the network are what the other cases take them for. None of our programs is in it."""

import contextlib
import signal
import socket
import threading

from guest import GuestError
from network import ROCE_PORT
from stage import Case


class GuestCases(Case):
    def test_rxe_is_active(self):
        self.assertIn("link rxe0/1 state ACTIVE", self.guest.check("/usr/bin/rdma link show"))
        self.assertIn("PORT_ACTIVE", self.guest.check("ibv_devinfo -d rxe0"))
        self.assertEqual(self.guest.gid_index(self.network.guest4), 1)
        self.assertEqual(self.guest.gid_index(self.network.guest6), 2)

    def test_path_mtu_follows_the_mtu(self):
        self.addCleanup(self.guest.set_mtu, self.guest.mtu)
        for mtu, path_mtu in ((1500, 1024), (9000, 4096)):
            self.guest.set_mtu(mtu)
            self.assertIn(f"active_mtu: {path_mtu}", " ".join(self.guest.check("ibv_devinfo -d rxe0").split()))

    def test_commands(self):
        self.assertEqual(self.guest.run("echo out; echo err >&2; exit 3"), (3, "out\n", "err\n"))
        self.assertEqual(self.guest.run("kill -TERM $$").code, 128 + signal.SIGTERM)
        self.assertEqual(self.guest.run(["printf", "%s", "a b;'c'"]).stdout, "a b;'c'")
        data = bytes(range(256)) * 1000
        self.guest.put(data, "/tmp/with space")
        self.assertEqual(self.guest.get("/tmp/with space"), data)

    def test_commands_run_at_the_same_time(self):
        self.guest.check("mkfifo /tmp/pipe")
        waiting = self.in_guest("cat /tmp/pipe")
        self.guest.check("echo through >/tmp/pipe")
        self.assertEqual(waiting.wait().stdout, "through\n")

    def test_a_command_that_hangs_is_an_error_and_ends(self):
        with self.assertRaisesRegex(GuestError, r"(?s)`echo begun; .*did not end within 1 s.*begun.*console"):
            self.guest.run("echo begun; sleep 1000", timeout=1)
        self.assertEqual(self.guest.run("ps | grep '[s]leep 1000'").stdout, "")

    def test_a_server_that_does_not_listen_is_an_error(self):
        with self.assertRaisesRegex(GuestError, r"(?s)ended before it listened on TCP port 18515.*No such device|not found"):
            self.in_guest("ibv_rc_pingpong -d nothing0; echo not found").wait_listening(18515)

    def test_rc_pingpong_within_the_guest(self):
        server = self.in_guest("ibv_rc_pingpong -d rxe0 -g 1 -c -n 50 -s 4096")
        server.wait_listening(18515)
        with self.counted() as rose:
            client = self.guest.run("ibv_rc_pingpong -d rxe0 -g 1 -c -n 50 -s 4096 127.0.0.1")
            self.assertEqual((client.code, server.wait().code), (0, 0), client)
        self.assertGreaterEqual(rose["sent_pkts"], 2 * 50 * 4)
        self.assertEqual(rose["retry_exceeded_err"], 0)


class NetworkCases(Case):
    def ping(self, address, count=1):
        return self.guest.run(["ping", "-c", str(count), "-W", "1", address]).code == 0

    def test_cable(self):
        self.assertTrue(self.ping(self.network.host4))
        self.assertTrue(self.ping(self.network.host6))

    def test_bump_carries_only_what_is_carried(self):
        with self.network.bump():
            self.assertFalse(self.ping(self.network.host4))
            with self.carrying() as carried:
                self.assertTrue(self.ping(self.network.host4))
                self.assertTrue(self.ping(self.network.host6))
            self.assertGreaterEqual(len(carried), 4)
            self.assertFalse(self.ping(self.network.host4))
        self.assertTrue(self.ping(self.network.host4))

    @contextlib.contextmanager
    def carrying(self):
        """Carries frames across the cut; gives the list of those."""
        def open_sockets():
            sockets = []
            for interface in self.network.wire_interfaces:
                packet = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
                packet.bind((interface, 3))
                packet.settimeout(0.05)
                sockets.append(packet)
            return sockets
        ends, over, carried = self.network.wire.call(open_sockets), threading.Event(), []

        def carry(source, target):
            while not over.is_set():
                with contextlib.suppress(TimeoutError):
                    frame, (_, _, kind, *_) = source.recvfrom(1 << 16)
                    if kind != socket.PACKET_OUTGOING:
                        carried.append(frame)
                        target.send(frame)
        threads = [threading.Thread(target=carry, args=pair) for pair in (ends, ends[::-1])]
        for thread in threads:
            thread.start()
        try:
            yield carried
        finally:
            over.set()
            for thread in threads:
                thread.join()
            for end in ends:
                end.close()

    def test_held_port_keeps_the_kernel_silent(self):
        # A connected UDP socket gets the ICMP error as an error of its next call.
        probe = ("import socket,sys; s = socket.socket(%s, socket.SOCK_DGRAM); s.settimeout(1); s.connect(('%s', %d)); "
                 "s.send(b'x'); s.recv(1)")
        for family, address in (("socket.AF_INET", self.network.host4), ("socket.AF_INET6", self.network.host6)):
            with self.subTest(address):
                command = ["python3", "-c", probe % (family, address, ROCE_PORT)]
                self.assertIn("ConnectionRefused", self.guest.run(command).stderr)
                with self.network.port_held():
                    self.assertIn("TimeoutError", self.guest.run(command).stderr)
