# SPDX-License-Identifier: BSD-2-Clause
"""Whether a verdict about a view is true: from what happened to each frame, whether or not the view shows it."""

from roce_frames import UC
from verdict_kinds import COMPLETIONS, NAKS

SEQUENCE_ERROR = 0x60
LEAST_TIMEOUT = 12_000_000  # ns: the shortest ACK timeout of these captures is 16.8 ms, and they react within 10 ms


class Truth:
    """Its methods return why a verdict is false, or an empty text."""

    def __init__(self, capture, view):
        self.capture, self.view = capture, view
        self.sound = [entry for entry in view if entry.is_sound]
        self._order()

    def _order(self):
        """Which frames of a flow are behind ones that were sent after them, and what a view has seen before each."""
        latest, self.behind = {}, set()
        for entry in self.sound:
            if not entry.sent.flow or entry.copy:
                continue
            key = (entry.sent.flow, entry.frame.is_request)
            if latest.get(key, -1) > entry.sent.position:
                self.behind.add(entry.number)
            latest[key] = max(latest.get(key, -1), entry.sent.position)

    def frame(self, kind, entry):
        sent, frame = entry.sent, entry.frame
        if not frame.is_roce:
            return "it is no RoCE packet"
        request = frame.is_request
        lost = sent.is_lost
        checks = {
            "retransmission": lambda: "" if request and sent.transmission else "this PSN was never sent before",
            "duplicate": lambda: "" if entry.copy else "nobody copied this frame",
            "bad_icrc": lambda: "the ICRC is right" if frame.icrc_good else "",
            "ce_mark": lambda: "" if frame.ecn == 3 else "it carries no CE mark",
            "rnr_nak": lambda: "" if frame.is_rnr and frame.icrc_good else "it is no RNR NAK",
            "out_of_order": lambda: "" if request and entry.number in self.behind
            else "it did not fall behind in the network",
            "response_out_of_order": lambda: "" if frame.is_response and entry.number in self.behind
            else "it did not fall behind in the network",
            "request_lost_after": lambda: self._after(entry, request, lost),
            "response_lost_after": lambda: self._after(entry, frame.is_response, lost),
            "request_late_after": lambda: "" if request and entry.point == "tx" and self._was_overtaken(sent)
            else "it was not delayed behind this point",
            "response_not_in_time": lambda: self._after(entry, frame.is_response, lost or self._was_overtaken(sent)),
            "lost_beyond": lambda: self._beyond(entry),
            "no_answer": lambda: self._given_up(kind, entry),
            "never_ready": lambda: self._given_up(kind, entry),
        }
        if kind in NAKS.values():
            return "" if frame.is_nak and frame.icrc_good and NAKS.get(frame.syndrome) == kind else "it is no such NAK"
        return checks[kind]()

    @staticmethod
    def cause(sent, cause):
        """About the reason for which a request was sent again: what asked for it must have reached its requester, and a
        requester whose timer ran out must have been silent."""
        sequence = sent.flow.sent
        index = sequence.index(sent)
        while index and sequence[index - 1].transmission and sequence[index].psn in (
                sequence[index - 1].psn, sequence[index - 1].psn + sequence[index - 1].psn_count):
            index -= 1
        begin = sequence[index]
        before = [s for s in sequence[:index] if begin.psn in s.psns]
        asked = [a for a in sent.flow.answers if not a.is_lost and a.position < begin.position
                 and (not before or a.position > before[-1].position)]
        naks = [a for a in asked if a.frame.is_nak and a.frame.syndrome == SEQUENCE_ERROR]
        if cause == "nak":
            return "" if any(a.psn <= begin.psn for a in naks) else "no NAK for it reached its requester"
        if cause == "rnr":
            return "" if any(a.frame.is_rnr for a in asked) else "no RNR NAK reached its requester"
        if cause == "timeout":
            if index and begin.frame.time - sequence[index - 1].frame.time < LEAST_TIMEOUT:
                return "its requester was not silent for so long"
            soon = [a for a in naks if a.psn == begin.psn and begin.frame.time - a.frame.time < LEAST_TIMEOUT]
            return "a NAK for it had just reached its requester" if soon else ""
        return ""

    def _given_up(self, kind, entry):
        """Whether its application got the completion, for this request and not for a later one."""
        if not entry.frame.is_request:
            return "it is no request"
        sent = entry.sent
        if any(other.position > sent.position and sent.psn in other.psns for other in sent.flow.sent):
            return "it was sent again"
        if COMPLETIONS[kind] not in self.capture.completions(sent.flow):
            return f"its application did not get completion {COMPLETIONS[kind]}"
        arrived = [a for a in sent.flow.answers if a.position > sent.position and not a.is_lost and a.frame.is_positive
                   and a.psn >= sent.psn]
        return "an answer to it arrived" if arrived else ""

    @staticmethod
    def _after(entry, right_sort, lost):
        if not right_sort:
            return "it is of the other sort"
        if entry.point == "rx":
            return "this point is behind the place where frames were lost"
        return "" if lost else f"it arrived ({entry.sent.fate})"

    @staticmethod
    def _was_overtaken(sent):
        if not sent.flow or not sent.arrivals:
            return False
        others = sent.flow.sent if sent.frame.is_request else sent.flow.answers
        return any(other.arrivals and other.position > sent.position
                   and other.arrivals[0].position < sent.arrivals[0].position for other in others)

    def _beyond(self, entry):
        """Lost on the responder's side of the view, or its answer was, or the responder never answered at all."""
        sent = entry.sent
        if not entry.frame.is_request:
            return "it is no request"
        if sent.is_lost:
            return "" if entry.point == "tx" else "it did not arrive here"
        again = next((other.position for other in sent.flow.sent if other.position > sent.position
                      and sent.psn in other.psns), 1 << 60)
        own = entry.frame.is_read or entry.frame.is_atomic
        answers = [answer for answer in sent.flow.answers if sent.position < answer.position < again
                   and (answer.psn in sent.psns if own else answer.psn >= sent.psn)]
        if any(answer.is_lost for answer in answers) and self._point_of_answers(entry) == "rx":
            return ""
        if not sent.flow.answers:
            return ""  # the responder's host took it and has no such QP
        return "it arrived, and its answer came through to this point"

    def beyond(self, entry, psns):
        """The same about several requests that end with that of `entry`: one of them."""
        why = self._beyond(entry)
        latest = {e.sent.psn: e for e in self.sound if e.number <= entry.number and e.sent.flow is entry.sent.flow
                  and e.frame.is_request and e.sent.psn in psns}
        return "" if any(not self._beyond(e) for e in latest.values()) else why

    def _point_of_answers(self, entry):
        sides = {other.sent.side: other.point for other in self.view}
        return sides["b" if entry.sent.side == "a" else "a"] if len(sides) > 1 else entry.point

    def point(self, flow, responses):
        """Where this view sees the requests of `flow`, or the responses to it."""
        side = flow.sent[0].side
        if responses:
            side = "b" if side == "a" else "a"
        return next((entry.point for entry in self.view if entry.sent.side == side), "tx")

    def psn(self, kind, entry, psn):
        """About a PSN that was not seen; `entry` is the frame to which the verdict is attached."""
        flow = entry.sent.flow
        if kind == "missed_by_capture":
            return "the capture has every frame that came by"
        if kind == "request_lost_before":
            if self.point(flow, False) != "rx":
                return "requests were lost only behind this point"
            return "" if any(s.is_lost and psn in s.psns for s in flow.sent) else "no request with this PSN was lost"
        if kind == "lost_for_good":
            if flow.sent[0].frame.service != UC:
                return "the connection repeats what is lost"
            if self.point(flow, False) != "rx":
                return "requests were lost only behind this point"
            return "" if any(s.is_lost and psn in s.psns for s in flow.sent) else "no request with this PSN was lost"
        if kind == "response_lost_before":
            if self.point(flow, True) != "rx":
                return "responses were lost only behind this point"
            request = next((s for s in flow.sent if psn in s.psns), None)
            if not request:
                return "there is no such request"
            own = request.frame.is_read or request.frame.is_atomic
            again = next((s.position for s in flow.sent if s.position > request.position and psn in s.psns), 1 << 60)
            return "" if any(s.is_lost and (s.psn == psn if own else psn <= s.psn and s.position < again)
                             for s in flow.answers) else "no answer to this PSN was lost"
        if kind == "reordered":
            late = any(s.fate == "reorder" and psn in s.psns for s in flow.sent + flow.answers)
            return "" if late else "nothing overtook it"
        raise KeyError(kind)

    def answered_psns(self, flow, before):
        """The PSNs of READs and atomics that were answered since they were requested last."""
        answered = set()
        for e in self.sound:
            if e.number < before and e.sent.flow is flow:
                if e.frame.is_answer:
                    answered.add(e.sent.psn)
                elif e.frame.is_request:
                    answered -= set(e.sent.psns)
        return answered

    def gap(self, kind, entry, psns):
        """`psns`: what the verdict says is missing in front of its frame."""
        flow, frame = entry.sent.flow, entry.frame
        if not flow or (frame.is_request if kind == "response_gap" else frame.is_response) or not entry.is_sound:
            return "it is of the other sort"
        if any(psn >= entry.sent.psn for psn in psns):
            return "the gap is not in front of it"
        if kind == "response_gap":
            seen = self.answered_psns(flow, entry.number)
            asked = {psn for s in flow.sent if s.position < entry.sent.position for psn in s.psns
                     if s.frame.is_read or s.frame.is_atomic}
            return "" if all(psn in asked and psn not in seen for psn in psns) else "it was seen, or never asked for"
        seen = {e.sent.position for e in self.sound if e.number < entry.number}
        for psn in psns:
            last = next((s for s in reversed(flow.sent) if s.position < entry.sent.position and psn in s.psns), None)
            if last is None or last.position in seen:
                return "a PSN that is said to be missing was never sent, or was seen when it was sent last"
        return ""

    def _psns_left(self, request, entry):
        """The PSNs of `request` that were not asked for again before `entry`: the rest is judged by that."""
        again = [e for e in self.sound if request.number < e.number < entry.number
                 and e.sent.flow is request.sent.flow and e.frame.is_request and e.sent.psn in request.sent.psns]
        return [] if any(e.sent.psn == request.sent.psn for e in again) else request.sent.psns if not again else \
            range(min(e.sent.psn for e in again), request.sent.psns[-1] + 1)

    def implied_nak(self, entry):
        if not entry.frame.is_response or not entry.is_sound:
            return "it is no response"
        flow = entry.sent.flow
        answered = self.answered_psns(flow, entry.number)
        for other in self.sound:
            if other.number >= entry.number:
                break
            if other.sent.flow is flow and (other.frame.is_read or other.frame.is_atomic):
                left = self._psns_left(other, entry)
                if other.sent.psns[-1] < entry.sent.psn and any(psn not in answered for psn in left):
                    return ""
        return "every READ and atomic in front of it was answered"
