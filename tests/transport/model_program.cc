// SPDX-License-Identifier: BSD-2-Clause
#include "model_program.h"

#include <algorithm>
#include <chrono>
#include <sstream>

#include "sim/random.h"

namespace roce::model {

namespace {

using sim::Random;
using transport::WorkOpcode;

constexpr std::uint32_t kMaxInline = 64;
constexpr std::uint32_t kSpareSize = 64;

template <typename T, std::size_t n>
T pick(Random& random, const std::array<T, n>& values) {
  return values.at(random.below(n));
}

/// Ranges that a READ or atomic of the QP may still be using.
class InUse {
 public:
  void add(std::uint32_t begin, std::uint32_t length) { ranges_.push_back({begin, length}); }
  void clear() { ranges_.clear(); }
  [[nodiscard]] bool overlaps(std::uint32_t begin, std::uint32_t length) const {
    return std::ranges::any_of(ranges_, [&](const Piece& range) {
      return begin < range.offset + range.length && range.offset < begin + length;
    });
  }

 private:
  std::vector<Piece> ranges_;
};

/// Makes the operations of one end of a QP.
class SideMaker {
 public:
  SideMaker(Random& random, const QpPlan& plan, const Program& program, std::uint32_t size)
      : random_(random), plan_(plan), program_(program), size_(size) {}

  /// Makes `count` requests of the side `own`; the receives that they use go to `peer`.
  void make(Side& own, Side& peer, std::uint32_t count, std::size_t phase) {
    phase_ = phase;
    for (std::uint32_t i = 0; i < count; ++i) own.operations.push_back(make_operation());
    if (program_.errors_allowed && phase == 0 && random_.one_in(2)) spoil(own);
    for (const Work& operation : own.operations) {
      if (takes_receive(operation.opcode)) peer.receives.push_back(make_receive(operation));
    }
    // A peer that has too many receives keeps the rest.
    if (random_.one_in(3) && !plan_.with_srq && phase == 1) peer.receives.push_back(make_receive({}));
    own.sends_at = times(own.operations.size(), false);
    peer.receives_at = times(peer.receives.size(), true);
  }
  [[nodiscard]] std::uint32_t receive_size() const { return receive_end_; }

 private:
  static bool takes_receive(WorkOpcode opcode) {
    return opcode == WorkOpcode::send || opcode == WorkOpcode::send_with_immediate ||
           opcode == WorkOpcode::send_with_invalidate || opcode == WorkOpcode::write_with_immediate;
  }

  [[nodiscard]] std::uint32_t pick_length() {
    const std::uint32_t mtu = plan_.mtu;
    const std::uint32_t many = mtu <= 1024 ? (random_.one_in(4) ? 10 : 4) : 2;
    const std::array edges{0U, 1U, 3U, mtu - 1, mtu, mtu + 1, 2 * mtu, many * mtu + 3, 8U, 64U};
    const std::uint32_t length =
        random_.one_in(4) ? static_cast<std::uint32_t>(random_.below(2 * std::uint64_t{mtu})) : pick(random_, edges);
    return std::min(length, size_);
  }

  /// Returns pieces of `total` bytes in an area of `size` bytes, which may touch but not overlap.
  std::vector<Piece> pick_pieces(std::uint32_t total, std::uint32_t size, std::uint32_t most) {
    if (total == 0) return random_.one_in(2) ? std::vector<Piece>{} : std::vector<Piece>{{0, 0}};
    const auto count = std::min<std::uint32_t>(total, 1 + static_cast<std::uint32_t>(random_.below(most)));
    std::vector<Piece> pieces;
    auto at = static_cast<std::uint32_t>(random_.below(size - total + 1));
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t left = total - (count - i - 1);
      const std::uint32_t length = i + 1 == count ? total : 1 + static_cast<std::uint32_t>(random_.below(left));
      pieces.push_back({at, length});
      at += length;
      total -= length;
      if (total == 0) break;
    }
    // The pieces are in any order: the message is put together from scattered places.
    if (random_.one_in(3)) std::ranges::reverse(pieces);
    return pieces;
  }

  WorkOpcode pick_opcode() {
    static constexpr std::array often{WorkOpcode::send,      WorkOpcode::send,      WorkOpcode::send_with_immediate,
                                      WorkOpcode::write,     WorkOpcode::write,     WorkOpcode::write_with_immediate,
                                      WorkOpcode::read,      WorkOpcode::read,      WorkOpcode::compare_swap,
                                      WorkOpcode::fetch_add, WorkOpcode::fetch_add, WorkOpcode::atomic_write,
                                      WorkOpcode::flush};
    if (random_.one_in(12) && !own_spare_used_) {
      own_spare_used_ = true;
      return WorkOpcode::local_invalidate;
    }
    if (random_.one_in(12) && !peer_spare_used_) return WorkOpcode::send_with_invalidate;
    if (random_.one_in(10) && phase_ == 0 && (!bound_.at(0) || !bound_.at(1))) return WorkOpcode::bind_mw;
    return pick(random_, often);
  }

  Work make_operation() {
    Work op;
    op.opcode = pick_opcode();
    op.wr_id = next_id_++;
    op.signaled = !random_.one_in(3);
    op.fence = random_.one_in(10);
    op.solicited = random_.one_in(4);
    op.immediate = static_cast<std::uint32_t>(random_());
    switch (op.opcode) {
      case WorkOpcode::local_invalidate:
        op.key = Key::spare_own;
        return op;
      case WorkOpcode::bind_mw: {
        const std::size_t which = bound_.at(0) ? 1 : bound_.at(1) ? 0 : random_.below(2);
        bound_.at(which) = true;
        op.key = which == 0 ? Key::window1 : Key::window2;
        op.bind_length = size_;
        return op;
      }
      case WorkOpcode::send_with_invalidate:
        op.key = Key::spare_peer;
        peer_spare_used_ = true;
        break;
      case WorkOpcode::compare_swap:
      case WorkOpcode::fetch_add:
        op.compare_add = random_.one_in(2) ? random_.below(2) : random_();
        op.swap = random_.below(2);
        break;
      default:
        break;
    }
    const bool eight = op.opcode == WorkOpcode::compare_swap || op.opcode == WorkOpcode::fetch_add ||
                       op.opcode == WorkOpcode::atomic_write;
    op.length = eight ? 8 : op.opcode == WorkOpcode::flush ? 0 : pick_length();
    if (op.opcode == WorkOpcode::flush) op.whole_region = random_.one_in(2);
    const bool sends = op.opcode != WorkOpcode::read && op.opcode != WorkOpcode::compare_swap &&
                       op.opcode != WorkOpcode::fetch_add && op.opcode != WorkOpcode::flush;
    if (sends && op.length <= kMaxInline && random_.one_in(3)) {
      op.is_inline = true;
      op.inline_data.resize(op.length);
      random_.fill(op.inline_data);
    } else if (op.opcode != WorkOpcode::flush) {
      op.pieces = pick_pieces(op.length, size_, 3);
    }
    const std::uint32_t reach = op.opcode == WorkOpcode::flush ? 16 : op.length;
    op.remote_offset = static_cast<std::uint32_t>(random_.below(size_ - reach + 1));
    if (eight) op.remote_offset = random_.one_in(2) ? 0 : op.remote_offset & ~7U;
    if (phase_ == 1) {
      if (peer_bound_.at(0) && random_.one_in(3)) op.key = op.key == Key::remote ? Key::window1 : op.key;
      if (peer_bound_.at(1) && random_.one_in(3)) op.key = op.key == Key::remote ? Key::window2 : op.key;
    }
    order(op);
    return op;
  }

  /// Adds the fence if the result would be undefined without it, and notes the ranges that the request uses.
  void order(Work& op) {
    const bool fetches =
        op.opcode == WorkOpcode::read || op.opcode == WorkOpcode::compare_swap || op.opcode == WorkOpcode::fetch_add;
    const bool writes = op.opcode == WorkOpcode::write || op.opcode == WorkOpcode::write_with_immediate ||
                        op.opcode == WorkOpcode::compare_swap || op.opcode == WorkOpcode::fetch_add ||
                        op.opcode == WorkOpcode::atomic_write;
    for (const Piece& piece : op.pieces) op.fence = op.fence || brought_.overlaps(piece.offset, piece.length);
    if (writes) op.fence = op.fence || fetched_.overlaps(op.remote_offset, op.length);
    if (op.fence) {
      brought_.clear();
      fetched_.clear();
    }
    if (!fetches) return;
    for (const Piece& piece : op.pieces) brought_.add(piece.offset, piece.length);
    // Atomics of a QP are executed once and in order: a later request can overtake only a READ at the responder.
    if (op.opcode == WorkOpcode::read) fetched_.add(op.remote_offset, op.length);
  }

  Receive make_receive(const Work& op) {
    Receive receive;
    receive.wr_id = next_receive_id_++;
    const std::uint32_t size = op.opcode == WorkOpcode::write_with_immediate
                                   ? 0
                                   : op.length + static_cast<std::uint32_t>(random_.one_in(2) ? random_.below(100) : 0);
    receive.pieces = pick_pieces(size, size, 2);
    for (Piece& piece : receive.pieces) piece.offset += receive_end_;
    receive_end_ += size + static_cast<std::uint32_t>(random_.below(3));
    return receive;
  }

  std::vector<Action> times(std::size_t count, bool is_receive) {
    std::vector<Action> actions(count);
    // Receives that are posted late cause RNR NAKs.
    const std::array spans{std::int64_t{1}, std::int64_t{20'000}, std::int64_t{300'000}};
    const std::int64_t span = pick(random_, spans);
    for (std::uint32_t i = 0; i < count; ++i) {
      actions[i] = {static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(span))), is_receive, i};
    }
    std::ranges::sort(actions, {}, &Action::at_ns);
    for (std::uint32_t i = 0; i < count; ++i) actions[i].index = i;
    return actions;
  }

  /// Makes one request invalid.
  void spoil(Side& side) {
    Work& op = side.operations[random_.below(side.operations.size())];
    if (op.opcode == WorkOpcode::write || op.opcode == WorkOpcode::write_with_immediate) {
      op.key = Key::forbidden;
      op.remote_offset = 0;
    } else {
      op.bad_key = true;
    }
  }

 public:
  std::array<bool, 2> bound_{};       ///< windows bound by this side
  std::array<bool, 2> peer_bound_{};  ///< windows bound by the other side

 private:
  Random& random_;
  const QpPlan& plan_;
  const Program& program_;
  std::uint32_t size_;
  std::size_t phase_ = 0;
  std::uint64_t next_id_ = 1;
  std::uint64_t next_receive_id_ = 1;
  std::uint32_t receive_end_ = 0;
  bool own_spare_used_ = false;
  bool peer_spare_used_ = false;
  InUse brought_;
  InUse fetched_;
};

void make_plan(Random& random, QpPlan& plan, const Program& program) {
  plan.mtu = pick(random, std::array{256U, 256U, 512U, 1024U, 2048U, 4096U});
  plan.rd_atomic = pick(random, std::array<std::uint8_t, 4>{1, 2, 4, 16});
  // A short timeout can be below the round trip, so that nothing was lost when it expires.
  plan.timeout = pick(random, std::array<std::uint8_t, 4>{5, 6, 8, 10});
  plan.min_rnr_timer = pick(random, std::array<std::uint8_t, 4>{1, 2, 4, 7});
  plan.path = static_cast<std::uint8_t>(random.below(4));
  plan.max_send = pick(random, std::array<std::uint16_t, 3>{2, 5, 32});
  plan.with_srq = random.one_in(6);
  if (random.one_in(10))
    plan.rate_limit_bps = pick(random, std::array{std::uint64_t{1'000'000'000}, std::uint64_t{40'000'000'000}});
  for (Psn& psn : plan.first_psn) {
    constexpr std::uint32_t wrap = 1U << 24;
    psn = Psn{static_cast<std::uint32_t>(random.one_in(2) ? wrap - 1 - random.below(12) : random.below(wrap))};
  }
  const std::uint32_t size = plan.mtu <= 1024 ? 12 * plan.mtu : 3 * plan.mtu;
  SideMaker a{random, plan, program, size};
  SideMaker b{random, plan, program, size};
  for (std::size_t phase = 0; phase < 2; ++phase) {
    std::array<Side, 2>& sides = plan.phases.at(phase);
    const std::uint64_t most = program.qps.size() == 1 ? 10 : 6;
    a.make(sides.at(0), sides.at(1), static_cast<std::uint32_t>(1 + random.below(most)), phase);
    b.make(sides.at(1), sides.at(0), static_cast<std::uint32_t>(random.one_in(3) ? 0 : random.below(most)) + 1, phase);
    a.peer_bound_ = b.bound_;
    b.peer_bound_ = a.bound_;
  }
  // The memory that A's requests need is on B.
  for (std::size_t device = 0; device < 2; ++device) {
    const SideMaker& sender = device == 0 ? b : a;
    plan.area_size.at(device) = {size, size, std::max(sender.receive_size(), 1U), size, kSpareSize, kSpareSize};
  }
}

}  // namespace

Program make_program(std::uint64_t seed) {
  Random random{seed * 0x9E37'79B9U + 1};
  Program program;
  program.seed = seed;
  program.profile = pick(random, std::array<std::string_view, 3>{"rxe", "hardware_like", "strict"});
  program.errors_allowed = random.one_in(8);
  const auto chance = [&] { return pick(random, std::array{0U, 10U, 50U, 130U}); };
  program.faults = {.drop = chance(),
                    .duplicate = chance(),
                    .reorder = chance(),
                    .corrupt = chance(),
                    .delay_ns = pick(random, std::array<std::int64_t, 3>{500, 5'000, 60'000}),
                    .jitter_ns = pick(random, std::array<std::int64_t, 3>{0, 300, 20'000})};
  program.qps.resize(random.one_in(2) ? 1 : 1 + random.below(3));
  for (QpPlan& plan : program.qps) make_plan(random, plan, program);
  return program;
}

transport::LossRecovery draw_recovery(std::uint64_t seed) {
  Random random{seed * 0x9E37'79B9U + 2};
  const auto is_on = [&] { return random.one_in(2); };
  const auto time = [&] {
    return std::chrono::microseconds{is_on() ? pick(random, std::array<std::int64_t, 3>{2, 20, 200}) : 0};
  };
  return {.held_requests = is_on() ? pick(random, std::array{1U, 7U, 64U, 200U}) : 0,
          .nak_again_after = time(),
          .nak_delay_packets = is_on() ? pick(random, std::array{1U, 3U}) : 0,
          .nak_delay = time(),
          .timer_from_first = is_on(),
          .adaptive_timeout = is_on(),
          .tail_probe = is_on(),
          .selective_repeat = is_on(),
          .restart_percent = is_on() ? pick(random, std::array{1U, 50U}) : 0,
          .held_responses = is_on() ? pick(random, std::array{1U, 7U, 64U, 200U}) : 0,
          .window_bytes = is_on() ? pick(random, std::array{1U, 5'000U}) : 0};
}

std::string describe(const transport::LossRecovery& recovery) {
  std::ostringstream text;
  text << "held " << recovery.held_requests << " and " << recovery.held_responses << ", NAK again after "
       << recovery.nak_again_after.count() << " ns, NAK delay " << recovery.nak_delay_packets << " packets "
       << recovery.nak_delay.count() << " ns, " << (recovery.timer_from_first ? "timer from first, " : "")
       << (recovery.adaptive_timeout ? "adaptive, " : "") << (recovery.tail_probe ? "probe, " : "")
       << (recovery.selective_repeat ? "selective, " : "") << "restart " << recovery.restart_percent << " %, window "
       << recovery.window_bytes << " bytes\n";
  return text.str();
}

std::string describe(const Program& program) {
  std::ostringstream text;
  const Faults& faults = program.faults;
  text << "profile " << program.profile << (program.errors_allowed ? ", with errors" : "") << "; of 1024 frames "
       << faults.drop << " dropped, " << faults.duplicate << " duplicated, " << faults.reorder << " reordered, "
       << faults.corrupt << " corrupted; delay " << faults.delay_ns << " ns + " << faults.jitter_ns << " ns\n";
  text << describe(program.recovery);
  for (std::size_t q = 0; q < program.qps.size(); ++q) {
    const QpPlan& plan = program.qps[q];
    text << "QP " << q << ": mtu " << plan.mtu << ", rd_atomic " << int{plan.rd_atomic} << ", timeout "
         << int{plan.timeout} << ", max_send " << plan.max_send << (plan.with_srq ? ", srq" : "") << ", psn "
         << plan.first_psn[0].value() << " and " << plan.first_psn[1].value() << "\n";
    for (std::size_t phase = 0; phase < 2; ++phase) {
      for (std::size_t device = 0; device < 2; ++device) {
        text << "  phase " << phase << ", device " << device << ":";
        for (const Work& op : plan.phases.at(phase).at(device).operations) {
          text << ' ' << transport::to_string(op.opcode) << '(' << op.length << (op.fence ? ",fence" : "")
               << (op.bad_key || op.key == Key::forbidden ? ",bad" : "") << ')';
        }
        text << "\n";
      }
    }
  }
  return text.str();
}

}  // namespace roce::model
