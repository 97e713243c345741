// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>

#include "wireshark/epan/epan.h"

namespace roce::plugin {

/// The dissector that handles RoCE.
enum class Mode : std::uint8_t {
  own,   ///< the plugin
  wrap,  ///< Wireshark's built-in dissector, then the ICRC and the analysis of the plugin
  off,   ///< the built-in dissector alone
};

/// The user's settings.
struct Preferences {
  gint mode = static_cast<gint>(Mode::own);
  range_t* ports = nullptr;  ///< UDP destination ports of RoCE v2
  EpanBool check_icrc = TRUE;
  EpanBool analyse = TRUE;
  EpanBool reassemble = TRUE;  ///< SENDs of several packets, for upper protocols; only with `analyse`
  EpanBool marks = TRUE;       ///< verdicts in the Info column
  guint link_gbits = 0;        ///< link speed in Gbit/s; 0: unknown

  [[nodiscard]] Mode dissector() const { return static_cast<Mode>(mode); }
  [[nodiscard]] std::uint64_t link_bits_per_second() const { return std::uint64_t{link_gbits} * 1'000'000'000; }
};

/// Registers the preferences of the protocol `proto`; calls `changed` when one has changed.
void register_preferences(int proto, void (*changed)());
[[nodiscard]] const Preferences& preferences();

}  // namespace roce::plugin
