// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/sim_truth_traffic.h"

#include <algorithm>

namespace roce::sim_truth {

using transport::WorkOpcode;

namespace {

constexpr std::uint32_t kMost = 20;  ///< packets in a message

}  // namespace

Traffic::Traffic(sim::SimNetwork& network, sim::Random& random, const Plan& plan, sim::Host& a, sim::Host& b,
                 transport::QpType type, Weather weather)
    : network_(network), random_(random), plan_(plan), is_uc_(type == transport::QpType::uc) {
  sim::Endpoint::Options options;
  options.type = type;
  options.memory = 1U << 17U;
  options.max_send = 1024;
  options.max_receive = 1024;
  ends_[0] = std::make_unique<sim::Endpoint>(a, options);
  ends_[1] = std::make_unique<sim::Endpoint>(b, options);
  sim::Connection connection = plan.connection;
  const bool is_near_wrap = random.one_in(3);
  for (Psn* psn : {&connection.a_psn, &connection.b_psn}) {
    *psn = Psn{is_near_wrap ? 0xFF'FFFF - static_cast<std::uint32_t>(random.below(200))
                            : static_cast<std::uint32_t>(random.below(1U << 24U))};
  }
  if (random.one_in(8) || (weather == Weather::clean && random.one_in(2))) {
    connection.a_psn = connection.b_psn = Psn{0};
  }
  psns_ = {connection.a_psn, connection.b_psn};
  sim::connect(*ends_[0], *ends_[1], connection);
}

void Traffic::plan_operations(std::size_t end, std::size_t count, Duration begin, std::uint64_t style, bool rnr) {
  Duration at = begin;
  for (std::size_t i = 0; i < count; ++i) {
    if (random_.one_in(4)) at += Duration{static_cast<std::int64_t>(random_.below(200'000))};
    if (random_.one_in(20)) at += Duration{static_cast<std::int64_t>(random_.below(30'000'000))};
    const sim::Work work = random_work(style);
    const bool takes_receive = work.opcode == WorkOpcode::send || work.opcode == WorkOpcode::send_with_immediate ||
                               work.opcode == WorkOpcode::write_with_immediate;
    if (takes_receive) {
      const bool late = rnr && !is_uc_ && random_.one_in(10);
      const Duration when = late ? at + Duration{static_cast<std::int64_t>(random_.below(1'500'000))} : Duration{0};
      if (late) {
        late_[end] = std::max(late_[end], when);
      }
      // Receives are used in the order in which they are posted: one after a late one is late as well.
      network_.after(std::max(when, late_[end]),
                     [this, end] { (void)ends_[1 - end]->try_receive(0, kMost * plan_.mtu, 1); });
    }
    network_.after(at, [this, end, work] { (void)ends_[end]->try_post(work); });
  }
}

sim::Work Traffic::random_work(std::uint64_t style) {
  sim::Work work;
  work.id = 1;
  work.length = random_length();
  if (style == 1) {
    work.opcode = WorkOpcode::read;
    return work;
  }
  if (style == 2) {
    work.opcode = WorkOpcode::write;
    return work;
  }
  switch (random_.below(is_uc_ ? 6 : 12)) {
    case 0:
    case 1:
      work.opcode = WorkOpcode::send;
      break;
    case 2:
      work.opcode = WorkOpcode::send_with_immediate;
      break;
    case 3:
      work.opcode = WorkOpcode::write_with_immediate;
      break;
    case 4:
    case 5:
    case 6:
      work.opcode = WorkOpcode::write;
      break;
    case 7:
    case 8:
    case 9:
      work.opcode = WorkOpcode::read;
      work.fence = random_.one_in(10);
      break;
    case 10:
      work.opcode = WorkOpcode::fetch_add;
      work.length = 8;
      break;
    default:
      work.opcode = WorkOpcode::compare_swap;
      work.length = 8;
  }
  return work;
}

std::uint32_t Traffic::random_length() {
  switch (random_.below(5)) {
    case 0:
      return static_cast<std::uint32_t>(random_.below(64));
    case 1:
      return plan_.mtu * static_cast<std::uint32_t>(random_.below(4));
    case 2:
      return static_cast<std::uint32_t>(random_.below(plan_.mtu + 1));
    default:
      return static_cast<std::uint32_t>(random_.below(kMost * plan_.mtu + 1));
  }
}

}  // namespace roce::sim_truth
