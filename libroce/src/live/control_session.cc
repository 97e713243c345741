// SPDX-License-Identifier: BSD-2-Clause
#include "roce/live/control_session.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "live/carried_out.h"
#include "roce/json_input/json_input.h"
#include "roce/live/control_request.h"
#include "roce/live/token_guard.h"

namespace roce::live {

namespace {

constexpr std::size_t kLongestId = 256;
constexpr std::uint32_t kCqSize = 1 << 18;

}  // namespace

ControlSession::ControlSession(Endpoint& endpoint, RdmaCm* cm, Terms terms)
    : endpoint_(endpoint), device_(endpoint_.device()), terms_(std::move(terms)), sinks_(device_) {
  if (cm != nullptr) acceptor_.emplace(*cm);
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

std::vector<PeerMemory> ControlSession::close() {
  work_ = nullptr;
  for (const auto& [qpn, type] : qps_) {
    if (acceptor_) acceptor_->forget(qpn);
    (void)device_.destroy_qp(qpn);
  }
  qps_.clear();
  for (const auto& [qpn, ah] : ahs_) (void)device_.destroy_ah(ah);
  ahs_.clear();
  sinks_.clear();
  std::vector<PeerMemory> pages;
  for (const auto& [id, memory] : memories_) {
    (void)device_.deregister_memory(memory->mr);
    pages.push_back(std::move(memory->pages));
  }
  memories_.clear();
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
      {"create_qp", &ControlSession::create_qp},
      {"connect_qp", &ControlSession::connect_qp},
      {"accept_qp", &ControlSession::accept_qp},
      {"reject_next", &ControlSession::reject_next},
      {"qp_status", &ControlSession::qp_status},
      {"destroy_qp", &ControlSession::destroy_qp},
      {"post_receive", &ControlSession::post_receive},
      {"post_send", &ControlSession::post_send},
      {"poll", &ControlSession::poll_completions},
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
    if (version != kVersion) {
      why = fmt::format("version {} is not spoken here, {} is; use the same roce-gen on both sides", version, kVersion);
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
  return {{"version", kVersion},
          {"gid", to_string(endpoint_.gid())},
          {"max_path_mtu", endpoint_.max_path_mtu()},
          {"shard", terms_.shard},
          {"shards", terms_.shards}};
}

}  // namespace roce::live
