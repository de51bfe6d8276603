/* SPDX-License-Identifier: Apache-2.0 */
/** What a worker keeps for HTTP: streams of zlib, which serve one message after the other. Worker only. */
#ifndef HTTP_WORKER_H
#define HTTP_WORKER_H

struct deflate;
struct worker;

/** Returns the streams of this worker, made at first use; NULL: out of memory. They must not be held over a wait. */
struct deflate *tr__http_worker_deflate(struct worker *worker);

#endif
