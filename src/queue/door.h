/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The door of an actor: all that other threads may touch of it.
 *
 * A door has an inbox for mail from elsewhere, the ref of its present tenant, and the worker that
 * owns it. Its memory outlives its tenants, so a sender that is late may knock at a door whose
 * tenant has changed; nothing bad comes of it.
 *
 * The head of the inbox has four forms:
 *     IDLE     nothing inside, nobody has posted the door
 *     POSTED   nothing inside, but the door is, or is about to be, in its worker's ready inbox
 *     chain    mail inside, newest first; the door is posted
 *     CLOSED   there is no tenant; a push is refused
 *
 * Rules, each of which has a model in tests/explore:
 *   1. Who changes IDLE into anything else must post the door to its owner, exactly once. Nobody
 *      else posts it. So a door is in at most one ready inbox, at most once.
 *   2. Who takes mail out early (a local send, a run) leaves POSTED: the post is still on its way.
 *   3. Only the owner sets IDLE, when it has the door in hand out of its ready inbox. That is one
 *      exchange, which also takes what is inside: mail that comes later finds IDLE and posts.
 *   4. Closing tells whether a post is on its way. If so the door may be given to a next tenant only
 *      after that post has arrived.
 *   5. A sender compares the ref before it pushes, and the owner compares each message's generation
 *      when it takes it in: a push may fall between one tenant and the next.
 */
#ifndef QUEUE_DOOR_H
#define QUEUE_DOOR_H

#include "queue/capacity.h"
#include "queue/stack.h"

/** Mail in the inbox; the envelope begins with it. */
struct door_mail {
    struct door_mail *next;
};

struct door {
    struct stack_node ready;  /* written by who posts; must be first */
    atomptr inbox;            /* written by anybody */
    atom64 ref;               /* of the tenant, 0 for none; written by the owner */
    struct capacity capacity; /* of its mailbox; see queue/capacity.h */
    atom32 owner;             /* index of the worker; written by the owner */
    uint32_t tenant;          /* for whatever the tenant likes: it would be padding */
};

#define DOOR_IDLE NULL
#define DOOR_POSTED ((void *)(uintptr_t)1)
#define DOOR_CLOSED ((void *)(uintptr_t)2)

enum door_result {
    DOOR_TAKEN,      /* it is inside */
    DOOR_TAKEN_POST, /* it is inside, and the caller must post the door to its owner now */
    DOOR_REFUSED     /* nobody is there; the mail is still the caller's */
};

ATOM_INLINE bool door_holds_mail(const void *head)
{
    return (uintptr_t)head > (uintptr_t)DOOR_CLOSED;
}

/** A door without a tenant. */
ATOM_INLINE void door_init(struct door *door)
{
    door->ready.next = NULL;
    atomptr_init(&door->inbox, DOOR_CLOSED);
    atom64_init(&door->ref, 0);
    capacity_open(&door->capacity, 0, 0, 0, 0);
    atom32_init(&door->owner, 0);
}

/**
 * Lets a tenant in. With `is_posted` the caller posts the door itself, next. Who may do this holds
 * the closed door alone.
 */
ATOM_INLINE void door_open(struct door *door, uint64_t ref, uint32_t owner, bool is_posted)
{
    atom32_store(&door->owner, owner, ATOM_RELEASE); /* partner: who looks at all doors */
    atom64_store(&door->ref, ref, ATOM_RELAXED);
    atomptr_store(
        &door->inbox, is_posted ? DOOR_POSTED : DOOR_IDLE, ATOM_RELEASE); /* partner: door_push */
}

/**
 * Pushes a chain of mail, newest first. Any thread.
 *
 * The release publishes the mail's bytes to door_take*; the acquire pairs with door_open, so that
 * who must post sees the owner.
 */
ATOM_INLINE enum door_result door_push_chain(struct door *door, struct door_mail *newest,
                                             struct door_mail *oldest)
{
    void *head = atomptr_load(&door->inbox, ATOM_RELAXED);
    do {
        if (head == DOOR_CLOSED)
            return DOOR_REFUSED;
        oldest->next = door_holds_mail(head) ? head : NULL;
    } while (!atomptr_compare_exchange(&door->inbox, &head, newest, ATOM_ACQ_REL, ATOM_RELAXED));
    return head == DOOR_IDLE ? DOOR_TAKEN_POST : DOOR_TAKEN;
}

/** Pushes one piece of mail. Any thread. */
ATOM_INLINE enum door_result door_push(struct door *door, struct door_mail *mail)
{
    return door_push_chain(door, mail, mail);
}

/**
 * Makes sure that the owner looks at this door, without mail. Any thread.
 *
 * The caller has written a word that the owner reads after door_take_posted (its control bits).
 * Both sides write one word and read the other's, so all four operations are sequentially
 * consistent: if this finds the door posted, the owner has not yet looked and will see the word.
 */
ATOM_INLINE enum door_result door_nudge(struct door *door)
{
    void *idle = DOOR_IDLE;
    if (atomptr_compare_exchange(&door->inbox, &idle, DOOR_POSTED, ATOM_SEQ_CST, ATOM_SEQ_CST))
        return DOOR_TAKEN_POST;
    return idle == DOOR_CLOSED ? DOOR_REFUSED : DOOR_TAKEN;
}

/** Whether nobody has posted it. Owner only: others' answers are old at once. */
ATOM_INLINE bool door_is_idle(const struct door *door)
{
    return atomptr_load(&door->inbox, ATOM_RELAXED) == DOOR_IDLE;
}

/** Whether mail is inside. Owner only: others' answers are old at once. */
ATOM_INLINE bool door_has_mail(const struct door *door)
{
    return door_holds_mail(atomptr_load(&door->inbox, ATOM_ACQUIRE));
}

/** Rule 2: takes what is inside, newest first; NULL for nothing. Owner only. */
ATOM_INLINE struct door_mail *door_take_early(struct door *door)
{
    if (!door_has_mail(door))
        return NULL;
    /* The door has mail, so it is posted and nobody but the owner can change that. */
    return atomptr_exchange(&door->inbox, DOOR_POSTED, ATOM_ACQUIRE);
}

/** Rule 3: the door came out of the ready inbox. What is inside, newest first. Owner only. */
ATOM_INLINE struct door_mail *door_take_posted(struct door *door)
{
    void *head = atomptr_exchange(&door->inbox, DOOR_IDLE, ATOM_SEQ_CST); /* partner: nudge */
    return door_holds_mail(head) ? head : NULL;
}

/**
 * Rule 4: closes for good. Gives what is inside, and whether a post is on its way. Owner only.
 *
 * A nudge may have relied on that post, so who takes it reads the control word, closed or not.
 */
ATOM_INLINE struct door_mail *door_close(struct door *door, bool *is_posted)
{
    void *head = atomptr_exchange(&door->inbox, DOOR_CLOSED, ATOM_SEQ_CST); /* partner: nudge */
    *is_posted = head != DOOR_IDLE;
    return door_holds_mail(head) ? head : NULL;
}

/**
 * Closes a door that was opened as posted, and that nobody has posted yet, if nothing is inside.
 * Otherwise it is as it was: rule 5, and who takes mail in has to see to that. Who opened it.
 */
ATOM_INLINE bool door_close_empty(struct door *door)
{
    void *posted = DOOR_POSTED;
    return atomptr_compare_exchange(&door->inbox, &posted, DOOR_CLOSED, ATOM_SEQ_CST, ATOM_RELAXED);
}

/** Turns a chain around: oldest first. */
ATOM_INLINE struct door_mail *door_reverse(struct door_mail *mail)
{
    struct door_mail *reversed = NULL;
    while (mail) {
        struct door_mail *next = mail->next;
        mail->next = reversed;
        reversed = mail;
        mail = next;
    }
    return reversed;
}

#endif
