#include "exports/perfetto/request_tracks.h"

#include <algorithm>
#include <string>

namespace llmprof::exports {
namespace {

using profile::JoinState;
using profile::RequestPart;

// Whether the times of requests are on the capture's clock.
bool on_clock_of_capture(const profile::Requests* requests) {
  if (requests == nullptr) return false;
  const JoinState state = requests->join.state;
  return state == JoinState::joined || state == JoinState::low_coverage ||
         state == JoinState::no_token_times;
}

Nanoseconds queue_of(const profile::Request& request) {
  for (const auto& [part, time] : request.ttft_parts) {
    if (part == RequestPart::queue) return time.value;
  }
  return 0;
}

}  // namespace

Nanoseconds first_sent(const ExportSource& source) {
  Nanoseconds first = INT64_MAX;
  if (!on_clock_of_capture(source.requests())) return first;
  for (const profile::Request& item : source.requests()->items) {
    if (item.sent) first = std::min(first, to_nanoseconds(*item.sent));
  }
  return first;
}

RequestTracks::RequestTracks(const ExportSource& source, uint64_t first_flow)
    : steps_(source.results.stages.steps), next_flow_(first_flow) {
  if (!on_clock_of_capture(source.requests())) return;
  requests_ = source.requests();
  flows_of_step_.resize(steps_.size());
  const auto& items = requests_->items;
  flows_of_request_.resize(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    if (!items[i].sent) continue;
    flows_of_request_[i].resize(items[i].token_times.size());
    for (size_t chunk = 0; chunk < items[i].token_times.size(); ++chunk) add_flow(i, chunk);
  }
  for (const profile::RequestGap& gap : requests_->slowest_gaps) {
    slow_[{gap.request, gap.chunk}] = &gap;
  }
}

// A flow must begin at the slice that starts first. Of slices with equal starts, that of the
// request is first in the file.
void RequestTracks::add_flow(size_t request, size_t chunk) {
  const profile::RequestBatch* batch = batch_of(request, chunk);
  if (batch == nullptr || batch->steps == 0) return;
  const uint64_t step = batch->first_step + batch->steps - 1;
  if (step >= steps_.size()) return;
  const uint64_t flow = next_flow_++;
  const bool from_token = start_of(request, chunk) <= steps_[step].start;
  auto& [begins, ends] = flows_of_step_[step];
  (from_token ? ends : begins).push_back(flow);
  flows_of_request_[request][chunk] = {flow, from_token};
}

const profile::RequestBatch* RequestTracks::batch_of(size_t request, size_t chunk) const {
  const auto& of_tokens = requests_->items[request].token_batches;
  if (chunk >= of_tokens.size() || of_tokens[chunk] < 0) return nullptr;
  const auto row = static_cast<size_t>(of_tokens[chunk]);
  return row < requests_->batches.size() ? &requests_->batches[row] : nullptr;
}

Nanoseconds RequestTracks::start_of(size_t request, size_t chunk) const {
  const profile::Request& item = requests_->items[request];
  const Nanoseconds sent = to_nanoseconds(*item.sent);
  return sent + (chunk == 0 ? queue_of(item) : item.token_times[chunk - 1].value);
}

void RequestTracks::write(TraceFile& file) const {
  if (requests_ == nullptr) return;
  const TraceFile::Process group = file.process("Requests", 0);
  for (size_t i = 0; i < requests_->items.size(); ++i) {
    const profile::Request& item = requests_->items[i];
    if (item.sent && !item.token_times.empty()) write_request(i, group.uuid, file);
  }
}

void RequestTracks::write_request(size_t row, TrackUuid group, TraceFile& file) const {
  const profile::Request& item = requests_->items[row];
  Sequence sequence = file.sequence(file.track(group, "request " + item.id));
  const Nanoseconds sent = to_nanoseconds(*item.sent);
  const TextId category = file.text("request");
  std::vector<Annotation> annotations = {{file.text("status"), file.text(to_string(item.status))}};
  const auto add = [&](std::string_view name, const std::optional<uint64_t>& value) {
    if (value) annotations.push_back({file.text(name), *value});
  };
  add("prompt_tokens", item.prompt_tokens);
  add("output_tokens", item.output_tokens);
  add("cached_tokens", item.cached_tokens);
  if (const Nanoseconds queue = queue_of(item); queue > 0) {
    sequence.begin(sent, {file.text(to_string(RequestPart::queue)), category, annotations});
    sequence.end(sent + queue);
  }
  const bool joined = !item.parts.empty() || !item.ttft_parts.empty();
  auto wait = item.waits.begin();
  for (size_t chunk = 0; chunk < item.token_times.size(); ++chunk) {
    if (chunk > 0) annotations.clear();
    add("chunk", chunk);
    if (const auto* batch = batch_of(row, chunk)) add("sequences", batch->rows);
    const auto slow = slow_.find({row, chunk});
    const auto& parts = chunk == 0            ? item.ttft_parts
                        : slow != slow_.end() ? slow->second->parts
                                              : kNoParts;
    for (const auto& [part, time] : parts) {
      add(std::string(to_string(part)) + "_ns", static_cast<uint64_t>(time.value));
    }
    while (wait != item.waits.end() && wait->chunk < chunk) ++wait;
    const bool waits = wait != item.waits.end() && wait->chunk == chunk;
    const std::string_view name = chunk == 0 ? "prefill"
                                  : waits    ? to_string(wait->part)
                                  : joined   ? to_string(RequestPart::own_decode)
                                             : "token";
    Slice slice{file.text(name), category, annotations};
    if (const TokenFlow& flow = flows_of_request_[row][chunk]; flow.id != 0) {
      (flow.from_token ? slice.flow_from : slice.flow_to) = flow.id;
    }
    sequence.begin(start_of(row, chunk), slice);
    sequence.end(sent + item.token_times[chunk].value);
  }
}

}  // namespace llmprof::exports
