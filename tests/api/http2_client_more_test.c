/* SPDX-License-Identifier: Apache-2.0 */
/** What http_client_more_test.c checks, by HTTP/2: a caller sees no difference. */
#define VERSION TR_HTTP_VERSION_2
#include "http_client_more_test.c" /* NOLINT: the same cases */
