# Compile time matters more than the speed of tests; under sanitizers half of it is optimizing.
set(LLMPROF_TEST_OPTIONS -O1)
if(LLMPROF_SANITIZE)
  set(LLMPROF_TEST_OPTIONS -O0)
endif()

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

# The files of one folder are compiled as one unit, because most of the time is spent on templates of the
# standard library, fmt and gtest, once per unit. Files that use the same name for different things are
# listed in APART. LLMPROF_UNITY=OFF compiles every file by itself, which is faster for repeated changes
# in one folder.
function(llmprof_one_unit_per_folder target kind)
  cmake_parse_arguments(arg "" "" "APART" ${ARGN})
  if(NOT LLMPROF_PCH OR NOT LLMPROF_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # A file's local names may be those of another's anonymous namespace, and g++ takes the files that a
  # unit includes for headers. LLMPROF_UNITY=OFF compiles with both.
  target_compile_options(${target} PRIVATE -Wno-shadow)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
  get_target_property(files ${target} SOURCES)
  foreach(file ${files})
    get_filename_component(path ${file} ABSOLUTE)
    get_filename_component(name ${path} NAME)
    if(name IN_LIST arg_APART)
      list(REMOVE_ITEM arg_APART ${name})
    else()
      get_filename_component(folder ${path} DIRECTORY)
      file(RELATIVE_PATH group ${PROJECT_SOURCE_DIR} ${folder})
      string(MAKE_C_IDENTIFIER ${group} group)
      set_source_files_properties(${file} PROPERTIES UNITY_GROUP ${group}_${kind})
    endif()
  endforeach()
  if(arg_APART)
    message(WARNING "${target} has no ${arg_APART}, which its CMakeLists.txt sets apart")
  endif()
endfunction()

function(llmprof_compile_tests target)
  target_compile_options(${target} PRIVATE ${LLMPROF_TEST_OPTIONS})
  target_link_libraries(${target} PRIVATE fmt::fmt GTest::gtest_main)
  if(LLMPROF_PCH)
    target_precompile_headers(${target} REUSE_FROM llmprof_precompiled_tests)
  endif()
  llmprof_one_unit_per_folder(${target} tests ${ARGN})
endfunction()

# A folder under src/ is one library; the tests beside its code are one test program.
#   llmprof_module(NAME [HOT] [DEPENDS our modules] [LIBRARIES third-party libraries]
#                  [APART files] [TESTS_APART test files] [EXCEPT files that are not of the library]
#                  [SHARED_CAPTURES])
# HOT: its loops run over all events of a capture. SHARED_CAPTURES: tests in suites named
# SharedCaptures... need the captures beside the checkout; they are one test, skipped as a whole.
function(llmprof_module name)
  cmake_parse_arguments(arg "HOT;SHARED_CAPTURES" "" "DEPENDS;LIBRARIES;APART;TESTS_APART;EXCEPT" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cpp)
  if(arg_EXCEPT)
    list(TRANSFORM arg_EXCEPT PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
    list(REMOVE_ITEM sources ${arg_EXCEPT})
  endif()
  file(GLOB_RECURSE tests CONFIGURE_DEPENDS *_test.cpp)
  if(tests)
    list(REMOVE_ITEM sources ${tests})
  endif()
  if(LLMPROF_FUZZ AND name MATCHES "^(base|trace|readers|capture|cli)$")
    # What these read meets damage of every kind in tests/robustness and tests/fuzz.
    set(tests "")
  endif()
  list(TRANSFORM arg_DEPENDS PREPEND llmprof_)
  add_library(llmprof_${name} STATIC ${sources})
  target_include_directories(llmprof_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(llmprof_${name} PUBLIC ${arg_DEPENDS} PRIVATE ${arg_LIBRARIES})
  if(arg_HOT)
    target_compile_options(llmprof_${name} PRIVATE ${LLMPROF_HOT_OPTIONS})
  else()
    target_compile_options(llmprof_${name} PRIVATE ${LLMPROF_COLD_OPTIONS})
  endif()
  if(LLMPROF_FUZZ AND name MATCHES "^(base|trace|readers)$")
    # Branches are counted, so that libFuzzer sees which mutation reached new code. (What
    # -fsanitize=fuzzer-no-link asks for, which a precompiled header shared with others forbids.)
    target_compile_options(
      llmprof_${name}
      PRIVATE -fsanitize-coverage=inline-8bit-counters,indirect-calls,trace-cmp,pc-table)
  endif()
  if(LLMPROF_SANITIZE AND name MATCHES "^(base|trace|readers)$")
    # Robustness tests read damaged files by the ten thousand. clang takes no precompiled header that
    # was compiled with other options.
    target_compile_options(llmprof_${name} PRIVATE -O1)
  else()
    llmprof_precompile(llmprof_${name})
  endif()
  llmprof_one_unit_per_folder(llmprof_${name} code APART ${arg_APART})
  set(once_sanitized FALSE)
  if(name MATCHES "^(profile|report|session|config|llm)$" AND NOT LLMPROF_SANITIZE)
    # Their tests are logic alone, and run under the sanitizers (preset asan): not compiled twice.
    # `ninja test_${name}` builds them here too.
    set(once_sanitized TRUE)
  endif()
  if(LLMPROF_TESTS AND tests)
    add_executable(test_${name} ${tests})
    set_target_properties(test_${name} PROPERTIES EXCLUDE_FROM_ALL ${once_sanitized})
    target_link_libraries(test_${name} PRIVATE llmprof_${name} llmprof_testing ${arg_LIBRARIES})
    llmprof_compile_tests(test_${name} APART ${arg_TESTS_APART})
    set(filter -SharedCaptures*)
    if(LLMPROF_SANITIZE)
      # Speed is tested in the release build.
      string(APPEND filter ":*ASecondAtTheMost:*TakeLinearTime")
    endif()
    if(LLMPROF_SANITIZE)
      # All at once: starting a sanitized program takes longer than most of its tests.
      add_test(NAME ${name}/all COMMAND test_${name} --gtest_brief=1 --gtest_filter=${filter}
               WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
      set_tests_properties(${name}/all PROPERTIES TIMEOUT 900)
    elseif(NOT once_sanitized)
      gtest_discover_tests(test_${name} TEST_PREFIX ${name}/ TEST_FILTER ${filter}
                           DISCOVERY_TIMEOUT 60 WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
                           PROPERTIES TIMEOUT 600)
    endif()
    if(arg_SHARED_CAPTURES AND NOT LLMPROF_SANITIZE)
      add_test(NAME ${name}/shared_captures COMMAND test_${name} --gtest_filter=SharedCaptures*
               WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
      set_tests_properties(${name}/shared_captures PROPERTIES TIMEOUT 600 SKIP_REGULAR_EXPRESSION
                           "needs ../shared/captures")
    endif()
  endif()
endfunction()
