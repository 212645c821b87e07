#include "job/partial/partial.h"

#include <gtest/gtest.h>

#include <limits>

#include "profile/json/json.h"
#include "testing/sample_profile.h"
#include "testing/temporary_folder.h"

namespace llmprof::job {
namespace {

using analysis::Collectives;

void add(Collectives& to, Nanoseconds start, Nanoseconds time, uint32_t key) {
  to.start.push_back(start);
  to.end.push_back(start + time);
  to.launched.push_back(start - 1234);
  to.exposed.push_back(time - 7);
  to.busy_before.push_back(99);
  to.key.push_back(key);
  to.step.push_back(0);
  to.sequence.push_back(41 + to.size());
  to.in_graph.push_back(0);
}

// A rank with extreme and irregular numbers.
RankPart sample_part() {
  RankPart part;
  part.identity.rank = 3;
  part.identity.local_rank = 1;
  part.identity.world_size = 8;
  part.identity.host = "node \"a\"";
  part.identity.job = "1234.0";
  part.identity.clock_domain = "boot-7";
  part.identity.clock_ns = std::numeric_limits<Nanoseconds>::max();
  part.identity.state = profile::RankState::died;
  part.identity.state_detail = "signal 9";
  part.profile = testing::full_sample();
  part.profile.token_times.request = profile::Milliseconds{0.1 + 0.2};
  part.profile.stages.front().share_of_stage_time = {1.0 / 3};
  part.profile.stages.front().idle = profile::Milliseconds{5e-324};
  for (size_t i = 0; i < part.profile.steps.size(); ++i) {
    const auto place = static_cast<Nanoseconds>(i);
    part.step_start.push_back(-5 + 1'000'000'007 * place);
    part.step_end.push_back(-5 + 1'000'000'007 * place + 17);
  }
  std::vector<profile::Step> steps = part.profile.steps;
  part.profile.steps.clear();
  steps.front().wall = {0.1 + 0.2};
  steps.front().gpu_sum = {-0.0};
  steps.front().gpu_busy = {5e-324};
  steps.front().dram_bytes = profile::Bytes{1.0 / 3};
  steps.front().start = {1.7e300};
  part.steps = PackedSteps(steps);
  Collectives own;
  own.keys.push_back({CollectiveKind::all_reduce, 4096, "tp", true, "0,1,2,3", 4});
  own.keys.push_back({CollectiveKind::send, std::nullopt, "cuda:0 7", false, "", 0});
  add(own, -100, 50, 0);
  add(own, 1'700'000'000'000'000'000, 0, 1);
  add(own, 1'600'000'000'000'000'000, 70'000, 0);  // out of order
  own.launched[1] = Collectives::kNotKnown;
  own.busy_before[1] = Collectives::kNotKnown;
  own.exposed[2] = -3;
  own.step[1] = Collectives::kNoStep;
  own.sequence[1] = trace::kNoSequence;
  own.in_graph[2] = 1;
  part.collectives = PackedCollectives(std::move(own));
  return part;
}

void expect_same_steps(const std::vector<profile::Step>& a, const std::vector<profile::Step>& b) {
  profile::Profile of_a;
  profile::Profile of_b;
  of_a.steps = a;
  of_b.steps = b;
  EXPECT_EQ(profile::to_json(of_a), profile::to_json(of_b));
}

void expect_same(const RankPart& a, const RankPart& b) {
  EXPECT_EQ(a.identity.rank, b.identity.rank);
  EXPECT_EQ(a.identity.local_rank, b.identity.local_rank);
  EXPECT_EQ(a.identity.world_size, b.identity.world_size);
  EXPECT_EQ(a.identity.host, b.identity.host);
  EXPECT_EQ(a.identity.job, b.identity.job);
  EXPECT_EQ(a.identity.clock_domain, b.identity.clock_domain);
  EXPECT_EQ(a.identity.clock_ns, b.identity.clock_ns);
  EXPECT_EQ(a.identity.wall_clock_ns, b.identity.wall_clock_ns);
  EXPECT_EQ(a.identity.state, b.identity.state);
  EXPECT_EQ(a.identity.state_detail, b.identity.state_detail);
  EXPECT_EQ(profile::to_json(a.profile), profile::to_json(b.profile));
  const std::vector<profile::Step> steps_of_a = a.steps.unpacked();
  const std::vector<profile::Step> steps_of_b = b.steps.unpacked();
  expect_same_steps(steps_of_a, steps_of_b);
  EXPECT_EQ(a.step_start, b.step_start);
  EXPECT_EQ(a.step_end, b.step_end);
  const Collectives of_a = a.collectives.unpacked();
  const Collectives of_b = b.collectives.unpacked();
  EXPECT_EQ(of_a.keys, of_b.keys);
  EXPECT_EQ(of_a.start, of_b.start);
  EXPECT_EQ(of_a.end, of_b.end);
  EXPECT_EQ(of_a.launched, of_b.launched);
  EXPECT_EQ(of_a.exposed, of_b.exposed);
  EXPECT_EQ(of_a.busy_before, of_b.busy_before);
  EXPECT_EQ(of_a.key, of_b.key);
  EXPECT_EQ(of_a.step, of_b.step);
  EXPECT_EQ(of_a.sequence, of_b.sequence);
  EXPECT_EQ(of_a.in_graph, of_b.in_graph);
}

TEST(Partial, IsReadAsItWasWritten) {
  const RankPart part = sample_part();
  const auto read = from_partial(to_partial(part));
  ASSERT_TRUE(read) << read.error().message;
  expect_same(*read, part);
  EXPECT_EQ(read->profile.token_times.request->value, 0.1 + 0.2);
  EXPECT_EQ(read->profile.stages.front().idle->value, 5e-324);
}

TEST(Partial, ARankThatWasNotRecordedHasOneToo) {
  RankPart part;
  part.identity.rank = 7;
  part.identity.state = profile::RankState::missing;
  const auto read = from_partial(to_partial(part));
  ASSERT_TRUE(read) << read.error().message;
  expect_same(*read, part);
}

TEST(Partial, IsAFileOfItsOwn) {
  const testing::TemporaryFolder folder;
  const RankPart part = sample_part();
  const auto file = folder.path() / partial_name(part.identity.rank);
  EXPECT_EQ(file.filename(), "rank3.llmpart");
  ASSERT_TRUE(write_partial(file, part, false));
  const auto read = read_partial(file);
  ASSERT_TRUE(read) << read.error().message;
  expect_same(*read, part);
  const auto missing = read_partial(folder.path() / "rank4.llmpart");
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("rank4.llmpart"), std::string::npos);
}

TEST(Partial, DamageIsAnErrorNeverAPart) {
  const RankPart part = sample_part();
  const std::string whole = to_partial(part);
  for (size_t size = 0; size < whole.size(); size += 1 + size / 7) {
    EXPECT_FALSE(from_partial(std::string_view(whole).substr(0, size))) << size;
  }
  constexpr size_t kReservedFrom = 12;
  constexpr size_t kReservedTo = 16;
  for (size_t at = 0; at < whole.size(); at += 1 + at / 50) {
    if (at >= kReservedFrom && at < kReservedTo) continue;
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x10);
    // A few bits of a zlib stream are unused: flipping them changes nothing.
    if (const auto read = from_partial(flipped)) expect_same(*read, part);
  }
}

bool reads_collectives(std::string_view bytes, size_t steps) {
  NumberReader in(bytes);
  read_collectives(in, steps);
  return !in.damaged();
}

// zlib's checksum does not protect against a malicious writer.
TEST(Columns, WhatIsNoCollectiveIsRefused) {
  EXPECT_FALSE(reads_collectives("", 0));
  std::string bytes;
  NumberWriter out(bytes);
  out.number(0, 0);
  out.number(UINT64_MAX, 0);  // rows
  EXPECT_FALSE(reads_collectives(bytes, 0));
  Collectives own = sample_part().collectives.unpacked();
  own.step[0] = 5;
  bytes.clear();
  NumberWriter steps(bytes);
  write_collectives(own, steps);
  EXPECT_FALSE(reads_collectives(bytes, 5));
  EXPECT_TRUE(reads_collectives(bytes, 6));
  own.key[0] = static_cast<uint32_t>(own.keys.size());
  bytes.clear();
  write_collectives(own, steps);
  EXPECT_FALSE(reads_collectives(bytes, 6));
}

TEST(Columns, NumbersComeBack) {
  std::string bytes;
  NumberWriter out(bytes);
  const std::vector<uint64_t> numbers = {0, 1, 127, 128, 1U << 21U, UINT64_MAX, 1ULL << 63U};
  for (const uint64_t number : numbers) out.number(number, 0);
  for (const uint64_t number : numbers) out.number(number, 1000);
  NumberReader in(bytes);
  const auto next = [&](uint64_t from) {
    uint64_t number = 0;
    in.number(number, from);
    return number;
  };
  for (const uint64_t number : numbers) EXPECT_EQ(next(0), number);
  for (const uint64_t number : numbers) EXPECT_EQ(next(1000), number);
  EXPECT_FALSE(in.damaged());
  EXPECT_EQ(in.left(), 0U);
  EXPECT_EQ(next(0), 0U);
  EXPECT_TRUE(in.damaged());
}

}  // namespace
}  // namespace llmprof::job
