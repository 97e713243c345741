// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "roce/link/capture_reader.h"

namespace roce::link::test {

/// The bytes of a capture file, put together by hand in either byte order, independently of the writer.
class FileBuilder {
 public:
  explicit FileBuilder(bool big_endian = false) : big_endian_(big_endian) {}

  FileBuilder& big_endian(bool value) {
    big_endian_ = value;
    return *this;
  }
  FileBuilder& u8(std::uint64_t value) { return number(value, 1); }
  FileBuilder& u16(std::uint64_t value) { return number(value, 2); }
  FileBuilder& u32(std::uint64_t value) { return number(value, 4); }
  FileBuilder& u64(std::uint64_t value) { return number(value, 8); }
  FileBuilder& raw(std::string_view bytes) {
    for (const char c : bytes) bytes_.push_back(static_cast<std::byte>(c));
    return *this;
  }
  FileBuilder& pad4() {
    while (bytes_.size() % 4 != 0) bytes_.push_back(std::byte{0xEE});
    return *this;
  }

  FileBuilder& pcap_header(std::uint32_t magic, std::uint32_t link_type = 1, std::uint32_t snaplen = 65535) {
    return u32(magic).u16(2).u16(4).u32(0).u32(0).u32(snaplen).u32(link_type);
  }
  FileBuilder& pcap_record(std::uint32_t seconds, std::uint32_t fraction, std::string_view data,
                           std::uint32_t original = 0) {
    u32(seconds).u32(fraction).u32(data.size()).u32(original != 0 ? original : data.size());
    return raw(data);
  }

  /// `body` is complete except for its padding.
  FileBuilder& block(std::uint32_t type, FileBuilder body) {
    body.pad4();
    const std::size_t length = body.bytes_.size() + 12;
    u32(type).u32(length);
    bytes_.insert(bytes_.end(), body.bytes_.begin(), body.bytes_.end());
    return u32(length);
  }
  [[nodiscard]] FileBuilder body() const { return FileBuilder(big_endian_); }

  FileBuilder& option(std::uint16_t code, std::string_view value) {
    u16(code).u16(value.size()).raw(value);
    return pad4();
  }
  FileBuilder& option_u8(std::uint16_t code, std::uint8_t value) { return u16(code).u16(1).u8(value).pad4(); }
  FileBuilder& option_u32(std::uint16_t code, std::uint32_t value) { return u16(code).u16(4).u32(value); }
  FileBuilder& option_u64(std::uint16_t code, std::uint64_t value) { return u16(code).u16(8).u64(value); }
  FileBuilder& time(std::uint64_t units) { return u32(units >> 32).u32(units & 0xFFFFFFFF); }
  FileBuilder& end_options() { return u32(0); }

  FileBuilder& section(FileBuilder options = FileBuilder()) {
    FileBuilder content = body().u32(0x1A2B3C4D).u16(1).u16(0).u64(~std::uint64_t{0});
    return block(0x0A0D0D0A, content.join(options));
  }
  FileBuilder& interface(std::uint16_t link_type = 1, std::uint32_t snaplen = 0, FileBuilder options = FileBuilder()) {
    FileBuilder content = body().u16(link_type).u16(0).u32(snaplen);
    return block(1, content.join(options));
  }
  FileBuilder& enhanced(std::uint32_t interface_id, std::uint64_t time_units, std::string_view data,
                        FileBuilder options = FileBuilder(), std::uint32_t original = 0) {
    FileBuilder content = body();
    content.u32(interface_id).time(time_units).u32(data.size()).u32(original != 0 ? original : data.size()).raw(data);
    return block(6, content.pad4().join(options));
  }
  FileBuilder& join(const FileBuilder& other) {
    bytes_.insert(bytes_.end(), other.bytes_.begin(), other.bytes_.end());
    return *this;
  }

  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }

 private:
  FileBuilder& number(std::uint64_t value, unsigned width) {
    for (unsigned i = 0; i < width; ++i) {
      const unsigned shift = 8 * (big_endian_ ? width - 1 - i : i);
      bytes_.push_back(static_cast<std::byte>(value >> shift & 0xFF));
    }
    return *this;
  }

  bool big_endian_;
  std::vector<std::byte> bytes_;
};

/// A record that owns its bytes.
struct Record {
  std::string data;
  std::int64_t timestamp_ns = 0;
  std::uint32_t original_length = 0;
  std::uint32_t interface_id = 0;
  std::uint16_t link_type = 0;
  std::string comment;
  std::optional<std::uint32_t> flags;
  std::optional<std::uint64_t> drop_count;

  bool operator==(const Record&) const = default;
};

inline std::string text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline Record copy(const CaptureRecord& record) {
  return {text(record.bytes), record.timestamp_ns,         record.original_length, record.interface_id,
          record.link_type,   std::string(record.comment), record.flags,           record.drop_count};
}

inline std::vector<Record> read_all(CaptureReader& reader) {
  std::vector<Record> records;
  CaptureRecord record;
  while (reader.next(record)) records.push_back(copy(record));
  return records;
}

}  // namespace roce::link::test
