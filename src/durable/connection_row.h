/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The stored rows of connections and of their events. They are in the table of queues, under names that no queue of an
 * application has.
 *
 *     name     id       bytes
 *     \001c    0        version (1), the highest number that a connection has had (8)
 *     \001c    number   version (1), epoch, session, channel (8 each), size of the caller (2), the caller, size of the
 *                       type (1), the type, the kept message, packed. No caller: the size is 65535
 *              number   while tr_connected has not ended: version (2), then the same up to the type, epoch in which
 *                       tr_connected has begun (8), size of the query (4), the query, the kept message, packed. No
 *                       query: the size is 4294967295
 *     \001e    number   an event, as a gateway sends it
 * Numbers have their low byte first.
 */
#ifndef DURABLE_CONNECTION_ROW_H
#define DURABLE_CONNECTION_ROW_H

#include <stdbool.h>
#include <stdint.h>
#include <troupe/message.h>
#include <troupe/status.h>

#define CONNECTION_ROWS "\001c"
#define EVENT_ROWS "\001e"

/** The row of a connection, as it was read. All texts and bytes are borrowed. */
struct connection_row {
    uint64_t epoch;   /* epoch of the process that has the connection; 0: the connection is lost */
    uint64_t session; /* ref of the actor that has the socket, within that process */
    uint64_t channel; /* the channel of that actor for the socket */
    tr_bytes caller;  /* the caller; if its data is NULL, there is none */
    /* The type of the message that is kept with the connection. No bytes: no message is kept. */
    tr_bytes type;
    tr_bytes kept;
    /* The epoch of the process in which tr_connected began last. 0: tr_connected has ended. */
    uint64_t begun;
    tr_bytes query; /* query of tr_connected, while `begun` is not 0; data NULL: there is none */
};

size_t tr__connection_row_size(const struct connection_row *row);
void tr__connection_row_write(const struct connection_row *row, unsigned char *bytes);
/**
 * Reads a row. Returns TR_STORE_CORRUPT if the row is damaged, or TR_NOT_SUPPORTED if a later version of the library
 * has written the row.
 */
TR_MUST_CHECK tr_status tr__connection_row_read(tr_bytes bytes, struct connection_row *row);

enum { CONNECTION_LAST_SIZE = 9 };
void tr__connection_last_write(uint64_t last, unsigned char bytes[CONNECTION_LAST_SIZE]);
TR_MUST_CHECK tr_status tr__connection_last_read(tr_bytes bytes, uint64_t *last);

#endif
