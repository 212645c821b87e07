# What every file of ours is compiled with. -O3 takes a tenth longer to compile than -O2: it is for
# what loops over all events of a capture.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(LLMPROF_HOT_OPTIONS $<$<CONFIG:Release>:-O3>)
add_compile_options(-Wall -Wextra -Wpedantic -Werror -Wshadow -Wconversion -Wsign-conversion
                    -Wnon-virtual-dtor -Woverloaded-virtual)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 sees an overlapping copy in its own std::string (GCC bug 105329).
  add_compile_options(-Wno-restrict)
  if(LLMPROF_PCH)
    # In a precompiled header it does not know its own std::string for the system's, and warns of
    # copies that it believes to be too large. `make dist` compiles without one, and with these.
    add_compile_options(-Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
  endif()
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # libstdc++ 12's own std::stable_sort calls what it declares deprecated.
  add_compile_options(-Wno-deprecated-declarations)
endif()
if(LLMPROF_SANITIZE)
  add_compile_options(-fsanitize=${LLMPROF_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${LLMPROF_SANITIZE})
endif()
if(LLMPROF_FUZZ)
  add_link_options(-fsanitize=fuzzer-no-link)
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  # simdjson picks its code when it is compiled: without AVX2 (2013) it reads at a third of the speed.
  # main() says so where the processor has none.
  add_compile_options(-march=haswell)
endif()
