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

// The C++ spelling of an Itanium-mangled name ("_Z..."), in c++filt's style. Nothing for any
// other text, for constructs that kernel names do not have (vtables, thunks), and for a name that
// would exceed the limits; time, memory and depth are bounded whatever the name. A clone suffix
// (".kd") is dropped. By hand, since libiberty's cannot be stopped: measured, a name of 147 bytes
// keeps it busy for 4.7 s between two calls of its callback, and every five bytes more double that.
std::optional<std::string> demangle(std::string_view mangled,
                                    DemangleExtent extent = DemangleExtent::whole);

}  // namespace llmprof
