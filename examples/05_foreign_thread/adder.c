/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Threads that are no workers talk to an actor, in a program with a main of its own.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <troupe/troupe.h>

TR_MESSAGE(total, (u64, value));
TR_REQUEST(add, total, (u64, n));
TR_MESSAGE(subscribe, (ref, who));
TR_MESSAGE(alert, (str, text));
TR_ACTOR(adder, add, subscribe);

struct adder {
    uint64_t value;
    tr_ref subscriber;
};

static tr_next on_add(tr_self *self, struct adder *adder, const struct add *message)
{
    adder->value += message->n;
    if (adder->value > 10 && !tr_is_nobody(adder->subscriber)) {
        tr_tell(self, adder->subscriber, alert, .text = "more than ten");
        adder->subscriber = TR_NOBODY;
    }
    return tr_reply(self, total, .value = adder->value);
}

static tr_next on_subscribe(struct adder *adder, const struct subscribe *message)
{
    adder->subscriber = message->who;
    return TR_SAME;
}

TR_BEHAVIOR(adder, struct adder, TR_ON(add, on_add), TR_ON(subscribe, on_subscribe));

/* A client is how a foreign thread sends and receives; it is used by one thread at a time. */
static void *thread_main(void *context)
{
    tr_client *client;
    if (tr_client_new(context, &client) != TR_OK)
        return NULL;
    adder_ref adder = tr_find(client, adder, "/user/adder");
    for (uint64_t n = 4; n < 8; n++) {
        tr_tell(client, adder, add, .n = n);
        const struct total *total = tr_receive(client, total, 10 * TR_SECOND);
        if (total != NULL)
            printf("total %" PRIu64 "\n", total->value);
        else
            printf("no answer\n");
    }
    tr_client_free(client);
    return NULL;
}

static tr_status talk(tr_system *system, tr_client *client)
{
    adder_ref adder;
    tr_error error;
    tr_status status = tr_try_spawn(client, &adder, adder, "adder");
    if (status == TR_OK)
        status = tr_spawn_wait(client, adder, 10 * TR_SECOND, &error);
    if (status != TR_OK)
        return status;
    tr_tell(client, adder, subscribe, .who = tr_client_ref(client));

    pthread_t thread;
    if (pthread_create(&thread, NULL, thread_main, system) != 0)
        return TR_NO_MEMORY;
    pthread_join(thread, NULL);
    const struct alert *alert = tr_receive(client, alert, 10 * TR_SECOND);
    printf("alert: %s\n", alert != NULL ? alert->text : "none");
    return TR_OK;
}

int main(void)
{
    tr_system *system;
    tr_client *client;
    tr_status status = tr_system_new(&(tr_system_options){.name = "adders", .workers = 2}, &system);
    if (status != TR_OK) {
        fprintf(stderr, "%s\n", tr_status_text(status));
        return 1;
    }
    if ((status = tr_system_start(system)) == TR_OK) {
        if ((status = tr_client_new(system, &client)) == TR_OK) {
            status = talk(system, client);
            tr_client_free(client);
        }
        tr_system_shutdown(system, 5 * TR_SECOND);
        if (tr_system_wait(system) != TR_OK)
            fprintf(stderr, "some actors did not stop\n");
    }
    tr_system_free(system);
    if (status != TR_OK)
        fprintf(stderr, "%s\n", tr_status_text(status));
    return status == TR_OK ? 0 : 1;
}
