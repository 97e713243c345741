// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "analyze/filter/filter_fields.h"
#include "analyze/filter/filter_lexer.h"

namespace roce::analyze {

/// A filter expression over the fields of a packet, in the grammar of Wireshark's display filters:
///
///     aeth and not bth.opcode == RC_ACKNOWLEDGE
///     bth.psn in {10, 20..30} or (roce.src == 192.0.2.0/24 && bth.ack_req)
///     aeth.syndrome == "NAK remote access error" or bth.opcode contains "READ_RESPONSE"
///
/// - `== != < <= > >=`, also `eq ne lt le gt ge`; `contains`; `in { value, low..high }`, `not in`;
///   `and or not`, also `&& || !`; `not` binds closest, then `and`.
/// - A bare name: the packet has the field, and if the field is a boolean, it is true.
/// - A field with several values passes a comparison if any value does, but `!=` only if all do. A packet without the
///   field fails every comparison; `not` inverts that.
/// - `contains`: a part of bytes or of a text; for numbers that have names, a part of the name, ignoring case.
///
/// Immutable; copies share the compiled program, and threads may evaluate it at the same time.
class DisplayFilter {
 public:
  /// Constructs the filter that passes everything.
  DisplayFilter() = default;

  /// Compiles an expression; a blank one passes everything. The catalogue is not needed afterwards. Errors, all of them
  /// found here and none later: unknown names, and values that do not fit their fields.
  [[nodiscard]] static tl::expected<DisplayFilter, FilterError> compile(std::string_view expression,
                                                                        const FieldCatalogue& catalogue);

  /// True if a packet with these values passes. Does not allocate.
  [[nodiscard]] bool matches(const FieldValues& values) const;

  [[nodiscard]] bool passes_everything() const { return program_ == nullptr; }
  /// Returns the fields that the expression names, ascending, each once. `matches` asks for no others.
  [[nodiscard]] std::span<const FieldId> fields() const;

 private:
  struct Program;
  explicit DisplayFilter(std::shared_ptr<const Program> program) : program_(std::move(program)) {}

  std::shared_ptr<const Program> program_;
};

}  // namespace roce::analyze
