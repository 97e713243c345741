#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""perftest, as Debian has it, over our libibverbs and librdmacm: a matrix of its options in which each two meet that can, and more. Both ends
of each run end well, and roce-analyze sees nothing wrong on the wire. judge.py has the usage."""

import itertools
import random
import re
import sys

from judge import HERE, judge, needs_word
from pairs import SERVER

sys.path.insert(0, str(HERE.parents[1] / "interop"))

from covering import covering

PACKAGES = {"ib_send_bw": "perftest", "tcpdump": "tcpdump", "ethtool": "ethtool"}
LARGE = 65536
RUNS = 120
FACTORS = {
    "test": ["write_bw RC", "write_bw UC", "write_lat RC", "write_lat UC", "send_bw RC", "send_bw UC", "send_bw UD", "send_lat RC",
             "send_lat UC", "send_lat UD", "read_bw RC", "read_lat RC", "atomic_bw RC", "atomic_lat RC"],
    "-s": [2, 100, 1023, 4096, LARGE, 1 << 20],
    "-m": [256, 512, 1024, 2048, 4096],
    "connect": ["", "-R", "-z"],
    "wait": ["", "-e"],
    "flow": ["", "-b", "--reversed"],
    "qps": ["", "-q 4"],
    "post": ["", "-l 32", "--use_old_post_send"],
    "queue": ["", "--use-srq"],
    "more": ["", "-I 0", "-I 64", "-A CMP_AND_SWAP", "--odp", "--mr_per_qp"],
}
# Options of later releases, and with which others they meet.
LATER = {"--write_with_imm": ["ib_write_bw -t 32 -m 1024 -s 100 -c RC", "ib_write_bw -t 32 -m 4096 -s 100 -c UC",
                              "ib_write_bw -t 32 -m 1024 -s 100 -c RC -R -l 32", "ib_write_bw -t 32 -m 256 -s 1023 -c RC -b -q 4",
                              "ib_write_bw -m 1024 -s 65536 -c RC --use_old_post_send", "ib_write_lat -m 512 -s 2 -c RC",
                              "ib_write_lat -m 2048 -s 4096 -c UC"],
         "--no_lock": ["ib_send_bw -t 32 -m 1024 -s 100 -c RC --use-srq -b", "ib_write_bw -t 32 -m 1024 -s 100 -c RC -q 4",
                       "ib_read_lat -m 1024 -s 100"]}


def is_possible(run):
    """Whether perftest takes these options together."""
    test, kind = run["test"].split()
    verb, measure = test.split("_")
    more = run["more"]
    if measure == "lat" and (run["flow"] or run["qps"] or run["post"] == "-l 32" or more == "--mr_per_qp"):
        return False
    if verb == "write" and run["wait"]:
        return False  # nobody waits for a completion
    # With a shared queue there are no more receives than messages of one queue pair: of UC and UD the others are lost, RC waits.
    if run["queue"] and (verb != "send" or run["qps"]):
        return False
    if verb in ("read", "atomic") and more.startswith("-I") or verb != "atomic" and more.startswith("-A"):
        return False
    if verb == "atomic" and run["-s"] != 2:
        return False  # its messages have 8 bytes
    if run["-s"] > LARGE and (run["qps"] or run["post"] == "-l 32"):
        return False  # too much for the capture
    # UC messages, which nobody sends again, have to fit into the buffer of a socket whose process gets no processor.
    if test == "send_bw" and kind == "UC" and run["-s"] >= LARGE:
        return False
    if kind == "UD" and run["-s"] > run["-m"] or kind == "UC" and run["connect"] == "-R":
        return False
    if run["flow"] == "--reversed" and run["connect"]:
        return False  # both ends wait for the other
    if more == "--odp" and (kind != "RC" or verb == "atomic"):
        return False
    return True


def words(run):
    """The command of one run."""
    test, kind = run["test"].split()
    # As many as -l 32 posts, and no more on their way than fit into the buffer of a socket.
    count = "8" if run["-s"] > LARGE else "32" if run["-s"] == LARGE or kind != "RC" else "128"
    command = [f"ib_{test}", "-F", "-n", count, "-u", "20", "-m", str(run["-m"])]
    if test.endswith("bw"):
        command += ["-t", "32"]
    if not test.startswith("atomic"):
        command += ["-s", str(run["-s"]), "-c", kind]
    for name in ("connect", "wait", "flow", "qps", "post", "queue", "more"):
        command += run[name].split()
    return command


def one(command, option=None):
    """The function that does a run, with an option that only later releases have."""

    def do(pairs):
        if option:
            needs_word(command[0], option)
        capture = pairs.capture(int(command[command.index("-m") + 1]) + 200)
        if "-R" in command or "-z" in command:
            pairs.connect_ends(command, [*command, SERVER])
        else:
            pairs.run_pair(*command)
        pairs.judge_wire(*capture)
    return do


# Beside the matrix, which XRC would change altogether.
XRC = [f"ib_{test} -F -n {count} -u 20 -m {mtu} {options} -c XRC" for test, count, mtu, options in (
    ("send_bw", 128, 1024, "-s 2 --use-srq -t 32"), ("send_bw", 128, 1024, "-s 4097 --use-srq -b -t 32"),
    ("send_bw", 32, 4096, "-s 65536 --use-srq -q 2 -t 32"), ("send_bw", 128, 256, "-s 1023 --use-srq -e -t 32"),
    ("send_lat", 128, 2048, "-s 100 --use-srq"), ("send_lat", 128, 2048, "-s 3000 --use-srq -I 0"),
    ("write_bw", 128, 1024, "-s 4096 -t 32"), ("write_bw", 128, 512, "-s 1023 -b -q 2 -t 32"), ("write_lat", 128, 2048, "-s 2 -I 64"),
    ("read_bw", 128, 1024, "-s 4096 -t 32"), ("read_lat", 128, 256, "-s 1023"), ("atomic_bw", 128, 1024, "-t 32"))]


# perftest takes up to 16 completions for an event, and waits for the next event with others in the CQ. Where nothing is acknowledged
# that ends now and then only.
UNSTEADY = re.compile(r"-c U[CD] .*-e -b -q 4")
CANNOT = {"ib_send_bw -F -n 32 -u 20 -m 2048 -t 32 -s 1023 -c UD -R -b --use_old_post_send --use-srq -I 64":
          "its server posts a receive to a queue pair that has a shared queue, which no device allows, and refuses the client"}


def runs():
    """By name, the functions that do the runs of the matrix: few in which each two settings meet, and others by chance, the same each
    time."""
    possible = [run for run in (dict(zip(FACTORS, levels)) for levels in itertools.product(*FACTORS.values())) if is_possible(run)]
    random.Random(1).shuffle(possible)
    commands = {" ".join(words(run)): run for run in (*covering(FACTORS, is_possible), *possible)}
    matrix = itertools.islice((name for name in commands if not UNSTEADY.search(name)), RUNS)
    named = {name: one(words(commands[name])) for name in matrix}
    named |= {command: lambda pairs, words=command.split(): pairs.judge(*words) for command in XRC}
    for option, others in LATER.items():
        for program, *options in map(str.split, others):
            command = [program, "-F", "-n", "32", "-u", "20", *options, option]
            named[" ".join(command)] = one(command, option)
    return named


if __name__ == "__main__":
    sys.exit(judge(__file__, PACKAGES, runs(), CANNOT))
