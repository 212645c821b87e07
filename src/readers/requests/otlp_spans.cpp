#include <fmt/format.h>

#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/streams/byte_stream.h"
#include "base/text.h"
#include "readers/requests/engine_spans.h"
#include "readers/requests/json_lines.h"
#include "readers/requests/otlp_span.h"
#include "readers/requests/request_rows.h"
#include "readers/requests/whole_json.h"
#include "readers/shared/json_text.h"
#include "readers/shared/reader.h"

namespace llmprof::readers {
namespace {

namespace dom = simdjson::dom;

constexpr std::string_view kSpansKey = "resourceSpans";
constexpr size_t kMostNames = 8;

bool recognizes_otlp(std::string_view head) {
  const auto has_spans = [](std::string_view text) {
    JsonEnvelope object;
    object.take(text);
    return object.has_key(kSpansKey) && !object.has_key("traceEvents");
  };
  return any_line(head, has_spans) || has_spans(head);
}

// The spans of requests of a file, from any number of exports.
class RequestSpans {
 public:
  // One export; false if it has no spans (an export of metrics or logs).
  bool add_export(dom::object root) {
    dom::array resources;
    if (root.at_key(kSpansKey).get(resources) != simdjson::SUCCESS) return false;
    for (const dom::element resource : resources) {
      dom::array scopes;
      if (resource["scopeSpans"].get(scopes) != simdjson::SUCCESS) continue;
      for (const dom::element scope : scopes) {
        dom::array spans;
        if (scope["spans"].get(spans) == simdjson::SUCCESS) add_spans(spans);
      }
    }
    return true;
  }

  void refuse(uint64_t line) {
    ++malformed_;
    if (malformed_ == 1) first_malformed_ = line;
  }

  Result<void> add_to(const std::filesystem::path& path, std::string_view cut,
                      trace::TraceBuilder& builder) {
    SglangSpans::Requests sglang = sglang_.find_requests();
    if (vllm_.empty() && sglang.rows.empty()) return without_requests(path, cut);
    if (!vllm_.empty()) {
      trace::RequestFile file;
      file.source = trace::RequestSource::vllm_spans;
      file.chunks_complete = false;
      if (auto added = add_rows(path, "vLLM's spans", vllm_, file, cut, builder); !added) {
        return added;
      }
    }
    if (sglang.rows.empty()) return {};
    trace::RequestFile file;
    file.source = trace::RequestSource::sglang_spans;
    file.chunks_complete = sglang.has_decode_steps;
    auto added = add_rows(path, "SGLang's spans", sglang.rows, file, cut, builder);
    if (added) {
      builder.diagnostics().warn(
          "requests_without_root_span",
          fmt::format("{}: skipped spans of requests whose own span is not in the file",
                      path.string()),
          sglang.without_request);
    }
    return added;
  }

 private:
  void add_spans(dom::array spans) {
    for (const dom::element element : spans) {
      dom::object object;
      const auto span = element.get(object) == simdjson::SUCCESS ? read_otlp_span(object)
                                                                 : std::optional<OtlpSpan>();
      if (!span) {
        refuse(0);
      } else if (span->name == kVllmRequestSpan) {
        vllm_.push_back(vllm_request(*span));
      } else {
        if (names_.size() < kMostNames) names_.emplace(span->name);
        sglang_.add(*span);
      }
    }
  }

  Result<void> add_rows(const std::filesystem::path& path, std::string_view tool,
                        std::vector<RequestRow>& requests, const trace::RequestFile& file,
                        std::string_view cut, trace::TraceBuilder& builder) {
    RequestRows rows(path, builder);
    rows.set_tool(tool, {});
    rows.file() = file;
    rows.file().clock = trace::RequestClock::wall;
    rows.set_wall_clock(0);
    if (!cut.empty()) rows.note_cut(cut);
    for (; malformed_ > 0; --malformed_) rows.refuse(first_malformed_);
    for (RequestRow& row : requests) rows.add(row);
    return rows.finish();
  }

  [[nodiscard]] Result<void> without_requests(const std::filesystem::path& path,
                                              std::string_view cut) const {
    std::string why = "it has no spans";
    if (!names_.empty()) {
      std::vector<std::string> names;
      names.reserve(names_.size());
      for (const std::string& name : names_) names.push_back(shortened(to_printable(name), 40));
      why = fmt::format("its spans are: {}", fmt::join(names, ", "));
    } else if (malformed_ > 0) {
      why = fmt::format("none of its {} spans and lines is valid", malformed_);
    } else if (!cut.empty()) {
      why = fmt::format("it is cut off ({})", cut);
    }
    return fail_input(fmt::format(
        "{}: OTLP trace without requests of an engine: {}; vLLM's request is the span {}, SGLang's "
        "has the attribute rid; start the engine with --otlp-traces-endpoint and record again",
        path.string(), why, kVllmRequestSpan));
  }

  std::vector<RequestRow> vllm_;
  SglangSpans sglang_;
  std::set<std::string> names_;  // of the first spans that are not vLLM's
  uint64_t malformed_ = 0;
  uint64_t first_malformed_ = 0;
};

// The file exporter writes one export per line; other programs write one object over many lines.
bool has_one_export_per_line(std::string_view head) {
  const std::string_view line = trim(head.substr(0, std::min(head.find('\n'), head.size())));
  return contains(line, kSpansKey) || contains(line, "resourceMetrics") ||
         contains(line, "resourceLogs");
}

Result<void> read_otlp_file(const std::filesystem::path& path, trace::TraceBuilder& builder) {
  auto head = read_head(path, kHeadBytes);
  if (!head) return fail_with(head.error());
  RequestSpans spans;
  if (!has_one_export_per_line(trim(*head))) {
    WholeJson json;
    auto root = json.read(path, "the OTLP trace");
    if (!root) return fail_with(root.error());
    spans.add_export(*root);
    return spans.add_to(path, {}, builder);
  }
  auto stream = open_byte_stream(path);
  if (!stream) return fail_with(stream.error());
  JsonLines lines(**stream);
  while (true) {
    auto line = lines.next();
    if (!line) return fail_with(line.error().within(path.string()));
    if (*line == JsonLines::Line::end) break;
    if (*line == JsonLines::Line::malformed) {
      spans.refuse(lines.number());
    } else {
      spans.add_export(lines.object());
    }
  }
  return spans.add_to(path, lines.cut(), builder);
}

}  // namespace

const Reader kOtlpSpansReader = {"OTLP spans of requests", &recognizes_otlp, &read_otlp_file};

}  // namespace llmprof::readers
