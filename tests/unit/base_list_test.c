/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The intrusive list.
 */
#include "base/list.h"

#include "support/test.h"

struct item {
    int number;
    struct list link;
};

static struct item items[6] = {
    {.number = 0}, {.number = 1}, {.number = 2}, {.number = 3}, {.number = 4}, {.number = 5}};

/* The numbers of a list as one, 123 for 1, 2, 3; checked in both directions. */
static int numbers(struct list *list)
{
    int forward = 0;
    int backward = 0;
    int factor = 1;
    LIST_EACH (link, list) {
        ck_assert_ptr_eq(link->next->previous, link);
        forward = forward * 10 + LIST_OWNER(link, struct item, link)->number;
    }
    for (struct list *link = list->previous; link != list; link = link->previous) {
        backward += factor * LIST_OWNER(link, struct item, link)->number;
        factor *= 10;
    }
    ck_assert_int_eq(forward, backward);
    return forward;
}

TEST(links_stand_in_the_order_of_insertion, "")
{
    struct list list;
    list_init(&list);
    ck_assert(list_is_empty(&list));
    ck_assert_ptr_null(list_first(&list));
    ck_assert_ptr_null(list_last(&list));
    ck_assert_ptr_null(list_pop_first(&list));
    list_push_last(&list, &items[2].link);
    list_push_last(&list, &items[4].link);
    list_push_first(&list, &items[1].link);
    list_insert_before(&items[4].link, &items[3].link);
    ck_assert_int_eq(numbers(&list), 1234);
    ck_assert_ptr_eq(list_first(&list), &items[1].link);
    ck_assert_ptr_eq(list_last(&list), &items[4].link);
    ck_assert(!list_is_empty(&list));
}

TEST(a_removed_link_is_in_no_list, "")
{
    struct list list;
    list_init(&list);
    for (int i = 1; i <= 4; i++)
        list_push_last(&list, &items[i].link);
    list_remove(&items[3].link);
    ck_assert(list_is_empty(&items[3].link));
    list_remove(&items[3].link);
    ck_assert_int_eq(numbers(&list), 124);
    ck_assert_ptr_eq(list_pop_first(&list), &items[1].link);
    ck_assert_int_eq(numbers(&list), 24);
    LIST_EACH (link, &list)
        list_remove(link);
    ck_assert(list_is_empty(&list));
}

TEST(append_moves_all_links, "")
{
    struct list list;
    struct list other;
    list_init(&list);
    list_init(&other);
    list_append(&list, &other);
    ck_assert(list_is_empty(&list));
    list_push_last(&other, &items[1].link);
    list_push_last(&other, &items[2].link);
    list_append(&list, &other);
    ck_assert(list_is_empty(&other));
    ck_assert_int_eq(numbers(&list), 12);
    list_push_last(&other, &items[3].link);
    list_append(&list, &other);
    ck_assert_int_eq(numbers(&list), 123);
}

SUITE("base list", links_stand_in_the_order_of_insertion, a_removed_link_is_in_no_list,
      append_moves_all_links)
