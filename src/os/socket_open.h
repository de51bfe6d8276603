/* SPDX-License-Identifier: Apache-2.0 */
/** Opens sockets of the real platform. troupe/platform.h says what the function promises. */
#ifndef OS_SOCKET_OPEN_H
#define OS_SOCKET_OPEN_H

#include <troupe/platform.h>

tr_status tr__real_socket_open(const tr_platform *platform, const tr_socket_spec *spec, int *fd);

#endif
