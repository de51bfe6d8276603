/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How the macros of schedule.h call its function.
 */
#ifndef TROUPE_DETAIL_SCHEDULE_H
#define TROUPE_DETAIL_SCHEDULE_H
#pragma GCC system_header

/* Macros are laid out by hand. */
/* clang-format off */

#define TR_SCHEDULE_(system, schedule, kind, ns, to, m, ...) \
    tr_system_schedule(system, schedule, kind, ns, TR_TO_(to, m), &tr_type_##m, \
        TR_MAKE_(m, { __VA_ARGS__ }))

#endif
