// SPDX-License-Identifier: BSD-2-Clause
#include "conform/agent/agent_session.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "conform/agent/agent_names.h"
#include "conform/agent/verbs_refusal.h"
#include "roce/live/token_guard.h"

namespace roce::conform {

namespace {

using live::number;
using live::Refusal;
using live::text;

constexpr std::uint32_t kFirstVersion = 1;
constexpr std::uint32_t kLastVersion = 2;
constexpr std::size_t kLongestId = 256;
constexpr std::size_t kMaxCompletions = 65536;
constexpr std::size_t kMaxEvents = 4096;
constexpr int kCqSize = 65536;
/// The most objects of a connection, its queue pairs not counted.
constexpr std::size_t kMaxObjects = 16384;

}  // namespace

const std::map<std::string_view, AgentSession::Operation>& AgentSession::operations() {
  static const std::map<std::string_view, Operation> kOperations{
      {"hello", &AgentSession::hello},
      {"create_memory", &AgentSession::create_memory},
      {"fill_memory", &AgentSession::fill_memory},
      {"check_memory", &AgentSession::check_memory},
      {"read_memory", &AgentSession::read_memory},
      {"write_memory", &AgentSession::write_memory},
      {"create_pd", &AgentSession::create_pd},
      {"destroy_pd", &AgentSession::destroy_pd},
      {"create_region", &AgentSession::create_region},
      {"destroy_region", &AgentSession::destroy_region},
      {"create_window", &AgentSession::create_window},
      {"window_status", &AgentSession::window_status},
      {"destroy_window", &AgentSession::destroy_window},
      {"create_cq", &AgentSession::create_cq},
      {"arm_cq", &AgentSession::arm_cq},
      {"destroy_cq", &AgentSession::destroy_cq},
      {"create_srq", &AgentSession::create_srq},
      {"arm_srq", &AgentSession::arm_srq},
      {"destroy_srq", &AgentSession::destroy_srq},
      {"create_qp", &AgentSession::create_qp},
      {"connect_qp", &AgentSession::connect_qp},
      {"modify_qp", &AgentSession::modify_qp},
      {"qp_status", &AgentSession::qp_status},
      {"destroy_qp", &AgentSession::destroy_qp},
      {"post_receive", &AgentSession::post_receive},
      {"post_send", &AgentSession::post_send},
      {"poll", &AgentSession::poll},
      {"poll_events", &AgentSession::poll_events},
      {"counters", &AgentSession::counters},
      {"destroy_all", &AgentSession::destroy_all},
      {"sink", &AgentSession::refuse_sink},
      {"sink_status", &AgentSession::refuse_sink},
      {"accept_qp", &AgentSession::refuse_connection},
      {"reject_next", &AgentSession::refuse_connection},
      {"cm_listen", &AgentSession::cm_listen},
      {"cm_accept", &AgentSession::cm_accept},
      {"cm_reject", &AgentSession::cm_reject},
      {"cm_delay", &AgentSession::cm_delay},
      {"cm_connect", &AgentSession::cm_connect},
      {"cm_disconnect", &AgentSession::cm_disconnect},
      {"cm_events", &AgentSession::cm_events},
  };
  return kOperations;
}

AgentSession::Answer AgentSession::finished(const Answer& result) {
  Answer answer = std::move(*answer_);
  answer_.reset();
  answer["ok"] = true;
  if (!result.is_null()) answer.update(result);
  return answer;
}

std::optional<AgentSession::Answer> AgentSession::handle(const Json& request) {
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
    if (greeting_ != Greeting::right && op != "hello") throw Refusal("say hello first");
    if (!objects_.cq && op != "hello" && op != "destroy_all") {
      throw Refusal("the connection has lost its completion queue; use destroy_all, or connect again");
    }
    take_completions();
    const Answer result = (this->*found->second)(request);
    if (work_ != nullptr) return std::nullopt;
    return finished(result);
  } catch (const std::exception& refusal) {
    Answer answer = std::move(*answer_);
    answer["ok"] = false;
    answer["error"] = refusal.what();
    return answer;
  }
}

std::optional<AgentSession::Answer> AgentSession::work() {
  const std::optional<Answer> result = work_();
  if (!result) return std::nullopt;
  work_ = nullptr;
  return finished(*result);
}

AgentSession::Greeting AgentSession::judge(const Json& hello, const std::string& token, std::string& why) {
  try {
    const auto version = number<std::uint32_t>(hello, "version", 0, 1'000'000);
    if (version < kFirstVersion || version > kLastVersion) {
      why = fmt::format("version {} is not spoken here, {} to {} are", version, kFirstVersion, kLastVersion);
      return Greeting::wrong;
    }
    if (!token.empty() && (!hello.contains("token") || !live::is_same_secret(text(hello, "token"), token))) {
      why = "the token is wrong; give the secret of the file that roce-agent was started with";
      return Greeting::wrong_token;
    }
    if (const auto shard = hello.find("shard"); shard != hello.end() && *shard != "any") {
      (void)number<std::uint32_t>(hello, "shard", 0, 0);
    }
  } catch (const Refusal& refusal) {
    why = refusal.what();
    return Greeting::wrong;
  }
  return Greeting::right;
}

void AgentSession::open() {
  objects_.context = device_.open_again();
  if (!objects_.context) refuse("hello", "ibv_open_device", errno);
  const int events = objects_.context->async_fd;
  (void)::fcntl(events, F_SETFL, ::fcntl(events, F_GETFL) | O_NONBLOCK);
  objects_.pd.reset(ibv_alloc_pd(objects_.context.get()));
  if (!objects_.pd) refuse("hello", "ibv_alloc_pd", errno);
  objects_.wakes.reset(ibv_create_comp_channel(objects_.context.get()));
  if (!objects_.wakes) refuse("hello", "ibv_create_comp_channel", errno);
  (void)::fcntl(objects_.wakes->fd, F_SETFL, ::fcntl(objects_.wakes->fd, F_GETFL) | O_NONBLOCK);
  make_cq("hello");
}

void AgentSession::make_cq(std::string_view operation) {
  const int size = std::min(kCqSize, device_.attributes().max_cqe);
  objects_.cq.reset(ibv_create_cq(objects_.context.get(), size, nullptr, nullptr, 0));
  if (!objects_.cq) refuse(operation, "ibv_create_cq", errno);
  is_cq_lost_ = false;
}

/// Destroys what requests have created.
void AgentSession::clear(bool keeps_memory) {
  work_ = nullptr;
  // Its connections take their queue pairs to ERR.
  if (cm_ != nullptr) cm_->close();
  bindings_.clear();
  limits_.qps -= static_cast<std::uint32_t>(objects_.qps.size());
  // A window keeps the queue pair that bound it: Soft-RoCE waits for the window's end before it destroys that.
  objects_.windows.clear();
  objects_.qps.clear();
  objects_.srqs.clear();
  objects_.regions.clear();
  if (!keeps_memory) objects_.memories.clear();
  take_wakes();
  objects_.cqs.clear();
  objects_.pds.clear();
}

AgentSession::Answer AgentSession::hello(const Json& request) {
  std::string why;
  const Greeting found = judge(request, limits_.token, why);
  greeting_ = found == Greeting::right ? Greeting::wrong : found;
  if (found != Greeting::right) throw Refusal(why);
  if (!objects_.context) open();
  greeting_ = Greeting::right;
  Answer answer{{"version", request.at("version")},
                {"gid", to_string(device_.gid())},
                {"max_path_mtu", device_.max_path_mtu()},
                {"shard", 0},
                {"shards", 1}};
  if (request.at("version") == kLastVersion) answer["features"] = device_.features();
  return answer;
}

AgentSession::Answer AgentSession::destroy_all(const Json& request) {
  clear(live::flag(request, "keep_memory"));
  take_completions();
  take_events();
  completions_.clear();
  events_.clear();
  lost_completions_ = lost_events_ = 0;
  if (is_cq_lost_) {
    objects_.cq.reset();
    make_cq("destroy_all");
  }
  return {};
}

ObjectNumber AgentSession::next_number() {
  const std::size_t objects = objects_.pds.size() + objects_.cqs.size() + objects_.memories.size() +
                              objects_.regions.size() + objects_.windows.size() + objects_.srqs.size();
  if (objects >= kMaxObjects) throw Refusal(fmt::format("a connection has at most {} objects", kMaxObjects));
  return ++last_number_;
}

void AgentSession::need(std::string_view feature) const {
  if (device_.has(feature)) return;
  throw Refusal(
      fmt::format("this device does not have the feature \"{}\"; the answer to hello lists those it has", feature));
}

void AgentSession::take_completions() {
  if (!objects_.cq) return;
  std::array<ibv_wc, 64> found{};
  int count = 0;
  do {
    count = ibv_poll_cq(objects_.cq.get(), static_cast<int>(found.size()), found.data());
    for (int i = 0; i < count; ++i) {
      settle_binding(found[static_cast<std::size_t>(i)]);
      if (completions_.size() < kMaxCompletions) {
        completions_.push_back(found[static_cast<std::size_t>(i)]);
      } else {
        ++lost_completions_;
      }
    }
  } while (count == static_cast<int>(found.size()));
}

AgentSession::Event AgentSession::event_of(const ibv_async_event& event, std::string_view text) {
  Event taken{.text = text, .qpn = std::nullopt, .cq = std::nullopt, .srq = std::nullopt};
  if (event.event_type == IBV_EVENT_CQ_ERR) {
    is_cq_lost_ = is_cq_lost_ || event.element.cq == objects_.cq.get();
    for (const auto& [id, cq] : objects_.cqs) {
      if (cq.get() == event.element.cq) taken.cq = id;
    }
  } else if (event.event_type == IBV_EVENT_SRQ_LIMIT_REACHED) {
    for (const auto& [id, srq] : objects_.srqs) {
      if (srq.get() == event.element.srq) taken.srq = id;
    }
  } else {
    taken.qpn = event.element.qp->qp_num;
  }
  return taken;
}

void AgentSession::take_events() {
  ibv_async_event event{};
  while (objects_.context && ibv_get_async_event(objects_.context.get(), &event) == 0) {
    if (const auto known = to_text(event.event_type)) keep_event(event_of(event, *known));
    if (event.event_type == IBV_EVENT_COMM_EST && cm_ != nullptr) cm_->note_data(event.element.qp->qp_num);
    // Destroying an object waits until its events are acknowledged.
    ibv_ack_async_event(&event);
  }
}

void AgentSession::take_wakes() {
  ibv_cq* woken = nullptr;
  void* context = nullptr;
  while (objects_.wakes && ibv_get_cq_event(objects_.wakes.get(), &woken, &context) == 0) {
    Event event{.text = "CQ ready", .qpn = std::nullopt, .cq = std::nullopt, .srq = std::nullopt};
    for (const auto& [id, cq] : objects_.cqs) {
      if (cq.get() == woken) event.cq = id;
    }
    keep_event(event);
    // Destroying a completion queue waits until its events are acknowledged.
    ibv_ack_cq_events(woken, 1);
  }
}

void AgentSession::keep_event(const Event& event) {
  if (events_.size() < kMaxEvents) {
    events_.push_back(event);
  } else {
    ++lost_events_;
  }
}

AgentSession::Answer AgentSession::poll_events(const Json& request) {
  const auto most = number<std::size_t>(request, "max", 1, kMaxEvents, 256);
  take_events();
  take_wakes();
  Answer list = Answer::array();
  for (; !events_.empty() && list.size() < most; events_.pop_front()) {
    Answer item{{"event", events_.front().text}};
    if (events_.front().qpn) item["qp"] = *events_.front().qpn;
    if (events_.front().cq) item["cq"] = *events_.front().cq;
    if (events_.front().srq) item["srq"] = *events_.front().srq;
    list.push_back(std::move(item));
  }
  return {{"events", std::move(list)}, {"lost", lost_events_}};
}

AgentSession::Answer AgentSession::counters(const Json& request) {
  if (request.contains("qp")) throw Refusal("verbs have no counters of one queue pair; leave \"qp\" out");
  Answer list = Answer::object();
  for (const auto& [name, value] : device_.counters()) list[name] = value;
  return {{"counters", std::move(list)}};
}

AgentSession::Answer AgentSession::refuse_sink(const Json&) {
  throw Refusal("roce-agent has no sinks; post receives, poll and check the memory instead");
}

AgentSession::Answer AgentSession::refuse_connection(const Json&) {
  throw Refusal("roce-agent does not take connections by itself; use connect_qp, or cm_listen and cm_accept");
}

}  // namespace roce::conform
