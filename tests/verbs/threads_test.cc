// SPDX-License-Identifier: BSD-2-Clause
// Eight threads that share a CQ and an SRQ while another makes and destroys objects. Run through roce-run, and with the
// thread and address sanitizers in program and library.
#include <endian.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <span>
#include <thread>
#include <vector>

#include "api_rig.h"

namespace roce::test {
namespace {

constexpr std::uint32_t kThreads = 8;
constexpr std::uint32_t kMessages = 3000;  // of each thread
constexpr std::uint32_t kUnderWay = 8;     // requests of each thread
constexpr std::uint32_t kReceives = 64;
constexpr std::uint32_t kPiece = 64;            // bytes of each receive
constexpr std::uint64_t kReceived = 1U << 20U;  // in the wr_id of receives

class SharedVerbs : public Verbs {
 protected:
  void SetUp() override {
    Verbs::SetUp();
    ASSERT_EQ(ibv_resize_cq(cq_, kThreads * kUnderWay + kReceives), 0);
    ibv_srq_init_attr shared{.srq_context = nullptr, .attr = {.max_wr = kReceives, .max_sge = 1, .srq_limit = 0}};
    srq_ = ibv_create_srq(pd_, &shared);
    ASSERT_NE(srq_, nullptr);
    region_ = ibv_reg_mr(pd_, bytes_.data(), bytes_.size() * sizeof bytes_.front(), kRightsOfRegion);
    ASSERT_NE(region_, nullptr);
    for (ibv_qp*& qp : qps_) {
      qp = make_qp(srq_);
      ASSERT_NE(qp, nullptr);
    }
    for (std::uint32_t i = 0; i < kThreads; ++i) connect(qps_[i], qps_[i ^ 1U]->qp_num);
    for (std::uint32_t i = 0; i < kReceives; ++i) post_receive(i);
  }
  void TearDown() override {
    for (ibv_qp* qp : qps_) EXPECT_EQ(ibv_destroy_qp(qp), 0);
    EXPECT_EQ(ibv_dereg_mr(region_), 0);
    EXPECT_EQ(ibv_destroy_srq(srq_), 0);
    Verbs::TearDown();
  }

  void post_receive(std::uint32_t slot) {
    ibv_sge into = piece_of(1 + slot, kPiece);
    ibv_recv_wr request{.wr_id = kReceived + slot, .next = nullptr, .sg_list = &into, .num_sge = 1};
    ibv_recv_wr* bad = nullptr;
    if (ibv_post_srq_recv(srq_, &request, &bad) != 0) ++failures_;
  }

  /// Posts message `number` of a thread: SENDs with their number as immediate, and atomics on the first value.
  void post_send(std::uint32_t thread, std::uint32_t number) {
    const bool counts = number % 3 == 0;
    ibv_sge from = piece_of(1 + kReceives + thread, counts ? 8 : kPiece);
    ibv_send_wr request{};
    request.wr_id = thread;
    request.sg_list = &from;
    request.num_sge = 1;
    request.send_flags = IBV_SEND_SIGNALED;
    request.opcode = counts ? IBV_WR_ATOMIC_FETCH_AND_ADD : IBV_WR_SEND_WITH_IMM;
    if (counts) {
      request.wr.atomic = {reinterpret_cast<std::uintptr_t>(bytes_.data()), 1, 0, region_->rkey};
    } else {
      request.imm_data = htobe32(thread * kMessages + number);
    }
    ibv_send_wr* bad = nullptr;
    if (ibv_post_send(qps_[thread], &request, &bad) != 0) ++failures_;
  }

  /// Takes up to four completions, of whichever thread.
  void take_completions() {
    std::array<ibv_wc, 4> taken{};
    const int count = ibv_poll_cq(cq_, taken.size(), taken.data());
    if (count < 0) ++failures_;
    for (const ibv_wc& one : std::span{taken}.first(static_cast<std::size_t>(std::max(count, 0)))) {
      if (one.status != IBV_WC_SUCCESS) {
        ++failures_;
      } else if (one.wr_id >= kReceived) {
        ++arrived_[be32toh(one.imm_data)];
        post_receive(static_cast<std::uint32_t>(one.wr_id - kReceived));
      } else {
        ++done_[one.wr_id];
      }
    }
  }

  /// Posts all messages of a thread, and waits until they and those to it are done.
  void exchange(std::uint32_t thread, const std::function<void()>& wait) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{100};
    std::uint32_t posted = 0;
    while (all_done() != kThreads && failures_ == 0 && std::chrono::steady_clock::now() < end) {
      while (posted < kMessages && posted - done_[thread] < kUnderWay) post_send(thread, posted++);
      wait();
      take_completions();
    }
  }
  [[nodiscard]] std::uint32_t all_done() const {
    return static_cast<std::uint32_t>(
        std::ranges::count_if(done_, [](const auto& count) { return count == kMessages; }));
  }

  [[nodiscard]] ibv_sge piece_of(std::size_t index, std::uint32_t length) {
    return {reinterpret_cast<std::uintptr_t>(bytes_.data()) + index * kPiece, length, region_->lkey};
  }

  ibv_srq* srq_ = nullptr;
  ibv_mr* region_ = nullptr;
  std::array<ibv_qp*, kThreads> qps_{};
  /// The value that atomics count in, then a piece for each receive and each thread.
  std::array<std::uint64_t, (1 + kReceives + kThreads) * kPiece / 8> bytes_{};
  std::array<std::atomic<std::uint32_t>, kThreads> done_{};
  std::array<std::atomic<std::uint32_t>, kThreads * kMessages> arrived_{};
  std::atomic<std::uint32_t> failures_ = 0;
};

TEST_F(SharedVerbs, EightThreadsShareACqAndAnSrqAndNothingIsLost) {
  std::atomic<bool> ends = false;
  // Makes and destroys what the others do not use.
  std::thread maker{[&] {
    while (!ends) {
      ibv_mr* const region = ibv_reg_mr(pd_, memory_.data(), memory_.size(), kLocalWrite);
      ibv_qp* const qp = make_qp();
      if (region == nullptr || qp == nullptr || ibv_destroy_qp(qp) != 0 || ibv_dereg_mr(region) != 0) ++failures_;
      std::this_thread::yield();
    }
  }};
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < kThreads; ++i) {
    // One of them waits for events, while the others poll.
    threads.emplace_back([this, i] {
      exchange(i, [this, i] {
        if (i != 0) return;
        if (ibv_req_notify_cq(cq_, 0) != 0) ++failures_;
        if (!is_readable(channel_->fd, std::chrono::milliseconds{1})) return;
        ibv_cq* told = nullptr;
        void* context = nullptr;
        if (ibv_get_cq_event(channel_, &told, &context) != 0 || told != cq_ || context != this) ++failures_;
        ibv_ack_cq_events(cq_, 1);
      });
    });
  }
  for (std::thread& thread : threads) thread.join();
  ends = true;
  maker.join();
  EXPECT_EQ(failures_, 0U);
  EXPECT_EQ(all_done(), kThreads);
  // An acknowledged SEND has been received, and its completion may be in the CQ still.
  ibv_wc left{};
  while (ibv_poll_cq(cq_, 1, &left) == 1) {
    EXPECT_EQ(left.status, IBV_WC_SUCCESS);
    if (left.wr_id >= kReceived) ++arrived_[be32toh(left.imm_data)];
  }
  for (std::uint32_t i = 0; i < kThreads * kMessages; ++i) {
    EXPECT_EQ(arrived_[i], i % kMessages % 3 == 0 ? 0U : 1U) << "message " << i % kMessages << " of " << i / kMessages;
  }
  EXPECT_EQ(bytes_[0], kThreads * kMessages / 3);
}

}  // namespace
}  // namespace roce::test
