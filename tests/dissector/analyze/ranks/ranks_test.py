# SPDX-License-Identifier: BSD-2-Clause
"""`roce-analyze-mpi` gives byte for byte what one process of `roce-analyze` gives.

usage: ranks_test.py ROCE_ANALYZE_MPI ROCE_ANALYZE CAPTURES [UNITTEST ARGUMENT...]

ROCE_RANKS_CUTS is the number of random cuts of captures into pieces (6).
"""

import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "..", "analysis"))

from roce_frames import write_pcap  # noqa: E402
from roce_packets import Host, ethernet  # noqa: E402

PROGRAM = ""
ONE = ""
CAPTURES = ""
COMMANDS = (("summary", "--json"), ("streams", "--json"), ("events", "--json"))
CUTS = int(os.environ.get("ROCE_RANKS_CUTS", "6"))
# Several connections, hosts and points; losses; pauses; two sides of one link.
NAMES = ("softroce/pp-rc-drop.tx.pcap", "softroce/pp-rc-drop.rx.pcap", "softroce/rc-drop-random.tx.pcap",
         "softroce/rc-drop-random.rx.pcap", "nvme/nvme-rdma.pcap")

MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]


def run(command, folder):
    return subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300, check=False,
                          env={**os.environ, "OMPI_MCA_mpi_yield_when_idle": "1", "LC_ALL": "C.UTF-8"})


def said(stderr):
    """What the program said, without what mpirun adds."""
    return sorted(line for line in stderr.decode().splitlines() if line.startswith("roce-analyze"))


def split_pcap(data, places):
    """The pieces of a pcap file, each of which begins at one of the numbers of frames in `places`."""
    order = "<" if data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    starts, at = [], 24
    while at + 16 <= len(data):
        starts.append(at)
        at += 16 + struct.unpack(order + "I", data[at + 8:at + 12])[0]
    edges = [starts[0]] + [starts[i] for i in sorted(places)] + [len(data)]
    return [data[:24] + data[begin:end] for begin, end in zip(edges, edges[1:])]


def frames_of(data):
    order = "<" if data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    count, at = 0, 24
    while at + 16 <= len(data):
        at += 16 + struct.unpack(order + "I", data[at + 8:at + 12])[0]
        count += 1
    return count


class Pieces(unittest.TestCase):
    """A folder with captures."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, data):
        with open(os.path.join(self.folder, name), "wb") as file:
            file.write(data)
        return name

    def captured(self, name):
        with open(os.path.join(CAPTURES, name), "rb") as file:
            return file.read()

    def pieces(self, seed, names=NAMES):
        """The arguments of several points, whose captures are cut at random frames."""
        chance = random.Random(seed)
        arguments = []
        for i, name in enumerate(chance.sample(names, 2)):
            data = self.captured(name)
            places = chance.sample(range(1, frames_of(data)), chance.randint(1, 5))
            files = [self.write(f"p{i}-{k}.pcap", piece) for k, piece in enumerate(split_pcap(data, places))]
            arguments.append(f"--point=point{i}={','.join(files)}")
        return arguments


class Ranks(Pieces):
    def compare(self, arguments, ranks, commands=COMMANDS):
        for command in commands:
            one = run([ONE, *command, *arguments], self.folder)
            for n in ranks:
                many = run([*MPIRUN, "-n", str(n), PROGRAM, *command, *arguments], self.folder)
                where = f"{command} {arguments} with {n} ranks"
                self.assertEqual(many.stdout, one.stdout, where)
                self.assertEqual(many.returncode, one.returncode, f"{where}: {many.stderr.decode()}")
                self.assertEqual(said(many.stderr), said(one.stderr), where)
        return one

    def test_points_cut_at_random_frames(self):
        for seed in range(CUTS):
            with self.subTest(seed=seed):
                ranks = (1, 2, 3, 5) if seed == 0 else (random.Random(seed).choice((2, 3, 5)),)
                self.compare(self.pieces(seed), ranks)

    def test_made_captures_together_and_as_text(self):
        made = sorted(os.path.join(CAPTURES, "made", name) for name in os.listdir(os.path.join(CAPTURES, "made"))
                      if ".pcap" in name)
        self.compare(made, (2, 3), (("streams", "--json"), ("events", "--csv"), ("events",), ("streams",)))

    def test_made_captures_as_a_summary(self):
        made = sorted(os.path.join(CAPTURES, "made", name) for name in os.listdir(os.path.join(CAPTURES, "made"))
                      if ".pcap" in name)
        self.compare([*made, "--link-speed", "100G"], (3,), (("summary", "--json"), ("summary",)))

    def test_pauses_concern_the_packets_of_all_ranks(self):
        """What is sent to a host that paused breaks a rule, as long as nothing at the point is of another link."""
        hosts = [Host(f"02:00:00:00:00:{i:02x}", f"10.0.0.{i}") for i in range(1, 12)]
        receiver, strangers, senders = hosts[0], hosts[1:3], hosts[3:]
        pause = ethernet(receiver.mac, "01:80:c2:00:00:01", 0x8808) + struct.pack("!HH", 1, 0xFFFF) + bytes(42)
        frames = []
        for begin in (0, 10_000_000):
            frames.append((begin, receiver.arp("10.0.0.99")))
            frames.append((begin, pause))
            frames += [(begin + 1_000_000 + i * 1000, sender.send(receiver, 0x20 + i, 100 + begin // 10_000_000))
                       for i, sender in enumerate(senders)]
            # Only the first pause is of a link that is known.
            frames.append((begin + 5_000_000, strangers[0].send(strangers[1], 0x99, 7)))
        path = os.path.join(self.folder, "a.pcap")
        write_pcap(path, [(1_795_213_331 * 10**9 + at, frame) for at, frame in frames])
        self.compare(["a.pcap", "--link-speed", "10G"], (2, 5), (*COMMANDS, ("summary",)))
        shown = run([ONE, "events", "--json", "--link-speed", "10G", "a.pcap"], self.folder).stdout.decode()
        self.assertEqual(shown.count("sent_while_paused"), len(senders))

    def test_a_window_of_time_and_one_stream(self):
        arguments = self.pieces(7)
        self.compare([*arguments, "--from", "0.01", "--to", "0.5"], (3,))
        self.compare([*arguments, "--stream", "1"], (3,), (("streams", "--json"), ("events", "--json")))

    def test_without_mpirun_it_is_one_rank(self):
        arguments = self.pieces(8)
        for command in COMMANDS:
            self.assertEqual(run([PROGRAM, *command, *arguments], self.folder).stdout,
                             run([ONE, *command, *arguments], self.folder).stdout)

    def test_a_piece_that_is_damaged_missing_or_given_twice(self):
        pieces = split_pcap(self.captured(NAMES[0]), [20, 40, 60])
        files = [self.write(f"p{i}.pcap", piece) for i, piece in enumerate(pieces)]
        self.write("p1.pcap", pieces[1][:-7])
        one = self.compare(files, (2,))
        self.assertEqual(one.returncode, 1)
        one = self.compare([*files, "none.pcap"], (2,))
        self.assertEqual(one.returncode, 1)
        self.write("p1.pcap", pieces[1])
        one = self.compare([*files, "p2.pcap"], (2,))
        self.assertEqual(one.returncode, 0)

    def differing(self, change):
        """What two ranks do, of which the second one works in a folder that was changed."""
        folders = []
        for i in range(2):
            folder = os.path.join(self.folder, str(i))
            os.mkdir(folder)
            shutil.copy(os.path.join(CAPTURES, NAMES[0]), os.path.join(folder, "a.pcap"))
            folders.append(folder)
        change(folders[1])
        part = [PROGRAM, "summary", "--json", "a.pcap"]
        return run([*MPIRUN, "-n", "1", "-wdir", folders[0], *part, ":", "-n", "1", "-wdir", folders[1], *part], self.folder)

    def refused(self, change, what):
        done = self.differing(change)
        lines = said(done.stderr)
        self.assertEqual((done.returncode, done.stdout, len(lines)), (1, b"", 1), done.stderr.decode())
        self.assertRegex(lines[0], what)

    def test_ranks_that_see_different_files(self):
        def overwrite(folder):
            with open(os.path.join(folder, "a.pcap"), "r+b") as file:
                file.seek(100)
                file.write(b"?")
        self.refused(overwrite, r"rank 1 on \S+ sees a\.pcap .* rank 0 on \S+ sees a\.pcap")
        shutil.rmtree(os.path.join(self.folder, "0"))
        shutil.rmtree(os.path.join(self.folder, "1"))
        self.refused(lambda folder: os.remove(os.path.join(folder, "a.pcap")), "rank 1 cannot open what rank 0 can")

    def test_what_is_not_shared_is_refused_in_one_sentence(self):
        name = self.write("a.pcap", self.captured(NAMES[0]))
        for arguments in (["summary", "-Y", "roce", name], ["events", "--follow", name], ["streams", "--carry", "s", name],
                          ["summary", "--quick", name], ["summary", "--stream", "0", name], ["summary", "-"]):
            done = run([*MPIRUN, "-n", "2", PROGRAM, *arguments], self.folder)
            self.assertEqual((done.returncode, done.stdout, len(said(done.stderr))), (2, b"", 1), done.stderr.decode())


if __name__ == "__main__":
    PROGRAM, ONE, CAPTURES = (os.path.abspath(path) for path in sys.argv[1:4])
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
