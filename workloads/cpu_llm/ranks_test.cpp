#include "cpu_llm/ranks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <span>
#include <thread>
#include <vector>

#include "cpu_llm/decoder.h"
#include "cpu_llm/matrix_product.h"
#include "cpu_llm/recorded_annotations.h"
#include "cpu_llm/request.h"

namespace cpu_llm {
namespace {

constexpr ModelShape kShared = {
    .hidden = 48, .intermediate = 40, .layers = 3, .heads = 8, .kv_heads = 4, .vocabulary = 120};
constexpr double kRounding = 2e-4;  // of logits of about 1, in f32

// Ranks that are threads of this process: a reference without MPI.
class Meeting {
 public:
  explicit Meeting(size_t size) : size_(size), all_here_(static_cast<std::ptrdiff_t>(size)) {}

  class Member : public Ranks {
   public:
    Member(Meeting& meeting, size_t rank) : meeting_(meeting), rank_(rank) {}
    [[nodiscard]] size_t rank() const override { return rank_; }
    [[nodiscard]] size_t size() const override { return meeting_.size_; }

    void sum(float* values, size_t count) override {
      meeting_.show(rank_, values);
      std::vector<float> total(count, 0.0F);
      for (const float* shown : meeting_.shown_) {
        for (size_t i = 0; i < count; ++i) total[i] += shown[i];
      }
      meeting_.all_here_.arrive_and_wait();
      std::copy(total.begin(), total.end(), values);
    }

    void gather(const float* own, size_t rows, size_t width, float* all) override {
      meeting_.show(rank_, own);
      for (size_t row = 0; row < rows; ++row) {
        for (size_t rank = 0; rank < size(); ++rank) {
          std::copy_n(meeting_.shown_[rank] + row * width, width,
                      all + (row * size() + rank) * width);
        }
      }
      meeting_.all_here_.arrive_and_wait();
    }

   private:
    Meeting& meeting_;
    size_t rank_;
  };

 private:
  void show(size_t rank, const float* values) {
    shown_[rank] = values;
    all_here_.arrive_and_wait();
  }

  size_t size_;
  std::vector<const float*> shown_ = std::vector<const float*>(size_);
  std::barrier<> all_here_;
};

ModelShape split(size_t parts) {
  ModelShape shape = kShared;
  shape.parts = parts;
  return shape;
}

struct Logits {
  std::vector<float> prefill;
  std::vector<float> decode;
};

Logits logits_of(Decoder& decoder, size_t batch) {
  const auto prompts = random_prompts(9, batch, kShared.vocabulary, 4, 0);
  const auto next = random_prompts(1, batch, kShared.vocabulary, 5, 0);
  const auto copy = [](std::span<const float> from) {
    return std::vector<float>(from.begin(), from.end());
  };
  Logits logits;
  logits.prefill = copy(decoder.add(prompts));
  logits.decode = copy(decoder.add(next));
  return logits;
}

// Of each rank.
std::vector<Logits> shared_logits(size_t parts, size_t batch) {
  Meeting meeting(parts);
  std::vector<Logits> found(parts);
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < parts; ++rank) {
    threads.emplace_back([&, rank] {
      Workers workers(1);
      Meeting::Member member(meeting, rank);
      const Weights weights = random_weights(split(parts), 7, workers, rank);
      Decoder decoder(weights, batch, 12, workers, {&member, 1});
      found[rank] = logits_of(decoder, batch);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return found;
}

void expect_near(const std::vector<float>& found, const std::vector<float>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_NEAR(static_cast<double>(found[i]), static_cast<double>(expected[i]), kRounding) << i;
  }
}

TEST(CpuLlmRanks, GiveTheLogitsOfTheWholeModel) {
  leave_threads_to_workers();
  // Annotations of several threads must not be recorded by the stand-in of the collector.
  testing::RecordingPaused paused;
  Workers workers(1);
  const Weights whole = random_weights(kShared, 7, workers);
  for (const size_t batch : {1U, 3U}) {
    Decoder decoder(whole, batch, 12, workers);
    const Logits expected = logits_of(decoder, batch);
    for (const size_t parts : {1U, 2U, 4U}) {
      for (const Logits& found : shared_logits(parts, batch)) {
        expect_near(found.prefill, expected.prefill);
        expect_near(found.decode, expected.decode);
      }
    }
  }
}

// The rows and columns of a part are those of the whole.
TEST(CpuLlmRanks, HaveTheWeightsOfTheirPart) {
  Workers workers(1);
  const Weights whole = random_weights(kShared, 7, workers);
  const ModelShape shape = split(2);
  const Weights part = random_weights(shape, 7, workers, 1);
  const size_t size = kShared.head_size();
  const LayerWeights& all = whole.layers[2];
  const LayerWeights& own = part.layers[2];
  ASSERT_EQ(own.qkv.rows, shape.qkv_width());
  EXPECT_EQ(own.qkv.row(0)[0], all.qkv.row(4 * size)[0]);                   // query head 4 of 8
  EXPECT_EQ(own.qkv.row(4 * size)[5], all.qkv.row((8 + 2) * size)[5]);      // key head 2 of 4
  EXPECT_EQ(own.qkv.row(6 * size)[5], all.qkv.row((8 + 4 + 2) * size)[5]);  // value head 2 of 4
  ASSERT_EQ(own.o.columns, 4 * size);
  EXPECT_EQ(own.o.row(7)[1], all.o.row(7)[4 * size + 1]);
  EXPECT_EQ(own.gate_up.row(0)[3], all.gate_up.row(20)[3]);
  EXPECT_EQ(own.gate_up.row(20)[3], all.gate_up.row(40 + 20)[3]);
  EXPECT_EQ(own.down.row(9)[2], all.down.row(9)[20 + 2]);
  EXPECT_EQ(part.lm_head.row(0)[1], whole.lm_head.row(60)[1]);
  EXPECT_EQ(part.embedding.row(119)[1], whole.embedding.row(119)[1]);
  EXPECT_EQ(part.bytes(), weights_bytes(shape));
}

// Each communicates with itself: what is annotated is the same.
class Alone : public Ranks {
 public:
  [[nodiscard]] size_t rank() const override { return 1; }
  [[nodiscard]] size_t size() const override { return 2; }
  void sum(float* /*values*/, size_t /*count*/) override {}
  void gather(const float* own, size_t rows, size_t width, float* all) override {
    std::copy_n(own, rows * width, all);
  }
};

TEST(CpuLlmRanks, AnnotateTheirCollectives) {
  testing::RecordedAnnotations& recorded = testing::record_annotations();
  Workers workers(1);
  Alone ranks;
  const Weights weights = random_weights(split(2), 7, workers, 1);
  Decoder decoder(weights, 1, 4, workers, {&ranks, 1});
  decoder.add(random_prompts(4, 1, kShared.vocabulary, 4, 0));
  // The outputs of attention and of the feed-forward network in each layer, then the logits.
  ASSERT_EQ(recorded.collectives.size(), 2 * kShared.layers + 1);
  for (size_t i = 0; i < 2 * kShared.layers; ++i) {
    const testing::RecordedCollective& each = recorded.collectives[i];
    EXPECT_EQ(each.kind, static_cast<uint32_t>(LLMPROF_ALL_REDUCE));
    EXPECT_EQ(each.name, "cpu::all_reduce");
    EXPECT_EQ(each.bytes, 4 * kShared.hidden * sizeof(float));
    EXPECT_EQ(each.group, "tp");
    EXPECT_EQ(each.members, "0,1");
    EXPECT_EQ(each.group_size, 2U);
    EXPECT_LE(each.start_ns, each.end_ns);
  }
  const testing::RecordedCollective& last = recorded.collectives.back();
  EXPECT_EQ(last.kind, static_cast<uint32_t>(LLMPROF_ALL_GATHER));
  EXPECT_EQ(last.bytes, kShared.vocabulary / 2 * sizeof(float));
}

TEST(CpuLlmRanks, ASlowOneTakesLongerInEveryOperator) {
  testing::RecordedAnnotations& recorded = testing::record_annotations();
  constexpr int64_t kWork = 200'000;
  OperatorLog log(1.5);
  const auto work = [] {
    const int64_t until = llmprof_now_ns() + kWork;
    while (llmprof_now_ns() < until) {
    }
  };
  log.run("gemm", {}, work);
  log.run("gemm", {}, work);
  int64_t total = 0;
  for (const testing::RecordedOperator& each : recorded.operators) {
    total += each.end_ns - each.start_ns;
    EXPECT_GE(each.end_ns - each.start_ns, kWork * 3 / 2);
  }
  EXPECT_GE(log.delay_ns(), kWork);
  // Half of the work's own time, whatever interrupted it, is the third of the operator's.
  EXPECT_GE(3 * log.delay_ns(), total - 2);
  // A collective is not slowed down: its time is others'.
  const int64_t before = log.delay_ns();
  log.communicate(LLMPROF_BARRIER, "barrier", {"tp", "0,1", 2}, 0, work);
  EXPECT_EQ(log.delay_ns(), before);
}

}  // namespace
}  // namespace cpu_llm
