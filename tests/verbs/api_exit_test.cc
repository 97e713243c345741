// SPDX-License-Identifier: BSD-2-Clause
// Programs that end without destroying what they have. Run through roce-run, as api_test.cc.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "api_rig.h"

namespace roce::test {
namespace {

class ProcessThatEnds : public Verbs {
 protected:
  /// Two descriptors of a pipe.
  struct Pipe {
    Pipe() { EXPECT_EQ(::pipe(ends.data()), 0); }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;
    ~Pipe() {
      for (const int end : ends) ::close(end);
    }
    void say(std::uint32_t number) const {
      EXPECT_EQ(::write(ends[1], &number, sizeof number), ssize_t{sizeof number});
    }
    [[nodiscard]] std::uint32_t hear() const {
      std::uint32_t number = 0;
      EXPECT_EQ(::read(ends[0], &number, sizeof number), ssize_t{sizeof number});
      return number;
    }
    std::array<int, 2> ends{};
  };

  /// All that the other process does: takes one message, and ends.
  [[noreturn]] void take_one_and_end(const Pipe& to_us, const Pipe& to_it) {
    SetUp();
    ibv_qp* const qp = make_qp();
    connect(qp, to_it.hear());
    ibv_sge to = piece(0, 64);
    ibv_recv_wr receive{.wr_id = 1, .next = nullptr, .sg_list = &to, .num_sge = 1};
    ibv_recv_wr* bad = nullptr;
    EXPECT_EQ(ibv_post_recv(qp, &receive, &bad), 0);
    to_us.say(qp->qp_num);
    std::exit(completion().status == IBV_WC_SUCCESS ? 0 : 1);
  }
};

TEST_F(ProcessThatEnds, HasAcknowledgedTheLastMessageThatItTook) {
  // The ACK of a single message leaves a little later: often after the process could have ended.
  for (int round = 0; round < 20; ++round) {
    const Pipe to_us;
    const Pipe to_it;
    (void)std::fflush(nullptr);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) take_one_and_end(to_us, to_it);
    ibv_qp* const qp = make_qp();
    ASSERT_NE(qp, nullptr);
    to_it.say(qp->qp_num);
    connect(qp, to_us.hear());
    ibv_sge from = piece(0, 64);
    ibv_send_wr send = request_of(IBV_WR_SEND, from);
    ibv_send_wr* bad = nullptr;
    ASSERT_EQ(ibv_post_send(qp, &send, &bad), 0);
    EXPECT_EQ(completion().status, IBV_WC_SUCCESS) << "round " << round;
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(ibv_destroy_qp(qp), 0);
  }
}

}  // namespace
}  // namespace roce::test
