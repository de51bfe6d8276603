# SPDX-License-Identifier: Apache-2.0
# build/bin/troupe-bench from bench/, the programs of bench/micro and bench/net on demand (the targets micro and net),
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
    if(name MATCHES "^(commit_tail|store|wake)$" AND NOT TROUPE_SQLITE)
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
    if(name MATCHES "^(store|wake)$")
        target_link_libraries(micro_${name} PRIVATE SQLite::SQLite3)
    elseif(name STREQUAL "tls")
        target_link_libraries(micro_tls PRIVATE ${tls_library})
    endif()
    add_dependencies(micro micro_${name})
endforeach()

# Servers and their client, for bench/net/run; libuv's only where it is installed.
add_custom_target(net)
find_library(uv_library uv)
foreach(name client epoll libuv troupe)
    if(name STREQUAL "libuv" AND NOT uv_library)
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
    endif()
    add_dependencies(net net_${name})
endforeach()

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

# build/bin/troupe, the tool that looks into running programs. It needs nothing of the library.
file(GLOB tool_sources CONFIGURE_DEPENDS tool/*.c)
add_executable(troupe_tool ${tool_sources})
target_include_directories(troupe_tool PRIVATE tool)
target_link_libraries(troupe_tool PRIVATE troupe_flags)
set_target_properties(troupe_tool PROPERTIES OUTPUT_NAME troupe
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
install(TARGETS troupe_tool OPTIONAL)
