// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "analyze/filter/filter_fields.h"
#include "packet_text/decoded_packet.h"

namespace roce::analyze {

/// The fields of packets themselves, with ids from 0; further fields can be added after them.
/// - every field of the codec's field table (`bth.psn`), and every header by its name (`aeth`);
/// - `roce` (a BTH was found), `roce.version`, `roce.src`, `roce.dst`, `roce.addr` (either), `roce.icrc.status` (good,
///   bad, not_checked), `roce.payload_length`, `roce.problem` (the packet could not be parsed to its end);
/// - `frame.number`, `frame.time`, `frame.time_relative`, `frame.len`, `frame.cap_len`, `frame.segment`, `frame.file`,
///   `frame.interface_name`, `frame.comment`.
[[nodiscard]] FieldCatalogue wire_catalogue();

/// The values of one packet's fields for a filter compiled with `wire_catalogue()`, or with more fields after it. A
/// header that occurs several times in a packet (tags, tunnels, TLVs) has one value for each, the outermost first.
class PacketValues final : public FieldValues {
 public:
  /// `others` provides the fields after those of `wire_catalogue()`; null: the packet has none of them. Everything that
  /// the arguments refer to must outlive the object.
  explicit PacketValues(const packet_text::DecodedPacket& decoded, const FieldValues* others = nullptr)
      : decoded_(decoded), others_(others) {}

  [[nodiscard]] std::optional<FilterValue> value(FieldId id, std::size_t index) const override;

 private:
  const packet_text::DecodedPacket& decoded_;
  const FieldValues* others_;
};

}  // namespace roce::analyze
