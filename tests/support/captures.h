// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "roce/link/capture_reader.h"
#include "roce/wire/packet.h"
#include "support/source_tree.h"

namespace roce::test {

/// Returns the paths of the captures of real traffic in the source tree, sorted.
inline std::vector<std::filesystem::path> capture_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path{roce::test::captures_folder()} / "softroce")) {
    if (entry.path().extension() == ".pcap") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

/// Calls `use(const link::CaptureRecord&)` for each packet of a capture; throws if the file is not in order.
template <typename Use>
void for_each_record(const std::filesystem::path& path, Use use) {
  auto reader = link::CaptureReader::open(path.string());
  if (!reader) throw std::runtime_error(reader.error().message);
  link::CaptureRecord record;
  while (reader->next(record)) use(record);
  if (reader->error()) throw std::runtime_error(reader->error()->message);
  if (!reader->warnings().empty()) throw std::runtime_error(reader->warnings().front().message);
}

/// Returns a name for a parameterised test: letters, digits and underscores.
inline std::string test_name(const std::filesystem::path& path) {
  std::string name = path.stem().string();
  std::ranges::replace_if(
      name, [](char c) { return c == '-' || c == '.'; }, '_');
  return name;
}

}  // namespace roce::test
