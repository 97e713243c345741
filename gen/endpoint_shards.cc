// SPDX-License-Identifier: BSD-2-Clause
// Several devices behind one interface.
#include <bit>

#include "gen/endpoint.h"

namespace roce::gen {

namespace {

[[nodiscard]] Outcome<void> check_shards(const EndpointOptions& options) {
  if (options.shards == 1) return {};
  if (options.link != LinkChoice::automatic && options.link != LinkChoice::raw) {
    return cannot("--shards divides what packet sockets receive; use --link raw, or leave out --shards");
  }
  if (!options.ip.empty()) {
    return cannot("--ip has no shards: one device answers for the address; leave out --shards, or use --address");
  }
  if (!options.pfc.empty()) {
    return cannot("--pfc counts the receives of one device; leave out --shards, or --pfc");
  }
  if (!options.pcap.empty()) {
    return cannot("--pcap writes what one thread sees; leave out --shards, or record with tcpdump");
  }
  return {};
}

}  // namespace

Outcome<std::vector<std::unique_ptr<Endpoint>>> Endpoint::open_shards(const EndpointOptions& options) {
  if (Outcome<void> checked = check_shards(options); !checked) return tl::unexpected(checked.error());
  Shards opening{.bits = static_cast<std::uint8_t>(std::bit_width(options.shards) - 1), .next = 0, .links = {}};
  std::vector<std::unique_ptr<Endpoint>> shards;
  EndpointOptions of_one = options;
  while (shards.size() < options.shards) {
    Outcome<std::unique_ptr<Endpoint>> opened = open_one(of_one, opening);
    if (!opened) return tl::unexpected(opened.error());
    shards.push_back(std::move(*opened));
    // The first shard serves the metrics of all, and has printed what `verbose` asks for.
    of_one.metrics = {};
    of_one.verbose = false;
  }
  return shards;
}

}  // namespace roce::gen
