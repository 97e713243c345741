// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "roce/wire/fields.h"
#include "roce/wire/packet_spec.h"

namespace roce {

/// A packet that is built once and then changed in place: for many packets that differ in a few fields.
///
///     auto packet = PacketTemplate::make(spec, names);     // names = {"bth.psn"}
///     packet->set_number(0, 5);
///     packet->seal();
///     send(packet->bytes());
class PacketTemplate {
 public:
  /// Makes the packet of `spec`, whose fields `names` may change. Errors: those of `PacketSpec::build`; a name that is
  /// not a field of the packet, or that is computed: a length, a checksum or a pad count that was not set to a value.
  [[nodiscard]] static SpecResult<PacketTemplate> make(const PacketSpec& spec, std::span<const std::string> names);

  /// Spends some work now so that later calls of `seal` cost less, also for copies of this template.
  /// For more than a few dozen packets.
  void expect_many();
  /// Writes the low bits of `number` into the field `names[which]`; of a field of octets, into its last eight.
  void set_number(std::size_t which, std::uint64_t number);
  /// Writes a field of octets; `octets` has the size of the field.
  void set_octets(std::size_t which, Bytes octets);
  /// Recomputes the IPv4 header checksums and the ICRC, unless they were set to values, once all fields are set.
  /// A wrong ICRC stays wrong in the same bits.
  void seal();

  /// Returns the offsets of the only bytes that ever change, ascending; they are equal for all copies of this template.
  [[nodiscard]] std::vector<std::size_t> varying() const;
  /// Returns the packet; valid as long as the template.
  [[nodiscard]] Bytes bytes() const { return bytes_; }

 private:
  struct Place {
    const FieldInfo* field = nullptr;
    std::size_t header = 0;  ///< offset of the header
    std::size_t size = 0;    ///< size of the header
    std::size_t end = 0;     ///< offset behind the field
    std::size_t octets = 0;  ///< bytes of its number, if it begins and ends at byte boundaries; else 0

    [[nodiscard]] std::size_t first_byte() const { return header + field->byte_offset(); }
    [[nodiscard]] std::size_t last_byte() const { return header + (field->bit_offset + field->bit_width - 1U) / 8; }
  };
  struct Icrc {
    HeaderId network = HeaderId::none;
    std::size_t start = 0;       ///< offset of the network header
    std::size_t bth_offset = 0;  ///< offset of the BTH from there
    std::size_t place = 0;
    bool is_wrong = false;
  };
  /// A byte that may change and that the ICRC covers.
  struct Covered {
    std::size_t place = 0;
    std::uint8_t mask = 0;  ///< the bits that the ICRC does not read as ones
    std::byte sealed{};     ///< the value with which the byte is in the ICRC
  };
  /// The change of the ICRC for each difference of a byte.
  using Changes = std::array<std::uint32_t, 256>;

  [[nodiscard]] static Place place_of(const FieldInfo& field, std::size_t header, std::size_t size);
  [[nodiscard]] bool may_change(std::size_t offset) const;
  [[nodiscard]] std::vector<Covered> find_covered() const;
  void store_checksums();
  [[nodiscard]] std::uint32_t stored_icrc() const;
  void store_icrc(std::uint32_t icrc);

  std::vector<std::byte> bytes_;
  std::size_t end_ = 0;                 ///< offset behind the ICRC
  std::vector<Place> places_;           ///< in the order of the names
  std::vector<std::size_t> checksums_;  ///< IPv4 headers whose checksum is computed
  std::optional<Icrc> icrc_;            ///< set if it is computed
  std::vector<Covered> covered_;        ///< in ascending order
  /// Changes for each of `covered_`; null: the ICRC is computed anew.
  std::shared_ptr<const std::vector<Changes>> changes_;
};

}  // namespace roce
