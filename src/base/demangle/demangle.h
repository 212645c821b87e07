#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace llmprof {

// Longer names are not demangled, and no name may expand beyond the second limit.
inline constexpr size_t kLongestMangledName = 64UL << 10U;
inline constexpr size_t kLongestDemangledName = 64UL << 10U;

enum class DemangleExtent {
  whole,      // "void f<int>(int)"
  name_only,  // "f<int>"
};

// The C++ spelling of an Itanium-mangled name ("_Z..."), in c++filt's style. None for any other
// text, for constructs that kernel names do not have (vtables, thunks), and for a name that would
// exceed the limits. Time, memory and depth are bounded for every name. A clone suffix (".kd") is
// dropped. Handwritten, since libiberty's demangler cannot be stopped: a name of 147 bytes keeps it
// busy for 4.7 s between two calls of its callback (measured), and every five more bytes double
// that.
std::optional<std::string> demangle(std::string_view mangled,
                                    DemangleExtent extent = DemangleExtent::whole);

}  // namespace llmprof
