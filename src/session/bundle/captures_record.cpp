#include "session/bundle/captures_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/streams/byte_stream.h"
#include "config/config_tree.h"
#include "session/options/node_text.h"

namespace llmprof::session {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFile = "captures.json";
constexpr size_t kLargestFile = 4UL << 20U;

Severity severity_of(const config::ConfigNode& row) {
  for (const Severity severity : {Severity::error, Severity::warning}) {
    if (text_of(row, "severity") == to_string(severity)) return severity;
  }
  return Severity::info;
}

template <class Visit>
void each_row(const config::ConfigNode& root, std::string_view key, Visit&& visit) {
  const config::ConfigNode* rows = root.find(key);
  if (rows == nullptr || !rows->is_list()) return;
  for (const config::ConfigNode& row : rows->children) visit(row);
}

Result<config::ConfigDocument> read_document(const std::filesystem::path& file) {
  auto stream = open_byte_stream(file);
  if (!stream) return fail_with(stream.error());
  const auto text = read_all(**stream, kLargestFile);
  if (!text) return fail_with(text.error().within(file.string()));
  return config::parse_json(*text, file.string());
}

}  // namespace

Result<void> write_captures_record(const Artifacts& bundle, const CapturesRecord& record) {
  Json failed = Json::array();
  for (const profile::CaptureFailure& failure : record.failures) {
    failed.push_back({{"backend", failure.backend}, {"message", failure.message}});
  }
  Json notes = Json::array();
  for (const Diagnostic& note : record.notes.items()) {
    notes.push_back({{"severity", to_string(note.severity)},
                     {"code", note.code},
                     {"message", note.message},
                     {"count", note.count}});
  }
  const Json json = {{"failed", failed}, {"notes", notes}};
  return bundle.write(kFile, json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

CapturesRecord read_captures_record(const std::filesystem::path& run, Diagnostics& diagnostics) {
  CapturesRecord record;
  const std::filesystem::path file = run / kFile;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return record;
  const auto document = read_document(file);
  if (!document) {
    diagnostics.warn("captures_record_unreadable", document.error().message);
    return record;
  }
  each_row(document->root, "failed", [&](const config::ConfigNode& row) {
    record.failures.push_back({text_of(row, "backend"), text_of(row, "message")});
  });
  each_row(document->root, "notes", [&](const config::ConfigNode& row) {
    const config::ConfigNode* count = row.find("count");
    const auto times = count == nullptr ? std::nullopt : count->integer();
    record.notes.add(severity_of(row), text_of(row, "code"), text_of(row, "message"),
                     static_cast<uint64_t>(std::max<int64_t>(1, times.value_or(1))));
  });
  return record;
}

}  // namespace llmprof::session
