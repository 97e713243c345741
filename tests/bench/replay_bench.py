# SPDX-License-Identifier: BSD-2-Clause
"""roce-replay send beside tcpreplay and bare loops, in turn on the same veth pair.

usage: replay_bench.py BUILD [--rounds N] [--markdown]

BUILD is a build with benchmarks. Needs root of the host, and tcpreplay (scripts/setup bench). Top speed is counted in frames
per second of processor time, so that a neighbour on the processor moves it less; a ratio is the median of the rounds'
ratios.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "gen"))
from live import Namespaces, enter_network_of_the_host  # noqa: E402

FRAMES = 50_000
LOOPS = 20
SLOWER = 0.005  # the capture has a frame every microsecond
PACED = 15_000
TRIES = 10


class Bench:
    def __init__(self, build, folder):
        self.replay = os.path.join(build, "replay", "roce-replay")
        self.bare = os.path.join(build, "tests", "bench", "bare_replay")
        self.capture = self.make(build, folder, "traffic.pcap", FRAMES)
        self.short = self.make(build, folder, "short.pcap", PACED)
        self.space = Namespaces("ab")
        self.space.join("a", "v", "b", "v")
        for name in "ab":
            self.space.ip(name, "link", "set", "v", "addrgenmode", "none")
            self.space.ip(name, "link", "set", "v", "up", "mtu", "4200")
        for name in "ab":
            self.space.wait_until_usable(name, "v")

    def make(self, build, folder, name, frames):
        path = os.path.join(folder, name)
        subprocess.run([os.path.join(build, "tests", "bench", "make_bench_capture"), path, str(frames), "1024"], check=True,
                       stdout=subprocess.DEVNULL)
        return path

    def run(self, *command):
        """Runs it in namespace a; its processor time in seconds."""
        process = subprocess.Popen(self.space.inside("a", *command), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        said = process.stdout.read()
        process.stdout.close()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise RuntimeError(f"{command}: {said}")
        return usage.ru_utime + usage.ru_stime

    def top_speeds(self):
        ours = [self.replay, "send", self.capture, "-i", "v", "--topspeed", "--loops", str(LOOPS)]
        return {
            "tcpreplay": ["tcpreplay", "-q", "-i", "v", "--topspeed", "--preload-pcap", "--loop", str(LOOPS), self.capture],
            "bare AF_XDP": [self.bare, "xdp", "v", self.capture, str(LOOPS)],
            "bare sendmmsg": [self.bare, "mmsg", "v", self.capture, str(LOOPS)],
            "send --link xdp": [*ours, "--keep-psn", "--link", "xdp"],
            "send --link raw": [*ours, "--keep-psn"],
            "send --link xdp, PSNs moved": [*ours, "--link", "xdp"],
            "send --link xdp --stream": [*ours, "--keep-psn", "--link", "xdp", "--stream"],
        }

    def speed(self, command):
        """Frames per second of processor time."""
        return FRAMES * LOOPS / self.run(*command)

    def paces(self):
        return {
            "tcpreplay": ["tcpreplay", "-q", "-i", "v", "--multiplier", str(SLOWER), "--preload-pcap", self.short],
            "bare spin": [self.bare, "spin", "v", self.short, str(SLOWER)],
            "send": [self.replay, "send", self.short, "-i", "v", "--speed", str(SLOWER)],
        }

    def pace(self, command):
        """Median error of the gaps in nanoseconds and drift of the whole, as the other end sees them. Once more where the meter
        was kept from its ring for so long that frames were lost."""
        for _ in range(TRIES):
            seen = self.try_pace(command)
            if len(seen) == 2:
                return seen
        raise RuntimeError("frames were lost again and again: this machine is too busy")

    def try_pace(self, command):
        meter = subprocess.Popen(self.space.inside("b", self.bare, "gaps", "v", self.short, str(SLOWER)), stdout=subprocess.PIPE,
                                 text=True)
        try:
            meter.stdout.readline()
            self.run(*command)
            return [float(word) for word in meter.stdout.readline().split()]
        finally:
            meter.kill()
            meter.wait()
            meter.stdout.close()


def medians(rounds):
    return {name: statistics.median(entry[name] for entry in rounds) for name in rounds[0]}


def ratio(rounds, ours, other):
    return statistics.median(entry[ours] / entry[other] for entry in rounds)


def verdict(value, least=None, most=None):
    if least is None and most is None:
        return "-"
    word = "met" if (least is None or value >= least) and (most is None or value <= most) else "NOT MET"
    return f"{f'>= {least}' if most is None else f'<= {most}'} {word}"


def rows_of(speeds, paces):
    speed = medians(speeds)
    for ours, other, least in (("send --link xdp", "tcpreplay", 1.35), ("send --link xdp", "bare AF_XDP", 0.9),
                               ("send --link raw", "tcpreplay", None), ("send --link raw", "bare sendmmsg", None),
                               ("send --link xdp, PSNs moved", "send --link xdp", 0.7),
                               ("send --link xdp --stream", "send --link xdp", None)):
        value = ratio(speeds, ours, other)
        yield (f"{ours} : {other}", f"{speed[ours] / 1e6:.2f} M/s", f"{speed[other] / 1e6:.2f} M/s", f"{value:.2f}",
               verdict(value, least=least))
    errors = [{name: pace[0] for name, pace in entry.items()} for entry in paces]
    error = medians(errors)
    for other, most in (("bare spin", 2), ("tcpreplay", None)):
        value = ratio(errors, "send", other)
        yield (f"gap error, send : {other}", f"{error['send']:.0f} ns", f"{error[other]:.0f} ns", f"{value:.2f}",
               verdict(value, most=most))
    drift = medians([{name: abs(pace[1]) * 100 for name, pace in entry.items()} for entry in paces])
    yield ("drift of the whole, send : tcpreplay", f"{drift['send']:.4f} %", f"{drift['tcpreplay']:.4f} %", "",
           verdict(drift["send"], most=0.1))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("build")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    enter_network_of_the_host()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(os.path.abspath(options.build), folder)
        try:
            speeds = [{name: bench.speed(command) for name, command in bench.top_speeds().items()} for _ in range(options.rounds)]
            paces = [{name: bench.pace(command) for name, command in bench.paces().items()} for _ in range(options.rounds)]
        finally:
            bench.space.close()
    if options.markdown:
        print("| | ours | other | ratio | target |\n|---|---|---|---|---|")
    for row in rows_of(speeds, paces):
        print(f"| {' | '.join(row)} |" if options.markdown else "   ".join(row))


if __name__ == "__main__":
    main()
