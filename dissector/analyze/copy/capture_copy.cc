// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/copy/capture_copy.h"

#include <fmt/format.h>

#include <array>

#include "files/file_use.h"
#include "roce/link/capture_reader.h"

namespace roce::analyze {

namespace {

/// The largest option of a pcapng block, in bytes.
constexpr std::size_t kLongestComment = 65'535;

CopyFailure output_failure(const link::CaptureError& error) {
  return {ExitCode::failed, error.message};
}

bool has_pcapng_name(std::string_view path) {
  for (const std::string_view end : {".pcapng", ".pcapng.gz", ".pcapng.zst", ".ntar"}) {
    if (path.ends_with(end)) return true;
  }
  return path == "-" || path.starts_with("/dev/");
}

std::string join_comments(std::string_view kept, std::string_view remark) {
  std::string text{kept};
  if (!text.empty() && !remark.empty()) text += '\n';
  text += remark;
  if (text.size() > kLongestComment) {
    text.resize(kLongestComment);
    // Do not cut a UTF-8 character in the middle.
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0U) == 0x80U) text.pop_back();
    if (!text.empty() && static_cast<unsigned char>(text.back()) >= 0xC0U) text.pop_back();
  }
  return text;
}

link::CaptureWriterOptions writer_options() {
  link::CaptureWriterOptions options;
  options.application = "roce-analyze";
  return options;
}

}  // namespace

CaptureCopy::CaptureCopy(const std::string& path) : copier_(path, writer_options()) {}

tl::expected<CaptureCopy, CopyFailure> CaptureCopy::make(const std::string& path,
                                                         const std::vector<InputFile>& inputs) {
  if (!has_pcapng_name(path)) {
    return tl::unexpected(CopyFailure{
        ExitCode::usage,
        fmt::format("cannot write '{}': its name has to end in .pcapng, since only pcapng has comments", path)});
  }
  std::vector<files::FileUse> read;
  read.reserve(inputs.size());
  for (const InputFile& input : inputs) read.push_back({"FILE", input.path});
  const std::array written{files::FileUse{"the copy", path}};
  if (auto conflict = files::find_conflict(read, written)) {
    return tl::unexpected(CopyFailure{ExitCode::usage, *std::move(conflict)});
  }
  return CaptureCopy{path};
}

tl::expected<void, CopyFailure> CaptureCopy::add(const std::string& input, const Selection& selection) {
  auto reader = link::CaptureReader::open(input);
  if (!reader) return tl::unexpected(CopyFailure{ExitCode::failed, reader.error().message, true});
  link::CaptureRecord record;
  while (reader->next(record)) {
    if (!selection.wants(record.number)) continue;
    if (record.comment_count > 1) ++shortened_;
    const std::string comment = join_comments(record.comment, selection.remark(record.number));
    record.comment = comment;
    const auto written = copier_.write(record, reader->interfaces());
    if (!written) return tl::unexpected(output_failure(written.error()));
    ++frames_;
  }
  if (const auto ended = copier_.end_input(reader->interfaces()); !ended) {
    return tl::unexpected(output_failure(ended.error()));
  }
  if (reader->error()) return tl::unexpected(CopyFailure{ExitCode::failed, reader->error()->message, true});
  return {};
}

tl::expected<void, CopyFailure> CaptureCopy::finish() {
  if (const auto closed = copier_.finish(); !closed) return tl::unexpected(output_failure(closed.error()));
  return {};
}

}  // namespace roce::analyze
