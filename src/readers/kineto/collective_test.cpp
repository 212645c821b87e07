#include "readers/kineto/collective.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "testing/readers/read_kineto.h"
#include "testing/shared_captures.h"
#include "testing/temporary_folder.h"

namespace llmprof::readers {
namespace {

using testing::read_kineto_or_fail;
using testing::read_kineto_text;

std::string one_event(std::string_view event) {
  return fmt::format("{{\"traceEvents\":[{}]}}", event);
}

trace::Trace read_operator(std::string_view name, std::string_view arguments,
                           std::string_view category = "cpu_op") {
  return read_kineto_or_fail(one_event(fmt::format(
      R"({{"ph":"X","cat":"{}","name":"{}","pid":9,"tid":8,"ts":10,"dur":2,"args":{{"External id":5,{}}}}})",
      category, name, arguments)));
}

TEST(KinetoCollective, IsReadFromAKernelsArguments) {
  const trace::Trace trace = read_kineto_or_fail(one_event(
      R"({"ph":"X","cat":"kernel","name":"ncclDevKernel_ReduceScatter","pid":0,"tid":7,"ts":10,"dur":2.5,
          "args":{"External id":6,"device":0,"stream":7,"correlation":5,"Collective name":"_reduce_scatter_base",
          "In msg nelems":200,"Out msg nelems":100,"Group size":2,"dtype":"BFloat16","In split size":"[]",
          "Process Group Name":"3","Process Group Description":"undefined","Process Group Ranks":"[4, 5]","Seq":12}})"));
  const trace::CollectiveTable& rows = trace.collectives;
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows.start[0], 10'000);
  EXPECT_EQ(rows.end[0], 12'500);
  EXPECT_FALSE(rows.thread[0].valid());
  EXPECT_EQ(rows.correlation[0], 5U);
  EXPECT_EQ(rows.external_id[0], 0U);
  EXPECT_EQ(rows.kind[0], CollectiveKind::reduce_scatter);
  EXPECT_EQ(rows.bytes[0], 400U);
  EXPECT_EQ(trace.strings[rows.group[0]], "3");
  EXPECT_EQ(trace.strings[rows.members[0]], "4,5");
  EXPECT_EQ(rows.group_size[0], 2U);
  EXPECT_EQ(rows.sequence[0], 12U);
}

TEST(KinetoCollective, IsReadFromAnOperator) {
  const trace::Trace trace = read_operator(
      "record_param_comms",
      R"("Collective name":"allreduce","dtype":"Float","In msg nelems":53120,"Global rank start":0,"Group size":2,"Process Group Ranks":"[0, 1]","Out msg nelems":53120,"Process Group ID":0)");
  const trace::CollectiveTable& rows = trace.collectives;
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(trace.operators.size(), 1U);
  EXPECT_EQ(rows.thread[0], trace.operators.thread[0]);
  EXPECT_EQ(rows.external_id[0], 5U);
  EXPECT_EQ(rows.correlation[0], 0U);
  EXPECT_EQ(rows.kind[0], CollectiveKind::all_reduce);
  EXPECT_EQ(rows.bytes[0], 212'480U);
  EXPECT_EQ(trace.strings[rows.group[0]], "0");
  EXPECT_EQ(trace.strings[rows.members[0]], "0,1");
  EXPECT_EQ(rows.sequence[0], trace::kNoSequence);
}

TEST(KinetoCollective, IsReadFromAnAnnotationsInputs) {
  const auto annotated = [](std::string_view name, std::string_view arguments) {
    trace::Trace trace = read_operator(name, arguments, "user_annotation");
    EXPECT_EQ(trace.ranges.size(), 1U);
    EXPECT_EQ(trace.collectives.size(), 1U);
    return std::pair(trace.collectives.kind.at(0), trace.collectives.bytes.at(0));
  };
  EXPECT_EQ(annotated("nccl:all_to_all", R"("Input Dims":[[384]],"Input type":["long"])"),
            std::pair(CollectiveKind::all_to_all, uint64_t{3072}));
  EXPECT_EQ(annotated("nccl:all_reduce",
                      R"("Input type":["c10::BFloat16","float"],"Input Dims":[[3,4],[2,5]])"),
            std::pair(CollectiveKind::all_reduce, uint64_t{24 + 40}));
  EXPECT_EQ(annotated("nccl:_reduce_scatter_base", R"("Input Dims":[[8]],"Input type":["int"])"),
            std::pair(CollectiveKind::reduce_scatter, uint64_t{32}));
  // The size of an unknown type is unknown.
  EXPECT_EQ(annotated("nccl:all_reduce", R"("Input Dims":[[8],[2]],"Input type":["int","odd"])"),
            std::pair(CollectiveKind::all_reduce, uint64_t{0}));
  EXPECT_EQ(
      annotated("nccl:all_reduce", R"("Input Dims":[[[1,2],[3]]],"Input type":["TensorList"])"),
      std::pair(CollectiveKind::all_reduce, uint64_t{0}));
  EXPECT_EQ(annotated("nccl:all_reduce", R"("Input Dims":7,"Input type":"int")"),
            std::pair(CollectiveKind::all_reduce, uint64_t{0}));
  EXPECT_EQ(
      annotated(
          "nccl:all_reduce",
          R"("Input Dims":[[18446744073709551615,18446744073709551615]],"Input type":["int"])"),
      std::pair(CollectiveKind::all_reduce, uint64_t{0}));
}

TEST(KinetoCollective, IsReadFromAnEnginesOwnAllReduce) {
  const trace::Trace trace =
      read_operator("symm_mem::multimem_all_reduce_",
                    R"("Input type":["c10::BFloat16","",""],"Input Dims":[[2557440],[],[]])");
  ASSERT_EQ(trace.collectives.size(), 1U);
  EXPECT_EQ(trace.collectives.bytes[0], 5'114'880U);
  EXPECT_EQ(trace.collectives.kind[0], CollectiveKind::all_reduce);
}

TEST(KinetoCollective, IsNotAnythingElse) {
  EXPECT_EQ(read_operator("record_param_comms", R"("Ev Idx":3)").collectives.size(), 0U);
  EXPECT_EQ(read_operator("record_param_comms", R"("Collective name":"wait","dtype":"Byte")")
                .collectives.size(),
            0U);
  EXPECT_EQ(read_operator("c10d::allreduce_", R"("Input Dims":[[4]],"Input type":["int"])")
                .collectives.size(),
            0U);
  EXPECT_EQ(read_operator("aten::add", R"("Collective name":"allreduce")").collectives.size(), 0U);
}

TEST(KinetoCollective, MembersThatAreCutShortFollowFromTheirSpacing) {
  const auto members = [](std::string_view arguments) {
    const trace::Trace trace = read_operator(
        "record_param_comms", fmt::format(R"("Collective name":"allreduce",{})", arguments));
    const trace::StringId id = trace.collectives.members.at(0);
    return id.valid() ? std::string(trace.strings[id]) : "none";
  };
  EXPECT_EQ(
      members(
          R"("Process Group Ranks":"[1, 3, ..., 7]","Group size":4,"Global rank start":1,"Global rank stride":2)"),
      "1,3,5,7");
  EXPECT_EQ(
      members(
          R"("Process Group Ranks":"[1, 2, ..., 7]","Group size":4,"Global rank start":-1,"Global rank stride":-1)"),
      "none");
  EXPECT_EQ(members(R"("Process Group Ranks":"[]")"), "none");
  EXPECT_EQ(members(R"("Group size":99999999999,"Global rank start":0,"Global rank stride":1)"),
            "none");
}

TEST(KinetoCollective, OldTracesCountUnixTime) {
  const auto clock_of = [](std::string_view time) {
    return read_kineto_or_fail(
               one_event(fmt::format(
                   R"({{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":{},"dur":2}})",
                   time)))
        .captures.at(0)
        .wall_clock_ns;
  };
  EXPECT_EQ(clock_of("1682725898094377"), 0);
  EXPECT_FALSE(clock_of("3850242929496.214"));
}

TEST(KinetoCollective, RankComesFromTheTraceThenFromItsName) {
  const auto rank_of = [](std::string_view before, const char* path) {
    trace::TraceBuilder builder;
    const std::string text = fmt::format(
        R"({{{}"traceEvents":[{{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":10,"dur":2}}]}})",
        before);
    EXPECT_TRUE(read_kineto(*stream_over(text), path, builder));
    return builder.capture();
  };
  const trace::Capture capture = rank_of(
      R"("distributedInfo":{"backend":"nccl","world_size":16,"rank":3},"host_name":"node7",)",
      "rank-5.json");
  EXPECT_EQ(capture.rank, 3U);
  EXPECT_EQ(capture.world_size, 16U);
  EXPECT_EQ(capture.host, "node7");
  EXPECT_EQ(rank_of("", "rank-5.json").rank, 5U);
  EXPECT_FALSE(rank_of("", "trace.json").rank);
  EXPECT_FALSE(rank_of("", "trace.json").world_size);
}

std::string collectives_text() {
  return testing::file_bytes(testing::test_data("kineto/collectives.json"));
}

TEST(KinetoCollective, ATraceTellsOfOneCollectiveInSeveralPlaces) {
  const trace::Trace trace = read_kineto_or_fail(collectives_text());
  using enum CollectiveKind;
  EXPECT_EQ(trace.collectives.kind, (std::vector{all_reduce, all_reduce, all_reduce, all_reduce}));
  EXPECT_EQ(trace.collectives.bytes, (std::vector<uint64_t>{8192, 8192, 8192, 4096}));
  EXPECT_EQ(trace.collectives.correlation, (std::vector<uint32_t>{0, 0, 21, 0}));
  EXPECT_TRUE(trace.diagnostics.items().empty());
}

TEST(KinetoCollective, ATraceMayEndAnywhere) {
  const std::string text = collectives_text();
  for (size_t length = text.find("traceEvents"); length < text.size(); ++length) {
    const auto trace = read_kineto_text(text.substr(0, length));
    EXPECT_LE(trace ? trace->collectives.size() : 0, 4U) << length;
  }
}

TEST(ElementBytes, OfTypesInBothSpellings) {
  EXPECT_EQ(element_bytes("BFloat16"), 2U);
  EXPECT_EQ(element_bytes("c10::BFloat16"), 2U);
  EXPECT_EQ(element_bytes("long int"), 8U);
  EXPECT_EQ(element_bytes("Float8_e4m3fn"), 1U);
  EXPECT_EQ(element_bytes("c10::complex<float>"), 8U);
  EXPECT_EQ(element_bytes(""), 0U);
  EXPECT_EQ(element_bytes("TensorList"), 0U);
}

}  // namespace
}  // namespace llmprof::readers
