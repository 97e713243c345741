// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <linux/bpf.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace roce::link {

/// Writes a BPF program instruction by instruction (Linux Documentation/bpf/standardization/instruction-set.rst).
/// Jumps go forward to labels that are placed later.
class BpfAssembler {
 public:
  enum class Register : std::uint8_t { r0, r1, r2, r3, r4, r5, r6, r7, r8, r9 };
  enum class Label : std::uint8_t {};

  void load8(Register to, Register from, std::int16_t offset) { load(BPF_B, to, from, offset); }
  /// Loads 16 bits of a packet as a number.
  void load_be16(Register to, Register from, std::int16_t offset) {
    load(BPF_H, to, from, offset);
    add_instruction(BPF_ALU | BPF_END | BPF_TO_BE, to, Register::r0, 0, 16);
  }
  void load32(Register to, Register from, std::int16_t offset) { load(BPF_W, to, from, offset); }
  /// Loads a map's descriptor as a value of 64 bits (BPF_IMM), which takes two instructions.
  void load_map(Register to, int map) {
    add_instruction(BPF_LD | BPF_DW, to, static_cast<Register>(BPF_PSEUDO_MAP_FD), 0, map);
    add_instruction(0, Register::r0, Register::r0, 0, 0);
  }
  void copy(Register to, Register from) { add_instruction(BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0); }
  void set(Register to, std::int32_t value) { arithmetic(BPF_MOV, to, value); }
  void add(Register to, std::int32_t value) { arithmetic(BPF_ADD, to, value); }
  void add(Register to, Register from) { add_instruction(BPF_ALU64 | BPF_ADD | BPF_X, to, from, 0, 0); }
  void mask(Register to, std::int32_t value) { arithmetic(BPF_AND, to, value); }
  void shift_left(Register to, std::int32_t bits) { arithmetic(BPF_LSH, to, bits); }

  [[nodiscard]] Label make_label() {
    labels_.push_back(0);
    return static_cast<Label>(labels_.size() - 1);
  }
  void place(Label label) { labels_[static_cast<std::size_t>(label)] = instructions_.size(); }
  void jump(Label to) { jump_by(BPF_JA, Register::r0, 0, to); }
  void jump_if_equal(Register left, std::int32_t right, Label to) { jump_by(BPF_JEQ, left, right, to); }
  void jump_if_not_equal(Register left, std::int32_t right, Label to) { jump_by(BPF_JNE, left, right, to); }
  /// Compares as unsigned numbers.
  void jump_if_greater(Register left, Register right, Label to) {
    jumps_.emplace_back(instructions_.size(), to);
    add_instruction(BPF_JMP | BPF_JGT | BPF_X, left, right, 0, 0);
  }
  void call(std::int32_t function) { add_instruction(BPF_JMP | BPF_CALL, Register::r0, Register::r0, 0, function); }
  void exit() { add_instruction(BPF_JMP | BPF_EXIT, Register::r0, Register::r0, 0, 0); }

  /// Returns the program, once all labels are placed.
  [[nodiscard]] std::span<const bpf_insn> finish() {
    for (const auto& [at, label] : jumps_) {
      const std::size_t target = labels_[static_cast<std::size_t>(label)];
      instructions_[at].off = static_cast<std::int16_t>(target - at - 1);
    }
    jumps_.clear();
    return instructions_;
  }

 private:
  void add_instruction(unsigned code, Register to, Register from, std::int16_t offset, std::int32_t value) {
    bpf_insn instruction{};
    instruction.code = static_cast<std::uint8_t>(code);
    instruction.dst_reg = static_cast<std::uint8_t>(to) & 0xfU;
    instruction.src_reg = static_cast<std::uint8_t>(from) & 0xfU;
    instruction.off = offset;
    instruction.imm = value;
    instructions_.push_back(instruction);
  }
  void load(unsigned size, Register to, Register from, std::int16_t offset) {
    add_instruction(BPF_LDX | BPF_MEM | size, to, from, offset, 0);
  }
  void arithmetic(unsigned operation, Register to, std::int32_t value) {
    add_instruction(BPF_ALU64 | operation | BPF_K, to, Register::r0, 0, value);
  }
  void jump_by(unsigned condition, Register left, std::int32_t right, Label to) {
    jumps_.emplace_back(instructions_.size(), to);
    add_instruction(BPF_JMP | condition | BPF_K, left, Register::r0, 0, right);
  }

  std::vector<bpf_insn> instructions_;
  std::vector<std::size_t> labels_;
  std::vector<std::pair<std::size_t, Label>> jumps_;
};

}  // namespace roce::link
