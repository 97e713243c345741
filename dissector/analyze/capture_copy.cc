// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/capture_copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace roce::analyze {

namespace {

/// What an option of a pcapng block can hold.
constexpr std::size_t kLongestComment = 65'535;

/// What no snap length stands for.
constexpr std::uint32_t kUsualSnaplen = 262'144;

CopyFailure output_failure(const link::CaptureError& error) {
  return {ExitCode::output, error.message};
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
    // A character must not be cut in the middle.
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0U) == 0x80U) text.pop_back();
    if (!text.empty() && static_cast<unsigned char>(text.back()) >= 0xC0U) text.pop_back();
  }
  return text;
}

}  // namespace

tl::expected<CaptureCopy, CopyFailure> CaptureCopy::make(const std::string& path,
                                                         const std::vector<InputFile>& inputs) {
  if (!has_pcapng_name(path)) {
    return tl::unexpected(CopyFailure{
        ExitCode::usage,
        fmt::format("cannot write '{}': its name has to end in .pcapng, since only pcapng has comments", path)});
  }
  for (const InputFile& input : inputs) {
    std::error_code ignored;
    if (!std::filesystem::equivalent(path, input.path, ignored)) continue;
    return tl::unexpected(CopyFailure{
        ExitCode::usage, fmt::format("cannot write '{}': it is the file that is read; choose another name", path)});
  }
  return CaptureCopy{path};
}

tl::expected<void, CopyFailure> CaptureCopy::add(const std::string& input, const Selection& selection) {
  auto reader = link::CaptureReader::open(input);
  if (!reader) return tl::unexpected(CopyFailure{ExitCode::input, reader.error().message});
  interfaces_.clear();
  link::CaptureRecord record;
  while (reader->next(record)) {
    if (!selection.wants(record.number)) continue;
    const auto interface = output_interface(*reader, record);
    if (!interface) return tl::unexpected(interface.error());
    if (record.comment_count > 1) ++shortened_;
    const std::string comment = join_comments(record.comment, selection.remark(record.number));
    record.comment = comment;
    record.interface_id = *interface;
    if (const auto written = writer_->write(record); !written) return tl::unexpected(output_failure(written.error()));
    ++frames_;
  }
  const auto& described = reader->interfaces();
  for (std::size_t i = 0; i < interfaces_.size(); ++i) {
    if (!interfaces_[i] || !described[i].statistics) continue;
    const auto written = writer_->write_statistics(*interfaces_[i], *described[i].statistics);
    if (!written) return tl::unexpected(output_failure(written.error()));
  }
  if (reader->error()) return tl::unexpected(CopyFailure{ExitCode::input, reader->error()->message});
  return {};
}

tl::expected<std::uint32_t, CopyFailure> CaptureCopy::output_interface(const link::CaptureReader& reader,
                                                                       const link::CaptureRecord& record) {
  const auto& described = reader.interfaces();
  if (interfaces_.size() < described.size()) interfaces_.resize(described.size());
  link::CaptureInterface interface;
  interface.link_type = record.link_type;
  interface.snaplen = std::max(kUsualSnaplen, static_cast<std::uint32_t>(record.bytes.size()));
  if (record.interface_id >= interfaces_.size()) return add_interface(interface);
  std::optional<std::uint32_t>& known = interfaces_[record.interface_id];
  interface = described[record.interface_id];
  if (known && record.bytes.size() <= snaplens_[*known]) return *known;
  // There are files with packets beyond their own snap length.
  interface.snaplen = std::max(
      {interface.snaplen, static_cast<std::uint32_t>(record.bytes.size()), interface.snaplen == 0 ? kUsualSnaplen : 0});
  auto number = add_interface(interface);
  if (number) known = *number;
  return number;
}

tl::expected<std::uint32_t, CopyFailure> CaptureCopy::add_interface(const link::CaptureInterface& interface) {
  snaplens_.push_back(interface.snaplen);
  if (writer_) {
    const auto number = writer_->add_interface(interface);
    if (!number) return tl::unexpected(output_failure(number.error()));
    return *number;
  }
  link::CaptureWriterOptions options;
  options.interface = interface;
  options.application = "roce-analyze";
  auto writer = link::CaptureWriter::create(path_, options);
  if (!writer) return tl::unexpected(output_failure(writer.error()));
  writer_ = std::move(*writer);
  return 0;
}

tl::expected<void, CopyFailure> CaptureCopy::finish() {
  if (!writer_) {
    link::CaptureInterface interface;
    interface.snaplen = kUsualSnaplen;
    if (const auto created = add_interface(interface); !created) return tl::unexpected(created.error());
  }
  if (const auto closed = writer_->close(); !closed) return tl::unexpected(output_failure(closed.error()));
  return {};
}

}  // namespace roce::analyze
