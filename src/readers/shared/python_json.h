#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// JSON as Python's json module and editors write it.
namespace llmprof::readers {

// Without the byte order mark that some editors add.
std::string_view without_byte_order_mark(std::string_view text);

// The text as valid JSON: NaN, Infinity and -Infinity, which Python writes, become null and are
// counted in `non_finite`; a byte order mark is removed.
std::string as_plain_json(std::string_view text, uint64_t& non_finite);

}  // namespace llmprof::readers
