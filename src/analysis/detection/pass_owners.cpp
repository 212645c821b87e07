#include "analysis/detection/pass_owners.h"

#include <algorithm>

#include "analysis/stages/thresholds.h"
#include "analysis/statistics/statistics.h"

namespace llmprof::analysis {
namespace {

class Preparations {
 public:
  Preparations(const KernelSequence& sequence, const ForwardPasses& found)
      : sequence_(sequence), found_(found) {
    for (const ForwardPass& pass : found.passes) {
      ends_.push_back(sequence.last_end(pass.begin, pass.end));
    }
  }

  std::vector<std::optional<Nanoseconds>> of_steps() {
    std::vector<std::optional<Nanoseconds>> since(ends_.size());
    const std::vector<CopyToHost> reads = find_read_backs(sequence_);
    for (size_t row = 0; row < ends_.size(); ++row) {
      std::optional<Nanoseconds> from =
          adjacent(row) ? std::optional(ends_[row - 1]) : std::nullopt;
      // Results read by the host, and caches moved to it.
      const auto next = read_from(reads, start(row));
      if (next != reads.begin()) from = std::max(from.value_or(0), std::prev(next)->end);
      const bool decode = found_.passes[row].kind == StepKind::decode;
      const Nanoseconds most = decode ? threshold::kPaused : threshold::kClearlyMore;
      if (from && gap(row, *from) < most * taken(row)) since[row] = from;
    }
    return since;
  }

  std::vector<std::optional<Nanoseconds>> of_prefills() {
    std::vector<std::optional<Nanoseconds>> since(ends_.size());
    std::vector<Nanoseconds> gaps;
    size_t candidates = 0;
    for (size_t row = 0; row < ends_.size(); ++row) {
      if (found_.passes[row].kind != StepKind::prefill) continue;
      const auto from = idle_since(row);
      if (!from || *from > start(row)) continue;
      since[row] = from;
      ++candidates;
      if (!waited(row, *from)) gaps.push_back(gap(row, *from));
    }
    // Most of them immediately follow the previous request.
    const bool in_turn = 2 * gaps.size() > candidates && candidates > 2;
    const Nanoseconds usual = gaps.empty() ? 0 : median(std::span(gaps));
    bool first = true;
    for (size_t row = 0; row < since.size(); ++row) {
      if (!since[row]) continue;
      const bool like_others =
          in_turn && (first || gap(row, *since[row]) <= threshold::kWellMore * usual);
      if (waited(row, *since[row]) && !like_others) since[row].reset();
      first = false;
    }
    return since;
  }

 private:
  [[nodiscard]] Nanoseconds start(size_t row) const {
    return sequence_.start(found_.passes[row].begin);
  }
  [[nodiscard]] Nanoseconds taken(size_t row) const {
    return sequence_.end(found_.passes[row].end - 1) - start(row);
  }
  // Whether the program waited for a request.
  [[nodiscard]] bool waited(size_t row, Nanoseconds from) const {
    return gap(row, from) >= threshold::kClearlyMore * taken(row);
  }
  // INT64_MAX if the pass starts before `from`.
  [[nodiscard]] Nanoseconds gap(size_t row, Nanoseconds from) const {
    return from > start(row) ? INT64_MAX : start(row) - from;
  }
  [[nodiscard]] bool adjacent(size_t row) const {
    return found_.traced_since_last(row) && found_.follows(row);
  }

  [[nodiscard]] std::optional<Nanoseconds> idle_since(size_t row) const {
    if (adjacent(row) && found_.passes[row - 1].kind == StepKind::prefill) return ends_[row - 1];
    if (row > 0 && !found_.traced_since_last(row)) return std::nullopt;
    if (row == 0 && !found_.cuts.empty() && found_.cuts.front() <= found_.passes[0].begin) {
      return std::nullopt;
    }
    const auto called = last_call_before(found_.passes[row]);
    // The GPU may have worked longer.
    return called && row > 0 ? std::optional(std::max(*called, ends_[row - 1])) : called;
  }

  // End of the launching thread's last call before the pass that launched GPU work or waited for a
  // GPU.
  [[nodiscard]] std::optional<Nanoseconds> last_call_before(const ForwardPass& pass) const {
    const trace::LaunchRow first = sequence_.launch(pass.begin);
    if (!first.valid()) return std::nullopt;
    const trace::Trace& trace = sequence_.trace();
    const trace::LaunchTable& calls = trace.launches;
    const Nanoseconds launched = calls.start[first.index()];
    std::optional<Nanoseconds> from;
    if (pass.begin > 0 && sequence_.launch(pass.begin - 1).valid()) {
      from = calls.end[sequence_.launch(pass.begin - 1).index()];
    }
    for (size_t row = first.index(); row-- > 0;) {
      if (from && calls.end[row] <= *from) break;
      if (calls.thread[row] != calls.thread[first.index()]) continue;
      if (!trace::waits_for_gpu(trace.api_kind(calls.api[row]))) continue;
      from = std::max(from.value_or(0), std::min(calls.end[row], launched));
      break;
    }
    return from && *from <= launched ? from : std::nullopt;
  }

  const KernelSequence& sequence_;
  const ForwardPasses& found_;
  std::vector<Nanoseconds> ends_;  // when the GPU's work of each pass ends
};

}  // namespace

void own_work(const KernelSequence& sequence, std::span<const OwnedPass> passes,
              WorkOwners& owners) {
  for (const OwnedPass& pass : passes) {
    for (uint32_t at = pass.begin; at < pass.end; ++at) {
      const auto [row, replay] = sequence.item(at);
      (replay ? owners.replay_instance : owners.kernel_instance)[row] = pass.instance;
      (replay ? owners.replay_step : owners.kernel_step)[row] = pass.step;
    }
  }
  const trace::Trace& trace = sequence.trace();
  const trace::MemoryOperationTable& memory = trace.memory_operations;
  size_t at = 0;    // first position that starts after the operation
  size_t next = 0;  // first pass that does not end before `at`
  for (size_t i = 0; i < memory.size(); ++i) {
    if (!sequence.owns(memory.queue[i])) continue;
    while (at < sequence.size() && sequence.start(at) <= memory.start[i]) ++at;
    while (next < passes.size() && passes[next].end < at) ++next;
    // The passes with the positions around the operation.
    const OwnedPass* before = nullptr;
    const OwnedPass* behind = nullptr;
    for (size_t pass = next; pass < passes.size() && pass <= next + 1; ++pass) {
      if (at > passes[pass].begin && at <= passes[pass].end) before = &passes[pass];
      if (at >= passes[pass].begin && at < passes[pass].end) behind = &passes[pass];
    }
    const OwnedPass* owner = behind;
    // A copy long before or after a pass does not belong to it: servers move caches between
    // requests.
    if (before != behind && copies_to_host(trace, i)) {
      const bool near =
          before != nullptr && memory.start[i] - sequence.end(at - 1) < threshold::kNear;
      owner = near ? before : nullptr;
    } else if (before != behind && behind != nullptr &&
               sequence.start(at) - memory.start[i] >= threshold::kNear) {
      owner = nullptr;
    }
    if (owner == nullptr) continue;
    owners.memory_instance[i] = owner->instance;
    owners.memory_step[i] = owner->step;
  }
}

std::vector<std::optional<Nanoseconds>> prepared_since(const KernelSequence& sequence,
                                                       const ForwardPasses& found, bool serving) {
  Preparations preparations(sequence, found);
  return serving ? preparations.of_steps() : preparations.of_prefills();
}

}  // namespace llmprof::analysis
