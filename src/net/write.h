/* SPDX-License-Identifier: Apache-2.0 */
/** Functions that the writing verbs share. Owner only. */
#ifndef NET_WRITE_H
#define NET_WRITE_H

#include <stdarg.h>

#include "net/channel.h"

/**
 * Finds a channel to which this turn may write. Fails with TR_CLOSED, TR_NOT_OWNER, TR_INVALID_ARGUMENT, or the status
 * with which the channel has ended.
 */
TR_MUST_CHECK tr_status tr__writable(struct tr_self *self, tr_channel handle,
                                     struct channel **found);
/**
 * Makes sure that the output has capacity for `size` bytes more. If it has none, waits. If the turn
 * must not wait: returns TR_OK as long as the output does not exceed TR_OUTPUT_EXTRA times its
 * normal maximum, otherwise TR_LIMIT. During a wait the channel may end, so *found is set again
 * afterwards.
 */
TR_MUST_CHECK tr_status tr__write_capacity(struct tr_self *self, tr_channel handle, size_t size,
                                           struct channel **found);
/**
 * Does what tr_write does, with bytes before the piece that the caller has made (`head`). tr__writable must have just
 * found the channel.
 */
TR_MUST_CHECK tr_status tr__write_with(struct tr_self *self, struct channel *channel, tr_bytes head,
                                       tr_bytes bytes);
/**
 * Makes the bytes that the framing puts before a piece. Returns their number, or SIZE_MAX if the
 * piece is too large.
 */
size_t tr__write_head(const struct channel *channel, size_t size, unsigned char *head);

enum { TEXT_FEW = 256 };
/**
 * Formats a text into `few`. If the text is too long for that, formats it into memory of the turn.
 * TR_INVALID_ARGUMENT: the format is invalid. In a turn.
 */
TR_MUST_CHECK tr_status tr__text_format(struct tr_self *self, char few[TEXT_FEW],
                                        const char *format, va_list arguments, tr_bytes *text);

#endif
