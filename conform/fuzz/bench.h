// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "conform/fuzz/counter_check.h"
#include "conform/fuzz/device_model.h"
#include "conform/fuzz/gate.h"
#include "conform/fuzz/memory_model.h"
#include "conform/fuzz/program.h"
#include "conform/run/case_run.h"
#include "conform/run/monitor.h"
#include "conform/target/target.h"

namespace roce::conform::fuzz {

/// The regions that programs use.
struct Regions {
  Region right;     ///< of which the peer may do everything
  Region other_pd;  ///< in another protection domain
  Region closed;    ///< without remote rights
  Region gone;      ///< deregistered
  Region lent;      ///< of which the peer may do everything until a program deregisters it
  Region buffers;   ///< of receives
  Region foreign;   ///< `right`, as a window of another QP opens it; its R_Key is 0 if there is none
};

/// A device with the regions that programs use, for one program after the other.
class Bench {
 public:
  /// Makes the regions and the QP. `target` and `gate` have to outlive the bench. Error: the device refuses one.
  [[nodiscard]] static TargetResult<Bench> make(Target& target, Gate& gate, const Timing& timing);

  [[nodiscard]] Target& target() const { return *target_; }
  /// Returns the port of a program; null if the device, or the way to it, does not have what it is for.
  [[nodiscard]] const Port* port_of(const Program& program) const;
  /// Returns a port of another version of RoCE; the same one if there is no other.
  [[nodiscard]] const Port& other_port(const Port& port) const;
  /// Returns the gate, through which all frames go.
  [[nodiscard]] Gate& gate() const { return *gate_; }
  [[nodiscard]] const Timing& timing() const { return timing_; }
  [[nodiscard]] MemoryModel& memory() { return *memory_; }
  [[nodiscard]] const MemoryModel& memory() const { return *memory_; }
  /// Returns the model of a QP that no program uses, and that is reserved.
  [[nodiscard]] DeviceModel& clean() { return *clean_; }
  [[nodiscard]] Monitor& monitor() { return monitor_; }
  [[nodiscard]] CounterCheck& counters() { return counters_; }
  [[nodiscard]] const Regions& regions() const { return regions_; }
  /// Returns the region whose key a request names; the one that the peer may use where a key is of none.
  [[nodiscard]] const Region& region_of(Key key) const;
  /// Says which bytes the key of a window opens from now on; empty: there is none.
  void set_window(const std::optional<Region>& window) { window_ = window; }
  /// Returns the value of a key.
  [[nodiscard]] std::uint32_t value_of(Key key) const;
  /// Returns the buffer of the next receive.
  [[nodiscard]] transport::Sge next_buffer(std::uint32_t length);
  /// Returns a QPN of the tester that no program has had.
  [[nodiscard]] Qpn next_peer();
  /// True if the QPN is that of the tester's which another program had, or is that of the QP that no program uses.
  [[nodiscard]] bool is_of_others(Qpn peer) const;
  /// Deregisters the region of `Key::lent`, after which the bench is for no other program; nothing if it is gone.
  /// Error: the device refuses.
  [[nodiscard]] TargetResult<void> deregister_lent();
  [[nodiscard]] bool is_lent_gone() const { return is_lent_gone_; }
  /// Returns true if the device has room for one more program.
  [[nodiscard]] bool has_room() const { return !is_lent_gone_ && peers_ < kPeers; }

 private:
  // As many QPs as our endpoint in memory has, but for a few; a program has one or two.
  static constexpr std::size_t kPeers = 60;
  static constexpr std::uint32_t kBuffers = 16;

  /// Binds a window on the QP that no program uses, if the device has such windows.
  void bind_foreign();

  Bench(Target& target, Gate& gate, const Timing& timing, const Regions& regions);

  Target* target_;
  Gate* gate_;
  Timing timing_;
  Regions regions_;
  std::optional<Region> window_{};
  std::unique_ptr<MemoryModel> memory_;  // stays where it is, for the model
  std::optional<Gate::Reserved> clean_qp_{};
  std::optional<DeviceModel> clean_{};
  Monitor monitor_;
  CounterCheck counters_;
  std::uint32_t receives_ = 0;
  std::size_t peers_ = 0;  ///< QPNs of the tester that programs have had
  bool is_lent_gone_ = false;
};

}  // namespace roce::conform::fuzz
