# The collector's counters without a GPU: which ones it chooses, with the real libcupti, and how they
# become records, with fakes of CUPTI's PM sampling and of NVML.
find_path(LLMPROF_CUPTI_INCLUDE cupti.h HINTS ENV CUDA_HOME
          PATHS /usr/local/cuda/include /usr/local/cuda/extras/CUPTI/include
          PATH_SUFFIXES include extras/CUPTI/include)
find_path(LLMPROF_CUDA_INCLUDE cuda.h HINTS ENV CUDA_HOME PATHS /usr/local/cuda/include
          PATH_SUFFIXES include)
find_library(LLMPROF_CUPTI_LIBRARY cupti HINTS ENV CUDA_HOME
             PATHS /usr/local/cuda/lib64 /usr/local/cuda/lib /usr/local/cuda/extras/CUPTI/lib64
             PATH_SUFFIXES lib64 lib extras/CUPTI/lib64)
if(NOT LLMPROF_CUPTI_INCLUDE OR NOT LLMPROF_CUDA_INCLUDE OR
   NOT EXISTS ${LLMPROF_CUPTI_INCLUDE}/cupti_pmsampling.h)
  message(STATUS "No headers of CUPTI's PM sampling (cupti_pmsampling.h, CUDA 12.6 and later): "
                 "counters are not tested. -DLLMPROF_CUPTI_INCLUDE=FOLDER names them")
  return()
endif()

set(cuda ${PROJECT_SOURCE_DIR}/src/collector/cuda)

function(add_counter_test name)
  add_executable(test_counters_${name} counters_${name}_test.cpp counters_stubs.cpp ${ARGN})
  target_include_directories(test_counters_${name} SYSTEM PRIVATE ${LLMPROF_CUPTI_INCLUDE}
                                                                  ${LLMPROF_CUDA_INCLUDE})
  target_compile_definitions(test_counters_${name} PRIVATE _GNU_SOURCE)
  target_compile_options(test_counters_${name} PRIVATE -Wno-missing-field-initializers)
  target_link_libraries(test_counters_${name} PRIVATE llmprof_wire GTest::gtest_main
                                                      ${CMAKE_DL_LIBS})
  gtest_discover_tests(test_counters_${name} TEST_PREFIX collector/ DISCOVERY_TIMEOUT 60
                       PROPERTIES TIMEOUT 60)
endfunction()

add_counter_test(choice ${cuda}/counters/pm_metrics.cpp)
target_compile_definitions(test_counters_choice
                           PRIVATE LLMPROF_CUPTI_LIBRARY="${LLMPROF_CUPTI_LIBRARY}")

add_library(fake_nvml SHARED ${PROJECT_SOURCE_DIR}/tests/fakes/nvml/fake_nvml.cpp)
file(GLOB counters CONFIGURE_DEPENDS ${cuda}/counters/*.cpp)
add_counter_test(sampling ${counters} ${PROJECT_SOURCE_DIR}/src/collector/environment.cpp
                 ${PROJECT_SOURCE_DIR}/tests/fakes/cupti/fake_pm_sampling.cpp played_clock.cpp)
# The collector looks up the fake's functions by name, and NVML's fake calls usleep() of played_clock.
set_target_properties(test_counters_sampling PROPERTIES ENABLE_EXPORTS ON)
target_compile_definitions(test_counters_sampling
                           PRIVATE LLMPROF_FAKE_NVML="$<TARGET_FILE:fake_nvml>")
add_dependencies(test_counters_sampling fake_nvml)
