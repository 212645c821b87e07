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

// The C++ spelling of an Itanium-mangled name ("_Z..."), in c++filt's style. Nothing for anything
// else, for a construct that kernel names do not have (vtables, thunks), and for a name that would
// pass the limits; time, memory and depth are bounded whatever the name. A clone suffix (".kd") is
// left out. By hand because libstdc++'s own refuses names over 1 KiB, which CUTLASS kernels pass,
// and no demangler in Debian bounds what a name may expand to.
std::optional<std::string> demangle(std::string_view mangled,
                                    DemangleExtent extent = DemangleExtent::whole);

}  // namespace llmprof
