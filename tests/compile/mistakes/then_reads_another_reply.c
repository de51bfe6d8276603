/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-07 A-01 */
/* expect: cents */
#include "common.h"

static tr_next on_done(const transfer_answer *answer)
{
    return answer->reply->cents ? TR_SAME : TR_STOP;
}
TR_THEN(done, transfer, struct bank, on_done);
