# SPDX-License-Identifier: Apache-2.0
# Test programs: one per file, named <kind>_<file>, in build/tests, registered with CTest under the
# label of their kind. Results of cases go to build/results, where tools/spec reads them.
include(CheckLinkerFlag)
set(tests_dir ${PROJECT_SOURCE_DIR}/tests)
set(results TROUPE_RESULTS_DIR=${PROJECT_BINARY_DIR}/results)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/results)

# troupe_group(TARGET SIZE FILE...): compiles files of the target together, at most SIZE of them as one, where tools/unity-groups
# finds that their names do not clash. The groups are made again when a file changes.
function(troupe_group target size)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARGN} ${PROJECT_SOURCE_DIR}/tools/unity-groups)
    set(paths "")
    foreach(path IN LISTS ARGN)
        cmake_path(RELATIVE_PATH path BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE relative)
        list(APPEND paths ${relative})
    endforeach()
    execute_process(COMMAND ${PROJECT_SOURCE_DIR}/tools/unity-groups ${size} ${paths} OUTPUT_VARIABLE lines
        OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    string(REPLACE "\n" ";" lines "${lines}")
    foreach(line IN LISTS lines)
        string(REPLACE "\t" ";" line "${line}")
        list(GET line 0 group)
        list(GET line 1 path)
        set_source_files_properties(${PROJECT_SOURCE_DIR}/${path} PROPERTIES UNITY_GROUP ${group})
    endforeach()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# What tools/test builds. troupe-bench is not in it: nothing runs it there, and its link-time optimisation takes as
# long as the links of a hundred tests. Its sources are compiled for troupe-guard.
add_custom_target(tested)
add_custom_target(tested_all) # and what only make check-long builds
add_dependencies(tested_all tested)
if(NOT TROUPE_SANITIZE)
    add_dependencies(tested troupe_static ${example_targets})
endif()
if(TROUPE_SHARED)
    add_dependencies(tested troupe)
endif()

if(TROUPE_TESTS)
    set(required REQUIRED)
    if(TROUPE_TESTS STREQUAL "AUTO")
        set(required QUIET)
    endif()
    find_package(PkgConfig ${required})
    # Oracles of the wire forms; the library itself needs neither.
    find_package(MsgpackC ${required})
    if(PKG_CONFIG_FOUND)
        pkg_check_modules(Jansson ${required} IMPORTED_TARGET jansson)
        pkg_check_modules(Check ${required} IMPORTED_TARGET check)
    endif()
    # Of the frames of WebSocket; without it one program is left out. Debian's package has no pkg-config file.
    find_library(Wslay_LIBRARY NAMES wslay)
    mark_as_advanced(Wslay_LIBRARY)
    if(NOT Check_FOUND OR NOT MsgpackC_FOUND OR NOT Jansson_FOUND)
        message(STATUS "Tests are left out: check, msgpack-c or jansson is missing "
            "(tools/bootstrap test installs what tests need)")
        set(TROUPE_TESTS OFF) # for this time; what is cached stays AUTO
    endif()
endif()

if(TROUPE_TESTS)
    # Check has a function tr_free of its own, which its archive shows to everybody. Tests link a copy
    # of the archive in which it has another name.
    get_target_property(check_libraries PkgConfig::Check INTERFACE_LINK_LIBRARIES)
    set(check_archive ${check_libraries})
    list(FILTER check_archive INCLUDE REGEX "libcheck[_a-z]*[.]a$")
    if(check_archive)
        set(check_copy ${PROJECT_BINARY_DIR}/libcheck_renamed.a)
        execute_process(COMMAND ${CMAKE_OBJCOPY} --redefine-sym tr_free=check_tr_free
            ${check_archive} ${check_copy} COMMAND_ERROR_IS_FATAL ANY)
        list(TRANSFORM check_libraries REPLACE "^.*libcheck[_a-z]*[.]a$" ${check_copy})
        set_target_properties(PkgConfig::Check PROPERTIES
            INTERFACE_LINK_LIBRARIES "${check_libraries}")
    endif()
    # Test programs take the quickest linker that is installed. The shared library, the tool, the bank of make run and
    # what tests/install builds are linked by the one that users have.
    set(linker "")
    check_linker_flag(C -fuse-ld=lld TROUPE_HAS_LLD)
    check_linker_flag(C -fuse-ld=gold TROUPE_HAS_GOLD)
    if(TROUPE_HAS_LLD)
        set(linker -fuse-ld=lld)
    elseif(TROUPE_HAS_GOLD)
        set(linker -fuse-ld=gold)
    endif()
    foreach(example IN LISTS example_targets)
        if(NOT example MATCHES "^example_(01|42)_")
            target_link_options(${example} PRIVATE ${linker})
        endif()
    endforeach()
    # Calls of pthread_create pass tests/support/threads.c, those of the library too. -u: nothing before the library
    # calls it, and the linker would take the function of libgcc.a.
    set(wrap -Wl,--wrap=pthread_create -Wl,-u,__wrap_pthread_create)
    # Tests link the archive, and see what is internal. Instrumented code is large, and to copy it into each program
    # takes longer than to compile the test, so the builds with sanitizers have it once, as a shared library that
    # hides nothing. Its name is the one by which src/os/text.h knows the runtime's code.
    set(tested_library troupe_static)
    file(GLOB support_sources CONFIGURE_DEPENDS ${tests_dir}/support/*.c)
    if(TROUPE_SANITIZE)
        set(tested_library troupe_tested)
        set_target_properties(troupe_objects PROPERTIES C_VISIBILITY_PRESET default)
        set(threads ${tests_dir}/support/threads.c)
        list(REMOVE_ITEM support_sources ${threads})
        add_library(troupe_tested SHARED $<TARGET_OBJECTS:troupe_objects> ${threads})
        set_target_properties(troupe_tested PROPERTIES OUTPUT_NAME troupe LINKER_LANGUAGE C
            LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
        target_include_directories(troupe_tested PRIVATE ${tests_dir} INTERFACE ${PROJECT_SOURCE_DIR}/include)
        target_compile_options(troupe_tested INTERFACE ${TROUPE_USER_OPTIONS})
        target_link_options(troupe_tested PRIVATE ${linker} ${wrap})
        target_link_libraries(troupe_tested PRIVATE troupe_flags
            PUBLIC Threads::Threads ${boost_library} ${store_library} ${tls_library} ${zlib_library} ${http_library} ${http2_library})
    endif()
    add_library(test_support STATIC ${support_sources})
    target_include_directories(test_support PUBLIC ${tests_dir} PRIVATE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(test_support PUBLIC ${tested_library} troupe_flags PkgConfig::Check m)
    # Longer than the time-outs of the cases (tests/support/test.c), which give the better report.
    set(seconds 120)
    if(TROUPE_SANITIZE)
        set(seconds 480)
    endif()
    # Programs that never start a thread show ThreadSanitizer nothing. They are held to it in all other builds.
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${tests_dir}/one_thread)
    file(STRINGS ${tests_dir}/one_thread one_thread REGEX "^[a-z]")
    # Tests link the machine code of the archive: optimising each program again takes minutes.
    set_target_properties(test_support PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF)
    set(no_lto $<$<BOOL:${CMAKE_INTERPROCEDURAL_OPTIMIZATION}>:-fno-lto>)
    # The library is to be fast, not its tests: they are compiled with -O0, which takes half the time, unless they run
    # for long. The sanitizers see no less of them, and the library that they link keeps the flags of its build. Release
    # builds leave out what only a debugger reads, which takes half of each link and an eighth of each compilation; the
    # preset debug has it. UBSan is about the library: in tests it takes a fifth of their compilation.
    set(no_ubsan "")
    if(TROUPE_SANITIZE MATCHES "undefined")
        set(no_ubsan -fno-sanitize=undefined)
    endif()
    set(no_debug_information "")
    if(CMAKE_BUILD_TYPE STREQUAL "Release")
        set(no_debug_information -g0)
    endif()
    # Of the compilation of a test, a third is to read headers. gcc's builds read those of users once. clang does not, so
    # that a missing include is an error there, of the programs that it has; ccache could keep nothing that was compiled so.
    set(has_headers OFF)
    if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_C_COMPILER_LAUNCHER AND
            (TROUPE_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL "Release"))
        set(has_headers ON)
        file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/test_headers.c CONTENT "typedef int test_headers;\n")
        add_library(test_headers OBJECT ${PROJECT_BINARY_DIR}/test_headers.c)
        target_include_directories(test_headers PRIVATE ${PROJECT_SOURCE_DIR}/include)
        target_link_libraries(test_headers PRIVATE PkgConfig::Check)
        target_compile_definitions(test_headers PRIVATE
            $<TARGET_PROPERTY:troupe_flags,INTERFACE_COMPILE_DEFINITIONS>)
        target_compile_options(test_headers PRIVATE
            $<TARGET_PROPERTY:troupe_flags,INTERFACE_COMPILE_OPTIONS> -O0 ${no_ubsan} ${no_debug_information})
        set_target_properties(test_headers PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF)
        target_precompile_headers(test_headers PRIVATE
            <check.h> <troupe/kit.h> <troupe/troupe.h>)
    endif()
    # Files of the library whose names do not clash are compiled as one, which took 12 to 35 % less in three groups: code of headers is
    # read and instrumented once. gcc's release build compiles each alone, as users do.
    if((TROUPE_SANITIZE OR TROUPE_FUZZ) AND NOT CMAKE_C_COMPILER_LAUNCHER)
        troupe_group(troupe_objects 12 ${troupe_sources})
    endif()
    set(reads_lines "fault|symbols|crash")
    set(below_actor "base|calendar|fiber|mem|os|queue|sched|sleep|timer|wire")
    # By name of a test: the option or library without which it is left out.
    set(needs ^store_=TROUPE_SQLITE ^net_tls_=tls_library ^http_deflate_=zlib_library
        ^http_ws_oracle_=Wslay_LIBRARY ^http_=TROUPE_HTTP ^gateway_=TROUPE_HTTP)
    foreach(kind unit api stress)
        file(GLOB sources CONFIGURE_DEPENDS ${tests_dir}/${kind}/*_test.c)
        foreach(source IN LISTS sources)
            cmake_path(GET source STEM stem)
            set(is_left_out OFF)
            foreach(needed IN LISTS needs)
                string(REPLACE "=" ";" needed "${needed}")
                list(GET needed 0 pattern)
                list(GET needed 1 what)
                if(stem MATCHES "${pattern}" AND NOT ${what})
                    set(is_left_out ON)
                endif()
            endforeach()
            if(is_left_out)
                continue()
            endif()
            if(stem MATCHES "^http2_" AND (NOT http2_library OR NOT tls_library))
                continue()
            endif()
            set(name ${kind}_${stem})
            if(name IN_LIST one_thread AND TROUPE_SANITIZE MATCHES "thread")
                continue()
            endif()
            # gcc's builds run everything. Another compiler is for what depends on the compiler: with clang, make test
            # has the modules below actor, and of each subject of the API its first program; make check-long has all.
            set(labels ${kind})
            add_executable(${name} ${source})
            if(CMAKE_C_COMPILER_ID MATCHES "Clang" AND NOT name MATCHES "^unit_(${below_actor}|net|example)_"
                    AND NOT name MATCHES "^api_[a-z]+_test$")
                list(APPEND labels more)
                add_dependencies(tested_all ${name})
            else()
                add_dependencies(tested ${name})
            endif()
            target_link_libraries(${name} PRIVATE test_support)
            if(name IN_LIST one_thread)
                target_compile_definitions(${name} PRIVATE TEST_HAS_ONE_THREAD=1)
            endif()
            if(stem STREQUAL "http_probe_test")
                target_link_libraries(${name} PRIVATE PkgConfig::Jansson)
                target_compile_definitions(${name} PRIVATE TEST_DATA="${tests_dir}/data")
            endif()
            if(stem STREQUAL "http_openapi_test")
                target_link_libraries(${name} PRIVATE PkgConfig::Jansson)
            endif()
            if(stem STREQUAL "wire_oracle_test")
                target_link_libraries(${name} PRIVATE MsgpackC::MsgpackC PkgConfig::Jansson)
            endif()
            if(stem STREQUAL "http_ws_oracle_test")
                target_link_libraries(${name} PRIVATE ${Wslay_LIBRARY})
            elseif(stem MATCHES "^http2_")
                target_link_libraries(${name} PRIVATE ${http2_library})
            elseif(stem MATCHES "^http_deflate_")
                target_link_libraries(${name} PRIVATE ${zlib_library})
            endif()
            if(NOT kind STREQUAL "api") # API tests see what users see.
                target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
            endif()
            set_target_properties(${name} PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF
                RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
            target_link_options(${name} PRIVATE ${no_lto} ${linker} ${wrap})
            set(is_long OFF)
            if(kind STREQUAL "stress" OR stem MATCHES "^(store_(crash|fault|flip)|timer_keys|ask_model)_")
                set(is_long ON)
            endif()
            if(is_long)
                target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
            elseif(NOT CMAKE_BUILD_TYPE STREQUAL "Debug" OR TROUPE_SANITIZE)
                target_compile_options(${name} PRIVATE -O0)
                if(has_headers AND NOT (no_debug_information AND stem MATCHES "${reads_lines}"))
                    target_precompile_headers(${name} REUSE_FROM test_headers)
                endif()
            endif()
            # Reports of faults name lines, so those tests keep what they read. -g0 is of the source, because options of
            # a source come after those of troupe_flags.
            set(source_options ${no_ubsan})
            if(no_debug_information AND NOT stem MATCHES "${reads_lines}")
                list(APPEND source_options ${no_debug_information})
                target_link_options(${name} PRIVATE -Wl,--strip-debug)
            endif()
            set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${source_options}")
            add_test(NAME ${name} COMMAND ${name})
            set_tests_properties(${name} PROPERTIES LABELS "${labels}" SKIP_RETURN_CODE 77
                ENVIRONMENT ${results})
            # What takes long begins early, so that no core waits for it at the end.
            if(is_long)
                set_tests_properties(${name} PROPERTIES COST 10)
            endif()
            # Stress takes its limit from ctest --timeout, as do faults of the store: check-long has all of them.
            if(NOT kind STREQUAL "stress" AND NOT stem MATCHES "^store_(crash|fault|flip)_")
                set_tests_properties(${name} PROPERTIES TIMEOUT ${seconds})
            endif()
        endforeach()
    endforeach()
endif()

# Power cuts of real processes. The preload library and a sanitizer would be in each other's way, and an
# SQLite that is linked in cannot be held.
if(TROUPE_TESTS AND TROUPE_SQLITE AND NOT TROUPE_SANITIZE)
    add_library(crash_hold MODULE ${tests_dir}/crash/hold.c)
    add_executable(crash_worker ${tests_dir}/crash/worker.c)
    add_executable(crash_napper ${tests_dir}/crash/napper.c)
    add_dependencies(tested crash_hold crash_worker crash_napper)
    target_link_libraries(crash_hold PRIVATE troupe_flags)
    target_include_directories(crash_worker PRIVATE ${PROJECT_SOURCE_DIR}/src)
    foreach(program crash_worker crash_napper)
        target_link_libraries(${program} PRIVATE troupe_static troupe_flags)
        target_link_options(${program} PRIVATE ${no_lto})
    endforeach()
    set_target_properties(crash_hold crash_worker crash_napper PROPERTIES
        INTERPROCEDURAL_OPTIMIZATION OFF
        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    add_test(NAME crash_power COMMAND ${tests_dir}/crash/run power $<TARGET_FILE:crash_worker>
        $<TARGET_FILE:crash_hold>)
    add_test(NAME crash_actors COMMAND ${tests_dir}/crash/run actors $<TARGET_FILE:crash_napper>
        $<TARGET_FILE:crash_hold>)
    set_tests_properties(crash_power crash_actors PROPERTIES LABELS crash ENVIRONMENT ${results}
        COST 20)
    if(TROUPE_PROGRAMS)
        add_test(NAME crash_again COMMAND ${tests_dir}/crash/again
            $<TARGET_FILE:example_21_reminder> $<TARGET_FILE:example_20_cart>
            $<TARGET_FILE:crash_hold>)
        set_tests_properties(crash_again PROPERTIES LABELS crash ENVIRONMENT ${results} COST 20)
    endif()
endif()

if(TROUPE_EXPLORE AND EXISTS ${tests_dir}/explore/CMakeLists.txt)
    add_subdirectory(${tests_dir}/explore ${PROJECT_BINARY_DIR}/explore)
endif()

file(GLOB fuzz_sources CONFIGURE_DEPENDS ${tests_dir}/fuzz/*.c)
if(TROUPE_FUZZ AND fuzz_sources)
    set(fuzz_flags -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all)
    # Only what fuzzers call: but for visitor_fuzz none runs an actor. One that needs another file does not link.
    string(JOIN "|" fuzzed "(base|calendar|mem|sleep|store(/[a-z]+)?|wire)/[a-z0-9_]+" "os/[a-uw-z][a-z0-9_]*"
        actor/cell/names app/flags "durable/(journal|record_read)" gateway/words
        "http/(check|chunk|cookie|deflate|encoding|fields|h2_guard|h2_head|head|multipart|path|query|site|trace_parent|url|websocket|ws_extension|ws_handshake)(_none)?"
        "net/(buffer|chain|framing|proxy|tls[a-z_]*|user_filter)" "observe/(json_line|request)" "pool/(hash_ring|node)")
    set(fuzz_library ${troupe_sources})
    list(FILTER fuzz_library INCLUDE REGEX "/src/(${fuzzed})[.]c$")
    list(APPEND fuzz_library ${http_sources})
    add_library(troupe_fuzz STATIC ${fuzz_library})
    if(TROUPE_HTTP)
        target_include_directories(troupe_fuzz SYSTEM PRIVATE ${Llhttp_INCLUDE_DIR})
    endif()
    target_include_directories(troupe_fuzz PUBLIC ${PROJECT_SOURCE_DIR}/src
        ${PROJECT_SOURCE_DIR}/include ${tests_dir})
    # A fuzzer needs all of the checks and little of the speed, and -O3 takes twice as long to build.
    target_compile_options(troupe_fuzz PUBLIC ${fuzz_flags} -O1)
    target_link_libraries(troupe_fuzz PUBLIC troupe_flags Threads::Threads
        ${boost_library} ${store_library} ${tls_library} ${zlib_library} ${http_library} ${http2_library})
    set_target_properties(troupe_fuzz PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF)
    # Both targets have the groups of the files; this one has fewer files of them.
    if(NOT CMAKE_C_COMPILER_LAUNCHER)
        set_target_properties(troupe_fuzz PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    endif()
    # A fuzzer that runs actors needs the whole library, which takes minutes to build: in the long runs alone.
    if(TROUPE_FUZZ_SECONDS GREATER_EQUAL 60 AND TROUPE_SQLITE)
        add_library(troupe_fuzz_whole STATIC ${troupe_sources} ${http_sources})
        foreach(property INCLUDE_DIRECTORIES SYSTEM_INCLUDE_DIRECTORIES COMPILE_OPTIONS COMPILE_DEFINITIONS LINK_LIBRARIES
                INTERFACE_INCLUDE_DIRECTORIES INTERFACE_COMPILE_OPTIONS INTERFACE_LINK_LIBRARIES INTERPROCEDURAL_OPTIMIZATION
                UNITY_BUILD UNITY_BUILD_MODE)
            get_target_property(value troupe_fuzz ${property})
            if(value)
                set_target_properties(troupe_fuzz_whole PROPERTIES ${property} "${value}")
            endif()
        endforeach()
    endif()
    foreach(source IN LISTS fuzz_sources)
        cmake_path(GET source STEM stem)
        set(fuzzed_library troupe_fuzz)
        if(stem STREQUAL "visitor_fuzz")
            if(NOT TARGET troupe_fuzz_whole)
                continue()
            endif()
            set(fuzzed_library troupe_fuzz_whole)
        endif()
        if((stem MATCHES "^tls_" AND NOT tls_library) OR (stem MATCHES "^http_" AND NOT TROUPE_HTTP)
                OR (stem MATCHES "^http2_" AND NOT http2_library))
            continue()
        endif()
        add_executable(fuzz_${stem} ${source})
        add_dependencies(tested fuzz_${stem})
        target_link_libraries(fuzz_${stem} PRIVATE ${fuzzed_library})
        if(stem STREQUAL "tool_json_fuzz") # what the tool reads: answers of programs, and files
            target_sources(fuzz_${stem} PRIVATE ${PROJECT_SOURCE_DIR}/tool/json.c ${PROJECT_SOURCE_DIR}/tool/schema.c
                ${PROJECT_SOURCE_DIR}/tool/shape.c ${PROJECT_SOURCE_DIR}/tool/text.c)
            target_include_directories(fuzz_${stem} PRIVATE ${PROJECT_SOURCE_DIR}/tool)
        endif()
        target_link_options(fuzz_${stem} PRIVATE -fsanitize=fuzzer,address,undefined)
        set_target_properties(fuzz_${stem} PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF
            RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
        # The first directory takes what the fuzzer finds, the second is the one in the tree.
        set(found ${PROJECT_BINARY_DIR}/corpus/${stem})
        file(MAKE_DIRECTORY ${found})
        set(corpus ${tests_dir}/fuzz/corpus/${stem})
        if(NOT IS_DIRECTORY ${corpus})
            set(corpus "")
        endif()
        add_test(NAME fuzz_${stem} COMMAND fuzz_${stem} -max_total_time=${TROUPE_FUZZ_SECONDS}
            -rss_limit_mb=1024 -print_final_stats=1 ${found} ${corpus})
        set_tests_properties(fuzz_${stem} PROPERTIES LABELS fuzz
            WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    endforeach()
endif()

# The program that tests/control/run looks into with the tool.
if(TROUPE_TESTS AND TROUPE_PROGRAMS AND TROUPE_SQLITE AND NOT TROUPE_SANITIZE)
    # gdb reads its variables, whatever the other programs of the preset are compiled with.
    set_source_files_properties(${tests_dir}/control/target.c PROPERTIES COMPILE_OPTIONS "-g;-O0")
    foreach(target control_target control_target_next)
        add_executable(${target} ${tests_dir}/control/target.c)
        target_link_libraries(${target} PRIVATE troupe_static troupe_flags)
        target_link_options(${target} PRIVATE ${no_lto})
        set_target_properties(${target} PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF
            RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    endforeach()
    target_compile_definitions(control_target_next PRIVATE TARGET_NEXT)
    add_executable(control_fill ${tests_dir}/control/fill.c)
    target_include_directories(control_fill PRIVATE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(control_fill PRIVATE troupe_static troupe_flags)
    target_link_options(control_fill PRIVATE ${no_lto})
    set_target_properties(control_fill PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    add_executable(secrets_target ${tests_dir}/secrets/target.c)
    target_link_libraries(secrets_target PRIVATE troupe_static troupe_flags)
    target_link_options(secrets_target PRIVATE ${no_lto})
    set_target_properties(secrets_target PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    add_dependencies(tested control_target control_target_next control_fill secrets_target troupe_tool)
    add_test(NAME control COMMAND ${tests_dir}/control/run ${PROJECT_BINARY_DIR})
    # With clang in make check-long alone: what the tool prints does not depend on the compiler.
    set(labels tools)
    if(CMAKE_C_COMPILER_ID MATCHES "Clang")
        list(APPEND labels more)
    endif()
    set_tests_properties(control PROPERTIES LABELS "${labels}" TIMEOUT 120 ENVIRONMENT ${results})
    if(TROUPE_HTTP)
        add_test(NAME inspect COMMAND ${tests_dir}/inspect/run ${PROJECT_BINARY_DIR})
        set_tests_properties(inspect PROPERTIES LABELS "${labels}" TIMEOUT 120 ENVIRONMENT ${results})
        add_test(NAME secrets COMMAND ${tests_dir}/secrets/run ${PROJECT_BINARY_DIR})
        set_tests_properties(secrets PROPERTIES LABELS "${labels}" TIMEOUT 120 ENVIRONMENT ${results})
    endif()
endif()

# The program that tests/browser/inspector.test.mjs looks into with a browser.
if(TROUPE_TESTS AND TROUPE_PROGRAMS AND TROUPE_SQLITE AND NOT TROUPE_SANITIZE)
    add_executable(inspector_target ${tests_dir}/browser/inspector.c)
    target_link_libraries(inspector_target PRIVATE troupe_static troupe_flags)
    target_link_options(inspector_target PRIVATE ${no_lto})
    set_target_properties(inspector_target PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    add_dependencies(tested inspector_target)
endif()
