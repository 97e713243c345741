// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/charts/series_thread.h"

#include <span>
#include <utility>

namespace roce::analyze {

void SeriesThread::Batch::clear() {
  order.clear();
  seen.clear();
  known.clear();
  immediate.clear();
  verdicts.clear();
  messages.clear();
}

SeriesThread::SeriesThread(ReportSeries& series, AnalysisConsumer& next)
    : series_(series), next_(next), filling_(std::make_unique<Batch>()) {
  for (std::size_t i = 1; i < kBatches; ++i) empty_.push_back(std::make_unique<Batch>());
  thread_ = std::thread{[this] { serve(); }};
}

SeriesThread::~SeriesThread() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock{mutex_};
    is_over_ = true;
    full_.clear();
  }
  changed_.notify_all();
  thread_.join();
}

void SeriesThread::on_packet(const AnalysedPacket& packet) {
  Batch& batch = *filling_;
  if (batch.seen.empty()) batch.start_ns = packet.start_ns;
  batch.order.push_back(Kind::packet);
  batch.seen.push_back(packet.observation);
  batch.known.push_back(packet.analysis);
  batch.immediate.insert(batch.immediate.end(), packet.analysis.verdicts.begin(), packet.analysis.verdicts.end());
  next_.on_packet(packet);
  if (batch.seen.size() == kPackets) hand_over();
}

void SeriesThread::on_verdict(const analysis::Verdict& verdict) {
  filling_->order.push_back(Kind::verdict);
  filling_->verdicts.push_back(verdict);
  next_.on_verdict(verdict);
}

void SeriesThread::on_message(const analysis::Message& message) {
  filling_->order.push_back(Kind::message);
  filling_->messages.push_back(message);
  next_.on_message(message);
}

void SeriesThread::hand_over() {
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [&] { return !empty_.empty() || failure_ != nullptr; });
  if (failure_ != nullptr) {
    filling_->clear();
    return;
  }
  full_.push_back(std::exchange(filling_, std::move(empty_.back())));
  empty_.pop_back();
  lock.unlock();
  changed_.notify_all();
}

void SeriesThread::join() {
  if (!filling_->order.empty()) hand_over();
  {
    const std::lock_guard lock{mutex_};
    is_over_ = true;
  }
  changed_.notify_all();
  thread_.join();
  if (failure_ != nullptr) std::rethrow_exception(failure_);
}

void SeriesThread::serve() {
  std::unique_lock lock{mutex_};
  while (true) {
    changed_.wait(lock, [&] { return !full_.empty() || is_over_; });
    if (full_.empty()) return;
    std::unique_ptr<Batch> batch = std::move(full_.front());
    full_.pop_front();
    lock.unlock();
    std::exception_ptr failure;
    try {
      follow(*batch);
    } catch (...) {
      failure = std::current_exception();
    }
    batch->clear();
    lock.lock();
    empty_.push_back(std::move(batch));
    if (failure != nullptr) failure_ = failure;
    changed_.notify_all();
    if (failure_ != nullptr) return;
  }
}

void SeriesThread::follow(Batch& batch) {
  auto seen = batch.seen.cbegin();
  auto known = batch.known.begin();
  auto verdict = batch.verdicts.cbegin();
  auto message = batch.messages.cbegin();
  std::size_t immediate = 0;
  for (const Kind kind : batch.order) {
    switch (kind) {
      case Kind::packet:
        known->verdicts = std::span{batch.immediate}.subspan(immediate, known->verdicts.size());
        immediate += known->verdicts.size();
        series_.follow(*seen++, *known++, batch.start_ns);
        break;
      case Kind::verdict:
        series_.follow(*verdict++);
        break;
      case Kind::message:
        series_.follow(*message++);
        break;
    }
  }
}

}  // namespace roce::analyze
