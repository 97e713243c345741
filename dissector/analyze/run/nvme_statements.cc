// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/run/nvme_statements.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/human_units.h"

namespace roce::analyze {

namespace {

using analysis::NvmeDelay;
using analysis::NvmeEnd;
using analysis::NvmeQueue;
using analysis::Severity;

/// Judges one queue after the other.
class NvmeJudge {
 public:
  explicit NvmeJudge(const NvmeWords& words) : words_(words) {}

  void judge(const NvmeQueue& queue, const NvmeQueueFigures& figures) {
    judge_unanswered(queue, figures);
    judge_statuses(queue, figures);
    judge_keep_alive(queue);
    judge_delay(queue, figures, NvmeDelay::loss, "lost packets, until they were sent again");
    judge_delay(queue, figures, NvmeDelay::receiver, "RNR NAKs: the receiver had no receive posted");
    judge_depth(queue, figures);
  }

  [[nodiscard]] std::vector<Statement> take() {
    std::ranges::stable_sort(said_, std::greater{}, &Statement::severity);
    return std::move(said_);
  }

 private:
  void say(Severity severity, std::string text) { said_.push_back({severity, std::move(text)}); }

  void judge_unanswered(const NvmeQueue& queue, const NvmeQueueFigures& figures) {
    const std::uint64_t count = figures.of(NvmeEnd::unanswered);
    if (count == 0) return;
    say(Severity::error, fmt::format("{}: {} never answered, the first in {}", words_.queue(queue),
                                     count == 1 ? "1 command was" : text::count_text(count) + " commands were",
                                     words_.frame(figures.first_unanswered)));
  }

  void judge_statuses(const NvmeQueue& queue, const NvmeQueueFigures& figures) {
    for (const auto& [key, status] : figures.statuses) {
      const std::string_view name = nvme_status_name({.type = key.type, .code = key.code},
                                                     key.is_fabrics ? NvmeCommandSet::fabrics : NvmeCommandSet::io);
      say(Severity::warning,
          fmt::format("{}: {} with status {:#x}/{:#04x} ({}), the first in {}", words_.queue(queue),
                      text::counted(status.count, "command ended", "commands ended"), key.type, key.code,
                      name.empty() ? "a status that the specification does not name" : name,
                      words_.frame(status.first)));
    }
  }

  void judge_keep_alive(const NvmeQueue& queue) {
    const Duration timeout = queue.keep_alive_timeout;
    if (!queue.is_admin || timeout <= Duration::zero() || queue.longest_keep_alive_gap <= timeout) return;
    const std::string gap = text::duration_text(queue.longest_keep_alive_gap.count());
    const std::string allowed = text::duration_text(timeout.count());
    if (queue.longest_silence > timeout) {
      say(Severity::error,
          fmt::format("{}: no Keep Alive for {}, and no other command to the controller for {}; its timeout is {}, "
                      "after which it ends the connections",
                      words_.queue(queue), gap, text::duration_text(queue.longest_silence.count()), allowed));
    } else {
      say(Severity::note,
          fmt::format("{}: no Keep Alive for {}, with a timeout of {}; other commands came in that time, which is "
                      "enough for a controller with traffic-based keep-alive",
                      words_.queue(queue), gap, allowed));
    }
  }

  void judge_delay(const NvmeQueue& queue, const NvmeQueueFigures& figures, NvmeDelay delay, std::string_view reason) {
    const std::uint64_t count = figures.delays[static_cast<std::size_t>(delay)];
    if (count == 0) return;
    say(Severity::warning, fmt::format("{}: {} most of {} for {}", words_.queue(queue),
                                       text::counted(count, "command waited", "commands waited"),
                                       count == 1 ? "its time" : "their time", reason));
  }

  void judge_depth(const NvmeQueue& queue, const NvmeQueueFigures& figures) {
    // One entry of a queue always stays empty.
    const bool is_full = queue.size > 2 && queue.most_outstanding + 1 >= queue.size;
    if (!is_full || figures.of(NvmeEnd::answered) == 0) return;
    say(Severity::note, fmt::format("{}: it was full at times, with {} commands under way; {:.1f} on average",
                                    words_.queue(queue), queue.most_outstanding, queue.mean_outstanding));
  }

  const NvmeWords& words_;
  std::vector<Statement> said_;
};

}  // namespace

std::vector<Statement> statements_about_nvme(const std::vector<NvmeQueue>& queues, const NvmeFigures& figures,
                                             const NvmeWords& words) {
  NvmeJudge judge{words};
  for (std::uint32_t index = 0; index < queues.size(); ++index) {
    const NvmeQueueFigures& of_queue = figures.of(index);
    if (!of_queue.operations.empty()) judge.judge(queues[index], of_queue);
  }
  return judge.take();
}

}  // namespace roce::analyze
