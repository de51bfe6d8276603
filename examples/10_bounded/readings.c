/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Bounded mailboxes: a sensor is much faster than its receivers, and memory stays flat.
 *
 * The journal must not miss a reading: when its mailbox is full the sensor gets a status, keeps
 * the reading and sends it a little later. The display needs the newest ones only: when its
 * mailbox is full the oldest readings are dropped, and the sensor is not affected.
 */
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <troupe/troupe.h>

enum { READINGS = 1000000, JOURNAL_MAX = 10000, DISPLAY_MAX = 100 };
#define MEMORY_MAX_KIB (16 * 1024) /* a million readings that wait would take 64 MiB */

TR_MESSAGE(reading, (u64, number), (f64, celsius));
TR_MESSAGE(journal_done, (u64, readings));
TR_MESSAGE(what_do_you_show);
TR_MESSAGE(shown, (u64, number));

/* ---- The journal: every reading, at its own pace. ---- */

TR_ACTOR(journal, reading);
struct journal {
    uint64_t readings;
};

static tr_next journal_reading(tr_self *self, struct journal *journal,
                               const struct reading *message)
{
    journal->readings++;
    if (message->number != journal->readings)
        return tr_fail(self, TR_FAILED, "reading %" PRIu64 " is missing", journal->readings);
    if (message->number == READINGS)
        tr_tell(self, tr_parent(self), journal_done, .readings = journal->readings);
    return TR_SAME;
}

TR_BEHAVIOR(journal, struct journal, TR_ON(reading, journal_reading),
            TR_OPTIONS(.mailbox_max = JOURNAL_MAX, .overflow = TR_OVERFLOW_FAIL));

/* ---- The display: the newest readings. ---- */

TR_ACTOR(display, reading, what_do_you_show);
struct display {
    uint64_t number;
};

static tr_next display_reading(struct display *display, const struct reading *message)
{
    display->number = message->number;
    return TR_SAME;
}

static tr_next display_asked(tr_self *self, struct display *display)
{
    return tr_reply(self, shown, .number = display->number);
}

TR_BEHAVIOR(display, struct display, TR_ON(reading, display_reading),
            TR_ON(what_do_you_show, display_asked),
            TR_OPTIONS(.mailbox_max = DISPLAY_MAX, .overflow = TR_DROP_OLDEST));

/* ---- The sensor: as fast as it can. ---- */

TR_MESSAGE(more);
TR_MESSAGE(open_sensor, (ref, journal), (ref, display));
TR_ACTOR(sensor, more);
struct sensor {
    tr_ref journal;
    tr_ref display;
    uint64_t number;
};

static tr_next sensor_set_up(tr_self *self, struct sensor *sensor,
                             const struct open_sensor *message)
{
    sensor->journal = message->journal;
    sensor->display = message->display;
    tr_tell(self, tr_me(self), more);
    return TR_SAME;
}

static tr_next sensor_more(tr_self *self, struct sensor *sensor)
{
    while (sensor->number < READINGS) {
        struct reading next = {.number = sensor->number + 1, .celsius = 20};
        if (tr_tell_copy(self, sensor->journal, reading, &next) == TR_MAILBOX_FULL) {
            tr_timer_once(self, "more", TR_MILLISECOND, more);
            return TR_SAME;
        }
        tr_tell_copy(self, sensor->display, reading, &next);
        sensor->number++;
    }
    return TR_STOP;
}

TR_BEHAVIOR(sensor, struct sensor, TR_SETUP_WITH(open_sensor, sensor_set_up),
            TR_ON(more, sensor_more));

/* ---- The app. ---- */

struct app {
    display_ref display;
    long memory_kib; /* the most that the process has used, before the flood */
};

static long memory_kib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

static tr_next on_start(tr_self *self, struct app *app)
{
    journal_ref journal = tr_spawn(self, journal, "journal");
    app->display = tr_spawn(self, display, "display");
    app->memory_kib = memory_kib();
    (void)tr_spawn(self,
                   sensor,
                   "sensor",
                   open_sensor,
                   .journal = tr_any(journal),
                   .display = tr_any(app->display));
    return TR_SAME;
}

static tr_next on_journal_done(tr_self *self, struct app *app, const struct journal_done *message)
{
    printf("the journal has %" PRIu64 " readings, in order\n", message->readings);
    tr_tell(self, app->display, what_do_you_show);
    return TR_SAME;
}

static tr_next on_shown(struct app *app, const struct shown *message)
{
    bool is_flat = memory_kib() - app->memory_kib < MEMORY_MAX_KIB;
    printf("the display shows reading %" PRIu64 "\n", message->number);
    printf("memory %s\n", is_flat ? "stayed flat" : "has grown");
    return TR_STOP;
}

TR_BEHAVIOR(app, struct app, TR_ON(tr_pre_start, on_start), TR_ON(journal_done, on_journal_done),
            TR_ON(shown, on_shown));

int main(int argc, char **argv)
{
    return tr_app_main(argc, argv, app);
}
