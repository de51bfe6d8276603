/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How tr_reply_at calls its function. For batch.h only.
 */
#ifndef TROUPE_DETAIL_BATCH_H
#define TROUPE_DETAIL_BATCH_H
#pragma GCC system_header

/* Macros are laid out by hand. */
/* clang-format off */

#define TR_REPLY_AT_(self, index, m, ...) \
    tr_self_reply_at(self, index, &tr_type_##m, TR_MAKE_(m, { __VA_ARGS__ }))

#endif
