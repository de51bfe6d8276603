# SPDX-License-Identifier: Apache-2.0
# Makes inspect/*.inc of the files of ui/dist, for src/inspect/assets.c: the library serves them. A build needs no JavaScript
# tools; ui/ says how those files are made.
set(inspector_dir ${PROJECT_BINARY_DIR}/inspector)
set(inspector_incs "")
foreach(asset index.html app.js app.css)
    set(inspector_file ${PROJECT_SOURCE_DIR}/ui/dist/${asset})
    string(REPLACE "." "_" inspector_name ${asset})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${inspector_file})
    file(READ ${inspector_file} inspector_hex HEX)
    string(REGEX REPLACE "(..)" "0x\\1," inspector_bytes "${inspector_hex}")
    file(CONFIGURE OUTPUT ${inspector_dir}/inspect/${inspector_name}.inc CONTENT "@inspector_bytes@\n" @ONLY)
    list(APPEND inspector_incs ${inspector_dir}/inspect/${inspector_name}.inc)
endforeach()
set_source_files_properties(src/inspect/assets.c PROPERTIES
    INCLUDE_DIRECTORIES ${inspector_dir} OBJECT_DEPENDS "${inspector_incs}")
