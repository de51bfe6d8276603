/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The most frequent words of a text, in C++17: an actor with a container in its state, and values with destructors in
 * its handlers.
 */
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>
#include <troupe/troupe.h>

TR_MESSAGE(text, (str, line));
TR_MESSAGE(top, (str, word), (u64, times));
TR_REQUEST(get_top, top);
TR_ACTOR(words, text, get_top);

/* The state is memory that begins as zeros, so the container is behind a pointer. */
struct words {
    std::map<std::string, unsigned> *counts;
};

static void release(void *counts)
{
    delete static_cast<std::map<std::string, unsigned> *>(counts);
}

static tr_next set_up(tr_self *self, struct words *words)
{
    words->counts = new std::map<std::string, unsigned>;
    tr_at_end(self, words->counts, release); /* also when the actor fails */
    return TR_SAME;
}

static tr_next on_text(struct words *words, const struct text *message)
{
    std::string word;
    for (const char *at = message->line;; at++) {
        if (*at && std::isalpha(static_cast<unsigned char>(*at)))
            word += static_cast<char>(std::tolower(static_cast<unsigned char>(*at)));
        else if (!word.empty())
            (*words->counts)[std::exchange(word, {})]++;
        if (!*at)
            return TR_SAME;
    }
}

static tr_next on_get_top(tr_self *self, struct words *words)
{
    /* A verb that ends the turn unwinds the stack: the vector is destroyed. */
    std::vector<std::pair<std::string, unsigned>> sorted(words->counts->begin(),
                                                         words->counts->end());
    if (sorted.empty())
        return tr_refuse(self, 1, "no words yet");
    auto most = std::max_element(sorted.begin(), sorted.end(), [](const auto &a, const auto &b) {
        return a.second < b.second;
    });
    return tr_reply(self, top, .word = most->first.c_str(), .times = most->second);
}

TR_BEHAVIOR(words, struct words, TR_SETUP(set_up), TR_ON(text, on_text),
            TR_ON(get_top, on_get_top));

static tr_next on_args(tr_self *self)
{
    words_ref words = tr_spawn(self, words, "words");
    tr_tell(self, words, text, .line = "the cat saw the dog");
    tr_tell(self, words, text, .line = "The dog ran.");
    const struct top *top = tr_await(self, tr_ask(self, words, get_top));
    std::printf("%s: %u times\n", top->word, static_cast<unsigned>(top->times));
    return TR_STOP;
}

TR_BEHAVIOR(app, void, TR_ON(tr_args, on_args));

int main(int argc, char **argv)
{
    return tr_app_main(argc, argv, app);
}
