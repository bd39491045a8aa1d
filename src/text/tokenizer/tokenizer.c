/* The object: made by a reader, asked for its tokens. */
#include "text/tokenizer/tokenizer.h"

#include "base/file/file.h"
#include "base/memory/live.h"
#include "base/text/error.h"
#include "text/json/tree.h"
#include "text/unicode/unicode.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* ---- life ---- */

mw_tokenizer *mw__tokenizer_make(mw_error *err)
{
    const mw_allocator *allocator = mw__allocator_default();
    mw_tokenizer *t = mw__alloc(allocator, 1, sizeof *t, err);
    if (t == NULL)
        return NULL;
    mw__arena_init(&t->arena, allocator);
    t->model.vocabulary.arena = &t->arena;
    t->model.unknown = -1;
    return t;
}

/* One that nobody holds yet, or no more. */
static void free_tokenizer(mw_tokenizer *tokenizer)
{
    const mw_allocator *allocator = tokenizer->arena.allocator;
    for (size_t i = 0; i < tokenizer->normal_count; i++)
        mw__regex_destroy((mw__regex *)tokenizer->normals[i].regex);
    for (size_t i = 0; i < tokenizer->split_count; i++)
        mw__regex_destroy(tokenizer->splits[i].regex);
    mw__added_deinit(tokenizer);
    mw__subword_deinit(&tokenizer->model);
    mw__free(allocator, tokenizer->added);
    mw__free(allocator, tokenizer->normals);
    mw__free(allocator, tokenizer->splits);
    mw__free(allocator, tokenizer->parts);
    mw__free(allocator, tokenizer->decodes);
    mw__arena_deinit(&tokenizer->arena);
    mw__free(allocator, tokenizer);
}

void mw_tokenizer_destroy(mw_tokenizer *tokenizer)
{
    if (tokenizer != NULL && mw__live_remove(tokenizer, MW__LIVE_TOKENIZER, __func__))
        free_tokenizer(tokenizer);
}

/* What is put around a text are tokens. */
static mw_status check_parts(const mw_tokenizer *t, mw_error *err)
{
    for (size_t i = 0; i < t->part_count; i++) {
        const int32_t id = t->parts[i].id;
        const bool added = id >= 0 && (size_t)id < t->id_count && t->by_id[id] != NULL;
        if (!t->parts[i].is_text && !added && mw__vocabulary_at(&t->model.vocabulary, id).text == NULL)
            return mw__fail(err, MW_ERROR_FORMAT, "the token %d is put around a text, and there is none of that number",
                            (int)id);
    }
    return MW_OK;
}

mw_tokenizer *mw__tokenizer_finish(mw_tokenizer *t, mw_error *err)
{
    if (!mw__failed(err) && mw__subword_finish(&t->model, err) == MW_OK && mw__added_prepare(t, err) == MW_OK &&
        check_parts(t, err) == MW_OK && mw__live_add(t, MW__LIVE_TOKENIZER, err) == MW_OK)
        return t;
    free_tokenizer(t);
    return NULL;
}

mw_status mw__tokenizer_add_token(mw_tokenizer *t, mw__added added, mw_error *err)
{
    added.text = mw__arena_string(&t->arena, added.text, added.size, err); /* before that it may have no end */
    if (added.text == NULL)
        return MW_ERROR_MEMORY;
    if (added.id < 0 || added.id >= MW__VOCABULARY_MOST || added.size == 0)
        return mw__fail(err, MW_ERROR_FORMAT, "the added token \"%.60s\" has the number %d", added.text, (int)added.id);
    MW_TRY(mw__grow(t->arena.allocator, &t->added, &t->added_capacity, t->added_count + 1, sizeof *t->added, err));
    t->added[t->added_count++] = added;
    return MW_OK;
}

/* ---- opening ---- */

/* Files of vocabularies beyond this are refused: the largest in use have 40 MB. */
#define MOST_BYTES ((size_t)1 << 29)

typedef mw_tokenizer *reader(const char *text, size_t size, mw_error *err);

static mw_tokenizer *read_with(reader *read, const char *path, mw_error *err)
{
    char *text = NULL;
    size_t size = 0;
    if (mw__file_read(mw__allocator_default(), path, MOST_BYTES, &text, &size, err) != MW_OK)
        return NULL;
    mw_tokenizer *t = read(text, size, err);
    mw__free(mw__allocator_default(), text);
    return t;
}

/* "merges.txt" beside "vocab.json". */
static bool sibling_of(const char *path, const char *name, char *out, size_t size)
{
    const char *slash = strrchr(path, '/');
    const int length = slash != NULL ? (int)(slash - path) + 1 : 0;
    const int wrote = snprintf(out, size, "%.*s%s", length, path, name);
    return wrote > 0 && (size_t)wrote < size;
}

static mw_tokenizer *read_vocabulary_and_merges(const char *path, const char *other, mw_error *err)
{
    const mw_allocator *allocator = mw__allocator_default();
    char *vocabulary = NULL, *merges = NULL;
    size_t size = 0, merges_size = 0;
    mw_tokenizer *t = NULL;
    if (mw__file_read(allocator, path, MOST_BYTES, &vocabulary, &size, err) == MW_OK &&
        mw__file_read(allocator, other, MOST_BYTES, &merges, &merges_size, err) == MW_OK)
        t = mw__read_vocabulary_and_merges(vocabulary, size, merges, merges_size, err);
    mw__free(allocator, vocabulary);
    mw__free(allocator, merges);
    return t;
}

static bool ends_in(const char *path, const char *end)
{
    const size_t size = strlen(path), own = strlen(end);
    return size >= own && strcmp(path + size - own, end) == 0;
}

static mw_tokenizer *open_file(const char *path, const char *merges, mw_error *err)
{
    if (merges[0] != '\0')
        return read_vocabulary_and_merges(path, merges, err);
    if (ends_in(path, ".json"))
        return read_with(mw__read_tokenizer_json, path, err);
    if (ends_in(path, ".gguf"))
        return mw__read_gguf(path, err);
    if (ends_in(path, ".txt"))
        return read_with(mw__read_lines, path, err);
    if (ends_in(path, ".model"))
        return read_with(mw__read_sentencepiece, path, err);
    return read_with(mw__read_llama2c, path, err);
}

/* The first of these that a folder has. */
static bool find_in_folder(const char *folder, char *out, size_t size)
{
    static const char *const names[] = {"tokenizer.json", "vocab.json",    "tokenizer.model",
                                        "vocab.txt",      "tokenizer.bin", "tokenizer.gguf"};
    struct stat found;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const int wrote = snprintf(out, size, "%s/%s", folder, names[i]);
        if (wrote > 0 && (size_t)wrote < size && stat(out, &found) == 0)
            return true;
    }
    return false;
}

bool mw__tokenizer_files(const char *path, char *out_file, char *out_merges, size_t size)
{
    struct stat found;
    const bool is_folder = stat(path, &found) == 0 && S_ISDIR(found.st_mode);
    const int wrote = is_folder ? 0 : snprintf(out_file, size, "%s", path);
    out_merges[0] = '\0';
    if (is_folder ? !find_in_folder(path, out_file, size) : (size_t)wrote >= size)
        return false;
    return !ends_in(out_file, "vocab.json") || sibling_of(out_file, "merges.txt", out_merges, size);
}

mw_tokenizer *mw_tokenizer_open(const char *path, mw_error *err)
{
    mw_error own = {0};
    char file[4096], merges[4096];
    if (mw__skips(err))
        return NULL;
    err = err != NULL ? err : &own;
    if (path == NULL)
        mw__fail(err, MW_ERROR_ARGUMENT, "a tokenizer: no path");
    else if (mw__tokenizer_files(path, file, merges, sizeof file))
        return open_file(file, merges, err);
    else
        mw__fail(err, MW_ERROR_FILE,
                 "\"%.200s\" has no tokenizer.json, vocab.json with merges.txt, tokenizer.model, vocab.txt, "
                 "tokenizer.bin or tokenizer.gguf",
                 path);
    return NULL;
}

/* ---- what it is ---- */

static bool is_live(const mw_tokenizer *t) { return mw__live_has(t, MW__LIVE_TOKENIZER); }

mw_tokenizer_info mw_tokenizer_get_info(const mw_tokenizer *tokenizer)
{
    static const char *const models[] = {"BPE", "Unigram", "WordPiece"};
    if (!is_live(tokenizer))
        return (mw_tokenizer_info){.model = ""};
    const size_t own = tokenizer->model.vocabulary.count;
    return (mw_tokenizer_info){.model = models[tokenizer->model.kind],
                               .count = own > tokenizer->id_count ? own : tokenizer->id_count,
                               .added = tokenizer->added_count};
}

static const mw__added *added_of(const mw_tokenizer *t, int32_t id)
{
    return is_live(t) && id >= 0 && (size_t)id < t->id_count ? t->by_id[id] : NULL;
}

int32_t mw_tokenizer_id(const mw_tokenizer *tokenizer, const char *text)
{
    if (!is_live(tokenizer) || text == NULL)
        return -1;
    for (size_t i = 0; i < tokenizer->added_count; i++)
        if (strcmp(tokenizer->added[i].text, text) == 0)
            return tokenizer->added[i].id;
    return mw__vocabulary_find(&tokenizer->model.vocabulary, text, strlen(text));
}

const char *mw_tokenizer_text(const mw_tokenizer *tokenizer, int32_t id, size_t *size)
{
    if (!is_live(tokenizer))
        return NULL;
    const mw__added *added = added_of(tokenizer, id);
    const mw__vocabulary_piece piece = mw__vocabulary_at(&tokenizer->model.vocabulary, id);
    if (size != NULL)
        *size = added != NULL ? added->size : piece.size;
    return added != NULL ? added->text : piece.text;
}

bool mw_tokenizer_is_special(const mw_tokenizer *tokenizer, int32_t id)
{
    const mw__added *added = added_of(tokenizer, id);
    return added != NULL && added->special;
}
