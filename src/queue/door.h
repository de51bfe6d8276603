/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The door of an actor: the part of the actor that other threads may touch.
 *
 * A door has an inbox for mail from other workers, the ref of its current tenant, and the worker
 * that owns it. The memory of a door outlives its tenants. So a late sender may push to a door that
 * has another tenant by now. The rules below make that harmless.
 *
 * The head of the inbox has four forms:
 *     IDLE     empty, and the door is not posted
 *     POSTED   empty, but the door is, or is about to be, in its worker's ready inbox
 *     chain    has mail, newest first; the door is posted
 *     CLOSED   there is no tenant; a push is refused
 *
 * Rules, each of which has a model in tests/explore:
 * 1. The thread that changes IDLE into another form must post the door to its owner, exactly once.
 *    No other thread posts the door. So a door is in at most one ready inbox, and is there only
 *    once.
 * 2. Taking mail out early (a local send, a run) leaves POSTED, because the post is still on its
 *    way.
 * 3. Only the owner sets IDLE, and only after it has popped the door from its ready inbox. It does
 *    so by one exchange, which also takes the mail. A thread that pushes mail later finds IDLE and
 *    posts the door.
 * 4. Closing returns whether a post is on its way. If so, the door may be given to the next tenant
 *    only after that post has arrived.
 * 5. A sender compares the ref before it pushes. But the tenant may change between this comparison
 *    and the push, so the owner compares the generation of each message when it takes the message.
 */
#ifndef QUEUE_DOOR_H
#define QUEUE_DOOR_H

#include "queue/capacity.h"
#include "queue/stack.h"

/** A piece of mail in the inbox. It is the first member of an envelope. */
struct door_mail {
    struct door_mail *next;
};

struct door {
    struct stack_node ready;  /* written by the thread that posts; must be first */
    atomptr inbox;            /* written by any thread */
    atom64 ref;               /* ref of the tenant, 0 for none; the owner writes it */
    struct capacity capacity; /* capacity of the tenant's mailbox; see queue/capacity.h */
    atom32 owner;             /* index of the worker that owns the tenant; the owner writes it */
    /* for use by the tenant; without this member there would be padding here */
    uint32_t tenant;
};

#define DOOR_IDLE NULL
#define DOOR_POSTED ((void *)(uintptr_t)1)
#define DOOR_CLOSED ((void *)(uintptr_t)2)

enum door_result {
    DOOR_TAKEN, /* the mail is in the inbox */
    /* the mail is in the inbox, and the caller must post the door to its owner now */
    DOOR_TAKEN_POST,
    DOOR_REFUSED /* there is no tenant; the mail is still the caller's */
};

ATOM_INLINE bool door_holds_mail(const void *head)
{
    return (uintptr_t)head > (uintptr_t)DOOR_CLOSED;
}

/** Makes a door without a tenant. */
ATOM_INLINE void door_init(struct door *door)
{
    door->ready.next = NULL;
    atomptr_init(&door->inbox, DOOR_CLOSED);
    atom64_init(&door->ref, 0);
    capacity_open(&door->capacity, 0, 0, 0, 0);
    atom32_init(&door->owner, 0);
}

/**
 * Gives the door to a tenant. If `is_posted` is true, the caller must post the door right after
 * this. The door must be closed, and no other thread may open it meanwhile.
 */
ATOM_INLINE void door_open(struct door *door, uint64_t ref, uint32_t owner, bool is_posted)
{
    /* the store of the inbox below publishes the owner */
    atom32_store(&door->owner, owner, ATOM_RELAXED);
    atom64_store(&door->ref, ref, ATOM_RELAXED);
    atomptr_store(
        &door->inbox, is_posted ? DOOR_POSTED : DOOR_IDLE, ATOM_RELEASE); /* pairs with door_push */
}

/**
 * Pushes a chain of mail, newest first.
 *
 * The release publishes the mail's bytes to door_take_early and door_take_posted. The acquire pairs
 * with door_open, so that a thread that must post the door sees its owner. Any thread.
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
 * Makes the owner look at this door, although no mail is pushed.
 *
 * The caller has written a word (the control bits) that the owner reads after door_take_posted.
 * Each side writes one word and then reads the word of the other side, and all four operations are
 * sequentially consistent. So if this function finds the door posted, the owner has not looked yet
 * and will see the caller's word. Any thread.
 */
ATOM_INLINE enum door_result door_nudge(struct door *door)
{
    void *idle = DOOR_IDLE;
    if (atomptr_compare_exchange(&door->inbox, &idle, DOOR_POSTED, ATOM_SEQ_CST, ATOM_SEQ_CST))
        return DOOR_TAKEN_POST;
    return idle == DOOR_CLOSED ? DOOR_REFUSED : DOOR_TAKEN;
}

/**
 * Whether the door is not posted. Owner only: on any other thread the result may be outdated at
 * once.
 */
ATOM_INLINE bool door_is_idle(const struct door *door)
{
    return atomptr_load(&door->inbox, ATOM_RELAXED) == DOOR_IDLE;
}

/**
 * Whether the inbox has mail. Owner only: on any other thread the result may be outdated at once.
 */
ATOM_INLINE bool door_has_mail(const struct door *door)
{
    return door_holds_mail(atomptr_load(&door->inbox, ATOM_ACQUIRE));
}

/** Rule 2: takes the mail, newest first; NULL if there is none. Owner only. */
ATOM_INLINE struct door_mail *door_take_early(struct door *door)
{
    if (!door_has_mail(door))
        return NULL;
    /* The door has mail, so it is posted. Only the owner could change that. */
    return atomptr_exchange(&door->inbox, DOOR_POSTED, ATOM_ACQUIRE);
}

/**
 * Rule 3: takes the mail, newest first. Called after the door came out of the ready inbox. Owner
 * only.
 */
ATOM_INLINE struct door_mail *door_take_posted(struct door *door)
{
    void *head =
        atomptr_exchange(&door->inbox, DOOR_IDLE, ATOM_SEQ_CST); /* pairs with door_nudge */
    return door_holds_mail(head) ? head : NULL;
}

/**
 * Rule 4: closes the door. Returns the mail, and sets *is_posted to whether a post is on its way.
 *
 * A thread that has called door_nudge may rely on that post. So the thread that receives the post
 * must read the control word, even though the door is closed. Owner only.
 */
ATOM_INLINE struct door_mail *door_close(struct door *door, bool *is_posted)
{
    /* pairs with door_nudge */
    void *head = atomptr_exchange(&door->inbox, DOOR_CLOSED, ATOM_SEQ_CST);
    *is_posted = head != DOOR_IDLE;
    return door_holds_mail(head) ? head : NULL;
}

/**
 * If a door was opened as posted, is not posted yet, and has no mail, closes it and returns true.
 * Otherwise changes nothing and returns false; then rule 5 applies to the mail. Only the thread
 * that opened the door may call this.
 */
ATOM_INLINE bool door_close_empty(struct door *door)
{
    void *posted = DOOR_POSTED;
    return atomptr_compare_exchange(&door->inbox, &posted, DOOR_CLOSED, ATOM_SEQ_CST, ATOM_RELAXED);
}

/** Reverses a chain, so that the oldest mail is first. */
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
