/* SPDX-License-Identifier: Apache-2.0 */
/**
 * bank_ask and bank_ask_c20: tellers that ask accounts, each one request after the other.
 *
 * Replies live until their turn ends, so a teller asks a hundred times in a turn and then sends
 * itself a message to continue.
 */
#include "bench.h"

enum { ACCOUNTS = 1000, ASKS_OF_A_TURN = 100 };

TR_MESSAGE(money, (u64, cents));
TR_REQUEST(take_out, money, (u64, cents));
TR_ACTOR(vault, take_out);

TR_MESSAGE(desk, (array(ref_of(vault), ACCOUNTS), vaults), (u64, asks), (u64, seed), (ref, branch));
TR_MESSAGE(work_on);
TR_ACTOR(teller, work_on);

TR_MESSAGE(open_branch, (u64, tellers), (u64, asks_each), (u32, spread));
TR_MESSAGE(closed, (u64, replies));
TR_ACTOR(branch, open_branch, closed);

struct vault {
    uint64_t cents;
};

static tr_next on_take_out(tr_self *self, struct vault *vault, const struct take_out *message)
{
    vault->cents += message->cents;
    return tr_reply(self, money, .cents = vault->cents);
}

TR_BEHAVIOR(vault, struct vault, TR_ON(take_out, on_take_out));

struct teller {
    vault_ref vaults[ACCOUNTS];
    uint64_t left;
    uint64_t replies;
    uint64_t random;
    tr_ref branch;
};

static tr_next set_up_teller(struct teller *teller, const struct desk *message)
{
    for (int i = 0; i < ACCOUNTS; i++)
        teller->vaults[i] = message->vaults[i];
    teller->left = message->asks;
    teller->random = 88172645463325252u + message->seed * 7919;
    teller->branch = message->branch;
    return TR_SAME;
}

static tr_next on_work_on(tr_self *self, struct teller *teller)
{
    for (int i = 0; i < ASKS_OF_A_TURN && teller->left; i++) {
        vault_ref vault = teller->vaults[bench_random(&teller->random) % ACCOUNTS];
        const struct money *money = tr_await(self, tr_ask(self, vault, take_out, .cents = 1));
        teller->replies += money->cents > 0;
        teller->left--;
    }
    if (teller->left)
        tr_tell(self, teller_ref_of(tr_me(self)), work_on);
    else
        tr_tell(self, teller->branch, closed, .replies = teller->replies);
    return TR_SAME;
}

TR_BEHAVIOR(teller, struct teller, TR_SETUP_WITH(desk, set_up_teller), TR_ON(work_on, on_work_on));

struct branch {
    uint64_t open;
    uint64_t replies;
    tr_ref client;
};

static tr_next on_open_branch(tr_self *self, struct branch *branch,
                              const struct open_branch *message)
{
    struct desk desk = {.asks = message->asks_each, .branch = tr_me(self)};
    branch->client = tr_sender(self);
    branch->open = message->tellers;
    for (uint64_t i = 0; i < ACCOUNTS; i++)
        desk.vaults[i] = tr_spawn_at(self, (int)(i % message->spread), vault, NULL);
    for (uint64_t i = 0; i < message->tellers; i++) {
        desk.seed = i;
        uint64_t bits;
        tr_status status = tr_self_try_spawn(self,
                                             &(tr_spawn_args){.size = sizeof(tr_spawn_args),
                                                              .behavior = &tr_behavior_teller,
                                                              .worker = (int)(i % message->spread),
                                                              .setup_type = &tr_type_desk,
                                                              .setup = &desk},
                                             &bits);
        if (status != TR_OK)
            return tr_fail(self, status, "no teller");
        tr_tell(self, teller_ref_of(tr_ref_from_bits(bits)), work_on);
    }
    return TR_SAME;
}

static tr_next on_closed(tr_self *self, struct branch *branch, const struct closed *message)
{
    branch->replies += message->replies;
    if (!--branch->open)
        tr_tell(self, branch->client, done, .value = branch->replies);
    return TR_SAME;
}

TR_BEHAVIOR(branch, struct branch, TR_ON(open_branch, on_open_branch), TR_ON(closed, on_closed));

static void run_bank(struct bench *bench, uint64_t tellers, uint64_t asks_each)
{
    branch_ref branch;
    uint64_t begin = bench_now();
    bench_must(tr_try_spawn(bench->client, &branch, branch, "branch"), "spawn");
    tr_tell(bench->client,
            branch,
            open_branch,
            .tellers = tellers,
            .asks_each = asks_each,
            .spread = bench->spread);
    uint64_t replies = bench_wait(bench);
    uint64_t end = bench_now();
    bench_check("the number of replies", replies, tellers * asks_each);
    bench_report(bench->workload, bench->threads, tellers * asks_each, end - begin);
}

void bench_bank_ask(struct bench *bench)
{
    run_bank(bench, 1, bench_count(2000000));
}

void bench_bank_ask_c20(struct bench *bench)
{
    run_bank(bench, 20, bench_count(100000));
}
