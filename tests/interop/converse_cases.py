# SPDX-License-Identifier: BSD-2-Clause
"""`roce-replay converse` and `send`: captured connections once more, with Linux's Soft-RoCE as the other side."""

import base64
import ipaddress
import json
import os
import subprocess
import zlib

from stage import Case

CAPTURES = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "captures", "softroce")
PORT = 18515
# The path MTU of a 1500-byte network.
MTU = 1024
PSN = 0xFFFFF0
FIFO = "/tmp/converse"
# As in the capture.
UCMATOSE = "-C 3 -S 300"


def full_gid(address):
    """All eight groups of a GID, as pyverbs takes it."""
    return ipaddress.IPv6Address(address if ":" in address else f"::ffff:{address}").exploded


def of_base64(data):
    return base64.b64encode(bytes.fromhex(data)).decode()


def packed(data):
    return base64.b64encode(zlib.compress(bytes.fromhex(data))).decode()


class ConverseCases(Case):
    def file(self, name):
        return os.path.join(CAPTURES, f"{name}.tx.pcap")

    def converse(self, side, name, *words):
        return self.replay("converse", "-i", self.network.interface, "--json", "--mtu", MTU, "--as", side, *words, self.file(name))

    def assert_as_captured(self, ours, all_of_them):
        report = ours.event("conversation", 60)
        self.assertTrue(report["ok"], report)
        done = sum(report[name] for name in ("requests_completed", "messages_arrived", "requests_carried_out"))
        self.assertEqual((done, report["all"]), (all_of_them, all_of_them), report)
        self.assertEqual(report["differences"], [])
        self.assertEqual(ours.wait(), 0, ours.explain("It failed."))
        return report

    # Programs that nobody has to tell what to do.

    def pingpong(self):
        return f"ibv_rc_pingpong -d rxe0 -g {self.guest.gid_index(self.network.guest4)} -n 20 -s 3000 -m {MTU} -p {PORT}"

    def test_requester_with_ibv_rc_pingpong(self):
        theirs = self.in_guest(self.pingpong())
        theirs.wait_listening(PORT)
        ours = self.converse("requester", "pp-rc-drop", "--pingpong", PORT, "--to", self.network.guest4)
        self.assert_as_captured(ours, 40)
        self.assertEqual(theirs.wait().code, 0, theirs.output())

    def test_responder_with_ibv_rc_pingpong(self):
        ours = self.converse("responder", "pp-rc-drop", "--pingpong", PORT)
        ours.event("listening")
        theirs = self.in_guest(f"{self.pingpong()} {self.network.host4}")
        self.assert_as_captured(ours, 40)
        self.assertEqual(theirs.wait().code, 0, theirs.output())

    # ucmatose's server is the first to send.

    def test_responder_with_ucmatose_that_listens(self):
        theirs = self.in_guest(f"ucmatose -b {self.network.guest4} {UCMATOSE}")
        self.listening(7471)
        ours = self.converse("responder", "cm-ucmatose", "--connect", "--cm", 7471, "--to", self.network.guest4)
        self.assert_as_captured(ours, 6)
        self.assertEqual(theirs.wait().code, 0, theirs.output())

    def test_requester_with_ucmatose_that_connects(self):
        ours = self.converse("requester", "cm-ucmatose", "--listen", "--cm", 7471)
        ours.event("listening")
        theirs = self.in_guest(f"ucmatose -s {self.network.host4} {UCMATOSE}")
        self.assert_as_captured(ours, 6)
        self.assertEqual(theirs.wait().code, 0, theirs.output())

    # An end that is told what it does.

    def told(self, name, stream):
        """What the connection is: its memory, and its requests."""
        said = subprocess.run([self.roce_replay, "converse", "--dry-run", "--details", "--json", "--stream", str(stream),
                               self.file(name)], stdout=subprocess.PIPE, check=True)
        events = [json.loads(line) for line in said.stdout.splitlines()]
        return ([event for event in events if event["event"] == "captured_memory"],
                [event for event in events if event["event"] == "captured_request"])

    def guest_end(self, **told):
        """Starts an end in the guest. Returns its process and what it says of itself."""
        self.guest.check(f"rm -f {FIFO}; mkfifo {FIFO}")
        with open(os.path.join(os.path.dirname(__file__), "guest_verbs.py"), "rb") as script:
            self.guest.put(script.read(), "/tmp/verbs.py")
        order = {"gid_index": self.guest.gid_index(self.network.guest4), "path_mtu": MTU, "psn": PSN, **told}
        process = self.guest.popen(f"python3 /tmp/verbs.py {FIFO}", json.dumps(order).encode() + b"\n")
        self._processes.append(process)
        return process, self.says(process, 0)

    def says(self, process, number, timeout=60):
        """The line of that number that a process in the guest prints."""
        lines = process.wait_lines(number + 1, timeout)
        return json.loads(lines[number])

    def tell(self, **message):
        self.assertEqual(self.guest.run(f"cat > {FIFO}", 60, json.dumps(message).encode() + b"\n").code, 0)

    def requester(self, name, stream):
        memory, requests = self.told(name, stream)
        memory = [region for region in memory if region["side"] == 1]
        messages = [request for request in requests if request["opcode"] == "send" or "immediate" in request]
        theirs, end = self.guest_end(regions=[packed(region["before"]) for region in memory], receives=len(messages),
                                     receive_bytes=max((message["length"] for message in messages), default=0))
        places = [word for region, place in zip(memory, end["regions"]) for word in
                  ("--remote-memory", f"{region['r_key']}:{region['address']}={place['r_key']}:{place['address']}")]
        ours = self.converse("requester", name, "--stream", stream, "--to", self.network.guest4, *places)
        own = ours.event("queue_pair")
        self.tell(gid=full_gid(own["gid"]), qpn=own["qp"], psn=own["psn"], requests=[])
        self.assertTrue(self.says(theirs, 1)["connected"])
        ours.tell(f"{end['qpn']} {end['psn']}")
        self.assert_as_captured(ours, len(requests))
        self.tell()
        result = self.says(theirs, 2)
        self.assertEqual([received["data"] for received in result["received"]],
                         [of_base64(message["data"]) if message["opcode"] == "send" else "" for message in messages])
        self.assertEqual([received["immediate"] for received in result["received"]],
                         [message.get("immediate") for message in messages])
        self.assertEqual([zlib.decompress(base64.b64decode(region)) for region in result["regions"]],
                         [bytes.fromhex(region["after"]) for region in memory])

    def responder(self, name, stream):
        _, requests = self.told(name, stream)
        ours = self.converse("responder", name, "--stream", stream, "--to", self.network.guest4)
        memory = {}
        while True:
            event = ours.event(("memory", "queue_pair"))
            if event["event"] == "queue_pair":
                break
            memory[event["captured_r_key"]] = event
        theirs, end = self.guest_end(regions=[], receives=0, receive_bytes=0)
        ours.tell(f"{end['qpn']} {end['psn']}")
        orders = []
        for request in requests:
            order = {key: request[key] for key in ("opcode", "length", "immediate", "compare_add", "swap") if key in request}
            if "r_key" in request:
                place = memory[request["r_key"]]
                order.update(r_key=place["r_key"], address=request["remote_address"] - place["captured_address"] + place["address"])
            if request["opcode"] in ("send", "write"):
                order["data"] = of_base64(request["data"])
            orders.append(order)
        self.tell(gid=full_gid(event["gid"]), qpn=event["qp"], psn=event["psn"], requests=orders)
        report = self.assert_as_captured(ours, len(requests))
        self.assertGreater(report["compared_bytes"], 0)
        self.tell()
        result = self.says(theirs, 2)
        for request, completion in zip(requests, result["completions"], strict=True):
            self.assertEqual(completion["status"], 0, (request, completion))
            if request["opcode"] == "read":
                self.assertEqual(completion["data"], of_base64(request["data"]))


    # Frames, changed for the guest: it takes them for a live requester's.

    def play(self, name, stream, *faults):
        """Sends what the requester of a capture sent. Returns the packets, by how much the guest's counters rose, the guest's end and its process,
        and the memory and requests of the capture."""
        memory, requests = self.told(name, stream)
        memory = [region for region in memory if region["side"] == 1]
        requester, responder = "10.77.0.3", "10.77.0.2"
        extract = os.path.join(self.folder, "requester.pcapng")
        self.analyze("extract", "-Y", f"ip.src == {requester}", "-o", extract, self.file(name))
        packets = self.decoded(extract)
        (number,) = {packet["bth"]["dest_qp"] for packet in packets}
        # What it was that the other side numbered stands in no packet of this one.
        (number_of_requester,) = {packet["bth"]["dest_qp"] for packet in self.decoded(self.file(name)) if packet["ip"]["dst"] == requester}
        messages = [request for request in requests if request["opcode"] == "send" or "immediate" in request]
        (path_mtu,) = {found["path_mtu"] for found in self.analyze("streams", "--json", self.file(name))}
        theirs, end = self.guest_end(path_mtu=path_mtu, regions=[packed(region["before"]) for region in memory],
                                     receives=len(messages) if not faults else 0,
                                     receive_bytes=max((message["length"] for message in messages), default=0))
        self.tell(gid=full_gid(self.network.host4), qpn=number_of_requester, psn=packets[0]["bth"]["psn"], requests=[])
        self.assertTrue(self.says(theirs, 1)["connected"])
        maps = ["--ip-map", f"{requester}={self.network.host4}", "--ip-map", f"{responder}={self.network.guest4}",
                "--destination-mac", self.network.guest_mac, "--qpn-map", f"{number}={end['qpn']}"]
        for region, place in zip(memory, end["regions"]):
            maps += ["--r-key-map", f"{region['r_key']}={place['r_key']}",
                     "--va-map", f"{region['address']}+{len(region['before']) // 2}={place['address']}"]
        received = self.guest.hw_counters()["rcvd_pkts"]
        with self.counted() as rose:
            ours = self.replay("send", "-i", self.network.interface, "--json", *maps, *faults, extract)
            self.assertEqual(ours.event("send", 60)["frames"], len(packets))
            self.assertEqual(ours.wait(), 0, ours.explain("It failed."))
            if not faults:
                self.wait_for("rcvd_pkts", len(packets), received)
        self.tell()
        return packets, rose, self.says(theirs, 2), memory, messages

    def test_a_rewritten_capture_is_accepted(self):
        for name in ("rc-drop-requests", "rc-drop-responses"):
            with self.subTest(name):
                said = self.guest.dmesg().count("ICRC")
                packets, rose, result, memory, messages = self.play(name, 0)
                self.assertEqual(rose["rcvd_pkts"], len(packets))
                self.assertEqual(self.guest.dmesg().count("ICRC"), said)
                self.assertEqual([received["data"] for received in result["received"]],
                                 [of_base64(message["data"]) if message["opcode"] == "send" else "" for message in messages])
                self.assertEqual([zlib.decompress(base64.b64decode(region)) for region in result["regions"]],
                                 [bytes.fromhex(region["after"]) for region in memory])

    def test_a_damaged_capture_is_not_accepted(self):
        _, rose, result, memory, _ = self.play("rc-drop-requests", 0, "-e", "corrupt")
        self.assertEqual(rose["rcvd_pkts"], 0)
        self.assertEqual([zlib.decompress(base64.b64decode(region)) for region in result["regions"]],
                         [bytes.fromhex(region["before"]) for region in memory])


# In these only one side has requests.
STREAMS = {"rc-mtu-sweep": 2, "rc-drop-atomic-ack": 0, "rc-drop-requests": 0, "rc-drop-responses": 0, "rc-corrupt": 0, "rc-drop-read-middle": 0}


def add_cases():
    for name, stream in STREAMS.items():
        for side in ("requester", "responder"):
            setattr(ConverseCases, f"test_{side}_of_{name.replace('-', '_')}",
                    lambda self, side=side, name=name, stream=stream: getattr(self, side)(name, stream))


add_cases()
