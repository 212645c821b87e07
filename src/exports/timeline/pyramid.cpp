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

Pyramid::Pyramid(const Window& window)
    : origin_(window.origin),
      bin_(std::max(kAtLeast, (window.span() + static_cast<Nanoseconds>(kFinestBins) - 1) /
                                  static_cast<Nanoseconds>(kFinestBins))),
      shift_(shift_for(bin_ * static_cast<Nanoseconds>(kFinestBins / kFewestBins * kWider))),
      busy_until_(window.origin),
      bins_(static_cast<size_t>(window.span() / bin_) + 1) {}

void Pyramid::add(Nanoseconds start, Nanoseconds end, uint8_t kernel_class) {
  const Nanoseconds fresh = std::max(start, busy_until_);  // overlap is busy once
  busy_until_ = std::max(busy_until_, end);
  const size_t kind = std::min<size_t>(kernel_class, kClasses - 1);
  auto bin = static_cast<size_t>((start - origin_) / bin_);
  Nanoseconds at = start;
  while (at < end && bin < bins_.size()) {
    const Nanoseconds bin_end = origin_ + static_cast<Nanoseconds>(bin + 1) * bin_;
    const Nanoseconds until = std::min(end, bin_end);
    bins_[bin].by_class[kind] += static_cast<uint32_t>((until - at) >> shift_);
    if (until > fresh) {
      bins_[bin].busy += static_cast<uint32_t>((until - std::max(at, fresh)) >> shift_);
    }
    at = until;
    ++bin;
  }
}

std::vector<Level> Pyramid::write(Column& busy, Column& classes, size_t& written) {
  constexpr uint64_t kAll = 255;
  std::vector<Level> levels;
  Nanoseconds width = bin_;
  while (true) {
    levels.push_back({width, written, bins_.size()});
    const auto whole = static_cast<uint64_t>(std::max(kAtLeast, width >> shift_));
    for (const Bin& bin : bins_) {
      // What is busy at all shows.
      const uint64_t share = (bin.busy * kAll + whole / 2) / whole;
      busy.u8(static_cast<uint8_t>(std::clamp<uint64_t>(share, bin.busy > 0 ? 1 : 0, kAll)));
      const auto most = std::max_element(bin.by_class.begin(), bin.by_class.end());
      classes.u8(static_cast<uint8_t>(most - bin.by_class.begin()));
    }
    written += bins_.size();
    if (bins_.size() <= kFewestBins) return levels;
    for (size_t i = 0; i < bins_.size(); ++i) {
      Bin& into = bins_[i / kWider];
      if (i % kWider == 0) {
        if (i > 0) into = bins_[i];
        continue;
      }
      into.busy += bins_[i].busy;
      for (size_t kind = 0; kind < kClasses; ++kind) into.by_class[kind] += bins_[i].by_class[kind];
    }
    bins_.resize((bins_.size() + kWider - 1) / kWider);
    width *= static_cast<Nanoseconds>(kWider);
  }
}

}  // namespace llmprof::exports
