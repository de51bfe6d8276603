/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How the macros of schedule.h call its function.
 */
#ifndef TROUPE_DETAIL_SCHEDULE_H
#define TROUPE_DETAIL_SCHEDULE_H
#pragma GCC system_header

/* Macros are laid out by hand. */
/* clang-format off */

#define TR_SCHEDULE_(system, schedule, kind, ns, to, ...) \
    TR_PP_CALL(TR_SCHEDULE__, system, schedule, kind, ns, to, TR_PP_HEAD(__VA_ARGS__), TR_PP_TAIL_BRACES(__VA_ARGS__))
#define TR_SCHEDULE__(system, schedule, kind, ns, to, m, ...) \
    tr_system_schedule(system, schedule, kind, ns, TR_TO_(to, m), &tr_type_##m, \
        TR_MAKE_(m, __VA_ARGS__))

#endif
