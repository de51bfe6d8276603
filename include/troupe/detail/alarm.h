/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How the macros of alarm.h call its functions.
 */
#ifndef TROUPE_DETAIL_ALARM_H
#define TROUPE_DETAIL_ALARM_H
#pragma GCC system_header

/* Macros are laid out by hand. */
/* clang-format off */

#define TR_ALARM_(self, n, k, t, c, ...) \
    TR_PP_CALL(TR_ALARM__, self, n, k, t, c, TR_PP_HEAD(__VA_ARGS__), TR_PP_TAIL_BRACES(__VA_ARGS__))
#ifdef __cplusplus
#define TR_ALARM_OF_(n, k, t, c) tr_address_(tr_alarm{ n, k, t, c, false, {} })
#else
#define TR_ALARM_OF_(n, k, t, c) (&(const tr_alarm){ n, k, t, c, false, { 0 } })
#endif
#define TR_ALARM__(self, n, k, t, c, m, ...) \
    tr_self_alarm(self, TR_ALARM_OF_(n, k, t, c), &tr_type_##m, TR_MAKE_(m, __VA_ARGS__))

#endif
