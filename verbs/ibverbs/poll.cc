// SPDX-License-Identifier: BSD-2-Clause
// Completions, taken and put into the form of verbs.h.
#include <endian.h>

#include <algorithm>
#include <array>

#include "verbs/ibverbs/completion_queue.h"
#include "verbs/ibverbs/entries.h"
#include "verbs/ibverbs/objects.h"
#include "verbs/ibverbs/results.h"

namespace roce::verbs {

namespace {

constexpr std::size_t kBatch = 32;

[[nodiscard]] unsigned flag_if(bool is_set, ibv_wc_flags flag) {
  return is_set ? static_cast<unsigned>(flag) : 0U;
}

}  // namespace

ibv_wc_status wc_status_of(const transport::Completion& completion) {
  // RNICs report errors of keys so, which libibverbs has no status for.
  if (completion.opcode == transport::CompletionOpcode::local_invalidate &&
      completion.status == transport::CompletionStatus::local_qp_operation_error) {
    return IBV_WC_MW_BIND_ERR;
  }
  // The numbers are those of libibverbs.
  return static_cast<ibv_wc_status>(completion.status);
}

ibv_wc_opcode opcode_of(const transport::Completion& completion) {
  switch (completion.opcode) {
    case transport::CompletionOpcode::send:
      return IBV_WC_SEND;
    case transport::CompletionOpcode::write:
      return IBV_WC_RDMA_WRITE;
    case transport::CompletionOpcode::read:
      return IBV_WC_RDMA_READ;
    case transport::CompletionOpcode::compare_swap:
      return IBV_WC_COMP_SWAP;
    case transport::CompletionOpcode::fetch_add:
      return IBV_WC_FETCH_ADD;
    case transport::CompletionOpcode::atomic_write:
      return IBV_WC_ATOMIC_WRITE;
    case transport::CompletionOpcode::local_invalidate:
      return IBV_WC_LOCAL_INV;
    case transport::CompletionOpcode::bind_mw:
      return IBV_WC_BIND_MW;
    case transport::CompletionOpcode::receive_write_with_immediate:
      return IBV_WC_RECV_RDMA_WITH_IMM;
    default:
      return IBV_WC_RECV;
  }
}

unsigned flags_of(const transport::Completion& completion) {
  return flag_if(completion.has_network_header, IBV_WC_GRH) | flag_if(completion.has_immediate, IBV_WC_WITH_IMM) |
         flag_if(completion.has_invalidated, IBV_WC_WITH_INV);
}

__be32 immediate_of(const transport::Completion& completion) {
  return completion.has_invalidated ? completion.invalidated.value() : htobe32(completion.immediate);
}

std::uint8_t service_level_of(const CqObject& cq, const transport::Completion& completion) {
  constexpr std::uint8_t over_udp = 8;
  constexpr std::uint8_t ipv4 = 2;
  constexpr std::uint8_t ipv6 = 1;
  if (!completion.has_network_header) return completion.service_level;
  return over_udp | (object_of(cq.context->device).place.address.is_ipv4_mapped() ? ipv4 : ipv6);
}

namespace {

void write(const CqObject& cq, const transport::Completion& from, ibv_wc& to) {
  to.wr_id = from.wr_id;
  to.status = wc_status_of(from);
  to.opcode = opcode_of(from);
  to.vendor_err = from.syndrome;
  to.byte_len = from.byte_length;
  to.imm_data = immediate_of(from);
  to.qp_num = from.qpn.value();
  to.src_qp = from.source_qp.value();
  to.wc_flags = flags_of(from);
  to.pkey_index = from.p_key_index;
  to.slid = 0;
  to.sl = service_level_of(cq, from);
  to.dlid_path_bits = 0;
}

}  // namespace

int poll_cq(ibv_cq* cq, int count, ibv_wc* completions) {
  int total = 0;
  const int error = status_of([&] {
    CqObject& object = object_of(cq);
    if (!object.engine->is_usable()) return EIO;
    std::array<transport::Completion, kBatch> taken;
    while (total < count) {
      const std::size_t wanted = std::min(kBatch, static_cast<std::size_t>(count - total));
      const std::size_t found = object.engine->poll(object.handle_of_device, std::span{taken}.first(wanted));
      for (std::size_t i = 0; i < found; ++i) write(object, taken[i], completions[total++]);
      if (found < wanted) break;
    }
    return 0;
  });
  return error == 0 ? total : -1;
}

}  // namespace roce::verbs
