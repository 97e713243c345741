// SPDX-License-Identifier: BSD-2-Clause
// The slowest messages, and what happened to each.
#include "analyze/charts/message_stories.h"

#include <algorithm>
#include <utility>

namespace roce::analyze {

namespace {

using analysis::Message;

bool is_lost(const PsnPoint& point) {
  return point.kind == PsnKind::lost || point.kind == PsnKind::lost_unseen;
}

bool is_trouble(const PsnPoint& point) {
  return is_lost(point) || point.kind == PsnKind::sent_again || point.kind == PsnKind::nak ||
         point.kind == PsnKind::rnr_nak || point.kind == PsnKind::late;
}

bool belongs(const PsnPoint& point, const MessageStory& story) {
  return point.psn >= story.first_psn && point.psn < story.first_psn + std::int64_t{story.message.psn_count};
}

// The two ends are known even where no packet of the message is.
void add_ends(MessageStory& story) {
  const Message& message = story.message;
  const auto has = [&](std::uint64_t frame) {
    return std::ranges::find(story.packets, frame, &PsnPoint::frame) != story.packets.end();
  };
  PsnPoint end;
  end.requester = message.direction;
  if (!has(message.first.frame)) {
    end.time_ns = message.start.time_since_epoch().count();
    end.psn = story.first_psn;
    end.frame = message.first.frame;
    end.kind = PsnKind::sent;
    story.packets.insert(story.packets.begin(), end);
  }
  if (message.answer && !has(message.answer.frame)) {
    end.time_ns = message.finish.time_since_epoch().count();
    end.psn = story.first_psn + std::int64_t{message.psn_count} - 1;
    end.frame = message.answer.frame;
    end.kind = message.type == analysis::MessageType::read ? PsnKind::read_response : PsnKind::answered;
    story.packets.push_back(end);
  }
}

// Of many packets the first and the last ones are kept, and between them those of the message and of trouble, and the
// two around the longest time without any.
void shorten(MessageStory& story) {
  std::vector<PsnPoint>& packets = story.packets;
  if (packets.size() <= MessageStories::kPackets) return;
  constexpr std::size_t kEnd = MessageStories::kPackets / 4;
  const std::size_t all = packets.size();
  std::vector<bool> is_kept(all);
  std::size_t left = MessageStories::kPackets;
  const auto keep = [&](std::size_t i) {
    if (is_kept[i] || left == 0) return;
    is_kept[i] = true;
    --left;
  };
  for (std::size_t i = 0; i < kEnd; ++i) {
    keep(i);
    keep(all - 1 - i);
  }
  std::size_t after_longest = 1;
  const auto time_before = [&](std::size_t i) { return packets[i].time_ns - packets[i - 1].time_ns; };
  for (std::size_t i = 2; i < all; ++i) {
    if (time_before(i) > time_before(after_longest)) after_longest = i;
  }
  keep(after_longest - 1);
  keep(after_longest);
  for (std::size_t i = 0; i < all; ++i) {
    if (is_trouble(packets[i]) && belongs(packets[i], story)) keep(i);
  }
  for (std::size_t i = 0; i < all; ++i) {
    if (is_trouble(packets[i]) || belongs(packets[i], story)) keep(i);
  }
  std::vector<PsnPoint> kept;
  std::uint64_t left_out = 0;
  for (std::size_t i = 0; i < all; ++i) {
    if (!is_kept[i]) {
      ++left_out;
      continue;
    }
    if (left_out != 0) story.breaks.push_back({packets[i].frame, left_out});
    left_out = 0;
    kept.push_back(packets[i]);
  }
  packets = std::move(kept);
}

// Whether a packet was lost is known some time after it.
void add_what_is_known_now(MessageStory& story, const std::vector<PsnPoint>& points) {
  for (const PsnPoint& known : points) {
    if (known.requester != story.message.direction) continue;
    const auto is_same = [&](const PsnPoint& each) { return each.frame == known.frame && each.psn == known.psn; };
    const auto found = std::ranges::find_if(story.packets, is_same);
    if (found != story.packets.end()) {
      found->kind = known.kind;
    } else if (is_lost(known) && belongs(known, story) && known.frame >= story.message.first.frame &&
               known.frame <= story.message.answer.frame && story.packets.size() < MessageStories::kPackets) {
      story.packets.push_back(known);
    }
  }
  std::ranges::stable_sort(story.packets, {}, &PsnPoint::time_ns);
}

}  // namespace

void MessageStories::add(const Message& message, PsnTracks& psns) {
  if (!slowest_.takes(message)) return;
  MessageStory story;
  story.message = message;
  story.first_psn = psns.relative_psn(message.stream, message.direction, message.first_psn).value_or(0);
  story.packets = psns.points_between(message.stream, message.direction, message.start.time_since_epoch().count(),
                                      message.finish.time_since_epoch().count());
  add_ends(story);
  shorten(story);
  slowest_.add(std::move(story));
}

std::vector<MessageStory> MessageStories::stories(const PsnTracks& psns) const {
  std::vector<MessageStory> all = slowest_.sorted();
  for (MessageStory& story : all) add_what_is_known_now(story, psns.points(story.message.stream));
  return all;
}

}  // namespace roce::analyze
