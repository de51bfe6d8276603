/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The control socket. Its thread answers local clients (observe/visitor.h) while the system runs.
 *
 * The thread waits in poll(), and is not a worker. So it answers even while every worker is stuck.
 * It has at most CONTROL_CLIENTS clients, besides the pages of inspectors (observe/page.h). The
 * thread never waits for a client. A client that does not read for CONTROL_SLOW_NS is dropped. If
 * there are too many clients, a client that has been idle for CONTROL_IDLE_NS is dropped for the
 * new one. If there is no such client, the new client gets a line that says that there are too
 * many.
 */
#ifndef OBSERVE_CONTROL_H
#define OBSERVE_CONTROL_H

#include <troupe/self.h>

enum { CONTROL_CLIENTS = 16, CONTROL_WHY_SIZE = 300 };
#define CONTROL_SLOW_NS (5 * TR_SECOND)
#define CONTROL_IDLE_NS TR_SECOND

struct control;
struct schema_source;

/**
 * Finds a path for the socket of this process, for a program that names none. Tries
 * $XDG_RUNTIME_DIR/troupe, /run/troupe, the directory of the store, and /tmp/troupe-<user>. `store`
 * may be NULL. Returns false if none of these can be used.
 */
bool tr__control_place(const char *app, const char *store, char *path, size_t size);

/**
 * Starts the thread. Its socket is at `path`, which is copied. `schema` is borrowed. On failure
 * `why` gets a sentence. Fails with TR_LIMIT, TR_ADDRESS_IN_USE, TR_NOT_PERMITTED, TR_NO_MEMORY and
 * other statuses of sockets.
 */
TR_MUST_CHECK tr_status tr__control_start(tr_system *system, const struct schema_source *schema,
                                          const char *path, struct control **control,
                                          char why[CONTROL_WHY_SIZE]);
/** Returns the path of the socket. */
const char *tr__control_path(const struct control *control);
/** Ends the thread, and frees its memory. The system must still exist. NULL is allowed. */
void tr__control_stop(struct control *control);

#endif
