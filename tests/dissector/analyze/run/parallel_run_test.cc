// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/run/parallel_run.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <tuple>

#include "analyze/run/summary_model.h"
#include "analyze/run/worker_threads.h"
#include "dissector/analyze/program.h"
#include "support/source_tree.h"

namespace roce::analyze::test {
namespace {

using analysis::Message;
using analysis::Verdict;

/// Keeps all results of an analysis. They may come in any order; `sort` puts them in one order.
class Everything final : public AnalysisConsumer {
 public:
  explicit Everything(bool wants_packets) : wants_packets_(wants_packets) {}

  void on_verdict(const Verdict& verdict) override { verdicts.push_back(verdict); }
  void on_message(const Message& message) override { messages.push_back(message); }
  void on_answer(const analysis::Answer& answer) override { answers.push_back(answer); }
  [[nodiscard]] bool wants_packets() const override { return wants_packets_; }

  void sort() {
    std::sort(verdicts.begin(), verdicts.end(), [](const Verdict& a, const Verdict& b) {
      return std::tuple{a.packet, a.kind, a.first_psn.value(), a.other} <
             std::tuple{b.packet, b.kind, b.first_psn.value(), b.other};
    });
    std::sort(messages.begin(), messages.end(), [](const Message& a, const Message& b) {
      return std::tuple{a.stream, a.direction, a.number} < std::tuple{b.stream, b.direction, b.number};
    });
    std::sort(answers.begin(), answers.end(), [](const analysis::Answer& a, const analysis::Answer& b) {
      return std::tuple{a.response, a.request} < std::tuple{b.response, b.request};
    });
  }

  std::vector<Verdict> verdicts;
  std::vector<Message> messages;
  std::vector<analysis::Answer> answers;

 private:
  bool wants_packets_;
};

class ParallelRunTest : public ProgramTest {
 protected:
  /// Analyses a capture packet by packet and in batches with several threads, and expects the same results.
  void expect_same(const std::vector<std::string>& arguments, AnalysisRunOptions options = {}) {
    const InputFiles inputs = expand_inputs(arguments);
    options.quiet = true;
    Everything serial{true};
    const AnalysisResult expected = run_analysis(inputs.files, options, serial);
    serial.sort();
    EXPECT_GT(expected.counts.frames, 0U);
    for (const unsigned threads : {1U, 2U, 3U, 8U}) {
      SCOPED_TRACE(threads);
      Everything parallel{false};
      const AnalysisResult result = run_parallel(inputs.files, options, parallel, threads);
      parallel.sort();
      EXPECT_TRUE(serial.verdicts == parallel.verdicts);
      EXPECT_TRUE(serial.messages == parallel.messages);
      EXPECT_TRUE(serial.answers == parallel.answers);
      EXPECT_TRUE(result.counts == expected.counts);
      EXPECT_TRUE(result.files == expected.files);
      EXPECT_TRUE(result.streams == expected.streams);
      EXPECT_TRUE(result.evictions == expected.evictions);
      EXPECT_TRUE(result.pauses == expected.pauses);
      EXPECT_TRUE(result.sample == expected.sample);
    }
  }
};

TEST_F(ParallelRunTest, AllCapturesAsOne) {
  expect_same({roce::test::captures_folder() + "/softroce", roce::test::captures_folder() + "/made"});
}

TEST_F(ParallelRunTest, WithFewStreamsAtATime) {
  AnalysisRunOptions options;
  options.tracker.limits.streams = 3;
  expect_same({roce::test::captures_folder() + "/softroce"}, options);
}

TEST_F(ParallelRunTest, WindowOfTime) {
  AnalysisRunOptions options;
  options.window = TimeWindow::make("0.01", "0.2").value();
  expect_same({softroce("rc-drop-requests.rx.pcap")}, options);
}

TEST_F(ParallelRunTest, OnlyTheFirstFrames) {
  AnalysisRunOptions options;
  options.most_frames = 500;
  expect_same({roce::test::captures_folder() + "/softroce"}, options);
}

TEST_F(ParallelRunTest, CompressedAndDamagedFiles) {
  const std::string whole = softroce("rc-mix-v4.tx.pcap");
  const std::string cut = path("cut.pcap");
  std::filesystem::copy_file(whole, cut);
  std::filesystem::resize_file(cut, std::filesystem::file_size(cut) * 2 / 3);
  const std::string compressed = path("whole.pcap.gz");
  ASSERT_EQ(std::system(("gzip -c '" + whole + "' >'" + compressed + "'").c_str()), 0);
  expect_same({cut, compressed, path("not-there.pcap")});
}

TEST_F(ParallelRunTest, ProgramSaysTheSame) {
  std::string one;
  for (const char* threads : {"1", "2", "0"}) {
    const Outcome outcome = run({"--threads", threads, roce::test::captures_folder() + "/softroce"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    if (one.empty()) one = outcome.out;
    EXPECT_EQ(outcome.out, one);
  }
}

TEST(WorkerThreads, DoEachTaskOnce) {
  for (const unsigned count : {1U, 2U, 5U}) {
    WorkerThreads threads{count};
    for (std::size_t round = 0; round < 200; ++round) {
      std::vector<std::atomic<int>> calls(round);
      threads.run(round, [&](std::size_t task) { ++calls[task]; });
      EXPECT_TRUE(std::all_of(calls.begin(), calls.end(), [](const std::atomic<int>& each) { return each == 1; }));
    }
  }
}

TEST(WorkerThreads, HandOnWhatIsThrown) {
  WorkerThreads threads{3};
  EXPECT_THROW(threads.run(8,
                           [](std::size_t task) {
                             if (task == 5) throw std::runtime_error{"five"};
                           }),
               std::runtime_error);
  std::atomic<int> calls = 0;
  threads.run(4, [&](std::size_t) { ++calls; });
  EXPECT_EQ(calls, 4);
}

TEST(WorkerThreads, AreAtMostAsManyAsProcessors) {
  EXPECT_GE(thread_count(0), 1U);
  EXPECT_EQ(thread_count(1), 1U);
  EXPECT_EQ(thread_count(1'000'000), thread_count(0));
}

}  // namespace
}  // namespace roce::analyze::test
