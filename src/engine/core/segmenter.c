/* Stores the segmenter function that another library gives to the engine, and reads the names of segmenters. The
 * stored function is the only mutable global of the engine that code outside the engine sets. */
#include "engine/core/segmenter.h"

#include <stdatomic.h>
#include <string.h>

static _Atomic(mw__segmenter_function *) given;

void mw__engine_give_segmenter(mw__segmenter_function *function)
{
    atomic_store_explicit(&given, function, memory_order_release);
}

mw__segmenter_function *mw__engine_given_segmenter(void) { return atomic_load_explicit(&given, memory_order_acquire); }

/* `text` without blanks, underscores and hyphens, in any case, is `word`. */
static bool is_word(const char *text, const char *word)
{
    for (; *text != '\0'; text++)
        if (strchr(" _-", *text) == NULL && (*text >= 'A' && *text <= 'Z' ? *text - 'A' + 'a' : *text) != *word++)
            return false;
    return *word == '\0';
}

/* Public are the text "graph" and the names of the three classes. */
mw__segmenter mw__segmenter_named(const char *text)
{
    static const char *const words[] = {[MW__SEGMENTER_COARSE] = "segmentercoarse",
                                        [MW__SEGMENTER_GRAPH] = "segmentergraph",
                                        [MW__SEGMENTER_SHORTEST_PATH] = "segmentershortestpath"};
    for (size_t i = 1; text != NULL && i < sizeof words / sizeof *words; i++)
        if (is_word(text, words[i]) || is_word(text, words[i] + strlen("segmenter")))
            return (mw__segmenter)i;
    return MW__SEGMENTER_NONE;
}
