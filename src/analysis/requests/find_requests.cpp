#include "analysis/requests/find_requests.h"

#include <fmt/format.h>

#include "analysis/requests/client_requests.h"
#include "analysis/requests/client_tokens.h"
#include "analysis/requests/explain_requests.h"
#include "analysis/requests/request_items.h"
#include "analysis/requests/request_load.h"
#include "analysis/requests/stated_figures.h"

namespace llmprof::analysis {
namespace {

using profile::JoinState;

profile::RequestSource source_of(trace::RequestSource source) {
  switch (source) {
    case trace::RequestSource::llmprof:
      return profile::RequestSource::llmprof;
    case trace::RequestSource::vllm_bench:
      return profile::RequestSource::vllm_bench;
    case trace::RequestSource::sglang_bench:
      return profile::RequestSource::sglang_bench;
    case trace::RequestSource::sglang_server:
      return profile::RequestSource::sglang_server;
    case trace::RequestSource::aiperf:
      return profile::RequestSource::aiperf;
    case trace::RequestSource::guidellm:
      return profile::RequestSource::guidellm;
    case trace::RequestSource::genai_perf:
      return profile::RequestSource::genai_perf;
    case trace::RequestSource::vllm_spans:
      return profile::RequestSource::vllm_spans;
    case trace::RequestSource::sglang_spans:
      return profile::RequestSource::sglang_spans;
    case trace::RequestSource::transformers:
      return profile::RequestSource::transformers;
  }
  return profile::RequestSource::llmprof;
}

// Tokens that are none, or that the engine says are of other batches.
bool report_wrong_tokens(const std::string& file, const profile::RequestJoin& join,
                         Diagnostics& diagnostics) {
  if (is_too_much(join.tokens_miscounted, join.tokens)) {
    diagnostics.warn(
        "requests_miscounted",
        fmt::format("{}: {} of {} tokens are of requests whose chunks have more tokens than they "
                    "state: requests have statistics, but no causes; leave pieces without a token "
                    "out of `chunks`, or give them 0 tokens",
                    file, join.tokens_miscounted, join.tokens));
    return true;
  }
  const uint64_t contradicted = join.contradicted.value_or(0);
  const uint64_t stated = contradicted + join.confirmed.value_or(0);
  if (!is_too_much(contradicted, stated)) return false;
  diagnostics.warn("requests_contradicted",
                   fmt::format("{}: for {} of {} tokens, the engine's own ids or times name other "
                               "steps than the times of their arrival: requests have statistics, "
                               "but no causes; name the requests file of this load",
                               file, contradicted, stated));
  return true;
}

// Why the requests have no causes, and what to do about it.
void report_state(const profile::Requests& requests, Diagnostics& diagnostics) {
  const std::string& file = requests.file;
  const JoinState state = requests.join.state;
  if (state == JoinState::low_coverage) {
    const profile::RequestJoin& join = requests.join;
    if (report_wrong_tokens(file, join, diagnostics)) return;
    diagnostics.warn(
        "requests_not_covered",
        fmt::format("{}: {} of {} tokens fit the engine's steps, which made {} tokens, {} of them "
                    "known: requests have statistics, but no causes; name all files of requests "
                    "that the engine served, and the capture that was recorded during this load",
                    file, join.tokens_joined, join.tokens, join.rows,
                    join.rows_joined + join.rows_named));
  } else if (state == JoinState::other_clock) {
    diagnostics.warn("requests_of_other_boot",
                     fmt::format("{}: the requests were measured on another host, or before a "
                                 "reboot: they are not joined to the capture; name the capture "
                                 "that was recorded during this load",
                                 file));
  } else if (state == JoinState::outside_of_capture) {
    diagnostics.warn("requests_outside_of_capture",
                     fmt::format("{}: no request overlaps the recorded time: they are not joined "
                                 "to the capture; name the capture that was recorded during this "
                                 "load",
                                 file));
  } else if (state == JoinState::no_clock) {
    diagnostics.info("requests_without_clock",
                     fmt::format("{}: the file and the capture have no common clock: requests have "
                                 "statistics, but no causes; `llmprof load` records times that can "
                                 "be joined",
                                 file));
  }
}

// The same load without a recorder: from the control run, otherwise another file of the same clock.
std::optional<profile::UnrecordedRequests> find_unrecorded(
    const Prepared& in, const ClientRequests* same_clock,
    const std::vector<profile::Objective>& objectives) {
  if (in.options.control != nullptr) {
    const auto files = client_requests(*in.options.control);
    if (!files.empty()) return unrecorded_requests(*in.options.control, files.front(), objectives);
  }
  if (same_clock == nullptr) return std::nullopt;
  return unrecorded_requests(in.trace, *same_clock, objectives);
}

}  // namespace

std::optional<profile::Requests> find_requests(const Prepared& in, const Stages& stages,
                                               const Counters& counters, const Budgets& budgets,
                                               const UseOfPeaks& use, Diagnostics& diagnostics) {
  const auto files = client_requests(in.trace);
  const ChosenRequests chosen = choose_requests(files);
  if (chosen.recorded == nullptr) return std::nullopt;
  const ClientRequests& requests = *chosen.recorded;
  profile::Requests found;
  found.source = source_of(requests.file_of(in.trace).source);
  add_request_statistics(in.trace, requests, found);
  found.load = request_load(in.trace, requests, in.options.objectives);
  found.items = request_items(in.trace, requests);
  found.stated = stated_figures(in.trace, requests);
  report_deviations(found.file, found.stated, diagnostics);
  found.join.state = requests.state;
  if (requests.state == JoinState::joined) {
    // A selection may hold only some of the steps.
    if (stages.steps.empty() || in.narrowed) {
      found.join.state = JoinState::no_steps;
    } else {
      explain_requests(in.trace, {stages, counters, budgets, use}, requests, found);
    }
  }
  report_state(found, diagnostics);
  found.unrecorded = find_unrecorded(in, chosen.unrecorded, found.load.objectives);
  const size_t used = chosen.unrecorded == nullptr ? 1 : 2;
  if (files.size() > used) {
    diagnostics.info(
        "requests_of_several_files",
        fmt::format("further files of requests, which are not analyzed; {} is", found.file),
        files.size() - used);
  }
  return found;
}

}  // namespace llmprof::analysis
