/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a worker keeps for HTTP: streams of zlib. They are used for one message after the other.
 * Worker only.
 */
#ifndef HTTP_WORKER_H
#define HTTP_WORKER_H

struct deflate;
struct worker;

/**
 * Returns the streams of zlib of this worker, and makes them at the first use. Returns NULL if
 * there is no memory. A turn must not use them across a wait.
 */
struct deflate *tr__http_worker_deflate(struct worker *worker);

#endif
