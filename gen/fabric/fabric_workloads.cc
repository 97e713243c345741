// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include <numeric>
#include <optional>

#include "command_line/number_text.h"
#include "gen/fabric/fabric_parts.h"

namespace roce::gen {

namespace {

using fabric::Flow;
using fabric::FlowTraits;
using fabric::NodeId;

// More flows than that would take gigabytes for queue pairs.
constexpr std::size_t kMostFlows = 2'000'000;

[[nodiscard]] std::uint64_t read_size(const YAML::Node& node, std::string_view what) {
  if (node.IsScalar() && node.Scalar() == "endless") return fabric::kEndless;
  return Reader::check(read_bytes(node, what));
}

[[nodiscard]] std::uint64_t need_size(Reader& reader) {
  return read_size(reader.need("size"), reader.path_of("size"));
}

/// A size that has an end, for workloads in which flows wait for one another.
[[nodiscard]] std::uint64_t need_finite_size(Reader& reader) {
  const std::uint64_t size = need_size(reader);
  if (size == fabric::kEndless) reader.refuse("size", "flows of this workload have to end");
  if (size == 0) reader.refuse("size", "expected at least 1 byte, found 0");
  return size;
}

/// Reads how many of the hosts take part: all if nothing is said.
[[nodiscard]] std::uint32_t read_participants(Reader& reader, const WorkloadContext& context) {
  std::uint32_t hosts = context.topology.hosts;
  reader.set("hosts", hosts, read_whole, std::uint64_t{1} << 31U);
  if (hosts < 2 || hosts > context.topology.hosts) {
    reader.refuse("hosts", fmt::format("expected 2 to {}, found {}", context.topology.hosts, hosts));
  }
  return hosts;
}

void read_incast(Reader& reader, const WorkloadContext& context, const FlowTraits& traits, std::vector<Flow>& flows) {
  NodeId to = 0;
  reader.set("to", to, read_host);
  const std::uint64_t size = need_size(reader);
  const YAML::Node node = reader.need("senders");
  std::vector<NodeId> senders;
  if (node.IsSequence()) {
    for (const YAML::Node& item : node) senders.push_back(Reader::check(read_host(item, reader.path_of("senders"))));
  } else {
    const std::uint64_t most = context.topology.hosts - 1;
    const std::uint64_t count = Reader::check(read_whole(node, reader.path_of("senders"), std::uint64_t{1} << 31U));
    if (count > most) {
      reader.refuse("senders", fmt::format("expected at most {}, for there are {} hosts; found {}", most,
                                           context.topology.hosts, count));
    }
    for (NodeId host = 0; senders.size() < count; ++host) {
      if (host != to) senders.push_back(host);
    }
  }
  if (senders.empty()) reader.refuse("senders", "there is none");
  fabric::add_incast(flows, senders, to, size, traits);
}

[[nodiscard]] fabric::SizeDistribution read_sizes(Reader& reader) {
  const std::optional<YAML::Node> node = reader.find("sizes");
  if (!node) return {{need_finite_size(reader), 1.0}};
  if (!node->IsMap() || node->size() == 0) {
    reader.refuse("sizes", "expected sizes with the shares of flows up to them, such as {1KB: 0.5, 1MB: 1}");
  }
  fabric::SizeDistribution sizes;
  for (const auto& entry : *node) {
    const std::uint64_t size = Reader::check(read_bytes(entry.first, reader.path_of("sizes")));
    const double share = Reader::check(read_real(entry.second, reader.path_of("sizes")));
    const bool rises = sizes.empty() ? size > 0 && share > 0 : size > sizes.back().first && share > sizes.back().second;
    if (!rises) throw Mistake{{reader.path_of("sizes") + ": sizes and shares have to rise", entry.first.Mark()}};
    sizes.emplace_back(size, share);
  }
  if (sizes.back().second != 1)
    reader.refuse("sizes", fmt::format("the last share is 1, found {}", sizes.back().second));
  return sizes;
}

void read_random(Reader& reader, const WorkloadContext& context, std::uint32_t index, const FlowTraits& traits,
                 std::vector<Flow>& flows) {
  fabric::RandomLoad load;
  load.hosts = read_participants(reader, context);
  load.sizes = read_sizes(reader);
  load.rate_bps = context.topology.links[0].spec.rate_bps;
  load.length = context.duration - traits.start;
  reader.set("length", load.length, read_time);
  if (load.length <= Duration{0}) reader.refuse("length", "expected more than 0");
  load.load = Reader::check(read_real(reader.need("load"), reader.path_of("load")));
  if (!(load.load > 0 && load.load <= 10)) {
    reader.refuse("load", fmt::format("expected a share of the hosts' rate above 0 and up to 10, found {}", load.load));
  }
  const double expected = load.load * static_cast<double>(load.rate_bps) / 8e9 / fabric::mean_of(load.sizes) *
                          static_cast<double>(load.length.count()) * load.hosts;
  if (expected > static_cast<double>(kMostFlows)) {
    reader.refuse("", fmt::format("it would have about {:.0f} flows, more than {}", expected, kMostFlows));
  }
  fabric::add_random_load(flows, load, context.seed * 1000003 + index, traits);
}

void read_flow(const YAML::Node& node, const std::string& path, const FlowTraits& traits, std::vector<Flow>& flows,
               Places& places) {
  Reader reader{node, path, places};
  Flow flow{.start = traits.start, .priority = traits.priority, .mtu = traits.mtu, .group = traits.group};
  flow.from = Reader::check(read_host(reader.need("from"), reader.path_of("from")));
  flow.to = Reader::check(read_host(reader.need("to"), reader.path_of("to")));
  flow.bytes = need_size(reader);
  reader.set("start", flow.start, read_time);
  reader.set("priority", flow.priority, read_whole, 7U);
  reader.set("mtu", flow.mtu, read_whole, 65535U);
  reader.set("connection", flow.connection, read_whole, std::uint64_t{1} << 20U);
  reader.finish();
  flows.push_back(flow);
}

void read_flows(Reader& reader, const std::string& path, const FlowTraits& traits, std::vector<Flow>& flows,
                Places& places) {
  const YAML::Node list = reader.need("flows");
  if (!list.IsSequence() || list.size() == 0) {
    reader.refuse("flows", "expected a list such as [{from: h0, to: h1, size: 1MB}]");
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    read_flow(list[i], fmt::format("{}.flows[{}]", path, i), traits, flows, places);
  }
}

}  // namespace

std::string read_workload(const YAML::Node& node, std::uint32_t index, const WorkloadContext& context,
                          std::vector<Flow>& flows, Places& places) {
  const std::string path = fmt::format("workloads[{}]", index);
  Reader reader{node, path, places};
  const std::string kind = Reader::check(yaml_input::read_scalar(reader.need("kind"), reader.path_of("kind")));
  std::string name = reader.text("name", kind);
  FlowTraits traits{.group = index};
  reader.set("start", traits.start, read_time);
  reader.set("priority", traits.priority, read_whole, 7U);
  reader.set("mtu", traits.mtu, read_whole, 65535U);
  if (traits.start < Duration{0} || traits.start >= context.duration) {
    reader.refuse("start", fmt::format("expected a time before the end of the run, {} ns, found {} ns",
                                       context.duration.count(), traits.start.count()));
  }
  if (kind == "incast") {
    read_incast(reader, context, traits, flows);
  } else if (kind == "permutation") {
    const std::uint64_t size = need_size(reader);
    fabric::add_permutation(flows, read_participants(reader, context), size, context.seed * 1000003 + index, traits);
  } else if (kind == "all_to_all") {
    const std::uint64_t size = need_size(reader);
    fabric::add_all_to_all(flows, read_participants(reader, context), size, traits);
  } else if (kind == "all_reduce") {
    const std::uint64_t size = need_finite_size(reader);
    fabric::add_ring_all_reduce(flows, read_participants(reader, context), size, traits);
  } else if (kind == "random") {
    read_random(reader, context, index, traits, flows);
  } else if (kind == "flows") {
    read_flows(reader, path, traits, flows, places);
  } else {
    reader.refuse("kind", fmt::format("expected incast, permutation, all_to_all, all_reduce, random or flows, found {}",
                                      command_line::quote(kind)));
  }
  reader.finish();
  if (flows.size() > kMostFlows) reader.refuse("", fmt::format("there would be more than {} flows", kMostFlows));
  return name;
}

}  // namespace roce::gen
