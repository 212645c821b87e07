#include "analysis/communication/collectives.h"

#include <gtest/gtest.h>

#include "testing/hand_made_trace.h"

namespace llmprof::analysis {
namespace {

using testing::HandMadeTrace;

constexpr std::string_view kAllReduce = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(int)";
constexpr std::string_view kSendRecv = "ncclDevKernel_SendRecv(int)";

// A row that says nothing yet.
struct CollectiveRow {
  Nanoseconds start = 0;
  Nanoseconds end = 0;
  trace::ThreadId thread = {};
  uint64_t external_id = 0;
  uint32_t correlation = 0;
  CollectiveKind kind = CollectiveKind::other;
  uint64_t bytes = 0;
  std::string_view group = {};
  std::string_view members = {};
  uint32_t group_size = 0;
  uint64_t sequence = trace::kNoSequence;
};

void add_row(HandMadeTrace& made, const CollectiveRow& row) {
  trace::CollectiveTable& table = made.builder().trace().collectives;
  const auto text = [&](std::string_view of) {
    return of.empty() ? trace::StringId() : made.builder().string(of);
  };
  table.start.push_back(row.start);
  table.end.push_back(row.end);
  table.thread.push_back(row.thread);
  table.external_id.push_back(row.external_id);
  table.correlation.push_back(row.correlation);
  table.kind.push_back(row.kind);
  table.bytes.push_back(row.bytes);
  table.group.push_back(text(row.group));
  table.members.push_back(text(row.members));
  table.group_size.push_back(row.group_size);
  table.sequence.push_back(row.sequence);
}

Collectives collectives_of(const trace::Trace& trace, const Stages& stages = {}) {
  const auto rules = KernelRules::load(*config::ConfFiles::open(std::nullopt));
  EXPECT_TRUE(rules);
  return find_collectives(trace, DescribedNames(trace, *rules), stages);
}

// In ns: compute 0-100 and 130-150; a collective 100-140, of which 10 overlap with compute; another
// one 160-170 after a gap.
TEST(FindCollectives, TellsWhatRanBesideAndBefore) {
  HandMadeTrace made;
  made.kernel("gemm", 0, 10, 60);
  made.kernel("norm", 1, 50, 100);
  made.kernel(kAllReduce, 2, 100, 140, {{}, 0, 8});
  made.kernel("gemm", 3, 130, 150);
  made.copy(4, 150, 160);
  made.kernel(kAllReduce, 5, 160, 170, {{}, 0, 8});
  const Collectives found = collectives_of(made.freeze());
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found.start, (std::vector<Nanoseconds>{100, 160}));
  EXPECT_EQ(found.end, (std::vector<Nanoseconds>{140, 170}));
  EXPECT_EQ(found.launched, (std::vector<Nanoseconds>{2, 5}));
  EXPECT_EQ(found.busy_before, (std::vector<Nanoseconds>{90, 10}));
  EXPECT_EQ(found.exposed, (std::vector<Nanoseconds>{30, 10}));
  EXPECT_EQ(found.key, (std::vector<uint32_t>{0, 0}));
  EXPECT_EQ(found.step, (std::vector<uint32_t>(2, Collectives::kNoStep)));
  EXPECT_EQ(found.sequence, (std::vector<uint64_t>(2, trace::kNoSequence)));
  EXPECT_EQ(found.in_graph, (std::vector<uint8_t>{0, 0}));
  ASSERT_EQ(found.keys.size(), 1U);
  EXPECT_EQ(found.keys[0].kind, CollectiveKind::all_reduce);
  EXPECT_FALSE(found.keys[0].bytes);
  EXPECT_EQ(found.keys[0].group, "cuda:0 stream 8");
  EXPECT_FALSE(found.keys[0].group_stated);
}

TEST(FindCollectives, CountsComputeFromTheStepsBeginOn) {
  HandMadeTrace made;
  made.kernel("gemm", 0, 10, 40);
  made.kernel("gemm", 1, 50, 60);
  made.kernel(kAllReduce, 2, 60, 80);
  Stages stages;
  stages.steps.emplace_back().start = 30;
  stages.owners.kernel_step = {StepId(), StepId(0), StepId(0)};
  const Collectives found = collectives_of(made.freeze(), stages);
  EXPECT_EQ(found.step, std::vector<uint32_t>{0});
  EXPECT_EQ(found.busy_before, std::vector<Nanoseconds>{20});
}

TEST(FindCollectives, KeepsDevicesApart) {
  HandMadeTrace made;
  made.kernel("gemm", 0, 10, 60);
  made.kernel(kAllReduce, 1, 60, 80);
  made.kernel(kAllReduce, 2, 60, 90, {{}, 1});
  const Collectives found = collectives_of(made.freeze());
  EXPECT_EQ(found.busy_before, (std::vector<Nanoseconds>{50, 0}));
  ASSERT_EQ(found.keys.size(), 2U);
  EXPECT_EQ(found.keys[1].group, "cuda:1 stream 7");
}

TEST(FindCollectives, BelievesTheKernelsOwnRowFirst) {
  HandMadeTrace made;
  const trace::ThreadId thread = made.thread(1);
  add_row(made, {.start = 0,
                 .end = 9,
                 .thread = thread,
                 .kind = CollectiveKind::all_to_all,
                 .bytes = 64,
                 .group = "outer",
                 .group_size = 8});
  add_row(made, {.start = 100,
                 .end = 140,
                 .correlation = 1,
                 .kind = CollectiveKind::all_gather,
                 .group = "tp",
                 .members = "0,1",
                 .sequence = 17});
  made.kernel(kSendRecv, 5, 100, 140);
  const Collectives found = collectives_of(made.freeze());
  const CollectiveKey wanted{CollectiveKind::all_gather, 64, "tp", true, "0,1", 8};
  EXPECT_EQ(found.keys, std::vector<CollectiveKey>{wanted});
  EXPECT_EQ(found.sequence, std::vector<uint64_t>{17});
}

// A replay's kernels share its correlation: a row is about the kernel that starts with it.
TEST(FindCollectives, ARowNamesOneKernelOfAReplay) {
  HandMadeTrace made;
  add_row(made, {.start = 200, .end = 240, .correlation = 1, .bytes = 8});
  made.kernel(kAllReduce, 5, 100, 140, {{}, 0, 7, 1});
  made.kernel(kAllReduce, 5, 200, 240, {{}, 0, 7, 1});
  made.builder().trace().launches.api[0] = made.builder().string("cudaGraphLaunch_v10000");
  const Collectives found = collectives_of(made.freeze());
  ASSERT_EQ(found.size(), 2U);
  EXPECT_FALSE(found.keys[found.key[0]].bytes);
  EXPECT_EQ(found.keys[found.key[1]].bytes, 8U);
  EXPECT_EQ(found.in_graph, (std::vector<uint8_t>{1, 1}));
}

TEST(FindCollectives, JoinsByOperator) {
  HandMadeTrace made;
  add_row(made, {.start = 0, .end = 3, .thread = made.thread(1), .external_id = 77, .bytes = 8});
  // The same number in another process is another operator.
  add_row(made, {.start = 0,
                 .end = 3,
                 .thread = made.thread(made.process(2), 2),
                 .external_id = 78,
                 .bytes = 9});
  made.kernel(kAllReduce, 50, 100, 140);
  made.kernel(kAllReduce, 60, 150, 160);
  made.builder().trace().kernels.external_id = {77, 78};
  const Collectives found = collectives_of(made.freeze());
  EXPECT_EQ(found.keys[found.key[0]].bytes, 8U);
  EXPECT_FALSE(found.keys[found.key[1]].bytes);
}

// Old traces store a kernel's correlation as its operator's number.
TEST(FindCollectives, DoubtsAnOperatorWhoseNumberIsTheCorrelation) {
  HandMadeTrace made;
  add_row(made, {.start = 20, .end = 30, .thread = made.thread(1), .external_id = 1, .bytes = 8});
  add_row(made, {.start = 55, .end = 65, .thread = made.thread(1), .external_id = 2, .bytes = 9});
  made.kernel(kAllReduce, 50, 100, 140);  // correlation 1, launched outside operator 1
  made.kernel(kAllReduce, 60, 150, 160);  // correlation 2, inside
  made.builder().trace().kernels.external_id = {1, 2};
  const Collectives found = collectives_of(made.freeze());
  EXPECT_FALSE(found.keys[found.key[0]].bytes);
  EXPECT_EQ(found.keys[found.key[1]].bytes, 9U);
}

TEST(FindCollectives, JoinsByTheLaunchInsideASpanOfItsThread) {
  HandMadeTrace made;
  const trace::ThreadId thread = made.thread(1);
  const trace::ThreadId other = made.thread(2);
  add_row(made, {.start = 0, .end = 100, .thread = thread, .group = "outer"});
  add_row(made, {.start = 10,
                 .end = 30,
                 .thread = thread,
                 .kind = CollectiveKind::all_to_all,
                 .bytes = 8,
                 .group = "inner"});
  add_row(made, {.start = 40, .end = 50, .thread = thread, .bytes = 9});
  add_row(made, {.start = 0, .end = 1000, .thread = other, .bytes = 10});
  made.kernel(kSendRecv, 20, 100, 110);   // inner
  made.kernel(kSendRecv, 35, 120, 130);   // outer only, although another one ended in between
  made.kernel(kSendRecv, 45, 140, 150);   // the second inner one
  made.kernel(kSendRecv, 101, 160, 170);  // none
  made.kernel(kSendRecv, 101, 180, 190, {other});
  const Collectives found = collectives_of(made.freeze());
  const auto key = [&](size_t row) { return found.keys[found.key[row]]; };
  ASSERT_EQ(found.size(), 5U);
  EXPECT_EQ(key(0), (CollectiveKey{CollectiveKind::all_to_all, 8, "inner", true, "", 0}));
  EXPECT_EQ(key(1), (CollectiveKey{CollectiveKind::other, {}, "outer", true, "", 0}));
  EXPECT_EQ(key(2), (CollectiveKey{CollectiveKind::other, 9, "outer", true, "", 0}));
  EXPECT_EQ(key(3), (CollectiveKey{CollectiveKind::other, {}, "cuda:0 stream 7", false, "", 0}));
  EXPECT_EQ(key(4), (CollectiveKey{CollectiveKind::other, 10, "cuda:0 stream 7", false, "", 0}));
}

// Operators of a CPU program may have any name.
TEST(FindCollectives, ANamedKernelCommunicatesWhateverItsName) {
  HandMadeTrace made;
  add_row(made, {.start = 20,
                 .end = 30,
                 .thread = made.thread(1),
                 .correlation = 2,
                 .kind = CollectiveKind::broadcast,
                 .bytes = 4});
  made.kernel("step one", 0, 5, 20);
  made.kernel("step two", 20, 20, 30);
  const Collectives found = collectives_of(made.freeze());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.keys[0].kind, CollectiveKind::broadcast);
  EXPECT_EQ(found.busy_before, std::vector<Nanoseconds>{15});
}

TEST(FindCollectives, FindsNoneWithoutCommunication) {
  HandMadeTrace made;
  made.kernel("gemm", 0, 5, 20);
  const Collectives found = collectives_of(made.freeze());
  EXPECT_EQ(found.size(), 0U);
  EXPECT_TRUE(found.keys.empty());
}

}  // namespace
}  // namespace llmprof::analysis
