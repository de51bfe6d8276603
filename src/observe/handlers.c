/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/handlers.h"

#include <stdlib.h>
#include <string.h>

#include "actor/cell/failure_log.h"
#include "actor/cell/system.h"
#include "actor/cell/worker.h"
#include "actor/turn/samples.h"
#include "observe/handler_mail.h"

enum { WATCH_SECONDS = 60, KEPT_SECONDS = 600, SHOWN = 200 };

void tr__handlers_watch(tr_system *system)
{
    struct system_samples *samples = system->samples;
    tr_time now_ns = system->platform->mono_now(system->platform);
    tr_time until_ns = (tr_time)atom64_load(&samples->until_ns, ATOM_RELAXED);
    /* If the last request was minutes ago, reset the histograms. Scrapers of metrics ask more often
     * than that, so for them the histograms only grow. */
    if (!until_ns || now_ns - until_ns >= (KEPT_SECONDS - WATCH_SECONDS) * TR_SECOND) {
        atom64_store(&samples->since_ns, (uint64_t)now_ns, ATOM_RELAXED);
        atom32_store(&samples->generation,
                     atom32_load(&samples->generation, ATOM_RELAXED) + 1,
                     ATOM_RELAXED);
    }
    atom64_store(&samples->until_ns, (uint64_t)(now_ns + WATCH_SECONDS * TR_SECOND), ATOM_RELAXED);
}

/* Returns the figures of a handler. If there are none, makes them. Returns NULL if there are too
 * many handlers. */
static struct handler_figures *figures_of(struct handler_figures *figures, size_t max,
                                          size_t *count, const tr_handler *handler)
{
    for (size_t i = 0; i < *count; i++) {
        if (figures[i].handler == handler)
            return &figures[i];
    }
    if (*count == max)
        return NULL;
    figures[*count] = (struct handler_figures){.handler = handler};
    return &figures[(*count)++];
}

static uint64_t weight_of(const struct turn_sample *entry)
{
    return atom64_load(&entry->weight, ATOM_RELAXED) + atom64_load(&entry->waited, ATOM_RELAXED);
}

/* Adds to the figures the turns that one worker has timed. */
static void worker_add(const struct worker *worker, struct handler_figures *figures, size_t max,
                       size_t *count)
{
    const struct turn_sample *table =
        atomptr_load(&worker->samples->table, ATOM_ACQUIRE); /* pairs with table_ready */
    uint64_t handled = atom64_load(&worker->counters.handled, ATOM_RELAXED) -
                       atom64_load(&worker->samples->handled_before, ATOM_RELAXED);
    uint64_t total = 0;
    for (size_t i = 0; table && i < SAMPLE_HANDLERS; i++)
        total += weight_of(&table[i]);
    for (size_t i = 0; table && i < SAMPLE_HANDLERS; i++) {
        const struct turn_sample *entry = &table[i];
        const tr_handler *handler = atomptr_load(&entry->handler, ATOM_ACQUIRE); /* entry_of */
        uint64_t samples = atom64_load(&entry->count, ATOM_RELAXED);
        struct handler_figures *sum =
            handler && samples ? figures_of(figures, max, count, handler) : NULL;
        if (!sum)
            continue;
        uint64_t longest_ns = atom64_load(&entry->longest_ns, ATOM_RELAXED);
        double share = (double)weight_of(entry) / (double)(total ? total : 1);
        sum->behavior = entry->behavior;
        sum->samples += samples;
        sum->weight += atom64_load(&entry->weight, ATOM_RELAXED);
        sum->waited += atom64_load(&entry->waited, ATOM_RELAXED);
        sum->sum_ns += atom64_load(&entry->sum_ns, ATOM_RELAXED);
        sum->longest_ns = longest_ns > sum->longest_ns ? longest_ns : sum->longest_ns;
        sum->handled += (uint64_t)((double)handled * share);
        for (size_t j = 0; j < SAMPLE_BUCKETS; j++)
            sum->buckets[j] += atom64_load(&entry->buckets[j], ATOM_RELAXED);
    }
}

static int compare_samples(const void *a, const void *b)
{
    const struct handler_figures *left = a;
    const struct handler_figures *right = b;
    return left->samples < right->samples ? 1 : left->samples > right->samples ? -1 : 0;
}

size_t tr__handlers_collect(tr_system *system, struct handler_figures *figures, size_t max)
{
    size_t count = 0;
    for (uint32_t i = 0; i < system->worker_count; i++)
        worker_add(system->workers[i], figures, max, &count);
    for (size_t i = 0; i < count; i++) {
        /* Failures are counted by behavior and name of the message. */
        const tr_type *type = figures[i].handler->type;
        figures[i].failed = tr__failure_log_handler(
            system, figures[i].behavior->name, type ? type->name : figures[i].handler->name);
    }
    qsort(figures, count, sizeof *figures, compare_samples);
    return count;
}

uint64_t tr__handlers_percentile(const struct handler_figures *figures, unsigned percent)
{
    double rank = (double)figures->weight * percent / 100;
    uint64_t first_ns = 0;
    uint64_t end_ns = SAMPLE_FIRST_NS;
    for (size_t i = 0; i < SAMPLE_BUCKETS; i++) {
        uint64_t count = figures->buckets[i];
        bool is_last = i + 1 == SAMPLE_BUCKETS || end_ns > figures->longest_ns;
        uint64_t most_ns = is_last ? figures->longest_ns : end_ns;
        /*
         * Assume that the turns are spread evenly over the bucket. The end of the bucket would be a
         * bad estimate: it may be four times the true value.
         */
        if (count && rank <= (double)count && most_ns >= first_ns)
            return first_ns + (uint64_t)((double)(most_ns - first_ns) * rank / (double)count);
        rank -= (double)count;
        first_ns = end_ns;
        end_ns *= SAMPLE_FACTOR;
    }
    return figures->longest_ns;
}

void tr__handlers_add(struct handler_figures *sum, const struct handler_figures *figures)
{
    sum->handled += figures->handled;
    sum->samples += figures->samples;
    sum->weight += figures->weight;
    sum->waited += figures->waited;
    sum->sum_ns += figures->sum_ns;
    if (figures->longest_ns > sum->longest_ns)
        sum->longest_ns = figures->longest_ns;
    for (size_t i = 0; i < SAMPLE_BUCKETS; i++)
        sum->buckets[i] += figures->buckets[i];
}

void tr__handlers_times(struct json_line *line, const struct handler_figures *figures)
{
    tr__json_unsigned(line, "handled_about", figures->handled);
    tr__json_unsigned(line, "sampled", figures->samples);
    tr__json_unsigned(line, "waits", figures->waited);
    tr__json_unsigned(line, "mean_ns", figures->weight ? figures->sum_ns / figures->weight : 0);
    tr__json_unsigned(line, "p50_ns", tr__handlers_percentile(figures, 50));
    tr__json_unsigned(line, "p99_ns", tr__handlers_percentile(figures, 99));
    tr__json_unsigned(line, "longest_ns", figures->longest_ns);
    tr__json_open(line, "histogram", '[');
    for (size_t i = 0; i < SAMPLE_BUCKETS; i++)
        tr__json_unsigned(line, NULL, figures->buckets[i]);
    tr__json_close(line, ']');
}

/* Writes the row of a handler. `mail` may be NULL: not known. */
static void figures_write(struct json_line *line, const struct handler_figures *figures,
                          const struct handler_mail *mail)
{
    const tr_handler *handler = figures->handler;
    const struct handler_mail_row *row = mail ? tr__handler_mail_of(mail, handler) : NULL;
    tr__json_open(line, NULL, '{');
    tr__json_string(line, "behavior", figures->behavior->name);
    tr__json_string(line, "handler", handler->name);
    tr__json_string(line, "message", handler->type ? handler->type->name : NULL);
    tr__json_unsigned(line, "failed", figures->failed);
    if (row || (mail && tr__handler_mail_is_known(mail, figures->behavior)))
        tr__json_unsigned(line, "queued_about", row ? (uint64_t)(row->queued + 0.5) : 0);
    if (row)
        tr__json_signed(line, "at_least_ms", row->oldest_ns / TR_MILLISECOND);
    tr__handlers_times(line, figures);
    tr__json_close(line, '}');
}

/* Adds figures of handlers for which messages wait, and of which no turn was timed. */
static size_t waiting_add(tr_system *system, const struct handler_mail *mail,
                          struct handler_figures *figures, size_t count)
{
    for (size_t i = 0; i < mail->row_count && count < HANDLERS_MAX; i++) {
        const struct handler_mail_row *row = &mail->rows[i];
        struct handler_figures *of = figures_of(figures, HANDLERS_MAX, &count, row->handler);
        const tr_type *type = row->handler->type;
        if (!of || of->behavior)
            continue;
        of->behavior = row->behavior;
        of->failed = tr__failure_log_handler(
            system, row->behavior->name, type ? type->name : row->handler->name);
    }
    return count;
}

void tr__handlers_write(struct visitor *visitor, const struct handler_mail *mail, size_t max)
{
    struct json_line *line = &visitor->output;
    struct tr_system *system = visitor->observer->system;
    struct handler_figures *figures =
        source_resize(visitor->observer->source, NULL, HANDLERS_MAX * sizeof *figures);
    size_t count = figures ? tr__handlers_collect(system, figures, HANDLERS_MAX) : 0;
    if (figures && mail)
        count = waiting_add(system, mail, figures, count);
    line->has_failed |= !figures;
    tr__json_open(line, "handlers", '[');
    for (size_t i = 0; i < count && i < max; i++)
        figures_write(line, &figures[i], mail);
    tr__json_close(line, ']');
    source_resize(visitor->observer->source, figures, 0);
    tr__handlers_watch(system);
}

/* Returns for how long turns have been timed, in milliseconds. */
static int64_t since_ms(const struct visitor *visitor)
{
    const struct system_samples *samples = visitor->observer->system->samples;
    tr_time since_ns = (tr_time)atom64_load(&samples->since_ns, ATOM_RELAXED);
    return since_ns ? (tr__observer_now(visitor->observer) - since_ns) / TR_MILLISECOND : 0;
}

void tr__handlers_scale(struct visitor *visitor)
{
    tr__json_unsigned(&visitor->output, "first_ns", SAMPLE_FIRST_NS);
    tr__json_unsigned(&visitor->output, "factor", SAMPLE_FACTOR);
    tr__json_signed(&visitor->output, "since_ms", since_ms(visitor));
}

static bool handlers_step(struct visitor *visitor)
{
    struct handler_mail *mail = visitor->work;
    struct json_line *line = &visitor->output;
    if (!tr__handler_mail_step(mail, visitor->observer))
        return false;
    tr__visitor_begin(visitor, visitor->request->id, false);
    tr__handlers_scale(visitor);
    tr__json_unsigned(line, "queued", mail->queued);
    tr__json_unsigned(line, "queued_counted", mail->counted);
    tr__json_unsigned(line, "mailboxes_not_asked", mail->not_asked);
    tr__handlers_write(visitor, mail, SHOWN);
    tr__visitor_end(visitor);
    return true;
}

static void handlers_free(struct visitor *visitor, void *work)
{
    source_resize(visitor->observer->source, work, 0);
}

void tr__verb_handlers(struct visitor *visitor, const struct control_request *request)
{
    struct handler_mail *mail = source_resize(visitor->observer->source, NULL, sizeof *mail);
    if (!mail) {
        tr__visitor_refuse(visitor, request->id, TR_NO_MEMORY, "out of memory for the looks");
        return;
    }
    tr__handler_mail_begin(mail, visitor->observer->system);
    tr__visitor_steps(visitor, JOB_STEPS, handlers_step, mail, handlers_free);
}
