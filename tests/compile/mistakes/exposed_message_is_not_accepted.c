/* SPDX-License-Identifier: Apache-2.0 */
/* ids: H-01 */
/* expect: no member named .transfer. */
#include "common.h"

TR_DURABLE_DECLARE(account);
TR_EXPOSE(account, get_balance, transfer);
