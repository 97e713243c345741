// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/ibverbs/work_builder.h"

#include <cerrno>
#include <span>

#include "verbs/ibverbs/entries.h"
#include "verbs/ibverbs/objects.h"

namespace roce::verbs {

namespace {

constexpr std::uint64_t kKinds = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_SEND |
                                 IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ |
                                 IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD |
                                 IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_SEND_WITH_INV | IBV_QP_EX_WITH_BIND_MW;

[[nodiscard]] WorkBuilder& builder_of(ibv_qp_ex* qp) {
  return *static_cast<QpObject*>(qp)->builder;
}

ibv_send_wr& begin(ibv_qp_ex* qp, ibv_wr_opcode opcode) {
  return builder_of(qp).begin(*qp, opcode);
}

ibv_send_wr& begin_rdma(ibv_qp_ex* qp, ibv_wr_opcode opcode, std::uint32_t rkey, std::uint64_t address) {
  ibv_send_wr& request = begin(qp, opcode);
  request.wr.rdma = {address, rkey};
  return request;
}

void set_sends(ibv_qp_ex& qp) {
  qp.wr_send = [](ibv_qp_ex* self) { begin(self, IBV_WR_SEND); };
  qp.wr_send_imm = [](ibv_qp_ex* self, __be32 immediate) { begin(self, IBV_WR_SEND_WITH_IMM).imm_data = immediate; };
  qp.wr_send_inv = [](ibv_qp_ex* self, std::uint32_t rkey) {
    begin(self, IBV_WR_SEND_WITH_INV).invalidate_rkey = rkey;
  };
  qp.wr_local_inv = [](ibv_qp_ex* self, std::uint32_t rkey) { begin(self, IBV_WR_LOCAL_INV).invalidate_rkey = rkey; };
}

void set_binds(ibv_qp_ex& qp) {
  qp.wr_bind_mw = [](ibv_qp_ex* self, ibv_mw* mw, std::uint32_t rkey, const ibv_mw_bind_info* info) {
    begin(self, IBV_WR_BIND_MW).bind_mw = {mw, rkey, *info};
  };
}

void set_rdma(ibv_qp_ex& qp) {
  qp.wr_rdma_read = [](ibv_qp_ex* self, std::uint32_t rkey, std::uint64_t address) {
    begin_rdma(self, IBV_WR_RDMA_READ, rkey, address);
  };
  qp.wr_rdma_write = [](ibv_qp_ex* self, std::uint32_t rkey, std::uint64_t address) {
    begin_rdma(self, IBV_WR_RDMA_WRITE, rkey, address);
  };
  qp.wr_rdma_write_imm = [](ibv_qp_ex* self, std::uint32_t rkey, std::uint64_t address, __be32 immediate) {
    begin_rdma(self, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, address).imm_data = immediate;
  };
  qp.wr_atomic_cmp_swp = [](ibv_qp_ex* self, std::uint32_t rkey, std::uint64_t address, std::uint64_t compare,
                            std::uint64_t swap) {
    begin(self, IBV_WR_ATOMIC_CMP_AND_SWP).wr.atomic = {address, compare, swap, rkey};
  };
  qp.wr_atomic_fetch_add = [](ibv_qp_ex* self, std::uint32_t rkey, std::uint64_t address, std::uint64_t add) {
    begin(self, IBV_WR_ATOMIC_FETCH_AND_ADD).wr.atomic = {address, add, 0, rkey};
  };
}

void set_setters(ibv_qp_ex& qp) {
  qp.wr_set_sge = [](ibv_qp_ex* self, std::uint32_t lkey, std::uint64_t address, std::uint32_t length) {
    const ibv_sge sge{address, length, lkey};
    builder_of(self).set_sges(&sge, 1);
  };
  qp.wr_set_sge_list = [](ibv_qp_ex* self, std::size_t count, const ibv_sge* sges) {
    builder_of(self).set_sges(sges, count);
  };
  qp.wr_set_inline_data = [](ibv_qp_ex* self, void* address, std::size_t length) {
    const ibv_data_buf piece{address, length};
    builder_of(self).set_inline_data(&piece, 1);
  };
  qp.wr_set_inline_data_list = [](ibv_qp_ex* self, std::size_t count, const ibv_data_buf* pieces) {
    builder_of(self).set_inline_data(pieces, count);
  };
  qp.wr_set_ud_addr = [](ibv_qp_ex* self, ibv_ah* ah, std::uint32_t qpn, std::uint32_t q_key) {
    builder_of(self).set_address(ah, qpn, q_key);
  };
  qp.wr_set_xrc_srqn = [](ibv_qp_ex* self, std::uint32_t number) { builder_of(self).set_srq(number); };
}

}  // namespace

bool WorkBuilder::knows(std::uint64_t send_ops_flags) {
  return (send_ops_flags & ~kKinds) == 0;
}

void WorkBuilder::set_functions(ibv_qp_ex& qp) {
  set_sends(qp);
  set_rdma(qp);
  set_binds(qp);
  set_setters(qp);
  qp.wr_start = [](ibv_qp_ex* self) { builder_of(self).start(); };
  qp.wr_complete = [](ibv_qp_ex* self) { return builder_of(self).complete(self->qp_base); };
  qp.wr_abort = [](ibv_qp_ex* self) { builder_of(self).start(); };
}

void WorkBuilder::start() {
  requests_.clear();
  error_ = 0;
}

template <typename Change>
void WorkBuilder::change_last(Change&& change) noexcept {
  // These functions return nothing: the program learns of a mistake when it completes the list.
  try {
    if (!requests_.empty()) change(requests_.back());
  } catch (...) {
    error_ = ENOMEM;
  }
}

ibv_send_wr& WorkBuilder::begin(const ibv_qp_ex& qp, ibv_wr_opcode opcode) noexcept {
  try {
    requests_.emplace_back();
  } catch (...) {
    error_ = ENOMEM;
    return refused_.wr;
  }
  ibv_send_wr& request = requests_.back().wr;
  request.wr_id = qp.wr_id;
  request.opcode = opcode;
  request.send_flags = qp.wr_flags;
  return request;
}

void WorkBuilder::set_sges(const ibv_sge* sges, std::size_t count) noexcept {
  change_last([&](Request& request) { request.sges.assign(sges, sges + count); });
}

void WorkBuilder::set_inline_data(const ibv_data_buf* pieces, std::size_t count) noexcept {
  change_last([&](Request& request) {
    for (const ibv_data_buf& piece : std::span{pieces, count}) {
      const auto* bytes = static_cast<const std::byte*>(piece.addr);
      request.inline_data.insert(request.inline_data.end(), bytes, bytes + piece.length);
    }
    request.wr.send_flags |= IBV_SEND_INLINE;
    request.sges = {{reinterpret_cast<std::uintptr_t>(request.inline_data.data()),
                     static_cast<std::uint32_t>(request.inline_data.size()), 0}};
  });
}

void WorkBuilder::set_address(ibv_ah* ah, std::uint32_t qpn, std::uint32_t q_key) noexcept {
  change_last([&](Request& request) { request.wr.wr.ud = {ah, qpn, q_key}; });
}

void WorkBuilder::set_srq(std::uint32_t number) noexcept {
  change_last([&](Request& request) { request.wr.qp_type.xrc.remote_srqn = number; });
}

int WorkBuilder::complete(ibv_qp& qp) {
  ibv_send_wr* next = nullptr;
  for (auto request = requests_.rbegin(); request != requests_.rend(); ++request) {
    request->wr.sg_list = request->sges.data();
    request->wr.num_sge = static_cast<int>(request->sges.size());
    request->wr.next = next;
    next = &request->wr;
  }
  ibv_send_wr* bad = nullptr;
  const int error = error_ != 0 || next == nullptr ? error_ : post_send(&qp, next, &bad);
  start();
  return error;
}

}  // namespace roce::verbs
