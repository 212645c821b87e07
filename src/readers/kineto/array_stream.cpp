#include "readers/kineto/array_stream.h"

#include <algorithm>

namespace llmprof::readers {

Result<bool> KinetoArrayStream::next_array() {
  constexpr size_t kStep = 64UL << 10U;
  if (envelope_.in_array()) envelope_.leave_array();
  while (true) {
    if (pending_.empty()) {
      pending_.resize(kStep);
      auto got = content_.read(pending_);
      if (!got) return fail_with(got.error());
      pending_.resize(*got);
      if (*got == 0) return false;
    }
    const size_t taken = envelope_.take({pending_.data(), pending_.size()});
    pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(taken));
    if (envelope_.in_array()) {
      scan_ = {};
      return true;
    }
  }
}

Result<size_t> KinetoArrayStream::read(std::span<char> buffer) {
  if (scan_.closed()) return size_t{0};
  const size_t at_hand = std::min(pending_.size(), buffer.size());
  std::copy_n(pending_.begin(), at_hand, buffer.begin());
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(at_hand));
  auto got = content_.read(buffer.subspan(at_hand));
  if (!got) return got;
  const size_t filled = at_hand + *got;
  const size_t inside = scan_.scan({buffer.data(), filled});
  if (scan_.closed()) {
    const auto behind = buffer.subspan(inside + 1, filled - inside - 1);
    pending_.insert(pending_.begin(), behind.begin(), behind.end());
  }
  return inside;
}

size_t KinetoArrayStream::cut(std::string_view buffer) const {
  const uint64_t start = scan_.position() - buffer.size();
  return scan_.last_event_end() <= start ? 0 : static_cast<size_t>(scan_.last_event_end() - start);
}

}  // namespace llmprof::readers
