// SPDX-License-Identifier: BSD-2-Clause
// Every number of the analyser that is a judgement and not a fact of the protocol, with its reason, and with a test of
// tests/analysis that fails if it becomes much smaller or larger.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "roce/wire/time.h"

namespace roce::analysis::heuristics {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// Copies, if the IP identifications do not tell.

/// Longest time from a packet to its copy. A copy is made by a device on the way or by the capture, and passes at once;
/// no requester sends again that soon.
/// Test: ResponseVerdicts.AnswersToTheCopiesOfARequestAreNoCopies.
inline constexpr Duration kCopyFollows = microseconds{2};
/// Part of that for a packet of a go-back: the requester may go back to the same packet once more at once.
/// Test: Heuristics.ACopyOfAGoBackFollowsSoonerThanOneOfANewRequest.
inline constexpr int kCopyOfGoBackPart = 8;
/// Packets of a flow before anybody is blamed for its copies.
/// Test: RequestVerdicts.OneCopyOfManyPacketsIsMadeByTheNetwork.
inline constexpr std::uint32_t kPacketsBeforeBlame = 8;
/// Copies times this exceed the packets of the flow, copies included, if the capture makes the copies: it copies all
/// packets (a half of the flow are copies then), a network only few.
/// Test: RequestVerdicts.CopiesOfEveryPacketAreMadeByTheCapture.
inline constexpr std::uint32_t kCopiesOfCapture = 3;

// Overtaken packets.

/// Longest delay of a request that others of its go-back overtook, until a round trip has been seen.
/// Test: Heuristics.TheFirstPacketOfACaptureIsLateByTwentyMicrosecondsAtMost.
inline constexpr Duration kRequestOvertaken = microseconds{20};
/// Longest delay of a READ response that others overtook, if it may also belong to another answer.
/// Test: AnswerFollowerTest.APartThatComesAtOnceIsOnlyLate.
inline constexpr Duration kAnswerOvertaken = microseconds{2};
/// Most PSNs by which a packet is believed to be overtaken; farther behind, it was sent again. Also the most by which
/// the first packet of a capture may be late, and by which packets of an interrupted go-back may be ahead of that.
/// Test: SimTruth.VerdictsAreTrueAndComplete (hardware_like).
inline constexpr std::int64_t kMostOvertaken = 4;
/// Most PSNs by which a go-back may seem to jump because its latest packet overtook others. A longer jump that is
/// taken back was a stray packet, and so is a packet that far ahead of a go-back that has just begun. The same for the
/// answer to a READ.
/// Test: OvertakenRequests.FarAheadOfAGoBackThatHasJustBegunIsOvertakenWithoutIdentifications.
inline constexpr std::int64_t kOvertakingJump = 4;
/// UDP_MAX_SEGMENTS of Linux: no super-frame has more packets, and each may begin with the IP identification 0.
/// Test: RequestVerdicts.IdentificationsThatBeginAgainInEachSuperFrameTellNothing.
inline constexpr std::uint16_t kMostSegments = 128;

// Losses.

/// No ACK timeout in use is below this (A-RTX-3): a retransmission that comes sooner has a reason that was not seen.
/// Test: RequestVerdicts.LateByARoundTripMayHaveBeenSentAgain, RequestVerdicts.NothingWasHeardOfIt.
inline constexpr Duration kLeastTimeout = microseconds{300};
/// Most that a requester takes to react to a NAK, or to a response that passes a READ. If it is silent for longer, it
/// did not get that, and goes back because of its ACK timeout. Soft-RoCE in a busy guest takes several milliseconds.
/// Once an ACK timeout was seen that is shorter, the timeout is the limit instead. Test:
/// GoBacks.AfterSilenceTheCauseIsTheTimeout, GoBacks.ASlowReactionToANakIsNoTimeout.
inline constexpr Duration kReactionTakes = milliseconds{50};
/// Part of the shortest ACK timeout that was seen by which another one may be shorter: timers are coarse.
/// Test: Heuristics.AnAckTimeoutMayBeShorterByAnEighthThanTheShortestSeen.
inline constexpr int kTimeoutVariesBy = 8;
/// Most that one silence before a go-back lasts, as a multiple of another that an ACK timeout ended (A-RTX-4).
/// Test: GoBacks.ASilenceMuchShorterThanTheOneBeforeIsNoTimeout.
inline constexpr int kTimeoutLastsTimes = 4;
/// Time for which an acknowledged gap stays open. The two directions of a capture may be recorded with separate clocks
/// or queues, so that the missing packet may still follow. Also the time for which one that was sent again may only be
/// late. Test: RequestVerdicts.DamagedPacketAndTheOneThatArrivedInItsPlace, LatePackets.AreNotAwaitedForLong.
inline constexpr Duration kGapSettles = microseconds{100};
/// Time in which a requester asks again for a READ response that was passed. It does so at once if it misses the
/// response; one that does not has it.
/// Test: ResponseVerdicts.OnlyTheCaptureMissedPartOfAnAnswer.
inline constexpr Duration kReadSettles = milliseconds{10};
/// Most responses that are believed to be lost while the requester's own packets come by. If there are more, the
/// requester probably ignored them (A-LOSS-3).
/// Test: ResponseVerdicts.ManyAcknowledgementsAmongRequestsWereNotHeeded.
inline constexpr std::size_t kLostAmongRequests = 8;
/// A wait that is shorter than an ACK timeout by less than this part of itself may be that timeout: rxe counts in
/// jiffies, and the way to the capture point varies. Test: Unanswered.WaitsTellTheAckTimeout.
inline constexpr int kTimeoutTolerancePart = 12;
/// Requests of a channel of which it is open whether they, or their answers, were lost, and packets that may only be
/// late; the oldest counts as lost then.
/// Test: LateAnswers.OfRequestsInDoubtTheNewestEightAreRemembered.
inline constexpr std::size_t kDoubtsKept = 8;
/// Answers to one request that are lost one after the other before the next is believed to be lost as well.
/// Test: Unanswered.AnswersThatNeverArrive.
inline constexpr std::uint32_t kAnswersLost = 2;
/// Part of the least latency that a NAK takes to come back. One that comes sooner after a retransmission may be about
/// the transmission before.
/// Test: Heuristics.ANakThatComesWithinHalfTheLatencyIsAboutTheTransmissionBefore.
inline constexpr int kNakComesAfterPart = 2;
/// The same if the go-back has been answered: then less time shows that the NAK is about the transmission before.
/// Test: OvertakenRequests.ANakThatComesAtOnceIsAboutTheTransmissionBefore.
inline constexpr int kNakComesSurelyAfterPart = 8;
/// Part of the least latency that an answer takes to come back. One that comes sooner after a request was sent again is
/// to the transmission before. Latencies of Soft-RoCE in a busy guest vary by more than four.
/// Test: Heuristics.AnAnswerWithinAnEighthOfTheLatencyIsToTheTransmissionBefore.
inline constexpr int kAnswerComesAfterPart = 8;
/// Part of the least latency by which another one may differ and still be like it: both are the round trip of the path
/// then, not of a busy host. Test: Heuristics.ALatencyThatWasSeenTwiceIsTheLeast.
inline constexpr int kLatencyVariesBy = 8;
/// So many latencies that are like the least one show that none is shorter. Of fewer, the parts above and below hold.
/// Test: Heuristics.ALatencyThatWasSeenTwiceIsTheLeast.
inline constexpr std::uint8_t kLatenciesAlike = 2;
/// Part of the time from the request after a lost one to the NAK that a pause of the requester may lack of all of it:
/// then the packet after the pause provoked the NAK. Test: NakedRequests.APauseBeforeWhatProvokedTheNakIsNoRoundTrip.
inline constexpr int kPauseLacksPart = 8;
/// Part of the least latency in which a READ that was requested again cannot have been answered: responses to the
/// request before are still under way.
/// Test: Heuristics.AResponseWithinAnEighthOfTheLatencyIsOfTheAnswerBefore.
inline constexpr int kOldAnswersComeForPart = 8;
/// Part of the least latency that a new answer takes. Sooner, a response that was seen before the latest request may be
/// the one that the requester misses.
/// Test: Heuristics.AResponseWithinHalfTheLatencyMayBeOfTheAnswerBefore.
inline constexpr int kNewAnswerTakesPart = 2;

// One connection or two.

/// Farthest that an ACK may be ahead of all requests that were seen; it belongs to something else beyond.
/// Test: Heuristics.AnAckFarAheadOfAllRequestsBelongsToSomethingElse.
inline constexpr std::int64_t kAckAhead = 1 << 16;
/// Requests after the newest one that was seen which a response may answer, if the UDP source port fits (A-CON-3).
/// Test: Streams.AnswerToARequestThatWasNotSeenIsJoinedByItsPort.
inline constexpr std::int64_t kUnseenRequests = 4;
/// Requests that a connection without anything under way has to have before a message at an old PSN is another
/// connection's (A-CON-4): after a single one, a capture that begins out of order looks the same.
/// Test: Heuristics.AnOldMessageAfterTwoRequestsThatAreDoneIsOfAnotherConnection.
inline constexpr std::size_t kRequestsOfIdle = 2;
/// Packets each way after which other connections that began at the same time have been seen, too (A-CON-5).
/// Test: ResponderRules.AResponseOfAnotherConnection.
inline constexpr std::uint32_t kPacketsOfAll = 64;

// Broken rules: each of these only prevents a verdict.

/// Longest time in which IPv4 identifications are compared. They begin anew after 65,535, and no host counts through
/// all of them within this time.
/// Test: ResponderRules.NakThatMayBeForAnotherGap, ResponderRules.MsnGoesBackwards.
inline constexpr Duration kIdsAreInOrder = milliseconds{10};
/// Most packets of a flow between two AETHs whose order is judged by their IP identifications.
/// Test: Heuristics.TheOrderOfAcksIsJudgedUpToFourThousandAndNinetySixPacketsApart.
inline constexpr std::int32_t kMostIds = 4096;
/// Farthest that two AETHs of one connection are apart in PSNs; another one with the same QP numbers is beyond.
/// Test: ResponderRules.MsnGoesBackwards.
inline constexpr std::int64_t kAethApart = 1 << 16;
/// Longest time for which a queue before the capture point holds CNPs back, to release them together.
/// Test: CnpRules.FasterThanTheirInterval.
inline constexpr Duration kCnpJitter = milliseconds{1};
/// Time that a station may take to stop after a PAUSE, in pause quanta: more than IEEE 802.3, 31B.3.7 grants, including
/// the longest frame that it has begun.
/// Test: PauseTest.WithoutALinkSpeedAPauseIsShortAndAPartnerSlow.
inline constexpr std::uint64_t kStopQuanta = 2048;
/// Added to that: a kilometre of cable, both ways, and time stamps that are not exactly those of the wire.
/// Test: PauseTest.SentWhilePaused.
inline constexpr Duration kStopTime = microseconds{10};

// How much is remembered, besides `Limits`. What is forgotten cannot be recognized when it comes again.

/// Acknowledged requests of a channel, to tell retransmissions from new requests.
/// Test: Limits.RequestsThatNobodyAcknowledgesAreLetGo.
inline constexpr std::size_t kRequestsKept = 128;
/// Test: ResponseVerdicts.ACopyOfAnAcknowledgementIsNeitherDuplicateNorGhost.
inline constexpr std::size_t kResponsesKept = 256;
/// Newest responses among which the original of a copy is looked for.
/// Test: ResponseVerdicts.ACopyOfAnAcknowledgementIsNeitherDuplicateNorGhost.
inline constexpr std::size_t kResponsesSearched = 64;
/// READs and atomics that are answered.
/// Test: Heuristics.OfAnsweredReadsTheNewestSixtyFourAreRemembered.
inline constexpr std::size_t kReadsKept = 64;
/// Messages that were acknowledged, and may not have ended: no more than this are sent again in one go-back, as a rule.
/// Test: MessageEnds.OfOldMessagesAreNotRevised.
inline constexpr std::size_t kEndedKept = 64;
/// NAKs that the requester has not reacted to.
/// Test: Heuristics.OfNaksWithoutAReactionTheNewestEightAreRemembered.
inline constexpr std::size_t kNaksKept = 8;
/// Gaps, of requests and of responses each.
/// Tests: TrackerBounds.OfGapsThatAreNeverFilled, OfGapsInAnAnswerThatAreNeverFilled.
inline constexpr std::size_t kGapsKept = 1024;
/// Requests with a wrong ICRC.
/// Test: Heuristics.OfDamagedRequestsTheNewestSixteenAreRemembered.
inline constexpr std::size_t kCorruptedKept = 16;
/// Streams that are searched for the requests that a response answers.
/// Test: Congestion.AMarkThatWasAnsweredBeforeTheDirectionsWereKnownIsNotAnsweredAgain.
inline constexpr std::size_t kStreamsSearched = 512;
/// Streams that are searched for another connection with the same UDP source port.
/// Test: ResponderRules.AResponseOfAnotherConnection.
inline constexpr std::size_t kPortsSearched = 512;
/// The first responses of a flow all trigger a search for their requests, later ones only sometimes, so that a capture
/// of one direction does not cost a search for each packet.
/// Test: Streams.LossesFromBeforeTheDirectionsAreJoinedAreKept.
inline constexpr std::uint32_t kEagerSearches = 16;
/// Test: Heuristics.ResponsesLookForTheirRequestsAgainAfterSixtyFour.
inline constexpr std::uint32_t kSearchEvery = 64;
/// REQs of the connection management that wait for their REP.
/// Test: Heuristics.OfConnectionRequestsTheNewestTwoHundredAndFiftySixAreRemembered.
inline constexpr std::size_t kCmRequestsKept = 256;
/// CM messages that may be sent again.
/// Test: RepeatedCm.AmongTheNewestTwoHundredAndFiftySixMessages.
inline constexpr std::size_t kCmMessagesKept = 256;
/// Pairs of QPs known from the connection management.
/// Test: CreditStall.EndsWhenARefusedProbeIsTaken.
inline constexpr std::size_t kCmPairsKept = 16'384;

}  // namespace roce::analysis::heuristics
