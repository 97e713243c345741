// SPDX-License-Identifier: BSD-2-Clause
#include "conform/run/frame_maker.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <utility>

#include "roce/wire/mac_control.h"
#include "roce/wire/opcode.h"

namespace roce::conform {

namespace {

constexpr std::string_view kEither = "rdma.";
constexpr std::string_view kNetwork = "network.";
constexpr unsigned kPriorities = 8;

std::string_view service_prefix(transport::QpType type) {
  switch (type) {
    case transport::QpType::rc:
      return "RC_";
    case transport::QpType::uc:
      return "UC_";
    default:
      return "UD_";
  }
}

bool has_header(const OpcodeInfo& info, HeaderId id) {
  return std::ranges::find(info.headers(), id) != info.headers().end();
}

/// Returns the name in the field table: `rdma.va` is the RETH's or the AtomicETH's, as the opcode has one, and
/// `network.ttl` that of the header that the version has.
std::string field_name(const OpcodeInfo& info, RoceVersion version, const std::string& name) {
  if (name.starts_with(kNetwork)) return network_field(version, name.substr(kNetwork.size()));
  if (!name.starts_with(kEither)) return name;
  const std::string member = name.substr(kEither.size());
  if (has_header(info, HeaderId::atomiceth)) return "atomiceth." + member;
  return "reth." + (member == "length" ? "dma_length" : member);
}

/// A frame of MAC control by its name in a case.
struct ControlFrame {
  std::string_view name;
  std::string_view headers;
  MacControlOpcode opcode;
};
constexpr std::array kControlFrames{ControlFrame{"PFC", "eth mac_control pfc", MacControlOpcode::pfc},
                                    ControlFrame{"PAUSE", "eth mac_control pause", MacControlOpcode::pause}};

/// Returns the fields that `pfc.enables` (a bit for each priority) or `pfc.timers` (the same for all) stands for, with
/// their values; empty for another name.
std::vector<std::pair<std::string, std::string>> fields_of_priorities(std::string_view name, const Value& value) {
  std::vector<std::pair<std::string, std::string>> fields;
  const std::uint64_t* const number = value.as_number();
  if (number == nullptr) return fields;
  for (unsigned priority = 0; priority < kPriorities; ++priority) {
    if (name == "pfc.enables") {
      fields.emplace_back(fmt::format("pfc.enable{}", priority), (*number >> priority & 1) != 0 ? "true" : "false");
    } else if (name == "pfc.timers") {
      fields.emplace_back(fmt::format("pfc.timer{}", priority), std::to_string(*number));
    }
  }
  return fields;
}

/// A specification that is being filled.
class Maker {
 public:
  Maker(const FrameSpec& frame, const FrameDefaults& defaults, const Port& port, const Scope& scope)
      : frame_(frame), defaults_(defaults), port_(port), scope_(scope) {}

  [[nodiscard]] CaseResult<std::vector<std::byte>> make() {
    if (const auto begun = begin(); !begun) return tl::unexpected(begun.error());
    if (const auto done = set_all(frame_.fields); !done) return tl::unexpected(done.error());
    if (const auto done = change_field(); !done) return tl::unexpected(done.error());
    if (const auto done = set_length(); !done) return tl::unexpected(done.error());
    if (!frame_.after_icrc.empty()) {
      if (const auto done = change_after_icrc(); !done) return tl::unexpected(done.error());
    }
    SpecResult<std::vector<std::byte>> bytes = spec_.build();
    if (!bytes) return wrong(frame_.place, bytes.error().message);
    if (const auto done = damage(*bytes); !done) return tl::unexpected(done.error());
    return std::move(*bytes);
  }

 private:
  [[nodiscard]] static tl::unexpected<CaseError> wrong(const Place& place, std::string message) {
    return tl::unexpected(CaseError{place, std::move(message)});
  }

  [[nodiscard]] CaseResult<void> set(const Place& place, std::string_view name, const std::string& text) {
    const SpecResult<void> done = spec_.set(name, text);
    if (!done) return wrong(place, done.error().message);
    return {};
  }

  [[nodiscard]] CaseResult<void> begin() {
    const Evaluated<Value> name = frame_.opcode.evaluate(scope_);
    if (!name) return wrong(frame_.place, name.error());
    const auto* const control = std::ranges::find(kControlFrames, to_string(*name), &ControlFrame::name);
    if (control != kControlFrames.end()) return begin_control(*control);
    message_ = defaults_.cm ? cm_message(to_string(*name)) : std::nullopt;
    const std::optional<Opcode> opcode = message_ ? Opcode::ud_send_only : opcode_for(to_string(*name), defaults_.type);
    if (!opcode) return wrong(frame_.place, fmt::format("there is no opcode {} on this type of QP", to_string(*name)));
    info_ = &opcode_info(*opcode);
    spec_ = PacketSpec::for_opcode(*opcode, port_.version);
    std::vector<std::pair<std::string, std::string>> values{
        {"eth.dst", to_string(port_.device_mac)},
        {"eth.src", to_string(port_.tester_mac)},
        {network_field(port_.version, "src"), to_string(port_.tester_gid)},
        {network_field(port_.version, "dst"), to_string(port_.device_gid)},
        {"bth.dest_qp", std::to_string(defaults_.dest_qp.value())},
        {"bth.psn", std::to_string(defaults_.psn.value())},
        {"bth.mig_req", "true"},
    };
    if (port_.version != RoceVersion::v1) values.emplace_back("udp.srcport", "50000");
    if (asks_for_ack()) values.emplace_back("bth.ack_req", "true");
    for (const std::string_view header : {"reth", "atomiceth"}) {
      if (!has_header(*info_, header == "reth" ? HeaderId::reth : HeaderId::atomiceth)) continue;
      values.emplace_back(fmt::format("{}.va", header), std::to_string(defaults_.region.address));
      values.emplace_back(fmt::format("{}.r_key", header), std::to_string(defaults_.region.r_key));
    }
    if (has_header(*info_, HeaderId::deth)) {
      values.emplace_back("deth.q_key", std::to_string(defaults_.q_key.value()));
      values.emplace_back("deth.src_qp", std::to_string(defaults_.source_qp.value()));
    }
    if (message_) {
      if (auto done = add_message(values); !done) return done;
    } else if (carries_data())
      values.emplace_back("payload_length", std::to_string(default_payload()));
    return set_defaults(std::move(values));
  }

  /// Sets the values of the frame as far as the case says nothing else.
  [[nodiscard]] CaseResult<void> set_defaults(std::vector<std::pair<std::string, std::string>> values) {
    // Other headers begin a new packet, which has the defaults of those that it still has.
    const auto headers = std::ranges::find(frame_.fields, "headers", &Setting::name);
    if (headers != frame_.fields.end()) {
      if (auto done = set_all({*headers}); !done) return done;
      std::erase_if(values, [&](const auto& value) { return !has_place(value.first); });
    }
    for (const auto& [field, text] : values) {
      if (auto done = set(frame_.place, field, text); !done) return done;
    }
    return {};
  }

  /// Begins a frame of MAC control, which is not a packet of a QP: it goes to the group address of this wire's other
  /// end.
  [[nodiscard]] CaseResult<void> begin_control(const ControlFrame& control) {
    // A datagram has none of the headers whose values follow from others.
    info_ = &opcode_info(Opcode::ud_send_only);
    spec_ = PacketSpec::for_opcode(Opcode::ud_send_only, port_.version);
    if (auto done = set(frame_.place, "headers", std::string{control.headers}); !done) return done;
    return set_defaults({{"eth.dst", "01:80:c2:00:00:01"},
                         {"eth.src", to_string(port_.tester_mac)},
                         {"mac_control.opcode", std::to_string(static_cast<unsigned>(control.opcode))}});
  }

  /// Puts the headers of a CM message into the specification, and its fields behind the other values.
  [[nodiscard]] CaseResult<void> add_message(std::vector<std::pair<std::string, std::string>>& values) {
    const bool has_addresses = *message_ == HeaderId::cm_req || *message_ == HeaderId::cm_sidr_req;
    const std::string headers = fmt::format("{} mad {}{}", spec_.get("headers").value_or(""),
                                            header_info(*message_).name, has_addresses ? " cma" : "");
    if (auto done = set(frame_.place, "headers", headers); !done) return done;
    values.emplace_back("bth.opcode", std::to_string(static_cast<unsigned>(Opcode::ud_send_only)));
    std::ranges::move(defaults_.cm->fields_of(*message_, port_), std::back_inserter(values));
    return {};
  }

  [[nodiscard]] bool has_place(const std::string& field) const {
    return field.starts_with("payload") || spec_.field(field).has_value();
  }

  [[nodiscard]] bool asks_for_ack() const {
    return defaults_.type == transport::QpType::rc && info_->ends_message() && !info_->is_response() &&
           info_->operation != Operation::read_request;
  }
  [[nodiscard]] bool carries_data() const {
    return info_->operation == Operation::send || info_->operation == Operation::write ||
           info_->operation == Operation::read_response;
  }
  [[nodiscard]] bool is_inside_message() const {
    return info_->position == Position::first || info_->position == Position::middle;
  }
  [[nodiscard]] std::uint32_t default_payload() const { return is_inside_message() ? defaults_.path_mtu : 4; }

  [[nodiscard]] CaseResult<void> set_all(const std::vector<Setting>& settings) {
    for (const Setting& setting : settings) {
      if (setting.name == "headers" && &settings == &frame_.fields) continue;
      const Evaluated<Value> value = setting.value.evaluate(scope_);
      if (!value) return wrong(setting.place, fmt::format("{}: {}", setting.name, value.error()));
      const auto of_priorities = fields_of_priorities(setting.name, *value);
      for (const auto& [field, text] : of_priorities) {
        if (auto done = set(setting.place, field, text); !done) return done;
      }
      if (!of_priorities.empty()) continue;
      const std::string name = field_name(*info_, port_.version, setting.name);
      is_length_set_ |= name == "reth.dma_length";
      if (auto done = set(setting.place, name, bytes_text(*value)); !done) return done;
    }
    return {};
  }

  [[nodiscard]] CaseResult<void> change_field() {
    if (!frame_.change) return {};
    const Evaluated<Value> field = frame_.change->field.evaluate(scope_);
    if (!field) return wrong(frame_.place, fmt::format("change: {}", field.error()));
    return set_all({{frame_.place, to_string(*field), frame_.change->value}});
  }

  // The length of a message follows from its payload where one packet has all of it.
  [[nodiscard]] CaseResult<void> set_length() {
    if (is_length_set_ || !has_header(*info_, HeaderId::reth)) return {};
    std::size_t length = defaults_.path_mtu;
    if (info_->operation == Operation::write) {
      length = spec_.get("payload").value_or("").size() / 2;
      if (info_->position == Position::first) length *= 2;
    }
    return set(frame_.place, "reth.dma_length", std::to_string(length));
  }

  [[nodiscard]] CaseResult<void> change_after_icrc() {
    const SpecResult<std::vector<std::byte>> bytes = spec_.build();
    if (!bytes) return wrong(frame_.place, bytes.error().message);
    const Packet packet = parse_frame(*bytes, LinkType::ethernet);
    if (!packet.has_icrc()) return wrong(frame_.place, "after_icrc: the frame has no ICRC");
    if (auto done = set(frame_.place, "icrc", std::to_string(packet.stored_icrc())); !done) return done;
    return set_all(frame_.after_icrc);
  }

  [[nodiscard]] CaseResult<void> damage(std::vector<std::byte>& bytes) const {
    if (frame_.flip) {
      const Evaluated<std::uint64_t> bit = frame_.flip->number(scope_);
      if (!bit) return wrong(frame_.place, "flip: " + bit.error());
      const std::uint64_t byte = kSize<Ethernet> + *bit / 8;
      if (byte >= bytes.size()) return wrong(frame_.place, fmt::format("flip: the frame has no bit {}", *bit));
      bytes[byte] ^= std::byte{0x80} >> static_cast<int>(*bit % 8);
    }
    if (frame_.cut) {
      const Evaluated<std::uint64_t> cut = frame_.cut->number(scope_);
      if (!cut) return wrong(frame_.place, "cut: " + cut.error());
      if (*cut >= bytes.size()) return wrong(frame_.place, fmt::format("cut: the frame has {} bytes", bytes.size()));
      bytes.resize(bytes.size() - *cut);
    }
    return {};
  }

  const FrameSpec& frame_;
  const FrameDefaults& defaults_;
  const Port& port_;
  const Scope& scope_;
  const OpcodeInfo* info_ = nullptr;
  std::optional<HeaderId> message_;  ///< of the communication manager
  PacketSpec spec_;
  bool is_length_set_ = false;
};

}  // namespace

std::string network_field(RoceVersion version, std::string_view member) {
  if (version == RoceVersion::v2_ipv4) return fmt::format("ip.{}", member);
  if (member == "ttl") member = "hop_limit";
  if (version == RoceVersion::v2_ipv6) return fmt::format("ipv6.{}", member);
  if (member == "src") member = "sgid";
  if (member == "dst") member = "dgid";
  return fmt::format("grh.{}", member);
}

std::optional<Opcode> opcode_for(std::string_view name, transport::QpType type) {
  if (const std::optional<Opcode> whole = opcode_from_name(name)) return whole;
  return opcode_from_name(fmt::format("{}{}", service_prefix(type), name));
}

CaseResult<std::vector<std::byte>> make_frame(const FrameSpec& frame, const FrameDefaults& defaults, const Port& port,
                                              const Scope& scope) {
  return Maker{frame, defaults, port, scope}.make();
}

}  // namespace roce::conform
