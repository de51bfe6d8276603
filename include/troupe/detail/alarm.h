/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How the macros of alarm.h call its functions.
 */
#ifndef TROUPE_DETAIL_ALARM_H
#define TROUPE_DETAIL_ALARM_H
#pragma GCC system_header

/* Macros are laid out by hand. */
/* clang-format off */

#ifdef __cplusplus
#define TR_ALARM_OF_(n, k, t, c) tr_address_(tr_alarm{ sizeof(tr_alarm), n, k, t, c, false, {} })
#else
#define TR_ALARM_OF_(n, k, t, c) (&(const tr_alarm){ sizeof(tr_alarm), n, k, t, c, false, { 0 } })
#endif
#define TR_ALARM_(self, n, k, t, c, m, ...) \
    TR_SAY_ &tr_says_##m TR_SAY_DO_ \
        tr_self_alarm(self, TR_ALARM_OF_(n, k, t, c), TR_SAID_(m)->type, TR_MADE_(m) { __VA_ARGS__ } TR_MADE_END_) TR_SAY_END_

#endif
