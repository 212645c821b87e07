#include "collector/domains.h"

#include <atomic>

#include "collector/recorder.h"

namespace llmprof::collector {
namespace {

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
