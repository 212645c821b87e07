/* A libcudart.so without a GPU: each function prints its arguments. Results are computed from the
   arguments, so that a caller can recognize them. */
#include "fake_cudart.h"

#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

static unsigned as_number(const void* handle) { return (unsigned)(uintptr_t)handle; }

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                             size_t shared_bytes, cudaStream_t stream) {
  printf("kernel %u: %ux%ux%u blocks of %ux%ux%u, %zu bytes, stream %u, argument %d\n",
         as_number(function), grid.x, grid.y, grid.z, block.x, block.y, block.z, shared_bytes,
         as_number(stream), *(const int*)arguments[0]);
  return (cudaError_t)as_number(function);
}

cudaError_t cudaLaunchKernelExC(const void* configuration, const void* function, void** arguments) {
  printf("configured kernel %u: %u, argument %d\n", as_number(function), as_number(configuration),
         *(const int*)arguments[0]);
  return (cudaError_t)as_number(function);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  printf("graph %u: stream %u\n", as_number(graph), as_number(stream));
  return (cudaError_t)as_number(graph);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  usleep(FAKE_WAIT_US);
  printf("stream %u\n", as_number(stream));
  return (cudaError_t)as_number(stream);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  printf("event %u\n", as_number(event));
  return (cudaError_t)as_number(event);
}

cudaError_t cudaDeviceSynchronize(void) {
  printf("device\n");
  return 0;
}

/* Waits by a call of another function, as the real one may. */
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, int direction) {
  printf("copy of %zu bytes, direction %d\n", bytes, direction);
  for (size_t i = 0; i < bytes; ++i) ((char*)to)[i] = ((const char*)from)[i];
  return cudaStreamSynchronize(0);
}
