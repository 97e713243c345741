// SPDX-License-Identifier: BSD-2-Clause
#include "model_run.h"

#include <algorithm>
#include <array>
#include <memory>

#include "model_audit.h"
#include "model_link.h"
#include "model_node.h"
#include "roce/transport/device.h"

namespace roce::model {

namespace {

using transport::TxUnit;

/// More steps than any program needs; a program that takes more makes no progress.
constexpr std::uint64_t kMaxSteps = 500'000;
/// More frames than the windows of the QPs and their answers can fill with these programs.
constexpr std::size_t kMaxFramesInFlight = 20'000;

class Run {
 public:
  explicit Run(const Program& program)
      : program_(program),
        reference_(program),
        memory_(program),
        link_(program.faults, program.seed),
        nodes_{std::make_unique<Node>(program, 0, memory_), std::make_unique<Node>(program, 1, memory_)} {
    nodes_[0]->connect(*nodes_[1]);
    nodes_[1]->connect(*nodes_[0]);
    for (const QpPlan& plan : program.qps) {
      audits_.push_back({Audit{plan.first_psn[0], plan.mtu}, Audit{plan.first_psn[1], plan.mtu}});
    }
  }

  Result execute() {
    Result result;
    bool errors = false;
    for (std::size_t phase = 0; phase < 2 && failure_.empty() && !errors; ++phase) {
      for (const auto& node : nodes_) node->begin_phase(phase, now_);
      run_phase();
      errors = nodes_[0]->is_any_qp_in_error() || nodes_[1]->is_any_qp_in_error();
    }
    if (failure_.empty()) finish();
    result.failure = failure_;
    result.frames = frames_;
    for (const auto& node : nodes_) {
      result.completions += node->completions;
      result.errors += node->errors;
    }
    return result;
  }

 private:
  void fail(const std::string& what) {
    if (failure_.empty() && !what.empty())
      failure_ = "at " + std::to_string(now_.time_since_epoch().count()) + " ns: " + what;
  }

  void run_phase() {
    while (failure_.empty()) {
      if (++steps_ > kMaxSteps) return fail("no end in sight");
      bool posted = false;
      for (std::size_t i = 0; i < 2; ++i) {
        std::string failure;
        posted = node(i).post_due(node(1 - i), now_, failure) || posted;
        fail(failure);
        check(i);
        transmit(i);
      }
      if (posted) continue;
      if (node(0).is_phase_over() && node(1).is_phase_over()) return;
      Time next = std::min(link_.next(), std::min(node(0).next_action(now_), node(1).next_action(now_)));
      for (std::size_t i = 0; i < 2; ++i) next = std::min(next, node(i).device().next_timeout());
      if (next == kNever)
        return fail("nothing under way and no timer, but" + node(0).unfinished() + node(1).unfinished());
      step(std::max(now_, next));
    }
  }

  /// Handles one event.
  void step(Time to) {
    now_ = to;
    for (std::size_t i = 0; i < 2; ++i) {
      if (node(i).device().next_timeout() > now_) continue;
      node(i).device().advance(now_);
      check(i);
    }
    if (link_.next() > now_) return;
    const Link::Arrival& arrival = link_.take();
    const std::size_t to_node = arrival.to;
    node(to_node).device().receive(parse_frame(arrival.bytes, LinkType::ethernet), now_);
    check(to_node);
  }

  /// Checks the conditions that hold after each step.
  void check(std::size_t i) {
    if (!memory_.guards_intact(i)) fail("bytes were written outside of the regions of device " + std::to_string(i));
    fail(node(i).check_completions(reference_, node(1 - i)));
    while (node(i).device().poll_event()) {
    }
  }

  void transmit(std::size_t from) {
    std::array<TxUnit, 4> units{};
    while (failure_.empty()) {
      const std::size_t count = node(from).device().transmit(buffer_, units, {.max_bytes = kFrameSize}, now_);
      if (count == 0) break;
      for (const TxUnit& unit : std::span{units}.first(count)) {
        ++frames_;
        audit(from, unit.bytes);
        link_.send(from, unit.bytes, now_);
      }
      if (link_.size() > kMaxFramesInFlight) fail("more frames under way than windows allow");
    }
    if (node(from).device().has_output()) fail("a device that has output and does not give it");
  }

  void audit(std::size_t from, Bytes frame) {
    const Packet packet = parse_frame(frame, LinkType::ethernet);
    std::size_t q = packet.is_roce() ? node(1 - from).find(packet.bth().dest_qp) : program_.qps.size();
    if (q == program_.qps.size()) return fail("device " + std::to_string(from) + " sent a frame to nobody");
    std::string wrong = audit_frame(packet, program_.qps[q].mtu);
    if (wrong.empty() && packet.info().service == Service::rc) {
      const transport::QpAttributes attributes = node(from).attributes(q);
      wrong = packet.info().is_response() ? audits_[q].at(1 - from).on_response(packet, attributes)
                                          : audits_[q].at(from).on_request(packet, attributes);
    }
    if (!wrong.empty()) {
      fail("device " + std::to_string(from) + " sent " + wrong + ", " + std::string(packet.info().name));
    }
  }

  /// Lets everything under way arrive, then compares the result with the reference.
  void finish() {
    while (failure_.empty() && link_.next() != kNever && ++steps_ <= kMaxSteps) {
      step(std::max(now_, link_.next()));
      for (std::size_t i = 0; i < 2; ++i) transmit(i);
    }
    if (program_.errors_allowed) {
      for (const auto& node : nodes_) node->force_error(now_);
    }
    for (std::size_t i = 0; i < 2; ++i) {
      check(i);
      fail(node(i).check_all_completed(reference_));
    }
    if (program_.errors_allowed) return;
    for (std::size_t i = 0; i < 2; ++i) {
      for (std::size_t q = 0; q < program_.qps.size(); ++q) {
        for (const Area area : {Area::local, Area::remote, Area::receive, Area::spare_own, Area::spare_peer}) {
          if (std::ranges::equal(memory_.area(i, q, area), reference_.memory.area(i, q, area))) continue;
          fail("memory differs: device " + std::to_string(i) + ", QP " + std::to_string(q) + ", area " +
               std::to_string(static_cast<int>(area)));
        }
      }
    }
  }

  Node& node(std::size_t i) { return *nodes_.at(i); }

  static constexpr std::size_t kFrameSize = 4096 + 128;

  const Program& program_;
  Reference reference_;
  Memory memory_;
  Link link_;
  std::array<std::unique_ptr<Node>, 2> nodes_;
  /// By QP, and by the device whose requests are audited.
  std::vector<std::array<Audit, 2>> audits_;
  std::array<std::byte, 4 * kFrameSize> buffer_{};
  Time now_{};
  std::uint64_t steps_ = 0;
  std::uint64_t frames_ = 0;
  std::string failure_;
};

}  // namespace

Result run(const Program& program) {
  return std::make_unique<Run>(program)->execute();
}

}  // namespace roce::model
