# Options for all of our files. -O3 takes longer to compile: it is for modules and folders whose loops run
# over all events of a capture. -Og takes three quarters of the time of -O1: it is for those that have no such
# loops.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(LLMPROF_HOT_OPTIONS $<$<CONFIG:Release>:-O3>)
set(LLMPROF_COLD_OPTIONS $<$<CONFIG:Release>:-Og>)
# One result to the last digit, whatever the processor and the optimization level (-O0 fuses nothing).
add_compile_options($<$<NOT:$<CONFIG:Debug>>:-ffp-contract=off>)
add_compile_options(-Wall -Wextra -Wpedantic -Werror -Wshadow -Wconversion -Wsign-conversion
                    -Wnon-virtual-dtor -Woverloaded-virtual)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Large units: the compiler's own garbage collection below 512 MB took a twelfth of the time.
  add_compile_options(--param=ggc-min-heapsize=524288)
  # g++ 12 reports an overlapping copy in its own std::string (GCC bug 105329).
  add_compile_options(-Wno-restrict)
  # On arm64 it notes how GCC 10 passed pairs; nothing of ours is linked with code of before.
  add_compile_options(-Wno-psabi)
  if(LLMPROF_PCH)
    # With a precompiled header it does not recognize std::string as system code, and warns of
    # copies that it takes to be too large. LLMPROF_PCH=OFF compiles with these warnings.
    add_compile_options(-Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
  endif()
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # Links a sanitized program in a fifth of GNU ld's time.
  find_program(LLMPROF_LLD NAMES ld.lld-19 ld.lld HINTS /usr/lib/llvm-19/bin)
  if(LLMPROF_LLD)
    add_link_options(-fuse-ld=lld)
  endif()
  if(LLMPROF_SANITIZE AND CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
    # Unoptimized code: clang's older instruction selection takes a tenth less of all compile time.
    add_compile_options("SHELL:-mllvm -global-isel=0")
  endif()
  # std::stable_sort of libstdc++ 12 calls a function that libstdc++ itself declares deprecated.
  add_compile_options(-Wno-deprecated-declarations)
endif()
if(LLMPROF_SANITIZE)
  add_compile_options(-fsanitize=${LLMPROF_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${LLMPROF_SANITIZE})
  # These two checks stand at every access to a member, and take a fifth of the compiler's time: they are for
  # the modules that read bytes (llmprof_module). ASan reports accesses through null anyway.
  add_compile_options(-fno-sanitize=null,alignment)
endif()
if(LLMPROF_FUZZ)
  add_link_options(-fsanitize=fuzzer-no-link)
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  # simdjson selects its implementation at compile time: without AVX2 (2013) it has a third of the
  # speed. main() reports processors without AVX2.
  add_compile_options(-march=haswell)
endif()
