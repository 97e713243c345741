// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "replay/converse/played_end.h"

namespace roce::replay::test {

/// An end of a conversation without queue pair and network: a request is carried out at once in the memory of the other
/// end if its place is there, and refused otherwise. The regions of both ends lie far from their captured places.
class MemoryEnd : public PlayedEnd {
 public:
  MemoryEnd(const Conversation& conversation, const CapturedMemory& memory) : conversation_(&conversation) {
    for (const CapturedRegion& region : memory.regions) regions_.push_back(region.before);
  }

  /// Sets the other end; has to be called before anything is posted. `across` has to outlive this end.
  void connect(MemoryEnd& across) { across_ = &across; }

  [[nodiscard]] Outcome<void> post(std::size_t index, const LivePlace& place) override {
    const CapturedOperation& operation = conversation_->operations.at(index);
    EndedRequest request;
    request.operation = index;
    std::byte* const at = operation.operation == Operation::send ? nullptr : across_->find(place, operation.length);
    const bool is_found = operation.operation == Operation::send || operation.length == 0 || at != nullptr;
    if (operation.end == analysis::MessageEnd::refused || !is_found) {
      request.error = "remote access error";
    } else {
      carry_out(operation, at, request);
    }
    ended.push_back(std::move(request));
    return {};
  }
  [[nodiscard]] Outcome<void> poll() override { return {}; }
  [[nodiscard]] std::optional<std::uint32_t> carried_out() const override { return std::nullopt; }
  [[nodiscard]] LivePlace place(std::size_t region) const override {
    return {std::uint64_t{region + 1} << kRegionBits, RKey{static_cast<std::uint32_t>(region)}};
  }
  [[nodiscard]] Outcome<void> write_memory(std::size_t region, std::size_t offset,
                                           const std::vector<std::byte>& data) override {
    if (offset > regions_.at(region).size() || data.size() > regions_[region].size() - offset) {
      return failed("a change outside its region");
    }
    std::ranges::copy(data, regions_[region].begin() + static_cast<std::ptrdiff_t>(offset));
    return {};
  }
  [[nodiscard]] Outcome<std::vector<std::byte>> read_memory(std::size_t region) override { return regions_.at(region); }

 private:
  static constexpr unsigned kRegionBits = 40;

  /// Returns null if there are fewer than `length` bytes at that place.
  [[nodiscard]] std::byte* find(const LivePlace& wanted, std::uint64_t length) {
    const std::size_t region = wanted.r_key.value();
    if (region >= regions_.size() || wanted.address < place(region).address) return nullptr;
    const std::uint64_t offset = wanted.address - place(region).address;
    std::vector<std::byte>& bytes = regions_[region];
    if (offset > bytes.size() || length > bytes.size() - offset) return nullptr;
    return bytes.data() + offset;
  }

  void carry_out(const CapturedOperation& operation, std::byte* at, EndedRequest& request) {
    switch (operation.operation) {
      case Operation::write:
      case Operation::atomic_write:
        if (!operation.data.empty()) std::memcpy(at, operation.data.data(), operation.data.size());
        break;
      case Operation::read_request:
        if (operation.length != 0) request.data.assign(at, at + operation.length);
        break;
      case Operation::compare_swap:
      case Operation::fetch_add: {
        request.data.assign(at, at + operation.length);
        std::uint64_t value = 0;
        std::memcpy(&value, at, sizeof value);
        if (operation.operation == Operation::fetch_add) value += operation.compare_add;
        if (operation.operation == Operation::compare_swap && value == operation.compare_add) value = operation.swap;
        std::memcpy(at, &value, sizeof value);
        break;
      }
      default:
        break;
    }
    if (!operation.is_message()) return;
    ArrivedMessage message;
    message.length = operation.length;
    message.immediate = operation.immediate;
    message.is_write = operation.operation == Operation::write;
    if (!message.is_write) message.data = operation.data;
    across_->arrived.push_back(std::move(message));
  }

  const Conversation* conversation_;
  std::vector<std::vector<std::byte>> regions_;
  MemoryEnd* across_ = nullptr;
};

}  // namespace roce::replay::test
