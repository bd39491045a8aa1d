/* Encoders against an independent form in PyTorch (make_models.py): hidden states, pooled tokens, logits, the loss of
 * masked words and its gradients, on both devices; and folders under the names that they came with. */
#include "base/file/file.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/on_engine.h"
#include "text/json/tree.h"
#include "text/pretrained/pretrained.h"

#include <math.h>
#include <millwright/tensors.h>
#include <millwright/text.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { BATCH = 2, TOKENS = 11, WORDS = 40, WIDTH = 16, CELLS = BATCH * TOKENS };
#define FOLDER_OF(name) MW_TESTS_DIR "/text/models/" name

/* What PyTorch says of an encoder. */
typedef struct expected {
    mw__arena arena;
    const mw__json_node *root;
    const char *folder;
    mw_text_config config;
    int32_t tokens[CELLS], types[CELLS], mask[CELLS];
} expected;

static size_t take_integers(const expected *e, const char *key, int32_t *out)
{
    size_t count = 0;
    for (const mw__json_node *n = mw__tree_find(e->root, key)->first; n != NULL; n = n->next)
        out[count++] = (int32_t)n->number;
    return count;
}

static bool open_expected(expected *e, const char *folder)
{
    char path[600], *text = NULL;
    size_t size = 0;
    mw_error err = {0};
    *e = (expected){.folder = folder};
    snprintf(path, sizeof path, "%s/expected.json", folder);
    mw__arena_init(&e->arena, NULL);
    mw__file_read(NULL, path, SIZE_MAX, &text, &size, &err);
    e->root = text != NULL ? mw__tree_read(&e->arena, text, size, &err) : NULL;
    mw__free(mw__allocator_default(), text);
    mw_text_config_read(folder, &e->config, &err);
    return CHECK_OK(err) && take_integers(e, "tokens", e->tokens) == CELLS &&
           take_integers(e, "types", e->types) == CELLS && take_integers(e, "mask", e->mask) == CELLS;
}

/* ---- outputs ---- */

/* The largest difference, relative to the largest element. */
static void check_close(const expected *e, const char *what, const float *found, double tolerance)
{
    double most = 0.0, largest = 0.0;
    size_t i = 0;
    for (const mw__json_node *n = mw__tree_find(e->root, what)->first; n != NULL; n = n->next, i++) {
        most = fmax(most, fabs((double)found[i] - n->number));
        largest = fmax(largest, fabs(n->number));
    }
    const double d = most / largest;
    check_note(d < tolerance, __FILE__, __LINE__, "%s: %s differ by %.2g", e->folder, what, d);
}

static mw_program *make_program(const expected *e, mw_dtype weights, mw_device device, mw_error *err)
{
    mw_text_graph_options o = mw_text_graph_defaults();
    mw__pretrained files;
    o.batch = BATCH;
    o.tokens = TOKENS;
    o.weights = weights;
    mw_graph *graph = mw_text_graph(&e->config, &o, err);
    mw_program *program = graph != NULL ? engine_compile(graph, device, 2, err) : NULL;
    if (program != NULL && mw__pretrained_open(&files, e->folder, err) == MW_OK)
        mw__pretrained_load(&files, program, err);
    if (program != NULL)
        mw__pretrained_deinit(&files);
    mw_graph_destroy(graph);
    return program;
}

static void check_outputs(const expected *e, mw_dtype weights, mw_device device, double tolerance)
{
    static float out[CELLS * WORDS];
    static const struct {
        const char *name;
        size_t count;
    } outputs[] = {{"hidden", CELLS * WIDTH}, {"pooled", BATCH * WIDTH}, {"logits", CELLS * WORDS}};
    mw_error err = {0};
    mw_program *program = make_program(e, weights, device, &err);
    mw_program_write(program, "tokens", MW_I32, e->tokens, CELLS, &err);
    mw_program_write(program, "types", MW_I32, e->types, CELLS, &err);
    mw_program_write(program, "mask", MW_I32, e->mask, CELLS, &err);
    mw_program_run(program, &err);
    for (size_t i = 0; i < 3 && CHECK_OK(err); i++) {
        if (mw__tree_find(e->root, outputs[i].name) == NULL || (i == 1 && !e->config.pooler))
            continue;
        if (mw_program_read(program, outputs[i].name, MW_F32, out, outputs[i].count, &err) == MW_OK)
            check_close(e, outputs[i].name, out, tolerance);
    }
    mw_program_destroy(program);
}

static const char *const folders[] = {FOLDER_OF("bert"), FOLDER_OF("minilm")};
#define MINILM_GGUF MW_TESTS_DIR "/text/files/minilm.gguf"

static void check_all_outputs(mw_dtype weights, mw_device device, double tolerance)
{
    for (size_t i = 0; i < 2; i++) {
        expected e;
        if (CHECK(open_expected(&e, folders[i])))
            check_outputs(&e, weights, device, tolerance);
        mw__arena_deinit(&e.arena);
    }
}

static void test_outputs_are_those_of_pytorch(void) { check_all_outputs(MW_F32, MW_DEVICE_CPU, 1e-5); }
/* Matrices of fp16 are off by 2^-11 of their elements. */
static void test_outputs_of_fp16_weights_are_near(void) { check_all_outputs(MW_F16, MW_DEVICE_CPU, 1e-2); }
/* fp16 of 10 bits, through some thirty operations of each of two layers. */
static void test_outputs_on_the_ane_are_near(void) { check_all_outputs(MW_F32, MW_DEVICE_ANE, 2e-2); }

/* GGUF has no pooler. */
static void test_an_encoder_of_gguf_has_the_same_outputs(void)
{
    expected e;
    mw_error err = {0};
    REQUIRE(open_expected(&e, folders[1]));
    e.folder = MINILM_GGUF;
    mw_text_config_read(e.folder, &e.config, &err);
    REQUIRE(CHECK_OK(err));
    CHECK(!e.config.pooler && !e.config.word_head && e.config.types == 2 && e.config.hidden == 24);
    check_outputs(&e, MW_F32, MW_DEVICE_CPU, 1e-5);
    mw__arena_deinit(&e.arena);
}

/* The folder says which ends there are: the class in config.json alone does not. */
static void test_ends_are_those_of_the_weights(void)
{
    expected bert, minilm;
    REQUIRE(open_expected(&bert, folders[0]) && open_expected(&minilm, folders[1]));
    CHECK(bert.config.word_head && bert.config.pooler);
    CHECK(!minilm.config.word_head && minilm.config.pooler);
    CHECK_INT(bert.config.types, 2);
    mw__arena_deinit(&bert.arena);
    mw__arena_deinit(&minilm.arena);
}

/* ---- masked words ---- */

/* A step of gradient descent at the rate 1 leaves p - dp. */
static void check_gradient(const mw__json_node *wanted, const float *before, const float *after, size_t count)
{
    double sum = 0.0, squares = 0.0;
    for (size_t i = 0; i < count; i++) {
        const double g = (double)before[i] - (double)after[i];
        sum += g;
        squares += g * g;
    }
    const double all = sqrt(wanted->last->number * (double)count);
    check_note(fabs(sum - wanted->first->number) < 1e-4 * all + 1e-5, __FILE__, __LINE__,
               "the gradient of %s adds up to %g, not %g", wanted->key, sum, wanted->first->number);
    check_note(fabs(squares - wanted->last->number) < 1e-3 * wanted->last->number + 1e-8, __FILE__, __LINE__,
               "the gradient of %s has the squares %g, not %g", wanted->key, squares, wanted->last->number);
}

/* Of a parameter by its name, [count]. */
static size_t read_parameter(mw_trainer *trainer, const char *name, float out[1024], mw_error *err)
{
    mw_port port;
    for (size_t i = 0; mw_program_port_at(mw_trainer_program(trainer), i, &port); i++)
        if (strcmp(port.name, name) == 0) {
            const size_t count = (size_t)mw_shape_count(port.shape);
            return CHECK(count <= 1024) && mw_trainer_read(trainer, name, MW_F32, out, count, err) == MW_OK ? count : 0;
        }
    return 0;
}

static mw_trainer *make_trainer(const expected *e, mw_graph **graph, mw_text_tuning tuning, float rate, mw_error *err)
{
    mw_text_graph_options o = mw_text_graph_defaults();
    o.batch = BATCH;
    o.tokens = TOKENS;
    o.loss = true;
    o.tuning = tuning;
    *graph = mw_text_graph(&e->config, &o, err);
    mw_trainer *trainer =
        *graph != NULL ? engine_trainer(mw_graph_find(*graph, "loss"), mw_sgd(rate), MW_DEVICE_CPU, 2, err) : NULL;
    if (trainer != NULL)
        mw_text_load_weights(trainer, e->folder, err);
    return trainer;
}

static float step(mw_trainer *trainer, const expected *e, mw_error *err)
{
    int32_t labels[CELLS];
    float loss = 0.0F;
    take_integers(e, "labels", labels);
    const mw_feed feeds[] = {{.name = "tokens", .dtype = MW_I32, .data = e->tokens, .count = CELLS},
                             {.name = "types", .dtype = MW_I32, .data = e->types, .count = CELLS},
                             {.name = "mask", .dtype = MW_I32, .data = e->mask, .count = CELLS},
                             {.name = "labels", .dtype = MW_I32, .data = labels, .count = CELLS}};
    mw_trainer_step(trainer, &(mw_batch){.feeds = feeds, .feed_count = 4}, &loss, err);
    return loss;
}

static void test_loss_and_gradients_of_masked_words_are_those_of_pytorch(void)
{
    static float before[64][1024], after[1024];
    size_t counts[64], count = 0;
    expected e;
    mw_error err = {0};
    mw_graph *graph;
    REQUIRE(open_expected(&e, folders[0]));
    mw_trainer *trainer = make_trainer(&e, &graph, (mw_text_tuning){0}, 1.0F, &err);
    REQUIRE(CHECK_OK(err));
    const mw__json_node *all = mw__tree_find(e.root, "gradients");
    for (const mw__json_node *g = all->first; g != NULL; g = g->next, count++)
        counts[count] = read_parameter(trainer, g->key, before[count], &err);
    CHECK_NEAR(step(trainer, &e, &err), mw__tree_number(e.root, "loss", 0.0), 1e-5);
    CHECK_OK(err);
    CHECK_INT(count, 42);
    count = 0;
    for (const mw__json_node *g = all->first; g != NULL; g = g->next, count++)
        if (CHECK(counts[count] > 0 && read_parameter(trainer, g->key, after, &err) == counts[count]))
            check_gradient(g, before[count], after, counts[count]);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
    mw__arena_deinit(&e.arena);
}

/* Adapters sit on query and value; merged, the folder has its own names again. */
static void test_adapters_are_saved_under_the_names_of_the_folder(void)
{
    char folder[512];
    expected e;
    mw_error err = {0};
    mw_graph *graph;
    REQUIRE(folder_enter(folder));
    REQUIRE(open_expected(&e, folders[0]));
    mw_trainer *trainer = make_trainer(&e, &graph, (mw_text_tuning){.rank = 2}, 0.5F, &err);
    const float first = step(trainer, &e, &err), second = step(trainer, &e, &err), third = step(trainer, &e, &err);
    CHECK(second < first && third < second);
    mw_text_save_trained(trainer, e.folder, "tuned", NULL, &err);
    mw_tensors *own = mw_tensors_open(e.folder, &err), *saved = mw_tensors_open("tuned", &err);
    REQUIRE(CHECK_OK(err));
    static float a[1024], b[1024];
    size_t changed = 0;
    CHECK_INT(mw_tensors_get_info(saved).count, mw_tensors_get_info(own).count);
    for (size_t i = 0; i < mw_tensors_get_info(own).count; i++) {
        const mw_tensor_info *info = mw_tensors_at(own, i);
        const size_t count = (size_t)mw_shape_count(info->shape);
        mw_tensors_read(own, info->name, MW_F32, a, count, &err);
        mw_tensors_read(saved, info->name, MW_F32, b, count, &err);
        const bool differs = memcmp(a, b, count * sizeof *a) != 0;
        const bool adapted = strstr(info->name, "query.weight") != NULL || strstr(info->name, "value.weight") != NULL;
        check_note(differs == adapted, __FILE__, __LINE__, "%s %s", info->name, differs ? "changed" : "did not change");
        changed += differs;
    }
    CHECK_INT(changed, 4);
    CHECK_OK(err);
    mw_tensors_destroy(own);
    mw_tensors_destroy(saved);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
    mw__arena_deinit(&e.arena);
    folder_leave(folder);
}

/* ---- files as they are given out ---- */

/* A folder with what others have in theirs: places by number, a second head, and the tied head once more. */
static void put_whole_folder(const char *folder, mw_error *err)
{
    static float data[64][1024];
    static const int64_t places[64];
    char path[600];
    mw_tensor_values values[64];
    mw_tensors *own = mw_tensors_open(folders[0], err);
    size_t count = 0, words = 0, bias = 0;
    for (; count < mw_tensors_get_info(own).count; count++) {
        const mw_tensor_info *info = mw_tensors_at(own, count);
        mw_tensors_read(own, info->name, MW_F32, data[count], (size_t)mw_shape_count(info->shape), err);
        values[count] = (mw_tensor_values){info->name, MW_F32, info->shape, data[count]};
        words = strstr(info->name, "word_embeddings") != NULL ? count : words;
        bias = strcmp(info->name, "cls.predictions.bias") == 0 ? count : bias;
    }
    values[count++] = (mw_tensor_values){"bert.embeddings.position_ids", MW_I64, MW_SHAPE(1, 64), places};
    values[count++] = (mw_tensor_values){"cls.seq_relationship.weight", MW_F32, MW_SHAPE(2, WIDTH), data[60]};
    values[count++] =
        (mw_tensor_values){"cls.predictions.decoder.weight", MW_F32, MW_SHAPE(WORDS, WIDTH), values[words].data};
    values[count++] = (mw_tensor_values){"cls.predictions.decoder.bias", MW_F32, MW_SHAPE(WORDS), values[bias].data};
    snprintf(path, sizeof path, "%s/model.safetensors", folder);
    mw_tensors_write(path, values, count, err);
    mw_tensors_destroy(own);
}

static void check_same(mw_tensors *tensors, const char *one, const char *other, size_t count)
{
    static float a[1024], b[1024];
    mw_error err = {0};
    mw_tensors_read(tensors, one, MW_F32, a, count, &err);
    mw_tensors_read(tensors, other, MW_F32, b, count, &err);
    CHECK_OK(err);
    CHECK(memcmp(a, b, count * sizeof *a) == 0);
}

/* What was trained stands under every name that the folder has for it. */
static void test_whole_folders_keep_their_tensors(void)
{
    char folder[512], *config = NULL;
    size_t size = 0;
    expected e;
    mw_error err = {0};
    mw_graph *graph;
    REQUIRE(folder_enter(folder));
    REQUIRE(open_expected(&e, folders[0]) && mkdir("base", 0777) == 0);
    mw__file_read(NULL, FOLDER_OF("bert") "/config.json", SIZE_MAX, &config, &size, &err);
    mw__file_write(NULL, "base/config.json", config, size, false, &err);
    mw__free(mw__allocator_default(), config);
    put_whole_folder("base", &err);
    e.folder = "base";
    mw_trainer *trainer = make_trainer(&e, &graph, (mw_text_tuning){0}, 0.1F, &err);
    step(trainer, &e, &err);
    mw_text_save_trained(trainer, "base", "tuned", NULL, &err);
    mw_tensors *before = mw_tensors_open("base", &err), *after = mw_tensors_open("tuned", &err);
    REQUIRE(CHECK_OK(err));
    CHECK_INT(mw_tensors_get_info(after).count, mw_tensors_get_info(before).count);
    CHECK(mw_tensors_find(after, "bert.embeddings.position_ids")->dtype == MW_I64);
    check_same(after, "cls.predictions.decoder.weight", "bert.embeddings.word_embeddings.weight", WORDS * WIDTH);
    check_same(after, "cls.predictions.decoder.bias", "cls.predictions.bias", WORDS);
    mw_tensors_destroy(before);
    mw_tensors_destroy(after);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
    mw__arena_deinit(&e.arena);
    folder_leave(folder);
}

/* ---- what is refused ---- */

static void test_what_an_encoder_cannot_do_is_refused(void)
{
    expected e;
    mw_error err = {0};
    mw_text_graph_options o = mw_text_graph_defaults();
    REQUIRE(open_expected(&e, folders[1]));
    o.tokens = 8;
    o.cache = 16;
    CHECK(mw_text_graph(&e.config, &o, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "bert is an encoder");
    mw_error_clear(&err);
    o.cache = 0;
    o.loss = true;
    CHECK(mw_text_graph(&e.config, &o, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "no head of masked words");
    mw_error_clear(&err);
    o.loss = false;
    e.config.types = 0;
    CHECK(mw_text_graph(&e.config, &o, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "0 kinds of tokens");
    mw__arena_deinit(&e.arena);
}

static void refuse_config(const char *more, mw_status status, const char *part)
{
    char content[600];
    mw_error err = {0};
    mw_text_config config;
    snprintf(content, sizeof content,
             "{\"model_type\": \"bert\", \"hidden_size\": 8, \"num_hidden_layers\": 1, \"num_attention_heads\": 2, "
             "\"vocab_size\": 9, %s}",
             more);
    mw__file_write(NULL, "config.json", content, strlen(content), false, &err);
    mw_text_config_read("config.json", &config, &err);
    CHECK_ERROR(err, status, part);
}

static void test_configurations_of_encoders_that_are_not_built_are_refused(void)
{
    char folder[512];
    REQUIRE(folder_enter(folder));
    refuse_config("\"hidden_act\": \"relu\"", MW_ERROR_UNSUPPORTED, "relu");
    refuse_config("\"position_embedding_type\": \"relative_key\"", MW_ERROR_UNSUPPORTED, "relative_key");
    refuse_config("\"is_decoder\": true", MW_ERROR_UNSUPPORTED, "is_decoder");
    refuse_config("\"type_vocab_size\": 0", MW_ERROR_FORMAT, "type_vocab_size");
    refuse_config("\"layer_norm_eps\": -1", MW_ERROR_FORMAT, "layer_norm_eps");
    folder_leave(folder);
}

int main(void)
{
    RUN(test_outputs_are_those_of_pytorch);
    RUN(test_outputs_of_fp16_weights_are_near);
    RUN(test_outputs_on_the_ane_are_near);
    RUN(test_an_encoder_of_gguf_has_the_same_outputs);
    RUN(test_ends_are_those_of_the_weights);
    RUN(test_loss_and_gradients_of_masked_words_are_those_of_pytorch);
    RUN(test_adapters_are_saved_under_the_names_of_the_folder);
    RUN(test_whole_folders_keep_their_tensors);
    RUN(test_what_an_encoder_cannot_do_is_refused);
    RUN(test_configurations_of_encoders_that_are_not_built_are_refused);
    return check_finish();
}
