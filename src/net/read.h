/* SPDX-License-Identifier: Apache-2.0 */
/** Reads from channels in a turn, for the layers above. Owner only. */
#ifndef NET_READ_H
#define NET_READ_H

#include "net/input.h"

/**
 * Takes a piece, and waits for it, as tr_try_read does. With TR_CLOSED, *is_cut says that the other
 * side has ended inside the piece.
 */
TR_MUST_CHECK tr_status tr__channel_take(struct tr_self *self, tr_channel handle,
                                         const struct cutter *cutter, tr_bytes *piece,
                                         bool *is_cut);

#endif
