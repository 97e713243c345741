// SPDX-License-Identifier: BSD-2-Clause
#include "roce/live/script.h"

namespace roce::live {

bool Script::step(Time now) {
  if (is_over_) return false;
  now_ = now;
  if (wait_ != nullptr) {
    wait_->happened = wait_->holds();
    if (!wait_->happened && now < wait_->deadline) return false;
    wait_ = nullptr;
  }
  resume_.resume();
  if (!task_.handle_.done()) return true;
  is_over_ = true;
  try {
    task_.await_resume();
  } catch (const std::exception& failure) {
    error_ = failure.what();
  }
  return true;
}

}  // namespace roce::live
