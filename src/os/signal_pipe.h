/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Signals of the process as descriptors that a channel can read, for actors. Also says which
 * signals may be taken, and notes which signals are taken.
 *
 * The runtime installs a handler that writes the number of the signal into a pipe. So the kernel
 * may deliver the signal to any thread, also to one that the application has started. (With a
 * signalfd, each such thread would have to block the signal.) Signals belong to the process, so the
 * data of this file are process-wide.
 */
#ifndef OS_SIGNAL_PIPE_H
#define OS_SIGNAL_PIPE_H

#include <troupe/platform.h>

/** The functions signals_open, signals_read and signals_close of the platform. */
tr_status tr__real_signals_open(const tr_platform *platform, const int *signals, size_t count,
                                int *fd);
tr_status tr__real_signals_read(const tr_platform *platform, int fd, int *signal);
void tr__real_signals_close(const tr_platform *platform, int fd);

/**
 * Returns whether an actor may take this signal: TR_OK, TR_NOT_PERMITTED, or TR_INVALID_ARGUMENT
 * for what is no signal.
 */
tr_status tr__signal_may_be_taken(int signal);

/**
 * Notes that a runner uses this signal, or no longer uses it. Several runners may use the same
 * signal. TR_NAME_EXISTS: an actor has taken the signal. Any thread.
 */
TR_MUST_CHECK tr_status tr__signal_claim(int signal);
void tr__signal_unclaim(int signal);

#endif
