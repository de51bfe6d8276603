/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A ref names one actor forever: whoever lives in its place later hears nothing of what is sent to
 * it. And a parent knows its children, however fast they come and go.
 */
#include "support/stage.h"

TR_MESSAGE(secret, (u64, for_whom), (u64, n));
TR_MESSAGE(wrong, (u64, n));
TR_MESSAGE(done, (u64, n));
TR_MESSAGE(churn, (ref, client), (u64, rounds), (i32, workers), (u64, salt));
TR_MESSAGE(holder_of, (ref, client));
TR_MESSAGE(tell_all, (ref, client), (list(u64), refs), (u64, rounds));

/* ---- A tenant that knows what is meant for it. ---- */

struct tenant {
    tr_ref client;
};

static unsigned wrongs;
static unsigned rights;
static unsigned post_stops;

TR_ACTOR(tenant, secret);
static tr_next tenant_set_up(struct tenant *tenant, const struct holder_of *with)
{
    tenant->client = with->client;
    return TR_SAME;
}

static tr_next tenant_secret(tr_self *self, struct tenant *tenant, const struct secret *secret)
{
    if (secret->for_whom != tr_me(self).bits)
        tr_tell(self, tenant->client, wrong, .n = secret->for_whom);
    return TR_SAME;
}
TR_BEHAVIOR(tenant, struct tenant, TR_SETUP_WITH(holder_of, tenant_set_up),
            TR_ON(secret, tenant_secret));

TR_ACTOR(local, secret);
static tr_next local_secret(tr_self *self, const struct secret *secret)
{
    if (secret->for_whom == tr_me(self).bits)
        rights++;
    else
        wrongs++;
    return TR_SAME;
}

static tr_next local_stop(void)
{
    post_stops++;
    return TR_SAME;
}
TR_BEHAVIOR(local, void, TR_ON(secret, local_secret), TR_ON(tr_post_stop, local_stop));

enum { TENANTS = 300 };

/* A parent gets the slots of its dead children first, so that tenants follow each other. */
static local_ref hatched[TENANTS];

TR_MESSAGE(hatch, (i32, workers));
TR_ACTOR(nursery, hatch);
static tr_next nursery_hatch(tr_self *self, const struct hatch *hatch)
{
    for (int i = 0; i < TENANTS; i++)
        hatched[i] = tr_spawn_at(self, i % hatch->workers, local, NULL);
    return TR_SAME;
}
TR_BEHAVIOR(nursery, void, TR_ON(hatch, nursery_hatch));

static void play_stale_refs(struct stage *stage)
{
    nursery_ref nursery;
    local_ref dead[TENANTS];
    local_ref alive[TENANTS];
    wrongs = rights = post_stops = 0;
    ck_assert_int_eq(tr_try_spawn_at(stage->client, &nursery, stage_far(stage), nursery, NULL),
                     TR_OK);
    tr_tell(stage->client, nursery, hatch, .workers = stage->workers);
    tr_kit_settle(stage->kit);
    memcpy(dead, hatched, sizeof dead);
    for (int i = 0; i < TENANTS; i++)
        tr_stop(stage->client, dead[i]);
    tr_kit_settle(stage->kit);
    ck_assert_uint_eq(post_stops, TENANTS);
    tr_tell(stage->client, nursery, hatch, .workers = stage->workers);
    tr_kit_settle(stage->kit);
    memcpy(alive, hatched, sizeof alive);
    for (int i = 0; i < TENANTS; i++) {
        for (int other = 0; other < TENANTS; other++)
            ck_assert(!tr_is_same(dead[i], alive[other]));
        ck_assert_int_eq(tr_tell(stage->client, dead[i], secret, .for_whom = dead[i].bits),
                         TR_STOPPED);
        ck_assert_int_eq(tr_stop(stage->client, dead[i]), TR_STOPPED);
        ck_assert_int_eq(tr_kill(stage->client, dead[i]), TR_STOPPED);
        ck_assert_int_eq(tr_spawn_wait(stage->client, dead[i], 0, NULL), TR_STOPPED);
        ck_assert_int_eq(tr_tell(stage->client, alive[i], secret, .for_whom = alive[i].bits),
                         TR_OK);
    }
    tr_kit_settle(stage->kit);
    ck_assert_uint_eq(wrongs, 0);
    ck_assert_uint_eq(rights, TENANTS);
    ck_assert_uint_eq(post_stops, TENANTS);
    ck_assert_uint_eq(stage_live(stage), TENANTS + 1);
    ck_assert_uint_eq(stage_dead_letters(stage), TENANTS);
}

TEST(a_ref_of_the_dead_never_reaches_the_next_tenant, "LC-14", "L-03")
{
    stage_play(play_stale_refs);
}

/* ---- Orders that were under way when the tenant changed. ---- */

TR_ACTOR(shadow, tell_all);
static tr_next shadow_tell_all(tr_self *self, const struct tell_all *all)
{
    for (size_t i = 0; i < all->refs.count; i++) {
        tr_ref ref = tr_ref_from_bits(all->refs.items[i]);
        (void)tr_tell(self, ref, secret, .for_whom = ref.bits);
        (void)tr_stop(self, ref);
        (void)tr_tell(self, ref, secret, .for_whom = ref.bits);
        (void)tr_kill(self, ref);
        ck_assert_int_eq(tr_stop_child(self, ref), TR_NOT_FOUND);
    }
    return TR_SAME;
}
TR_BEHAVIOR(shadow, void, TR_ON(tell_all, shadow_tell_all));

static void play_late_orders(struct stage *stage)
{
    enum { COUNT = 8, ROUNDS = 20 };
    shadow_ref shadow;
    local_ref keeper;
    wrongs = 0;
    ck_assert_int_eq(tr_try_spawn(stage->client, &shadow, shadow, NULL), TR_OK);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t bits[COUNT];
        for (int i = 0; i < COUNT; i++) {
            local_ref local;
            ck_assert_int_eq(tr_try_spawn_at(stage->client, &local, stage_far(stage), local, NULL),
                             TR_OK);
            bits[i] = local.bits;
        }
        tr_tell(stage->client, shadow, tell_all, .refs = {bits, COUNT});
        for (uint64_t steps = stage->seed % 11; steps; steps--)
            tr_kit_step(stage->kit);
        for (int i = 0; i < COUNT; i++)
            tr_kill(stage->client, tr_ref_from_bits(bits[i]));
        /* The next tenants: none of the orders above is for them. */
        ck_assert_int_eq(tr_try_spawn_at(stage->client, &keeper, stage_far(stage), local, NULL),
                         TR_OK);
        tr_kit_settle(stage->kit);
        ck_assert_int_eq(tr_tell(stage->client, keeper, secret, .for_whom = keeper.bits), TR_OK);
        ck_assert_int_eq(tr_kill(stage->client, keeper), TR_OK);
        tr_kit_settle(stage->kit);
        ck_assert_uint_eq(stage_live(stage), 1);
    }
    ck_assert_uint_eq(wrongs, 0);
}

TEST(orders_that_come_late_meet_nobody, "LC-14", "LC-10", "Y-02")
{
    stage_play(play_late_orders);
}

/* ---- No ref comes twice. ---- */

static int compare_bits(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a;
    uint64_t right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

static void play_unique(struct stage *stage)
{
    enum { COUNT = 3000 };
    static uint64_t bits[COUNT];
    for (int i = 0; i < COUNT; i++) {
        local_ref local;
        ck_assert_int_eq(tr_try_spawn_at(stage->client, &local, i % stage->workers, local, NULL),
                         TR_OK);
        bits[i] = local.bits;
        ck_assert_uint_ne(bits[i], 0);
        tr_kill(stage->client, local);
        if (i % 7 == 0)
            tr_kit_settle(stage->kit);
    }
    qsort(bits, COUNT, sizeof bits[0], compare_bits);
    for (int i = 1; i < COUNT; i++)
        ck_assert_uint_ne(bits[i], bits[i - 1]);
}

TEST(no_ref_is_given_twice, "LC-14")
{
    stage_play_once(play_unique, 1, 1);
    stage_play_once(play_unique, STAGE_WORKERS, 1);
}

/* ---- A limit of actors: a slot that is free again is used again. ---- */

TEST(the_limit_of_actors_is_exact_and_slots_come_back, "LC-14")
{
    const tr_system_options options = {
        .size = sizeof options, .workers = 1, .actors_max = 20, .on_log = theatre_no_log};
    tr_system *system;
    tr_client *client;
    ck_assert_int_eq(tr_system_new(&options, &system), TR_OK);
    ck_assert_int_eq(tr_client_new(system, &client), TR_OK);
    int most = 0;
    for (int round = 0; round < 50; round++) {
        local_ref locals[32];
        tr_status status = TR_OK;
        int count = 0;
        while (count < 32 && status == TR_OK) {
            status = tr_try_spawn(client, &locals[count], local, NULL);
            count += status == TR_OK;
        }
        ck_assert_int_eq(status, TR_LIMIT);
        ck_assert_int_le(count, 20);
        ck_assert_int_gt(count, 0);
        if (round == 0)
            most = count;
        ck_assert_int_eq(tr_system_run_once(system, 0), TR_OK);
        for (int i = 0; i < count; i++)
            tr_stop(client, locals[i]);
        ck_assert_int_eq(tr_system_run_once(system, 0), TR_OK);
    }
    ck_assert_int_ge(most, 18);
    tr_client_free(client);
    tr_system_free(system);
}

/* ---- Threads: tenants come and go while others send to old refs. ---- */

enum { MEMORY = 64 };

struct churner {
    uint64_t old[MEMORY];
    uint64_t salt;
};

/* Spawns, tells, stops on all workers, and keeps telling the refs it remembers, dead or alive. */
TR_ACTOR(churner, churn);
static tr_next churner_churn(tr_self *self, struct churner *churner, const struct churn *churn)
{
    for (int i = 0; i < 8; i++) {
        uint64_t place = tr_random(self) % MEMORY;
        tr_ref old = tr_ref_from_bits(churner->old[place]);
        (void)tr_tell(self, old, secret, .for_whom = old.bits);
        if (i % 2)
            (void)tr_stop(self, old);
        else
            (void)tr_kill(self, old);
        (void)tr_tell(self, old, secret, .for_whom = old.bits);
        tenant_ref fresh = tr_spawn_at(self,
                                       (int)(tr_random(self) % (uint64_t)churn->workers),
                                       tenant,
                                       NULL,
                                       holder_of,
                                       .client = churn->client);
        (void)tr_tell(self, fresh, secret, .for_whom = fresh.bits);
        if (i % 4 == 3)
            (void)tr_stop_child(self, fresh);
        churner->old[place] = fresh.bits;
    }
    if (churn->rounds == 0) {
        tr_tell(self, churn->client, done);
        return TR_STOP;
    }
    tr_tell(self,
            tr_me(self),
            churn,
            .client = churn->client,
            .workers = churn->workers,
            .rounds = churn->rounds - 1);
    return TR_SAME;
}
TR_BEHAVIOR(churner, struct churner, TR_ON(churn, churner_churn));

TEST(on_threads_a_ref_of_the_dead_reaches_nobody, "LC-14", "L-06")
{
    enum { CHURNERS = 6 };
    struct theatre theatre = theatre_open(3);
    uint64_t rounds = test_scale(5000, 200000);
    for (int i = 0; i < CHURNERS; i++) {
        churner_ref churner;
        ck_assert_int_eq(tr_try_spawn_at(theatre.client, &churner, i % 3, churner, NULL), TR_OK);
        tr_tell(theatre.client,
                churner,
                churn,
                .rounds = rounds,
                .workers = 3,
                .client = tr_client_ref(theatre.client));
    }
    for (int i = 0; i < CHURNERS; i++)
        ck_assert_ptr_nonnull(tr_receive(theatre.client, done, STAGE_PATIENCE));
    ck_assert_ptr_null(tr_receive(theatre.client, wrong, 0));
    theatre_close(&theatre);
}

/* ---- Actors that end in their first moment, on another worker than their parent. ---- */

TR_MESSAGE(mayfly, (u32, how));
TR_ACTOR(fly, mayfly);
static tr_next fly_set_up(tr_self *self, const struct mayfly *mayfly)
{
    if (mayfly->how == 0)
        return TR_STOP;
    if (mayfly->how == 1)
        return tr_fail(self, TR_FAILED, "on purpose");
    return TR_SAME;
}

static tr_next fly_start(tr_self *self)
{
    return tr_random(self) % 2 ? TR_STOP : TR_SAME;
}

static tr_next fly_mayfly(tr_self *self, const struct mayfly *mayfly)
{
    if (mayfly->how == 3)
        tr_crash(self, TR_FAILED, "on purpose");
    return TR_STOP;
}
TR_BEHAVIOR(fly, void, TR_SETUP_WITH(mayfly, fly_set_up), TR_ON(tr_pre_start, fly_start),
            TR_ON(mayfly, fly_mayfly));

TR_ACTOR(pond, churn);
static tr_next pond_churn(tr_self *self, const struct churn *churn)
{
    for (uint32_t how = 0; how < 6; how++) {
        int other = (tr_worker(self) + 1) % churn->workers;
        fly_ref fly = tr_spawn_at(self, other, fly, NULL, mayfly, .how = how);
        (void)tr_tell(self, fly, mayfly, .how = how);
        fly_ref near_one;
        tr_status status = tr_try_spawn(self, &near_one, fly, NULL, mayfly, .how = how);
        if (status != (how == 1 ? TR_INIT_FAILED : TR_OK))
            tr_tell(self, churn->client, wrong, .n = how);
    }
    if (churn->rounds == 0) {
        tr_tell(self, churn->client, done);
        return TR_STOP;
    }
    tr_tell(self,
            tr_me(self),
            churn,
            .client = churn->client,
            .workers = churn->workers,
            .rounds = churn->rounds - 1);
    return TR_SAME;
}
TR_BEHAVIOR(pond, void, TR_ON(churn, pond_churn));

TEST(on_threads_actors_may_end_in_their_first_moment, "LC-14", "LC-04", "G-06")
{
    enum { PONDS = 6 };
    struct theatre theatre = theatre_open(3);
    uint64_t rounds = test_scale(3000, 100000);
    for (int i = 0; i < PONDS; i++) {
        pond_ref pond;
        ck_assert_int_eq(tr_try_spawn_at(theatre.client, &pond, i % 3, pond, NULL), TR_OK);
        tr_tell(theatre.client,
                pond,
                churn,
                .rounds = rounds,
                .workers = 3,
                .client = tr_client_ref(theatre.client));
    }
    for (int i = 0; i < PONDS; i++)
        ck_assert_ptr_nonnull(tr_receive(theatre.client, done, STAGE_PATIENCE));
    ck_assert_ptr_null(tr_receive(theatre.client, wrong, 0));
    theatre_close(&theatre);
}

/* ---- Found by name before the parent's worker knows it. ---- */

TR_ACTOR(finder, churn);
static tr_next finder_churn(tr_self *self, const struct churn *churn)
{
    tenant_ref found = tr_find(self, tenant, "/user/new");
    if (!tr_is_nobody(found)) {
        (void)tr_tell(self, found, secret, .for_whom = found.bits);
        if (churn->rounds % 3)
            (void)tr_stop(self, found);
        else
            (void)tr_kill(self, found);
    }
    if (churn->rounds) /* as long as the client wants it */
        tr_tell(self, tr_me(self), churn, .client = churn->client, .rounds = churn->rounds + 1);
    return TR_SAME;
}
TR_BEHAVIOR(finder, void, TR_ON(churn, finder_churn));

TEST(on_threads_an_actor_may_be_stopped_before_its_parent_knows_it, "L-07", "LC-14", "L-03")
{
    struct theatre theatre = theatre_open(2);
    finder_ref finder;
    uint64_t rounds = test_scale(3000, 100000);
    ck_assert_int_eq(tr_try_spawn_at(theatre.client, &finder, 1, finder, NULL), TR_OK);
    tr_tell(theatre.client, finder, churn, .rounds = 1);
    for (uint64_t round = 0; round < rounds; round++) {
        tenant_ref tenant;
        tr_status status = tr_try_spawn_at(theatre.client,
                                           &tenant,
                                           1,
                                           tenant,
                                           "new",
                                           holder_of,
                                           .client = tr_client_ref(theatre.client));
        ck_assert(status == TR_OK || status == TR_NAME_EXISTS);
        if (status == TR_OK)
            ck_assert_int_ne(tr_spawn_wait(theatre.client, tenant, STAGE_PATIENCE, NULL),
                             TR_TIMEOUT);
    }
    tr_kill(theatre.client, finder);
    ck_assert_ptr_null(tr_receive(theatre.client, wrong, 0));
    theatre_close(&theatre);
}

/* ---- A parent knows its children. ---- */

enum { CHILDREN = 400 };

struct parent {
    uint64_t spawned[CHILDREN]; /* in start order */
    bool is_told[CHILDREN];     /* to stop: it may be there or not */
    uint32_t count;
    uint32_t kept;
    uint64_t faults;
};

/* Whether the list has those it must have, none it cannot have, in start order. */
static bool list_is_right(tr_self *self, const struct parent *parent)
{
    tr_ref list[CHILDREN];
    size_t count = tr_children(self, list, CHILDREN);
    size_t half = tr_children(self, list, count / 2);
    uint32_t at = 0;
    bool is_right = half == count && tr_children(self, list, CHILDREN) == count;
    for (size_t i = 0; i < count; i++) {
        while (at < parent->count && parent->spawned[at] != list[i].bits)
            is_right &= parent->is_told[at++];
        is_right &= at++ < parent->count;
    }
    while (at < parent->count)
        is_right &= parent->is_told[at++];
    return is_right && count >= parent->kept;
}

TR_ACTOR(parent, churn);
static tr_next parent_churn(tr_self *self, struct parent *parent, const struct churn *churn)
{
    for (int i = 0; i < 4 && parent->count < CHILDREN; i++) {
        int worker = (int)(tr_random(self) % (uint64_t)churn->workers);
        parent->spawned[parent->count++] =
            tr_spawn_at(self, worker, tenant, NULL, holder_of, .client = churn->client).bits;
        parent->kept++;
        parent->faults += !list_is_right(self, parent);
        uint64_t which = tr_random(self) % parent->count;
        if (!parent->is_told[which] && tr_random(self) % 3) {
            tr_ref child = tr_ref_from_bits(parent->spawned[which]);
            if (tr_random(self) % 2)
                tr_kill(self, child);
            else
                tr_stop_child(self, child);
            parent->is_told[which] = true;
            parent->kept--;
        }
        parent->faults += !list_is_right(self, parent);
    }
    if (parent->count == CHILDREN && tr_children(self, NULL, 0) == parent->kept) {
        tr_tell(self, churn->client, done, .n = parent->faults);
        return TR_SAME; /* all who were told to stop have left the list */
    }
    tr_tell(self, tr_me(self), churn, .client = churn->client, .workers = churn->workers);
    return TR_SAME;
}
TR_BEHAVIOR(parent, struct parent, TR_ON(churn, parent_churn));

static void play_children(struct stage *stage)
{
    parent_ref parent;
    ck_assert_int_eq(tr_try_spawn_at(stage->client, &parent, stage_far(stage), parent, NULL),
                     TR_OK);
    tr_tell(stage->client,
            parent,
            churn,
            .client = tr_client_ref(stage->client),
            .workers = stage->workers);
    const struct done *done = tr_receive(stage->client, done, TR_SECOND);
    ck_assert_ptr_nonnull(done);
    ck_assert_uint_eq(done->n, 0);
}

TEST(the_list_of_children_is_right_in_a_storm, "LC-19")
{
    stage_play(play_children);
}

TEST(on_threads_the_list_of_children_is_right_in_a_storm, "LC-19")
{
    enum { PARENTS = 6 };
    struct theatre theatre = theatre_open(3);
    uint64_t rounds = test_scale(20, 1000);
    for (uint64_t round = 0; round < rounds; round++) {
        parent_ref parents[PARENTS];
        for (int i = 0; i < PARENTS; i++) {
            ck_assert_int_eq(tr_try_spawn_at(theatre.client, &parents[i], i % 3, parent, NULL),
                             TR_OK);
            tr_tell(theatre.client,
                    parents[i],
                    churn,
                    .workers = 3,
                    .client = tr_client_ref(theatre.client));
        }
        for (int i = 0; i < PARENTS; i++) {
            const struct done *done = tr_receive(theatre.client, done, STAGE_PATIENCE);
            ck_assert_ptr_nonnull(done);
            ck_assert_uint_eq(done->n, 0);
        }
        for (int i = 0; i < PARENTS; i++)
            tr_stop(theatre.client, parents[i]);
    }
    theatre_close(&theatre);
}

SUITE("slots", a_ref_of_the_dead_never_reaches_the_next_tenant, orders_that_come_late_meet_nobody,
      no_ref_is_given_twice, the_limit_of_actors_is_exact_and_slots_come_back,
      on_threads_a_ref_of_the_dead_reaches_nobody, on_threads_actors_may_end_in_their_first_moment,
      on_threads_an_actor_may_be_stopped_before_its_parent_knows_it,
      the_list_of_children_is_right_in_a_storm, on_threads_the_list_of_children_is_right_in_a_storm)
