# SPDX-License-Identifier: Apache-2.0
# Finds the archive of boost.context. Troupe uses its two assembly functions only (make_fcontext and
# jump_fcontext), so the archive brings no C++ library with it.
find_library(BoostContext_LIBRARY NAMES libboost_context.a boost_context)
mark_as_advanced(BoostContext_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(BoostContext REQUIRED_VARS BoostContext_LIBRARY
    REASON_FAILURE_MESSAGE "install libboost-context-dev, or run tools/bootstrap")

if(BoostContext_FOUND AND NOT TARGET BoostContext::BoostContext)
    add_library(BoostContext::BoostContext UNKNOWN IMPORTED)
    set_target_properties(BoostContext::BoostContext PROPERTIES
        IMPORTED_LOCATION ${BoostContext_LIBRARY})
endif()
