// SPDX-License-Identifier: BSD-2-Clause
#include "conform/fuzz/bench.h"

#include <utility>

#include "conform/fuzz/program_window.h"
#include "conform/run/attributes.h"

namespace roce::conform::fuzz {

namespace {

using transport::Access;

}  // namespace

TargetResult<Bench> Bench::make(Target& target, Gate& gate, const Timing& timing) {
  Regions regions;
  const Access all = all_rights() | Access::local_write;
  const auto add = [&](Region& region, const RegionSetup& setup) -> TargetResult<void> {
    TargetResult<Region> made = target.create_region(setup);
    if (!made) return tl::unexpected(made.error());
    region = *made;
    return {};
  };
  const TargetResult<void> made =
      add(regions.right, {.length = kRegionBytes, .access = all | Access::mw_bind})
          .and_then([&] {
            return add(regions.other_pd,
                       {.length = kRegionBytes, .access = all | Access::mw_bind, .in_other_pd = true});
          })
          .and_then([&] { return add(regions.closed, {.length = kRegionBytes, .access = Access::local_write}); })
          .and_then([&] { return add(regions.lent, {.length = kLentBytes, .access = all}); })
          .and_then([&] { return add(regions.gone, {.length = kRegionBytes, .access = all}); })
          .and_then(
              [&] { return add(regions.buffers, {.length = kBuffers * kReceiveBytes, .access = Access::local_write}); })
          .and_then([&] { return target.deregister(regions.gone.number); });
  if (!made) return tl::unexpected(made.error());
  Bench bench{target, gate, timing, regions};
  // Programs have the QPNs that follow.
  QpSetup setup;
  setup.access = all_rights();
  setup.peer = target.first_peer();
  TargetResult<Gate::Reserved> qp = gate.make_qp(target, setup);
  if (!qp) return tl::unexpected(qp.error());
  bench.clean_.emplace(DeviceModel::attributes_of(setup, qp->qpn(), target.port_mtu()), target.port(), *bench.memory_);
  bench.clean_qp_.emplace(std::move(*qp));
  bench.bind_foreign();
  return bench;
}

Bench::Bench(Target& target, Gate& gate, const Timing& timing, const Regions& regions)
    : target_(&target),
      gate_(&gate),
      timing_(timing),
      regions_(regions),
      memory_(std::make_unique<MemoryModel>(target.memory_address(), target.read_memory(0, target.memory_size()))),
      counters_(target.counters()) {
  memory_->add(Key::right, regions.right, all_rights());
  memory_->add(Key::lent, regions.lent, all_rights());
}

void Bench::bind_foreign() {
  if (!target_->has("type2_mw")) return;
  ProgramWindow window{*this, clean_qp_->number()};
  const auto pass_time = [this] { (void)target_->receive(target_->now() + timing_.quiet); };
  const TargetResult<ProgramWindow::Bound> bound = window.bind({.length = kRegionBytes}, 0, pass_time);
  // Programs can do without.
  if (!bound) return;
  const bool is_bound = bound->completion && find_mistake(*bound->completion, 0, BindOutcome::bound).empty();
  if (is_bound) regions_.foreign = bound->window;
}

const Port* Bench::port_of(const Program& program) const {
  using transport::QpType;
  if (program.half == Half::manager && target_->cm(target_->port().version) == nullptr) return nullptr;
  if (program.type == QpType::uc && !target_->has("uc")) return nullptr;
  if (program.type == QpType::ud && !target_->has("ud")) return nullptr;
  return program.version == RoceVersion::none ? &target_->port() : target_->port_of(program.version);
}

const Port& Bench::other_port(const Port& port) const {
  for (const RoceVersion version : kVersions) {
    const Port* other = version == port.version ? nullptr : target_->port_of(version);
    if (other != nullptr) return *other;
  }
  return port;
}

const Region& Bench::region_of(Key key) const {
  switch (key) {
    case Key::other_pd:
      return regions_.other_pd;
    case Key::closed:
      return regions_.closed;
    case Key::gone:
      return regions_.gone;
    case Key::lent:
      return regions_.lent;
    case Key::window:
      return window_ ? *window_ : regions_.right;
    default:
      return regions_.right;
  }
}

std::uint32_t Bench::value_of(Key key) const {
  constexpr std::uint32_t one_index = 0x100;
  if (key == Key::window && !window_) return 0;
  if (key == Key::foreign) return regions_.foreign.r_key;
  const std::uint32_t own = region_of(key).r_key;
  if (key == Key::variant) return own ^ 1U;
  if (key == Key::index) return own ^ (0x80 * one_index);
  return key == Key::zero ? 0 : own;
}

TargetResult<void> Bench::deregister_lent() {
  if (std::exchange(is_lent_gone_, true)) return {};
  memory_->remove(Key::lent);
  return target_->deregister(regions_.lent.number);
}

transport::Sge Bench::next_buffer(std::uint32_t length) {
  const std::uint64_t address = regions_.buffers.address + std::uint64_t{receives_++ % kBuffers} * kReceiveBytes;
  return {.address = address, .length = length, .l_key = LKey{regions_.buffers.l_key}};
}

Qpn Bench::next_peer() {
  ++peers_;
  return Qpn{target_->first_peer().value() + static_cast<std::uint32_t>(peers_)};
}

bool Bench::is_of_others(Qpn peer) const {
  const std::uint32_t first = target_->first_peer().value();
  return peer.value() >= first && peer.value() < first + peers_;
}

}  // namespace roce::conform::fuzz
