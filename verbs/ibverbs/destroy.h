// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "verbs/ibverbs/objects.h"
#include "verbs/ibverbs/results.h"

namespace roce::verbs {

/// Destroys an object that is in no table of the adapter: by the verb `in_device`, unless the device is gone, and then
/// itself. Error: the number of errno.h for what the verb says; the object stays.
template <typename Object, typename Verb>
[[nodiscard]] int destroy(Object& object, Verb in_device) noexcept {
  return status_of([&] {
    if (const int error = error_of_handle(object); error != 0) return error;
    if (object.engine->is_usable()) {
      const int error = errno_of(object.engine->use(
          [&](transport::Device& device, Time) { return (device.*in_device)(object.handle_of_device); }));
      if (error != 0) return error;
    }
    delete &object;
    return 0;
  });
}

}  // namespace roce::verbs
