# SPDX-License-Identifier: BSD-2-Clause
"""The statistics of the plugin (`-z`) against what roce-analyze finds in the same captures."""

import collections
import re
import unittest

from wireshark import TOP, PluginTest, main

# One of each kind: what is wrong in them, which service, which IP version.
NAMES = ["cm-rping-v6.tx", "rc-corrupt.rx", "rc-drop-random.tx", "rc-drop-read-middle.rx", "rc-drop-requests.tx", "rc-duplicate.rx",
         "rc-ecn-ce.rx", "rc-errors.tx", "rc-mix-v4.tx", "rc-rnr.tx", "uc-drop.rx", "ud-mix.tx"]
SOFTROCE = [TOP / "captures" / "softroce" / f"{name}.pcap" for name in NAMES]
CONGESTION = TOP / "captures" / "made" / "link-control.pcapng"
OPTIONS = ["roce,tree", "conv,roce", "endpoints,roce", "roce,srt", "roce,counters", "roce,cc"]

# The verdicts that a counter counts, where it counts verdicts.
COUNTERS = {
    "Out of sequence (PSN gap)": {"gap", "response_gap"},
    "Out of order": {"out_of_order", "response_out_of_order"},
    "Retransmissions": {"retransmission"},
    "Duplicates": {"duplicate"},
    "Repeated responses": {"response_repeated"},
    "NAK PSN sequence error": {"nak_sequence_error"},
    "NAK invalid request": {"nak_invalid_request"},
    "NAK remote access error": {"nak_remote_access_error"},
    "NAK remote operational error": {"nak_remote_operational_error"},
    "RNR NAK": {"rnr_nak"},
    "Implied NAK": {"implied_nak"},
    "Duplicate ACK": {"duplicate_ack"},
    "ICRC errors": {"bad_icrc"},
    "CE marks": {"ce_mark"},
    "CNPs": {"cnp"},
    "Never answered": {"no_answer"},
}


class Report:
    """What `tshark -q -z …` wrote, taken apart."""

    def __init__(self, text):
        self.text = text
        self.rows = [[cell.strip() for cell in line.split("|")[:-1]] for line in text.splitlines()
                     if line.rstrip().endswith("|") and "<-" not in line]
        self.counters = {(row[0], row[1]): (int(row[2]), int(row[3])) for row in self.of_table("Host")}
        self.latencies = {row[0]: row[1:] for row in self.of_table("Operation") if row[1] != "0"}
        self.events = {tuple(row[:3]): int(row[3]) for row in self.of_table("From")}
        end = r"(\S+(?: QP 0x[0-9a-f]{6})?)"
        conversation = re.compile(end + r"\s+<-> " + end + r"\s+(\d+) [\d.]+ \w+\s+(\d+) [\d.]+ \w+\s+(\d+)")
        self.conversations = collections.Counter()
        for match in conversation.finditer(text):
            one, other = match[1], match[2]
            self.conversations[(one, other)] += int(match[4])
            self.conversations[(other, one)] += int(match[3])
        self.endpoints = {}
        for match in re.finditer(r"(?m)^" + end + r"\s+\d+\s+\d+\s+(\d+)\s+\d+\s+(\d+)\s+\d+\s*$", text):
            sent, received = self.endpoints.get(match[1], (0, 0))
            self.endpoints[match[1]] = (sent + int(match[2]), received + int(match[3]))
        self.tree = {match[2].strip(): int(match[3])
                     for match in re.finditer(r"(?m)^( *)(\S.*?) {2,}(\d+) +[\d.]+ +[\d.]+%", text)}

    def of_table(self, heading):
        """The rows below the headings of which the first is `heading`."""
        widths = {"Host": 4, "Operation": 6, "From": 4}
        starts = [i for i, row in enumerate(self.rows) if row and row[0] == heading]
        if not starts:
            return []
        rows = []
        for row in self.rows[starts[0] + 1:]:
            if len(row) != widths[heading] or row[0] in widths:
                break
            rows.append(row)
        return rows

    def sent(self, counter):
        return sum(counts[0] for (_, name), counts in self.counters.items() if name == counter)


def joined(conversations):
    """Packets by what they go to: a packet that was seen before its flow was joined to the stream has no source QP."""
    packets = collections.Counter()
    for (source, destination), count in conversations.items():
        packets[source.split()[0], destination] += count
    return +packets


class StatisticsTest(PluginTest):
    def report(self, path, *arguments, preferences=(), options=()):
        options = [part for option in options or OPTIONS for part in ("-z", option)]
        return Report(self.wireshark.tshark("-q", "-r", path, *arguments, *options, preferences=preferences))

    def streams(self, path):
        return self.analyze("streams", "--json", path)

    def test_verdicts_are_those_of_the_streams(self):
        for path in SOFTROCE:
            with self.subTest(path.name):
                report = self.report(path, "-2")
                verdicts = collections.Counter()
                for stream in self.streams(path):
                    verdicts.update(stream["verdicts"])
                for counter, kinds in COUNTERS.items():
                    if counter != "ICRC errors":
                        self.assertEqual(report.sent(counter), sum(verdicts[kind] for kind in kinds), counter)
                for kind, count in verdicts.items():
                    self.assertEqual(report.tree.get(kind), count, kind)

    def test_losses_are_those_of_the_streams(self):
        for path in SOFTROCE:
            with self.subTest(path.name):
                lost = sum(sum(stream["lost"].values()) for stream in self.streams(path))
                self.assertEqual(self.report(path, "-2", options=["roce,counters"]).sent("Lost"), lost)

    def test_one_pass_has_the_immediate_verdicts_and_says_so(self):
        path = TOP / "captures" / "softroce" / "rc-drop-requests.tx.pcap"
        once = self.report(path)
        twice = self.report(path, "-2")
        self.assertEqual(once.counters | {}, {key: counts if key[1] not in ("Lost", "Never answered") else (0, 0)
                                              for key, counts in twice.counters.items()})
        self.assertGreater(twice.sent("Lost"), 0)
        self.assertIn("tshark -2", once.text)
        self.assertNotIn("tshark -2", twice.text)

    def test_packets_and_bytes_of_hosts(self):
        for path in SOFTROCE:
            with self.subTest(path.name):
                sent = collections.Counter()
                received = collections.Counter()
                fields = ["ip.src", "ip.dst", "ipv6.src", "ipv6.dst", "frame.len"]
                # What an ICMP error quotes is no packet.
                text = "udp.dstport == 4791 && !icmp && !icmpv6"
                for row in self.wireshark.rows(fields, "-r", path, "-Y", text, with_plugin=False):
                    for address, hosts in ((row[0] or row[2], sent), (row[1] or row[3], received)):
                        hosts[address[0], "Packets"] += 1
                        hosts[address[0], "Bytes"] += int(row[4][0])
                report = self.report(path, options=["roce,counters"])
                for name in ("Packets", "Bytes"):
                    hosts = {host for host, counter in report.counters if counter == name}
                    self.assertEqual({host: report.counters[host, name] for host in hosts},
                                     {host: (sent[host, name], received[host, name]) for host in hosts})
                    self.assertEqual(report.sent(name), sum(n for (_, counter), n in sent.items() if counter == name))

    def test_conversations_have_the_packets_and_qps_of_the_streams(self):
        for path in SOFTROCE:
            with self.subTest(path.name):
                expected = collections.Counter()
                for stream in self.streams(path):
                    names = [end["address"] + (f" QP 0x{end['qp']:06x}" if end["qp"] is not None else "")
                             for end in stream["ends"]]
                    for direction, summary in enumerate(stream["directions"]):
                        expected[(names[direction], names[1 - direction])] += summary["packets"]
                for arguments in ([], ["-2"]):
                    # The summary of a stream leaves out what its receiver drops.
                    options = [f"{table},roce,roce.stream && !roce.icrc.bad" for table in ("conv", "endpoints")]
                    report = self.report(path, *arguments, options=options)
                    self.assertEqual(joined(report.conversations), joined(expected), arguments)
                    ends = collections.defaultdict(lambda: [0, 0])
                    for (source, destination), packets in report.conversations.items():
                        ends[source][0] += packets
                        ends[destination][1] += packets
                    self.assertEqual(report.endpoints, {end: tuple(counts) for end, counts in ends.items()}, arguments)

    def test_ends_can_be_filtered(self):
        path = TOP / "captures" / "softroce" / "rc-rnr.tx.pcap"
        one, other = "10.77.0.3 QP 0x000022", "10.77.0.2 QP 0x000022"
        expected = self.report(path, "-2", options=["conv,roce"]).conversations[one, other]
        self.assertEqual(expected, 10)
        for fields, packets in (("source", "destination"), expected), (("end", "end"), 2 * expected):
            text = f'roce.analysis.{fields[0]}=="{one}" && roce.analysis.{fields[1]}=="{other}"'
            self.assertEqual(len(self.wireshark.rows(["frame.number"], "-2", "-r", path, "-Y", text)), packets, text)

    def test_latencies_are_those_of_the_messages(self):
        for path in SOFTROCE:
            with self.subTest(path.name):
                messages = collections.defaultdict(list)
                for message in self.analyze("messages", "--json", path):
                    if message["end"] in ("acknowledged", "sent") and message["latency_ns"] is not None:
                        messages[message["type"]].append(message)
                distributions = {row["type"]: row for row in self.analyze("latency", "--json", path) if row["type"] != "all"}
                for arguments in ([], ["-2"]):
                    found = self.report(path, *arguments, options=["roce,srt"]).latencies
                    self.assertEqual(set(found), set(distributions))
                    for name, (count, least, mean, most, slowest) in found.items():
                        expected = distributions[name]
                        self.assertEqual([int(count), round(float(least) * 1000), round(float(most) * 1000), int(slowest)],
                                         [expected[key] for key in ("count", "min_ns", "max_ns", "slowest_frame")])
                        if len(messages[name]) == int(count):
                            total = sum(message["latency_ns"] for message in messages[name])
                            self.assertAlmostEqual(float(mean) * 1000, total / int(count), delta=1)

    def test_operations_are_those_that_the_builtin_dissector_sees(self):
        path = TOP / "captures" / "softroce" / "rc-mix-v4.tx.pcap"
        opcodes = self.wireshark.rows(["infiniband.bth.opcode"], "-r", path, "-Y", "infiniband.bth", with_plugin=False)
        counts = collections.Counter(int(row[0][0], 0) for row in opcodes)
        groups = {"SEND": [*range(0, 6), 22, 23], "WRITE": range(6, 12), "READ request": [12],
                  "READ response": range(13, 17), "Acknowledge": [17], "Atomic acknowledge": [18],
                  "Compare and swap": [19], "Fetch and add": [20]}
        tree = self.report(path, options=["roce,tree"]).tree
        for name, codes in groups.items():
            self.assertEqual(tree.get(name, 0), sum(counts[code] for code in codes), name)
        self.assertEqual(tree["Packets"], sum(counts.values()))

    def test_congestion(self):
        path = TOP / "captures" / "softroce" / "rc-ecn-ce.rx.pcap"
        marks = sum(stream["verdicts"].get("ce_mark", 0) for stream in self.streams(path))
        events = self.report(path, options=["roce,cc"]).events
        self.assertGreater(marks, 0)
        self.assertEqual(sum(n for (_, _, event), n in events.items() if event == "CE marks"), marks)
        capable = self.wireshark.rows(["frame.number"], "-r", path, "-Y", "udp.dstport == 4791 && ip.dsfield.ecn != 0",
                                      with_plugin=False)
        self.assertEqual(sum(n for (_, _, event), n in events.items() if event == "ECN-capable packets"), len(capable))

    def test_pauses_are_those_of_the_builtin_dissector(self):
        expected = collections.Counter()
        fields = ["eth.src", "macc.opcode", "macc.cbfc.enbv", "macc.pause_time", "macc.cbfc.pause_time.c0",
                  *(f"macc.cbfc.pause_time.c{n}" for n in range(1, 8))]
        for row in self.wireshark.rows(fields, "-r", CONGESTION, "-Y", "macc", with_plugin=False):
            source, opcode = row[0][0], int(row[1][0], 0)
            timers = ([("PAUSE", int(row[3][0], 0))] if opcode == 1 else
                      [(f"PFC priority {n}", int(row[4 + n][0], 0)) for n in range(8) if int(row[2][0], 0) >> n & 1])
            for name, quanta in timers:
                expected[source, "link partner", f"{name} {'XOFF' if quanta else 'XON'}"] += 1
                if quanta:
                    expected[source, "link partner", f"{name} quanta"] += quanta
        events = self.report(CONGESTION, options=["roce,cc"]).events
        self.assertGreater(len(expected), 0)
        self.assertEqual({key: n for key, n in events.items() if key[1] == "link partner"}, dict(expected))

    def test_numbers_stand_below_each_other(self):
        path = TOP / "captures" / "softroce" / "rc-mix-v6.tx.pcap"
        for option in ("roce,srt", "roce,counters", "roce,cc"):
            lines = [line for line in self.report(path, options=[option]).text.splitlines() if line.endswith("|")]
            bars = {tuple(i for i, c in enumerate(line) if c == "|") for line in lines}
            self.assertEqual(len(bars), 1, option)

    def test_filters_limit_what_counts(self):
        path = TOP / "captures" / "softroce" / "rc-rnr.tx.pcap"
        report = self.report(path, options=["roce,counters,roce.stream == 1"])
        self.assertEqual(report.counters["10.77.0.3", "Packets"], (10, 10))

    def test_graphs(self):
        path = TOP / "captures" / "softroce" / "rc-rnr.tx.pcap"
        field = "roce.analysis.retransmission"
        text = self.wireshark.tshark("-q", "-r", path, "-z", f"io,stat,0,COUNT({field}){field}",
                                     "-z", "io,stat,0,AVG(roce.analysis.latency)roce.analysis.latency")
        retransmissions = sum(stream["verdicts"].get("retransmission", 0) for stream in self.streams(path))
        self.assertRegex(text, rf"<> +[\d.]+ \| +{retransmissions} \|")
        latencies = [float(row[0][0]) for row in self.wireshark.rows(["roce.analysis.latency"], "-r", path, "-Y",
                                                                     "roce.analysis.latency")]
        means = [float(mean) for mean in re.findall(r"<> +[\d.]+ \| +(0\.\d+) \|", text)]
        self.assertAlmostEqual(means[0], sum(latencies) / len(latencies), places=6)

    def test_nothing_to_count(self):
        for arguments in ([], ["-2"]):
            report = self.report(SOFTROCE[0], *arguments, preferences={"roce.mode": "off"})
            self.assertEqual((report.counters, report.latencies, report.events), ({}, {}, {}))


if __name__ == "__main__":
    main()
