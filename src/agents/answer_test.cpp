#include "agents/answer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "agents/tools.h"
#include "base/needed.h"
#include "mcp/protocol.h"
#include "mcp/schema_check.h"
#include "profile/json/json.h"
#include "testing/sample_profile.h"
#include "testing/temporary_folder.h"

namespace llmprof::agents {
namespace {

using testing::TemporaryFolder;

// A folder with runs, and servers of it.
class Agents : public ::testing::Test {
 protected:
  fs::path add_run(const fs::path& name,
                   const profile::Profile& profile = testing::requests_sample()) {
    const fs::path folder = folder_.path() / name;
    fs::create_directories(folder);
    std::ofstream(folder / "profile.json") << profile::to_json(profile);
    return folder;
  }
  ServedRuns serve(std::vector<fs::path> paths) {
    return ServedRuns({std::move(paths), {}, false});
  }

  TemporaryFolder folder_;
};

AnswerTable wide_table(size_t rows, const std::string& text) {
  AnswerTable table;
  table.title = "table";
  table.columns = {{"run", "", "", ""}, {"text", "", "", "what it says"}, {"empty", "", "", ""}};
  for (size_t i = 0; i < rows; ++i) table.add_row({"sample", text, nullptr});
  return table;
}

TEST_F(Agents, AnswersFitAndSayWhatWasCut) {
  const ServedRuns served = serve({add_run("sample")});
  for (const size_t rows : {size_t{0}, size_t{1}, size_t{100}, size_t{3000}}) {
    for (const std::string text : {"short", "\"\\\n", "a text with blanks that is longer"}) {
      AnswerBuilder builder(served, served.known());
      builder.add(wide_table(rows, text), true);
      builder.add(wide_table(7, text));
      const mcp::ToolResult result = std::move(builder).finish();
      ASSERT_EQ(result.error, "");
      const std::string line = mcp::to_line(result.value);
      EXPECT_LE(line.size() + mcp::bytes_as_json(line), mcp::kLongestResult);
      EXPECT_EQ(mcp::fault_of(result.value, answer_schema()), "");
      const Json& table = result.value["tables"][0];
      EXPECT_EQ(table["total_rows"], rows);
      EXPECT_EQ(table["row_count"], table["rows"].size());
      const bool is_cut = table["rows"].size() < rows;
      EXPECT_EQ(is_cut, rows == 3000);
      EXPECT_EQ(result.value["truncated"].is_null(), !is_cut);
      if (is_cut) {
        EXPECT_EQ(result.value["truncated"]["tables"][0]["total"], rows);
        EXPECT_GT(table["rows"].size(), 100U);
      }
      // Columns without any value are left out of the tables that we choose.
      EXPECT_EQ(table["columns"].size(), 3U);
      EXPECT_EQ(result.value["tables"][1]["columns"].size(), 2U);
    }
  }
}

TEST_F(Agents, AnswersWithoutAnyRowThatFitsFail) {
  const ServedRuns served = serve({add_run("sample")});
  AnswerBuilder builder(served, served.known());
  AnswerTable table;
  for (int i = 0; i < 2000; ++i) table.columns.push_back({std::string(100, 'x'), "", "", ""});
  builder.add(std::move(table), true);
  EXPECT_NE(std::move(builder).finish().error.find("fewer columns"), std::string::npos);
}

TEST_F(Agents, RowsAreLinkedToThePage) {
  const ServedRuns served = serve({add_run("sample")});
  AnswerBuilder builder(served, served.known());
  AnswerTable table;
  table.columns = {{"step", "", "", ""},        {"request", "", "", ""},
                   {"chunk", "", "", ""},       {"start_ns", "", "", ""},
                   {"duration_ns", "", "", ""}, {"short_name", "", "", ""}};
  table.add_row({31, 2, 5, 1000, 50, "a b/c"});
  table.add_row({nullptr, "x", nullptr, INT64_MAX, 5, nullptr});
  builder.add(std::move(table));
  const Json value = std::move(builder).finish().value;
  std::vector<std::string> links;
  for (const Json& each : value["evidence"]) {
    EXPECT_EQ(each["run"], "sample");
    EXPECT_EQ(each["has_page"], false);
    links.push_back(each["link"]);
  }
  EXPECT_EQ(links, (std::vector<std::string>{"#steps?step=31", "#requests?request=2&chunk=5",
                                             "#timeline?span=1000,1050", "#kernels?q=a%20b%2Fc"}));
}

TEST_F(Agents, RunsAreFoundInFoldersAndNowhereElse) {
  add_run("all/first");
  add_run("all/deep/er/second");
  add_run("all/other/first");
  add_run("all/.hidden/x");
  const fs::path outside = add_run("outside");
  fs::create_directory_symlink(outside, folder_.path() / "all" / "link");
  const ServedRuns served = serve({folder_.path() / "all"});
  std::vector<std::string> names;
  for (const auto& run : served.known()) names.push_back(run.name);
  EXPECT_EQ(names, (std::vector<std::string>{"second", "first", "first#2"}));
  EXPECT_EQ(served.find("first#2").path, fs::canonical(folder_.path() / "all/other/first"));
  EXPECT_EQ(served.find("deep/er/second").name, "second");
  EXPECT_EQ(served.find((folder_.path() / "all/first").string()).name, "first");
  EXPECT_EQ(served.find("first/profile.json").name, "first");
  for (const std::string& path :
       {std::string("../outside"), outside.string(), std::string("link"), std::string("/"),
        std::string("nothing"), std::string(), std::string("first/../../outside")}) {
    EXPECT_THROW(static_cast<void>(served.find(path)), Failure) << path;
  }
  EXPECT_THROW(static_cast<void>(served.wanted(nullptr)), Failure);  // which of three?
  EXPECT_EQ(served.wanted(Json::array({"first", "second", "first"})).size(), 2U);
  EXPECT_THROW(serve({folder_.path() / "missing"}), Failure);
}

TEST_F(Agents, ARunIsReadAgainWhenItsFileChanges) {
  const fs::path folder = add_run("sample");
  ServedRuns served = serve({folder});
  const auto runs = served.known();
  class Quiet final : public mcp::Call {
   public:
    void report(std::string_view /*what*/) override {}
    [[nodiscard]] const std::atomic<bool>& cancelled() const override { return never_; }

   private:
    std::atomic<bool> never_ = false;
  } call;
  served.begin(call);
  const query::Database* const first = &served.open(runs);
  EXPECT_EQ(first, &served.open(runs));
  const auto severity = [&] {
    return ask(served.open(runs), "", "SELECT count(*) FROM diagnostics WHERE code = 'new'", call)
        .table.rows[0][0];
  };
  EXPECT_EQ(severity(), Json(0));
  profile::Profile changed = testing::requests_sample();
  changed.diagnostics.emplace_back().code = "new";
  std::ofstream(folder / "profile.json") << profile::to_json(changed);
  fs::last_write_time(folder / "profile.json",
                      fs::file_time_type::clock::now() + std::chrono::seconds(5));
  EXPECT_EQ(severity(), Json(1));
}

// Every statement of explain and overview is one that SQLite accepts, whatever the run holds.
TEST_F(Agents, EveryToolAnswersAboutASample) {
  const profile::Profile full = testing::full_sample();
  ServedRuns served = serve({add_run("sample"), add_run("full", full)});
  const mcp::Protocol protocol(server_info(), all_tools(served));
  class Quiet final : public mcp::Call {
   public:
    void report(std::string_view /*what*/) override {}
    [[nodiscard]] const std::atomic<bool>& cancelled() const override { return never_; }

   private:
    std::atomic<bool> never_ = false;
  } call;
  const profile::Profile sample = testing::requests_sample();
  const std::vector<std::pair<std::string, Json>> calls = {
      {"overview", Json::object()},
      {"overview", {{"run", "full"}}},
      {"overview", {{"run", "sample"}}},
      {"describe", {{"run", "full"}}},
      {"how_to_record", {{"run", "sample"}}},
      {"explain", {{"kind", "finding"}, {"id", 0}, {"run", "full"}}},
      {"explain", {{"kind", "stage"}, {"id", sample.stages.front().name}, {"run", "sample"}}},
      {"explain", {{"kind", "step"}, {"id", 0}, {"run", "sample"}}},
      {"explain",
       {{"kind", "kernel"}, {"id", sample.kernels.front().short_name}, {"run", "sample"}}},
      {"explain",
       {{"kind", "request"}, {"id", sample.requests->items.front().id}, {"run", "sample"}}},
      {"compare", {{"base", "full"}, {"new", "full"}}}};
  for (const auto& [name, arguments] : calls) {
    const Json request = {{"jsonrpc", "2.0"},
                          {"id", 1},
                          {"method", "tools/call"},
                          {"params", {{"name", name}, {"arguments", arguments}}}};
    const mcp::Step step = protocol.take(mcp::to_line(request));
    ASSERT_TRUE(std::holds_alternative<mcp::ToolCall>(step)) << name;
    const Json result = protocol.run(std::get<mcp::ToolCall>(step), call)["result"];
    EXPECT_EQ(result["isError"], false) << name << mcp::to_line(arguments) << mcp::to_line(result);
    EXPECT_EQ(mcp::fault_of(result["structuredContent"], answer_schema()), "") << name;
  }
}

}  // namespace
}  // namespace llmprof::agents
