/* The annotation API of llmprof: ranges, steps, CPU operators and collectives, in the domain "LLM".
 *
 *   llmprof_range_push("prefill");
 *   ...
 *   llmprof_range_pop();
 *
 * Nothing has to be linked (before glibc 2.34: -ldl). The functions work if the collector is
 * loaded, or if the environment variable LLMPROF_COLLECTOR names its file; `llmprof run` sets it.
 * Otherwise they do nothing, in about a nanosecond. They may be called from any thread, never fail,
 * and never print to stdout. In a signal handler they may be called only after a first call
 * elsewhere, because the first call loads the library. An NVTX tool (nsys, ncu) around the program
 * sees the same ranges and marks in the NVTX domain "LLM".
 *
 * For C11 and later, C++11 and later; needs POSIX and the atomics of gcc or clang. */
#ifndef LLMPROF_ANNOTATE_H
#define LLMPROF_ANNOTATE_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

enum llmprof_step_kind {
  LLMPROF_STEP_PREFILL = 1,
  LLMPROF_STEP_DECODE = 2,
  LLMPROF_STEP_MIXED = 3
};

enum llmprof_collective_kind {
  LLMPROF_OTHER_COLLECTIVE = 0,
  LLMPROF_ALL_REDUCE = 1,
  LLMPROF_REDUCE_SCATTER = 2,
  LLMPROF_ALL_GATHER = 3,
  LLMPROF_ALL_TO_ALL = 4,
  LLMPROF_BROADCAST = 5,
  LLMPROF_REDUCE = 6,
  LLMPROF_GATHER = 7,
  LLMPROF_SCATTER = 8,
  LLMPROF_SEND = 9,
  LLMPROF_RECEIVE = 10,
  LLMPROF_BARRIER = 11
};

/* A started range: its number in the log, and its NVTX id. */
typedef struct llmprof_range {
  uint64_t log;
  uint64_t nvtx;
} llmprof_range;

/* The functions that the collector exports through the symbol llmprof_annotation_functions. New
 * functions are only added at the end; `size` shows how many there are. */
typedef struct llmprof_annotation_table {
  uint64_t size; /* of this table in bytes */
  void (*range_push)(const char* name);
  void (*range_pop)(void);
  llmprof_range (*range_start)(const char* name);
  void (*range_end)(llmprof_range range);
  void (*mark)(const char* name);
  void (*step)(uint32_t kind, uint32_t batch, uint64_t tokens);
  void (*cpu_operator)(const char* name, int64_t start_ns, int64_t end_ns, uint64_t flops,
                       uint64_t bytes);
  /* The table of collectors whose log has a version before 1.4 ends here. */
  void (*collective)(uint32_t kind, const char* name, int64_t start_ns, int64_t end_ns,
                     uint64_t bytes, const char* group, const char* members, uint32_t group_size);
} llmprof_annotation_table;

typedef const llmprof_annotation_table* (*llmprof_annotation_source)(void);

/* The table that was found, shared by all files of a program or shared library. */
__attribute__((weak, visibility("hidden"))) const llmprof_annotation_table* llmprof_found_ = 0;

static inline void llmprof_ignore_name_(const char* name) { (void)name; }
static inline void llmprof_ignore_(void) {}
static inline llmprof_range llmprof_ignore_start_(const char* name) {
  const llmprof_range none = {0, 0};
  (void)name;
  return none;
}
static inline void llmprof_ignore_end_(llmprof_range range) { (void)range; }
static inline void llmprof_ignore_step_(uint32_t kind, uint32_t batch, uint64_t tokens) {
  (void)kind;
  (void)batch;
  (void)tokens;
}
static inline void llmprof_ignore_operator_(const char* name, int64_t start_ns, int64_t end_ns,
                                            uint64_t flops, uint64_t bytes) {
  (void)name;
  (void)start_ns;
  (void)end_ns;
  (void)flops;
  (void)bytes;
}

static inline void llmprof_ignore_collective_(uint32_t kind, const char* name, int64_t start_ns,
                                              int64_t end_ns, uint64_t bytes, const char* group,
                                              const char* members, uint32_t group_size) {
  (void)kind;
  (void)name;
  (void)start_ns;
  (void)end_ns;
  (void)bytes;
  (void)group;
  (void)members;
  (void)group_size;
}

/* The loaded collector, otherwise the one that LLMPROF_COLLECTOR names. It stays loaded. */
static inline void* llmprof_find_source_(void) {
  static const char kSymbol[] = "llmprof_annotation_functions";
  void* handle = dlopen(0, RTLD_LAZY);
  void* source = handle ? dlsym(handle, kSymbol) : 0;
  const char* path = getenv("LLMPROF_COLLECTOR");
  if (source) return source;
  handle = dlopen("libllmprof_collector.so", RTLD_LAZY | RTLD_NOLOAD);
  if (!handle && path && *path) {
    handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (!handle) fprintf(stderr, "llmprof: annotations are off: %s\n", dlerror());
  }
  return handle ? dlsym(handle, kSymbol) : 0;
}

static inline const llmprof_annotation_table* llmprof_find_annotations_(void) {
  static const llmprof_annotation_table kNothing = {sizeof(llmprof_annotation_table),
                                                    llmprof_ignore_name_,
                                                    llmprof_ignore_,
                                                    llmprof_ignore_start_,
                                                    llmprof_ignore_end_,
                                                    llmprof_ignore_name_,
                                                    llmprof_ignore_step_,
                                                    llmprof_ignore_operator_,
                                                    llmprof_ignore_collective_};
  const llmprof_annotation_table* found = &kNothing;
  void* symbol = llmprof_find_source_();
  if (symbol) {
    llmprof_annotation_source source;
    memcpy(&source, &symbol, sizeof source);
    found = source();
    if (!found || found->size < offsetof(llmprof_annotation_table, collective)) found = &kNothing;
  }
  __atomic_store_n(&llmprof_found_, found, __ATOMIC_RELEASE);
  return found;
}

static inline const llmprof_annotation_table* llmprof_annotations_(void) {
  const llmprof_annotation_table* found = __atomic_load_n(&llmprof_found_, __ATOMIC_ACQUIRE);
  return found ? found : llmprof_find_annotations_();
}

/* A range of this thread, nested in the one that is open: "prefill", "decode_all", "decode_step",
 * "layer_03". The name is copied. */
static inline void llmprof_range_push(const char* name) {
  llmprof_annotations_()->range_push(name);
}
static inline void llmprof_range_pop(void) { llmprof_annotations_()->range_pop(); }

/* A range that may overlap others and end on another thread, such as a request. */
static inline llmprof_range llmprof_range_start(const char* name) {
  return llmprof_annotations_()->range_start(name);
}
static inline void llmprof_range_end(llmprof_range range) {
  llmprof_annotations_()->range_end(range);
}

static inline void llmprof_mark(const char* name) { llmprof_annotations_()->mark(name); }

/* Describes the innermost open range of this thread: its number of sequences, and their total
 * number of tokens. */
static inline void llmprof_step(enum llmprof_step_kind kind, uint32_t batch, uint64_t tokens) {
  llmprof_annotations_()->step((uint32_t)kind, batch, tokens);
}

/* One operator that ran on the CPU, with its floating-point operations and the bytes of memory that
 * it moved (0: unknown). Times are from llmprof_now_ns(). */
static inline void llmprof_operator(const char* name, int64_t start_ns, int64_t end_ns,
                                    uint64_t flops, uint64_t bytes) {
  llmprof_annotations_()->cpu_operator(name, start_ns, end_ns, flops, bytes);
}

/* One communication between ranks that ran on the CPU, from this rank's arrival to its end, so that
 * its time includes the wait for others. `bytes` is the size of this rank's message; `group` names
 * the ranks that take part, the same on all of them; `members` lists them ("0,1,2,3"; null: not
 * stated); `group_size` is their number (0: not stated). An older collector records a CPU operator.
 */
static inline void llmprof_collective(enum llmprof_collective_kind kind, const char* name,
                                      int64_t start_ns, int64_t end_ns, uint64_t bytes,
                                      const char* group, const char* members, uint32_t group_size) {
  const llmprof_annotation_table* functions = llmprof_annotations_();
  if (functions->size >= offsetof(llmprof_annotation_table, collective) + sizeof(void (*)(void))) {
    functions->collective((uint32_t)kind, name, start_ns, end_ns, bytes, group, members,
                          group_size);
  } else {
    functions->cpu_operator(name, start_ns, end_ns, 0, bytes);
  }
}

/* CLOCK_MONOTONIC, the clock of the log; also works without the collector. */
static inline int64_t llmprof_now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#ifdef __cplusplus
}
#endif

#endif
