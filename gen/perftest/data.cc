// SPDX-License-Identifier: BSD-2-Clause
#include "gen/perftest/data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "roce/live/patience.h"
#include "roce/live/pattern.h"

namespace roce::gen {

namespace {

using transport::WorkOpcode;

constexpr std::uint32_t kReceives = 512;
/// The most bytes sent without asking for a completion.
constexpr std::uint32_t kUnsignaledBytes = 65536;
constexpr std::uint64_t kSwapBase = std::uint64_t{0x726F6365} << 32;
/// Seeds of the data that READs have to overwrite; they differ from each other and from all that is sent.
constexpr std::uint64_t kFirstResultSeed = 1;
constexpr std::uint64_t kLastResultSeed = 2;

[[noreturn]] void fail_stuck(const PerftestRun& run) {
  if (run.channel.is_closed()) {
    throw live::ScriptFailure(
        fmt::format("the peer closed the connection during the data phase, after {} messages; look at "
                    "what it says",
                    run.report.messages));
  }
  throw live::ScriptFailure(
      fmt::format("nothing came for 10 s during the data phase, after {} messages; are -n and -s the "
                  "same on both sides?",
                  run.report.messages));
}

void post_receive(PerftestRun& run, std::size_t index) {
  run.pairs.qp(index).post_receive(0, run.pairs.incoming_sge(index));
}

/// Takes the completion of a receive. Throws: ScriptFailure if its message does not have the right length.
void check_received(PerftestRun& run, std::size_t index) {
  transport::Completion received;
  try {
    received = run.pairs.qp(index).take_received();
  } catch (const live::ScriptFailure& failure) {
    throw live::ScriptFailure(fmt::format("{}; use the same -s on both sides", failure.what()));
  }
  if (received.byte_length == run.options.size) return;
  throw live::ScriptFailure(fmt::format("a message of {} bytes came, {} were expected; use the same -s on both sides",
                                        received.byte_length, run.options.size));
}

void take_receive(PerftestRun& run, std::size_t index) {
  check_received(run, index);
  post_receive(run, index);
  ++run.report.messages;
}

/// The requests of an exchange in which only one end makes any, as many outstanding as the depth allows.
class Requests {
 public:
  explicit Requests(PerftestRun& run) : run_(run), flows_(run.pairs.count()) {
    const std::uint32_t depth = run.options.tx_depth;
    interval_ = std::clamp(kUnsignaledBytes / run.options.size, 1U, std::max(1U, depth / 4));
    if (verb() == PerftestVerb::read) {
      for (std::size_t index = 0; index < run.pairs.count(); ++index) {
        live::fill_pattern(run.pairs.result(index, 0), kFirstResultSeed);
        live::fill_pattern(run.pairs.result(index, 1), kLastResultSeed);
      }
    }
  }

  void post();
  /// True if a completion waits.
  [[nodiscard]] bool has_completed();
  void take();
  [[nodiscard]] bool is_over() const { return run_.report.messages == total(); }
  /// Compares the first READ with the last.
  void check_reads();

 private:
  struct Flow {
    std::uint64_t posted = 0;
    std::uint64_t completed = 0;
    std::uint64_t first_value = 0;  // value in the peer's memory before the first atomic
    Time posted_at{};
  };

  [[nodiscard]] PerftestVerb verb() const { return verb_of(run_.options.program); }
  [[nodiscard]] std::uint64_t total() const { return std::uint64_t{run_.options.iterations} * flows_.size(); }
  void post_one(std::size_t index);
  void complete(std::size_t index);
  /// Returns the value that atomic `number` has to find.
  [[nodiscard]] std::uint64_t value_before(const Flow& flow, std::uint64_t number) const;

  PerftestRun& run_;
  std::vector<Flow> flows_;
  std::uint32_t interval_ = 1;
};

std::uint64_t Requests::value_before(const Flow& flow, std::uint64_t number) const {
  if (!run_.options.compare_swap) return flow.first_value + number;
  return number <= 1 ? flow.first_value : kSwapBase + number - 1;
}

void Requests::post_one(std::size_t index) {
  Flow& flow = flows_[index];
  const std::uint64_t number = flow.posted;
  transport::SendRequest request{.wr_id = number + 1};
  request.signaled = flow.posted + 1 == run_.options.iterations || (number + 1) % interval_ == 0 || number == 0;
  transport::Sge sge;
  switch (verb()) {
    case PerftestVerb::send:
      request.opcode = WorkOpcode::send;
      sge = run_.pairs.outgoing_sge();
      break;
    case PerftestVerb::write:
      request.opcode = WorkOpcode::write;
      sge = run_.pairs.outgoing_sge();
      break;
    case PerftestVerb::read:
      request.opcode = WorkOpcode::read;
      sge = run_.pairs.result_sge(index, number);
      break;
    case PerftestVerb::atomic:
      sge = run_.pairs.result_sge(index, number);
      if (run_.options.compare_swap) {
        request.opcode = WorkOpcode::compare_swap;
        // The first one only fetches the value: it replaces 0 with 0.
        request.compare_add = number == 0 ? 0 : value_before(flow, number);
        request.swap = number == 0 ? 0 : kSwapBase + number;
      } else {
        request.opcode = WorkOpcode::fetch_add;
        request.compare_add = 1;
      }
      break;
  }
  request.sges = {&sge, 1};
  if (verb() != PerftestVerb::send) request.remote = run_.pairs.remote(index);
  run_.pairs.qp(index).post_send(request);
  ++flow.posted;
}

void Requests::post() {
  for (std::size_t index = 0; index < flows_.size(); ++index) {
    Flow& flow = flows_[index];
    const bool knows_nothing = run_.options.compare_swap && flow.completed == 0;
    const std::uint64_t depth = knows_nothing ? 1 : run_.options.tx_depth;
    if (measures_latency(run_.options.program)) flow.posted_at = run_.endpoint.now();
    while (flow.posted < run_.options.iterations && flow.posted - flow.completed < depth) post_one(index);
  }
}

bool Requests::has_completed() {
  for (std::size_t index = 0; index < flows_.size(); ++index) {
    if (run_.pairs.qp(index).has_sent()) return true;
  }
  return false;
}

void Requests::complete(std::size_t index) {
  Flow& flow = flows_[index];
  if (verb() == PerftestVerb::atomic) {
    std::uint64_t value = 0;
    std::memcpy(&value, run_.pairs.result(index, flow.completed).data(), sizeof value);
    if (flow.completed == 0) flow.first_value = value;
    if (const std::uint64_t expected = value_before(flow, flow.completed); value != expected) {
      throw live::ScriptFailure(fmt::format("atomic {} on QP 0x{:06x} found 0x{:016x} instead of 0x{:016x}",
                                            flow.completed + 1, run_.pairs.own(index).qpn.value(), value, expected));
    }
  }
  if (measures_latency(run_.options.program)) run_.report.latency.add(run_.endpoint.now() - flow.posted_at);
  ++flow.completed;
  ++run_.report.messages;
}

void Requests::take() {
  for (std::size_t index = 0; index < flows_.size(); ++index) {
    live::QueuePair& qp = run_.pairs.qp(index);
    while (qp.has_sent()) {
      const std::uint64_t completed = qp.take_sent().wr_id;
      while (flows_[index].completed < completed) complete(index);
    }
  }
}

void Requests::check_reads() {
  if (run_.options.iterations < 2) return;
  for (std::size_t index = 0; index < flows_.size(); ++index) {
    const std::span<const std::byte> first = run_.pairs.result(index, 0);
    const std::span<const std::byte> last = run_.pairs.result(index, 1);
    if (const auto at = std::mismatch(first.begin(), first.end(), last.begin()).first; at != first.end()) {
      throw live::ScriptFailure(
          fmt::format("the first and the last READ on QP 0x{:06x} brought different bytes, from byte "
                      "{} on, of memory that nobody changes",
                      run_.pairs.own(index).qpn.value(), at - first.begin()));
    }
  }
}

[[nodiscard]] live::Task<> make_requests(PerftestRun& run) {
  Requests requests{run};
  while (!requests.is_over()) {
    requests.post();
    const bool moved = co_await live::patiently([&] { return requests.has_completed() || run.channel.is_closed(); },
                                                [&] { return run.pairs.progress(); }, kPerftestSilence);
    if (!moved || !requests.has_completed()) fail_stuck(run);
    requests.take();
  }
  switch (verb_of(run.options.program)) {
    case PerftestVerb::send:
    case PerftestVerb::write:
      run.report.compared = "nothing, the peer does not tell what arrived";
      break;
    case PerftestVerb::read:
      requests.check_reads();
      run.report.compared = "the first READ with the last";
      break;
    case PerftestVerb::atomic:
      run.report.compared = "the value that each atomic brought back";
      break;
  }
}

[[nodiscard]] std::uint64_t requests_served(const PerftestRun& run) {
  const transport::Counters counters = run.pairs.counters();
  switch (verb_of(run.options.program)) {
    case PerftestVerb::write:
      return counters.write_requests;
    case PerftestVerb::read:
      return counters.read_requests;
    case PerftestVerb::atomic:
      return counters.atomic_requests;
    case PerftestVerb::send:
      break;
  }
  return run.report.messages;
}

/// Compares the sum: each FETCH ADD of perftest adds 1, and the memory was all zeros.
void check_sum(PerftestRun& run) {
  std::uint64_t sum = 0;
  for (std::size_t index = 0; index < run.pairs.count(); ++index) {
    const std::span<const std::byte> memory = run.pairs.incoming(index);
    for (std::size_t at = 0; at + sizeof sum <= memory.size(); at += sizeof sum) {
      std::uint64_t value = 0;
      std::memcpy(&value, memory.data() + at, sizeof value);
      sum += value;
    }
  }
  if (sum != run.report.messages) {
    throw live::ScriptFailure(
        fmt::format("{} times 1 was added and the sum is {}; did the peer make other atomics than FETCH ADD (-A)?",
                    run.report.messages, sum));
  }
}

void check_served(PerftestRun& run) {
  run.report.messages = requests_served(run);
  const std::uint64_t expected = std::uint64_t{run.options.iterations} * run.pairs.count();
  switch (verb_of(run.options.program)) {
    case PerftestVerb::send:
      if (run.report.messages != expected) {
        throw live::ScriptFailure(fmt::format("{} messages came, {} were expected; use the same -n on both sides",
                                              run.report.messages, expected));
      }
      run.report.compared = "number and lengths of the messages";
      break;
    case PerftestVerb::write:
    case PerftestVerb::read:
      run.report.compared = "the number of requests";
      break;
    case PerftestVerb::atomic:
      if (!run.options.compare_swap) check_sum(run);
      run.report.compared = run.options.compare_swap ? "the number of requests" : "the sum in memory";
      break;
  }
}

[[nodiscard]] live::Task<> serve_requests(PerftestRun& run) {
  const auto has_received = [&run] {
    if (verb_of(run.options.program) != PerftestVerb::send) return false;
    for (std::size_t index = 0; index < run.pairs.count(); ++index) {
      if (run.pairs.qp(index).has_received()) return true;
    }
    return false;
  };
  while (true) {
    // The peer begins its next exchange when all its signaled requests are complete.
    const bool is_last = run.channel.has(PerftestKeys::kSize);
    for (std::size_t index = 0; index < run.pairs.count(); ++index) {
      while (run.pairs.qp(index).has_received()) take_receive(run, index);
    }
    if (is_last) break;
    if (run.channel.is_closed()) {
      run.report.messages = requests_served(run);
      fail_stuck(run);
    }
    const bool moved = co_await live::patiently(
        [&] { return has_received() || run.channel.has(PerftestKeys::kSize) || run.channel.is_closed(); },
        [&] { return run.pairs.progress(); }, kPerftestSilence);
    if (!moved) {
      run.report.messages = requests_served(run);
      fail_stuck(run);
    }
  }
  check_served(run);
}

/// One end of a ping-pong of SENDs or WRITEs, with what it has sent and what has come.
class Turns {
 public:
  explicit Turns(PerftestRun& run) : run_(run) {}

  /// Sends message `number`, counted from 1.
  void send(std::uint64_t number) {
    const bool writes = verb_of(run_.options.program) == PerftestVerb::write;
    if (writes) run_.pairs.outgoing().back() = static_cast<std::byte>(number);
    const transport::Sge sge = run_.pairs.outgoing_sge();
    transport::SendRequest request{.wr_id = number, .sges = {&sge, 1}};
    if (writes) {
      request.opcode = WorkOpcode::write;
      request.remote = run_.pairs.remote(0);
    }
    run_.pairs.qp(0).post_send(request);
    ++posted_;
    sent_at_ = run_.endpoint.now();
  }
  /// True if there is something to take that was not there before.
  [[nodiscard]] bool has_news() {
    return run_.pairs.qp(0).has_sent() || run_.pairs.qp(0).has_received() || has_written();
  }
  void take() {
    live::QueuePair& qp = run_.pairs.qp(0);
    while (qp.has_received()) take_receive(run_, 0);
    if (has_written()) ++run_.report.messages;
    while (qp.has_sent()) take_sent();
  }
  /// True if everything that was sent is acknowledged, and `number` messages have come.
  [[nodiscard]] bool are_done(std::uint64_t number) const {
    return completed_ == posted_ && run_.report.messages == number;
  }
  /// True if nothing but acknowledgements can still be missing.
  [[nodiscard]] bool are_last() const {
    return posted_ == run_.options.iterations && run_.report.messages == run_.options.iterations;
  }
  [[nodiscard]] Duration since_sent() const { return run_.endpoint.now() - sent_at_; }

 private:
  [[nodiscard]] bool has_written() {
    return verb_of(run_.options.program) == PerftestVerb::write && run_.report.messages < run_.options.iterations &&
           run_.pairs.incoming(0)[run_.options.size - 1] == static_cast<std::byte>(run_.report.messages + 1);
  }
  void take_sent() {
    try {
      (void)run_.pairs.qp(0).take_sent();
    } catch (const live::ScriptFailure&) {
      // A peer of ib_write_lat leaves once it has seen the last byte, and then nobody repeats its acknowledgement.
      if (!are_last() || run_.options.program != PerftestProgram::write_lat) throw;
      run_.report.last_ack_missing = true;
    }
    ++completed_;
  }

  PerftestRun& run_;
  std::uint64_t posted_ = 0;
  std::uint64_t completed_ = 0;
  Time sent_at_{};
};

[[nodiscard]] live::Task<> take_turns(PerftestRun& run) {
  Turns turns{run};
  const PerftestRole first =
      run.options.program == PerftestProgram::write_lat ? PerftestRole::server : PerftestRole::client;
  const bool begins = run.role == first;
  for (std::uint64_t number = 1; number <= run.options.iterations; ++number) {
    if (begins) turns.send(number);
    while (!turns.are_done(number)) {
      const bool moved =
          co_await live::patiently([&] { return turns.has_news() || (run.channel.is_closed() && !turns.are_last()); },
                                   [&] { return run.pairs.progress(); }, kPerftestSilence);
      if (!moved || !turns.has_news()) fail_stuck(run);
      turns.take();
    }
    // The end that answers waits for an answer only after it has sent its first message.
    if (begins || number > 1) run.report.latency.add(turns.since_sent() / 2);
    if (!begins) turns.send(number);
  }
  while (!turns.are_done(run.options.iterations)) {
    const bool moved = co_await live::patiently([&] { return turns.has_news(); }, [&] { return run.pairs.progress(); },
                                                kPerftestSilence);
    if (!moved) fail_stuck(run);
    turns.take();
  }
  const bool writes = verb_of(run.options.program) == PerftestVerb::write;
  run.report.compared = writes ? "the last byte of each message" : "the length of each message";
}

}  // namespace

void post_perftest_receives(PerftestRun& run) {
  if (verb_of(run.options.program) != PerftestVerb::send) return;
  for (std::size_t index = 0; index < run.pairs.count(); ++index) {
    for (std::uint32_t i = 0; i < kReceives; ++i) post_receive(run, index);
  }
}

live::Task<> run_perftest_data(PerftestRun& run) {
  if (is_pingpong(run.options.program)) {
    co_await take_turns(run);
  } else if (run.role == PerftestRole::client) {
    co_await make_requests(run);
  } else {
    co_await serve_requests(run);
  }
}

live::Task<> await_perftest_requests(PerftestRun& run, std::uint64_t count) {
  const auto have_come = [&run, count] { return requests_served(run) >= count || run.channel.is_closed(); };
  const auto progress = [&run] { return run.pairs.progress(); };
  co_await live::patiently(have_come, progress, kPerftestSilence);
  check_served(run);
  if (run.report.messages != count) {
    throw live::ScriptFailure(fmt::format("the peer made {} requests, and {} came", count, run.report.messages));
  }
}

}  // namespace roce::gen
