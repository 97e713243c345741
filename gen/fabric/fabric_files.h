// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "command_line/outcome.h"
#include "roce/fabric/fabric.h"
#include "roce/link/capture_writer.h"
#include "roce/link/output_file.h"

namespace roce::gen {

/// Writes queues and pauses as CSV: a row for each queue that has frames, or that was paused since the last sample.
/// The file gets its name when it is closed (see link::OutputFile).
class QueueSamples {
 public:
  [[nodiscard]] static Outcome<QueueSamples> create(const std::string& path);

  /// Writes the rows of this moment.
  [[nodiscard]] Outcome<void> sample(const fabric::Fabric& fabric);
  [[nodiscard]] Outcome<void> close();

 private:
  explicit QueueSamples(link::OutputFile file) : file_(std::move(file)) {}

  link::OutputFile file_;
  std::vector<Duration> paused_;  ///< by port and priority, at the last sample
};

/// Writes what flows have delivered as CSV: a row for each flow that has begun, until the one in which it has ended.
/// The file gets its name when it is closed.
class FlowSamples {
 public:
  [[nodiscard]] static Outcome<FlowSamples> create(const std::string& path);

  /// Writes the rows of this moment.
  [[nodiscard]] Outcome<void> sample(const fabric::Fabric& fabric);
  [[nodiscard]] Outcome<void> close();

 private:
  explicit FlowSamples(link::OutputFile file) : file_(std::move(file)) {}

  link::OutputFile file_;
  std::vector<bool> ended_;  ///< by flow, at the last sample
};

/// A capture of one link, at its first end.
class LinkCapture final : public fabric::Tap {
 public:
  /// `choice` is `LINK=FILE` with a link such as `h0-s0`. Failures: there is no such link, or the file cannot be made.
  [[nodiscard]] static Outcome<std::unique_ptr<LinkCapture>> open(const std::string& choice,
                                                                  const fabric::Topology& topology);
  /// Returns the FILE of a choice.
  [[nodiscard]] static std::string file_of(const std::string& choice);

  [[nodiscard]] std::uint32_t link() const { return link_; }
  void on_frame(fabric::PortId from, Bytes frame, Time now) override;
  /// Ends the file. Failure: not everything could be written.
  [[nodiscard]] Outcome<void> close();

 private:
  LinkCapture(std::uint32_t link, link::CaptureWriter writer) : link_(link), writer_(std::move(writer)) {}

  std::uint32_t link_;
  link::CaptureWriter writer_;
};

}  // namespace roce::gen
