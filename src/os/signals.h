/* SPDX-License-Identifier: Apache-2.0 */
/**
 * SIGINT and SIGTERM as something that can be read, for programs that the runner owns.
 *
 * No handler is installed: while these are open the two signals are blocked in the calling thread
 * (threads of the runtime block them anyway) and wait until somebody reads them.
 */
#ifndef OS_SIGNALS_H
#define OS_SIGNALS_H

#include <troupe/status.h>

struct signals;

/** Blocks the two signals, given to the caller. TR_NO_MEMORY, TR_LIMIT (file descriptors). */
TR_MUST_CHECK tr_status tr__signals_open(struct signals **signals);
/**
 * Forgets what was not read and restores what was before. NULL does nothing. On the thread that
 * opened it.
 */
void tr__signals_close(struct signals *signals);
/** A descriptor that is readable while a signal waits; borrowed. */
int tr__signals_fd(const struct signals *signals);
/** The number of a signal that came, 0 for none. Never waits. */
int tr__signals_read(struct signals *signals);

/** Ends the process now, with the exit status of one that this signal ended: 128 + signal. */
TR_NO_RETURN void tr__signals_exit(int signal);

#endif
