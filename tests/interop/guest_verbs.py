#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""One end of an RC connection on rxe0, by pyverbs, as it is told: memory, receives, and requests that are posted one after the other.

Lines of JSON. On standard input: {"gid_index", "path_mtu", "psn", "regions": [WHAT IS IN IT], "receives", "receive_bytes"}. On
standard output then {"qpn", "psn", "regions": [{"address", "r_key"}]}. From the FIFO that is the argument: {"gid" (EIGHT GROUPS OF FOUR DIGITS), "qpn",
"psn", "requests": [{"opcode", "data" or "length", "address", "r_key", "immediate", "compare_add", "swap"}]}, whereupon it connects and says
{"connected": true}; and, when the other end is through, any line. Last on standard output {"completions": [{"status", "data"}], "received":
[{"data", "immediate"}], "regions": [WHAT IS IN IT NOW]}.
What is in memory is base64 of what zlib made of it.
"""

import base64
import json
import sys
import zlib

from pyverbs import enums
from pyverbs.addr import GID, AHAttr, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, RecvWR, SendWR

RIGHTS = (enums.IBV_ACCESS_LOCAL_WRITE | enums.IBV_ACCESS_REMOTE_WRITE | enums.IBV_ACCESS_REMOTE_READ |
          enums.IBV_ACCESS_REMOTE_ATOMIC)
MTUS = {256: enums.IBV_MTU_256, 512: enums.IBV_MTU_512, 1024: enums.IBV_MTU_1024, 2048: enums.IBV_MTU_2048, 4096: enums.IBV_MTU_4096}
# By what the request is, and whether it has immediate data.
OPCODES = {
    ("send", False): enums.IBV_WR_SEND, ("send", True): enums.IBV_WR_SEND_WITH_IMM,
    ("write", False): enums.IBV_WR_RDMA_WRITE, ("write", True): enums.IBV_WR_RDMA_WRITE_WITH_IMM,
    ("read", False): enums.IBV_WR_RDMA_READ,
    ("compare_swap", False): enums.IBV_WR_ATOMIC_CMP_AND_SWP, ("fetch_add", False): enums.IBV_WR_ATOMIC_FETCH_AND_ADD,
}
RECEIVE = 1 << 62
# 4.096 us · 2^18: about a second.
TIMEOUT, RETRIES = 18, 7


def say(**message):
    print(json.dumps(message), flush=True)


class End:
    def __init__(self, told):
        self.told = told
        self.context = Context(name="rxe0")
        self.pd = PD(self.context)
        self.cq = CQ(self.context, 1024)
        self.regions = []
        for text in told["regions"]:
            data = zlib.decompress(base64.b64decode(text))
            region = MR(self.pd, len(data), RIGHTS)
            region.write(data, len(data))
            self.regions.append((region, len(data)))
        self.slot = max(1, told["receive_bytes"])
        self.receives = MR(self.pd, self.slot * max(1, told["receives"]), RIGHTS)
        self.buffer = MR(self.pd, 1 << 20, RIGHTS)
        capabilities = QPCap(max_send_wr=16, max_recv_wr=max(1, told["receives"]))
        self.qp = QP(self.pd, QPInitAttr(qp_type=enums.IBV_QPT_RC, scq=self.cq, rcq=self.cq, cap=capabilities),
                     QPAttr(port_num=1))
        self.qp.to_init(self.attributes())
        for number in range(told["receives"]):
            sge = SGE(self.receives.buf + number * self.slot, self.slot, self.receives.lkey)
            self.qp.post_recv(RecvWR(wr_id=RECEIVE + number, num_sge=1, sg=[sge]))
        self.received, self.completions = [], []

    def attributes(self):
        attributes = QPAttr(port_num=1)
        attributes.qp_access_flags = RIGHTS
        return attributes

    def connect(self, other):
        attributes = self.attributes()
        attributes.path_mtu = MTUS[self.told["path_mtu"]]
        attributes.dest_qp_num, attributes.rq_psn, attributes.sq_psn = other["qpn"], other["psn"], self.told["psn"]
        attributes.max_rd_atomic = attributes.max_dest_rd_atomic = 16
        attributes.min_rnr_timer, attributes.timeout = 12, TIMEOUT
        attributes.retry_cnt = attributes.rnr_retry = RETRIES
        route = GlobalRoute(dgid=GID(other["gid"]), sgid_index=self.told["gid_index"])
        route.hop_limit = 64
        attributes.ah_attr = AHAttr(gr=route, is_global=1, port_num=1)
        self.qp.to_rtr(attributes)
        self.qp.to_rts(attributes)

    def poll(self):
        """What has completed of our own requests."""
        count, completions = self.cq.poll(16)
        ended = []
        for completion in completions[:count]:
            if completion.wr_id < RECEIVE:
                ended.append(completion)
                continue
            number, is_write = completion.wr_id - RECEIVE, completion.opcode == enums.IBV_WC_RECV_RDMA_WITH_IMM
            data = b"" if is_write else self.receives.read(completion.byte_len, number * self.slot)
            has_immediate = completion.wc_flags & enums.IBV_WC_WITH_IMM
            # In the order of the wire.
            immediate = int.from_bytes(completion.imm_data.to_bytes(4, "little"), "big") if has_immediate else None
            self.received.append({"data": base64.b64encode(data).decode(), "immediate": immediate})
        return ended

    def request(self, request):
        data = base64.b64decode(request["data"]) if "data" in request else b""
        length = len(data) or request.get("length", 0)
        if data:
            self.buffer.write(data, len(data))
        sges = [SGE(self.buffer.buf, length, self.buffer.lkey)] if length else []
        immediate = request.get("immediate")
        work = SendWR(wr_id=len(self.completions), opcode=OPCODES[request["opcode"], immediate is not None],
                      num_sge=len(sges), sg=sges, send_flags=enums.IBV_SEND_SIGNALED,
                      imm_data=int.from_bytes((immediate or 0).to_bytes(4, "big"), "little"))
        if request["opcode"] in ("compare_swap", "fetch_add"):
            work.set_wr_atomic(request["r_key"], request["address"], request["compare_add"], request["swap"])
        elif request["opcode"] != "send":
            work.set_wr_rdma(request["r_key"], request["address"])
        self.qp.post_send(work)
        ended = []
        while not ended:
            ended = self.poll()
        brought = self.buffer.read(length, 0) if length and not data else b""
        self.completions.append({"status": ended[0].status, "data": base64.b64encode(brought).decode()})


def main():
    end = End(json.loads(sys.stdin.readline()))
    say(qpn=end.qp.qp_num, psn=end.told["psn"], regions=[{"address": region.buf, "r_key": region.rkey} for region, _ in end.regions])
    with open(sys.argv[1], encoding="ascii") as orders:
        other = json.loads(orders.readline())
    end.connect(other)
    say(connected=True)
    for request in other["requests"]:
        end.request(request)
    with open(sys.argv[1], encoding="ascii") as orders:
        orders.readline()
    while end.poll() or len(end.received) < end.told["receives"]:
        pass
    say(completions=end.completions, received=end.received,
        regions=[base64.b64encode(zlib.compress(region.read(size, 0))).decode() for region, size in end.regions])


main()
