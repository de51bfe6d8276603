/* SPDX-License-Identifier: Apache-2.0 */
#include "http/worker.h"

#include "actor/cell/system.h"
#include "http/deflate.h"
#include "net/worker.h"
#include "base/assert.h"

static void deflate_free(void *deflate)
{
    tr__deflate_free(deflate);
}

struct deflate *tr__http_worker_deflate(struct worker *worker)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct net_worker *net = tr__net_worker_of(worker);
    if (net && !net->deflate) {
        net->deflate = tr__deflate_new(&worker->system->source);
        net->deflate_free = deflate_free;
    }
    return net ? net->deflate : NULL;
}
