// SPDX-License-Identifier: BSD-2-Clause
#include "roce/link/capture_copier.h"

#include <algorithm>

namespace roce::link {

namespace {

/// The snap length of an interface that states none.
constexpr std::uint32_t kUsualSnaplen = 262'144;

}  // namespace

Result<void> CaptureCopier::write(const CaptureRecord& record, const std::vector<CaptureInterface>& described) {
  const Result<std::uint32_t> interface = output_interface(record, described);
  if (!interface) return tl::unexpected(interface.error());
  CaptureRecord copy = record;
  copy.interface_id = *interface;
  return writer_->write(copy);
}

Result<void> CaptureCopier::end_input(const std::vector<CaptureInterface>& described) {
  for (std::size_t i = 0; i < interfaces_.size(); ++i) {
    if (!interfaces_[i] || !described[i].statistics || options_.format != CaptureFormat::pcapng) continue;
    Result<void> written = writer_->write_statistics(*interfaces_[i], *described[i].statistics);
    if (!written) return written;
  }
  interfaces_.clear();
  return {};
}

Result<std::uint32_t> CaptureCopier::output_interface(const CaptureRecord& record,
                                                      const std::vector<CaptureInterface>& described) {
  if (interfaces_.size() < described.size()) interfaces_.resize(described.size());
  const bool is_single = options_.format != CaptureFormat::pcapng;
  if (writer_ && is_single) return 0;
  const auto captured = static_cast<std::uint32_t>(record.bytes.size());
  CaptureInterface interface;
  interface.link_type = record.link_type;
  interface.snaplen = std::max(kUsualSnaplen, captured);
  if (record.interface_id >= interfaces_.size()) return add_interface(interface);
  std::optional<std::uint32_t>& known = interfaces_[record.interface_id];
  interface = described[record.interface_id];
  if (known && captured <= snaplens_[*known]) return *known;
  // Some files have packets beyond their own snap length.
  interface.snaplen = std::max({interface.snaplen, captured, interface.snaplen == 0 || is_single ? kUsualSnaplen : 0});
  Result<std::uint32_t> number = add_interface(interface);
  if (number) known = *number;
  return number;
}

Result<std::uint32_t> CaptureCopier::add_interface(const CaptureInterface& interface) {
  snaplens_.push_back(interface.snaplen);
  if (writer_) return writer_->add_interface(interface);
  options_.interface = interface;
  Result<CaptureWriter> writer = CaptureWriter::create(path_, options_);
  if (!writer) return tl::unexpected(writer.error());
  writer_ = std::move(*writer);
  return 0;
}

Result<void> CaptureCopier::finish() {
  if (!writer_) {
    CaptureInterface interface;
    interface.snaplen = kUsualSnaplen;
    if (const Result<std::uint32_t> created = add_interface(interface); !created) {
      return tl::unexpected(created.error());
    }
  }
  return writer_->close();
}

}  // namespace roce::link
