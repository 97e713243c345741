// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/ranks/ranked_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/input/capture_points.h"
#include "analyze/input/report.h"
#include "analyze/ranks/gathered_share.h"
#include "analyze/report/stream_text.h"
#include "analyze/run/work_share.h"
#include "text/human_units.h"

namespace roce::analyze {

namespace {

/// Keeps what the consumer of rank 0 will want to know.
class Collector final : public AnalysisConsumer {
 public:
  explicit Collector(bool wants_events) : wants_events_(wants_events) {}

  void on_packet(const AnalysedPacket& packet) override { ends_.learn(packet); }
  void on_verdict(const analysis::Verdict& verdict) override {
    if (wants_events_) verdicts_.push_back(verdict);
  }
  // Only then do verdicts on one packet come in the order of one process.
  [[nodiscard]] bool wants_packets() const override { return wants_events_; }

  [[nodiscard]] GatheredShare share(AnalysisResult result) {
    std::vector<analysis::StreamSummary> ends = ends_.all();
    ends.resize(std::min<std::size_t>(ends.size(), result.streams_begun));
    return {std::move(result), std::move(verdicts_), std::move(ends)};
  }

 private:
  bool wants_events_;
  StreamEnds ends_;
  std::vector<analysis::Verdict> verdicts_;
};

std::uint64_t digest_of_begin(const std::string& path) {
  constexpr std::size_t kBegin = 65'536;
  std::string begin(kBegin, '\0');
  std::ifstream file{path, std::ios::binary};
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return digest_of(
      std::string_view{begin}.substr(0, static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0))));
}

/// Returns a line for each file.
std::string lines_about(std::span<const InputFile> inputs) {
  std::string lines;
  for (const InputFile& input : inputs) {
    lines +=
        fmt::format("{} ({} bytes, begins with {:016x})\n", input.path, input.size_bytes, digest_of_begin(input.path));
  }
  return lines;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return lines;
}

/// Returns why the ranks do not see the same files; nothing if they do.
std::string difference(const std::vector<std::string>& sights) {
  const std::vector<std::string_view> first = lines_of(sights.front());
  for (std::size_t rank = 1; rank < sights.size(); ++rank) {
    const std::vector<std::string_view> other = lines_of(sights[rank]);
    if (other.empty()) return fmt::format("rank {} cannot open what rank 0 can: give all ranks the same files", rank);
    for (std::size_t i = 1; i < std::max(first.size(), other.size()); ++i) {
      const std::string_view here = i < first.size() ? first[i] : "no further file";
      const std::string_view there = i < other.size() ? other[i] : "no further file";
      if (here == there) continue;
      return fmt::format("rank {} on {} sees {}, and rank 0 on {} sees {}: give all ranks the same files", rank,
                         other[0], there, first[0], here);
    }
  }
  return {};
}

/// Gives files to ranks, by size, so that each capture point is with one rank. All ranks share what is more than a
/// rank's fair part. Returns `WorkShare::file_parts`, the same at each rank.
std::vector<unsigned> share_files(std::span<const InputFile> inputs, unsigned ranks) {
  struct Group {
    std::uint64_t bytes = 0;
    std::vector<std::size_t> files;
  };
  // Files that may be of one point are in one group.
  std::map<std::pair<std::string, std::string>, Group> by_name;
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const InputFile& input = inputs[i];
    Group& group = by_name[{input.point, input.point.empty() ? without_numbers(input.path) : std::string{}}];
    group.bytes += input.size_bytes;
    group.files.push_back(i);
    total += input.size_bytes;
  }
  std::vector<const Group*> groups;
  groups.reserve(by_name.size());
  for (const auto& [name, group] : by_name) groups.push_back(&group);
  std::stable_sort(groups.begin(), groups.end(), [](const Group* a, const Group* b) { return a->bytes > b->bytes; });
  std::vector<unsigned> parts(inputs.size(), WorkShare::kAll);
  std::vector<std::uint64_t> loads(ranks);
  for (const Group* const group : groups) {
    if (group->bytes > total / ranks) continue;
    const auto least = std::min_element(loads.begin(), loads.end());
    *least += group->bytes;
    for (const std::size_t file : group->files) parts[file] = static_cast<unsigned>(least - loads.begin());
  }
  return parts;
}

}  // namespace

std::vector<unsigned> RankedRun::agree(std::span<const InputFile> inputs) {
  has_met_ = true;
  if (!kept_.folder.empty()) state_.emplace(kept_.folder, kept_.shares);
  const std::string files = lines_about(inputs);
  const std::vector<unsigned> missing = state_ ? state_->missing() : std::vector<unsigned>{};
  std::string sight = Communicator::host() + '\n' + files;
  if (state_) sight += fmt::format("without the shares {}\n", fmt::join(missing, ", "));
  const std::vector<std::string> sights = ranks_.gather(sight);
  std::string why;
  if (ranks_.rank() == 0) {
    why = difference(sights);
    if (why.empty() && state_) {
      why = state_->claim(
          fmt::format("roce-analyze-mpi " ROCE_VERSION ", {}\n{} shares\n{}", kept_.command, state_->shares(), files));
    }
  }
  if (!ranks_.broadcast(why.empty())) throw RunRefused{why};
  if (!state_) return {ranks_.rank()};
  std::vector<unsigned> own;
  for (std::size_t i = 0; i < missing.size(); ++i) {
    if ((i + 1) % ranks_.size() == ranks_.rank()) own.push_back(missing[i]);
  }
  if (ranks_.rank() == 0) own.push_back(0);
  return own;
}

void RankedRun::leave() {
  if (std::exchange(has_met_, true)) return;
  // Rank 0 has said why. If it goes on, it finds that this rank has seen nothing, and refuses.
  static_cast<void>(ranks_.gather({}));
  static_cast<void>(ranks_.broadcast(false));
}

AnalysisResult RankedRun::run(std::span<const InputFile> inputs, const AnalysisRunOptions& options,
                              AnalysisConsumer& consumer) {
  const std::vector<unsigned> own_shares = agree(inputs);
  const bool is_first = ranks_.rank() == 0;
  const unsigned count = state_ ? state_->shares() : ranks_.size();
  AnalysisRunOptions own = options;
  own.tracker.keep_begins = true;
  // The ranks of a machine share its processors.
  if (own.threads == 0) own.threads = 1;
  GatheredShare mine;
  for (const unsigned part : own_shares) {
    const WorkShare share{part, count, share_files(inputs, count)};
    const bool is_said = is_first && part == 0;
    own.share = &share;
    own.quiet = options.quiet || !is_said;
    own.progress = options.progress && is_said;
    Collector collector{consumer.wants_packets()};
    mine = collector.share(run_analysis(inputs, own, collector));
    if (state_ && part != 0) state_->save(part, mine.pack());
  }
  std::vector<std::string> packed = ranks_.gather(is_first || state_ ? std::string{} : mine.pack());
  if (!is_first) throw ShareSent{};
  std::vector<GatheredShare> shares;
  shares.push_back(std::move(mine));
  for (unsigned part = 1; part < count; ++part) {
    shares.push_back(GatheredShare::unpack(state_ ? state_->load(part) : std::exchange(packed[part], {})));
  }
  const std::size_t most = options.tracker.limits.streams;
  std::vector<CaptureFile> as_read = shares[0].result.files;
  GatheredShare all = put_together(std::move(shares), consumer, most);
  for (std::size_t i = 0; i < as_read.size(); ++i) {
    for (std::size_t k = as_read[i].problems.size(); k < all.result.files[i].problems.size(); ++k) {
      report(fmt::format("{}: warning: {}", all.result.files[i].path, all.result.files[i].problems[k]));
    }
  }
  if (count > 1 && all.result.streams_begun > most) {
    report(
        fmt::format("warning: there are {} streams; each rank followed up to {} at a time, so that all together may "
                    "know more than one process does",
                    text::count_text(all.result.streams_begun), text::count_text(most)));
  }
  consumer.on_gathered({all.result, all.result.start_ns, all.known_ends});
  for (const analysis::Verdict& verdict : all.verdicts) {
    if (consumer.is_over()) break;
    consumer.on_verdict(verdict);
  }
  return std::move(all.result);
}

}  // namespace roce::analyze
