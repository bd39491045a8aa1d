/* Training on texts: what mw finetune --text makes of a folder, and what it says of each epoch. */
#include "tool/train/training_text.h"

#include "base/clock.h"
#include "base/text/string.h"

#include <errno.h>
#include <math.h>
#include <millwright/text.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PROMPT_TOKENS = 12, SAMPLE_TOKENS = 48 };

struct training_text {
    const char *folder;              /* of the model, or its file */
    char words[TRAINING_PATH_BYTES]; /* what has its tokenizer: the folder, or the one that a .bin stands in */
    mw_text_config config;
    mw_text_data *data;
    mw_text_data_info info;
    mw_text_tuning tuning;
    mw_tokenizer *tokenizer;
    mw_text_model *model; /* the trainer's, which writes samples */
    char *prompt;         /* the begin of the first example, unless one was given */
    double begun;         /* seconds of the run at the last epoch's end */
    int64_t steps;        /* .. and its steps */
};

static int64_t tokens_of(const training *t)
{
    const int64_t most = t->text->config.positions;
    const int64_t said = t->over->text.tokens;
    return said > 0 ? said : most < 256 ? most : 256;
}

/* ---- opening ---- */

static bool open_text_data(training *t)
{
    mw_text_data_options options = mw_text_data_defaults();
    options.tokens = tokens_of(t);
    options.padded = t->over->text.padded;
    options.buckets = t->over->text.buckets;
    options.apart = t->over->text.apart;
    options.chat = t->over->text.chat;
    options.cache = t->over->text.cache;
    options.words = t->text->config.words;
    if (t->over->accumulate > 1)
        options.multiple = t->batch * t->over->accumulate;
    t->text->data = mw_text_data_open(t->over->text.path, t->text->words, &options, t->err);
    t->text->info = mw_text_data_get_info(t->text->data);
    return t->text->data != NULL;
}

/* Batches are made ahead. */
static bool take_sets(training *t)
{
    const mw_dataset *validation = mw_text_data_validation(t->text->data);
    t->data.training = mw_dataset_prefetch(mw_text_data_training(t->text->data), 2, t->err);
    if (validation != NULL)
        t->data.validation = mw_dataset_prefetch(validation, 2, t->err);
    return t->err->status == MW_OK;
}

/* That of a path; "." where it names none. */
static void take_parent(const char *path, char out[TRAINING_PATH_BYTES])
{
    const char *slash = strrchr(path, '/');
    snprintf(out, TRAINING_PATH_BYTES, "%.*s", slash != NULL ? (int)(slash - path) : 1, slash != NULL ? path : ".");
}

/* Files of llama2.c and llm.c have no tokenizer in them. */
static void take_words(const char *model, char out[TRAINING_PATH_BYTES])
{
    if (mw__string_ends(model, ".bin"))
        take_parent(model, out);
    else
        snprintf(out, TRAINING_PATH_BYTES, "%s", model);
}

bool training_text_open(training *t)
{
    t->text = calloc(1, sizeof *t->text);
    if (t->text == NULL)
        return training_fail(t, MW_ERROR_MEMORY, "there is no memory");
    t->text->folder = t->over->model;
    t->data_path = t->over->text.path;
    t->model_path = t->over->model;
    t->batch = t->over->batch > 0 ? t->over->batch : 4;
    t->text->tuning =
        (mw_text_tuning){.rank = (int)t->over->lora, .weights = t->over->layers, .weight_count = t->over->layer_count};
    if (mw_text_config_read(t->over->model, &t->text->config, t->err) != MW_OK)
        return false;
    if (t->text->config.types > 0)
        return training_fail(t, MW_ERROR_UNSUPPORTED,
                             "%s is an encoder: --text teaches which word follows. Masked words are learned by "
                             "mw_text_graph with a loss (docs/text.md)",
                             t->text->config.family);
    take_words(t->over->model, t->text->words);
    t->text->tokenizer = mw_tokenizer_open(t->text->words, t->err);
    return t->text->tokenizer != NULL && open_text_data(t) && take_sets(t);
}

/* Of all lengths but the longest. */
static bool build_variants(training *t, mw_text_graph_options options)
{
    const mw_text_data_info *info = &t->text->info;
    for (size_t i = 0; i + 1 < info->bucket_count; i++) {
        options.tokens = info->buckets[i];
        mw_graph *graph = mw_text_graph(&t->text->config, &options, t->err);
        if (graph == NULL)
            return false;
        t->variants[t->variant_count++] = mw_graph_output_at(graph, 0);
    }
    return true;
}

bool training_text_build(training *t)
{
    mw_text_graph_options options = mw_text_graph_defaults();
    const int64_t examples = mw_dataset_examples(t->data.training);
    if (t->batch > examples && t->over->batch > 0)
        tool_complain("a batch has %lld examples, as there are no more to learn from; %lld were asked for",
                      (long long)examples, (long long)t->batch);
    t->batch = t->batch > examples ? examples : t->batch;
    options.batch = t->batch;
    options.tokens = mw_dataset_column_at(t->data.training, 0)->shape.dim[0];
    options.loss = true;
    options.apart = t->over->text.apart;
    options.tuning = t->text->tuning;
    t->graph = mw_text_graph(&t->text->config, &options, t->err);
    t->loss = t->graph != NULL ? mw_graph_output_at(t->graph, 0) : NULL;
    return t->loss != NULL && build_variants(t, options);
}

/* ---- samples ---- */

/* Up to the last label that counts; the rest is padding. */
static size_t begin_size(const mw_batch *batch)
{
    const int32_t *labels = batch->feeds[1].data;
    size_t count = batch->feeds[1].count;
    while (count > 0 && labels[count - 1] == -100)
        count--;
    return count < PROMPT_TOKENS ? count : PROMPT_TOKENS;
}

/* The begin of the first example: what is asked is of the kind that is learned. */
static char *begin_of_text(training *t)
{
    int32_t ids[PROMPT_TOKENS];
    const mw_dataset *set = mw_text_data_training(t->text->data);
    mw_loader_options options = mw_loader_defaults(set, 1);
    options.shuffle = false;
    mw_loader *loader = mw_loader_create(&options, t->err);
    const mw_batch *batch = loader != NULL ? mw_loader_next(loader, t->err) : NULL;
    char *text = NULL;
    if (batch != NULL) {
        const size_t count = begin_size(batch);
        memcpy(ids, batch->feeds[0].data, count * sizeof *ids);
        text = mw_tokenizer_decode(t->text->tokenizer, ids, count, false, NULL, t->err);
    }
    mw_loader_destroy(loader);
    return text;
}

static bool open_sampler(training *t)
{
    mw_compile_options compile = mw_compile_defaults();
    mw_text_model_options options = mw_text_model_defaults();
    compile.share.trainer = t->trainer;
    compile.device = t->device;
    compile.threads = t->threads;
    options.compile = &compile;
    options.tuning = t->text->tuning;
    options.cache = t->text->config.positions < 256 ? t->text->config.positions : 256;
    t->text->prompt = t->over->text.prompt == NULL ? begin_of_text(t) : NULL;
    t->text->model = t->err->status == MW_OK ? mw_text_model_open(t->text->folder, &options, t->err) : NULL;
    return t->text->model != NULL;
}

bool training_text_load(training *t)
{
    return mw_text_load_weights(t->trainer, t->text->folder, t->err) == MW_OK &&
           (t->over->text.no_samples || open_sampler(t));
}

static char *write_sample(training *t, mw_error *err)
{
    mw_generate_options options = mw_generate_defaults();
    options.tokens = SAMPLE_TOKENS;
    options.seed = 1;
    const char *prompt = t->over->text.prompt != NULL ? t->over->text.prompt : t->text->prompt;
    return prompt != NULL ? mw_text_model_generate(t->text->model, prompt, &options, err) : NULL;
}

/* ---- what is said of an epoch ---- */

static void say_epoch(const training *t, const mw_progress *p, const mw_metrics_field *fields, size_t count)
{
    if (t->call->quiet || t->call->json != NULL)
        return;
    tool_print("epoch %lld:", (long long)p->epoch);
    for (size_t i = 0; i < count; i++) {
        if (fields[i].text == NULL) {
            tool_print("%s %s %.5g", i > 0 ? "," : "", fields[i].name, fields[i].value);
        } else {
            tool_puts("\n  ");
            tool_show(fields[i].text);
        }
    }
    tool_puts("\n");
}

static double rate_since(training *t, const mw_progress *p)
{
    const double seconds = p->seconds - t->text->begun;
    const double each = (double)t->text->info.training_tokens / (double)t->text->info.examples; /* without padding */
    const double tokens = (double)(p->step - t->text->steps) * (double)t->batch * each;
    t->text->begun = p->seconds;
    t->text->steps = p->step;
    return seconds > 0.0 ? tokens / seconds : 0.0;
}

/* A sample that cannot be written ends no training. */
void training_text_report(training *t, const mw_progress *progress)
{
    mw_error own = {0};
    mw_metrics_field fields[4];
    size_t count = 0;
    if (!progress->epoch_end)
        return;
    const bool validated = progress->validation.examples > 0;
    const double loss = validated ? progress->validation.loss : progress->loss, bytes = t->text->info.label_bytes;
    fields[count++] = (mw_metrics_field){.name = "perplexity", .value = exp(loss)};
    if (bytes > 0.0)
        fields[count++] = (mw_metrics_field){.name = "bits_per_byte", .value = loss / log(2.0) / bytes};
    fields[count++] = (mw_metrics_field){.name = "tokens_per_second", .value = rate_since(t, progress)};
    snprintf(t->board.note, sizeof t->board.note, "perplexity %.4g, %.4g bits a byte, %.0f tokens/s", fields[0].value,
             bytes > 0.0 ? fields[1].value : NAN, fields[count - 1].value);
    const double begun = mw__clock_seconds();
    char *sample = t->text->model != NULL ? write_sample(t, &own) : NULL;
    t->text->begun += mw__clock_seconds() - begun; /* is no time of the training */
    if (sample != NULL)
        fields[count++] = (mw_metrics_field){.name = "sample", .text = sample};
    if (own.status != MW_OK)
        tool_complain("no sample: %s", own.message);
    mw_error_clear(&own);
    mw_trainer_log(t->trainer, fields, count, &own);
    say_epoch(t, progress, fields, count);
    mw_string_free(sample);
}

/* ---- outputs ---- */

/* Adapters are a folder, which may be there. */
static bool check_adapter(training *t, const char *path)
{
    char parent[TRAINING_PATH_BYTES];
    struct stat found;
    take_parent(path, parent);
    const char *folder = stat(path, &found) == 0 ? path : parent[0] != '\0' ? parent : "/";
    if (stat(folder, &found) == 0 && !S_ISDIR(found.st_mode))
        return training_fail(t, MW_ERROR_FILE, "nothing was trained: \"%.200s\" is to be a folder, and is a file",
                             folder);
    return access(folder, W_OK) == 0 ||
           training_fail(t, MW_ERROR_FILE, "nothing was trained: the folder \"%.200s\": %s", folder, strerror(errno));
}

/* All that can be known of a model that is written after the last step. */
bool training_text_check_output(training *t, const char *path)
{
    mw_error own = {0};
    struct stat found;
    mw_text_save_options options = mw_text_save_defaults();
    options.check_only = true;
    if (path != t->output && stat(t->run, &found) != 0)
        return true; /* the folder of the run is made later */
    if (t->over->text.adapter)
        return check_adapter(t, path);
    return mw_text_save(t->text->folder, path, &options, &own) == MW_OK ||
           training_fail(t, own.status, "nothing was trained, as the model could not be written to %.120s: %.350s",
                         path, own.message);
}

void training_text_write(training *t, const char *path, mw_error *err)
{
    if (t->over->text.adapter)
        mw_trainer_save_lora(t->trainer, path, err);
    else
        mw_text_save_trained(t->trainer, t->text->folder, path, NULL, err);
}

bool training_text_compensates(const training *t)
{
#if defined(__APPLE__) /* where MW_DEVICE_AUTO is the ANE */
    return t->device != MW_DEVICE_CPU;
#else
    return t->device == MW_DEVICE_ANE;
#endif
}

double training_text_rate(const training *t) { return t->over->lora > 0 ? 2e-4 : 5e-5; }

void training_text_close(training *t)
{
    if (t->text == NULL)
        return;
    mw_text_model_destroy(t->text->model);
    mw_tokenizer_destroy(t->text->tokenizer);
    mw_text_data_destroy(t->text->data);
    mw_string_free(t->text->prompt);
    free(t->text);
}
