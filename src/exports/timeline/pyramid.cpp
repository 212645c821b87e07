#include "exports/timeline/pyramid.h"

#include <algorithm>
#include <bit>

namespace llmprof::exports {
namespace {

constexpr Nanoseconds kAtLeast = 1;

uint32_t shift_for(Nanoseconds coarsest) {
  constexpr int kBits = 31;
  const int needed = static_cast<int>(std::bit_width(static_cast<uint64_t>(coarsest)));
  return static_cast<uint32_t>(std::max(0, needed - kBits));
}

}  // namespace

void Pyramid::Bin::add(const Bin& other) {
  busy += other.busy;
  for (size_t kind = 0; kind < kClasses; ++kind) by_class[kind] += other.by_class[kind];
}

Pyramid::Pyramid(const Window& window)
    : origin_(window.origin),
      bin_(std::max(kAtLeast, (window.span() + static_cast<Nanoseconds>(kFinestBins) - 1) /
                                  static_cast<Nanoseconds>(kFinestBins))),
      shift_(shift_for(bin_ * static_cast<Nanoseconds>(kFinestBins / kFewestBins * kWider))),
      busy_until_(window.origin) {
  Nanoseconds width = bin_;
  for (size_t bins = static_cast<size_t>(window.span() / bin_) + 1;;
       bins = (bins + kWider - 1) / kWider) {
    levels_.push_back({width, bins, {}, {}, {}});
    if (bins <= kFewestBins) return;
    width *= static_cast<Nanoseconds>(kWider);
  }
}

void Pyramid::add(Nanoseconds start, Nanoseconds end, uint8_t kernel_class) {
  const Nanoseconds fresh = std::max(start, busy_until_);  // overlap is busy once
  busy_until_ = std::max(busy_until_, end);
  const size_t kind = std::min<size_t>(kernel_class, kClasses - 1);
  auto bin = static_cast<size_t>((start - origin_) / bin_);
  if (bin >= levels_[0].bins) return;
  close_before(bin);
  const size_t first_open = levels_[0].busy.size();
  Nanoseconds at = start;
  while (at < end && bin < levels_[0].bins) {
    const Nanoseconds bin_end = origin_ + static_cast<Nanoseconds>(bin + 1) * bin_;
    const Nanoseconds until = std::min(end, bin_end);
    if (bin - first_open >= open_.size()) open_.resize(bin - first_open + 1);
    Bin& into = open_[bin - first_open];
    into.by_class[kind] += static_cast<uint32_t>((until - at) >> shift_);
    if (until > fresh) {
      into.busy += static_cast<uint32_t>((until - std::max(at, fresh)) >> shift_);
    }
    at = until;
    ++bin;
  }
}

void Pyramid::close_before(size_t bin) {
  while (levels_[0].busy.size() < bin) {
    if (open_.empty()) {
      finish_bin(0, {});
    } else {
      finish_bin(0, open_.front());
      open_.pop_front();
    }
  }
}

void Pyramid::finish_bin(size_t level, const Bin& bin) {
  constexpr uint64_t kAll = 255;
  OpenLevel& own = levels_[level];
  const auto whole = static_cast<uint64_t>(std::max(kAtLeast, own.width >> shift_));
  // What is busy at all shows.
  const uint64_t share = (bin.busy * kAll + whole / 2) / whole;
  own.busy += static_cast<char>(std::clamp<uint64_t>(share, bin.busy > 0 ? 1 : 0, kAll));
  const auto most = std::max_element(bin.by_class.begin(), bin.by_class.end());
  own.classes += static_cast<char>(most - bin.by_class.begin());
  if (level + 1 == levels_.size()) return;
  own.wider.add(bin);
  if (own.busy.size() % kWider == 0 || own.busy.size() == own.bins) {
    finish_bin(level + 1, own.wider);
    own.wider = {};
  }
}

std::vector<Level> Pyramid::write(Column& busy, Column& classes, size_t& written) {
  close_before(levels_[0].bins);
  std::vector<Level> levels;
  for (const OpenLevel& level : levels_) {
    levels.push_back({level.width, written, level.bins});
    for (const char share : level.busy) busy.u8(static_cast<uint8_t>(share));
    for (const char kind : level.classes) classes.u8(static_cast<uint8_t>(kind));
    written += level.bins;
  }
  return levels;
}

}  // namespace llmprof::exports
