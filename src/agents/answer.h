#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "agents/served_runs.h"
#include "mcp/tool.h"
#include "query/database.h"

namespace llmprof::agents {

using mcp::Json;

// What all tools answer with: tables whose columns have units, and what to know about them.
const Json& answer_schema();

// A table of an answer, as its schema describes it.
struct AnswerTable {
  std::string title;
  std::vector<query::AnswerColumn> columns;
  Json rows = Json::array();  // lists of cells, in the order of the columns
  uint64_t total_rows = 0;
  bool total_is_complete = true;

  void add_row(Json cells);
};

// Builds an answer, and makes it fit into a message.
class AnswerBuilder {
 public:
  AnswerBuilder(const ServedRuns& served, std::vector<ServedRuns::Known> runs)
      : served_(served), runs_(std::move(runs)) {}

  void say(std::string summary) { summary_ = std::move(summary); }
  // Columns that are empty in all rows are left out, unless `all_columns`. Rows that name a step, a
  // request, a kernel or a time are linked as evidence.
  void add(AnswerTable table, bool all_columns = false);
  void caveat(const std::string& text);
  // A link of the run's report.html: "#steps?step=31".
  void evidence(std::string_view run, std::string what, std::string link);
  // A call that answers the next sensible question.
  void next(std::string_view tool, Json arguments, std::string_view question);
  // How to ask for less, if rows do not fit.
  void narrow_by(std::string how) { how_to_narrow_ = std::move(how); }
  // What the captures cover, and what is wrong with them: of every answer about them.
  void add_coverage(query::Database& database);
  void add_coverage(const std::string& run, const profile::Profile& profile);

  // Fails if not even the columns fit.
  [[nodiscard]] mcp::ToolResult finish() &&;

 private:
  void link_rows(const AnswerTable& table);
  void hide_texts();
  // Named after its run if there are several.
  void caveat_of(const std::string& run, const std::string& text);

  const ServedRuns& served_;
  std::vector<ServedRuns::Known> runs_;
  std::string summary_;
  std::vector<AnswerTable> tables_;
  Json coverage_ = Json::array();
  std::vector<std::string> caveats_;
  Json evidence_ = Json::array();
  Json next_ = Json::array();
  std::string how_to_narrow_ = "select fewer columns or rows, or aggregate";
};

// Asks a statement of our own or of the caller. Throws its error (base/needed.h).
struct AskOptions {
  query::Parameters parameters = {};
  uint64_t rows = 100;
  std::chrono::seconds time{30};
  bool is_own = true;  // names of columns that we wrote tell their unit: busy_ms
};
struct AskedTable {
  AnswerTable table;
  query::Answer answer;
};
AskedTable ask(query::Database& database, std::string title, std::string_view sql,
               const mcp::Call& call, const AskOptions& options = {});

// The same for what the runs may lack: an empty table if they do.
AnswerTable ask_if_known(query::Database& database, std::string title, std::string_view sql,
                         const mcp::Call& call, const AskOptions& options = {});

// Gives columns that we named after their unit that unit: busy_ms.
void name_units(AnswerTable& table);

// For a fragment: "#kernels?q=a%20b".
std::string in_link(std::string_view text);

}  // namespace llmprof::agents
