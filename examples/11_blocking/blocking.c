/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Work that takes long: a hash of many rounds runs on a helper thread, and the actor that wants it
 * answers others meanwhile.
 */
#include <inttypes.h>
#include <stdio.h>
#include <troupe/troupe.h>

TR_MESSAGE(digest, (u64, value));
TR_REQUEST(get_digest, digest, (u64, seed), (u32, rounds));
TR_MESSAGE(count, (u32, open));
TR_REQUEST(get_open, count);
TR_ACTOR(hasher, get_digest, get_open);

struct hasher {
    uint32_t open; /* requests that are being worked on */
};

/* What the helper thread needs: it sees neither self nor the state. */
struct hash_job {
    uint64_t value;
    uint32_t rounds;
};

static void hash_it(void *argument)
{
    struct hash_job *job = argument;
    for (uint32_t i = 0; i < job->rounds; i++)
        job->value = (job->value ^ (job->value >> 29)) * UINT64_C(0x9e3779b97f4a7c15);
}

static tr_next on_get_digest(tr_self *self, struct hasher *hasher, const struct get_digest *message)
{
    struct hash_job job = {.value = message->seed, .rounds = message->rounds};
    hasher->open++;
    tr_blocking(self, hash_it, &job);
    hasher->open--;
    return tr_reply(self, digest, .value = job.value);
}

static tr_next on_get_open(tr_self *self, struct hasher *hasher)
{
    return tr_reply(self, count, .open = hasher->open);
}

TR_BEHAVIOR(hasher, struct hasher, TR_ON(get_digest, on_get_digest), TR_ON(get_open, on_get_open));

TR_MESSAGE(begin);
TR_ACTOR(root, begin);

static tr_next on_start(tr_self *self)
{
    tr_tell(self, root_ref_of(tr_me(self)), begin);
    return TR_SAME;
}

static tr_next on_begin(tr_self *self)
{
    hasher_ref hasher = tr_spawn(self, hasher, "hasher");
    get_digest_ask first = tr_ask(self, hasher, get_digest, .seed = 1, .rounds = 1000000);
    get_digest_ask second = tr_ask(self, hasher, get_digest, .seed = 2, .rounds = 1000000);
    tr_await(self, tr_ask(self, hasher, get_open));
    printf("the hasher answers while it works\n");
    printf("%016" PRIx64 "\n", tr_await(self, first)->value);
    printf("%016" PRIx64 "\n", tr_await(self, second)->value);
    return TR_STOP;
}

TR_BEHAVIOR(root, void, TR_ON(tr_pre_start, on_start), TR_ON(begin, on_begin));

int main(int argc, char **argv)
{
    return tr_app_main(argc, argv, root);
}
