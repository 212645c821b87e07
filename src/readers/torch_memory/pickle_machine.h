#pragma once

#include "readers/torch_memory/objects.h"
#include "readers/torch_memory/pickle_input.h"

namespace llmprof::readers::torch_memory {

// Runs a pickle of protocol 2 to 5, whose objects go to `objects`, and returns its result. Knows
// only the opcodes of plain data: nothing in a pickle can name a class or call a function. Failures
// are thrown with the offset.
Value run_pickle(PickleInput& input, Objects& objects);

}  // namespace llmprof::readers::torch_memory
