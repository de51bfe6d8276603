/* SPDX-License-Identifier: Apache-2.0 */
/* ids: K-08 */
/* expect: troupe: each clause of TR_EVENTS is TR_APPLY */
#include "common.h"

TR_EVENTS(account_events, balance, deposit);
