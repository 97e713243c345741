# SPDX-License-Identifier: BSD-2-Clause
"""What happened to every frame of a capture with ground truth, and what a capture at other points would have seen.

A capture NAME.tx.pcap has what the senders sent, NAME.rx.pcap what was delivered after faults were injected between
them (no such file: nothing was injected). Both were written by one program with one clock, which finished with a frame
before it took the next."""

import json
import os

from roce_frames import PSN_SPACE, RC, read_pcap, write_pcap

SIDES = {"a": (bytes([10, 77, 0, 2]), bytes.fromhex("fd770000000000000000000000000002"))}
SKEW = 5000  # ns
NEAR = 1 << 16  # PSNs: no sender of these captures is farther ahead of itself
VIEWS = {  # name: what is seen of the frames that each side sent, and by how much received frames are moved
    "tx": ({"a": "tx", "b": "tx"}, 0),
    "rx": ({"a": "rx", "b": "rx"}, 0),
    "hostA": ({"a": "tx", "b": "rx"}, 0),
    "hostA+5us": ({"a": "tx", "b": "rx"}, SKEW),
    "hostA-5us": ({"a": "tx", "b": "rx"}, -SKEW),
    "hostB": ({"a": "rx", "b": "tx"}, 0),
    "hostB+5us": ({"a": "rx", "b": "tx"}, SKEW),
    "hostB-5us": ({"a": "rx", "b": "tx"}, -SKEW),
}


class Arrival:
    """A frame as it was delivered. `copy` counts the deliveries of one sent frame from 0."""

    def __init__(self, frame, position, copy):
        self.frame, self.position, self.copy = frame, position, copy


class Sent:
    """A frame as it was sent, and what became of it: delivered, drop, corrupt, dup, ce or reorder."""

    def __init__(self, frame, position, side):
        self.frame, self.position, self.side = frame, position, side
        self.arrivals = []
        self.fate = "drop"
        self.flow = None  # of a request, or of the request that a response answers
        self.psn = None  # unwrapped
        self.psn_count = 1
        self.transmission = 0  # of a request: how often its PSN had been sent before

    @property
    def is_lost(self):
        return not any(arrival.frame.icrc_good for arrival in self.arrivals if arrival.frame.is_roce)

    @property
    def psns(self):
        return range(self.psn, self.psn + self.psn_count)


class Flow:
    """The requests of one connection in one direction, and the responses to them."""

    def __init__(self, number, key):
        self.number, self.key = number, key
        self.sent, self.answers = [], []  # requests, responses
        self.mtu = None

    def unwrap(self, psn, near):
        return near + (psn - near + PSN_SPACE // 2) % PSN_SPACE - PSN_SPACE // 2


class Entry:
    """A frame of a view."""

    def __init__(self, sent, frame, time, point, copy, arrival):
        self.sent, self.frame, self.time = sent, frame, time
        self.point = point  # "tx": the faults come after it; "rx": they came before
        self.copy, self.arrival = copy, arrival
        self.number = 0

    @property
    def is_sound(self):
        return self.frame.is_roce and self.frame.icrc_good


class Capture:
    def __init__(self, folder, name):
        self.name = name
        path = os.path.join(folder, name)
        self.truth = None
        if os.path.exists(path + ".truth.json"):
            with open(path + ".truth.json", encoding="utf-8") as file:
                self.truth = json.load(file)
        frames = read_pcap(path + ".tx.pcap")
        macs = {frame.data[6:12] for frame in frames if frame.is_roce and frame.source in SIDES["a"]}
        self.sent = [Sent(frame, position, "a" if frame.data[6:12] in macs else "b")
                     for position, frame in enumerate(frames)]
        self.has_rx = os.path.exists(path + ".rx.pcap")
        if self.has_rx:
            self._match(read_pcap(path + ".rx.pcap"))
        else:
            for sent in self.sent:
                sent.arrivals = [Arrival(sent.frame, sent.position, 0)]
                sent.fate = "delivered"
        self._make_flows()

    def _match(self, delivered):
        """Repeats the way of every frame. What left between two arrivals at the bridge is the frame that arrived, or
        one that it held back."""
        sides = {sent.frame.data[6:12]: sent.side for sent in self.sent}
        held = []
        position = 0

        def take(sent, fate):
            nonlocal position
            sent.arrivals.append(Arrival(delivered[position], position, len(sent.arrivals)))
            sent.fate = fate
            position += 1

        for index, sent in enumerate(self.sent):
            until = self.sent[index + 1].frame.time if index + 1 < len(self.sent) else float("inf")
            while position < len(delivered) and delivered[position].time <= until:
                frame = delivered[position]
                if sides.get(frame.data[6:12]) == sent.side and sent.fate in ("drop", "delivered"):
                    fate = self._changed(sent.frame, frame)
                    if fate == "delivered" and sent.arrivals:
                        fate = "dup"
                    if fate and (not sent.arrivals or fate == "dup"):
                        take(sent, fate)
                        continue
                late = next((other for other in held if other.frame.data == frame.data), None)
                if late is None:
                    break
                held.remove(late)
                take(late, "reorder")
            if sent.fate == "drop":
                held.append(sent)
        if position != len(delivered):
            raise ValueError(f"{self.name}: frame {position + 1} of the rx capture was not sent by anyone.")

    @staticmethod
    def _changed(before, after):
        if before.data == after.data:
            return "delivered"
        if len(before.data) != len(after.data):
            return None
        if before.is_roce and after.is_roce and after.ecn == 3 and before.without_ecn() == after.without_ecn():
            return "ce"
        difference = [x ^ y for x, y in zip(before.data, after.data) if x != y]
        return "corrupt" if len(difference) == 1 and bin(difference[0]).count("1") == 1 else None

    def events(self):
        """(number among the RoCE frames, what happened) for each frame that was not just delivered."""
        roce = [sent for sent in self.sent if sent.frame.is_roce]
        return [(number, sent.fate) for number, sent in enumerate(roce, 1) if sent.fate != "delivered"]

    def _make_flows(self):
        current = {}
        self.flows = []
        for sent in self.sent:
            frame = sent.frame
            if not frame.is_roce or not frame.is_request:
                continue
            key = (frame.source, frame.destination, frame.dest_qp, frame.service)
            flow = current.get(key)
            last = flow.sent[-1].frame.psn if flow else 0
            if flow is None or abs(flow.unwrap(frame.psn, last) - last) >= NEAR:  # the QP number is used again
                flow = current[key] = Flow(len(self.flows), key)
                self.flows.append(flow)
            sent.flow = flow
            flow.sent.append(sent)
        for sent in self.sent:
            if sent.frame.is_roce and sent.frame.is_response:
                self._pair(sent)
        for flow in self.flows:
            sizes = [size for size in (sent.frame.full_payload for sent in flow.sent + flow.answers) if size]
            flow.mtu = sizes[0] if sizes else self._stated_mtu(flow)
            self._count(flow)

    def _pair(self, sent):
        """A response belongs to the flow, in the opposite direction, of which it answers PSNs."""
        for flow in reversed(self.flows):
            ends = (sent.frame.destination, sent.frame.source)
            if flow.key[:2] == ends and flow.key[3] == RC and flow.sent[0].position < sent.position:
                if any(0 <= flow.unwrap(sent.frame.psn, request.frame.psn) - request.frame.psn
                       < max(1, -(-request.frame.dma_length // 256)) for request in flow.sent):
                    sent.flow = flow
                    flow.answers.append(sent)
                    return

    def _stated_mtu(self, flow):
        cases = (self.truth or {}).get("server") or []
        return next((case["mtu"] for case in cases if isinstance(case, dict) and "mtu" in case
                     and flow.key[2] in (case["me"]["qpn"], case["peer"]["qpn"])), 1024)

    def completions(self, flow):
        """The statuses of the completions that the requester of `flow` got."""
        cases = (self.truth or {}).get("server" if flow.sent[0].side == "a" else "client") or []
        return [done["st"] for case in cases if isinstance(case, dict) and case.get("peer", {}).get("qpn") == flow.key[2]
                for done in case["wc"]]

    @staticmethod
    def _count(flow):
        near = flow.sent[0].frame.psn
        sent_psns = {}
        next_psn = None
        for sent in flow.sent:
            sent.psn = near = flow.unwrap(sent.frame.psn, near)
            if sent.frame.is_read:
                sent.psn_count = max(1, -(-sent.frame.dma_length // flow.mtu))
            if next_psn is not None and sent.psn > next_psn:
                raise ValueError(f"The sender of flow {flow.number} left out PSN {next_psn}; the PSN counts are wrong.")
            next_psn = max(next_psn or sent.psn, sent.psn + sent.psn_count)
            sent.transmission = max(sent_psns.get(psn, 0) for psn in sent.psns)
            for psn in sent.psns:
                sent_psns[psn] = sent_psns.get(psn, 0) + 1
        for sent in flow.answers:
            sent.psn = flow.unwrap(sent.frame.psn, flow.sent[0].psn)

    def view(self, name):
        """The frames of a view by time, numbered from 1. Equal times keep the order in which the bridge worked."""
        points, skew = VIEWS[name]
        entries = []
        for sent in self.sent:
            if points[sent.side] == "tx":
                time = sent.frame.time
                entries.append((time, sent.position, 0, Entry(sent, sent.frame, time, "tx", 0, None)))
            else:
                for arrival in sent.arrivals:
                    time = arrival.frame.time + (skew if "host" in name else 0)
                    turn = (sent.position, 1) if points["a"] != points["b"] else (arrival.position, 1)
                    entries.append((time, *turn, Entry(sent, arrival.frame, time, "rx", arrival.copy, arrival)))
        entries.sort(key=lambda item: item[:3])
        view = [item[3] for item in entries]
        for number, entry in enumerate(view, 1):
            entry.number = number
        return view

    def write(self, name, folder):
        path = os.path.join(folder, f"{self.name}.{name}.pcap")
        write_pcap(path, [(entry.time, entry.frame.data) for entry in self.view(name)])
        return path


def names(folder):
    return sorted(file[:-len(".tx.pcap")] for file in os.listdir(folder) if file.endswith(".tx.pcap"))
