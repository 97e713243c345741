// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/analysis_run.h"

#include <algorithm>

#include "analyze/capture_intake.h"
#include "analyze/frame_info.h"
#include "analyze/hand_over.h"
#include "analyze/parallel_run.h"
#include "analyze/pause_watch.h"
#include "analyze/worker_threads.h"
#include "roce/analysis/tracker_shards.h"

namespace roce::analyze {

namespace {

/// Takes one packet after the other, and shows each to the consumer.
class SerialRun {
 public:
  SerialRun(std::span<const InputFile> inputs, const AnalysisRunOptions& options, AnalysisConsumer& consumer)
      : consumer_(consumer),
        intake_(inputs, options, result_),
        shards_(options.tracker),
        hand_over_(shards_, options.tracker, consumer),
        pause_(options.pause) {}

  AnalysisResult run() {
    while (!consumer_.is_over() && intake_.next()) take();
    intake_.stop();
    hand_over_();
    intake_.finish();
    shards_.finish();
    hand_over_();
    shards_.drain_closed(result_.streams);
    result_.evictions = shards_.evictions();
    pause_.finish(result_);
    return std::move(result_);
  }

 private:
  static constexpr unsigned kHandOverPackets = 64;

  void take() {
    const link::CaptureRecord& record = intake_.record();
    CaptureFile& file = intake_.file();
    const Packet whole = parse_frame(record.bytes, LinkType{record.link_type}, record.original_length);
    const std::uint64_t unknown = result_.counts.unknown_link;
    if (!result_.counts.count_frame(whole, record.bytes.size())) {
      if (result_.counts.unknown_link == unknown) return;
      ++file.unknown_link;
      file.unknown_link_type = record.link_type;
      return;
    }
    FrameInfo frame = describe_frame(*intake_.reader(), record, file.path);
    frame.time_ns = intake_.time_ns();
    frame.relative_ns = intake_.relative_ns();
    decode_step(whole, intake_.time(), intake_.number(), [&](const DecodedPart& part) {
      frame.segment = part.segments == 0 ? 0 : part.segment + 1;
      frame.segments = part.segments;
      result_.counts.count(part);
      const analysis::PacketAnalysis& tracked = shards_.observe(part.observation);
      const std::optional<analysis::PauseBreach> breach = pause_.observe(part.observation);
      const analysis::PacketAnalysis& known = breach ? with_breach(tracked, part.observation, *breach) : tracked;
      const DecodedPacket decoded{frame, whole, part.packet, part.icrc, part.base};
      consumer_.on_packet({decoded, part.observation, known, file});
      for (const analysis::Verdict& verdict : known.verdicts) consumer_.on_verdict(verdict);
      if (++since_hand_over_ < kHandOverPackets) return;
      since_hand_over_ = 0;
      hand_over_();
    });
  }

  const analysis::PacketAnalysis& with_breach(const analysis::PacketAnalysis& tracked,
                                              const analysis::Observation& packet,
                                              const analysis::PauseBreach& breach) {
    with_breach_ = tracked;
    immediate_.assign(tracked.verdicts.begin(), tracked.verdicts.end());
    immediate_.push_back(pause_.judge(packet, breach, tracked.stream));
    with_breach_.verdicts = immediate_;
    return with_breach_;
  }

  AnalysisConsumer& consumer_;
  AnalysisResult result_;
  CaptureIntake intake_;
  analysis::TrackerShards shards_;
  HandOver hand_over_;
  PauseWatch pause_;
  analysis::PacketAnalysis with_breach_;
  std::vector<analysis::Verdict> immediate_;  ///< of that packet
  unsigned since_hand_over_ = 0;
};

}  // namespace

bool AnalysisResult::is_complete() const {
  return std::none_of(files.begin(), files.end(), [](const CaptureFile& file) { return file.is_damaged; });
}

AnalysisResult run_analysis(std::span<const InputFile> inputs, const AnalysisRunOptions& options,
                            AnalysisConsumer& consumer) {
  // With one thread too: batches are faster than one packet after the other.
  return consumer.wants_packets() ? SerialRun{inputs, options, consumer}.run()
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
