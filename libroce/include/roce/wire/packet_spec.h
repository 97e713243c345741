// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "roce/wire/fields.h"
#include "roce/wire/packet.h"

namespace roce {

/// An error in a packet specification, and what is expected.
struct SpecError {
  std::string name;     ///< the name that was to be set, e.g. `bth.psn`
  std::string message;  ///< complete text: `bth.psn: expected 0 … 16777215, found '0x1000000'`

  friend bool operator==(const SpecError&, const SpecError&) = default;
};

template <typename T>
using SpecResult = tl::expected<T, SpecError>;

/// The row of the field table that a name in a specification refers to.
struct SpecField {
  const HeaderInfo* header = nullptr;
  const FieldInfo* field = nullptr;  ///< null for a header without fields
};

class PacketTemplate;

/// A packet as named values, from which its bytes are built. Names are those of the field table: `ip.ttl`, `bth.psn`;
/// the second header of a kind is `vlan[1].vid`, counted from 0 at the outside. Further names:
///
///   `headers`         the header names in wire order, separated by spaces; setting it starts a new packet
///   `opcode`          like `bth.opcode`, and replaces the transport headers by those that the opcode requires
///   `payload`         hex digits
///   `payload_length`  the number of bytes in a payload 00 01 02 …
///   `pad`             hex digits, or `auto`: zeros that bring the payload to a multiple of 4
///   `icrc`            `auto`, `wrong` (each bit inverted), `none`, or the number as in Packet::stored_icrc
///   `trailer`         hex digits behind the ICRC
///   `ip_options`, `geneve_options`, …  the bytes of a header without fields, as hex digits
///
/// Fields that follow from the rest (lengths, IPv4 header checksums,
/// the pad count) are computed unless they are set, and again after they are set to `auto`.
/// Any packet can be described, even one that no device may send: fields are not checked against each other.
class PacketSpec {
 public:
  /// Makes an empty packet.
  PacketSpec() = default;
  /// Returns the legal packet of an opcode with these network headers, all fields at their defaults:
  /// addresses and keys are 0, the payload is empty. ATOMIC WRITE gets its 8 bytes.
  [[nodiscard]] static PacketSpec for_opcode(Opcode opcode, RoceVersion version = RoceVersion::v2_ipv4);
  /// Returns the specification from which `build` makes the packet's bytes again.
  /// For a packet that was cut or is malformed it describes the bytes that are there.
  [[nodiscard]] static PacketSpec from_packet(const Packet& packet);
  /// Reads lines `name: value`; ignores empty lines and everything that follows a `#`.
  [[nodiscard]] static SpecResult<PacketSpec> from_text(std::string_view text);

  /// Sets one value. Error: an unknown name, a header that the packet does not have,
  /// a value out of range; the specification is then unchanged.
  [[nodiscard]] SpecResult<void> set(std::string_view name, std::string_view value);
  /// Returns a value as text, `auto` for one that is computed; empty for an unknown name.
  [[nodiscard]] std::optional<std::string> get(std::string_view name) const;
  /// Returns the row of the field table that a field name refers to. Error: as in `set` for the name;
  /// `opcode`, `payload` and the other names that are not fields are unknown here.
  [[nodiscard]] SpecResult<SpecField> field(std::string_view name) const;

  /// Returns lines `name: value` that `from_text` reads back to a specification of the same bytes: the headers,
  /// each field that is not at its default, then payload, pad, ICRC and trailer unless they are automatic or empty.
  [[nodiscard]] std::string to_text() const;

  /// Returns all field names of this packet in wire order, followed by the names in `to_text` that are not fields.
  [[nodiscard]] std::vector<std::string> names() const;

  /// Builds the bytes. Error: the packet would exceed 65535 bytes behind a length field,
  /// or an automatic ICRC has no network header to begin with.
  [[nodiscard]] SpecResult<std::vector<std::byte>> build() const;

  friend bool operator==(const PacketSpec&, const PacketSpec&) = default;

 private:
  friend class PacketTemplate;

  enum class IcrcMode : std::uint8_t { automatic, wrong, none, value };

  /// One header. A nested header is a name for bytes of another header (the
  /// CMA header in a CM REQ) or of the payload (the TLVs of an LLDP frame).
  struct Part {
    HeaderId id = HeaderId::none;
    std::vector<std::byte> bytes;             ///< empty for a nested header
    std::vector<const FieldInfo*> automatic;  ///< fields that build() computes
    std::optional<std::size_t> nested_in;     ///< index of a part, or kInPayload
    std::size_t nested_offset = 0;

    friend bool operator==(const Part&, const Part&) = default;
  };
  static constexpr std::size_t kInPayload = ~std::size_t{0};

  /// A name, split into part and field.
  struct Target {
    std::size_t part = 0;
    const FieldInfo* field = nullptr;  ///< null for a header without fields
  };
  [[nodiscard]] SpecResult<Target> find(std::string_view name) const;
  [[nodiscard]] Bytes view(const Part& part) const;
  [[nodiscard]] std::span<std::byte> edit(Part& part);
  [[nodiscard]] std::string qualified_name(std::size_t part) const;
  [[nodiscard]] std::string value_text(const Target& target) const;

  static Part make_part(HeaderId id);
  void name_protocols();
  [[nodiscard]] SpecResult<void> set_headers(std::string_view value);
  [[nodiscard]] SpecResult<void> set_opcode(std::string_view value);
  [[nodiscard]] SpecResult<void> set_icrc(std::string_view value);

  struct Layout;
  [[nodiscard]] Layout lay_out() const;
  void fill_automatic(const Layout& layout, std::vector<std::byte>& bytes) const;

  std::vector<Part> parts_;
  std::vector<std::byte> payload_;
  std::optional<std::vector<std::byte>> pad_;  ///< empty: automatic
  std::vector<std::byte> trailer_;
  IcrcMode icrc_mode_ = IcrcMode::automatic;
  std::uint32_t icrc_ = 0;
};

}  // namespace roce
