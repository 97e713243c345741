// SPDX-License-Identifier: BSD-2-Clause
#include "roce/link/capture_writer.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "link/byte_sink.h"
#include "link/capture_format.h"
#include "link/pcapng_encoder.h"

namespace roce::link {

namespace {

constexpr std::size_t kBufferBytes = 256 << 10;
constexpr std::size_t kLongestComment = 65535;
constexpr std::int64_t kNsPerSecond = 1'000'000'000;

Compression resolve(Compression compression, std::string_view path) {
  if (compression != Compression::from_suffix) return compression;
  if (path.ends_with(".gz")) return Compression::gzip;
  if (path.ends_with(".zst")) return Compression::zstd;
  return Compression::none;
}

}  // namespace

struct CaptureWriter::Impl {
  struct Limits {
    std::uint16_t link_type;
    std::uint32_t snaplen;
  };

  std::string name;
  CaptureFormat format = CaptureFormat::pcapng;
  std::unique_ptr<detail::ByteSink> sink;
  detail::OutputBuffer buffer;
  std::vector<Limits> interfaces;
  std::optional<CaptureError> failure;
  bool closed = false;

  [[nodiscard]] tl::unexpected<CaptureError> refuse(const std::string& text) const {
    return tl::unexpected(CaptureError{name + ": " + text, std::nullopt});
  }

  Result<void> usable() const {
    if (failure) return tl::unexpected(*failure);
    if (closed) return refuse("already closed, nothing more can be written");
    return {};
  }

  Result<void> keep(tl::expected<void, std::string> status) {
    if (status) return {};
    failure = CaptureError{status.error(), std::nullopt};
    return tl::unexpected(*failure);
  }

  Result<void> drain() {
    auto status = keep(sink->write(buffer));
    buffer.clear();
    return status;
  }

  Result<void> drain_if_full() { return buffer.size() >= kBufferBytes ? drain() : Result<void>{}; }

  Result<void> check(const CaptureRecord& record, std::uint32_t interface_id) const {
    if (interface_id >= interfaces.size()) {
      return refuse("packet of interface " + std::to_string(interface_id) + ", but only " +
                    std::to_string(interfaces.size()) + " were added");
    }
    const Limits& limits = interfaces[interface_id];
    if (record.link_type != limits.link_type) {
      return refuse("packet of link type " + std::to_string(record.link_type) + " on interface " +
                    std::to_string(interface_id) + " of link type " + std::to_string(limits.link_type) +
                    "; pcapng with one interface per link type can hold both");
    }
    if (record.bytes.size() > limits.snaplen) {
      return refuse("packet of " + std::to_string(record.bytes.size()) + " bytes, longer than the snaplen " +
                    std::to_string(limits.snaplen) + " of interface " + std::to_string(interface_id));
    }
    if (record.timestamp_ns < 0 && record.timestamp_ns != kNoTimestamp) {
      return refuse("packet from before 1970 (" + std::to_string(record.timestamp_ns) +
                    " ns), which the format cannot express");
    }
    if (record.comment.size() > kLongestComment) {
      return refuse("packet comment of " + std::to_string(record.comment.size()) + " bytes, the longest possible has " +
                    std::to_string(kLongestComment));
    }
    return {};
  }

  void add(const CaptureInterface& interface) {
    CaptureInterface written = interface;
    if (written.snaplen == 0) written.snaplen = detail::kUsualSnaplen;
    interfaces.push_back({written.link_type, std::min(written.snaplen, detail::kMaxCaptured)});
    if (format == CaptureFormat::pcapng) {
      detail::append_interface_description(buffer, written);
      return;
    }
    constexpr std::uint32_t kFcsGiven = 0x04000000U;
    std::uint32_t link = written.link_type;
    if (written.fcs_length) link |= kFcsGiven | static_cast<std::uint32_t>(*written.fcs_length / 2) << 28;
    detail::append(buffer, detail::kPcapMagicNanoseconds);
    detail::append(buffer, std::uint16_t{2});
    detail::append(buffer, std::uint16_t{4});
    detail::append(buffer, std::uint64_t{0});
    detail::append(buffer, written.snaplen);
    detail::append(buffer, link);
  }
};

CaptureWriter::CaptureWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CaptureWriter::CaptureWriter(CaptureWriter&&) noexcept = default;
CaptureWriter& CaptureWriter::operator=(CaptureWriter&& other) noexcept {
  std::swap(impl_, other.impl_);
  return *this;
}

CaptureWriter::~CaptureWriter() = default;

Result<CaptureWriter> CaptureWriter::create(const std::string& path, const CaptureWriterOptions& options) {
  const bool standard_output = path == "-";
  auto impl = std::make_unique<Impl>();
  impl->name = standard_output ? "(standard output)" : path;
  impl->format = options.format;
  Result<OutputFile> file = OutputFile::create(path);
  if (!file) return tl::unexpected(file.error());
  impl->sink = detail::make_file_sink(std::move(*file));
  switch (resolve(options.compression, path)) {
    case Compression::gzip:
      impl->sink = detail::make_gzip_sink(std::move(impl->sink));
      break;
    case Compression::zstd:
      impl->sink = detail::make_zstd_sink(std::move(impl->sink));
      break;
    case Compression::from_suffix:
    case Compression::none:
      break;
  }
  impl->buffer.reserve(kBufferBytes + kBufferBytes / 4);
  if (options.format == CaptureFormat::pcapng) detail::append_section_header(impl->buffer, options.application);
  impl->add(options.interface);
  return CaptureWriter(std::move(impl));
}

Result<std::uint32_t> CaptureWriter::add_interface(const CaptureInterface& interface) {
  if (auto usable = impl_->usable(); !usable) return tl::unexpected(usable.error());
  if (impl_->format != CaptureFormat::pcapng) {
    return impl_->refuse("pcap has exactly one interface; write pcapng instead");
  }
  impl_->add(interface);
  return static_cast<std::uint32_t>(impl_->interfaces.size() - 1);
}

Result<void> CaptureWriter::write(const CaptureRecord& record) {
  Impl& impl = *impl_;
  if (auto usable = impl.usable(); !usable) return usable;
  const bool pcapng = impl.format == CaptureFormat::pcapng;
  if (auto valid = impl.check(record, pcapng ? record.interface_id : 0); !valid) return valid;
  const auto captured = static_cast<std::uint32_t>(record.bytes.size());
  const std::uint32_t original_length = std::max(record.original_length, captured);
  const bool timed = record.timestamp_ns != kNoTimestamp;
  const std::int64_t time = timed ? record.timestamp_ns : 0;
  if (pcapng) {
    // A Simple Packet Block belongs to interface 0, and its captured length follows from the snap length alone.
    const bool simple = !timed && record.interface_id == 0 && record.comment.empty() && !record.flags &&
                        !record.drop_count && captured == std::min(original_length, impl.interfaces[0].snaplen);
    if (simple) {
      detail::append_simple_packet(impl.buffer, record, original_length);
    } else {
      detail::append_enhanced_packet(impl.buffer, record, time, original_length);
    }
    return impl.drain_if_full();
  }
  const std::int64_t seconds = time / kNsPerSecond;
  if (seconds > std::numeric_limits<std::uint32_t>::max()) {
    return impl.refuse("packet from after 2106 (" + std::to_string(time) +
                       " ns), which pcap cannot express; write pcapng instead");
  }
  detail::append(impl.buffer, static_cast<std::uint32_t>(seconds));
  detail::append(impl.buffer, static_cast<std::uint32_t>(time % kNsPerSecond));
  detail::append(impl.buffer, captured);
  detail::append(impl.buffer, original_length);
  detail::append(impl.buffer, record.bytes);
  return impl.drain_if_full();
}

Result<void> CaptureWriter::write_statistics(std::uint32_t interface_id, const CaptureStatistics& statistics) {
  Impl& impl = *impl_;
  if (auto usable = impl.usable(); !usable) return usable;
  if (impl.format != CaptureFormat::pcapng) return impl.refuse("pcap has no statistics; write pcapng instead");
  if (interface_id >= impl.interfaces.size()) {
    return impl.refuse("statistics of interface " + std::to_string(interface_id) + ", but only " +
                       std::to_string(impl.interfaces.size()) + " were added");
  }
  detail::append_interface_statistics(impl.buffer, interface_id, statistics);
  return impl.drain_if_full();
}

Result<void> CaptureWriter::flush() {
  if (auto usable = impl_->usable(); !usable) return usable;
  if (auto status = impl_->drain(); !status) return status;
  return impl_->keep(impl_->sink->flush());
}

Result<void> CaptureWriter::close() {
  Impl& impl = *impl_;
  if (impl.failure) return tl::unexpected(*impl.failure);
  if (impl.closed) return {};
  impl.closed = true;
  if (auto status = impl.drain(); !status) return status;
  return impl.keep(impl.sink->close());
}

}  // namespace roce::link
