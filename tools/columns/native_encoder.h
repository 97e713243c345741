// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "columns/encoder.h"

namespace roce::columns {

/// ClickHouse's `Native`: blocks of columns as they are in memory, one a batch.
class NativeEncoder final : public Encoder {
 public:
  explicit NativeEncoder(Sink sink) : sink_(std::move(sink)) {}

  void write(const Batch& batch) override;
  void finish() override {}

 private:
  Sink sink_;
  std::string out_;
};

/// Returns the type of a column in ClickHouse, such as `Nullable(UInt32)`. A boolean is a `UInt8`: old versions have no
/// other.
[[nodiscard]] std::string clickhouse_type(const Column& column);

}  // namespace roce::columns
