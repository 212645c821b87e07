#include <gtest/gtest.h>

#include <random>

#include "readers/shared/reader.h"
#include "testing/readers/read_ncu.h"
#include "testing/shared_captures.h"

namespace llmprof::readers {
namespace {

// Either an error or launches with diagnostics; never an empty success.
void expect_sane(const Reader& reader, const std::filesystem::path& path, size_t most_launches) {
  trace::TraceBuilder builder;
  const auto done = reader.read(path, builder);
  if (!done) {
    EXPECT_EQ(done.error().kind, ErrorKind::input);
    EXPECT_FALSE(done.error().message.empty());
    return;
  }
  const trace::Trace trace = std::move(builder).freeze();
  EXPECT_GT(trace.profiled_launches.size(), 0U);
  EXPECT_LE(trace.profiled_launches.size(), most_launches);
}

struct Fixture {
  const char* name;
  const Reader* reader;
  size_t step;
};

class NcuDamage : public ::testing::TestWithParam<Fixture> {};

TEST_P(NcuDamage, SurvivesEveryTruncation) {
  const testing::TemporaryFolder folder;
  const std::string whole = testing::file_bytes(testing::test_data(GetParam().name));
  for (size_t length = 0; length < whole.size(); length += GetParam().step) {
    expect_sane(*GetParam().reader, folder.write("cut", whole.substr(0, length)), 12);
  }
}

TEST_P(NcuDamage, SurvivesFlippedBytes) {
  const testing::TemporaryFolder folder;
  const std::string whole = testing::file_bytes(testing::test_data(GetParam().name));
  std::mt19937 random(7);
  const auto below = [&](size_t limit) { return random() % limit; };
  for (int round = 0; round < 300; ++round) {
    std::string content = whole;
    for (int i = 0; i < 8; ++i) {
      content[below(content.size())] = static_cast<char>(below(round % 2 == 0 ? 256 : 48));
    }
    // A flipped number can split one launch into two; an opened quote cannot create launches.
    expect_sane(*GetParam().reader, folder.write("flipped", content), 64);
  }
}

INSTANTIATE_TEST_SUITE_P(Fixtures, NcuDamage,
                         ::testing::Values(Fixture{"ncu/decode_raw.csv", &kNcuCsvReader, 1},
                                           Fixture{"ncu/decode_details.csv", &kNcuCsvReader, 37},
                                           Fixture{"ncu/decode_raw.json", &kNcuJsonReader, 11},
                                           Fixture{"ncu/decode_details.jsonl", &kNcuJsonReader,
                                                   101}));

TEST(NcuDamageBounds, LongTextWithoutRecordsIsReadInPieces) {
  const testing::TemporaryFolder folder;
  trace::TraceBuilder builder;
  const auto done = kNcuCsvReader.read(
      folder.write("long", "==PROF== x\n" + std::string(40'000'000, '"')), builder);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::input);
}

}  // namespace
}  // namespace llmprof::readers
