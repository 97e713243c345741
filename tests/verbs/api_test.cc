// SPDX-License-Identifier: BSD-2-Clause
// The functions of verbs.h as a program calls them. Run through roce-run, so that they are ours: two queue pairs of one
// device, which sends to itself.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <utility>

namespace {

using ::testing::Ge;

constexpr unsigned kAllRights =
    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

constexpr unsigned kRightsOfRegion = kAllRights | IBV_ACCESS_MW_BIND;

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

TEST_F(Verbs, RefusesMemoryThatIsNotMapped) {
  constexpr std::uintptr_t nowhere = 4096;
  errno = 0;
  EXPECT_EQ(ibv_reg_mr(pd_, reinterpret_cast<void*>(nowhere), 4096, 0), nullptr);
  EXPECT_EQ(errno, EFAULT);
}

TEST_F(Verbs, ReturnsAndSetsErrno) {
  errno = 0;
  EXPECT_EQ(ibv_dealloc_pd(pd_), EBUSY);
  EXPECT_EQ(errno, EBUSY);
  EXPECT_EQ(ibv_alloc_null_mr(pd_), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
}

/// A function that the headers of this system need not have.
template <typename Function>
Function* later_function(const char* name, const char* node) {
  return reinterpret_cast<Function*>(::dlvsym(RTLD_DEFAULT, name, node));
}

TEST_F(Verbs, AllocatesBuffersForPrograms) {
  auto* const allocate = later_function<void*(ibv_pd*, std::size_t, void**)>("ibv_alloc_buf", "IBVERBS_1.17");
  auto* const enlist =
      later_function<ibv_mr*(ibv_pd*, void*, void*, std::size_t, int)>("ibv_reg_buf_mr", "IBVERBS_1.17");
  auto* const release = later_function<void(void*)>("ibv_free_buf", "IBVERBS_1.17");
  ASSERT_TRUE(allocate != nullptr && enlist != nullptr && release != nullptr);
  void* buffer = nullptr;
  auto* const memory = static_cast<char*>(allocate(pd_, 5000, &buffer));
  ASSERT_NE(memory, nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 4096, 0U);
  ibv_mr* const region = enlist(pd_, buffer, memory + 1000, 4000, IBV_ACCESS_LOCAL_WRITE);
  ASSERT_NE(region, nullptr);
  EXPECT_EQ(region->addr, memory + 1000);
  EXPECT_EQ(ibv_dereg_mr(region), 0);
  EXPECT_EQ(enlist(pd_, buffer, memory + 1000, 4001, 0), nullptr);
  EXPECT_EQ(enlist(pd_, buffer, memory - 1, 1, 0), nullptr);
  ibv_pd* const other = ibv_alloc_pd(context_);
  EXPECT_EQ(enlist(other, buffer, memory, 1, 0), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(ibv_dealloc_pd(other), 0);
  release(buffer);
}

TEST_F(Verbs, TellsTheSpeedOfThePort) {
  auto* const query =
      later_function<int(ibv_context*, std::uint32_t, std::uint64_t*)>("ibv_query_port_speed", "IBVERBS_1.16");
  ASSERT_NE(query, nullptr);
  std::uint64_t speed = 0;
  EXPECT_EQ(query(context_, 1, &speed), 0);
  EXPECT_GT(speed, 0U);
  EXPECT_EQ(query(context_, 2, &speed), EINVAL);
}

TEST_F(Verbs, RefusesLaterFunctionsThatItDoesNotHave) {
  EXPECT_EQ(later_function<void*(ibv_context*, void*)>("ibv_create_comp_cntr", "IBVERBS_1.18")(context_, nullptr),
            nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
  EXPECT_EQ(later_function<int(void*)>("ibv_dm_export_dmabuf_fd", "IBVERBS_1.16")(nullptr), -1);
}

TEST_F(Verbs, MakesRoomForMoreThanIsAskedFor) {
  EXPECT_THAT(cq_->cqe, Ge(63));
}

TEST_F(Verbs, SendsWithImmediateAndTellsByAnEvent) {
  ibv_qp* one = make_qp();
  ibv_qp* other = make_qp();
  connect(one, other->qp_num);
  connect(other, one->qp_num);
  ibv_sge to = piece(4096, 4096);
  ibv_recv_wr receive{.wr_id = 1, .next = nullptr, .sg_list = &to, .num_sge = 1};
  ibv_recv_wr* bad_receive = nullptr;
  ASSERT_EQ(ibv_post_recv(other, &receive, &bad_receive), 0);
  ASSERT_EQ(ibv_req_notify_cq(cq_, 0), 0);
  EXPECT_FALSE(is_readable(channel_->fd, std::chrono::milliseconds{0}));

  std::strcpy(memory_.data(), "hello");
  ibv_sge from = piece(0, 3000);
  ibv_send_wr send{};
  send.wr_id = 2;
  send.sg_list = &from;
  send.num_sge = 1;
  send.opcode = IBV_WR_SEND_WITH_IMM;
  send.imm_data = 0x01020304;
  ibv_send_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_send(one, &send, &bad), 0);

  // Nobody polls: the library's own thread receives.
  ASSERT_TRUE(is_readable(channel_->fd, kLong));
  ibv_cq* ready = nullptr;
  void* cq_context = nullptr;
  ASSERT_EQ(ibv_get_cq_event(channel_, &ready, &cq_context), 0);
  EXPECT_EQ(ready, cq_);
  EXPECT_EQ(cq_context, this);
  ibv_ack_cq_events(cq_, 1);
  const ibv_wc received = completion();
  EXPECT_EQ(received.wr_id, 1U);
  EXPECT_EQ(received.status, IBV_WC_SUCCESS);
  EXPECT_EQ(received.opcode, IBV_WC_RECV);
  EXPECT_EQ(received.byte_len, 3000U);
  EXPECT_EQ(received.qp_num, other->qp_num);
  EXPECT_EQ(received.wc_flags, static_cast<unsigned>(IBV_WC_WITH_IMM));
  EXPECT_EQ(received.imm_data, 0x01020304U);
  EXPECT_STREQ(memory_.data() + 4096, "hello");
  EXPECT_EQ(ibv_destroy_qp(one), 0);
  EXPECT_EQ(ibv_destroy_qp(other), 0);
}

TEST_F(Verbs, WritesWhatIsBuiltByFunctions) {
  ibv_qp* one = make_qp(nullptr, true);
  ibv_qp* other = make_qp();
  connect(one, other->qp_num);
  connect(other, one->qp_num);
  EXPECT_EQ(ibv_qp_to_qp_ex(other), nullptr);
  ibv_qp_ex* builder = ibv_qp_to_qp_ex(one);
  ASSERT_NE(builder, nullptr);
  std::string text = "inline";
  ibv_wr_start(builder);
  builder->wr_id = 7;
  builder->wr_flags = IBV_SEND_SIGNALED;
  ibv_wr_rdma_write(builder, mr_->rkey, reinterpret_cast<std::uintptr_t>(memory_.data() + 4096));
  ibv_wr_set_inline_data(builder, text.data(), text.size() + 1);
  text = "wrong!";
  ASSERT_EQ(ibv_wr_complete(builder), 0);
  const ibv_wc done = completion();
  EXPECT_EQ(done.wr_id, 7U);
  EXPECT_EQ(done.status, IBV_WC_SUCCESS);
  EXPECT_EQ(done.opcode, IBV_WC_RDMA_WRITE);
  EXPECT_STREQ(memory_.data() + 4096, "inline");
  EXPECT_EQ(ibv_destroy_qp(one), 0);
  EXPECT_EQ(ibv_destroy_qp(other), 0);
}

TEST_F(Verbs, StopsAtTheRequestThatIsWrong) {
  ibv_qp* one = make_qp();
  ibv_qp* other = make_qp();
  connect(one, other->qp_num);
  connect(other, one->qp_num);
  ibv_sge from = piece(0, 8);
  std::array<ibv_send_wr, 3> list{};
  for (std::size_t i = 0; i < list.size(); ++i) {
    list[i].wr_id = i;
    list[i].next = i + 1 < list.size() ? &list[i + 1] : nullptr;
    list[i].sg_list = &from;
    list[i].num_sge = 1;
    list[i].opcode = IBV_WR_RDMA_WRITE;
    list[i].send_flags = IBV_SEND_SIGNALED;
    list[i].wr.rdma = {reinterpret_cast<std::uintptr_t>(memory_.data() + 4096), mr_->rkey};
  }
  list[1].num_sge = 2;  // more than the QP has room for
  ibv_send_wr* bad = nullptr;
  EXPECT_EQ(ibv_post_send(one, list.data(), &bad), EINVAL);
  EXPECT_EQ(bad, &list[1]);
  EXPECT_EQ(completion().wr_id, 0U);
  EXPECT_EQ(ibv_destroy_qp(one), 0);
  EXPECT_EQ(ibv_destroy_qp(other), 0);
}

TEST_F(Verbs, TakesBackUnreadEvents) {
  ibv_srq_init_attr init{.srq_context = nullptr, .attr = {.max_wr = 4, .max_sge = 1, .srq_limit = 0}};
  ibv_srq* srq = ibv_create_srq(pd_, &init);
  ASSERT_NE(srq, nullptr);
  ibv_qp* qp = make_qp(srq);
  connect(qp, qp->qp_num);
  // A QP that goes to ERR takes no more from its SRQ, and says so by an event.
  ibv_qp_attr to{};
  to.qp_state = IBV_QPS_ERR;
  ASSERT_EQ(ibv_modify_qp(qp, &to, IBV_QP_STATE), 0);
  ASSERT_TRUE(is_readable(context_->async_fd, kLong));
  EXPECT_EQ(ibv_destroy_qp(qp), 0);
  EXPECT_FALSE(is_readable(context_->async_fd, std::chrono::milliseconds{0}));
  EXPECT_EQ(ibv_destroy_srq(srq), 0);
}

TEST_F(Verbs, ArmsTheLimitOfAnSrq) {
  ibv_srq_init_attr init{.srq_context = nullptr, .attr = {.max_wr = 4, .max_sge = 1, .srq_limit = 0}};
  ibv_srq* srq = ibv_create_srq(pd_, &init);
  ASSERT_NE(srq, nullptr);
  ibv_qp* qp = make_qp(srq);
  connect(qp, qp->qp_num);
  ibv_sge to = piece(4096, 64);
  ibv_recv_wr receive{.wr_id = 1, .next = nullptr, .sg_list = &to, .num_sge = 1};
  ibv_recv_wr* bad_receive = nullptr;
  ASSERT_EQ(ibv_post_srq_recv(srq, &receive, &bad_receive), 0);
  ibv_srq_attr limit{.max_wr = 0, .max_sge = 0, .srq_limit = 1};
  ASSERT_EQ(ibv_modify_srq(srq, &limit, IBV_SRQ_LIMIT), 0);
  ibv_sge from = piece(0, 64);
  ibv_send_wr send{};
  send.sg_list = &from;
  send.num_sge = 1;
  send.opcode = IBV_WR_SEND;
  ibv_send_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_send(qp, &send, &bad), 0);
  ASSERT_TRUE(is_readable(context_->async_fd, kLong));
  ibv_async_event event{};
  do {
    ASSERT_EQ(ibv_get_async_event(context_, &event), 0);
    ibv_ack_async_event(&event);
  } while (event.event_type == IBV_EVENT_COMM_EST);
  EXPECT_EQ(event.event_type, IBV_EVENT_SRQ_LIMIT_REACHED);
  EXPECT_EQ(event.element.srq, srq);
  ASSERT_EQ(ibv_query_srq(srq, &limit), 0);
  EXPECT_EQ(limit.srq_limit, 0U);
  EXPECT_EQ(ibv_destroy_qp(qp), 0);
  EXPECT_EQ(ibv_destroy_srq(srq), 0);
}

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

  /// Writes four bytes from offset 0 to `address` with this key; returns how that ended.
  [[nodiscard]] ibv_wc_status write(std::uint64_t address, std::uint32_t rkey) {
    ibv_sge source = piece(0, 4);
    ibv_send_wr request{};
    request.sg_list = &source;
    request.num_sge = 1;
    request.opcode = IBV_WR_RDMA_WRITE;
    request.send_flags = IBV_SEND_SIGNALED;
    request.wr.rdma = {address, rkey};
    ibv_send_wr* bad = nullptr;
    EXPECT_EQ(ibv_post_send(one_, &request, &bad), 0);
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
  ibv_send_wr request{};
  request.sg_list = &result;
  request.num_sge = 1;
  request.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
  request.send_flags = IBV_SEND_SIGNALED;
  request.wr.atomic = {reinterpret_cast<std::uintptr_t>(&value), 1, 0, region->rkey};
  ibv_wc_status status = IBV_WC_SUCCESS;
  for (std::uint64_t i = 0; i < rounds && status == IBV_WC_SUCCESS; ++i) {
    ibv_send_wr* bad = nullptr;
    EXPECT_EQ(ibv_post_send(one_, &request, &bad), 0);
    status = completion().status;
  }
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
  ibv_send_wr request{};
  request.opcode = IBV_WR_BIND_MW;
  request.send_flags = IBV_SEND_SIGNALED;
  request.bind_mw = {window, ibv_inc_rkey(window->rkey), {mr_, address_of(4096), 8, IBV_ACCESS_REMOTE_WRITE}};
  ibv_send_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_send(other_, &request, &bad), 0);
  EXPECT_EQ(window->rkey, request.bind_mw.rkey);
  EXPECT_EQ(completion().status, IBV_WC_SUCCESS);
  EXPECT_EQ(write(address_of(4096), window->rkey), IBV_WC_SUCCESS);
  // A region with a window cannot become another one.
  EXPECT_NE(ibv_rereg_mr(mr_, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, 0), 0);
  EXPECT_EQ(errno, EBUSY);
  EXPECT_EQ(ibv_dealloc_mw(window), 0);
}

TEST_F(ConnectedVerbs, ARegionThatChangesKeepsItsKeys) {
  std::array<char, 4096> memory{};
  ibv_mr* const region = ibv_reg_mr(pd_, memory_.data(), 8, IBV_ACCESS_LOCAL_WRITE);
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

TEST_F(Verbs, ReadsCompletionsOneByOne) {
  ibv_cq_init_attr_ex init{};
  init.cqe = 10;
  init.wc_flags =
      static_cast<unsigned>(IBV_WC_EX_WITH_QP_NUM) | static_cast<unsigned>(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP);
  ibv_cq_ex* const extended = ibv_create_cq_ex(context_, &init);
  ASSERT_NE(extended, nullptr);
  ibv_cq* const usual = std::exchange(cq_, ibv_cq_ex_to_cq(extended));
  ibv_qp* const qp = make_qp();
  ASSERT_NE(qp, nullptr);
  connect(qp, qp->qp_num);
  ibv_poll_cq_attr how{};
  EXPECT_EQ(ibv_start_poll(extended, &how), ENOENT);
  for (std::uint64_t id : {7U, 8U}) {
    ibv_send_wr request{};
    request.wr_id = id;
    request.opcode = IBV_WR_RDMA_WRITE;
    request.send_flags = IBV_SEND_SIGNALED;
    request.wr.rdma = {reinterpret_cast<std::uintptr_t>(memory_.data()), mr_->rkey};
    ibv_send_wr* bad = nullptr;
    ASSERT_EQ(ibv_post_send(qp, &request, &bad), 0);
  }
  ibv_values_ex before{};
  before.comp_mask = IBV_VALUES_MASK_RAW_CLOCK;
  ASSERT_EQ(ibv_query_rt_values_ex(context_, &before), 0);
  const auto end = std::chrono::steady_clock::now() + kLong;
  for (std::uint64_t id : {7U, 8U}) {
    int error = ENOENT;
    while (error == ENOENT && std::chrono::steady_clock::now() < end) {
      error = id == 7 ? ibv_start_poll(extended, &how) : ibv_next_poll(extended);
    }
    ASSERT_EQ(error, 0);
    EXPECT_EQ(extended->wr_id, id);
    EXPECT_EQ(extended->status, IBV_WC_SUCCESS);
    EXPECT_EQ(ibv_wc_read_opcode(extended), IBV_WC_RDMA_WRITE);
    EXPECT_EQ(ibv_wc_read_qp_num(extended), qp->qp_num);
    constexpr std::uint64_t second = 1'000'000'000;
    EXPECT_GE(ibv_wc_read_completion_ts(extended), static_cast<std::uint64_t>(before.raw_clock.tv_sec) * second +
                                                       static_cast<std::uint64_t>(before.raw_clock.tv_nsec));
  }
  ibv_end_poll(extended);
  EXPECT_EQ(ibv_destroy_qp(qp), 0);
  EXPECT_EQ(ibv_destroy_cq(cq_), 0);
  cq_ = usual;
}

TEST_F(Verbs, ACqAndAnSrqCanGrow) {
  EXPECT_EQ(ibv_resize_cq(cq_, 500), 0);
  EXPECT_THAT(cq_->cqe, Ge(500));
  EXPECT_EQ(ibv_resize_cq(cq_, 0), EINVAL);
  ibv_srq_init_attr init{};
  init.attr = {.max_wr = 1, .max_sge = 1, .srq_limit = 0};
  ibv_srq* const srq = ibv_create_srq(pd_, &init);
  ASSERT_NE(srq, nullptr);
  ibv_srq_attr to{.max_wr = 3, .max_sge = 0, .srq_limit = 0};
  EXPECT_EQ(ibv_modify_srq(srq, &to, IBV_SRQ_MAX_WR), 0);
  ibv_recv_wr request{};
  ibv_recv_wr* bad = nullptr;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ibv_post_srq_recv(srq, &request, &bad), 0);
  EXPECT_NE(ibv_post_srq_recv(srq, &request, &bad), 0);
  to.max_wr = 2;
  EXPECT_EQ(ibv_modify_srq(srq, &to, IBV_SRQ_MAX_WR), EINVAL);
  to = {.max_wr = 5, .max_sge = 0, .srq_limit = 6};
  EXPECT_EQ(ibv_modify_srq(srq, &to, IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT), EINVAL);
  EXPECT_NE(ibv_post_srq_recv(srq, &request, &bad), 0) << "it has another size, though it was refused";
  EXPECT_EQ(ibv_query_srq(srq, &to), 0);
  EXPECT_EQ(to.max_wr, 3U);
  EXPECT_EQ(ibv_destroy_srq(srq), 0);
}

TEST_F(Verbs, AParentDomainStandsForItsPd) {
  ibv_td_init_attr init{};
  ibv_td* const thread_domain = ibv_alloc_td(context_, &init);
  ASSERT_NE(thread_domain, nullptr);
  ibv_parent_domain_init_attr wanted{};
  wanted.pd = pd_;
  wanted.td = thread_domain;
  ibv_pd* const domain = ibv_alloc_parent_domain(context_, &wanted);
  ASSERT_NE(domain, nullptr);
  ibv_mr* const region = ibv_reg_mr(domain, memory_.data(), 8, 0);
  ASSERT_NE(region, nullptr);
  EXPECT_EQ(ibv_dealloc_pd(pd_), EBUSY);
  EXPECT_EQ(ibv_dereg_mr(region), 0);
  EXPECT_EQ(ibv_dealloc_pd(domain), 0);
  EXPECT_EQ(ibv_dealloc_td(thread_domain), 0);
}

TEST_F(Verbs, ARegionOfNoBytesHasKeys) {
  ibv_mr* const region = ibv_reg_mr(pd_, nullptr, 0, 0);
  ASSERT_NE(region, nullptr);
  EXPECT_NE(region->lkey, 0U);
  EXPECT_EQ(ibv_dereg_mr(region), 0);
}

TEST_F(Verbs, GivesTheChildOfAForkErrors) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ibv_wc wc{};
    const bool refuses = ibv_poll_cq(cq_, 1, &wc) == -1 && errno == EIO && ibv_alloc_pd(context_) == nullptr;
    const bool frees = ibv_dereg_mr(mr_) == 0 && ibv_destroy_cq(cq_) == 0 && ibv_dealloc_pd(pd_) == 0 &&
                       ibv_close_device(context_) == 0;
    ::_exit(refuses && frees ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
