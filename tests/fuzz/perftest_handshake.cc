// SPDX-License-Identifier: BSD-2-Clause
#include "perftest/handshake.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "input.h"
#include "roce/live/script.h"

// The input is what the other end of a perftest program sends, in pieces, with time between them. Required: the
// handshake comes to an end, a failure is a sentence that JSON can carry, and the values understood are within bounds.

namespace {

using namespace roce;
using namespace roce::live;

void check(bool holds) {
  if (!holds) std::abort();
}

/// A channel whose other end is the input.
class Channel final : public PerftestChannel {
 public:
  explicit Channel(bool is_binary) : is_binary_(is_binary) {}

  void send(std::string_view message) override { check(!message.empty() && message.size() <= 256); }
  [[nodiscard]] bool has(std::size_t size) override {
    return is_binary_ ? !messages_.empty() : received_.size() >= size;
  }
  [[nodiscard]] bool is_closed() override { return closed_; }
  [[nodiscard]] std::string take(std::size_t size) override {
    if (is_binary_) {
      if (messages_.empty()) return {};
      std::string message = messages_.front();
      messages_.pop_front();
      return message;
    }
    std::string message = received_.substr(0, size);
    received_.erase(0, message.size());
    return message;
  }
  [[nodiscard]] bool has_binary_keys() const override { return is_binary_; }

  void come_in(std::string_view piece) {
    received_ += piece;
    messages_.emplace_back(piece);
  }
  void close() { closed_ = true; }

 private:
  bool is_binary_;
  bool closed_ = false;
  std::string received_;
  std::deque<std::string> messages_;
};

struct Heard {
  PerftestAgreement agreed;
  PerftestKeys keys;
};

Task<> speak(PerftestChannel& channel, PerftestRole role, Heard& heard) {
  heard.agreed = co_await exchange_agreement(channel, role, 1024);
  heard.keys = co_await exchange_keys(channel, role, {});
  (void)co_await exchange_figures(channel, role, {});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 4096) return 0;
  test::Input input{Bytes{reinterpret_cast<const std::byte*>(data), size}};
  const std::uint8_t shape = input.byte();
  Channel channel{(shape & 1U) != 0};
  Heard heard;
  Script script{speak(channel, (shape & 2U) != 0 ? PerftestRole::client : PerftestRole::server, heard)};
  Time now{std::chrono::seconds{1000}};
  script.step(now);
  while (!input.empty() && !script.is_over()) {
    // A piece with its length in front; length 0 means a second without a piece.
    const std::uint8_t length = input.byte();
    if (length == 0) now += std::chrono::seconds{1};
    const Bytes piece = input.take(length);
    if (!piece.empty()) channel.come_in({reinterpret_cast<const char*>(piece.data()), piece.size()});
    for (int i = 0; i < 16 && script.step(now); ++i) {
    }
  }
  channel.close();
  for (int i = 0; i < 16 && !script.is_over(); ++i) script.step(now);
  check(script.is_over());
  check(script.error().size() < 1000);
  (void)nlohmann::json(script.error()).dump();
  const PerftestAgreement& agreed = heard.agreed;
  check(agreed.cycle_buffer <= 1U << 20U && agreed.cache_line <= 4096 && agreed.cache_line > 0);
  check(agreed.path_mtu >= 256 && agreed.path_mtu <= 1024);
  return 0;
}
