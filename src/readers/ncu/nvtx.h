#pragma once

#include <string>
#include <string_view>

namespace llmprof::readers {

// The ranges that were open at a launch, from ncu's two NVTX cells: outermost first, joined by '/',
// each spelled as ncu's own filter spells it: "name" in the default domain, "domain@name" in
// another ("LLM@decode_all/decode_step"). Start/stop ranges, which know no nesting, come before
// push/pop ranges. Empty where no range was open.
//   push/pop cell:   563  "<default domain>:decode_all:none:none:none:none:none:none"  "..."
//   start/stop cell: 1:<default domain>:request:none:none:none:none:none:none  (quoted or not)
std::string ncu_ranges(std::string_view push_pop, std::string_view start_stop);

}  // namespace llmprof::readers
