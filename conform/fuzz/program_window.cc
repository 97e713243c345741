// SPDX-License-Identifier: BSD-2-Clause
#include "conform/fuzz/program_window.h"

#include <algorithm>
#include <utility>

namespace roce::conform::fuzz {

namespace {

constexpr std::uint32_t kVariant = 0xFF;

}  // namespace

TargetResult<ProgramWindow::Bound> ProgramWindow::bind(const Bind& bind, std::uint64_t wr_id,
                                                       const std::function<void()>& pass_time) {
  Target& target = bench_.target();
  if (!window_) {
    const TargetResult<WindowNumber> made = target.create_window({});
    if (!made) return tl::unexpected(made.error());
    window_ = *made;
  }
  const std::uint32_t key = target.window_key(*window_);
  const Region& region = bench_.region_of(bind.region);
  const BindOrder order{.wr_id = wr_id,
                        .window = *window_,
                        .region = region.number,
                        .address = region.address + static_cast<std::uint64_t>(bind.address),
                        .length = bind.length,
                        .access = bind.access,
                        .variant = static_cast<std::uint8_t>(key + bind.variant)};
  if (!target.post_bind(qp_, order)) return Bound{.is_taken = false};
  Bound bound{.window = {.address = order.address, .length = order.length, .r_key = (key & ~kVariant) | order.variant}};
  const Time until = target.now() + bench_.timing().answer;
  while (!(bound.completion = target.poll(qp_, false)) && target.now() < until) pass_time();
  bound.reported_key = target.window_key(*window_);
  return bound;
}

TargetResult<void> ProgramWindow::destroy() {
  bench_.set_window(std::nullopt);
  const std::optional<WindowNumber> window = std::exchange(window_, std::nullopt);
  return window ? bench_.target().destroy_window(*window) : TargetResult<void>{};
}

std::vector<transport::CompletionStatus> statuses_of(BindOutcome outcome) {
  using enum transport::CompletionStatus;
  if (outcome == BindOutcome::bound) return {success};
  if (outcome == BindOutcome::flushed) return {flushed};
  return {mw_bind_error, local_protection_error, local_qp_operation_error};
}

std::string find_mistake(const transport::Completion& completion, std::uint64_t wr_id, BindOutcome outcome) {
  const std::vector<transport::CompletionStatus> statuses = statuses_of(outcome);
  if (completion.wr_id != wr_id) return "request";
  if (std::ranges::find(statuses, completion.status) == statuses.end()) return "status";
  const bool is_success = completion.status == transport::CompletionStatus::success;
  return is_success && completion.opcode != transport::CompletionOpcode::bind_mw ? "opcode" : std::string{};
}

}  // namespace roce::conform::fuzz
