/* SPDX-License-Identifier: Apache-2.0 */
/** The server: it listens where it is asked to, and replies with the address. It refuses one that is in use, for example. */
#ifndef SERVER_H
#define SERVER_H

#include <troupe/troupe.h>

TR_MESSAGE(served, (str, address));
TR_REQUEST(serve, served, (str, address));
TR_ACTOR(server, serve);

#endif
