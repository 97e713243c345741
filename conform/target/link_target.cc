// SPDX-License-Identifier: BSD-2-Clause
#include "conform/target/link_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <random>
#include <utility>

#include "conform/target/agent_answer.h"
#include "conform/target/qp_path.h"
#include "roce/live/control_names.h"
#include "roce/live/pattern.h"

namespace roce::conform {

namespace {

using Json = nlohmann::ordered_json;
using transport::QpChange;
using transport::QpState;

// As in memory: regions begin and end inside a page, so that a byte too many is not stopped by the end of a page.
constexpr std::size_t kBetweenRegions = 0x900;
// Shorter runs of untouched bytes are sent with their neighbours.
constexpr std::size_t kShortestRun = 64;

/// Returns the value whose text this is.
template <typename T>
T value_of(const std::string& text) {
  for (unsigned i = 0; i <= UINT8_MAX && !text.empty(); ++i) {
    if (to_string(static_cast<T>(i)) == text) return static_cast<T>(i);
  }
  throw DeviceGone(fmt::format("the agent says \"{}\", which is not in its protocol", text));
}

template <typename T>
TargetResult<void> done(const TargetResult<T>& answer) {
  if (!answer) return tl::unexpected(answer.error());
  return {};
}

Json access_list(transport::Access access) {
  Json list = Json::array();
  for (const std::string_view name : live::names_of(access)) list.push_back(name);
  return list;
}

Json change_request(Qpn qpn, const QpChange& change, const Port& port) {
  Json request{{"qp", qpn.value()}};
  if (change.state) request["state"] = to_string(*change.state);
  if (change.access) request["access"] = access_list(*change.access);
  const auto put = [&request](const char* name, const auto& value) {
    if (value) request[name] = *value;
  };
  const auto put_strong = [&request](const char* name, const auto& value) {
    if (value) request[name] = value->value();
  };
  if (change.address) {
    request["gid"] = to_string(port.tester_gid);
    put("service_level", change.address->service_level);
  }
  put("path_mtu", change.path_mtu);
  put_strong("dest_qp", change.dest_qp);
  put_strong("rq_psn", change.rq_psn);
  put_strong("sq_psn", change.sq_psn);
  put("max_rd_atomic", change.max_rd_atomic);
  put("max_dest_rd_atomic", change.max_dest_rd_atomic);
  put("min_rnr_timer", change.min_rnr_timer);
  put("timeout", change.timeout);
  put("retry_count", change.retry_count);
  put("rnr_retry", change.rnr_retry);
  put_strong("q_key", change.q_key);
  put("sq_drained_notify", change.sq_drained_notify);
  return request;
}

/// Returns buffers as the list that requests have.
Json pieces_of(std::span<const transport::Sge> buffers) {
  Json pieces = Json::array();
  for (const transport::Sge& buffer : buffers) {
    pieces.push_back({{"address", buffer.address}, {"length", buffer.length}, {"l_key", buffer.l_key.value()}});
  }
  return pieces;
}

/// Returns a buffer as the list that requests have.
Json pieces_of(const transport::Sge& buffer) {
  return pieces_of(std::span{&buffer, 1});
}

transport::Completion completion_of(const nlohmann::json& report) {
  transport::Completion completion;
  completion.wr_id = answered_number<std::uint64_t>(report, "wr_id");
  completion.status = value_of<transport::CompletionStatus>(answered_text(report, "status"));
  completion.qpn = Qpn{answered_number<std::uint32_t>(report, "qp")};
  if (report.contains("opcode")) {
    completion.opcode = value_of<transport::CompletionOpcode>(answered_text(report, "opcode"));
  }
  if (report.contains("byte_length")) completion.byte_length = answered_number<std::uint32_t>(report, "byte_length");
  completion.has_immediate = report.contains("immediate");
  if (completion.has_immediate) completion.immediate = answered_number<std::uint32_t>(report, "immediate");
  completion.has_invalidated = report.contains("invalidated");
  if (completion.has_invalidated) completion.invalidated = RKey{answered_number<std::uint32_t>(report, "invalidated")};
  completion.has_network_header = report.contains("source_qp");
  if (completion.has_network_header) completion.source_qp = Qpn{answered_number<std::uint32_t>(report, "source_qp")};
  return completion;
}

/// Returns the parts of a `check_memory` for bytes from offset 0 on: runs of untouched ones, and the data between them.
Json parts_of(std::span<const std::byte> expected) {
  Json parts = Json::array();
  std::size_t begin = 0;  // of what is in no part yet
  const auto add_data = [&](std::size_t end) {
    if (begin != end)
      parts.push_back({{"offset", begin}, {"data", live::to_hex(expected.subspan(begin, end - begin))}});
  };
  for (std::size_t at = 0; at < expected.size();) {
    const auto rest = expected.subspan(at);
    const auto run = static_cast<std::size_t>(std::ranges::find_if(rest, [](std::byte b) { return b != kUntouched; }) -
                                              rest.begin());
    if (run >= kShortestRun) {
      add_data(at);
      parts.push_back({{"offset", at}, {"length", run}, {"byte", std::to_integer<unsigned>(kUntouched)}});
      begin = at + run;
    }
    at += std::max<std::size_t>(run, 1);
  }
  add_data(expected.size());
  return parts;
}

}  // namespace

LinkTarget::LinkTarget(LinkDevice& device) : device_(device), first_peer_(device.wire().next_peers()) {
  std::random_device random;
  identity_ = std::uint64_t{random()} << 32U | random();
}

LinkTarget::~LinkTarget() {
  try {
    device_.clean_up(memory_size());
    // The frames that end its connections left before this is answered.
    if (cm_) (void)device_.tell("cm_events");
  } catch (const DeviceGone&) {
    // The next target finds that out, and says so.
  }
}

bool LinkTarget::has(std::string_view feature) const {
  if (feature == "agent") return true;
  if (feature == "ipv4") return port().device_gid.is_ipv4_mapped();
  if (feature == "mw") return device_.has("windows_1") || device_.has("windows_2");
  if (feature == "type2_mw") return device_.has("windows_2");
  return device_.has(feature);
}

void LinkTarget::put_pd(Json& request, bool in_other_pd) {
  if (!in_other_pd) return;
  if (!other_pd_) other_pd_ = answered_number<std::uint32_t>(device_.tell("create_pd"), "pd");
  request["pd"] = *other_pd_;
}

std::uint32_t LinkTarget::take_cq(std::optional<std::uint32_t> size) {
  if (size || free_cqs_.empty()) {
    return answered_number<std::uint32_t>(device_.tell("create_cq", {{"size", size.value_or(kCqSize)}}), "cq");
  }
  const std::uint32_t cq = free_cqs_.back();
  free_cqs_.pop_back();
  return cq;
}

TargetResult<QpNumber> LinkTarget::create_qp(const QpSetup& setup) {
  if (setup.path_mtu > device_.max_path_mtu()) {
    throw DeviceLacks(fmt::format("a path MTU of {}: its own, or that of the tester's interface, is at most {}",
                                  setup.path_mtu, device_.max_path_mtu()));
  }
  if (setup.service_level && !device_.has("service_level")) throw DeviceLacks("a service level that the agent can set");
  Qp qp{.type = setup.type,
        .send_cq = take_cq(setup.send_cq_size),
        .receive_cq = take_cq(setup.receive_cq_size),
        .has_usual_cqs = !setup.send_cq_size && !setup.receive_cq_size};
  Json request{
      {"type", live::name_of(setup.type)}, {"state", "RESET"}, {"send_cq", qp.send_cq}, {"receive_cq", qp.receive_cq}};
  put_pd(request, setup.in_other_pd);
  if (setup.pieces != 1) request["max_pieces"] = setup.pieces;
  if (setup.srq) request["srq"] = srqs_.at(*setup.srq);
  const TargetResult<nlohmann::json> created = device_.ask("create_qp", request);
  if (!created) return tl::unexpected(created.error());
  qp.qpn = Qpn{answered_number<std::uint32_t>(*created, "qp")};
  qps_.push_back(qp);
  const QpNumber qp_number = qps_.size() - 1;
  if (const TargetResult<void> up = bring_up(qp_number, setup); !up) return tl::unexpected(up.error());
  return qp_number;
}

TargetResult<void> LinkTarget::bring_up(QpNumber qp, const QpSetup& setup) {
  // A UD QP gets the address that it sends to from `connect_qp`, which takes it from INIT to RTS.
  const bool connects = setup.type == transport::QpType::ud && setup.state != QpState::rtr;
  for (const QpChange& change : path_of(setup, {.dgid = port().tester_gid})) {
    if (connects && change.state == QpState::rtr) continue;
    const bool is_connection = connects && change.state == QpState::rts;
    TargetResult<void> moved = is_connection ? connect(qp, setup.sq_psn) : modify(qp, change);
    if (!moved) return moved;
  }
  const bool takes_choice = !setup.congestion.empty() && device_.has("congestion");
  return takes_choice ? done(device_.ask("modify_qp", {{"qp", qpn(qp).value()}, {"congestion", setup.congestion}}))
                      : TargetResult<void>{};
}

TargetResult<void> LinkTarget::connect(QpNumber qp, Psn first) {
  return done(device_.ask("connect_qp",
                          {{"qp", qpn(qp).value()}, {"gid", to_string(port().tester_gid)}, {"psn", first.value()}}));
}

TargetResult<Region> LinkTarget::create_region(const RegionSetup& setup) {
  if (used_ + kBetweenRegions + setup.length + kBetweenRegions > device_.memory().length) {
    return tl::unexpected(std::string{"the regions of the case take more than 1 MiB"});
  }
  const std::size_t offset = used_ + kBetweenRegions;
  used_ = offset + setup.length;
  Json request{{"memory", device_.memory().number},
               {"offset", offset},
               {"length", setup.length},
               {"access", access_list(setup.access)}};
  put_pd(request, setup.in_other_pd);
  const TargetResult<nlohmann::json> made = device_.ask("create_region", request);
  if (!made) return tl::unexpected(made.error());
  regions_.push_back(answered_number<std::uint32_t>(*made, "region"));
  return Region{.number = regions_.size() - 1,
                .address = answered_number<std::uint64_t>(*made, "address"),
                .length = answered_number<std::uint64_t>(*made, "length"),
                .r_key = answered_number<std::uint32_t>(*made, "r_key"),
                .l_key = answered_number<std::uint32_t>(*made, "l_key")};
}

TargetResult<void> LinkTarget::deregister(RegionNumber region) {
  return done(device_.ask("destroy_region", {{"region", regions_.at(region)}}));
}

TargetResult<WindowNumber> LinkTarget::create_window(const WindowSetup& setup) {
  Json request{{"type", setup.type == transport::MwType::type1 ? 1 : 2}};
  put_pd(request, setup.in_other_pd);
  const TargetResult<nlohmann::json> made = device_.ask("create_window", request);
  if (!made) return tl::unexpected(made.error());
  windows_.push_back(answered_number<std::uint32_t>(*made, "window"));
  return windows_.size() - 1;
}

std::uint32_t LinkTarget::window_key(WindowNumber window) {
  const TargetResult<nlohmann::json> status = device_.ask("window_status", {{"window", windows_.at(window)}});
  return status ? answered_number<std::uint32_t>(*status, "r_key") : 0;
}

TargetResult<void> LinkTarget::destroy_window(WindowNumber window) {
  return done(device_.ask("destroy_window", {{"window", windows_.at(window)}}));
}

TargetResult<SrqNumber> LinkTarget::create_srq() {
  const TargetResult<nlohmann::json> made = device_.ask("create_srq", {{"max_receive", kSrqReceives}});
  if (!made) return tl::unexpected(made.error());
  srqs_.push_back(answered_number<std::uint32_t>(*made, "srq"));
  return srqs_.size() - 1;
}

TargetResult<void> LinkTarget::arm_srq(SrqNumber srq, std::uint32_t limit) {
  return done(device_.ask("arm_srq", {{"srq", srqs_.at(srq)}, {"limit", limit}}));
}

TargetResult<void> LinkTarget::post_srq_receive(SrqNumber srq, std::uint64_t wr_id, const transport::Sge& buffer) {
  return done(device_.ask("post_receive", {{"srq", srqs_.at(srq)}, {"wr_id", wr_id}, {"pieces", pieces_of(buffer)}}));
}

TargetResult<void> LinkTarget::post_bind(QpNumber qp, const BindOrder& order) {
  return done(device_.ask("post_send", {{"qp", qpn(qp).value()},
                                        {"opcode", "bind_window"},
                                        {"wr_id", order.wr_id},
                                        {"window", windows_.at(order.window)},
                                        {"region", regions_.at(order.region)},
                                        {"bind_address", order.address},
                                        {"bind_length", order.length},
                                        {"access", access_list(order.access)},
                                        {"key_variant", order.variant}}));
}

TargetResult<void> LinkTarget::modify(QpNumber qp, const QpChange& change) {
  return done(device_.ask("modify_qp", change_request(qpn(qp), change, port())));
}

QpState LinkTarget::state(QpNumber qp) {
  return value_of<QpState>(answered_text(device_.tell("qp_status", {{"qp", qpn(qp).value()}}), "state"));
}

TargetResult<void> LinkTarget::post_send(QpNumber qp, const SendOrder& order) {
  const transport::SendRequest& send = order.request;
  const bool invalidates = send.opcode == transport::WorkOpcode::local_invalidate ||
                           send.opcode == transport::WorkOpcode::send_with_invalidate;
  if (invalidates && !device_.has("invalidate")) throw DeviceLacks("invalidate");
  Json request{{"qp", qpn(qp).value()},
               {"opcode", live::name_of(send.opcode)},
               {"wr_id", send.wr_id},
               {"signaled", send.signaled},
               {"solicited", send.solicited},
               {"fence", send.fence},
               {"immediate", send.immediate},
               {"invalidate", send.invalidate.value()},
               {"remote_address", send.remote.address},
               {"r_key", send.remote.r_key.value()},
               {"compare_add", send.compare_add},
               {"swap", send.swap}};
  if (qps_.at(qp).type == transport::QpType::ud) {
    request["remote_qp"] = send.datagram.qpn.value();
    request["q_key"] = send.datagram.q_key.value();
  }
  if (order.data.length != 0) request["pieces"] = pieces_of(order.data);
  return done(device_.ask("post_send", request));
}

TargetResult<void> LinkTarget::destroy_qp(QpNumber qp) {
  const TargetResult<nlohmann::json> gone = device_.ask("destroy_qp", {{"qp", qpn(qp).value()}});
  const Qp& queues = qps_.at(qp);
  if (gone && queues.has_usual_cqs) free_cqs_.insert(free_cqs_.end(), {queues.send_cq, queues.receive_cq});
  return done(gone);
}

TargetResult<void> LinkTarget::attach(QpNumber /*qp*/, const std::string& /*group*/) {
  throw DeviceLacks("groups, which the control protocol does not have");
}

TargetResult<void> LinkTarget::detach(QpNumber /*qp*/, const std::string& /*group*/) {
  throw DeviceLacks("groups, which the control protocol does not have");
}

TargetResult<void> LinkTarget::arm_cq(QpNumber qp, const CqArming& arming) {
  const Qp& queues = qps_.at(qp);
  return done(device_.ask("arm_cq", {{"cq", arming.is_receive ? queues.receive_cq : queues.send_cq},
                                     {"solicited", arming.solicited_only}}));
}

TargetResult<void> LinkTarget::post_receive(QpNumber qp, std::uint64_t wr_id, std::span<const transport::Sge> buffers) {
  return done(device_.ask("post_receive", {{"qp", qpn(qp).value()}, {"wr_id", wr_id}, {"pieces", pieces_of(buffers)}}));
}

std::optional<transport::Completion> LinkTarget::poll(QpNumber qp, bool is_receive) {
  Qp& queues = qps_.at(qp);
  std::deque<transport::Completion>& waiting = is_receive ? queues.received : queues.sent;
  if (waiting.empty()) {
    const nlohmann::json answer = device_.tell("poll", {{"cq", is_receive ? queues.receive_cq : queues.send_cq}});
    const auto completions = answer.find("completions");
    if (completions == answer.end() || !completions->is_array()) {
      throw DeviceGone("an answer of the agent to \"poll\" has no completions");
    }
    for (const nlohmann::json& report : *completions) {
      const transport::Completion completion = completion_of(report);
      // Others are of a QP that had the queue before.
      if (completion.qpn == queues.qpn) waiting.push_back(completion);
    }
  }
  if (waiting.empty()) return std::nullopt;
  const transport::Completion oldest = waiting.front();
  waiting.pop_front();
  return oldest;
}

std::optional<transport::EventType> LinkTarget::poll_event() {
  const nlohmann::json answer = device_.tell("poll_events", {{"max", 1}});
  const auto events = answer.find("events");
  if (events == answer.end() || !events->is_array() || events->empty()) return std::nullopt;
  return value_of<transport::EventType>(answered_text(events->front(), "event"));
}

std::map<std::string, std::uint64_t> LinkTarget::counters() {
  const nlohmann::json answer = device_.tell("counters");
  std::map<std::string, std::uint64_t> counters;
  const auto found = answer.find("counters");
  if (found == answer.end() || !found->is_object()) return counters;
  for (const auto& [name, value] : found->items()) {
    if (value.is_number_unsigned()) counters.emplace(name, value.get<std::uint64_t>());
  }
  return counters;
}

CmService* LinkTarget::cm(RoceVersion version) {
  if (!device_.has("cm") || version != port().version) return nullptr;
  if (!cm_) {
    cm_.emplace(device_);
    device_.wire().hear_qp1();
  }
  return &*cm_;
}

std::size_t LinkTarget::memory_size() const {
  return used_ == 0 ? 0 : used_ + kBetweenRegions;
}

std::vector<std::byte> LinkTarget::read_memory(std::size_t offset, std::size_t length) {
  const nlohmann::json answer =
      device_.tell("read_memory", {{"memory", device_.memory().number}, {"offset", offset}, {"length", length}});
  std::vector<std::byte> bytes = answered_bytes(answer, "data");
  if (bytes.size() != length) throw DeviceGone("an answer of the agent to \"read_memory\" has another length");
  return bytes;
}

std::optional<std::size_t> LinkTarget::find_difference(std::span<const std::byte> expected) {
  if (device_.has("memory_digest") && !expected.empty()) {
    const nlohmann::json answer = device_.tell(
        "check_memory",
        {{"memory", device_.memory().number}, {"length", expected.size()}, {"digest", live::digest_of(expected)}});
    if (answer.value("equal", false)) return std::nullopt;
  }
  const nlohmann::json answer =
      device_.tell("check_memory", {{"memory", device_.memory().number}, {"parts", parts_of(expected)}});
  const auto is_equal = answer.find("equal");
  if (is_equal == answer.end() || !is_equal->is_boolean()) {
    throw DeviceGone("an answer of the agent to \"check_memory\" does not say if memory is equal");
  }
  if (is_equal->get<bool>()) return std::nullopt;
  const auto wrong_at = answered_number<std::size_t>(answer, "wrong_at");
  if (wrong_at >= expected.size()) throw DeviceGone("the agent found a wrong byte where it was not to look");
  return wrong_at;
}

}  // namespace roce::conform
