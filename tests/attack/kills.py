#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Programs that are killed, or whose disk is full, while they write; captures that vanish while they are read; outputs that are
inputs. Afterwards each input is what it was, and under an output's name is the old file, a whole one, or nothing."""

import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time

import bounded
import capture_file
import hostile_files
from capture_file import Record
from part import Part, main

from live import Program, RelayedWire, Wire, enter_namespaces

SHORT = 60
LONG = 1500
COPIES = 60  # of the packets in the capture that is worked on
OLD = b"what stood here before\n"
PATIENCE = 30  # seconds
REFUSED_WITHIN = 2  # seconds, for a program that runs on if it is not
WRITERS = {
    "rewrite": "replay rewrite --unmapped keep -q IN OUT.pcap",
    "rewrite gz": "replay rewrite --unmapped keep -q IN OUT.pcapng.gz",
    "rewrite mtu": "replay rewrite --unmapped keep -q --path-mtu 256 IN OUT.pcapng.zst",
    "send -w": "replay send IN -w OUT.pcap --topspeed",
    "send -w loops": "replay send IN -w OUT.pcapng --loops 3",
    "annotate": "analyze annotate IN OUT.pcapng",
    "annotate zst": "analyze annotate IN OUT.pcapng.zst",
    "extract": "analyze extract -Y bth.psn>0 -o OUT.pcapng IN",
    "extract gz": "analyze extract --stream 0 -o OUT.pcapng.gz IN",
    "carry": "analyze events --carry OUT.state IN",
    "craft": "gen craft -w OUT.pcapng -n 60000 bth.psn=+1 payload_length=512",
}
# What is written again and again while it grows, under its own name: it is cut by kill -9, and whole after any other end.
READERS = ("analyze summary IN", "analyze decode IN", "analyze events IN", "analyze messages --json IN", "analyze streams --threads 3 IN",
           "analyze annotate IN OUT.pcapng", "analyze extract -Y bth.psn>0 -o OUT.pcapng IN", "analyze join IN OTHER",
           "analyze counters IN", "analyze timeline IN", "replay info IN", "replay rewrite --unmapped keep -q IN OUT.pcap",
           "replay rewrite --unmapped keep -q --path-mtu 256 IN OUT.pcap", "replay send IN -w OUT.pcap --topspeed",
           "replay send IN -w OUT.pcap --stream", "replay converse --dry-run IN")
SILENT = ("analyze summary IN", "analyze decode IN", "analyze streams --json IN", "analyze messages --csv IN", "analyze streams IN",
          "analyze latency IN", "analyze timeline IN", "analyze counters IN", "analyze join IN OTHER", "analyze rules",
          "analyze --help", "analyze --version", "analyze decode --help", "replay info IN", "replay info --json IN",
          "replay rewrite --unmapped keep --dry-run --json IN", "replay converse --dry-run IN", "replay converse --dry-run --details IN",
          "replay send IN -w OUT.pcap", "replay --help", "replay --version", "gen --help", "gen --version", "gen craft --help",
          "gen craft --dry-run opcode=RC_SEND_ONLY", "gen craft --list opcode=RC_SEND_ONLY", "gen craft -w - -n 100 payload_length=1000",
          "gen craft -w OUT.pcap -n 3")


class Files:
    """The part's captures, and how a command line names them."""

    def __init__(self, part):
        self.part = part
        records = hostile_files.records()
        times = [Record(record.seconds + i, record.fraction, record.data, record.original)
                 for i in range(COPIES) for record in records]
        self.big = part.folder / "big.pcap"
        self.big.write_bytes(capture_file.pcap(times))
        self.big_bytes = self.big.read_bytes()
        self.small = part.folder / "small.pcap"
        self.small.write_bytes(capture_file.pcap(records))
        self.small_bytes = self.small.read_bytes()
        self.out = part.folder / "out"
        self.out.mkdir()

    def line(self, text, capture, folder=None):
        words = text.split(" ")
        out = (folder or self.out) / "out"
        swap = {"IN": str(capture), "OTHER": str(self.small)}
        line = [f"{out}{word[3:]}" if word.startswith("OUT.") else swap.get(word, word) for word in words[1:]]
        return [getattr(self.part, words[0]), *line]

    @staticmethod
    def output(text, folder):
        return next((folder / f"out{word[3:]}" for word in text.split(" ") if word.startswith("OUT.")), None)

    def check_inputs(self, what, line):
        for path, content in ((self.big, self.big_bytes), (self.small, self.small_bytes)):
            if not path.exists() or path.read_bytes() != content:
                self.part.find("input changed", f"{what}: {path.name}", line)
                path.write_bytes(content)

    def is_whole(self, path):
        """Why not, or None."""
        if path.suffix == ".state":
            said = bounded.run([self.part.analyze, "events", "--after", path, self.small], seconds=PATIENCE)
        else:
            said = bounded.run([self.part.analyze, "streams", path], seconds=PATIENCE)
        if said.code != 0 or b"ends" in said.error:
            return f"exit code {said.code}, {said.first_line}"
        if shutil.which("capinfos") and path.suffix != ".state":
            told = subprocess.run(["capinfos", "-c", path], capture_output=True, text=True, check=False)
            if told.returncode != 0 or "cut short" in told.stderr:
                return f"capinfos: {told.stderr.strip()}"
        return None


def judge_output(part, files, what, line, output, had_old, code, may_be_left=False):
    """Old, whole, or absent; and nothing beside it."""
    if output.exists():
        if output.read_bytes() == OLD:
            if code == 0:
                part.find("output", f"{what}: exit code 0, and the old file is there", line)
        elif code == 0 or output.stat().st_size:
            why = files.is_whole(output)
            if why:
                part.find("torn output", f"{what}: exit code {code}, and {output.name} is not whole: {why}", line, [output])
        else:
            part.find("torn output", f"{what}: exit code {code}, and {output.name} is empty", line)
    elif had_old:
        part.find("old file gone", f"{what}: exit code {code}, and the old {output.name} is gone", line)
    elif code == 0:
        part.find("output", f"{what}: exit code 0, and there is no {output.name}", line)
    left = [path.name for path in output.parent.iterdir() if path != output]
    if left and not may_be_left:
        part.find("left over", f"{what}: exit code {code}, and {', '.join(left)} is left", line)
    elif len(left) > 1 or any(not any(sign in name for sign in ("partial", "tmp", "temp", ".#")) for name in left):
        part.find("left over", f"{what}: {', '.join(left)} does not say that it is temporary", line)
    for path in output.parent.iterdir():
        path.unlink()


def start(line, **more):
    return subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                            env=bounded.environment(), **more)


def finish(part, process, what, line):
    """Its exit code and what it said; it is killed if it does not end."""
    try:
        _, error = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        part.find("hang", f"{what}: no end after {PATIENCE} s", line)
        process.kill()
        _, error = process.communicate()
    if bounded.SANITIZER_SAYS.search(error):
        part.find("crash", f"{what}: {bounded.last_words(error)}", line)
    return process.returncode, error.decode("utf-8", "replace").strip()


def time_it_takes(files, text):
    begun = time.monotonic()
    bounded.run(files.line(text, files.big), seconds=PATIENCE)
    for path in files.out.iterdir():
        path.unlink()
    return time.monotonic() - begun


def kills(part, files, chance, number):
    """Signals at random times while a program writes."""
    takes = {name: time_it_takes(files, text) for name, text in WRITERS.items()}
    stops = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    for i in range(number):
        name = list(WRITERS)[i % len(WRITERS)]
        text = WRITERS[name]
        stop, had_old = chance.choices(stops, (3, 3, 3, 1))[0], chance.random() < 0.5
        line, output = files.line(text, files.big), files.output(text, files.out)
        if had_old:
            output.write_bytes(OLD)
        process = start(line)
        delay = chance.random() ** 1.5 * takes[name] * 1.1
        time.sleep(delay)
        process.send_signal(stop)
        what = f"{name}, {stop.name} after {delay * 1000:.0f} ms"
        code, _ = finish(part, process, what, line)
        part.count("programs stopped by a signal" if code else "programs that were done before it")
        if code not in (0, 1, 130, 143, -stop):
            part.find("crash" if code < 0 else "exit code", f"{what}: exit code {code}", line)
        judge_output(part, files, what, line, output, had_old, code, may_be_left=stop == signal.SIGKILL)
        files.check_inputs(what, line)


def full_disks(part, files, chance, number):
    """A file system of its own with little room, and a limit for files."""
    disk = part.folder / "disk"
    disk.mkdir()
    for i in range(number):
        name = list(WRITERS)[i % len(WRITERS)]
        text = WRITERS[name]
        had_old = chance.random() < 0.5
        room = chance.choice((1, 4, 16, 64, chance.randrange(1, 1500)))  # KiB
        with_quota = chance.random() < 0.4
        ignored = chance.random() < 0.5
        if not with_quota and subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={max(room, 8)}k,mode=700", "none", disk],
                                             check=False, capture_output=True).returncode != 0:
            part.count("full disks that could not be made")
            continue
        folder = files.out if with_quota else disk
        line, output = files.line(text, files.big, folder), files.output(text, folder)
        if had_old:
            output.write_bytes(OLD)
        what = f"{name}, " + (f"files of {room} KiB at most{', its signal ignored' if ignored else ''}" if with_quota
                              else f"a disk of {room} KiB")

        def limit(size=room * 1024):
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN if ignored else signal.SIG_DFL)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

        process = start(line, restore_signals=False, preexec_fn=limit if with_quota else None)
        code, error = finish(part, process, what, line)
        part.count("full disks")
        died_of_it = with_quota and not ignored and code == -signal.SIGXFSZ
        if code == 0 and not output.exists():
            part.find("exit code", f"{what}: exit code 0, and nothing is written", line)
        elif code < 0 and not died_of_it:
            part.find("crash", f"{what}: {signal.Signals(-code).name} {error[:200]}", line)
        elif code > 0 and not error:
            part.find("silent", f"{what}: exit code {code}, and nothing on standard error", line)
        elif code > 0 and len(error.splitlines()) > 3:
            part.find("noise", f"{what}: {len(error.splitlines())} lines on standard error", line)
        # Who is killed cannot tidy up, but for a name that says so.
        judge_output(part, files, what, line, output, had_old, code, may_be_left=died_of_it)
        files.check_inputs(what, line)
        if not with_quota:
            subprocess.run(["umount", disk], check=False, capture_output=True)


def dev_full(part, files):
    """Standard output that takes nothing."""
    for text in SILENT:
        line = files.line(text, files.small)
        with open("/dev/full", "wb") as full:
            process = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE, env=bounded.environment())
            code, error = finish(part, process, f"{text} > /dev/full", line)
        part.count("commands into /dev/full")
        writes_file = "OUT." in text
        if code < 0:
            part.find("crash", f"{text} > /dev/full: {signal.Signals(-code).name}", line)
        elif code == 0 and not writes_file or code == 0 and writes_file and "send" in text:
            part.find("exit code", f"{text} > /dev/full: exit code 0", line)
        elif code != 0 and not error:
            part.find("silent", f"{text} > /dev/full: exit code {code}, and nothing on standard error", line)
        for path in files.out.iterdir():
            path.unlink()


def truncated(part, files, chance, number):
    """A capture that becomes shorter while it is read, as in a ring buffer."""
    victim = part.folder / "ring.pcap"
    takes = {}
    for i in range(number):
        text = READERS[i % len(READERS)]
        if text not in takes:
            takes[text] = time_it_takes(files, text)
        victim.write_bytes(files.big_bytes)
        size = chance.choice((0, 1, 24, 4096, chance.randrange(len(files.big_bytes))))
        line = files.line(text, victim)
        process = start(line)
        delay = chance.random() * takes[text]
        time.sleep(delay)
        process.send_signal(signal.SIGSTOP)
        os.truncate(victim, size)
        process.send_signal(signal.SIGCONT)
        what = f"{text}, cut to {size} bytes after {delay * 1000:.0f} ms"
        code, error = finish(part, process, what, line)
        part.count("captures truncated while they were read")
        if code < 0:
            part.find("crash", f"{what}: {signal.Signals(-code).name} {error[-200:]}", line)
        elif code not in (0, 1, 2):
            part.find("exit code", f"{what}: exit code {code}: {error[:200]}", line)
        elif code and not error:
            part.find("silent", f"{what}: exit code {code}, and nothing on standard error", line)
        output = files.output(text, files.out)
        if output is not None:
            # What was read may be written; it is a whole file then.
            judge_output(part, files, what, line, output, False, code or 0)
        for path in files.out.iterdir():
            path.unlink()
    victim.unlink(missing_ok=True)


NAMES = ("itself", "a symbolic link", "a hard link", "another path", "/proc/self/fd", "/dev/fd")


def other_name(kind, path):
    """Another name of a file, and the descriptor that a program has to inherit for it, or None."""
    link = path.with_name(f"link-{path.name}")
    if kind == "a symbolic link":
        link.symlink_to(path)
        return str(link), None
    if kind == "a hard link":
        os.link(path, link)
        return str(link), None
    if kind == "another path":
        return f"{path.parent}/../{path.parent.name}/{path.name}", None
    if kind.endswith("/fd"):
        inside = os.open(path, os.O_RDWR)
        os.set_inheritable(inside, True)
        return f"{kind}/{inside}", inside
    return str(path), None


def own_input(part, files):
    """Outputs that are inputs, by whatever name."""
    folder = part.folder / "own"
    folder.mkdir()
    texts = {  # what each names as input, and content for it
        "replay rewrite --unmapped keep -q IN SAME": files.small_bytes,
        "replay send IN -w SAME": files.small_bytes,
        "analyze annotate IN SAME": files.small_bytes,
        "analyze extract --stream 0 -o SAME IN": files.small_bytes,
        "analyze events --carry SAME IN": files.small_bytes,
        "analyze summary --names IN --carry SAME OTHER": b"10.77.0.2 left\n10.77.0.3 right\n",
        "gen craft -f IN -w SAME": b"- {opcode: RC_SEND_ONLY, payload_length: 64}\n",
        "gen relay -i ra -o rb --events IN --log SAME": b"drop:nth=7\n",
        "gen relay -i ra -o rb --events IN --pcap SAME": b"drop:nth=7\n",
        "gen relay -i ra -o rb --events IN --metrics-file SAME": b"drop:nth=7\n",
        "gen peer -i va --control-port 18599 --token-file IN --pcap SAME": b"secret-secret-secret\n",
        "gen peer -i va --control-port 18599 --token-file IN --metrics-file SAME": b"secret-secret-secret\n",
    }
    wire = RelayedWire()
    try:
        for text, content in texts.items():
            path = folder / "in.pcap"
            for kind in NAMES:
                own_input_by(part, wire, text, kind, path, content, files.small)
    finally:
        wire.close()


def own_input_by(part, wire, text, kind, path, content, other):
    path.write_bytes(content)
    path.chmod(0o600)
    same, inside = other_name(kind, path)
    words = text.split(" ")
    swap = {"IN": str(path), "SAME": same, "OTHER": str(other)}
    line = [getattr(part, words[0]), *[swap.get(word, word) for word in words[1:]]]
    stays = words[1] in ("relay", "peer")
    if stays:
        line = wire.inside("m" if words[1] == "relay" else "a", *line)
    what = f"{text}, SAME by {kind}"
    process = start(line, close_fds=False, cwd=path.parent)
    if stays:
        try:
            process.wait(REFUSED_WITHIN)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGTERM)
    code, error = finish(part, process, what, line)
    part.count("outputs that are inputs")
    # A name of its own may become another file, which does the input no harm; the input's name may not.
    if not path.exists() or path.read_bytes() != content:
        part.find("input overwritten", f"{what}: exit code {code}", line)
    elif code < 0 and code != -signal.SIGTERM:
        part.find("crash", f"{what}: {signal.Signals(-code).name}", line)
    elif code == 0 and "link" not in kind:
        part.find("exit code", f"{what}: exit code 0 for an output that is an input", line)
    elif code > 0 and not error:
        part.find("silent", f"{what}: exit code {code}, and nothing on standard error", line)
    if inside is not None:
        os.close(inside)
    for left in path.parent.iterdir():
        left.unlink()


def recordings(part, files, chance, number):
    """Recordings of peers and relays that are stopped while traffic runs: readable to their end after a signal that asks, and to
    where they were cut after kill -9."""
    wire = Wire(1500)
    try:
        for i in range(number):
            stop = chance.choice((signal.SIGKILL, signal.SIGTERM, signal.SIGINT))
            recording, sock = files.out / f"peer.{chance.choice(('pcap', 'pcapng'))}", part.folder / "peer.sock"
            peer = Program(part.gen, wire, "b", "peer", "-i", "v", "--control", str(sock), "--pcap", str(recording))
            exchange = subprocess.Popen(wire.inside("a", part.gen, "write", "-i", "v", "-D", "3", str(sock)), stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
            time.sleep(0.3 + chance.random() * 0.4)
            peer.process.send_signal(stop)
            what = f"peer --pcap, {stop.name}"
            try:
                code = peer.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                part.find("hang", f"{what}: no end after {PATIENCE} s")
                code = None
            exchange.kill()
            exchange.wait()
            peer.end()
            part.count("recordings stopped")
            said = bounded.run([part.analyze, "streams", recording], seconds=PATIENCE)
            asked = stop != signal.SIGKILL
            if asked and (code != 0 or said.code != 0 or b"ends" in said.error):
                part.find("torn output", f"{what}: exit code {code}, and of the recording: {said.code} {said.first_line}", inputs=[recording])
            elif said.code < 0:
                part.find("crash", f"{what}: roce-analyze of the recording: {signal.Signals(-said.code).name}", inputs=[recording])
            for path in files.out.iterdir():
                path.unlink()
            sock.unlink(missing_ok=True)
    finally:
        wire.close()


def run(part):
    number = part.options.count or (LONG if part.long else SHORT)
    chance = random.Random(f"kills {part.options.seed}")
    files = Files(part)
    own_input(part, files)
    dev_full(part, files)
    kills(part, files, chance, number)
    full_disks(part, files, chance, number // 2 + 1)
    truncated(part, files, chance, number // 2 + 1)
    recordings(part, files, chance, 30 if part.long else 3)


if __name__ == "__main__":
    enter_namespaces("--map-root-user", "--mount")
    sys.exit(main(Part("kills", __doc__), run))
