#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "readers/requests/request_rows.h"
#include "readers/requests/request_values.h"
#include "readers/requests/streamed_text.h"
#include "readers/requests/whole_json.h"
#include "readers/shared/json_text.h"
#include "readers/shared/reader.h"

namespace llmprof::readers {
namespace {

namespace dom = simdjson::dom;
using trace::kNoCount;
using trace::kNoTime;

bool recognizes_genai_perf(std::string_view head) {
  JsonEnvelope profile;
  profile.take(head);
  const auto mentions = [&](std::string_view word) {
    return head.find(word) != std::string_view::npos;
  };
  return profile.has_key("experiments") &&
         (mentions("\"experiment\"") || mentions("\"response_timestamps\""));
}

// One request of an experiment. Times are Unix nanoseconds.
class GenaiPerfRequest {
 public:
  bool read(dom::object object, RequestRow& row) {
    RequestValues request(object);
    row.sent = request.nanoseconds("timestamp");
    const auto times = request.array("response_timestamps");
    const auto outputs = request.array("response_outputs");
    if (!request.valid() || row.sent == kNoTime || !times) return false;
    if (times->size() == 0) {
      row.status = trace::RequestStatus::cut;
      return true;
    }
    texts_.clear();
    if (outputs) {
      for (const dom::element output : *outputs) texts_.push_back(text_of(output));
    }
    return add_responses(*times, row);
  }

 private:
  bool add_responses(dom::array times, RequestRow& row) {
    StreamedText one_token;
    one_token.tokens = 1;
    size_t i = 0;
    Nanoseconds last = 0;
    for (const dom::element element : times) {
      const auto time = whole_number(element);
      if (!time || *time > INT64_MAX) return false;
      // Without its text, every response is one token.
      const StreamedText text = i < texts_.size() ? read_streamed_text(texts_[i]) : one_token;
      if (text.output_tokens) row.output_tokens = *text.output_tokens;
      if (text.prompt_tokens) row.prompt_tokens = *text.prompt_tokens;
      if (text.cached_tokens) row.cached_tokens = *text.cached_tokens;
      last = static_cast<Nanoseconds>(*time);
      row.chunks.push_back({last, text.tokens});
      ++i;
    }
    row.end = last;
    return true;
  }

  // OpenAI endpoints: the event as received. Triton: the generated text.
  static std::string_view text_of(dom::element output) {
    std::string_view text;
    for (const char* key : {"response", "text_output"}) {
      if (output[key].get(text) == simdjson::SUCCESS) return text;
    }
    return {};
  }

  std::vector<std::string_view> texts_;
};

void read_experiment(dom::object experiment, trace::RequestFile& file) {
  std::string_view mode;
  double value = 0;
  if (experiment["experiment"]["mode"].get(mode) != simdjson::SUCCESS) return;
  if (experiment["experiment"]["value"].get(value) != simdjson::SUCCESS || value <= 0) return;
  if (mode == "concurrency") {
    file.concurrency = static_cast<uint64_t>(value);
    file.arrivals = "closed";
  } else if (mode == "request_rate") {
    file.rate = value;
  }
}

Result<void> read_genai_perf_file(const std::filesystem::path& path, trace::TraceBuilder& builder) {
  WholeJson json;
  auto profile = json.read(path, "GenAI-Perf's profile export");
  if (!profile) return fail_with(profile.error());
  RequestRows rows(path, builder);
  rows.note_non_finite(json.non_finite());
  trace::RequestFile& file = rows.file();
  file.source = trace::RequestSource::genai_perf;
  file.clock = trace::RequestClock::wall;
  std::string_view version;
  if (profile->at_key("version").get(version) != simdjson::SUCCESS) version = {};
  rows.set_tool("GenAI-Perf", version);

  dom::array experiments;
  uint64_t others = 0;
  bool any = false;
  GenaiPerfRequest reader;
  RequestRow row;
  if (profile->at_key("experiments").get(experiments) != simdjson::SUCCESS) {
    return fail_input(
        fmt::format("{}: \"experiments\" of GenAI-Perf's profile export is not an array; run "
                    "genai-perf again",
                    path.string()));
  }
  for (const dom::element element : experiments) {
    dom::array requests;
    if (element["requests"].get(requests) != simdjson::SUCCESS || requests.size() == 0) continue;
    if (std::exchange(any, true)) {
      ++others;
      continue;
    }
    read_experiment(element, file);
    for (const dom::element request : requests) {
      dom::object object;
      row.clear();
      if (request.get(object) == simdjson::SUCCESS && reader.read(object, row)) {
        rows.add(row);
      } else {
        rows.refuse();
      }
    }
  }
  rows.set_wall_clock(0);
  auto finished = rows.finish();
  if (finished && others > 0) {
    builder.diagnostics().info(
        "requests_other_runs",
        fmt::format("{}: the file has {} experiments with requests; the first one is read. Run one "
                    "experiment per file to read another",
                    path.string(), others + 1));
  }
  return finished;
}

}  // namespace

const Reader kGenaiPerfReader = {"GenAI-Perf profile export", &recognizes_genai_perf,
                                 &read_genai_perf_file};

}  // namespace llmprof::readers
