/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Two source files that share messages through a header, and each have a private one.
 */
#include <stdio.h>
#include "thermostat.h"

TR_MESSAGE(check, (str, text)); /* Not the check of thermostat.c: other fields, another type. */

struct app {
    thermostat_ref room;
    int readings;
};

static tr_next on_start(tr_self *self, struct app *app)
{
    app->room = tr_spawn(self, thermostat, "room");
    tr_tell(self, app->room, set_target, .celsius = 20);
    tr_tell(self, app->room, measured, .celsius = 18.5);
    tr_tell(self, app->room, get_reading);
    return TR_SAME;
}

static tr_next on_reading(tr_self *self, struct app *app, const struct reading *message)
{
    printf("%.1f degrees, %s\n", message->celsius, message->is_heating ? "heating" : "warm");
    if (++app->readings == 2) {
        tr_dead_letter_record letter;
        uint64_t total = tr_system_dead_letters(tr_system_of(self), &letter, 1, NULL);
        printf("%d dead letter: %s is unknown to %s\n", (int)total, letter.type, letter.behavior);
        return TR_STOP;
    }
    tr_tell(self, app->room, measured, .celsius = 20.5);
    /* A plain tr_ref takes any message; a message without a handler is a dead letter. */
    tr_tell(self, tr_any(app->room), check, .text = "mine");
    tr_tell(self, app->room, get_reading);
    return TR_SAME;
}

TR_BEHAVIOR(app, struct app, TR_ON(tr_pre_start, on_start), TR_ON(reading, on_reading));

int main(int argc, char **argv)
{
    return tr_app_main(argc, argv, app);
}
