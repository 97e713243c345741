// SPDX-License-Identifier: BSD-2-Clause
#include "replay/rewrite/rewrite_run.h"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <optional>
#include <utility>

#include "capture/capture_output.h"
#include "capture/link_types.h"
#include "command_line/counted.h"
#include "files/file_use.h"
#include "replay/rewrite/fault_stage.h"
#include "replay/rewrite/rewriter.h"
#include "replay/segment/segmenter.h"
#include "replay/survey/capture_surveys.h"
#include "roce/link/capture_reader.h"
#include "text/live_line.h"

namespace roce::replay {

namespace {

/// A line that shows how far the reading of a long file has come, redrawn in place.
class ProgressLine {
 public:
  ProgressLine(bool enabled, const link::CaptureReader& reader)
      : reader_(&reader), shown_(enabled && reader.size_bytes() >= kLong) {}
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() {
    if (percent_ <= kWhole) fmt::print(stderr, "\r\033[K");
  }

  void update(std::uint64_t frames) {
    if (!shown_) return;
    const std::uint64_t percent = reader_->position_bytes() / (reader_->size_bytes() / kWhole);
    if (percent == percent_) return;
    percent_ = percent;
    fmt::print(stderr, "\r{} % of {} MiB, {} frames\033[K", percent, reader_->size_bytes() >> 20U, frames);
    static_cast<void>(std::fflush(stderr));
  }

 private:
  static constexpr std::uint64_t kLong = 64U << 20U;
  static constexpr std::uint64_t kWhole = 100;
  const link::CaptureReader* reader_;
  std::uint64_t percent_ = kWhole + 1;
  bool shown_;
};

/// The steps after the reader: rules, faults, output.
class RewriteRun {
 public:
  RewriteRun(const RewriteJob& job, link::CaptureReader& reader, std::shared_ptr<const SegmentPlan> segments,
             std::optional<capture::CaptureOutput> output)
      : job_(job), reader_(reader), output_(std::move(output)), rewriter_(job.rules) {
    if (segments) segmenter_.emplace(std::move(segments));
  }

  [[nodiscard]] Outcome<void> take(const link::CaptureRecord& record) {
    const std::optional<LinkType> link_type = capture::known_link_type(record.link_type);
    if (!link_type) return failed(capture::unknown_link_type(job_.in, record.link_type));
    ++frames_;
    const Packet packet = parse_frame(record.bytes, *link_type, record.original_length);
    if (!segmenter_) return rewrite(packet, *link_type, record);
    for (const SegmentedFrame& frame : segmenter_->take(packet, *link_type)) {
      const std::uint64_t changed = rewriter_.counts().changed;
      const Packet segment = parse_frame(frame.bytes, *link_type, frame.reported_length);
      if (Outcome<void> passed = rewrite(segment, *link_type, record); !passed) return passed;
      if (frame.is_changed && rewriter_.counts().changed == changed) ++segments_changed_;
    }
    return {};
  }

  [[nodiscard]] Outcome<void> rewrite(const Packet& packet, LinkType link_type, const link::CaptureRecord& record) {
    const auto frames = rewriter_.rewrite(packet, link_type);
    if (!frames) return failed(fmt::format("{}: frame {}: {}", job_.in, record.number, frames.error()));
    for (const RewrittenFrame& frame : *frames) {
      link::CaptureRecord out = record;
      out.bytes = frame.bytes;
      out.original_length = frame.reported_length;
      // Comments that people wrote about a packet may name hosts.
      if (job_.rules.anonymise) out.comment = {};
      if (Outcome<void> passed = pass(out, link_type); !passed) return passed;
    }
    return {};
  }

  [[nodiscard]] Outcome<void> end() {
    if (faults_) faults_->drain([this](const link::CaptureRecord& record, std::uint8_t) { write(record); });
    if (problem_) return tl::unexpected(*problem_);
    if (rewriter_.counts().roce_packets == 0) {
      return failed(fmt::format("{}: there is no RoCE packet in its {}; roce-analyze {} says what is in it", job_.in,
                                command_line::counted(frames_, "frame", "frames"), job_.in));
    }
    return output_ ? output_->commit(interfaces()) : Outcome<void>{};
  }

  [[nodiscard]] RewriteReport report() const {
    RewriteReport report{.in = job_.in,
                         .out = job_.dry_run ? "" : job_.out,
                         .counts = rewriter_.counts(),
                         .segments = std::nullopt,
                         .written = written_,
                         .faults = std::nullopt,
                         .keeps_bad_icrc = job_.rules.keep_bad_icrc,
                         .keeps_bad_checksums = job_.rules.keep_bad_checksums,
                         .fields = job_.fields,
                         .warnings = {}};
    report.counts.frames = frames_;
    if (segmenter_) {
      const SegmentPlan& plan = segmenter_->plan();
      report.segments = SegmentReport{plan.path_mtu, plan.connections, plan.left, segmenter_->counts()};
      report.counts.super_frames += report.segments->counts.super_frames;
      report.counts.changed += segments_changed_;
    }
    if (faults_) report.faults = faults_->stats();
    for (const link::CaptureWarning& warning : reader_.warnings()) report.warnings.push_back(warning.message);
    return report;
  }

 private:
  [[nodiscard]] Outcome<void> pass(const link::CaptureRecord& record, LinkType link_type) {
    if (job_.faults.rules().empty()) {
      write(record);
    } else {
      if (!faults_) {
        faults_.emplace(job_.faults, job_.rules.seed, link_type);
        fault_link_type_ = record.link_type;
      }
      if (record.link_type != fault_link_type_) {
        return failed(fmt::format("{}: frame {}: faults need frames of one link type; this is {}, the first was {}",
                                  job_.in, record.number, record.link_type, fault_link_type_));
      }
      const bool taken =
          faults_->submit(record, 0, [this](const link::CaptureRecord& due, std::uint8_t) { write(due); });
      if (!taken) {
        return failed(fmt::format("{}: frame {}: {} bytes are more than a fault can act on", job_.in, record.number,
                                  record.bytes.size()));
      }
    }
    if (problem_) return tl::unexpected(*problem_);
    return {};
  }

  void write(const link::CaptureRecord& record) {
    ++written_;
    if (!output_ || problem_) return;
    if (const Outcome<void> written = output_->write(record, interfaces()); !written) problem_ = written.error();
  }

  /// Returns the interfaces of the input as the output is to describe them.
  [[nodiscard]] const std::vector<link::CaptureInterface>& interfaces() {
    if (!job_.rules.anonymise) return reader_.interfaces();
    nameless_ = reader_.interfaces();
    for (link::CaptureInterface& interface : nameless_) {
      interface.name.clear();
      interface.description.clear();
      interface.filter.clear();
      interface.comment.clear();
    }
    return nameless_;
  }

  const RewriteJob& job_;
  link::CaptureReader& reader_;
  std::optional<capture::CaptureOutput> output_;
  Rewriter rewriter_;
  std::optional<Segmenter> segmenter_;
  std::uint64_t frames_ = 0;  ///< frames of the input
  std::uint64_t segments_changed_ = 0;
  std::optional<FaultStage> faults_;
  std::uint16_t fault_link_type_ = 0;
  std::vector<link::CaptureInterface> nameless_;
  std::uint64_t written_ = 0;
  std::optional<Failure> problem_;
};

}  // namespace

Outcome<RewriteReport> run_rewrite(const RewriteJob& job) {
  const std::array read{files::FileUse{"IN", job.in}};
  const std::array written{files::FileUse{"OUT", job.dry_run ? "" : job.out}};
  if (const auto conflict = files::find_conflict(read, written)) return cannot(*conflict);
  link::Result<link::CaptureReader> reader = link::CaptureReader::open(job.in);
  if (!reader) return failed(reader.error().message);
  std::optional<capture::CaptureOutput> output;
  if (!job.dry_run) output.emplace(job.out);
  std::shared_ptr<const SegmentPlan> segments;
  if (job.rules.path_mtu != 0) {
    const ReadingProgress progress = job.progress ? text::show_reading : ReadingProgress{};
    Outcome<std::shared_ptr<const SegmentPlan>> planned = plan_segments(job.in, job.rules.path_mtu, progress);
    if (job.progress) text::end_live_line();
    if (!planned) return tl::unexpected(planned.error());
    segments = std::move(*planned);
  }
  RewriteRun run{job, *reader, std::move(segments), std::move(output)};
  ProgressLine progress{job.progress, *reader};
  for (link::CaptureRecord record; reader->next(record);) {
    if (const Outcome<void> taken = run.take(record); !taken) return tl::unexpected(taken.error());
    progress.update(record.number);
  }
  if (reader->error()) return failed(reader->error()->message);
  if (const Outcome<void> ended = run.end(); !ended) return tl::unexpected(ended.error());
  return run.report();
}

}  // namespace roce::replay
