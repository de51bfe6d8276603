/* SPDX-License-Identifier: Apache-2.0 */
/** The memory of nghttp2. Owner only. */
#ifndef HTTP_H2_MEMORY_H
#define HTTP_H2_MEMORY_H

struct h2_session;

/** Prepares session->memory, before the session of nghttp2 is made. */
void tr__h2_memory_init(struct h2_session *session);
/** Frees all memory that nghttp2 has allocated. */
void tr__h2_memory_free(struct h2_session *session);

#endif
