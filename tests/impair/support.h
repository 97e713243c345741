// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "roce/impair/engine.h"
#include "roce/wire/icrc.h"
#include "roce/wire/packet_spec.h"

namespace roce::impair::test {

using Frame = std::vector<std::byte>;
using Values = std::vector<std::pair<std::string, std::string>>;

/// Returns a frame with an opcode, and with `values` set in it.
inline Frame frame_of(Opcode opcode, const Values& values = {}, RoceVersion version = RoceVersion::v2_ipv4) {
  PacketSpec spec = PacketSpec::for_opcode(opcode, version);
  const auto set = [&](const std::string& name, const std::string& value) {
    if (const auto done = spec.set(name, value); !done) throw std::invalid_argument(done.error().message);
  };
  if (version == RoceVersion::v2_ipv4) {
    set("ip.src", "192.0.2.1");
    set("ip.dst", "192.0.2.2");
  }
  set("bth.dest_qp", "0x11");
  for (const auto& [name, value] : values) set(name, value);
  auto bytes = spec.build();
  if (!bytes) throw std::invalid_argument(bytes.error().message);
  return *bytes;
}

/// Returns a WRITE Middle of 16 bytes with the given PSN.
inline Frame middle(std::uint32_t psn) {
  return frame_of(Opcode::rc_write_middle, {{"bth.psn", std::to_string(psn)}, {"payload_length", "16"}});
}

inline RuleSet rules_of(std::string_view text) {
  auto rules = RuleSet::from_text(text);
  if (!rules) throw std::invalid_argument(rules.error().message);
  return *std::move(rules);
}

inline Engine engine_of(std::string_view text, std::uint64_t seed = 1, Limits limits = {}) {
  return Engine{rules_of(text), seed, limits};
}

inline Time at(std::int64_t ns) {
  return Time{Duration{ns}};
}

struct Sent {
  Direction direction{};
  std::uint64_t packet = 0;
  Frame bytes;
  Time due{};
  friend bool operator==(const Sent&, const Sent&) = default;
};

/// Returns everything that is due at `now`.
inline std::vector<Sent> drain(Engine& engine, Time now = at(0)) {
  std::vector<Sent> sent;
  while (const auto output = engine.poll(now)) {
    sent.push_back({output->direction, output->packet, {output->bytes.begin(), output->bytes.end()}, output->due});
  }
  return sent;
}

inline std::vector<LogRecord> drain_log(Engine& engine) {
  std::vector<LogRecord> records;
  while (const auto record = engine.poll_log()) records.push_back(*record);
  return records;
}

/// Submits a frame and returns everything that is then due.
inline std::vector<Sent> pass(Engine& engine, const Frame& frame, Direction direction = Direction::a_to_b,
                              Time now = at(0)) {
  if (engine.submit(direction, frame, now) != Submitted::taken) throw std::runtime_error("not taken");
  return drain(engine, now);
}

/// Returns the numbers of the frames sent, in order.
inline std::vector<std::uint64_t> numbers(const std::vector<Sent>& sent) {
  std::vector<std::uint64_t> list;
  for (const Sent& one : sent) list.push_back(one.packet);
  return list;
}

/// Returns the numbers, from 1, of the frames that pass; the rules may neither copy nor hold frames.
inline std::vector<std::uint64_t> passed(Engine& engine, const std::vector<Frame>& frames,
                                         Direction direction = Direction::a_to_b) {
  std::vector<std::uint64_t> list;
  for (const Frame& frame : frames) {
    for (const Sent& one : pass(engine, frame, direction)) list.push_back(one.packet);
  }
  return list;
}

inline Packet parsed(const Frame& frame) {
  return parse_frame(frame, LinkType::ethernet);
}
inline IcrcStatus icrc_of(const Frame& frame) {
  return check_icrc(parsed(frame)).status;
}
inline std::string value_in(const Frame& frame, std::string_view name) {
  return PacketSpec::from_packet(parsed(frame)).get(name).value_or("none");
}

}  // namespace roce::impair::test
