// SPDX-License-Identifier: BSD-2-Clause
// Capture files as the registries of pcap and pcapng describe them (L-CAP-1).
#include "roce/link/capture_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "link/byte_order.h"
#include "link/byte_source.h"
#include "link/byte_window.h"
#include "link/capture_format.h"
#include "link/diagnostics.h"
#include "link/libpcap_input.h"
#include "link/live_input.h"
#include "link/pcapng_reader.h"

namespace roce::link {

using detail::ByteWindow;
using detail::Codec;
using detail::FileDescriptor;
using detail::load;
using detail::packets_before;

namespace {

enum class Walker : std::uint8_t { pcap, pcapng, libpcap, live, done };

CaptureError system_error(const std::string& path, const char* what) {
  return {path + ": " + what + ": " + std::strerror(errno), std::nullopt};
}

std::string hex_bytes(std::span<const std::byte> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte value : bytes) {
    if (!text.empty()) text += ' ';
    text += kDigits[std::to_integer<std::size_t>(value) >> 4];
    text += kDigits[std::to_integer<std::size_t>(value) & 15];
  }
  return text;
}

std::string name_of(const std::string& path) {
  return path == "-" ? "(standard input)" : path;
}

Result<std::pair<FileDescriptor, struct stat>> open_file(const std::string& path, int flags = 0) {
  FileDescriptor fd(path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | flags));
  struct stat status {};
  if (fd.get() < 0 || fstat(fd.get(), &status) != 0) {
    return tl::unexpected(system_error(name_of(path), "cannot open"));
  }
  if (S_ISDIR(status.st_mode)) {
    return tl::unexpected(CaptureError{path + ": is a directory, expected a capture file", std::nullopt});
  }
  return std::pair{std::move(fd), status};
}

}  // namespace

struct CaptureReader::Impl {
  explicit Impl(std::string name) : diagnostics(std::move(name)) {}

  detail::Diagnostics diagnostics;
  ByteWindow window;
  Codec codec = Codec::none;
  std::uint64_t size_bytes = 0;
  Walker walker = Walker::done;
  std::string format;
  std::vector<CaptureInterface> interfaces;
  std::vector<CaptureSection> sections;
  detail::PcapngReader pcapng{window, diagnostics, interfaces, sections};
  // libpcap keeps a pointer to its cursor, which therefore stays here when the reader moves.
  detail::CaptureCursor libpcap_cursor;
  std::unique_ptr<detail::LibpcapInput> libpcap;
  std::unique_ptr<detail::LiveInput> live;
  bool was_left = false;  // a `WaitForMore` returned false

  WaitForMore noting_the_end(WaitForMore wait) {
    return [this, wait = std::move(wait)](int fd) {
      was_left = was_left || !wait(fd);
      return !was_left;
    };
  }

  // Takes over `source`, through a decompressor if its bytes ask for one.
  std::optional<CaptureError> stream(std::unique_ptr<detail::ByteSource> source) {
    auto opened = detail::open_decompressed(std::move(source));
    if (!opened) return CaptureError{diagnostics.file() + ": " + opened.error(), std::nullopt};
    codec = opened->second;
    window = ByteWindow(std::move(opened->first));
    return std::nullopt;
  }
};

CaptureReader::CaptureReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CaptureReader::CaptureReader(CaptureReader&&) noexcept = default;
CaptureReader& CaptureReader::operator=(CaptureReader&&) noexcept = default;
CaptureReader::~CaptureReader() = default;

Result<CaptureReader> CaptureReader::open(const std::string& path) {
  auto impl = std::make_unique<Impl>(name_of(path));
  auto opened = open_file(path);
  if (!opened) return tl::unexpected(opened.error());
  auto& [fd, status] = *opened;
  // Standard input may be in the middle of its file; it is then read from there.
  const bool at_start = S_ISREG(status.st_mode) && lseek(fd.get(), 0, SEEK_CUR) == 0;
  if (at_start && status.st_size > 0) {
    impl->size_bytes = static_cast<std::uint64_t>(status.st_size);
    posix_fadvise(fd.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
  }
  auto source = impl->size_bytes != 0 ? detail::make_file_source(std::move(fd), impl->size_bytes)
                                      : detail::make_descriptor_source(std::move(fd));
  if (auto error = impl->stream(std::move(source))) return tl::unexpected(*error);
  return begin(std::move(impl));
}

Result<CaptureReader> CaptureReader::follow(const std::string& path, WaitForMore wait) {
  auto impl = std::make_unique<Impl>(name_of(path));
  // A pipe that nobody writes to yet would hold up the opening, which nothing could end.
  auto opened = open_file(path, O_NONBLOCK);
  if (!opened) return tl::unexpected(opened.error());
  auto source = detail::make_followed_source(std::move(opened->first), impl->noting_the_end(std::move(wait)));
  if (auto error = impl->stream(std::move(source))) return tl::unexpected(*error);
  if (impl->codec != Codec::none) {
    return tl::unexpected(CaptureError{
        impl->diagnostics.file() + ": is compressed, and cannot be followed; follow what its writer writes",
        std::nullopt});
  }
  return begin(std::move(impl));
}

Result<CaptureReader> CaptureReader::capture(const std::string& interface, WaitForMore wait) {
  auto impl = std::make_unique<Impl>(interface);
  auto live = detail::LiveInput::open(interface, std::move(wait));
  if (!live) return tl::unexpected(CaptureError{interface + ": " + live.error(), std::nullopt});
  impl->live = *std::move(live);
  impl->interfaces.push_back(impl->live->interface());
  impl->walker = Walker::live;
  impl->format = "live";
  return CaptureReader(std::move(impl));
}

Result<CaptureReader> CaptureReader::from_memory(std::span<const std::byte> bytes, std::string name) {
  auto impl = std::make_unique<Impl>(std::move(name));
  impl->size_bytes = bytes.size();
  if (detail::sniff_codec(bytes) == Codec::none) {
    impl->window = ByteWindow(bytes);
  } else if (auto error = impl->stream(detail::make_memory_source(bytes))) {
    return tl::unexpected(*error);
  }
  return begin(std::move(impl));
}

Result<CaptureReader> CaptureReader::begin(std::unique_ptr<Impl> impl) {
  CaptureReader reader(std::move(impl));
  auto error = reader.start();
  if (!error) return reader;
  if (!reader.impl_->was_left) return tl::unexpected(std::move(*error));
  // Nothing that had come is whole.
  reader.impl_->diagnostics.forget_error();
  reader.impl_->walker = Walker::done;
  reader.fast_ = false;
  return reader;
}

std::optional<CaptureError> CaptureReader::start() {
  Impl& impl = *impl_;
  auto& diagnostics = impl.diagnostics;
  cursor_ = impl.window.begin();
  constexpr std::size_t kMagicBytes = 4;
  if (!impl.window.fill(cursor_, kMagicBytes)) {
    const std::string note = impl.window.failure() ? *impl.window.failure() : impl.window.end_note();
    if (!note.empty()) return CaptureError{diagnostics.file() + ": " + note, std::nullopt};
    const std::string found = cursor_.available() == 0
                                  ? "the file is empty"
                                  : "the file has only " + std::to_string(cursor_.available()) + " bytes";
    diagnostics.fail(0, found + ", expected a pcap or pcapng file");
    return diagnostics.error();
  }
  if (load<std::uint32_t>(cursor_.next, false) == detail::kBlockSectionHeader) {
    impl.walker = Walker::pcapng;
    impl.format = "pcapng";
    // A file without one whole section header is not a capture; anything after that header may be cut.
    if (!impl.pcapng.read_first_section(cursor_)) {
      if (diagnostics.error()) return diagnostics.error();
      return CaptureError{diagnostics.file() + ": " + impl.window.failure().value_or("cannot be read"), std::nullopt};
    }
  } else if (!start_pcap()) {
    if (diagnostics.error()) return diagnostics.error();
    if (impl.window.failure()) return CaptureError{diagnostics.file() + ": " + *impl.window.failure(), std::nullopt};
    const std::string magic = hex_bytes({cursor_.next, kMagicBytes});
    impl.libpcap_cursor = std::exchange(cursor_, {});
    auto input = detail::LibpcapInput::open(impl.window, impl.libpcap_cursor);
    if (!input) {
      diagnostics.fail(0, "not a capture file that can be read: it begins with " + magic +
                              ", expected pcap or pcapng, possibly in gzip or zstd (libpcap says: " + input.error() +
                              "); if it is a capture of another format, convert it with editcap");
      return diagnostics.error();
    }
    impl.libpcap = std::move(*input);
    impl.interfaces.push_back(impl.libpcap->interface());
    impl.walker = Walker::libpcap;
    impl.format = "pcap, read by libpcap";
  }
  if (impl.codec == Codec::gzip) impl.format += ", gzip";
  if (impl.codec == Codec::zstd) impl.format += ", zstd";
  return std::nullopt;
}

bool CaptureReader::start_pcap() {
  Impl& impl = *impl_;
  const auto magic = load<std::uint32_t>(cursor_.next, false);
  const auto is = [magic](std::uint32_t known) { return magic == known || magic == __builtin_bswap32(known); };
  const bool nanoseconds = is(detail::kPcapMagicNanoseconds);
  const bool modified = is(detail::kPcapMagicModified);
  if (!nanoseconds && !modified && !is(detail::kPcapMagicMicroseconds)) return false;
  if (!impl.window.fill(cursor_, detail::kPcapFileHeaderBytes)) {
    if (impl.window.failure()) return false;
    impl.diagnostics.fail(0, "the file ends inside its header: " + std::to_string(detail::kPcapFileHeaderBytes) +
                                 " bytes needed, " + std::to_string(cursor_.available()) + " there");
    return false;
  }
  const std::byte* header = cursor_.next;
  layout_.swapped = magic != detail::kPcapMagicNanoseconds && magic != detail::kPcapMagicModified &&
                    magic != detail::kPcapMagicMicroseconds;
  // Older versions differ in details (the order of the two lengths) that libpcap knows.
  if (load<std::uint16_t>(header + 4, layout_.swapped) != 2 || load<std::uint16_t>(header + 6, layout_.swapped) != 4) {
    return false;
  }
  const auto snaplen = load<std::uint32_t>(header + 16, layout_.swapped);
  const auto link = load<std::uint32_t>(header + 20, layout_.swapped);
  layout_.max_captured = std::clamp(snaplen, detail::kUsualSnaplen, detail::kMaxCaptured);
  layout_.fraction_ns = nanoseconds ? 1 : 1000;
  layout_.header_bytes =
      static_cast<std::uint32_t>(modified ? detail::kPcapModifiedRecordHeaderBytes : detail::kPcapRecordHeaderBytes);
  layout_.link_type = static_cast<std::uint16_t>(link);
  fast_ = !layout_.swapped && !modified;

  CaptureInterface interface;
  interface.link_type = layout_.link_type;
  interface.snaplen = snaplen;
  interface.timestamp_resolution = nanoseconds ? 9 : 6;
  // Bit 26 means that bits 28 to 31 count the 16-bit words of the frame check sequence.
  if ((link & 0x04000000U) != 0) interface.fcs_length = static_cast<std::uint8_t>((link >> 28) * 2);
  impl.interfaces.push_back(std::move(interface));
  impl.walker = Walker::pcap;
  impl.format = std::string(modified ? "modified pcap" : "pcap") + (nanoseconds ? ", nanoseconds" : ", microseconds") +
                (layout_.swapped ? ", other byte order" : "");
  cursor_.next += detail::kPcapFileHeaderBytes;
  return true;
}

bool CaptureReader::next_slow(CaptureRecord& record) {
  Impl& impl = *impl_;
  bool found = false;
  switch (impl.walker) {
    case Walker::pcap:
      found = next_pcap(record);
      break;
    case Walker::pcapng:
      found = impl.pcapng.next(cursor_, record);
      break;
    case Walker::libpcap:
      found = impl.libpcap->next(record, impl.diagnostics);
      break;
    case Walker::live:
      found = impl.live->next(record, impl.interfaces.front(), impl.diagnostics);
      break;
    case Walker::done:
      return false;
  }
  if (found) {
    // The walker of classic pcap does its own counting.
    if (impl.walker != Walker::pcap) record.number = ++number_;
    return true;
  }
  impl.walker = Walker::done;
  fast_ = false;
  if (impl.was_left) {
    impl.diagnostics.forget_error();
    return false;
  }
  const auto& end = impl.libpcap ? impl.libpcap_cursor : cursor_;
  if (impl.window.failure()) {
    impl.diagnostics.fail(end.offset() + end.available(), *impl.window.failure() + "; " + packets_before(number_));
  } else if (const std::string note = impl.window.end_note(); !note.empty()) {
    const std::uint64_t offset = end.offset() + end.available();
    if (impl.window.is_cut() && !impl.diagnostics.error()) {
      impl.diagnostics.fail(offset, note + "; " + packets_before(number_));
    } else if (impl.window.is_cut() || !impl.diagnostics.error()) {
      impl.diagnostics.warn(offset, note);
    }
  }
  return false;
}

bool CaptureReader::next_pcap(CaptureRecord& record) {
  Impl& impl = *impl_;
  const std::size_t header_bytes = layout_.header_bytes;
  const auto cut = [&](const std::string& what, std::size_t needed) {
    if (!impl.window.failure()) {
      impl.diagnostics.fail(cursor_.offset(), "the file ends inside " + what + " of packet " +
                                                  std::to_string(number_ + 1) + ": " + std::to_string(needed) +
                                                  " bytes needed, " + std::to_string(cursor_.available()) + " there; " +
                                                  packets_before(number_));
    }
    return false;
  };
  if (!impl.window.fill(cursor_, header_bytes)) {
    return cursor_.available() == 0 ? false : cut("the record header", header_bytes);
  }
  const auto captured = load<std::uint32_t>(cursor_.next + 8, layout_.swapped);
  if (captured > layout_.max_captured) {
    impl.diagnostics.fail(cursor_.offset(),
                          "packet " + std::to_string(number_ + 1) + " claims " + std::to_string(captured) +
                              " captured bytes, at most " + std::to_string(layout_.max_captured) +
                              " are possible; the file is damaged from here on, " + packets_before(number_));
    return false;
  }
  if (!impl.window.fill(cursor_, header_bytes + captured)) return cut("the record", header_bytes + captured);
  const std::byte* header = cursor_.next;
  fill(record, load<std::uint32_t>(header, layout_.swapped), load<std::uint32_t>(header + 4, layout_.swapped),
       load<std::uint32_t>(header + 12, layout_.swapped));
  record.bytes = {header + header_bytes, captured};
  cursor_.next += header_bytes + captured;
  return true;
}

const std::optional<CaptureError>& CaptureReader::error() const {
  return impl_->diagnostics.error();
}
const std::vector<CaptureWarning>& CaptureReader::warnings() const {
  return impl_->diagnostics.warnings();
}
const std::vector<CaptureInterface>& CaptureReader::interfaces() const {
  return impl_->interfaces;
}
const std::vector<CaptureSection>& CaptureReader::sections() const {
  return impl_->sections;
}
std::string_view CaptureReader::format() const {
  return impl_->format;
}
bool CaptureReader::keeps_bytes() const {
  return !impl_->window.is_stream() && !impl_->libpcap && !impl_->live;
}
std::uint64_t CaptureReader::size_bytes() const {
  return impl_->size_bytes;
}

std::uint64_t CaptureReader::position_bytes() const {
  if (impl_->codec != Codec::none) return impl_->window.source_position();
  return impl_->libpcap ? impl_->libpcap_cursor.offset() : cursor_.offset();
}

}  // namespace roce::link
