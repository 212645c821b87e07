#pragma once

#include <filesystem>
#include <optional>

#include "base/diagnostics.h"
#include "base/streams/byte_stream.h"
#include "base/text.h"
#include "profile/json/reader.h"
#include "profile/json/writer.h"
#include "session/bundle/run_dir.h"

namespace llmprof::session {

// Small JSON files of a run's folder, each a described struct.

template <class Record>
Result<void> write_record(const Artifacts& bundle, std::string_view name, const Record& record) {
  return bundle.write(name, to_printable_lines(profile::json::described_to_json(record)));
}

template <class Record>
Result<Record> read_record_file(const std::filesystem::path& file, size_t largest) {
  auto stream = open_byte_stream(file);
  if (!stream) return fail_with(stream.error());
  const auto text = read_all(**stream, largest);
  if (!text) return fail_with(text.error().within(file.string()));
  auto record = profile::json::described_from_json<Record>(*text);
  if (!record) return fail_with(record.error().within(file.string()));
  return record;
}

// None where there is no such file; one that cannot be read is a diagnostic of this code.
template <class Record>
std::optional<Record> read_record(const std::filesystem::path& file, size_t largest,
                                  std::string_view code, Diagnostics& diagnostics) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return std::nullopt;
  auto record = read_record_file<Record>(file, largest);
  if (record) return std::move(*record);
  diagnostics.warn(code, record.error().message);
  return std::nullopt;
}

}  // namespace llmprof::session
