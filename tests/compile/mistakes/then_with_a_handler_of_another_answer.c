/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-07 A-01 */
/* expect: TR_THEN.done, transfer.: the handler must be tr_next on_done */
#include "common.h"

static tr_next on_done(const get_balance_answer *answer)
{
    return answer->status == TR_OK ? TR_SAME : TR_STOP;
}
TR_THEN(done, transfer, struct bank, on_done);
