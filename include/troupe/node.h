/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Addresses of nodes, and which node a name belongs to.
 *
 * A node is a system that has joined a cluster. Its address has four parts, from the largest to the
 * smallest: cluster/datacenter/application/node, as in "prod/eu-west-1/shop/node-7".
 */
#ifndef TROUPE_NODE_H
#define TROUPE_NODE_H

#include <troupe/limits.h>

/**
 * Each part is 1 to 63 of A-Z a-z 0-9 _ . - and begins with a letter or a digit, so that an address
 * is a safe part of a path, a key and a command line. Upper and lower case differ. Behind the NUL of
 * a part there may be anything.
 */
typedef struct tr_node_address {
    char cluster[TR_NODE_PART_MAX + 1];
    char datacenter[TR_NODE_PART_MAX + 1];
    char application[TR_NODE_PART_MAX + 1];
    char node[TR_NODE_PART_MAX + 1];
} tr_node_address;

/** What is wrong with an address, and where. */
typedef struct tr_node_error {
    tr_status status;
    size_t offset;    /* of the first character that cannot be */
    const char *part; /* in which it is: "cluster", "datacenter", "application" or "node" */
    char text[120];   /* why, in words: "datacenter, at 5: invalid character ' '; ..." */
} tr_node_error;

TR_BEGIN_C
/**
 * Reads an address. Nothing is repaired: no blanks around it, no '/' at either end, no part left out.
 *
 * TR_BAD_DATA: it is none; TR_LIMIT: a part is longer than TR_NODE_PART_MAX; TR_INVALID_ARGUMENT:
 * NULL. *error (may be NULL, written on failure only) says where, and *address is as it was. At most
 * TR_NODE_ADDRESS_MAX + 1 characters of the text are looked at. Any thread.
 */
TR_MUST_CHECK tr_status tr_node_address_parse(const char *text, tr_node_address *address,
                                              tr_node_error *error);

/**
 * Writes an address into `buffer`, which ends with a NUL when size > 0, and returns the length of the
 * whole, as snprintf does; TR_NODE_ADDRESS_MAX + 1 bytes are enough for any. What was written
 * can be read and gives the same address.
 *
 * 0 when a part is not what it should be, or for no address; the buffer is "" then. Nothing is written
 * when there is no buffer. Any thread.
 */
size_t tr_node_address_print(const tr_node_address *address, char *buffer, size_t size);

/** Whether two addresses are of the same node; NULL is of none. Any thread. */
bool tr_node_address_is_same(const tr_node_address *a, const tr_node_address *b);

/**
 * The node, from 0, to which a name belongs in a cluster of so many nodes: as tr_pool_worker_of, over
 * a ring of its own. Negative, a tr_status: TR_INVALID_ARGUMENT: no name, or less than one node;
 * TR_NAME_INVALID; TR_LIMIT: more than TR_NODES_MAX nodes. Any thread. Takes microseconds.
 */
int tr_node_of(const char *name, int nodes);
TR_END_C

#endif
