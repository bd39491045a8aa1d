/* What a training leaves: its settings, and the model in the format that is asked for. That it can be written is found
 * before the first step, by writing it once beside its place. */
#include "tool/model_text.h"
#include "tool/train/sounds.h"
#include "tool/train/training_text.h"

#include "base/file/file.h"
#include "base/text/string.h"

#include <stdlib.h>
#include <string.h>

/* ---- settings ---- */

static void add_offsets(const training *t, mw__json_writer *about)
{
    mw__json_open(about, DATA_OFFSETS_KEY, '[');
    for (size_t i = 0; i < t->data.offsets.count; i++)
        mw__json_add_number(about, NULL, t->data.offsets.values[i]);
    mw__json_close(about, ']');
}

static void add_metadata(const training *t, mw__json_writer *about, mw_error *err)
{
    training_metadata metadata;
    training_metadata_make(&metadata, t, err);
    for (size_t i = 0; i < TOOL_MODEL_KEYS; i++) {
        if (metadata.texts[i] == NULL)
            continue;
        if (strcmp(tool_model_keys[i], DATA_OFFSETS_KEY) == 0)
            add_offsets(t, about);
        else
            mw__json_add_string(about, tool_model_keys[i], metadata.texts[i]);
    }
    training_metadata_free(&metadata);
}

static void write_about(const training *t, mw_error *err)
{
    char path[TRAINING_PATH_BYTES + 16];
    mw__json_writer about;
    mw__json_writer_init(&about, mw__allocator_or_default(NULL), false);
    mw__json_open(&about, NULL, '{');
    mw__json_add_string(&about, "command", t->call->command);
    mw__json_add_string(&about, "data", t->data_path);
    mw__json_add_string(&about, "loss", training_losses[t->loss_kind]);
    add_metadata(t, &about, err);
    mw__json_close(&about, '}');
    snprintf(path, sizeof path, "%s/about.json", t->run);
    const char *text = mw__json_text(&about);
    if (text != NULL)
        mw__file_write(mw__allocator_or_default(NULL), path, text, strlen(text), false, err);
    mw__json_writer_deinit(&about);
}

/* run/recipe.json: the settings; run/about.json: how it was called, for mw report. The run is accepted by now; that
 * these files cannot be written does not end it. */
void training_keep_settings(training *t)
{
    char path[TRAINING_PATH_BYTES + 16];
    mw_error local = {0};
    if (t->run == NULL || t->kept)
        return;
    t->kept = true;
    write_about(t, &local);
    snprintf(path, sizeof path, "%s/recipe.json", t->run);
    const char *text = t->c.text[0] != '\0' ? t->c.text : "{}";
    mw__file_write(mw__allocator_or_default(NULL), path, text, strlen(text), false, &local);
    if (local.status != MW_OK)
        tool_complain("the settings of the run are not kept: %s", local.message);
}

/* ---- the model ---- */

static void put_pair(mw_description *d, mw_text_pair *pairs, const char *key, const char *value)
{
    bool there = value == NULL;
    for (size_t i = 0; i < d->pair_count; i++)
        there = there || strcmp(pairs[i].key, key) == 0;
    if (!there)
        pairs[d->pair_count++] = (mw_text_pair){key, value};
}

/* That of the model it began with, if it says something of what comes out. */
static mw_description begin_description(const training *t)
{
    const bool own = t->model != NULL && !t->has_head && mw_model_get_info(t->model).description != NULL;
    return own ? *mw_model_get_info(t->model).description : mw_description_defaults();
}

/* What the model says of itself. `pairs` has room for TOOL_MODEL_KEYS more than there are. Names of classes are those
 * that were trained, whatever a file of others had under that key. */
static mw_description describe_model(const training *t, mw_text_pair *pairs, const training_metadata *metadata)
{
    mw_description d = begin_description(t);
    const char *classes = metadata->texts[0];
    const size_t count = d.pair_count;
    d.pair_count = 0;
    for (size_t i = 0; i < count; i++) {
        const bool is_list = classes != NULL && strcmp(d.pairs[i].key, tool_model_keys[0]) == 0;
        put_pair(&d, pairs, d.pairs[i].key, is_list ? classes : d.pairs[i].value);
    }
    d.pairs = pairs;
    for (size_t i = 0; i < TOOL_MODEL_KEYS; i++)
        put_pair(&d, pairs, tool_model_keys[i], metadata->texts[i]);
    return d;
}

/* A model that was read keeps its own batch, unless there is a layer behind it now. `check` finds before the first step
 * what would fail after the last, and writes nothing. */
static void write_output(training *t, const char *path, bool check, mw_error *err)
{
    const mw_graph *source = t->has_head ? NULL : t->source;
    if (mw__string_ends(path, ".safetensors")) {
        if (check)
            tool_check_place(path, err);
        else
            mw_trainer_save_weights(t->trainer, path, err);
        return;
    }
    training_metadata metadata;
    mw_text_pair *pairs = calloc(begin_description(t).pair_count + TOOL_MODEL_KEYS, sizeof *pairs);
    if (training_metadata_make(&metadata, t, err) && pairs != NULL) {
        const mw_description d = describe_model(t, pairs, &metadata);
        mw_write_options options = mw_write_defaults();
        options.description = &d;
        options.check_only = check;
        mw_trainer_export(t->trainer, source, path, &options, err);
    } else if (err->status == MW_OK) {
        err->status = MW_ERROR_MEMORY;
    }
    free(pairs);
    training_metadata_free(&metadata);
}

/* ---- before the first step ---- */

/* Whether the model takes anything but the numbers of the table as they stand there. */
static bool needs_encoder(const training *t)
{
    mw_encoded_field f;
    for (size_t i = 0; mw_table_encoder_field_at(t->data.encoder, i, &f); i++)
        if ((f.kind != MW_FIELD_NUMBER && f.kind != MW_FIELD_IGNORED) || f.missing > 0)
            return true;
    return false;
}

static bool check_output(training *t, const char *path)
{
    mw_error local = {0};
    if (t->text != NULL)
        return training_text_check_output(t, path);
    if (t->data.offsets.values != NULL && !tool_has_place(path))
        return training_fail(t, MW_ERROR_ARGUMENT,
                             "nothing was trained: %.200s has no place for what is subtracted from the inputs, and "
                             "would give other results; write .mlpackage, .onnx or a folder",
                             path);
    if (needs_encoder(t) && !tool_has_place(path))
        return training_fail(t, MW_ERROR_ARGUMENT,
                             "nothing was trained: %.200s has no place for how the table becomes numbers; write "
                             ".mlpackage, .onnx or a folder",
                             path);
    write_output(t, path, true, &local);
    return local.status == MW_OK ||
           training_fail(t, local.status, "nothing was trained, as the model could not be written to %.120s: %.350s",
                         path, local.message);
}

bool training_check_outputs(training *t)
{
    char path[TRAINING_PATH_BYTES + 16];
    snprintf(path, sizeof path, "%s/model", t->run != NULL ? t->run : "");
    return (t->output == NULL || check_output(t, t->output)) && (t->run == NULL || check_output(t, path));
}

/* ---- after the last ---- */

/* The training is not lost with the file that failed. */
static void keep_weights(training *t, const char *path, mw_error *why)
{
    char kept[TRAINING_PATH_BYTES + 32];
    mw_error local = {0};
    snprintf(kept, sizeof kept, "%s.weights.safetensors", path);
    if (mw_trainer_save_weights(t->trainer, kept, &local) != MW_OK && t->run != NULL) {
        mw_error_clear(&local);
        snprintf(kept, sizeof kept, "%s/weights.safetensors", t->run);
        mw_trainer_save_weights(t->trainer, kept, &local);
    }
    if (local.status == MW_OK)
        training_fail(t, why->status, "%.300s (the trained weights are kept in %.180s)", why->message, kept);
    else
        training_fail(t, why->status, "%.300s (the weights could not be kept either: %.150s)", why->message,
                      local.message);
}

static void write_or_keep(training *t, const char *path)
{
    mw_error local = {0};
    if (t->text != NULL)
        training_text_write(t, path, &local);
    else
        write_output(t, path, false, &local);
    if (local.status != MW_OK)
        keep_weights(t, path, &local);
}

/* The model of the run is for mw report and whoever goes on with it. */
void training_write_outputs(training *t)
{
    char path[TRAINING_PATH_BYTES + 16];
    if (t->output != NULL)
        write_or_keep(t, t->output);
    snprintf(path, sizeof path, "%s/model", t->run != NULL ? t->run : "");
    if (t->run != NULL)
        write_or_keep(t, path);
}
