# SPDX-License-Identifier: Apache-2.0
# Finds msgpack-c, with which tests and measurements compare our MessagePack. Its pkg-config file is of no use: that of
# Debian 13 names a directory of headers that does not exist.
find_path(MsgpackC_INCLUDE_DIR NAMES msgpack.h)
find_library(MsgpackC_LIBRARY NAMES msgpack-c msgpackc)
mark_as_advanced(MsgpackC_INCLUDE_DIR MsgpackC_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(MsgpackC REQUIRED_VARS MsgpackC_LIBRARY MsgpackC_INCLUDE_DIR
    REASON_FAILURE_MESSAGE "install libmsgpack-dev, or run tools/bootstrap test")

if(MsgpackC_FOUND AND NOT TARGET MsgpackC::MsgpackC)
    add_library(MsgpackC::MsgpackC UNKNOWN IMPORTED)
    set_target_properties(MsgpackC::MsgpackC PROPERTIES IMPORTED_LOCATION ${MsgpackC_LIBRARY}
        INTERFACE_INCLUDE_DIRECTORIES ${MsgpackC_INCLUDE_DIR})
endif()
