/* SPDX-License-Identifier: Apache-2.0 */
/** Memory for the secret parts of keys: the secure heap of OpenSSL. It is in no dump of the process and is not swapped out. */
#ifndef NET_TLS_SECRET_H
#define NET_TLS_SECRET_H

/**
 * Makes the heap, unless this function or the program has made it before. If it cannot be made, keys are in ordinary
 * memory. Call before keys are read or made. Any thread.
 */
void tr__tls_secret_begin(void);

#endif
