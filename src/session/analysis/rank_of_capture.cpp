#include "session/analysis/rank_of_capture.h"

#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>

#include "base/streams/byte_stream.h"
#include "capture/convert.h"
#include "readers/collector_log/collector_log.h"
#include "readers/detect.h"
#include "readers/kineto/kineto_json.h"
#include "readers/nsys_sqlite/nsys_sqlite.h"
#include "readers/shared/rank_of_path.h"

namespace llmprof::session {
namespace {

namespace fs = std::filesystem;

// Gone with this object.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::error_code trouble;
    std::string name = (fs::temp_directory_path(trouble) / "llmprof-XXXXXX").string();
    if (!trouble && ::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }

  // Empty where it could not be made.
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::optional<uint32_t> rank_read(const readers::Reader& reader, const fs::path& path) {
  trace::TraceBuilder scratch;
  const auto done = reader.read(path, scratch);
  const auto& captures = scratch.trace().captures;
  // A rank is known before the place where a cut file ends.
  static_cast<void>(done);
  return captures.empty() ? std::nullopt : captures.back().rank;
}

// From the beginning of the file alone, where its own reader finds the rank: in a file of the same
// name, since the name may tell it.
std::optional<uint32_t> rank_in_front(const readers::Reader& reader, const fs::path& path) {
  constexpr size_t kFrontBytes = 4UL << 20U;
  const auto front = read_head(path, kFrontBytes);
  if (!front) return std::nullopt;
  const ScratchFolder scratch;
  if (scratch.path().empty()) return std::nullopt;
  std::error_code trouble;
  const fs::path absolute = fs::absolute(path, trouble);
  const fs::path folder = scratch.path() / absolute.parent_path().filename();
  fs::create_directories(folder, trouble);
  const fs::path copy = folder / absolute.filename();
  std::ofstream file(copy, std::ios::binary);
  file.write(front->data(), static_cast<std::streamsize>(front->size()));
  file.close();
  return file ? rank_read(reader, copy) : std::nullopt;
}

}  // namespace

JobContent job_content_of(const fs::path& path) {
  const auto head = read_head(path, readers::kHeadBytes);
  if (!head) return JobContent::unknown;
  const readers::Reader* reader = readers::find_reader(*head);
  if (reader == nullptr) {
    return capture::report_kind(path, *head) ? JobContent::timeline : JobContent::unknown;
  }
  const bool timeline = reader == &readers::kNsysSqliteReader ||
                        reader == &readers::kKinetoReader ||
                        reader == &readers::kCollectorLogReader;
  return timeline ? JobContent::timeline : JobContent::facts;
}

std::optional<uint32_t> rank_of_capture(const fs::path& path) {
  const auto head = read_head(path, readers::kHeadBytes);
  if (!head) return std::nullopt;
  const readers::Reader* reader = readers::find_reader(*head);
  if (reader == nullptr) return readers::rank_of_path(path);
  if (reader != &readers::kNsysSqliteReader) return rank_in_front(*reader, path);
  // A database cannot be read in part, and what its name does not say, NCCL may.
  const auto named = readers::rank_of_path(path);
  return named ? named : rank_read(*reader, path);
}

}  // namespace llmprof::session
