// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analyze/input/growing_folder.h"
#include "analyze/input/input_files.h"
#include "roce/link/capture_reader.h"
#include "roce/wire/time.h"
#include "runtime/stop_signal.h"

namespace roce::analyze {

/// An input that goes on while it is read: a file that grows, a folder into which files come, a pipe, or a network
/// interface. Ends at SIGINT and SIGTERM. Whoever reads is asked between packets, and from within a wait for the next
/// one, to show what is known so far.
class Following {
 public:
  struct Source {
    enum class Kind : std::uint8_t { file, folder, interface };
    Kind kind = Kind::file;
    std::string name;  ///< path, "-" for standard input, or the name of an interface
  };

  /// How often something new is shown, at least while that takes less than a tenth of the time.
  static constexpr Duration kInterval = std::chrono::milliseconds{500};

  explicit Following(Source source);
  ~Following();
  Following(const Following&) = delete;
  Following& operator=(const Following&) = delete;

  /// Sets what is called to show what is known so far. It must not read on.
  void on_tick(std::function<void()> tick) { tick_ = std::move(tick); }

  /// Sets what is called when `fd` is readable: something to do beside the reading, such as requests from elsewhere.
  void watch(int fd, std::function<void()> serve) {
    watched_ = fd;
    serve_ = std::move(serve);
  }
  /// Has what is known so far shown soon, even if it is not time or nothing has come.
  void ask() { is_asked_ = true; }
  /// Keeps waiting after the end of a pipe, until it is stopped.
  void stay() { stays_ = true; }

  /// Waits for the first or next file. Returns nothing once there will be none, or it was stopped.
  [[nodiscard]] std::optional<InputFile> next_file();
  /// Opens the file that `next_file` returned.
  [[nodiscard]] link::Result<link::CaptureReader> open(const InputFile& file);
  /// Tells how much of the latest file was read. Returns a sentence if it ends with a packet that is not whole,
  /// although its writer has gone on to the next file.
  [[nodiscard]] std::optional<std::string> close(const InputFile& file, std::uint64_t bytes);
  /// To be called after each frame: shows what is known so far when it is time.
  void after_frame() {
    if (++frames_ % kFramesBetweenLooks == 0) look_at_clock();
  }

  [[nodiscard]] bool is_stopped() const { return is_stopped_; }
  /// Returns sentences about what was not read, for people.
  [[nodiscard]] std::vector<std::string> problems() const;

 private:
  static constexpr std::uint64_t kFramesBetweenLooks = 256;

  [[nodiscard]] bool wait(int fd);
  [[nodiscard]] bool has_next();
  void pause(int fd);
  void look_at_clock();
  void show();

  Source source_;
  std::optional<GrowingFolder> folder_;
  std::function<void()> tick_;
  std::function<void()> serve_;
  int watched_ = -1;
  runtime::StopSignal stop_;
  int changes_ = -1;        ///< inotify: what was written
  bool was_given_ = false;  ///< `next_file` has returned the only file
  Time looked_{};           ///< when the folder was looked at last
  bool has_newer_ = false;  ///< a newer file is there: the current one has all that it will have
  bool is_stopped_ = false;
  bool is_asked_ = false;
  bool stays_ = false;
  std::uint64_t frames_ = 0;
  std::optional<std::uint64_t> shown_;  ///< `frames_` at the latest call of `tick_`
  Time due_{};                          ///< the time of the next one
};

}  // namespace roce::analyze
