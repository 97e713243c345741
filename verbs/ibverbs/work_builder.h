// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "verbs/ibverbs/verbs_api.h"

namespace roce::verbs {

struct QpObject;

/// The work requests that a program builds with the functions of an `ibv_qp_ex`, from `wr_start` to `wr_complete`.
/// One thread at a time, as verbs.h asks for.
class WorkBuilder {
 public:
  /// True if requests of all these kinds (IBV_QP_EX_WITH_*) can be built.
  [[nodiscard]] static bool knows(std::uint64_t send_ops_flags);
  /// Sets the functions of a QP that has a builder.
  static void set_functions(ibv_qp_ex& qp);

  void start();
  /// Begins a request of this kind; the setters then belong to it.
  ibv_send_wr& begin(const ibv_qp_ex& qp, ibv_wr_opcode opcode) noexcept;
  void set_sges(const ibv_sge* sges, std::size_t count) noexcept;
  /// Copies the data: the program may change them at once.
  void set_inline_data(const ibv_data_buf* pieces, std::size_t count) noexcept;
  void set_address(ibv_ah* ah, std::uint32_t qpn, std::uint32_t q_key) noexcept;
  void set_srq(std::uint32_t number) noexcept;
  /// Posts the requests until one is refused, and forgets them. Returns 0 or a number of errno.h.
  [[nodiscard]] int complete(ibv_qp& qp);

 private:
  struct Request {
    ibv_send_wr wr{};
    std::vector<ibv_sge> sges;
    std::vector<std::byte> inline_data;
  };
  template <typename Change>
  void change_last(Change&& change) noexcept;

  int error_ = 0;
  Request refused_;               // written to when there is no memory for another
  std::deque<Request> requests_;  // a deque, so that they stay where they are
};

}  // namespace roce::verbs
