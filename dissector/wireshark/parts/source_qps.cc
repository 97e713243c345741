// SPDX-License-Identifier: BSD-2-Clause
#include "wireshark/parts/source_qps.h"

#include <exception>

namespace roce::plugin {

SourceQps::News SourceQps::observe(std::uint32_t stream, std::uint8_t direction, Qpn dest_qp, bool begins_message,
                                   std::uint64_t frame) noexcept {
  if (stream >= streams_.size()) {
    try {
      streams_.resize(std::size_t{stream} + 1);
    } catch (const std::exception&) {
      return News::none;
    }
  }
  const unsigned way = direction & 1U;
  Source& sender = streams_[stream][way];
  Source& receiver = streams_[stream][1U - way];
  sender.sent = true;
  News news = News::none;
  if (!receiver.is_known) {
    if (sender.is_known) news = News::both_known;
    receiver.qpn = dest_qp;
    receiver.is_known = true;
    if (!receiver.sent) receiver.since = frame;
  }
  if (begins_message) {
    for (Source& source : streams_[stream]) {
      if (!source.is_known || source.since != 0) continue;
      source.since = frame;
      if (news == News::none) news = News::in_use;
    }
  }
  return news;
}

std::optional<Qpn> SourceQps::find(std::uint32_t stream, std::uint8_t direction, std::uint64_t frame) const {
  if (stream >= streams_.size()) return std::nullopt;
  const Source& source = streams_[stream][direction & 1U];
  if (source.since == 0 || source.since > frame) return std::nullopt;
  return source.qpn;
}

}  // namespace roce::plugin
