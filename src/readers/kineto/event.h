#pragma once

#include <simdjson.h>

#include "readers/kineto/rows.h"

namespace llmprof::readers {

// Reads one event and adds it to the rows. An event that lacks what its kind must have is counted
// as bad; one that holds nothing for us is counted as what it is. An error code means that the text
// is not JSON here, and that nothing after it can be trusted.
//
// The text that `event` stands in ends at `end`; SIMDJSON_PADDING readable bytes must follow, the
// first of them 0.
simdjson::error_code read_kineto_event(simdjson::ondemand::object event, const char* end,
                                       KinetoRows& rows);

}  // namespace llmprof::readers
