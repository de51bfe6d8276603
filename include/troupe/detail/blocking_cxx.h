/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The verbs of blocking.h in C++17; see self_cxx.h.
 */
#ifndef TROUPE_DETAIL_BLOCKING_CXX_H
#define TROUPE_DETAIL_BLOCKING_CXX_H
#pragma GCC system_header

#ifdef __cpp_exceptions
/* tr_blocking in C++: if the status ends the turn, unwinds the stack; see self_cxx.h. */
inline void tr_blocking_cxx_(tr_self *self, void (*function)(void *argument), void *argument)
{
    tr_status status = tr_try_blocking(self, function, argument);
    if (status != TR_OK)
        throw tr_turn_over_{tr_fail(self, status, "tr_blocking: %s", tr_status_text(status))};
}
#define tr_blocking(self, function, argument) tr_blocking_cxx_(self, function, argument)
#endif

#endif
