/* Uses our annotation API in the way that its first argument names; linked only to libc. */
#define _GNU_SOURCE
#include <llmprof/annotate.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kThreads = 8, kRangesPerThread = 5000, kDecodeSteps = 4 };

static void request(void) {
  llmprof_range whole = llmprof_range_start("request");
  llmprof_range_push("prefill");
  llmprof_step(LLMPROF_STEP_PREFILL, 2, 64);
  const int64_t start = llmprof_now_ns();
  llmprof_operator("gemm", start, start + 1000, 2000000, 4096);
  llmprof_operator("softmax", start + 1000, start + 1500, 0, 512);
  llmprof_range_pop();
  llmprof_range_push("decode_all");
  for (int i = 0; i < kDecodeSteps; ++i) {
    llmprof_range_push("decode_step");
    llmprof_step(LLMPROF_STEP_DECODE, 2, 2);
    llmprof_range_pop();
  }
  llmprof_range_pop();
  llmprof_mark("done");
  llmprof_range_end(whole);
}

/* As rank 1 of 2: 1000 collectives, which take 56 bytes each in a log. */
static void collectives(void) {
  for (int i = 0; i < 1000; ++i) {
    const int64_t start = llmprof_now_ns();
    llmprof_collective(LLMPROF_ALL_REDUCE, "all_reduce", start, start + 50, 3072, "tp", "0,1", 2);
  }
  const int64_t start = llmprof_now_ns();
  llmprof_collective(LLMPROF_BARRIER, "barrier", start, start + 5, 0, "", 0, 0);
}

static void* nested_ranges(void* argument) {
  char name[32];
  snprintf(name, sizeof name, "worker_%d", *(const int*)argument);
  for (int i = 0; i < kRangesPerThread; ++i) {
    llmprof_range_push(name);
    llmprof_range_push("inner");
    llmprof_range_pop();
    llmprof_range_pop();
  }
  return 0;
}

static void* end_range(void* range) {
  llmprof_range_end(*(llmprof_range*)range);
  return 0;
}

static void threads(void) {
  pthread_t workers[kThreads];
  int numbers[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    numbers[i] = i;
    pthread_create(&workers[i], 0, nested_ranges, &numbers[i]);
  }
  for (int i = 0; i < kThreads; ++i) pthread_join(workers[i], 0);
  llmprof_range handed_over = llmprof_range_start("handed over");
  pthread_create(&workers[0], 0, end_range, &handed_over);
  pthread_join(workers[0], 0);
}

/* Threads that run one after another reuse each other's chunks. */
static void short_threads(void) {
  pthread_t worker;
  for (int i = 0; i < 500; ++i) {
    llmprof_range range = llmprof_range_start("short");
    pthread_create(&worker, 0, end_range, &range);
    pthread_join(worker, 0);
  }
}

static void forked(void) {
  llmprof_range_push("parent");
  llmprof_range_push("before");
  llmprof_range_pop();
  for (int i = 0; i < 2; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      llmprof_range_pop(); /* "parent", which is not in the child's log */
      llmprof_range_push("child");
      llmprof_range_push("before");
      llmprof_range_pop();
      llmprof_range_pop();
      if (i == 0) exit(0);
      _exit(0);
    }
    waitpid(child, 0, 0);
  }
  llmprof_range_pop();
}

/* The child runs its exit handlers, with its copy of its parent's state. */
static void forked_silently(void) {
  llmprof_range_push("before");
  llmprof_range_pop();
  const pid_t child = _Fork();
  if (child == 0) exit(0);
  waitpid(child, 0, 0);
  llmprof_range_push("after");
  llmprof_range_pop();
}

/* Prints how many ranges are complete, until it is killed. */
static void endless(void) {
  llmprof_range_push("decode_all");
  for (long done = 0;; ++done) {
    if (done % 1000 == 0) {
      printf("%ld\n", done);
      fflush(stdout);
    }
    llmprof_range_push("decode_step");
    llmprof_range_pop();
  }
}

static void killed(void) {
  request();
  llmprof_range_push("decode_all");
  llmprof_range_push("decode_step");
  raise(SIGKILL);
}

static void names(void) {
  static char name[20001];
  memset(name, 'n', sizeof name - 1);
  llmprof_range_push(name);
  llmprof_range_pop();
  for (int i = 0; i < 40000; ++i) {
    snprintf(name, sizeof name, "unique name %d", i);
    llmprof_range_push(name);
    llmprof_range_pop();
  }
  llmprof_range_push(0);
  llmprof_range_pop();
  llmprof_range_push("bad \xff\x01 bytes");
  llmprof_range_pop();
}

static void unbalanced(void) {
  llmprof_range_pop();
  llmprof_range_push("open");
  llmprof_range_push("closed");
  llmprof_range_pop();
}

static void many(void) {
  for (int i = 0; i < 200000; ++i) {
    llmprof_range_push("many");
    llmprof_range_pop();
  }
  fputs("still here\n", stdout);
}

static void limited(void) {
  const struct rlimit limit = {300000, 300000};
  setrlimit(RLIMIT_FSIZE, &limit);
  many();
}

/* A daemon also closes descriptors that it did not open; other files then get their numbers. */
static void closes_all(void) {
  request();
  for (int descriptor = 3; descriptor < 64; ++descriptor) close(descriptor);
  FILE* own = tmpfile();
  many();
  fputs("own", own);
  printf("own file has %ld bytes\n", ftell(own));
}

static volatile sig_atomic_t handled = 0;
static void annotate_in_handler(int signal_number) {
  (void)signal_number;
  llmprof_range_push("in handler");
  llmprof_range_pop();
  ++handled;
}

static void signals(void) {
  const struct sigaction action = {.sa_handler = annotate_in_handler};
  sigaction(SIGALRM, &action, 0);
  llmprof_mark("loaded");
  ualarm(50, 50);
  while (handled < 200) {
    llmprof_range_push("interrupted");
    llmprof_range_pop();
  }
  ualarm(0, 0);
}

static void measure(void) {
  enum { kRounds = 15, kPairs = 200000 };
  for (int round = 0; round < kRounds; ++round) {
    const int64_t start = llmprof_now_ns();
    for (int i = 0; i < kPairs; ++i) {
      llmprof_range_push("decode_step");
      llmprof_range_pop();
    }
    printf("%.1f\n", (double)(llmprof_now_ns() - start) / kPairs);
  }
}

int main(int count, char** arguments) {
  static const struct {
    const char* name;
    void (*run)(void);
  } kWays[] = {{"request", request},
               {"collectives", collectives},
               {"threads", threads},
               {"short_threads", short_threads},
               {"fork", forked},
               {"endless", endless},
               {"names", names},
               {"unbalanced", unbalanced},
               {"many", many},
               {"limited", limited},
               {"closes_all", closes_all},
               {"signals", signals},
               {"measure", measure},
               {"killed", killed},
               {"silent_fork", forked_silently}};
  for (size_t i = 0; count == 2 && i < sizeof kWays / sizeof *kWays; ++i) {
    if (strcmp(arguments[1], kWays[i].name) != 0) continue;
    kWays[i].run();
    return 0;
  }
  return 2;
}
