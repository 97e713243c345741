// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <set>

#include "analyze/session/analysis_session.h"

namespace roce::analyze {

/// The streams that were asked for: by `--stream`, and with `-Y` those that have a packet that passes.
class ChosenStreams {
 public:
  explicit ChosenStreams(const AnalysisSession& session) : session_(session) {}

  void learn(const AnalysedPacket& packet) {
    const analysis::PacketAnalysis& known = packet.analysis;
    if (!session_.has_filter()) return;
    if (chosen_.erase(known.absorbed) != 0 || session_.is_chosen(packet.observation.id)) chosen_.insert(known.stream);
  }
  [[nodiscard]] bool is_wanted(std::uint32_t stream) const {
    return session_.is_wanted(stream) && (!session_.has_filter() || chosen_.contains(stream));
  }

 private:
  const AnalysisSession& session_;
  std::set<std::uint32_t> chosen_;
};

}  // namespace roce::analyze
