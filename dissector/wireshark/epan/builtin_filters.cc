// SPDX-License-Identifier: GPL-2.0-or-later
#include "wireshark/epan/builtin_filters.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>

#include "wireshark/epan/fields.h"
#include "wireshark/parts/builtin_names.h"

namespace roce::plugin {

namespace {

/// A field of the built-in dissector that was looked up.
struct Looked {
  const header_field_info* info = nullptr;  ///< null: this version of Wireshark does not have it
  bool is_said = false;
};
std::array<Looked, kBuiltinNames.size()> looked_up;

void look_up() {
  std::ranges::transform(kBuiltinNames, looked_up.begin(), [](const BuiltinName& name) {
    return Looked{proto_registrar_get_byname(name.builtin), false};
  });
}

void say(packet_info* pinfo, const BuiltinName& name) {
  const char* const field = name.ours != nullptr ? name.ours : "roce.* (there is no like field)";
  constexpr const char* kText =
      "%s matches no RoCE packet, which this plugin dissects: use %s, or set the preference roce.mode to \"wrap\"";
  std::array<char, 256> text{};
  std::snprintf(text.data(), text.size(), kText, name.builtin, field);
  std::fprintf(stderr, "roce: %s\n", text.data());
  expert_add_info_format(pinfo, nullptr, &mutable_fields().builtin_filter, "%s", text.data());
}

}  // namespace

void warn_of_builtin_fields(packet_info* pinfo) {
  static guint32 last_frame = 0;
  static bool is_looked_up = false;
  // A filter may have changed since the last pass over the capture.
  const bool begins_pass = pinfo->num <= last_frame || !is_looked_up;
  last_frame = pinfo->num;
  if (!begins_pass) return;
  if (!is_looked_up) look_up();
  is_looked_up = true;
  for (std::size_t i = 0; i < looked_up.size(); ++i) {
    Looked& looked = looked_up[i];
    if (looked.info == nullptr || looked.is_said || looked.info->ref_type != HF_REF_TYPE_DIRECT) continue;
    looked.is_said = true;
    say(pinfo, kBuiltinNames[i]);
  }
}

}  // namespace roce::plugin
