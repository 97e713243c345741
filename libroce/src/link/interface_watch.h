// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "link/file_descriptor.h"

namespace roce::link {

/// Notices what happens to the interfaces of the namespace in which it was opened.
class InterfaceWatch {
 public:
  /// Returns 0 or an errno.
  [[nodiscard]] int open();
  /// Readable when something happened.
  [[nodiscard]] int fd() const { return events_.get(); }
  /// Whether the interface is still there. Forgets what happened so far.
  [[nodiscard]] bool is_there(int index) const;

 private:
  FileDescriptor events_;
};

}  // namespace roce::link
