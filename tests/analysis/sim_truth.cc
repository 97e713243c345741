// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/sim_truth.h"

#include <fmt/format.h>

#include <memory>

#include "analysis/sim_truth_plan.h"
#include "analysis/sim_truth_traffic.h"
#include "analysis/sim_truth_way.h"
#include "roce/wire/aeth.h"
#include "sim/endpoint.h"
#include "sim/random.h"

namespace roce::sim_truth {

bool Sent::needs_answer() const {
  switch (info().operation) {
    case Operation::read_request:
    case Operation::compare_swap:
    case Operation::fetch_add:
    case Operation::flush:
    case Operation::atomic_write:
      return true;
    default:
      return false;
  }
}

bool Sent::is_answer() const {
  return is_response && info().operation != Operation::acknowledge;
}
bool Sent::is_positive() const {
  return is_response && (is_answer() || syndrome.kind() == AethKind::ack);
}
bool Sent::is_nak() const {
  return is_response && !is_answer() && syndrome.kind() == AethKind::nak;
}
bool Sent::is_rnr() const {
  return is_response && !is_answer() && syndrome.kind() == AethKind::rnr_nak;
}

Run make_run(std::uint64_t seed, std::string_view profile, Weather weather) {
  Run run;
  run.seed = seed;
  sim::Random random(seed);
  const Plan plan = make_plan(random, profile, weather);
  sim::SimNetwork network(seed);
  sim::Host::Options options;
  options.profile = plan.profile;
  sim::Host a(network, options);
  sim::Host b(network, options);
  Way way(network, run, plan);
  network.connect(a.node(), way.end(0), {.delay = plan.to_a, .rate_bps = plan.rate_bps});
  network.connect(way.end(1), b.node(), {.delay = plan.to_b, .rate_bps = plan.rate_bps});
  run.to_a = plan.to_a;
  run.to_b = plan.to_b;
  run.has_ip_id = plan.profile.count_ip_id && plan.path.version == RoceVersion::v2_ipv4;

  std::vector<std::unique_ptr<Traffic>> all;
  for (std::size_t i = 0; i < plan.qps; ++i) {
    const bool is_uc = weather == Weather::faulty && random.one_in(10);
    Traffic& traffic = *all.emplace_back(std::make_unique<Traffic>(
        network, random, plan, a, b, is_uc ? transport::QpType::uc : transport::QpType::rc, weather));
    for (std::size_t end = 0; end < 2; ++end) {
      Channel channel;
      channel.from_b = end == 1;
      channel.mtu = plan.mtu;
      channel.qp = i;
      channel.first = channel.highest = static_cast<LongPsn>(traffic.psn(end).value()) + (LongPsn{1} << 24U);
      run.channels.push_back(channel);
    }
    way.add_qp(false, traffic.end(0).qpn(), i * 2 + 1, i * 2);
    way.add_qp(true, traffic.end(1).qpn(), i * 2, i * 2 + 1);
    const std::uint64_t style = is_uc ? 0 : random.below(weather == Weather::clean ? 3 : 6);
    const bool rnr = weather != Weather::clean && random.one_in(4);
    const bool both = !random.one_in(3);
    for (std::size_t end = 0; end < (both ? 2U : 1U); ++end) {
      const std::size_t count = weather == Weather::clean ? 50 + random.below(150) : 4 + random.below(20);
      traffic.plan_operations(end, count, Duration{static_cast<std::int64_t>(random.below(300'000))}, style, rnr);
    }
  }
  run.text = fmt::format("{} {}{} mtu {} qps {} to_a {} ns to_b {} ns rate {} Gbit/s; A [{}] capture [{}] B", profile,
                         to_string(plan.path.version), plan.path.vlan ? " vlan" : "", plan.mtu, plan.qps,
                         plan.to_a.count(), plan.to_b.count(), plan.rate_bps / 1'000'000'000, plan.first, plan.second);
  const testing::AssertionResult idle = network.run_until_idle();
  if (!idle) run.failure = idle.message();
  return run;
}

std::vector<std::size_t> capture(const Run& run, std::uint32_t per_mille_withheld) {
  sim::Random random(run.seed ^ 0x5555'5555U);
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < run.passages.size(); ++i) {
    if (per_mille_withheld == 0 || random.below(1000) >= per_mille_withheld) kept.push_back(i);
  }
  return kept;
}

}  // namespace roce::sim_truth
