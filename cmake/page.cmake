# Builds ui/ (TypeScript) into the script and style of report.html, and sets LLMPROF_PAGE_FOLDER and
# LLMPROF_PAGE_FILES for who embeds them. Without Node.js 18 and npm, or where npm reaches no registry, they
# are empty but for page.why, and the program says why it has no page and how to get it.
set(LLMPROF_PAGE AUTO CACHE STRING "The page report.html: AUTO (where it can be built), ON (or fail), OFF")
set(LLMPROF_PAGE_FOLDER ${PROJECT_BINARY_DIR}/page)
set(LLMPROF_PAGE_FILES ${LLMPROF_PAGE_FOLDER}/page.js ${LLMPROF_PAGE_FOLDER}/page.css
                       ${LLMPROF_PAGE_FOLDER}/page.sha256 ${LLMPROF_PAGE_FOLDER}/page.why)

find_program(LLMPROF_NODE NAMES node nodejs NO_CMAKE_FIND_ROOT_PATH)
find_program(LLMPROF_NPM npm NO_CMAKE_FIND_ROOT_PATH)
mark_as_advanced(LLMPROF_NODE LLMPROF_NPM)

file(GLOB_RECURSE page_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/ui/src/*)
# The stamp appears when the page was built: a build that had to leave it out tries again.
add_custom_command(
  OUTPUT ${LLMPROF_PAGE_FOLDER}/built
  BYPRODUCTS ${LLMPROF_PAGE_FILES}
  COMMAND ${CMAKE_COMMAND} -DNODE=${LLMPROF_NODE} -DNPM=${LLMPROF_NPM} -DWANTED=${LLMPROF_PAGE}
          -DSOURCE=${PROJECT_SOURCE_DIR}/ui -DOUT=${LLMPROF_PAGE_FOLDER}
          -P ${PROJECT_SOURCE_DIR}/cmake/build_page.cmake
  DEPENDS ${PROJECT_SOURCE_DIR}/cmake/build_page.cmake ${PROJECT_SOURCE_DIR}/ui/package.json
          ${PROJECT_SOURCE_DIR}/ui/package-lock.json ${PROJECT_SOURCE_DIR}/ui/build.mjs ${page_sources}
  COMMENT "The page report.html (ui/)"
  VERBATIM)
