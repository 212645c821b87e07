#pragma once

#include "readers/kineto/event_tokens.h"
#include "readers/kineto/rows.h"

namespace llmprof::readers {

// Adds an event to the rows, or counts it as what it is. Whether it was as its kind must be.
bool add_event_rows(const KinetoEvent& event, KinetoRows& rows);

}  // namespace llmprof::readers
