// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyze/decoded_packet.h"
#include "analyze/input_files.h"
#include "analyze/time_window.h"
#include "roce/analysis/tracker.h"

namespace roce::analyze {

/// A file that was read, and how complete it is.
struct CaptureFile {
  std::string path;
  std::string format;
  std::uint64_t size_bytes = 0;          ///< as stored; 0 unknown
  std::uint64_t frame_base = 0;          ///< what to add to the number of a frame in this file for its number overall
  std::uint64_t frames = 0;              ///< that were read
  std::optional<std::int64_t> first_ns;  ///< earliest and latest time in the file
  std::optional<std::int64_t> last_ns;
  std::uint64_t dropped_interface = 0;  ///< by the file's own statistics
  std::uint64_t dropped_os = 0;
  std::uint64_t dropped_between = 0;  ///< between its packets, by their drop counts
  bool is_damaged = false;            ///< it could not be opened, or not be read to its end
  std::vector<std::string> problems;  ///< what is wrong with it, sentences for people

  [[nodiscard]] std::uint64_t dropped() const { return dropped_interface + dropped_os + dropped_between; }
};

/// How often what was in the files; of the frames in the time window.
struct CaptureCounts {
  std::uint64_t frames = 0;
  std::uint64_t bytes = 0;           ///< of these frames on the wire
  std::uint64_t outside_window = 0;  ///< frames that were passed over
  std::uint64_t roce_frames = 0;     ///< frames that hold RoCE packets
  std::uint64_t roce_packets = 0;    ///< of a super-frame each packet counts
  std::uint64_t super_frames = 0;
  std::array<std::uint64_t, 4> versions{};  ///< RoCE packets by `RoceVersion`
  std::uint64_t icrc_good = 0;
  std::uint64_t icrc_bad = 0;
  std::array<std::uint64_t, 5> icrc_unchecked{};  ///< by `IcrcUnchecked`
  std::uint64_t malformed = 0;        ///< RoCE packets that could not be parsed to their end, though captured whole
  std::uint64_t cut_short = 0;        ///< frames that the snap length cut
  std::uint64_t pause_frames = 0;     ///< PFC and PAUSE
  std::uint64_t unknown_link = 0;     ///< frames of a link type that is not decoded
  std::uint64_t without_time = 0;     ///< they count as having come with the frame before
  std::uint64_t clock_backwards = 0;  ///< frames with an earlier time than the one before
  std::optional<std::int64_t> first_ns;
  std::optional<std::int64_t> last_ns;

  [[nodiscard]] std::uint64_t unchecked() const;
};

/// A RoCE, PFC or PAUSE packet with what is known when it is seen. Everything lives until the callback returns.
struct AnalysedPacket {
  const DecodedPacket& decoded;
  const analysis::Observation& observation;  ///< its `id` counts frames overall, from 1 in the first file
  const analysis::PacketAnalysis& analysis;
  const CaptureFile& file;
};

/// Takes what an analysis finds, in the order in which it is known.
class AnalysisConsumer {
 public:
  AnalysisConsumer() = default;
  AnalysisConsumer(const AnalysisConsumer&) = delete;
  AnalysisConsumer& operator=(const AnalysisConsumer&) = delete;
  virtual ~AnalysisConsumer() = default;

  virtual void on_packet(const AnalysedPacket& /*packet*/) {}
  /// Immediate ones follow their packet; retrospective ones come some packets after they have become certain.
  virtual void on_verdict(const analysis::Verdict& /*verdict*/) {}
  virtual void on_message(const analysis::Message& /*message*/) {}
  virtual void on_answer(const analysis::Answer& /*answer*/) {}
  /// Nobody wants more: the run ends early.
  [[nodiscard]] virtual bool is_over() const { return false; }
};

struct AnalysisRunOptions {
  TimeWindow window{};
  analysis::TrackerOptions tracker{};
  bool progress = false;  ///< show on standard error how far a long file is
  bool quiet = false;     ///< say nothing about the files on standard error: somebody did already
};

/// Everything that is known at the end.
struct AnalysisResult {
  std::vector<CaptureFile> files;
  CaptureCounts counts;
  std::vector<analysis::StreamSummary> streams;
  analysis::Evictions evictions;

  /// Whether each file was read to its end.
  [[nodiscard]] bool is_complete() const;
};

/// Reads captures one after the other as one, judges what is in them and hands it to `consumer`. What is wrong with a
/// file goes to standard error and into the result, and what was read of it counts.
[[nodiscard]] AnalysisResult run_analysis(std::span<const InputFile> inputs, const AnalysisRunOptions& options,
                                          AnalysisConsumer& consumer);

/// Where a frame that is numbered overall lies.
struct FramePlace {
  const CaptureFile* file = nullptr;  ///< null: in none of them
  std::uint64_t number = 0;           ///< in its file
};
[[nodiscard]] FramePlace find_frame(std::span<const CaptureFile> files, std::uint64_t overall);

/// The files that packets came from so far, for those who need `find_frame` before the end.
class SeenFiles {
 public:
  void learn(const CaptureFile& file) {
    if (files_.empty() || files_.back().frame_base != file.frame_base) files_.push_back(file);
  }
  [[nodiscard]] FramePlace find(std::uint64_t overall) const { return find_frame(files_, overall); }
  [[nodiscard]] std::size_t size() const { return files_.size(); }

 private:
  std::vector<CaptureFile> files_;
};

}  // namespace roce::analyze
