# SPDX-License-Identifier: Apache-2.0
# Finds llhttp, the parser of HTTP/1.1: a library that pkg-config knows, or its C sources, which tools/bootstrap unpacks
# into build/llhttp. Sets Llhttp_FOUND, Llhttp_INCLUDE_DIR, and either Llhttp_LIBRARIES or Llhttp_SOURCES.
find_package(PkgConfig QUIET)
if(PKG_CONFIG_FOUND)
    pkg_check_modules(Llhttp_PC QUIET libllhttp)
endif()
if(Llhttp_PC_FOUND)
    set(Llhttp_FOUND TRUE)
    set(Llhttp_LIBRARIES ${Llhttp_PC_LIBRARIES})
    set(Llhttp_INCLUDE_DIR ${Llhttp_PC_INCLUDE_DIRS})
else()
    # An installed node-llhttp has the header apart from the sources.
    find_path(Llhttp_SOURCE_DIR llhttp.c
        PATHS ${PROJECT_SOURCE_DIR}/build/llhttp /usr/share/llhttp NO_DEFAULT_PATH)
    find_path(Llhttp_INCLUDE_DIR llhttp.h
        PATHS ${Llhttp_SOURCE_DIR} /usr/share/include/llhttp /usr/include/llhttp NO_DEFAULT_PATH)
    set(Llhttp_FOUND FALSE)
    if(Llhttp_SOURCE_DIR AND Llhttp_INCLUDE_DIR)
        set(Llhttp_FOUND TRUE)
        set(Llhttp_SOURCES ${Llhttp_SOURCE_DIR}/api.c ${Llhttp_SOURCE_DIR}/http.c
            ${Llhttp_SOURCE_DIR}/llhttp.c)
    endif()
endif()
if(Llhttp_FIND_REQUIRED AND NOT Llhttp_FOUND)
    message(FATAL_ERROR "llhttp is missing, which HTTP needs: run `make bootstrap`, which takes it from Debian's package "
        "node-llhttp or libllhttp-dev. -DTROUPE_HTTP=OFF builds without HTTP.")
endif()
