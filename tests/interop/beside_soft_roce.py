#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Two guests on a bridge: perftest over Soft-RoCE, and the same two guests with our endpoint in its place, in turn.

usage: ROCE_GEN=FILE [ROCE_RUN=FILE] beside_soft_roce.py [--rounds N] [--mtu BYTES] [--loss PERCENT] [--json]

Both ends of a run are of one kind. While ours runs rxe0 is taken away, since it would look at each packet too. With --loss a
`roce-gen relay` is in the bridge's place, which loses so many packets of RoCE each way; latencies are left out, and our endpoint
runs twice more: with the profile of Soft-RoCE, and with all that it has against losses. With ROCE_RUN the same programs of perftest run
once more over the verbs library, if nothing is lost. Prints the median of the rounds and the ratios of the medians to Soft-RoCE's.
Emulated guests say nothing of speeds on hardware: what counts is the ratio. roce-gen should be built for release.
"""

import argparse
import contextlib
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

# pylint: disable=wrong-import-position
import guest
import network

PORT = 18515
OURS = "/ours"
# Program, bytes, iterations and what is read of it.
BANDWIDTHS = (("write_bw", 65536, 400), ("send_bw", 65536, 400), ("read_bw", 65536, 400))
LATENCIES = (("send_lat", 2, 500), ("write_lat", 2, 500))
SOFT_ROCE = "Soft-RoCE"
ROCE_RUN = "roce-run"
# Options of our endpoint, by the name of the column. Those after the first are measured only where packets are lost, where the
# window makes much of the difference: the profile has Soft-RoCE's 128 PSNs.
OURS_BY_KIND = {"roce-gen": (), "profile rxe": ("--profile", "rxe"), "with recovery": ("--recovery", "all,window_bytes=131072")}


class Seat:
    """What a Guest needs to know of a network: its own cable of several."""

    def __init__(self, whole, number):
        self.tap, self.guest_mac = f"tap{number}", f"52:54:00:77:00:{number + 1:02x}"
        self.guest4, self.length4 = f"10.77.0.{number + 1}", 24
        self.guest6, self.length6 = f"fd77::{number + 1}", 64
        self.command_at_tap = whole.command


@contextlib.contextmanager
def two_seats(mtu, bridged):
    """A namespace with the taps of two guests, on a bridge or not; gives it and the seats."""
    network.remove_stale()
    namespace = network.Namespace("bridge")
    namespace.create()
    try:
        namespace.set("ipv6/conf/default/disable_ipv6", 1)
        seats = [Seat(namespace, 1), Seat(namespace, 2)]
        for seat in seats:
            namespace.ip("tuntap", "add", "dev", seat.tap, "mode", "tap")
            # Or each burst that is longer than a queue of the kernel's default would be a loss of the bridge.
            namespace.ip("link", "set", seat.tap, "txqueuelen", "10000", "mtu", str(mtu), "up")
        if bridged:
            namespace.ip("link", "add", "bridge", "type", "bridge", "mcast_snooping", "0")
            for seat in seats:
                namespace.ip("link", "set", seat.tap, "master", "bridge")
            namespace.ip("link", "set", "bridge", "mtu", str(mtu), "up")
        yield namespace, seats
    finally:
        namespace.delete()


@contextlib.contextmanager
def relay(namespace, seats, percent):
    """Carries everything between the two taps within the block, but for a share of the packets of RoCE."""
    words = [os.environ["ROCE_GEN"], "relay", "--json", "-i", seats[0].tap, "-o", seats[1].tap, "-e",
             f"drop:probability={percent / 100}"]
    program = namespace.popen(words, stdout=subprocess.PIPE)
    if not program.stdout.readline():
        raise guest.GuestError("roce-gen relay did not start")
    yield
    program.terminate()
    with program.stdout:
        for line in program.stdout:
            print(f"relay: {line.strip()}", file=sys.stderr)


def initramfs_with(programs, folder):
    """The guest's initramfs with programs, by their paths in OURS, and the shared libraries that they need. Returns its path in `folder`."""
    root = os.path.join(folder, "root")
    parts = dict(programs)
    for program in programs.values():
        said = subprocess.run(["ldd", program], stdout=subprocess.PIPE, text=True, check=True).stdout
        parts.update((os.path.basename(path), path) for path in re.findall(r"(/\S+) \(0x", said))
    names = []
    for part, path in parts.items():
        name = f"{OURS[1:]}/{part}"
        names += [above for above in folders_above(name) if above not in names] + [name]
        os.makedirs(os.path.dirname(os.path.join(root, name)), exist_ok=True)
        # Debugging information is most of a program.
        subprocess.run(["strip", "-o", os.path.join(root, name), path], check=True)
    archive = subprocess.run(["cpio", "--create", "--format=newc", "--quiet", "--owner=+0:+0"], cwd=root, stdout=subprocess.PIPE,
                             input="\n".join(names).encode(), check=True).stdout
    result = os.path.join(folder, "initramfs")
    with open(result, "wb") as file, open(os.path.join(guest.built_guest(), "initramfs"), "rb") as first:
        # The kernel unpacks one archive after the other.
        file.write(first.read() + archive)
    return result


def folders_above(path):
    """The folders in which a relative path lies, the outermost first."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]


def verbs_library(roce_run):
    """roce-run and what it needs beside it, by their paths in OURS."""
    library = os.path.join(os.path.dirname(roce_run), "..", "lib", "roce", "verbs")
    return {"bin/roce-run": roce_run, **{f"lib/roce/verbs/{name}": os.path.join(library, name) for name in
                                         ("libibverbs.so.1", "librdmacm.so.1", "libroce-paths.so", "roce-portd")}}


def soft_roce(machine, present):
    """Takes rxe0 away with its module, which holds UDP port 4791, or puts it back and waits for its GIDs."""
    if present:
        machine.check("insmod /modules/rdma_rxe.ko && "
                      "/usr/bin/rdma link add rxe0 type rxe netdev eth0 && until grep -q ACTIVE "
                      "/sys/class/infiniband/rxe0/ports/1/state && [ -c /dev/infiniband/uverbs0 ] && "
                      "[ $(grep -hv '^0000:0000:0000:0000:0000:0000:0000:0000' /sys/class/infiniband/rxe0/ports/1/gids/* | wc -l) -ge 3 ]; "
                      "do usleep 20000; done")
    else:
        machine.check("/usr/bin/rdma link delete rxe0 && rmmod rdma_rxe")


def measure_perftest(client, server, program, size, iterations, path_mtu, over=None):
    """perftest at both ends, on rxe0 or over `over`, the command that runs a program at an address."""
    device = "rxe0 -x 1" if over is None else "roce_eth0"
    words = f"ib_{program} -d {device} -F -n {iterations} -s {size} -m {path_mtu}"

    def at(machine):
        return words if over is None else f"{over} --address {machine.network.guest4} {words}"
    listening = server.popen(at(server))
    listening.wait_listening(PORT)
    said = client.run(f"{at(client)} {server.network.guest4}", 300)
    ended = listening.wait(60)
    if said.code or ended.code:
        raise guest.GuestError(f"{words}: {said}\n{ended}")
    row = next(line.split() for line in said.stdout.splitlines() if re.match(rf"\s*{size}\s+{iterations}\s", line))
    # Of bandwidths the average in MB (2^20) a second, of latencies the typical one in us.
    return float(row[3] if program.endswith("bw") else row[4])


def measure_ours(client, server, program, size, iterations, path_mtu, more):
    run = f"LD_LIBRARY_PATH={OURS} {OURS}/roce-gen"
    options = " ".join(["-i eth0 --json --link raw", *more])
    listening = server.popen(f"{run} peer {options} --once --control /tmp/sock --perftest {program} --perftest-size {size} "
                             f"--perftest-iters {iterations} --perftest-mtu {path_mtu}")
    listening.wait_listening(PORT)
    said = client.run(f"{run} perftest {options} -s {size} -n {iterations} -m {path_mtu} {program} {server.network.guest4}", 300)
    ended = listening.wait(60)
    if said.code or ended.code:
        raise guest.GuestError(f"roce-gen perftest {program}: {said}\n{ended}")
    report = json.loads(said.stdout.splitlines()[-1])
    return report["mib_per_second"] if program.endswith("bw") else report["latency_us"]["typical"]


def figures_of(machines, options, path_mtu):
    """The figures of all rounds by program and size, then by kind."""
    kinds = [SOFT_ROCE, *(kind for kind, more in OURS_BY_KIND.items() if options.loss or not more)]
    if "ROCE_RUN" in os.environ and not options.loss:
        kinds.append(ROCE_RUN)
    measured = BANDWIDTHS if options.loss else BANDWIDTHS + LATENCIES
    figures = {}
    present = True
    for number in range(options.rounds):
        for kind in kinds:
            if present != (kind == SOFT_ROCE):
                present = not present
                for machine in machines:
                    soft_roce(machine, present)
            for case in measured:
                if present:
                    value = measure_perftest(*machines, *case, path_mtu)
                elif kind == ROCE_RUN:
                    # roce-portd is started without LD_LIBRARY_PATH, by which alone it would find its libraries here.
                    value = measure_perftest(*machines, *case, path_mtu, f"ROCE_VERBS_PORTD=inside LD_LIBRARY_PATH={OURS} {OURS}/bin/roce-run")
                else:
                    value = measure_ours(*machines, *case, path_mtu, OURS_BY_KIND[kind])
                figures.setdefault(case[:2], {}).setdefault(kind, []).append(value)
                print(f"round {number + 1} {kind} {case[0]} {case[1]}: {value:.2f}", file=sys.stderr, flush=True)
    return figures


def print_table(rows, kinds, title):
    columns = [f"{kind:>13}" for kind in kinds]
    print(f"{'program':<10} {'bytes':>7} {' '.join(columns)} {'':5} ratios   ({title})")
    for row in rows:
        values = " ".join(f"{row[kind]:>13.2f}" for kind in kinds)
        ratios = " ".join(f"{row[kind] / row[SOFT_ROCE]:>6.2f}" for kind in kinds[1:])
        print(f"{row['program']:<10} {row['bytes']:>7} {values} {row['unit']:<5} {ratios}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--mtu", type=int, default=9000, help="of the network: 1500 gives path MTU 1024, 9000 gives 4096")
    parser.add_argument("--loss", type=float, default=0, metavar="PERCENT", help="of the packets, each way")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    guest.on_signals_exit()
    path_mtu = 4096 if options.mtu >= 4200 else 1024
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        programs = {"roce-gen": os.environ["ROCE_GEN"]}
        if "ROCE_RUN" in os.environ:
            programs |= verbs_library(os.environ["ROCE_RUN"])
        initramfs = initramfs_with(programs, folder)
        namespace, seats = stack.enter_context(two_seats(options.mtu, not options.loss))
        machines = [stack.enter_context(guest.Guest(seat, mtu=options.mtu, initramfs=initramfs)) for seat in seats]
        if options.loss:
            stack.enter_context(relay(namespace, seats, options.loss))
        figures = figures_of(machines, options, path_mtu)
    rows = [{"program": program, "bytes": size, "unit": "MiB/s" if program.endswith("bw") else "us",
             **{kind: statistics.median(values) for kind, values in kinds.items()}} for (program, size), kinds in figures.items()]
    if options.json:
        print(json.dumps({"path_mtu": path_mtu, "accelerator": machines[0].accelerator, "rounds": options.rounds,
                          "loss_percent": options.loss, "rows": rows}))
        return
    kinds = [kind for kind in (SOFT_ROCE, *OURS_BY_KIND, ROCE_RUN) if kind in rows[0]]
    print_table(rows, kinds, f"path MTU {path_mtu}, {options.loss:g} % loss, {machines[0].accelerator}")


if __name__ == "__main__":
    try:
        main()
    except guest.Ended as ended_by:
        sys.exit(ended_by.args[0])
