# SPDX-License-Identifier: BSD-2-Clause
"""What judges the analysis is itself checked: against the truth files, and with verdicts that are right and wrong."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from fault_truth import VIEWS, Capture, names  # noqa: E402
from ground_truth import FOLDER, Case, check  # noqa: E402
from verdict_kinds import KINDS, NEVER, PSN_KINDS  # noqa: E402

DETERMINABLE = {  # in tx, rx, hostA, hostB: what recall is measured on must not shrink unnoticed
    "retransmission": (512, 486, 490, 508),
    "duplicate": (0, 36, 16, 20),
    "out_of_order": (0, 2, 0, 2),
    "bad_icrc": (1, 19, 15, 5),
    "ce_mark": (0, 37, 18, 19),
    "nak_sequence_error": (62, 61, 62, 61),
    "nak_remote_access_error": (7, 7, 7, 7),
    "nak_remote_operational_error": (2, 2, 2, 2),
    "rnr_nak": (29, 29, 29, 29),
    "gap": (0, 34, 25, 9),
    "response_gap": (0, 4, 1, 3),
    "implied_nak": (0, 11, 2, 9),
    "request_lost_after": (30, 0, 7, 22),
    "request_late_after": (1, 0, 1, 0),
    "response_lost_after": (5, 0, 0, 4),
    "response_not_in_time": (17, 0, 15, 2),
    "lost_beyond": (1, 0, 0, 2),
    "no_answer": (1, 0, 0, 1),
    "never_ready": (2, 2, 2, 2),
    "request_lost_before": (0, 22, 15, 7),
    "response_lost_before": (0, 17, 1, 16),
    "lost_for_good": (0, 9, 9, 0),
}


def verdict_of(unit):
    """What an analyser would print for a unit."""
    psns = unit.psns or [unit.entry.sent.psn or unit.entry.frame.psn]
    return {"verdict": unit.kind, "frame": unit.frame, "segment": 0, "cause": "none", "first_psn": psns[0] % (1 << 24),
            "psn_count": len(psns)}


class GroundTruth(unittest.TestCase):
    def test_truth_files_agree_and_no_rule_is_ever_false(self):
        self.assertEqual(list(check(FOLDER)), [])

    def test_events_are_those_of_the_truth_files(self):
        counted = {}
        for name in names(FOLDER):
            capture = Capture(FOLDER, name)
            if capture.truth:
                fates = [fate for _, fate in capture.events()]
                counted[name] = {fate: fates.count(fate) for fate in set(fates)}
                self.assertEqual(counted[name], capture.truth["bridge"]["actions"], name)
        self.assertEqual(sum(count for fates in counted.values() for count in fates.values()),
                         sum(len(Capture(FOLDER, name).truth["events"]) for name in counted))

    def test_the_determinable_set_is_what_it_was(self):
        counted = {kind: [0, 0, 0, 0] for kind in KINDS}
        for name in names(FOLDER):
            capture = Capture(FOLDER, name)
            for index, view in enumerate(("tx", "rx", "hostA", "hostB")):
                for unit in Case(capture, view).units:
                    counted[unit.kind][index] += 1
        self.assertEqual({kind: tuple(counts) for kind, counts in counted.items() if any(counts)}, DETERMINABLE)

    def test_views_are_in_order_and_complete(self):
        for name in ("rc-duplicate", "rc-drop-random", "rc-reorder"):
            capture = Capture(FOLDER, name)
            arrivals = sum(len(sent.arrivals) for sent in capture.sent)
            sizes = {view: len(capture.view(view)) for view in VIEWS}
            self.assertEqual((sizes["tx"], sizes["rx"]), (len(capture.sent), arrivals))
            self.assertEqual(sizes["hostA"] + sizes["hostB"], sizes["tx"] + sizes["rx"])
            for view in VIEWS:
                times = [entry.time for entry in capture.view(view)]
                self.assertEqual(times, sorted(times))

    def test_the_rx_view_is_the_rx_file(self):
        for name in names(FOLDER):
            capture = Capture(FOLDER, name)
            if capture.has_rx:
                positions = [entry.arrival.position for entry in capture.view("rx")]
                self.assertEqual(positions, list(range(len(positions))), name)

    def test_perfect_verdicts_pass_and_each_one_left_out_is_missed(self):
        case = Case(Capture(FOLDER, "rc-drop-random"), "hostB")
        verdicts = [verdict_of(unit) for unit in case.units]
        found, missed, wrong, _ = case.judge(verdicts)
        self.assertEqual((len(found), missed, wrong), (len(case.units), [], []))
        for left_out, unit in enumerate(case.units):
            _, missed, _, _ = case.judge(verdicts[:left_out] + verdicts[left_out + 1:])
            self.assertEqual(missed, [unit])

    def test_wrong_verdicts_are_false(self):
        case = Case(Capture(FOLDER, "rc-mix-v4"), "tx")
        for kind in KINDS:
            for entry in case.view:
                if entry.frame.is_roce:
                    verdict = {"verdict": kind, "frame": entry.number, "first_psn": entry.frame.psn, "psn_count": 1}
                    self.assertEqual(len(case.judge([verdict])[2]), 1, (kind, entry.number))

    def test_no_rule_is_broken(self):
        case = Case(Capture(FOLDER, "rc-mix-v4"), "tx")
        for kind in NEVER:
            verdict = {"verdict": kind, "frame": 1, "rule": "RC-RESP-02", "first_psn": 0, "psn_count": 1}
            self.assertEqual(len(case.judge([verdict])[2]), 1, kind)

    def test_losses_are_on_their_side_of_the_point(self):
        capture = Capture(FOLDER, "rc-drop-requests")
        lost = [sent for sent in capture.sent if sent.fate == "drop"]
        tx = Case(capture, "tx")
        for sent in lost:
            number = next(entry.number for entry in tx.view if entry.sent is sent)
            about = {"frame": number, "first_psn": sent.frame.psn, "psn_count": 1}
            self.assertEqual(tx.judge([{"verdict": "request_lost_after", **about}])[2], [])
            for kind in PSN_KINDS:
                self.assertEqual(len(tx.judge([{"verdict": kind, **about}])[2]), 1, kind)
        rx = Case(Capture(FOLDER, "rc-corrupt"), "rx")
        for entry in rx.view:
            if entry.sent.fate == "corrupt":
                for kind in ("request_lost_after", "response_lost_after"):
                    verdict = {"verdict": kind, "frame": entry.number, "first_psn": entry.frame.psn, "psn_count": 1}
                    self.assertEqual(len(rx.judge([verdict])[2]), 1, (kind, entry.number))


if __name__ == "__main__":
    unittest.main()
