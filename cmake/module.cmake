# Compile time matters more than the speed of tests: half of it is optimizing.
set(LLMPROF_TEST_OPTIONS -O0)

# Headers that most files include are precompiled twice: for all libraries, and with gtest for all
# tests. They took more than half of all compile time. LLMPROF_PCH=OFF shows whether every file
# includes what it uses.
if(LLMPROF_PCH)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/precompiled.cpp CONTENT "")
  function(llmprof_precompiled_headers name)
    add_library(${name} OBJECT ${PROJECT_BINARY_DIR}/precompiled.cpp)
    target_link_libraries(${name} PRIVATE fmt::fmt tl::expected)
    target_precompile_headers(${name} PRIVATE <algorithm> <array> <filesystem> <functional> <map>
                              <optional> <string> <string_view> <vector> <fmt/format.h>
                              <tl/expected.hpp> ${ARGN})
  endfunction()
  llmprof_precompiled_headers(llmprof_precompiled)
  if(LLMPROF_TESTS)
    llmprof_precompiled_headers(llmprof_precompiled_tests <gtest/gtest.h>)
    target_link_libraries(llmprof_precompiled_tests PRIVATE GTest::gtest)
    target_compile_options(llmprof_precompiled_tests PRIVATE ${LLMPROF_TEST_OPTIONS})
  endif()
endif()

# For targets that link fmt::fmt and have no compile options of their own.
function(llmprof_precompile target)
  if(LLMPROF_PCH)
    target_precompile_headers(${target} REUSE_FROM llmprof_precompiled)
  endif()
endfunction()

# The files of a module are compiled as a few large units, because most of the time is spent on templates of
# the standard library, fmt and gtest, once per unit. So local names differ within a module; files that need
# the same name for different things, or their own compile options, are listed in APART. LLMPROF_UNITY=OFF
# compiles every file by itself, which is faster for repeated changes in one folder.
function(llmprof_large_units target)
  cmake_parse_arguments(arg "" "" "APART" ${ARGN})
  if(NOT LLMPROF_UNITY)
    return()
  endif()
  set(batch 50)
  if(LLMPROF_SANITIZE)
    set(batch 0) # all: what units have in common is compiled in each
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${batch})
  # A file's local names may be those of another's anonymous namespace, and g++ takes the files that a
  # unit includes for headers. LLMPROF_UNITY=OFF compiles with both.
  target_compile_options(${target} PRIVATE -Wno-shadow)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
  foreach(name ${arg_APART})
    file(GLOB_RECURSE found ${CMAKE_CURRENT_SOURCE_DIR}/${name})
    if(NOT found)
      message(WARNING "there is no ${name}, which the CMakeLists.txt of ${target} sets apart")
    endif()
    set_source_files_properties(${found} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endforeach()
endfunction()

function(llmprof_compile_tests target)
  target_compile_options(${target} PRIVATE ${LLMPROF_TEST_OPTIONS})
  target_link_libraries(${target} PRIVATE fmt::fmt GTest::gtest_main)
  if(LLMPROF_PCH)
    target_precompile_headers(${target} REUSE_FROM llmprof_precompiled_tests)
  endif()
  llmprof_large_units(${target} ${ARGN})
endfunction()

# A folder under src/ is one library; the tests beside its code are one test program.
#   llmprof_module(NAME [HOT] [HOT_FOLDERS sub-folders] [DEPENDS our modules]
#                  [LIBRARIES third-party libraries] [APART files] [TESTS_APART test files]
#                  [TESTS_DEPEND modules of ours that its tests need besides]
#                  [EXCEPT files that are not of the library])
# HOT, HOT_FOLDERS: whose loops run over all events of a capture.
function(llmprof_module name)
  cmake_parse_arguments(arg "HOT" "" "HOT_FOLDERS;DEPENDS;LIBRARIES;APART;TESTS_APART;TESTS_DEPEND;EXCEPT" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cpp)
  if(arg_EXCEPT)
    list(TRANSFORM arg_EXCEPT PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
    list(REMOVE_ITEM sources ${arg_EXCEPT})
  endif()
  file(GLOB_RECURSE tests CONFIGURE_DEPENDS *_test.cpp)
  if(tests)
    list(REMOVE_ITEM sources ${tests})
  endif()
  set(hot_sources "")
  foreach(folder ${arg_HOT_FOLDERS})
    set(found ${sources})
    list(FILTER found INCLUDE REGEX "^${CMAKE_CURRENT_SOURCE_DIR}/${folder}/")
    if(NOT found)
      message(FATAL_ERROR "${name} has no folder ${folder}, which its CMakeLists.txt calls hot")
    endif()
    list(APPEND hot_sources ${found})
    list(REMOVE_ITEM sources ${found})
  endforeach()
  list(TRANSFORM arg_DEPENDS PREPEND llmprof_)
  list(TRANSFORM arg_TESTS_DEPEND PREPEND llmprof_)
  add_library(llmprof_${name} STATIC ${sources})
  set(parts llmprof_${name})
  if(hot_sources)
    add_library(llmprof_${name}_hot OBJECT ${hot_sources})
    target_sources(llmprof_${name} PRIVATE $<TARGET_OBJECTS:llmprof_${name}_hot>)
    list(APPEND parts llmprof_${name}_hot)
  endif()
  foreach(part ${parts})
    target_include_directories(${part} PUBLIC ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${part} PUBLIC ${arg_DEPENDS} PRIVATE ${arg_LIBRARIES})
    if(arg_HOT OR part STREQUAL "llmprof_${name}_hot")
      target_compile_options(${part} PRIVATE ${LLMPROF_HOT_OPTIONS})
    else()
      target_compile_options(${part} PRIVATE ${LLMPROF_COLD_OPTIONS})
    endif()
    if(LLMPROF_FUZZ AND name MATCHES "^(base|trace|readers|query|mcp)$")
      # Branches are counted, so that libFuzzer sees which mutation reached new code. (What
      # -fsanitize=fuzzer-no-link asks for, which a precompiled header shared with others forbids.)
      target_compile_options(
        ${part} PRIVATE -fsanitize-coverage=inline-8bit-counters,indirect-calls,trace-cmp,pc-table)
    endif()
    if(LLMPROF_SANITIZE AND name MATCHES "^(base|trace|readers)$")
      # Robustness tests read damaged files by the ten thousand. clang takes no precompiled header
      # that was compiled with other options.
      target_compile_options(${part} PRIVATE -O1)
      if(LLMPROF_SANITIZE MATCHES undefined)
        target_compile_options(${part} PRIVATE -fsanitize=null,alignment)
      endif()
    else()
      llmprof_precompile(${part})
    endif()
    llmprof_large_units(${part} APART ${arg_APART})
  endforeach()
  if(LLMPROF_TESTS AND tests)
    llmprof_module_tests(${name})
  endif()
endfunction()

# Runs all tests of a program in a few processes, because starting a sanitized program takes longer than
# most of its tests. What takes longest (COST, any unit) is started first.
function(llmprof_add_test_shards target name shards cost)
  foreach(shard RANGE 1 ${shards})
    set(test ${name}/all)
    if(shards GREATER 1)
      string(APPEND test _${shard}_of_${shards})
    endif()
    math(EXPR index "${shard} - 1")
    add_test(NAME ${test} COMMAND ${target} --gtest_brief=1 ${ARGN} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(${test} PROPERTIES TIMEOUT 1200 COST ${cost} ENVIRONMENT
                         "GTEST_TOTAL_SHARDS=${shards};GTEST_SHARD_INDEX=${index}")
  endforeach()
endfunction()

# The unit tests run under the sanitizers alone (preset asan), so that they are compiled once;
# `ninja test_NAME` builds them in any tree. What tests in suites named SharedCaptures... read lies
# beside the checkout, and is large: those run in the release build, as one test that is skipped as a
# whole where the captures are not there.
function(llmprof_module_tests name)
  add_executable(test_${name} ${tests})
  target_link_libraries(test_${name} PRIVATE llmprof_${name} llmprof_testing ${arg_TESTS_DEPEND}
                                             ${arg_LIBRARIES})
  llmprof_compile_tests(test_${name} APART ${arg_TESTS_APART})
  if(LLMPROF_SANITIZE)
    list(LENGTH tests files)
    set(shards 1)
    if(files GREATER 50)
      set(shards 2)
    endif()
    llmprof_add_test_shards(test_${name} ${name} ${shards} ${files} --gtest_filter=-*SharedCaptures*)
    return()
  endif()
  set_target_properties(test_${name} PROPERTIES EXCLUDE_FROM_ALL TRUE)
  set(with_captures "")
  foreach(test ${tests})
    file(STRINGS ${test} suite REGEX "SharedCaptures" LIMIT_COUNT 1)
    if(suite)
      list(APPEND with_captures ${test})
    endif()
  endforeach()
  if(with_captures)
    add_executable(captures_${name} ${with_captures})
    target_link_libraries(captures_${name} PRIVATE llmprof_${name} llmprof_testing ${arg_LIBRARIES})
    llmprof_compile_tests(captures_${name})
    add_test(NAME ${name}/shared_captures COMMAND captures_${name} --gtest_filter=*SharedCaptures*
             WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(${name}/shared_captures PROPERTIES TIMEOUT 600 SKIP_REGULAR_EXPRESSION
                         "needs ../shared/captures")
  endif()
endfunction()
