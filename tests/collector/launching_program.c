/* Launches GPU work and waits for it through CUDA's runtime. Also built as a library, for programs
   that load one: run_launches(). */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "fake_cudart.h"

static void* handle(uintptr_t number) { return (void*)number; }

static int launch(uintptr_t function) {
  int argument = 1000 + (int)function;
  void* arguments[] = {&argument};
  return cudaLaunchKernel(handle(function), (dim3){1, 2, 3}, (dim3){4, 5, 6}, arguments, 4096,
                          handle(8));
}

/* One prefill of three kernels and two decode steps of a graph. */
int run_launches(void) {
  int results = 0;
  for (uintptr_t function = 11; function <= 13; ++function) results += launch(function);
  results += cudaStreamSynchronize(handle(8));
  for (int step = 0; step < 2; ++step) {
    results += cudaGraphLaunch(handle(21), handle(8));
    char token[4] = "";
    results += cudaMemcpy(token, "42!", sizeof token, 2);
    printf("token %s\n", token);
  }
  int argument = 5;
  void* arguments[] = {&argument};
  results += cudaLaunchKernelExC(handle(31), handle(14), arguments);
  results += cudaEventSynchronize(handle(9));
  results += cudaDeviceSynchronize();
  fflush(stdout);
  return results;
}

static void* launch_often(void* function) {
  for (int i = 0; i < 1000; ++i) launch((uintptr_t)function);
  return NULL;
}

static void launch_from_threads(void) {
  pthread_t threads[2];
  for (uintptr_t i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, launch_often, handle(41 + i));
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
}

int main(int count, char** arguments) {
  if (count == 2 && strcmp(arguments[1], "threads") == 0) {
    launch_from_threads();
    return 0;
  }
  return run_launches();
}
