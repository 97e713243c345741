// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "roce/transport/verbs.h"
#include "verbs/devices/places.h"
#include "verbs/engine/engine.h"
#include "verbs/engine/forks.h"
#include "verbs/ibverbs/results.h"

namespace roce::verbs {

struct ContextObject;
struct CqObject;
struct QpObject;
struct SrqObject;
struct XrcDomain;

/// Tells a file from others; both 0 for none.
struct FileId {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;

  friend bool operator==(const FileId&, const FileId&) = default;
};

/// The part that all contexts of one device share: the engine, and the objects that its events are about.
/// Contexts, CQs, QPs and SRQs are in its tables while they exist.
class Adapter {
 public:
  explicit Adapter(const Place& place);

  /// False in a child that was forked after this was made.
  [[nodiscard]] bool is_of_this_process() const { return forks_ == fork_count(); }
  /// Returns the engine, started the first time: a program that only asks what there is does not take the UDP port.
  /// Error: a number of errno.h, after a complaint.
  [[nodiscard]] OrErrno<Engine*> engine();
  void add(ContextObject& context);
  /// Forgets a context and all objects made with it.
  void remove(ContextObject& context);

  // To be used only inside `Engine::use`.

  void add(CqObject& cq);
  void add(QpObject& qp);
  void add(SrqObject& srq);
  void remove(const CqObject& cq);
  void remove(const QpObject& qp);
  void remove(const SrqObject& srq);
  /// Returns a QP with this number, or nullptr. An XRC target may have been opened several times.
  [[nodiscard]] QpObject* find_qp(Qpn qpn) const;
  void add(const std::shared_ptr<XrcDomain>& domain);
  /// Returns the domain that was opened by a file, or nullptr.
  [[nodiscard]] std::shared_ptr<XrcDomain> find_domain(const FileId& file) const;

 private:
  [[nodiscard]] link::LinkResult<std::unique_ptr<Engine>> start_engine();
  void on_event(const transport::Event& event);
  void on_qp_event(const transport::Event& event);
  void on_gone(const std::string& message);

  const std::uint32_t forks_ = fork_count();
  EngineOptions options_;
  std::unordered_map<std::uint32_t, CqObject*> cqs_;       // by the index of the handle
  std::unordered_map<std::uint32_t, SrqObject*> srqs_;     // by the index of the handle
  std::unordered_multimap<std::uint32_t, QpObject*> qps_;  // by QPN
  std::vector<std::weak_ptr<XrcDomain>> domains_;
  std::mutex contexts_lock_;
  std::vector<ContextObject*> contexts_;
  std::mutex starting_;
  std::unique_ptr<Engine> engine_;  // destroyed first: its thread uses all of the above
};

}  // namespace roce::verbs
