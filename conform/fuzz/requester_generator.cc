// SPDX-License-Identifier: BSD-2-Clause
#include "conform/fuzz/requester_generator.h"

#include <algorithm>
#include <array>
#include <utility>

namespace roce::conform::fuzz {

namespace {

using transport::WorkOpcode;

bool has_answer(const Posted& posted) {
  return posted.opcode != WorkOpcode::send && posted.opcode != WorkOpcode::write;
}

Post draw_post(const RequesterModel& model, Random& random) {
  constexpr std::array opcodes{WorkOpcode::send, WorkOpcode::send,      WorkOpcode::write,       WorkOpcode::read,
                               WorkOpcode::read, WorkOpcode::fetch_add, WorkOpcode::compare_swap};
  const transport::QpType type = model.attributes().type;
  const std::uint32_t mtu = model.attributes().path_mtu;
  const std::array<std::uint32_t, 7> lengths{1, 4, mtu - 1, mtu, mtu + 1, 2 * mtu, kPostBytes};
  Post post{.opcode = one_of(random, opcodes), .length = std::min(kPostBytes, one_of(random, lengths))};
  if (!may_post(type, post.opcode)) post.opcode = WorkOpcode::send;
  post.own_q_key = type == transport::QpType::ud && happens(random, 50);
  return post;
}

/// Returns the next packet of the answer to a READ.
Response read_answer(const Posted& posted, std::uint32_t mtu, Random& random) {
  const bool is_first = posted.answered == 0;
  const bool is_last = posted.answered + 1 == posted.psns;
  Response response{.seed = draw(random, 1U << 16U)};
  response.opcode = is_first ? (is_last ? Opcode::rc_read_response_only : Opcode::rc_read_response_first)
                             : (is_last ? Opcode::rc_read_response_last : Opcode::rc_read_response_middle);
  response.payload = std::min(mtu, posted.length - posted.answered * mtu);
  return response;
}

}  // namespace

Response legal_response(const RequesterModel& model, Random& random) {
  const auto& open = model.open();
  // An ACK that comes again.
  if (open.empty()) return {.psn = -1};
  const Posted& oldest = open.front();
  if (oldest.opcode == WorkOpcode::read) return read_answer(oldest, model.attributes().path_mtu, random);
  if (has_answer(oldest)) return {.opcode = Opcode::rc_atomic_acknowledge, .value = random()};
  const auto data = std::ranges::find_if(open, has_answer);
  const std::uint64_t messages = draw(random, static_cast<std::uint64_t>(data - open.begin()));
  const Posted& newest = open[messages];
  return {.psn = (newest.first + (newest.psns - 1)).distance_from(oldest.first)};
}

void mutate(Response& response, const RequesterModel& model, Random& random) {
  using enum Opcode;
  constexpr std::array distances{1, -1, 2, -2, 5, 50, 1 << 22, (1 << 23) - 1, -(1 << 23), -50};
  constexpr std::array opcodes{rc_acknowledge,          rc_atomic_acknowledge, rc_read_response_first,
                               rc_read_response_middle, rc_read_response_last, rc_read_response_only};
  // Without the codes of credits, which hold back what is posted later.
  constexpr std::array<std::uint8_t, 16> syndromes{0x60, 0x61, 0x62, 0x63, 0x64, 0x7F, 0x21, 0x2C,
                                                   0x3F, 0x20, 0x40, 0x5F, 0x80, 0x9F, 0xE0, 0xFF};
  const std::uint32_t mtu = model.attributes().path_mtu;
  const std::uint32_t length = response.payload;
  const std::array<std::uint32_t, 6> lengths{length + 1, length == 0 ? 4 : length - 1, 0, mtu, mtu + 4, length + 4};
  switch (draw(random, 8)) {
    case 0:
    case 1:
      response.psn += one_of(random, distances);
      break;
    case 2:
      response.opcode = one_of(random, opcodes);
      break;
    case 3:
    case 4:
      response.syndrome = one_of(random, syndromes);
      break;
    case 5:
      response.payload = one_of(random, lengths);
      break;
    case 6:
      response.wrong_icrc = true;
      break;
    default:
      response.qpn_flip = 1U << draw(random, Qpn::kBits);
  }
}

RequesterGenerator::RequesterGenerator(Random& random, std::vector<Action> begin)
    : random_(random), length_(2 + draw(random, kMostActions - 2)), begin_(random, std::move(begin)) {
  if (begin_.size() != 0) length_ = std::min(kMostActions, begin_.size() + draw(random, 8));
}

std::optional<Action> RequesterGenerator::next(const RequesterModel& model) {
  const std::size_t number = next_++;
  if (number < begin_.size()) {
    Action action = begin_.take<Response>(number, [&](Response& response) { mutate(response, model, random_); });
    if (std::holds_alternative<Post>(action)) ++posts_;
    return action;
  }
  if (number >= length_ || model.is_stopped()) return std::nullopt;
  const bool may_wait = model.attributes().retry_count != kEndlessRetries && !model.open().empty();
  if (may_wait && happens(random_, 40)) return Wait{};
  if (posts_ < kMostPosts && (model.open().empty() || happens(random_, 40))) {
    ++posts_;
    return draw_post(model, random_);
  }
  Response response = legal_response(model, random_);
  if (happens(random_, 35)) mutate(response, model, random_);
  while (happens(random_, 10)) mutate(response, model, random_);
  return response;
}

}  // namespace roce::conform::fuzz
