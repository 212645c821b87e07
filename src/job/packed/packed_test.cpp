#include <gtest/gtest.h>

#include <random>

#include "job/packed/packed.h"
#include "profile/json/json.h"
#include "testing/sample_profile.h"

namespace llmprof::job {
namespace {

using analysis::Collectives;

void expect_back(const std::vector<Nanoseconds>& numbers) {
  PackedTimes packed;
  for (const Nanoseconds number : numbers) packed.push_back(number);
  ASSERT_EQ(packed.size(), numbers.size());
  EXPECT_EQ(packed.unpacked(), numbers);
  packed.shrink();
  EXPECT_EQ(packed.unpacked(), numbers);
}

// Every bit width, over full blocks and a partial one.
TEST(Packed, NumbersOfAnyWidthComeBack) {
  std::mt19937_64 chance(7);
  for (unsigned bits = 0; bits <= 64; ++bits) {
    for (const bool some_missing : {false, true}) {
      std::vector<Nanoseconds> numbers;
      for (int i = 0; i < 300; ++i) {
        const uint64_t number = bits == 0 ? 0 : chance() >> (64 - bits);
        numbers.push_back(static_cast<Nanoseconds>(number - 5));
        if (some_missing && i % 9 == 0) numbers.back() = Collectives::kNotKnown;
      }
      expect_back(numbers);
    }
  }
}

TEST(Packed, ExtremesComeBack) {
  const std::vector<Nanoseconds> extremes = {INT64_MIN, INT64_MAX, 0, -1, 1, INT64_MIN + 1};
  std::vector<Nanoseconds> all;
  for (int i = 0; i < 100; ++i) all.insert(all.end(), extremes.begin(), extremes.end());
  expect_back(all);
  expect_back(std::vector<Nanoseconds>(1000, INT64_MIN));
  expect_back(std::vector<Nanoseconds>(1000, INT64_MAX));
  expect_back({});
  // A full block that uses the all-ones difference, with no number missing.
  std::vector<Nanoseconds> ramp;
  for (int i = 0; i < 256; ++i) ramp.push_back(i % 128);
  expect_back(ramp);
}

TEST(Packed, RowsComeBack) {
  PackedRows rows;
  std::vector<uint32_t> plain;
  std::mt19937_64 chance(11);
  for (uint32_t i = 0; i < 1000; ++i) {
    plain.push_back(i < 400 ? i : (chance() % 5 == 0 ? kNoRow : static_cast<uint32_t>(chance())));
    rows.push_back(plain.back());
  }
  for (size_t i = 0; i < plain.size(); ++i) EXPECT_EQ(rows[i], plain[i]) << i;
}

TEST(Packed, CollectivesComeBack) {
  std::mt19937_64 chance(13);
  Collectives plain;
  plain.keys.resize(3);
  plain.keys[1].group = "tp";
  for (uint32_t i = 0; i < 1000; ++i) {
    plain.start.push_back(static_cast<Nanoseconds>(i * 30'000 + chance() % 1000) - 500);
    plain.end.push_back(plain.start.back() + static_cast<Nanoseconds>(chance() % 9000));
    plain.launched.push_back(i % 3 == 0 ? Collectives::kNotKnown : plain.start.back() - 5000);
    plain.exposed.push_back(plain.end.back() - plain.start.back() - (i % 7 == 0 ? 50 : 0));
    plain.busy_before.push_back(static_cast<Nanoseconds>(chance() % 20'000));
    plain.key.push_back(i % 3);
    plain.step.push_back(i % 11 == 0 ? Collectives::kNoStep : i / 8);
    plain.sequence.push_back(i % 5 == 0 ? trace::kNoSequence : i);
    plain.in_graph.push_back(i % 2);
  }
  const PackedCollectives packed{Collectives(plain)};
  ASSERT_EQ(packed.size(), plain.size());
  for (size_t row = 0; row < plain.size(); ++row) {
    EXPECT_EQ(packed.start(row), plain.start[row]);
    EXPECT_EQ(packed.end(row), plain.end[row]);
    EXPECT_EQ(packed.duration(row), plain.end[row] - plain.start[row]);
    EXPECT_EQ(packed.launched(row), plain.launched[row]);
    EXPECT_EQ(packed.exposed(row), plain.exposed[row]);
    EXPECT_EQ(packed.busy_before(row), plain.busy_before[row]);
    EXPECT_EQ(packed.key(row), plain.key[row]);
    EXPECT_EQ(packed.step(row), plain.step[row]);
    EXPECT_EQ(packed.sequence(row), plain.sequence[row]);
    EXPECT_EQ(packed.in_graph(row), plain.in_graph[row] != 0);
  }
  EXPECT_EQ(packed.unpacked().end, plain.end);
  EXPECT_EQ(packed.keys, plain.keys);
}

// A step with all fields, among many with fewer.
TEST(Packed, StepsComeBack) {
  std::vector<profile::Step> plain = testing::full_sample().steps;
  ASSERT_FALSE(plain.empty());
  for (uint64_t i = 0; plain.size() < 500; ++i) {
    profile::Step& step = plain.emplace_back();
    step.stage = i % 3 == 0 ? "prefill" : "decode";
    step.instance = i / 10;
    step.kind = profile::StepKind::decode;
    if (i % 2 == 0) step.tokens = i;
    step.start = profile::to_milliseconds(static_cast<Nanoseconds>(i * 1'234'567));
    step.wall = {static_cast<double>(i) / 7};
    step.gpu_busy = i % 5 == 0 ? profile::Milliseconds{-0.0} : profile::to_milliseconds(int64_t{9});
    if (i % 4 == 0) step.dram_bytes = profile::Bytes{static_cast<double>(i) * 0.5};
    if (i % 3 != 0)
      step.classes = {{profile::KernelClass::gemm, {static_cast<Nanoseconds>(i)}},
                      {profile::KernelClass::norm, {-5}}};
    step.after_untraced = i % 6 == 0;
    if (i % 7 == 0) step.clocks_lowered = i % 14 == 0;
  }
  const PackedSteps packed(plain);
  ASSERT_EQ(packed.size(), plain.size());
  profile::Profile before;
  profile::Profile after;
  before.steps = plain;
  after.steps = packed.unpacked();
  EXPECT_EQ(profile::to_json(after), profile::to_json(before));
  for (size_t row = 0; row < plain.size(); ++row) {
    EXPECT_EQ(packed.stage(row), plain[row].stage);
    EXPECT_EQ(packed.instance(row), plain[row].instance);
    EXPECT_EQ(packed.after_untraced(row), plain[row].after_untraced);
    EXPECT_EQ(packed.tokens(row), plain[row].tokens);
    EXPECT_EQ(packed.gpu_busy(row), profile::to_nanoseconds(plain[row].gpu_busy));
  }
  EXPECT_EQ(PackedSteps(std::vector<profile::Step>()).unpacked().size(), 0U);
}

bool reads_steps(std::string_view bytes) {
  NumberReader in(bytes);
  read_steps(in);
  return !in.damaged();
}

TEST(Packed, ColumnsOfOtherThingsAreNoSteps) {
  const std::vector<profile::Step> steps = testing::full_sample().steps;
  std::string bytes;
  NumberWriter out(bytes);
  write_steps(steps, out);
  EXPECT_TRUE(reads_steps(bytes));
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(reads_steps(std::string_view(bytes).substr(0, size))) << size;
  }
  // Columns with one step too many, and with texts that do not exist.
  std::string columns;
  NumberReader in(bytes);
  std::vector<std::string> texts;
  code_size(in, texts);
  for (std::string& text : texts) in.text(text);
  uint64_t rows = 0;
  in.number(rows, 0);
  in.text(columns);
  const auto reads_with = [&](size_t known_texts, uint64_t known_rows) {
    std::string changed;
    NumberWriter to(changed);
    to.number(known_texts, 0);
    for (size_t i = 0; i < known_texts; ++i) to.text(texts[i]);
    to.number(known_rows, 0);
    to.text(columns);
    return reads_steps(changed);
  };
  EXPECT_TRUE(reads_with(texts.size(), rows));
  EXPECT_FALSE(reads_with(texts.size(), rows + 1));
  EXPECT_FALSE(reads_with(texts.size(), rows - 1));
  EXPECT_FALSE(reads_with(0, rows));
}

}  // namespace
}  // namespace llmprof::job
