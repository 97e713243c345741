// SPDX-License-Identifier: BSD-2-Clause
// Calls a fuzz target with files, and with the files in folders: the corpora run as tests where there is no libFuzzer.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

bool replay(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  // A vector of exactly the file's size, so that a sanitizer sees every byte read beyond it.
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  if (!file && !file.eof()) {
    std::cerr << path << ": cannot be read\n";
    return false;
  }
  // The path printed last is that of the input that failed.
  std::cout << path.string() << std::endl;
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t count = 0;
  for (int i = 1; i < argc; ++i) {
    std::vector<std::filesystem::path> paths;
    if (std::filesystem::is_directory(argv[i])) {
      for (const auto& entry : std::filesystem::directory_iterator(argv[i])) paths.push_back(entry.path());
    } else {
      paths.emplace_back(argv[i]);
    }
    for (const auto& path : paths) {
      if (!replay(path)) return 1;
      ++count;
    }
  }
  std::cout << count << " files\n";
  return count == 0 ? 1 : 0;
}
