// SPDX-License-Identifier: BSD-2-Clause
#include "replay/converse/control_end.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "roce/live/control_request.h"

namespace roce::replay {

namespace {

/// Bytes of memory that one line of the control protocol takes.
constexpr std::size_t kPart = std::size_t{1} << 20;
/// Bit in the number of a work request that marks a receive.
constexpr std::uint64_t kReceive = std::uint64_t{1} << 62;

[[nodiscard]] std::string opcode_of(const CapturedOperation& operation) {
  std::string name{control_name(operation.operation)};
  if (operation.invalidate) return name + "_with_invalidate";
  return operation.immediate ? name + "_with_immediate" : name;
}

}  // namespace

Outcome<std::unique_ptr<ControlEnd>> ControlEnd::make(live::ControlClient& peer, const Conversation& conversation,
                                                      const CapturedMemory& memory, std::uint8_t side) {
  std::unique_ptr<ControlEnd> end{new ControlEnd{peer, conversation, side}};
  if (Outcome<void> done = end->set_up(memory); !done) return tl::unexpected(done.error());
  return end;
}

Outcome<void> ControlEnd::set_up(const CapturedMemory& memory) {
  Outcome<Region> data = make_region(plan_.data_bytes);
  if (!data) return tl::unexpected(data.error());
  data_ = *data;
  Outcome<Region> receives = make_region(std::max<std::size_t>(1, plan_.receive_bytes * plan_.receives));
  if (!receives) return tl::unexpected(receives.error());
  receives_ = *receives;
  for (const CapturedRegion& captured : memory.regions) {
    Outcome<Region> region = make_region(captured.before.size(), captured.is_invalidated);
    if (!region) return tl::unexpected(region.error());
    if (Outcome<void> written = write(*region, 0, captured.before); !written) return written;
    regions_.push_back(*region);
  }
  for (std::size_t i = 0; i < conversation_.operations.size(); ++i) {
    const CapturedOperation& operation = conversation_.operations[i];
    if (operation.side != side_ || operation.operation == Operation::read_request) continue;
    if (Outcome<void> written = write(data_, plan_.offsets[i], operation.data); !written) return written;
  }
  const Outcome<nlohmann::json> made = peer_.call(
      "create_qp", {{"type", "rc"}, {"max_send", kMostRequests}, {"max_receive", std::max(1U, plan_.receives)}});
  if (!made) return tl::unexpected(made.error());
  qpn_ = Qpn{made->at("qp").get<std::uint32_t>()};
  psn_ = Psn{made->at("psn").get<std::uint32_t>()};
  for (std::size_t slot = 0; slot < plan_.receives; ++slot) {
    if (Outcome<void> posted = post_receive(slot); !posted) return posted;
  }
  return {};
}

Outcome<ControlEnd::Region> ControlEnd::make_region(std::size_t bytes, bool invalidatable) {
  const Outcome<nlohmann::json> made =
      peer_.call("create_memory",
                 {{"length", bytes},
                  {"invalidatable", invalidatable},
                  {"access", {"remote_write", "remote_read", "remote_atomic", "flush_global", "flush_persistent"}}});
  if (!made) return tl::unexpected(made.error());
  Region region;
  region.memory = made->at("memory");
  region.bytes = bytes;
  region.place = {made->at("address").get<std::uint64_t>(), RKey{made->at("r_key").get<std::uint32_t>()}};
  return region;
}

Outcome<void> ControlEnd::write(const Region& region, std::size_t offset, std::span<const std::byte> data) {
  for (std::size_t at = 0; at < data.size(); at += kPart) {
    const std::span<const std::byte> part = data.subspan(at, std::min(kPart, data.size() - at));
    const Outcome<nlohmann::json> written =
        peer_.call("write_memory", {{"memory", region.memory}, {"offset", offset + at}, {"data", live::to_hex(part)}});
    if (!written) return tl::unexpected(written.error());
  }
  return {};
}

Outcome<std::vector<std::byte>> ControlEnd::read(const Region& region, std::size_t offset, std::size_t bytes) {
  std::vector<std::byte> data;
  while (data.size() < bytes) {
    const Outcome<nlohmann::json> answer =
        peer_.call("read_memory", {{"memory", region.memory},
                                   {"offset", offset + data.size()},
                                   {"length", std::min(kPart, bytes - data.size())}});
    if (!answer) return tl::unexpected(answer.error());
    const std::vector<std::byte> part = live::from_hex(answer->at("data").get<std::string>());
    if (part.empty()) return failed("the peer answered \"read_memory\" with what is not hexadecimal");
    data.insert(data.end(), part.begin(), part.end());
  }
  return data;
}

Outcome<void> ControlEnd::post_receive(std::size_t slot) {
  const Outcome<nlohmann::json> posted = peer_.call("post_receive", {{"qp", qpn_.value()},
                                                                     {"memory", receives_.memory},
                                                                     {"offset", slot * plan_.receive_bytes},
                                                                     {"length", plan_.receive_bytes},
                                                                     {"wr_id", kReceive | slot}});
  if (!posted) return tl::unexpected(posted.error());
  ++under_way_;
  return {};
}

Outcome<void> ControlEnd::post(std::size_t index, const LivePlace& place) {
  const CapturedOperation& operation = conversation_.operations[index];
  nlohmann::ordered_json request{{"qp", qpn_.value()},
                                 {"opcode", opcode_of(operation)},
                                 {"wr_id", index},
                                 {"solicited", operation.solicited},
                                 {"remote_address", place.address},
                                 {"r_key", place.r_key.value()},
                                 {"compare_add", operation.compare_add},
                                 {"swap", operation.swap}};
  if (operation.immediate) request["immediate"] = *operation.immediate;
  if (operation.invalidate) request["invalidate"] = place.r_key.value();
  if (operation.operation == Operation::flush) {
    request["flush_length"] = operation.length;
    request["persistent"] = operation.flush.persistence;
  } else if (operation.length != 0) {
    request["memory"] = data_.memory;
    request["offset"] = plan_.offsets[index];
    request["length"] = operation.length;
  }
  const Outcome<nlohmann::json> posted = peer_.call("post_send", std::move(request));
  if (!posted) return tl::unexpected(posted.error());
  ++under_way_;
  return {};
}

Outcome<void> ControlEnd::take(const nlohmann::json& completion) {
  --under_way_;
  const std::uint64_t number = completion.at("wr_id");
  const bool is_good = completion.at("status") == "success";
  if ((number & kReceive) == 0) {
    EndedRequest request;
    request.operation = number;
    const CapturedOperation& operation = conversation_.operations.at(request.operation);
    if (!is_good) request.error = completion.at("status");
    const bool returns = operation.operation == Operation::read_request ||
                         operation.operation == Operation::compare_swap || operation.operation == Operation::fetch_add;
    if (is_good && returns) {
      Outcome<std::vector<std::byte>> data = read(data_, plan_.offsets[request.operation], operation.length);
      if (!data) return tl::unexpected(data.error());
      request.data = std::move(*data);
    }
    ended.push_back(std::move(request));
    return {};
  }
  if (!is_good) return {};
  const std::size_t slot = number & ~kReceive;
  ArrivedMessage message;
  message.length = completion.at("byte_length");
  if (completion.contains("immediate")) message.immediate = completion.at("immediate").get<std::uint32_t>();
  message.is_write = completion.at("opcode") != "receive";
  if (!message.is_write && message.length != 0) {
    Outcome<std::vector<std::byte>> data = read(receives_, slot * plan_.receive_bytes, message.length);
    if (!data) return tl::unexpected(data.error());
    message.data = std::move(*data);
  }
  arrived.push_back(std::move(message));
  return post_receive(slot);
}

Outcome<void> ControlEnd::poll() {
  if (under_way_ == 0) return {};
  const Outcome<nlohmann::json> answer = peer_.call("poll");
  if (!answer) return tl::unexpected(answer.error());
  for (const nlohmann::json& completion : answer->at("completions")) {
    if (Outcome<void> taken = take(completion); !taken) return taken;
  }
  return {};
}

Outcome<void> ControlEnd::write_memory(std::size_t region, std::size_t offset, const std::vector<std::byte>& data) {
  return write(regions_[region], offset, data);
}

Outcome<std::vector<std::byte>> ControlEnd::read_memory(std::size_t region) {
  return read(regions_[region], 0, regions_[region].bytes);
}

}  // namespace roce::replay
