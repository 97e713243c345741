// SPDX-License-Identifier: BSD-2-Clause
// Several devices behind one interface.
#include <bit>

#include "roce/live/endpoint.h"

namespace roce::live {

namespace {

[[nodiscard]] Result<void> check_shards(const EndpointOptions& options) {
  if (options.shards == 1) return {};
  if (options.link != LinkChoice::automatic && options.link != LinkChoice::raw) {
    return cannot("shards divide what packet sockets receive; use the raw link, or one shard");
  }
  if (!options.ip.empty()) {
    return cannot(
        "an own address (ip) has no shards: one device answers for it; use one shard, or an address of the host");
  }
  if (!options.pfc.empty()) {
    return cannot("pfc counts the receives of one device; use one shard, or leave out pfc");
  }
  if (!options.dcbx.empty()) {
    return cannot("dcbx divides the link of one device; use one shard, or leave out dcbx");
  }
  if (!options.pcap.empty()) {
    return cannot("a capture file (pcap) holds what one thread sees; use one shard, or record with tcpdump");
  }
  return {};
}

}  // namespace

Result<std::vector<std::unique_ptr<Endpoint>>> Endpoint::open_shards(const EndpointOptions& options) {
  if (Result<void> checked = check_shards(options); !checked) return tl::unexpected(checked.error());
  Shards opening{.bits = static_cast<std::uint8_t>(std::bit_width(options.shards) - 1), .next = 0, .links = {}};
  std::vector<std::unique_ptr<Endpoint>> shards;
  EndpointOptions of_one = options;
  while (shards.size() < options.shards) {
    Result<std::unique_ptr<Endpoint>> opened = open_one(of_one, opening);
    if (!opened) return tl::unexpected(opened.error());
    shards.push_back(std::move(*opened));
    of_one.before_first_frame = {};
    of_one.note = {};
  }
  return shards;
}

}  // namespace roce::live
