/* SPDX-License-Identifier: Apache-2.0 */
/**
 * An intrusive list that is linked in both directions. The links form a ring through the head of the list.
 *
 * Links are in memory of the caller, which lends a link to the list until the link is removed. A
 * link that is in no list points to itself, so list_remove of such a link does nothing.
 */
#ifndef BASE_LIST_H
#define BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list {
    struct list *next;
    struct list *previous;
};

/** Returns the struct of `type` whose member `member` is `*link`. */
#define LIST_OWNER(link, type, member) ((type *)(void *)((char *)(link)-offsetof(type, member)))

/** Loops over all links of a list, first to last. The body may remove the current link. */
#define LIST_EACH(link, head)                                                                      \
    for (struct list *link = (head)->next, *link##_next = link->next; link != (head);              \
         link = link##_next, link##_next = link->next)

/** Makes an empty list, or a link that is in no list. */
static inline void list_init(struct list *list)
{
    list->next = list;
    list->previous = list;
}

/**
 * Whether a list has no links. If the argument is a link and not a head, whether the link is in no
 * list.
 */
static inline bool list_is_empty(const struct list *list)
{
    return list->next == list;
}

/**
 * Inserts a link, which must be in no list, before another link. If `other` is the head of a list,
 * the link becomes the last of the list.
 */
static inline void list_insert_before(struct list *other, struct list *link)
{
    link->next = other;
    link->previous = other->previous;
    other->previous->next = link;
    other->previous = link;
}

static inline void list_push_first(struct list *list, struct list *link)
{
    list_insert_before(list->next, link);
}

static inline void list_push_last(struct list *list, struct list *link)
{
    list_insert_before(list, link);
}

/** Returns the first link, or NULL. */
static inline struct list *list_first(const struct list *list)
{
    return list_is_empty(list) ? NULL : list->next;
}

/** Returns the last link, or NULL. */
static inline struct list *list_last(const struct list *list)
{
    return list_is_empty(list) ? NULL : list->previous;
}

/** Removes a link from its list. Does nothing if the link is in no list. */
static inline void list_remove(struct list *link)
{
    link->next->previous = link->previous;
    link->previous->next = link->next;
    list_init(link);
}

/** Removes the first link of a list and returns it. Returns NULL if the list is empty. */
static inline struct list *list_pop_first(struct list *list)
{
    struct list *link = list_first(list);
    if (link)
        list_remove(link);
    return link;
}

/** Moves all links of `from` to the end of `list`. `from` is empty afterwards. */
static inline void list_append(struct list *list, struct list *from)
{
    if (list_is_empty(from))
        return;
    from->next->previous = list->previous;
    list->previous->next = from->next;
    from->previous->next = list;
    list->previous = from->previous;
    list_init(from);
}

#endif
