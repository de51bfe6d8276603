/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The secure heap of OpenSSL, which has the secret parts of keys. Its memory is in no dump of the process, and is not
 * swapped out.
 */
#ifndef NET_TLS_SECRET_H
#define NET_TLS_SECRET_H

/**
 * Makes the secure heap, unless this function or the program has made it before. If the heap cannot be made, keys are
 * in ordinary memory. Call this before any key is read or made. Any thread.
 */
void tr__tls_secret_begin(void);

#endif
