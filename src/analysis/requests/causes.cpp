#include "analysis/requests/causes.h"

#include <numeric>

namespace llmprof::analysis {

profile::ByWord<RequestPart, profile::WholeNanoseconds> named_parts(const PartSums& parts) {
  profile::ByWord<RequestPart, profile::WholeNanoseconds> words;
  for (size_t part = 0; part < kRequestParts; ++part) {
    if (parts[part] != 0) words.push_back({static_cast<RequestPart>(part), {parts[part]}});
  }
  return words;
}

Causes::Causes(const EngineBatches& engine, const EngineTime& time, const TokenJoin& join,
               std::span<const TokenRequest> requests, std::span<const TokenChunk> chunks,
               std::span<const Prompt> prompts, std::span<const PromptPart> parts)
    : engine_(engine),
      time_(time),
      join_(join),
      requests_(requests),
      chunks_(chunks),
      first_prompt_(requests.size() + 1, 0) {
  for (const Prompt& prompt : prompts) ends_.emplace(prompt.request, prompt.batch);
  for (const PromptPart& part : parts) {
    if (part.request != kNoRequest) ++first_prompt_[part.request + 1];
  }
  std::partial_sum(first_prompt_.begin(), first_prompt_.end(), first_prompt_.begin());
  prompt_batches_.resize(first_prompt_.back());
  std::vector<uint32_t> next(first_prompt_.begin(), first_prompt_.end() - 1);
  for (const PromptPart& part : parts) {
    if (part.request != kNoRequest) prompt_batches_[next[part.request]++] = part.batch;
  }
}

// Of one request, along the engine's time.
class Causes::Walk {
 public:
  Walk(const Causes& in, uint32_t request, Nanoseconds end, const Visit& visit)
      : in_(in),
        request_(request),
        of_(in.requests_[request]),
        end_(end),
        visit_(visit),
        prompts_(std::span(in.prompt_batches_)
                     .subspan(in.first_prompt_[request],
                              in.first_prompt_[request + 1] - in.first_prompt_[request])) {}

  void run() {
    const auto& pieces = in_.time_.pieces;
    piece_ = static_cast<size_t>(std::ranges::upper_bound(pieces, of_.sent, {}, &TimePiece::end) -
                                 pieces.begin());
    now_ = of_.sent;
    for (uint32_t i = 0; i < of_.chunks; ++i) {
      interval_ = {};
      interval_.chunk = i;
      interval_.start = now_;
      waits_.clear();
      to_chunk(of_.first_chunk + i);
      finish();
    }
    if (end_ <= now_) return;
    interval_ = {};
    interval_.chunk = of_.chunks;
    interval_.start = now_;
    waits_.clear();
    const bool known = of_.chunks > 0 && in_.join_.joined(of_.first_chunk + of_.chunks - 1);
    charge(known ? RequestPart::delivery : RequestPart::not_recorded, end_);
    finish();
  }

 private:
  void finish() {
    interval_.end = now_;
    interval_.waits = waits_;
    visit_(interval_);
  }

  void charge(RequestPart part, Nanoseconds until) {
    if (until <= now_) return;
    interval_.parts[static_cast<size_t>(part)] += until - now_;
    now_ = until;
  }

  void to_chunk(uint32_t chunk) {
    const Nanoseconds arrival = std::max(std::min(in_.chunks_[chunk].time, end_), now_);
    if (!in_.join_.joined(chunk)) {
      charge(RequestPart::not_recorded, arrival);
      before_ = kNoBatch;
      return;
    }
    const uint32_t batch = in_.join_.batch[chunk];
    const uint32_t width = in_.join_.token_per_batch ? in_.chunks_[chunk].tokens : 1;
    const Nanoseconds read = std::min(in_.engine_.batches[batch].end.results_read, arrival);
    if (chunk == of_.first_chunk) {
      const uint32_t begins = prompts_.empty() ? batch : std::min(prompts_.front(), batch);
      wait_in_queue(std::min(in_.time_.begins[begins], read));
    }
    const uint32_t first = batch - width + 1;
    const bool of_prompt = in_.ends_.contains({request_, first});
    // It left the batch and comes back with a prompt, until whose first pass it was in no batch.
    if (of_prompt && chunk != of_.first_chunk) wait_outside(returns_to(first), read);
    through_pieces(read, first, of_prompt || chunk == of_.first_chunk);
    charge(RequestPart::delivery, arrival);
    before_ = batch;
  }

  // Calls each(piece, until) for the pieces up to `until`; time without a piece was not recorded.
  template <class Each>
  void along(Nanoseconds until, const Each& each) {
    const auto& pieces = in_.time_.pieces;
    if (now_ < in_.time_.start) {
      charge(RequestPart::not_recorded, std::min(until, in_.time_.start));
    }
    while (now_ < until) {
      while (piece_ < pieces.size() && pieces[piece_].end <= now_) ++piece_;
      if (piece_ == pieces.size()) return charge(RequestPart::not_recorded, until);
      each(pieces[piece_], std::min(until, pieces[piece_].end));
    }
  }

  void wait_in_queue(Nanoseconds until) {
    along(until, [&](const TimePiece& piece, Nanoseconds to) {
      if (piece.kind == TimeKind::prefill) wait_for(piece.owner, to - now_);
      const bool unknown = piece.kind == TimeKind::not_recorded;
      charge(unknown ? RequestPart::not_recorded : RequestPart::queue, to);
    });
  }

  // The batch with the first part of the prompt that ends in batch `first`.
  [[nodiscard]] uint32_t returns_to(uint32_t first) const {
    if (before_ == kNoBatch) return first;
    const auto part = std::ranges::upper_bound(prompts_, before_);
    return part == prompts_.end() ? first : std::min(*part, first);
  }

  void wait_outside(uint32_t batch, Nanoseconds until) {
    interval_.preempted = true;
    const Nanoseconds back = in_.engine_.passes[in_.engine_.batches[batch].first_pass].start;
    along(std::min(back, until), [&](const TimePiece& piece, Nanoseconds to) {
      const bool unknown = piece.kind == TimeKind::not_recorded;
      const bool still_in = piece.batch == before_;
      if (!unknown && still_in) return charge(part_of(piece, true), to);
      charge(unknown ? RequestPart::not_recorded : RequestPart::out_of_batch, to);
    });
  }

  // `first`: the first batch that makes a token of the chunk.
  void through_pieces(Nanoseconds until, uint32_t first, bool of_prompt) {
    uint32_t left = kNoBatch;  // the last batch without the request
    along(until, [&](const TimePiece& piece, Nanoseconds to) {
      const bool decodes = !of_prompt && (piece.batch >= first || piece.batch == before_);
      const bool takes_part =
          decodes || (of_prompt && piece.batch == first) || has_prompt(piece.batch);
      if (!takes_part && in_.time_.decodes[piece.batch] && piece.kind != TimeKind::not_recorded) {
        if (!of_prompt && before_ != kNoBatch && (left == kNoBatch || piece.batch > left + 1)) {
          interval_.preempted = true;
        }
        left = piece.batch;
        return charge(RequestPart::out_of_batch, to);
      }
      if (piece.kind == TimeKind::prefill && piece.owner != request_) {
        wait_for(piece.owner, to - now_);
      }
      charge(part_of(piece, decodes), to);
    });
  }

  [[nodiscard]] RequestPart part_of(const TimePiece& piece, bool decodes) const {
    using enum RequestPart;
    switch (piece.kind) {
      case TimeKind::host:
        return host;
      case TimeKind::prefill:
        return piece.owner == request_ ? own_prefill : others_prefill;
      case TimeKind::decode_alone:
        return decodes ? own_decode : others_decode;
      case TimeKind::decode_more:
        return others_decode;
      case TimeKind::graph_miss:
        return graph_miss;
      case TimeKind::lowered_clocks:
        return lowered_clocks;
      case TimeKind::communication:
        return communication;
      case TimeKind::not_recorded:
        break;
    }
    return not_recorded;
  }

  [[nodiscard]] bool has_prompt(uint32_t batch) const {
    return std::ranges::binary_search(prompts_, batch);
  }

  void wait_for(uint32_t owner, Nanoseconds time) {
    if (owner == kNoRequest || owner == request_) return;
    const auto known = std::ranges::find(waits_, owner, &WaitFor::owner);
    if (known == waits_.end()) {
      waits_.push_back({owner, time});
    } else {
      known->time += time;
    }
  }

  const Causes& in_;
  uint32_t request_;
  const TokenRequest& of_;
  Nanoseconds end_;
  const Visit& visit_;
  std::span<const uint32_t> prompts_;
  size_t piece_ = 0;
  Nanoseconds now_ = 0;
  uint32_t before_ = kNoBatch;  // the batch of the chunk before
  RequestInterval interval_;
  std::vector<WaitFor> waits_;
};

void Causes::each_interval(uint32_t request, Nanoseconds end, const Visit& visit) const {
  Walk(*this, request, end, visit).run();
}

}  // namespace llmprof::analysis
