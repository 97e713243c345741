// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "conform/fuzz/program.h"

// The names of all that a program has, for writing as for reading. Used by program_text.cc and read_program.cc, and by
// nobody else.
namespace roce::conform::fuzz {

inline constexpr std::array<std::string_view, 10> kKeys{"right",  "variant", "index", "zero",   "other_pd",
                                                        "closed", "gone",    "lent",  "window", "foreign"};
inline constexpr std::array<std::string_view, 3> kHalves{"responder", "requester", "manager"};
inline constexpr std::array<std::string_view, 9> kCmWords{"req",  "mra",  "rej", "rep", "rtu",
                                                          "dreq", "drep", "lap", "apr"};
inline constexpr std::array<std::string_view, 3> kTypes{"rc", "uc", "ud"};
inline constexpr std::array kVersionNames{std::pair{RoceVersion::none, std::string_view{"own"}},
                                          std::pair{RoceVersion::v1, std::string_view{"v1"}},
                                          std::pair{RoceVersion::v2_ipv4, std::string_view{"v2_ipv4"}},
                                          std::pair{RoceVersion::v2_ipv6, std::string_view{"v2_ipv6"}}};
inline constexpr std::array kPosts{transport::WorkOpcode::send, transport::WorkOpcode::write,
                                   transport::WorkOpcode::read, transport::WorkOpcode::fetch_add,
                                   transport::WorkOpcode::compare_swap};

// The members of each kind of action, for writing as for reading.

template <typename Visitor>
void visit(Request& one, Visitor& visitor) {
  visitor("opcode", one.opcode);
  visitor("psn", one.psn);
  visitor("ack_request", one.ack_request);
  visitor("payload", one.payload);
  visitor("seed", one.seed);
  visitor("length", one.length);
  visitor("address", one.address);
  visitor("key", one.key);
  visitor("operand", one.operand);
  visitor("compare", one.compare);
  visitor("immediate", one.immediate);
  visitor("qpn_flip", one.qpn_flip);
  visitor("q_key_flip", one.q_key_flip);
  visitor("other_version", one.other_version);
  visitor("wrong_icrc", one.wrong_icrc);
  visitor("changes", one.changes);
}

template <typename Visitor>
void visit(Receive& one, Visitor& visitor) {
  visitor("length", one.length);
}

template <typename Visitor>
void visit(Deregister& /*one*/, Visitor& /*visitor*/) {}

template <typename Visitor>
void visit(Bind& one, Visitor& visitor) {
  visitor("region", one.region);
  visitor("address", one.address);
  visitor("length", one.length);
  visitor("access", one.access);
  visitor("variant", one.variant);
}

template <typename Visitor>
void visit(Restart& one, Visitor& visitor) {
  visitor("psn", one.psn);
}

template <typename Visitor>
void visit(Wait& /*one*/, Visitor& /*visitor*/) {}

template <typename Visitor>
void visit(Post& one, Visitor& visitor) {
  visitor("opcode", one.opcode);
  visitor("length", one.length);
  visitor("own_q_key", one.own_q_key);
}

template <typename Visitor>
void visit(Response& one, Visitor& visitor) {
  visitor("opcode", one.opcode);
  visitor("psn", one.psn);
  visitor("syndrome", one.syndrome);
  visitor("payload", one.payload);
  visitor("seed", one.seed);
  visitor("value", one.value);
  visitor("qpn_flip", one.qpn_flip);
  visitor("wrong_icrc", one.wrong_icrc);
}

template <typename Visitor>
void visit(Message& one, Visitor& visitor) {
  visitor("kind", one.kind);
  visitor("fresh", one.is_fresh);
  visitor("local_flip", one.local_flip);
  visitor("remote_flip", one.remote_flip);
  visitor("qpn_flip", one.qpn_flip);
  visitor("transaction", one.transaction);
  visitor("wrong_icrc", one.wrong_icrc);
  visitor("changes", one.changes);
}

template <typename Visitor>
void visit(Disconnect& /*one*/, Visitor& /*visitor*/) {}

template <typename Visitor>
void visit_frame(Program& one, Visitor& visitor) {
  visitor("type", one.type);
  visitor("version", one.version);
  visitor("state", one.state);
  visitor("path_mtu", one.path_mtu);
  visitor("first_psn", one.first_psn);
  visitor("access", one.access);
  visitor("retry_count", one.retry_count);
}

[[nodiscard]] constexpr std::string_view name_of(const Request& /*one*/) {
  return "request";
}
[[nodiscard]] constexpr std::string_view name_of(const Receive& /*one*/) {
  return "receive";
}
[[nodiscard]] constexpr std::string_view name_of(const Deregister& /*one*/) {
  return "deregister";
}
[[nodiscard]] constexpr std::string_view name_of(const Bind& /*one*/) {
  return "bind";
}
[[nodiscard]] constexpr std::string_view name_of(const Restart& /*one*/) {
  return "restart";
}
[[nodiscard]] constexpr std::string_view name_of(const Wait& /*one*/) {
  return "wait";
}
[[nodiscard]] constexpr std::string_view name_of(const Message& /*one*/) {
  return "message";
}
[[nodiscard]] constexpr std::string_view name_of(const Disconnect& /*one*/) {
  return "disconnect";
}
[[nodiscard]] constexpr std::string_view name_of(const Post& /*one*/) {
  return "post";
}
[[nodiscard]] constexpr std::string_view name_of(const Response& /*one*/) {
  return "response";
}

}  // namespace roce::conform::fuzz
