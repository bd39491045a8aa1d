/* How a folder encodes documents: its tokenizer, what it puts around a text, its template of conversations. */
#include "text/data/encoder.h"

#include "base/number/hash.h"
#include "base/text/error.h"
#include "text/tokenizer/tokenizer.h"

#include <millwright/text_model.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_BYTES = 4200, MOST_BYTES = 1 << 26 };

/* ---- files of the folder ---- */

/* A file beside the tokenizer; false if there is none. */
static bool find_beside(const char *folder, const char *name, char out[PATH_BYTES])
{
    struct stat found;
    const bool is_folder = stat(folder, &found) == 0 && S_ISDIR(found.st_mode);
    const char *slash = strrchr(folder, '/');
    const int length = is_folder || slash == NULL ? (int)strlen(folder) : (int)(slash - folder);
    const int size = is_folder || slash != NULL ? snprintf(out, PATH_BYTES, "%.*s/%s", length, folder, name)
                                                : snprintf(out, PATH_BYTES, "%s", name);
    return size > 0 && size < PATH_BYTES && stat(out, &found) == 0 && S_ISREG(found.st_mode);
}

/* NULL if it is not there; an error if it cannot be read. */
static const mw__json_node *read_beside(mw__corpus_encoder *e, const char *folder, const char *name, mw_error *err)
{
    char path[PATH_BYTES], *text = NULL;
    size_t size = 0;
    if (!find_beside(folder, name, path) ||
        mw__file_read(mw__allocator_default(), path, MOST_BYTES, &text, &size, err) != MW_OK)
        return NULL;
    const mw__json_node *root = mw__tree_read(&e->arena, text, size, err);
    mw__free(mw__allocator_default(), text);
    return root;
}

mw_status mw__corpus_hash_file(const char *path, uint64_t seed, uint64_t *out, mw_error *err)
{
    enum { PART = 1 << 16 };
    static const uint64_t part_size = PART;
    unsigned char part[PART];
    mw__file file;
    *out = seed;
    MW_TRY(mw__file_open(&file, path, err));
    mw_status status = MW_OK;
    for (uint64_t at = 0; at < file.size && status == MW_OK; at += part_size) {
        const uint64_t some = file.size - at < part_size ? file.size - at : part_size;
        status = mw__file_read_at(&file, at, part, (size_t)some, path, err);
        *out = mw__hash64(part, status == MW_OK ? (size_t)some : 0, *out);
    }
    mw__file_close(&file);
    return status;
}

/* A text and where it ends; NULL is another than "". */
static void hash_words(uint64_t *key, const char *words)
{
    *key = mw__hash64(words, words != NULL ? strlen(words) + 1 : 0, *key);
}

/* The files that the tokenizer was read from, in the kind that their names say. Where they lie has no say. */
static mw_status hash_tokenizer(mw__corpus_encoder *e, const char *folder, mw_error *err)
{
    char file[PATH_BYTES], merges[PATH_BYTES];
    if (!mw__tokenizer_files(folder, file, merges, sizeof file))
        return mw__fail(err, MW_ERROR_ARGUMENT, "the path of a tokenizer is too long");
    const char *kind = strrchr(file, '.');
    hash_words(&e->key, kind != NULL && strchr(kind, '/') == NULL ? kind : "");
    MW_TRY(mw__corpus_hash_file(file, e->key, &e->key, err));
    return merges[0] != '\0' ? mw__corpus_hash_file(merges, e->key, &e->key, err) : MW_OK;
}

/* ---- around a document ---- */

/* What the tokenizer puts around a text, found on one. */
static mw_status take_template(mw__corpus_encoder *e, mw_error *err)
{
    mw_tokens tokens = {0};
    MW_TRY(mw_tokenizer_encode(e->tokenizer, "a", 1, NULL, &tokens, err));
    bool inside = false;
    for (size_t i = 0; i < tokens.count; i++) {
        const bool is_text = tokens.begin[i] < tokens.end[i] || !mw_tokenizer_is_special(e->tokenizer, tokens.ids[i]);
        size_t *count = inside ? &e->after_count : &e->before_count;
        inside = inside || is_text;
        if (!is_text && *count < MW__CORPUS_AROUND)
            (inside ? e->after : e->before)[(*count)++] = tokens.ids[i];
    }
    mw_tokens_destroy(&tokens);
    return MW_OK;
}

/* "eos_token" is a text, or an object with "content". */
static const char *token_text(const mw__json_node *root, const char *name)
{
    const char *text = mw__tree_text(root, name);
    return text != NULL ? text : mw__tree_text(mw__tree_find(root, name), "content");
}

static int32_t eos_of(const mw__corpus_encoder *e, const mw__json_node *config)
{
    const mw__json_node *node = mw__tree_find(config, "eos_token_id");
    if (e->chat.eos != NULL)
        return mw_tokenizer_id(e->tokenizer, e->chat.eos);
    node = mw__tree_is(node, MW__JSON_IS_ARRAY) ? node->first : node;
    const double number = mw__tree_is(node, MW__JSON_IS_NUMBER) ? node->number : -1.0;
    return number >= 0.0 && number < (double)e->words ? (int32_t)number : -1;
}

/* Documents end in what ends a text for the model, if the tokenizer itself puts nothing there. */
static mw_status take_around(mw__corpus_encoder *e, const mw__json_node *config, mw_error *err)
{
    MW_TRY(take_template(e, err));
    const int32_t eos = eos_of(e, config);
    if (e->after_count == 0 && eos >= 0)
        e->after[e->after_count++] = eos;
    e->key = mw__hash64(e->before, e->before_count * sizeof *e->before, e->key);
    e->key = mw__hash64(e->after, e->after_count * sizeof *e->after, e->key);
    return MW_OK;
}

/* ---- conversations ---- */

/* A template is one text, or a list of them by names. */
static const char *template_of(const mw__json_node *root)
{
    const mw__json_node *node = mw__tree_find(root, "chat_template");
    if (mw__tree_is(node, MW__JSON_IS_TEXT))
        return node->text;
    for (const mw__json_node *n = mw__tree_is(node, MW__JSON_IS_ARRAY) ? node->first : NULL; n != NULL; n = n->next) {
        const char *name = mw__tree_text(n, "name");
        if (name != NULL && strcmp(name, "default") == 0)
            return mw__tree_text(n, "template");
    }
    return NULL;
}

/* Of all that decides how a conversation is written: a template by its name alone has no words of its folder. */
static void hash_chat(uint64_t *key, const mw__corpus_chat *chat)
{
    hash_words(key, mw__corpus_chat_name(chat));
    hash_words(key, chat->bos);
    hash_words(key, chat->eos);
    hash_words(key, chat->system);
    hash_words(key, chat->spaced_end ? "spaced" : NULL);
}

/* A template that is not known matters only where there is a conversation. */
static mw_status take_chat(mw__corpus_encoder *e, const mw__json_node *root, const char *folder, const char *name,
                           mw_error *err)
{
    mw_error why = {0};
    const char *text = template_of(root);
    e->chat.bos = token_text(root, "bos_token");
    e->chat.eos = token_text(root, "eos_token");
    if (name != NULL)
        MW_TRY(mw__corpus_chat_by_name(&e->chat, name, err));
    else if (text != NULL && mw__corpus_chat_by_template(&e->chat, &e->arena, text, folder, &why) != MW_OK)
        e->no_chat = mw__arena_keep(&e->arena, why.message, err);
    else if (text == NULL)
        e->no_chat = "the folder has no chat_template in tokenizer_config.json; name one of " MW__CHAT_NAMES;
    hash_chat(&e->key, &e->chat);
    return err->status;
}

/* ---- the whole ---- */

static mw_status open_parts(mw__corpus_encoder *e, const char *folder, const char *chat, mw_error *err)
{
    e->tokenizer = mw_tokenizer_open(folder, err);
    MW_TRY(err->status);
    const mw__json_node *tokens = read_beside(e, folder, "tokenizer_config.json", err);
    const mw__json_node *config = read_beside(e, folder, "config.json", err);
    MW_TRY(err->status);
    const double words = mw__tree_number(config, "vocab_size", 0.0);
    const uint64_t count = mw_tokenizer_get_info(e->tokenizer).count;
    e->words = words >= 1.0 && words <= 1e9 ? (uint64_t)words : count;
    MW_TRY(hash_tokenizer(e, folder, err));
    MW_TRY(take_chat(e, tokens, folder, chat, err));
    return take_around(e, config, err);
}

mw_status mw__corpus_encoder_open(mw__corpus_encoder *e, const char *folder, const char *chat, mw_error *err)
{
    *e = (mw__corpus_encoder){.key = 2}; /* changes with the way texts are encoded here */
    mw__arena_init(&e->arena, mw__allocator_default());
    if (open_parts(e, folder, chat, err) == MW_OK)
        return MW_OK;
    mw__corpus_encoder_close(e);
    return err->status;
}

void mw__corpus_encoder_close(mw__corpus_encoder *e)
{
    mw_tokenizer_destroy(e->tokenizer);
    mw__arena_deinit(&e->arena);
    e->tokenizer = NULL;
}
