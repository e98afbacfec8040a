# The web application (web/): its packages are fetched by npm when CMake configures, bundled by esbuild when it
# builds, and compiled into nest-server. Sets NEST_WEB_FILES. Without Node, or where the packages cannot be
# fetched, the server has a page that says so.
option(NEST_WEB "Build the web application of nest serve (needs Node and npm)" ON)
set(NEST_WEB_FILES ${PROJECT_SOURCE_DIR}/apps/server/without_web/index.html)
if(NOT NEST_WEB)
  return()
endif()
find_program(NEST_NODE node)
find_program(NEST_NPM npm)
if(NOT NEST_NODE OR NOT NEST_NPM)
  message(STATUS "node and npm were not found: 'nest serve' is built without its web application")
  return()
endif()

set(web ${PROJECT_SOURCE_DIR}/web)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${web}/package-lock.json)
if(${web}/package-lock.json IS_NEWER_THAN ${web}/node_modules/.package-lock.json)
  message(STATUS "Fetching the packages of the web application")
  # Only what bundling needs; the tests fetch the rest (tests/web/run).
  execute_process(COMMAND ${NEST_NPM} ci --omit=dev --prefer-offline --fetch-retries=1 --no-audit --no-fund --loglevel=error
                  WORKING_DIRECTORY ${web}
                  RESULT_VARIABLE failed OUTPUT_QUIET ERROR_VARIABLE why TIMEOUT 300)
  if(failed)
    message(WARNING "npm could not fetch the packages: 'nest serve' is built without its web application\n${why}")
    return()
  endif()
endif()

file(GLOB sources CONFIGURE_DEPENDS ${web}/src/*.ts ${web}/src/*.css ${web}/src/*.html ${PROJECT_SOURCE_DIR}/src/nest/report/page/*)
set(NEST_WEB_FILES "")
foreach(name index.html app.js app.css icon.svg)
  list(APPEND NEST_WEB_FILES ${PROJECT_BINARY_DIR}/web/${name})
endforeach()
add_custom_command(OUTPUT ${NEST_WEB_FILES}
                   COMMAND ${NEST_NODE} ${web}/build.mjs ${PROJECT_BINARY_DIR}/web
                   DEPENDS ${sources} ${web}/build.mjs ${web}/package-lock.json
                   COMMENT "Bundling the web application" VERBATIM)
