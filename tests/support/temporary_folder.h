// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <gtest/gtest.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

namespace roce::test {

/// A folder that nobody else has, deleted with this. Tests of one program run in several processes at once, so a file
/// of a fixed name would belong to them all.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "roce-test-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr)
      throw std::filesystem::filesystem_error{"cannot make a folder", last_error()};
    folder_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }

 private:
  static std::error_code last_error() { return {errno, std::generic_category()}; }

  std::filesystem::path folder_;
};

/// A test with a folder of its own.
class FolderTest : public ::testing::Test {
 protected:
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_.folder(); }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.path(name); }

  /// Writes a file into the folder and returns its path.
  std::string save(const std::string& name, std::string_view bytes) const {
    std::ofstream(path(name), std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return path(name);
  }
  std::string save(const std::string& name, std::span<const std::byte> bytes) const {
    return save(name, std::string_view{reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  [[nodiscard]] static std::string load(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace roce::test
