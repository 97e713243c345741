// SPDX-License-Identifier: BSD-2-Clause
#include "roce/live/control_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "live/carried_out.h"
#include "roce/json_input/json_input.h"
#include "roce/link/link.h"
#include "roce/live/control_request.h"
#include "roce/live/token_guard.h"

namespace roce::live {

namespace {

constexpr std::size_t kLongestId = 256;
constexpr std::uint32_t kCqSize = 1 << 18;
constexpr std::size_t kMaxEvents = 4096;
// Bytes of memory given back before frames and other clients have their turn.
constexpr std::size_t kGivenBack = 1 << 20;

}  // namespace

ControlSession::ControlSession(Endpoint& endpoint, RdmaCm* cm, Terms terms)
    : endpoint_(endpoint), device_(endpoint_.device()), terms_(std::move(terms)), cm_(cm), sinks_(device_) {
  if (cm == nullptr) return;
  acceptor_.emplace(*cm);
  desk_.emplace(device_, cm->manager(), hooks_of(*cm));
}

ControlSession::~ControlSession() {
  (void)close();
}

void ControlSession::open_device() {
  if (is_open_) return;
  pd_ = carried_out(device_.create_pd(), "hello");
  is_open_ = true;
  cq_ = carried_out(device_.create_cq(kCqSize), "hello");
}

void ControlSession::destroy_users_of_memory() {
  if (desk_) desk_->close(endpoint_.now());
  for (const auto& [qpn, qp] : qps_) {
    if (acceptor_) acceptor_->forget(qpn);
    (void)device_.destroy_qp(qpn);
  }
  qps_.clear();
  for (const auto& [id, srq] : srqs_) (void)device_.destroy_srq(srq);
  srqs_.clear();
  for (const auto& [qpn, ah] : ahs_) (void)device_.destroy_ah(ah);
  ahs_.clear();
  sinks_.clear();
  for (const auto& [id, window] : windows_) (void)device_.destroy_mw(window);
  windows_.clear();
  for (const auto& [id, region] : regions_) (void)device_.deregister_memory(region);
  regions_.clear();
  for (const auto& [id, cq] : cqs_) (void)device_.destroy_cq(cq);
  cqs_.clear();
  for (const auto& [id, pd] : pds_) (void)device_.destroy_pd(pd);
  pds_.clear();
}

std::vector<PeerMemory> ControlSession::destroy_objects() {
  destroy_users_of_memory();
  std::vector<PeerMemory> pages;
  for (const auto& [id, memory] : memories_) {
    (void)device_.deregister_memory(memory->mr);
    pages.push_back(std::move(memory->pages));
  }
  memories_.clear();
  return pages;
}

std::vector<PeerMemory> ControlSession::close() {
  work_ = nullptr;
  std::vector<PeerMemory> pages = destroy_objects();
  if (std::exchange(is_open_, false)) {
    (void)device_.destroy_cq(cq_);
    (void)device_.destroy_pd(pd_);
  }
  return pages;
}

const std::map<std::string_view, ControlSession::Operation>& ControlSession::operations() {
  static const std::map<std::string_view, Operation> kOperations{
      {"hello", &ControlSession::hello},
      {"create_memory", &ControlSession::create_memory},
      {"fill_memory", &ControlSession::fill_memory},
      {"check_memory", &ControlSession::check_memory},
      {"read_memory", &ControlSession::read_memory},
      {"write_memory", &ControlSession::write_memory},
      {"create_pd", &ControlSession::create_pd},
      {"destroy_pd", &ControlSession::destroy_pd},
      {"create_region", &ControlSession::create_region},
      {"destroy_region", &ControlSession::destroy_region},
      {"create_window", &ControlSession::create_window},
      {"window_status", &ControlSession::window_status},
      {"destroy_window", &ControlSession::destroy_window},
      {"create_cq", &ControlSession::create_cq},
      {"arm_cq", &ControlSession::arm_cq},
      {"destroy_cq", &ControlSession::destroy_cq},
      {"create_srq", &ControlSession::create_srq},
      {"arm_srq", &ControlSession::arm_srq},
      {"destroy_srq", &ControlSession::destroy_srq},
      {"create_qp", &ControlSession::create_qp},
      {"modify_qp", &ControlSession::modify_qp},
      {"connect_qp", &ControlSession::connect_qp},
      {"accept_qp", &ControlSession::accept_qp},
      {"reject_next", &ControlSession::reject_next},
      {"cm_listen", &ControlSession::cm_listen},
      {"cm_accept", &ControlSession::cm_accept},
      {"cm_reject", &ControlSession::cm_reject},
      {"cm_delay", &ControlSession::cm_delay},
      {"cm_connect", &ControlSession::cm_connect},
      {"cm_disconnect", &ControlSession::cm_disconnect},
      {"cm_events", &ControlSession::cm_events},
      {"qp_status", &ControlSession::qp_status},
      {"destroy_qp", &ControlSession::destroy_qp},
      {"post_receive", &ControlSession::post_receive},
      {"post_send", &ControlSession::post_send},
      {"poll", &ControlSession::poll_completions},
      {"poll_events", &ControlSession::poll_events},
      {"destroy_all", &ControlSession::destroy_all},
      {"sink", &ControlSession::sink},
      {"sink_status", &ControlSession::sink_status},
      {"counters", &ControlSession::counters},
  };
  return kOperations;
}

ControlSession::Answer ControlSession::finished(const Answer& result) {
  Answer answer = std::move(*answer_);
  answer_.reset();
  answer["ok"] = true;
  if (!result.is_null()) answer.update(result);
  return answer;
}

std::optional<nlohmann::ordered_json> ControlSession::handle(const Json& request, Time now) {
  answer_ = std::make_unique<Answer>(Answer::object());
  try {
    if (!request.is_object()) throw Refusal("a request is one JSON object on a line");
    if (const auto id = request.find("id"); id != request.end()) {
      const bool is_long = id->is_string() && id->get_ref<const std::string&>().size() > kLongestId;
      if (id->is_structured() || is_long) {
        throw Refusal(fmt::format("\"id\" is {}, needs a number, a text of at most {} bytes, true, false or null",
                                  json_input::shown_value(*id), kLongestId));
      }
      (*answer_)["id"] = *id;
    }
    const std::string op = text(request, "op");
    const auto found = operations().find(op);
    if (found == operations().end()) {
      throw Refusal(fmt::format("there is no operation \"{}\"", json_input::shown_text(op)));
    }
    if (!greeted_ && op != "hello") throw Refusal("say hello first");
    const Answer result = (this->*found->second)(request, now);
    if (work_ != nullptr) return std::nullopt;
    return finished(result);
  } catch (const std::exception& refusal) {
    Answer answer = std::move(*answer_);
    answer["ok"] = false;
    answer["error"] = refusal.what();
    return answer;
  }
}

std::optional<nlohmann::ordered_json> ControlSession::work() {
  const std::optional<Answer> result = work_();
  if (!result) return std::nullopt;
  work_ = nullptr;
  return finished(*result);
}

ControlSession::Greeting ControlSession::judge(const Json& hello, const Terms& terms, std::string& why) {
  try {
    const int version = number<int>(hello, "version", 0, 1'000'000);
    if (version < kOldestVersion || version > kVersion) {
      why = fmt::format("version {} is not spoken here, {} to {} are; use the same roce-gen on both sides", version,
                        kOldestVersion, kVersion);
      return Greeting::wrong;
    }
    if (!terms.token.empty() && (!hello.contains("token") || !is_same_secret(text(hello, "token"), terms.token))) {
      why = "the token is wrong; give --token-file the file that the peer was started with";
      return Greeting::wrong_token;
    }
    if (const auto shard = hello.find("shard"); shard != hello.end() && *shard != kAnyShard) {
      (void)number<std::uint32_t>(hello, "shard", 0, terms.shards - 1);
    }
  } catch (const Refusal& refusal) {
    why = refusal.what();
    return Greeting::wrong;
  }
  return Greeting::right;
}

ControlSession::Answer ControlSession::hello(const Json& request, Time) {
  std::string why;
  greeting_ = judge(request, terms_, why);
  if (greeting_ != Greeting::right) throw Refusal(why);
  greeting_ = Greeting::wrong;
  open_device();
  greeting_ = Greeting::right;
  greeted_ = true;
  const int version = number<int>(request, "version", 0, kVersion);
  Answer answer{{"version", version},
                {"gid", to_string(endpoint_.gid())},
                {"max_path_mtu", endpoint_.max_path_mtu()},
                {"shard", terms_.shard},
                {"shards", terms_.shards}};
  if (version > 1) {
    answer["features"] = {
        "rc",         "uc",    "ud",       "atomics", "atomic_write", "flush",      "windows_1",     "windows_2",
        "invalidate", "sinks", "counters", "srq",     "cq_events",    "congestion", "service_level", "memory_digest"};
    if (acceptor_) {
      answer["features"].push_back("connections");
      for (const char* const feature : {"cm", "cm_delay", "cm_uc"}) answer["features"].push_back(feature);
    }
    if (device_.config().profile.send_cnps) answer["features"].push_back("cnp");
    if (endpoint_.link().kind() == link::LinkKind::ethernet) {
      answer["features"].push_back("pfc");
      answer["features"].push_back("pause");
      answer["speed"] = device_.config().line_rate_bps;
    }
  }
  return answer;
}

ControlSession::Answer ControlSession::destroy_all(const Json& request, Time) {
  auto pages = std::make_shared<std::vector<PeerMemory>>();
  if (flag(request, "keep_memory")) {
    destroy_users_of_memory();
  } else {
    *pages = destroy_objects();
  }
  std::array<transport::Completion, 64> forgotten{};
  while (device_.poll_cq(cq_, forgotten) != 0) {
  }
  completions_.clear();
  events_.clear();
  lost_completions_ = lost_events_ = 0;
  work_ = [pages]() -> std::optional<Answer> {
    if (pages->empty()) return Answer{};
    if (pages->back().give_back(kGivenBack)) pages->pop_back();
    return std::nullopt;
  };
  return {};
}

bool ControlSession::take_event(const transport::Event& event) {
  const bool is_ours = qps_.contains(event.qpn) ||
                       std::ranges::any_of(cqs_, [&](const auto& each) { return each.second == event.cq; }) ||
                       std::ranges::any_of(srqs_, [&](const auto& each) { return each.second == event.srq; });
  if (!is_ours) return false;
  if (events_.size() < kMaxEvents) {
    events_.push_back(event);
  } else {
    ++lost_events_;
  }
  return true;
}

}  // namespace roce::live
