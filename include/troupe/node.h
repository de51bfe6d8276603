/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Addresses of nodes, and which node a name belongs to.
 *
 * ```c
 * #include <stdio.h>
 * #include <troupe/node.h>
 *
 * int main(void)
 * {
 *     tr_node_address address;
 *     tr_node_error error;
 *     char text[TR_NODE_ADDRESS_MAX + 1];
 *     if (tr_node_address_parse("prod/eu-west-1/shop/node-7", &address, &error) != TR_OK) {
 *         fprintf(stderr, "%s\n", error.text);
 *         return 1;
 *     }
 *     tr_node_address_print(&address, text, sizeof text);
 *     printf("%s, %s; orders-17 belongs to node %d of 3\n", address.node, text,
 *            tr_node_of("orders-17", 3));
 *     return 0;
 * }
 * ```
 *
 * A node is a system that has joined a cluster. Its address has four parts, from the largest to the
 * smallest: cluster/datacenter/application/node, as in "prod/eu-west-1/shop/node-7".
 */
#ifndef TROUPE_NODE_H
#define TROUPE_NODE_H

#include <troupe/limits.h>

/**
 * An address. Each part has 1 to 63 characters of A-Z a-z 0-9 _ . - and begins with a letter or a
 * digit, so an address can be a part of a path, a key and a command line. Upper and lower case are
 * different. The bytes behind the NUL of a part do not matter.
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
    size_t offset; /* place of the first character that is not allowed */
    /* the part that has this character: "cluster", "datacenter", "application" or "node" */
    const char *part;
    char text[120]; /* for a person: "datacenter, at 5: ' ' is none of A-Z a-z 0-9 _ . -" */
} tr_node_error;

TR_BEGIN_C
/**
 * Reads an address from a text. The text must be exact: no blanks around it, no '/' at either end,
 * no part missing.
 * Any thread. Does not wait.
 *
 * TR_OK; TR_BAD_DATA: it is no address; TR_LIMIT: a part is longer than TR_NODE_PART_MAX;
 * TR_INVALID_ARGUMENT: NULL. On failure *error says where, and *address is unchanged; `error` may
 * be NULL. Reads at most TR_NODE_ADDRESS_MAX + 1 characters of `text`.
 */
TR_MUST_CHECK tr_status tr_node_address_parse(const char *text, tr_node_address *address,
                                              tr_node_error *error);

/**
 * Writes an address into `buffer`, which ends with a NUL if size > 0, and returns the length of the
 * whole text, as snprintf does.
 * Any thread. Does not wait.
 *
 * TR_NODE_ADDRESS_MAX + 1 bytes are always enough. tr_node_address_parse can read the text. If a
 * part is not valid, or `address` is NULL, returns 0 and writes "". If `buffer` is NULL, writes
 * nothing.
 */
size_t tr_node_address_print(const tr_node_address *address, char *buffer, size_t size);

/**
 * Returns whether two addresses name the same node. NULL names no node. Any thread. Does not wait.
 */
bool tr_node_address_is_same(const tr_node_address *a, const tr_node_address *b);

/**
 * Returns the node, counted from 0, to which a name belongs in a cluster of `nodes` nodes. Chooses
 * as tr_pool_worker_of does: a consistent hash of the name, but over the nodes of a cluster. Takes
 * microseconds.
 * Any thread. Does not wait.
 *
 * Negative results are a tr_status. TR_INVALID_ARGUMENT: no name, or less than one node;
 * TR_NAME_INVALID; TR_LIMIT: more than TR_NODES_MAX nodes.
 */
int tr_node_of(const char *name, int nodes);
TR_END_C

#endif
