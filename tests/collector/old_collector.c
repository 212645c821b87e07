/* A collector of a version without collectives: its table ends with CPU operators. It prints its
 * calls. */
#include <stdint.h>
#include <stdio.h>

typedef struct {
  uint64_t log;
  uint64_t nvtx;
} range;

static void named(const char* name) { printf("%s\n", name); }
static void nothing(void) {}
static range start(const char* name) {
  const range none = {0, 0};
  named(name);
  return none;
}
static void end(range ended) { (void)ended; }
static void step(uint32_t kind, uint32_t batch, uint64_t tokens) {
  (void)kind;
  (void)batch;
  (void)tokens;
}
static void cpu_operator(const char* name, int64_t start_ns, int64_t end_ns, uint64_t flops,
                         uint64_t bytes) {
  printf("operator %s %d ns %d FLOPs %d bytes\n", name, (int)(end_ns - start_ns), (int)flops,
         (int)bytes);
}

static const struct {
  uint64_t size;
  void (*range_push)(const char* name);
  void (*range_pop)(void);
  range (*range_start)(const char* name);
  void (*range_end)(range ended);
  void (*mark)(const char* name);
  void (*step)(uint32_t kind, uint32_t batch, uint64_t tokens);
  void (*cpu_operator)(const char* name, int64_t start_ns, int64_t end_ns, uint64_t flops,
                       uint64_t bytes);
} kTable = {sizeof kTable, named, nothing, start, end, named, step, cpu_operator};

const void* llmprof_annotation_functions(void);
const void* llmprof_annotation_functions(void) { return &kTable; }
