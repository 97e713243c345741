# SPDX-License-Identifier: BSD-2-Clause
"""`scripts/bench --verbs`: programs of others over our libibverbs, in turn with what the machine does without RDMA.

Each round runs the reference and what is compared with it one after the other, between two processes without privilege on this
machine. The median of the rounds' ratios counts. docs/benchmarks.md says what the rows mean.
"""

import collections
import contextlib
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import time

TOP = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TOP / "tests" / "verbs"), str(TOP / "tests" / "gen")]

from live import ENVIRONMENT, INSIDE
from pairs import CLIENT, PORT, SERVER, enter_namespaces_of_a_user, is_listening

PACKAGES = {"ib_send_bw": "perftest", "iperf3": "iperf3", "ucx_perftest": "ucx-utils"}
SECONDS = 60  # for a program
IPERF_PORT = 5201
BULK = 65536

# `unit`: of both figures; `target`: what the ratio should be at least, or at most for a time; None where there is none.
Row = collections.namedtuple("Row", "what unit ours reference target at_most", defaults=(None, False))


class Failed(Exception):
    """A program did not do what it was run for."""


@contextlib.contextmanager
def started(command, **environment):
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               env={**ENVIRONMENT, **environment})
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_for(port, server):
    end = time.monotonic() + SECONDS
    while not is_listening(port):
        if server.poll() is not None:
            raise Failed(f"{' '.join(map(str, server.args))} ended before it listened:\n{server.communicate()[0]}")
        if time.monotonic() > end:
            raise Failed(f"{' '.join(map(str, server.args))} does not listen")
        time.sleep(0.001)


def said_by(server_command, client_command, port, **environment):
    """Runs a server, and a client to its end; returns what the client printed."""
    with started(server_command, **environment) as server:
        wait_for(port, server)
        with started(client_command, **environment) as client:
            try:
                said, _ = client.communicate(timeout=SECONDS)
            except subprocess.TimeoutExpired:
                raise Failed(f"{' '.join(map(str, client.args))} took more than {SECONDS} s") from None
            if client.returncode != 0:
                raise Failed(f"{' '.join(map(str, client.args))} failed:\n{said}")
            return said


def found(pattern, said):
    match = re.search(pattern, said)
    if match is None:
        raise Failed(f"no {pattern!r} in what a program printed:\n{said}")
    return match


class Rig:
    """The programs, each as a function that runs it once and returns a figure."""

    def __init__(self, build, iterations):
        self.roce_run = os.path.join(build, "verbs/run/roce-run")
        self.udp_round_trip = os.path.join(build, "tests/bench/bare_udp_round_trip")
        self.iterations = iterations

    def perftest(self, *words):
        """The last line of perftest's table, as numbers."""
        command = [self.roce_run, "--address", SERVER, *words, "-F", "-p", str(PORT)]
        said = said_by(command, [self.roce_run, "--address", CLIENT, *command[3:], SERVER], PORT)
        return [float(word) for word in found(r"(?m)^ \d+ +\d+ +[\d.]+ [\d.\s]*$", said)[0].split()]

    def gigabits(self, program, *more):
        return self.perftest(program, "-s", str(BULK), "-n", str(self.iterations), "--report_gbits", *more)[3]

    def messages(self, program, *more):
        """Millions a second."""
        lists = 5 * self.iterations // 32
        return self.perftest(program, "-s", "8", "-n", str(32 * lists), *more)[4]

    def latency(self, program, *more):
        """The typical time and the mean, in us."""
        shown = self.perftest(program, "-s", "2", "-n", "2000", *more)
        return shown[4], shown[5]

    def tcp(self):
        said = said_by(["iperf3", "-s", "-1", "-p", str(IPERF_PORT)],
                       ["iperf3", "-c", "127.0.0.1", "-p", str(IPERF_PORT), "-t", "1", "-J"], IPERF_PORT)
        return json.loads(said)["end"]["sum_received"]["bits_per_second"] / 1e9

    def udp_latency(self, how):
        """Half a round trip of datagrams between two processes that `spin` or `wait`, in us."""
        done = subprocess.run([self.udp_round_trip, how], capture_output=True, text=True, check=False, timeout=SECONDS)
        if done.returncode != 0:
            raise Failed(f"{self.udp_round_trip} failed:\n{done.stderr}")
        return float(done.stdout)

    def ucx(self, **environment):
        """Put bandwidth, MB/s."""
        run = [self.roce_run, "--address", SERVER] if "roce" in environment["UCX_NET_DEVICES"] else []
        program = [*run, "ucx_perftest", "-p", str(PORT), *self.without_mpi()]
        said = said_by(program, [*program, "127.0.0.1", "-t", "ucp_put_bw", "-s", str(BULK), "-n", str(self.iterations // 2)], PORT,
                       **environment)
        return float(found(r"Final:(?: +[\d.]+)+", said)[0].split()[6])

    @staticmethod
    def without_mpi():
        shown = subprocess.run(["ucx_perftest", "-h"], capture_output=True, text=True, check=False).stdout
        return ["-P", "0"] if "MPI mode" in shown else []

    def idle_percent(self):
        """The processor that a program with a queue pair takes while it waits, with its roce-portd."""
        with started([self.roce_run, "--address", SERVER, "ibv_rc_pingpong", "-g", "0", "-e", "-p", str(PORT)]) as server:
            wait_for(PORT, server)
            family = [server.pid, *(int(pid) for pid in os.listdir("/proc") if pid.isdigit() and is_portd(pid))]
            before, begin = sum(map(nanoseconds_of, family)), time.monotonic_ns()
            time.sleep(5)
            return 100 * (sum(map(nanoseconds_of, family)) - before) / (time.monotonic_ns() - begin)


def is_portd(pid):
    """Whether a process is the roce-portd of SERVER in this network."""
    process = pathlib.Path("/proc") / pid
    try:
        words = (process / "cmdline").read_bytes().split(b"\0")
        return (words[0].endswith(b"/roce-portd") and SERVER.encode() in words and
                os.readlink(process / "ns" / "net") == os.readlink("/proc/self/ns/net"))
    except OSError:
        return False


def nanoseconds_of(pid):
    """The processor time of all threads of a process so far."""
    return sum(int((task / "schedstat").read_text(encoding="ascii").split()[0]) for task in pathlib.Path(f"/proc/{pid}/task").iterdir())


def rows(rig):
    roce = {"UCX_TLS": "rc_verbs,ud_verbs,self", "UCX_NET_DEVICES": "roce_lo:1"}
    tcp = {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "lo"}
    return [
        Row("ib_send_bw, 64 KiB : one TCP stream of iperf3", "Gbit/s", lambda: rig.gigabits("ib_send_bw"), rig.tcp, 1.8),
        Row("ib_write_bw, 64 KiB : the same", "Gbit/s", lambda: rig.gigabits("ib_write_bw"), rig.tcp, 1.6),
        Row("ib_read_bw, 64 KiB : the same", "Gbit/s", lambda: rig.gigabits("ib_read_bw"), rig.tcp, 1.6),
        Row("ib_send_lat, 2 B, typical : half a UDP round trip that spins", "us", lambda: rig.latency("ib_send_lat")[0],
            lambda: rig.udp_latency("spin"), 3, True),
        Row("ib_write_lat, 2 B, typical : the same", "us", lambda: rig.latency("ib_write_lat")[0],
            lambda: rig.udp_latency("spin"), None, True),
        Row("ib_send_lat -e, 2 B, typical : half a UDP round trip that waits", "us", lambda: rig.latency("ib_send_lat", "-e")[0],
            lambda: rig.udp_latency("wait"), 2, True),
        Row("ib_write_lat, 2 B, mean : typical", "us", *mean_and_typical(rig), 1.3, True),
        Row("ib_write_bw, 8 B, one request a call", "M/s", lambda: rig.messages("ib_write_bw"), None, 1.5),
        Row("ib_write_bw, 8 B, 32 requests a call", "M/s", lambda: rig.messages("ib_write_bw", "-l", "32"), None),
        Row("ucx_perftest ucp_put_bw, 64 KiB : UCX over TCP", "MB/s", lambda: rig.ucx(**roce), lambda: rig.ucx(**tcp), 3),
        Row("an idle program with a queue pair, and roce-portd", "%", rig.idle_percent, None, 0.1, True),
    ]


def mean_and_typical(rig):
    """Two functions, of which the second belongs to the run of the first."""
    last = []

    def mean():
        last[:] = rig.latency("ib_write_lat")
        return last[1]
    return mean, lambda: last[0]


def measured(row, rounds):
    """The result of the rounds: medians, the ratio or ours, whether that is enough, and the slowest round beside the median."""
    ours, references = [], []
    for _ in range(rounds):
        ours.append(row.ours())
        references.append(row.reference() if row.reference else None)
    figure = statistics.median(one / other if other else one for one, other in zip(ours, references))
    enough = None if row.target is None else figure <= row.target if row.at_most else figure >= row.target
    median = statistics.median(ours)
    slowest = 1.0 if not median else max(ours) / median if row.unit in ("us", "%") else median / min(ours)
    return {"what": row.what, "unit": row.unit, "ours": median, "reference": statistics.median(references) if row.reference else None,
            "figure": figure, "target": row.target, "at_most": row.at_most, "enough": enough, "slowest": slowest}


def target_of(one):
    return "" if one["target"] is None else f"{'≤' if one['at_most'] else '≥'} {one['target']:g}"


def plain(one):
    """A line of the table."""
    reference = "" if one["reference"] is None else f"{one['reference']:.2f}"
    verdict = {True: "pass", False: "fail", None: ""}[one["enough"]]
    return (f"{one['what']:<62} {one['ours']:9.2f} {reference:>9} {one['unit']:<6} {one['figure']:8.2f}  {target_of(one):<6} "
            f"{one['slowest']:4.1f}x  {verdict}").rstrip()


def markdown(results):
    lines = ["| What is compared | ours | reference | ratio or figure | target | slowest round | |", "|---|---:|---:|---:|---:|---:|---|"]
    for one in results:
        reference = "" if one["reference"] is None else f"{one['reference']:.2f} {one['unit']}"
        verdict = {True: "pass", False: "**fail**", None: ""}[one["enough"]]
        lines.append(f"| {one['what']} | {one['ours']:.2f} {one['unit']} | {reference} | {one['figure']:.2f} | {target_of(one)} | "
                     f"{one['slowest']:.1f} × | {verdict} |")
    return "\n".join(lines) + "\n"


def is_inside():
    """Whether this is the script that `enter` has started."""
    return INSIDE in os.environ


def enter():
    """Starts the script again in namespaces of its own, as a user; returns there."""
    missing = sorted({package for program, package in PACKAGES.items() if shutil.which(program) is None})
    if missing:
        sys.exit(f"bench: {', '.join(missing)} missing (`scripts/setup bench` installs what is needed)")
    enter_namespaces_of_a_user()
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


def measure(build, rounds, quick, only):
    """Measures a build folder's rows whose names `only` finds, and prints each; returns their results."""
    results = []
    for row in rows(Rig(build, 2000 if quick else 10000)):
        if not only.search(row.what):
            continue
        try:
            results.append(measured(row, rounds))
        except Failed as failed:
            print(f"bench: {row.what}: {failed}", file=sys.stderr, flush=True)
            continue
        print(plain(results[-1]), flush=True)
    return results
