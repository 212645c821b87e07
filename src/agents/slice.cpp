#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "agents/tools.h"
#include "base/needed.h"
#include "base/units.h"

namespace llmprof::agents {
namespace {

constexpr int64_t kUsualEvents = 60;
constexpr int64_t kAllRanks = -1;

struct Span {
  int64_t from_ns = 0;
  int64_t to_ns = 0;
};

int64_t ns_of_ms(double ms) {
  constexpr double kNsPerMs = 1e6;
  const double ns = std::round(ms * kNsPerMs);
  if (std::abs(ns) > 9e18) give_up(ErrorKind::usage, "the time is out of range");
  return static_cast<int64_t>(ns);
}

// One row of a start and a length in ms.
Span span_in(query::Database& database, std::string_view sql, const query::Parameters& parameters,
             std::string_view what, const mcp::Call& call) {
  const AnswerTable found = ask(database, "", sql, call, {.parameters = parameters}).table;
  if (found.rows.empty() || !found.rows[0][0].is_number() || !found.rows[0][1].is_number()) {
    give_up(ErrorKind::usage, fmt::format("there is no such {} with known times", what));
  }
  const auto from = ns_of_ms(found.rows[0][0].get<double>());
  return {from, from + ns_of_ms(found.rows[0][1].get<double>())};
}

Span span_of(query::Database& database, const Json& arguments, int64_t rank,
             const mcp::Call& call) {
  const Json& from = mcp::member(arguments, "from_ms");
  const Json& to = mcp::member(arguments, "to_ms");
  const Json& step = mcp::member(arguments, "step");
  const Json& request = mcp::member(arguments, "request");
  const int ways = (from.is_null() && to.is_null() ? 0 : 1) + (step.is_null() ? 0 : 1) +
                   (request.is_null() ? 0 : 1);
  if (ways != 1 || from.is_null() != to.is_null()) {
    give_up(ErrorKind::usage, "give from_ms and to_ms, or a step, or a request");
  }
  if (step.is_number()) {
    const auto id = step.get<int64_t>();
    if (rank == kAllRanks) {
      return span_in(database, "SELECT start_ms, wall_ms FROM steps WHERE step = :id", {{"id", id}},
                     "step", call);
    }
    return span_in(database,
                   "SELECT start_ms, wall_ms FROM rank_steps WHERE step = :id AND rank = :rank",
                   {{"id", id}, {"rank", rank}}, "step of this rank", call);
  }
  if (request.is_number()) {
    return span_in(database, "SELECT sent_ms, e2e_ns / 1e6 FROM requests WHERE request = :id",
                   {{"id", request.get<int64_t>()}}, "request", call);
  }
  const Span span{ns_of_ms(from.get<double>()), ns_of_ms(to.get<double>())};
  if (span.to_ns <= span.from_ns) give_up(ErrorKind::usage, "to_ms must be after from_ms");
  return span;
}

mcp::ToolResult slice(ServedRuns& served, const Json& arguments, const mcp::Call& call) {
  const auto run = one_run(served, arguments);
  query::Database& database = served.open({&run, 1});
  const int64_t rank = whole_or(arguments, "rank", kAllRanks);
  const Span span = span_of(database, arguments, rank, call);
  const auto events = static_cast<uint64_t>(whole_or(arguments, "limit", kUsualEvents));
  const query::Parameters parameters = {{"from", span.from_ns}, {"to", span.to_ns}, {"rank", rank}};
  AnswerBuilder answer(served, {run});
  const auto add = [&](std::string_view title, std::string_view sql, uint64_t rows) {
    answer.add(ask_if_known(database, std::string(title), sql, call,
                            {.parameters = parameters, .rows = rows}));
  };
  add("GPU work in it; busy time counts overlapping work once",
      "SELECT device, count(*) AS kernels, "
      "interval_union(max(start_ns, :from), min(end_ns, :to)) / 1e6 AS busy_ms, "
      "sum(overlap(start_ns, end_ns, :from, :to)) / 1e6 AS kernel_ms, "
      "(:to - :from) / 1e6 AS span_ms FROM kernels "
      "WHERE start_ns < :to AND end_ns > :from AND (:rank < 0 OR rank = :rank) GROUP BY device",
      16);
  add("kernel time by class",
      "SELECT class, count(*) AS kernels, "
      "sum(overlap(start_ns, end_ns, :from, :to)) / 1e6 AS kernel_ms FROM kernels "
      "WHERE start_ns < :to AND end_ns > :from AND (:rank < 0 OR rank = :rank) GROUP BY class "
      "ORDER BY kernel_ms DESC",
      20);
  add("longest kernels",
      "SELECT short_name, count(*) AS launches, "
      "sum(overlap(start_ns, end_ns, :from, :to)) / 1e6 AS kernel_ms FROM kernels "
      "WHERE start_ns < :to AND end_ns > :from AND (:rank < 0 OR rank = :rank) GROUP BY short_name "
      "ORDER BY kernel_ms DESC "
      "LIMIT 10",
      10);
  add("copies and fills",
      "SELECT kind, direction, count(*) AS operations, sum(bytes) AS bytes, "
      "sum(overlap(start_ns, end_ns, :from, :to)) / 1e6 AS ms FROM memory_ops "
      "WHERE start_ns < :to AND end_ns > :from AND (:rank < 0 OR rank = :rank) GROUP BY kind, "
      "direction ORDER BY ms DESC",
      20);
  add("ranges around and in it, longest first",
      "SELECT text, kind, start_ns, duration_ns, tid FROM ranges "
      "WHERE start_ns < :to AND (end_ns > :from OR end_ns IS NULL) "
      "AND (:rank < 0 OR rank = :rank) ORDER BY duration_ns DESC",
      15);
  add("kernels in order of their start",
      "SELECT start_ns, duration_ns, short_name, class, stage, step, layer, stream, device "
      "FROM kernels WHERE start_ns < :to AND end_ns > :from AND (:rank < 0 OR rank = :rank) ORDER "
      "BY start_ns",
      events);
  const bool is_job =
      !ask_if_known(database, "", "SELECT 1 AS one FROM job", call, {}).rows.empty();
  if (is_job && rank == kAllRanks) {
    answer.caveat(
        "Each rank of a job has its own clock, so this mixes times of all ranks: give a "
        "`rank`. Steps of a rank are those of rank_steps.");
  }
  answer.add_coverage(database);
  answer.evidence(run.name, "this part of the timeline",
                  fmt::format("#timeline?span={},{}", span.from_ns, span.to_ns));
  answer.say(fmt::format("{:.6f} to {:.6f} ms on the capture's clock.",
                         static_cast<double>(span.from_ns) / 1e6,
                         static_cast<double>(span.to_ns) / 1e6));
  answer.narrow_by("a shorter time range, or `limit`");
  answer.next("query", {{"recipe", "gpu_busy_over_time"}, {"run", run.name}},
              "How busy was the GPU over the whole capture?");
  return std::move(answer).finish();
}

}  // namespace

mcp::Tool slice_tool(ServedRuns& served) {
  const std::string properties = fmt::format(
      R"("from_ms": {{"type": "number", "description": "start, on the capture's clock: as start_ms of steps, start_ns / 1e6 of kernels"}},
      "to_ms": {{"type": "number", "description": "end"}},
      "step": {{"type": "integer", "minimum": 0, "description": "instead: the time of this step"}},
      "request": {{"type": "integer", "minimum": 0, "description": "instead: the time of this request, by its number"}},
      "rank": {{"type": "integer", "minimum": 0, "description": "of a job: only this rank, on its own clock"}},
      "limit": {{"type": "integer", "minimum": 1, "maximum": 300, "description": "largest number of single kernels [{}]"}},
      {})",
      kUsualEvents, kOneRun);
  return make_tool(served,
                   {"slice", "A part of the timeline",
                    "What ran in a time range, a step or during a request: busy time, kernel time "
                    "by class and name, copies, ranges of the program, and the first kernels in "
                    "order."},
                   properties, {}, [&served](const Json& arguments, mcp::Call& call) {
                     return slice(served, arguments, call);
                   });
}

}  // namespace llmprof::agents
