# nest_headers(TARGET headers...): unity groups where NEST_UNITY is on (tools/unity_groups says which files go together),
# else a precompiled header of the given ones. Both save reading the same headers for every file.
find_package(Python3 COMPONENTS Interpreter QUIET)
option(NEST_UNITY "Compile several files as one" ${Python3_FOUND})
function(nest_headers target)
  if(NOT NEST_UNITY)
    target_precompile_headers(${target} PRIVATE ${ARGN})
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  execute_process(COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/unity_groups ${sources}
                  WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE grouped COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[0-9]+ [^\n]+" rows "${grouped}")
  foreach(row IN LISTS rows)
    string(REGEX MATCH "^([0-9]+) (.+)$" row "${row}")
    set_source_files_properties(${CMAKE_MATCH_2} PROPERTIES UNITY_GROUP group${CMAKE_MATCH_1})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# One target per room. nest_room(NAME SOURCES ... DEPENDS ... [TEST_DEPENDS ...] [PRIVATE_LIBRARIES ...]) makes the library
# nest_NAME, its groups or precompiled header, its test program test_NAME (from TESTS) and its install rule. TEST_DEPENDS: rooms
# to the right that its tests use.
function(nest_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;TESTS;DEPENDS;TEST_DEPENDS;PRIVATE_LIBRARIES" ${ARGN})
  add_library(nest_${name} STATIC ${ROOM_SOURCES})
  add_library(nest::${name} ALIAS nest_${name})
  set_target_properties(nest_${name} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(nest_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src> $<INSTALL_INTERFACE:include>)
  target_link_libraries(nest_${name} PUBLIC nest_options)
  foreach(dependency IN LISTS ROOM_DEPENDS)
    target_link_libraries(nest_${name} PUBLIC nest_${dependency})
  endforeach()
  target_link_libraries(nest_${name} PRIVATE ${ROOM_PRIVATE_LIBRARIES})
  nest_headers(nest_${name} <algorithm> <cstdint> <functional> <map> <optional> <span> <string>
               <string_view> <utility> <vector>)
  install(TARGETS nest_${name} EXPORT nest ARCHIVE DESTINATION lib)
  if(NEST_TESTS AND ROOM_TESTS)
    add_executable(test_${name} ${ROOM_TESTS})
    target_link_libraries(test_${name} PRIVATE nest_${name} nest_test_support GTest::gmock GTest::gtest_main rapidcheck)
    foreach(dependency IN LISTS ROOM_TEST_DEPENDS)
      target_link_libraries(test_${name} PRIVATE nest_${dependency})
    endforeach()
    # What tests spend their time in is the library; their own code compiles faster so.
    target_compile_options(test_${name} PRIVATE $<IF:$<BOOL:${NEST_SANITIZE}>,-O0,$<$<CONFIG:Release>:-O1>>)
    nest_headers(test_${name} <gmock/gmock.h> <gtest/gtest.h> <string> <vector>)
    set_property(GLOBAL APPEND PROPERTY NEST_TEST_PROGRAMS test_${name})
    add_test(NAME ${name} COMMAND test_${name})
  endif()
endfunction()

# nest_embed(TARGET FUNCTION HEADER files...): data files compiled into a room.
function(nest_embed target function header)
  string(REPLACE ";" "|" joined "${ARGN}")
  set(out "${CMAKE_CURRENT_BINARY_DIR}/${function}.cpp")
  add_custom_command(
    OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DFUNCTION=${function} -DHEADER=${header} "-DFILES=${joined}" -P
            ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${ARGN} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    COMMENT "Embedding ${function}"
    VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()
