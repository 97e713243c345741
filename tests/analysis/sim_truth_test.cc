// SPDX-License-Identifier: BSD-2-Clause
// The analyser on seeded runs of our own endpoint in the simulator, where it is known what became of each packet.
// ROCE_SEED=<seed> reruns one seed and prints everything about it; ROCE_FIRST_SEED=<seed> ROCE_RUNS=<count> runs
// others.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "analysis/sim_truth_judge.h"
#include "support/sanitized.h"

namespace roce::sim_truth {
namespace {

using analysis::Verdict;
using analysis::VerdictKind;

constexpr std::uint64_t kRunsPerTest = test::kIsSanitized ? 20 : 250;
constexpr std::uint32_t kWithheld = 50;  ///< packets of a thousand
/// Values that the tracker reaches in every case, so that it cannot get worse unnoticed. The aim is 0.9995 and
/// 0.998 (docs/analysis.md, "How good it is").
struct Reached {
  double precision;
  double recall;
};
constexpr Reached kWhole{0.9985, 0.999};
constexpr Reached kWithPacketsWithheld{0.9975, 0.9982};
/// With so few runs, a single bad one shows.
constexpr Reached kFewRuns{0.975, 0.97};
constexpr double kMostFalseEnds = 0.001;       ///< share of messages whose end may be wrong
constexpr double kMostExcess = 0.04;           ///< share of the packets that are said to be lost and were not
constexpr double kMostContradictions = 0.002;  ///< share of what the rules call for that may be wrong

std::optional<std::uint64_t> seed_of_environment() {
  const char* seed = std::getenv("ROCE_SEED");
  if (seed == nullptr) return std::nullopt;
  return std::strtoull(seed, nullptr, 0);
}

struct Tally {
  std::uint64_t events = 0;        ///< verdicts that would be true
  std::uint64_t determinable = 0;  ///< verdicts that the capture calls for
  std::uint64_t found = 0;         ///< verdicts of these that the tracker found
  std::uint64_t right = 0;
  std::uint64_t wrong = 0;
  std::uint64_t unknowable = 0;
};

/// One run, in one view.
class Case {
 public:
  Case(const Run& run, std::uint32_t withheld) : view_(run, capture(run, withheld)), verdicts_(judge_view(view_)) {
    for (const Verdict& verdict : verdicts_) judgements_.push_back(judge(view_, verdict));
  }

  /// Adds to the table; returns all failures as (kind of failure, text).
  std::vector<std::pair<std::string, std::string>> add_to(std::map<VerdictKind, Tally>& table) {
    std::vector<std::pair<std::string, std::string>> failures;
    for (std::size_t i = 0; i < verdicts_.size(); ++i) {
      const Verdict& verdict = verdicts_[i];
      if (!is_judged(verdict.kind) && judgements_[i].channel != kNone) continue;
      Tally& tally = table[verdict.kind];
      switch (judgements_[i].ruling) {
        case Ruling::right:
          ++tally.right;
          break;
        case Ruling::unknowable:
          ++tally.unknowable;
          break;
        case Ruling::wrong:
          ++tally.wrong;
          failures.emplace_back(
              fmt::format("false {}: {}", verdict_info(verdict.kind).name, plain(judgements_[i].why)),
              said(verdict.packet.frame, describe(view_, verdict) + ": FALSE, " + judgements_[i].why));
      }
    }
    for (const Unit& unit : evidence(view_)) {
      const std::string contradiction = why_wrong(unit);
      if (contradiction == "(unknowable)") continue;
      if (!contradiction.empty()) {
        ++contradictions;
        failures.emplace_back(
            fmt::format("RULE {} ({}): {}", verdict_info(unit.kind).name, unit.why, plain(contradiction)),
            said(view_.numbers[unit.passage], text_of(unit) + " is not true: " + contradiction));
        continue;
      }
      Tally& tally = table[unit.kind];
      ++tally.determinable;
      if (is_found(unit)) {
        ++tally.found;
        continue;
      }
      failures.emplace_back(fmt::format("missing {} ({})", verdict_info(unit.kind).name, unit.why),
                            said(view_.numbers[unit.passage], text_of(unit) + " is MISSING"));
    }
    return failures;
  }

  std::uint64_t contradictions = 0;

  [[nodiscard]] std::string everything() const {
    std::string text = trace(view_, kNone, 0, 0);
    for (std::size_t i = 0; i < verdicts_.size(); ++i) {
      constexpr std::array<std::string_view, 3> names{"right", "WRONG", "unknowable"};
      text += fmt::format("  {} {} {}\n", names[static_cast<std::size_t>(judgements_[i].ruling)],
                          describe(view_, verdicts_[i]), judgements_[i].why);
    }
    return text;
  }
  [[nodiscard]] const std::vector<Verdict>& verdicts() const { return verdicts_; }
  [[nodiscard]] const View& view() const { return view_; }

 private:
  // Removes the PSN, so that equal failures are counted together.
  static std::string plain(std::string text) {
    if (text.starts_with("PSN ")) text.erase(0, text.find(": ") + 2);
    return text;
  }

  [[nodiscard]] std::string text_of(const Unit& unit) const {
    std::string text = fmt::format("{} of frame {} ", verdict_info(unit.kind).name, view_.numbers[unit.passage]);
    if (unit.count != 0) text += fmt::format("PSN {}+{} ", unit.first & 0xFF'FFFF, unit.count);
    return text + fmt::format("({})", unit.why);
  }

  [[nodiscard]] std::string said(std::size_t frame, const std::string& what) const {
    const std::size_t passage = view_.kept[frame - 1];
    std::string text = fmt::format("seed {} ({})\n  {}\n", view_.run->seed, view_.run->text, what);
    text += trace(view_, passage, 9, 8);
    const std::uint64_t frames = 40;
    for (std::size_t i = 0; i < verdicts_.size(); ++i) {
      const std::uint64_t of = verdicts_[i].packet.frame;
      if (of + frames < frame || of > frame + frames || judgements_[i].channel == kNone) continue;
      const auto qp = [&](std::size_t channel) { return view_.run->channels[channel].qp; };
      const std::size_t here = view_.run->sent_of(passage).channel;
      if (here != kNone && qp(here) != qp(judgements_[i].channel)) continue;
      if (of + 12 < frame || of > frame + 12) continue;
      text += fmt::format("    said: {}{}\n", describe(view_, verdicts_[i]),
                          judgements_[i].ruling == Ruling::wrong ? "  (false)" : "");
    }
    return text;
  }

  [[nodiscard]] std::string why_wrong(const Unit& unit) const {
    Verdict verdict;
    verdict.kind = unit.kind;
    verdict.packet = {view_.numbers[unit.passage], 0};
    verdict.first_psn = Psn{static_cast<std::uint32_t>(unit.first & 0xFF'FFFF)};
    verdict.psn_count = unit.count;
    const Judgement judgement = judge(view_, verdict);
    if (judgement.ruling == Ruling::unknowable) return "(unknowable)";
    return judgement.ruling == Ruling::right ? "" : judgement.why;
  }

  [[nodiscard]] bool is_found(const Unit& unit) const {
    for (std::size_t i = 0; i < verdicts_.size(); ++i) {
      if (judgements_[i].ruling != Ruling::right) continue;
      if (is_met(unit, verdicts_[i], judgements_[i])) return true;
    }
    return false;
  }

  [[nodiscard]] bool is_met(const Unit& unit, const Verdict& verdict, const Judgement& judgement) const {
    using enum VerdictKind;
    const bool is_same_packet = view_.kept[verdict.packet.frame - 1] == unit.passage;
    const bool has_psns = unit.count != 0 && judgement.channel == unit.channel && judgement.first <= unit.first &&
                          judgement.first + verdict.psn_count >= unit.first + unit.count;
    switch (unit.kind) {
      case request_lost_before:
      case response_lost_before:
      case missed_by_capture:
      case reordered:
        return verdict.kind == unit.kind && has_psns;
      case lost_beyond: {
        // A verdict that claims more counts as well.
        const bool is_loss = verdict.kind == request_lost_after || verdict.kind == response_lost_after ||
                             verdict.kind == request_lost_before || verdict.kind == response_lost_before ||
                             verdict.kind == lost_beyond;
        const LongPsn psn = view_.run->sent_of(unit.passage).psn;
        const bool is_about =
            judgement.channel == unit.channel && judgement.first <= psn && psn < judgement.first + verdict.psn_count;
        return is_loss && (is_same_packet || is_about);
      }
      case response_not_in_time:
        return is_same_packet && (verdict.kind == response_lost_after || verdict.kind == response_not_in_time);
      default:
        return verdict.kind == unit.kind && is_same_packet && (unit.count == 0 || has_psns);
    }
  }

  View view_;
  std::vector<Verdict> verdicts_;
  std::vector<Judgement> judgements_;
};

std::string share(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "-";
  const std::uint64_t rounded_down = part * 10'000 / whole;
  return fmt::format("{}.{:02} %", rounded_down / 100, rounded_down % 100);
}

std::string table_text(const std::map<VerdictKind, Tally>& table) {
  std::string text = fmt::format("{:26} {:>12} {:>8} {:>8} {:>6} {:>10} {:>10} {:>9}\n", "", "determinable", "found",
                                 "right", "false", "unknowable", "precision", "recall");
  for (const auto& [kind, tally] : table) {
    text += fmt::format("{:26} {:>12} {:>8} {:>8} {:>6} {:>10} {:>10} {:>9}\n", verdict_info(kind).name,
                        tally.determinable, tally.found, tally.right, tally.wrong, tally.unknowable,
                        share(tally.right, tally.right + tally.wrong), share(tally.found, tally.determinable));
  }
  return text;
}

using Parameters = std::tuple<std::string_view, std::uint32_t, std::uint64_t>;

class SimTruth : public testing::TestWithParam<Parameters> {};

std::string name_of(const testing::TestParamInfo<Parameters>& test) {
  const auto& [profile, withheld, part] = test.param;
  return fmt::format("{}_{}_{}", profile, withheld == 0 ? "full" : "withheld", part);
}

TEST_P(SimTruth, VerdictsAreTrueAndComplete) {
  const auto [profile, withheld, part] = GetParam();
  const std::optional<std::uint64_t> only = seed_of_environment();
  std::uint64_t first = only.value_or(1 + part * 10'000);
  if (const char* from = std::getenv("ROCE_FIRST_SEED"); from != nullptr && !only) {
    first = std::strtoull(from, nullptr, 0) + part * 10'000;
  }
  if (only && *only / 10'000 % 4 != part) GTEST_SKIP() << "another part has the seed";
  std::uint64_t count = only ? 1 : kRunsPerTest;
  if (const char* runs = std::getenv("ROCE_RUNS"); runs != nullptr && !only) count = std::strtoull(runs, nullptr, 0);
  std::map<VerdictKind, Tally> table;
  std::map<std::string, std::vector<std::string>> failures;
  std::uint64_t packets = 0;
  std::uint64_t contradictions = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const auto run = make_run(seed, profile, Weather::faulty);
    ASSERT_EQ(run.failure, "") << "seed " << seed;
    packets += run.passages.size();
    Case one(run, withheld);
    for (auto& [kind, text] : one.add_to(table)) failures[kind].push_back(std::move(text));
    contradictions += one.contradictions;
    if (only) std::printf("%s\n%s", run.text.c_str(), one.everything().c_str());
  }
  std::vector<std::pair<std::string, std::vector<std::string>>> sorted(failures.begin(), failures.end());
  std::ranges::stable_sort(sorted, [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  std::printf("%s, %u of 1000 withheld, %llu packets\n%s", std::string(profile).c_str(), withheld,
              static_cast<unsigned long long>(packets), table_text(table).c_str());
  std::uint64_t right = 0;
  std::uint64_t wrong = 0;
  std::uint64_t determinable = 0;
  std::uint64_t found = 0;
  for (const auto& [kind, tally] : table) {
    right += tally.right;
    wrong += tally.wrong;
    determinable += tally.determinable;
    found += tally.found;
  }
  std::printf("%s\n",
              fmt::format("precision {}, recall {}", share(right, right + wrong), share(found, determinable)).c_str());
  for (const auto& [kind, texts] : sorted) std::printf("%6zu x %s\n", texts.size(), kind.c_str());
  if (const char* path = std::getenv("ROCE_FAILURES")) {
    if (std::FILE* file = std::fopen(path, "a"); file != nullptr) {
      for (const auto& [kind, texts] : sorted) {
        fmt::print(file, "#### {} x {} [{}, {} of 1000 withheld]\n", texts.size(), kind, profile, withheld);
        for (std::size_t i = 0; i < texts.size() && i < 4; ++i) fmt::print(file, "{}\n", texts[i]);
      }
      (void)std::fclose(file);
    }
  }
  std::string examples;
  for (std::size_t i = 0; i < sorted.size() && i < 5; ++i)
    examples += sorted[i].first + "\n" + sorted[i].second.front() + "\n";
  const Reached& least = test::kIsSanitized ? kFewRuns : withheld == 0 ? kWhole : kWithPacketsWithheld;
  EXPECT_GE(static_cast<double>(right), least.precision * static_cast<double>(right + wrong)) << examples;
  EXPECT_GE(static_cast<double>(found), least.recall * static_cast<double>(determinable)) << examples;
  EXPECT_LE(static_cast<double>(contradictions), kMostContradictions * static_cast<double>(determinable)) << examples;
  EXPECT_GT(determinable, 0U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, SimTruth,
                         testing::Combine(testing::Values("rxe", "hardware_like"), testing::Values(0U, kWithheld),
                                          testing::Range(std::uint64_t{0}, std::uint64_t{4})),
                         name_of);

class SimMessages : public testing::TestWithParam<std::string_view> {};

TEST_P(SimMessages, EndWithAnswersThatArrived) {
  constexpr std::uint64_t kRuns = test::kIsSanitized ? 20 : 150;
  std::size_t ended = 0;
  std::vector<std::string> wrong;
  for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
    const auto run = make_run(seed, GetParam(), Weather::faulty);
    ASSERT_EQ(run.failure, "") << "seed " << seed;
    const View view(run, capture(run, 0));
    for (const analysis::Message& message : messages_of(view)) {
      if (message.end != analysis::MessageEnd::acknowledged) continue;
      ++ended;
      if (const std::string why = why_not_ended(view, message); !why.empty()) {
        wrong.push_back(fmt::format("seed {}: message of frame {} PSN {}+{}, answer {}: {}", seed, message.first.frame,
                                    message.first_psn.value(), message.psn_count, message.answer.frame, why));
      }
    }
  }
  std::printf("%s: %zu of %zu messages did not end so\n", std::string(GetParam()).c_str(), wrong.size(), ended);
  EXPECT_GT(ended, 1000U);
  const std::string example = wrong.empty() ? "" : wrong.front();
  EXPECT_LE(static_cast<double>(wrong.size()), kMostFalseEnds * static_cast<double>(ended)) << example;
}

INSTANTIATE_TEST_SUITE_P(Seeds, SimMessages, testing::Values("rxe", "hardware_like"),
                         [](const auto& test) { return std::string(test.param); });

/// Packets that were lost, as a headline counts them: by channel, and in all.
struct LostPackets {
  std::map<std::size_t, std::uint64_t> said;   ///< by all verdicts
  std::map<std::size_t, std::uint64_t> right;  ///< by those that are true
  std::map<std::size_t, std::uint64_t> lost;   ///< in truth, on either side of the capture point

  /// Returns how many packets are counted that were not lost, or were counted already.
  [[nodiscard]] std::uint64_t excess(const std::map<std::size_t, std::uint64_t>& counted) const {
    std::uint64_t sum = 0;
    for (const auto& [channel, count] : counted) {
      const auto found = lost.find(channel);
      sum += count - std::min(count, found == lost.end() ? 0 : found->second);
    }
    return sum;
  }
};

LostPackets lost_packets(const Run& run) {
  const View view(run, capture(run, 0));
  LostPackets packets;
  for (const Verdict& verdict : judge_view(view)) {
    const Judgement judgement = judge(view, verdict);
    packets.said[judgement.channel] += verdict.lost_packets;
    if (judgement.ruling == Ruling::right) packets.right[judgement.channel] += verdict.lost_packets;
  }
  for (const Sent& sent : run.sent) {
    if (sent.channel != kNone && sent.is_lost) ++packets.lost[sent.channel];
  }
  return packets;
}

class SimHeadline : public testing::TestWithParam<std::string_view> {};

TEST_P(SimHeadline, CountsEachLostPacketOnce) {
  constexpr std::uint64_t kRuns = test::kIsSanitized ? 20 : 400;
  std::uint64_t said = 0;
  std::uint64_t excess = 0;
  for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
    const auto run = make_run(seed, GetParam(), Weather::faulty);
    ASSERT_EQ(run.failure, "") << "seed " << seed;
    const LostPackets packets = lost_packets(run);
    EXPECT_EQ(packets.excess(packets.right), 0U) << "seed " << seed << ": counted twice";
    for (const auto& [channel, count] : packets.said) said += count;
    excess += packets.excess(packets.said);
  }
  std::printf("%s: %llu of %llu packets that are said to be lost are too many\n", std::string(GetParam()).c_str(),
              static_cast<unsigned long long>(excess), static_cast<unsigned long long>(said));
  EXPECT_GT(said, test::kIsSanitized ? 10U : 1000U);
  EXPECT_LE(static_cast<double>(excess), kMostExcess * static_cast<double>(said));
}

INSTANTIATE_TEST_SUITE_P(Seeds, SimHeadline, testing::Values("rxe", "hardware_like"),
                         [](const auto& test) { return std::string(test.param); });

class SimOvertaking : public testing::TestWithParam<std::string_view> {};

// A request that was overtaken behind the capture point and NAKed looks like a lost one, unless its answer comes sooner
// than one to its repetition can.
TEST_P(SimOvertaking, IsToldFromLossWhereTheAnswersShowIt) {
  constexpr std::uint64_t kRuns = test::kIsSanitized ? 20 : 400;
  constexpr double kMostSaidToBeLost = test::kIsSanitized ? 0.6 : 0.355;  // share of those that are named by a NAK
  std::uint64_t lost = 0;
  std::uint64_t late = 0;
  for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
    const auto run = make_run(seed, GetParam(), Weather::overtaking);
    ASSERT_EQ(run.failure, "") << "seed " << seed;
    for (const Sent& sent : run.sent) ASSERT_FALSE(sent.is_lost) << "seed " << seed;
    for (const Verdict& verdict : judge_view(View(run, capture(run, 0)))) {
      if (verdict.kind == VerdictKind::request_lost_after) ++lost;
      if (verdict.kind == VerdictKind::request_late_after) ++late;
    }
  }
  std::printf("%s: of requests that were overtaken %llu are called late, %llu lost or overtaken\n",
              std::string(GetParam()).c_str(), static_cast<unsigned long long>(late),
              static_cast<unsigned long long>(lost));
  EXPECT_GT(late, test::kIsSanitized ? 5U : 300U);
  EXPECT_LE(static_cast<double>(lost), kMostSaidToBeLost * static_cast<double>(lost + late));
}

INSTANTIATE_TEST_SUITE_P(Seeds, SimOvertaking, testing::Values("rxe", "hardware_like"),
                         [](const auto& test) { return std::string(test.param); });

using CleanParameters = std::tuple<std::string_view, std::uint64_t>;

class SimClean : public testing::TestWithParam<CleanParameters> {};

/// Returns the first verdict on the passages from `begin` on, with the packets around it.
std::string first_verdict(const Run& run, std::size_t begin) {
  std::vector<std::size_t> kept;
  for (std::size_t i = begin; i < run.passages.size(); ++i) kept.push_back(i);
  const View view(run, std::move(kept));
  const std::vector<Verdict> verdicts = judge_view(view);
  if (verdicts.empty()) return "";
  const std::uint64_t frame = verdicts.front().packet.frame;
  return fmt::format("seed {} from passage {}: {} verdicts, the first: {}\n{}\n{}", run.seed, begin, verdicts.size(),
                     describe(view, verdicts.front()), run.text,
                     frame == 0 ? "" : trace(view, view.kept[frame - 1], 9, 8));
}

TEST_P(SimClean, NoVerdictAtAll) {
  const auto [profile, part] = GetParam();
  constexpr std::size_t kPackets = 120'000;
  std::size_t packets = 0;
  std::size_t wrong = 0;
  for (std::uint64_t seed = 1'000'000 + part * 10'000; packets < kPackets; ++seed) {
    const auto run = make_run(seed, profile, Weather::clean);
    ASSERT_EQ(run.failure, "") << "seed " << seed;
    packets += run.passages.size();
    for (const std::size_t begin : {std::size_t{0}, run.passages.size() / 3 + seed % 100}) {
      const std::string verdict = first_verdict(run, begin);
      if (verdict.empty()) continue;
      EXPECT_GE(++wrong, 5U) << verdict;
    }
  }
  EXPECT_EQ(wrong, 0U);
  std::printf("%s: %zu clean packets\n", std::string(profile).c_str(), packets);
}

std::string clean_name_of(const testing::TestParamInfo<CleanParameters>& test) {
  return fmt::format("{}_{}", std::get<0>(test.param), std::get<1>(test.param));
}

INSTANTIATE_TEST_SUITE_P(Seeds, SimClean,
                         testing::Combine(testing::Values("rxe", "hardware_like"),
                                          testing::Range(std::uint64_t{0}, std::uint64_t{2})),
                         clean_name_of);

}  // namespace
}  // namespace roce::sim_truth
