#include "load/replay.h"

#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/csv.h"
#include "base/streams/byte_stream.h"
#include "base/text.h"

namespace llmprof::load {
namespace {

using nlohmann::json;

constexpr size_t kLargestReplay = 1UL << 30U;
constexpr double kReplayMs = 1e6;
// Beyond these, times and lengths are damage: a year, and more tokens than any model takes.
constexpr double kLongestMs = 366.0 * 24 * 3600 * 1000;
constexpr int64_t kMostTokens = 100'000'000;

void skip(Replay& replay, size_t line, std::string_view why) {
  if (replay.skipped++ == 0) replay.first_skipped = fmt::format("line {}: {}", line, why);
}

std::optional<int64_t> token_count(std::string_view text) {
  const auto count = parse_int(trim(text));
  return count && *count >= 0 && *count <= kMostTokens ? count : std::nullopt;
}

// "2023-11-16 18:17:03.9799600", or seconds as a number.
std::optional<int64_t> azure_time_ns(std::string_view text) {
  using namespace std::chrono;
  constexpr size_t kDateAndTime = 19;
  constexpr int kNanosecondDigits = 9;
  text = trim(text);
  if (text.size() < kDateAndTime) return parse_scaled(text, kNanosecondDigits);
  const auto number = [&](size_t at, size_t length) { return parse_int(text.substr(at, length)); };
  const auto y = number(0, 4);
  const auto mo = number(5, 2);
  const auto d = number(8, 2);
  const auto h = number(11, 2);
  const auto mi = number(14, 2);
  const auto seconds_ns = parse_scaled(
      text.substr(17, text.find_first_not_of("0123456789.", 17) - 17), kNanosecondDigits);
  if (!y || !mo || !d || !h || !mi || !seconds_ns) return std::nullopt;
  const year_month_day date(year(static_cast<int>(*y)), month(static_cast<unsigned>(*mo)),
                            day(static_cast<unsigned>(*d)));
  if (!date.ok() || *h < 0 || *h > 23 || *mi < 0 || *mi > 59) return std::nullopt;
  const nanoseconds whole = sys_days(date).time_since_epoch() + hours(*h) + minutes(*mi);
  return whole.count() + *seconds_ns;
}

Replay parse_azure(std::string_view content) {
  Replay replay;
  CsvRows rows(content);
  std::vector<std::string_view> fields;
  rows.next(fields);
  for (size_t line = 2; rows.next(fields); ++line) {
    if (fields.size() == 1 && trim(fields[0]).empty()) continue;
    if (fields.size() < 3) {
      skip(replay, line, "it has fewer than three fields");
      continue;
    }
    const auto at = azure_time_ns(fields[0]);
    const auto prompt = token_count(fields[1]);
    const auto generated = token_count(fields[2]);
    if (!at || !prompt || !generated) {
      skip(replay, line, "a time or a number of tokens cannot be read");
      continue;
    }
    replay.requests.push_back(
        {*at, static_cast<uint64_t>(*prompt), static_cast<uint64_t>(*generated), {}});
  }
  return replay;
}

std::optional<uint64_t> count_in(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  const double value = found->get<double>();
  if (!(value >= 0) || value > static_cast<double>(kMostTokens)) return std::nullopt;
  return static_cast<uint64_t>(value);
}

std::vector<uint64_t> blocks_of(const json& object) {
  std::vector<uint64_t> blocks;
  const auto found = object.find("hash_ids");
  if (found == object.end() || !found->is_array()) return blocks;
  for (const json& id : *found) {
    if (id.is_number_unsigned()) blocks.push_back(id.get<uint64_t>());
  }
  return blocks;
}

Replay parse_mooncake(std::string_view content) {
  Replay replay;
  size_t number = 0;
  for (const std::string_view line : split(content, '\n')) {
    ++number;
    if (trim(line).empty()) continue;
    const json object = json::parse(line, nullptr, false);
    const auto time = object.is_object() ? object.find("timestamp") : object.end();
    if (!object.is_object() || time == object.end() || !time->is_number()) {
      skip(replay, number, "it is not a JSON object with a timestamp");
      continue;
    }
    const double at_ms = time->get<double>();
    const auto prompt = count_in(object, "input_length");
    const auto generated = count_in(object, "output_length");
    if (!(at_ms >= 0) || at_ms > kLongestMs || !prompt || !generated) {
      skip(replay, number, "its time or its lengths cannot be used");
      continue;
    }
    replay.requests.push_back(
        {static_cast<int64_t>(at_ms * kReplayMs), *prompt, *generated, blocks_of(object)});
  }
  return replay;
}

Replay parse_own(const json& record) {
  Replay replay;
  size_t number = 0;
  for (const json& request : record.at("requests")) {
    ++number;
    const auto at = request.is_object() ? request.find("scheduled_ns") : request.end();
    if (!request.is_object() || at == request.end() || !at->is_number_integer()) {
      if (replay.skipped++ == 0) {
        replay.first_skipped = fmt::format("request {}: it has no scheduled_ns", number);
      }
      continue;
    }
    auto generated = count_in(request, "max_tokens");
    if (!generated) generated = count_in(request, "output_tokens");
    replay.requests.push_back({at->get<int64_t>(),
                               count_in(request, "prompt_tokens").value_or(0),
                               generated.value_or(0),
                               {}});
  }
  return replay;
}

}  // namespace

Result<Replay> parse_replay(std::string_view content) {
  Replay replay;
  const std::string_view first = trim(content.substr(0, content.find('\n')));
  if (first.starts_with("TIMESTAMP,") || first.starts_with("\xEF\xBB\xBFTIMESTAMP,")) {
    replay = parse_azure(content);
  } else if (const json line = json::parse(first, nullptr, false);
             line.is_object() && line.contains("timestamp")) {
    replay = parse_mooncake(content);
  } else {
    const json record = json::parse(content, nullptr, false);
    if (!record.is_object() || !record.contains("requests") || !record["requests"].is_array()) {
      return fail_input(
          "not a file of requests to replay: Azure's CSV "
          "(TIMESTAMP,ContextTokens,GeneratedTokens), "
          "Mooncake's JSON lines (timestamp, input_length, output_length) and requests.json of "
          "llmprof load are read");
    }
    replay = parse_own(record);
  }
  if (replay.requests.empty()) {
    return fail_input("no request in it can be used" + (replay.skipped == 0
                                                            ? std::string("; it has none")
                                                            : ": " + replay.first_skipped));
  }
  return replay;
}

Result<Replay> read_replay(const std::filesystem::path& path) {
  const auto content = read_all(path, kLargestReplay);
  if (!content) return fail_with(content.error());
  auto replay = parse_replay(*content);
  if (!replay) return fail_with(replay.error().within(path.string()));
  return replay;
}

}  // namespace llmprof::load
