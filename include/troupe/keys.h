/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Durable actors by their keys: lists of keys, asks that need no ref, requests that take effect
 * once, and destroying an actor from outside.
 *
 * ```c
 * #include <stdio.h>
 * #include <troupe/troupe.h>
 *
 * TR_MESSAGE(balance, (u64, cents));
 * TR_REQUEST(deposit, balance, (u64, cents));
 * TR_ACTOR(account, deposit);
 * TR_MESSAGE(account_state, (u64, cents));
 *
 * static tr_next on_deposit(tr_self *self, struct account_state *account,
 *                           const struct deposit *message)
 * {
 *     account->cents += message->cents;
 *     return tr_reply(self, balance, .cents = account->cents);
 * }
 *
 * TR_BEHAVIOR(account, struct account_state, TR_ON(deposit, on_deposit));
 * TR_DURABLE(account, account_state);
 *
 * static tr_next on_args(tr_self *self)
 * {
 *     // However often it is sent, also by the next process: one deposit, and the same answer.
 *     const struct balance *balance =
 *         tr_await(self, tr_ask_once(self, account, "anna", "payment-17", deposit, .cents = 500));
 *     printf("anna has %d cents\n", (int)balance->cents);
 *     tr_durable_page page = {0};
 *     while (tr_durable_list(self, account, &page, .after = page.last) == TR_OK && page.count) {
 *         for (size_t i = 0; i < page.count; i++)
 *             printf("%s%s\n", (const char *)page.keys[i].key.data,
 *                    page.keys[i].is_awake ? " is awake" : "");
 *     }
 *     return TR_STOP;
 * }
 *
 * TR_BEHAVIOR(bank, void, TR_ON(tr_args, on_args));
 *
 * int main(int argc, char **argv)
 * {
 *     return tr_app_main(argc, argv, bank, .durable = TR_DURABLES(account));
 * }
 * ```
 *
 * A request with an id. A caller that wants the effect only once chooses an id of 1 to TR_REQUEST_ID_MAX bytes: a
 * payment number, or a random number of a form. The id belongs to one actor; for another actor the same id is a new
 * one. The outcome of the request is stored with its effect, in the same commit, and is kept for answers_ns of the kind
 * (by default TR_ANSWERS_NS, a day). A later request with the same id and content
 *     - gets the stored answer, a reply or a refusal, also after a crash and in the next process;
 *     - waits, if the first request is still under way, and gets the answer of the first;
 *     - is handled, if nothing of the first request was stored before it failed or a crash came.
 * So the handler takes effect once, however often the request comes. Requests with an id have these
 * further statuses:
 *     TR_REQUEST_DIFFERS  the id was used for a request with another type or other fields
 *     TR_REQUEST_BEGUN    a part of the first request's changes is stored, and the first request
 *                         has ended without an answer: its turn has waited in the middle, and then
 *                         failed or was cut off by a crash. The request is not handled again,
 *                         because nobody knows what the rest of the turn would have done. The same
 *                         status comes if the handler of the first request has called tr_forward
 *     TR_LIMIT            the stored answers have answers_bytes_max bytes, or
 *                         TR_REQUEST_REPEATS_MAX repeats wait. The handler has not run
 *     TR_TOO_LARGE        the reply has more than TR_REQUEST_ANSWER_MAX bytes. Nothing is stored
 *
 * answers_ns is time of the wall clock. An answer whose time is over is removed when a later
 * request with an id comes.
 */
#ifndef TROUPE_KEYS_H
#define TROUPE_KEYS_H

#include <troupe/ask.h>
#include <troupe/durable.h>

/**
 * Asks a durable actor by its key, waits until the ask has its outcome, and returns the ask, a
 * `deposit_ask`: tr_await(self, tr_ask_key(self, account, "anna", deposit, .cents = 5)).
 * In a turn, or client's thread. May wait.
 *
 * Wakes the actor if it sleeps. If the actor falls asleep, or is killed, before it has handled the
 * request, sends the request again to the next generation; the timeout counts from the first
 * attempt. A request that a handler may have seen is not sent again. Besides the outcomes of ask.h
 * there are the statuses of tr_try_durable.
 */
#define tr_ask_key(from, actor, key, ...)                                                          \
    TR_ASK_KEY_(from, 0, actor, TR_DURABLE_KEY_(key), tr_no_bytes_(), __VA_ARGS__, )
/** Asks as tr_ask_key does, with a timeout. In a turn, or client's thread. May wait. */
#define tr_ask_key_within(from, timeout_ns, actor, key, ...)                                       \
    TR_ASK_KEY_(from, timeout_ns, actor, TR_DURABLE_KEY_(key), tr_no_bytes_(), __VA_ARGS__, )
/**
 * Asks as tr_ask_key does, with an id, which is a string. The request takes effect once, however
 * often it is sent with this id; see above. In a turn, or client's thread. May wait.
 *
 * Other than tr_ask_key, also sends the request again if the actor has stopped while it handled the
 * request. If the outcome is neither a reply nor a refusal, it is safe to ask again with the same
 * id.
 */
#define tr_ask_once(from, actor, key, id, ...)                                                     \
    TR_ASK_KEY_(from, 0, actor, TR_DURABLE_KEY_(key), TR_DURABLE_KEY_(id), __VA_ARGS__, )
/** Asks as tr_ask_once does, with a timeout. In a turn, or client's thread. May wait. */
#define tr_ask_once_within(from, timeout_ns, actor, key, id, ...)                                  \
    TR_ASK_KEY_(from, timeout_ns, actor, TR_DURABLE_KEY_(key), TR_DURABLE_KEY_(id), __VA_ARGS__, )

/** Which keys tr_durable_list returns. All zero: the first TR_DURABLE_LIST_COUNT keys. */
typedef struct tr_durable_range {
    size_t size TR_ZERO;           /* need not be set: tr_durable_list does it */
    const char *prefix TR_ZERO;    /* only keys that begin with this; NULL: all */
    tr_bytes prefix_bytes TR_ZERO; /* a prefix of any bytes, instead of `prefix` */
    tr_bytes after TR_ZERO;        /* only keys after this key: tr_durable_page.last */
    size_t max TR_ZERO;            /* at most this many; 0: TR_DURABLE_LIST_COUNT */
} tr_durable_range;

/** A key that the store has. */
typedef struct tr_durable_key {
    tr_bytes key;  /* with a NUL behind it */
    bool is_awake; /* the actor of this key is awake and accepts messages */
} tr_durable_key;

/**
 * A page of keys, in the order of their bytes. All zero stands for the place before the first page.
 */
typedef struct tr_durable_page {
    const tr_durable_key *keys;
    size_t count;
    tr_bytes last; /* the last key of this page, for the next page; no bytes: the page is empty */
    bool has_more; /* there are more keys after it */
} tr_durable_page;

/**
 * Writes a page of the keys of a kind to *page, a `tr_durable_page *`:
 * tr_durable_list(self, account, &page, .prefix = "a", .after = page.last).
 * In a turn, or client's thread. May wait: if the keys must be read from the disk. In a turn this
 * blocks the worker's thread, for a few reads of an index.
 *
 * Lists keys of which something is stored, asleep and awake. A key whose messages have never
 * changed anything is not stored (durable.h: State). A destroyed key is no longer listed when its
 * destruction is on disk. A new key is listed when its first start has ended. Keys that are made or
 * destroyed between two pages may be in the list or not; all other keys are in it once. The keys
 * are in memory of this turn; for a client they are borrowed until its next tr_durable_list.
 *
 * TR_OK; TR_NOT_FOUND: the system does not have this kind; TR_LIMIT: `max` is more than
 * TR_DURABLE_LIST_MAX; TR_INVALID_ARGUMENT: a prefix or key of more than TR_KEY_MAX bytes, or both
 * prefixes; TR_STORE_CORRUPT, TR_STORE_FAILED, TR_NO_MEMORY, TR_CANCELLED. On failure *page is
 * unchanged.
 */
#define tr_durable_list(from, actor, ...) TR_DURABLE_LIST_(from, actor, __VA_ARGS__, )

/**
 * Returns whether something is stored of a key: TR_OK, or TR_NOT_FOUND. Wakes nothing.
 * In a turn, or client's thread. May wait: as tr_durable_list does.
 *
 * TR_NOT_FOUND also means that the system does not have this kind, or that the key was destroyed.
 * The other statuses are those of tr_durable_list.
 */
#define tr_durable_exists(from, actor, key)                                                        \
    TR_SPEAKER_(from, durable_exists)(from, &tr_durable_##actor, TR_DURABLE_KEY_(key))

/**
 * Destroys an actor with all that is stored of it, as its own tr_destroy does.
 * In a turn, or client's thread. May wait: until the destruction is on disk, at most TR_ASK_NS.
 *
 * If the actor sleeps, it wakes, so that it gets its tr_destroying; a key of which nothing is
 * stored does not wake. The actor first handles earlier messages, and then has its grace.
 *
 * TR_OK: the destruction is on disk, and no crash brings the data back. TR_NOT_FOUND: nothing is stored of the key, and
 * its actor is not awake. TR_DESTROYING: the actor is being destroyed already. TR_STOPPING: it is too late to destroy
 * the actor now. TR_START_FAILED: the actor cannot start, so it is not destroyed. TR_TIMEOUT and other outcomes of
 * ask.h: the actor may be destroyed or not. Also the statuses of tr_durable_list.
 */
#define tr_durable_destroy(from, actor, key)                                                       \
    TR_SPEAKER_(from, durable_destroy)(from, &tr_durable_##actor, TR_DURABLE_KEY_(key))

TR_BEGIN_C
/**
 * These are the functions of the macros above, for keys and ids of any bytes. An `id` without bytes means no id. A
 * timeout_ns of 0 means TR_ASK_NS. `size` is sizeof(tr_durable_page) in the header that the program was compiled with.
 * In a turn. May wait: as its macro does.
 */
tr_pending tr_self_ask_key(tr_self *self, const tr_durable_kind *kind, tr_bytes key, tr_bytes id,
                           const tr_type *type, const void *message, tr_time timeout_ns);
TR_MUST_CHECK tr_status tr_self_durable_list(tr_self *self, const tr_durable_kind *kind,
                                             const tr_durable_range *range, tr_durable_page *page,
                                             size_t size);
TR_MUST_CHECK tr_status tr_self_durable_exists(tr_self *self, const tr_durable_kind *kind,
                                               tr_bytes key);
TR_MUST_CHECK tr_status tr_self_durable_destroy(tr_self *self, const tr_durable_kind *kind,
                                                tr_bytes key);
/**
 * These are the functions of the macros above for a client.
 * Client's thread. May wait: as its macro does.
 */
tr_pending tr_client_ask_key(tr_client *client, const tr_durable_kind *kind, tr_bytes key,
                             tr_bytes id, const tr_type *type, const void *message,
                             tr_time timeout_ns);
TR_MUST_CHECK tr_status tr_client_durable_list(tr_client *client, const tr_durable_kind *kind,
                                               const tr_durable_range *range, tr_durable_page *page,
                                               size_t size);
TR_MUST_CHECK tr_status tr_client_durable_exists(tr_client *client, const tr_durable_kind *kind,
                                                 tr_bytes key);
TR_MUST_CHECK tr_status tr_client_durable_destroy(tr_client *client, const tr_durable_kind *kind,
                                                  tr_bytes key);
TR_END_C

#include <troupe/detail/keys.h>

#endif
