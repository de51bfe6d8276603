# SPDX-License-Identifier: Apache-2.0
# build/bin/troupe-bench from bench/, and build/examples/NN_name from each examples/NN_name/.
file(GLOB bench_sources CONFIGURE_DEPENDS bench/*.c)
if(bench_sources)
    add_executable(troupe-bench ${bench_sources})
    target_include_directories(troupe-bench PRIVATE bench)
    target_link_libraries(troupe-bench PRIVATE troupe_static troupe_flags m)
    set_target_properties(troupe-bench PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
endif()

file(GLOB example_sources CONFIGURE_DEPENDS examples/*/*.c)
foreach(source IN LISTS example_sources)
    cmake_path(GET source PARENT_PATH directory)
    cmake_path(GET directory FILENAME name)
    if(NOT TARGET example_${name})
        add_executable(example_${name})
        target_link_libraries(example_${name} PRIVATE troupe_static troupe_flags m)
        set_target_properties(example_${name} PROPERTIES OUTPUT_NAME ${name}
            RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples)
        # The bank shows what a program is like that is optimised whole; the others are quick to build.
        if(CMAKE_INTERPROCEDURAL_OPTIMIZATION AND NOT name STREQUAL "06_bank")
            set_target_properties(example_${name} PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF)
            target_link_options(example_${name} PRIVATE -fno-lto)
        endif()
    endif()
    target_sources(example_${name} PRIVATE ${source})
endforeach()
