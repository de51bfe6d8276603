/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Addresses of envelopes: kind, receiver, sender, causal id, and the number of an ask.
 *
 * Whoever sends fills in a struct address, by name, and hands it to one of these functions; no other code writes
 * these members of an envelope that is about to be sent. They are inline and the kind is a constant in nearly all
 * calls, so the struct costs nothing. What is not sent is not addressed: an envelope in its turn or its mailbox may
 * change its kind (ENVELOPE_ANSWERED, ENVELOPE_VOID), and a reply that is kept has other uses for its sender
 * (turn_ask_answer).
 */
#ifndef ACTOR_MAIL_ADDRESS_H
#define ACTOR_MAIL_ADDRESS_H

#include "actor/mail/kind.h"

struct address {
    enum envelope_kind kind;
    uint64_t
        to; /* bits of a ref: an envelope has its generation only, whoever sends it has the cell */
    uint64_t sender; /* bits of a ref, 0 for nobody */
    uint64_t causal;
    uint32_t number;      /* of the ask, for kinds with MAIL_HAS_NUMBER, */
    uint32_t deadline_ms; /* and what the request says of its deadline */
};

ATOM_INLINE void mail_set_number(struct envelope *envelope, struct address address)
{
    if (!kind_has(address.kind, MAIL_HAS_NUMBER))
        return;
    envelope->payload.ask.id = address.number;
    envelope->payload.ask.deadline_ms = address.deadline_ms;
}

/** Addresses an envelope whose message is there already, or is none. */
ATOM_INLINE void mail_address(struct envelope *envelope, struct address address)
{
    envelope->sender = address.sender;
    envelope->causal = address.causal;
    envelope->generation = (uint32_t)(address.to >> 32);
    envelope->kind = (uint8_t)address.kind;
    mail_set_number(envelope, address);
}

/** Addresses an envelope that has been sent before: it has its causal id, and its number. */
ATOM_INLINE void mail_readdress(struct envelope *envelope, enum envelope_kind kind, uint64_t to,
                                uint64_t sender)
{
    envelope->sender = sender;
    envelope->generation = (uint32_t)(to >> 32);
    envelope->kind = (uint8_t)kind;
}

/** Gives an envelope that is addressed another receiver: a member of a group, in its place. */
ATOM_INLINE void mail_redirect(struct envelope *envelope, uint64_t to)
{
    envelope->generation = (uint32_t)(to >> 32);
}

/**
 * Fills an own envelope of a pool with a flat message of `size` bytes, at most mail_inside_max, and addresses it.
 * What quick ways to send do; `message` NULL: there are no bytes.
 */
ATOM_INLINE void mail_fill_inside(const struct envelope_pool *pool, struct envelope *envelope,
                                  struct address address, const tr_type *type, const void *message,
                                  size_t size)
{
    envelope->type = type;
    envelope->sender = address.sender;
    envelope->causal = address.causal;
    if (address.kind == ENVELOPE_NOTICE) {
        envelope->stamp = envelope_usual_stamp(pool, address.to); /* all in one store */
    } else {
        envelope->generation = (uint32_t)(address.to >> 32);
        envelope->kind = (uint8_t)address.kind;
        envelope->block_class = ENVELOPE_NO_BLOCK;
    }
    if (message)
        envelope_copy(envelope, message, size);
    mail_set_number(envelope, address);
}

/** How large a message of this kind may be and travel inside its envelope. */
ATOM_INLINE size_t mail_inside_max(enum envelope_kind kind)
{
    return kind_has(kind, MAIL_HAS_NUMBER) ? ENVELOPE_INLINE_ASK : ENVELOPE_INLINE;
}

/**
 * Makes an envelope of a pool with a copy of a message, and addresses it. TR_NO_MEMORY, TR_TOO_LARGE: then there
 * is none. Owner of the pool only.
 */
ATOM_INLINE tr_status mail_new(struct envelope_pool *pool, struct address address,
                               const tr_type *type, const void *message, struct envelope **made)
{
    struct envelope *envelope = envelope_take(pool);
    if (__builtin_expect(!envelope, 0))
        return TR_NO_MEMORY;
    tr_status status = envelope_fill(pool, envelope, type, message, mail_inside_max(address.kind));
    if (__builtin_expect(status != TR_OK, 0)) {
        envelope_give_empty(pool, envelope);
        return status;
    }
    mail_address(envelope, address);
    *made = envelope;
    return TR_OK;
}

/** As mail_new, for those that send seldom. */
TR_MUST_CHECK tr_status tr__mail_new(struct envelope_pool *pool, struct address address,
                                     const tr_type *type, const void *message,
                                     struct envelope **made);

#endif
