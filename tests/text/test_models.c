/* Networks by their configuration against an independent form in PyTorch (make_models.py): logits, loss and gradients,
 * with a cache and without, and the names under which weights are saved. */
#include "base/file/file.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/on_engine.h"
#include "text/json/tree.h"

#include <math.h>
#include <millwright/text.h>
#include <stdlib.h>

enum { BATCH = 2, TOKENS = 11, WORDS = 40, LOGITS = BATCH * TOKENS * WORDS };

static const char *const families[] = {"gpt2", "llama", "mistral", "qwen2", "qwen3", "gemma2"};
#define FAMILIES (sizeof families / sizeof *families)

/* What PyTorch says of a family. */
typedef struct expected {
    mw__arena arena;
    const mw__json_node *root;
    char folder[512];
    mw_text_config config;
    bool apart; /* documents of a window are; `starts` says where they begin */
    int32_t tokens[BATCH * TOKENS], labels[BATCH * TOKENS], starts[BATCH * TOKENS];
    float logits[LOGITS];
} expected;

static void take_integers(const mw__json_node *list, int32_t *out)
{
    for (const mw__json_node *node = list->first; node != NULL; node = node->next)
        *out++ = (int32_t)node->number;
}

static bool open_form(expected *e, const char *family, bool apart)
{
    char path[600], *text = NULL;
    size_t size = 0, i = 0;
    mw_error err = {0};
    snprintf(e->folder, sizeof e->folder, MW_TESTS_DIR "/text/models/%s", family);
    snprintf(path, sizeof path, "%s/expected.json", e->folder);
    mw__arena_init(&e->arena, NULL);
    mw__file_read(NULL, path, SIZE_MAX, &text, &size, &err);
    e->root = text != NULL ? mw__tree_read(&e->arena, text, size, &err) : NULL;
    mw__free(mw__allocator_default(), text);
    mw_text_config_read(e->folder, &e->config, &err);
    if (!CHECK_OK(err))
        return false;
    take_integers(mw__tree_find(e->root, "tokens"), e->tokens);
    e->apart = apart;
    e->root = apart ? mw__tree_find(e->root, "apart") : e->root;
    if (apart)
        take_integers(mw__tree_find(e->root, "starts"), e->starts);
    take_integers(mw__tree_find(e->root, "labels"), e->labels);
    for (const mw__json_node *n = mw__tree_find(e->root, "logits")->first; n != NULL; n = n->next)
        e->logits[i++] = (float)n->number;
    return i == LOGITS;
}

static bool open_expected(expected *e, const char *family) { return open_form(e, family, false); }

/* The largest difference, relative to the largest logit. */
static double difference(const float *a, const float *b, size_t count)
{
    double most = 0.0, largest = 0.0;
    for (size_t i = 0; i < count; i++) {
        most = fmax(most, fabs((double)a[i] - (double)b[i]));
        largest = fmax(largest, fabs((double)b[i]));
    }
    return most / largest;
}

static mw_graph *make_graph(const expected *e, int64_t batch, int64_t tokens, int64_t cache, bool loss, mw_error *err)
{
    mw_text_graph_options o = mw_text_graph_defaults();
    o.batch = batch;
    o.tokens = tokens;
    o.cache = cache;
    o.loss = loss;
    o.apart = e->apart;
    return mw_text_graph(&e->config, &o, err);
}

/* ---- logits ---- */

static void check_logits(const expected *e, const char *family, mw_device device, double tolerance)
{
    float logits[LOGITS];
    mw_error err = {0};
    mw_graph *graph = make_graph(e, BATCH, TOKENS, 0, false, &err);
    mw_program *program = graph != NULL ? engine_compile(graph, device, 2, &err) : NULL;
    mw_program_load_weights(program, e->folder, NULL, &err);
    mw_program_write(program, "tokens", MW_I32, e->tokens, BATCH * TOKENS, &err);
    if (e->apart)
        mw_program_write(program, "starts", MW_I32, e->starts, BATCH * TOKENS, &err);
    mw_program_run(program, &err);
    mw_program_read(program, "logits", MW_F32, logits, LOGITS, &err);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
    if (!CHECK_OK(err))
        return;
    const double d = difference(logits, e->logits, LOGITS);
    check_note(d < tolerance, __FILE__, __LINE__, "%s: logits differ by %.2g", family, d);
}

static void test_logits_are_those_of_pytorch(void)
{
    for (size_t i = 0; i < FAMILIES; i++) {
        expected e;
        if (CHECK(open_expected(&e, families[i])))
            check_logits(&e, families[i], MW_DEVICE_CPU, 1e-5);
        mw__arena_deinit(&e.arena);
    }
}

/* Matrices of fp16 are off by 2^-11 of their elements; two layers make up to twenty times that of it. */
static void test_logits_of_fp16_weights_are_near(void)
{
    for (size_t i = 0; i < FAMILIES; i++) {
        expected e;
        float logits[LOGITS];
        mw_error err = {0};
        if (CHECK(open_expected(&e, families[i]))) {
            mw_text_graph_options o = mw_text_graph_defaults();
            o.batch = BATCH;
            o.tokens = TOKENS;
            o.weights = MW_F16;
            mw_graph *graph = mw_text_graph(&e.config, &o, &err);
            mw_program *program = graph != NULL ? engine_compile(graph, MW_DEVICE_CPU, 1, &err) : NULL;
            mw_program_load_weights(program, e.folder, NULL, &err);
            mw_program_write(program, "tokens", MW_I32, e.tokens, BATCH * TOKENS, &err);
            mw_program_run(program, &err);
            mw_program_read(program, "logits", MW_F32, logits, LOGITS, &err);
            const double d = CHECK_OK(err) ? difference(logits, e.logits, LOGITS) : 1.0;
            check_note(d < 1e-2 && d > 1e-6, __FILE__, __LINE__, "%s: logits differ by %.2g", families[i], d);
            mw_program_destroy(program);
            mw_graph_destroy(graph);
        }
        mw__arena_deinit(&e.arena);
    }
}

/* fp16 of 10 bits, through some twenty operations of each of two layers. */
static void test_logits_on_the_ane_are_near(void)
{
    for (size_t i = 0; i < FAMILIES; i++) {
        expected e;
        if (CHECK(open_expected(&e, families[i])))
            check_logits(&e, families[i], MW_DEVICE_ANE, 2e-2);
        mw__arena_deinit(&e.arena);
    }
}

/* ---- gradients ---- */

/* A step of gradient descent at the rate 1 leaves p - dp. */
static void check_gradient(mw_trainer *trainer, const mw__json_node *wanted, const float *before, const char *family,
                           mw_error *err)
{
    float after[4096];
    size_t count = 0;
    double sum = 0.0, squares = 0.0;
    while (count < 4096 && isfinite(before[count]))
        count++;
    mw_trainer_read(trainer, wanted->key, MW_F32, after, count, err);
    for (size_t i = 0; i < count; i++) {
        const double g = (double)before[i] - (double)after[i];
        sum += g;
        squares += g * g;
    }
    const double of_all = sqrt(wanted->last->number * (double)count);
    check_note(fabs(sum - wanted->first->number) < 1e-4 * of_all + 1e-5, __FILE__, __LINE__,
               "%s: the gradient of %s adds up to %g, not %g", family, wanted->key, sum, wanted->first->number);
    check_note(fabs(squares - wanted->last->number) < 1e-3 * wanted->last->number + 1e-8, __FILE__, __LINE__,
               "%s: the gradient of %s has the squares %g, not %g", family, wanted->key, squares, wanted->last->number);
}

/* Values before the step, of each parameter; what is beyond them is no number. */
static void read_before(mw_trainer *trainer, const expected *e, const mw__json_node *of, float before[4096],
                        mw_error *err)
{
    char path[600];
    snprintf(path, sizeof path, "%s/model.safetensors", e->folder);
    mw_tensors *tensors = mw_tensors_open(path, err);
    const mw_tensor_info *info = mw_tensors_find(tensors, of->key);
    const size_t count = info != NULL ? (size_t)mw_shape_count(info->shape) : 0;
    for (size_t i = 0; i < 4096; i++)
        before[i] = NAN;
    if (CHECK(count > 0 && count < 4096))
        mw_trainer_read(trainer, of->key, MW_F32, before, count, err);
    mw_tensors_destroy(tensors);
}

static void check_training(const expected *e, const char *family)
{
    static float before[64][4096];
    mw_error err = {0};
    float loss = 0.0F;
    size_t count = 0;
    mw_graph *graph = make_graph(e, BATCH, TOKENS, 0, true, &err);
    mw_trainer *trainer = engine_trainer(mw_graph_find(graph, "loss"), mw_sgd(1.0F), MW_DEVICE_CPU, 2, &err);
    mw_trainer_load_weights(trainer, e->folder, NULL, &err);
    const mw__json_node *gradients = mw__tree_find(e->root, "gradients");
    for (const mw__json_node *g = gradients->first; g != NULL; g = g->next)
        read_before(trainer, e, g, before[count++], &err);
    const mw_feed feeds[3] = {{.name = "tokens", .dtype = MW_I32, .data = e->tokens, .count = BATCH * TOKENS},
                              {.name = "labels", .dtype = MW_I32, .data = e->labels, .count = BATCH * TOKENS},
                              {.name = "starts", .dtype = MW_I32, .data = e->starts, .count = BATCH * TOKENS}};
    mw_trainer_step(trainer, &(mw_batch){.feeds = feeds, .feed_count = e->apart ? 3 : 2}, &loss, &err);
    CHECK_OK(err);
    CHECK_NEAR(loss, mw__tree_number(e->root, "loss", 0.0), 1e-5);
    count = 0;
    for (const mw__json_node *g = gradients->first; g != NULL; g = g->next)
        check_gradient(trainer, g, before[count++], family, &err);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
}

static void test_losses_and_gradients_are_those_of_pytorch(void)
{
    for (size_t i = 0; i < FAMILIES; i++) {
        expected e;
        if (CHECK(open_expected(&e, families[i])))
            check_training(&e, families[i]);
        mw__arena_deinit(&e.arena);
    }
}

/* Windows of several documents, of which none sees another: one that goes on from the window before, one of a single
 * token; with windows of four tokens where the family has them. */
static void test_documents_apart_are_those_of_pytorch(void)
{
    for (size_t i = 0; i < FAMILIES; i++) {
        expected e;
        if (CHECK(open_form(&e, families[i], true))) {
            check_logits(&e, families[i], MW_DEVICE_CPU, 1e-5);
            check_logits(&e, families[i], MW_DEVICE_ANE, 2e-2);
            check_training(&e, families[i]);
        }
        mw__arena_deinit(&e.arena);
    }
}

/* ---- caches ---- */

static void alias_all(mw_program *program, int64_t layers, mw_error *err)
{
    char name[32], next[40];
    for (int i = 0; i < 2 * (int)layers; i++) {
        snprintf(name, sizeof name, "%s.%d", i % 2 == 0 ? "key" : "value", i / 2);
        snprintf(next, sizeof next, "%s.next", name);
        mw_program_alias(program, next, name, err);
    }
}

/* Runs of `each` tokens, the last one shorter: the logits after each run are those of its last token. */
static void check_cached(const expected *e, const char *family, int64_t each)
{
    mw_error err = {0};
    mw_graph *graph = make_graph(e, BATCH, each, 16, false, &err);
    mw_program *program = graph != NULL ? engine_compile(graph, MW_DEVICE_CPU, 1, &err) : NULL;
    mw_program_load_weights(program, e->folder, NULL, &err);
    alias_all(program, e->config.layers, &err);
    for (int64_t at = 0; at < TOKENS && err.status == MW_OK; at += each) {
        int32_t tokens[BATCH * TOKENS] = {0};
        float logits[BATCH * WORDS], wanted[BATCH * WORDS];
        const int64_t some = TOKENS - at < each ? TOKENS - at : each;
        for (int64_t b = 0; b < BATCH; b++) {
            memcpy(tokens + b * each, e->tokens + b * TOKENS + at, (size_t)some * sizeof *tokens);
            memcpy(wanted + b * WORDS, e->logits + (b * TOKENS + at + some - 1) * WORDS, WORDS * sizeof *wanted);
        }
        mw_program_write(program, "tokens", MW_I32, tokens, (size_t)(BATCH * each), &err);
        mw_program_write(program, "at", MW_I32, &(int32_t){(int32_t)at}, 1, &err);
        mw_program_write(program, "before", MW_I32, (int32_t[BATCH]){0}, BATCH, &err);
        mw_program_write(program, "last", MW_I32, &(int32_t){(int32_t)some - 1}, 1, &err);
        mw_program_run(program, &err);
        mw_program_read(program, "logits", MW_F32, logits, BATCH * WORDS, &err);
        const double d = difference(logits, wanted, BATCH * WORDS);
        check_note(err.status != MW_OK || d < 1e-5, __FILE__, __LINE__, "%s: after %lld of %lld, logits differ by %.2g",
                   family, (long long)at, (long long)each, d);
    }
    CHECK_OK(err);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

static void test_cached_logits_are_those_without(void)
{
    for (size_t i = 0; i < FAMILIES; i++) {
        expected e;
        if (CHECK(open_expected(&e, families[i]))) {
            check_cached(&e, families[i], 1);
            check_cached(&e, families[i], 4);
        }
        mw__arena_deinit(&e.arena);
    }
}

/* ---- files ---- */

static void check_names(const expected *e, const char *family)
{
    mw_error err = {0};
    mw_graph *graph = make_graph(e, 1, 4, 0, true, &err);
    mw_trainer *trainer = engine_trainer(mw_graph_find(graph, "loss"), mw_sgd(0.1F), MW_DEVICE_CPU, 1, &err);
    mw_trainer_load_weights(trainer, e->folder, NULL, &err);
    mw_trainer_save_weights(trainer, "saved.safetensors", &err);
    char path[600];
    snprintf(path, sizeof path, "%s/model.safetensors", e->folder);
    mw_tensors *saved = mw_tensors_open("saved.safetensors", &err), *own = mw_tensors_open(path, &err);
    const size_t count = mw_tensors_get_info(own).count;
    CHECK_INT(mw_tensors_get_info(saved).count, count);
    for (size_t i = 0; i < count; i++) {
        const mw_tensor_info *info = mw_tensors_at(own, i), *other = mw_tensors_find(saved, info->name);
        check_note(other != NULL && mw_shape_equal(other->shape, info->shape), __FILE__, __LINE__,
                   "%s: %s is not saved in its shape", family, info->name);
    }
    CHECK_OK(err);
    mw_tensors_destroy(saved);
    mw_tensors_destroy(own);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
}

static void test_weights_are_saved_under_the_names_of_the_files(void)
{
    char folder[512];
    REQUIRE(folder_enter(folder));
    for (size_t i = 0; i < FAMILIES; i++) {
        expected e;
        if (CHECK(open_expected(&e, families[i])))
            check_names(&e, families[i]);
        mw__arena_deinit(&e.arena);
    }
    folder_leave(folder);
}

/* ---- configurations ---- */

static void refuse_config(const char *content, mw_status status, const char *part)
{
    mw_error err = {0};
    mw_text_config config;
    mw__file_write(NULL, "config.json", content, strlen(content), false, &err);
    mw_text_config_read(".", &config, &err);
    CHECK_ERROR(err, status, part);
}

#define SIZES "\"hidden_size\": 8, \"num_hidden_layers\": 1, \"num_attention_heads\": 2, \"vocab_size\": 9"

static void test_configurations_that_are_not_built_are_refused(void)
{
    char folder[512];
    REQUIRE(folder_enter(folder));
    refuse_config("{\"model_type\": \"mamba\"}", MW_ERROR_UNSUPPORTED, "mamba");
    refuse_config("{}", MW_ERROR_UNSUPPORTED, "model_type");
    refuse_config("{\"model_type\": \"llama\"}", MW_ERROR_FORMAT, "num_hidden_layers");
    refuse_config("{\"model_type\": \"llama\", " SIZES ", \"hidden_act\": \"relu\"}", MW_ERROR_UNSUPPORTED, "relu");
    refuse_config("{\"model_type\": \"llama\", " SIZES ", \"mlp_bias\": true}", MW_ERROR_UNSUPPORTED, "mlp_bias true");
    refuse_config("{\"model_type\": \"llama\", " SIZES ", \"rope_scaling\": {\"rope_type\": \"yarn\"}}",
                  MW_ERROR_UNSUPPORTED, "yarn");
    refuse_config("{\"model_type\": \"llama\", " SIZES ", \"rope_interleaved\": true}", MW_ERROR_UNSUPPORTED,
                  "rope_interleaved");
    refuse_config("{\"model_type\": \"llama\", " SIZES ", \"rms_norm_eps\": -1}", MW_ERROR_FORMAT, "rms_norm_eps");
    refuse_config("{\"model_type\": \"llama\", " SIZES ", \"num_key_value_heads\": 1.5}", MW_ERROR_FORMAT,
                  "num_key_value_heads");
    folder_leave(folder);
}

/* SmolLM2's, as it is given out; and the form that newer files have. */
static void test_configurations_of_smollm_are_read(void)
{
    char folder[512];
    mw_text_config c;
    mw_error err = {0};
    REQUIRE(folder_enter(folder));
    folder_put("config.json",
               "{\"architectures\": [\"LlamaForCausalLM\"], \"attention_bias\": false, \"attention_dropout\": 0.0, "
               "\"bos_token_id\": 0, \"eos_token_id\": 0, \"hidden_act\": \"silu\", \"hidden_size\": 576, "
               "\"intermediate_size\": 1536, \"is_llama_config\": true, \"max_position_embeddings\": 8192, "
               "\"mlp_bias\": false, \"model_type\": \"llama\", \"num_attention_heads\": 9, "
               "\"num_hidden_layers\": 30, \"num_key_value_heads\": 3, \"pretraining_tp\": 1, "
               "\"rms_norm_eps\": 1e-05, \"rope_interleaved\": false, \"rope_scaling\": null, "
               "\"rope_theta\": 100000, \"tie_word_embeddings\": true, \"torch_dtype\": \"bfloat16\", "
               "\"use_cache\": true, \"vocab_size\": 49152}");
    mw_text_config_read(".", &c, &err);
    CHECK_OK(err);
    CHECK(c.tied && c.rope_theta == 100000.0 && c.kv_heads == 3 && c.head_width == 64 && c.rope_factor == 1.0);
    folder_put("config.json", "{\"model_type\": \"llama\", " SIZES
                              ", \"rope_parameters\": {\"rope_theta\": 5000.0, \"rope_type\": \"default\"}}");
    mw_text_config_read(".", &c, &err);
    CHECK_OK(err);
    CHECK(c.rope_theta == 5000.0 && c.rope_factor == 1.0);
    folder_leave(folder);
}

static void test_graphs_that_do_not_fit_are_refused(void)
{
    mw_error err = {0};
    expected e;
    REQUIRE(open_expected(&e, "llama"));
    CHECK(make_graph(&e, 1, 65, 0, false, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "64 positions");
    mw_error_clear(&err);
    CHECK(make_graph(&e, 1, 4, 16, true, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "a loss");
    mw_error_clear(&err);
    mw_text_graph_options o = mw_text_graph_defaults();
    o.tokens = 4;
    o.loss = true;
    o.weights = MW_F16;
    CHECK(mw_text_graph(&e.config, &o, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "fp16 without a loss");
    mw_error_clear(&err);
    o = mw_text_graph_defaults();
    o.tokens = 4;
    o.cache = 16;
    o.apart = true;
    CHECK(mw_text_graph(&e.config, &o, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "a cache of 16 and documents apart");
    mw_error_clear(&err);
    e.config.kv_heads = 3;
    CHECK(make_graph(&e, 1, 4, 0, false, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "3 groups");
    mw__arena_deinit(&e.arena);
}

int main(void)
{
    RUN(test_logits_are_those_of_pytorch);
    RUN(test_logits_of_fp16_weights_are_near);
    RUN(test_logits_on_the_ane_are_near);
    RUN(test_losses_and_gradients_are_those_of_pytorch);
    RUN(test_documents_apart_are_those_of_pytorch);
    RUN(test_cached_logits_are_those_without);
    RUN(test_weights_are_saved_under_the_names_of_the_files);
    RUN(test_configurations_that_are_not_built_are_refused);
    RUN(test_configurations_of_smollm_are_read);
    RUN(test_graphs_that_do_not_fit_are_refused);
    return check_finish();
}
