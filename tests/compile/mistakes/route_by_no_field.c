/* SPDX-License-Identifier: Apache-2.0 */
/* expect gcc: .struct deposit. has no member named .customer. */
/* expect clang: no member named 'customer' in 'deposit' */
#include "common.h"

TR_ROUTES(account, TR_ROUTE_BY(deposit, customer));
