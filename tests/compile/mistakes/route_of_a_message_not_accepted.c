/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-07 */
/* expect gcc: .union account_accepts. has no member named .transfer. */
/* expect clang: no member named 'transfer' in 'union account_accepts' */
#include "common.h"

TR_ROUTES(account, TR_ROUTE_BY(transfer, cents));
