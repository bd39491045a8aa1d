/* Tokens, places and texts against what Hugging Face's Rust engine made of the same texts (engine_tokens.mjs), for
 * small tokenizers of every form (make_tokenizers.py). MW_TEXT_VECTORS names another folder of NAME.json and
 * NAME.jsonl. */
#include "base/file/file.h"
#include "support/check.h"
#include "text/json/tree.h"

#include <dirent.h>
#include <millwright/text.h>
#include <stdlib.h>

typedef struct tally {
    const char *name;
    long texts, ids, places, decoded;
    long shown;
} tally;

/* Places of the vectors are characters, ours are bytes. */
static size_t chars_before(const char *text, size_t bytes)
{
    size_t count = 0;
    for (size_t i = 0; i < bytes; i++)
        count += ((unsigned char)text[i] & 0xc0) != 0x80;
    return count;
}

static bool same_ids(const mw_tokens *tokens, const mw__json_node *ids)
{
    size_t i = 0;
    for (const mw__json_node *id = ids->first; id != NULL; id = id->next, i++)
        if (i >= tokens->count || tokens->ids[i] != (int32_t)id->number)
            return false;
    return i == tokens->count;
}

static bool same_places(const mw_tokens *tokens, const char *text, const mw__json_node *offsets)
{
    size_t i = 0;
    if (offsets == NULL) /* vectors of numbers alone */
        return true;
    for (const mw__json_node *pair = offsets->first; pair != NULL && i < tokens->count; pair = pair->next, i++)
        if (chars_before(text, tokens->begin[i]) != (size_t)pair->first->number ||
            chars_before(text, tokens->end[i]) != (size_t)pair->last->number)
            return false;
    return true;
}

static void show(tally *t, const char *what, const mw__json_node *row, const mw_tokens *tokens)
{
    const mw__json_node *text = mw__tree_find(row, "text"), *ids = mw__tree_find(row, "ids");
    if (t->shown++ >= 5)
        return;
    printf("%s: %s of \"%s\":", t->name, what, text->text);
    const mw__json_node *offsets = mw__tree_find(row, "offsets"), *pair = offsets != NULL ? offsets->first : NULL;
    for (const mw__json_node *id = ids->first; id != NULL; id = id->next, pair = pair != NULL ? pair->next : NULL)
        printf(" %d", (int)id->number),
            pair != NULL ? printf("(%d %d)", (int)pair->first->number, (int)pair->last->number) : 0;
    printf("\n  ours:");
    for (size_t i = 0; i < tokens->count; i++)
        printf(" %d(%zu %zu)", tokens->ids[i], chars_before(text->text, tokens->begin[i]),
               chars_before(text->text, tokens->end[i]));
    printf("\n");
}

static bool same_text(const mw_tokenizer *tokenizer, const mw_tokens *tokens, const char *wanted, mw_error *err)
{
    char *text = NULL;
    size_t size = 0;
    text = mw_tokenizer_decode(tokenizer, tokens->ids, tokens->count, false, &size, err);
    const bool same = text != NULL && strcmp(text, wanted) == 0;
    /* the engine shows bytes that are no character as U+FFFD */
    const bool has_parts = strstr(wanted, "\xef\xbf\xbd") != NULL;
    if (!same && !has_parts)
        printf("  decoded \"%s\", not \"%s\"\n", text, wanted);
    mw_string_free(text);
    return same || has_parts;
}

static void check_row(tally *t, const mw_tokenizer *tokenizer, const mw__json_node *row)
{
    mw_error err = {0};
    mw_tokens tokens = {0};
    const mw__json_node *text = mw__tree_find(row, "text");
    mw_tokenizer_encode(tokenizer, text->text, text->length, NULL, &tokens, &err);
    const bool ids = same_ids(&tokens, mw__tree_find(row, "ids"));
    const bool places = same_places(&tokens, text->text, mw__tree_find(row, "offsets"));
    const bool back = !ids || same_text(tokenizer, &tokens, mw__tree_text(row, "decoded"), &err);
    t->texts++;
    t->ids += ids;
    t->places += places;
    t->decoded += back;
    if (!ids || !places || !back)
        show(t, !ids ? "ids" : !places ? "places" : "text", row, &tokens);
    CHECK_OK(err);
    mw_tokens_destroy(&tokens);
}

static void check_lines(tally *t, const mw_tokenizer *tokenizer, const char *path)
{
    mw_error err = {0};
    char *text = NULL;
    size_t size = 0;
    REQUIRE(mw__file_read(NULL, path, SIZE_MAX, &text, &size, &err) == MW_OK);
    for (char *at = text; at < text + size;) {
        mw__arena arena;
        char *end = memchr(at, '\n', (size_t)(text + size - at));
        mw__arena_init(&arena, NULL);
        const mw__json_node *row = mw__tree_read(&arena, at, (size_t)((end != NULL ? end : text + size) - at), &err);
        if (CHECK_OK(err))
            check_row(t, tokenizer, row);
        mw__arena_deinit(&arena);
        at = end != NULL ? end + 1 : text + size;
    }
    mw__free(mw__allocator_default(), text);
}

static void check_tokenizer(const char *folder, const char *name)
{
    char path[512];
    mw_error err = {0};
    snprintf(path, sizeof path, "%s/%s.json", folder, name);
    mw_tokenizer *tokenizer = mw_tokenizer_open(path, &err);
    REQUIRE(CHECK_OK(err));
    tally t = {.name = name};
    snprintf(path, sizeof path, "%s/%s.jsonl", folder, name);
    check_lines(&t, tokenizer, path);
    printf("%-14s %ld texts: ids %ld, places %ld, decoded %ld\n", name, t.texts, t.ids, t.places, t.decoded);
    CHECK(t.texts > 0 && t.ids == t.texts && t.places == t.texts && t.decoded == t.texts);
    mw_tokenizer_destroy(tokenizer);
}

static void test_tokens_are_those_of_the_engine(void)
{
    const char *given = getenv("MW_TEXT_VECTORS"), *folder = given != NULL ? given : MW_TESTS_DIR "/text/vectors";
    DIR *open = opendir(folder);
    REQUIRE(open != NULL);
    int count = 0;
    for (const struct dirent *entry; (entry = readdir(open)) != NULL;) {
        char name[256];
        snprintf(name, sizeof name, "%s", entry->d_name);
        char *dot = strstr(name, ".jsonl");
        if (dot == NULL || dot[6] != '\0')
            continue;
        *dot = '\0';
        check_tokenizer(folder, name);
        count++;
    }
    closedir(open);
    CHECK(count > 0);
}

int main(void)
{
    RUN(test_tokens_are_those_of_the_engine);
    return check_finish();
}
