# SPDX-License-Identifier: BSD-2-Clause
"""Linux's NVMe host and target over Soft-RoCE in two guests: `roce-analyze nvme` says of each command what the host's kernel
traced, without and with losses on the way."""

import contextlib
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import unittest

import beside_soft_roce
import guest

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.append(os.path.join(HERE, "..", "dissector", "analyze", "commands"))

# pylint: disable=wrong-import-position
import nvme_test
from turns import everything

PORT = 4420
# The target's device takes so long for each command. Emulated kernels take some ms for theirs, which only the tracepoints see.
SERVICE_MS = 200
PATIENCE = 30
ABORTED_BY_HOST = 0x371  # type and code, as Linux has them
# A MAD of the communication manager that is a DREP; the group is its transaction, so that one that is sent again counts once.
DREP = re.compile(rb"\x01\x07\x02\x03.{4}(.{8})\x00\x16", re.DOTALL)
DREP_BYTES = 18
TARGET_SETUP = """
set -e
mount -t configfs none /sys/kernel/config
cd /sys/kernel/config/nvmet
mkdir subsystems/test && echo 1 >subsystems/test/attr_allow_any_host
mkdir subsystems/test/namespaces/1
echo /dev/nullb0 >subsystems/test/namespaces/1/device_path && echo 1 >subsystems/test/namespaces/1/enable
mkdir ports/1 && cd ports/1
echo rdma >addr_trtype && echo ipv4 >addr_adrfam && echo {address} >addr_traddr && echo {port} >addr_trsvcid
ln -s /sys/kernel/config/nvmet/subsystems/test subsystems/test
"""
HOST_SETUP = """
set -e
mount -t tracefs none /sys/kernel/tracing
echo 4096 >/sys/kernel/tracing/buffer_size_kb
for event in nvme_setup_cmd nvme_complete_rq; do echo 1 >/sys/kernel/tracing/events/nvme/$event/enable; done
echo 'transport=rdma,traddr={address},trsvcid={port},nqn=test,nr_io_queues=1,queue_size=16,keep_alive_tmo=10' >/dev/nvme-fabrics
until [ -b /dev/nvme0n1 ]; do usleep 20000; done
"""
# Reads, writes in capsules and writes from the host's memory, one after the other and four at a time.
TRAFFIC = r"""
import mmap, os, threading
disk = os.open("/dev/nvme0n1", os.O_RDWR | os.O_DIRECT)
def work(place, count):
    for number in range(count):
        for size in (4096, 65536):
            memory = mmap.mmap(-1, size)
            os.pwritev(disk, [memory], place)
            os.preadv(disk, [memory], place)
work(0, 5)
threads = [threading.Thread(target=work, args=(1 << 20 << number, 3)) for number in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
os.fsync(disk)
"""


def copy(stream, capture, have_ended):
    """Writes what comes to a file. Sets the event once both connections were answered that they end."""
    ended, rest = set(), b""
    with stream, open(capture, "wb", buffering=0) as file:
        while some := stream.read1():
            file.write(some)
            rest = rest[1 - DREP_BYTES:] + some
            ended.update(DREP.findall(rest))
            if len(ended) >= 2:
                have_ended.set()


def load_modules(machine, options=""):
    """Loads the modules of NVMe; `options` are those of null_blk."""
    machine.check("while read -r module; do case $module in null_blk.ko) continue;; esac; insmod /modules/$module || exit 1; "
                  f"done </modules/nvme && insmod /modules/null_blk.ko {options}", 60)


@unittest.skipUnless(os.environ.get("ROCE_GEN") and os.environ.get("ROCE_ANALYZE"), "needs ROCE_GEN and ROCE_ANALYZE")
class NvmeCases(unittest.TestCase):
    """Has two guests of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def record(self, loss):
        """Runs the traffic with a share of the packets lost each way. Returns the capture at the host's port and the trace."""
        with contextlib.ExitStack() as stack:
            return self.record_in(stack, loss)

    def record_in(self, stack, loss):
        namespace, seats = stack.enter_context(beside_soft_roce.two_seats(1500, not loss))
        target, host = [stack.enter_context(guest.Guest(seat)) for seat in seats]
        if loss:
            stack.enter_context(beside_soft_roce.relay(namespace, seats, loss))
        capture = os.path.join(self.folder, "nvme.pcap")
        tcpdump = namespace.popen(["tcpdump", "-i", seats[1].tap, "-U", "--immediate-mode", "-B", "65536", "-w", "-", "udp", "port", "4791"],
                                  text=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertIn(b"listening", tcpdump.stderr.readline())
        have_ended = threading.Event()
        copying = threading.Thread(target=copy, args=(tcpdump.stdout, capture, have_ended), daemon=True)
        copying.start()
        load_modules(target, f"irqmode=2 completion_nsec={SERVICE_MS * 1_000_000} queue_mode=2 nr_devices=1 gb=1 bs=512")
        load_modules(host, "nr_devices=0")
        target.check(TARGET_SETUP.format(address=seats[0].guest4, port=PORT))
        host.check(HOST_SETUP.format(address=seats[0].guest4, port=PORT), 120)
        host.put(TRAFFIC.encode(), "/tmp/traffic.py", 0o644)
        host.check("python3 -S /tmp/traffic.py", 300)
        host.check("echo 1 >/sys/class/nvme/nvme0/delete_controller", 60)
        trace = os.path.join(self.folder, "trace.txt")
        with open(trace, "wb") as file:
            file.write(host.get("/sys/kernel/tracing/trace"))
        self.assertTrue(have_ended.wait(PATIENCE), "the connections did not end")
        tcpdump.terminate()
        tcpdump.wait()
        copying.join()
        tcpdump.stderr.close()
        if os.environ.get("ROCE_NVME_KEEP"):
            shutil.copytree(self.folder, os.environ["ROCE_NVME_KEEP"], dirs_exist_ok=True)
        return capture, trace

    def recorded(self, loss):
        """As `record`, with the commands that were traced. Linux's Soft-RoCE may stop for good after a loss, and the host then
        aborts its commands and begins anew: that is recorded once more."""
        for _ in range(4):
            capture, trace = self.record(loss)
            traced, _ = nvme_test.traced_commands(trace)
            if all(status != ABORTED_BY_HOST for *_, status in traced):
                return capture, traced
        return self.fail("the host aborted commands each time")

    def compare(self, loss):
        capture, traced = self.recorded(loss)
        said = subprocess.run([os.environ["ROCE_ANALYZE"], "nvme", "--json", "--top", "100000", capture], capture_output=True,
                              text=True, check=False)
        self.assertEqual(said.returncode, 0, said.stderr)
        lines = [json.loads(line) for line in said.stdout.splitlines()]
        commands = sorted((line for line in lines if "command_id" in line), key=lambda line: line["start"])
        # The order of two commands under way at once may be another one on the wire than where it is traced.
        def of_queue(rows, queue):
            return sorted(row[1:] for row in rows if row[0] == queue)
        ours = [(one["queue"], one["command_id"], one["name"], one["status"]["type"] << 8 | one["status"]["code"])
                for one in commands if one["end"] == "answered"]
        theirs = [(queue, number, name, status) for _, _, queue, number, name, _, status in traced]
        for queue in (0, 1):
            self.assertEqual(of_queue(ours, queue), of_queue(theirs, queue))
        for name in ("Read", "Write"):
            pairs = [(one["latency_ns"] / 1e9, end - start, one["resent"]) for one, (start, end, *_) in self.pairs(commands, traced, name)]
            # Linux ends a command once its response has come and its capsule is acknowledged. If only that ACK was lost, an ACK
            # timeout of two seconds lies between them.
            pairs = [pair for pair in pairs if not (pair[2] > 0 and pair[1] - pair[0] > 1)]
            wire, kernel = sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)
            said = f"{name}: {wire:.3f} s on the wire, {kernel:.3f} s by the kernel"
            self.assertLessEqual(wire, kernel, said)
            self.assertGreater(wire, 0.95 * kernel, said)
            self.assertGreater(statistics.median(pair[0] / pair[1] for pair in pairs), 0.95, name)
            self.assertGreater(len(pairs), 20, name)
        (io,) = [line for line in lines if "operations" in line and line["queue"] == 1]
        self.assertEqual((io["size"], io["unanswered"], io["missed"]), (16, 0, 0))
        self.assertGreaterEqual(io["depth"]["most"], 4)
        if loss:
            self.assertGreater(io["resent"], 0)
        else:
            self.assertEqual((io["delays"]["loss"], io["delays"]["receiver"]), (0, 0))

    @staticmethod
    def pairs(commands, traced, name):
        """Each command with what the kernel traced of it. Identifiers are used again, one after the other."""
        def in_order(rows, identifier, begin):
            return sorted(rows, key=lambda row: (identifier(row), begin(row)))
        ours = in_order([one for one in commands if one["name"] == name and one["queue"] == 1],
                        lambda one: one["command_id"], lambda one: one["start"])
        theirs = in_order([row for row in traced if row[4] == name and row[2] == 1], lambda row: row[3], lambda row: row[0])
        return zip(ours, theirs, strict=True)

    def test_as_the_kernel_traces_it(self):
        self.compare(0)

    @unittest.skipUnless(everything(), "only with ROCE_INTEROP_ALL")
    def test_as_the_kernel_traces_it_with_losses(self):
        self.compare(0.5)
