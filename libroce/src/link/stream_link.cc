// SPDX-License-Identifier: BSD-2-Clause
#include "roce/link/stream_link.h"

#include <poll.h>

#include <algorithm>
#include <limits>

#include "link/stream_channel.h"
#include "link/stream_message.h"

namespace roce::link {

using namespace detail;

namespace {

/// The most bytes written by us and not read by the other end.
constexpr std::size_t kMaxQueued = 1 << 20;
/// The most bytes of frames that came without a time.
constexpr std::size_t kMaxUntimed = 64 << 20;
constexpr std::uint64_t kNeverOnWire = std::numeric_limits<std::uint64_t>::max();

}  // namespace

struct StreamLink::State {
  StreamChannel channel;
  std::string name;
  std::size_t own_limit = 0;  // longest frame that we take
  std::size_t max_bytes = 0;  // longest frame that we may send
  bool has_virtual_time = false;
  std::chrono::nanoseconds time{0};
  std::size_t released = 0;  // bytes of the input, to be received at `time`
  bool is_asked = false;     // the other end has asked what happens at `time`
  LinkCounters counters{};
  std::optional<LinkError> failure{};

  /// Refuses what the other end did and must not do; `what` begins with a verb.
  tl::unexpected<LinkError> refuse(const std::string& what) {
    append_error(channel.output(), what);
    channel.flush();
    failure = LinkError{"the other end of the stream link " + name + " " + what};
    return tl::unexpected(*failure);
  }

  /// Notes that the other end is gone; `whole` is the number of input bytes that are whole messages.
  tl::unexpected<LinkError> gone(std::size_t whole) {
    const std::size_t left = channel.input().size() - whole;
    std::string what = "the other end of the stream link " + name + " closed it";
    if (left != 0) what += " in the middle of a message, of which " + std::to_string(left) + " bytes came";
    failure = LinkError{what};
    return tl::unexpected(*failure);
  }

  LinkResult<void> exchange_hellos(std::chrono::milliseconds limit);
  LinkResult<bool> take_message(RxFrame& frame);
};

LinkResult<void> StreamLink::State::exchange_hellos(std::chrono::milliseconds limit) {
  append_hello(channel.output(), {kVersion, false, static_cast<std::uint32_t>(own_limit)});
  channel.flush();
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (true) {
    channel.fill();
    const StreamResult<std::optional<StreamMessage>> message = first_message(channel.input(), own_limit);
    if (!message) return refuse(message.error());
    if (*message) {
      const StreamResult<StreamHello> hello = read_hello(**message);
      if (!hello) return refuse(hello.error());
      max_bytes = std::min<std::size_t>(own_limit, hello->max_bytes);
      has_virtual_time = hello->has_virtual_time;
      channel.take((*message)->size);
      // Later messages may have come together with it.
      channel.set_more(!channel.input().empty());
      return {};
    }
    if (channel.is_closed()) return gone(0);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) {
      return refuse("did not say hello in " + std::to_string(limit.count()) +
                    " ms; does it speak the format of docs/stream-link.md?");
    }
    pollfd set{channel.fd(), POLLIN, 0};
    (void)::poll(&set, 1, static_cast<int>(left.count()));
  }
}

/// Takes the next message, if it may be taken. True if it was a frame.
LinkResult<bool> StreamLink::State::take_message(RxFrame& frame) {
  const std::span<const std::byte> input = channel.input();
  const StreamResult<std::optional<StreamMessage>> message =
      first_message(has_virtual_time ? input.first(released) : input, own_limit);
  if (!message) return refuse(message.error());
  if (!*message) return false;
  const StreamMessage& found = **message;
  if (found.type == StreamType::error) return refuse("says: " + read_text(found));
  const bool is_expected = found.type == StreamType::frame || (has_virtual_time && found.type == StreamType::time);
  if (!is_expected) {
    return refuse(found.type == StreamType::time ? "sent a time, and its hello said that it has none of its own"
                                                 : "sent a message that is not for it to send");
  }
  channel.take(found.size);
  if (has_virtual_time) released -= found.size;
  if (found.type != StreamType::frame) return false;
  const auto now =
      has_virtual_time
          ? time
          : std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch());
  frame = {.bytes = found.body,
           .wire_length = static_cast<std::uint32_t>(found.body.size()),
           .timestamp_ns = now.count(),
           .segment_size = 0,
           .udp = {}};
  ++counters.received;
  counters.received_bytes += found.body.size();
  return true;
}

LinkResult<std::unique_ptr<StreamLink>> StreamLink::open(const StreamLinkOptions& options) {
  LinkResult<StreamChannel> channel = StreamChannel::open(options.receive_fd, options.send_fd, options.name);
  if (!channel) return tl::unexpected(channel.error());
  auto state = std::make_unique<State>(State{.channel = std::move(*channel), .name = options.name});
  state->own_limit = std::clamp(options.max_bytes, kShortestLimit, kLongestLimit);
  if (LinkResult<void> met = state->exchange_hellos(options.hello_timeout); !met) return tl::unexpected(met.error());
  return std::unique_ptr<StreamLink>{new StreamLink{std::move(state)}};
}

StreamLink::StreamLink(std::unique_ptr<State> state) : state_(std::move(state)) {}
StreamLink::~StreamLink() = default;

std::size_t StreamLink::max_bytes() const {
  return state_->max_bytes;
}

LinkResult<std::size_t> StreamLink::receive(std::span<RxFrame> frames) {
  State& state = *state_;
  if (state.failure) return tl::unexpected(*state.failure);
  state.channel.discard_taken();
  state.channel.flush();
  if (!state.has_virtual_time) state.channel.fill();
  std::size_t count = 0;
  while (count < frames.size()) {
    const std::size_t before = state.channel.input().size();
    const LinkResult<bool> is_frame = state.take_message(frames[count]);
    // The error is returned by the next call, when there is nothing else.
    if (!is_frame && count != 0) {
      state.channel.set_more(true);
      return count;
    }
    if (!is_frame) return tl::unexpected(is_frame.error());
    if (*is_frame) ++count;
    if (state.channel.input().size() == before) break;
  }
  if (!state.has_virtual_time) state.channel.set_more(count == frames.size());
  if (count == 0 && !state.has_virtual_time && state.channel.is_closed()) return state.gone(0);
  return count;
}

LinkResult<std::size_t> StreamLink::send(std::span<const TxFrame> frames) {
  State& state = *state_;
  if (state.failure) return tl::unexpected(*state.failure);
  state.channel.flush();
  std::size_t taken = 0;
  if (state.has_virtual_time && !state.is_asked) return taken;
  for (const TxFrame& frame : frames) {
    if (state.channel.output().size() >= kMaxQueued) break;
    ++taken;
    if (frame.bytes.size() > state.max_bytes) {
      ++state.counters.send_errors;
      continue;
    }
    append_frame(state.channel.output(), frame.bytes);
    ++state.counters.sent;
    state.counters.sent_bytes += frame.bytes.size();
  }
  state.channel.flush();
  return taken;
}

int StreamLink::fd() const {
  return state_->channel.fd();
}

LinkCounters StreamLink::counters() const {
  return state_->counters;
}

bool StreamLink::has_virtual_time() const {
  return state_->has_virtual_time;
}

LinkResult<std::optional<std::chrono::nanoseconds>> StreamLink::take_time() {
  State& state = *state_;
  if (state.failure) return tl::unexpected(*state.failure);
  state.channel.discard_taken();
  state.channel.flush();
  state.channel.fill();
  std::size_t searched = state.released;
  while (true) {
    const StreamResult<std::optional<StreamMessage>> message =
        first_message(state.channel.input().subspan(searched), state.own_limit);
    if (!message) return state.refuse(message.error());
    if (!*message) break;
    const StreamMessage& found = **message;
    if (found.type == StreamType::error) return state.refuse("says: " + read_text(found));
    searched += found.size;
    if (found.type == StreamType::frame) continue;
    if (found.type != StreamType::time) return state.refuse("sent a message that is not for it to send");
    const std::uint64_t number = read_number(found);
    const std::chrono::nanoseconds time{static_cast<std::chrono::nanoseconds::rep>(number)};
    if (number > static_cast<std::uint64_t>(std::chrono::nanoseconds::max().count()) || time < state.time) {
      return state.refuse("sent the time " + std::to_string(number) + " ns after " +
                          std::to_string(state.time.count()) + " ns; time does not go back, and ends at 2^63 ns");
    }
    state.time = time;
    state.released = searched;
    state.is_asked = true;
    state.channel.set_more(state.channel.input().size() > searched);
    return time;
  }
  state.channel.set_more(false);
  if (state.channel.is_closed()) return state.gone(searched);
  if (searched > kMaxUntimed) {
    return state.refuse("sent " + std::to_string(searched) + " bytes of frames without a time");
  }
  return std::nullopt;
}

LinkResult<void> StreamLink::tell_next(std::optional<std::chrono::nanoseconds> next) {
  State& state = *state_;
  if (state.failure) return tl::unexpected(*state.failure);
  state.is_asked = false;
  append_number(state.channel.output(), StreamType::next,
                next ? static_cast<std::uint64_t>(next->count()) : kNeverOnWire);
  state.channel.flush();
  return {};
}

LinkResult<void> StreamLink::wake() {
  State& state = *state_;
  if (state.failure) return tl::unexpected(*state.failure);
  append_wake(state.channel.output());
  state.channel.flush();
  return {};
}

}  // namespace roce::link
