/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-07 */
/* expect gcc: .union news_topic_accepts. has no member named .transfer. */
/* expect clang: no member named 'transfer' in 'news_topic_accepts' */
#include "common.h"

TR_TOPIC(news, deposit);

void f(tr_self *self, news_topic news)
{
    tr_publish(self, news, transfer, .cents = 5);
}
