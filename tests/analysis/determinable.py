# SPDX-License-Identifier: BSD-2-Clause
"""The verdicts that a view calls for: what an analyser can know that has only the frames of the view, in their order.
docs/analysis.md, "Ground truth", has the rules in words."""

from roce_frames import UC
from verdict_kinds import NAKS


class Unit:
    """A verdict that a view calls for. `frame`: number of the frame in the view; `psns` for what is about PSNs."""

    def __init__(self, kind, entry, flow=None, psns=None, why=""):
        self.kind, self.entry, self.flow, self.psns, self.why = kind, entry, flow, psns, why

    @property
    def frame(self):
        return self.entry.number


class Request:
    """What a view has of one READ or atomic: its PSNs, and which were answered."""

    def __init__(self, entry):
        self.entry = entry
        self.first, self.last = entry.sent.psn, entry.sent.psns[-1]
        self.is_read = entry.frame.is_read
        self.next = self.first  # the response that comes next
        self.answered = set()  # since it was requested last
        self.ever = set()
        self.missing = set()
        self.was_passed = False
        self.is_repeated = False

    @property
    def is_answered(self):
        return all(psn in self.answered for psn in range(self.first, self.last + 1))


class Evidence:
    def __init__(self, view):
        self.units = []
        for entry in view:
            self._mark(entry)
        flows = {}
        for entry in view:
            if entry.is_sound and entry.sent.flow and not entry.copy:
                flows.setdefault(entry.sent.flow, []).append(entry)
        for flow, entries in flows.items():
            FlowEvidence(flow, entries, self._add)

    def _add(self, kind, entry, flow=None, psns=None, why=""):
        self.units.append(Unit(kind, entry, flow, psns, why))

    def _mark(self, entry):
        frame = entry.frame
        if not frame.is_roce:
            return
        if not frame.icrc_good:
            self._add("bad_icrc", entry)
            return
        if frame.ecn == 3:
            self._add("ce_mark", entry)
        if entry.copy:
            self._add("duplicate", entry)
        elif frame.is_nak:
            self._add(NAKS[frame.syndrome], entry)
        elif frame.is_rnr:
            self._add("rnr_nak", entry)


class FlowEvidence:
    """Goes through the sound frames of one flow, requests and responses, in the order of the view."""

    def __init__(self, flow, entries, add):
        self.flow, self.add = flow, add
        self.next_psn = None
        self.seen = {}  # PSN: the latest transmission that has it
        self.missing = {}  # PSN: the frame that revealed the gap
        self.run_next = None
        self.responses = []  # all so far
        self.open = []  # READs and atomics: `Request`
        self.mtu_seen = False
        self.suspects = {}  # PSN: the transmission that a NAK says did not arrive
        self.late_ends = set()  # PSNs behind requests that arrived late: what was sent with them was discarded
        self.discarded = set()  # requests that came while one in front of them was missing, or refused
        self.transmissions = []  # all requests so far
        self.last_again = 0  # the last frame that was sent again
        self.blocked = set()  # responses that came while an older READ or atomic had no answer
        for entry in entries:
            if entry.frame.is_request:
                self._request(entry)
            else:
                self._response(entry)
        for psn in list(self.suspects):
            self._convict(psn)
        for hole, reveal in self.missing.items():
            if hole not in self.seen and reveal.frame.service == UC:
                self.add("lost_for_good", reveal, self.flow, [hole], "gap of UC that nothing filled")
        self._give_up()

    # The end

    def _give_up(self):
        """The oldest request that got no answer, if it was sent more than once, or an RNR NAK refused it last: its
        requester gave up. (The captures do not end in between.)"""
        if not self.responses or any(e.frame.is_nak and NAKS[e.frame.syndrome] != "nak_sequence_error"
                                     for e in self.responses):
            return
        oldest = next((psn for psn in sorted(self.seen) if not self._was_ever_answered(psn)), None)
        if oldest is None:
            return
        last = self.seen[oldest]
        refusals = [e for e in self.responses if e.frame.is_rnr and e.sent.psn == oldest and e.number > last.number]
        if refusals:
            self.add("never_ready", last, why=f"refused by frame {refusals[-1].number}, not sent again")
        elif sum(oldest in e.sent.psns for e in self.transmissions) > 1:
            self.add("no_answer", last, why="sent again, never answered")

    def _was_ever_answered(self, psn):
        """Answers before the last transmission but one did not reach the requester: it sent again after them."""
        frame = self.seen[psn].frame
        sent = [e.number for e in self.transmissions if psn in e.sent.psns]
        since = [e for e in self.responses if len(sent) < 2 or e.number > sent[-2]]
        if frame.is_read or frame.is_atomic:
            return any(e.frame.is_answer and e.sent.psn == psn for e in since)
        return any(e.sent.psn > psn or (e.sent.psn == psn and e.frame.is_positive) for e in since)

    # Requests

    def _request(self, entry):
        psn, after = entry.sent.psn, entry.sent.psns[-1] + 1
        if self.next_psn is None:
            self.next_psn = psn
        again = None
        if psn > self.next_psn:
            if self._read_is_measured():
                self.add("gap", entry, self.flow, range(self.next_psn, psn))
            for hole in range(self.next_psn, psn):
                self.missing[hole] = entry
        elif psn < self.next_psn:
            if psn in self.seen:
                again = "seen before"
            elif psn in self.missing:
                again = self._reason(psn)
                if not again and self.last_again < self.missing[psn].number:
                    self.add("out_of_order", entry, why="behind a later PSN, and nothing asked for it again")
        is_start = again and self.run_next != psn
        if again:
            self.add("retransmission", entry, why=again)
            if psn in self.missing and psn not in self.seen:
                self.add("request_lost_before", self.missing[psn], self.flow, [psn], "gap, asked for, sent again")
            self._explain(entry, is_start)
            self._convict(psn)
        self.run_next = after if again else None
        if again:
            self.last_again = entry.number
        if any(hole < psn and hole not in self.seen for hole in self.missing) or self._is_refused(psn):
            self.discarded.add(entry.number)
        self.transmissions.append(entry)
        for each in entry.sent.psns:
            self.seen[each] = entry
            self.suspects.pop(each, None)
        self.next_psn = max(self.next_psn, after)
        self.mtu_seen = self.mtu_seen or entry.frame.full_payload is not None
        if entry.frame.is_read or entry.frame.is_atomic:
            self._open(entry)

    def _read_is_measured(self):
        """How many PSNs the last READ takes is known only when the path MTU was seen."""
        last = self.seen.get(self.next_psn - 1)
        return last is None or last.sent.psn_count == 1 or self.mtu_seen

    def _reason(self, psn):
        reveal = self.missing[psn]
        if any((e.frame.is_nak or e.frame.is_rnr) and e.sent.psn == psn and e.number > reveal.number
               for e in self.responses):
            return "gap that was NAKed"
        return "goes on with what is sent again" if self.run_next == psn else None

    def _is_refused(self, psn):
        """Whether the responder waits for a PSN in front of `psn` that was not sent again yet."""
        refusals = [e for e in self.responses if not e.frame.is_positive and e.sent.psn < psn]
        return any(e.sent.psn in self.seen and self.seen[e.sent.psn].number < e.number for e in refusals)

    def _open(self, entry):
        psn, last = entry.sent.psn, entry.sent.psns[-1]
        for request in self.open:
            if request.first <= psn and request.last == last:
                request.entry = entry  # the rest of it, or all, is asked for again
                request.is_repeated = True
                request.next = psn
                request.answered -= set(range(psn, last + 1))
                return
        self.open.append(Request(entry))

    # Responses

    def _response(self, entry):
        psn, frame = entry.sent.psn, entry.frame
        if frame.is_nak or frame.is_rnr:
            self._refusal(entry)
        else:
            for suspect in [each for each in self.suspects if each <= psn]:
                self._late(suspect)
            if any(request.last < psn and not request.is_answered for request in self.open):
                self.blocked.add(entry.number)
            self._passing(entry)
            if frame.is_answer:
                self._answer(entry)
        self.mtu_seen = self.mtu_seen or frame.full_payload is not None
        self.responses.append(entry)

    def _refusal(self, entry):
        psn = entry.sent.psn
        for suspect in [each for each in self.suspects if each < psn]:
            self._late(suspect)
        sent = self.seen.get(psn)
        if entry.frame.syndrome != 0x60 or not sent or sent.sent.psn != psn or sent.number in self.discarded:
            return
        between = [e for e in self.responses + self.transmissions if e.number > sent.number]
        if psn in self.missing or psn in self.late_ends or any(e.sent.psn < psn and e.frame.is_request or
                                                                 e.frame.is_nak or e.frame.is_rnr for e in between):
            return
        if not any(e.sent.psn == psn and not e.frame.is_positive for e in self.responses):
            self.suspects[psn] = sent

    def _late(self, psn):
        sent = self.suspects.pop(psn)
        self.late_ends.add(sent.sent.psns[-1] + 1)
        if sum(psn in e.sent.psns for e in self.transmissions) == 1:  # else the NAK may be about the one before
            self.add("request_late_after", sent, why="NAKed, then answered without being sent again")

    def _convict(self, psn):
        if psn in self.suspects:
            self.add("request_lost_after", self.suspects.pop(psn), why="NAKed, not answered before it was sent again")

    def _passing(self, entry):
        for request in self.open:
            if request.last < entry.sent.psn and not request.is_answered and not request.was_passed:
                request.was_passed = True
                if not request.is_repeated:
                    self.add("implied_nak", entry, why=f"passes the request of frame {request.entry.number}")

    def _answer(self, entry):
        psn = entry.sent.psn
        request = next((each for each in self.open if each.first <= psn <= each.last), None)
        if not request:
            return
        if psn > request.next:
            hole = range(request.next, psn)
            if not request.missing & set(hole) and not request.ever & set(hole):
                self.add("response_gap", entry, self.flow, hole)
            request.missing |= set(hole)
        elif entry.frame.is_read_response and psn < request.next and psn not in request.answered:
            self.add("response_out_of_order", entry, why="behind a later response to the same READ")
        request.answered.add(psn)
        request.ever.add(psn)
        request.missing.discard(psn)
        request.next = max(request.next, psn + 1)

    # Why something is sent again

    def _explain(self, entry, is_start):
        """The first packet that is sent again is the oldest of which its sender has no answer."""
        psn = entry.sent.psn
        earlier = self.seen.get(psn)
        if not is_start or earlier is None or self._has_older_unanswered(psn):
            return
        if not self.responses:
            return  # perhaps the view has one direction only
        since = [e for e in self.responses if e.number > earlier.number]
        if any(not e.frame.is_positive and e.sent.psn <= psn for e in since) or earlier.number in self.discarded:
            return  # asked for again, or discarded with what was
        if earlier.frame.is_read or earlier.frame.is_atomic:
            self._explain_answer(entry, earlier, since)
            return
        covering = [e for e in since if e.sent.psn > psn or (e.sent.psn == psn and e.frame.is_positive)]
        for each in covering:
            if each.frame.is_positive and each.number not in self.blocked:
                self.add("response_lost_after", each, why=f"acknowledges what is sent again in frame {entry.number}")
        if not covering and earlier.frame.ack_req:
            self.add("lost_beyond", earlier, why=f"not answered, sent again in frame {entry.number}")

    def _explain_answer(self, entry, earlier, since):
        psn = entry.sent.psn
        request = next(each for each in self.open if each.first <= psn <= each.last)
        answers = [e for e in since if e.sent.psn == psn and e.frame.is_answer and e.number not in self.blocked]
        passing = [e for e in since if e.sent.psn > request.last]
        if any(e.sent.psn == psn and e.frame.is_answer for e in since):
            # With a later response behind it, it may have been overtaken, which makes its requester ask again as well.
            kind = "response_not_in_time" if passing else "response_lost_after"
            for each in answers:
                if not any(e.number < each.number for e in passing):
                    self.add(kind, each, why=f"asked for again in frame {entry.number}")
        elif passing or request.answered:
            self.add("response_lost_before", earlier, self.flow, [psn],
                     f"executed, asked for again in frame {entry.number}")
        else:
            self.add("lost_beyond", earlier, why=f"not answered, sent again in frame {entry.number}")

    def _has_older_unanswered(self, psn):
        """Whether a request in front of `psn` still waits for its answer, as far as the view shows."""
        if any(hole < psn and hole not in self.seen for hole in self.missing):
            return True
        if any(request.first < psn and request.last < psn and not request.is_answered for request in self.open):
            return True
        acknowledged = max((e.sent.psn + (1 if e.frame.is_positive else 0) for e in self.responses), default=None)
        older = [each for each in self.seen if each < psn]
        if not older:
            return False
        last = self.seen[max(older)]
        if last.frame.is_read or last.frame.is_atomic:
            return False  # judged above, by its own answers
        return acknowledged is None or acknowledged <= max(older)
