/* SPDX-License-Identifier: Apache-2.0 */
/** What http_client_oom_test.c checks, by HTTP/2. */
#define VERSION TR_HTTP_VERSION_2
#include "http_client_oom_test.c" /* NOLINT: the same cases */
