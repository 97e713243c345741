// SPDX-License-Identifier: BSD-2-Clause
// Work requests, posted: lists, of which each entry is posted until one is refused.
#include <endian.h>

#include <array>
#include <cstring>

#include "verbs/ibverbs/entries.h"
#include "verbs/ibverbs/memory_window.h"
#include "verbs/ibverbs/objects.h"
#include "verbs/ibverbs/results.h"

namespace roce::verbs {

namespace {

constexpr std::size_t kMostSges = 32;
constexpr std::size_t kMostInline = 1024;
constexpr std::uint32_t k24Bits = 0xFF'FFFF;

/// Room for what the spans of one request point to.
struct Room {
  std::array<transport::Sge, kMostSges> sges;
  std::array<std::byte, kMostInline> bytes;
};

[[nodiscard]] OrErrno<std::span<const transport::Sge>> sges_of(const ibv_sge* list, int count, Room& room) {
  if (count < 0 || static_cast<std::size_t>(count) > room.sges.size()) return refused(EINVAL);
  std::size_t used = 0;
  for (const ibv_sge& sge : std::span{list, static_cast<std::size_t>(count)}) {
    room.sges[used++] = {sge.addr, sge.length, LKey{sge.lkey}};
  }
  return std::span{room.sges}.first(used);
}

[[nodiscard]] OrErrno<Bytes> inline_data_of(const ibv_send_wr& request, Room& room) {
  std::size_t used = 0;
  for (const ibv_sge& sge : std::span{request.sg_list, static_cast<std::size_t>(request.num_sge)}) {
    if (sge.length > room.bytes.size() - used) return refused(EINVAL);
    std::memcpy(room.bytes.data() + used, reinterpret_cast<const void*>(sge.addr), sge.length);
    used += sge.length;
  }
  return std::span{room.bytes}.first(used);
}

[[nodiscard]] OrErrno<transport::WorkOpcode> opcode_of(ibv_wr_opcode opcode) {
  switch (opcode) {
    case IBV_WR_SEND:
      return transport::WorkOpcode::send;
    case IBV_WR_SEND_WITH_IMM:
      return transport::WorkOpcode::send_with_immediate;
    case IBV_WR_SEND_WITH_INV:
      return transport::WorkOpcode::send_with_invalidate;
    case IBV_WR_RDMA_WRITE:
      return transport::WorkOpcode::write;
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      return transport::WorkOpcode::write_with_immediate;
    case IBV_WR_RDMA_READ:
      return transport::WorkOpcode::read;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
      return transport::WorkOpcode::compare_swap;
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      return transport::WorkOpcode::fetch_add;
    case IBV_WR_LOCAL_INV:
      return transport::WorkOpcode::local_invalidate;
    case IBV_WR_BIND_MW:
      return transport::WorkOpcode::bind_mw;
    default:
      return refused(EOPNOTSUPP);
  }
}

void set_remote(const ibv_send_wr& from, ibv_qp_type type, transport::SendRequest& to) {
  if (type == IBV_QPT_UD) {
    to.datagram = {.ah = from.wr.ud.ah == nullptr ? transport::Ah{} : object_of(from.wr.ud.ah).handle_of_device,
                   .qpn = Qpn{from.wr.ud.remote_qpn & k24Bits},
                   .q_key = QKey{from.wr.ud.remote_qkey}};
    return;
  }
  if (to.opcode == transport::WorkOpcode::compare_swap || to.opcode == transport::WorkOpcode::fetch_add) {
    to.remote = {from.wr.atomic.remote_addr, RKey{from.wr.atomic.rkey}};
    to.compare_add = from.wr.atomic.compare_add;
    to.swap = from.wr.atomic.swap;
    return;
  }
  to.remote = {from.wr.rdma.remote_addr, RKey{from.wr.rdma.rkey}};
}

[[nodiscard]] OrErrno<transport::SendRequest> request_of(const ibv_send_wr& from, ibv_qp_type type, Room& room) {
  const auto opcode = opcode_of(from.opcode);
  if (!opcode) return refused(opcode.error());
  transport::SendRequest to;
  to.wr_id = from.wr_id;
  to.opcode = *opcode;
  to.signaled = (from.send_flags & IBV_SEND_SIGNALED) != 0;
  to.fence = (from.send_flags & IBV_SEND_FENCE) != 0;
  if (*opcode == transport::WorkOpcode::bind_mw) {
    if (from.bind_mw.mw == nullptr) return refused(EINVAL);
    to.bind = binding_of(*from.bind_mw.mw, from.bind_mw.rkey, from.bind_mw.bind_info);
    return to;
  }
  to.solicited = (from.send_flags & IBV_SEND_SOLICITED) != 0;
  to.is_inline = (from.send_flags & IBV_SEND_INLINE) != 0;
  const auto sges = sges_of(from.sg_list, from.num_sge, room);
  if (!sges) return refused(sges.error());
  if (to.is_inline) {
    const auto bytes = inline_data_of(from, room);
    if (!bytes) return refused(bytes.error());
    to.inline_data = *bytes;
  } else {
    to.sges = *sges;
  }
  if (*opcode == transport::WorkOpcode::send_with_invalidate || *opcode == transport::WorkOpcode::local_invalidate) {
    to.invalidate = RKey{from.invalidate_rkey};
  } else {
    to.immediate = be32toh(from.imm_data);
  }
  set_remote(from, type, to);
  if (type == IBV_QPT_XRC_SEND) to.xrc_srq = XrcSrqn{from.qp_type.xrc.remote_srqn & k24Bits};
  return to;
}

/// Posts a list of receives by `post`; sets `bad` to the one that is refused.
template <typename Post>
[[nodiscard]] int post_receives(ibv_recv_wr* request, ibv_recv_wr** bad, Post&& post) {
  Room room;
  for (; request != nullptr; request = request->next) {
    const auto sges = sges_of(request->sg_list, request->num_sge, room);
    const int error = !sges ? sges.error() : errno_of(post(transport::ReceiveRequest{request->wr_id, *sges}));
    if (error == 0) continue;
    *bad = request;
    return error;
  }
  return 0;
}

}  // namespace

int post_send(ibv_qp* qp, ibv_send_wr* request, ibv_send_wr** bad) {
  return status_of([&] {
    QpObject& object = object_of(qp);
    *bad = request;
    if (!object.engine->is_usable()) return EIO;
    return object.engine->post(object.qpn, [&](transport::Device& device) {
      Room room;
      for (; request != nullptr; request = request->next) {
        const auto wanted = request_of(*request, qp->qp_type, room);
        const int error = !wanted ? wanted.error() : errno_of(device.post_send(object.qpn, *wanted));
        if (error != 0) {
          *bad = request;
          return error;
        }
        // The program may hand the new key out at once.
        if (request->opcode == IBV_WR_BIND_MW) {
          ibv_mw& window = *request->bind_mw.mw;
          window.rkey = key_after_bind(window, request->bind_mw.rkey);
        }
      }
      return 0;
    });
  });
}

int post_receive(ibv_qp* qp, ibv_recv_wr* request, ibv_recv_wr** bad) {
  return status_of([&] {
    QpObject& object = object_of(qp);
    *bad = request;
    if (!object.engine->is_usable()) return EIO;
    return object.engine->use([&](transport::Device& device, Time) {
      return post_receives(request, bad, [&](const transport::ReceiveRequest& receive) {
        return device.post_receive(object.qpn, receive);
      });
    });
  });
}

int post_srq_receive(ibv_srq* srq, ibv_recv_wr* request, ibv_recv_wr** bad) {
  return status_of([&] {
    SrqObject& object = object_of(srq);
    *bad = request;
    if (!object.engine->is_usable()) return EIO;
    return object.engine->use([&](transport::Device& device, Time) {
      return post_receives(request, bad, [&](const transport::ReceiveRequest& receive) {
        return device.post_srq_receive(object.handle_of_device, receive);
      });
    });
  });
}

}  // namespace roce::verbs
