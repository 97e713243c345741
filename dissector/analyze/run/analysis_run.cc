// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/run/analysis_run.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analyze/input/following.h"
#include "analyze/input/frame_info.h"
#include "analyze/run/parallel_run.h"
#include "analyze/run/run_state.h"
#include "analyze/run/work_share.h"
#include "analyze/run/worker_threads.h"

namespace roce::analyze {

namespace {

/// Analyses one packet after the other, and shows each to the consumer.
class SerialRun final : public RunSoFar {
 public:
  SerialRun(std::span<const InputFile> inputs, const AnalysisRunOptions& options, AnalysisConsumer& consumer)
      : state_(inputs, options, consumer) {}

  AnalysisResult run() {
    Following* const follow = state_.options.follow;
    if (follow != nullptr) follow->on_tick([this] { tick(); });
    while (!state_.consumer.is_over() && state_.intake.next()) {
      take();
      if (follow == nullptr) continue;
      follow->after_frame();
      if (follow->is_stopped()) break;
    }
    return state_.finish();
  }

  AnalysisResult result(AnalysisConsumer& end) override { return state_.so_far(end); }

 private:
  static constexpr unsigned kHandOverPackets = 64;

  void take() {
    const link::CaptureRecord& record = state_.intake.record();
    CaptureFile& file = state_.intake.file();
    if (is_of_other(state_.options.share, state_.intake.file_index())) return;
    const Packet whole = parse_frame(record.bytes, LinkType{record.link_type}, record.original_length);
    const FrameShare shared = share_of(state_.options.share, state_.intake.file_index(), whole, state_.intake.time(),
                                       state_.intake.number(), state_.intake.point());
    if (!shared.is_own) {
      if (shared.of_other) static_cast<void>(state_.pause.observe(*shared.of_other));
      return;
    }
    const std::uint64_t unknown = state_.result.counts.unknown_link;
    if (!state_.result.counts.count_frame(whole, record.bytes.size())) {
      if (const auto notice = analysis::read_reach_notice(whole, state_.intake.time(), {state_.intake.number(), 0},
                                                          state_.intake.point())) {
        state_.reach.observe(*notice);
      }
      if (state_.result.counts.unknown_link == unknown) return;
      ++file.unknown_link;
      file.unknown_link_type = record.link_type;
      return;
    }
    packet_text::FrameInfo frame = describe_frame(state_.intake.reader(), record, file.path);
    frame.time_ns = state_.intake.time_ns();
    frame.relative_ns = state_.intake.relative_ns();
    decode_step(
        whole, state_.intake.time(), state_.intake.number(), state_.intake.point(), [&](const DecodedPart& part) {
          frame.segment = part.segments == 0 ? 0 : part.segment + 1;
          frame.segments = part.segments;
          state_.result.counts.count(part);
          const analysis::PacketAnalysis& tracked = state_.shards.observe(part.observation);
          const std::optional<analysis::PauseBreach> breach = state_.pause.observe(part.observation);
          const analysis::PacketAnalysis& known = breach ? with_breach(tracked, part.observation, *breach) : tracked;
          const packet_text::DecodedPacket decoded{frame, whole, part.packet, part.icrc, part.base};
          state_.consumer.on_packet(
              {decoded, part.observation, known, file, state_.intake.capture_point(), state_.result.counts.first_ns});
          for (const analysis::Verdict& verdict : known.verdicts) state_.consumer.on_verdict(verdict);
          if (++since_hand_over_ == kHandOverPackets) hand_over();
        });
  }

  void hand_over() {
    since_hand_over_ = 0;
    state_.hand_over();
    state_.keep_ended();
  }

  void tick() {
    hand_over();
    state_.consumer.on_tick(*this);
  }

  const analysis::PacketAnalysis& with_breach(const analysis::PacketAnalysis& tracked,
                                              const analysis::Observation& packet,
                                              const analysis::PauseBreach& breach) {
    with_breach_ = tracked;
    immediate_.assign(tracked.verdicts.begin(), tracked.verdicts.end());
    immediate_.push_back(state_.pause.judge(packet, breach, tracked.stream));
    with_breach_.verdicts = immediate_;
    return with_breach_;
  }

  RunState state_;
  analysis::PacketAnalysis with_breach_;
  std::vector<analysis::Verdict> immediate_;  ///< the immediate verdicts of `with_breach_`
  unsigned since_hand_over_ = 0;
};

}  // namespace

bool AnalysisResult::is_complete() const {
  return std::none_of(files.begin() + static_cast<std::ptrdiff_t>(earlier_files), files.end(),
                      [](const CaptureFile& file) { return file.is_damaged; });
}

bool AnalysisResult::has_contradictory_times() const {
  return has_bad_clock || std::any_of(files.begin() + static_cast<std::ptrdiff_t>(earlier_files), files.end(),
                                      [](const CaptureFile& file) { return file.is_out_of_order; });
}

bool AnalysisResult::has_hosts_at_several_points() const {
  std::map<std::pair<Gid, Gid>, std::uint16_t> first_points;
  return std::any_of(streams.begin(), streams.end(), [&](const analysis::StreamSummary& stream) {
    return first_points.emplace(std::minmax(stream.ends[0], stream.ends[1]), stream.point).first->second !=
           stream.point;
  });
}

AnalysisResult run_analysis(std::span<const InputFile> inputs, const AnalysisRunOptions& options,
                            AnalysisConsumer& consumer) {
  // Even with one thread: batches are faster than one packet after the other.
  return consumer.wants_packets() || options.follow != nullptr
             ? SerialRun{inputs, options, consumer}.run()
             : run_parallel(inputs, options, consumer, thread_count(options.threads));
}

FramePlace find_frame(std::span<const CaptureFile> files, std::uint64_t overall) {
  const auto behind = std::partition_point(files.begin(), files.end(),
                                           [&](const CaptureFile& file) { return file.frame_base < overall; });
  if (behind == files.begin()) return {};
  const CaptureFile& file = *(behind - 1);
  return {&file, overall - file.frame_base};
}

}  // namespace roce::analyze
