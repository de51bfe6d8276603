/* SPDX-License-Identifier: Apache-2.0 */
/**
 * SIGINT, SIGTERM and SIGQUIT as events that can be read, for programs that the runner owns.
 *
 * No handler is installed. While a `struct signals` is open the three signals are blocked in the
 * calling thread (threads of the runtime block them anyway) and stay pending until they are read.
 */
#ifndef OS_SIGNALS_H
#define OS_SIGNALS_H

#include <troupe/status.h>

struct signals;

/**
 * Blocks the three signals. The result is given to the caller. Fails with TR_NO_MEMORY, TR_LIMIT
 * (file descriptors) or TR_NAME_EXISTS (an actor of another system has taken one of them).
 */
TR_MUST_CHECK tr_status tr__signals_open(struct signals **signals);
/**
 * Discards unread signals and restores the previous mask. NULL does nothing. Only on the thread that called
 * tr__signals_open.
 */
void tr__signals_close(struct signals *signals);
/** Returns a descriptor that is readable while a signal is pending; borrowed. */
int tr__signals_fd(const struct signals *signals);
/** Whether a number is the number of SIGQUIT. */
bool tr__signal_is_quit(int signal);
/** Returns the number of a pending signal, or 0. Never waits. */
int tr__signals_read(struct signals *signals);

/**
 * Ends the process now, with the exit status by which shells report a process that this signal has
 * ended: 128 + signal.
 */
TR_NO_RETURN void tr__signals_exit(int signal);

#endif
