#pragma once

#include <cupti.h>

#include <cstddef>
#include <cstdint>

// The memory that CUPTI fills with activity records: a fixed number of buffers, mapped when first
// needed. If all are in use CUPTI gets none, drops records and counts them.
namespace llmprof::collector {

void CUPTIAPI give_buffer(uint8_t** buffer, size_t* size, size_t* most_records);
void CUPTIAPI take_buffer(CUcontext context, uint32_t stream, uint8_t* buffer, size_t size,
                          size_t filled);

}  // namespace llmprof::collector
