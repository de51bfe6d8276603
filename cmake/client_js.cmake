# SPDX-License-Identifier: Apache-2.0
# Makes gateway/client_js.inc of clients/js/troupe.js, for src/gateway/client_js.c: the library serves that file.
set(client_js ${PROJECT_SOURCE_DIR}/clients/js/troupe.js)
set(client_js_dir ${PROJECT_BINARY_DIR}/client_js)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${client_js})
file(READ ${client_js} client_js_hex HEX)
string(REGEX REPLACE "(..)" "0x\\1," client_js_bytes "${client_js_hex}")
file(CONFIGURE OUTPUT ${client_js_dir}/gateway/client_js.inc CONTENT "@client_js_bytes@\n" @ONLY)
set_source_files_properties(src/gateway/client_js.c PROPERTIES
    INCLUDE_DIRECTORIES ${client_js_dir} OBJECT_DEPENDS ${client_js_dir}/gateway/client_js.inc)
