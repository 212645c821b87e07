#include "analysis/memory/memory_contents.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "analysis/memory/allocating_stacks.h"
#include "analysis/memory/held_segments.h"
#include "analysis/memory/model_tensors.h"
#include "llm/cost.h"

namespace llmprof::analysis {
namespace {

using profile::Bytes;
using profile::ContentBasis;
using profile::MemoryContent;
using trace::AllocatorBlock;
using trace::AllocatorSegment;
using trace::AllocatorState;

struct Use {
  MemoryContent content = MemoryContent::other;
  ContentBasis basis = ContentBasis::remainder;

  auto operator<=>(const Use&) const = default;
};

struct Amount {
  int64_t bytes = 0;
  uint64_t count = 0;

  void add(uint64_t more, uint64_t blocks = 1) {
    add_to(bytes, static_cast<int64_t>(more));
    count += blocks;
  }
};

struct Held {
  std::map<Use, Amount> amounts;
  bool segments_are_known = true;  // otherwise it is less than the allocations in it
};

// An allocation, wherever it is known from.
struct Piece {
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint32_t stack = 0;
  uint32_t event = kNoEvent;
  bool is_private = false;

  [[nodiscard]] std::pair<uint64_t, uint32_t> identity() const { return {address, event}; }
};

constexpr Use kRounding = {MemoryContent::rounding, ContentBasis::allocator};
constexpr Use kUnused = {MemoryContent::unused, ContentBasis::allocator};
constexpr Use kGraphPool = {MemoryContent::graph_pool, ContentBasis::pool};

class Contents {
 public:
  Contents(const SnapshotPart& part, const ContentEvidence& evidence)
      : part_(part),
        evidence_(evidence),
        meanings_(stack_meanings(part.trace, part.snapshot, evidence.engines)),
        tensors_(evidence.model) {
    if (evidence.model != nullptr) per_token_ = llm::kv_bytes_per_token(*evidence.model);
    find_first_pass();
    take_blocks();
    claim_sizes_of_model();
    claim_workspaces();
  }

  void list(profile::Memory& memory) const {
    const Held now = at_snapshot();
    const size_t all = part_.history.rows.size();
    const auto peak = all == 0 ? std::nullopt : std::optional(after(part_.history.peak.events));
    const auto loaded = first_pass_ ? std::optional(after(*first_pass_)) : std::nullopt;
    const auto passes = first_pass_ ? std::optional(after(highest_in_passes())) : std::nullopt;
    std::set<Use> uses;
    for (const auto* held : {&now, peak ? &*peak : nullptr, loaded ? &*loaded : nullptr,
                             passes ? &*passes : nullptr}) {
      if (held == nullptr) continue;
      for (const auto& [use, amount] : held->amounts) uses.insert(use);
    }
    for (const Use& use : uses) {
      profile::MemoryContents& row = memory.contents.emplace_back();
      row.snapshot = part_.index;
      row.device = part_.label;
      row.content = use.content;
      row.basis = use.basis;
      const Amount here = amount_of(now, use);
      row.now = {static_cast<double>(here.bytes)};
      row.blocks_now = here.count;
      row.after_load = bytes_of(loaded, use);
      row.in_passes = bytes_of(passes, use);
      row.at_peak = bytes_of(peak, use);
      if (peak) row.allocations_at_peak = amount_of(*peak, use).count;
    }
    if (evidence_.model != nullptr) memory.models.push_back(of_model(now, passes));
  }

 private:
  static Amount amount_of(const Held& held, const Use& use) {
    const auto found = held.amounts.find(use);
    return found == held.amounts.end() ? Amount() : found->second;
  }
  static std::optional<Bytes> bytes_of(const std::optional<Held>& held, const Use& use) {
    if (!held || (use == kUnused && !held->segments_are_known)) return std::nullopt;
    return Bytes{static_cast<double>(amount_of(*held, use).bytes)};
  }
  static double bytes_of(const Held& held, MemoryContent content) {
    double bytes = 0;
    for (const auto& [use, amount] : held.amounts) {
      if (use.content == content) bytes += static_cast<double>(amount.bytes);
    }
    return bytes;
  }

  // If the first events are lost, the first pass may be among them.
  void find_first_pass() {
    if (part_.snapshot.overflowed.value_or(false)) return;
    const trace::AllocatorEventTable& events = part_.snapshot.events;
    for (size_t i = 0; i < part_.history.rows.size(); ++i) {
      const uint32_t row = part_.history.rows[i];
      if (events.action[row] != trace::AllocatorAction::alloc) continue;
      if (!meanings_[events.stack[row]].in_pass) continue;
      first_pass_ = i;
      return;
    }
  }

  template <class Handle>
  void each_segment(const Handle& handle) const {
    for (const AllocatorSegment& segment : part_.snapshot.segments) {
      if (segment.device == part_.device) handle(segment);
    }
  }

  void take_blocks() {
    const LiveAllocations live = replay(part_.snapshot, part_.history, part_.history.rows.size());
    each_segment([&](const AllocatorSegment& segment) {
      for (uint32_t i = 0; i < segment.blocks; ++i) {
        const AllocatorBlock& block = part_.snapshot.blocks[segment.first_block + i];
        if (block.state == AllocatorState::inactive) continue;
        const LiveAllocation* known = live.at(block.address);
        blocks_.push_back({block.address, block.requested, block.stack,
                           known == nullptr ? kNoEvent : known->event, segment.pool.is_private()});
      }
    });
  }

  void claim(const Piece& piece, const Use& use) { claimed_[piece.identity()] = use; }

  // Blocks whose code is not known: a complete set of the model's tensors, or caches of its layers.
  void claim_sizes_of_model() {
    if (evidence_.model == nullptr) return;
    std::vector<const Piece*> unknown;
    ModelTensors::CountBySize counts;
    for (const Piece& block : blocks_) {
      const StackMeaning& meaning = meanings_[block.stack];
      if (meaning.code || block.is_private) continue;
      unknown.push_back(&block);
      ++counts[block.bytes];
    }
    if (tensors_.exact_sets_in(counts) > 0) {
      for (const Piece* block : unknown) {
        if (tensors_.has(block->bytes)) {
          claim(*block, {MemoryContent::weights, ContentBasis::model_size});
        }
      }
      std::erase_if(unknown, [&](const Piece* block) { return tensors_.has(block->bytes); });
    }
    const auto cache = size_of_caches(unknown);
    for (const Piece* block : unknown) {
      if (block->bytes == cache) claim(*block, {MemoryContent::kv_cache, ContentBasis::model_size});
    }
  }

  // Of one for each layer, or for its keys and its values, if only blocks of one size can be that.
  [[nodiscard]] std::optional<uint64_t> size_of_caches(
      const std::vector<const Piece*>& unknown) const {
    ModelTensors::CountBySize counts;
    for (const Piece* block : unknown) ++counts[block->bytes];
    const size_t layers = evidence_.model->layers.size();
    std::optional<uint64_t> found;
    for (const auto& [bytes, count] : counts) {
      const bool per_layer = layers > 1 && (count == layers || count == 2 * layers);
      if (!per_layer || !is_blocks_of_tokens(static_cast<double>(bytes * count))) continue;
      if (found) return std::nullopt;
      found = bytes;
    }
    return found;
  }
  [[nodiscard]] bool is_blocks_of_tokens(double bytes) const {
    constexpr double kTokensOfBlock = 16;
    return per_token_ >= 1 && bytes > 0 && std::fmod(bytes, per_token_ * kTokensOfBlock) == 0;
  }

  [[nodiscard]] bool is_size_of_workspace(uint64_t bytes) const {
    return std::ranges::any_of(evidence_.engines.all(), [&](const EngineRule& engine) {
      return std::ranges::any_of(engine.allocated_by, [&](const AllocationRule& rule) {
        return rule.frame == nullptr && rule.bytes == bytes;
      });
    });
  }

  // A library has one for each stream, and keeps it; results of operators are freed.
  void claim_workspaces() {
    std::map<std::pair<uint64_t, uint64_t>, std::vector<const Piece*>> found;  // by stream, size
    size_t next = 0;
    each_segment([&](const AllocatorSegment& segment) {
      for (uint32_t i = 0; i < segment.blocks; ++i) {
        const AllocatorBlock& block = part_.snapshot.blocks[segment.first_block + i];
        if (block.state == AllocatorState::inactive) continue;
        const Piece& piece = blocks_[next++];
        const StackMeaning& meaning = meanings_[piece.stack];
        if (segment.pool.is_private() || !meaning.in_pass) continue;
        if (meaning.code != AllocatingCode::forward_pass) continue;
        if (is_size_of_workspace(piece.bytes)) {
          found[{segment.stream, piece.bytes}].push_back(&piece);
        }
      }
    });
    for (const auto& [key, pieces] : found) {
      if (pieces.size() > 1) continue;
      claim(*pieces.front(), {MemoryContent::workspace, ContentBasis::workspace_size});
    }
  }

  [[nodiscard]] bool is_whole_tokens(uint64_t bytes) const {
    if (evidence_.model == nullptr || per_token_ <= 0) return false;
    // Keys or values of one token in one layer.
    const double least = per_token_ / (2 * static_cast<double>(evidence_.model->layers.size()));
    return least >= 1 && std::fmod(static_cast<double>(bytes), least) == 0;
  }

  [[nodiscard]] Use use_of(const Piece& piece) const {
    const StackMeaning& meaning = meanings_[piece.stack];
    if (meaning.code == AllocatingCode::weights) {
      return {MemoryContent::weights,
              tensors_.has(piece.bytes) ? ContentBasis::stack_and_size : ContentBasis::stack};
    }
    if (meaning.code == AllocatingCode::kv_cache) {
      return {MemoryContent::kv_cache,
              is_whole_tokens(piece.bytes) ? ContentBasis::stack_and_size : ContentBasis::stack};
    }
    if (piece.is_private) return kGraphPool;
    const auto claimed = claimed_.find(piece.identity());
    if (claimed != claimed_.end()) return claimed->second;
    if (meaning.code == AllocatingCode::workspace) {
      return {MemoryContent::workspace, ContentBasis::stack};
    }
    if (meaning.in_pass) return {MemoryContent::activations, ContentBasis::stack};
    return {};
  }

  // Events until active bytes were highest since the first pass.
  [[nodiscard]] size_t highest_in_passes() const {
    LiveAllocations live;
    for (const LiveAllocation& each : part_.history.at_start) live.add(each);
    int64_t level = 0;
    int64_t most = INT64_MIN;
    size_t events = 0;
    for (size_t i = 0; i < part_.history.rows.size(); ++i) {
      add_to(level, live.apply(part_.snapshot.events, part_.history.rows[i]).level.active);
      if (i < *first_pass_ || level <= most) continue;
      most = level;
      events = i + 1;
    }
    return events;
  }

  // Returns the bytes of a private pool that are not of the pool's own use.
  [[nodiscard]] int64_t add_piece(const Piece& piece, Held& held) const {
    const Use use = use_of(piece);
    held.amounts[use].add(piece.bytes);
    return piece.is_private && use != kGraphPool ? static_cast<int64_t>(piece.bytes) : 0;
  }

  [[nodiscard]] Held at_snapshot() const {
    Held held;
    int64_t in_private = 0;
    int64_t reserved = 0;
    int64_t rounding = 0;
    for (const Piece& block : blocks_) subtract_from(in_private, add_piece(block, held));
    each_segment([&](const AllocatorSegment& segment) {
      add_to(reserved, static_cast<int64_t>(segment.size));
      if (segment.pool.is_private()) {
        add_to(in_private, static_cast<int64_t>(segment.size));
        return;
      }
      for (uint32_t i = 0; i < segment.blocks; ++i) {
        const AllocatorBlock& block = part_.snapshot.blocks[segment.first_block + i];
        if (block.state == AllocatorState::inactive) continue;
        add_to(rounding, static_cast<int64_t>(block.size - block.requested));
      }
    });
    held.amounts[kRounding].bytes = rounding;
    finish(in_private, reserved, held);
    return held;
  }

  [[nodiscard]] Held after(size_t events) const {
    Held held;
    const HeldSegments segments(part_.snapshot, part_.device, part_.history, events);
    int64_t in_private = segments.in_private_pools();
    for (const LiveAllocation& live : replay(part_.snapshot, part_.history, events).all()) {
      const Piece piece = {live.address, live.size, live.stack, live.event,
                           segments.is_private(live.address)};
      subtract_from(in_private, add_piece(piece, held));
    }
    finish(in_private, segments.reserved(), held);
    return held;
  }

  // `in_private`: bytes of private pools without weights and KV cache in them.
  static void finish(int64_t in_private, int64_t reserved, Held& held) {
    held.amounts[kGraphPool].bytes = in_private;
    int64_t unused = reserved;
    for (const auto& [use, amount] : held.amounts) subtract_from(unused, amount.bytes);
    held.segments_are_known = unused >= 0;
    if (held.segments_are_known) held.amounts[kUnused].bytes = unused;
    std::erase_if(held.amounts, [](const auto& each) {
      return each.second.bytes == 0 && each.second.count == 0;
    });
  }

  [[nodiscard]] uint64_t tokens_in(const Held& held) const {
    if (per_token_ <= 0) return 0;
    return llm::whole_count(bytes_of(held, MemoryContent::kv_cache) / per_token_);
  }

  [[nodiscard]] profile::ModelMemory of_model(const Held& now,
                                              const std::optional<Held>& passes) const {
    profile::ModelMemory row;
    row.snapshot = part_.index;
    row.device = part_.label;
    row.weights = {llm::weight_bytes(*evidence_.model)};
    row.bytes_per_token = {per_token_};
    const double found = bytes_of(now, MemoryContent::weights);
    if (found > 0) row.found_weights = Bytes{found};
    ModelTensors::CountBySize counts;
    for (const Piece& block : blocks_) {
      if (use_of(block).content == MemoryContent::weights) ++counts[block.bytes];
    }
    row.weight_sets = tensors_.sets_in(counts);
    row.cache_tokens = tokens_in(now);
    if (passes) row.cache_tokens_in_passes = tokens_in(*passes);
    return row;
  }

  const SnapshotPart& part_;
  const ContentEvidence& evidence_;
  std::vector<StackMeaning> meanings_;
  ModelTensors tensors_;
  double per_token_ = 0;
  std::optional<size_t> first_pass_;  // events before it
  std::vector<Piece> blocks_;         // in use at the snapshot
  std::map<std::pair<uint64_t, uint32_t>, Use> claimed_;
};

}  // namespace

void add_contents(const SnapshotPart& part, const ContentEvidence& evidence,
                  profile::Memory& memory) {
  Contents(part, evidence).list(memory);
}

}  // namespace llmprof::analysis
