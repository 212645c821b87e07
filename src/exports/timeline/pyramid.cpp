#include "exports/timeline/parts.h"

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

void Pyramid::Bin::add(size_t kernel_class, uint32_t time) {
  by_class[kernel_class] += time;
  classes |= 1U << kernel_class;
}

void Pyramid::Bin::add(const Bin& other) {
  busy += other.busy;
  for (uint32_t rest = other.classes; rest != 0; rest &= rest - 1) {
    const auto kind = static_cast<size_t>(std::countr_zero(rest));
    add(kind, other.by_class[kind]);
  }
}

uint8_t Pyramid::Bin::longest_class() const {
  size_t longest = 0;
  for (uint32_t rest = classes; rest != 0; rest &= rest - 1) {
    const auto kind = static_cast<size_t>(std::countr_zero(rest));
    if (by_class[kind] > by_class[longest]) longest = kind;
  }
  return static_cast<uint8_t>(longest);
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
  const Nanoseconds fresh = std::max(start, busy_until_);  // overlap counts once
  busy_until_ = std::max(busy_until_, end);
  const size_t kind = std::min<size_t>(kernel_class, kClasses - 1);
  const size_t bins = levels_[0].bins;
  const auto end_of = [this](size_t bin) {
    return origin_ + static_cast<Nanoseconds>(bin + 1) * bin_;
  };
  // Stepping through bins is cheaper than a division per kernel: there are more kernels than bins.
  while (bin_of_start_ < bins && end_of(bin_of_start_) <= start) ++bin_of_start_;
  close_before(bin_of_start_);
  Nanoseconds at = start;
  for (size_t bin = bin_of_start_; at < end && bin < bins; ++bin) {
    const Nanoseconds until = std::min(end, end_of(bin));
    Bin& into = open_bin(bin);
    into.add(kind, static_cast<uint32_t>((until - at) >> shift_));
    if (until > fresh) into.busy += static_cast<uint32_t>((until - std::max(at, fresh)) >> shift_);
    at = until;
  }
}

Pyramid::Bin& Pyramid::open_bin(size_t bin) {
  const size_t place = closed_of_open_ + bin - levels_[0].busy.size();
  if (place >= open_.size()) open_.resize(place + 1);
  return open_[place];
}

void Pyramid::close_before(size_t bin) {
  while (levels_[0].busy.size() < bin) {
    if (closed_of_open_ == open_.size()) {
      finish_bin(0, {});
      continue;
    }
    finish_bin(0, open_[closed_of_open_++]);
    if (closed_of_open_ * 2 < open_.size()) continue;
    open_.erase(open_.begin(), open_.begin() + static_cast<std::ptrdiff_t>(closed_of_open_));
    closed_of_open_ = 0;
  }
}

void Pyramid::finish_bin(size_t level, const Bin& bin) {
  constexpr uint64_t kAll = 255;
  OpenLevel& own = levels_[level];
  const auto whole = static_cast<uint64_t>(std::max(kAtLeast, own.width >> shift_));
  // Any busy time is visible.
  const uint64_t share = (bin.busy * kAll + whole / 2) / whole;
  own.busy += static_cast<char>(std::clamp<uint64_t>(share, bin.busy > 0 ? 1 : 0, kAll));
  own.classes += static_cast<char>(bin.longest_class());
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
    for (const char share : level.busy) busy.add(static_cast<uint8_t>(share));
    for (const char kind : level.classes) classes.add(static_cast<uint8_t>(kind));
    written += level.bins;
  }
  return levels;
}

}  // namespace llmprof::exports
