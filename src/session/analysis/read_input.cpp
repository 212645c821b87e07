#include "session/analysis/read_input.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "base/streams/byte_stream.h"
#include "capture/convert.h"
#include "readers/detect.h"

namespace llmprof::session {
namespace {

// Where reports are converted to. Removed when the reading is done, because nsys puts the program's
// whole environment into its exports.
class ConversionFolder {
 public:
  static Result<ConversionFolder> open(OutputFolder& out) {
    auto artifacts = out.open();
    if (!artifacts) return fail_with(artifacts.error());
    auto folder = Artifacts::create(artifacts->path("converting.tmp"), true);
    if (!folder) return fail_with(folder.error());
    return ConversionFolder(folder->root());
  }
  ConversionFolder(ConversionFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ConversionFolder& operator=(ConversionFolder&&) = delete;
  ConversionFolder(const ConversionFolder&) = delete;
  ConversionFolder& operator=(const ConversionFolder&) = delete;
  ~ConversionFolder() {
    std::error_code ignored;
    if (path_.empty()) return;
    std::filesystem::remove_all(path_, ignored);
    std::filesystem::remove(path_.parent_path(), ignored);  // the bundle, where it is empty
  }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  explicit ConversionFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

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

Result<void> read_report(const std::filesystem::path& report, capture::ReportKind kind,
                         trace::TraceBuilder& builder, OutputFolder& out, Progress& progress) {
  progress.begin(fmt::format("converting {}", report.string()));
  auto folder = ConversionFolder::open(out);
  if (!folder) return fail_with(folder.error());
  const auto converted = capture::convert_report(report, kind, folder->path());
  if (!converted) return fail_with(converted.error());
  const auto head = read_head(*converted, readers::kHeadBytes);
  if (!head) return fail_with(head.error());
  const size_t before = builder.trace().captures.size();
  const auto done = read_recognized(*converted, *head, builder, progress);
  if (!done) return fail_with(readers::unreadable(report, *head));
  // The converted file is temporary; the capture is the report.
  auto& captures = builder.trace().captures;
  for (size_t i = before; i < captures.size(); ++i) captures[i].path = report.string();
  return *done;
}

}  // namespace

Result<void> read_input(const std::filesystem::path& path, trace::TraceBuilder& builder,
                        OutputFolder& out, Progress& progress) {
  const auto head = read_head(path, readers::kHeadBytes);
  if (!head) return fail_with(head.error());
  if (auto done = read_recognized(path, *head, builder, progress)) return *done;
  if (const auto kind = capture::report_kind(path, *head)) {
    return read_report(path, *kind, builder, out, progress);
  }
  return fail_with(readers::unreadable(path, *head));
}

}  // namespace llmprof::session
