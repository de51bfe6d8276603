/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Signals of the process as descriptors, for actors; and which signals are taken.
 *
 * A handler is installed, which writes the number into a pipe: so a signal may be delivered to any
 * thread, also to a thread that the application has started. (A signalfd would need each such
 * thread to block the signal.) Signals belong to the process, so the data of this file are
 * process-wide.
 */
#ifndef OS_SIGNAL_PIPE_H
#define OS_SIGNAL_PIPE_H

#include <troupe/platform.h>

/** The functions signals_open, signals_read and signals_close of the platform. */
tr_status tr__real_signals_open(const tr_platform *platform, const int *signals, size_t count,
                                int *fd);
tr_status tr__real_signals_read(const tr_platform *platform, int fd, int *signal);
void tr__real_signals_close(const tr_platform *platform, int fd);

/** Whether a process may take this signal: TR_OK, TR_NOT_PERMITTED, TR_INVALID_ARGUMENT. */
tr_status tr__signal_may_be_taken(int signal);

/** Notes that a runner has this signal, or no longer has it. TR_NAME_EXISTS: an actor has it. Any thread. */
TR_MUST_CHECK tr_status tr__signal_claim(int signal);
void tr__signal_unclaim(int signal);

#endif
