#include "analysis/requests/prompts.h"

#include <algorithm>
#include <tuple>

namespace llmprof::analysis {
namespace {

// A pass's tokens that are of prompts.
struct PromptTokens {
  uint32_t pass = 0;
  uint64_t tokens = 0;
  bool gives_first = false;  // some prompt ends in it
};

// Of a batch; `decode_rows`: rows of the batch that are not first tokens.
std::vector<PromptTokens> tokens_of_passes(const EngineBatches& engine, const EngineBatch& batch,
                                           uint64_t decode_rows) {
  for (const BatchPass& pass : engine.passes_of(batch)) {
    if (!pass.takes_prompts()) decode_rows -= std::min(decode_rows, pass.rows.value_or(0));
  }
  std::vector<PromptTokens> found;
  for (uint32_t row = batch.first_pass; row < batch.first_pass + batch.passes; ++row) {
    const BatchPass& pass = engine.passes[row];
    if (!pass.takes_prompts()) continue;
    uint64_t decoded = 0;
    if (pass.kind == StepKind::mixed) {
      decoded = std::min(decode_rows, pass.rows.value_or(decode_rows));
      decode_rows -= decoded;
    }
    const uint64_t tokens = pass.tokens.value_or(decoded + 1);
    const uint64_t of_prompts = pass.prompt_tokens.value_or(tokens - std::min(tokens, decoded));
    found.push_back({row, of_prompts, pass.rows.value_or(1) > decoded});
  }
  return found;
}

// What a prompt has in a batch.
struct Share {
  const Prompt* prompt = nullptr;
  uint64_t tokens = 0;
};

class Assignment {
 public:
  Assignment(const EngineBatches& engine, std::span<const Prompt> prompts,
             std::span<const uint32_t> decode_tokens)
      : engine_(engine), decode_tokens_(decode_tokens) {
    for (const Prompt& prompt : prompts) open_.push_back({&prompt, prompt.tokens});
    // The one that ends last comes first; of those that end together, the later one. It is not
    // certain that a sequence was evicted.
    std::ranges::sort(open_, [](const Open& a, const Open& b) {
      return std::tuple(a.prompt->batch, !a.prompt->again, a.prompt->known_from) >
             std::tuple(b.prompt->batch, !b.prompt->again, b.prompt->known_from);
    });
  }

  std::vector<PromptPart> run() {
    for (auto batch = static_cast<uint32_t>(engine_.batches.size()); batch-- > 0;) {
      while (next_ < open_.size() && open_[next_].prompt->batch >= batch) {
        active_.push_back(open_[next_++]);
      }
      assign(batch);
    }
    std::ranges::stable_sort(parts_, {}, &PromptPart::pass);
    return std::move(parts_);
  }

 private:
  struct Open {
    const Prompt* prompt = nullptr;
    std::optional<uint64_t> left;
  };

  void assign(uint32_t batch) {
    const EngineBatch& of = engine_.batches[batch];
    std::erase_if(active_, [&](const Open& open) {
      return open.left == 0U || of.end.results_read <= open.prompt->known_from;
    });
    const auto passes = tokens_of_passes(engine_, of, decode_tokens_[batch]);
    if (passes.empty()) return;
    uint64_t tokens = 0;
    for (const PromptTokens& pass : passes) tokens += pass.tokens;
    place(batch, passes, shares(batch, tokens));
  }

  // A prompt that ends before one that was known earlier went first, so it has what it needs, and
  // the other one the rest. Otherwise the one that ends last took what was left for it. An evicted
  // sequence waits until it may come back: its prompt says nothing of the order.
  std::vector<Open*> by_claim() {
    std::vector<Open*> overtakes;
    std::vector<Open*> waits;
    Nanoseconds earliest = INT64_MAX;  // known, of those that end in later batches
    Nanoseconds of_batch = INT64_MAX;
    uint32_t batch = kNoBatch;
    for (Open& open : active_) {
      const Prompt& prompt = *open.prompt;
      if (prompt.again) {
        waits.push_back(&open);
        continue;
      }
      if (prompt.batch != batch) earliest = std::min(earliest, of_batch);
      batch = prompt.batch;
      of_batch = std::min(of_batch, prompt.known_from);
      (earliest < prompt.known_from ? overtakes : waits).push_back(&open);
    }
    overtakes.insert(overtakes.end(), waits.begin(), waits.end());
    return overtakes;
  }

  // Each prompt that ends in the batch has at least one token of it.
  std::vector<Share> shares(uint32_t batch, uint64_t tokens) {
    uint64_t ending = 0;
    for (const Open& open : active_) ending += open.prompt->batch == batch ? 1 : 0;
    uint64_t free = tokens - std::min(tokens, ending);
    std::vector<Share> shares;
    for (Open* const of : by_claim()) {
      Open& open = *of;
      const uint64_t own = open.prompt->batch == batch ? 1 : 0;
      const uint64_t room = free + own;
      const uint64_t taken = std::min(open.left.value_or(room), room);
      if (taken == 0) continue;
      free -= taken - std::min(taken, own);
      if (open.left) *open.left -= taken;
      shares.push_back({open.prompt, taken});
    }
    return shares;
  }

  // The prompts of a batch follow each other; which way is seen where they end.
  void place(uint32_t batch, const std::vector<PromptTokens>& passes, std::vector<Share> shares) {
    const auto ends = [&](const Share& share) { return share.prompt->batch == batch; };
    std::ranges::reverse(shares);  // earlier ones first
    std::vector<Share> ending_last = shares;
    std::ranges::stable_partition(shares, ends);
    std::ranges::stable_partition(ending_last, [&](const Share& share) { return !ends(share); });
    const bool last =
        ends_that_fit(batch, passes, ending_last) > ends_that_fit(batch, passes, shares);
    fill(batch, passes, last ? ending_last : shares);
  }

  static uint64_t ends_that_fit(uint32_t batch, const std::vector<PromptTokens>& passes,
                                const std::vector<Share>& shares) {
    uint64_t fit = 0;
    uint64_t reached = 0;
    for (const Share& share : shares) {
      reached += share.tokens;
      if (share.prompt->batch != batch) continue;
      uint64_t behind = 0;
      for (const PromptTokens& pass : passes) {
        behind += pass.tokens;
        if (behind < reached) continue;
        fit += pass.gives_first ? 1 : 0;
        break;
      }
    }
    return fit;
  }

  void fill(uint32_t batch, const std::vector<PromptTokens>& passes, std::vector<Share>& shares) {
    size_t at = 0;
    for (const PromptTokens& pass : passes) {
      uint64_t left = pass.tokens;
      for (; left > 0 && at < shares.size(); ++at) {
        const uint64_t taken = std::min(left, shares[at].tokens);
        if (taken > 0) parts_.push_back({pass.pass, batch, shares[at].prompt->request, taken});
        left -= taken;
        shares[at].tokens -= taken;
        if (shares[at].tokens > 0) break;
      }
      if (left > 0) parts_.push_back({pass.pass, batch, kNoRequest, left});
    }
  }

  const EngineBatches& engine_;
  std::span<const uint32_t> decode_tokens_;
  std::vector<Open> open_;
  size_t next_ = 0;
  std::vector<Open> active_;  // the one that ends last comes first
  std::vector<PromptPart> parts_;
};

}  // namespace

std::vector<PromptPart> prompt_parts(const EngineBatches& engine, std::span<const Prompt> prompts,
                                     std::span<const uint32_t> decode_tokens) {
  return Assignment(engine, prompts, decode_tokens).run();
}

}  // namespace llmprof::analysis
