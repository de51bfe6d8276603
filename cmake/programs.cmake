# SPDX-License-Identifier: Apache-2.0
# build/bin/troupe-bench from bench/, the programs of bench/micro and bench/net on demand (the targets micro, net and http),
# and build/examples/NN_name from each examples/NN_name/.

# Links the machine code of the archive as it is, and does not optimise the whole program again.
function(troupe_link_as_is target)
    if(CMAKE_INTERPROCEDURAL_OPTIMIZATION)
        set_target_properties(${target} PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF)
        target_link_options(${target} PRIVATE -fno-lto)
    endif()
endfunction()

file(GLOB bench_sources CONFIGURE_DEPENDS bench/*.c)
foreach(name troupe-bench troupe-guard)
    add_executable(${name} ${bench_sources})
    target_include_directories(${name} PRIVATE bench)
    target_link_libraries(${name} PRIVATE troupe_static troupe_flags m)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
endforeach()
# tools/bench-guard counts its instructions. They must not change with each whim of an optimisation of the
# whole program, which one line more anywhere can bring about.
set_target_properties(troupe-guard PROPERTIES EXCLUDE_FROM_ALL ON)
troupe_link_as_is(troupe-guard)

# Each file is a program that times one part; tools/bench runs them.
file(GLOB micro_sources CONFIGURE_DEPENDS bench/micro/*.c)
add_custom_target(micro)
find_package(MsgpackC QUIET)
foreach(source IN LISTS micro_sources)
    cmake_path(GET source STEM name)
    if(name STREQUAL "wire" AND NOT MsgpackC_FOUND)
        continue() # It compares with msgpack-c.
    endif()
    if(name MATCHES "^(commit_tail|commits|store|wake)$" AND NOT TROUPE_SQLITE)
        continue() # They need a store.
    endif()
    if(name STREQUAL "tls" AND NOT tls_library)
        continue()
    endif()
    add_executable(micro_${name} EXCLUDE_FROM_ALL ${source})
    target_link_libraries(micro_${name} PRIVATE troupe_static troupe_flags m)
    set_target_properties(micro_${name} PROPERTIES OUTPUT_NAME ${name}
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/micro)
    if(name STREQUAL "wire")
        target_link_libraries(micro_wire PRIVATE MsgpackC::MsgpackC)
    elseif(name MATCHES "^(commit_tail|hash_ring|store|tls)$")
        target_include_directories(micro_${name} PRIVATE src)
    endif()
    if(name MATCHES "^(commits|store)$")
        target_link_libraries(micro_${name} PRIVATE SQLite::SQLite3)
    elseif(name STREQUAL "tls")
        target_link_libraries(micro_tls PRIVATE ${tls_library})
    endif()
    add_dependencies(micro micro_${name})
endforeach()

# Servers and their clients, for bench/net/run; those of libuv and OpenSSL only where these are installed.
add_custom_target(net)
find_library(uv_library uv)
foreach(name client epoll libuv ssl tls_client troupe)
    if((name STREQUAL "libuv" AND NOT uv_library) OR (name MATCHES "^(ssl|tls_client)$" AND NOT tls_library))
        continue()
    endif()
    add_executable(net_${name} EXCLUDE_FROM_ALL bench/net/${name}.c)
    target_link_libraries(net_${name} PRIVATE troupe_flags)
    set_target_properties(net_${name} PROPERTIES OUTPUT_NAME ${name}
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/net)
    if(name STREQUAL "troupe")
        target_link_libraries(net_troupe PRIVATE troupe_static m)
    elseif(name STREQUAL "libuv")
        target_link_libraries(net_libuv PRIVATE ${uv_library})
    elseif(name MATCHES "^(ssl|tls_client)$")
        target_link_libraries(net_${name} PRIVATE ${tls_library})
    endif()
    add_dependencies(net net_${name})
endforeach()

# The server, the client of WebSockets and a loop of commits for bench/http/run, and the server of bench/http/hibernate.
if(TROUPE_HTTP)
    add_custom_target(http)
    set(http_programs troupe wsclient)
    if(TROUPE_SQLITE)
        list(APPEND http_programs commits rooms)
    endif()
    foreach(name IN LISTS http_programs)
        add_executable(http_${name} EXCLUDE_FROM_ALL bench/http/${name}.c)
        target_link_libraries(http_${name} PRIVATE troupe_flags)
        set_target_properties(http_${name} PROPERTIES OUTPUT_NAME ${name}
            RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/http)
        add_dependencies(http http_${name})
    endforeach()
    target_link_libraries(http_troupe PRIVATE troupe_static m)
    if(TROUPE_SQLITE)
        target_link_libraries(http_commits PRIVATE SQLite::SQLite3)
        target_link_libraries(http_rooms PRIVATE troupe_static m)
        target_include_directories(http_rooms PRIVATE src)
    endif()
endif()

set(example_targets "")
file(GLOB example_sources CONFIGURE_DEPENDS examples/*/*.c)
foreach(source IN LISTS example_sources)
    cmake_path(GET source PARENT_PATH directory)
    cmake_path(GET directory FILENAME name)
    if(NOT TARGET example_${name})
        add_executable(example_${name})
        list(APPEND example_targets example_${name})
        target_link_libraries(example_${name} PRIVATE troupe_static troupe_flags m)
        set_target_properties(example_${name} PROPERTIES OUTPUT_NAME ${name}
            RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples)
        # Quick to build: to optimise one of them whole takes as long as to compile a quarter of the library.
        troupe_link_as_is(example_${name})
    endif()
    target_sources(example_${name} PRIVATE ${source})
endforeach()
# An example with pages of HTML includes each as bytes: #include "page.html.inc".
file(GLOB example_pages CONFIGURE_DEPENDS examples/*/*.html)
foreach(page IN LISTS example_pages)
    cmake_path(GET page PARENT_PATH directory)
    cmake_path(GET directory FILENAME name)
    cmake_path(GET page FILENAME file)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page})
    file(READ ${page} page_hex HEX)
    string(REGEX REPLACE "(..)" "0x\\1," page_bytes "${page_hex}")
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/pages/${name}/${file}.inc CONTENT "@page_bytes@\n" @ONLY)
    target_include_directories(example_${name} PRIVATE ${PROJECT_BINARY_DIR}/pages/${name})
endforeach()

# Examples in C++, where there is a compiler for it.
include(CheckLanguage)
check_language(CXX)
if(CMAKE_CXX_COMPILER)
    enable_language(CXX)
    file(GLOB cxx_sources CONFIGURE_DEPENDS examples/*/*.cc)
    foreach(source IN LISTS cxx_sources)
        cmake_path(GET source PARENT_PATH directory)
        cmake_path(GET directory FILENAME name)
        add_executable(example_${name} ${source})
        target_compile_features(example_${name} PRIVATE cxx_std_17)
        target_compile_options(example_${name} PRIVATE -Wall -Wextra $<$<BOOL:${TROUPE_WERROR}>:-Werror>)
        target_link_libraries(example_${name} PRIVATE troupe_static m)
        if(TROUPE_SANITIZE)
            target_compile_options(example_${name} PRIVATE ${sanitize})
            target_link_options(example_${name} PRIVATE ${sanitize})
        endif()
        set_target_properties(example_${name} PROPERTIES OUTPUT_NAME ${name} INTERPROCEDURAL_OPTIMIZATION OFF
            RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples)
        troupe_link_as_is(example_${name})
        list(APPEND example_targets example_${name})
    endforeach()
endif()

# The program that bench/operate/run looks into.
add_executable(operate_load EXCLUDE_FROM_ALL bench/operate/load.c)
target_link_libraries(operate_load PRIVATE troupe_static troupe_flags m)
set_target_properties(operate_load PROPERTIES OUTPUT_NAME load RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/operate)

# build/bin/troupe, the tool that looks into running programs. It has the library for stores of programs that do not run.
file(GLOB tool_sources CONFIGURE_DEPENDS tool/*.c)
add_executable(troupe_tool ${tool_sources})
target_include_directories(troupe_tool PRIVATE tool src)
# The tool reads what others have written, and its speed does not matter: all that the compiler has.
target_compile_options(troupe_tool PRIVATE -fstack-protector-strong)
if(NOT TROUPE_SANITIZE)
    target_compile_options(troupe_tool PRIVATE $<$<CONFIG:Release>:-U_FORTIFY_SOURCE> $<$<CONFIG:Release>:-D_FORTIFY_SOURCE=2>)
endif()
set_target_properties(troupe_tool PROPERTIES POSITION_INDEPENDENT_CODE ON)
set_source_files_properties(tool/main.c PROPERTIES COMPILE_DEFINITIONS "TROUPE_VERSION=\"${PROJECT_VERSION}\"")
target_link_options(troupe_tool PRIVATE -pie -Wl,-z,relro,-z,now)
include(cmake/templates.cmake)
target_link_libraries(troupe_tool PRIVATE troupe_static troupe_flags m)
troupe_link_as_is(troupe_tool)
set_target_properties(troupe_tool PROPERTIES OUTPUT_NAME troupe
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
install(TARGETS troupe_tool OPTIONAL)

# The man page and the completion of bash are written by the tool itself, from its table of commands.
set(tool_texts ${PROJECT_BINARY_DIR}/share)
if(NOT CMAKE_CROSSCOMPILING OR CMAKE_CROSSCOMPILING_EMULATOR) # else there is nobody to run it
    add_custom_command(TARGET troupe_tool POST_BUILD
        COMMAND ${CMAKE_COMMAND} -E make_directory ${tool_texts}
        COMMAND sh -c "\"$@\" --man >\"$0/troupe.1\" && \"$@\" --completion >\"$0/troupe.bash\"" ${tool_texts}
            ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:troupe_tool>
        VERBATIM)
endif()
install(FILES ${tool_texts}/troupe.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 OPTIONAL)
install(FILES ${tool_texts}/troupe.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME troupe
    OPTIONAL)

# A server for bench/http2/run.
if(TROUPE_HTTP)
    add_executable(http2_server EXCLUDE_FROM_ALL bench/http2/server.c)
    target_link_libraries(http2_server PRIVATE troupe_flags troupe_static)
    set_target_properties(http2_server PROPERTIES OUTPUT_NAME server
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/http2)
    add_custom_target(http2 DEPENDS http2_server)
endif()
