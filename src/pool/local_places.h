/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The workers of a system as places: the first providers of troupe/places.h.
 */
#ifndef POOL_LOCAL_PLACES_H
#define POOL_LOCAL_PLACES_H

#include <troupe/places.h>

#include "pool/local_directory.h"
#include "pool/local_transport.h"

struct local_places {
    tr_places table;
    void *memory; /* the allocation that contains this struct; the struct is aligned inside it */
    struct memory_source source;
    struct local_directory directory;
    struct local_transport transport;
};

#endif
