// SPDX-License-Identifier: BSD-2-Clause
// Atomics, windows and regions as a program uses them on two queue pairs that are connected with each other. Run
// through roce-run, as api_test.cc.
#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>
#include <vector>

#include "api_rig.h"

namespace roce::test {
namespace {

/// Two QPs that are connected with each other.
class ConnectedVerbs : public Verbs {
 protected:
  void SetUp() override {
    Verbs::SetUp();
    one_ = make_qp();
    other_ = make_qp();
    ASSERT_NE(other_, nullptr);
    connect(one_, other_->qp_num);
    connect(other_, one_->qp_num);
  }
  void TearDown() override {
    EXPECT_EQ(ibv_destroy_qp(one_), 0);
    EXPECT_EQ(ibv_destroy_qp(other_), 0);
    Verbs::TearDown();
  }

  /// Returns how a request of `one_` ended.
  [[nodiscard]] ibv_wc_status run(ibv_send_wr request) {
    ibv_send_wr* bad = nullptr;
    EXPECT_EQ(ibv_post_send(one_, &request, &bad), 0);
    return completion().status;
  }
  /// Writes four bytes from offset 0 to `address` with this key; returns how that ended.
  [[nodiscard]] ibv_wc_status write(std::uint64_t address, std::uint32_t rkey) {
    ibv_sge source = piece(0, 4);
    ibv_send_wr request = request_of(IBV_WR_RDMA_WRITE, source);
    request.wr.rdma = {address, rkey};
    return run(request);
  }
  /// Binds a window of type 2 to the eight bytes at offset 4096 by a request of `other_`; returns how that ended.
  [[nodiscard]] ibv_wc_status bind(ibv_mw* window, std::uint32_t rkey) {
    ibv_send_wr request{};
    request.opcode = IBV_WR_BIND_MW;
    request.send_flags = IBV_SEND_SIGNALED;
    request.bind_mw = {window, rkey, {mr_, address_of(4096), 8, IBV_ACCESS_REMOTE_WRITE}};
    ibv_send_wr* bad = nullptr;
    EXPECT_EQ(ibv_post_send(other_, &request, &bad), 0);
    return completion().status;
  }
  [[nodiscard]] std::uint64_t address_of(std::size_t offset) const {
    return reinterpret_cast<std::uintptr_t>(memory_.data() + offset);
  }

  ibv_qp* one_ = nullptr;
  ibv_qp* other_ = nullptr;
};

TEST_F(ConnectedVerbs, AtomicsCountWithThoseOfTheProgram) {
  constexpr std::uint64_t rounds = 3000;
  alignas(8) std::uint64_t value = 0;
  ibv_mr* const region = ibv_reg_mr(pd_, &value, sizeof value, kAllRights);
  ASSERT_NE(region, nullptr);
  std::atomic<bool> ends = false;
  std::uint64_t own = 0;
  std::thread program{[&] {
    for (; !ends; ++own) std::atomic_ref{value}.fetch_add(1);
  }};
  ibv_sge result = piece(0, 8);
  ibv_send_wr request = request_of(IBV_WR_ATOMIC_FETCH_AND_ADD, result);
  request.wr.atomic = {reinterpret_cast<std::uintptr_t>(&value), 1, 0, region->rkey};
  ibv_wc_status status = IBV_WC_SUCCESS;
  for (std::uint64_t i = 0; i < rounds && status == IBV_WC_SUCCESS; ++i) status = run(request);
  ends = true;
  program.join();
  EXPECT_EQ(status, IBV_WC_SUCCESS);
  EXPECT_EQ(value, rounds + own);
  ibv_device_attr attributes{};
  EXPECT_EQ(ibv_query_device(context_, &attributes), 0);
  EXPECT_EQ(attributes.atomic_cap, IBV_ATOMIC_GLOB);
  EXPECT_EQ(ibv_dereg_mr(region), 0);
}

TEST_F(ConnectedVerbs, AWindowOfType1OpensItsPartOfARegion) {
  ibv_mw* const window = ibv_alloc_mw(pd_, IBV_MW_TYPE_1);
  ASSERT_NE(window, nullptr);
  const std::uint32_t unbound = window->rkey;
  ibv_mw_bind bind{};
  bind.send_flags = IBV_SEND_SIGNALED;
  bind.bind_info = {mr_, address_of(4096), 8, IBV_ACCESS_REMOTE_WRITE};
  ASSERT_EQ(ibv_bind_mw(other_, window, &bind), 0);
  EXPECT_NE(window->rkey, unbound);
  const ibv_wc bound = completion();
  EXPECT_EQ(bound.status, IBV_WC_SUCCESS);
  EXPECT_EQ(bound.opcode, IBV_WC_BIND_MW);
  std::memcpy(memory_.data(), "open", 4);
  EXPECT_EQ(write(address_of(4096), window->rkey), IBV_WC_SUCCESS);
  EXPECT_EQ(std::memcmp(memory_.data() + 4096, "open", 4), 0);
  EXPECT_EQ(write(address_of(4102), window->rkey), IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(ibv_dealloc_mw(window), 0);
}

TEST_F(ConnectedVerbs, AWindowOfType2HasTheKeyOfItsRequest) {
  ibv_mw* const window = ibv_alloc_mw(pd_, IBV_MW_TYPE_2);
  ASSERT_NE(window, nullptr);
  const std::uint32_t wanted = ibv_inc_rkey(window->rkey);
  EXPECT_EQ(bind(window, wanted), IBV_WC_SUCCESS);
  EXPECT_EQ(window->rkey, wanted);
  EXPECT_EQ(write(address_of(4096), window->rkey), IBV_WC_SUCCESS);
  // A region with a window cannot become another one.
  EXPECT_NE(ibv_rereg_mr(mr_, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, 0), 0);
  EXPECT_EQ(errno, EBUSY);
  EXPECT_EQ(ibv_dealloc_mw(window), 0);
}

TEST_F(ConnectedVerbs, WindowsOfType2HaveDifferentKeysWhateverTheirRequestsSay) {
  constexpr std::uint32_t wanted = 1024 + 7;
  std::array<ibv_mw*, 2> windows{};
  for (ibv_mw*& window : windows) {
    window = ibv_alloc_mw(pd_, IBV_MW_TYPE_2);
    ASSERT_NE(window, nullptr);
    EXPECT_EQ(bind(window, wanted), IBV_WC_SUCCESS);
    EXPECT_EQ(window->rkey & 0xFF, wanted & 0xFF);
    EXPECT_EQ(write(address_of(4096), window->rkey), IBV_WC_SUCCESS);
  }
  EXPECT_NE(windows[0]->rkey, windows[1]->rkey);
  for (ibv_mw* const window : windows) EXPECT_EQ(ibv_dealloc_mw(window), 0);
}

TEST_F(ConnectedVerbs, AWindowOfAnotherQpIsNotInvalidatedHere) {
  ibv_mw* const window = ibv_alloc_mw(pd_, IBV_MW_TYPE_2);
  ASSERT_NE(window, nullptr);
  ASSERT_EQ(bind(window, window->rkey), IBV_WC_SUCCESS);
  ibv_send_wr invalidation{};
  invalidation.opcode = IBV_WR_LOCAL_INV;
  invalidation.send_flags = IBV_SEND_SIGNALED;
  invalidation.invalidate_rkey = window->rkey;
  EXPECT_EQ(run(invalidation), IBV_WC_MW_BIND_ERR);
  EXPECT_EQ(ibv_dealloc_mw(window), 0);
}

TEST_F(ConnectedVerbs, AZeroBasedRegionBeginsAtZero) {
  ibv_mr* const region = ibv_reg_mr(pd_, memory_.data() + 4096, 8, kAllRights | IBV_ACCESS_ZERO_BASED);
  ASSERT_NE(region, nullptr);
  std::memcpy(memory_.data(), "zero", 4);
  EXPECT_EQ(write(4, region->rkey), IBV_WC_SUCCESS);
  EXPECT_EQ(std::memcmp(memory_.data() + 4100, "zero", 4), 0);
  EXPECT_EQ(ibv_dereg_mr(region), 0);
}

TEST_F(ConnectedVerbs, ARegionThatChangesKeepsItsKeys) {
  std::array<char, 4096> memory{};
  ibv_mr* const region = ibv_reg_mr(pd_, memory_.data(), 8, kLocalWrite);
  ASSERT_NE(region, nullptr);
  const std::uint32_t rkey = region->rkey;
  constexpr int changes = IBV_REREG_MR_CHANGE_ACCESS | IBV_REREG_MR_CHANGE_TRANSLATION;
  ASSERT_EQ(ibv_rereg_mr(region, changes, nullptr, memory.data(), memory.size(), static_cast<int>(kAllRights)), 0);
  EXPECT_EQ(region->rkey, rkey);
  EXPECT_EQ(region->addr, memory.data());
  std::memcpy(memory_.data(), "new!", 4);
  EXPECT_EQ(write(reinterpret_cast<std::uintptr_t>(memory.data()), rkey), IBV_WC_SUCCESS);
  EXPECT_EQ(std::memcmp(memory.data(), "new!", 4), 0);
  EXPECT_EQ(ibv_dereg_mr(region), 0);
}

TEST_F(ConnectedVerbs, DeviceMemoryIsReachedByOffsets) {
  ibv_alloc_dm_attr wanted{};
  wanted.length = 64;
  ibv_dm* const device_memory = ibv_alloc_dm(context_, &wanted);
  ASSERT_NE(device_memory, nullptr);
  ibv_mr* const region = ibv_reg_dm_mr(pd_, device_memory, 16, 32, kAllRights | IBV_ACCESS_ZERO_BASED);
  ASSERT_NE(region, nullptr);
  std::memcpy(memory_.data(), "here", 4);
  EXPECT_EQ(write(8, region->rkey), IBV_WC_SUCCESS);
  std::array<char, 4> found{};
  EXPECT_EQ(ibv_memcpy_from_dm(found.data(), device_memory, 24, found.size()), 0);
  EXPECT_EQ(std::memcmp(found.data(), "here", found.size()), 0);
  EXPECT_EQ(ibv_memcpy_to_dm(device_memory, 64, found.data(), found.size()), EINVAL);
  EXPECT_NE(ibv_rereg_mr(region, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, kAllRights), 0);
  EXPECT_EQ(errno, EOPNOTSUPP);
  EXPECT_EQ(ibv_free_dm(device_memory), EBUSY) << "the network still reaches it";
  EXPECT_EQ(write(8, region->rkey), IBV_WC_SUCCESS);
  EXPECT_EQ(ibv_dereg_mr(region), 0);
  EXPECT_EQ(ibv_free_dm(device_memory), 0);
}

TEST_F(ConnectedVerbs, ARegionOfAllMemoryReachesWhatIsAllocatedLater) {
  constexpr auto rights = static_cast<int>(kAllRights);
  EXPECT_EQ(ibv_reg_mr(pd_, nullptr, SIZE_MAX, rights), nullptr) << "only on demand";
  ibv_mr* const all = ibv_reg_mr(pd_, nullptr, SIZE_MAX, rights | IBV_ACCESS_ON_DEMAND);
  ASSERT_NE(all, nullptr);
  const std::vector<char> later(4096, 'x');
  std::memcpy(memory_.data(), "here", 4);
  ibv_sge source{reinterpret_cast<std::uintptr_t>(memory_.data()), 4, all->lkey};
  ibv_send_wr request = request_of(IBV_WR_RDMA_WRITE, source);
  request.wr.rdma = {reinterpret_cast<std::uintptr_t>(later.data()) + 100, all->rkey};
  EXPECT_EQ(run(request), IBV_WC_SUCCESS);
  EXPECT_EQ(std::memcmp(later.data() + 99, "xherex", 6), 0);
  EXPECT_EQ(ibv_dereg_mr(all), 0);
}

TEST_F(ConnectedVerbs, AResetQpLeavesNoCompletionBehind) {
  ibv_send_wr request{};
  request.opcode = IBV_WR_RDMA_WRITE;
  request.send_flags = IBV_SEND_SIGNALED;
  request.wr.rdma = {address_of(0), mr_->rkey};
  ibv_send_wr* bad = nullptr;
  ASSERT_EQ(ibv_req_notify_cq(cq_, 0), 0);
  ASSERT_EQ(ibv_post_send(one_, &request, &bad), 0);
  ASSERT_TRUE(is_readable(channel_->fd, kLong));
  ibv_cq* ready = nullptr;
  void* cq_context = nullptr;
  ASSERT_EQ(ibv_get_cq_event(channel_, &ready, &cq_context), 0);
  ibv_ack_cq_events(ready, 1);
  ibv_qp_attr to{};
  to.qp_state = IBV_QPS_RESET;
  ASSERT_EQ(ibv_modify_qp(one_, &to, IBV_QP_STATE), 0);
  ibv_wc none{};
  EXPECT_EQ(ibv_poll_cq(cq_, 1, &none), 0);
}

}  // namespace
}  // namespace roce::test
