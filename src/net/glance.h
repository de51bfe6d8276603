/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What any thread may read of a channel, to show it to a person. tr__view_glance does the same for
 * an actor (actor/cell/view.h, rule 3). The owner of the channel writes the members with plain
 * stores, so a value that is read may be old. No pointer is followed.
 */
#ifndef NET_GLANCE_H
#define NET_GLANCE_H

#include <stdbool.h>
#include <stdint.h>

struct tr_system;

struct channel_glance {
    uint64_t bits;
    uint64_t owner; /* ref of the actor; 0: none */
    /*
     * descriptor of the channel when it was read; the number may belong to another descriptor by
     * now; -1: none
     */
    int fd;
    uint32_t flags; /* bits of enum channel_flag */
    uint8_t kind;   /* enum channel_kind */
    uint8_t state;  /* enum channel_state */
    bool is_secure; /* TLS */
    /* flags of enum secure_flag in net/tls.h; 0: the handshake has not ended */
    uint8_t secure_flags;
    uint16_t secure_cipher;
};

/** Reads one slot of the table. Returns false if the slot has no channel. Any thread. */
bool tr__channel_glance(struct tr_system *system, uint32_t slot, struct channel_glance *glance);
/** Whether the channel of a glance still exists, with the same descriptor. Any thread. */
bool tr__channel_is_same(struct tr_system *system, const struct channel_glance *glance);
/** Returns 1 more than the number of the last slot that was ever used. Any thread. */
uint32_t tr__channel_slots(struct tr_system *system);

#endif
