/* Words and their numbers. */
#include "data/encoder/encoder.h"
#include "format/class_names.h"

#include <string.h>

void mw__encoder_words_init(mw__encoder_words *words, const mw_allocator *allocator)
{
    *words = (mw__encoder_words){0};
    mw__map_init(&words->numbers, allocator);
}

void mw__encoder_words_deinit(mw__encoder_words *words, const mw_allocator *allocator)
{
    mw__free(allocator, words->names);
    mw__map_deinit(&words->numbers);
    words->names = NULL;
}

int64_t mw__encoder_find_word(const mw__encoder_words *words, const char *text, size_t length)
{
    return (int64_t)(uintptr_t)mw__map_get_n(&words->numbers, text, length) - 1;
}

mw_status mw__encoder_add_word(mw__encoder_words *words, mw__arena *arena, const char *text, size_t length,
                               mw_error *err)
{
    MW_TRY(mw__grow(arena->allocator, &words->names, &words->capacity, words->count + 1, sizeof *words->names, err));
    const char *name = mw__arena_string(arena, text, length, err);
    if (name == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(mw__map_set_n(&words->numbers, text, length, (void *)(uintptr_t)(words->count + 1), err));
    words->names[words->count++] = name;
    return MW_OK;
}

mw_status mw__encoder_sort_words(mw__encoder_words *words, mw_error *err)
{
    mw__sort_class_names(words->names, words->count);
    for (size_t i = 0; i < words->count; i++)
        MW_TRY(mw__map_set(&words->numbers, words->names[i], (void *)(uintptr_t)(i + 1), err));
    return MW_OK;
}
