// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/names/names.h"
#include "analyze/run/analysis_run.h"
#include "text/terminal.h"

namespace roce::analyze {

/// `→`, or `->` where the terminal does not have it.
[[nodiscard]] std::string_view arrow(text::Charset charset);

/// `RC`, `UC`, `UD` …
[[nodiscard]] std::string_view service_text(Service service);

/// Returns end 0 or 1 of a stream: its address, and its QP if it is known.
[[nodiscard]] QpEnd end_of(const analysis::StreamSummary& stream, std::size_t end);

/// `192.0.2.1 0x11 ↔ 192.0.2.2 0x12`: both ends with their QPs as far as they are known; `→` if only one direction was
/// seen. What has a name has it in front of its number: `node17 rank 4 0x11`.
[[nodiscard]] std::string ends_text(const analysis::StreamSummary& stream, const Names& names, text::Charset charset);

/// Returns the time of the first frame of all files, in nanoseconds since 1970.
[[nodiscard]] std::int64_t capture_start(const AnalysedPacket& packet);
/// Returns seconds with six decimal places, as `decode` shows them.
[[nodiscard]] std::string seconds_text(std::int64_t ns);
/// Returns the number of a frame, with the name of its file if there are several.
[[nodiscard]] std::string frame_text(const FramePlace& place, const SeenFiles& files);

/// The ends of streams, learnt from packets while the analysis runs.
class StreamEnds {
 public:
  void learn(const AnalysedPacket& packet);
  /// Learns the ends of a stream that began in an earlier run.
  void learn(const analysis::StreamSummary& stream);

  /// Returns sender and receiver of one direction of a stream; the unspecified address if unknown.
  [[nodiscard]] std::array<Gid, 2> ends(std::uint32_t stream, std::uint8_t direction) const;
  /// Returns what is known of all streams, by number: their numbers, ends and QPNs, from which `learn` learns the same.
  [[nodiscard]] std::vector<analysis::StreamSummary> all() const;
  /// `192.0.2.1 → 192.0.2.2 0x12`; empty if unknown.
  [[nodiscard]] std::string text(std::uint32_t stream, std::uint8_t direction, const Names& names,
                                 text::Charset charset) const;

 private:
  struct Ends {
    std::array<Gid, 2> addresses{};
    std::array<Qpn, 2> qpns{};
    std::array<bool, 2> knows_qpn{};

    [[nodiscard]] QpEnd end(std::size_t end) const {
      return {.address = addresses[end], .qpn = knows_qpn[end] ? std::optional{qpns[end]} : std::nullopt};
    }
  };

  [[nodiscard]] Ends& of(std::uint32_t stream);

  std::vector<Ends> streams_;
};

}  // namespace roce::analyze
