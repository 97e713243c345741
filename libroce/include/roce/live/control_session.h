// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "roce/live/cm_acceptor.h"
#include "roce/live/cm_desk.h"
#include "roce/live/control_request.h"
#include "roce/live/control_sinks.h"
#include "roce/live/endpoint.h"
#include "roce/live/peer_memory.h"

namespace roce::live {

/// The objects that one client of the control protocol (docs/control.md) has made on a device, and the operations it
/// can ask for. The end of the session destroys all of them.
class ControlSession {
 public:
  static constexpr int kVersion = 2;
  /// The oldest version that a client may speak.
  static constexpr int kOldestVersion = 1;
  /// The value of "shard" in a `hello` that takes any shard, instead of a number.
  static constexpr const char* kAnyShard = "any";
  /// The default limit of the memory of all clients of a peer together, in bytes.
  static constexpr std::uint64_t kDefaultMemory = std::uint64_t{4} << 30;

  struct Terms {
    std::string token;  ///< secret that `hello` has to contain; empty: none
    std::uint32_t shard = 0;
    std::uint32_t shards = 1;
    std::shared_ptr<MemoryBudget> budget = std::make_shared<MemoryBudget>(kDefaultMemory);  ///< shared by all
  };
  /// The result of a `hello`.
  enum class Greeting : std::uint8_t { right, wrong, wrong_token };
  /// Checks a `hello` against these terms; `why` is set to what is wrong with it.
  [[nodiscard]] static Greeting judge(const nlohmann::json& hello, const Terms& terms, std::string& why);

  /// Creates nothing on the device before a right `hello`. `cm` is nullptr if there is no QP1.
  ControlSession(Endpoint& endpoint, RdmaCm* cm, Terms terms);
  ~ControlSession();
  ControlSession(const ControlSession&) = delete;
  ControlSession& operator=(const ControlSession&) = delete;

  /// Carries out a request and returns the answer. If that takes long, only begins and returns nothing: then `work` has
  /// to be called until it returns the answer, and no other request may be handled before.
  [[nodiscard]] std::optional<nlohmann::ordered_json> handle(const nlohmann::json& request, Time now);
  /// Works on a long request for a fraction of a millisecond; returns the answer once it is complete.
  [[nodiscard]] std::optional<nlohmann::ordered_json> work();
  [[nodiscard]] bool is_working() const { return work_ != nullptr; }
  /// Takes completions and compares a part of the data that sinks received; true if there is more to do.
  bool poll();
  /// Takes an event of the device. Returns false if it is about an object that another client made.
  bool take_event(const transport::Event& event);
  /// Returns the result of the last `hello`: after a wrong one the connection has to be closed. Empty before the first.
  [[nodiscard]] std::optional<Greeting> greeting() const { return greeting_; }
  /// Ends the session and returns its memory, which nothing
  /// refers to any more. The object can then only be destroyed.
  [[nodiscard]] std::vector<PeerMemory> close();

 private:
  using Json = nlohmann::json;
  using Answer = nlohmann::ordered_json;
  struct Memory {
    PeerMemory pages;
    std::span<std::byte> bytes;
    transport::Mr mr{};
    transport::MrInfo info{};
  };
  struct QueuePair {
    transport::QpType type{};
    transport::Pd pd{};
    bool reports_elsewhere = false;  // its receives complete on a CQ that the client made
    bool shares_receives = false;    // it has an SRQ
  };
  using Operation = Answer (ControlSession::*)(const Json&, Time);

  [[nodiscard]] Answer hello(const Json& request, Time now);
  [[nodiscard]] Answer create_memory(const Json& request, Time now);
  [[nodiscard]] Answer fill_memory(const Json& request, Time now);
  [[nodiscard]] Answer check_memory(const Json& request, Time now);
  [[nodiscard]] Answer read_memory(const Json& request, Time now);
  [[nodiscard]] Answer write_memory(const Json& request, Time now);
  [[nodiscard]] Answer create_pd(const Json& request, Time now);
  [[nodiscard]] Answer destroy_pd(const Json& request, Time now);
  [[nodiscard]] Answer create_region(const Json& request, Time now);
  [[nodiscard]] Answer destroy_region(const Json& request, Time now);
  [[nodiscard]] Answer create_window(const Json& request, Time now);
  [[nodiscard]] Answer window_status(const Json& request, Time now);
  [[nodiscard]] Answer destroy_window(const Json& request, Time now);
  [[nodiscard]] Answer create_cq(const Json& request, Time now);
  [[nodiscard]] Answer arm_cq(const Json& request, Time now);
  [[nodiscard]] Answer destroy_cq(const Json& request, Time now);
  [[nodiscard]] Answer create_srq(const Json& request, Time now);
  [[nodiscard]] Answer arm_srq(const Json& request, Time now);
  [[nodiscard]] Answer destroy_srq(const Json& request, Time now);
  [[nodiscard]] Answer create_qp(const Json& request, Time now);
  [[nodiscard]] Answer modify_qp(const Json& request, Time now);
  [[nodiscard]] Answer connect_qp(const Json& request, Time now);
  [[nodiscard]] Answer accept_qp(const Json& request, Time now);
  [[nodiscard]] Answer reject_next(const Json& request, Time now);
  [[nodiscard]] Answer cm_listen(const Json& request, Time now);
  [[nodiscard]] Answer cm_accept(const Json& request, Time now);
  [[nodiscard]] Answer cm_reject(const Json& request, Time now);
  [[nodiscard]] Answer cm_delay(const Json& request, Time now);
  [[nodiscard]] Answer cm_connect(const Json& request, Time now);
  [[nodiscard]] Answer cm_disconnect(const Json& request, Time now);
  [[nodiscard]] Answer cm_events(const Json& request, Time now);
  [[nodiscard]] Answer qp_status(const Json& request, Time now);
  [[nodiscard]] Answer destroy_qp(const Json& request, Time now);
  [[nodiscard]] Answer post_receive(const Json& request, Time now);
  [[nodiscard]] Answer post_send(const Json& request, Time now);
  [[nodiscard]] Answer poll_completions(const Json& request, Time now);
  [[nodiscard]] Answer poll_events(const Json& request, Time now);
  [[nodiscard]] Answer destroy_all(const Json& request, Time now);
  [[nodiscard]] Answer sink(const Json& request, Time now);
  [[nodiscard]] Answer sink_status(const Json& request, Time now);
  [[nodiscard]] Answer counters(const Json& request, Time now);

  [[nodiscard]] Memory& memory_of(const Json& request);
  [[nodiscard]] Qpn qp_of(const Json& request) const;
  [[nodiscard]] CmAcceptor& acceptor();
  [[nodiscard]] CmDesk& desk();
  /// Returns what surrounds the desk.
  [[nodiscard]] CmDesk::Hooks hooks_of(RdmaCm& cm);
  [[nodiscard]] CmEnd cm_end_of(const Json& request) const;
  /// Sends what an order of the desk led to. Throws: Refusal if it was refused.
  [[nodiscard]] Answer ordered(const CmDesk::Done<void>& done, const char* operation, Time now);
  /// Returns the rights that `access` of a request names; none without it.
  [[nodiscard]] static transport::Access rights_of(const Json& request);
  /// Returns the object with the number that the member `name` of a request has; without it `otherwise`.
  template <typename T>
  [[nodiscard]] static T object_of(const std::map<std::uint32_t, T>& objects, const Json& request, const char* name,
                                   std::optional<T> otherwise = std::nullopt);
  /// Destroys all that the client made, but for its memory.
  void destroy_users_of_memory();
  /// Destroys all that the client made, and returns its memory, which nothing refers to any more.
  [[nodiscard]] std::vector<PeerMemory> destroy_objects();
  [[nodiscard]] transport::Sge sge_of(const Json& request);
  /// Returns where the data of a request lies; nowhere if it has neither `memory` nor `pieces`.
  [[nodiscard]] std::vector<transport::Sge> pieces_of(const Json& request);
  [[nodiscard]] transport::MwBinding bind_of(const Json& request) const;
  [[nodiscard]] Answer report(std::span<const transport::Completion> completions) const;
  void take(const transport::Completion& completion);
  void open_device();
  [[nodiscard]] Answer finished(const Answer& result);

  static const std::map<std::string_view, Operation>& operations();

  Endpoint& endpoint_;
  transport::Device& device_;
  Terms terms_;
  bool greeted_ = false;
  std::optional<Greeting> greeting_;
  bool is_open_ = false;  // there are objects on the device
  transport::Pd pd_{};
  transport::Cq cq_{};
  std::uint32_t next_object_ = 1;  // numbers of everything but QPs
  std::map<std::uint32_t, std::unique_ptr<Memory>> memories_;
  std::map<std::uint32_t, transport::Pd> pds_;
  std::map<std::uint32_t, transport::Mr> regions_;
  std::map<std::uint32_t, transport::Mw> windows_;
  std::map<std::uint32_t, transport::Cq> cqs_;
  std::map<std::uint32_t, transport::Srq> srqs_;
  std::map<Qpn, QueuePair> qps_;
  RdmaCm* cm_;
  std::optional<CmAcceptor> acceptor_;
  std::optional<CmDesk> desk_;
  std::map<Qpn, transport::Ah> ahs_;
  ControlSinks sinks_;
  std::unique_ptr<Answer> answer_;                         // to the request under way, without its result
  std::function<std::optional<Answer>()> work_ = nullptr;  // does a part of it; its result once it is complete
  std::vector<transport::Completion> completions_;
  std::uint64_t lost_completions_ = 0;
  std::vector<transport::Event> events_;
  std::uint64_t lost_events_ = 0;
};

template <typename T>
T ControlSession::object_of(const std::map<std::uint32_t, T>& objects, const Json& request, const char* name,
                            std::optional<T> otherwise) {
  if (otherwise && !request.contains(name)) return *otherwise;
  const auto found = objects.find(number<std::uint32_t>(request, name, 0, UINT32_MAX));
  if (found == objects.end()) throw Refusal(fmt::format("\"{}\" was not made by this connection", name));
  return found->second;
}

}  // namespace roce::live
