#include "analysis/memory/memory_contents.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string_view>

#include "analysis/memory/find_memory.h"
#include "trace/append.h"

namespace llmprof::analysis {
namespace {

using profile::ContentBasis;
using profile::MemoryContent;
using trace::AllocatorAction;
using trace::AllocatorState;

constexpr uint64_t kContentMiB = uint64_t{1} << 20U;
constexpr uint64_t kWorkspaceBytes = 32 * kContentMiB;
constexpr double kBytesOfMiB = 1 << 20U;

struct CodeLine {
  std::string_view name;
  std::string_view file;
};
constexpr CodeLine kLoadLine = {"load_model", "vllm/v1/worker/gpu_model_runner.py"};
constexpr CodeLine kCacheLine = {"_allocate_kv_cache_tensors",
                                 "vllm/v1/worker/gpu_model_runner.py"};
constexpr CodeLine kUpdateLine = {"update", "transformers/cache_utils.py"};
constexpr CodeLine kForwardLine = {"forward", "model.py"};
constexpr CodeLine kOwnLine = {"work", "program.py"};

// Segments one after the other, each full of the blocks that are added to it, of whole MiB.
class HandMadeSnapshot {
 public:
  HandMadeSnapshot() {
    trace::Capture capture;
    capture.path = "snapshot.pickle";
    trace_.captures.push_back(std::move(capture));
    snapshot_.capture = trace::CaptureId(0);
    snapshot_.streams = {0};
    snapshot_.pools = {{}};
  }

  void segment(bool is_private = false) {
    trace::AllocatorSegment& segment = snapshot_.segments.emplace_back();
    segment.address = next_;
    segment.first_block = static_cast<uint32_t>(snapshot_.blocks.size());
    if (is_private) segment.pool = {1, 0};
  }
  // `innermost` first. Without `with_event` it was made before the first event.
  void block(uint64_t size, std::initializer_list<CodeLine> stack, bool with_event = true,
             uint64_t not_requested = 0) {
    const uint32_t id = stack_of(stack);
    const uint64_t requested = size - not_requested;
    snapshot_.blocks.push_back({next_, size, requested, AllocatorState::active, id});
    trace::AllocatorSegment& segment = grow(size);
    segment.allocated += size;
    segment.active += size;
    segment.requested += requested;
    if (with_event) event(AllocatorAction::alloc, next_ - size, requested, id);
  }
  void free_block(uint64_t size) {
    snapshot_.blocks.push_back({next_, size, 0, AllocatorState::inactive, 0});
    grow(size);
  }
  void event(AllocatorAction action, uint64_t address, uint64_t size, uint32_t stack = 0) {
    const auto row = static_cast<int64_t>(snapshot_.events.rows());
    trace::add_row(snapshot_.events, action, address, size, Nanoseconds{1000} * (row + 1), 0U, 0U,
                   stack);
    snapshot_.ranges = {{0, 0, static_cast<uint32_t>(row + 1)}};
  }
  void lose_events() { snapshot_.overflowed = true; }

  profile::Memory measure(const llm::ModelSpec* model = nullptr) {
    static const EngineRules engines =
        EngineRules::load(config::ConfFiles::open({}).value()).value();
    trace_.allocator_snapshots = {snapshot_};
    Diagnostics diagnostics;
    return find_memory(trace_, {engines, model}, diagnostics).value_or(profile::Memory());
  }

 private:
  trace::AllocatorSegment& grow(uint64_t size) {
    trace::AllocatorSegment& segment = snapshot_.segments.back();
    segment.size += size;
    ++segment.blocks;
    next_ += size;
    return segment;
  }
  uint32_t stack_of(std::initializer_list<CodeLine> lines) {
    if (lines.size() == 0) return 0;
    trace::AllocatorStacks& stacks = snapshot_.stacks;
    for (const CodeLine& line : lines) {
      stacks.rows.push_back(
          stacks.frames
              .intern({trace_.strings.intern(line.name), trace_.strings.intern(line.file), 1})
              .value);
    }
    stacks.first.push_back(static_cast<uint32_t>(stacks.rows.size()));
    return static_cast<uint32_t>(stacks.size() - 1);
  }

  trace::Trace trace_;
  trace::AllocatorSnapshot snapshot_;
  uint64_t next_ = 0x1000000;
};

const profile::MemoryContents* contents_row(const profile::Memory& memory, MemoryContent content,
                                            ContentBasis basis) {
  for (const profile::MemoryContents& row : memory.contents) {
    if (row.content == content && row.basis == basis) return &row;
  }
  return nullptr;
}
double contents_now(const profile::Memory& memory, MemoryContent content, ContentBasis basis) {
  const auto* row = contents_row(memory, content, basis);
  return row == nullptr ? 0 : row->now.value;
}
double contents_held(const profile::Memory& memory) {
  double sum = 0;
  for (const auto& row : memory.contents) sum += row.now.value;
  return sum;
}

llm::ModelSpec one_layer_model() {
  llm::ModelSpec model;
  model.hidden = 1024;
  model.intermediate = 2048;
  model.heads = 8;
  model.kv_heads = 8;
  model.head_dim = 128;
  model.vocabulary = 4096;
  model.tied_embeddings = true;
  model.layers.resize(1);
  return model;
}

TEST(MemoryContents, TheInnermostLineWithAMeaningDecides) {
  HandMadeSnapshot memory;
  memory.segment();
  memory.block(8 * kContentMiB, {kOwnLine, kLoadLine}, true, 100);
  memory.block(4 * kContentMiB, {kCacheLine, kLoadLine});
  memory.block(2 * kContentMiB, {kUpdateLine, kForwardLine});
  memory.block(1 * kContentMiB, {kOwnLine, kForwardLine});
  memory.block(3 * kContentMiB, {kOwnLine});
  memory.block(5 * kContentMiB, {});
  memory.free_block(16 * kContentMiB);
  const auto found = memory.measure();
  EXPECT_EQ(contents_now(found, MemoryContent::weights, ContentBasis::stack),
            8 * kBytesOfMiB - 100);
  EXPECT_EQ(contents_now(found, MemoryContent::kv_cache, ContentBasis::stack), 6 * kBytesOfMiB);
  EXPECT_EQ(contents_now(found, MemoryContent::activations, ContentBasis::stack), kBytesOfMiB);
  EXPECT_EQ(contents_now(found, MemoryContent::other, ContentBasis::remainder), 8 * kBytesOfMiB);
  EXPECT_EQ(contents_now(found, MemoryContent::rounding, ContentBasis::allocator), 100);
  EXPECT_EQ(contents_now(found, MemoryContent::unused, ContentBasis::allocator), 16 * kBytesOfMiB);
  EXPECT_EQ(contents_held(found), 39 * kBytesOfMiB);
  const auto* cache = contents_row(found, MemoryContent::kv_cache, ContentBasis::stack);
  ASSERT_NE(cache, nullptr);
  EXPECT_EQ(cache->blocks_now, 2U);
  // The first pass is that of the cache's update.
  EXPECT_EQ(cache->after_load, profile::Bytes{4 * kBytesOfMiB});
  EXPECT_EQ(cache->at_peak, profile::Bytes{6 * kBytesOfMiB});
  EXPECT_EQ(cache->in_passes, profile::Bytes{6 * kBytesOfMiB});
  EXPECT_TRUE(found.models.empty());
}

TEST(MemoryContents, PrivatePoolsKeepWeightsAndCacheApart) {
  HandMadeSnapshot memory;
  memory.segment(true);
  memory.block(8 * kContentMiB, {kLoadLine});
  memory.block(2 * kContentMiB, {kOwnLine, kForwardLine}, true, 24);
  memory.block(kWorkspaceBytes, {kOwnLine, kForwardLine});
  memory.free_block(4 * kContentMiB);
  const auto found = memory.measure();
  EXPECT_EQ(contents_now(found, MemoryContent::weights, ContentBasis::stack), 8 * kBytesOfMiB);
  EXPECT_EQ(contents_now(found, MemoryContent::graph_pool, ContentBasis::pool), 38 * kBytesOfMiB);
  EXPECT_EQ(found.contents.size(), 2U);
}

TEST(MemoryContents, AWorkspaceIsTheOnlyBlockOfItsSizeOnItsStream) {
  HandMadeSnapshot one;
  one.segment();
  one.block(kWorkspaceBytes, {kForwardLine});
  EXPECT_EQ(contents_now(one.measure(), MemoryContent::workspace, ContentBasis::workspace_size),
            32 * kBytesOfMiB);
  HandMadeSnapshot two = one;
  two.block(kWorkspaceBytes, {kForwardLine});
  EXPECT_EQ(contents_now(two.measure(), MemoryContent::activations, ContentBasis::stack),
            64 * kBytesOfMiB);
  HandMadeSnapshot loaded;
  loaded.segment();
  loaded.block(kWorkspaceBytes, {kOwnLine});
  EXPECT_EQ(contents_now(loaded.measure(), MemoryContent::other, ContentBasis::remainder),
            32 * kBytesOfMiB);
}

TEST(MemoryContents, WithoutStacksOnlyCompleteSetsOfTensorsCount) {
  const llm::ModelSpec model = one_layer_model();
  // Embedding 8 MiB; q, k, v, o 2 MiB each; gate, up, down 4 MiB each.
  const auto of_layers = [](uint64_t queries, bool with_events) {
    HandMadeSnapshot memory;
    memory.segment();
    memory.block(8 * kContentMiB, {}, with_events);
    for (uint64_t i = 0; i < queries; ++i) memory.block(2 * kContentMiB, {}, with_events);
    for (uint64_t i = 0; i < 3; ++i) memory.block(4 * kContentMiB, {}, with_events);
    return memory;
  };
  for (const bool with_events : {true, false}) {
    auto found = of_layers(4, with_events).measure(&model);
    EXPECT_EQ(contents_now(found, MemoryContent::weights, ContentBasis::model_size),
              28 * kBytesOfMiB);
    ASSERT_EQ(found.models.size(), 1U);
    EXPECT_EQ(found.models[0].weight_sets, 1U);
    // A fused or another tensor: nothing is guessed.
    for (const uint64_t queries : {3U, 5U}) {
      found = of_layers(queries, with_events).measure(&model);
      EXPECT_EQ(contents_now(found, MemoryContent::weights, ContentBasis::model_size), 0);
      EXPECT_EQ(found.models[0].weight_sets, 0U);
      EXPECT_FALSE(found.models[0].found_weights);
    }
  }
}

TEST(MemoryContents, WithoutEventsOnlyTheSnapshotIsKnown) {
  HandMadeSnapshot memory;
  memory.segment();
  memory.block(8 * kContentMiB, {kLoadLine}, false);
  const auto found = memory.measure();
  ASSERT_EQ(found.contents.size(), 1U);
  EXPECT_EQ(found.contents[0].now, profile::Bytes{8 * kBytesOfMiB});
  EXPECT_FALSE(found.contents[0].after_load || found.contents[0].at_peak);
}

TEST(MemoryContents, IfEventsAreLostLoadingIsNotKnown) {
  HandMadeSnapshot memory;
  memory.segment();
  memory.block(8 * kContentMiB, {kLoadLine}, false);
  memory.block(2 * kContentMiB, {kForwardLine});
  memory.lose_events();
  const auto found = memory.measure();
  const auto* row = contents_row(found, MemoryContent::weights, ContentBasis::stack);
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->at_peak, profile::Bytes{8 * kBytesOfMiB});
  EXPECT_FALSE(row->after_load);
}

TEST(MemoryContents, APoolThatCameAfterThePeakWasNotThere) {
  HandMadeSnapshot memory;
  memory.segment();
  memory.block(4 * kContentMiB, {kOwnLine}, false);
  memory.event(AllocatorAction::segment_alloc, 0x9000000, 16 * kContentMiB);
  memory.event(AllocatorAction::alloc, 0x9000000, 16 * kContentMiB);
  memory.event(AllocatorAction::free_completed, 0x9000000, 16 * kContentMiB);
  memory.event(AllocatorAction::segment_free, 0x9000000, 16 * kContentMiB);
  memory.event(AllocatorAction::segment_alloc, 0x1000000 + 4 * kContentMiB, 2 * kContentMiB);
  memory.segment(true);
  memory.block(1 * kContentMiB, {kForwardLine});
  memory.free_block(1 * kContentMiB);
  const auto found = memory.measure();
  const auto* pool = contents_row(found, MemoryContent::graph_pool, ContentBasis::pool);
  ASSERT_NE(pool, nullptr);
  EXPECT_EQ(pool->now, profile::Bytes{2 * kBytesOfMiB});
  EXPECT_EQ(pool->at_peak, profile::Bytes{0});
  double peak = 0;
  for (const auto& row : found.contents) peak += row.at_peak->value;
  EXPECT_EQ(peak, 20 * kBytesOfMiB);
  EXPECT_EQ(found.devices[0].peak->reserved, profile::Bytes{20 * kBytesOfMiB});
}

TEST(MemoryContents, ThePeakMayBeWhileLoading) {
  HandMadeSnapshot memory;
  memory.segment();
  memory.block(4 * kContentMiB, {kLoadLine});
  memory.event(AllocatorAction::alloc, 0x9000000, 3 * kContentMiB);
  memory.event(AllocatorAction::free_completed, 0x9000000, 3 * kContentMiB);
  memory.block(2 * kContentMiB, {kUpdateLine, kForwardLine});
  memory.free_block(8 * kContentMiB);
  const auto found = memory.measure();
  const auto* cache = contents_row(found, MemoryContent::kv_cache, ContentBasis::stack);
  ASSERT_NE(cache, nullptr);
  EXPECT_EQ(cache->at_peak, profile::Bytes{0});
  EXPECT_EQ(cache->in_passes, profile::Bytes{2 * kBytesOfMiB});
  const auto* other = contents_row(found, MemoryContent::other, ContentBasis::remainder);
  ASSERT_NE(other, nullptr);
  EXPECT_EQ(other->at_peak, profile::Bytes{3 * kBytesOfMiB});
  EXPECT_EQ(other->in_passes, profile::Bytes{0});
}

TEST(MemoryContents, WithoutEventsOfSegmentsWhatIsUnusedIsNotKnown) {
  HandMadeSnapshot memory;
  memory.segment();
  memory.block(4 * kContentMiB, {kOwnLine});
  memory.event(AllocatorAction::alloc, 0x9000000, 30 * kContentMiB);
  memory.event(AllocatorAction::free_completed, 0x9000000, 30 * kContentMiB);
  memory.free_block(1 * kContentMiB);
  const auto found = memory.measure();
  const auto* unused = contents_row(found, MemoryContent::unused, ContentBasis::allocator);
  ASSERT_NE(unused, nullptr);
  EXPECT_EQ(unused->now, profile::Bytes{1 * kBytesOfMiB});
  EXPECT_FALSE(unused->at_peak);
}

}  // namespace
}  // namespace llmprof::analysis
