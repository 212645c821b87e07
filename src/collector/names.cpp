#include "collector/names.h"

#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <string_view>

#include "collector/environment.h"
#include "collector/nvtx_forward.h"
#include "collector/recorder.h"

namespace llmprof::collector {
namespace {

constexpr size_t kSlots = 1U << 15U;
constexpr size_t kLongestProbe = 16;
constexpr size_t kTextBytes = 16U << 20U;  // reserved; committed as it is used

// Constant-initialized: names may be used before any constructor has run.
constinit Name table[kSlots];
constinit char* texts = nullptr;
constinit size_t texts_used = 0;
constinit wire::StringKey last_key = 0;

uint64_t hash_of(const NameText& name) {
  constexpr uint64_t kOdd = 0x9E3779B97F4A7C15ULL;
  constexpr unsigned kFold = 29;
  uint64_t hash = name.length * kOdd;
  size_t i = 0;
  for (; i + sizeof(uint64_t) <= name.length; i += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, name.bytes + i, sizeof word);
    hash = (hash ^ word) * kOdd;
    hash ^= hash >> kFold;
  }
  uint64_t tail = 0;
  std::memcpy(&tail, name.bytes + i, name.length - i);
  hash = (hash ^ tail) * kOdd;
  hash ^= hash >> kFold;
  return hash == 0 ? 1 : hash;
}

bool is_same(const Name& entry, uint64_t hash, const NameText& name) {
  return entry.hash.load(std::memory_order_relaxed) == hash && entry.length == name.length &&
         std::memcmp(entry.text, name.bytes, name.length) == 0;
}

const char* keep_text(const NameText& name) {
  if (texts == nullptr) {
    void* memory = mmap(nullptr, kTextBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    texts = static_cast<char*>(memory);
  }
  const size_t needed = size_t{name.length} + 1;
  if (kTextBytes - texts_used < needed) return nullptr;
  char* text = texts + texts_used;
  std::memcpy(text, name.bytes, name.length);
  texts_used += needed;
  return text;
}

Name& slot_of(uint64_t hash, size_t probe) { return table[(hash + probe) % kSlots]; }

constexpr size_t kLongestRole = 128;
constexpr std::string_view kStages[] = {"prefill", "decode_all", "decode"};

struct RoleName {
  char text[kLongestRole] = {};
  size_t length = 0;

  // "LLM@decode_all" is the range decode_all.
  void set(const char* name) {
    const char* at = std::strchr(name, '@');
    const char* begin = at == nullptr ? name : at + 1;
    length = strnlen(begin, kLongestRole - 1);
    std::memcpy(text, begin, length);
  }
  [[nodiscard]] bool is(std::string_view name) const {
    return length > 0 && name == std::string_view(text, length);
  }
};

constinit RoleName step_range;
constinit RoleName arm_range;

constinit std::atomic<Name*> domains[kDomains] = {};

Name* llm_domain() {
  Name* entry = domains[kLlmDomain].load(std::memory_order_acquire);
  if (entry == nullptr) {
    entry = intern(measured("LLM"));
    domains[kLlmDomain].store(entry, std::memory_order_release);
  }
  return entry;
}

}  // namespace

NameText measured(const char* name) {
  if (name == nullptr) name = "";
  const size_t length = strnlen(name, wire::kLongestString + 1);
  const bool cut = length > wire::kLongestString;
  return {name, static_cast<uint16_t>(cut ? wire::kLongestString : length), cut};
}

Name* find_name(const NameText& name) {
  const uint64_t hash = hash_of(name);
  for (size_t probe = 0; probe < kLongestProbe; ++probe) {
    Name& entry = slot_of(hash, probe);
    if (entry.hash.load(std::memory_order_acquire) == 0) return nullptr;
    if (is_same(entry, hash, name)) return &entry;
  }
  return nullptr;
}

Name* add_name(const NameText& name) {
  const uint64_t hash = hash_of(name);
  for (size_t probe = 0; probe < kLongestProbe; ++probe) {
    Name& entry = slot_of(hash, probe);
    // Another thread was faster.
    if (is_same(entry, hash, name)) return &entry;
    if (entry.hash.load(std::memory_order_relaxed) != 0) continue;
    entry.text = keep_text(name);
    if (entry.text == nullptr) return nullptr;
    entry.length = name.length;
    entry.cut = name.cut;
    entry.roles = roles_of(name);
    entry.key = next_key();
    entry.nvtx = nvtx_register(entry.text);
    entry.hash.store(hash, std::memory_order_release);
    return &entry;
  }
  return nullptr;
}

wire::StringKey next_key() { return ++last_key; }

void read_roles() {
  const char* step = value_of("LLMPROF_STEP_RANGE");
  step_range.set(step != nullptr ? step : "decode_step");
  const std::string_view arm = variable("LLMPROF_ARM");
  if (arm != "start" && arm != "command") arm_range.set(arm.data());
}

uint8_t roles_of(const NameText& name) {
  // Programs without NVTX domains use the name "LLM@prefill".
  constexpr std::string_view kPrefix = "LLM@";
  std::string_view range(name.bytes, name.length);
  if (range.size() > kPrefix.size() && range.starts_with(kPrefix)) {
    range.remove_prefix(kPrefix.size());
  }
  unsigned roles = kNoRole;
  if (step_range.is(range)) roles |= kStepRole;
  if (arm_range.is(range)) roles |= kArmRole;
  for (const std::string_view stage : kStages) {
    if (range == stage) roles |= kStageRole;
  }
  if (range == kStages[0]) roles |= kRequestRole;
  return static_cast<uint8_t>(roles);
}

size_t domain_number(const char* name) {
  Name* entry = intern(measured(name));
  if (entry == nullptr) return kDomains;
  if (entry == llm_domain()) return kLlmDomain;
  for (size_t i = kDefaultDomain + 1; i < kDomains; ++i) {
    Name* known = nullptr;
    if (domains[i].compare_exchange_strong(known, entry, std::memory_order_acq_rel) ||
        known == entry) {
      return i;
    }
  }
  return kDomains;
}

wire::StringKey domain_key(size_t domain) {
  if (domain == kDefaultDomain) return 0;
  Name* entry =
      domain == kLlmDomain ? llm_domain() : domains[domain].load(std::memory_order_acquire);
  if (entry == nullptr) return 0;
  return define(entry, {entry->text, entry->length, entry->cut});
}

}  // namespace llmprof::collector
