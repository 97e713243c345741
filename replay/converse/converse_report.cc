// SPDX-License-Identifier: BSD-2-Clause
#include "replay/converse/converse_report.h"

#include <fmt/core.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>

#include "command_line/counted.h"
#include "roce/live/control_request.h"

namespace roce::replay {

namespace {

using Json = nlohmann::ordered_json;

[[nodiscard]] Json heading(const char* event, const Conversation& conversation) {
  Json ends = Json::array();
  for (std::size_t i = 0; i < 2; ++i) {
    ends.push_back({{"address", to_string(conversation.ends.at(i))}, {"qp", conversation.qpns.at(i).value()}});
  }
  return {{"event", event}, {"stream", conversation.stream}, {"ends", std::move(ends)}};
}

[[nodiscard]] double microseconds(Duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

[[nodiscard]] Json latency_json(const runtime::LatencyHistogram& latency) {
  if (latency.count() == 0) return nullptr;
  return {{"count", latency.count()},
          {"p50_us", microseconds(latency.percentile(0.5))},
          {"p99_us", microseconds(latency.percentile(0.99))},
          {"max_us", microseconds(latency.max())}};
}

[[nodiscard]] std::string latency_text(const runtime::LatencyHistogram& latency) {
  return latency.count() == 0 ? "–" : fmt::format("{:.1f}", microseconds(latency.percentile(0.5)));
}

/// Returns the number of NAKs (sequence error and RNR) that the peer sent to us.
[[nodiscard]] std::uint64_t naks(const transport::Counters& counters) {
  return counters.sequence_naks_received + counters.rnr_naks_received;
}

void print_json(const Json& object) {
  fmt::print("{}\n", object.dump());
}

/// Bytes of JSON for a request and its region, besides the hexadecimal data.
constexpr std::uint64_t kRequest = 500;

/// Reports on standard error and in the JSON that the details are left out, and why.
[[nodiscard]] bool leave_out(const Conversation& conversation, const std::string& why) {
  fmt::print(stderr, "left out: the details of stream {}: {}\n", conversation.stream, why);
  Json object = heading("left_out", conversation);
  object["why"] = why;
  print_json(object);
  return false;
}

[[nodiscard]] bool all_printed(std::size_t left_out, const char* what, bool json) {
  if (left_out == 0) return true;
  fmt::print(stderr, "left out: {} more connections that are {}; raise --output\n", left_out, what);
  if (json) print_json({{"event", "left_out"}, {"connections", left_out}, {"what", what}});
  return false;
}

}  // namespace

void print_left_out(std::uint64_t connections, bool json) {
  if (connections == 0) return;
  fmt::print(stderr, "left out: {} that began when the memory was used up; raise --memory\n",
             command_line::counted(connections, "connection", "connections"));
  if (json) print_json({{"event", "left_out"}, {"connections", connections}, {"what", "beyond --memory"}});
}

void print_queue_pair(const Conversation& conversation, Qpn qpn, Psn psn, const Gid& gid, bool json) {
  if (json) {
    print_json({{"event", "queue_pair"},
                {"stream", conversation.stream},
                {"qp", qpn.value()},
                {"psn", psn.value()},
                {"gid", to_string(gid)}});
  } else {
    fmt::print(stderr, "stream {}: queue pair {} with first PSN {} at {}\n", conversation.stream, qpn.value(),
               psn.value(), to_string(gid));
  }
  std::fflush(stdout);
}

void print_memory(const Conversation& conversation, const CapturedRegion& captured, const LivePlace& place, bool json) {
  if (json) {
    print_json({{"event", "memory"},
                {"stream", conversation.stream},
                {"captured_r_key", captured.r_key.value()},
                {"captured_address", captured.address},
                {"r_key", place.r_key.value()},
                {"address", place.address},
                {"length", captured.before.size()}});
  } else {
    fmt::print(stderr, "stream {}: 0x{:x} with R_Key 0x{:08x} is 0x{:x} with R_Key 0x{:08x} here, {} bytes\n",
               conversation.stream, captured.address, captured.r_key.value(), place.address, place.r_key.value(),
               captured.before.size());
  }
  std::fflush(stdout);
}

bool print_details(const Conversation& conversation, std::uint64_t memory, OutputLimit& limit) {
  std::uint64_t size = 0;
  for (std::uint8_t side = 0; side < 2; ++side) {
    const tl::expected<std::uint64_t, std::string> length = memory_length(conversation, side, memory);
    if (!length) return leave_out(conversation, length.error());
    size += 4 * *length;
  }
  for (const CapturedOperation& operation : conversation.operations) size += kRequest + 2 * operation.data.size();
  if (!limit.take(size)) {
    return leave_out(conversation,
                     fmt::format("they take {} MiB, more than is left; raise --output", (size >> 20U) + 1));
  }
  for (std::uint8_t side = 0; side < 2; ++side) {
    const tl::expected<CapturedMemory, std::string> made = memory_of(conversation, side, memory);
    if (!made) return leave_out(conversation, made.error());
    for (const CapturedRegion& region : made->regions) {
      print_json({{"event", "captured_memory"},
                  {"stream", conversation.stream},
                  {"side", side},
                  {"r_key", region.r_key.value()},
                  {"address", region.address},
                  {"before", live::to_hex(region.before)},
                  {"after", live::to_hex(region.after)}});
    }
  }
  for (const CapturedOperation& operation : conversation.operations) {
    Json object{{"event", "captured_request"},
                {"stream", conversation.stream},
                {"side", operation.side},
                {"frame", operation.frame},
                {"opcode", control_name(operation.operation)},
                {"length", operation.length}};
    if (operation.operation != Operation::send) {
      object["remote_address"] = operation.remote_address;
      object["r_key"] = operation.r_key.value();
    }
    if (operation.immediate) object["immediate"] = *operation.immediate;
    if (operation.invalidate) object["invalidate"] = operation.invalidate->value();
    object["compare_add"] = operation.compare_add;
    object["swap"] = operation.swap;
    object["refused"] = operation.end == analysis::MessageEnd::refused;
    object["data"] = live::to_hex(operation.data);
    print_json(object);
  }
  return true;
}

std::string ends_text(const Conversation& conversation) {
  return fmt::format("{} 0x{:x} ↔ {} 0x{:x}", to_string(conversation.ends[0]), conversation.qpns[0].value(),
                     to_string(conversation.ends[1]), conversation.qpns[1].value());
}

bool print_obstacles(const std::vector<Conversation>& conversations, bool json, OutputLimit& limit) {
  std::size_t left_out = 0;
  for (const Conversation& conversation : conversations) {
    if (conversation.obstacles.empty()) continue;
    std::string text;
    if (json) {
      Json object = heading("not_reproducible", conversation);
      object["why"] = conversation.obstacles;
      text = object.dump() + '\n';
    } else {
      text = fmt::format("not reproducible: stream {}, {}\n", conversation.stream, ends_text(conversation));
      for (const std::string& why : conversation.obstacles) text += "  " + why + '\n';
    }
    if (limit.take(text.size())) {
      fmt::print(json ? stdout : stderr, "{}", text);
    } else {
      ++left_out;
    }
  }
  return all_printed(left_out, "not reproducible", json);
}

bool print_plan(const std::vector<const Conversation*>& conversations, bool json, OutputLimit& limit) {
  if (!json) fmt::print("{:>6}  {:>9}  {:>9}  {:>8}  {}\n", "stream", "requests", "answers", "path MTU", "ends");
  std::size_t left_out = 0;
  for (const Conversation* conversation : conversations) {
    std::array<std::size_t, 2> counts{};
    for (const CapturedOperation& operation : conversation->operations) ++counts.at(operation.side);
    std::string text;
    if (json) {
      Json object = heading("reproducible", *conversation);
      object["requests"] = counts;
      object["path_mtu"] = conversation->path_mtu;
      text = object.dump() + '\n';
    } else {
      text = fmt::format("{:>6}  {:>9}  {:>9}  {:>8}  {}\n", conversation->stream, counts[0], counts[1],
                         conversation->path_mtu, ends_text(*conversation));
    }
    if (limit.take(text.size())) {
      fmt::print("{}", text);
    } else {
      ++left_out;
    }
  }
  return all_printed(left_out, "reproducible", json);
}

void print_played(const std::vector<Played>& played, bool json) {
  if (!json) {
    fmt::print("{:>6}  {:>13}  {:>11}  {:>6}  {:>19}  {:>19}  {}\n", "stream", "done", "compared B", "differ",
               "p50 us (captured)", "NAKs (captured)", "ends");
  }
  for (const Played& one : played) {
    const PlayReport& report = one.report;
    if (json) {
      Json object = heading("conversation", *one.conversation);
      object["qp"] = one.qpn.value();
      object["ok"] = report.error.empty() && report.difference_count == 0;
      if (!report.error.empty()) object["error"] = report.error;
      object["all"] = one.all;
      object["requests_completed"] = report.completed;
      object["messages_arrived"] = report.arrived;
      object["requests_carried_out"] = report.carried_out;
      object["compared_bytes"] = report.compared_bytes;
      object["difference_count"] = report.difference_count;
      Json differences = Json::array();
      for (const Difference& difference : report.differences) {
        differences.push_back({{"frame", difference.frame}, {"text", difference.text}});
      }
      object["differences"] = std::move(differences);
      object["latency"] = {{"captured", latency_json(report.captured)}, {"live", latency_json(report.live)}};
      object["naks"] = {{"captured", one.conversation->naks}, {"live", naks(one.counters)}};
      object["retransmissions"] = {{"captured", one.conversation->retransmissions},
                                   {"live", one.counters.retransmitted_packets}};
      print_json(object);
      continue;
    }
    fmt::print("{:>6}  {:>13}  {:>11}  {:>6}  {:>19}  {:>19}  {}\n", one.conversation->stream,
               fmt::format("{} of {}", report.completed + report.arrived + report.carried_out, one.all),
               report.compared_bytes, report.difference_count,
               fmt::format("{} ({})", latency_text(report.live), latency_text(report.captured)),
               fmt::format("{} ({})", naks(one.counters), one.conversation->naks), ends_text(*one.conversation));
    for (const Difference& difference : report.differences) {
      if (difference.frame == 0) {
        fmt::print("        {}\n", difference.text);
      } else {
        fmt::print("        frame {}: {}\n", difference.frame, difference.text);
      }
    }
    if (report.difference_count > report.differences.size()) {
      fmt::print("        and {} more\n", report.difference_count - report.differences.size());
    }
    if (!report.error.empty()) fmt::print("        given up: {}\n", report.error);
  }
}

}  // namespace roce::replay
