/* mw embed: texts as vectors by an encoder, and the texts that are nearest to one. */
#include "base/file/file.h"
#include "base/text/error.h"
#include "base/text/string.h"
#include "tool/commands/commands.h"
#include "tool/source.h"

#include <millwright/tensors.h>
#include <millwright/text.h>
#include <stdlib.h>
#include <string.h>

static struct {
    const char *file, *query, *out, *pooling;
    long long top;
    bool unit;
} o = {.top = 10};

const tool_option tool_embed_options[] = {
    {"file", 'f', TOOL_TEXT, &o.file, "also the lines of this file", .argument = "FILE"},
    {"query", 'y', TOOL_TEXT, &o.query, "print the texts that are nearest to this one", .argument = "TEXT"},
    {"top", '\0', TOOL_INTEGER, &o.top, "how many of them (10)", .argument = "N", .low = 1, .high = 1e9,
     .needs = "query"},
    {"out", 'o', TOOL_TEXT, &o.out, "write the vectors here: .safetensors, .npz or .npy", .argument = "FILE"},
    {"pooling", '\0', TOOL_TEXT, &o.pooling, "what becomes of the tokens' vectors (as the folder says)",
     .argument = "KIND", .choices = "mean, cls"},
    {"unit", '\0', TOOL_FLAG, &o.unit, "vectors of length 1, also where the folder does not say so", .argument = NULL},
    TOOL_OPTIONS(tool_running_options),
    TOOL_OPTIONS_END,
};

/* The texts of a call; lines point into `held`. */
typedef struct embedding {
    const char **texts; /* [count], then the query */
    size_t count;
    char *held;
    float *vectors; /* [count, and the query, width] */
    size_t width;
    const tool_call *call;
} embedding;

/* ---- texts ---- */

static size_t count_lines(const char *text)
{
    size_t count = text != NULL && text[0] != '\0';
    for (; text != NULL && *text != '\0'; text++)
        count += *text == '\n';
    return count;
}

/* Lines without anything are none. */
static void take_lines(embedding *e)
{
    for (char *line = e->held, *next; line != NULL; line = next) {
        next = strchr(line, '\n');
        if (next != NULL)
            *next++ = '\0';
        line[strcspn(line, "\r")] = '\0';
        if (line[0] != '\0')
            e->texts[e->count++] = line;
    }
}

static mw_status take_texts(embedding *e)
{
    const tool_call *call = e->call;
    size_t size = 0;
    if (o.file != NULL)
        MW_TRY(mw__file_read(mw__allocator_default(), o.file, (size_t)1 << 31, &e->held, &size, call->err));
    if (e->held != NULL && strlen(e->held) != size)
        return mw__fail(call->err, MW_ERROR_FORMAT, "\"%.200s\" has a NUL in it: it is no text", o.file);
    const size_t most = (size_t)call->count + count_lines(e->held) + 1;
    e->texts = mw__alloc(mw__allocator_default(), most, sizeof *e->texts, call->err);
    if (e->texts == NULL)
        return MW_ERROR_MEMORY;
    for (int i = 1; i < call->count; i++)
        e->texts[e->count++] = call->arguments[i];
    take_lines(e);
    return e->count > 0 ? MW_OK : mw__fail(call->err, MW_ERROR_ARGUMENT, "there are no texts: TEXT.., or --file FILE");
}

/* ---- vectors ---- */

/* How near two texts are is the cosine of their vectors. */
static mw_status embed(embedding *e, mw_text_model *model)
{
    mw_embed_options options = mw_embed_defaults();
    const size_t all = e->count + (o.query != NULL);
    e->width = (size_t)mw_text_model_get_config(model)->width;
    options.unit = o.unit || o.query != NULL;
    if (o.pooling != NULL)
        options.pooling = strcmp(o.pooling, "cls") == 0 ? MW_POOLING_CLS : MW_POOLING_MEAN;
    e->texts[e->count] = o.query;
    e->vectors = mw__alloc(mw__allocator_default(), all, e->width * sizeof *e->vectors, e->call->err);
    if (e->vectors == NULL)
        return MW_ERROR_MEMORY;
    return mw_text_model_embed(model, e->texts, all, &options, e->vectors, e->call->err);
}

static mw_status write_vectors(const embedding *e)
{
    const mw_tensor_values values = {.name = "embeddings",
                                     .dtype = MW_F32,
                                     .shape = MW_SHAPE((int64_t)e->count, (int64_t)e->width),
                                     .data = e->vectors};
    return mw_tensors_write(o.out, &values, 1, e->call->err);
}

static void say_vectors(const embedding *e)
{
    mw__json_writer *json = e->call->json;
    if (json != NULL)
        mw__json_open(json, "embeddings", '[');
    for (size_t i = 0; i < e->count; i++) {
        const float *vector = e->vectors + i * e->width;
        if (json != NULL)
            mw__json_open(json, NULL, '[');
        for (size_t k = 0; k < e->width; k++)
            if (json != NULL)
                mw__json_add_number(json, NULL, (double)vector[k]);
            else
                tool_print("%s%.6g", k > 0 ? " " : "", (double)vector[k]);
        if (json != NULL)
            mw__json_close(json, ']');
        else
            tool_puts("\n");
    }
    if (json != NULL)
        mw__json_close(json, ']');
}

/* ---- the nearest ---- */

typedef struct near_text {
    double cosine;
    size_t place;
} near_text;

static int nearest_first(const void *left, const void *right)
{
    const near_text *a = left, *b = right;
    if (a->cosine != b->cosine)
        return a->cosine > b->cosine ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

static void say_near(const embedding *e, const near_text *text)
{
    mw__json_writer *json = e->call->json;
    if (json == NULL) {
        tool_print("%6.3f  %s\n", text->cosine, e->texts[text->place]);
        return;
    }
    mw__json_open(json, NULL, '{');
    mw__json_add_number(json, "cosine", text->cosine);
    mw__json_add_integer(json, "place", (int64_t)text->place);
    mw__json_add_string(json, "text", e->texts[text->place]);
    mw__json_close(json, '}');
}

static mw_status say_nearest(const embedding *e)
{
    const float *query = e->vectors + e->count * e->width;
    near_text *near = mw__alloc(mw__allocator_default(), e->count, sizeof *near, e->call->err);
    if (near == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < e->count; i++) {
        near[i].place = i;
        for (size_t k = 0; k < e->width; k++)
            near[i].cosine += (double)query[k] * (double)e->vectors[i * e->width + k];
    }
    qsort(near, e->count, sizeof *near, nearest_first);
    if (e->call->json != NULL)
        mw__json_open(e->call->json, "nearest", '[');
    for (size_t i = 0; i < e->count && i < (size_t)o.top; i++)
        say_near(e, &near[i]);
    if (e->call->json != NULL)
        mw__json_close(e->call->json, ']');
    mw__free(mw__allocator_default(), near);
    return MW_OK;
}

/* ---- the command ---- */

/* Before a model is read. */
static mw_status check_out(mw_error *err)
{
    static const char *const endings[] = {".safetensors", ".npz", ".npy"};
    bool known = false;
    if (o.out == NULL)
        return MW_OK;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        known = known || mw__string_ends(o.out, endings[i]);
    if (!known)
        return mw__fail(err, MW_ERROR_ARGUMENT, "--out \"%.200s\" ends with none of .safetensors, .npz and .npy",
                        o.out);
    tool_check_place(o.out, err);
    return err->status;
}

static mw_status run_embedding(embedding *e, const mw_compile_options *compile)
{
    mw_text_model_options options = mw_text_model_defaults();
    options.compile = compile;
    MW_TRY(check_out(e->call->err));
    MW_TRY(take_texts(e));
    mw_text_model *model = mw_text_model_open(e->call->arguments[0], &options, e->call->err);
    mw_status status = model != NULL ? embed(e, model) : e->call->err->status;
    mw_text_model_destroy(model);
    if (status == MW_OK && o.out != NULL)
        status = write_vectors(e);
    if (status == MW_OK && o.query != NULL)
        status = say_nearest(e);
    else if (status == MW_OK && o.out == NULL)
        say_vectors(e);
    return status;
}

int tool_embed(const tool_call *call)
{
    mw_compile_options compile;
    embedding e = {.call = call};
    if (TOOL_REFUSE("texts pass as many at a time as is fast", "batch") || !tool_compile_options(&compile))
        return TOOL_USAGE;
    const mw_status status = run_embedding(&e, &compile);
    mw__free(mw__allocator_default(), e.texts);
    mw__free(mw__allocator_default(), e.held);
    mw__free(mw__allocator_default(), e.vectors);
    return status == MW_OK ? TOOL_DONE : TOOL_FAILED;
}
