// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <linux/filter.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace roce::link {

/// Writes a program for the classic BPF of sockets, which does not need a privilege (Linux
/// Documentation/networking/filter.rst). The machine has an accumulator and an index register, both 32 bits wide; it
/// converts what it loads from network order. A load beyond the end of the packet ends the program with 0. Jumps go
/// forward to labels that are placed later, over at most 255 instructions.
class ClassicBpfAssembler {
 public:
  enum class Label : std::uint8_t {};

  /// Loads a value that the kernel has in addition to the bytes, such as SKF_AD_PROTOCOL.
  void load_ancillary(int which) {
    add_instruction(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(SKF_AD_OFF + which));
  }
  // Load from `offset` bytes after the index.
  void load8(std::uint32_t offset) { add_instruction(BPF_LD | BPF_B | BPF_IND, offset); }
  void load16(std::uint32_t offset) { add_instruction(BPF_LD | BPF_H | BPF_IND, offset); }
  void load32(std::uint32_t offset) { add_instruction(BPF_LD | BPF_W | BPF_IND, offset); }
  void set_index(std::uint32_t value) { add_instruction(BPF_LDX | BPF_IMM, value); }
  void copy_to_index() { add_instruction(BPF_MISC | BPF_TAX, 0); }
  void mask(std::uint32_t value) { add_instruction(BPF_ALU | BPF_AND | BPF_K, value); }
  void shift_left(std::uint32_t bits) { add_instruction(BPF_ALU | BPF_LSH | BPF_K, bits); }
  void add_index() { add_instruction(BPF_ALU | BPF_ADD | BPF_X, 0); }
  /// Ends the program with this result.
  void give(std::uint32_t value) { add_instruction(BPF_RET | BPF_K, value); }
  void give_accumulator() { add_instruction(BPF_RET | BPF_A, 0); }

  [[nodiscard]] Label make_label() {
    labels_.push_back(0);
    return static_cast<Label>(labels_.size() - 1);
  }
  void place(Label label) { labels_[static_cast<std::size_t>(label)] = instructions_.size(); }
  void jump_if_equal(std::uint32_t value, Label to) { jump_if(BPF_JEQ, value, true, to); }
  void jump_if_not_equal(std::uint32_t value, Label to) { jump_if(BPF_JEQ, value, false, to); }
  void jump_if_not_greater(std::uint32_t value, Label to) { jump_if(BPF_JGT, value, false, to); }
  void jump_if_any_bit(std::uint32_t bits, Label to) { jump_if(BPF_JSET, bits, true, to); }

  /// Returns the program, once all labels are placed.
  [[nodiscard]] std::vector<sock_filter> finish() {
    for (const Jump& jump : jumps_) {
      const std::size_t distance = labels_[static_cast<std::size_t>(jump.to)] - jump.at - 1;
      (jump.when ? instructions_[jump.at].jt : instructions_[jump.at].jf) = static_cast<std::uint8_t>(distance);
    }
    jumps_.clear();
    return std::move(instructions_);
  }

 private:
  struct Jump {
    std::size_t at;
    bool when;  // jump if the condition holds; false: if it does not
    Label to;
  };

  void add_instruction(unsigned code, std::uint32_t value) {
    sock_filter instruction{};
    instruction.code = static_cast<std::uint16_t>(code);
    instruction.k = value;
    instructions_.push_back(instruction);
  }
  void jump_if(unsigned condition, std::uint32_t value, bool when, Label to) {
    jumps_.push_back({instructions_.size(), when, to});
    add_instruction(BPF_JMP | condition | BPF_K, value);
  }

  std::vector<sock_filter> instructions_;
  std::vector<std::size_t> labels_;
  std::vector<Jump> jumps_;
};

}  // namespace roce::link
