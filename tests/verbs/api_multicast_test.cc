// SPDX-License-Identifier: BSD-2-Clause
// Multicast groups as a program uses them. Run through roce-run, as api_test.cc.
#include <cerrno>
#include <cstring>

#include "api_rig.h"

namespace roce::test {
namespace {

constexpr std::uint32_t kQKey = 0x1234;
constexpr std::uint32_t kArea = 40;  // in front of a datagram

class MulticastVerbs : public Verbs {
 protected:
  void SetUp() override {
    Verbs::SetUp();
    sender_ = make_datagram_qp();
    member_ = make_datagram_qp();
    other_ = make_datagram_qp();
    ibv_ah_attr to{};
    to.is_global = 1;
    to.port_num = 1;
    to.grh.dgid = group(7);
    address_ = ibv_create_ah(pd_, &to);
    ASSERT_NE(address_, nullptr);
  }
  void TearDown() override {
    EXPECT_EQ(ibv_destroy_ah(address_), 0);
    for (ibv_qp* qp : {sender_, member_, other_}) EXPECT_EQ(ibv_destroy_qp(qp), 0);
    Verbs::TearDown();
  }

  [[nodiscard]] ibv_qp* make_datagram_qp() {
    ibv_qp_init_attr init{};
    init.send_cq = init.recv_cq = cq_;
    init.cap = {.max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
    init.qp_type = IBV_QPT_UD;
    ibv_qp* const qp = ibv_create_qp(pd_, &init);
    if (qp == nullptr) return nullptr;
    ibv_qp_attr to{};
    to.qp_state = IBV_QPS_INIT;
    to.port_num = 1;
    to.qkey = kQKey;
    EXPECT_EQ(ibv_modify_qp(qp, &to, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY), 0);
    to.qp_state = IBV_QPS_RTR;
    EXPECT_EQ(ibv_modify_qp(qp, &to, IBV_QP_STATE), 0);
    to.qp_state = IBV_QPS_RTS;
    EXPECT_EQ(ibv_modify_qp(qp, &to, IBV_QP_STATE | IBV_QP_SQ_PSN), 0);
    return qp;
  }
  /// Returns the GID of 239.78.0.`last`.
  [[nodiscard]] static ibv_gid group(std::uint8_t last) {
    ibv_gid gid{};
    gid.raw[10] = gid.raw[11] = 0xFF;
    gid.raw[12] = 239;
    gid.raw[13] = 78;
    gid.raw[15] = last;
    return gid;
  }
  void post_receive(ibv_qp* qp, std::size_t offset) {
    ibv_sge into = piece(offset, 1000);
    ibv_recv_wr request{.wr_id = offset, .next = nullptr, .sg_list = &into, .num_sge = 1};
    ibv_recv_wr* bad = nullptr;
    ASSERT_EQ(ibv_post_recv(qp, &request, &bad), 0);
  }
  void send(std::uint32_t length) {
    ibv_sge from = piece(0, length);
    ibv_send_wr request{};
    request.sg_list = &from;
    request.num_sge = 1;
    request.opcode = IBV_WR_SEND;
    request.wr.ud = {address_, 0xFF'FFFF, kQKey};
    ibv_send_wr* bad = nullptr;
    ASSERT_EQ(ibv_post_send(sender_, &request, &bad), 0);
  }

  ibv_qp* sender_ = nullptr;
  ibv_qp* member_ = nullptr;
  ibv_qp* other_ = nullptr;
  ibv_ah* address_ = nullptr;
};

TEST_F(MulticastVerbs, EachAttachedQpGetsACopyWhileNobodyPolls) {
  const ibv_gid gid = group(7);
  for (ibv_qp* const qp : {member_, other_}) {
    ASSERT_EQ(ibv_attach_mcast(qp, &gid, 0), 0);
    post_receive(qp, qp == member_ ? 1000 : 2000);
  }
  for (int copies = 0; copies < 2; ++copies) {
    ASSERT_EQ(ibv_req_notify_cq(cq_, 0), 0);
    if (copies == 0) {
      std::memcpy(memory_.data(), "all", 3);
      send(3);
    }
    ASSERT_TRUE(is_readable(channel_->fd, kLong));
    ibv_cq* told = nullptr;
    void* context = nullptr;
    ASSERT_EQ(ibv_get_cq_event(channel_, &told, &context), 0);
    ibv_ack_cq_events(cq_, 1);
    const ibv_wc received = completion();
    EXPECT_EQ(received.status, IBV_WC_SUCCESS);
    EXPECT_EQ(received.byte_len, kArea + 3);
    EXPECT_EQ(received.src_qp, sender_->qp_num);
    EXPECT_EQ(std::memcmp(memory_.data() + received.wr_id + kArea, "all", 3), 0);
  }
  for (ibv_qp* const qp : {member_, other_}) EXPECT_EQ(ibv_detach_mcast(qp, &gid, 0), 0);
}

TEST_F(MulticastVerbs, ADetachedQpGetsNothingMore) {
  const ibv_gid gid = group(7);
  for (ibv_qp* const qp : {member_, other_}) ASSERT_EQ(ibv_attach_mcast(qp, &gid, 0), 0);
  post_receive(member_, 1000);
  post_receive(other_, 2000);
  EXPECT_EQ(ibv_destroy_qp(member_), EBUSY) << "while it is attached";
  EXPECT_EQ(ibv_detach_mcast(member_, &gid, 0), 0);
  EXPECT_EQ(ibv_detach_mcast(member_, &gid, 0), EINVAL);
  send(3);
  EXPECT_EQ(completion().wr_id, 2000U);
  ibv_wc none{};
  EXPECT_EQ(ibv_poll_cq(cq_, 1, &none), 0);
  EXPECT_EQ(ibv_detach_mcast(other_, &gid, 0), 0);
}

TEST_F(MulticastVerbs, AGroupThatTheDeviceCannotJoinIsRefused) {
  ibv_gid gid{};
  gid.raw[0] = 0xFF;
  gid.raw[1] = 0x15;
  gid.raw[15] = 1;
  EXPECT_NE(ibv_attach_mcast(member_, &gid, 0), 0) << "an IPv6 group at an IPv4 address";
  gid.raw[0] = 0;
  EXPECT_EQ(ibv_attach_mcast(member_, &gid, 0), EINVAL) << "no group";
}

}  // namespace
}  // namespace roce::test
