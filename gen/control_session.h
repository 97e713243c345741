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

#include "gen/cm_acceptor.h"
#include "gen/control_sinks.h"
#include "gen/endpoint.h"
#include "gen/peer_memory.h"

namespace roce::gen {

/// What one client of the control protocol (docs/control.md) has made on a device, and the operations it can ask for.
/// All of it goes when the session does.
class ControlSession {
 public:
  static constexpr int kVersion = 1;
  /// What `hello` may ask for instead of a number.
  static constexpr const char* kAnyShard = "any";
  /// Bytes that all clients of a peer have together unless told otherwise.
  static constexpr std::uint64_t kDefaultMemory = std::uint64_t{4} << 30;

  struct Terms {
    std::string token;  ///< what `hello` has to bring; empty: nothing
    std::uint32_t shard = 0;
    std::uint32_t shards = 1;
    std::shared_ptr<MemoryBudget> budget = std::make_shared<MemoryBudget>(kDefaultMemory);  ///< of all clients
  };
  /// How a `hello` is.
  enum class Greeting : std::uint8_t { right, wrong, wrong_token };
  /// Judges a `hello` by these terms; `why` says what is wrong with it.
  [[nodiscard]] static Greeting judge(const nlohmann::json& hello, const Terms& terms, std::string& why);

  /// Takes nothing of the device before a right `hello`. `cm` is nullptr where there is no QP1.
  ControlSession(Endpoint& endpoint, RdmaCm* cm, Terms terms);
  ~ControlSession();
  ControlSession(const ControlSession&) = delete;
  ControlSession& operator=(const ControlSession&) = delete;

  /// Carries a request out and returns the answer; or begins it, if it takes long, and returns nothing: then `work` is
  /// to be called, and no other request handled, until that has the answer.
  [[nodiscard]] std::optional<nlohmann::ordered_json> handle(const nlohmann::json& request, Time now);
  /// Does a part of what takes long, a fraction of a millisecond. The answer, once it is there.
  [[nodiscard]] std::optional<nlohmann::ordered_json> work();
  [[nodiscard]] bool is_working() const { return work_ != nullptr; }
  /// Takes completions, and compares a part of what came into sinks; true if there is more to do.
  bool poll();
  /// How the last `hello` was: after one that was wrong the connection is to be closed. None before the first.
  [[nodiscard]] std::optional<Greeting> greeting() const { return greeting_; }
  /// Ends the session and hands its memory over, which nothing refers to any more. All that may follow is the end of
  /// the object.
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
  /// A part of memory, and what it is to be filled with or compared with.
  struct Patterned {
    std::span<std::byte> bytes;
    std::uint64_t seed = 0;
    std::uint64_t offset = 0;  // in the memory
  };
  using Operation = Answer (ControlSession::*)(const Json&, Time);

  [[nodiscard]] Answer hello(const Json& request, Time now);
  [[nodiscard]] Answer create_memory(const Json& request, Time now);
  [[nodiscard]] Answer fill_memory(const Json& request, Time now);
  [[nodiscard]] Answer check_memory(const Json& request, Time now);
  [[nodiscard]] Answer read_memory(const Json& request, Time now);
  [[nodiscard]] Answer write_memory(const Json& request, Time now);
  [[nodiscard]] Answer create_qp(const Json& request, Time now);
  [[nodiscard]] Answer connect_qp(const Json& request, Time now);
  [[nodiscard]] Answer accept_qp(const Json& request, Time now);
  [[nodiscard]] Answer reject_next(const Json& request, Time now);
  [[nodiscard]] Answer qp_status(const Json& request, Time now);
  [[nodiscard]] Answer destroy_qp(const Json& request, Time now);
  [[nodiscard]] Answer post_receive(const Json& request, Time now);
  [[nodiscard]] Answer post_send(const Json& request, Time now);
  [[nodiscard]] Answer poll_completions(const Json& request, Time now);
  [[nodiscard]] Answer sink(const Json& request, Time now);
  [[nodiscard]] Answer sink_status(const Json& request, Time now);
  [[nodiscard]] Answer counters(const Json& request, Time now);

  [[nodiscard]] Memory& memory_of(const Json& request);
  /// The part of a memory that `offset` and `length` of a request name.
  [[nodiscard]] static std::span<std::byte> range_of(const Memory& memory, const Json& request, std::uint64_t longest);
  [[nodiscard]] Qpn qp_of(const Json& request) const;
  [[nodiscard]] CmAcceptor& acceptor();
  [[nodiscard]] transport::Sge sge_of(const Json& request);
  void take(const transport::Completion& completion);
  void open_device();
  [[nodiscard]] Answer finished(const Answer& result);

  static const std::map<std::string_view, Operation>& operations();

  Endpoint& endpoint_;
  transport::Device& device_;
  Terms terms_;
  bool greeted_ = false;
  std::optional<Greeting> greeting_;
  bool is_open_ = false;  // it has something of the device
  transport::Pd pd_{};
  transport::Cq cq_{};
  std::uint32_t next_memory_ = 1;
  std::map<std::uint32_t, std::unique_ptr<Memory>> memories_;
  std::map<Qpn, transport::QpType> qps_;
  std::optional<CmAcceptor> acceptor_;
  std::map<Qpn, transport::Ah> ahs_;
  ControlSinks sinks_;
  std::unique_ptr<Answer> answer_;                         // of the request under way, without what comes of it
  std::function<std::optional<Answer>()> work_ = nullptr;  // a part of it; its result once it is done
  std::vector<transport::Completion> completions_;
  std::uint64_t lost_completions_ = 0;
};

}  // namespace roce::gen
