/* SPDX-License-Identifier: Apache-2.0 */
/* expect: tr_try_topic_open of news writes into a news_topic \* */
#include "common.h"

TR_TOPIC(news, deposit);
TR_TOPIC(weather, deposit);

tr_status f(tr_self *self, weather_topic *weather);
tr_status f(tr_self *self, weather_topic *weather)
{
    return tr_try_topic_open(self, weather, news, "news");
}
