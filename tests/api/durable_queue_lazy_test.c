/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Queues against a plain list; commits are stored with the next sleep or failure.
 */
#define QUEUE_MODEL_DURABILITY TR_SAVE_ON_DEMAND
#include "support/queue_model.h"

TEST(queues_that_are_stored_on_demand_do_what_a_list_does, "K-05", "K-21", "K-01")
{
    queue_model_play();
}

SUITE("durable queue model, stored on demand", queues_that_are_stored_on_demand_do_what_a_list_does)
