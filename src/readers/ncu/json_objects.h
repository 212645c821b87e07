#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/error.h"
#include "base/streams/byte_stream.h"

namespace llmprof::readers {

// Hands each outermost object of a JSON array, or of a text with one object after the other, to
// `use`; 64 bytes after it are readable. Returns how many could not be handed on: an object that
// the end of the content cuts off, or one longer than any row can be.
Result<uint64_t> each_json_object(ByteStream& stream,
                                  const std::function<void(std::string_view)>& use);

}  // namespace llmprof::readers
