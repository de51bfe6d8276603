/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Queues against a plain list; each commit is stored at once.
 */
#define QUEUE_MODEL_DURABILITY TR_SAVE_SYNC
#include "support/queue_model.h"

TEST(queues_do_what_a_list_does, "K-05", "K-21", "K-01")
{
    queue_model_play();
}

SUITE("durable queue model", queues_do_what_a_list_does)
