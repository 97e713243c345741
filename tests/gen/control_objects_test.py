# SPDX-License-Identifier: BSD-2-Clause
"""The objects that version 2 of the control protocol adds, on a peer whose queue pairs are connected to each other.

usage: control_objects_test.py ROCE_GEN SCHEMA [UNITTEST ARGUMENT...]

Every request and every answer has to be as the schema (docs/control.schema.json) says. Makes the namespaces itself, in a user
namespace of its own, so that it needs no privilege; prints why and exits with 77 where that is forbidden.
"""

import json
import os
import shutil
import sys
import tempfile
import unittest

import jsonschema
from control import Control
from live import WAIT, Program, Wire, enter_namespaces

REMOTE = ["remote_write", "remote_read", "remote_atomic", "mw_bind"]


class CheckedControl(Control):
    """A connection on which everything is compared with the schema."""

    def ask(self, op, **members):
        valid({"op": op, **members}, "request")
        answer = super().ask(op, **members)
        valid(answer, f"{op}_answer" if answer["ok"] else "error")
        return answer


def valid(value, definition):
    jsonschema.Draft202012Validator({**SCHEMA, "anyOf": [{"$ref": f"#/$defs/{definition}"}]}).validate(value)


class Objects(unittest.TestCase):
    def setUp(self):
        folder = tempfile.mkdtemp(prefix="roce-gen-")
        self.addCleanup(shutil.rmtree, folder)
        wire = Wire(1500)
        self.addCleanup(wire.close)
        path = os.path.join(folder, "control.sock")
        program = Program(ROCE_GEN, wire, "b", "peer", "-i", "v", "--control", path)
        self.addCleanup(program.end)
        self.control = CheckedControl(path)
        self.addCleanup(self.control.close)
        # Of a second client, whose objects are not those of the first.
        self.other = CheckedControl(path)
        self.addCleanup(self.other.close)
        self.call = self.control.call
        self.hello = self.call("hello", version=2)

    def refused(self, words, op, **members):
        # The request may be one that the schema does not have either.
        answer = Control.ask(self.control, op, **members)
        self.assertFalse(answer["ok"], answer)
        self.assertIn(words, answer["error"])

    def pair(self, **attributes):
        """Two QPs in RTS with each other, and the CQs of the first."""
        queues = {name: self.call("create_cq", size=16)["cq"] for name in ("send_cq", "receive_cq")}
        first = self.call("create_qp", type="rc", state="RESET", **queues, **attributes)["qp"]
        second = self.call("create_qp", type="rc", state="RESET")["qp"]
        for qp, peer, psn, peer_psn in ((first, second, 5, 0xFFFFFF), (second, first, 0xFFFFFF, 5)):
            self.assertEqual(self.call("qp_status", qp=qp)["state"], "RESET")
            self.call("modify_qp", qp=qp, state="INIT", access=["remote_write", "remote_read", "remote_atomic"])
            self.call("modify_qp", qp=qp, state="RTR", gid=self.hello["gid"], path_mtu=1024, dest_qp=peer, rq_psn=peer_psn,
                      max_dest_rd_atomic=4, min_rnr_timer=1)
            self.call("modify_qp", qp=qp, state="RTS", sq_psn=psn, max_rd_atomic=4, timeout=10, retry_count=1, rnr_retry=1)
        return first, second, queues

    def completion(self, **where):
        """The next completion, which has to come."""
        for _ in range(WAIT * 1000):
            if found := self.call("poll", max=1, **where)["completions"]:
                return found[0]
        self.fail("there is no completion")

    def event(self):
        for _ in range(WAIT * 1000):
            if found := self.call("poll_events", max=1)["events"]:
                return found[0]
        self.fail("there is no event")

    def test_features_are_told_to_version_2_only(self):
        self.assertIn("windows_2", self.hello["features"])
        self.assertEqual(self.hello["version"], 2)
        self.assertNotIn("features", self.other.hello)
        self.assertEqual(self.other.hello["version"], 1)
        self.refused("version 3 is not spoken here, 1 to 2 are", "hello", version=3)

    def test_a_region_is_a_part_of_a_memory_with_rights_of_its_own(self):
        first, _, queues = self.pair()
        memory = self.call("create_memory", length=12288)
        region = self.call("create_region", memory=memory["memory"], offset=256, length=1000,
                           access=["local_write", "remote_write"])
        self.assertEqual((region["address"], region["length"]), (memory["address"] + 256, 1000))
        self.call("fill_memory", memory=memory["memory"], length=8192, byte=0xC3)
        self.call("write_memory", memory=memory["memory"], offset=8192, data="5a" * 8)
        write = {"qp": first, "opcode": "write", "memory": memory["memory"], "offset": 8192, "length": 8, "r_key": region["r_key"]}
        self.call("post_send", wr_id=1, remote_address=region["address"] + 992, **write)
        self.assertEqual(self.completion(cq=queues["send_cq"])["status"], "success")
        self.assertEqual(self.call("read_memory", memory=memory["memory"], offset=240, length=1024)["data"],
                         "c3" * 1008 + "5a" * 8 + "c3" * 8)
        # A byte too far; the keys of the memory itself give no remote right.
        self.call("post_send", wr_id=2, remote_address=region["address"] + 993, **write)
        self.assertEqual(self.completion(cq=queues["send_cq"])["status"], "remote access error")
        self.assertEqual(self.event()["event"], "local access violation work queue error")
        self.call("destroy_region", region=region["region"])
        self.refused("\"region\" was not made by this connection", "destroy_region", region=region["region"])

    def test_a_region_of_another_pd_is_refused(self):
        first, second, queues = self.pair()
        pd = self.call("create_pd")["pd"]
        memory = self.call("create_memory", length=4096)
        region = self.call("create_region", memory=memory["memory"], access=["local_write", *REMOTE], pd=pd)
        self.call("post_send", qp=first, opcode="read", wr_id=3, memory=memory["memory"], length=8, remote_address=region["address"],
                  r_key=region["r_key"])
        self.assertEqual(self.completion(cq=queues["send_cq"]), {"wr_id": 3, "status": "remote access error", "opcode": "RDMA READ",
                                                               "qp": first, "byte_length": 8})
        self.assertEqual(self.call("qp_status", qp=second)["state"], "ERR")
        self.refused("destroy_pd: ", "destroy_pd", pd=pd)
        self.call("destroy_region", region=region["region"])
        self.call("destroy_pd", pd=pd)

    def test_a_window_is_bound_by_posting(self):
        first, second, queues = self.pair()
        memory = self.call("create_memory", length=4096)
        region = self.call("create_region", memory=memory["memory"], access=["local_write", "mw_bind"])
        window = self.call("create_window", type=2)
        bind = {"opcode": "bind_window", "window": window["window"], "region": region["region"], "bind_address": region["address"] + 64,
                "bind_length": 64, "access": ["remote_write"], "key_variant": 0x5A}
        self.call("post_send", qp=second, wr_id=4, **bind)
        self.assertEqual(self.completion()["status"], "success")
        key = self.call("window_status", window=window["window"])["r_key"]
        self.assertEqual((key & 0xFF, key >> 8), (0x5A, window["r_key"] >> 8))
        for offset, status in ((64, "success"), (128, "remote access error")):
            self.call("post_send", qp=first, opcode="write", memory=memory["memory"], offset=1024, length=8, r_key=key,
                      remote_address=region["address"] + offset)
            self.assertEqual(self.completion(cq=queues["send_cq"])["status"], status)
        self.call("destroy_window", window=window["window"])
        self.refused("\"window\" was not made by this connection", "window_status", window=window["window"])

    def test_data_lies_in_pieces_under_keys_that_the_device_judges(self):
        first, second, queues = self.pair(max_pieces=2)
        memory = self.call("create_memory", length=4096)
        region = self.call("create_region", memory=memory["memory"], access=["local_write"])
        self.call("write_memory", memory=memory["memory"], data="0102030405060708")
        pieces = [{"address": region["address"] + at, "length": 2, "l_key": region["l_key"]} for at in (6, 0)]
        self.call("post_receive", qp=second, wr_id=9, pieces=[{"address": region["address"] + 100, "length": 64, "l_key": region["l_key"]}])
        self.call("post_send", qp=first, opcode="send", pieces=pieces, wr_id=1)
        self.assertEqual(self.completion(cq=queues["send_cq"])["status"], "success")
        self.assertEqual((self.completion()["wr_id"], self.call("read_memory", memory=memory["memory"], offset=100, length=4)["data"]),
                         (9, "07080102"))
        pieces[1]["l_key"] ^= 0x100
        self.call("post_send", qp=first, opcode="send", pieces=pieces, wr_id=2)
        self.assertEqual(self.completion(cq=queues["send_cq"])["status"], "local protection error")
        self.refused("needs at most 16", "post_send", qp=first, opcode="send", pieces=pieces * 9)

    def test_a_state_is_changed_as_the_verb_does(self):
        first, second, queues = self.pair()
        memory = self.call("create_memory", length=4096)["memory"]
        for wr_id in (1, 2):
            self.call("post_receive", qp=first, memory=memory, wr_id=wr_id)
        self.refused("modify_qp: ", "modify_qp", qp=first, state="RTR")
        self.assertEqual(self.call("qp_status", qp=first)["state"], "RTS")
        self.call("modify_qp", qp=first, state="ERR")
        self.assertEqual([self.completion(cq=queues["receive_cq"])["wr_id"] for _ in range(2)], [1, 2])
        self.call("modify_qp", qp=first, state="RESET")
        self.assertEqual(self.call("qp_status", qp=first)["state"], "RESET")
        self.refused("the receives of this queue pair complete on a CQ of yours", "sink", qp=first, memory=memory, slot_bytes=8, slots=1, seed=1)
        self.assertEqual(self.call("qp_status", qp=second)["state"], "RTS")
        self.refused("there are RESET, INIT, RTR, RTS, SQD, SQE, ERR", "modify_qp", qp=first, state="BUSY")

    def test_a_queue_pair_gets_a_congestion_control(self):
        first, second, _ = self.pair()
        self.assertIn("congestion", self.hello["features"])
        self.assertNotIn("congestion", self.call("qp_status", qp=first))
        self.call("modify_qp", qp=first, congestion="dcqcn_mlx5,RPG_GD_P1=10")
        status = self.call("qp_status", qp=first)["congestion"]
        self.assertEqual((status["limited"], status["alpha"]), (False, 0))
        self.assertEqual(status["rate_bps"], status["target_bps"])
        self.call("modify_qp", qp=first, congestion="fixed,rate=3Mbit")
        self.assertEqual(self.call("qp_status", qp=first)["congestion"],
                         {"limited": True, "rate_bps": 3_000_000, "target_bps": 3_000_000, "alpha": 0})
        self.assertNotIn("congestion", self.call("qp_status", qp=second))
        self.call("modify_qp", qp=first, congestion="none")
        self.assertNotIn("congestion", self.call("qp_status", qp=first))
        self.refused('"congestion": expected none, fixed, dcqcn, dcqcn_mlx5 or rtt, found \'pcc\'', "modify_qp", qp=first,
                     congestion="pcc")
        self.refused('"congestion" needs the state RTS or SQD', "modify_qp", qp=first, state="ERR", congestion="dcqcn")
        self.assertEqual(self.call("qp_status", qp=first)["state"], "RTS")

    def test_queue_pairs_share_the_receives_of_an_srq(self):
        srq = self.call("create_srq", max_receive=4)["srq"]
        first, second, queues = self.pair(srq=srq)
        memory = self.call("create_memory", length=4096)["memory"]
        for wr_id in (1, 2, 3):
            self.call("post_receive", srq=srq, memory=memory, offset=64 * wr_id, length=64, wr_id=wr_id)
        self.call("arm_srq", srq=srq, limit=2)
        for wr_id in (1, 2):
            self.call("post_send", qp=second, opcode="send", memory=memory, length=8)
            found = self.completion(cq=queues["receive_cq"])
            self.assertEqual((found["wr_id"], found["status"], found["qp"]), (wr_id, "success", first))
        self.assertEqual(self.event(), {"event": "SRQ limit reached", "srq": srq})
        # The receive that is left stays when the QP goes to ERR.
        self.call("modify_qp", qp=first, state="ERR")
        self.assertEqual(self.event(), {"event": "last WQE reached", "qp": first, "srq": srq})
        self.assertEqual(self.call("poll", cq=queues["receive_cq"])["completions"], [])
        self.refused("without an SRQ", "post_receive", qp=first, memory=memory)
        self.refused("not for both", "post_receive", qp=first, srq=srq, memory=memory)
        self.refused("the receives of an SRQ", "sink", qp=first, memory=memory, slot_bytes=8, slots=1, seed=1)
        self.refused("destroy_srq: ", "destroy_srq", srq=srq)
        self.refused("at most the SRQ's capacity", "arm_srq", srq=srq, limit=5)
        self.call("destroy_qp", qp=first)
        self.call("destroy_srq", srq=srq)
        self.refused("\"srq\" was not made by this connection", "arm_srq", srq=srq, limit=1)

    def test_a_send_queue_that_drains_tells_if_it_is_asked_to(self):
        first, _, _ = self.pair()
        self.call("modify_qp", qp=first, state="SQD", sq_drained_notify=True)
        self.assertEqual(self.event(), {"event": "send queue drained", "qp": first})
        self.call("modify_qp", qp=first, state="RTS")
        self.call("modify_qp", qp=first, state="SQD", sq_drained_notify=False)
        self.call("modify_qp", qp=first, state="RTS")
        self.assertEqual(self.call("poll_events")["events"], [])
        self.refused("modify_qp: ", "modify_qp", qp=first, state="ERR", sq_drained_notify=True)

    def test_a_service_level_belongs_to_an_address(self):
        qp = self.call("create_qp", type="rc")["qp"]
        rtr = {"qp": qp, "state": "RTR", "path_mtu": 256, "dest_qp": qp, "rq_psn": 0, "max_dest_rd_atomic": 1, "min_rnr_timer": 12}
        self.refused('"service_level" needs "gid" beside it', "modify_qp", **rtr, service_level=3)
        self.refused('"service_level"', "modify_qp", **rtr, gid=self.hello["gid"], service_level=8)
        self.call("modify_qp", **rtr, gid=self.hello["gid"], service_level=7)
        self.assertEqual(self.call("qp_status", qp=qp)["state"], "RTR")

    def test_an_armed_completion_queue_makes_one_event(self):
        first, second, queues = self.pair()
        memory = self.call("create_memory", length=4096)["memory"]
        self.call("arm_cq", cq=queues["receive_cq"], solicited=True)
        for wr_id, solicited, events in ((1, False, []), (2, True, [{"event": "CQ ready", "cq": queues["receive_cq"]}]), (3, True, [])):
            self.call("post_receive", qp=first, memory=memory, length=64, wr_id=wr_id)
            self.call("post_send", qp=second, opcode="send", memory=memory, length=8, solicited=solicited)
            self.assertEqual(self.completion(cq=queues["receive_cq"])["wr_id"], wr_id)
            self.assertEqual(self.call("poll_events")["events"], events)
        self.refused("\"cq\" was not made by this connection", "arm_cq", cq=0xFFFF)

    def test_a_datagram_goes_from_a_queue_pair_of_another_pd(self):
        pd = self.call("create_pd")["pd"]
        sender = self.call("create_qp", type="ud", pd=pd)["qp"]
        receiver = self.call("create_qp", type="ud")["qp"]
        for qp in (sender, receiver):
            self.call("connect_qp", qp=qp, gid=self.hello["gid"], psn=1)
        memory = self.call("create_memory", length=4096)["memory"]
        self.call("post_receive", qp=receiver, memory=memory, wr_id=5)
        self.call("post_send", qp=sender, opcode="send", remote_qp=receiver, signaled=False)
        self.assertEqual(self.completion(), {"wr_id": 5, "status": "success", "opcode": "receive", "qp": receiver, "byte_length": 40,
                                             "source_qp": sender})

    def cm_events(self, control, *kinds):
        """The events of the communication manager that come next, which have to be of these kinds."""
        found = []
        for _ in range(WAIT * 1000):
            found += control.call("cm_events")["events"]
            if len(found) >= len(kinds):
                break
        self.assertEqual([event["event"] for event in found], list(kinds))
        return found

    def test_a_client_gives_the_orders_of_a_connection(self):
        # Two clients of one peer, whose communication manager connects itself.
        self.other.call("hello", version=2)
        self.assertIn("cm", self.hello["features"])
        service = 0x0106_1C07
        passive = self.call("create_qp", type="rc")["qp"]
        active = self.other.call("create_qp", type="rc")["qp"]
        self.call("cm_listen", service=service, qps=[{"qp": passive, "psn": 77}], waits=True)
        again = Control.ask(self.other, "cm_listen", service=service, qps=[])
        self.assertIn("cannot listen on RDMA port 7175", again["error"])
        self.refused("no request waits for an answer", "cm_accept")
        connect = {"qp": active, "gid": self.hello["gid"], "service": service, "psn": 99}
        self.other.call("cm_connect", private_data="0a0b", **connect)
        # The RDMA IP CM header comes first.
        self.assertEqual(self.cm_events(self.control, "request")[0]["private_data"][:4], "0a0b")
        self.call("cm_reject", reason=28, private_data="c0de")
        rejected = self.cm_events(self.other, "rejected")[0]
        self.assertEqual((rejected["reason"], rejected["private_data"][:4]), (28, "c0de"))
        self.other.call("destroy_qp", qp=active)
        connect["qp"] = self.other.call("create_qp", type="rc")["qp"]
        self.other.call("cm_connect", **connect)
        self.cm_events(self.control, "request")
        self.call("cm_accept")
        self.cm_events(self.other, "reply")
        self.cm_events(self.control, "established")
        self.assertEqual(self.call("qp_status", qp=passive)["remote_qp"], connect["qp"])
        memory = self.call("create_memory", length=64, access=REMOTE)
        source = self.other.call("create_memory", length=64)["memory"]
        self.other.call("write_memory", memory=source, data="5a" * 8)
        self.other.call("post_send", qp=connect["qp"], opcode="write", memory=source, length=8, wr_id=3, r_key=memory["r_key"],
                        remote_address=memory["address"])
        for _ in range(WAIT * 1000):
            if done := self.other.call("poll", max=1)["completions"]:
                break
        self.assertEqual(done[0]["status"], "success")
        self.assertEqual(self.call("read_memory", memory=memory["memory"], length=8)["data"], "5a" * 8)
        self.call("cm_disconnect", qp=passive)
        self.cm_events(self.other, "disconnected")
        self.assertEqual(self.other.call("qp_status", qp=connect["qp"])["state"], "ERR")
        self.cm_events(self.control, "disconnected")
        # Nobody listens any more once all is destroyed.
        self.call("destroy_all")
        connect["qp"] = self.other.call("create_qp", type="rc")["qp"]
        self.other.call("cm_connect", **connect)
        self.assertEqual(self.cm_events(self.other, "rejected")[0]["reason"], 8)
        # A service that the peer serves itself is the client's meanwhile, who has no QP for it here.
        rping = service - 1
        self.call("cm_listen", service=rping, qps=[])
        connect["qp"] = self.other.call("create_qp", type="rc")["qp"]
        self.other.call("cm_connect", **{**connect, "service": rping})
        self.cm_events(self.control, "request")
        self.assertEqual(self.cm_events(self.other, "rejected")[0]["reason"], 1)

    def test_everything_is_destroyed_at_once(self):
        first, second, queues = self.pair()
        self.call("create_qp", type="rc", srq=self.call("create_srq")["srq"])
        memory = self.call("create_memory", length=1 << 24, access=REMOTE)
        pd = self.call("create_pd")["pd"]
        window = self.call("create_window", type=1, pd=pd)["window"]
        self.call("post_receive", qp=second, memory=memory["memory"])
        self.call("modify_qp", qp=second, state="ERR")
        kept = self.other.call("create_memory", length=4096)["memory"]
        self.call("destroy_all")
        self.assertEqual(self.call("poll")["completions"], [])
        self.assertEqual(self.call("poll_events")["events"], [])
        for op, members in (("qp_status", {"qp": first}), ("read_memory", {"memory": memory["memory"]}), ("destroy_pd", {"pd": pd}),
                            ("destroy_window", {"window": window}), ("poll", {"cq": queues["send_cq"]})):
            self.refused("was not made by this connection", op, **members)
        # The connection goes on, and others keep what they have.
        self.pair()
        self.other.call("read_memory", memory=kept)

    def test_memory_can_outlive_what_used_it(self):
        memory = self.call("create_memory", length=4096, access=REMOTE)
        region = self.call("create_region", memory=memory["memory"], length=64)["region"]
        first, _, queues = self.pair()
        self.call("post_receive", qp=first, memory=memory["memory"])
        self.call("write_memory", memory=memory["memory"], data="0102")
        self.call("destroy_all", keep_memory=True)
        for op, members in (("qp_status", {"qp": first}), ("destroy_region", {"region": region}), ("poll", {"cq": queues["send_cq"]})):
            self.refused("was not made by this connection", op, **members)
        self.assertEqual(self.call("read_memory", memory=memory["memory"], length=2)["data"], "0102")
        self.call("create_region", memory=memory["memory"], length=64)
        self.call("destroy_all")
        self.refused("was not made by this connection", "read_memory", memory=memory["memory"])

    def test_memory_is_compared_with_a_pattern_a_byte_or_data(self):
        memory = self.call("create_memory", length=1 << 20)["memory"]
        self.call("fill_memory", memory=memory, byte=0xA5)
        self.call("fill_memory", memory=memory, offset=64, length=100, seed=7)
        self.call("write_memory", memory=memory, offset=1000, data="010203")
        parts = [{"length": 64, "byte": 0xA5}, {"offset": 64, "length": 100, "seed": 7}, {"offset": 164, "length": 836, "byte": 0xA5},
                 {"offset": 1000, "data": "010203"}, {"offset": 1003, "byte": 0xA5}]
        self.assertTrue(self.call("check_memory", memory=memory, parts=parts)["equal"])
        for offset, data in (((1 << 20) - 1, "00"), (1002, "04"), (999, "a4"), (163, "00"), (63, "a6"), (0, "00")):
            self.call("write_memory", memory=memory, offset=offset, data=data)
            self.assertEqual(self.call("check_memory", memory=memory, parts=parts)["wrong_at"], offset)
        self.assertEqual(self.call("check_memory", memory=memory, offset=2, length=10, byte=0xA5)["equal"], True)
        self.assertEqual(self.call("check_memory", memory=memory, offset=1000, data="010204")["equal"], True)
        self.refused("beyond the memory's end", "check_memory", memory=memory, offset=(1 << 20) - 1, data="0102")
        self.refused("\"byte\" is 256", "check_memory", memory=memory, byte=256)
        self.refused("\"data\"", "check_memory", memory=memory, data="xyz")
        self.refused("\"seed\" is missing", "check_memory", memory=memory)

    def test_memory_is_compared_by_its_digest(self):
        length = (600 << 10) + 5
        memory = self.call("create_memory", length=length)["memory"]
        self.call("fill_memory", memory=memory, seed=3)
        content = bytes.fromhex(self.call("read_memory", memory=memory)["data"])
        right = digest_of(content)
        self.assertEqual(len(content), length)
        self.assertEqual(self.call("check_memory", memory=memory, digest=right)["equal"], True)
        self.assertEqual(self.call("check_memory", memory=memory, offset=8, length=19, digest=digest_of(content[8:27]))["equal"], True)
        for offset in (0, (256 << 10) - 1, 256 << 10, length - 1):
            self.call("write_memory", memory=memory, offset=offset, data=f"{content[offset] ^ 1:02x}")
            answer = self.call("check_memory", memory=memory, digest=right)
            self.assertEqual((answer["equal"], "wrong_at" in answer), (False, False), offset)
            self.call("write_memory", memory=memory, offset=offset, data=f"{content[offset]:02x}")
        self.assertEqual(self.call("check_memory", memory=memory, digest=right)["equal"], True)
        self.refused("\"digest\" is -1", "check_memory", memory=memory, digest=-1)


def digest_of(content):
    """The digest that docs/control.md describes."""
    digest = 0
    for at in range(0, len(content), 8):
        digest = (digest ^ int.from_bytes(content[at:at + 8], "little")) * 0x9E3779B97F4A7C15 % 2**64
        digest ^= digest >> 29
    return digest


if __name__ == "__main__":
    enter_namespaces()
    ROCE_GEN = os.path.abspath(sys.argv[1])
    with open(sys.argv[2], encoding="utf-8") as file:
        SCHEMA = json.load(file)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
