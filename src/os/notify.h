/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The protocol by which a service notifies systemd, sd_notify(3): datagrams of text to the socket that the variable
 * NOTIFY_SOCKET names. Without the variable nothing is sent.
 */
#ifndef OS_NOTIFY_H
#define OS_NOTIFY_H

#include <troupe/status.h>

/**
 * Sends "READY=1", "STOPPING=1", "WATCHDOG=1" or the like. Returns TR_OK, also if NOTIFY_SOCKET is
 * not set; TR_ADDRESS_INVALID: NOTIFY_SOCKET is no path of a socket; TR_FAILED: the kernel refuses
 * the datagram. Any thread. Does not wait.
 */
TR_MUST_CHECK tr_status tr__notify(const char *state);
/**
 * Returns after how much time without a "WATCHDOG=1" systemd ends the process. The variable WATCHDOG_USEC has this
 * time; it counts only if WATCHDOG_PID is this process or is not set. Returns 0 if there is no limit.
 */
tr_time tr__notify_watchdog_ns(void);

/**
 * Makes a ticker: a descriptor that becomes readable each `period_ns`. Returns -1 if no descriptor
 * is left.
 */
int tr__ticker_new(tr_time period_ns);
/** Whether the period has passed since the last call. Does not wait. */
bool tr__ticker_read(int ticker);
/** Closes a ticker; -1 does nothing. */
void tr__ticker_close(int ticker);

#endif
