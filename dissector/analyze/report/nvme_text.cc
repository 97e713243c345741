// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/report/nvme_text.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

namespace roce::analyze {

namespace {

using analysis::Histogram;
using analysis::NvmeDelay;
using analysis::NvmeEnd;
using analysis::NvmeExchange;
using analysis::NvmeQueue;

std::string_view set_text(NvmeCommandSet set) {
  static constexpr std::array<std::string_view, 3> kNames{"admin", "io", "fabrics"};
  return kNames[static_cast<std::size_t>(set)];
}

OrderedJson times_json(const Histogram& times) {
  OrderedJson json = latency_json(times);
  if (times.count() != 0) json["mean_ns"] = times.mean().count();
  return json;
}

OrderedJson frame_json(analysis::PacketId id, const SeenFiles& files) {
  return id ? OrderedJson(files.find(id.frame).number) : OrderedJson{};
}

OrderedJson operation_json(NvmeOperation operation) {
  OrderedJson json;
  json["set"] = set_text(operation.set);
  json["opcode"] = operation.code;
  const std::string_view name = nvme_operation_name(operation);
  json["name"] = name.empty() ? OrderedJson{} : OrderedJson(name);
  return json;
}

OrderedJson status_json(std::uint8_t type, std::uint8_t code, bool is_fabrics) {
  OrderedJson json;
  json["type"] = type;
  json["code"] = code;
  const std::string_view name =
      nvme_status_name({.type = type, .code = code}, is_fabrics ? NvmeCommandSet::fabrics : NvmeCommandSet::io);
  json["name"] = name.empty() ? OrderedJson{} : OrderedJson(name);
  return json;
}

OrderedJson figures_json(const NvmeOperationFigures& figures) {
  OrderedJson json;
  json["commands"] = figures.commands;
  json["bytes"] = figures.bytes;
  json["resent"] = figures.retransmissions;
  json["latency"] = times_json(figures.latency);
  json["until_data"] = times_json(figures.until_data);
  json["data"] = times_json(figures.data);
  json["until_response"] = times_json(figures.until_response);
  return json;
}

OrderedJson keep_alive_json(const NvmeQueue& queue) {
  if (!queue.is_admin) return {};
  const auto time = [](Duration value) {
    return value > Duration::zero() ? OrderedJson(value.count()) : OrderedJson{};
  };
  OrderedJson json;
  json["timeout_ns"] = time(queue.keep_alive_timeout);
  json["commands"] = queue.keep_alives;
  json["longest_gap_ns"] = time(queue.longest_keep_alive_gap);
  json["longest_silence_ns"] = time(queue.longest_silence);
  return json;
}

}  // namespace

NvmeOperation operation_of(const NvmeCommand& command, const NvmeQueue& queue) {
  return command.operation(queue.is_admin);
}

std::string operation_text(NvmeOperation operation) {
  const std::string_view name = nvme_operation_name(operation);
  return name.empty() ? fmt::format("{:#04x}", operation.code) : std::string{name};
}

std::string queue_text(const NvmeQueue& queue) {
  if (queue.is_admin) return "admin";
  return queue.queue_id ? std::to_string(*queue.queue_id) : "?";
}

std::string_view delay_text(NvmeDelay delay) {
  static constexpr std::array<std::string_view, analysis::kNvmeDelays> kNames{"target", "waiting for data", "transfer",
                                                                              "loss", "RNR"};
  return kNames[static_cast<std::size_t>(delay)];
}

OrderedJson nvme_queue_json(const NvmeQueue& queue, const NvmeQueueFigures& figures, const Names& names,
                            const SeenFiles& files) {
  const auto optional = [](const auto& value) { return value ? OrderedJson(*value) : OrderedJson{}; };
  const auto qp = [](const std::optional<Qpn>& qpn) { return qpn ? OrderedJson(qpn->value()) : OrderedJson{}; };
  OrderedJson json;
  json["stream"] = queue.stream;
  json["host"] = to_string(queue.host);
  json["target"] = to_string(queue.target);
  json["host_qp"] = qp(queue.host_qp);
  json["target_qp"] = qp(queue.target_qp);
  if (!names.empty()) json["names"] = OrderedJson{names.text(queue.host), names.text(queue.target)};
  json["queue"] = optional(queue.queue_id);
  json["admin"] = queue.is_admin;
  json["size"] = queue.size != 0 ? OrderedJson(queue.size) : OrderedJson{};
  json["controller"] = optional(queue.controller_id);
  json.update(figures_json(figures.all()));
  for (const NvmeEnd end : {NvmeEnd::answered, NvmeEnd::missed, NvmeEnd::unanswered, NvmeEnd::open}) {
    json[std::string{to_string(end)}] = figures.of(end);
  }
  json["event_requests"] = figures.event_requests;
  json["resent_commands"] = figures.resent_commands;
  json["depth"] = {{"most", queue.most_outstanding}, {"mean", queue.mean_outstanding}};
  json["delays"] = OrderedJson::object();
  for (std::size_t i = 0; i < figures.delays.size(); ++i) {
    json["delays"][std::string{to_string(static_cast<NvmeDelay>(i))}] = figures.delays[i];
  }
  json["operations"] = OrderedJson::array();
  for (const auto& [key, of_operation] : figures.operations) {
    const bool is_fabrics = key.set == NvmeCommandSet::fabrics;
    OrderedJson one = operation_json({is_fabrics       ? NvmeCommandSet::fabrics
                                      : queue.is_admin ? NvmeCommandSet::admin
                                                       : NvmeCommandSet::io,
                                      key.code});
    one.update(figures_json(of_operation));
    json["operations"].push_back(std::move(one));
  }
  json["statuses"] = OrderedJson::array();
  for (const auto& [key, status] : figures.statuses) {
    OrderedJson one = status_json(key.type, key.code, key.is_fabrics);
    one["count"] = status.count;
    one["first_frame"] = frame_json(status.first, files);
    json["statuses"].push_back(std::move(one));
  }
  json["keep_alive"] = keep_alive_json(queue);
  json["responses_without_command"] = queue.responses_without_command;
  json["cut_capsules"] = queue.cut_capsules;
  json["strange_messages"] = queue.strange_messages;
  return json;
}

OrderedJson nvme_command_json(const NvmeExchange& exchange, const NvmeQueue& queue, const SeenFiles& files) {
  OrderedJson json;
  json["stream"] = queue.stream;
  json["queue"] = queue.queue_id ? OrderedJson(*queue.queue_id) : OrderedJson{};
  json["command_id"] = exchange.command.command_id;
  json.update(operation_json(operation_of(exchange.command, queue)));
  json["namespace"] = exchange.command.is_fabrics() ? OrderedJson{} : OrderedJson(exchange.command.namespace_id);
  json["end"] = to_string(exchange.end);
  json["status"] = exchange.end == NvmeEnd::answered
                       ? status_json(exchange.status.type, exchange.status.code, exchange.command.is_fabrics())
                       : OrderedJson{};
  json["start"] = utc_text(exchange.start.time_since_epoch().count());
  const FramePlace place = files.find(exchange.capsule.frame);
  json["file"] = place.file != nullptr ? OrderedJson(place.file->path) : OrderedJson{};
  json["frame"] = place.number;
  json["ask_frame"] = frame_json(exchange.ask, files);
  json["first_data_frame"] = frame_json(exchange.first_data, files);
  json["last_data_frame"] = frame_json(exchange.last_data, files);
  json["response_frame"] = frame_json(exchange.response, files);
  json["bytes"] = exchange.data_bytes;
  json["latency_ns"] = exchange.latency().count();
  const auto part = [&](Duration value) { return exchange.has_data() ? OrderedJson(value.count()) : OrderedJson{}; };
  json["until_data_ns"] = part(exchange.until_data());
  json["data_ns"] = part(exchange.data());
  json["until_response_ns"] = exchange.until_response().count();
  json["resent"] = exchange.retransmissions;
  json["lost_ns"] = exchange.lost.count();
  json["rnr_ns"] = exchange.not_ready.count();
  json["because"] = to_string(exchange.delay);
  return json;
}

}  // namespace roce::analyze
