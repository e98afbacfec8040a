# What `cmake --install` puts where, so that find_package(nest) works from there. nest_room() installs the libraries.
include(CMakePackageConfigHelpers)
install(CODE "set(NEST_SOURCES \"${PROJECT_SOURCE_DIR}/src\")")
install(SCRIPT ${PROJECT_SOURCE_DIR}/cmake/install_headers.cmake)
install(EXPORT nest NAMESPACE nest:: FILE nestTargets.cmake DESTINATION lib/cmake/nest)
# The libraries as they lie in the build folder, for the Python package (python/CMakeLists.txt, NEST_BUILT).
export(EXPORT nest NAMESPACE nest:: FILE ${PROJECT_BINARY_DIR}/nestTargets.cmake)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/nestConfig.cmake.in ${PROJECT_BINARY_DIR}/nestConfig.cmake
                              INSTALL_DESTINATION lib/cmake/nest)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/nestConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/nestConfig.cmake ${PROJECT_BINARY_DIR}/nestConfigVersion.cmake
        DESTINATION lib/cmake/nest)
