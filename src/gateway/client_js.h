/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The client library for browsers, clients/js/troupe.js. The build converts it into client_js.inc,
 * which client_js.c includes.
 */
#ifndef GATEWAY_CLIENT_JS_H
#define GATEWAY_CLIENT_JS_H

#include <stddef.h>

extern const unsigned char tr__client_js[];
extern const size_t tr__client_js_size;

#endif
