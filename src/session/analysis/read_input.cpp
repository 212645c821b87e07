#include "session/analysis/read_input.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <optional>
#include <vector>

#include "base/files.h"
#include "base/streams/byte_stream.h"
#include "capture/convert.h"
#include "job/partial/partial.h"
#include "readers/detect.h"
#include "readers/shared/rank_of_path.h"

namespace llmprof::session {
namespace {

// None where no reader recognizes the content.
std::optional<Result<void>> read_recognized(const std::filesystem::path& path,
                                            std::string_view head, trace::TraceBuilder& builder,
                                            Progress& progress) {
  const readers::Reader* reader = readers::find_reader(head);
  if (reader == nullptr) return std::nullopt;
  std::error_code unknown;
  const uintmax_t bytes = std::filesystem::file_size(path, unknown);
  progress.begin_reading(fmt::format("reading {} ({})", path.string(), reader->format),
                         unknown ? 0 : bytes);
  return reader->read(path, builder);
}

// SQLite reads at any place of a file, and so no compressed one.
bool is_compressed_database(const std::filesystem::path& path, std::string_view head) {
  constexpr std::string_view kDatabase = "SQLite format 3";
  if (!head.starts_with(kDatabase)) return false;
  std::array<char, kDatabase.size()> first{};
  std::ifstream file(path, std::ios::binary);
  file.read(first.data(), first.size());
  return !file || std::string_view(first.data(), first.size()) != kDatabase;
}

// What precedes the damage of a gzip stream is read, too.
Result<std::filesystem::path> decompress(const std::filesystem::path& path,
                                         const std::filesystem::path& folder,
                                         Diagnostics& diagnostics) {
  constexpr size_t kBlock = 1UL << 20U;
  auto stream = open_byte_stream(path);
  if (!stream) return fail_with(stream.error());
  std::filesystem::path plain = folder / path.stem();  // diagnostics name it
  std::ofstream file(plain, std::ios::binary);
  std::vector<char> block(kBlock);
  while (file) {
    const auto bytes = (*stream)->read(block);
    if (!bytes) return fail_with(bytes.error());
    file.write(block.data(), static_cast<std::streamsize>(*bytes));
    if (*bytes < block.size()) break;
  }
  file.close();
  if (!file) return fail(ErrorKind::tool, fmt::format("{}: cannot be written", plain.string()));
  if (const std::string damage = (*stream)->damage(); !damage.empty()) {
    diagnostics.error("nsys_damaged_table", fmt::format("{}: {}; what precedes that was read",
                                                        path.filename().string(), damage));
  }
  return plain;
}

// An error of a temporary file is one of the file that it was made of.
Error about(const std::filesystem::path& from, const std::filesystem::path& converted,
            Error error) {
  const std::string temporary = converted.string();
  if (const size_t at = error.message.find(temporary); at != std::string::npos) {
    error.message.replace(at, temporary.size(), from.string());
  }
  return error;
}

// Reads a file that `convert` makes in a temporary folder; the capture is the file it comes from.
template <class Convert>
Result<void> read_converted(const std::filesystem::path& from, Convert convert,
                            trace::TraceBuilder& builder, OutputFolder& out, Progress& progress) {
  progress.begin(fmt::format("converting {}", from.string()));
  const auto artifacts = out.open();
  if (!artifacts) return fail_with(artifacts.error());
  // Other ranks may convert theirs in the same folder.
  const auto path = artifacts->path(fmt::format("converting-{}.tmp", ::getpid()));
  if (auto made = make_own_folder(path); !made) return made;
  // Gone when the reading is done, because nsys puts the program's whole environment into exports.
  const TemporaryFolder folder(path);
  const auto converted = convert(folder.path());
  if (!converted) return fail_with(converted.error());
  const auto head = read_head(*converted, readers::kHeadBytes);
  if (!head) return fail_with(head.error());
  const size_t before = builder.trace().captures.size();
  const auto done = read_recognized(*converted, *head, builder, progress);
  if (!done) return fail_with(readers::unreadable(from, *head));
  if (!*done) return fail_with(about(from, *converted, done->error()));
  auto& captures = builder.trace().captures;
  for (size_t i = before; i < captures.size(); ++i) {
    captures[i].path = from.string();
    if (!captures[i].rank) captures[i].rank = readers::rank_of_path(from);
  }
  return *done;
}

}  // namespace

Content content_of(const std::filesystem::path& path) {
  const auto head = read_head(path, readers::kHeadBytes);
  if (!head) return Content::unknown;
  if (readers::find_reader(*head) != nullptr) return Content::capture;
  return capture::report_kind(path, *head) ? Content::report : Content::unknown;
}

Result<void> read_input(const std::filesystem::path& path, trace::TraceBuilder& builder,
                        OutputFolder& out, Progress& progress) {
  const auto head = read_head(path, readers::kHeadBytes);
  if (!head) return fail_with(head.error());
  if (is_compressed_database(path, *head)) {
    const auto plain = [&](const std::filesystem::path& folder) {
      return decompress(path, folder, builder.diagnostics());
    };
    return read_converted(path, plain, builder, out, progress);
  }
  if (auto done = read_recognized(path, *head, builder, progress)) return *done;
  if (const auto kind = capture::report_kind(path, *head)) {
    const auto converted = [&](const std::filesystem::path& folder) {
      return capture::convert_report(path, *kind, folder);
    };
    return read_converted(path, converted, builder, out, progress);
  }
  if (job::is_partial(*head)) {
    return fail_input(
        fmt::format("{}: a partial profile of one rank, not a capture; `llmprof "
                    "merge` makes the job's profile of all of them",
                    path.string()));
  }
  return fail_with(readers::unreadable(path, *head));
}

}  // namespace llmprof::session
