// SPDX-License-Identifier: BSD-2-Clause
// Tests of a capture that is analysed piece by piece.
#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "dissector/analyze/program.h"

namespace roce::analyze::test {
namespace {

using nlohmann::json;
using ::testing::AnyOf;
using ::testing::HasSubstr;

class CarriedStateTest : public ProgramTest {
 protected:
  /// Cuts a capture at `cuts` random places.
  [[nodiscard]] std::vector<std::string> cut(const std::string& name, std::size_t cuts) {
    const std::string file = softroce(name);
    const std::uint64_t frames = json::parse(run({"--json", file}).out)["capture"]["frames"];
    std::set<std::uint64_t> ends{frames};
    while (ends.size() < 1 + cuts) ends.insert(1 + random_() % (frames - 1));
    std::vector<std::string> pieces;
    std::uint64_t from = 1;
    for (const std::uint64_t end : ends) {
      pieces.push_back(save_part(name + std::to_string(from) + ".pcapng", file, from, end));
      from = end + 1;
    }
    return pieces;
  }

  /// Returns the output of `command` for each piece, with the state carried from one piece to the next.
  [[nodiscard]] std::vector<std::string> one_by_one(const std::vector<std::string>& command,
                                                    const std::vector<std::string>& pieces) const {
    std::vector<std::string> outs;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      std::vector<std::string> arguments = command;
      if (i != 0) arguments.insert(arguments.end(), {"--after", path("state")});
      if (i + 1 != pieces.size()) arguments.insert(arguments.end(), {"--carry", path("state")});
      arguments.push_back(pieces[i]);
      const Outcome outcome = run(arguments);
      EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
      EXPECT_THAT(outcome.err, AnyOf("", HasSubstr("nothing matches"), HasSubstr("several capture points")));
      outs.push_back(outcome.out);
    }
    return outs;
  }

  [[nodiscard]] std::string at_once(std::vector<std::string> command, const std::vector<std::string>& pieces) const {
    command.insert(command.end(), pieces.begin(), pieces.end());
    return run(command).out;
  }

  void expect_the_same_lines(const std::vector<std::string>& command, const std::vector<std::string>& pieces) {
    std::vector<std::string> whole = lines(at_once(command, pieces));
    std::vector<std::string> parts;
    for (const std::string& out : one_by_one(command, pieces)) {
      for (std::string& line : lines(out)) parts.push_back(std::move(line));
    }
    for (std::vector<std::string>* all : {&whole, &parts}) {
      for (std::string& line : *all) line = without_number(line);
      std::sort(all->begin(), all->end());
    }
    EXPECT_FALSE(whole.empty());
    EXPECT_EQ(parts, whole);
  }

  // Events are numbered in the order of printing, and one about a packet of an earlier piece is printed later.
  static std::string without_number(const std::string& line) {
    json event = json::parse(line);
    event.erase("event");
    return event.dump();
  }

  std::mt19937_64 random_{20261123};
};

constexpr std::array kCaptures{"rc-drop-random.rx.pcap", "rc-drop-random.tx.pcap", "rc-drop-read-middle.rx.pcap",
                               "rc-reorder.rx.pcap",     "rc-psn-wrap.rx.pcap",    "rc-duplicate.rx.pcap",
                               "rc-corrupt.rx.pcap",     "rc-ecn-ce.rx.pcap",      "rc-rnr.tx.pcap"};

TEST_F(CarriedStateTest, EventsAreThoseOfTheWhole) {
  for (const char* const name : kCaptures) {
    SCOPED_TRACE(name);
    for (int round = 0; round < 3; ++round) expect_the_same_lines({"events", "--json"}, cut(name, 1 + random_() % 3));
  }
}

TEST_F(CarriedStateTest, EventsAreNumberedOn) {
  const std::vector<std::string> pieces = cut("rc-drop-random.rx.pcap", 3);
  std::uint64_t number = 0;
  for (const std::string& out : one_by_one({"events", "--json"}, pieces)) {
    for (const std::string& line : lines(out)) EXPECT_EQ(json::parse(line)["event"], ++number);
  }
  EXPECT_EQ(number, lines(at_once({"events", "--json"}, pieces)).size());
}

TEST_F(CarriedStateTest, MessagesAreThoseOfTheWhole) {
  for (const char* const name : kCaptures) {
    SCOPED_TRACE(name);
    expect_the_same_lines({"messages", "--json"}, cut(name, 2));
  }
}

TEST_F(CarriedStateTest, TheLastSummaryIsThatOfTheWhole) {
  for (const char* const name : kCaptures) {
    SCOPED_TRACE(name);
    const std::vector<std::string> pieces = cut(name, 3);
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"summary", "--json"}, {"summary"}, {"streams", "--json"}, {"streams"}}) {
      EXPECT_EQ(one_by_one(command, pieces).back(), at_once(command, pieces));
    }
  }
}

TEST_F(CarriedStateTest, SeveralConnectionsEndAndBegin) {
  std::vector<std::string> pieces;
  for (const char* const name : {"rc-drop-requests.tx.pcap", "ud-mix.tx.pcap", "rc-rnr.tx.pcap"}) {
    for (std::string& piece : cut(name, 2)) pieces.push_back(std::move(piece));
  }
  expect_the_same_lines({"events", "--json"}, pieces);
  expect_the_same_lines({"messages", "--json"}, pieces);
  EXPECT_EQ(one_by_one({"summary", "--json"}, pieces).back(), at_once({"summary", "--json"}, pieces));
}

TEST_F(CarriedStateTest, DoesNotDependOnTheCommandThatWroteIt) {
  const std::vector<std::string> pieces = cut("rc-drop-random.rx.pcap", 1);
  EXPECT_EQ(run({"events", "--carry", path("state"), pieces[0]}).exit_code, 0);
  EXPECT_EQ(run({"summary", "--json", "--after", path("state"), pieces[1]}).out,
            at_once({"summary", "--json"}, pieces));
  EXPECT_EQ(run({"streams", "--json", "--after", path("state"), pieces[1]}).out,
            at_once({"streams", "--json"}, pieces));
}

TEST_F(CarriedStateTest, WhatIsOpenIsNotJudgedYet) {
  // With --carry a request at the end of a file is not unanswered yet: the next file may hold its response.
  const std::string file = softroce("rc-blackhole.tx.pcap");
  const std::vector<std::string> ended = lines(run({"events", "--json", "--verdict", "no_answer", file}).out);
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(run({"events", "--json", "--verdict", "no_answer", "--carry", path("state"), file}).out, "");
  const std::string nothing = save_frames("nothing.pcapng", {});
  const std::vector<std::string> later =
      lines(run({"events", "--json", "--verdict", "no_answer", "--after", path("state"), nothing}).out);
  ASSERT_EQ(later.size(), 1U);
  EXPECT_EQ(without_number(later[0]), without_number(ended[0]));
}

TEST_F(CarriedStateTest, FilterSeesThePacketsOfItsRun) {
  const std::vector<std::string> pieces = cut("rc-drop-random.tx.pcap", 1);
  EXPECT_EQ(run({"events", "--carry", path("state"), pieces[0]}).exit_code, 0);
  const Outcome outcome =
      run({"events", "--json", "-Y", "roce.analysis.retransmission", "--after", path("state"), pieces[1]});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  std::size_t expected = 0;
  for (const std::string& line : lines(at_once({"events", "--json", "--verdict", "retransmission"}, pieces))) {
    expected += json::parse(line)["file"] == pieces[1] ? 1U : 0U;
  }
  std::size_t found = 0;
  for (const std::string& line : lines(outcome.out))
    found += json::parse(line)["verdict"] == "retransmission" ? 1U : 0U;
  EXPECT_GT(expected, 0U);
  EXPECT_EQ(found, expected);
}

TEST_F(CarriedStateTest, StatesThatCannotBeGoneOnFrom) {
  const std::string file = softroce("rc-drop-random.rx.pcap");
  EXPECT_EQ(run({"--carry", path("state"), file}).exit_code, 0);
  const std::string whole = load(path("state"));
  const auto refused = [&](const std::string& state, std::string_view why) {
    const Outcome outcome = run({"events", "--after", state, file});
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr(state));
    EXPECT_THAT(outcome.err, HasSubstr(std::string{why}));
  };
  refused(path("missing"), "No such file");
  refused(save("empty", ""), "no state that --carry wrote");
  refused(file, "no state that --carry wrote");
  refused(save("newer", "roce-analyze state 77\n{}\n"), "another version: 'roce-analyze state 77'");
  refused(save("head", whole.substr(0, 100)), "ends in its head, at byte 100");
  refused(save("half", whole.substr(0, whole.size() - 100)), "ends early");
  refused(save("no-json", "roce-analyze state 4\nthat is not JSON\n"), "its head is damaged");
  refused(save("other-json", "roce-analyze state 4\n{\"files\": 7}\n"), "its head is damaged");
  std::string bent = whole;
  bent[whole.size() - 500] = static_cast<char>(bent[whole.size() - 500] ^ 1);
  refused(save("bent", bent), "checksum");
}

TEST_F(CarriedStateTest, StatesThatCannotBeWritten) {
  const std::string file = softroce("rc-drop-random.rx.pcap");
  const Outcome nowhere = run({"events", "--carry", path("missing/state"), file});
  EXPECT_EQ(nowhere.exit_code, 1);
  EXPECT_THAT(nowhere.err, HasSubstr("missing/state: cannot create: No such file or directory"));
  // The state must not count output as printed that could not be written.
  EXPECT_EQ(run({"events", "--carry", path("state"), file}, {}, "/dev/full").exit_code, 1);
  EXPECT_FALSE(std::filesystem::exists(path("state")));
  EXPECT_FALSE(std::filesystem::exists(path("state.partial")));
  EXPECT_EQ(run({"summary", "--quick", "--carry", path("state"), file}).exit_code, 2);
}

TEST_F(CarriedStateTest, DamagedPieceCountsAsFarAsItGoes) {
  const std::string file = softroce("rc-drop-requests.rx.pcap");
  std::string bytes = load(save_part("first.pcapng", file, 1, 100));
  bytes.replace(bytes.size() / 2, 4000, 4000, '\xFF');
  const std::string broken = save("piece1.pcapng", bytes);
  const std::string rest = save_part("piece2.pcapng", file, 101, 170);
  const Outcome first = run({"--carry", path("state"), broken});
  EXPECT_EQ(first.exit_code, 1);
  EXPECT_NE(first.err, "");
  const Outcome next = run({"summary", "--json", "--after", path("state"), rest});
  // The run before has already reported the damage of that file.
  EXPECT_EQ(next.exit_code, 0);
  EXPECT_EQ(next.err, "");
  EXPECT_EQ(next.out, at_once({"summary", "--json"}, {broken, rest}));
}

}  // namespace
}  // namespace roce::analyze::test
