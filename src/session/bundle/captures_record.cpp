#include "session/bundle/captures_record.h"

#include "session/bundle/record_file.h"

namespace llmprof::session {
namespace {

constexpr std::string_view kFile = "captures.json";
constexpr size_t kLargestFile = 4UL << 20U;

// What the file holds.
struct CapturesFile {
  std::vector<profile::CaptureFailure> failed;
  std::vector<profile::Diagnostic> notes;

  template <class Visitor>
  static void fields(Visitor& field) {
    field("failed", &CapturesFile::failed, "captures that failed");
    field("notes", &CapturesFile::notes, "what worked in another way than planned");
  }
};

Severity severity_named(std::string_view name) {
  for (const Severity severity : {Severity::error, Severity::warning}) {
    if (name == to_string(severity)) return severity;
  }
  return Severity::info;
}

}  // namespace

Result<void> write_captures_record(const Artifacts& bundle, const CapturesRecord& record) {
  CapturesFile file{record.failures, {}};
  for (const Diagnostic& note : record.notes.items()) {
    file.notes.push_back(
        {std::string(to_string(note.severity)), note.code, note.message, note.count});
  }
  return write_record(bundle, kFile, file);
}

CapturesRecord read_captures_record(const std::filesystem::path& run, Diagnostics& diagnostics) {
  CapturesRecord record;
  auto file = read_record<CapturesFile>(run / kFile, kLargestFile, "captures_record_unreadable",
                                        diagnostics);
  if (!file) return record;
  record.failures = std::move(file->failed);
  for (const profile::Diagnostic& note : file->notes) {
    record.notes.add(severity_named(note.severity), note.code, note.message, note.count);
  }
  return record;
}

}  // namespace llmprof::session
