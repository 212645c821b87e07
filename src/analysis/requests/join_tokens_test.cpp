#include "analysis/requests/join_tokens.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace llmprof::analysis {
namespace {

constexpr Nanoseconds kMs = 1'000'000;

// A client of an engine whose batches are known. Times in ms.
class Client {
 public:
  Client& batch(double results, std::optional<uint64_t> rows, bool prompts = false,
                bool after_break = false) {
    batches_.push_back({at(results), rows, prompts, after_break});
    return *this;
  }
  // Chunks of one token unless `tokens` says otherwise.
  Client& request(double sent, const std::vector<double>& arrivals, uint32_t tokens = 1) {
    requests_.push_back(
        {at(sent), static_cast<uint32_t>(chunks_.size()), static_cast<uint32_t>(arrivals.size())});
    for (const double time : arrivals) chunks_.push_back({at(time), tokens});
    return *this;
  }
  [[nodiscard]] TokenJoin join(bool speculative = false) const {
    return join_tokens(batches_, requests_, chunks_, speculative);
  }
  // -1: none.
  [[nodiscard]] std::vector<int> batches(bool speculative = false) const {
    const TokenJoin found = join(speculative);
    std::vector<int> rows;
    for (const uint32_t batch : found.batch) {
      rows.push_back(batch == kNoBatch ? -1 : static_cast<int>(batch));
    }
    return rows;
  }

 private:
  static Nanoseconds at(double ms) { return std::llround(ms * static_cast<double>(kMs)); }

  std::vector<JoinBatch> batches_;
  std::vector<TokenRequest> requests_;
  std::vector<TokenChunk> chunks_;
};

TEST(JoinTokensTest, AChunkIsOfTheBatchBeforeIt) {
  Client client;
  client.batch(10, 1, true).batch(20, 2, true).batch(30, 2);
  client.request(1, {10.3, 20.2, 30.4}).request(12, {20.5, 31});
  EXPECT_EQ(client.batches(), (std::vector{0, 1, 2, 1, 2}));
  const TokenJoin join = client.join();
  EXPECT_TRUE(std::ranges::all_of(join.state, [](auto of) { return of == ChunkState::joined; }));
  EXPECT_EQ(join.delays.front(), kMs / 5);
  EXPECT_EQ(join.delays.back(), kMs);
}

// A client that stalls sees three tokens at once: they are of three batches.
TEST(JoinTokensTest, ChunksThatArriveTogetherAreOfBatchesInOrder) {
  Client client;
  client.batch(10, 1, true).batch(20, 1).batch(30, 1).batch(40, 1);
  client.request(1, {10.3, 40.1, 40.2, 40.3});
  EXPECT_EQ(client.batches(), (std::vector{0, 1, 2, 3}));
}

// The last token of the first request arrives behind the next batch, which has one row, of the
// other request.
TEST(JoinTokensTest, RowsShowWhichChunkWasLate) {
  Client client;
  client.batch(10, 2, true).batch(20, 2).batch(30, 1);
  client.request(1, {10.1, 30.2}).request(1, {10.2, 20.2, 30.1});
  EXPECT_EQ(client.batches(), (std::vector{0, 1, 0, 1, 2}));
}

// It is in no batch at 30 and 40, which have only one row.
TEST(JoinTokensTest, AnEvictedRequestSkipsBatches) {
  Client client;
  client.batch(10, 2, true).batch(20, 2).batch(30, 1).batch(40, 1).batch(50, 2).batch(60, 2);
  client.request(1, {10.1, 20.1, 50.1, 60.1});
  client.request(1, {10.2, 20.2, 30.1, 40.1, 50.2, 60.2});
  EXPECT_EQ(client.batches(), (std::vector{0, 1, 4, 5, 0, 1, 2, 3, 4, 5}));
}

// It was evicted right behind its first token, whose row nobody else has.
TEST(JoinTokensTest, AnEvictedRequestKeepsItsFirstToken) {
  Client client;
  client.batch(10, 2, true).batch(20, 1).batch(30, 1).batch(40, 1).batch(50, 2, true).batch(60, 2);
  client.request(1, {10.1, 50.1, 60.1});
  client.request(1, {10.2, 20.1, 30.1, 40.1, 50.2, 60.2});
  EXPECT_EQ(client.batches(), (std::vector{0, 4, 5, 0, 1, 2, 3, 4, 5}));
  // In a batch with three rows that nobody else has, it fits by chance.
  Client chance;
  chance.batch(5, 0).batch(10, 4, true).batch(20, 1).batch(30, 1).batch(40, 1);
  chance.batch(50, 2, true).batch(60, 2);
  chance.request(1, {10.1, 50.1, 60.1});
  chance.request(1, {10.2, 20.1, 30.1, 40.1, 50.2, 60.2});
  EXPECT_EQ(chance.batches(), (std::vector{-1, 5, 6, 1, 2, 3, 4, 5, 6}));
}

// While it is out, other prompts begin, whose rows have no token: its tokens would fit there.
TEST(JoinTokensTest, AnEvictedRequestDoesNotTakeTheRowsOfPrompts) {
  Client client;
  client.batch(10, 1, true).batch(20, 1).batch(30, 1, true).batch(40, 1, true).batch(50, 1, true);
  client.batch(60, 1).batch(70, 1).batch(80, 1).batch(90, 1);
  client.request(1, {10.1, 20.1, 60.1, 70.1, 80.1, 90.1});
  EXPECT_EQ(client.batches(), (std::vector{0, 1, 5, 6, 7, 8}));
}

TEST(JoinTokensTest, AChunkOfSeveralTokensIsOfSeveralBatchesUnlessTheEngineSpeculates) {
  Client client;
  client.batch(10, 1, true).batch(20, 1).batch(30, 1).batch(40, 1);
  client.request(1, {20.1, 40.1}, 2);
  EXPECT_EQ(client.batches(), (std::vector{1, 3}));
  EXPECT_EQ(client.join().tokens, (std::vector<uint32_t>{1, 1, 1, 1}));

  Client speculating;
  speculating.batch(10, 1, true).batch(20, 1);
  speculating.request(1, {10.1, 20.1}, 3);
  EXPECT_EQ(speculating.batches(true), (std::vector{0, 1}));
  EXPECT_EQ(speculating.join(true).tokens, (std::vector<uint32_t>{1, 1}));
}

TEST(JoinTokensTest, TokensOfUnrecordedBatchesAreOutside) {
  Client client;
  for (int i = 0; i < 10; ++i) client.batch(10 * i + 10, 1, i == 0);
  client.batch(500, 1, false, true).batch(510, 1);
  std::vector<double> arrivals;
  for (int i = 0; i < 10; ++i) arrivals.push_back(10 * i + 10.5);
  for (int i = 0; i < 40; ++i) arrivals.push_back(10 * i + 110.5);
  arrivals.push_back(500.5);
  arrivals.push_back(510.5);
  arrivals.push_back(520.5);
  client.request(1, arrivals);
  const TokenJoin join = client.join();
  EXPECT_EQ(std::ranges::count(join.state, ChunkState::joined), 12);
  EXPECT_EQ(std::ranges::count(join.state, ChunkState::outside), 41);
  EXPECT_EQ(join.batch[9], 9U);
  EXPECT_EQ(join.batch[50], 10U);
}

// The second request was sent when nothing was recorded anymore, the third one between the two
// recordings, and the fourth one's first token arrived before the second recording.
TEST(JoinTokensTest, RequestsOfUnrecordedTimesAreOutside) {
  Client client;
  client.batch(10, 1, true).batch(20, 1).batch(30, 1);
  client.batch(500, std::nullopt, false, true).batch(510, 1).batch(520, 1);
  client.request(1, {10.5, 20.5, 30.5});
  client.request(600, {650.5, 660.5});
  client.request(300, {350.5, 360.5});
  client.request(400, {490.5, 500.5, 510.5, 520.5});
  const TokenJoin join = client.join();
  EXPECT_EQ(client.batches(), (std::vector{0, 1, 2, -1, -1, -1, -1, -1, 3, 4, 5}));
  EXPECT_EQ(std::ranges::count(join.state, ChunkState::outside), 5);
}

// Both tokens arrive behind the only recorded batch after the request was sent.
TEST(JoinTokensTest, MoreTokensThanRecordedBatchesDoNotFit) {
  Client client;
  client.batch(10, 1, true).batch(20, 1, true).batch(30, 1);
  client.request(1, {10.5}).request(12, {20.4, 20.5, 30.5});
  const TokenJoin join = client.join();
  EXPECT_EQ(std::ranges::count(join.state, ChunkState::unmatched), 1);
  EXPECT_EQ(std::ranges::count(join.state, ChunkState::outside), 0);
}

// Two batches without known rows are as likely for a request's only token.
TEST(JoinTokensTest, CountsWhatAnotherBatchCouldHaveMade) {
  Client client;
  client.batch(10, std::nullopt).batch(10.4, std::nullopt).batch(20, std::nullopt);
  client.batch(30, std::nullopt);
  client.request(1, {10.5}).request(2, {20.6});
  const TokenJoin join = client.join();
  EXPECT_EQ(join.state[0], ChunkState::ambiguous);
  EXPECT_EQ(join.state[1], ChunkState::joined);
}

TEST(JoinTokensTest, NothingFitsWithoutBatches) {
  Client client;
  client.request(1, {10});
  EXPECT_EQ(client.batches(), (std::vector{-1}));
  EXPECT_EQ(client.join().state[0], ChunkState::unmatched);
}

// One chunk in so many is late, by up to so much; before one token in so many, the sequence is
// evicted.
struct Trouble {
  Nanoseconds late_one_in = 100;
  Nanoseconds late_up_to = 4 * kMs;
  Nanoseconds evicted_one_in = 200;
};

// An engine with up to eight sequences, prompts that take a batch each, evictions and late chunks;
// `delay` is the shortest one. Every chunk knows its batch.
class SimulatedEngine {
 public:
  SimulatedEngine(uint32_t seed, Nanoseconds delay, const Trouble& trouble = {})
      : trouble_(trouble), random_(seed) {
    std::vector<uint64_t> rows(kBatches, 0);
    std::vector<bool> prompts(kBatches, false);
    Nanoseconds time = 0;
    for (uint32_t i = 0; i < kBatches; ++i) {
      results_.push_back(time += between(2 * kMs, 6 * kMs));
    }
    for (int slot = 0; slot < 8; ++slot) {
      uint32_t batch = static_cast<uint32_t>(between(0, 30));
      while (batch + 1 < kBatches) batch = add_request(batch, delay, rows, prompts);
    }
    for (uint32_t i = 0; i < kBatches; ++i) batches_.push_back({results_[i], rows[i], prompts[i]});
  }

  [[nodiscard]] double share_right() const {
    const TokenJoin join = join_tokens(batches_, requests_, chunks_, false);
    size_t right = 0;
    for (size_t i = 0; i < chunks_.size(); ++i) right += join.batch[i] == truth_[i] ? 1U : 0U;
    return static_cast<double>(right) / static_cast<double>(chunks_.size());
  }
  // If only the first 20 of each 60 batches were recorded; other chunks have to be outside.
  [[nodiscard]] double share_right_in_windows() const {
    std::vector<JoinBatch> recorded;
    std::vector<uint32_t> rows(batches_.size(), kNoBatch);
    for (uint32_t i = 0; i < batches_.size(); ++i) {
      if (i % 60 >= 20) continue;
      rows[i] = static_cast<uint32_t>(recorded.size());
      recorded.push_back(batches_[i]);
      recorded.back().after_break = i % 60 == 0;
      if (recorded.back().after_break) recorded.back().rows.reset();
    }
    const TokenJoin join = join_tokens(recorded, requests_, chunks_, false);
    size_t right = 0;
    for (size_t i = 0; i < chunks_.size(); ++i) {
      const uint32_t batch = rows[truth_[i]];
      const bool outside = join.state[i] == ChunkState::outside;
      if (join.batch[i] == batch && (batch != kNoBatch || outside)) ++right;
    }
    return static_cast<double>(right) / static_cast<double>(chunks_.size());
  }
  // With the arrivals of all chunks exchanged at random.
  [[nodiscard]] double share_joined_if_shuffled() {
    std::vector<TokenChunk> chunks = chunks_;
    std::ranges::shuffle(chunks, random_);
    for (const TokenRequest& request : requests_) {
      const auto first = chunks.begin() + request.first_chunk;
      std::sort(first, first + request.chunks,
                [](const auto& a, const auto& b) { return a.time < b.time; });
    }
    const TokenJoin join = join_tokens(batches_, requests_, chunks, false);
    size_t joined = 0;
    for (uint32_t i = 0; i < chunks.size(); ++i) joined += join.joined(i) ? 1U : 0U;
    return static_cast<double>(joined) / static_cast<double>(chunks.size());
  }

 private:
  static constexpr uint32_t kBatches = 1000;

  Nanoseconds between(Nanoseconds low, Nanoseconds high) {
    return std::uniform_int_distribution<Nanoseconds>(low, high)(random_);
  }

  uint32_t add_request(uint32_t batch, Nanoseconds delay, std::vector<uint64_t>& rows,
                       std::vector<bool>& prompts) {
    TokenRequest request{results_[batch] - between(kMs, 2 * kMs),
                         static_cast<uint32_t>(chunks_.size()), 0};
    prompts[batch] = true;
    Nanoseconds last = 0;
    for (auto left = between(10, 60); left > 0 && batch < kBatches; --left, ++batch) {
      if (between(0, trouble_.evicted_one_in) == 0) batch += static_cast<uint32_t>(between(5, 20));
      if (batch >= kBatches) break;
      const bool is_late = between(0, trouble_.late_one_in) == 0;
      const Nanoseconds late = is_late ? between(0, trouble_.late_up_to) : 0;
      last = std::max(last + 1, results_[batch] + delay + between(0, kMs) + late);
      chunks_.push_back({last, 1});
      truth_.push_back(batch);
      ++rows[batch];
      ++request.chunks;
    }
    requests_.push_back(request);
    return batch + static_cast<uint32_t>(between(0, 10));
  }

  Trouble trouble_;
  std::mt19937 random_;
  std::vector<Nanoseconds> results_;
  std::vector<JoinBatch> batches_;
  std::vector<TokenRequest> requests_;
  std::vector<TokenChunk> chunks_;
  std::vector<uint32_t> truth_;
};

TEST(JoinTokensTest, FindsTheBatchesOfASimulatedEngine) {
  for (const uint32_t seed : {1U, 2U, 3U, 4U}) {
    EXPECT_GE(SimulatedEngine(seed, kMs / 5).share_right(), 0.995) << seed;
  }
}

TEST(JoinTokensTest, FindsTheBatchesOfWindows) {
  for (const uint32_t seed : {1U, 2U, 3U, 4U}) {
    EXPECT_GE(SimulatedEngine(seed, kMs / 5).share_right_in_windows(), 0.99) << seed;
  }
}

// A client far away: tokens arrive five batches later.
TEST(JoinTokensTest, FindsADelayOfSeveralBatches) {
  for (const uint32_t seed : {1U, 2U, 3U, 4U}) {
    EXPECT_GE(SimulatedEngine(seed, 20 * kMs).share_right(), 0.98) << seed;
  }
}

// A busy machine: one chunk in four is up to five batches late.
TEST(JoinTokensTest, LateChunksFollowTheirRequestsOthers) {
  for (const uint32_t seed : {1U, 2U, 3U, 4U}) {
    EXPECT_GE(SimulatedEngine(seed, kMs / 5, {4, 20 * kMs, INT32_MAX}).share_right(), 0.99) << seed;
  }
}

TEST(JoinTokensTest, TimesThatFitNoBatchAreNotJoined) {
  for (const uint32_t seed : {1U, 2U, 3U, 4U}) {
    EXPECT_LT(SimulatedEngine(seed, kMs / 5).share_joined_if_shuffled(), 0.8) << seed;
  }
}

}  // namespace
}  // namespace llmprof::analysis
