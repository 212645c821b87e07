#include <algorithm>
#include <utility>

#include "readers/requests/engine_spans.h"

namespace llmprof::readers {
namespace {

using trace::kNoCount;
using trace::kNoTime;

constexpr size_t kDeepest = 16;  // spans above one another; damaged files have circles

void keep_earliest(Nanoseconds& time, Nanoseconds other) {
  if (time == kNoTime || other < time) time = other;
}

}  // namespace

SglangSpans::Work SglangSpans::work_of(std::string_view name) {
  if (name == "prefill_waiting") return Work::waiting;
  if (name == "prefill_forward") return Work::prefill;
  if (name == "decode_loop") return Work::decode_step;
  return Work::other;
}

void SglangSpans::add(const OtlpSpan& span) {
  Piece piece{.parent = span.parent,
              .start = span.start,
              .end = span.end,
              .decode_step = span.decode_step,
              .work = work_of(span.name)};
  if (!span.request_id.empty()) {
    piece.work = Work::request;
    piece.request = static_cast<uint32_t>(requests_.size());
    RequestRow& row = requests_.emplace_back();
    row.id = span.request_id;
    row.sent = span.start;
    row.end = span.end;
    row.prompt_tokens = span.prompt_tokens;
    row.output_tokens = span.output_tokens;
    row.cached_tokens = span.cached_tokens;
    if (span.first_token_s) {
      const Nanoseconds wait = nanoseconds_of_seconds(*span.first_token_s);
      if (wait >= 0) row.first_token = time_after(span.start, wait);
    }
    if (span.finish_reason == "abort") row.status = trace::RequestStatus::cancelled;
    if (span.failed) row.status = trace::RequestStatus::failed;
  }
  by_id_.try_emplace(span.id, pieces_.size());
  pieces_.push_back(piece);
}

// Ranks of tensor parallelism each record the same steps; the first to end counts.
void SglangSpans::add_work(const Piece& piece, std::vector<Progress>& progress,
                           Requests& found) const {
  if (piece.work == Work::request || piece.work == Work::other) return;
  const Piece* above = &piece;
  for (size_t depth = 0; depth < kDeepest && above->work != Work::request; ++depth) {
    const auto parent = by_id_.find(above->parent);
    if (parent == by_id_.end()) break;
    above = &pieces_[parent->second];
  }
  if (above->work != Work::request) {
    ++found.without_request;
    return;
  }
  Progress& of = progress[above->request];
  if (piece.work == Work::waiting) keep_earliest(of.first_step, piece.end);
  if (piece.work == Work::prefill) {
    keep_earliest(of.first_step, piece.start);
    keep_earliest(of.prefilled, piece.end);
  }
  if (piece.work == Work::decode_step) {
    const uint64_t step = piece.decode_step == kNoCount ? of.decoded.size() : piece.decode_step;
    keep_earliest(of.decoded.try_emplace(step, piece.end).first->second, piece.end);
  }
}

// Prefill gives the first token, each decode step one more.
void SglangSpans::finish(Progress& progress, RequestRow& row) {
  if (progress.first_step != kNoTime && progress.first_step >= row.sent) {
    row.queued = progress.first_step - row.sent;
  }
  if (progress.decoded.empty()) {
    if (row.first_token == kNoTime) row.first_token = progress.prefilled;
  } else if (progress.prefilled != kNoTime) {
    row.first_token = kNoTime;
    row.chunks.push_back({progress.prefilled, 1});
    for (const auto& [step, end] : progress.decoded) row.chunks.push_back({end, 1});
    std::ranges::sort(row.chunks, {}, &RequestChunk::time);
  }
}

SglangSpans::Requests SglangSpans::find_requests() {
  Requests found;
  std::vector<Progress> progress(requests_.size());
  for (const Piece& piece : pieces_) add_work(piece, progress, found);
  for (size_t i = 0; i < requests_.size(); ++i) {
    found.has_decode_steps = found.has_decode_steps || !progress[i].decoded.empty();
    finish(progress[i], requests_[i]);
  }
  found.rows = std::exchange(requests_, {});
  return found;
}

}  // namespace llmprof::readers
