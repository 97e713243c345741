// SPDX-License-Identifier: BSD-2-Clause
#include "gen/fabric/fabric_files.h"

#include <fmt/format.h>

#include <iterator>

#include "command_line/number_text.h"
#include "gen/fabric/fabric_summary.h"

namespace roce::gen {

namespace {

[[nodiscard]] Outcome<void> outcome_of_link(const link::Result<void>& result) {
  if (!result) return failed(result.error().message);
  return {};
}

/// Returns the number of the first link between two nodes, written `h0-s0` in either order.
[[nodiscard]] std::optional<std::uint32_t> find_link(const fabric::Topology& topology, std::string_view name) {
  for (std::uint32_t i = 0; i < topology.links.size(); ++i) {
    const std::string& a = topology.names[topology.links[i].a];
    const std::string& b = topology.names[topology.links[i].b];
    if (name == fmt::format("{}-{}", a, b) || name == fmt::format("{}-{}", b, a)) return i;
  }
  return std::nullopt;
}

[[nodiscard]] double microseconds(Duration time) {
  return static_cast<double>(time.count()) / 1000;
}

[[nodiscard]] Outcome<void> write_text(link::OutputFile& file, std::string_view text) {
  return outcome_of_link(file.write(std::as_bytes(std::span{text})));
}

/// Makes a CSV file that begins with `head`.
[[nodiscard]] Outcome<link::OutputFile> create_csv(const std::string& path, std::string_view head) {
  link::Result<link::OutputFile> file = link::OutputFile::create(path);
  if (!file) return failed(file.error().message);
  if (Outcome<void> written = write_text(*file, head); !written) return tl::unexpected(written.error());
  return std::move(*file);
}

}  // namespace

Outcome<QueueSamples> QueueSamples::create(const std::string& path) {
  return create_csv(path, "time_us,port,priority,queue_bytes,paused_us\n").map([](link::OutputFile&& file) {
    return QueueSamples{std::move(file)};
  });
}

Outcome<void> QueueSamples::sample(const fabric::Fabric& fabric) {
  paused_.resize(std::size_t{fabric.ports()} * kPriorities);
  const double now = microseconds(fabric.now().time_since_epoch());
  fmt::memory_buffer rows;
  for (fabric::PortId port = 0; port < fabric.ports(); ++port) {
    for (std::uint8_t priority = 0; priority < kPriorities; ++priority) {
      const std::uint64_t queue = fabric.queue_bytes(port, priority);
      const Duration paused = fabric.paused_time(port, priority);
      Duration& before = paused_[std::size_t{port} * kPriorities + priority];
      if (queue == 0 && paused == before) continue;
      before = paused;
      fmt::format_to(std::back_inserter(rows), "{:.3f},{},{},{},{:.3f}\n", now, fabric.name_of(port), priority, queue,
                     microseconds(paused));
    }
  }
  return write_text(file_, {rows.data(), rows.size()});
}

Outcome<void> QueueSamples::close() {
  return outcome_of_link(file_.close());
}

Outcome<FlowSamples> FlowSamples::create(const std::string& path) {
  return create_csv(path, "time_us,flow,from,to,delivered_bytes,limit_bps\n").map([](link::OutputFile&& file) {
    return FlowSamples{std::move(file)};
  });
}

Outcome<void> FlowSamples::sample(const fabric::Fabric& fabric) {
  const std::span<const fabric::Flow> flows = fabric.flows();
  const std::vector<std::string>& names = fabric.topology().names;
  ended_.resize(flows.size());
  const double now = microseconds(fabric.now().time_since_epoch());
  fmt::memory_buffer rows;
  for (std::uint32_t flow = 0; flow < flows.size(); ++flow) {
    const fabric::FlowState state = fabric.flow_state(flow);
    if (!state.started || ended_[flow]) continue;
    ended_[flow] = state.finished.has_value() || state.failed;
    fmt::format_to(std::back_inserter(rows), "{:.3f},{},{},{},{},", now, flow, names[flows[flow].from],
                   names[flows[flow].to], state.delivered);
    const std::optional<congestion::Reading> reading = fabric.reading(flow);
    if (reading) fmt::format_to(std::back_inserter(rows), "{:.0f}", reading->rate_bps);
    rows.push_back('\n');
  }
  return write_text(file_, {rows.data(), rows.size()});
}

Outcome<void> FlowSamples::close() {
  return outcome_of_link(file_.close());
}

std::string LinkCapture::file_of(const std::string& choice) {
  const std::size_t equals = choice.find('=');
  return equals == std::string::npos ? std::string{} : choice.substr(equals + 1);
}

Outcome<std::unique_ptr<LinkCapture>> LinkCapture::open(const std::string& choice, const fabric::Topology& topology) {
  const std::string path = file_of(choice);
  if (path.empty()) {
    return cannot(
        fmt::format("--capture: expected LINK=FILE such as h0-s0=link.pcapng, found {}", command_line::quote(choice)));
  }
  const std::string name = choice.substr(0, choice.find('='));
  const std::optional<std::uint32_t> link = find_link(topology, name);
  if (!link) {
    const fabric::Topology::Link& first = topology.links.front();
    return cannot(fmt::format("--capture: there is no link {}; the first one is {}-{}", command_line::quote(name),
                              topology.names[first.a], topology.names[first.b]));
  }
  link::CaptureWriterOptions options;
  options.interface.name = name;
  options.application = "roce-gen fabric";
  link::Result<link::CaptureWriter> writer = link::CaptureWriter::create(path, options);
  if (!writer) return failed(writer.error().message);
  return std::unique_ptr<LinkCapture>{new LinkCapture{*link, std::move(*writer)}};
}

void LinkCapture::on_frame(fabric::PortId from, Bytes frame, Time now) {
  constexpr std::uint32_t inbound = 1;
  constexpr std::uint32_t outbound = 2;
  // The writer keeps its error until `close`.
  (void)writer_.write({.bytes = frame,
                       .timestamp_ns = now.time_since_epoch().count(),
                       .original_length = static_cast<std::uint32_t>(frame.size()),
                       .comment = {},
                       .flags = (from & 1U) == 0 ? outbound : inbound,
                       .drop_count = {}});
}

Outcome<void> LinkCapture::close() {
  return outcome_of_link(writer_.close());
}

}  // namespace roce::gen
