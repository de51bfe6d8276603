/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Signals of the virtual platform, which a test raises. A taker of signals is a connection. The system has one end of
 * it, and the network writes the signals to the other end.
 *
 * All functions: one thread at a time.
 */
#ifndef OS_VIRTUAL_SIGNAL_H
#define OS_VIRTUAL_SIGNAL_H

#include "os/virtual_net.h"

/** The functions of the platform with these names. */
tr_status tr__virtual_signals_open(const tr_platform *platform, const int *signals, size_t count,
                                   int *fd);
tr_status tr__virtual_signals_read(const tr_platform *platform, int fd, int *signal);
void tr__virtual_signals_close(const tr_platform *platform, int fd);

/** Raises a signal. Returns false if no taker takes this signal. */
bool tr__virtual_signal_raise(struct virtual_net *net, int signal);

#endif
