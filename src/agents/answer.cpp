#include "agents/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "agents/hidden_texts.h"
#include "base/needed.h"
#include "base/text.h"
#include "mcp/protocol.h"

namespace llmprof::agents {
namespace {

using query::AnswerColumn;
using query::Value;

// Of a result: the response around it, with an id of the client.
constexpr size_t kRoomForResponse = 2000;
// A cell that is longer is cut; a statement can read the rest of it.
constexpr size_t kLongestCell = 2000;
constexpr size_t kLongestName = 200;
// Of wide tables, `describe` has the meanings.
constexpr size_t kMostMeanings = 24;
constexpr size_t kMostEvidence = 8;
constexpr size_t kMostLinkedRows = 3;
constexpr size_t kMostCaveats = 12;

std::string cut(std::string_view text, size_t limit) {
  std::string printable = to_printable(text.substr(0, 4 * limit));
  if (text.size() <= limit) return printable;
  return fmt::format("{} ({} bytes)", shortened(printable, limit / 2), text.size());
}

Json cell_of(const Value& value) {
  switch (value.kind) {
    case Value::Kind::integer:
      return value.integer;
    case Value::Kind::real:
      return std::isfinite(value.real) ? Json(value.real) : Json();
    case Value::Kind::text:
      return cut(value.text, kLongestCell);
    default:
      return nullptr;
  }
}

class RowCollector final : public query::AnswerSink {
 public:
  explicit RowCollector(AnswerTable& table) : table_(table) {}
  void begin(const std::vector<AnswerColumn>& columns) override {
    table_.columns = columns;
    for (AnswerColumn& column : table_.columns) column.name = cut(column.name, kLongestName);
  }
  void row(std::span<const Value> values) override {
    Json cells = Json::array();
    for (const Value& value : values) cells.push_back(cell_of(value));
    table_.rows.push_back(std::move(cells));
  }

 private:
  AnswerTable& table_;
};

Json json_of(const AnswerTable& table, bool with_meanings) {
  Json columns = Json::array();
  for (const AnswerColumn& column : table.columns) {
    Json described = {{"name", column.name}};
    if (!column.unit.empty()) described["unit"] = column.unit;
    if (with_meanings && !column.meaning.empty()) described["meaning"] = column.meaning;
    columns.push_back(std::move(described));
  }
  return {{"title", table.title},
          {"columns", std::move(columns)},
          {"rows", table.rows},
          {"row_count", table.rows.size()},
          {"total_rows", table.total_rows},
          {"total_is_complete", table.total_is_complete}};
}

std::string traced_caveat(const std::string& stages) {
  return fmt::format(
      "Times of {} are as traced, and tracing lengthens them; `llmprof run` also times "
      "the program without tracing.",
      stages);
}

// As text and as structured content.
size_t bytes_sent(const Json& value) {
  const std::string text = mcp::to_line(value);
  return text.size() + mcp::bytes_as_json(text);
}

void drop_empty_columns(AnswerTable& table) {
  if (table.rows.empty()) return;
  for (size_t column = table.columns.size(); column-- > 0;) {
    const bool is_empty =
        std::ranges::all_of(table.rows, [&](const Json& row) { return row.at(column).is_null(); });
    if (!is_empty) continue;
    table.columns.erase(table.columns.begin() + static_cast<ptrdiff_t>(column));
    for (Json& row : table.rows) row.erase(column);
  }
}

// The cell of a column, null if there is none.
const Json& cell(const AnswerTable& table, const Json& row, std::string_view column) {
  static const Json none;
  const auto found = std::ranges::find(table.columns, column, &AnswerColumn::name);
  return found == table.columns.end() ? none
                                      : row.at(static_cast<size_t>(found - table.columns.begin()));
}

}  // namespace

const Json& answer_schema() {
  static const Json schema = Json::parse(R"({
    "type": "object",
    "properties": {
      "summary": {"type": "string", "description": "what the tables say, in a sentence"},
      "tables": {"type": "array", "items": {
        "type": "object",
        "properties": {
          "title": {"type": "string"},
          "columns": {"type": "array", "items": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "unit": {"type": "string"},
                           "meaning": {"type": "string"}},
            "required": ["name"], "additionalProperties": false}},
          "rows": {"type": "array", "items": {"type": "array",
            "items": {"type": ["string", "number", "null"]}}},
          "row_count": {"type": "integer", "description": "rows in this answer"},
          "total_rows": {"type": "integer", "description": "rows that there are"},
          "total_is_complete": {"type": "boolean",
            "description": "false: there are at least total_rows"}},
        "required": ["title", "columns", "rows", "row_count", "total_rows", "total_is_complete"],
        "additionalProperties": false}},
      "coverage": {"type": "array", "description": "what the captures of each run cover",
        "items": {"type": "object"}},
      "caveats": {"type": "array", "description": "what limits these figures; repeat those that matter",
        "items": {"type": "string"}},
      "evidence": {"type": "array", "description": "places in the run's report.html",
        "items": {
          "type": "object",
          "properties": {"run": {"type": "string"}, "what": {"type": "string"},
                         "link": {"type": "string"}, "has_page": {"type": "boolean"}},
          "required": ["run", "what", "link", "has_page"], "additionalProperties": false}},
      "truncated": {"type": ["object", "null"],
        "properties": {
          "tables": {"type": "array", "items": {
            "type": "object",
            "properties": {"title": {"type": "string"}, "shown": {"type": "integer"},
                           "total": {"type": "integer"}, "total_is_complete": {"type": "boolean"}},
            "required": ["title", "shown", "total", "total_is_complete"],
            "additionalProperties": false}},
          "how_to_narrow": {"type": "string"}},
        "required": ["tables", "how_to_narrow"], "additionalProperties": false},
      "next": {"type": "array", "description": "calls that answer the next sensible questions",
        "items": {
          "type": "object",
          "properties": {"tool": {"type": "string"}, "arguments": {"type": "object"},
                         "question": {"type": "string"}},
          "required": ["tool", "arguments", "question"], "additionalProperties": false}}},
    "required": ["summary", "tables", "coverage", "caveats", "evidence", "truncated", "next"],
    "additionalProperties": false})");
  return schema;
}

void AnswerTable::add_row(Json cells) {
  rows.push_back(std::move(cells));
  ++total_rows;
}

void name_units(AnswerTable& table) {
  constexpr std::array<std::string_view, 5> kUnits = {"ms", "us", "ns", "bytes", "share"};
  for (AnswerColumn& column : table.columns) {
    if (!column.unit.empty()) continue;
    const std::string_view name = column.name;
    for (const std::string_view unit : kUnits) {
      const bool is_last = name.ends_with(unit) && (name.size() == unit.size() ||
                                                    name[name.size() - unit.size() - 1] == '_');
      if (!is_last) continue;
      column.unit = unit == "bytes" ? "B" : unit == "share" ? "fraction" : unit;
    }
  }
}

std::string in_link(std::string_view text) {
  std::string link;
  for (const char c : text) {
    if (is_identifier(c) || c == '-' || c == '.') {
      link += c;
    } else {
      link += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return link;
}

AskedTable ask(query::Database& database, std::string title, std::string_view sql,
               const mcp::Call& call, const AskOptions& options) {
  AskedTable asked;
  asked.table.title = std::move(title);
  RowCollector rows(asked.table);
  query::Limits limits;
  limits.rows = options.rows;
  limits.bytes = uint64_t{2} * mcp::kLongestResult;
  limits.time = options.time;
  limits.cancelled = &call.cancelled();
  asked.answer = needed(database.ask({sql, options.parameters, limits}, rows));
  asked.table.total_rows = asked.answer.total;
  asked.table.total_is_complete = asked.answer.total_is_complete;
  if (options.is_own) name_units(asked.table);
  return asked;
}

AnswerTable ask_if_known(query::Database& database, std::string title, std::string_view sql,
                         const mcp::Call& call, const AskOptions& options) {
  auto asked = attempt([&] { return ask(database, title, sql, call, options); });
  if (asked) return std::move(asked->table);
  if (asked.error().kind != ErrorKind::input) throw Failure(asked.error());
  AnswerTable none;
  none.title = std::move(title);
  return none;
}

void AnswerBuilder::add(AnswerTable table, bool all_columns) {
  if (table.rows.empty() && !all_columns) return;
  link_rows(table);
  if (!all_columns) drop_empty_columns(table);
  tables_.push_back(std::move(table));
}

void AnswerBuilder::caveat(const std::string& text) {
  if (text.empty() || std::ranges::find(caveats_, text) != caveats_.end()) return;
  if (caveats_.size() < kMostCaveats) caveats_.push_back(cut(text, kLongestCell / 2));
}

void AnswerBuilder::evidence(std::string_view run, std::string what, std::string link) {
  const auto known = std::ranges::find(runs_, run, &ServedRuns::Known::name);
  if (known == runs_.end() || evidence_.size() == kMostEvidence) return;
  for (const Json& each : evidence_) {
    if (each["link"] == Json(link) && each["run"] == Json(run)) return;
  }
  evidence_.push_back({{"run", run},
                       {"what", std::move(what)},
                       {"link", std::move(link)},
                       {"has_page", ServedRuns::has_page(*known)}});
}

void AnswerBuilder::next(std::string_view tool, Json arguments, std::string_view question) {
  next_.push_back({{"tool", tool}, {"arguments", std::move(arguments)}, {"question", question}});
}

void AnswerBuilder::link_rows(const AnswerTable& table) {
  size_t linked = 0;
  for (const Json& row : table.rows) {
    if (linked++ == kMostLinkedRows) break;
    const Json& named = cell(table, row, "run");
    if (!named.is_string() && runs_.size() != 1) return;
    const std::string run = named.is_string() ? named.get<std::string>() : runs_.front().name;
    const auto whole = [&](std::string_view column) { return cell(table, row, column); };
    if (const Json step = whole("step"); step.is_number_integer()) {
      evidence(run, fmt::format("step {}", mcp::to_line(step)),
               fmt::format("#steps?step={}", mcp::to_line(step)));
    }
    if (const Json request = whole("request"); request.is_number_integer()) {
      const Json chunk = whole("chunk");
      evidence(run, fmt::format("request {}", mcp::to_line(request)),
               fmt::format("#requests?request={}{}", mcp::to_line(request),
                           chunk.is_number_integer() ? "&chunk=" + mcp::to_line(chunk) : ""));
    }
    const Json start = whole("start_ns");
    const Json length = whole("duration_ns");
    if (start.is_number_integer() && length.is_number_integer()) {
      const auto from = start.get<int64_t>();
      const auto lasts = std::max<int64_t>(length.get<int64_t>(), 1);
      if (from <= INT64_MAX - lasts) {
        evidence(run, "timeline", fmt::format("#timeline?span={},{}", from, from + lasts));
      }
    }
    if (const Json kernel = whole("short_name"); kernel.is_string()) {
      const auto name = kernel.get<std::string>();
      evidence(run, "kernel " + cut(name, kLongestName), "#kernels?q=" + in_link(name));
    }
    if (const Json finding = whole("finding"); finding.is_number_integer()) {
      evidence(run, fmt::format("finding {}", mcp::to_line(finding)), "#overview");
    }
  }
}

void AnswerBuilder::add_coverage(query::Database& database) {
  class NeverCancelled final : public mcp::Call {
   public:
    void report(std::string_view /*what*/) override {}
    [[nodiscard]] const std::atomic<bool>& cancelled() const override { return never_; }

   private:
    std::atomic<bool> never_ = false;
  };
  const NeverCancelled call;
  const AnswerTable runs =
      ask(database, "",
          "SELECT run, totals_source AS kernel_times, coverage_kernel_sum_share AS "
          "share_of_kernel_time_in_stages, totals_hidden_graphs_share_of_gpu_time AS "
          "share_of_gpu_time_in_unrecorded_graphs, stages_found_confidence AS "
          "confidence_of_detected_stages FROM runs",
          call)
          .table;
  for (const Json& row : runs.rows) {
    Json covered = Json::object();
    for (size_t i = 0; i < runs.columns.size(); ++i) {
      if (!row[i].is_null()) covered[runs.columns[i].name] = row[i];
    }
    coverage_.push_back(std::move(covered));
  }
  const AnswerTable traced =
      ask(database, "",
          "SELECT run, group_concat(name, ' and ') FROM stages WHERE shown_without_tracing = 0 "
          "GROUP BY run",
          call)
          .table;
  for (const Json& row : traced.rows) caveat_of(row[0], traced_caveat(row[1].get<std::string>()));
  const AnswerTable detected =
      ask(database, "",
          "SELECT run, stages_found_confidence FROM runs WHERE EXISTS (SELECT 1 FROM stages s "
          "WHERE s.run = runs.run AND s.source = 'detected') AND stages_found_confidence IS NOT "
          "NULL",
          call)
          .table;
  for (const Json& row : detected.rows) {
    caveat_of(row[0], fmt::format("Stages were detected in the kernel sequence, not marked by the "
                                  "program: a guess, with a confidence of {:.0f} %.",
                                  100 * row[1].get<double>()));
  }
  const AnswerTable defects =
      ask(database, "",
          "SELECT run, message, count FROM diagnostics WHERE severity <> 'info' "
          "ORDER BY severity = 'error' DESC, run",
          call)
          .table;
  for (const Json& row : defects.rows) {
    const std::string count =
        row[2].is_number() && row[2] != Json(1) ? mcp::to_line(row[2]) + " " : "";
    caveat_of(row[0], count + row[1].get<std::string>());
  }
}

void AnswerBuilder::caveat_of(const std::string& run, const std::string& text) {
  caveat(runs_.size() > 1 ? run + ": " + text : text);
}

void AnswerBuilder::add_coverage(const std::string& run, const profile::Profile& profile) {
  Json covered = {{"run", run}, {"kernel_times", to_string(profile.totals.source)}};
  if (profile.coverage && profile.coverage->kernel_sum_share) {
    covered["share_of_kernel_time_in_stages"] = profile.coverage->kernel_sum_share->value;
  }
  coverage_.push_back(std::move(covered));
  for (const Diagnostic& each : profile.diagnostics) {
    if (each.severity == Severity::info) continue;
    caveat_of(run, (each.count == 1 ? "" : fmt::format("{} ", each.count)) + each.message);
  }
}

void AnswerBuilder::hide_texts() {
  HiddenTexts texts(served_.options().show_paths);
  summary_ = texts.hidden(summary_);
  how_to_narrow_ = texts.hidden(how_to_narrow_);
  for (std::string& caveat : caveats_) caveat = texts.hidden(caveat);
  for (Json* const value : {&coverage_, &evidence_, &next_}) texts.hide_in(*value);
  for (AnswerTable& table : tables_) {
    table.title = texts.hidden(table.title);
    texts.hide_in(table.rows);
    for (AnswerColumn& column : table.columns) column.name = texts.hidden(column.name);
  }
}

mcp::ToolResult AnswerBuilder::finish() && {
  if (std::ranges::any_of(evidence_, [](const Json& each) { return each["has_page"] == false; })) {
    caveat(
        "A run without report.html has no page for its evidence; `llmprof analyze CAPTURE --out "
        "RUN` writes one.");
  }
  hide_texts();
  const auto build = [&] {
    Json tables = Json::array();
    Json cut_tables = Json::array();
    for (const AnswerTable& table : tables_) {
      tables.push_back(json_of(table, table.columns.size() <= kMostMeanings));
      if (table.rows.size() >= table.total_rows && table.total_is_complete) continue;
      cut_tables.push_back({{"title", table.title},
                            {"shown", table.rows.size()},
                            {"total", table.total_rows},
                            {"total_is_complete", table.total_is_complete}});
    }
    Json truncated;
    if (!cut_tables.empty()) {
      truncated = {{"tables", std::move(cut_tables)}, {"how_to_narrow", how_to_narrow_}};
    }
    return Json{{"summary", summary_},   {"tables", std::move(tables)},
                {"coverage", coverage_}, {"caveats", caveats_},
                {"evidence", evidence_}, {"truncated", std::move(truncated)},
                {"next", next_}};
  };
  for (;;) {
    Json answer = build();
    const size_t bytes = bytes_sent(answer);
    if (bytes + kRoomForResponse <= mcp::kLongestResult) return {std::move(answer), ""};
    // The table with the most bytes loses the rows that are too many, and some for safety.
    AnswerTable* longest = nullptr;
    size_t most = 0;
    for (AnswerTable& table : tables_) {
      const size_t own = table.rows.empty() ? 0 : bytes_sent(table.rows);
      if (own > most) {
        most = own;
        longest = &table;
      }
    }
    if (longest == nullptr) {
      return mcp::ToolResult::failed(
          "the answer is too long without any row; select fewer columns, or shorter names");
    }
    const size_t rows = longest->rows.size();
    const size_t excess = bytes + kRoomForResponse - mcp::kLongestResult;
    const size_t kept = excess >= most ? 0 : rows * (most - excess) / most;
    longest->rows.erase(longest->rows.begin() + static_cast<ptrdiff_t>(std::min(kept, rows - 1)),
                        longest->rows.end());
  }
}

}  // namespace llmprof::agents
