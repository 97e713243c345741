# SPDX-License-Identifier: BSD-2-Clause
"""The statistics of the plugin (`-z`) against what roce-analyze finds in the same captures."""

import collections
import json
import os
import re
import shutil
import unittest

from wireshark import TOP, PluginTest, main

# One of each kind: what is wrong in them, which service, which IP version.
NAMES = ["cm-rping-v6.tx", "rc-corrupt.rx", "rc-drop-random.tx", "rc-drop-read-middle.rx", "rc-drop-requests.tx", "rc-duplicate.rx",
         "rc-ecn-ce.rx", "rc-errors.tx", "rc-mix-v4.tx", "rc-rnr.tx", "uc-drop.rx", "ud-mix.tx"]
SOFTROCE = [TOP / "captures" / "softroce" / f"{name}.pcap" for name in NAMES]
CONGESTION = TOP / "captures" / "made" / "link-control.pcapng"
OPTIONS = ["roce,tree", "conv,roce", "endpoints,roce", "roce,srt", "roce,counters", "roce,cc", "roce,streams"]

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
        self.streams = {(int(row[0]), row[1]): row[2:] for row in self.of_table("Stream")}
        self.events = {tuple(row[:3]): int(row[3]) for row in self.of_table("From")}
        end = r"(\S+(?: QP 0x[0-9a-f]{6})?)"
        number = r"(?: #(\d+))?"
        counts = r"\s+(\d+) [\d.]+ \w+\s+(\d+) [\d.]+ \w+\s+(\d+)"
        conversation = re.compile(end + number + r"\s+<-> " + end + number + counts)
        self.conversations = collections.Counter()
        self.numbers = set()
        for match in conversation.finditer(text):
            one, other = match[1], match[3]
            self.conversations[(one, other)] += int(match[6])
            self.conversations[(other, one)] += int(match[5])
            if match[2]:
                self.numbers.add((int(match[2]), int(match[4]), frozenset((one, other))))
        self.endpoints = {}
        size = r"\s+\d+(?: \w+)?"  # with a unit since 4.6
        for match in re.finditer(rf"(?m)^{end}\s+\d+{size}\s+(\d+){size}\s+(\d+){size}\s*$", text):
            sent, received = self.endpoints.get(match[1], (0, 0))
            self.endpoints[match[1]] = (sent + int(match[2]), received + int(match[3]))
        self.tree = {match[2].strip(): int(match[3])
                     for match in re.finditer(r"(?m)^( *)(\S.*?) {2,}(\d+) +[\d.]+ +[\d.]+%", text)}

    def of_table(self, heading):
        """The rows below the headings of which the first is `heading`."""
        widths = {"Host": 4, "Operation": 9, "From": 4, "Stream": 12}
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

    def test_the_tree_has_what_a_window_calls(self):
        helper = self.wireshark.plugins / "tree_functions.so"
        shutil.copyfile(os.environ["ROCE_TREE_FUNCTIONS"], helper)
        helper.chmod(0o755)
        done = self.wireshark.process("tshark", "-r", SOFTROCE[0])
        helper.unlink()
        self.assertEqual((done.returncode, done.stderr.decode()), (0, "tree: init 1 packet 1\n"))

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

    def test_conversations_have_the_number_of_their_stream(self):
        path = TOP / "captures" / "softroce" / "rc-rnr.tx.pcap"
        expected = {(stream["stream"], stream["stream"], frozenset(f"{end['address']} QP 0x{end['qp']:06x}" for end in stream["ends"]))
                    for stream in self.streams(path) if all(end["qp"] is not None for end in stream["ends"])}
        self.assertTrue(expected)
        for arguments in ([], ["-2"]):
            self.assertLessEqual(expected, self.report(path, *arguments, options=["conv,roce"]).numbers)
        text = 'roce.analysis.numbered_source == "10.77.0.3 QP 0x000022 #1" && roce.analysis.numbered_end == "10.77.0.2 QP 0x000022 #1"'
        self.assertEqual(10, len(self.wireshark.rows(["frame.number"], "-2", "-r", path, "-Y", text)))

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
                    for name, (count, least, mean, p50, p90, p99, most, slowest) in found.items():
                        expected = distributions[name]
                        nanoseconds = [round(float(text) * 1000) for text in (least, p50, p90, p99, most)]
                        self.assertEqual([int(count), *nanoseconds, int(slowest)],
                                         [expected[key] for key in ("count", "min_ns", "p50_ns", "p90_ns", "p99_ns", "max_ns", "slowest_frame")])
                        if len(messages[name]) == int(count):
                            total = sum(message["latency_ns"] for message in messages[name])
                            self.assertAlmostEqual(float(mean) * 1000, total / int(count), delta=1)

    def test_counters_of_streams(self):
        for path in SOFTROCE:
            with self.subTest(path.name):
                found = self.report(path, "-2", options=["roce,streams,!roce.icrc.bad"]).streams
                again = collections.Counter()
                lost = collections.Counter()
                for stream in self.streams(path):
                    number = stream["stream"]
                    again[number] += stream["verdicts"].get("retransmission", 0)
                    lost[number] += sum(stream["lost"].values())
                    for end, direction in zip(stream["ends"], stream["directions"], strict=True):
                        name = end["address"] + (f" QP 0x{end['qp']:06x}" if end["qp"] is not None else "")
                        if not direction["packets"]:
                            continue
                        row = next(row for key, row in found.items() if key[0] == number and name.startswith(key[1]))
                        # Packets from before the directions were joined have a row of their own.
                        self.assertGreaterEqual(direction["packets"], int(row[1]), (number, name))
                        self.assertGreaterEqual(direction["bytes"], int(row[2]), (number, name))
                        if direction["latency"]["count"]:
                            self.assertEqual([direction["latency"]["p50_ns"], direction["latency"]["p99_ns"]],
                                             [round(float(text) * 1000) for text in row[8:10]], (number, name))
                for place, key in ((1, "packets"), (2, "bytes")):
                    self.assertEqual(sum(direction[key] for stream in self.streams(path) for direction in stream["directions"]),
                                     sum(int(row[place]) for row in found.values()))
                for number in {number for number, _ in found}:
                    rows = [row for key, row in found.items() if key[0] == number]
                    self.assertEqual(again[number], sum(int(row[4]) for row in rows), number)
                    self.assertEqual(lost[number], sum(int(row[5]) for row in rows), number)

    def test_the_data_of_a_psn_graph(self):
        path = TOP / "captures" / "softroce" / "rc-drop-requests.tx.pcap"
        lines = self.wireshark.tshark("-q", "-2", "-r", path, "-z", "roce,psn,roce.stream == 0").splitlines()
        self.assertEqual("seconds\tstream\tdirection\tkind\tpsn\tend\tframe", lines[0])
        rows = [line.split("\t") for line in lines[1:]]
        kinds = collections.Counter(row[3] for row in rows)
        events = collections.Counter(event["verdict"] for event in self.analyze("events", "--json", path) if event["stream"] == 0)
        self.assertEqual(events["retransmission"], kinds["sent_again"])
        self.assertEqual(events["nak_sequence_error"], kinds["nak"])
        shown = self.wireshark.rows(["frame.time_relative", "roce.analysis.relative_psn", "frame.number"], "-r", path, "-Y",
                                    "roce.stream == 0 && roce.analysis.relative_psn")
        self.assertEqual([(psn[0], frame[0]) for _, psn, frame in shown], [(row[4], row[6]) for row in rows])
        begin = float(shown[0][0][0])
        for (time, *_), row in zip(shown, rows, strict=True):
            self.assertAlmostEqual(float(time[0]) - begin, float(row[0]), places=6)

    def test_all_are_named_alike(self):
        request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "info"}) + "\n"
        answer = self.wireshark.process("sharkd", "-", data=request.encode()).stdout.decode()
        for name in ("Latency", "Counters", "Congestion and Flow Control", "Streams", "Operations and Verdicts"):
            self.assertIn(f'"RoCE {name}"', answer)

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
        for option in ("roce,srt", "roce,counters", "roce,cc", "roce,streams"):
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
