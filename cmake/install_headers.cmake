cmake_policy(SET CMP0057 NEW)  # this script runs apart from the project
# Installs the public headers: those of the room `api` and exactly those that they include. Run by `cmake --install`;
# NEST_SOURCES is the folder src.
file(GLOB waiting RELATIVE ${NEST_SOURCES} ${NEST_SOURCES}/nest/api/*.hpp)
set(seen "")
while(waiting)
  list(POP_FRONT waiting header)
  if(header IN_LIST seen)
    continue()
  endif()
  list(APPEND seen ${header})
  get_filename_component(folder ${header} DIRECTORY)
  file(INSTALL ${NEST_SOURCES}/${header} DESTINATION ${CMAKE_INSTALL_PREFIX}/include/${folder})
  file(STRINGS ${NEST_SOURCES}/${header} lines REGEX "^#include \"nest/")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^#include \"([^\"]+)\".*" "\\1" included "${line}")
    list(APPEND waiting ${included})
  endforeach()
endwhile()
