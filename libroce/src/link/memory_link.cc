// SPDX-License-Identifier: BSD-2-Clause
#include "roce/link/memory_link.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <vector>

#include "roce/link/file_descriptor.h"

namespace roce::link {

namespace {

struct StoredFrame {
  std::vector<std::byte> bytes;
  UdpMeta udp;
  std::int64_t timestamp_ns = 0;
};

}  // namespace

/// A ring of the frames that wait at one end.
struct MemoryLink::Inbox {
  std::mutex mutex;  // the other end puts frames in from a thread of its own; not for `handed_out`
  FileDescriptor event;
  std::function<std::int64_t()> clock;
  std::vector<StoredFrame> ring;
  std::size_t first = 0;
  std::size_t count = 0;
  std::uint64_t drops = 0;
  /// The frames that the last `receive` handed out. They are swapped with frames of the ring, so that none is copied
  /// twice and none of them takes a place in the ring.
  std::vector<StoredFrame> handed_out;

  void put(const TxFrame& frame) {
    if (count == ring.size()) {
      ++drops;
      return;
    }
    StoredFrame& place = ring[(first + count) % ring.size()];
    place.bytes.assign(frame.bytes.begin(), frame.bytes.end());
    place.udp = frame.udp;
    place.timestamp_ns = clock ? clock() : 0;
    if (count++ == 0) (void)::eventfd_write(event.get(), 1);
  }

  [[nodiscard]] const StoredFrame& take(std::size_t place) {
    std::swap(handed_out[place], ring[first]);
    first = (first + 1) % ring.size();
    --count;
    return handed_out[place];
  }
};

LinkResult<MemoryLink::Pair> MemoryLink::make_pair(const MemoryLinkOptions& options) {
  if (options.capacity_frames == 0) {
    return tl::unexpected(LinkError{"a link in memory needs room for one frame at least; its capacity is 0"});
  }
  std::array<std::shared_ptr<Inbox>, 2> boxes;
  for (auto& box : boxes) {
    box = std::make_shared<Inbox>();
    box->event = FileDescriptor{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
    if (!box->event) {
      return tl::unexpected(LinkError{std::string("cannot make a link in memory: ") + std::strerror(errno) +
                                      "; raise the limit of open files (`ulimit -n`)"});
    }
    box->clock = options.clock;
    box->ring.resize(options.capacity_frames);
  }
  return Pair{std::unique_ptr<MemoryLink>(new MemoryLink(options, boxes[0], boxes[1])),
              std::unique_ptr<MemoryLink>(new MemoryLink(options, boxes[1], boxes[0]))};
}

MemoryLink::MemoryLink(const MemoryLinkOptions& options, std::shared_ptr<Inbox> own,
                       const std::shared_ptr<Inbox>& other)
    : kind_(options.kind), max_bytes_(options.max_bytes), inbox_(std::move(own)), other_(other) {}
MemoryLink::~MemoryLink() = default;

LinkKind MemoryLink::kind() const {
  return kind_;
}

std::size_t MemoryLink::max_bytes() const {
  return max_bytes_;
}

int MemoryLink::fd() const {
  return inbox_->event.get();
}

LinkResult<std::size_t> MemoryLink::receive(std::span<RxFrame> frames) {
  Inbox& inbox = *inbox_;
  const std::scoped_lock lock{inbox.mutex};
  const std::size_t taken = std::min(frames.size(), inbox.count);
  if (inbox.handed_out.size() < taken) inbox.handed_out.resize(taken);
  for (std::size_t i = 0; i < taken; ++i) {
    const StoredFrame& stored = inbox.take(i);
    frames[i] = {.bytes = stored.bytes,
                 .wire_length = static_cast<std::uint32_t>(stored.bytes.size()),
                 .timestamp_ns = stored.timestamp_ns,
                 .segment_size = 0,
                 .udp = stored.udp};
    counters_.received_bytes += stored.bytes.size();
  }
  counters_.received += taken;
  if (taken > 0 && inbox.count == 0) {
    eventfd_t ignored = 0;
    (void)::eventfd_read(inbox.event.get(), &ignored);
  }
  return taken;
}

LinkResult<std::size_t> MemoryLink::send(std::span<const TxFrame> frames) {
  const std::shared_ptr<Inbox> other = other_.lock();
  std::unique_lock<std::mutex> lock;
  if (other) lock = std::unique_lock{other->mutex};
  for (const TxFrame& frame : frames) {
    if (frame.bytes.size() > max_bytes_) {
      ++counters_.send_errors;
      continue;
    }
    ++counters_.sent;
    counters_.sent_bytes += frame.bytes.size();
    if (other) other->put(frame);
  }
  return frames.size();
}

LinkCounters MemoryLink::counters() const {
  LinkCounters result = counters_;
  const std::scoped_lock lock{inbox_->mutex};
  result.receive_drops = inbox_->drops;
  return result;
}

}  // namespace roce::link
