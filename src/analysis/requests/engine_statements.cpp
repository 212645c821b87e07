#include "analysis/requests/engine_statements.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace llmprof::analysis {
namespace {

using Interval = std::pair<Nanoseconds, Nanoseconds>;

constexpr std::string_view kBetweenWords = " \t,;=|\"'()[]{}<>";

// Numbers and short words are in names of ranges by chance.
bool identifies(std::string_view id) {
  constexpr size_t kFewestCharacters = 4;
  const bool number = std::ranges::all_of(id, [](char c) { return c >= '0' && c <= '9'; });
  return id.size() >= kFewestCharacters && !number &&
         id.find_first_of(kBetweenWords) == std::string_view::npos;
}

// When the engine worked on each request, by the names of its ranges.
class NamedRanges {
 public:
  NamedRanges(const trace::Trace& trace, const ClientRequests& requests, trace::ProcessId engine)
      : trace_(trace), intervals_(requests.size()) {
    const std::string& prefix = requests.file_of(trace).id_prefix;
    for (size_t row = requests.first; row < requests.last; ++row) {
      const trace::StringId id = trace.requests.id[row];
      if (!id.valid()) continue;
      std::string name = prefix + std::string(trace.strings[id]);
      if (!identifies(name)) continue;
      // Two requests of one id are not distinguished by it.
      const auto [place, is_new] =
          requests_.emplace(std::move(name), static_cast<uint32_t>(row - requests.first));
      if (!is_new) place->second = kNoRequest;
    }
    if (!requests_.empty()) add_ranges(engine);
  }

  [[nodiscard]] bool of(uint32_t request) const { return !intervals_[request].empty(); }
  [[nodiscard]] bool overlap(uint32_t request, Nanoseconds from, Nanoseconds to) const {
    return std::ranges::any_of(intervals_[request], [&](const Interval& interval) {
      return interval.first <= to && interval.second >= from;
    });
  }

 private:
  void add_ranges(trace::ProcessId engine) {
    std::unordered_map<size_t, std::vector<uint32_t>> named;  // by text: requests
    const trace::RangeTable& ranges = trace_.ranges;
    for (size_t row = 0; row < ranges.size(); ++row) {
      if (!ranges.text[row].valid()) continue;
      if (trace_.threads[ranges.thread[row].index()].process != engine) continue;
      const auto [text, is_new] = named.try_emplace(ranges.text[row].index());
      if (is_new) text->second = requests_in(trace_.strings[ranges.text[row]]);
      for (const uint32_t request : text->second) {
        intervals_[request].emplace_back(ranges.start[row], ranges.end[row]);
      }
    }
  }

  [[nodiscard]] std::vector<uint32_t> requests_in(std::string_view text) const {
    std::vector<uint32_t> found;
    for (size_t at = 0; at < text.size();) {
      const size_t begin = text.find_first_not_of(kBetweenWords, at);
      if (begin == std::string_view::npos) break;
      at = std::min(text.find_first_of(kBetweenWords, begin), text.size());
      const auto request = requests_.find(std::string(text.substr(begin, at - begin)));
      if (request != requests_.end() && request->second != kNoRequest) {
        found.push_back(request->second);
      }
    }
    return found;
  }

  const trace::Trace& trace_;
  std::unordered_map<std::string, uint32_t> requests_;  // by the engine's id
  std::vector<std::vector<Interval>> intervals_;        // by request
};

class Statements {
 public:
  Statements(const trace::Trace& trace, const ClientRequests& requests, const EngineBatches& engine,
             std::span<const PromptPart> parts)
      : trace_(trace),
        requests_(requests),
        engine_(engine),
        times_(trace, requests, engine.gpu.first),
        begins_in_(requests.size(), kNoBatch) {
    for (const PromptPart& part : parts) {
      if (part.request == kNoRequest) continue;
      uint32_t& begins = begins_in_[part.request];
      begins = begins == kNoBatch ? part.batch : std::min(begins, part.batch);
    }
  }

  // None: the engine says nothing of it.
  [[nodiscard]] std::optional<bool> agree(uint32_t request, uint32_t batch, bool first) const {
    if (times_.of(request)) {
      const EngineBatch& of = engine_.batches[batch];
      return times_.overlap(request, of.begin, of.end.results_read);
    }
    return first ? begins_as_stated(request, batch) : std::nullopt;
  }

 private:
  // An engine may prepare a batch while the one before runs.
  [[nodiscard]] std::optional<bool> begins_as_stated(uint32_t request, uint32_t batch) const {
    const size_t row = requests_.first + request;
    const Nanoseconds queued = trace_.requests.queued[row];
    if (queued == trace::kNoTime) return std::nullopt;
    const Nanoseconds stated = trace_.requests.sent[row] + requests_.shift + queued;
    const uint32_t begins = std::min(begins_in_[request], batch);
    const Nanoseconds earliest =
        begins < 2 ? INT64_MIN : engine_.batches[begins - 2].end.results_read;
    return stated >= earliest && stated <= engine_.batches[begins].end.results_read;
  }

  const trace::Trace& trace_;
  const ClientRequests& requests_;
  const EngineBatches& engine_;
  NamedRanges times_;
  std::vector<uint32_t> begins_in_;  // by request: the batch with the first part of its prompt
};

}  // namespace

Confirmation engine_statements(const trace::Trace& trace, const ClientRequests& requests,
                               const ClientTokens& client, const EngineBatches& engine,
                               const TokenJoin& join, std::span<const PromptPart> parts) {
  Confirmation found;
  if (engine.batches.empty()) return found;
  const Statements statements(trace, requests, engine, parts);
  for (uint32_t request = 0; request < client.size(); ++request) {
    if (!client.counted[request]) continue;
    const TokenRequest& of = client.requests[request];
    for (uint32_t chunk = of.first_chunk; chunk < of.first_chunk + of.chunks; ++chunk) {
      if (!join.joined(chunk)) continue;
      const auto agree = statements.agree(request, join.batch[chunk], chunk == of.first_chunk);
      if (!agree) continue;
      (*agree ? found.confirmed : found.contradicted) += client.chunks[chunk].tokens;
    }
  }
  return found;
}

}  // namespace llmprof::analysis
