// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "roce/link/file_descriptor.h"

namespace roce::link {

/// Watches for changes to the interfaces of the namespace in which it was opened.
class InterfaceWatch {
 public:
  /// Starts to watch. Returns 0 or an errno.
  [[nodiscard]] int open();
  /// Returns a descriptor that is readable when something happened.
  [[nodiscard]] int fd() const { return events_.get(); }
  /// True if the interface still exists. Forgets the events so far.
  [[nodiscard]] bool is_there(int index) const;

 private:
  FileDescriptor events_;
};

}  // namespace roce::link
