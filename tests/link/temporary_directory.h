// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>

namespace roce::link::test {

/// A test with a folder of its own, deleted afterwards.
class TemporaryDirectory : public ::testing::Test {
 protected:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "roce-link-XXXXXX").string();
    if (mkdtemp(pattern.data()) != nullptr) folder_ = pattern;
  }
  ~TemporaryDirectory() override {
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }
  void SetUp() override { ASSERT_FALSE(folder_.empty()) << "cannot make a temporary folder"; }

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string save(const std::string& name, std::span<const std::byte> bytes) const {
    std::ofstream(path(name), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return path(name);
  }
  [[nodiscard]] static std::string load(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace roce::link::test
