#pragma once

#include <string>
#include <string_view>

namespace llmprof::capture {

// For --kernel-name regex:..., which is Boost.Regex in Perl syntax and finds a match anywhere (seen
// with ncu 2022.3 and 2025.3). Tools print the same name with different blanks ("> >") and with or
// without casts ("(int)4"): the expressions match all variants, and no other name.

// Matches this demangled name, in an alternation.
std::string kernel_name_pattern(std::string_view name);

// Matches exactly this mangled name, in an alternation.
std::string kernel_symbol_pattern(std::string_view symbol);

// Whether two tools' demangled names denote the same kernel.
bool same_kernel_name(std::string_view a, std::string_view b);

enum class NvtxRangeStyle : unsigned char { push_pop, start_end };

// For --nvtx-include: "LLM@decode_all/". An empty domain is the default one. Characters with a
// meaning in ncu's syntax are escaped.
std::string nvtx_include_expression(std::string_view domain, std::string_view range,
                                    NvtxRangeStyle style = NvtxRangeStyle::push_pop);

}  // namespace llmprof::capture
