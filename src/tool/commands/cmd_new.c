/* mw new: a recipe with comments for the data that somebody has. It runs as it is written. */
#include "base/file/file.h"
#include "tool/commands/commands.h"
#include "tool/meant.h"

#include "base/text/printable.h"

#include <millwright/data.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_BYTES = 4200, VALUES_MAX = 14, VALUE_BYTES = PATH_BYTES * 2, SIZE_LARGE = 96, SIZE_USUAL = 64 };

static struct {
    const char *out, *target;
} o;

const tool_option tool_new_options[] = {
    {"out", 'o', TOOL_TEXT, &o.out, "the recipe (the name of DATA with .json, here)", .argument = "FILE"},
    {"target", '\0', TOOL_TEXT, &o.target, "field of a table that is predicted (the last)", .argument = "NAME"},
    TOOL_OPTIONS_END,
};

/* ---- what stands at "$name" of a template ---- */

typedef struct recipe_value {
    const char *name;
    char text[VALUE_BYTES]; /* as JSON has it */
} recipe_value;

typedef struct new_recipe {
    const tool_call *call;
    const char *data;
    char path[PATH_BYTES], run[PATH_BYTES];
    recipe_value values[VALUES_MAX];
    size_t count;
    char about[200]; /* what was found, for the last line */
} new_recipe;

static recipe_value *new_value(new_recipe *r, const char *name)
{
    recipe_value *value = &r->values[r->count < VALUES_MAX - 1 ? r->count++ : r->count];
    value->name = name;
    return value;
}

static void put_number(new_recipe *r, const char *name, int64_t number)
{
    snprintf(new_value(r, name)->text, VALUE_BYTES, "%lld", (long long)number);
}

/* As it is: a piece of JSON. */
static void put_piece(new_recipe *r, const char *name, const char *piece)
{
    snprintf(new_value(r, name)->text, VALUE_BYTES, "%s", piece);
}

static void put_string(new_recipe *r, const char *name, const char *string)
{
    mw__text text;
    mw__text_init(&text, mw__allocator_or_default(NULL));
    mw__json_put_bytes(&text, string, strlen(string), MW__JSON_VALID);
    put_piece(r, name, text.failed || text.data == NULL ? "\"\"" : text.data);
    mw__text_deinit(&text);
}

static const char *find_value(const new_recipe *r, const char *name, size_t length)
{
    for (size_t i = 0; i < r->count; i++)
        if (strlen(r->values[i].name) == length && strncmp(r->values[i].name, name, length) == 0)
            return r->values[i].text;
    return "null";
}

static void fill_template(const new_recipe *r, const char *at, mw__text *out)
{
    while (*at != '\0') {
        const size_t plain = strcspn(at, "$");
        mw__text_append(out, at, plain);
        at += plain;
        if (*at == '\0')
            return;
        const size_t length = strspn(++at, "abcdefghijklmnopqrstuvwxyz");
        mw__text_puts(out, find_value(r, at, length));
        at += length;
    }
}

/* ---- templates ---- */

#define HEAD                                                                                                           \
    "// $about. To train it: mw train $recipe\n"                                                                       \
    "// mw help recipe lists every key, mw help TOPIC what it may be; lines behind // are comments.\n{\n"
#define HOW_LONG                                                                                                       \
    "  \"optimizer\": {\"name\": \"adamw\", \"learning_rate\": $rate},  // mw help optimizers\n"                       \
    "  \"schedule\": {\"name\": \"cosine\"},\n"                                                                        \
    "  \"epochs\": $epochs,  // times through the data\n"                                                              \
    "  \"batch\": $batch,\n"
#define STOPPING                                                                                                       \
    "  // Ends where the validation set gets no better, with the best weights.\n"                                      \
    "  \"early_stopping\": {\"by\": \"loss\", \"patience\": 10, \"restore_best\": true},\n"
#define TAIL                                                                                                           \
    "  \"scores\": $scores,  // mw help metrics\n\n"                                                                   \
    "  // \"output\": \"model.mlpackage\",  // also for an app: .mlpackage or .onnx\n"                                 \
    "  // Model, curves and checkpoint. Ctrl-C saves, the same command goes on; mw report $run makes a page of it.\n"  \
    "  \"run\": $run\n}\n"

static const char table_template[] =
    HEAD "  \"data\": {\n    \"path\": $path,\n"
         "    \"target\": $target,  // the field that is predicted from the others\n"
         "    // Kinds of fields are found by their content. To say some: mw help columns\n"
         "    // \"fields\": {\"NAME\": \"ignored\", \"OTHER\": {\"missing\": \"median\"}},\n"
         "    \"validation\": 0.1  // the share of rows that is kept out, to see how it goes\n  },\n\n"
         "  // From the input to the result; mw help layers\n"
         "  \"network\": [{\"dense\": 64}, \"relu\", {\"dense\": 64}, \"relu\", {\"dense\": $units}],\n"
         "  \"loss\": $loss,  // mw help losses\n\n" HOW_LONG STOPPING TAIL;

static const char sequence_template[] =
    HEAD "  \"data\": {\n    \"path\": $path,\n"
         "    \"target\": $target,  // the field that is predicted from all fields so far\n"
         "    // So many rows are an example; what is learned is the target of the rows behind them.\n"
         "    // \"series\": \"NAME\" if a field tells several series apart.\n"
         "    \"window\": {\"length\": $length, \"horizon\": $horizon}\n  },\n\n"
         "  // Without \"network\" what fits is taken. One of your own begins with [batch, length, numbers]:\n"
         "  // \"network\": [{\"lstm\": 32}, {\"dense\": $units}],\n"
         "  \"loss\": $loss,  // mw help losses\n\n" HOW_LONG STOPPING TAIL;

static const char image_template[] =
    HEAD "  \"data\": {\n    \"path\": $path,\n$size"
         "    // What changes pictures while they are learned:\n"
         "    // \"augment\": {\"flip\": 0.5, \"shift\": 2},\n"
         "    \"normalize\": true  // (x - mean) / deviation of each channel, inside the model\n  },\n\n"
         "  // From the input to the result; mw help layers\n"
         "  \"network\": [\n"
         "    {\"conv\": 16}, \"batch_norm\", \"relu\", {\"max_pool\": 2},\n"
         "    {\"conv\": 32}, \"batch_norm\", \"relu\", {\"max_pool\": 2},\n"
         "    {\"conv\": 64}, \"batch_norm\", \"relu\", \"global_avg_pool\",\n"
         "    {\"dense\": \"classes\"}\n  ],\n\n" HOW_LONG TAIL;

static const char sound_template[] =
    HEAD "  \"data\": {\n    \"path\": $path,\n"
         "    \"rate\": $samples,  // samples a second; sounds of other rates are resampled\n"
         "    \"seconds\": $seconds,  // of each sound; longer ones are cut, shorter ones filled with silence\n"
         "    // What changes sounds while they are learned: decibels, seconds, a deviation:\n"
         "    // \"augment\": {\"gain\": 6, \"move\": 0.05, \"noise\": 0.01},\n"
         "    \"place\": \"begin\"  // the part that is taken; or middle\n  },\n\n"
         "  // Without \"network\" what fits is taken: log_mel, and three convolutions over bands and time.\n"
         "  // \"network\": [\"log_mel\", {\"conv\": 16}, \"relu\", {\"max_pool\": 2}, {\"conv\": 32}, \"relu\",\n"
         "  //             \"global_avg_pool\", {\"dense\": \"classes\"}],  // mw help layers\n\n" HOW_LONG TAIL;

/* ---- what the data says ---- */

/* More epochs for few examples: about so many steps in all. */
static void put_length(new_recipe *r, int64_t examples, int64_t batch, int64_t steps)
{
    const int64_t of_epoch = examples / batch > 0 ? examples / batch : 1, epochs = steps / of_epoch;
    put_number(r, "batch", batch);
    put_number(r, "epochs", epochs < 3 ? 3 : epochs > 60 ? 60 : epochs);
}

static void put_target(new_recipe *r, mw_encoded_target target, int64_t examples)
{
    const bool is_value = target.kind == MW_TARGET_VALUE;
    put_string(r, "target", target.name);
    put_piece(r, "units", is_value ? "1" : "\"classes\"");
    put_piece(r, "loss", is_value ? "\"mse\"" : "\"cross_entropy\"");
    put_piece(r, "scores", is_value ? "\"mae,rmse,r2\"" : "\"accuracy,balanced_accuracy,f1_macro,log_loss\"");
    put_piece(r, "rate", "0.002");
    put_length(r, examples, examples < 2000 ? 16 : 64, 4000);
    if (is_value)
        mw__printable_printf(r->about, sizeof r->about, "A table, %lld rows to learn from: %.100s is a number",
                             (long long)examples, target.name);
    else
        mw__printable_printf(r->about, sizeof r->about, "A table, %lld rows to learn from: %.100s has %zu classes",
                             (long long)examples, target.name, target.classes.count);
}

static bool look_at_table(new_recipe *r)
{
    mw_dataset *training = NULL;
    const mw_table_fit_options options = mw_table_fit_defaults(r->data, o.target);
    mw_table_encoder *encoder = mw_table_encoder_fit(&options, &training, NULL, r->call->err);
    if (encoder != NULL)
        put_target(r, mw_table_encoder_target(encoder), mw_dataset_examples(training));
    mw_dataset_destroy(training);
    mw_table_encoder_destroy(encoder);
    return encoder != NULL;
}

static bool look_at_sequence(new_recipe *r)
{
    mw_dataset *training = NULL;
    const mw_table_fit_options options = mw_table_fit_defaults(r->data, o.target);
    mw_table_encoder *encoder = mw_table_encoder_fit(&options, &training, NULL, r->call->err);
    const mw_encoded_target target = mw_table_encoder_target(encoder);
    const int64_t rows = mw_dataset_examples(training), length = rows / 20 > 24 ? 24 : rows / 20 > 2 ? rows / 20 : 2;
    if (encoder != NULL) {
        put_number(r, "length", length);
        put_number(r, "horizon", target.kind == MW_TARGET_VALUE ? 1 : 0);
        put_target(r, target, rows);
    }
    mw_dataset_destroy(training);
    mw_table_encoder_destroy(encoder);
    return encoder != NULL;
}

static bool has_entry(const char *folder, const char *name, char out[PATH_BYTES])
{
    struct stat entry;
    return snprintf(out, PATH_BYTES, "%s/%s", folder, name) < PATH_BYTES && stat(out, &entry) == 0;
}

/* Pictures of one size stay as they are; others get one. */
static mw_dataset *open_pictures(new_recipe *r, bool *out_sized)
{
    char folder[PATH_BYTES];
    mw_error local = {0};
    mw_image_options options = mw_image_defaults();
    const char *path = has_entry(r->data, "train", folder) ? folder : r->data;
    options.bytes_max = 0;
    mw_dataset *set = mw_dataset_open_images(path, &options, &local);
    const mw_column *x = set != NULL ? mw_dataset_column_at(set, 0) : NULL;
    *out_sized = x == NULL || x->shape.dim[0] > SIZE_LARGE || x->shape.dim[1] > SIZE_LARGE;
    if (set != NULL)
        return set;
    options.height = options.width = SIZE_USUAL;
    options.fit = MW_IMAGE_FIT_CROP;
    return mw_dataset_open_images(path, &options, r->call->err);
}

static bool look_at_images(new_recipe *r)
{
    char path[PATH_BYTES];
    bool sized = false;
    const bool is_idx = has_entry(r->data, "train-images-idx3-ubyte", path);
    mw_dataset *set = is_idx ? mw_dataset_open_idx(r->data, "train", r->call->err) : open_pictures(r, &sized);
    if (set == NULL)
        return false;
    const int64_t examples = mw_dataset_examples(set);
    put_piece(r, "size",
              !sized ? ""
                     : "    \"size\": 64,  // every picture is cut and scaled to it; \"fit\" says how\n"
                       "    \"reduce\": true,  // large JPEGs are unpacked smaller\n");
    put_piece(r, "scores", "\"accuracy,balanced_accuracy,f1_macro,log_loss\"");
    put_piece(r, "rate", "0.003");
    put_length(r, examples, examples < 2000 ? 16 : 64, 2000);
    mw__printable_printf(r->about, sizeof r->about, "%lld pictures to learn from, %zu classes", (long long)examples,
                         mw_dataset_classes(set, "y").count);
    mw_dataset_destroy(set);
    return true;
}

/* Read as mw train reads them without being told. */
static bool look_at_sounds(new_recipe *r)
{
    char path[PATH_BYTES];
    mw_sound_options options = mw_sound_defaults();
    options.bytes_max = 0;
    mw_dataset *set =
        mw_dataset_open_sounds(has_entry(r->data, "train", path) ? path : r->data, &options, r->call->err);
    if (set == NULL)
        return false;
    const int64_t examples = mw_dataset_examples(set), length = mw_dataset_column_at(set, 0)->shape.dim[1];
    put_number(r, "samples", options.rate);
    snprintf(new_value(r, "seconds")->text, VALUE_BYTES, "%.9g", (double)length / (double)options.rate);
    put_piece(r, "scores", "\"accuracy,balanced_accuracy,f1_macro,log_loss\"");
    put_piece(r, "rate", "0.003");
    put_length(r, examples, examples < 2000 ? 16 : 64, 2000);
    mw__printable_printf(r->about, sizeof r->about, "%lld sounds to learn from, %zu classes", (long long)examples,
                         mw_dataset_classes(set, "y").count);
    mw_dataset_destroy(set);
    return true;
}

/* ---- the kinds ---- */

static const struct {
    const char *kind, *data;
    const char *text; /* the template */
    bool (*look)(new_recipe *r);
    const char *no_target; /* why --target has no effect; NULL: it has one */
} kinds[] = {
    {"table", "a .csv, .tsv or .jsonl file", table_template, look_at_table, NULL},
    {"sequence", "a table whose rows follow each other in time", sequence_template, look_at_sequence, NULL},
    {"image", "a folder with a folder of pictures for each class, or with IDX files", image_template, look_at_images,
     "on pictures: their folders are the classes"},
    {"sound", "a folder with a folder of WAV or FLAC files for each class", sound_template, look_at_sounds,
     "on sounds: their folders are the classes"},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static int refuse_kind(const char *typed)
{
    char hint[MEANT_BYTES];
    tool_complain("\"%.60s\" is no kind of data: %s%s", typed, TOOL_NEW_KINDS,
                  meant_listed(hint, typed, TOOL_NEW_KINDS));
    return TOOL_USAGE;
}

/* "flowers" of "data/flowers.csv" and of "data/flowers/". */
static void name_files(new_recipe *r)
{
    size_t end = strlen(r->data);
    while (end > 1 && r->data[end - 1] == '/')
        end--;
    size_t begin = end;
    while (begin > 0 && r->data[begin - 1] != '/')
        begin--;
    size_t length = end - begin;
    for (size_t i = 1; i < end - begin; i++)
        length = r->data[begin + i] == '.' ? i : length;
    snprintf(r->run, sizeof r->run, "%.*s-run", (int)length, r->data + begin);
    if (o.out != NULL)
        snprintf(r->path, sizeof r->path, "%s", o.out);
    else
        snprintf(r->path, sizeof r->path, "%.*s.json", (int)length, r->data + begin);
}

static void write_recipe(new_recipe *r, const char *template)
{
    const mw_allocator *heap = mw__allocator_or_default(NULL);
    mw__text text;
    put_string(r, "path", r->data);
    put_string(r, "run", r->run);
    put_piece(r, "about", r->about);
    mw__printable(new_value(r, "recipe")->text, VALUE_BYTES, r->path);
    mw__text_init(&text, heap);
    fill_template(r, template, &text);
    if (mw__text_check(&text, r->call->err) == MW_OK)
        mw__file_write(heap, r->path, text.data, text.size, false, r->call->err);
    mw__text_deinit(&text);
}

static int make_recipe(new_recipe *r, size_t kind)
{
    struct stat entry;
    name_files(r);
    if (stat(r->path, &entry) == 0) {
        tool_complain("%.300s is there already: name another with --out, or remove it", r->path);
        return TOOL_FAILED;
    }
    if (!kinds[kind].look(r))
        return TOOL_FAILED;
    write_recipe(r, kinds[kind].text);
    if (r->call->err->status != MW_OK)
        return TOOL_FAILED;
    if (r->call->json != NULL)
        mw__json_add_string(r->call->json, "recipe", r->path);
    else
        tool_print("%s  %s\nnext: mw train %s\n", r->path, r->about, r->path);
    return TOOL_DONE;
}

int tool_new(const tool_call *call)
{
    static new_recipe r;
    r = (new_recipe){.call = call, .data = call->arguments[1]};
    for (size_t i = 0; i < KINDS; i++) {
        if (strcmp(kinds[i].kind, call->arguments[0]) != 0)
            continue;
        if (kinds[i].no_target != NULL && TOOL_REFUSE(kinds[i].no_target, "target"))
            return TOOL_USAGE;
        return make_recipe(&r, i);
    }
    return refuse_kind(call->arguments[0]);
}
