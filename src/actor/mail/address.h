/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Addresses of envelopes: kind, receiver, sender, causal id, and the number of an ask.
 *
 * A sender fills in a struct address, by member name, and passes it to one of these functions. Only
 * two other files write these members of an envelope before it is sent. verbs/publish.c keeps
 * receivers in `sender` until it addresses the envelopes. pool/local_transport.c makes the causal
 * id of a parcel from the memory address of its envelope. The functions are inline, and nearly all
 * calls pass a constant kind, so the struct costs nothing. These functions are for sending only. The
 * kind of an envelope that is in a turn or in a mailbox may also change in other places, to
 * ENVELOPE_ANSWERED or ENVELOPE_VOID. In a reply that a turn keeps, the members sender and causal
 * have another meaning (turn_ask_answer).
 */
#ifndef ACTOR_MAIL_ADDRESS_H
#define ACTOR_MAIL_ADDRESS_H

#include "actor/cell/worker.h"
#include "actor/mail/kind.h"

/**
 * Returns the sender of the message that a turn handles, 0 for none. In the envelopes of timers and
 * channels, the member `sender` has another meaning.
 */
static inline uint64_t turn_sender(const struct tr_self *self)
{
    const struct envelope *envelope = self->envelope;
    bool has_sender =
        envelope && envelope->kind != ENVELOPE_EVENT && envelope->kind != ENVELOPE_CHANNEL;
    return has_sender ? envelope->sender : 0;
}

struct address {
    enum envelope_kind kind;
    /* bits of the receiver's ref, of which an envelope keeps only the generation */
    uint64_t to;
    uint64_t sender; /* bits of a ref, 0 for nobody */
    uint64_t causal;
    /* the number of the ask; only for kinds with MAIL_HAS_NUMBER */
    uint32_t number;
    /* the deadline of the request; only for kinds with MAIL_HAS_NUMBER */
    uint32_t deadline_ms;
};

ATOM_INLINE void mail_set_number(struct envelope *envelope, struct address address)
{
    if (!kind_has(address.kind, MAIL_HAS_NUMBER))
        return;
    envelope->payload.ask.id = address.number;
    envelope->payload.ask.deadline_ms = address.deadline_ms;
}

/** Addresses an envelope that contains its message already, or that has no message. */
ATOM_INLINE void mail_address(struct envelope *envelope, struct address address)
{
    envelope->sender = address.sender;
    envelope->causal = address.causal;
    envelope->generation = (uint32_t)(address.to >> 32);
    envelope->kind = (uint8_t)address.kind;
    mail_set_number(envelope, address);
}

/**
 * Addresses an envelope that has been sent before. The envelope keeps its causal id and the number
 * of its ask.
 */
ATOM_INLINE void mail_readdress(struct envelope *envelope, enum envelope_kind kind, uint64_t to,
                                uint64_t sender)
{
    envelope->sender = sender;
    envelope->generation = (uint32_t)(to >> 32);
    envelope->kind = (uint8_t)kind;
}

/**
 * Changes the receiver of an envelope that already has an address. For example, the receiver was a
 * group, and becomes a member of it.
 */
ATOM_INLINE void mail_redirect(struct envelope *envelope, uint64_t to)
{
    envelope->generation = (uint32_t)(to >> 32);
}

/**
 * Fills an envelope of this pool with a flat message of `size` bytes, which must be at most
 * mail_inside_max, and addresses it. If `message` is NULL, copies no bytes. For the fast paths of
 * sending.
 */
ATOM_INLINE void mail_fill_inside(const struct envelope_pool *pool, struct envelope *envelope,
                                  struct address address, const tr_type *type, const void *message,
                                  size_t size)
{
    envelope->type = type;
    envelope->sender = address.sender;
    envelope->causal = address.causal;
    if (address.kind == ENVELOPE_NOTICE) {
        /* sets generation, home, kind and block_class in one store */
        envelope->stamp = envelope_usual_stamp(pool, address.to);
    } else {
        envelope->generation = (uint32_t)(address.to >> 32);
        envelope->kind = (uint8_t)address.kind;
        envelope->block_class = ENVELOPE_NO_BLOCK;
    }
    if (message)
        envelope_copy(envelope, message, size);
    mail_set_number(envelope, address);
}

/** Returns the largest size of a message that travels inside an envelope of this kind. */
ATOM_INLINE size_t mail_inside_max(enum envelope_kind kind)
{
    return kind_has(kind, MAIL_HAS_NUMBER) ? ENVELOPE_INLINE_ASK : ENVELOPE_INLINE;
}

/**
 * Takes an envelope from a pool, copies a message into it, and addresses it. Returns TR_OK,
 * TR_NO_MEMORY or TR_TOO_LARGE; writes *made only on TR_OK. Owner of the pool only.
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

/** As mail_new, but not inline: for callers that send rarely. */
TR_MUST_CHECK tr_status tr__mail_new(struct envelope_pool *pool, struct address address,
                                     const tr_type *type, const void *message,
                                     struct envelope **made);

#endif
