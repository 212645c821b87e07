#pragma once

#include "readers/shared/reader.h"

namespace llmprof::readers {

// What `nsys stats --format csv` writes: one or more reports of any age, plain or gzip-compressed,
// with or without the lines nsys prints between them.
extern const Reader kNsysCsvReader;

}  // namespace llmprof::readers
