// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "wireshark/epan/dissector.h"
#include "wireshark/epan/statistics.h"
#include "wireshark/epan/tap.h"
#include "wireshark/parts/text.h"

namespace roce::plugin {

namespace {

/// One end of a stream. Its QP number may become known later, so it is looked up when it is printed.
struct LateEnd {
  std::array<std::uint8_t, 16> address{};
  std::uint32_t stream = analysis::kNoStream;
  std::uint32_t end = 0;  ///< 0 or 1; without a stream the QP number, or `kUnknownQp`
};
static_assert(sizeof(LateEnd) == 24, "compared byte for byte");

constexpr std::uint32_t kUnknownQp = 0xFFFF'FFFF;

/// The tables that show ends.
enum class Table : std::uint8_t {
  conversations,  ///< each end with the number of the stream
  endpoints,
};

int late_end_type = AT_NONE;
int late_numbered_end_type = AT_NONE;

Text text_of(const LateEnd& late, Table table) noexcept {
  const Gid address{late.address};
  if (late.stream == analysis::kNoStream) {
    return end_text(address, late.end != kUnknownQp ? std::optional{Qpn{late.end}} : std::nullopt);
  }
  const CaptureAnalysis* const analysis = open_capture().analysis();
  if (analysis == nullptr) return end_text(address, std::nullopt);
  const std::optional<Qpn> qpn = analysis->end_of(late.stream, static_cast<std::uint8_t>(late.end)).qpn;
  return table == Table::conversations ? numbered_end_text(address, qpn, late.stream) : end_text(address, qpn);
}

template <Table kTable>
int print_late_end(const address* from, gchar* buffer, int size) {
  LateEnd late;
  std::memcpy(&late, from->data, sizeof(late));
  const Text text = text_of(late, kTable);
  const std::size_t length = std::min(std::strlen(text.c_str()), static_cast<std::size_t>(size) - 1);
  std::memcpy(buffer, text.c_str(), length);
  buffer[length] = '\0';
  return static_cast<int>(length) + 1;
}

int late_end_text_size(const address* /*from*/) {
  return static_cast<int>(sizeof(Text));
}

/// The source or destination of a packet, as an address for the tables.
class End {
 public:
  End(const TappedPacket& packet, bool is_source, Table table) {
    const analysis::Observation& seen = packet.observation;
    late_.address = is_source ? seen.source.octets : seen.destination.octets;
    const bool is_datagram = seen.info().service == Service::ud;
    if (packet.facts != nullptr && packet.facts->stream != analysis::kNoStream && !is_datagram) {
      late_.stream = packet.facts->stream;
      late_.end = is_source ? packet.facts->direction : 1U - packet.facts->direction;
    } else if (is_source) {
      late_.end = is_datagram ? seen.source_qp.value() : kUnknownQp;
    } else {
      late_.end = seen.dest_qp.value();
    }
    if (packet.has_hindsight) {
      text_ = text_of(late_, table);
      set_address(&address_, AT_STRINGZ, static_cast<int>(std::strlen(text_.c_str())) + 1, text_.c_str());
    } else {
      const int type = table == Table::conversations ? late_numbered_end_type : late_end_type;
      set_address(&address_, type, static_cast<int>(sizeof(late_)), &late_);
    }
  }
  End(const End&) = delete;
  End& operator=(const End&) = delete;

  [[nodiscard]] const address* get() const { return &address_; }

 private:
  LateEnd late_;
  Text text_;
  address address_ = ADDRESS_INIT_NONE;
};

const char* filter_name(conv_filter_type_e type) {
  switch (type) {
    case CONV_FT_SRC_ADDRESS:
      return "roce.analysis.source";
    case CONV_FT_DST_ADDRESS:
      return "roce.analysis.destination";
    case CONV_FT_ANY_ADDRESS:
      return "roce.analysis.end";
    default:
      return CONV_FILTER_INVALID;
  }
}

const char* conversation_filter(conv_item_t* item, conv_filter_type_e type) {
  // A conversation that is not known to belong to a stream has no number.
  if (item->conv_id == analysis::kNoStream) return filter_name(type);
  switch (type) {
    case CONV_FT_SRC_ADDRESS:
      return "roce.analysis.numbered_source";
    case CONV_FT_DST_ADDRESS:
      return "roce.analysis.numbered_destination";
    case CONV_FT_ANY_ADDRESS:
      return "roce.analysis.numbered_end";
    default:
      return CONV_FILTER_INVALID;
  }
}

const char* endpoint_filter(endpoint_item_t* /*item*/, conv_filter_type_e type) {
  return filter_name(type);
}

ct_dissector_info_t conversation_info{conversation_filter};
et_dissector_info_t endpoint_info{endpoint_filter};

tap_packet_status count_conversation(void* table, packet_info* pinfo, epan_dissect_t* /*edt*/, const void* data,
                                     tap_flags_t flags) {
  const TappedPacket packet = tapped(data);
  if (packet.observation.kind != PacketKind::roce) return TAP_PACKET_DONT_REDRAW;
  auto* const hash = static_cast<conv_hash_t*>(table);
  hash->flags = flags;
  const End source{packet, true, Table::conversations};
  const End destination{packet, false, Table::conversations};
  // A queue pair of datagrams belongs to many streams.
  const bool is_datagram = packet.observation.info().service == Service::ud;
  const std::uint32_t stream = packet.facts != nullptr && !is_datagram ? packet.facts->stream : analysis::kNoStream;
  add_conversation_table_data_with_conv_id(hash, source.get(), destination.get(), 0, 0, stream, 1,
                                           static_cast<int>(packet.observation.wire_length), &pinfo->rel_ts,
                                           &pinfo->abs_ts, &conversation_info, CONVERSATION_NONE);
  return TAP_PACKET_REDRAW;
}

tap_packet_status count_endpoint(void* table, packet_info* /*pinfo*/, epan_dissect_t* /*edt*/, const void* data,
                                 tap_flags_t flags) {
  const TappedPacket packet = tapped(data);
  if (packet.observation.kind != PacketKind::roce) return TAP_PACKET_DONT_REDRAW;
  auto* const hash = static_cast<conv_hash_t*>(table);
  hash->flags = flags;
  const int bytes = static_cast<int>(packet.observation.wire_length);
  const End source{packet, true, Table::endpoints};
  const End destination{packet, false, Table::endpoints};
  add_endpoint_table_data(hash, source.get(), 0, TRUE, 1, bytes, &endpoint_info, ENDPOINT_NONE);
  add_endpoint_table_data(hash, destination.get(), 0, FALSE, 1, bytes, &endpoint_info, ENDPOINT_NONE);
  return TAP_PACKET_REDRAW;
}

}  // namespace

void register_conversations(int proto) {
  late_end_type = address_type_dissector_register("AT_ROCE", "RoCE address and QP", print_late_end<Table::endpoints>,
                                                  late_end_text_size, nullptr, nullptr, nullptr, nullptr, nullptr);
  late_numbered_end_type = address_type_dissector_register("AT_ROCE_STREAM", "RoCE address, QP and stream",
                                                           print_late_end<Table::conversations>, late_end_text_size,
                                                           nullptr, nullptr, nullptr, nullptr, nullptr);
  register_conversation_table(proto, TRUE, count_conversation, count_endpoint);
}

}  // namespace roce::plugin
