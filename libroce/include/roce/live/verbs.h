// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "roce/live/endpoint.h"
#include "roce/live/script.h"
#include "roce/transport/device.h"

// The objects of a device as a script uses them: destroyed with their owner; an error of a verb is a ScriptFailure.
namespace roce::live {

/// Returns the result of a verb. Throws: ScriptFailure `cannot WHAT: …` if the verb failed.
template <typename T>
T granted(transport::VerbResult<T> result, std::string_view what) {
  if (!result) throw ScriptFailure("cannot " + std::string{what} + ": " + to_string(result.error()));
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

/// A protection domain.
class Domain {
 public:
  explicit Domain(transport::Device& device)
      : device_(device), pd_(granted(device.create_pd(), "make a protection domain")) {}
  ~Domain() { (void)device_.destroy_pd(pd_); }
  Domain(const Domain&) = delete;
  Domain& operator=(const Domain&) = delete;

  [[nodiscard]] transport::Device& device() const { return device_; }
  [[nodiscard]] transport::Pd pd() const { return pd_; }

 private:
  transport::Device& device_;
  transport::Pd pd_;
};

/// Registered memory, all zeros at first.
class Memory {
 public:
  Memory(const Domain& domain, std::size_t bytes, transport::Access access = transport::Access::local_write,
         bool invalidatable = false);
  ~Memory() { (void)device_.deregister_memory(mr_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  [[nodiscard]] std::span<std::byte> bytes() { return bytes_; }
  [[nodiscard]] std::span<std::byte> bytes(std::size_t offset, std::size_t size) {
    return std::span{bytes_}.subspan(offset, size);
  }
  /// Returns the address of its first byte in the region's address space, with the keys.
  [[nodiscard]] const transport::MrInfo& info() const { return info_; }
  [[nodiscard]] transport::Sge sge(std::size_t offset, std::size_t size) const {
    return {info_.address + offset, static_cast<std::uint32_t>(size), info_.l_key};
  }

 private:
  transport::Device& device_;
  std::vector<std::byte> bytes_;
  transport::Mr mr_{};
  transport::MrInfo info_{};
};

/// A QP with its completion queue. It has to be destroyed before its memory and its domain.
class QueuePair {
 public:
  struct Options {
    transport::QpType type = transport::QpType::rc;
    std::uint32_t max_send = 128;
    std::uint32_t max_receive = 512;
  };

  QueuePair(Endpoint& endpoint, const Domain& domain, const Options& options);
  ~QueuePair();
  QueuePair(const QueuePair&) = delete;
  QueuePair& operator=(const QueuePair&) = delete;

  [[nodiscard]] Qpn qpn() const { return qpn_; }
  [[nodiscard]] transport::Counters counters() const;
  [[nodiscard]] transport::QpAttributes attributes() const;
  void modify(const transport::QpChange& change, Time now, std::string_view what);
  void post_send(const transport::SendRequest& request);
  /// Posts a receive; `wr_id` has to be below 2^63, as that of a send request.
  void post_receive(std::uint64_t wr_id, const transport::Sge& sge);

  /// Takes new completions into `sent_` and `received_`.
  void poll();
  /// Removes and returns the oldest completion of a send request, or of a receive; there has to be one. Throws:
  /// ScriptFailure if it is not a success.
  transport::Completion take_sent() { return take(sent_, "send request"); }
  transport::Completion take_received() { return take(received_, "receive"); }
  /// Removes and returns that completion whatever its status.
  transport::Completion pop_sent() { return pop(sent_); }
  transport::Completion pop_received() { return pop(received_); }
  [[nodiscard]] bool has_sent() {
    poll();
    return !sent_.empty();
  }
  [[nodiscard]] bool has_received() {
    poll();
    return !received_.empty();
  }

 private:
  static transport::Completion pop(std::deque<transport::Completion>& from);
  static transport::Completion take(std::deque<transport::Completion>& from, std::string_view what);

  transport::Device& device_;
  transport::Cq cq_{};
  Qpn qpn_{};
  std::deque<transport::Completion> sent_;
  std::deque<transport::Completion> received_;
};

}  // namespace roce::live
