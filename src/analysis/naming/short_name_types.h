#pragma once

#include <string>
#include <string_view>

namespace llmprof::analysis {

// How a data type is said: "c10::BFloat16", "__nv_bfloat16" and "bf16" are "bf16"; OpaqueType<2> is
// "2-byte". Empty for what is not a data type.
std::string spoken_type(std::string_view type);

// The first data type of weights or activations in a canonical kernel name; a number's or an
// index's type only where there is no other. Empty where there is none.
std::string first_spoken_type(std::string_view canonical);

// A number of ggml's enumeration of types, "12" as "q4_K"; empty where it is not known.
std::string ggml_type(std::string_view number);

}  // namespace llmprof::analysis
