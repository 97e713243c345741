// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "gen/cm_acceptor.h"
#include "gen/endpoint.h"

namespace roce::gen {

/// What one client of the control protocol (docs/control.md) has made on a device, and the operations it can ask for.
/// All of it goes when the session does.
class ControlSession {
 public:
  static constexpr int kVersion = 1;
  /// What `hello` may ask for instead of a number.
  static constexpr const char* kAnyShard = "any";

  struct Terms {
    std::string token;  ///< what `hello` has to bring; empty: nothing
    std::uint32_t shard = 0;
    std::uint32_t shards = 1;
  };
  /// `cm` is nullptr where there is no QP1.
  ControlSession(Endpoint& endpoint, RdmaCm* cm, Terms terms);
  ~ControlSession();
  ControlSession(const ControlSession&) = delete;
  ControlSession& operator=(const ControlSession&) = delete;

  /// Carries a request out and returns the answer.
  [[nodiscard]] nlohmann::ordered_json handle(const nlohmann::json& request, Time now);
  /// Takes completions; true if there was one.
  bool poll();
  /// Whether `hello` was wrong: the connection is to be closed after the answer.
  [[nodiscard]] bool refused() const { return refused_; }

 private:
  using Json = nlohmann::json;
  using Answer = nlohmann::ordered_json;
  struct Memory {
    std::vector<std::byte> bytes;
    transport::Mr mr{};
    transport::MrInfo info{};
  };
  /// Receives that are posted again by themselves, their data compared.
  struct Sink {
    std::uint32_t memory = 0;
    std::uint64_t offset = 0;
    std::uint32_t slot_bytes = 0;
    std::uint32_t index = 0;
    std::uint64_t seed = 0;
    std::uint64_t received = 0;
    std::uint64_t wrong = 0;
    bool datagrams = false;
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
  [[nodiscard]] std::span<std::byte> range_of(const Json& request, std::uint64_t longest);
  [[nodiscard]] Qpn qp_of(const Json& request) const;
  [[nodiscard]] CmAcceptor& acceptor();
  [[nodiscard]] transport::Sge sge_of(const Json& request);
  void post_sink(Qpn qpn, const Sink& sink, std::uint64_t slot);
  void take(const transport::Completion& completion);

  static const std::map<std::string_view, Operation>& operations();

  Endpoint& endpoint_;
  transport::Device& device_;
  Terms terms_;
  bool greeted_ = false;
  bool refused_ = false;
  transport::Pd pd_{};
  transport::Cq cq_{};
  std::uint64_t memory_bytes_ = 0;
  std::uint32_t next_memory_ = 1;
  std::map<std::uint32_t, std::unique_ptr<Memory>> memories_;
  std::map<Qpn, transport::QpType> qps_;
  std::optional<CmAcceptor> acceptor_;
  std::map<Qpn, transport::Ah> ahs_;
  std::map<Qpn, Sink> sinks_;
  std::vector<transport::Completion> completions_;
  std::uint64_t lost_completions_ = 0;
};

}  // namespace roce::gen
