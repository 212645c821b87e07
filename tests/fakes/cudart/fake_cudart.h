#pragma once

/* The fake's functions of CUDA's runtime that launch GPU work or wait for it; NVIDIA's headers are
   not needed. */
#include <stddef.h>

enum { FAKE_WAIT_US = 2000 }; /* duration of a stream's work */

typedef int cudaError_t;
typedef void* cudaStream_t;
typedef void* cudaEvent_t;
typedef void* cudaGraphExec_t;
typedef struct {
  unsigned x, y, z;
} dim3;

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                             size_t shared_bytes, cudaStream_t stream);
cudaError_t cudaLaunchKernelExC(const void* configuration, const void* function, void** arguments);
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, int direction);
