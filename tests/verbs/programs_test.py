# SPDX-License-Identifier: BSD-2-Clause
"""Programs of others, as their packages have them, over our libibverbs and librdmacm: two processes at two loopback addresses.

usage: programs_test.py ROCE_RUN LIBRARY_FOLDER ROCE_ANALYZE [UNITTEST ARGUMENT...]

All happens in a network namespace of the test's own, in a user namespace, so that it needs no privilege; prints why and exits
with 77 where that is forbidden. The traffic of each pair of programs is captured and judged.
"""

import os
import re
import signal
import socket
import subprocess
import sys
import time
import unittest

from pairs import CLIENT, ENVIRONMENT, PORT, REFUSED, SERVER, WAIT, Pairs, enter_namespaces_of_a_user

OTHER = "127.0.0.4"
QPERF_PORT = 19765
FABRIC_PORT = 47592


def process_of(program, *arguments):
    """The process of this network namespace that runs a program with these first arguments."""
    words = [word.encode() for word in arguments]
    here = os.readlink("/proc/self/ns/net")
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{number}/cmdline", "rb") as file:
                path, *found = file.read().split(b"\0")
            if os.path.basename(path.decode()) == program and found[:len(words)] == words and os.readlink(f"/proc/{number}/ns/net") == here:
                return int(number)
        except OSError:
            continue  # it has ended, or is somebody else's
    raise AssertionError(f"no {program} {arguments} runs here")


class ProgramsTest(Pairs):
    def test_lists_the_device(self):
        process = self.start(SERVER, "ibv_devinfo", "-v")
        shown, _ = process.communicate(timeout=WAIT)
        self.assertEqual(process.returncode, 0, shown)
        self.assertIn("roce_lo", shown)
        self.assertIn("PORT_ACTIVE", shown)
        self.assertIn(f"::ffff:{SERVER}", shown)

    def test_shows_no_device_where_there_is_no_interface(self):
        run = subprocess.run(["unshare", "--net", self.roce_run, "ls", "/sys/class/infiniband"], capture_output=True, text=True, check=False,
                             env=ENVIRONMENT)
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "", ""))

    def test_puts_the_library_before_others(self):
        process = self.start(SERVER, "env")
        shown, _ = process.communicate(timeout=WAIT)
        self.assertRegex(shown, rf"(?m)^LD_LIBRARY_PATH={re.escape(LIBRARY_FOLDER)}(:|$)")

    def test_says_why_there_is_no_device(self):
        process = self.start("127.0.0.9", "env", "ROCE_VERBS_ADDRESS=192.0.2.1", "ibv_devinfo")
        shown, _ = process.communicate(timeout=WAIT)
        self.assertIn("roce-verbs: ROCE_VERBS_ADDRESS: no interface of this machine that is up has the address 192.0.2.1", shown)

    def test_says_that_the_port_is_taken(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
            other.bind((OTHER, 4791))
            process = self.start("127.0.0.9", "env", f"ROCE_VERBS_ADDRESS={OTHER}", "ibv_rc_pingpong", "-g", "0")
            shown, _ = process.communicate(timeout=WAIT)
        self.assertEqual(process.returncode, 1, shown)
        self.assertIn(f"roce-verbs: cannot receive RoCE at {OTHER} (UDP port 4791): the port is taken", shown)

    def test_rc_pingpong(self):
        self.assertIn("200 iters", self.judge("ibv_rc_pingpong", "-g", "0", "-c", "-n", "200"))

    def test_rc_pingpong_with_events(self):
        self.assertIn("100 iters", self.run_pair("ibv_rc_pingpong", "-g", "0", "-e", "-n", "100"))

    def test_ud_pingpong(self):
        self.assertIn("100 iters", self.judge("ibv_ud_pingpong", "-g", "0", "-n", "100"))

    def test_uc_and_srq_pingpong(self):
        self.assertIn("100 iters", self.run_pair("ibv_uc_pingpong", "-g", "0", "-e", "-n", "100"))
        self.assertIn("100 iters", self.run_pair("ibv_srq_pingpong", "-g", "0", "-e", "-n", "100"))

    def counters(self, address, *names):
        """What some counters of the device at an address are now, in their folder ports/1."""
        files = [f"/sys/class/infiniband/roce_lo/ports/1/{name}" for name in names]
        process = self.start(address, "cat", *files)
        shown, _ = process.communicate(timeout=WAIT)
        self.assertEqual(process.returncode, 0, shown)
        return [int(line) for line in shown.splitlines()]

    def test_counts_what_is_on_the_wire(self):
        names = ("hw_counters/rx_write_requests", "hw_counters/sent_pkts", "counters/port_xmit_packets", "counters/port_rcv_packets",
                 "counters/port_rcv_data", "counters/link_downed")
        before = self.counters(SERVER, *names)
        tcpdump, path = self.capture()
        self.run_pair("ib_write_bw", "-F", "-n", "30", "-s", "10000", "-u", "20")
        self.end(tcpdump, path)
        # The programs have ended, and others have begun.
        added = [now - then for now, then in zip(self.counters(SERVER, *names), before)]
        shown = subprocess.run(["tcpdump", "-r", path, "-n", "-q", "udp port 4791"], capture_output=True, text=True, check=True).stdout
        sent = [line for line in shown.splitlines() if f"IP {SERVER}." in line]
        lengths = [int(line.rsplit(" ", 1)[1]) for line in shown.splitlines() if f"> {SERVER}.4791" in line]
        self.assertEqual(added, [30, len(sent), len(sent), len(lengths), sum(lengths) // 4, 0])
        self.assertGreater(len(sent), 0)

    def test_xrc(self):
        # Its server sends before the client's target is ready, and so once more: what is on the wire is not judged.
        self.assertIn("success", self.run_pair("ibv_xsrq_pingpong", "-g", "0", "-e", "-n", "100"))

    def test_perftest(self):
        # A process of a busy machine may stand still for longer than perftest's own ACK timeout of 67 ms; this one is of 4 s.
        patient = ("-u", "20")
        self.assertRegex(self.judge("ib_write_bw", "-n", "200", *patient), r"\n 65536 +200 ")
        self.assertRegex(self.judge("ib_read_bw", "-n", "100", "-q", "2", *patient), r"\n 65536 +200 ")
        self.assertRegex(self.run_pair("ib_send_lat", "-n", "100", "-e"), r"\n 2 +100 ")
        self.assertRegex(self.run_pair("ib_atomic_lat", "-n", "100"), r"\n 8 +100 ")

    def test_both_at_one_address(self):
        shown = self.judge("ib_write_bw", "-n", "200", "-u", "20", client_address=SERVER)
        self.assertRegex(shown, r"\n 65536 +200 ")
        shown = self.judge("ibv_rc_pingpong", "-g", "0", "-c", "-n", "200", client_address=SERVER)
        self.assertIn("200 iters", shown)

    def test_many_at_one_address(self):
        ports = range(PORT + 1, PORT + 9)
        pairs = []
        for port in ports:
            program = ["ib_send_bw", "-n", "200", "-s", "4096", "-u", "20", "-p", str(port)]
            server = self.start(SERVER, *program)
            self.wait_for(port, server)
            pairs.append((server, self.start(SERVER, *program, SERVER)))
        for server, client in pairs:
            shown, _ = client.communicate(timeout=WAIT)
            answer, _ = server.communicate(timeout=WAIT)
            self.assertEqual((client.returncode, server.returncode), (0, 0), shown + answer)
            self.assertRegex(shown, r"\n 4096 +200 ")

    def test_one_that_is_killed_harms_no_other(self):
        program = ["ib_send_bw", "-n", "100000000", "-s", "64", "-u", "20", "-p", str(PORT + 1)]
        doomed = self.start(SERVER, *program)
        self.wait_for(PORT + 1, doomed)
        partner = self.start(SERVER, *program, SERVER)
        self.assertRegex(self.run_pair("ib_write_bw", "-n", "500", "-u", "20", client_address=SERVER), r"\n 65536 +500 ")
        doomed.kill()
        self.assertRegex(self.run_pair("ib_write_bw", "-n", "500", "-u", "20", client_address=SERVER), r"\n 65536 +500 ")
        partner.kill()
        doomed.communicate(timeout=WAIT)

    def test_ends_with_the_daemon(self):
        server = self.start(OTHER, "ibv_rc_pingpong", "-g", "0", "-n", "100000000")
        self.wait_for(PORT, server)
        os.kill(process_of("roce-portd", "--address", OTHER), signal.SIGKILL)
        for line in server.stdout:
            if "roce-portd, which held UDP port 4791 for this program, has ended" in line:
                break
        else:
            self.fail("nothing was said of the daemon's end")
        server.kill()

    def test_takes_the_whole_port_if_asked_to(self):
        inside = {"ROCE_VERBS_PORTD": "inside"}
        server = self.start("127.0.0.5", "ibv_rc_pingpong", "-g", "0", "-n", "100", **inside)
        self.wait_for(PORT, server)
        refused = self.start("127.0.0.5", "true", **inside)
        shown, _ = refused.communicate(timeout=WAIT)
        self.assertEqual(refused.returncode, 2, shown)
        self.assertIn("the port is taken", shown)
        client = self.start("127.0.0.6", "ibv_rc_pingpong", "-g", "0", "-n", "100", "127.0.0.5", **inside)
        shown, _ = client.communicate(timeout=WAIT)
        self.assertIn("100 iters", shown)
        server.communicate(timeout=WAIT)

    def test_rping(self):
        server = self.start(SERVER, "rping", "-s", "-P", "-a", SERVER)
        client = ["rping", "-c", "-a", SERVER, "-C", "20", "-V", "-S", "5000"]
        self.ask_until_served(server, client)
        tcpdump, path = self.capture()
        self.ask_until_served(server, client)
        self.end(tcpdump, path)
        summary = subprocess.run([self.roce_analyze, "summary", path], capture_output=True, text=True, check=True).stdout
        self.assertIn("\nnothing wrong seen\n", summary)
        messages = subprocess.run([self.roce_analyze, "decode", path], capture_output=True, text=True, check=True).stdout
        kinds = re.findall(r"  CM (\w+)  ", messages)
        self.assertEqual(kinds[:3], ["REQ", "REP", "RTU"])
        # Both sides may end it at the same time.
        self.assertEqual(set(kinds[3:]), {"DREQ", "DREP"})

    def test_connections(self):
        # With one connection, a client that came too early has left nothing at the server.
        both = ("-C", "100", "-S", "3000")
        shown, answer = self.connect_ends(["ucmatose", "-b", SERVER, *both], ["ucmatose", "-s", SERVER, "-b", CLIENT, *both])
        self.assertIn("return status 0", shown)
        self.assertIn("return status 0", answer)
        self.connect_ends(["rdma_server"], ["rdma_client", "-s", SERVER], SERVER)
        self.assertRegex(self.connect_ends(["ib_write_bw", "-R", "-n", "200", "-u", "20"],
                                           ["ib_write_bw", "-R", "-n", "200", "-u", "20", SERVER])[0], r"\n 65536 +200 ")

    def test_many_connections(self):
        server = self.start(SERVER, "rping", "-s", "-P", "-a", SERVER)
        client = ["rping", "-c", "-a", SERVER, "-C", "50", "-V"]
        self.ask_until_served(server, client)
        # One after the other: rping's server mixes up two that come at once.
        for address in (SERVER, CLIENT, OTHER, CLIENT):
            process = self.start(address, *client)
            shown, _ = process.communicate(timeout=WAIT)
            self.assertEqual(process.returncode, 0, shown)

    def test_datagram_services(self):
        shown, answer = self.connect_ends(["udaddy", "-b", SERVER], ["udaddy", "-s", SERVER, "-b", CLIENT])
        self.assertIn("return status 0", shown)
        self.assertIn("return status 0", answer)

    def test_multicast(self):
        group = "239.1.2.3"
        capture = self.capture()
        # Two at one address, and one at another.
        members = [self.start(address, "stdbuf", "-oL", "mckey", "-m", group, "-b", address) for address in (SERVER, SERVER, CLIENT)]
        for member in members:
            self.until_said(member, "joined dgid")
        shown, _ = self.start(CLIENT, "mckey", "-m", group, "-b", CLIENT, "-s").communicate(timeout=WAIT)
        self.assertIn("return status 0", shown)
        for member in members:
            shown, _ = member.communicate(timeout=WAIT)
            self.assertEqual(member.returncode, 0, shown)
        self.judge_wire(*capture)

    def test_refuses_connections_where_no_program_uses_rdma_cm(self):
        # Its roce-portd outlives the test, and keeps the port of its address from others.
        address = "127.0.0.8"
        server = self.start(address, "ibv_rc_pingpong", "-g", "0", "-n", "1")
        self.wait_for(PORT, server)
        client = self.start(CLIENT, "rping", "-c", "-a", address, "-C", "1")
        shown, _ = client.communicate(timeout=WAIT)
        self.assertIn("REJECTED", shown)
        server.kill()

    def test_one_listener_a_port(self):
        server = self.start(SERVER, "rping", "-s", "-P", "-a", SERVER)
        client = ["rping", "-c", "-a", SERVER, "-C", "1"]
        self.ask_until_served(server, client)
        other = self.start(SERVER, "rping", "-s", "-a", SERVER)
        shown, _ = other.communicate(timeout=WAIT)
        self.assertIn("Address already in use", shown)
        # The port is free again as soon as who listened is gone, however it went.
        server.kill()
        server.wait(WAIT)
        self.ask_until_served(self.start(SERVER, "rping", "-s", "-P", "-a", SERVER), client)

    def test_ends_connections_of_one_that_is_killed(self):
        for doomed_is_server in (True, False):
            server = self.start(SERVER, "rping", "-s", "-P" if doomed_is_server else "-v", "-a", SERVER)
            probe = ["rping", "-c", "-v", "-a", SERVER, "-C", "100000000"]
            end = time.monotonic() + WAIT
            while True:
                client = self.start(CLIENT, *probe)
                first = client.stdout.readline()
                if "ping data" in first:
                    break
                self.assertRegex(first + client.communicate(timeout=WAIT)[0], REFUSED)
                self.assertLess(time.monotonic(), end)
            doomed, other = (server, client) if doomed_is_server else (client, server)
            doomed.kill()
            shown, _ = other.communicate(timeout=WAIT)
            self.assertIn("DISCONNECT EVENT", shown)

    def test_tells_programs_of_the_managers_end(self):
        server = self.start(OTHER, "rping", "-s", "-P", "-a", OTHER)
        self.ask_until_served(server, ["rping", "-c", "-a", OTHER, "-C", "1"])
        os.kill(process_of("roce-portd", "--address", OTHER), signal.SIGKILL)
        for line in server.stdout:
            if "roce-portd, which managed the connections of this program, has ended" in line:
                break
        else:
            self.fail("nothing was said of the manager's end")
        server.kill()

    def test_ucx(self):
        ucx = {"UCX_TLS": "rc_verbs,ud_verbs,self", "UCX_NET_DEVICES": "roce_lo:1"}
        devices, _ = self.start(SERVER, "ucx_info", "-d", **ucx).communicate(timeout=WAIT)
        self.assertIn("Transport: rc_verbs", devices)
        self.assertIn("Transport: ud_verbs", devices)
        program = ["ucx_perftest", "-p", str(PORT)]
        # Where it is built with MPI, it takes part in that unless told not to.
        if "MPI mode" in subprocess.run(["ucx_perftest", "-h"], capture_output=True, text=True, check=False).stdout:
            program += ["-P", "0"]
        for name in ("tag_lat", "ucp_put_lat", "ucp_get", "ucp_fadd"):
            shown = self.run_ends(program, [*program, "127.0.0.1", "-t", name, "-n", "300", "-w", "10"], **ucx)
            self.assertRegex(shown, r"Final: +300 ", name)

    def test_libfabric(self):
        # It does not look at the loopback interface.
        for command in ("link add fa type veth peer name fb", "address add 10.90.0.1/24 dev fa", "address add 10.90.0.2/24 dev fa",
                        "link set fb up", "link set fa up"):
            subprocess.run(["ip", *command.split()], check=True)
        self.addCleanup(subprocess.run, ["ip", "link", "del", "fa"], check=True)
        for kind in ("msg", "rdm", "dgram"):
            self.run_libfabric(kind)

    def run_libfabric(self, kind):
        program = ["fi_pingpong", "-p", "verbs", "-e", kind, "-I", "20", "-c"]
        server = self.start("10.90.0.1", *program)
        self.wait_for(FABRIC_PORT, server)
        client = self.start("10.90.0.2", *program, "10.90.0.1")
        shown, _ = client.communicate(timeout=WAIT)
        answer, _ = server.communicate(timeout=WAIT)
        self.assertEqual((client.returncode, server.returncode), (0, 0), f"{kind} {shown} {answer}")
        for size in ("1k",) if kind == "dgram" else ("1k", "1m"):
            self.assertRegex(shown, rf"\n{size} +20 +=20 ", kind)

    def test_one_that_tells_its_port_before_it_listens(self):
        server = self.start(SERVER, "qperf")
        self.wait_for(QPERF_PORT, server)
        tests = ["rc_lat", "rc_bi_bw", "rc_rdma_write_bw", "rc_rdma_read_bw", "ver_rc_compare_swap", "ver_rc_fetch_add"]
        client = self.start(CLIENT, "qperf", "-cm", "1", "-t", "1", SERVER, *tests)
        shown, _ = client.communicate(timeout=WAIT)
        self.assertEqual(client.returncode, 0, shown)
        for name in tests:
            self.assertRegex(shown, rf"\b{name}:\n +(latency|bw|msg_rate) +=", name)
        server.kill()
        server.wait(WAIT)


if __name__ == "__main__":
    enter_namespaces_of_a_user()
    Pairs.roce_run, LIBRARY_FOLDER, Pairs.roce_analyze = sys.argv.pop(1), sys.argv.pop(1), sys.argv.pop(1)
    unittest.main()
