#pragma once

#include <cstddef>

#include "wire/log_format.h"

// Domains of ranges, numbered: threads keep their depths by number.
namespace llmprof::collector {

inline constexpr size_t kLlmDomain = 0;
inline constexpr size_t kDefaultDomain = 1;
inline constexpr size_t kDomains = 64;

// The number of the domain with this name, the same for the same name; kDomains where there are too
// many.
size_t domain_number(const char* name);

// The domain's name in the log, defined there where it was not; 0 is the default domain's.
wire::StringKey domain_key(size_t domain);

}  // namespace llmprof::collector
