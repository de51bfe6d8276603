/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Topics: what is published there reaches all who have subscribed.
 *
 *     TR_TOPIC(news, headline, weather);                        what may be published there
 *
 *     news_topic news = tr_topic_open(self, news, "news");      the topic of that name
 *     tr_subscribe(self, news);                                 and from now on headlines arrive here
 *     tr_publish(self, news, headline, .text = "rain");         from anywhere in the system
 *
 * A topic belongs to its system. It is 64 bits, is passed by value and may be kept when the topic is
 * long closed; all zero is none. Subscribers are actors and clients: an actor has a handler for what is
 * published, a client gets it by tr_receive. Who publishes is the sender; a subscriber that publishes
 * gets its own message too.
 *
 * Each subscriber gets one message that is like any other: it takes room in the mailbox, is counted
 * there with its whole size, waits while the actor is suspended, and is a dead letter when it stops.
 * What is larger than 24 bytes, or holds pointers, is copied once for all: subscribers have the same
 * constant memory, which is freed when the last of them is done with it.
 *
 * Order: what one publisher publishes arrives in that order at each subscriber, and in order with what
 * it tells that subscriber. Publishing never waits: a subscriber without room loses the message by its
 * own overflow, and TR_PARK is taken as TR_OVERFLOW_FAIL. That is a dead letter, and nobody else's
 * business.
 *
 * A publish that begins after tr_subscribe has returned reaches the subscriber; one that begins after
 * tr_unsubscribe has returned does not, but one that had begun may. An actor that stops is no
 * subscriber any more; a restart changes nothing.
 */
#ifndef TROUPE_TOPIC_H
#define TROUPE_TOPIC_H

#include <troupe/self.h>

/** Any topic: anything may be published there. TR_TOPIC makes types that know better. */
typedef union tr_topic {
    uint64_t bits;
    union tr_accepts_anything *accepts; /* Never read: its type says what may be published. */
} tr_topic;

/** No topic. */
#define TR_NO_TOPIC TR_VALUE(tr_topic, 0)

/** The topic of these bits, as `topic.bits` gave them. Any thread. */
TR_INLINE tr_topic tr_topic_from_bits(uint64_t bits)
{
    tr_topic topic;
    topic.bits = bits;
    return topic;
}

/** What came of a publish. */
typedef struct tr_published {
    tr_status status;
    size_t taken;   /* subscribers that have it */
    size_t refused; /* that had no room for it: dead letters */
} tr_published;

/**
 * Declares topics: TR_TOPIC(news, headline, weather); gives the type `news_topic`, to which these
 * messages, at most 63, may be published: anything else does not compile.
 */
#define TR_TOPIC(...) TR_TOPIC_(__VA_ARGS__, )

/**
 * The topic of a name, a `news_topic`: tr_topic_open(self, news, "news"). It is made when there is none
 * of that name, and lasts until tr_topic_close or the end of the system. Name NULL: a new one that has
 * none. Ends the turn where tr_try_topic_open would give an error.
 */
#define tr_topic_open(self, topic, name) topic##_topic_of(TR_TOPIC_OPEN_(self, name))
/**
 * As tr_topic_open, into *out, a `news_topic *`, which is written on TR_OK only. TR_NAME_INVALID (as of
 * actors), TR_LIMIT (TR_TOPICS_MAX), TR_STOPPING (one more, in a system that stops), TR_NO_MEMORY,
 * TR_INVALID_ARGUMENT.
 */
#define tr_try_topic_open(from, out, topic, name)                                                  \
    TR_SPEAKER_(from, try_topic_open)(from, name, TR_TOPIC_OUT_(out, topic))
/**
 * Closes a topic for everybody: it has no subscribers any more, and its name is free. TR_OK, or
 * TR_STOPPED: it was closed before. May be ignored.
 */
#define tr_topic_close(from, topic)                                                                \
    TR_SPEAKER_(from, topic_close)(from, tr_topic_from_bits((topic).bits))
/** How many subscribers it has now; 0 of one that is closed. */
#define tr_topic_count(from, topic)                                                                \
    TR_SPEAKER_(from, topic_count)(from, tr_topic_from_bits((topic).bits))

/**
 * From now on this actor, or client, gets what is published there. Twice is the same as once.
 *
 * TR_OK, TR_STOPPED (the topic is closed, or none), TR_LIMIT (TR_SUBSCRIBERS_MAX), TR_STOPPING (this
 * actor is), TR_CANCELLED, TR_NO_MEMORY, TR_INVALID_ARGUMENT. In a turn all but TR_OK end the turn.
 */
#define tr_subscribe(from, topic)                                                                  \
    TR_SPEAKER_(from, subscribe)(from, tr_topic_from_bits((topic).bits))
/** As tr_subscribe, and gives the status. */
#define tr_try_subscribe(from, topic)                                                              \
    TR_SPEAKER_(from, try_subscribe)(from, tr_topic_from_bits((topic).bits))
/**
 * No longer. TR_OK, TR_NOT_FOUND (it has not subscribed), TR_STOPPED, TR_INVALID_ARGUMENT. May be
 * ignored.
 */
#define tr_unsubscribe(from, topic)                                                                \
    TR_SPEAKER_(from, unsubscribe)(from, tr_topic_from_bits((topic).bits))

/**
 * Publishes a message: tr_publish(self, news, headline, .text = "rain").taken is how many have it.
 *
 * status is TR_OK, also when there was nobody: that is no dead letter. TR_STOPPED (closed, or none),
 * TR_TOO_LARGE (also for a malformed one), TR_NO_MEMORY, TR_CANCELLED, TR_INVALID_ARGUMENT: nobody has
 * it. May be ignored.
 */
#define tr_publish(from, topic, ...) TR_PUBLISH_(from, topic, __VA_ARGS__)
/** As tr_publish, of a struct that exists: tr_publish_copy(self, news, headline, &my_headline). */
#define tr_publish_copy(from, topic, m, pointer) TR_PUBLISH_COPY_(from, topic, m, pointer)

TR_BEGIN_C
uint64_t tr_self_topic_open(tr_self *self, const char *name);
TR_MUST_CHECK tr_status tr_self_try_topic_open(tr_self *self, const char *name, uint64_t *bits);
tr_status tr_self_topic_close(tr_self *self, tr_topic topic);
size_t tr_self_topic_count(tr_self *self, tr_topic topic);
tr_status tr_self_subscribe(tr_self *self, tr_topic topic);
TR_MUST_CHECK tr_status tr_self_try_subscribe(tr_self *self, tr_topic topic);
tr_status tr_self_unsubscribe(tr_self *self, tr_topic topic);
tr_published tr_self_publish(tr_self *self, tr_topic topic, const tr_type *type,
                             const void *message);

TR_MUST_CHECK tr_status tr_client_try_topic_open(tr_client *client, const char *name,
                                                 uint64_t *bits);
tr_status tr_client_topic_close(tr_client *client, tr_topic topic);
size_t tr_client_topic_count(tr_client *client, tr_topic topic);
tr_status tr_client_subscribe(tr_client *client, tr_topic topic);
TR_MUST_CHECK tr_status tr_client_try_subscribe(tr_client *client, tr_topic topic);
tr_status tr_client_unsubscribe(tr_client *client, tr_topic topic);
tr_published tr_client_publish(tr_client *client, tr_topic topic, const tr_type *type,
                               const void *message);
TR_END_C

#include <troupe/detail/topic.h>

#endif
