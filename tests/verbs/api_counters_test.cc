// SPDX-License-Identifier: BSD-2-Clause
// The counters of a port, as a program reads them. Run through roce-run, as api_test.cc.
#include <chrono>
#include <fstream>
#include <string>

#include "api_rig.h"

namespace roce::test {
namespace {

class CounterFiles : public Verbs {
 protected:
  [[nodiscard]] static std::uint64_t read(const std::string& name) {
    std::ifstream file{"/sys/class/infiniband/roce_lo/ports/1/" + name};
    std::uint64_t value = 0;
    EXPECT_TRUE(file >> value) << name;
    return value;
  }
};

TEST_F(CounterFiles, CountDatagramsThatNothingFollows) {
  // Nothing comes, no timer runs, and the program calls nothing more.
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = cq_;
  init.cap = {.max_send_wr = 8, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
  init.qp_type = IBV_QPT_UD;
  ibv_qp* qp = ibv_create_qp(pd_, &init);
  ASSERT_NE(qp, nullptr);
  ibv_qp_attr to{};
  to.qp_state = IBV_QPS_INIT;
  to.port_num = 1;
  ASSERT_EQ(ibv_modify_qp(qp, &to, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY), 0);
  to.qp_state = IBV_QPS_RTR;
  ASSERT_EQ(ibv_modify_qp(qp, &to, IBV_QP_STATE), 0);
  to.qp_state = IBV_QPS_RTS;
  ASSERT_EQ(ibv_modify_qp(qp, &to, IBV_QP_STATE | IBV_QP_SQ_PSN), 0);
  ibv_ah_attr address{};
  address.is_global = 1;
  address.port_num = 1;
  ASSERT_EQ(ibv_query_gid(context_, 1, 0, &address.grh.dgid), 0);
  ibv_ah* ah = ibv_create_ah(pd_, &address);
  ASSERT_NE(ah, nullptr);

  // The first time shows that what moves is counted at rest, the second that it is, too, when all have been at rest.
  for (int round = 0; round < 2; ++round) {
    const std::uint64_t before = read("counters/port_xmit_packets");
    for (int i = 0; i < 3; ++i) {
      ibv_send_wr send{};
      send.opcode = IBV_WR_SEND;
      send.wr.ud = {ah, 0xFFFFFE, 0};
      ibv_send_wr* bad = nullptr;
      ASSERT_EQ(ibv_post_send(qp, &send, &bad), 0);
    }
    const auto end = std::chrono::steady_clock::now() + kLong;
    while (read("counters/port_xmit_packets") < before + 3 && std::chrono::steady_clock::now() < end) {
    }
    EXPECT_EQ(read("counters/port_xmit_packets"), before + 3) << "round " << round;
    EXPECT_EQ(read("hw_counters/sent_pkts"), read("counters/port_xmit_packets"));
  }
  EXPECT_EQ(ibv_destroy_ah(ah), 0);
  EXPECT_EQ(ibv_destroy_qp(qp), 0);
}

}  // namespace
}  // namespace roce::test
