// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <gtest/gtest.h>
#include <infiniband/verbs.h>
#include <poll.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace roce::test {

// Not as an enumerator: the macro ibv_reg_mr would combine it with one of another type.
inline constexpr unsigned kLocalWrite = IBV_ACCESS_LOCAL_WRITE;
inline constexpr unsigned kAllRights =
    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

inline constexpr unsigned kRightsOfRegion = kAllRights | IBV_ACCESS_MW_BIND;

class Verbs : public ::testing::Test {
 protected:
  void SetUp() override {
    int count = 0;
    devices_ = ibv_get_device_list(&count);
    ASSERT_EQ(count, 1);
    context_ = ibv_open_device(devices_[0]);
    ASSERT_NE(context_, nullptr);
    pd_ = ibv_alloc_pd(context_);
    ASSERT_NE(pd_, nullptr);
    channel_ = ibv_create_comp_channel(context_);
    cq_ = ibv_create_cq(context_, 10, this, channel_, 0);
    ASSERT_NE(cq_, nullptr);
    mr_ = ibv_reg_mr(pd_, memory_.data(), memory_.size(), kRightsOfRegion);
    ASSERT_NE(mr_, nullptr);
  }
  void TearDown() override {
    EXPECT_EQ(ibv_dereg_mr(mr_), 0);
    EXPECT_EQ(ibv_destroy_cq(cq_), 0);
    EXPECT_EQ(ibv_destroy_comp_channel(channel_), 0);
    EXPECT_EQ(ibv_dealloc_pd(pd_), 0);
    EXPECT_EQ(ibv_close_device(context_), 0);
    ibv_free_device_list(devices_);
  }

  [[nodiscard]] ibv_qp* make_qp(ibv_srq* srq = nullptr, bool builds = false) {
    ibv_qp_init_attr_ex init{};
    init.send_cq = init.recv_cq = cq_;
    init.srq = srq;
    init.cap = {.max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
    init.qp_type = IBV_QPT_RC;
    init.comp_mask = IBV_QP_INIT_ATTR_PD;
    init.pd = pd_;
    if (builds) {
      init.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
      init.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_SEND;
    }
    return ibv_create_qp_ex(context_, &init);
  }

  /// Brings a QP to RTS, with another QP of the device as its peer.
  void connect(ibv_qp* qp, std::uint32_t peer) {
    ibv_qp_attr to{};
    to.qp_state = IBV_QPS_INIT;
    to.port_num = 1;
    to.qp_access_flags = kAllRights;
    ASSERT_EQ(ibv_modify_qp(qp, &to, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), 0);
    to.qp_state = IBV_QPS_RTR;
    to.path_mtu = IBV_MTU_1024;
    to.dest_qp_num = peer;
    to.max_dest_rd_atomic = 1;
    to.min_rnr_timer = 12;
    to.ah_attr.is_global = 1;
    to.ah_attr.port_num = 1;
    ASSERT_EQ(ibv_query_gid(context_, 1, 0, &to.ah_attr.grh.dgid), 0);
    ASSERT_EQ(ibv_modify_qp(qp, &to,
                            IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
              0);
    to.qp_state = IBV_QPS_RTS;
    to.timeout = 14;
    to.retry_cnt = to.rnr_retry = 7;
    to.max_rd_atomic = 1;
    ASSERT_EQ(ibv_modify_qp(qp, &to,
                            IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                                IBV_QP_MAX_QP_RD_ATOMIC),
              0);
  }

  [[nodiscard]] ibv_sge piece(std::size_t offset, std::uint32_t length) {
    return {reinterpret_cast<std::uintptr_t>(memory_.data() + offset), length, mr_->lkey};
  }

  /// Returns a signaled request with this piece of local memory.
  [[nodiscard]] static ibv_send_wr request_of(ibv_wr_opcode opcode, ibv_sge& local) {
    ibv_send_wr request{};
    request.sg_list = &local;
    request.num_sge = 1;
    request.opcode = opcode;
    request.send_flags = IBV_SEND_SIGNALED;
    return request;
  }

  [[nodiscard]] static bool is_readable(int fd, std::chrono::milliseconds wait) {
    pollfd polled{.fd = fd, .events = POLLIN, .revents = 0};
    return ::poll(&polled, 1, static_cast<int>(wait.count())) == 1;
  }

  /// Waits for a completion as long as a test may take.
  [[nodiscard]] ibv_wc completion() {
    ibv_wc out{};
    int count = 0;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{30};
    while (count == 0 && std::chrono::steady_clock::now() < end) count = ibv_poll_cq(cq_, 1, &out);
    EXPECT_EQ(count, 1);
    return out;
  }

  static constexpr std::chrono::milliseconds kLong{30'000};

  ibv_device** devices_ = nullptr;
  ibv_context* context_ = nullptr;
  ibv_pd* pd_ = nullptr;
  ibv_comp_channel* channel_ = nullptr;
  ibv_cq* cq_ = nullptr;
  ibv_mr* mr_ = nullptr;
  std::array<char, 8192> memory_{};
};

}  // namespace roce::test
