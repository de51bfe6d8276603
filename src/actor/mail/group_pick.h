/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Sending to a group: which member gets a message.
 */
#ifndef ACTOR_MAIL_GROUP_PICK_H
#define ACTOR_MAIL_GROUP_PICK_H

#include <troupe/detail/base.h>
#include <troupe/status.h>

struct envelope;
struct group_address;
struct group_letter;
struct group_walk;
struct tr_system;
struct worker;

/**
 * Begins a walk over the members for a message. Returns TR_OK or TR_STOPPED. Returns TR_UNHANDLED
 * if a router finds no key in the message. `worker` is the sender's worker, NULL on any other
 * thread.
 */
TR_MUST_CHECK tr_status tr__group_begin(struct tr_system *system, const struct worker *worker,
                                        uint64_t ref, const struct group_letter *letter,
                                        struct group_walk *walk);
/** Returns the next member that has not ended; NULL if none is left. */
struct cell *tr__group_next(struct group_walk *walk);
/** Ends a walk whose message was not sent, and withdraws the announcement of its sender. */
void tr__group_give_up(struct group_walk *walk);
/**
 * Picks the member for a message that the group supervisor forwards. Returns TR_OK. Returns
 * TR_STOPPED if there is no member, and TR_UNHANDLED if a router finds no key in the message. Group
 * supervisor only.
 */
TR_MUST_CHECK tr_status tr__group_choose(struct group_address *group, const struct worker *worker,
                                         const struct group_letter *letter, uint64_t *member);
/**
 * Sends a notice or an ask to a member of a group. Before the call, *cell and *to are the cell and
 * the ref of the group address. On TR_OK the envelope is taken, and *cell and *to have become the
 * cell and the ref of the member that has got the message. On TR_MAILBOX_FULL they have become the
 * cell and the ref of the member that was tried first.
 */
tr_status tr__group_send(struct worker *worker, struct envelope *envelope, struct cell **cell,
                         uint64_t *to);
/** As tr__group_send, but from any thread. Does not wait for capacity. */
tr_status tr__group_send_outside(struct tr_system *system, struct envelope *envelope,
                                 struct cell **cell, uint64_t *to);
/** Begins a walk over all members, for tr__group_each. Any thread. */
struct group_walk tr__group_all(struct tr_system *system, uint64_t ref);
/**
 * Writes the ref of the next member of a walk of tr__group_all to *member. Returns false after the
 * last member.
 */
bool tr__group_each(struct group_walk *walk, uint64_t *member);

#endif
