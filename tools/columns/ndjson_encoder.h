// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "columns/encoder.h"

namespace roce::columns {

/// One JSON object a line; numbers have all their digits, up to 2^64 - 1.
class NdjsonEncoder final : public Encoder {
 public:
  explicit NdjsonEncoder(Sink sink) : sink_(std::move(sink)) {}

  void write(const Batch& batch) override;
  void finish() override {}

 private:
  Sink sink_;
  std::string out_;
};

}  // namespace roce::columns
