# SPDX-License-Identifier: Apache-2.0
# Installs headers, both libraries, the CMake package and the pkg-config file. The results are
# relocatable: `cmake --install build --prefix P` works with any P, and DESTDIR is honoured.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/troupe)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/troupe DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING PATTERN "*.h")
install(TARGETS troupe troupe_static EXPORT troupe_targets)
install(EXPORT troupe_targets NAMESPACE troupe:: DESTINATION ${package_dir})

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/troupe-config.cmake.in troupe-config.cmake
    INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(troupe-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/troupe-config.cmake
    ${PROJECT_BINARY_DIR}/troupe-config-version.cmake ${CMAKE_CURRENT_LIST_DIR}/FindBoostContext.cmake
    DESTINATION ${package_dir})

file(RELATIVE_PATH pc_prefix /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
configure_file(${CMAKE_CURRENT_LIST_DIR}/troupe.pc.in troupe.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/troupe.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
