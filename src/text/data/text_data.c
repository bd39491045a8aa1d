/* Data sets of tokens: windows or documents of a file, which is made of the texts first if need be. */
#include "text/data/encoder.h"
#include "text/data/examples.h"

#include "base/memory/live.h"
#include "base/number/hash.h"
#include "base/text/error.h"
#include "base/text/string.h"

#include <millwright/text_data.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_BYTES = 4200, TOKENS_MOST = 1 << 24 };

/* What a data set calls its function with. */
typedef struct part {
    const mw_text_data *data;
    int64_t first, count;
    mw_dataset *set;
} part;

struct mw_text_data {
    mw_text_data_options options;
    mw__corpus_encoder encoder; /* without a tokenizer if there is none */
    mw__corpus_file file;
    uint64_t words; /* 0 = nobody knows */
    mw__corpus_examples examples;
    part training, validation;
    bool was_made, has_bytes;
    double label_bytes;
};

mw_text_data_options mw_text_data_defaults(void)
{
    return (mw_text_data_options){
        .struct_size = sizeof(mw_text_data_options), .tokens = 128, .validation = 0.1, .multiple = 1};
}

/* ---- examples ---- */

static mw_status make_example(void *user, int64_t example, size_t column, void *out, mw_error *err)
{
    const part *p = user;
    return mw__corpus_examples_fill(&p->data->examples, p->first + example, (mw__corpus_column)column, out, err);
}

/* ---- the file of tokens ---- */

static bool is_tokens(const char *path) { return mw__string_ends(path, ".bin") || mw__string_ends(path, ".tokens"); }

static mw_status make_file(const mw_text_data *d, const char *text, const char *path, uint64_t key, mw_error *err)
{
    mw__corpus_writer writer;
    mw_status status = mw__corpus_begin(&writer, path, mw__corpus_width(d->words), err);
    if (status == MW_OK)
        status = mw__corpus_encode(&d->encoder, text, &writer, err);
    if (status == MW_OK && writer.count == 0)
        status = mw__fail(err, MW_ERROR_ARGUMENT, "\"%.200s\" has no text", text);
    if (status == MW_OK)
        status = mw__corpus_commit(&writer, false, key, err);
    mw__corpus_deinit(&writer);
    return status;
}

/* One that is there and fits is taken. What was not made here is not written over. */
static mw_status take_cached(mw_text_data *d, const char *path, uint64_t key, bool *taken, mw_error *err)
{
    struct stat found;
    mw_error own = {0};
    *taken = false;
    if (stat(path, &found) != 0)
        return MW_OK;
    if (mw__corpus_open(&d->file, path, d->words, &own) == MW_OK && d->file.is_own) {
        *taken = d->file.key == key;
        if (!*taken)
            mw__corpus_close(&d->file);
        return MW_OK;
    }
    const bool other = own.status == MW_OK;
    mw__corpus_close(&d->file);
    if (!other && own.status == MW_ERROR_FORMAT && strstr(own.message, "a damaged token file") != NULL)
        return MW_OK;
    return mw__fail(err, MW_ERROR_FILE,
                    "\"%.200s\", where the tokens would be kept, is no file of tokens that was made here; name another",
                    path);
}

/* Of all that decides which tokens a text becomes: how it is encoded, the network's words, the kind that its name says,
 * and its bytes. */
static mw_status key_of(const mw_text_data *d, const char *text, uint64_t *out, mw_error *err)
{
    const uint64_t parts[] = {d->encoder.key, d->words, mw__corpus_is_lines(text)};
    return mw__corpus_hash_file(text, mw__hash64(parts, sizeof parts, 0), out, err);
}

static mw_status open_text(mw_text_data *d, const char *text, mw_error *err)
{
    char path[PATH_BYTES];
    uint64_t key = 0;
    bool taken;
    const char *cache = d->options.cache;
    const int size = snprintf(path, sizeof path, "%s%s", cache != NULL ? cache : text, cache != NULL ? "" : ".tokens");
    if (size < 0 || (size_t)size >= sizeof path)
        return mw__fail(err, MW_ERROR_ARGUMENT, "the path of a text is too long");
    MW_TRY(key_of(d, text, &key, err));
    MW_TRY(take_cached(d, path, key, &taken, err));
    if (taken)
        return MW_OK;
    d->was_made = true;
    MW_TRY(make_file(d, text, path, key, err));
    return mw__corpus_open(&d->file, path, d->words, err);
}

/* An option that decides nothing of this file. */
static mw_status check_use(const mw_text_data *d, const char *path, mw_error *err)
{
    const bool chat = d->options.chat != NULL && !mw__corpus_is_lines(path);
    if (!chat && (d->options.cache == NULL || !is_tokens(path)))
        return MW_OK;
    return mw__fail(err, MW_ERROR_ARGUMENT, "text data: %s has no effect on \"%.200s\", %s",
                    chat ? "a chat template" : "a file for the tokens", path,
                    is_tokens(path) ? "which is tokens already"
                                    : "a plain text: conversations are in .jsonl or .ndjson");
}

/* A template that was named, of lines that have no conversation. */
static mw_status check_chat(const mw_text_data *d, const char *path, mw_error *err)
{
    if (d->options.chat == NULL || d->file.learned != NULL)
        return MW_OK;
    return mw__fail(err, MW_ERROR_ARGUMENT,
                    "the chat template \"%.40s\" has no effect: \"%.200s\" has no conversation (\"messages\")",
                    d->options.chat, path);
}

static mw_status open_file(mw_text_data *d, const char *path, const char *folder, mw_error *err)
{
    MW_TRY(check_use(d, path, err));
    if (folder != NULL) {
        MW_TRY(mw__corpus_encoder_open(&d->encoder, folder, d->options.chat, err));
        d->words = d->options.words > 0 ? (uint64_t)d->options.words : d->encoder.words;
        d->encoder.words = d->words;
    } else {
        d->words = (uint64_t)d->options.words;
    }
    if (is_tokens(path)) {
        MW_TRY(mw__corpus_open(&d->file, path, d->words, err));
        return d->file.is_own || mw__string_ends(path, ".bin")
                   ? MW_OK
                   : mw__fail(err, MW_ERROR_FORMAT,
                              "\"%.200s\" has not the end of a file of tokens: it was cut, or is another", path);
    }
    if (folder == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "\"%.200s\" is a text, and there is no tokenizer for it", path);
    MW_TRY(open_text(d, path, err));
    return check_chat(d, path, err);
}

/* ---- life ---- */

static mw_status check_options(const char *path, const mw_text_data_options *o, mw_error *err)
{
    if (path == NULL || o->struct_size != sizeof *o)
        return mw__fail(err, MW_ERROR_ARGUMENT, "text data: %s",
                        path == NULL ? "no path" : "options are made with mw_text_data_defaults");
    if (o->tokens < 1 || o->tokens > TOKENS_MOST || !(o->validation >= 0.0 && o->validation < 1.0) || o->words < 0 ||
        o->multiple < 1 || (o->padded && o->apart) || (o->buckets && !o->padded))
        return mw__fail(
            err, MW_ERROR_ARGUMENT,
            "text data: %lld tokens (1 to %d), a share of %g for validation (0, and below 1), %lld words, a "
            "multiple of %lld%s",
            (long long)o->tokens, TOKENS_MOST, o->validation, (long long)o->words, (long long)o->multiple,
            o->padded && o->apart      ? "; apart has no effect with padded, where an example is one document"
            : o->buckets && !o->padded ? "; buckets have no effect without padded: all windows are of one length"
                                       : "");
    return MW_OK;
}

/* Examples of about one length are batches of their own. */
static mw_status bucket_set(const mw_text_data *d, part *p, mw_error *err)
{
    const mw__corpus_examples *e = &d->examples;
    int64_t *lengths = mw__alloc(mw__allocator_default(), (size_t)p->count, sizeof *lengths, err);
    if (lengths == NULL)
        return MW_ERROR_MEMORY;
    for (int64_t i = 0; i < p->count; i++)
        lengths[i] = mw__corpus_examples_length(e, p->first + i);
    mw_dataset *whole = p->set;
    p->set = mw_dataset_bucket(whole, lengths, e->limits, e->limit_count, err);
    mw_dataset_destroy(whole);
    mw__free(mw__allocator_default(), lengths);
    return p->set != NULL ? MW_OK : err->status;
}

static mw_status make_set(mw_text_data *d, part *p, int64_t first, int64_t count, mw_error *err)
{
    const mw_shape shape = MW_SHAPE(d->examples.tokens);
    const mw_column columns[] = {{.name = "tokens", .dtype = MW_I32, .shape = shape},
                                 {.name = "labels", .dtype = MW_I32, .shape = shape},
                                 {.name = "starts", .dtype = MW_I32, .shape = shape}};
    *p = (part){.data = d, .first = first, .count = count};
    p->set = mw_dataset_create_callback(columns, d->options.apart ? MW__CORPUS_COLUMNS : MW__CORPUS_STARTS, count,
                                        make_example, p, err);
    if (p->set == NULL)
        return err->status;
    return d->options.buckets ? bucket_set(d, p, err) : MW_OK;
}

static mw_status find_examples(mw_text_data *d, mw_error *err)
{
    const mw_text_data_options *o = &d->options;
    d->examples = (mw__corpus_examples){.file = &d->file,
                                        .tokens = o->tokens,
                                        .padded = o->padded,
                                        .apart = o->apart,
                                        .whole = o->whole,
                                        .buckets = o->buckets,
                                        .words = d->words};
    return mw__corpus_examples_find(&d->examples, err);
}

static mw_status open_data(mw_text_data *d, const char *path, const char *folder, mw_error *err)
{
    MW_TRY(open_file(d, path, folder, err));
    MW_TRY(find_examples(d, err));
    const int64_t examples = d->examples.count;
    int64_t kept = (int64_t)((double)examples * d->options.validation);
    if (kept == 0 && d->options.validation > 0.0 && examples > 1)
        kept = 1;
    const int64_t rest = examples - kept, whole = rest - rest % d->options.multiple;
    if (whole == 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "\"%.200s\" has %lld examples for training, and %lld make a step",
                        d->file.path, (long long)rest, (long long)d->options.multiple);
    MW_TRY(make_set(d, &d->training, 0, whole, err));
    return kept > 0 ? make_set(d, &d->validation, examples - kept, kept, err) : MW_OK;
}

static void free_data(mw_text_data *d)
{
    mw_dataset_destroy(d->training.set);
    mw_dataset_destroy(d->validation.set);
    mw__corpus_close(&d->file);
    if (d->encoder.tokenizer != NULL)
        mw__corpus_encoder_close(&d->encoder);
    mw__corpus_examples_deinit(&d->examples);
    mw__free(mw__allocator_default(), d);
}

mw_text_data *mw_text_data_open(const char *path, const char *folder, const mw_text_data_options *options,
                                mw_error *err)
{
    mw_error own = {0};
    if (mw__skips(err))
        return NULL;
    err = err != NULL ? err : &own;
    const mw_text_data_options o = options != NULL ? *options : mw_text_data_defaults();
    mw_text_data *d =
        check_options(path, &o, err) == MW_OK ? mw__alloc(mw__allocator_default(), 1, sizeof *d, err) : NULL;
    if (d == NULL)
        return NULL;
    d->options = o;
    d->file.file.descriptor = -1;
    if (open_data(d, path, folder, err) == MW_OK && mw__live_add(d, MW__LIVE_TEXT_DATA, err) == MW_OK)
        return d;
    free_data(d);
    return NULL;
}

void mw_text_data_destroy(mw_text_data *data)
{
    if (data != NULL && mw__live_remove(data, MW__LIVE_TEXT_DATA, __func__))
        free_data(data);
}

/* ---- what there is ---- */

static bool is_live(const mw_text_data *d) { return mw__live_has(d, MW__LIVE_TEXT_DATA); }

const mw_dataset *mw_text_data_training(const mw_text_data *data) { return is_live(data) ? data->training.set : NULL; }

const mw_dataset *mw_text_data_validation(const mw_text_data *data)
{
    return is_live(data) ? data->validation.set : NULL;
}

/* Bytes of the labels of an example that count. */
static bool add_bytes(const mw_text_data *d, int64_t example, int32_t *ids, double *bytes, double *labels)
{
    mw_error own = {0};
    size_t count = 0, size = 0;
    if (mw__corpus_examples_fill(&d->examples, example, MW__CORPUS_LABELS, ids, &own) != MW_OK)
        return false;
    for (int64_t i = 0; i < d->examples.tokens; i++)
        if (ids[i] >= 0)
            ids[count++] = ids[i];
    char *text = mw_tokenizer_decode(d->encoder.tokenizer, ids, count, false, &size, &own);
    mw_string_free(text);
    *bytes += (double)size;
    *labels += (double)count;
    return text != NULL;
}

static double measure_bytes(const mw_text_data *d)
{
    const part *p = d->validation.set != NULL ? &d->validation : &d->training;
    double bytes = 0.0, labels = 0.0;
    mw_error own = {0};
    int32_t *ids = mw__alloc(mw__allocator_default(), (size_t)d->examples.tokens, sizeof *ids, &own);
    bool good = ids != NULL;
    for (int64_t i = 0; i < p->count && good; i++)
        good = add_bytes(d, p->first + i, ids, &bytes, &labels);
    mw__free(mw__allocator_default(), ids);
    return good && labels > 0.0 ? bytes / labels : 0.0;
}

static uint64_t count_tokens(const mw_text_data *d)
{
    uint64_t count = 0;
    for (int64_t i = 0; i < d->training.count; i++)
        count += (uint64_t)mw__corpus_examples_length(&d->examples, d->training.first + i);
    return count;
}

mw_text_data_info mw_text_data_get_info(mw_text_data *data)
{
    if (!is_live(data))
        return (mw_text_data_info){0};
    if (!data->has_bytes && data->encoder.tokenizer != NULL)
        data->label_bytes = measure_bytes(data);
    data->has_bytes = true;
    return (mw_text_data_info){.documents = data->file.document_count,
                               .tokens = data->file.count,
                               .text_bytes = data->file.text_bytes,
                               .examples = data->training.count,
                               .validation_examples = data->validation.count,
                               .training_tokens = count_tokens(data),
                               .buckets = data->examples.limits,
                               .bucket_count = data->examples.limit_count,
                               .chat = mw__corpus_chat_name(&data->encoder.chat),
                               .file = data->file.path,
                               .was_made = data->was_made,
                               .label_bytes = data->label_bytes};
}

/* ---- texts as a file of tokens ---- */

/* A text is not lost to its own tokens. */
static mw_status check_other_file(const char *path, const char *out, mw_error *err)
{
    struct stat here, there;
    if (stat(path, &here) == 0 && stat(out, &there) == 0 && here.st_dev == there.st_dev && here.st_ino == there.st_ino)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "\"%.200s\", where the tokens are to be written, is one of the texts; name another file", out);
    return MW_OK;
}

static mw_status write_all(const mw__corpus_encoder *e, const char *const *paths, size_t count, const char *out,
                           mw_text_data_info *info, mw_error *err)
{
    mw__corpus_writer writer;
    for (size_t i = 0; i < count; i++)
        MW_TRY(check_other_file(paths[i], out, err));
    mw_status status = mw__corpus_begin(&writer, out, mw__corpus_width(e->words), err);
    for (size_t i = 0; i < count && status == MW_OK; i++)
        status = mw__corpus_encode(e, paths[i], &writer, err);
    if (status == MW_OK && writer.count == 0)
        status = mw__fail(err, MW_ERROR_ARGUMENT, "\"%.200s\": the texts are empty", paths[0]);
    if (status == MW_OK)
        status = mw__corpus_commit(&writer, true, 0, err);
    *info = (mw_text_data_info){
        .documents = writer.document_count, .tokens = writer.count, .text_bytes = writer.text_bytes};
    mw__corpus_deinit(&writer);
    return status;
}

mw_status mw_text_data_write(const char *const *paths, size_t count, const char *folder, const char *out,
                             const mw_text_data_options *options, mw_text_data_info *out_info, mw_error *err)
{
    mw_error own = {0};
    mw__corpus_encoder e;
    mw_text_data_info info = {0};
    if (mw__skips(err))
        return err->status;
    err = err != NULL ? err : &own;
    const mw_text_data_options o = options != NULL ? *options : mw_text_data_defaults();
    if (paths == NULL || count == 0 || folder == NULL || out == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "a token file: no %s",
                        folder == NULL ? "tokenizer"
                        : out == NULL  ? "path for it"
                                       : "texts");
    MW_TRY(check_options(paths[0], &o, err));
    MW_TRY(mw__corpus_encoder_open(&e, folder, o.chat, err));
    e.words = o.words > 0 ? (uint64_t)o.words : e.words;
    const mw_status status = write_all(&e, paths, count, out, &info, err);
    mw__corpus_encoder_close(&e);
    if (out_info != NULL)
        *out_info = status == MW_OK ? info : (mw_text_data_info){0};
    return status;
}
