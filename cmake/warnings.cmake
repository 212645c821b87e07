add_compile_options(-Wall -Wextra -Wpedantic -Werror -Wshadow -Wconversion -Wsign-conversion
                    -Wnon-virtual-dtor -Woverloaded-virtual -Wnull-dereference)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 sees null dereferences and overflows in its own inlined library code.
  add_compile_options(-Wno-null-dereference)
endif()
if(LLMPROF_SANITIZE)
  add_compile_options(-fsanitize=${LLMPROF_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${LLMPROF_SANITIZE})
endif()
