/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/tree.h"

#include <string.h>

#include "actor/cell/dispatch.h"
#include "actor/cell/slots.h"
#include "actor/cell/system.h"
#include "actor/cell/worker.h"
#include "observe/scan.h"

/* A group has the children of one behavior. Its sums also count all descendants of these
 * children. */
struct tree_group {
    const tr_behavior *behavior; /* NULL: the children are not set up yet */
    uint64_t count;              /* children */
    uint64_t below;              /* actors */
    uint64_t queued;
    uint64_t running;
    uint64_t suspended;
    uint64_t stopping;
    uint32_t queued_most;
    struct actor_glance first; /* one of the children; if its ref is 0, none was found yet */
};

struct tree {
    tr_system *system;
    struct scan scan;
    uint64_t root; /* actor whose children are grouped; 0: the actors without a parent */
    uint64_t below;
    uint64_t children;
    bool has_more; /* there are more behaviors than `groups` has entries */
    size_t count;
    struct tree_group *last; /* the group of the last actor that was counted */
    struct tree_group groups[TREE_GROUPS];
};

/* Returns the child of the root that is an ancestor of `cell`. If `cell` is itself a child of the
 * root, returns `cell`. Returns NULL if `cell` is not below the root. */
static const struct cell *child_above(const struct tree *tree, const struct cell *cell)
{
    /* The depth has a limit, because cells that change during the walk could form a circle. */
    for (unsigned depth = 0; depth <= TR_PATH_MAX; depth++) {
        const struct cell *parent = slots_parent(tree->system->slots, cell);
        if (!parent)
            return tree->root ? NULL : cell;
        if (tree->root && ATOM_PEEK(&parent->identity) == tree->root)
            return cell;
        cell = parent;
    }
    return NULL;
}

/* Returns the group of a behavior. If there is none, makes it. Returns NULL if there are too many
 * groups. */
static struct tree_group *group_of(struct tree *tree, const tr_behavior *behavior)
{
    if (tree->last && tree->last->behavior == behavior)
        return tree->last;
    for (size_t i = 0; i < tree->count; i++) {
        if (tree->groups[i].behavior == behavior)
            return tree->last = &tree->groups[i];
    }
    tree->has_more |= tree->count == TREE_GROUPS;
    if (tree->count == TREE_GROUPS)
        return NULL;
    tree->last = &tree->groups[tree->count++];
    *tree->last = (struct tree_group){.behavior = behavior};
    return tree->last;
}

static void actor_count(void *context, const struct actor_glance *glance)
{
    struct tree *tree = context;
    const struct cell *child = child_above(tree, glance->cell);
    const struct dispatch *dispatch = child ? ATOM_PEEK(&child->dispatch) : NULL;
    if (!child)
        return;
    tree->below++;
    tree->children += child == glance->cell;
    struct tree_group *group = group_of(tree, dispatch ? dispatch->behavior : NULL);
    if (!group)
        return;
    bool has_worker = glance->owner < tree->system->worker_count;
    group->below++;
    group->queued += glance->queued;
    group->queued_most = glance->queued > group->queued_most ? glance->queued : group->queued_most;
    group->running +=
        has_worker && worker_running(tree->system->workers[glance->owner]) == glance->cell;
    group->suspended += glance->life == LIFE_SUSPENDED;
    group->stopping += glance->life == LIFE_STOPPING;
    if (child != glance->cell)
        return;
    if (!group->count++)
        group->first = *glance;
}

static void group_write(const struct tree *tree, const struct tree_group *group,
                        struct json_line *line)
{
    tr_actor_info info;
    const tr_behavior *behavior = group->behavior;
    bool is_there = group->first.ref && tr__actor_describe(tree->system, &group->first, &info);
    tr__json_open(line, NULL, '{');
    tr__json_string(line, "behavior", behavior ? behavior->name : NULL);
    tr__json_string(line, "file", behavior ? behavior->file : NULL);
    tr__json_unsigned(line, "line", behavior ? behavior->line : 0);
    tr__json_unsigned(line, "count", group->count);
    tr__json_unsigned(line, "below", group->below);
    tr__json_unsigned(line, "queued", group->queued);
    tr__json_unsigned(line, "queued_most", group->queued_most);
    tr__json_unsigned(line, "running", group->running);
    tr__json_unsigned(line, "suspended", group->suspended);
    tr__json_unsigned(line, "stopping", group->stopping);
    tr__json_string(line, "first", is_there ? info.path : NULL);
    tr__json_close(line, '}');
}

/* Writes the members about the root. Returns false if the root has ended. */
static bool root_write(struct visitor *visitor, tr_ref root)
{
    struct json_line *line = &visitor->output;
    tr_actor_info info;
    if (!root.bits) {
        tr__json_string(line, "path", "/");
        tr__json_ref(line, "ref", root);
        return true;
    }
    if (!tr__observer_find(visitor->observer, root, &info))
        return false;
    tr__json_string(line, "path", info.path);
    tr__json_ref(line, "ref", root);
    tr__json_string(line, "state", info.state);
    tr__json_string(line, "behavior", info.behavior);
    return true;
}

static bool tree_step(struct visitor *visitor)
{
    struct tree *tree = visitor->work;
    struct json_line *line = &visitor->output;
    uint64_t id = visitor->request->id;
    if (!tr__scan_step(&tree->scan, actor_count, tree))
        return false;
    size_t begin = line->length;
    tr__visitor_begin(visitor, id, false);
    if (root_write(visitor, tr_ref_from_bits(tree->root))) {
        tr__json_unsigned(line, "children", tree->children);
        tr__json_unsigned(line, "below", tree->below);
        tr__json_bool(line, "more", tree->has_more);
        tr__json_open(line, "groups", '[');
        for (size_t i = 0; i < tree->count; i++)
            group_write(tree, &tree->groups[i], line);
        tr__json_close(line, ']');
        tr__visitor_end(visitor);
    } else {
        line->length = begin;
        tr__visitor_refuse(visitor, id, TR_STOPPED, "%s", tr_status_text(TR_STOPPED));
    }
    return true;
}

static void tree_free(struct visitor *visitor, void *work)
{
    source_resize(visitor->observer->source, work, 0);
}

void tr__verb_tree(struct visitor *visitor, const struct control_request *request)
{
    struct tr_system *system = visitor->observer->system;
    bool is_all = !request->path || !*request->path || strcmp(request->path, "/") == 0;
    tr_ref root = is_all ? TR_NOBODY : tr__visitor_actor(visitor, request);
    if (!is_all && !root.bits)
        return;
    struct tree *tree = source_resize(&system->source, NULL, sizeof *tree);
    if (!tree) {
        tr__visitor_refuse(visitor, request->id, TR_NO_MEMORY, "out of memory for the tree");
        return;
    }
    memset(tree, 0, sizeof *tree);
    tree->system = system;
    tree->scan.system = system;
    tree->root = root.bits;
    tr__visitor_steps(visitor, JOB_STEPS, tree_step, tree, tree_free);
}
