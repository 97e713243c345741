// SPDX-License-Identifier: BSD-2-Clause
// The functions of verbs.h as a program calls them. Run through roce-run, so that they are ours: two queue pairs of one
// device, which sends to itself.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <infiniband/verbs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <utility>

#include "api_rig.h"

namespace roce::test {
namespace {

using ::testing::Ge;

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

TEST_F(Verbs, RefusesObjectsWhoseNumberTheProgramHasChanged) {
  ibv_qp* const qp = make_qp();
  ASSERT_NE(qp, nullptr);
  ibv_mw* const window = ibv_alloc_mw(pd_, IBV_MW_TYPE_1);
  ASSERT_NE(window, nullptr);
  const std::array numbers{&pd_->handle, &cq_->handle, &mr_->handle, &qp->handle, &window->handle};
  for (std::uint32_t* const number : numbers) *number ^= 0x55'0000U;
  EXPECT_EQ(ibv_reg_mr(pd_, memory_.data(), 8, kLocalWrite), nullptr);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(make_qp(), nullptr);
  EXPECT_EQ(ibv_dealloc_pd(pd_), ENOENT);
  EXPECT_EQ(ibv_req_notify_cq(cq_, 0), ENOENT);
  EXPECT_EQ(ibv_destroy_cq(cq_), ENOENT);
  EXPECT_EQ(ibv_dereg_mr(mr_), ENOENT);
  EXPECT_EQ(ibv_dealloc_mw(window), ENOENT);
  ibv_qp_attr attributes{};
  EXPECT_EQ(ibv_modify_qp(qp, &attributes, IBV_QP_STATE), ENOENT);
  EXPECT_EQ(ibv_destroy_qp(qp), ENOENT);
  for (std::uint32_t* const number : numbers) *number ^= 0x55'0000U;
  EXPECT_EQ(ibv_dealloc_mw(window), 0);
  EXPECT_EQ(ibv_destroy_qp(qp), 0);
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
  EXPECT_EQ(later_function<int(void*)>("ibv_export_buf_dmabuf_fd", "IBVERBS_1.18")(buffer), -1);
  EXPECT_EQ(errno, ENODATA);
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

TEST_F(Verbs, TellsOfACompletionThatCameBeforeTheCqWasArmed) {
  ibv_qp* const qp = make_qp();
  ASSERT_NE(qp, nullptr);
  connect(qp, qp->qp_num);
  ibv_sge from = piece(0, 8);
  ibv_send_wr request{};
  request.sg_list = &from;
  request.num_sge = 1;
  request.opcode = IBV_WR_RDMA_WRITE;
  request.wr.rdma = {reinterpret_cast<std::uintptr_t>(memory_.data()), mr_->rkey};
  request.send_flags = IBV_SEND_SIGNALED;
  ibv_send_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_send(qp, &request, &bad), 0);
  ASSERT_EQ(ibv_post_send(qp, &request, &bad), 0);
  // The first one is taken; then the second is there, or will be.
  EXPECT_EQ(completion().status, IBV_WC_SUCCESS);
  ASSERT_EQ(ibv_req_notify_cq(cq_, 0), 0);
  EXPECT_TRUE(is_readable(channel_->fd, kLong));
  EXPECT_EQ(completion().status, IBV_WC_SUCCESS);
  ibv_cq* told = nullptr;
  void* context = nullptr;
  ASSERT_EQ(ibv_get_cq_event(channel_, &told, &context), 0);
  ibv_ack_cq_events(told, 1);
  EXPECT_EQ(ibv_destroy_qp(qp), 0);
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

TEST_F(Verbs, RefusesKindsOfParentDomainsThatItDoesNotKnow) {
  ibv_parent_domain_init_attr wanted{};
  wanted.pd = pd_;
  // The bit that allows memory which a confidential guest does not protect, without its name, which came with
  // rdma-core 65.
  wanted.comp_mask = 1U << 2;
  ibv_pd* const domain = ibv_alloc_parent_domain(context_, &wanted);
  ASSERT_NE(domain, nullptr);
  EXPECT_EQ(ibv_dealloc_pd(domain), 0);
  wanted.comp_mask = 1U << 3;
  EXPECT_EQ(ibv_alloc_parent_domain(context_, &wanted), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
  wanted = {};
  EXPECT_EQ(ibv_alloc_parent_domain(context_, &wanted), nullptr);
  EXPECT_EQ(errno, EINVAL);
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
}  // namespace roce::test
