#include "query/database.h"

#include <gtest/gtest.h>

#include <atomic>

#include "testing/hand_made_trace.h"
#include "testing/sample_profile.h"

namespace llmprof::query {
namespace {

class Rows final : public AnswerSink {
 public:
  void begin(const std::vector<AnswerColumn>& all) override { columns = all; }
  void row(std::span<const Value> values) override {
    rows.push_back(values[0].kind == Value::Kind::integer ? values[0].integer : -1);
  }
  std::vector<AnswerColumn> columns;
  std::vector<int64_t> rows;
};

Run sample(std::string name) {
  Run run;
  run.name = std::move(name);
  run.profile = testing::requests_sample();
  run.read_events = [] {
    testing::HandMadeTrace trace;
    for (int i = 0; i < 10; ++i) trace.kernel(i % 2 == 0 ? "even" : "odd", i, 10 * i, 10 * i + 5);
    std::vector<Events> events(1);
    events[0].trace = trace.freeze();
    return Result<std::vector<Events>>(std::move(events));
  };
  return run;
}

std::unique_ptr<Database> open_sample() {
  std::vector<query::Run> runs;
  runs.push_back(sample("sample"));
  return std::move(*Database::open(std::move(runs)));
}

constexpr std::string_view kEndless =
    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c";

TEST(Database, EveryTableIsReadOrSaysWhatIsMissing) {
  const auto database = open_sample();
  size_t read = 0;
  for (const Table& table : database->tables()) {
    Rows rows;
    const auto answer = database->ask({"SELECT * FROM \"" + table.name + "\"", {}, {}}, rows);
    if (answer) {
      ++read;
      EXPECT_EQ(rows.columns.size(), table.columns.size() + 1) << table.name;
    } else {
      EXPECT_EQ(answer.error().kind, ErrorKind::input) << table.name;
      EXPECT_NE(database->lack_of(table.name), std::nullopt);
    }
  }
  EXPECT_GT(read, 40U);
}

TEST(Database, LimitsCutAnswersAndCountTheRest) {
  const auto database = open_sample();
  Limits limits;
  limits.rows = 3;
  Rows rows;
  auto answer = database->ask({"SELECT kernel FROM kernels", {}, limits}, rows);
  ASSERT_TRUE(answer);
  EXPECT_EQ(rows.rows, (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(answer->cut, Answer::Cut::rows);
  EXPECT_EQ(answer->total, 10U);
  EXPECT_EQ(cut_note(*answer), "3 of 10 rows, by the limit of rows");
  limits = {};
  limits.bytes = 20;
  Rows bytes;
  answer = database->ask({"SELECT kernel FROM kernels", {}, limits}, bytes);
  EXPECT_EQ(bytes.rows.size(), 2U);  // 8 bytes each
  EXPECT_EQ(answer->cut, Answer::Cut::bytes);
}

TEST(Database, CancellingEndsAStatement) {
  const auto database = open_sample();
  std::atomic<bool> cancelled = true;
  Limits limits;
  limits.cancelled = &cancelled;
  Rows rows;
  const auto answer = database->ask({kEndless, {}, limits}, rows);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().message, "the statement was cancelled");
  cancelled = false;
  EXPECT_TRUE(database->ask({"SELECT 1", {}, limits}, rows));
}

TEST(Database, ParametersAreBound) {
  const auto database = open_sample();
  Rows rows;
  ASSERT_TRUE(database->ask({"SELECT count(*) FROM kernels WHERE name = :name",
                             {{"name", std::string("odd")}, {"unused", int64_t{1}}},
                             {}},
                            rows));
  EXPECT_EQ(rows.rows, std::vector<int64_t>{5});
  EXPECT_FALSE(database->ask({"SELECT :other", {{"name", 1.0}}, {}}, rows));
}

TEST(Database, EventsAreReadOnceAndOnlyIfNeeded) {
  std::vector<query::Run> runs;
  runs.push_back(sample("sample"));
  int reads = 0;
  runs[0].read_events = [&reads, read = runs[0].read_events] {
    ++reads;
    return read();
  };
  const auto database = std::move(*Database::open(std::move(runs)));
  Rows rows;
  ASSERT_TRUE(database->ask({"SELECT count(*) FROM stages", {}, {}}, rows));
  EXPECT_EQ(reads, 0);
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(database->ask({"SELECT count(*) FROM kernels, memory_ops", {}, {}}, rows));
  }
  EXPECT_EQ(reads, 1);
}

TEST(Database, TablesOfSeveralRunsHaveTheRowsOfEach) {
  std::vector<query::Run> runs;
  runs.push_back(sample("one"));
  runs.push_back(sample("two"));
  runs[1].profile.requests.reset();
  const auto database = std::move(*Database::open(std::move(runs)));
  Rows rows;
  ASSERT_TRUE(database->ask({"SELECT count(*) FROM kernels GROUP BY run", {}, {}}, rows));
  EXPECT_EQ(rows.rows, (std::vector<int64_t>{10, 10}));
  const auto answer =
      database->ask({"SELECT count(*) FROM requests WHERE run = 'two'", {}, {}}, rows);
  ASSERT_TRUE(answer);
  EXPECT_EQ(rows.rows.back(), 0);
  ASSERT_EQ(answer->notes.size(), 1U);
  EXPECT_TRUE(answer->notes[0].starts_with("two has no requests: "));
}

TEST(Database, NoTableHasPathsOrCommands) {
  const auto database = open_sample();
  for (const Table& table : database->tables()) {
    for (const ColumnInfo& column : table.columns) {
      for (const std::string_view word : {"path", "command", "environment"}) {
        EXPECT_EQ(column.name.find(word), std::string::npos) << table.name << '.' << column.name;
      }
      EXPECT_FALSE(column.meaning.empty()) << table.name << '.' << column.name;
    }
  }
}

}  // namespace
}  // namespace llmprof::query
