// SPDX-License-Identifier: GPL-2.0-or-later
#include "wireshark/epan/follow.h"

#include <epan/conversation_filter.h>
#include <epan/follow.h>

#include <algorithm>
#include <new>
#include <optional>
#include <string_view>
#include <type_traits>

#include "wireshark/epan/dissector.h"

namespace roce::plugin {

namespace {

constexpr const char* kFollowTap = "roce_follow";
int tap = 0;

/// Data of one packet, in the queue until its frame has been dissected.
struct FollowedData {
  std::uint32_t stream = 0;
  std::uint8_t direction = 0;
  MessagePlace place;
  bool is_of_read = false;
  const guint8* bytes = nullptr;
  guint captured = 0;
  guint length = 0;  ///< on the wire
};
static_assert(std::is_trivially_destructible_v<FollowedData>, "nobody ends the life of what lies in pinfo->pool");

/// Returns the facts about the first packet of a frame that belongs to a stream, or null.
const PacketFacts* facts_of(const packet_info* pinfo) {
  const CaptureAnalysis* const analysis = open_capture().analysis();
  if (analysis == nullptr) return nullptr;
  const PacketFacts* const facts = analysis->find({pinfo->num, 0});
  return facts != nullptr && facts->stream != analysis::kNoStream ? facts : nullptr;
}

std::optional<MessagePlace> message_of(const packet_info* pinfo) {
  const PacketFacts* const facts = facts_of(pinfo);
  return facts != nullptr ? open_capture().analysis()->message_of(*facts) : std::nullopt;
}

// The signatures of these callbacks depend on the version: since 4.2 they get data of their owner.

template <typename... Data>
EpanBool has_stream(packet_info* pinfo, Data... /*data*/) {
  return facts_of(pinfo) != nullptr ? TRUE : FALSE;
}

template <typename... Data>
char* stream_filter(packet_info* pinfo, Data... /*data*/) {
  const PacketFacts* const facts = facts_of(pinfo);
  return facts != nullptr ? g_strdup_printf("roce.stream == %u", facts->stream) : nullptr;
}

template <typename... Data>
EpanBool has_message(packet_info* pinfo, Data... /*data*/) {
  return message_of(pinfo) ? TRUE : FALSE;
}

template <typename... Data>
char* message_filter(packet_info* pinfo, Data... /*data*/) {
  const std::optional<MessagePlace> place = message_of(pinfo);
  if (!place) return nullptr;
  return g_strdup_printf("roce.analysis.message_first == %u", static_cast<guint>(place->first.frame));
}

template <typename Register>
void register_filters(Register* do_register) {
  if constexpr (std::is_invocable_v<is_filter_valid_func, packet_info*>) {
    do_register("roce", "RoCE Stream", has_stream<>, stream_filter<>);
    do_register("roce", "RoCE Message", has_message<>, message_filter<>);
  } else {
    do_register("roce", "RoCE Stream", has_stream<void*>, stream_filter<void*>, nullptr);
    do_register("roce", "RoCE Message", has_message<void*>, message_filter<void*>, nullptr);
  }
}

char* follow_filter(epan_dissect_t* /*edt*/, packet_info* pinfo, guint* stream, guint* sub_stream) {
  const PacketFacts* const facts = facts_of(pinfo);
  if (facts == nullptr) return nullptr;
  *stream = facts->stream;
  *sub_stream = 0;
  return g_strdup_printf("roce.stream eq %u", facts->stream);
}

char* index_filter(guint stream, guint /*sub_stream*/) {
  return g_strdup_printf("roce.stream eq %u", stream);
}

char* address_filter(address* /*from*/, address* /*to*/, int /*from_port*/, int /*to_port*/) {
  // Connections between two hosts differ by their QPs alone, which are not ports.
  return g_strdup("roce.stream");
}

char* port_text(wmem_allocator_t* allocator, guint port) {
  return wmem_strdup_printf(allocator, "QP 0x%06x", port);
}

[[maybe_unused]] guint count_streams() {
  const CaptureAnalysis* const analysis = open_capture().analysis();
  return analysis != nullptr ? analysis->stream_count() : 0;
}

/// Makes room for data up to `end`. Bytes that are not there yet say so.
void grow(GByteArray* data, guint end) {
  constexpr std::string_view kMissing = "[missing in the capture] ";
  for (guint at = data->len; at < end;) {
    const guint part = std::min<guint>(end - at, static_cast<guint>(kMissing.size()));
    g_byte_array_append(data, reinterpret_cast<const guint8*>(kMissing.data()), part);
    at += part;
  }
}

/// Returns the record of a message: the latest one with its number, in its direction.
follow_record_t* record_of(const follow_info_t* info, EpanBool is_server, guint32 key) {
  // Messages in progress are among the latest: a requester sends one after the other.
  constexpr int kSearched = 256;
  GList* link = info->payload;
  for (int i = 0; link != nullptr && i < kSearched; ++i, link = link->next) {
    auto* const record = static_cast<follow_record_t*>(link->data);
    if (record->is_server == is_server && record->seq == key) return record;
  }
  return nullptr;
}

/// Returns the offset of a packet's data in its message, of which `before` bytes are there. A hole of more than a MiB
/// is shown shorter: its packets may be announced by a damaged header alone.
guint place_in(guint before, const MessagePlace& place) {
  constexpr std::uint64_t kMostMissing = std::uint64_t{1} << 20U;
  constexpr guint kShown = 1024;
  const std::uint64_t offset = std::uint64_t{place.packet - 1} * place.mtu;
  return offset <= before + kMostMissing ? static_cast<guint>(offset) : before + kShown;
}

void set_ends(follow_info_t* info, const FollowedData& followed, const packet_info* pinfo) {
  if (info->client_ip.type != AT_NONE) return;
  const bool from_client = followed.direction == 0;
  copy_address(&info->client_ip, from_client ? &pinfo->net_src : &pinfo->net_dst);
  copy_address(&info->server_ip, from_client ? &pinfo->net_dst : &pinfo->net_src);
  const CaptureAnalysis& analysis = *open_capture().analysis();
  const auto qpn = [&](std::uint8_t end) { return analysis.end_of(followed.stream, end).qpn.value_or(Qpn{}).value(); };
  info->client_port = qpn(0);
  info->server_port = qpn(1);
}

tap_packet_status take_data(void* tap_data, packet_info* pinfo, epan_dissect_t* /*edt*/, const void* data,
                            tap_flags_t /*flags*/) {
  auto* const info = static_cast<follow_info_t*>(tap_data);
  const auto& followed = *static_cast<const FollowedData*>(data);
  set_ends(info, followed, pinfo);
  const EpanBool is_server = followed.direction != 0 ? TRUE : FALSE;
  // Both directions have messages with number 1, and the data of one comes from both ends.
  const auto key = static_cast<guint32>(followed.place.first.frame << 1U | (followed.is_of_read ? 1U : 0U));
  follow_record_t* record = record_of(info, is_server, key);
  if (record == nullptr) {
    record = g_new0(follow_record_t, 1);
    record->is_server = is_server;
    record->packet_num = pinfo->fd->num;
    record->abs_ts = pinfo->fd->abs_ts;
    record->seq = key;
    record->data = g_byte_array_new();
    info->payload = g_list_prepend(info->payload, record);
  }
  const guint before = record->data->len;
  const guint begin = place_in(before, followed.place);
  grow(record->data, begin + followed.length);
  if (followed.captured != 0) std::copy_n(followed.bytes, followed.captured, record->data->data + begin);
  info->bytes_written[is_server ? 1 : 0] += record->data->len - before;
  return TAP_PACKET_DONT_REDRAW;
}

template <typename Register>
void register_follower(Register* do_register, int proto) {
  if constexpr (std::is_invocable_v<Register*, int, const char*, follow_conv_filter_func, follow_index_filter_func,
                                    follow_address_filter_func, follow_port_to_display_func, tap_packet_cb>) {
    do_register(proto, kFollowTap, follow_filter, index_filter, address_filter, port_text, take_data);
  } else {
    do_register(proto, kFollowTap, follow_filter, index_filter, address_filter, port_text, take_data, count_streams,
                nullptr);
  }
}

}  // namespace

void register_follow(int proto) {
  tap = register_tap(kFollowTap);
  register_follower(register_follow_stream, proto);
  register_filters(register_conversation_filter);
}

void queue_for_follow(packet_info* pinfo, const ShownPacket& shown) {
  const Packet& packet = shown.packet;
  if (!have_tap_listener(tap) || shown.facts == nullptr || shown.facts->stream == analysis::kNoStream) return;
  if (packet.payload_length() == 0 || shown.icrc.status == IcrcStatus::bad) return;
  const PacketFacts& facts = *shown.facts;
  // A packet whose message is not known is shown by itself.
  const MessagePlace alone{.number = 0, .first = facts.id, .packet = 1, .packets = 1};
  const Bytes payload = packet.payload();
  void* const place = wmem_alloc(pinfo->pool, sizeof(FollowedData));
  auto* const bytes = static_cast<guint8*>(wmem_alloc(pinfo->pool, payload.size() + 1));
  std::transform(payload.begin(), payload.end(), bytes, [](std::byte octet) { return std::to_integer<guint8>(octet); });
  tap_queue_packet(tap, pinfo,
                   new (place)
                       FollowedData{facts.stream, facts.direction, shown.analysis->message_of(facts).value_or(alone),
                                    packet.info().operation == Operation::read_response, bytes,
                                    static_cast<guint>(payload.size()), packet.payload_length()});
}

}  // namespace roce::plugin
