// SPDX-License-Identifier: BSD-2-Clause
#include <cstdio>

#include "made_frames.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: make_captures FOLDER\nWrites the captures of captures/made into FOLDER.\n", stderr);
    return 2;
  }
  for (const roce::test::MadeCapture& capture : roce::test::made_captures()) {
    const std::string path = std::string{argv[1]} + '/' + capture.name + ".pcapng";
    if (const std::string error = roce::test::write_capture(capture, path); !error.empty()) {
      std::fprintf(stderr, "make_captures: %s\n", error.c_str());
      return 2;
    }
    std::printf("%s: %zu frames\n", path.c_str(), capture.frames.size());
  }
}
