/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Topics: a message that is published to a topic goes to all its subscribers.
 *
 * ```c
 * #include <troupe/troupe.h>
 *
 * TR_MESSAGE(headline, (str, text));
 * TR_TOPIC(news, headline);
 *
 * static tr_next on_args(tr_self *self)
 * {
 *     news_topic news = tr_topic_open(self, news, "news");
 *     tr_subscribe(self, news);
 *     tr_published published = tr_publish(self, news, headline, .text = "rain");
 *     return published.taken == 1 ? TR_SAME : tr_fail(self, published.status, "not published");
 * }
 *
 * static tr_next on_headline(tr_self *self, const struct headline *message)
 * {
 *     tr_log_info(self, "%s", message->text);
 *     return TR_STOP;
 * }
 *
 * TR_BEHAVIOR(reader, void, TR_ON(tr_args, on_args), TR_ON(headline, on_headline));
 *
 * int main(int argc, char **argv)
 * {
 *     return tr_app_main(argc, argv, reader);
 * }
 * ```
 *
 * A topic belongs to its system. A tr_topic has 64 bits, is passed by value and may be kept after
 * the topic is closed. All zero: no topic. Subscribers are actors and clients. An actor handles the
 * messages of the topic like any other; a client gets them by tr_receive. The publisher is the
 * sender of the message. A subscriber that publishes gets its own message too.
 *
 * For each subscriber, a published message is like any other: it takes capacity of the mailbox with
 * its whole size, waits while the actor is suspended, and is a dead letter if the actor stops. A
 * message that is larger than 24 bytes, or contains pointers, is copied once: all subscribers get
 * the same constant memory, which is freed after the last of them.
 *
 * Order. The messages of one publisher arrive at each subscriber in the order in which they were
 * published. Messages that the publisher sends to the subscriber with tr_tell are part of this
 * order. Publishing never waits. If the mailbox of a subscriber is full, its overflow rule applies,
 * where TR_PARK counts as TR_OVERFLOW_FAIL, and the message is a dead letter for that subscriber
 * only.
 *
 * A publish that begins after tr_subscribe has returned reaches the subscriber. A publish that
 * begins after tr_unsubscribe has returned does not reach it; one that had begun before may still
 * do. An actor that stops is no longer a subscriber. A restart changes nothing.
 */
#ifndef TROUPE_TOPIC_H
#define TROUPE_TOPIC_H

#include <troupe/self.h>

/**
 * A topic of any type: any message can be published there. TR_TOPIC makes types for which the
 * compiler checks the message.
 */
typedef union tr_topic {
    uint64_t bits;
    /* never read; its type says what can be published */
    union tr_accepts_anything *accepts;
} tr_topic;

/** No topic. */
#define TR_NO_TOPIC TR_VALUE(tr_topic, 0)

/** Returns the topic with these bits, which `topic.bits` gave. Any thread. Does not wait. */
TR_INLINE tr_topic tr_topic_from_bits(uint64_t bits)
{
    tr_topic topic;
    topic.bits = bits;
    return topic;
}

/** How a publish ended. */
typedef struct tr_published {
    tr_status status;
    size_t taken; /* subscribers that got the message */
    /* subscribers whose mailbox was full; for each of them the message is a dead letter */
    size_t refused;
} tr_published;

/**
 * Declares a type of topics: TR_TOPIC(news, headline, weather); makes the type `news_topic`. These
 * messages, at most 63, can be published to such a topic; any other does not compile. At file
 * scope.
 */
#define TR_TOPIC(...) TR_TOPIC_(__VA_ARGS__, )

/**
 * Returns the topic with a name, a `news_topic`: tr_topic_open(self, news, "news").
 * In a turn. Does not wait.
 *
 * If there is no topic with that name, makes one, which lasts until tr_topic_close or the end of
 * the system. If the name is NULL, makes a new topic without a name. If tr_try_topic_open would
 * return an error, ends the turn instead.
 */
#define tr_topic_open(self, topic, name) topic##_topic_of(TR_TOPIC_OPEN_(self, name))
/**
 * Opens a topic as tr_topic_open does, and writes it to *out, a `news_topic *`, on TR_OK only.
 * In a turn, or client's thread. Does not wait.
 *
 * TR_NAME_INVALID: the rules are those for names of actors; TR_LIMIT (TR_TOPICS_MAX); TR_STOPPING:
 * the topic would be a new one, and the system is stopping; TR_NO_MEMORY, TR_INVALID_ARGUMENT.
 */
#define tr_try_topic_open(from, out, topic, name)                                                  \
    TR_SPEAKER_(from, try_topic_open)(from, name, TR_TOPIC_OUT_(out, topic))
/**
 * Closes a topic for everybody: it has no subscribers any more, and its name is free.
 * In a turn, or client's thread. Does not wait.
 *
 * TR_OK; TR_STOPPED: the topic was closed before. The status may be ignored.
 */
#define tr_topic_close(from, topic)                                                                \
    TR_SPEAKER_(from, topic_close)(from, tr_topic_from_bits((topic).bits))
/**
 * Returns how many subscribers a topic has now. A closed topic has 0.
 * In a turn, or client's thread. Does not wait.
 */
#define tr_topic_count(from, topic)                                                                \
    TR_SPEAKER_(from, topic_count)(from, tr_topic_from_bits((topic).bits))

/**
 * Makes this actor, or client, a subscriber. A second call changes nothing.
 * In a turn, or client's thread. Does not wait.
 *
 * TR_OK; TR_STOPPED: the topic is closed, or is no topic; TR_LIMIT (TR_SUBSCRIBERS_MAX);
 * TR_STOPPING: this actor stops; TR_CANCELLED, TR_NO_MEMORY, TR_INVALID_ARGUMENT. In a turn, any
 * status but TR_OK ends the turn.
 */
#define tr_subscribe(from, topic)                                                                  \
    TR_SPEAKER_(from, subscribe)(from, tr_topic_from_bits((topic).bits))
/**
 * Subscribes as tr_subscribe does, but returns the status also in a turn.
 * In a turn, or client's thread. Does not wait.
 */
#define tr_try_subscribe(from, topic)                                                              \
    TR_SPEAKER_(from, try_subscribe)(from, tr_topic_from_bits((topic).bits))
/**
 * Ends the subscription of this actor, or client.
 * In a turn, or client's thread. Does not wait.
 *
 * TR_OK; TR_NOT_FOUND: the actor or client was no subscriber; TR_STOPPED, TR_INVALID_ARGUMENT. The
 * status may be ignored.
 */
#define tr_unsubscribe(from, topic)                                                                \
    TR_SPEAKER_(from, unsubscribe)(from, tr_topic_from_bits((topic).bits))

/**
 * Publishes a message: tr_publish(self, news, headline, .text = "rain").taken is how many
 * subscribers got it.
 * In a turn, or client's thread. Does not wait.
 *
 * The status of the result is TR_OK also if the topic has no subscribers; the message is then no
 * dead letter. With any other status no subscriber got the message: TR_STOPPED (the topic is
 * closed, or is no topic), TR_TOO_LARGE (also for a malformed message), TR_NO_MEMORY, TR_CANCELLED,
 * TR_INVALID_ARGUMENT. The result may be ignored. The message is copied.
 */
#define tr_publish(from, topic, ...) TR_PUBLISH_(from, topic, __VA_ARGS__, )
/**
 * Publishes a struct that exists: tr_publish_copy(self, news, headline, &my_headline). Otherwise as
 * tr_publish.
 * In a turn, or client's thread. Does not wait.
 */
#define tr_publish_copy(from, topic, m, pointer) TR_PUBLISH_COPY_(from, topic, m, pointer)

TR_BEGIN_C
/**
 * These are the functions of the macros above: tr_self_publish is tr_publish with a self. Each has
 * the statuses and the ownership of its macro. In a turn. Does not wait.
 */
uint64_t tr_self_topic_open(tr_self *self, const char *name);
TR_MUST_CHECK tr_status tr_self_try_topic_open(tr_self *self, const char *name, uint64_t *bits);
tr_status tr_self_topic_close(tr_self *self, tr_topic topic);
size_t tr_self_topic_count(tr_self *self, tr_topic topic);
tr_status tr_self_subscribe(tr_self *self, tr_topic topic);
TR_MUST_CHECK tr_status tr_self_try_subscribe(tr_self *self, tr_topic topic);
tr_status tr_self_unsubscribe(tr_self *self, tr_topic topic);
tr_published tr_self_publish(tr_self *self, tr_topic topic, const tr_type *type,
                             const void *message);

/** These are the functions of the macros above, for a client. Client's thread. Does not wait. */
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
