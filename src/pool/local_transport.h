/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The transport of troupe/places.h for the workers of one system: parcels are envelopes.
 */
#ifndef POOL_LOCAL_TRANSPORT_H
#define POOL_LOCAL_TRANSPORT_H

#include <troupe/places.h>

struct local_transport {
    tr_transport table;
    struct tr_system *system;
};

void tr__local_transport_init(struct local_transport *transport, struct tr_system *system);

#endif
