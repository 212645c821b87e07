#pragma once

#include <cstddef>

#include "wire/log_format.h"

// Domains of ranges by number: threads keep the depth of each.
namespace llmprof::collector {

inline constexpr size_t kLlmDomain = 0;
inline constexpr size_t kDefaultDomain = 1;
inline constexpr size_t kDomains = 64;

// The number of the domain with this name; kDomains if there are too many.
size_t domain_number(const char* name);

// The domain's name in the log, defined there if it was not yet; 0 is the default domain's.
wire::StringKey domain_key(size_t domain);

}  // namespace llmprof::collector
