// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>

#include "roce/wire/bth.h"
#include "roce/wire/packet_spec.h"
#include "wire/text.h"

namespace roce {

namespace {

tl::unexpected<SpecError> error(std::string_view name, const std::string& message) {
  return tl::unexpected(SpecError{std::string{name}, std::string{name} + ": " + message});
}

std::string_view trim(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

SpecResult<std::vector<std::byte>> hex_bytes(std::string_view name, std::string_view value) {
  std::vector<std::byte> bytes;
  if (value.size() % 2 == 0) {
    for (std::size_t i = 0; i < value.size(); i += 2) {
      const auto high = text::hex_digit(value[i]);
      const auto low = text::hex_digit(value[i + 1]);
      if (!high || !low) break;
      bytes.push_back(static_cast<std::byte>(*high << 4 | *low));
    }
  }
  if (bytes.size() * 2 == value.size()) return bytes;
  return error(name, "expected pairs of hex digits, found '" + std::string{value.substr(0, 32)} + "'");
}

/// Returns the name of a field's value if that reads back as the same number, else nothing.
std::string_view value_name(const FieldInfo& field, Bytes header) {
  if (is_octets(field)) return {};
  const std::uint64_t value = field_number(field, header);
  const std::string_view name = field.value_name(value);
  for (const ValueName& row : field.value_names) {
    if (text::equal_ignoring_case(row.name, name)) return row.value == value ? name : std::string_view{};
  }
  return {};
}

bool is_computed(const std::vector<const FieldInfo*>& automatic, const FieldInfo* field) {
  return std::find(automatic.begin(), automatic.end(), field) != automatic.end();
}

constexpr std::size_t kMaxPayload = 65535;

}  // namespace

/// Returns `vlan[1]` for a header that is not the first of its kind, else `vlan`.
std::string PacketSpec::qualified_name(std::size_t part) const {
  std::size_t index = 0;
  for (std::size_t i = 0; i < part; ++i) index += parts_[i].id == parts_[part].id ? 1 : 0;
  std::string name{header_info(parts_[part].id).name};
  if (index != 0) name += '[' + std::to_string(index) + ']';
  return name;
}

SpecResult<PacketSpec::Target> PacketSpec::find(std::string_view name) const {
  const std::size_t dot = name.find('.');
  std::string_view header_name = name.substr(0, dot);
  std::uint64_t index = 0;
  if (const std::size_t bracket = header_name.find('['); bracket != std::string_view::npos) {
    const std::string_view digits = header_name.substr(bracket + 1);
    const auto number = digits.ends_with(']') ? text::number(digits.substr(0, digits.size() - 1)) : std::nullopt;
    if (!number) return error(name, "expected a header's index such as vlan[1]");
    index = *number;
    header_name = header_name.substr(0, bracket);
  }
  const HeaderInfo* info = find_header(header_name);
  if (info == nullptr || (info->fields.empty() && dot != std::string_view::npos)) {
    return error(name, "there is no header of this name; names look like bth.psn");
  }
  const FieldInfo* field = nullptr;
  if (!info->fields.empty()) {
    field = dot == std::string_view::npos ? nullptr : find_field(*info, name.substr(dot + 1));
    if (field == nullptr) {
      std::string known;
      for (const FieldInfo& row : info->fields) known += ' ' + std::string{row.name};
      return error(name, "the " + std::string{info->title} + " has no such field; it has" + known);
    }
  }
  std::string present;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].id == info->id && index-- == 0) return Target{i, field};
    present += ' ' + qualified_name(i);
  }
  return error(name, "the packet has no such header; it has" + (present.empty() ? " none" : present));
}

std::string PacketSpec::value_text(const Target& target) const {
  const Part& part = parts_[target.part];
  if (target.field == nullptr) return text::hex(part.bytes);
  if (is_computed(part.automatic, target.field)) return "auto";
  return field_text(*target.field, view(part));
}

SpecResult<void> PacketSpec::set_headers(std::string_view value) {
  PacketSpec fresh;
  while (!(value = trim(value)).empty()) {
    const std::size_t end = std::min(value.find_first_of(" \t,"), value.size());
    const std::string_view name = value.substr(0, end);
    const HeaderInfo* info = find_header(name);
    const bool usable =
        info != nullptr && info->id != HeaderId::none && info->id != HeaderId::payload && info->id != HeaderId::icrc;
    if (!usable) return error("headers", "there is no header '" + std::string{name} + "'");
    Part part = make_part(info->id);
    if (info->id == HeaderId::cma && !fresh.parts_.empty()) {
      // The CMA header is a name for the start of the private data in the header in front of it.
      const FieldInfo* field = find_field(header_info(fresh.parts_.back().id), "private_data");
      if (field != nullptr) part = {info->id, {}, {}, fresh.parts_.size() - 1, field->byte_offset()};
    }
    fresh.parts_.push_back(std::move(part));
    value.remove_prefix(std::min(end + 1, value.size()));
  }
  fresh.name_protocols();
  *this = std::move(fresh);
  return {};
}

SpecResult<void> PacketSpec::set_opcode(std::string_view value) {
  const std::optional<Opcode> opcode = opcode_from_name(value);
  if (!opcode)
    return error("opcode", "expected a name such as RC_SEND_ONLY or a number, found '" + std::string{value} + "'");
  const auto bth =
      std::find_if(parts_.begin(), parts_.end(), [](const Part& part) { return part.id == HeaderId::bth; });
  if (bth == parts_.end()) return error("opcode", "the packet has no BTH");
  FieldOf<&Bth::opcode>::set(bth->bytes.data(), *opcode);
  auto next = bth + 1;
  const std::size_t before = parts_.size();
  while (next != parts_.end() && detail::is_transport_header(next->id)) next = parts_.erase(next);
  for (const HeaderId id : opcode_info(*opcode).headers()) next = parts_.insert(next, make_part(id)) + 1;
  for (; next != parts_.end(); ++next) {
    if (next->nested_in && *next->nested_in != kInPayload) *next->nested_in += parts_.size() - before;
  }
  return {};
}

SpecResult<void> PacketSpec::set_icrc(std::string_view value) {
  if (value == "auto") {
    icrc_mode_ = IcrcMode::automatic;
  } else if (value == "wrong") {
    icrc_mode_ = IcrcMode::wrong;
  } else if (value == "none") {
    icrc_mode_ = IcrcMode::none;
  } else {
    const auto number = text::number(value);
    if (!number || *number > 0xFFFF'FFFF) {
      return error("icrc", "expected auto, wrong, none or a number of 32 bits, found '" + std::string{value} + "'");
    }
    icrc_mode_ = IcrcMode::value;
    icrc_ = static_cast<std::uint32_t>(*number);
    return {};
  }
  icrc_ = 0;
  return {};
}

SpecResult<void> PacketSpec::set(std::string_view name, std::string_view value) {
  name = trim(name);
  value = trim(value);
  const auto take_bytes = [&](auto& where) -> SpecResult<void> {
    auto bytes = hex_bytes(name, value);
    if (!bytes) return tl::unexpected(bytes.error());
    where = std::move(*bytes);
    return {};
  };
  if (name == "headers") return set_headers(value);
  if (name == "opcode") return set_opcode(value);
  if (name == "icrc") return set_icrc(value);
  if (name == "trailer") return take_bytes(trailer_);
  if (name == "pad") {
    if (value != "auto") return take_bytes(pad_);
    pad_.reset();
    return {};
  }
  if (name == "payload" || name == "payload_length") {
    std::vector<std::byte> payload;
    if (name == "payload") {
      SpecResult<void> taken = take_bytes(payload);
      if (!taken) return taken;
    } else {
      const auto length = text::number(value);
      if (!length || *length > kMaxPayload)
        return error(name, "expected 0 … 65535, found '" + std::string{value} + "'");
      payload.resize(*length);
      for (std::size_t i = 0; i < payload.size(); ++i) payload[i] = static_cast<std::byte>(i & 0xFF);
    }
    for (const Part& part : parts_) {
      if (part.nested_in == kInPayload && part.nested_offset + header_info(part.id).size > payload.size()) {
        return error(
            name, "the payload holds headers and cannot be shorter than " + std::to_string(payload_.size()) + " bytes");
      }
    }
    payload_ = std::move(payload);
    return {};
  }
  const SpecResult<Target> target = find(name);
  if (!target) return tl::unexpected(target.error());
  Part& part = parts_[target->part];
  if (target->field == nullptr) return take_bytes(part.bytes);
  auto& automatic = part.automatic;
  if (value == "auto") {
    const PacketSpec::Part fresh = make_part(part.id);
    if (!is_computed(fresh.automatic, target->field)) {
      return error(name, "this field is not computed; set it to a value");
    }
    if (!is_computed(automatic, target->field)) automatic.push_back(target->field);
    // A checksum is computed after the lengths, in the order of the field table.
    std::sort(automatic.begin(), automatic.end());
    set_field_number(*target->field, edit(part), 0);
    return {};
  }
  if (const auto done = set_field_text(*target->field, edit(part), value); !done) return error(name, done.error());
  automatic.erase(std::remove(automatic.begin(), automatic.end(), target->field), automatic.end());
  return {};
}

std::optional<std::string> PacketSpec::get(std::string_view name) const {
  if (name == "headers") {
    std::string headers;
    for (const Part& part : parts_) {
      if (part.nested_in == kInPayload) continue;
      headers += (headers.empty() ? "" : " ") + std::string{header_info(part.id).name};
    }
    return headers;
  }
  if (name == "payload") return text::hex(payload_);
  if (name == "payload_length") return std::to_string(payload_.size());
  if (name == "pad") return pad_ ? text::hex(*pad_) : "auto";
  if (name == "trailer") return text::hex(trailer_);
  if (name == "icrc") {
    switch (icrc_mode_) {
      case IcrcMode::automatic:
        return "auto";
      case IcrcMode::wrong:
        return "wrong";
      case IcrcMode::none:
        return "none";
      case IcrcMode::value:
        return text::hex(icrc_, 8);
    }
  }
  if (name == "opcode") return get("bth.opcode");
  const SpecResult<Target> target = find(name);
  if (!target) return std::nullopt;
  return value_text(*target);
}

SpecResult<SpecField> PacketSpec::field(std::string_view name) const {
  const SpecResult<Target> target = find(name);
  if (!target) return tl::unexpected(target.error());
  return SpecField{&header_info(parts_[target->part].id), target->field};
}

std::vector<std::string> PacketSpec::names() const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const std::string header = qualified_name(i);
    const std::span<const FieldInfo> fields = header_info(parts_[i].id).fields;
    if (fields.empty()) names.push_back(header);
    for (const FieldInfo& field : fields) names.push_back(header + '.' + std::string{field.name});
  }
  for (const char* name : {"payload", "pad", "icrc", "trailer"}) names.emplace_back(name);
  return names;
}

std::string PacketSpec::to_text() const {
  std::string text;
  const auto line = [&](const std::string& name, const std::string& value) { text += name + ": " + value + '\n'; };
  // A specification that is read back starts from the same headers, so only differences from them need a line. Headers
  // inside the payload (the TLVs of an LLDP frame) are written as payload.
  PacketSpec start;
  const std::string headers = *get("headers");
  if (!headers.empty()) {
    line("headers", headers);
    static_cast<void>(start.set_headers(headers));
  }
  std::size_t own = 0;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].nested_in == kInPayload) continue;
    const std::string header = qualified_name(i);
    const std::size_t at_start = own++;
    const std::span<const FieldInfo> fields = header_info(parts_[i].id).fields;
    if (fields.empty() && !parts_[i].bytes.empty()) line(header, value_text({i, nullptr}));
    for (const FieldInfo& field : fields) {
      const std::string value = value_text({i, &field});
      if (value == start.value_text({at_start, &field})) continue;
      const std::string_view named = value == "auto" ? std::string_view{} : value_name(field, view(parts_[i]));
      line(header + '.' + std::string{field.name}, named.empty() ? value : std::string{named});
    }
  }
  if (!payload_.empty()) line("payload", *get("payload"));
  if (pad_) line("pad", *get("pad"));
  if (icrc_mode_ != IcrcMode::automatic) line("icrc", *get("icrc"));
  if (!trailer_.empty()) line("trailer", *get("trailer"));
  return text;
}

SpecResult<PacketSpec> PacketSpec::from_text(std::string_view text) {
  PacketSpec spec;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trim(text.substr(0, std::min(end, text.find('#'))));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.empty()) continue;
    const std::size_t colon = line.find(": ");
    const bool empty_value = colon == std::string_view::npos && line.ends_with(':');
    if (colon == std::string_view::npos && !empty_value) {
      return error("line " + std::to_string(number), "expected 'name: value', found '" + std::string{line} + "'");
    }
    const std::string_view name = line.substr(0, empty_value ? line.size() - 1 : colon);
    const std::string_view value = empty_value ? std::string_view{} : line.substr(colon + 2);
    if (const SpecResult<void> done = spec.set(name, value); !done) {
      return tl::unexpected(
          SpecError{done.error().name, "line " + std::to_string(number) + ": " + done.error().message});
    }
  }
  return spec;
}

}  // namespace roce
