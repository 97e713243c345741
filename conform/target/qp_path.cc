// SPDX-License-Identifier: BSD-2-Clause
#include "conform/target/qp_path.h"

#include <array>

namespace roce::conform {

using transport::QpChange;
using transport::QpState;
using transport::QpType;

std::vector<QpChange> path_of(const QpSetup& setup, const transport::AddressVector& tester) {
  QpChange init{.state = QpState::init, .p_key_index = 0, .port = 1};
  QpChange rtr{.state = QpState::rtr};
  QpChange rts{.state = QpState::rts, .sq_psn = setup.sq_psn};
  if (setup.type == QpType::ud) {
    init.q_key = setup.q_key;
  } else {
    init.access = setup.access;
    rtr.address = tester;
    rtr.address->service_level = setup.service_level;
    rtr.path_mtu = setup.path_mtu;
    rtr.dest_qp = setup.peer;
    rtr.rq_psn = setup.rq_psn;
  }
  if (setup.type == QpType::rc) {
    rtr.max_dest_rd_atomic = setup.max_dest_rd_atomic;
    rtr.min_rnr_timer = setup.min_rnr_timer;
    rts.max_rd_atomic = setup.max_rd_atomic;
    rts.timeout = setup.timeout;
    rts.retry_count = setup.retry_count;
    rts.rnr_retry = setup.rnr_retry;
  }
  std::vector<QpChange> path;
  if (setup.state == QpState::reset) return path;
  for (const QpChange& change : std::array{init, rtr, rts}) {
    path.push_back(change);
    if (change.state == setup.state) return path;
  }
  path.push_back({.state = setup.state});
  return path;
}

}  // namespace roce::conform
