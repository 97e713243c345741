// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conform/agent/agent_cm.h"
#include "conform/agent/agent_objects.h"
#include "conform/agent/verbs_device.h"
#include "roce/live/control_request.h"

namespace roce::conform {

/// The memory and the queue pairs that all connections of an agent share.
struct AgentLimits {
  live::MemoryBudget memory;
  std::uint32_t max_qps = 1024;
  std::uint32_t qps = 0;  ///< that there are now
  std::string token{};    ///< that a hello needs; empty: none
};

/// One connection of the control protocol (docs/control.md), with the objects that it created on a real device. It does
/// no I/O of its own. `device` and `limits` have to outlive it.
class AgentSession {
 public:
  using Json = nlohmann::json;
  using Answer = nlohmann::ordered_json;

  /// The judgement of a hello.
  enum class Greeting : std::uint8_t { right, wrong, wrong_token };

  AgentSession(const VerbsDevice& device, AgentLimits& limits) : device_(device), limits_(limits) {}
  AgentSession(const AgentSession&) = delete;
  AgentSession& operator=(const AgentSession&) = delete;
  ~AgentSession() { clear(); }

  /// Carries out a request and returns its answer; nullopt if `work` has to do the rest.
  [[nodiscard]] std::optional<Answer> handle(const Json& request);
  /// True if a request is not finished.
  [[nodiscard]] bool is_working() const { return work_ != nullptr; }
  /// Does a part of the present request; its answer once that is finished.
  [[nodiscard]] std::optional<Answer> work();
  /// Returns the judgement of the hello; nullopt before it.
  [[nodiscard]] std::optional<Greeting> greeting() const { return greeting_; }
  /// Returns a descriptor that is readable when the device has an event for `take_events`; -1 before hello.
  [[nodiscard]] int event_fd() const { return objects_.context ? objects_.context->async_fd : -1; }
  void take_events();
  /// Returns a descriptor that is readable when the communication manager has an event for `take_cm_events`; -1 if the
  /// client has not used it.
  [[nodiscard]] int cm_event_fd() const { return cm_ != nullptr ? cm_->fd() : -1; }
  void take_cm_events() {
    if (cm_ != nullptr) cm_->take_events();
  }

 private:
  using Operation = Answer (AgentSession::*)(const Json&);
  /// A part of the work of a request; its result once that is finished.
  using Work = std::function<std::optional<Answer>()>;
  struct Event {
    std::string_view text;
    std::optional<std::uint32_t> qpn;
    std::optional<ObjectNumber> cq;
    std::optional<ObjectNumber> srq;
  };

  [[nodiscard]] static const std::map<std::string_view, Operation>& operations();
  [[nodiscard]] Answer finished(const Answer& result);
  [[nodiscard]] static Greeting judge(const Json& hello, const std::string& token, std::string& why);
  void open();
  void make_cq(std::string_view operation);
  void clear(bool keeps_memory = false);
  void take_completions();
  /// Returns an event with the object that it is about.
  [[nodiscard]] Event event_of(const ibv_async_event& event, std::string_view text);
  void keep_event(const Event& event);
  /// Takes the events of armed completion queues.
  void take_wakes();
  [[nodiscard]] ObjectNumber next_number();
  void need(std::string_view feature) const;

  /// Returns the communication manager, which the first operation on it makes.
  [[nodiscard]] AgentCm& cm();
  [[nodiscard]] AgentCm::End cm_end_of(const Json& request);

  // Members of requests that name objects.
  [[nodiscard]] ibv_pd& pd_of(const Json& request) const;
  [[nodiscard]] ibv_cq& cq_of(const Json& request, const char* name) const;
  [[nodiscard]] AgentMemory& memory_of(const Json& request);
  [[nodiscard]] AgentQp& qp_of(const Json& request);
  [[nodiscard]] AgentWindow& window_of(const Json& request);
  [[nodiscard]] ibv_srq& srq_of(const Json& request) const;
  [[nodiscard]] std::vector<ibv_sge> pieces_of(const Json& request);
  /// Registers bytes; `operation` begins the message of a refusal.
  [[nodiscard]] static Mr register_bytes(ibv_pd& pd, std::span<std::byte> bytes, unsigned access,
                                         std::string_view operation);
  [[nodiscard]] ibv_ah_attr address_of(const Gid& gid) const;
  void bind_window(AgentQp& qp, ibv_send_wr& request, const Json& members);
  /// Gives a window its old key again if this is the completion of a binding that failed.
  void settle_binding(const ibv_wc& completion);

  // The operations.
  Answer hello(const Json& request);
  Answer create_memory(const Json& request);
  Answer fill_memory(const Json& request);
  Answer check_memory(const Json& request);
  Answer read_memory(const Json& request);
  Answer write_memory(const Json& request);
  Answer create_pd(const Json& request);
  Answer destroy_pd(const Json& request);
  Answer create_region(const Json& request);
  Answer destroy_region(const Json& request);
  Answer create_window(const Json& request);
  Answer window_status(const Json& request);
  Answer destroy_window(const Json& request);
  Answer create_cq(const Json& request);
  Answer arm_cq(const Json& request);
  Answer destroy_cq(const Json& request);
  Answer create_srq(const Json& request);
  Answer arm_srq(const Json& request);
  Answer destroy_srq(const Json& request);
  Answer create_qp(const Json& request);
  Answer connect_qp(const Json& request);
  Answer modify_qp(const Json& request);
  Answer qp_status(const Json& request);
  Answer destroy_qp(const Json& request);
  Answer post_receive(const Json& request);
  Answer post_send(const Json& request);
  Answer poll(const Json& request);
  Answer poll_events(const Json& request);
  Answer counters(const Json& request);
  Answer destroy_all(const Json& request);
  Answer refuse_sink(const Json& request);
  Answer refuse_connection(const Json& request);
  Answer cm_listen(const Json& request);
  Answer cm_accept(const Json& request);
  Answer cm_reject(const Json& request);
  Answer cm_delay(const Json& request);
  Answer cm_connect(const Json& request);
  Answer cm_disconnect(const Json& request);
  Answer cm_events(const Json& request);

  const VerbsDevice& device_;
  AgentLimits& limits_;
  AgentObjects objects_;
  std::unique_ptr<AgentCm> cm_;  // its connections are of queue pairs of `objects_`
  std::optional<Greeting> greeting_;
  std::unique_ptr<Answer> answer_;  // of the request that is carried out, with its id
  Work work_;
  ObjectNumber last_number_ = 0;
  // Bindings whose completions were not seen yet; those that do not complete are forgotten in time.
  struct Binding {
    std::uint32_t qpn = 0;
    std::uint64_t wr_id = 0;
    ObjectNumber window = 0;
    std::uint32_t old_key = 0;
  };
  std::deque<Binding> bindings_;
  bool is_cq_lost_ = false;         // the connection's own CQ has overflowed
  std::deque<ibv_wc> completions_;  // of the connection's own CQ
  std::uint64_t lost_completions_ = 0;
  std::deque<Event> events_;
  std::uint64_t lost_events_ = 0;
};

}  // namespace roce::conform
