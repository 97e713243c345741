// SPDX-License-Identifier: BSD-2-Clause
#include "conform/fuzz/action_shape.h"

#include "conform/fuzz/signature.h"

namespace roce::conform::fuzz {

namespace {

/// Returns how a number compares with another one: 0, 1 or 2.
template <typename T>
constexpr unsigned order_of(T one, T other) {
  return one == other ? 0U : one > other ? 1U : 2U;
}

std::uint64_t shape_of_request(const Request& request) {
  const std::uint64_t region = request.key == Key::lent ? kLentBytes : kRegionBytes;
  const bool is_inside = request.address >= 0 && static_cast<std::uint64_t>(request.address) + request.length <= region;
  std::uint64_t shape = mix(static_cast<std::uint64_t>(request.opcode), static_cast<std::uint64_t>(request.key));
  shape = mix(shape, order_of(request.psn, 0));
  shape = mix(shape, (request.payload == 0 ? 1U : 0U) + (request.length == 0 ? 2U : 0U) +
                         (4U * order_of(request.payload, request.length)));
  shape = mix(shape, (is_inside ? 1U : 0U) + (request.wrong_icrc ? 2U : 0U) + (request.other_version ? 4U : 0U) +
                         (request.qpn_flip != 0 ? 8U : 0U) + (request.q_key_flip != 0 ? 16U : 0U));
  for (const FieldChange& change : request.changes) shape = mix(shape, hash_of(change.field));
  return shape;
}

std::uint64_t shape_of_message(const Message& message) {
  const std::uint64_t shape =
      mix(static_cast<std::uint64_t>(message.kind),
          (message.local_flip != 0 ? 1U : 0U) + (message.remote_flip != 0 ? 2U : 0U) +
              (message.qpn_flip != 0 ? 4U : 0U) + (message.is_fresh ? 8U : 0U) + (message.wrong_icrc ? 16U : 0U));
  return message.changes.empty() ? shape : mix(shape, hash_of(message.changes.front().field));
}

std::uint64_t shape_of_response(const Response& response) {
  constexpr unsigned kind_of_aeth = 5;
  std::uint64_t shape = mix(static_cast<std::uint64_t>(response.opcode), response.syndrome >> kind_of_aeth);
  shape = mix(shape, order_of(response.psn, 0));
  return mix(shape,
             (response.payload == 0 ? 1U : 0U) + (response.wrong_icrc ? 2U : 0U) + (response.qpn_flip != 0 ? 4U : 0U));
}

}  // namespace

std::uint64_t shape_of(const Action& action) {
  std::uint64_t shape = 0;
  if (const auto* request = std::get_if<Request>(&action)) shape = shape_of_request(*request);
  if (const auto* response = std::get_if<Response>(&action)) shape = shape_of_response(*response);
  if (const auto* message = std::get_if<Message>(&action)) shape = shape_of_message(*message);
  if (const auto* bind = std::get_if<Bind>(&action)) shape = static_cast<std::uint64_t>(bind->region);
  if (const auto* post = std::get_if<Post>(&action)) shape = static_cast<std::uint64_t>(post->opcode);
  return mix(shape, action.index());
}

}  // namespace roce::conform::fuzz
