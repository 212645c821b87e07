#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_string.h"
#include "base/text.h"
#include "readers/requests/object_array.h"
#include "readers/requests/request_rows.h"
#include "readers/requests/request_values.h"
#include "readers/requests/streamed_text.h"
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

class GenaiPerfFile {
 public:
  GenaiPerfFile(const std::filesystem::path& path, trace::TraceBuilder& builder)
      : path_(path.string()), builder_(builder), rows_(path, builder) {
    rows_.file().source = trace::RequestSource::genai_perf;
    rows_.file().clock = trace::RequestClock::wall;
    rows_.set_tool(kTool, {});
  }

  Result<void> read(const PaddedText& content) {
    const std::string_view text = content.text();
    constexpr std::array<std::string_view, 1> kKept = {"version"};
    JsonEnvelope profile("experiments", kKept);
    size_t at = profile.take(text);
    if (!profile.in_array()) {
      return fail_input(
          fmt::format("{}: \"experiments\" of GenAI-Perf's profile export is not an array; run "
                      "genai-perf again",
                      path_));
    }
    at = take_experiments(text, at);
    profile.leave_array();
    profile.take(text.substr(at));
    if (!profile.complete()) {
      rows_.note_cut(content.damage().empty() ? "its JSON object is not closed" : content.damage());
    }
    rows_.set_tool(kTool, text_in(profile.value("version")));  // which follows the requests
    rows_.set_wall_clock(0);
    rows_.note_non_finite(objects_.non_finite());
    auto finished = rows_.finish();
    if (finished && others_ > 0) note_others();
    return finished;
  }

 private:
  // Returns the position after the array.
  size_t take_experiments(std::string_view text, size_t at) {
    JsonString string;
    for (; at < text.size() && text[at] != ']'; ++at) {
      if (string.takes(text[at])) continue;
      if (text[at] == '"') string.begin();
      if (text[at] == '{') at = take_experiment(text, at) - 1;
    }
    return std::min(at + 1, text.size());
  }

  // Returns the position after the object.
  size_t take_experiment(std::string_view text, size_t begin) {
    constexpr std::array<std::string_view, 1> kKept = {"experiment"};
    JsonEnvelope experiment("requests", kKept);
    size_t at = begin + experiment.take(text.substr(begin));
    // Otherwise it has no requests, and those of the next one were found.
    const bool has_requests = experiment.in_array() && !experiment.has_stray_text();
    ObjectDepth object;
    if (!has_requests) return walk_object(text, begin, object);
    std::vector<std::string_view> requests;
    at = find_objects(text, at, requests);
    take_requests(experiment, requests);
    object.depth = 1;
    return walk_object(text, at, object);
  }

  void take_requests(const JsonEnvelope& experiment,
                     const std::vector<std::string_view>& requests) {
    if (requests.empty()) return;
    if (std::exchange(any_, true)) {
      ++others_;
      return;
    }
    take_load(experiment.value("experiment"));
    GenaiPerfRequest reader;
    RequestRow row;
    for (const std::string_view request : requests) {
      row.clear();
      const auto object = objects_.parse(request);
      if (object && reader.read(*object, row)) {
        rows_.add(row);
      } else {
        rows_.refuse();
      }
    }
  }

  void take_load(std::string_view json) {
    dom::element experiment;
    std::string_view mode;
    double value = 0;
    if (parser_.parse(simdjson::padded_string(json)).get(experiment) != simdjson::SUCCESS) return;
    if (experiment["mode"].get(mode) != simdjson::SUCCESS) return;
    if (experiment["value"].get(value) != simdjson::SUCCESS || !(value > 0)) return;
    if (mode == "concurrency") {
      rows_.file().concurrency = static_cast<uint64_t>(value);
      rows_.file().arrivals = "closed";
    } else if (mode == "request_rate") {
      rows_.file().rate = value;
    }
  }

  std::string text_in(std::string_view json) {
    std::string_view text;
    const simdjson::padded_string padded(json);
    if (parser_.parse(padded).get(text) != simdjson::SUCCESS) return {};
    return std::string(text);
  }

  void note_others() {
    builder_.diagnostics().info(
        "requests_other_runs",
        fmt::format("{}: the file has {} experiments with requests; the first one is read. Run one "
                    "experiment per file to read another",
                    path_, others_ + 1));
  }

  static constexpr std::string_view kTool = "GenAI-Perf";

  std::string path_;
  trace::TraceBuilder& builder_;
  RequestRows rows_;
  ObjectParser objects_;
  dom::parser parser_;
  bool any_ = false;
  uint64_t others_ = 0;
};

Result<void> read_genai_perf_file(const std::filesystem::path& path, trace::TraceBuilder& builder) {
  const auto content = PaddedText::read(path);
  if (!content) return fail_with(content.error());
  return GenaiPerfFile(path, builder).read(*content);
}

}  // namespace

const Reader kGenaiPerfReader = {"GenAI-Perf profile export", &recognizes_genai_perf,
                                 &read_genai_perf_file};

}  // namespace llmprof::readers
