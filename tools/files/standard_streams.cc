// SPDX-License-Identifier: BSD-2-Clause
#include "files/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "roce/link/output_file.h"

namespace roce::files {

namespace {

void end_by(int signal) {
  link::OutputFile::remove_unfinished();
  // The handler was set for one signal only, so that this one ends the program.
  std::raise(signal);
}

}  // namespace

void begin_program() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    // The lowest free number is that of the stream. A write to a stream that can only be read fails.
    if (::fcntl(stream, F_GETFD) < 0 && ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0) return;
  }
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) continue;
    action.sa_handler = end_by;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    ::sigaction(signal, &action, nullptr);
  }
  std::signal(SIGXFSZ, SIG_IGN);
}

int end_program(const char* program, int code, int failed) {
  const bool had_failed = std::ferror(stdout) != 0;
  errno = 0;
  if (std::fflush(stdout) == 0 && !had_failed) return code;
  // A reader that has gone (`| head`) has what it wanted.
  if (errno == EPIPE) return code;
  if (code != 0) return code;
  const char* const why = errno != 0 ? std::strerror(errno) : "what was printed is not whole; is the disk full?";
  std::fprintf(stderr, "%s: cannot write to standard output: %s\n", program, why);
  return failed;
}

}  // namespace roce::files
