#include "analysis/requests/causes.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <random>

namespace llmprof::analysis {
namespace {

using enum RequestPart;
using Parts = std::map<RequestPart, Nanoseconds>;

Parts parts_without_zeros(const PartSums& sums) {
  Parts parts;
  for (size_t part = 0; part < kRequestParts; ++part) {
    if (sums[part] != 0) parts[static_cast<RequestPart>(part)] = sums[part];
  }
  return parts;
}

// Batches of an engine and the requests that it served. Times in any unit.
class ServedLoad {
 public:
  ServedLoad& batch(Nanoseconds begin, bool unrecorded_before = false) {
    EngineBatch& batch = engine_.batches.emplace_back();
    batch.begin = begin;
    batch.first_pass = static_cast<uint32_t>(engine_.passes.size());
    breaks_.push_back(unrecorded_before);
    return *this;
  }
  // A pass of the last batch; its GPU is busy all the time unless `busy` says otherwise.
  ServedLoad& pass(StepKind kind, uint64_t rows, uint64_t tokens, Nanoseconds start,
                   Nanoseconds end, std::optional<Nanoseconds> busy = std::nullopt) {
    BatchPass pass;
    pass.step = static_cast<uint32_t>(engine_.passes.size());
    pass.kind = kind;
    pass.start = start;
    pass.end = end;
    pass.busy = busy.value_or(end - start);
    pass.rows = rows;
    pass.tokens = tokens;
    engine_.passes.push_back(pass);
    facts_.emplace_back();
    ++engine_.batches.back().passes;
    return *this;
  }
  ServedLoad& decode(uint64_t rows, Nanoseconds start, Nanoseconds end) {
    return pass(StepKind::decode, rows, rows, start, end);
  }
  ServedLoad& replayed() {
    engine_.passes.back().replayed = true;
    return *this;
  }
  ServedLoad& of_graph(uint64_t launches) {
    engine_.passes.back().launches = launches;
    return replayed();
  }
  ServedLoad& slowed() {
    facts_.back().slowed = true;
    return *this;
  }
  ServedLoad& communicates(Nanoseconds time) {
    facts_.back().communication = time;
    return *this;
  }
  ServedLoad& read(Nanoseconds time) {
    engine_.batches.back().end = {time, time};
    return *this;
  }

  // Chunks of a token each: the batch (kNoBatch: not joined) and the arrival.
  ServedLoad& request(Nanoseconds sent, std::optional<uint64_t> prompt, Nanoseconds end,
                      const std::vector<std::pair<uint32_t, Nanoseconds>>& chunks) {
    const auto request = static_cast<uint32_t>(requests_.size());
    requests_.push_back(
        {sent, static_cast<uint32_t>(chunks_.size()), static_cast<uint32_t>(chunks.size())});
    ends_.push_back(end);
    for (const auto& [batch, time] : chunks) {
      const bool joined = batch != kNoBatch;
      if (joined && chunks_.size() == requests_.back().first_chunk) {
        prompts_.push_back({request, batch, sent, prompt});
      } else if (joined) {
        ++decoded_[batch];
      }
      chunks_.push_back({time, 1});
      join_.batch.push_back(batch);
      join_.state.push_back(joined ? ChunkState::joined : ChunkState::unmatched);
    }
    return *this;
  }

  // The request's token of this batch is behind a prompt of so many tokens.
  ServedLoad& comes_back(uint32_t request, uint32_t batch, uint64_t tokens) {
    prompts_.push_back({request, batch, requests_[request].sent, tokens, true});
    --decoded_[batch];
    return *this;
  }

  struct Interval {
    Parts parts;
    std::map<uint32_t, Nanoseconds> waits;
    bool preempted = false;
    Nanoseconds length = 0;

    [[nodiscard]] Nanoseconds sum() const {
      return std::accumulate(parts.begin(), parts.end(), Nanoseconds{0},
                             [](Nanoseconds sum, const auto& part) { return sum + part.second; });
    }
  };
  [[nodiscard]] std::vector<Interval> intervals(uint32_t request) {
    std::vector<uint32_t> decoded(engine_.batches.size(), 0);
    for (const auto& [batch, tokens] : decoded_) decoded[batch] = tokens;
    const auto parts = prompt_parts(engine_, prompts_, decoded);
    const EngineTime time = engine_time(engine_, facts_, parts, breaks_);
    const Causes causes(engine_, time, join_, requests_, chunks_, prompts_, parts);
    std::vector<Interval> found;
    causes.each_interval(request, ends_[request], [&](const RequestInterval& from) {
      Interval& interval = found.emplace_back();
      interval.parts = parts_without_zeros(from.parts);
      for (const WaitFor& wait : from.waits) interval.waits[wait.owner] = wait.time;
      interval.preempted = from.preempted;
      interval.length = from.end - from.start;
    });
    return found;
  }

 private:
  EngineBatches engine_;
  std::vector<PassFacts> facts_;
  std::vector<bool> breaks_;
  TokenJoin join_;
  std::vector<TokenRequest> requests_;
  std::vector<TokenChunk> chunks_;
  std::vector<Nanoseconds> ends_;
  std::vector<Prompt> prompts_;
  std::map<uint32_t, uint32_t> decoded_;
};

// Request 0 has its prompt in [100, 140), decodes alone in [150, 160), together with request 1's
// prompt, then both decode in [210, 225).
ServedLoad two_requests() {
  ServedLoad load;
  load.batch(100).pass(StepKind::prefill, 1, 64, 100, 140).read(142);
  load.batch(150).decode(1, 150, 160).read(162);
  load.batch(170).decode(1, 170, 180).pass(StepKind::prefill, 1, 32, 182, 200).read(203);
  load.batch(210).decode(2, 210, 225).read(226);
  load.request(90, 64, 240, {{0, 145}, {1, 165}, {2, 205}, {3, 230}});
  load.request(155, 32, 240, {{2, 206}, {3, 231}});
  return load;
}

TEST(CausesTest, SplitTheTimeOfARequest) {
  const auto intervals = two_requests().intervals(0);
  ASSERT_EQ(intervals.size(), 5U);
  EXPECT_EQ(intervals[0].parts, (Parts{{queue, 10}, {own_prefill, 40}, {host, 2}, {delivery, 3}}));
  // From 145: the host until 150, decode alone, and 2 until the results are read.
  EXPECT_EQ(intervals[1].parts, (Parts{{host, 7}, {own_decode, 10}, {delivery, 3}}));
  // The other prompt's pass counts from the end of the pass before it.
  EXPECT_EQ(intervals[2].parts,
            (Parts{{host, 8}, {own_decode, 10}, {others_prefill, 20}, {delivery, 2}}));
  EXPECT_EQ(intervals[2].waits, (std::map<uint32_t, Nanoseconds>{{1, 20}}));
  // A step of one sequence takes 10, the other one adds 5.
  EXPECT_EQ(intervals[3].parts,
            (Parts{{host, 6}, {own_decode, 10}, {others_decode, 5}, {delivery, 4}}));
  EXPECT_EQ(intervals[4].parts, (Parts{{delivery, 10}}));
}

// Request 1 queues until the host has chosen the tokens of the batch before; what decodes beside
// its prompt is others' decode.
TEST(CausesTest, APromptWaitsForTheBatchBeforeAndForDecodeBesideIt) {
  const auto intervals = two_requests().intervals(1);
  ASSERT_EQ(intervals.size(), 3U);
  EXPECT_EQ(intervals[0].parts,
            (Parts{{queue, 7}, {host, 11}, {others_decode, 10}, {own_prefill, 20}, {delivery, 3}}));
}

// Decode passes of two sequences take 20, so that a pass of three tokens that takes 50 spends 30 on
// the prompt's token.
TEST(CausesTest, APromptInAPassOfBothCostsWhatItAdds) {
  ServedLoad load;
  load.batch(0).pass(StepKind::prefill, 2, 20, 0, 10).read(10);
  for (uint32_t i = 0; i < 3; ++i)
    load.batch(10 + i * 20).decode(2, 10 + i * 20, 30 + i * 20).read(30 + i * 20);
  load.batch(70)
      .pass(StepKind::mixed, 2, 3, 70, 120)
      .pass(StepKind::prefill, 1, 9, 120, 130)
      .read(130);
  load.request(-5, 10, 130, {{0, 10}, {1, 30}, {2, 50}, {3, 70}, {4, 130}});
  load.request(-5, 10, 130, {{0, 10}, {1, 30}, {2, 50}, {3, 70}, {4, 130}});
  load.request(60, 10, 130, {{4, 130}});
  const auto intervals = load.intervals(0);
  const Parts& last = intervals[4].parts;
  EXPECT_EQ(last.at(others_prefill), 30 + 10);
  EXPECT_EQ(last.at(own_decode) + last.at(others_decode), 20);
  EXPECT_EQ(load.intervals(2)[0].parts,
            (Parts{{queue, 10}, {own_prefill, 40}, {others_decode, 20}}));
}

// Ten like steps of 10, one of 400 in which the GPU works for 9: 390 are the host's.
TEST(CausesTest, AStepThatWaitsForTheHostIsNotDecode) {
  ServedLoad load;
  load.batch(0).pass(StepKind::prefill, 1, 4, 0, 10).read(10);
  std::vector<std::pair<uint32_t, Nanoseconds>> chunks{{0, 10}};
  Nanoseconds now = 10;
  for (uint32_t i = 1; i <= 10; ++i) {
    const Nanoseconds took = i == 5 ? 400 : 10;
    load.batch(now).pass(StepKind::decode, 1, 1, now, now + took, 9).read(now + took);
    now += took;
    chunks.emplace_back(i, now);
  }
  load.request(0, 4, now, chunks);
  EXPECT_EQ(load.intervals(0)[5].parts, (Parts{{host, 390}, {own_decode, 10}}));
}

TEST(CausesTest, NameGraphMissesLoweredClocksAndCommunication) {
  ServedLoad load;
  load.batch(0).pass(StepKind::prefill, 1, 4, 0, 10).read(10);
  std::vector<std::pair<uint32_t, Nanoseconds>> chunks{{0, 10}};
  Nanoseconds now = 10;
  const auto step = [&](Nanoseconds took) -> ServedLoad& {
    load.batch(now).decode(1, now, now + took).read(now + took);
    now += took;
    chunks.emplace_back(static_cast<uint32_t>(chunks.size()), now);
    return load;
  };
  for (int i = 0; i < 5; ++i) step(10).replayed();
  step(17);
  step(14).replayed().slowed();
  step(12).replayed().communicates(2);
  load.request(0, 4, now, chunks);
  const auto intervals = load.intervals(0);
  EXPECT_EQ(intervals[6].parts, (Parts{{own_decode, 10}, {graph_miss, 7}}));
  EXPECT_EQ(intervals[7].parts, (Parts{{own_decode, 10}, {lowered_clocks, 4}}));
  EXPECT_EQ(intervals[8].parts, (Parts{{own_decode, 10}, {communication, 2}}));
}

// The graph of 4 rows takes 20, the one of 8 rows 40. It also serves 5 rows, which would take 25.
TEST(CausesTest, PaddingToALargerGraphIsNotDecode) {
  constexpr uint64_t kGraphOf4 = 11;
  constexpr uint64_t kGraphOf8 = 12;
  ServedLoad load;
  load.batch(0).pass(StepKind::prefill, 8, 32, 0, 10).read(10);
  std::vector<std::vector<std::pair<uint32_t, Nanoseconds>>> chunks(8, {{0, 10}});
  Nanoseconds now = 10;
  uint32_t batch = 1;
  for (const uint64_t rows : {8U, 8U, 5U, 5U, 5U, 4U, 4U}) {
    const Nanoseconds took = rows > 4 ? 40 : 20;
    load.batch(now).decode(rows, now, now + took).of_graph(rows > 4 ? kGraphOf8 : kGraphOf4);
    now += took;
    load.read(now);
    for (uint64_t request = 0; request < rows; ++request) chunks[request].emplace_back(batch, now);
    ++batch;
  }
  for (const auto& of : chunks) load.request(0, 4, of.back().second, of);
  const auto intervals = load.intervals(0);
  EXPECT_FALSE(intervals[2].parts.contains(graph_miss));
  EXPECT_EQ(intervals[3].parts.at(graph_miss), 15);
  EXPECT_EQ(intervals[3].parts.at(own_decode) + intervals[3].parts.at(others_decode), 25);
  EXPECT_FALSE(intervals[7].parts.contains(graph_miss));
}

// Between its tokens of batches 1 and 4, only the other sequence decodes.
TEST(CausesTest, AnEvictedRequestIsOutOfTheBatch) {
  ServedLoad load;
  load.batch(0).pass(StepKind::prefill, 2, 8, 0, 10).read(10);
  load.batch(10).decode(2, 10, 20).read(20);
  load.batch(20).decode(1, 20, 28).read(28);
  load.batch(28).decode(1, 28, 36).read(36);
  load.batch(36).decode(2, 36, 46).read(46);
  load.request(0, 4, 46, {{0, 10}, {1, 20}, {4, 46}});
  load.request(0, 4, 46, {{0, 10}, {1, 20}, {2, 28}, {3, 36}, {4, 46}});
  const auto intervals = load.intervals(0);
  EXPECT_TRUE(intervals[2].preempted);
  EXPECT_EQ(intervals[2].parts, (Parts{{out_of_batch, 16}, {own_decode, 8}, {others_decode, 2}}));
  EXPECT_FALSE(intervals[1].preempted);
}

// With nobody else in the batch: it gets its next token behind a prompt.
TEST(CausesTest, AnEvictedRequestComesBackWithItsPrompt) {
  ServedLoad load;
  load.batch(0).pass(StepKind::prefill, 1, 4, 0, 10).read(10);
  load.batch(10).decode(1, 10, 20).read(20);
  load.batch(220).pass(StepKind::prefill, 1, 6, 220, 232).read(232);
  load.request(0, 4, 232, {{0, 10}, {1, 20}, {2, 232}});
  load.comes_back(0, 2, 6);
  const auto intervals = load.intervals(0);
  EXPECT_TRUE(intervals[2].preempted);
  EXPECT_EQ(intervals[2].parts, (Parts{{out_of_batch, 200}, {own_prefill, 12}}));
}

// While it is out, request 1 ends, nothing runs for a while, and request 2 has its prompt and
// decodes. It comes back in batch 4, whose first part of its prompt is followed by another one.
TEST(CausesTest, AnEvictedRequestIsOutUntilTheFirstPartOfItsPrompt) {
  ServedLoad load;
  load.batch(0).pass(StepKind::prefill, 2, 8, 0, 10).read(12);
  load.batch(14).decode(2, 14, 20).read(21);
  load.batch(23).decode(1, 23, 30).read(31);
  load.batch(80).pass(StepKind::prefill, 1, 20, 80, 90).read(91);
  load.batch(95).pass(StepKind::mixed, 1, 4, 95, 110).read(111);
  load.batch(113).pass(StepKind::mixed, 2, 4, 113, 125).read(126);
  load.request(-5, 4, 130, {{0, 13}, {1, 22}, {5, 130}});
  load.request(-5, 4, 33, {{0, 13}, {1, 22}, {2, 33}});
  load.request(70, 20, 130, {{3, 93}, {4, 113}, {5, 130}});
  load.comes_back(0, 5, 6);
  const auto intervals = load.intervals(0);
  EXPECT_TRUE(intervals[2].preempted);
  // Received at 22, in batch 4 from 95 on.
  EXPECT_EQ(intervals[2].parts.at(out_of_batch), 95 - 22);
  EXPECT_EQ(intervals[2].parts.at(delivery), 4);
  EXPECT_FALSE(intervals[2].parts.contains(own_decode));
  EXPECT_EQ(intervals[2].sum(), 130 - 22);
}

// From batch 17 on, everything takes twice as long: decode 20 instead of 10, and decode with a
// prompt of 8 tokens 60 instead of 30.
TEST(CausesTest, ASlowPassOfBothIsSlowForBoth) {
  ServedLoad load;
  std::vector<std::pair<uint32_t, Nanoseconds>> chunks{{0, 10}};
  load.batch(0).pass(StepKind::prefill, 1, 4, 0, 10).read(10);
  Nanoseconds now = 10;
  uint32_t batch = 1;
  const auto run = [&](bool mixed, Nanoseconds took) {
    load.batch(now).pass(mixed ? StepKind::mixed : StepKind::decode, mixed ? 2 : 1, mixed ? 9 : 1,
                         now, now + took);
    now += took;
    load.read(now);
    chunks.emplace_back(batch++, now);
  };
  std::vector<uint32_t> of_both;
  for (const Nanoseconds pace : {1, 1, 2}) {
    for (const bool mixed : {false, false, true, false, true, false, false, pace == 1}) {
      if (mixed) of_both.push_back(batch);
      run(mixed, pace * (mixed ? 30 : 10));
    }
  }
  load.request(0, 4, now, chunks);
  for (const uint32_t of : of_both)
    load.request(chunks[of - 1].second, 8, chunks[of].second, {{of, chunks[of].second}});
  const auto intervals = load.intervals(0);
  const auto decode = [&](uint32_t of) {
    const Parts& parts = intervals[of].parts;
    const auto more = parts.find(others_decode);
    return parts.at(own_decode) + (more == parts.end() ? 0 : more->second);
  };
  ASSERT_EQ(of_both.size(), 8U);
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(decode(of_both[i]), 10) << i;
  for (size_t i = 6; i < 8; ++i) {
    EXPECT_EQ(decode(of_both[i]), 20) << i;
    EXPECT_EQ(intervals[of_both[i]].parts.at(others_prefill), 40) << i;
  }
}

// Batches of prompts alone make all sequences wait.
TEST(CausesTest, ABatchOfPromptsAloneIsNoEviction) {
  ServedLoad load;
  load.batch(0).pass(StepKind::prefill, 1, 8, 0, 10).read(10);
  load.batch(10).decode(1, 10, 20).read(20);
  load.batch(20).pass(StepKind::prefill, 1, 50, 20, 60).read(60);
  load.batch(60).decode(2, 60, 75).read(75);
  load.request(0, 8, 75, {{0, 10}, {1, 20}, {3, 75}});
  load.request(15, 50, 75, {{2, 60}, {3, 75}});
  const auto intervals = load.intervals(0);
  EXPECT_FALSE(intervals[2].preempted);
  EXPECT_EQ(intervals[2].parts,
            (Parts{{others_prefill, 40}, {own_decode, 10}, {others_decode, 5}}));
}

TEST(CausesTest, UnrecordedTimeHasNoCause) {
  ServedLoad load;
  load.batch(100, true).pass(StepKind::prefill, 1, 8, 100, 110).read(110);
  load.batch(110).decode(1, 110, 120).read(120);
  load.batch(500, true).decode(1, 500, 510).read(510);
  load.request(20, 8, 520, {{0, 110}, {1, 120}, {kNoBatch, 300}, {2, 510}, {kNoBatch, 515}});
  const auto intervals = load.intervals(0);
  EXPECT_EQ(intervals[0].parts, (Parts{{not_recorded, 80}, {own_prefill, 10}}));
  EXPECT_EQ(intervals[2].parts, (Parts{{not_recorded, 180}}));
  EXPECT_EQ(intervals[3].parts, (Parts{{not_recorded, 200}, {own_decode, 10}}));
  EXPECT_EQ(intervals[4].parts, (Parts{{not_recorded, 5}}));
  EXPECT_EQ(intervals[5].parts, (Parts{{not_recorded, 5}}));
}

// Whatever the batches, the passes and the chunks are: nothing is lost, and nothing counts twice.
TEST(CausesTest, PartsSumToTheTimeForAnyInput) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const auto between = [&](Nanoseconds low, Nanoseconds high) {
      return std::uniform_int_distribution<Nanoseconds>(low, high)(random);
    };
    ServedLoad load;
    Nanoseconds now = 1'000;
    const auto batches = static_cast<uint32_t>(between(1, 40));
    for (uint32_t i = 0; i < batches; ++i) {
      load.batch(now, between(0, 9) == 0);
      for (auto left = between(1, 3); left > 0; --left) {
        const auto kind = static_cast<StepKind>(between(0, 3));
        const Nanoseconds start = now + between(-20, 30);
        const Nanoseconds end = start + between(0, 300);
        load.pass(kind, static_cast<uint64_t>(between(0, 4)), static_cast<uint64_t>(between(0, 90)),
                  start, end, between(0, 300));
        if (between(0, 3) == 0) load.replayed();
        if (between(0, 5) == 0) load.slowed();
        if (between(0, 5) == 0) load.communicates(between(0, 100));
        now = std::max(now, end);
      }
      load.read(now + between(-50, 30));
    }
    const auto requests = static_cast<uint32_t>(between(1, 8));
    std::vector<Nanoseconds> lengths;
    for (uint32_t i = 0; i < requests; ++i) {
      const Nanoseconds sent = between(0, now);
      std::vector<std::pair<uint32_t, Nanoseconds>> chunks;
      Nanoseconds time = sent;
      auto batch = static_cast<uint32_t>(between(0, batches - 1));
      for (auto left = between(0, 12); left > 0 && batch < batches; --left) {
        time += between(0, 400);
        chunks.emplace_back(between(0, 5) == 0 ? kNoBatch : batch, time);
        batch += static_cast<uint32_t>(between(1, 3));
      }
      time += between(0, 100);
      const auto prompt = between(0, 3) == 0
                              ? std::nullopt
                              : std::optional<uint64_t>(static_cast<uint64_t>(between(0, 200)));
      load.request(sent, prompt, time, chunks);
      lengths.push_back(time - sent);
    }
    for (uint32_t i = 0; i < requests; ++i) {
      Nanoseconds sum = 0;
      for (const ServedLoad::Interval& interval : load.intervals(i)) {
        EXPECT_EQ(interval.sum(), interval.length) << seed;
        for (const auto& [part, time] : interval.parts) EXPECT_GT(time, 0) << seed;
        sum += interval.length;
      }
      EXPECT_EQ(sum, lengths[i]) << seed;
    }
  }
}

}  // namespace
}  // namespace llmprof::analysis
