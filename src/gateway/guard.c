/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/guard.h"
#include "actor/cell/worker.h"
#include "base/assert.h"

const struct tr_principal *tr__guard_ask(struct tr_self *self, tr_ref guard,
                                         const struct tr_authorize *question,
                                         enum problem_id *problem)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    const void *answer = NULL;
    tr_pending ask = tr_self_ask(self, guard, &tr_type_tr_authorize, question, 0);
    tr_status status = tr_self_try_await(self, ask, &answer);
    if (status == TR_OK)
        return answer;
    const tr_error *error = tr_self_ask_error(self, ask);
    if (status != TR_REFUSED) {
        tr_log_warn(self, "a guard gives no answer: %s", tr_status_text(status));
        *problem = PROBLEM_GUARD_FAILED;
    } else {
        *problem = error && error->code == 401 ? PROBLEM_UNAUTHORIZED : PROBLEM_FORBIDDEN;
    }
    return NULL;
}
