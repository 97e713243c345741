# SPDX-License-Identifier: BSD-2-Clause
"""The plugin finds what `roce-analyze events` finds, on every capture.

    analysis_test.py PLUGIN ROCE_ANALYZE [unittest arguments]"""

import re
import subprocess

import wireshark

IMMEDIATE = "immediate"
# Not one wire, but one frame in twenty encapsulations, of which Wireshark does not follow all.
CAPTURES = [path for path in wireshark.CAPTURES if path.name != "encapsulations.pcapng"]


def verdicts_of(frame):
    """The verdicts in the tree of a frame: (segment, verdict, cause, spurious, first PSN, PSNs, other, rule, nanoseconds)."""
    found = []
    for segment, proto in enumerate(frame.findall("proto[@name='roce']")):
        for item in proto.iter("field"):
            if item.get("name") != "roce.analysis.verdict":
                continue
            inner = {field.get("name").removeprefix("roce.analysis."): field.get("show") for field in item.findall("field")}
            seconds, _, fraction = inner.get("elapsed", "0.0").partition(".")
            found.append((segment, wireshark.number(item.get("show")), wireshark.number(inner.get("cause", "0")),
                          "spurious" in inner, wireshark.number(inner["first_psn"]), wireshark.number(inner["psn_count"]),
                          wireshark.number(inner.get("other", "0")), inner.get("rule", ""), int(seconds) * 10**9 + int(fraction.ljust(9, "0"))))
    return found


class Analysis(wireshark.PluginTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # The numbers of verdicts and causes are the plugin's own; their names are what people use.
        values = cls.wireshark.tshark("-G", "values").splitlines()
        rows = [line.split("\t") for line in values if line.startswith("V\troce.analysis.")]
        cls.names = {(row[1], wireshark.number(row[2])): row[3] for row in rows}

    def named(self, verdict):
        segment, kind, cause, *rest = verdict
        return (segment, self.names[("roce.analysis.verdict", kind)], self.names.get(("roce.analysis.cause", cause), ""), *rest)

    def expected(self, path, when=None):
        rows = {}
        for event in self.analyze("events", "--json", path):
            if when is None or event["when"] == when:
                rows.setdefault(event["frame"], []).append(
                    (event["segment"], event["verdict"], event["cause"], event["spurious"], event["first_psn"],
                     event["psn_count"], event["other"], event.get("rule") or "", event["elapsed_ns"]))
        return {frame: sorted(verdicts) for frame, verdicts in rows.items()}

    def shown(self, path, *options):
        frames = self.wireshark.pdml("-r", path, "-Y", "roce.analysis.verdict", *options)
        return {wireshark.number_of(frame): sorted(map(self.named, verdicts_of(frame))) for frame in frames}

    def test_in_two_passes_is_that_of_roce_analyze(self):
        events = 0
        for path in CAPTURES:
            expected = self.expected(path)
            self.assertEqual(expected, self.shown(path, "-2"), path.name)
            events += sum(map(len, expected.values()))
        self.assertGreater(events, 1000)

    def test_interfaces_are_capture_points(self):
        sides = [wireshark.TOP / f"captures/softroce/rc-drop-requests.{side}.pcap" for side in ("tx", "rx")]
        both = self.wireshark.path("both.pcapng")
        subprocess.run(["mergecap", "-I", "none", "-w", both, *sides], check=True)
        both.chmod(0o644)
        shown = self.shown(both, "-2")
        self.assertEqual(self.expected(both), shown)
        # A packet that both saw was not sent twice.
        self.assertEqual(sum(map(len, shown.values())), sum(len(rows) for side in sides for rows in self.shown(side, "-2").values()))

    def test_in_one_pass_has_the_immediate_verdicts(self):
        retrospective = {info["verdict"] for info in self.analyze("rules", "--json") if info["when"] != IMMEDIATE}
        for path in CAPTURES:
            expected = self.expected(path, IMMEDIATE)
            shown = {}
            for frame, verdicts in self.shown(path).items():
                of_the_past = [verdict for verdict in verdicts if verdict[1] not in retrospective]
                if of_the_past:
                    shown[frame] = of_the_past
            self.assertEqual(expected, shown, path.name)

    def test_a_later_frame_tells_in_one_pass_what_became_certain(self):
        path = wireshark.TOP / "captures/softroce/rc-drop-requests.tx.pcap"
        lost = {event["frame"] for event in self.analyze("events", "--json", "--verdict", "request_lost_after", path)}
        self.assertTrue(lost)
        rows = self.wireshark.rows(["frame.number", "roce.analysis.about"], "-r", path, "-Y", "roce.analysis.about")
        told = {int(about) for number, abouts in rows for about in abouts if int(about) < int(number[0])}
        self.assertLessEqual(lost, told)

    def test_answers_and_requests_are_linked_both_ways(self):
        path = wireshark.TOP / "captures/softroce/rc-mix-v4.tx.pcap"
        rows = self.wireshark.rows(["frame.number", "roce.analysis.request", "roce.analysis.response", "roce.analysis.latency"],
                                   "-2", "-r", path, "-Y", "roce")
        answers = {}
        for number, request, _, latency in rows:
            if request:
                answers.setdefault(int(request[0]), (int(number[0]), latency))
        responses = {int(number[0]): (int(response[0]), latency) for number, _, response, latency in rows if response}
        self.assertGreater(len(answers), 10)
        for request, answer in answers.items():
            self.assertEqual(answer, responses[request])

    def test_marks_the_info_column(self):
        path = wireshark.TOP / "captures/softroce/rc-drop-requests.tx.pcap"
        wanted = {event["frame"] for event in self.analyze("events", "--json", "--verdict", "retransmission", path)}
        rows = self.wireshark.rows(["frame.number", "_ws.col.Info"], "-r", path)
        marked = {int(number[0]) for number, info in rows if "[RoCE Retransmission] " in info[0]}
        self.assertTrue(wanted)
        self.assertEqual(wanted, marked)
        rows = self.wireshark.rows(["frame.number", "_ws.col.Info"], "-r", path, preferences={"roce.marks": "false"})
        self.assertFalse([info for _, info in rows if "[RoCE " in info[0]])

    def test_begins_the_info_column_with_the_worst_and_says_each_fact_once(self):
        severities = {info["verdict"]: info["severity"] for info in self.analyze("rules", "--json")}
        order = ["error", "warning", "note"]
        for name in ("rc-drop-requests.tx.pcap", "rc-corrupt.rx.pcap", "rc-rnr.tx.pcap", "rc-ecn-ce.rx.pcap", "rc-errors.tx.pcap"):
            path = wireshark.TOP / "captures/softroce" / name
            expected = {frame: {verdict[1] for verdict in verdicts} for frame, verdicts in self.expected(path).items()}
            for number, info in self.wireshark.rows(["frame.number", "_ws.col.Info"], "-2", "-r", path, "-Y", "roce"):
                marks = re.findall(r"\[(?:RoCE )?([^\]]*)\]", re.match(r"(?:\[[^\]]*\] )*", info[0])[0])
                kinds = expected.get(int(number[0]), set()) - {"cnp"}
                self.assertEqual(len(kinds), len(marks), info)
                self.assertEqual("bad_icrc" in kinds, marks[:1] == ["ICRC bad"], info)
                worst = [order.index(severities[self.kind_of(mark)]) for mark in marks if mark != "ICRC bad"]
                self.assertEqual(sorted(worst), worst, info)
                for fact in ("NAK", "CE", "ICRC"):
                    self.assertLessEqual(len(re.findall(rf"\b{fact}\b", info[0])), 1, info)

    @staticmethod
    def kind_of(mark):
        name = mark.lower().replace("nak: psn ", "nak_").replace("nak: ", "nak_").replace(" ", "_")
        return name

    def test_expert_information_is_there_with_and_without_a_tree(self):
        path = wireshark.TOP / "captures/softroce/rc-drop-requests.tx.pcap"
        count = len(self.analyze("events", "--json", "--verdict", "retransmission", path))
        rows = self.wireshark.rows(["frame.number"], "-r", path, "-Y", "roce.analysis.retransmission")
        self.assertEqual(count, len(rows))
        lines = self.wireshark.tshark("-r", path, "-q", "-z", "expert").splitlines()
        sums = [int(line.split()[0]) for line in lines if re.search(r" RoCE  Retransmission: the requester sends it again", line)]
        self.assertEqual(count, sum(sums))
        # What the window groups them by.
        self.assertIn("\tRetransmission: the requester sends it again\troce.analysis.retransmission\t", self.wireshark.tshark("-G", "fields"))

    def test_a_bad_icrc_counts_once_in_expert_information(self):
        path = wireshark.TOP / "captures/softroce/rc-corrupt.rx.pcap"
        bad = len(self.analyze("decode", "--json", "--only-bad-icrc", path))
        self.assertGreater(bad, 10)
        for options in ([], ["-2"]):
            for preferences in ({}, {"roce.mode": "wrap"}, {"roce.analysis": "false"}):
                lines = self.wireshark.tshark(*options, "-r", path, "-q", "-z", "expert", preferences=preferences).splitlines()
                sums = [int(line.split()[0]) for line in lines if "ICRC" in line]
                self.assertEqual([bad], sums, (options, preferences))
        # It is found by either name.
        for filter_text in ("roce.icrc.bad", "roce.analysis.bad_icrc", "roce.analysis.bad_icrc && roce.icrc.bad"):
            self.assertEqual(bad, len(self.wireshark.rows(["frame.number"], "-r", path, "-Y", filter_text)), filter_text)

    def test_is_off_when_the_preference_says_so(self):
        path = wireshark.TOP / "captures/softroce/rc-drop-requests.tx.pcap"
        rows = self.wireshark.rows(["roce.stream"], "-r", path, "-Y", "roce.analysis", preferences={"roce.analysis": "false"})
        self.assertFalse(rows)


if __name__ == "__main__":
    wireshark.main()
