// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "link/byte_window.h"
#include "link/diagnostics.h"
#include "link/pcapng_options.h"
#include "link/timestamp_scale.h"
#include "roce/link/capture_record.h"

namespace roce::link::detail {

/// Walks the blocks of a pcapng file.
class PcapngReader {
 public:
  PcapngReader(ByteWindow& window, Diagnostics& diagnostics, std::vector<CaptureInterface>& interfaces,
               std::vector<CaptureSection>& sections)
      : window_(window), diagnostics_(diagnostics), interfaces_(interfaces), sections_(sections) {}

  /// Reads the section header at the start of the file; false in the cases of next().
  bool read_first_section(CaptureCursor& cursor);

  /// Fills all of `record` but its number. False at the end, and after an error: a cut or damage.
  bool next(CaptureCursor& cursor, CaptureRecord& record);

 private:
  enum class Step : std::uint8_t { skipped, packet, stop };

  struct PacketShape {
    std::uint32_t interface_in_section;
    std::uint32_t captured;
    std::size_t header_bytes;
  };

  template <typename T>
  [[nodiscard]] T get(const std::byte* from) const {
    return load<T>(from, swapped_);
  }
  [[nodiscard]] std::uint64_t timestamp_units(const std::byte* from) const {
    return static_cast<std::uint64_t>(get<std::uint32_t>(from)) << 32 | get<std::uint32_t>(from + 4);
  }

  Step read_block(CaptureCursor& cursor, CaptureRecord& record);
  bool begin_section(CaptureCursor& cursor);
  Step skip_block(CaptureCursor& cursor, std::uint32_t type, std::uint32_t length);
  Step read_body(std::uint32_t type, Bytes body, std::uint64_t offset, CaptureRecord& record);
  Step read_section(Bytes body, std::uint64_t offset);
  Step read_interface(Bytes body, std::uint64_t offset);
  Step read_statistics(Bytes body, std::uint64_t offset);
  Step read_enhanced(Bytes body, std::uint64_t offset, CaptureRecord& record);
  Step read_simple(Bytes body, std::uint64_t offset, CaptureRecord& record);
  Step read_obsolete(Bytes body, std::uint64_t offset, CaptureRecord& record);
  Step take_packet(Bytes body, std::uint64_t offset, const PacketShape& shape, CaptureRecord& record);
  void read_packet_options(Bytes options, std::uint64_t offset, CaptureRecord& record);
  [[nodiscard]] bool knows_interface(std::uint32_t in_section, std::uint64_t offset, const char* block);
  Step fail_short(const char* block, std::uint64_t offset, std::size_t needed, std::size_t found);
  Step end_inside(const CaptureCursor& cursor, std::uint64_t offset, std::uint64_t needed, const std::string& what);
  [[nodiscard]] bool trailer_matches(const std::byte* trailer, std::uint32_t type, std::uint32_t length,
                                     std::uint64_t offset);
  [[nodiscard]] std::string damaged_from_here() const;
  void warn_options(std::uint64_t offset);

  ByteWindow& window_;
  Diagnostics& diagnostics_;
  std::vector<CaptureInterface>& interfaces_;
  std::vector<CaptureSection>& sections_;
  std::vector<TimestampScale> scales_;  // one for each of interfaces_
  std::size_t first_interface_ = 0;     // index of the current section's first
  std::uint64_t packets_ = 0;
  bool swapped_ = false;
};

}  // namespace roce::link::detail
