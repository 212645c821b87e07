#include <memory>

#include "query/described/profile_tables.h"

namespace llmprof::query {
namespace {

using profile::Profile;

std::optional<std::string> lack_of_requests(const Profile& profile, size_t /*rows*/) {
  if (profile.requests) return std::nullopt;
  return "no file of requests was read. Load the server with `llmprof load URL` while it is "
         "recorded, or name the client's file: `llmprof analyze CAPTURE requests.json --out RUN` "
         "(docs/requests.md)";
}

std::optional<std::string> lack_of_join(const Profile& profile, size_t rows) {
  if (auto none = lack_of_requests(profile, rows)) return none;
  const profile::JoinState state = profile.requests->join.state;
  if (state == profile::JoinState::joined) return std::nullopt;
  const auto& words = profile::kWords<profile::JoinState>;
  const auto index = static_cast<size_t>(state);
  const std::string why(index < words.size() ? words[index].meaning : to_string(state));
  return "requests are not joined to the engine's steps: " + why +
         ". Record the server's steps during the load, on the same machine (docs/requests.md)";
}

// A token: chunk `chunk` of request `request`.
struct TokenRow {
  uint32_t request = 0;
  uint32_t chunk = 0;
};

}  // namespace

std::vector<DescribedTable> request_tables() {
  return {
      {.name = "requests",
       .meaning = "one row per request of a client",
       .path = "requests.items",
       .keys = {"request"},
       .lack = lack_of_requests},
      {.name = "request_totals",
       .meaning = "requests together: time to first token, inter-token latency, goodput, join",
       .path = "requests",
       .lack = lack_of_requests},
      {.name = "request_parts",
       .meaning = "what the time of a completed request was spent on; the parts sum to e2e_ns",
       .path = "requests.items.parts_ns",
       .keys = {"request", "part"},
       .value = "ns",
       .lack = lack_of_join},
      {.name = "request_ttft_parts",
       .meaning = "what the time to a request's first token was spent on; the parts sum to ttft_ns",
       .path = "requests.items.ttft_parts_ns",
       .keys = {"request", "part"},
       .value = "ns",
       .lack = lack_of_join},
      {.name = "request_gaps",
       .meaning = "the longest gaps between tokens, and times to first token",
       .path = "requests.slowest_gaps",
       .keys = {"gap"},
       .lack = lack_of_join},
      {.name = "request_gap_parts",
       .meaning = "what such a gap was spent on; the parts sum to its length",
       .path = "requests.slowest_gaps.parts_ns",
       .keys = {"gap", "part"},
       .value = "ns",
       .lack = lack_of_join},
      {.name = "request_batches",
       .meaning = "the engine's batches while requests were sent",
       .path = "requests.batches",
       .keys = {"batch"},
       .lack = lack_of_join},
      {.name = "request_delays",
       .meaning = "who delayed whom by a prompt",
       .path = "requests.delays",
       .lack = lack_of_join},
      {.name = "request_delayers",
       .meaning = "requests whose prompt others waited for, largest first",
       .path = "requests.delayers",
       .lack = lack_of_join},
      {.name = "request_tails",
       .meaning = "what makes the slowest requests slow: parts of the tail and of the median",
       .path = "requests.tail.parts",
       .keys = {"figure=figure,quantile=quantile"},
       .lack = lack_of_join},
      {.name = "steps_by_size",
       .meaning = "decode batches by their number of sequences",
       .path = "requests.steps_by_size",
       .lack = lack_of_join},
  };
}

Table tokens_table() {
  Table table;
  table.name = "tokens";
  table.meaning = "one row per chunk with tokens that a client received";
  table.columns = {
      {"request", ColumnType::integer, "", "index in requests"},
      {"chunk", ColumnType::integer, "", "index among the request's chunks with tokens"},
      {"time_ns", ColumnType::integer, "ns", "arrival, after sent"},
      {"gap_ns", ColumnType::integer, "ns",
       "time since the chunk before; since sent, for the first"},
      {"batch", ColumnType::integer, "",
       "index in request_batches of the batch that made it; null if unknown"}};
  table.of_profile = [](const Profile& profile) {
    auto rows = std::make_shared<std::vector<TokenRow>>();
    const auto* const items = profile.requests ? &profile.requests->items : nullptr;
    for (size_t i = 0; items != nullptr && i < items->size(); ++i) {
      for (size_t chunk = 0; chunk < (*items)[i].token_times.size(); ++chunk) {
        rows->push_back({static_cast<uint32_t>(i), static_cast<uint32_t>(chunk)});
      }
    }
    Part part;
    part.rows = rows->size();
    const auto add = [&](const auto& value_of) {
      part.columns.push_back(computed([rows, items, value_of](size_t row) {
        const TokenRow& token = (*rows)[row];
        return value_of(token, (*items)[token.request]);
      }));
    };
    add([](const TokenRow& token, const profile::Request&) {
      return Value::of(int64_t{token.request});
    });
    add([](const TokenRow& token, const profile::Request&) {
      return Value::of(int64_t{token.chunk});
    });
    add([](const TokenRow& token, const profile::Request& of) {
      return Value::of(int64_t{of.token_times[token.chunk].value});
    });
    add([](const TokenRow& token, const profile::Request& of) {
      const int64_t before = token.chunk == 0 ? 0 : of.token_times[token.chunk - 1].value;
      return Value::of(int64_t{of.token_times[token.chunk].value - before});
    });
    add([](const TokenRow& token, const profile::Request& of) {
      const bool known =
          token.chunk < of.token_batches.size() && of.token_batches[token.chunk] >= 0;
      return known ? Value::of(int64_t{of.token_batches[token.chunk]}) : Value();
    });
    return part;
  };
  table.lack = lack_of_requests;
  return table;
}

}  // namespace llmprof::query
