#include <fmt/format.h>
#include <fmt/ranges.h>

#include "agents/tools.h"
#include "base/text.h"

namespace llmprof::agents {
namespace {

struct OverviewTable {
  std::string_view title;
  std::string_view sql;
  uint64_t rows;
};

constexpr OverviewTable kOverview[] = {
    {"runs",
     "SELECT run, engine_name AS engine, model_name AS model, workload_batch AS batch, "
     "workload_prompt_tokens AS prompt_tokens, workload_new_tokens AS new_tokens, "
     "totals_gpu_count AS gpus, totals_kernel_count AS kernels, totals_kernel_sum_ms, "
     "totals_gpu_busy_ms, totals_span_ms, "
     "token_times_shown_time_to_first_token_ms_mean AS time_to_first_token_ms, "
     "token_times_shown_time_per_output_token_ms_mean AS time_per_output_token_ms, "
     "token_times_shown_tokens_per_s AS tokens_per_s, stages_found_reason FROM runs",
     50},
    {"stages: time, and how far from the hardware's limit",
     "SELECT run, name AS stage, source, instance_count, warmup_count, step_count, "
     "shown_wall_ms_mean, shown_wall_ms_per_step, shown_share_of_stage_time, "
     "shown_idle_share_of_wall, shown_mfu_wall, shown_mbu_wall, shown_floor_ms, "
     "shown_wall_over_floor, shown_bound FROM stages ORDER BY run, "
     "shown_share_of_stage_time DESC",
     40},
    {"findings: what to fix first",
     "SELECT run, finding, stage, kind, title, recoverable_ms, unit, share_of_wall, evidence, "
     "advice FROM findings ORDER BY run, finding",
     12},
    {"requests of a client",
     "SELECT run, source, completed, failed, ttft_ms_mean, ttft_ms_p99, itl_ms_mean, itl_ms_p99, "
     "e2e_ms_mean, queue_ms_mean, load_output_tokens_per_s, join_state, join_coverage "
     "FROM request_totals",
     20},
    {"ranks that others wait for",
     "SELECT run, rank, stage, cause, wait_ms_per_step, share_of_step FROM stragglers", 10},
    {"GPUs",
     "SELECT d.run, d.device, d.name, t.busy_share_of_span, t.idle_share_of_span, "
     "t.communication_ms, t.copies_ms FROM devices d LEFT JOIN device_time t "
     "ON t.run = d.run AND t.device = d.device",
     16},
};

// Paths and commands, which the tables leave out.
AnswerTable places_of(const ServedRuns& served, const std::vector<ServedRuns::Known>& runs) {
  AnswerTable places;
  places.title = "paths and commands";
  places.columns = {{"run", "text", "", ""},
                    {"path", "text", "", "folder or file of the run"},
                    {"command", "text", "", "command of the run"},
                    {"captures", "text", "", "paths of its captures"}};
  for (size_t i = 0; i < runs.size(); ++i) {
    const auto& [command, captures] = served.places()[i];
    places.add_row({runs[i].name, runs[i].path.string(), command ? Json(*command) : Json(nullptr),
                    fmt::format("{}", fmt::join(captures, ", "))});
  }
  return places;
}

mcp::ToolResult list_runs(const ServedRuns& served, const std::vector<ServedRuns::Known>& runs) {
  AnswerBuilder answer(served, runs);
  AnswerTable table;
  table.title = "runs";
  table.columns = {{"run", "text", "", "name for the argument `run`"}};
  for (const auto& run : runs) table.add_row({run.name});
  answer.add(std::move(table), true);
  answer.say(runs.empty() ? "There are no runs yet in the folders that llmprof was started with."
                          : fmt::format("There are {}. Name those that you ask about.",
                                        counted(runs.size(), "run")));
  if (runs.empty()) {
    answer.next("how_to_record", Json::object(), "How is a run recorded?");
  } else {
    answer.next("overview", {{"run", runs.front().name}}, "What does this run show?");
  }
  if (runs.size() > 1) {
    answer.next("compare", {{"base", runs[0].name}, {"new", runs[1].name}},
                "Do two of them differ beyond the noise?");
  }
  return std::move(answer).finish();
}

mcp::ToolResult overview(ServedRuns& served, const Json& arguments, const mcp::Call& call) {
  const Json& wanted = mcp::member(arguments, "run");
  const auto all =
      served.known(wanted.is_null() ? ServedRuns::Search::now : ServedRuns::Search::recent);
  if (wanted.is_null() && all.size() != 1) return list_runs(served, all);
  const auto runs = served.wanted(wanted);
  query::Database& database = served.open(runs);
  AnswerBuilder answer(served, runs);
  std::string slowest;
  bool has_findings = false;
  bool has_requests = false;
  for (const auto& [title, sql, rows] : kOverview) {
    AnswerTable table =
        ask_if_known(database, std::string(title), sql, call, {.parameters = {}, .rows = rows});
    if (title.starts_with("stages") && !table.rows.empty()) slowest = table.rows[0][1];
    has_findings = has_findings || (title.starts_with("findings") && !table.rows.empty());
    has_requests = has_requests || (title.starts_with("requests") && !table.rows.empty());
    answer.add(std::move(table));
  }
  if (served.options().show_paths) answer.add(places_of(served, runs));
  answer.add_coverage(database);
  answer.say(slowest.empty() ? "No stages were found in this run; kernels can be asked by `query`."
                             : fmt::format("Most of the time is spent in {}.", slowest));
  answer.narrow_by("name one run");
  const std::string& run = runs.front().name;
  if (has_findings) {
    answer.next("explain", {{"kind", "finding"}, {"id", 0}, {"run", run}},
                "What is behind the largest finding?");
  }
  if (!slowest.empty()) {
    answer.next("explain", {{"kind", "stage"}, {"id", slowest}, {"run", run}},
                "Where does the time of this stage go?");
  }
  if (has_requests) {
    answer.next("query", {{"recipe", "slowest_requests"}, {"run", run}},
                "Which requests were slow?");
  }
  answer.next("describe", {{"run", run}}, "What else can be asked?");
  return std::move(answer).finish();
}

}  // namespace

mcp::Tool overview_tool(ServedRuns& served) {
  return make_tool(
      served,
      {"overview", "Overview of runs",
       "Start here. Without `run`: the only run, or the list of runs. With it: token times, stages "
       "with their distance to the hardware's limit, findings with advice, requests, GPUs, and "
       "what limits these figures."},
      kSeveralRuns, {}, [&served](const Json& arguments, mcp::Call& call) {
        return overview(served, arguments, call);
      });
}

}  // namespace llmprof::agents
