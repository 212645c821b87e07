#include "collector/ranges.h"

#include <atomic>

#include "collector/environment.h"
#include "collector/names.h"

namespace llmprof::collector {
namespace {

// The start/end range that armed the collector, which any thread may end; 0: none.
constinit std::atomic<uint64_t> arming_range = 0;

void range_opens(uint8_t roles) {
  const RangeListener* listener = range_listener.load(std::memory_order_acquire);
  if (listener != nullptr) listener->opened(roles);
}

void arming_range_closed() {
  const RangeListener* listener = range_listener.load(std::memory_order_acquire);
  if (listener != nullptr) listener->arming_range_closed();
}

}  // namespace

using wire::RecordType;

// Actions that a range triggers come before it, so that the range does not include their cost.
void record_push(ThreadState& thread, size_t domain, const KnownName& name, uint32_t depth) {
  if (name.roles() != kNoRole) {
    range_opens(name.roles());
    if ((name.roles() & kArmRole) != 0 && thread.arming_domain == kDomains) {
      thread.arming_domain = static_cast<uint16_t>(domain);
      thread.arming_depth = static_cast<uint16_t>(depth);
    }
  }
  const wire::StringKey key = name.key();
  const wire::StringKey domain_name = domain_key(domain);
  record(thread, RecordType::range_push, wire::RangePush{now_ns(), key, domain_name, depth, 0});
}

void record_pop(ThreadState& thread, size_t domain, uint32_t depth) {
  const int64_t time = now_ns();
  record(thread, RecordType::range_pop, wire::RangePop{time, domain_key(domain), depth});
  if (thread.arming_domain == domain && thread.arming_depth == depth) {
    thread.arming_domain = kDomains;
    arming_range_closed();
  }
}

uint64_t record_start(ThreadState& thread, size_t domain, const KnownName& name) {
  static constinit std::atomic<uint64_t> last_range = 0;
  if (name.roles() != kNoRole) range_opens(name.roles());
  const uint64_t range = last_range.fetch_add(1, std::memory_order_relaxed) + 1;
  if (uint64_t none = 0; (name.roles() & kArmRole) != 0) {
    arming_range.compare_exchange_strong(none, range);
  }
  const wire::StringKey key = name.key();
  const wire::StringKey domain_name = domain_key(domain);
  record(thread, RecordType::range_start, wire::RangeStart{now_ns(), range, key, domain_name});
  return range;
}

void record_end(ThreadState& thread, uint64_t range) {
  record(thread, RecordType::range_end, wire::RangeEnd{now_ns(), range});
  if (uint64_t ours = range; range != 0 && arming_range.compare_exchange_strong(ours, 0)) {
    arming_range_closed();
  }
}

void record_mark(ThreadState& thread, size_t domain, const KnownName& name) {
  const int64_t time = now_ns();
  const wire::StringKey key = name.key();
  record(thread, RecordType::mark, wire::Mark{time, key, domain_key(domain)});
}

}  // namespace llmprof::collector
