/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A thermostat: it heats while it measures less than its target.
 */
#include "thermostat.h"

TR_MESSAGE(check, (ref, asker)); /* Private: main.c has another message of this name. */

struct thermostat {
    double target, celsius;
};

static tr_next on_set_target(struct thermostat *thermostat, const struct set_target *message)
{
    thermostat->target = message->celsius;
    return TR_SAME;
}

static tr_next on_measured(struct thermostat *thermostat, const struct measured *message)
{
    thermostat->celsius = message->celsius;
    return TR_SAME;
}

/* The answer comes in a turn of its own, after what has arrived meanwhile. */
static tr_next on_get_reading(tr_self *self)
{
    tr_tell(self, tr_me(self), check, .asker = tr_sender(self));
    return TR_SAME;
}

static tr_next on_check(tr_self *self, struct thermostat *thermostat, const struct check *message)
{
    tr_tell(self,
            message->asker,
            reading,
            .celsius = thermostat->celsius,
            .is_heating = thermostat->celsius < thermostat->target);
    return TR_SAME;
}

TR_BEHAVIOR(thermostat, struct thermostat, TR_ON(set_target, on_set_target),
            TR_ON(measured, on_measured), TR_ON(get_reading, on_get_reading),
            TR_ON(check, on_check));
