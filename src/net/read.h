/* SPDX-License-Identifier: Apache-2.0 */
/** Reads from channels in a turn, for the layers above. Owner only. */
#ifndef NET_READ_H
#define NET_READ_H

#include "net/input.h"

/**
 * Waits for a piece and takes it, as tr_try_read does. If this returns TR_CLOSED, *is_cut says
 * whether the other side has ended inside a piece.
 */
TR_MUST_CHECK tr_status tr__channel_take(struct tr_self *self, tr_channel handle,
                                         const struct cutter *cutter, tr_bytes *piece,
                                         bool *is_cut);

#endif
