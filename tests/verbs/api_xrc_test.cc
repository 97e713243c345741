// SPDX-License-Identifier: BSD-2-Clause
// XRC as a program uses it: domains, their SRQs, initiators and targets. Run through roce-run, as api_test.cc.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "api_rig.h"

namespace roce::test {
namespace {

class XrcVerbs : public Verbs {
 protected:
  void SetUp() override {
    Verbs::SetUp();
    domain_ = open_domain(-1, O_CREAT);
    ASSERT_NE(domain_, nullptr);
    srq_ = make_srq(domain_);
    ASSERT_NE(srq_, nullptr);
  }
  void TearDown() override {
    EXPECT_EQ(ibv_destroy_srq(srq_), 0);
    EXPECT_EQ(ibv_close_xrcd(domain_), 0);
    Verbs::TearDown();
  }

  [[nodiscard]] ibv_xrcd* open_domain(int fd, int flags) {
    ibv_xrcd_init_attr init{
        .comp_mask = unsigned{IBV_XRCD_INIT_ATTR_FD} | unsigned{IBV_XRCD_INIT_ATTR_OFLAGS}, .fd = fd, .oflags = flags};
    return ibv_open_xrcd(context_, &init);
  }
  [[nodiscard]] ibv_srq* make_srq(ibv_xrcd* domain) {
    ibv_srq_init_attr_ex init{};
    init.attr = {.max_wr = 4, .max_sge = 1, .srq_limit = 0};
    init.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
    init.srq_type = IBV_SRQT_XRC;
    init.pd = pd_;
    init.xrcd = domain;
    init.cq = cq_;
    return ibv_create_srq_ex(context_, &init);
  }
  [[nodiscard]] ibv_qp* make_target(ibv_xrcd* domain) {
    ibv_qp_init_attr_ex init{};
    init.qp_type = IBV_QPT_XRC_RECV;
    init.comp_mask = IBV_QP_INIT_ATTR_XRCD;
    init.xrcd = domain;
    return ibv_create_qp_ex(context_, &init);
  }
  [[nodiscard]] ibv_qp* make_initiator() {
    ibv_qp_init_attr_ex init{};
    init.send_cq = cq_;
    init.cap = {.max_send_wr = 8, .max_recv_wr = 0, .max_send_sge = 1, .max_recv_sge = 0, .max_inline_data = 0};
    init.qp_type = IBV_QPT_XRC_SEND;
    init.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    init.pd = pd_;
    init.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_SEND;
    return ibv_create_qp_ex(context_, &init);
  }
  [[nodiscard]] ibv_qp* open_target(ibv_xrcd* domain, std::uint32_t number, void* context = nullptr) {
    ibv_qp_open_attr wanted{};
    wanted.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE | IBV_QP_OPEN_ATTR_CONTEXT;
    wanted.qp_num = number;
    wanted.xrcd = domain;
    wanted.qp_type = IBV_QPT_XRC_RECV;
    wanted.qp_context = context;
    return ibv_open_qp(context_, &wanted);
  }
  /// Returns the next event, which a test waits for as long as it may take.
  [[nodiscard]] ibv_async_event next_event() {
    ibv_async_event event{};
    EXPECT_TRUE(is_readable(context_->async_fd, kLong));
    EXPECT_EQ(ibv_get_async_event(context_, &event), 0);
    ibv_ack_async_event(&event);
    return event;
  }

  ibv_xrcd* domain_ = nullptr;
  ibv_srq* srq_ = nullptr;
};

TEST_F(XrcVerbs, ADeviceHasThem) {
  ibv_device_attr attributes{};
  ASSERT_EQ(ibv_query_device(context_, &attributes), 0);
  EXPECT_NE(attributes.device_cap_flags & IBV_DEVICE_XRC, 0U);
}

TEST_F(XrcVerbs, AMessageGoesToTheSrqThatItNames) {
  ibv_srq* second = make_srq(domain_);
  std::array<std::uint32_t, 2> numbers{};
  ASSERT_EQ(ibv_get_srq_num(srq_, &numbers[0]), 0);
  ASSERT_EQ(ibv_get_srq_num(second, &numbers[1]), 0);
  EXPECT_NE(numbers[0], numbers[1]);
  ibv_qp* target = make_target(domain_);
  ibv_qp* initiator = make_initiator();
  ASSERT_NE(target, nullptr);
  ASSERT_NE(initiator, nullptr);
  EXPECT_EQ(target->pd, nullptr);
  connect(target, initiator->qp_num);
  connect(initiator, target->qp_num);
  ibv_sge place = piece(4096, 64);
  ibv_recv_wr receive{.wr_id = 21, .next = nullptr, .sg_list = &place, .num_sge = 1};
  ibv_recv_wr* bad_receive = nullptr;
  ASSERT_EQ(ibv_post_srq_recv(second, &receive, &bad_receive), 0);
  memory_[0] = 'x';

  ibv_qp_ex* builder = ibv_qp_to_qp_ex(initiator);
  ASSERT_NE(builder, nullptr);
  ibv_wr_start(builder);
  builder->wr_id = 7;
  ibv_wr_rdma_write(builder, mr_->rkey, reinterpret_cast<std::uintptr_t>(memory_.data()) + 100);
  ibv_wr_set_xrc_srqn(builder, numbers[0]);
  ibv_wr_set_sge(builder, mr_->lkey, reinterpret_cast<std::uintptr_t>(memory_.data()), 1);
  ASSERT_EQ(ibv_wr_complete(builder), 0);
  ibv_sge source = piece(0, 1);
  ibv_send_wr send = request_of(IBV_WR_SEND, source);
  send.wr_id = 8;
  send.qp_type.xrc.remote_srqn = numbers[1];
  ibv_send_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_send(initiator, &send, &bad), 0);

  for (int i = 0; i < 2; ++i) {
    const ibv_wc done = completion();
    EXPECT_EQ(done.status, IBV_WC_SUCCESS);
    EXPECT_EQ(done.wr_id, done.opcode == IBV_WC_RECV ? 21U : 8U);
    EXPECT_EQ(done.qp_num, done.opcode == IBV_WC_RECV ? target->qp_num : initiator->qp_num);
  }
  EXPECT_EQ(memory_[100], 'x');
  EXPECT_EQ(memory_[4096], 'x');
  EXPECT_EQ(ibv_destroy_qp(initiator), 0);
  EXPECT_EQ(ibv_destroy_qp(target), 0);
  EXPECT_EQ(ibv_destroy_srq(second), 0);
}

TEST_F(XrcVerbs, ADomainOfAFileIsTheSameForAllThatOpenIt) {
  std::FILE* file = std::tmpfile();
  const int fd = ::fileno(file);
  EXPECT_EQ(open_domain(fd, 0), nullptr);
  EXPECT_EQ(errno, EAGAIN);
  ibv_xrcd* first = open_domain(fd, O_CREAT);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(open_domain(fd, O_CREAT | O_EXCL), nullptr);
  EXPECT_EQ(errno, EINVAL);
  ibv_xrcd* same = open_domain(fd, 0);
  ASSERT_NE(same, nullptr);
  ibv_qp* target = make_target(first);
  ASSERT_NE(target, nullptr);
  ibv_qp* again = open_target(same, target->qp_num);
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(ibv_destroy_qp(again), 0);
  // The target is still there, and its domain until the last of it is closed.
  EXPECT_EQ(ibv_close_xrcd(same), 0);
  EXPECT_EQ(ibv_close_xrcd(first), EBUSY);
  ibv_qp_attr to{};
  to.qp_state = IBV_QPS_ERR;
  EXPECT_EQ(ibv_modify_qp(target, &to, IBV_QP_STATE), 0);
  EXPECT_EQ(ibv_destroy_qp(target), 0);
  EXPECT_EQ(ibv_close_xrcd(first), 0);
  EXPECT_EQ(open_domain(fd, 0), nullptr) << "the domain is gone";
  EXPECT_EQ(open_domain(12345, O_CREAT), nullptr);
  EXPECT_EQ(errno, EBADF);
  std::fclose(file);
}

TEST_F(XrcVerbs, EventsOfATargetGoToAllThatOpenedIt) {
  ibv_qp* target = make_target(domain_);
  int context = 0;
  ibv_qp* again = open_target(domain_, target->qp_num, &context);
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(again->qp_context, &context);
  EXPECT_EQ(again->qp_num, target->qp_num);
  ibv_qp* initiator = make_initiator();
  connect(target, initiator->qp_num);
  connect(initiator, target->qp_num);
  ibv_send_wr send{};
  send.opcode = IBV_WR_SEND;
  send.qp_type.xrc.remote_srqn = 0xABCDEF;
  ibv_send_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_send(initiator, &send, &bad), 0);
  EXPECT_EQ(completion().status, IBV_WC_REM_INV_REQ_ERR);
  std::array<ibv_qp*, 2> told{};
  for (ibv_qp*& qp : told) {
    const ibv_async_event event = next_event();
    EXPECT_EQ(event.event_type, IBV_EVENT_QP_REQ_ERR);
    qp = event.element.qp;
  }
  EXPECT_TRUE((told == std::array{target, again} || told == std::array{again, target}));
  EXPECT_EQ(ibv_destroy_qp(target), 0);
  EXPECT_EQ(ibv_destroy_qp(again), 0);
  EXPECT_EQ(ibv_destroy_qp(initiator), 0);
}

TEST_F(XrcVerbs, WhatDoesNotFitIsRefused) {
  EXPECT_EQ(ibv_close_xrcd(domain_), EBUSY);
  ibv_xrcd_init_attr without_flags{.comp_mask = IBV_XRCD_INIT_ATTR_FD, .fd = -1, .oflags = 0};
  EXPECT_EQ(ibv_open_xrcd(context_, &without_flags), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(make_target(nullptr), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(make_qp(srq_), nullptr) << "an RC QP with an SRQ for XRC";
  EXPECT_EQ(errno, EINVAL);
  ibv_qp* target = make_target(domain_);
  ASSERT_NE(target, nullptr);
  ibv_xrcd* other = open_domain(-1, O_CREAT);
  EXPECT_EQ(open_target(other, target->qp_num), nullptr) << "a target of another domain";
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(open_target(domain_, target->qp_num + 1), nullptr);
  EXPECT_EQ(errno, EINVAL);
  ibv_send_wr send{};
  ibv_send_wr* bad_send = nullptr;
  EXPECT_EQ(ibv_post_send(target, &send, &bad_send), EINVAL);
  ibv_recv_wr receive{};
  ibv_recv_wr* bad_receive = nullptr;
  EXPECT_EQ(ibv_post_recv(target, &receive, &bad_receive), EINVAL);
  EXPECT_EQ(ibv_destroy_cq(cq_), EBUSY) << "receives complete there";
  ibv_srq_init_attr plain{};
  plain.attr = {.max_wr = 1, .max_sge = 1, .srq_limit = 0};
  ibv_srq* srq = ibv_create_srq(pd_, &plain);
  std::uint32_t number = 0;
  EXPECT_EQ(ibv_get_srq_num(srq, &number), EINVAL);
  EXPECT_EQ(ibv_destroy_srq(srq), 0);
  EXPECT_EQ(ibv_close_xrcd(other), 0);
  EXPECT_EQ(ibv_destroy_qp(target), 0);
}

}  // namespace
}  // namespace roce::test
