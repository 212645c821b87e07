#include <fmt/format.h>

#include <algorithm>

#include "agents/tools.h"
#include "base/needed.h"
#include "base/text.h"
#include "session/query/recipes.h"

namespace llmprof::agents {
namespace {

// Parts of an explanation, each a statement about `:id`; the first one decides whether there is
// such a thing. A statement that begins with '@' is a recipe's, whose variable `step` is the id.
struct ExplainedPart {
  std::string_view title;
  std::string_view sql;
};
struct ExplainedKind {
  std::string_view kind;
  bool by_number;         // the id is an index
  std::string_view none;  // which ids there are
  std::vector<ExplainedPart> parts;
};

const std::vector<ExplainedKind>& explained_kinds() {
  static const std::vector<ExplainedKind> kinds = {
      {"finding",
       true,
       "SELECT finding || ' (' || kind || coalesce(' in ' || stage, '') || ')' FROM findings",
       {{"finding", "SELECT * FROM findings WHERE finding = :id"},
        {"numbers behind it",
         "SELECT name, value, unit, text FROM finding_values "
         "WHERE finding = :id"},
        {"where the time of its stage goes, per instance",
         "SELECT b.stage, b.part, b.ms, b.share, b.idle FROM stage_budget b "
         "JOIN findings f ON f.run = b.run AND f.stage = b.stage WHERE f.finding = :id "
         "ORDER BY b.ms DESC LIMIT 8"},
        {"slowest steps of its stage",
         "SELECT s.step, s.stage, s.wall_ms, s.above_median_ms FROM slow_steps s "
         "JOIN findings f ON f.run = s.run AND f.stage = s.stage WHERE f.finding = :id "
         "ORDER BY s.above_median_ms DESC LIMIT 5"},
        {"longest idle gaps of its stage",
         "SELECT g.step, g.stage, g.ms, g.cause, g.work_before, g.work_after, g.host FROM gaps g "
         "JOIN findings f ON f.run = g.run AND f.stage = g.stage WHERE f.finding = :id "
         "ORDER BY g.ms DESC LIMIT 5"}}},
      {"stage",
       false,
       "SELECT name FROM stages",
       {{"stage",
         "SELECT name AS stage, source, evidence, instance_count, warmup_count, step_count, "
         "shown_wall_ms_mean, shown_wall_ms_std, shown_wall_ms_per_step, shown_idle_ms, "
         "shown_idle_share_of_wall, shown_mfu_wall, shown_mbu_wall, shown_bound, shown_floor_ms, "
         "shown_wall_over_floor, unwatched_source, unwatched_added_by_tracing_ms, why_not "
         "FROM stages WHERE name = :id"},
        {"where its time goes, per instance; parts sum to the wall time",
         "SELECT stage, part, ms, share, idle FROM stage_budget WHERE stage = :id "
         "ORDER BY ms DESC"},
        {"time above lower bounds",
         "SELECT stage, part, ms, floor_ms, recoverable_ms, floor_rule FROM savings "
         "WHERE stage = :id AND shown = 1 ORDER BY recoverable_ms DESC LIMIT 10"},
        {"longest kernels in it",
         "SELECT short_name, calls, total_ms, mean_ms, share FROM kernel_stages "
         "WHERE stage = :id ORDER BY total_ms DESC LIMIT 10"},
        {"slowest steps",
         "SELECT step, stage, wall_ms, above_median_ms FROM slow_steps "
         "WHERE stage = :id ORDER BY above_median_ms DESC LIMIT 5"},
        {"longest idle gaps",
         "SELECT step, stage, ms, cause, work_before, work_after, host FROM gaps "
         "WHERE stage = :id ORDER BY ms DESC LIMIT 5"},
        {"findings",
         "SELECT finding, kind, title, recoverable_ms, unit FROM findings "
         "WHERE stage = :id"}}},
      {"step",
       true,
       "SELECT min(step) || ' to ' || max(step) FROM steps",
       {{"step", "SELECT * FROM steps WHERE step = :id"},
        {"its stage without warm-up: wall time per step",
         "SELECT name AS stage, step_wall_ms_p50, step_wall_ms_mean, step_wall_ms_p99, "
         "step_wall_ms_max, step_wall_ms_count FROM stages "
         "WHERE name = (SELECT stage FROM steps WHERE step = :id)"},
        {"why it is longer than the median step",
         "SELECT what, longer_ms FROM slow_step_reasons WHERE step = :id ORDER BY longer_ms DESC"},
        {"kernel time by class against the other steps of its stage", "@why_is_a_step_slow"},
        {"its idle gaps among the longest of the stage",
         "SELECT ms, cause, between_steps, work_before, work_after, host FROM gaps "
         "WHERE step = :id ORDER BY ms DESC"},
        {"batches of requests that it belongs to",
         "SELECT batch, rows, joined, prompt_tokens, context_tokens FROM request_batches "
         "WHERE first_step <= :id AND first_step + steps > :id"}}},
      {"kernel",
       false,
       "SELECT short_name FROM kernel_totals ORDER BY total_ms DESC LIMIT 12",
       {{"kernel",
         "SELECT short_name, kernel_name, class, library, device, calls, total_ms, mean_ms, "
         "p50_ms, "
         "p99_ms, max_ms, share, flops, bytes FROM kernel_totals "
         "WHERE short_name = :id OR kernel_name = :id OR key = :id ORDER BY total_ms DESC"},
        {"in which stages it runs",
         "SELECT stage, device, calls, total_ms, mean_ms, share FROM kernel_stages "
         "WHERE short_name = :id OR kernel_name = :id ORDER BY total_ms DESC"},
        {"its launch shapes",
         "SELECT grid, block, calls, total_ms, mean_ms FROM kernel_shapes "
         "WHERE short_name = :id OR kernel_name = :id ORDER BY total_ms DESC LIMIT 10"},
        {"what bounds it",
         "SELECT device, bound, compute_share_of_peak, memory_share_of_peak, flops_per_byte, "
         "source, why_no_flops FROM roofline WHERE short_name = :id OR kernel_name = :id"},
        {"time above its lower bound",
         "SELECT stage, device, ms, floor_ms, floor_rule, recoverable_ms FROM kernel_savings "
         "WHERE short_name = :id"},
        {"what Nsight Compute measured",
         "SELECT metric, mean, min, max, count, unit FROM kernel_metrics "
         "WHERE short_name = :id OR kernel_name = :id LIMIT 40"}}},
      {"request",
       false,
       "SELECT id FROM requests LIMIT 12",
       {{"request", "SELECT * FROM requests WHERE id = :id OR request = :number"},
        {"where its time went; parts sum to e2e_ns",
         "SELECT part, ns FROM request_parts WHERE request = :number ORDER BY ns DESC"},
        {"time to its first token; parts sum to ttft_ns",
         "SELECT part, ns FROM request_ttft_parts WHERE request = :number ORDER BY ns DESC"},
        {"its gaps among the longest of all requests",
         "SELECT request, chunk, start_ms, ns, step, most_delayed_by FROM request_gaps "
         "WHERE request = :number ORDER BY ns DESC LIMIT 10"},
        {"requests whose prompt it waited for",
         "SELECT \"by\" AS by_request, ns, of_first_token_ns, gaps FROM request_delays "
         "WHERE \"of\" = :id ORDER BY ns + of_first_token_ns DESC LIMIT 10"},
        {"all requests, to compare",
         "SELECT completed, ttft_ms_p50, ttft_ms_p99, itl_ms_p50, itl_ms_p99, e2e_ms_p50, "
         "e2e_ms_p99 FROM request_totals"}}},
      {"rank",
       true,
       "SELECT min(rank) || ' to ' || max(rank) FROM ranks",
       {{"rank",
         "SELECT rank, local_rank, host, device, gpu, state, state_detail FROM ranks "
         "WHERE rank = :id"},
        {"where its time went per step of the job",
         "SELECT stage, wall_ms, compute_ms, transfer_ms, wait_ms, copies_ms, idle_ms, "
         "caused_wait_ms FROM rank_times WHERE rank = :id"},
        {"all ranks: who waits, and who is waited for",
         "SELECT rank, stage, wait_ms, caused_wait_ms FROM rank_times "
         "ORDER BY caused_wait_ms DESC LIMIT 16"},
        {"why others wait for it",
         "SELECT stage, cause, wait_ms_per_step, share_of_step FROM stragglers "
         "WHERE rank = :id"}}}};
  return kinds;
}

// By the name or the index that an id gives.
query::Parameters parameters_for(const ExplainedKind& kind, const Json& id,
                                 query::Database& database, const mcp::Call& call) {
  const auto number = id.is_number_integer() ? std::optional(id.get<int64_t>())
                                             : parse_int(id.get_ref<const std::string&>());
  if (kind.by_number) {
    if (!number) give_up(ErrorKind::usage, fmt::format("the id of a {} is a number", kind.kind));
    return {{"id", *number}, {"number", *number}};
  }
  const std::string text = id.is_string() ? id.get<std::string>() : fmt::format("{}", *number);
  query::Parameters parameters = {{"id", text}, {"number", number.value_or(-1)}};
  if (kind.kind == "request") {
    // An id may look like an index; the file's own ids come first.
    const AnswerTable found =
        ask(database, "",
            "SELECT request, id FROM requests WHERE id = :id OR request = :number "
            "ORDER BY id = :id DESC LIMIT 1",
            call, {.parameters = parameters})
            .table;
    if (!found.rows.empty()) {
      parameters["number"] = found.rows[0][0].get<int64_t>();
      parameters["id"] = found.rows[0][1].get<std::string>();
    }
  }
  return parameters;
}

[[noreturn]] void refuse_id(const ExplainedKind& kind, const Json& id, query::Database& database,
                            const mcp::Call& call) {
  const AnswerTable known =
      ask(database, "", kind.none, call, {.parameters = {}, .rows = 200}).table;
  std::vector<std::string> texts;
  for (const Json& row : known.rows) {
    if (row[0].is_string()) texts.push_back(row[0].get<std::string>());
  }
  const std::vector<std::string_view> names(texts.begin(), texts.end());
  const std::string wanted = id.is_string() ? id.get<std::string>() : mcp::to_line(id);
  const auto close = nearest(wanted, names);
  std::string list;
  for (size_t i = 0; i < std::min<size_t>(texts.size(), 12); ++i) {
    list += (list.empty() ? "" : "; ") + shortened(texts[i], 120);
  }
  give_up(ErrorKind::usage,
          fmt::format("there is no {} {}{}", kind.kind, to_printable(shortened(wanted, 200)),
                      close          ? fmt::format("; did you mean {}?", *close)
                      : list.empty() ? "; this run has none"
                                     : "; there are: " + list));
}

std::string statement_of(const ServedRuns& served, std::string_view sql) {
  if (!sql.starts_with('@')) return std::string(sql);
  const auto recipes = needed(session::load_recipes(served.options().config_folder));
  return needed(session::find_recipe(recipes, sql.substr(1), {})).sql;
}

void suggest(const ExplainedKind& kind, const query::Parameters& parameters, const std::string& run,
             AnswerBuilder& answer) {
  const auto id = [&] {
    return std::visit([](const auto& value) { return Json(value); }, parameters.at("id"));
  };
  if (kind.kind == "finding") {
    answer.next("query", {{"recipe", "where_time_goes"}, {"run", run}},
                "Where does the time of each stage go?");
  } else if (kind.kind == "stage") {
    answer.next("query",
                {{"recipe", "slowest_steps"}, {"parameters", {{"stage", id()}}}, {"run", run}},
                "Which of its steps take longest?");
  } else if (kind.kind == "step") {
    answer.next("slice", {{"step", id()}, {"run", run}}, "What ran in this step, in order?");
  } else if (kind.kind == "kernel") {
    answer.next(
        "query",
        {{"recipe", "kernels_by_grid"}, {"parameters", {{"short_name", id()}}}, {"run", run}},
        "With which grids is it launched?");
  } else if (kind.kind == "request") {
    answer.next("query", {{"recipe", "who_delays_whom"}, {"run", run}},
                "Whose prompts do others wait for?");
  } else {
    answer.next("query", {{"recipe", "expensive_collectives"}, {"run", run}},
                "Which collectives cost most?");
  }
}

mcp::ToolResult explain(ServedRuns& served, const Json& arguments, const mcp::Call& call) {
  const auto run = one_run(served, arguments);
  const Json& id = arguments["id"];
  const auto& kinds = explained_kinds();
  const auto kind =
      std::ranges::find(kinds, arguments["kind"].get<std::string>(), &ExplainedKind::kind);
  query::Database& database = served.open({&run, 1});
  AnswerBuilder answer(served, {run});
  const query::Parameters parameters = parameters_for(*kind, id, database, call);
  bool is_first = true;
  for (const auto& [title, sql] : kind->parts) {
    query::Parameters own = parameters;
    if (sql.starts_with('@')) own = {{"step", parameters.at("number")}};
    AskOptions options{.parameters = own, .rows = 40};
    // What the first part lacks, the run cannot explain at all.
    AnswerTable table = is_first ? ask(database, std::string(title), sql, call, options).table
                                 : ask_if_known(database, std::string(title),
                                                statement_of(served, sql), call, options);
    if (is_first && table.rows.empty()) refuse_id(*kind, id, database, call);
    is_first = false;
    answer.add(std::move(table));
  }
  answer.add_coverage(database);
  answer.say(fmt::format("The {} and what explains it, as the analysis found it.", kind->kind));
  suggest(*kind, parameters, run.name, answer);
  return std::move(answer).finish();
}

}  // namespace

mcp::Tool explain_tool(ServedRuns& served) {
  const std::string properties = fmt::format(
      R"("kind": {{"type": "string", "enum": ["finding", "stage", "step", "kernel", "request", "rank"]}},
      "id": {{"type": ["string", "integer"], "maxLength": 10000,
        "description": "finding, step, rank: its number; stage: its name; kernel: its short or full name; request: its id or number"}},
      {})",
      kOneRun);
  return make_tool(served,
                   {"explain", "Explain one thing",
                    "What the analysis knows about one finding, stage, step, kernel, request or "
                    "rank: its figures, why it is slow, and what it is compared with."},
                   properties, {"kind", "id"}, [&served](const Json& arguments, mcp::Call& call) {
                     return explain(served, arguments, call);
                   });
}

}  // namespace llmprof::agents
