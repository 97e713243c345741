# SPDX-License-Identifier: BSD-2-Clause
"""roce-gen with an address of its own (--ip), in network namespaces joined by a wire; the kernel on the other side is the
oracle: it finds and pings the address.

usage: own_address_test.py ROCE_GEN [UNITTEST ARGUMENT...]
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

from live import WAIT, Namespaces, Program, enter_namespaces

# Three echo requests by the kernel's ping sockets, whose answers the kernel has checked.
PING = """
import socket, sys
ipv6 = ":" in sys.argv[1]
family, protocol, request, reply = ((socket.AF_INET6, socket.IPPROTO_ICMPV6, 128, 129) if ipv6 else
                                    (socket.AF_INET, socket.IPPROTO_ICMP, 8, 0))
with socket.socket(family, socket.SOCK_DGRAM, protocol) as pings:
    pings.settimeout(float(sys.argv[2]))
    for number in range(3):
        data = bytes(range(int(sys.argv[3])))
        pings.sendto(bytes([request, 0, 0, 0, 0, 0, 0, number]) + data, (sys.argv[1], 0))
        answer = pings.recv(2000)
        assert (answer[0], answer[7], answer[8:]) == (reply, number, data), answer
"""

WRONG_IN_TSHARK = ("_ws.malformed || ip.checksum.status == 0 || icmp.checksum.status == 0 || icmpv6.checksum.status == 0 || "
                   "igmp.checksum.status == 0 || _ws.expert.severity >= 0x600000")


class OwnWire(Namespaces):
    """Interface "v" in a and b, and nothing but the kernels' 10.9.0.1, fd09::1 in a; b has no address at all."""

    def __init__(self):
        super().__init__("ab")
        for name in "ab":
            self.write("/proc/sys/net/ipv6/conf/default/accept_dad", "0", name)
        self.join("a", "v", "b", "v")
        self.ip("b", "link", "set", "v", "addrgenmode", "none")
        self.ip("a", "address", "add", "10.9.0.1/24", "dev", "v")
        self.ip("a", "address", "add", "fd09::1/64", "dev", "v", "nodad")
        self.write("/proc/sys/net/ipv4/ping_group_range", "0 0", "a")
        for name in "ab":
            self.ip(name, "link", "set", "v", "up", "mtu", "9000")
        for name in "ab":
            self.wait_until_usable(name, "v")

    def write(self, path, text, name):
        subprocess.run(self.inside(name, "sh", "-c", f"echo {text} > {path}"), check=True)

    def mac(self, name):
        return json.loads(self.ip(name, "-j", "link", "show", "v"))[0]["address"]

    def neighbour(self, name, ip):
        """The MAC address that the kernel of a namespace knows of an address."""
        return [entry.get("lladdr") for entry in json.loads(self.ip(name, "-j", "neigh", "show", "to", ip))]

    def ping(self, name, ip, *, timeout=10, size=56):
        return subprocess.run(self.inside(name, sys.executable, "-c", PING, ip, str(timeout), str(size)), capture_output=True,
                              text=True, check=False, timeout=WAIT)


class OwnAddress(unittest.TestCase):
    """What the tests have in common; it has none itself."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="roce-gen-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.wire = OwnWire()
        self.addCleanup(self.wire.close)
        self.socket = os.path.join(self.folder, "control.sock")

    @contextlib.contextmanager
    def peer(self, name, *arguments):
        peer = Program(ROCE_GEN, self.wire, name, "peer", "-i", "v", "--control", self.socket, *arguments)
        try:
            yield peer
        finally:
            peer.end()

    def run_gen(self, name, *arguments):
        done = subprocess.run(self.wire.inside(name, ROCE_GEN, *arguments), capture_output=True, text=True, check=False,
                              timeout=WAIT)
        return done.returncode, done.stdout, done.stderr

    def exchange(self, name, *arguments):
        code, out, err = self.run_gen(name, *arguments[:1], "-i", "v", "--json", *arguments[1:], self.socket)
        self.assertEqual((code, err), (0, ""))
        result = json.loads(out.splitlines()[-1])
        self.assertTrue(result["ok"])
        return result

    def exchanges(self, name, *arguments):
        self.exchange(name, "send", "-n", "50", "-s", "1-16k", *arguments)
        self.exchange(name, "write", "-n", "50", "-s", "20000", *arguments)
        self.exchange(name, "read", "-n", "20", "-s", "5000", *arguments)

    def assert_refused(self, name, pattern, *arguments):
        code, _, err = self.run_gen(name, "write", "-i", "v", *arguments, self.socket)
        self.assertEqual(code, 2, err)
        self.assertRegex(err, pattern)
        self.assertEqual(err.count("\n"), 1, err)


class AmongHosts(OwnAddress):
    """The other end has an address of its host."""

    def test_the_kernel_finds_and_pings_it(self):
        for ip, prefix, other in (("10.9.0.77", 24, "10.9.0.78"), ("fd09::77", 64, "fd09::78")):
            path = os.path.join(self.folder, "own.pcapng")
            with self.subTest(ip=ip), self.peer("b", "--ip", f"{ip}/{prefix}", "--pcap", path) as peer:
                pinged = self.wire.ping("a", ip)
                self.assertEqual((pinged.returncode, pinged.stderr), (0, ""))
                self.assertEqual(self.wire.ping("a", ip, size=255).returncode, 0)
                self.assertEqual(self.wire.neighbour("a", ip), [self.wire.mac("b")])
                # It answers for nobody else.
                self.assertNotEqual(self.wire.ping("a", other, timeout=0.5).returncode, 0)
                self.assertEqual(peer.result(signal.SIGINT)[0], 0)
                self.assert_sound(path)

    def assert_sound(self, path):
        if shutil.which("tshark") is None:
            self.skipTest("there is no tshark")
        command = ["tshark", "-r", path, "-o", "ip.check_checksum:TRUE"]
        shown = subprocess.run([*command, "-Y", WRONG_IN_TSHARK], capture_output=True, text=True, check=True).stdout
        self.assertEqual(shown, "")
        pings = subprocess.run([*command, "-Y", "icmp.type == 0 || icmpv6.type == 129"], capture_output=True, text=True,
                               check=True).stdout
        self.assertEqual(len(pings.splitlines()), 6)

    def test_with_an_ordinary_endpoint(self):
        for ip, prefix, kernels in (("10.9.0.77", 24, "10.9.0.1"), ("fd09::77", 64, "fd09::1")):
            with self.subTest(own="peer", ip=ip), self.peer("b", "--ip", f"{ip}/{prefix}"):
                self.exchanges("a", "--address", kernels)
            with self.subTest(own="client", ip=ip), self.peer("a", "--address", kernels):
                self.exchanges("b", "--ip", f"{ip}/{prefix}")

    def test_with_the_sockets_of_the_kernel(self):
        with self.peer("b", "--ip", "10.9.0.77/24"):
            self.exchanges("a", "--link", "udp", "--address", "10.9.0.1")

    def test_an_address_that_is_in_use_is_refused(self):
        for ip, prefix in (("10.9.0.1", 24), ("fd09::1", 64)):
            self.assert_refused("b", f"the address {ip} is in use by another host, {self.wire.mac('a')}; ", "--ip",
                                f"{ip}/{prefix}")
            self.assert_refused("a", f"{ip} is an address of interface v, .*to share it, give it as the address", "--ip", f"{ip}/{prefix}")
        with self.peer("b", "--ip", "10.9.0.77/24"):
            self.assert_refused("a", f"10.9.0.77 is in use by another host, {self.wire.mac('b')}", "--ip", "10.9.0.77/24")
            self.assertEqual(self.wire.ping("a", "10.9.0.77").returncode, 0)

    def test_what_is_wrong_is_said(self):
        for pattern, *arguments in (
                ("the UDP link has the host's addresses only", "--ip", "10.9.0.77/24", "--link", "udp"),
                ("ip 10.9.0.77 is not an address with the prefix", "--ip", "10.9.0.77"),
                ("ip 10.9.0.77/33 is not an address with the prefix", "--ip", "10.9.0.77/33"),
                ("ip x/24 is not an address with the prefix", "--ip", "x/24"),
                ("not the address of a single host", "--ip", "10.9.0.255/24"),
                ("the gateway 10.8.0.1 is no other host of that network", "--ip", "10.9.0.77/24", "--gateway", "10.8.0.1"),
                ("gateway x is not an IP address", "--ip", "10.9.0.77/24", "--gateway", "x")):
            with self.subTest(arguments=arguments):
                self.assert_refused("b", pattern, *arguments)
        for arguments in (("--ip", "10.9.0.77/24", "--address", "10.9.0.1"), ("--gateway", "10.9.0.1")):
            code, _, err = self.run_gen("b", "write", "-i", "v", *arguments, self.socket)
            self.assertEqual(code, 2, err)
            self.assertRegex(err, "excludes|requires")
        # Without the right to open packet sockets.
        done = subprocess.run(self.wire.inside("b", "setpriv", "--bounding-set", "-net_raw", "--inh-caps", "-net_raw", ROCE_GEN,
                                               "write", "-i", "v", "--ip", "10.9.0.77/24", self.socket),
                              capture_output=True, text=True, check=False, timeout=WAIT)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertRegex(done.stderr, r"an address of its own \(ip\) needs the raw link, and that is not possible: .*not permitted")

    def test_through_a_gateway(self):
        """The kernel in a is a router to 10.8.0.0/24, where the kernel of c is."""
        far = Namespaces("c")
        self.addCleanup(far.close)
        self.wire.holders["c"] = far.holders["c"]
        self.addCleanup(lambda: self.wire.holders.pop("c", None))
        self.wire.join("a", "w", "c", "v")
        self.wire.ip("a", "address", "add", "10.8.0.1/24", "dev", "w")
        self.wire.ip("c", "address", "add", "10.8.0.2/24", "dev", "v")
        for name, interface in (("a", "w"), ("c", "v")):
            self.wire.ip(name, "link", "set", interface, "up", "mtu", "9000")
        self.wire.ip("c", "route", "add", "default", "via", "10.8.0.1")
        self.wire.write("/proc/sys/net/ipv4/ip_forward", "1", "a")
        self.wire.write("/proc/sys/net/ipv4/ping_group_range", "0 0", "c")
        for name, interface in (("a", "w"), ("c", "v")):
            self.wire.wait_until_usable(name, interface)
        with self.peer("b", "--ip", "10.9.0.77/24", "--gateway", "10.9.0.1"):
            self.assertEqual(self.wire.ping("c", "10.9.0.77").returncode, 0)
            self.exchanges("c", "--address", "10.8.0.2")
        with self.peer("c", "--address", "10.8.0.2"):
            self.exchanges("b", "--ip", "10.9.0.77/24", "--gateway", "10.9.0.1")
            for pattern, *gateway in (("10.8.0.2: it is not in our network 10.9.0.77/24; give a gateway",),
                                      ("10.9.0.9, the gateway to 10.8.0.2, does not answer", "--gateway", "10.9.0.9")):
                code, _, err = self.run_gen("b", "write", "-i", "v", "--json", "--ip", "10.9.0.77/24", *gateway, self.socket)
                self.assertEqual(code, 1, err)
                self.assertRegex(err, pattern)
                self.assertEqual(err.count("\n"), 1, err)


class AmongItself(OwnAddress):
    """The other end has an address of its own too, or they share an interface."""

    def test_between_two(self):
        for ip, prefix, other in (("10.9.0.77", 24, "10.9.0.78"), ("fd09::77", 64, "fd09::78")):
            for version in ([], ["--v1"]):
                with self.subTest(ip=ip, version=version), self.peer("b", "--ip", f"{ip}/{prefix}", *version):
                    self.exchanges("a", "--ip", f"{other}/{prefix}", *version)

    def test_every_operation_in_a_vlan_that_no_kernel_knows(self):
        for mtu in ("1500", "9000"):
            for name in "ab":
                self.wire.ip(name, "link", "set", "v", "mtu", mtu)
            with self.subTest(mtu=mtu), self.peer("b", "--ip", "10.7.0.77/24", "--vlan", "5"):
                self.exchanges("a", "--ip", "10.7.0.78/24", "--vlan", "5")
                for operation in (("atomic", "-n", "50"), ("atomic", "--operation", "compare_swap", "-n", "50"),
                                  ("flush", "-s", "3000", "-n", "50"), ("ud", "-s", "1,255,1024", "-n", "50", "-t", "4")):
                    self.exchange("a", *operation, "--ip", "10.7.0.78/24", "--vlan", "5")

    def test_nobody_answers_in_another_vlan(self):
        with self.peer("b", "--ip", "10.7.0.77/24", "--vlan", "5"):
            code, _, err = self.run_gen("a", "write", "-i", "v", "--ip", "10.7.0.78/24", "--vlan", "6", self.socket)
            self.assertEqual(code, 1, err)
            self.assertRegex(err, "10.7.0.77")

    def test_two_on_one_interface_do_not_disturb_each_other(self):
        other = Program(ROCE_GEN, self.wire, "b", "peer", "-i", "v", "-p", "18516", "--ip", "10.9.0.78/24", "--control",
                        os.path.join(self.folder, "other.sock"))
        self.addCleanup(other.end)
        with self.peer("b", "--ip", "10.9.0.77/24"):
            for ip in ("10.9.0.77", "10.9.0.78"):
                self.assertEqual(self.wire.ping("a", ip).returncode, 0)
            self.exchanges("a", "--address", "10.9.0.1")


if __name__ == "__main__":
    enter_namespaces()
    ROCE_GEN = os.path.abspath(sys.argv[1])
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
