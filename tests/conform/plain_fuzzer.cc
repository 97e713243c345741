// SPDX-License-Identifier: BSD-2-Clause
#include "plain_fuzzer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "conform/fuzz/fuzzer.h"
#include "conform/fuzz/generator.h"
#include "conform/fuzz/requester_generator.h"
#include "conform/fuzz/requester_run.h"
#include "conform/fuzz/service.h"

namespace roce::conform::fuzz {

namespace {

using transport::QpType;
using transport::WorkOpcode;

constexpr std::size_t kCaptured = 200;
// A share of the frames of a conversation that is replayed; the others go as they are.
constexpr unsigned kPercentFlipped = 25;

Program draw_program(Random& random) {
  Program program = new_program(random, {.other_types = {QpType::uc, QpType::ud}});
  if (happens(random, 35)) program.half = Half::requester;
  if (program.half == Half::requester) program.state = transport::QpState::rts;
  program.retry_count = kEndlessRetries;
  return program;
}

/// A conversation in which everything is right.
class Right final : public ActionSource {
 public:
  explicit Right(Random& random) : random_(random), left_(1 + draw(random, kMostActions - 1)) {}
  [[nodiscard]] std::optional<Action> next(const DeviceModel& model) override {
    if (left_-- == 0) return std::nullopt;
    if (happens(random_, 25)) return Receive{kReceiveBytes};
    return legal_request(model, random_);
  }

 private:
  Random& random_;
  std::size_t left_;
};

Post draw_post(QpType type, Random& random) {
  constexpr std::array opcodes{WorkOpcode::send, WorkOpcode::write, WorkOpcode::read, WorkOpcode::fetch_add,
                               WorkOpcode::compare_swap};
  Post post{.opcode = one_of(random, opcodes), .length = static_cast<std::uint32_t>(draw(random, kPostBytes + 1))};
  if (!may_post(type, post.opcode)) post.opcode = WorkOpcode::send;
  return post;
}

/// Flips a bit of a request, each with the same chance, without looking at what it is for.
void flip(Request& request, Random& random, bool is_icrc_right) {
  struct Field {
    std::string_view name;
    unsigned bits;
    bool is_masked = false;  ///< the ICRC does not cover it
  };
  constexpr std::array fields{
      Field{"psn", 24},         Field{"dest_qp", 24},      Field{"bth.opcode", 8},          Field{"bth.p_key", 16},
      Field{"bth.tver", 4},     Field{"bth.pad_count", 2}, Field{"bth.mig_req", 1},         Field{"bth.se", 1},
      Field{"ack_req", 1},      Field{"bth.reserved2", 7}, Field{"bth.reserved1", 6, true}, Field{"va", 64},
      Field{"reth.r_key", 32},  Field{"length", 32},       Field{"payload", 512},           Field{"ip.src", 32},
      Field{"ip.ttl", 8, true}, Field{"ip.dscp", 6, true}, Field{"ip.checksum", 16, true},  Field{"udp.srcport", 16},
      Field{"udp.dstport", 16}};
  unsigned bits = 0;
  for (const Field& field : fields) bits += field.bits;
  auto at = static_cast<unsigned>(draw(random, bits));
  const Field* field = fields.begin();
  for (; at >= field->bits; ++field) at -= field->bits;
  const std::uint64_t bit = std::uint64_t{1} << (at % 64);
  const auto change = [&](std::uint64_t before) {
    request.changes.push_back({.field = std::string{field->name}, .value = std::to_string(before ^ bit)});
  };
  if (field->name == "psn") {
    request.psn ^= static_cast<std::int32_t>(bit);
  } else if (field->name == "dest_qp") {
    request.qpn_flip ^= static_cast<std::uint32_t>(bit);
  } else if (field->name == "ack_req") {
    request.ack_request = !request.ack_request;
  } else if (field->name == "va") {
    request.address ^= static_cast<std::int64_t>(bit);
  } else if (field->name == "length") {
    request.length ^= static_cast<std::uint32_t>(bit);
  } else if (field->name == "payload") {
    request.seed ^= bit;
  } else if (field->name == "bth.opcode") {
    change(static_cast<std::uint64_t>(request.opcode));
  } else if (field->name == "bth.p_key") {
    change(kDefaultPKey.value());
  } else if (field->name == "ip.src") {
    request.changes.push_back({.field = "ip.src", .value = fmt::format("10.0.{}.{}", at, draw(random, 256))});
  } else if (field->name == "udp.dstport") {
    change(4791);
  } else if (field->name == "bth.mig_req") {
    request.changes.push_back({.field = "bth.mig_req", .value = "false"});
  } else if (field->name == "bth.se") {
    request.changes.push_back({.field = "bth.se", .value = "true"});
  } else if (field->name == "reth.r_key") {
    request.key = at == 0 ? Key::variant : Key::index;
  } else {
    change(0);
  }
  if (!is_icrc_right && !field->is_masked) request.wrong_icrc = true;
}

void flip(Response& response, Random& random, bool is_icrc_right) {
  const std::uint64_t at = draw(random, 24 + 24 + 8 + 8 + 64);
  if (at < 24) {
    response.psn ^= 1 << at;
  } else if (at < 48) {
    response.qpn_flip ^= 1U << (at - 24);
  } else if (at < 56) {
    response.opcode = static_cast<Opcode>(static_cast<unsigned>(response.opcode) ^ (1U << (at - 48)));
    // A request to the device would be another conversation.
    if (!opcode_info(response.opcode).is_response()) response.opcode = Opcode::rc_acknowledge;
  } else if (at < 64) {
    response.syndrome ^= static_cast<std::uint8_t>(1U << (at - 56));
  } else {
    response.seed ^= 1;
  }
  if (!is_icrc_right) response.wrong_icrc = true;
}

/// A conversation that was captured, with bits flipped.
class Replayed final : public ActionSource {
 public:
  Replayed(const Program& captured, Random& random, bool is_icrc_right)
      : actions_(captured.actions), next_psn_(captured.first_psn), random_(random), is_icrc_right_(is_icrc_right) {}
  [[nodiscard]] std::optional<Action> next(const DeviceModel& model) override {
    if (at_ == actions_.size()) return std::nullopt;
    Action action = actions_[at_++];
    if (auto* request = std::get_if<Request>(&action)) {
      // The PSN that it had when it was captured.
      const Psn psn = next_psn_ + static_cast<std::uint32_t>(request->psn);
      if (request->psn == 0) next_psn_ = next_psn_ + psns_of(*request, model.attributes().path_mtu);
      request->psn = psn.distance_from(model.state().expected);
      while (happens(random_, kPercentFlipped)) flip(*request, random_, is_icrc_right_);
    }
    return action;
  }

 private:
  static std::uint32_t psns_of(const Request& request, std::uint32_t mtu) {
    return request.opcode == Opcode::rc_read_request ? std::max(1U, (request.length + mtu - 1) / mtu) : 1;
  }

  const std::vector<Action>& actions_;
  Psn next_psn_;
  Random& random_;
  bool is_icrc_right_;
  std::size_t at_ = 0;
};

/// Returns how far a PSN is from the right one: now and then near it, else anywhere.
std::int32_t draw_distance(Random& random) {
  constexpr std::int32_t half = 1 << 23;
  if (happens(random, 6)) return static_cast<std::int32_t>(draw(random, 3)) - 1;
  return static_cast<std::int32_t>(draw(random, 2 * half)) - half;
}

/// Requests of which only the form is right.
class Formed final : public ActionSource {
 public:
  explicit Formed(Random& random) : random_(random), left_(1 + draw(random, kMostActions - 1)) {}
  [[nodiscard]] std::optional<Action> next(const DeviceModel& model) override {
    using enum Opcode;
    if (left_-- == 0) return std::nullopt;
    if (happens(random_, 15)) return Receive{kReceiveBytes};
    constexpr std::array opcodes{rc_send_first,          rc_send_middle,    rc_send_last,   rc_send_last_imm,
                                 rc_send_only,           rc_send_only_imm,  rc_write_first, rc_write_middle,
                                 rc_write_last,          rc_write_last_imm, rc_write_only,  rc_write_only_imm,
                                 rc_read_request,        rc_compare_swap,   rc_fetch_add,   rc_send_last_invalidate,
                                 rc_send_only_invalidate};
    Request request{.opcode = one_of(random_, opcodes), .ack_request = happens(random_, 50), .seed = random_()};
    const QpType type = model.attributes().type;
    if (type != QpType::rc) request.opcode = with_service(request.opcode, service_of(type));
    if (!opcode_info(request.opcode).defined()) request.opcode = Opcode::ud_send_only;
    const std::uint32_t mtu = model.attributes().path_mtu;
    request.payload = happens(random_, 50) ? mtu : static_cast<std::uint32_t>(draw(random_, mtu + 1));
    request.length = happens(random_, 50) ? request.payload : static_cast<std::uint32_t>(draw(random_, 4 * mtu));
    request.address = static_cast<std::int64_t>(draw(random_, kRegionBytes));
    request.operand = random_();
    request.psn = draw_distance(random_);
    return request;
  }

 private:
  Random& random_;
  std::size_t left_;
};

Response formed_response(Random& random) {
  using enum Opcode;
  constexpr std::array opcodes{rc_acknowledge,          rc_atomic_acknowledge, rc_read_response_first,
                               rc_read_response_middle, rc_read_response_last, rc_read_response_only};
  Response response{.opcode = one_of(random, opcodes), .seed = random()};
  response.psn = draw_distance(random);
  response.syndrome = static_cast<std::uint8_t>(random());
  response.payload = static_cast<std::uint32_t>(draw(random, 1025));
  response.value = random();
  return response;
}

ProgramResult must(TargetResult<ProgramResult> result) {
  if (!result) throw std::runtime_error(result.error());
  return std::move(*result);
}

}  // namespace

PlainFuzzer::PlainFuzzer(TargetFactory make_target, Plainness plainness, std::uint64_t seed)
    : make_target_(std::move(make_target)), plainness_(plainness), random_(seed) {}
PlainFuzzer::~PlainFuzzer() = default;

void PlainFuzzer::prepare() {
  bench_.reset();
  target_.reset();
  target_ = make_target_(random_());
  TargetResult<Bench> bench = Bench::make(*target_, gate_, {});
  if (!bench) throw std::runtime_error(bench.error());
  bench_.emplace(std::move(*bench));
  frames_ += must(fill_regions(*bench_)).frames;
}

std::optional<Alarm> PlainFuzzer::step() {
  if (!bench_ || !bench_->has_room()) prepare();
  ProgramResult result = run();
  frames_ += result.frames;
  if (captured_.size() < kCaptured) captured_.push_back(result.program);
  return std::move(result.alarm);
}

ProgramResult PlainFuzzer::run() {
  const bool is_replay = plainness_ != Plainness::grammar && captured_.size() == kCaptured;
  const bool is_recorded = plainness_ != Plainness::grammar && !is_replay;
  Program program = is_replay ? captured_[draw(random_, kCaptured)] : draw_program(random_);
  const std::vector<Action> captured = program.actions;
  if (program.half == Half::responder) {
    if (is_recorded) {
      Right right{random_};
      return must(run_program(*bench_, program, right));
    }
    if (is_replay) {
      Replayed replayed{program, random_, plainness_ == Plainness::replay};
      return must(run_program(*bench_, program, replayed));
    }
    Formed formed{random_};
    return must(run_program(*bench_, program, formed));
  }
  std::size_t number = 0;
  const std::size_t length = 2 + draw(random_, kMostActions - 2);
  std::uint32_t posts = 0;
  return must(run_requester(*bench_, program, [&](const RequesterModel& model) -> std::optional<Action> {
    if (is_replay) {
      if (number == captured.size()) return std::nullopt;
      Action action = captured[number++];
      auto* response = std::get_if<Response>(&action);
      while (response != nullptr && happens(random_, kPercentFlipped)) {
        flip(*response, random_, plainness_ == Plainness::replay);
      }
      return action;
    }
    if (number++ == length || model.is_stopped()) return std::nullopt;
    if (posts < kMostPosts && (posts == 0 || happens(random_, 30))) {
      ++posts;
      return draw_post(program.type, random_);
    }
    return is_recorded ? legal_response(model, random_) : formed_response(random_);
  }));
}

}  // namespace roce::conform::fuzz
