# SPDX-License-Identifier: Apache-2.0
# Installs headers, both libraries, the CMake package and the pkg-config file. The results are
# relocatable: `cmake --install build --prefix P` works with any P, and DESTDIR is honoured.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/troupe)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/troupe DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING PATTERN "*.h")
# The archive has targets of its own, because it needs packages that users of the shared library do not have.
install(TARGETS troupe EXPORT troupe_targets)
install(EXPORT troupe_targets NAMESPACE troupe:: DESTINATION ${package_dir})
install(TARGETS troupe_static EXPORT troupe_static_targets)
# Without what link-time optimisation needs: with it gcc would compile the whole library again for each program that links the
# archive (docs/design/build.md). The programs of this build have it.
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    install(CODE "
        set(archive \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/libtroupe.a\")
        if(IS_ABSOLUTE \"${CMAKE_INSTALL_LIBDIR}\")
            set(archive \"\$ENV{DESTDIR}${CMAKE_INSTALL_LIBDIR}/libtroupe.a\")
        endif()
        execute_process(COMMAND \"${CMAKE_OBJCOPY}\" -D -R .gnu.lto_* -R .gnu.debuglto_* \"\${archive}\" COMMAND_ERROR_IS_FATAL ANY)")
endif()
install(EXPORT troupe_static_targets NAMESPACE troupe:: DESTINATION ${package_dir})

# What the archive needs: packages for CMake, and flags for pkg-config. They are no Requires.private, which pkg-config wants to
# find for the shared library too.
set(static_packages "")
set(pc_private "")
if(boost_library)
    list(APPEND static_packages "BoostContext")
    list(APPEND pc_private -lboost_context)
    install(FILES ${CMAKE_CURRENT_LIST_DIR}/FindBoostContext.cmake DESTINATION ${package_dir})
endif()
if(TROUPE_SQLITE)
    list(APPEND static_packages "SQLite3 3.40")
    list(APPEND pc_private -lsqlite3)
endif()
# Libraries for which CMake has no package: they are looked for by name.
set(static_names "")
if(http2_library)
    list(APPEND static_names nghttp2)
    list(APPEND pc_private -lnghttp2)
endif()
if(http_library)
    list(APPEND static_names llhttp)
    list(APPEND pc_private -lllhttp)
endif()
if(tls_library)
    list(APPEND static_packages "OpenSSL 3.0")
    list(APPEND pc_private -lssl -lcrypto)
    # What the archive of OpenSSL itself needs: that of Debian 13 compresses with zstd.
    find_package(PkgConfig QUIET)
    if(PKG_CONFIG_FOUND)
        pkg_check_modules(pc_crypto QUIET libcrypto)
        foreach(name IN LISTS pc_crypto_STATIC_LIBRARIES)
            if(NOT name MATCHES "^(crypto|dl|pthread)$")
                list(APPEND pc_private -l${name})
            endif()
        endforeach()
    endif()
endif()
if(zlib_library)
    list(APPEND static_packages "ZLIB")
    list(APPEND pc_private -lz)
endif()
list(APPEND pc_private -lm -ldl -pthread)
list(REMOVE_DUPLICATES pc_private)
list(JOIN pc_private " " pc_private)
set(config_static "")
foreach(package IN LISTS static_packages)
    string(APPEND config_static "find_package(${package} QUIET)\n")
    string(REGEX REPLACE " .*" "" name "${package}")
    string(APPEND config_static "if(NOT ${name}_FOUND)\n    set(troupe_has_static FALSE)\nendif()\n")
endforeach()
foreach(name IN LISTS static_names)
    string(APPEND config_static "find_library(troupe_${name} ${name})\nmark_as_advanced(troupe_${name})\n"
        "if(NOT troupe_${name})\n    set(troupe_has_static FALSE)\nendif()\n")
endforeach()
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/troupe-config.cmake.in troupe-config.cmake
    INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(troupe-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/troupe-config.cmake
    ${PROJECT_BINARY_DIR}/troupe-config-version.cmake
    DESTINATION ${package_dir})

file(RELATIVE_PATH pc_prefix /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
configure_file(${CMAKE_CURRENT_LIST_DIR}/troupe.pc.in troupe.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/troupe.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The commands for gdb, and a small file that gdb loads by itself with libtroupe.so. gdb looks for it
# below its own auto-load directory, under the whole path of the library; so the prefix, which is
# known when it is installed, comes twice.
set(gdb_dir ${CMAKE_INSTALL_DATADIR}/troupe/gdb)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/share/gdb/ DESTINATION ${gdb_dir}
    FILES_MATCHING PATTERN "*.py" PATTERN __pycache__ EXCLUDE)
if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
    set(gdb_lib_dir ${CMAKE_INSTALL_LIBDIR})
    set(gdb_from_lib ${CMAKE_INSTALL_FULL_DATADIR}/troupe/gdb)
else()
    set(gdb_lib_dir "\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}")
    file(RELATIVE_PATH gdb_from_lib /p/${CMAKE_INSTALL_LIBDIR} /p/${gdb_dir})
endif()
configure_file(${PROJECT_SOURCE_DIR}/share/gdb/auto-load.py.in troupe-gdb-auto-load.py @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/troupe-gdb-auto-load.py
    DESTINATION ${CMAKE_INSTALL_DATADIR}/gdb/auto-load${gdb_lib_dir}
    RENAME libtroupe.so.${PROJECT_VERSION}-gdb.py)
