/* SPDX-License-Identifier: Apache-2.0 */
#include "http/request.h"

tr_next tr_self_http_files(tr_self *self, void *state, const void *message)
{
    (void)state;
    (void)message;
    return tr_http_reply(self, 501, .text = "files\n");
}
