# SPDX-License-Identifier: BSD-2-Clause
"""Every command of every program that reads captures, in the ways that matter."""


class Command:
    """`words` stand for the program's command line; of them "IN" is the capture, "OTHER" a whole one, and "OUT.suffix" a file in
    the output's folder."""

    def __init__(self, program, words, pipe=False, then=None):
        self.program = program
        self.words = words.split(" ")
        self.pipe = pipe  # the capture is standard input
        self.then = then  # run next, with what was written; "PREVIOUS" is the output of this one

    @property
    def name(self):
        return f"{self.program} {' '.join(self.words)}"

    @property
    def prints_each_packet(self):
        """Whether its output grows with the number of packets, whatever is in them."""
        return self.words[0] == "decode"

    @property
    def output(self):
        """The suffix of the file it writes, or None."""
        return next((word[3:] for word in self.words if word.startswith("OUT.")), None)

    def line(self, part, capture, other, out):
        """The command line; `out` is the path of the output without suffix."""
        swap = {"IN": str(capture), "OTHER": str(other)}
        words = [f"{out}{word[3:]}" if word.startswith("OUT.") else swap.get(word, word) for word in self.words]
        return [getattr(part, self.program), *words]


# The exit codes in the guides. A capture can also make the command line wrong (2: there is no event 7), and the output impossible
# to write (1: pcapng has no time before 1970).
CODES = (0, 1, 2)

ANALYZE = [Command("analyze", words, words.endswith(" -")) for words in (
    "summary IN", "summary --json --top 0 IN", "summary --threads 1 IN", "summary -", "summary --quick --link-speed 100G IN",
    "streams IN", "streams --json IN", "streams --csv --sort p99 IN", "streams --threads 3 --cnp-interval 50us IN",
    "events IN", "events --json IN", "events --csv --severity warning IN", "events -Y roce.analysis.verdict IN",
    "messages IN", "messages --json IN", "messages --top 5 IN", "messages --csv -",
    "latency IN", "latency --by-stream --top 5 --json IN",
    "timeline IN", "timeline --interval 1ms --json IN", "timeline --rows --csv IN",
    "counters IN", "counters --json --all IN", "counters --at 10.77.0.2 --vendor rxe IN",
    "join IN OTHER", "join OTHER IN", "join --packets --json IN IN",
    "extract --stream 0 -o OUT.pcapng IN", "extract --event 1 --around 5ms -o OUT.pcapng.gz IN",
    "extract -Y bth.psn>0 -o OUT.pcapng.zst IN", "annotate IN OUT.pcapng", "annotate --severity warning IN OUT.pcapng.zst",
    "decode IN", "decode -v --payload --all IN", "decode --json --payload IN", "decode --only-bad-icrc --explain IN",
    "decode --json --summary -", "decode --opcode RC_WRITE* --qp 0x11 --time utc IN", "events --from 0.1 --to 0.5 IN",
    "events --carry OUT.state IN", "summary --carry OUT.state IN")]
REPLAY = [Command("replay", words, " - " in words) for words in (
    "info IN", "info --json IN", "rewrite --unmapped keep IN OUT.pcap", "rewrite --unmapped keep IN OUT.pcapng",
    "rewrite --unmapped keep - OUT.pcapng.gz", "rewrite --anonymise --key k IN OUT.pcapng.zst",
    "rewrite --unmapped keep --path-mtu 256 IN OUT.pcap", "rewrite --unmapped keep --path-mtu 4096 IN OUT.pcap",
    "rewrite --unmapped keep --to-version v1 IN OUT.pcap", "rewrite --unmapped keep --to-version v2_ipv6 IN OUT.pcapng",
    "rewrite --unmapped keep --ip-map 10.77.0.0/24=192.0.2.0/24 --psn-offset -7 --keep-bad-icrc --keep-bad-checksums IN OUT.pcap",
    "rewrite --unmapped keep --vlan-add 5:3 --dscp 26 --ecn 3 --ttl 1 --udp-source-port random IN OUT.pcap",
    "rewrite --unmapped keep --strip-tunnels --vlan-remove --only-roce IN OUT.pcap",
    "rewrite --unmapped keep --set bth.mig_req=true --va-map 0+0x7fffffffffffffff=7 IN OUT.pcap",
    "rewrite --unmapped keep -e drop:probability=0.1;duplicate:probability=0.1;corrupt:probability=0.1 IN OUT.pcap",
    "rewrite --dry-run --json IN", "send IN -w OUT.pcap --topspeed", "send IN -w OUT.pcapng.gz --loops 3",
    "send IN -w OUT.pcap --skip-unfit --stream --speed 1000000", "send IN -w OUT.pcap --ip-map 10.77.0.0/24=192.0.2.0/24 --unmapped keep",
    "converse --dry-run IN", "converse --dry-run --details IN", "converse --dry-run --json --as responder IN")]
ALL = ANALYZE + REPLAY
# What is written by one and read by another.
AFTER = Command("analyze", "events --after PREVIOUS OTHER")
