// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model_program.h"

namespace roce::model {

/// The memory of both devices: areas with guards between them.
class Memory {
 public:
  static constexpr std::size_t kGuard = 32;

  explicit Memory(const Program& program);

  [[nodiscard]] std::span<std::byte> area(std::size_t device, std::size_t qp, Area area);
  [[nodiscard]] const std::vector<std::byte>& bytes(std::size_t device) const { return bytes_.at(device); }
  /// True if the guards of a device, and the memory that the peer may not write, are unchanged.
  [[nodiscard]] bool guards_intact(std::size_t device) const;

 private:
  struct Place {
    std::size_t offset = 0;
    std::size_t size = 0;
  };
  std::array<std::vector<std::byte>, 2> bytes_;
  std::array<std::vector<Place>, 2> areas_;  ///< by QP and area
  std::array<std::vector<Place>, 2> fixed_;  ///< places that must not change
  std::array<std::vector<std::byte>, 2> original_;
};

/// A completion that has to come. Keys are known only to the node that runs the program.
struct Expected {
  std::uint64_t wr_id = 0;
  transport::CompletionOpcode opcode{};
  std::uint32_t byte_length = 0;
  std::uint32_t immediate = 0;
  bool has_immediate = false;
  bool invalidates = false;  ///< with the key of `Area::spare_peer`
  bool signaled = true;
};

/// The result of a program whose requests are executed in order, each at once, on a network without losses.
struct Reference {
  explicit Reference(const Program& program);

  Memory memory;
  /// By QP and device.
  std::vector<std::array<std::vector<Expected>, 2>> sent;
  std::vector<std::array<std::vector<Expected>, 2>> received;
};

}  // namespace roce::model
