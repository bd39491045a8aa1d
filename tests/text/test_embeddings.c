/* Embeddings of texts: those of numpy (make_models.py) in every order and number of texts, on both devices; what
 * sentence-transformers has beside the weights, and what is refused of it. */
#include "base/file/file.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/setting.h"
#include "text/json/tree.h"

#include <math.h>
#include <millwright/text.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { WIDTH = 16, TEXTS = 6, MANY = 70 };
#define MINILM MW_TESTS_DIR "/text/models/minilm"

/* What numpy says: for each text the mean of length 1, and what is hidden at its first token. */
static struct {
    mw__arena arena;
    const char *text[TEXTS];
    float mean[TEXTS][WIDTH], cls[TEXTS][WIDTH];
} wanted;

static void take_vector(const mw__json_node *list, float out[WIDTH])
{
    for (const mw__json_node *n = list->first; n != NULL; n = n->next)
        *out++ = (float)n->number;
}

static bool open_wanted(void)
{
    char *text = NULL;
    size_t size = 0, count = 0;
    mw_error err = {0};
    mw__arena_init(&wanted.arena, NULL);
    mw__file_read(NULL, MINILM "/expected.json", SIZE_MAX, &text, &size, &err);
    const mw__json_node *root = text != NULL ? mw__tree_read(&wanted.arena, text, size, &err) : NULL;
    mw__free(mw__allocator_default(), text);
    if (!CHECK_OK(err))
        return false;
    for (const mw__json_node *n = mw__tree_find(root, "sentences")->first; n != NULL; n = n->next, count++) {
        wanted.text[count] = mw__tree_text(n, "text");
        take_vector(mw__tree_find(n, "mean"), wanted.mean[count]);
        take_vector(mw__tree_find(n, "cls"), wanted.cls[count]);
    }
    return count == TEXTS;
}

static double distance(const float *a, const float *b)
{
    double most = 0.0;
    for (size_t i = 0; i < WIDTH; i++)
        most = fmax(most, fabs((double)a[i] - (double)b[i]));
    return most;
}

static mw_text_model *open_model(const char *folder, mw_device device, mw_dtype weights, mw_error *err)
{
    mw_compile_options compile = mw_compile_defaults();
    mw_text_model_options o = mw_text_model_defaults();
    compile.device = device;
    o.compile = &compile;
    o.weights = weights;
    return mw_text_model_open(folder, &o, err);
}

/* ---- numbers ---- */

/* All texts, in turns: batches of every size, of several lengths. */
static void check_means(mw_device device, mw_dtype weights, double tolerance)
{
    static const size_t counts[] = {1, 2, 3, TEXTS, 33, MANY};
    const char *texts[MANY];
    float out[MANY][WIDTH];
    mw_error err = {0};
    mw_text_model *model = open_model(MINILM, device, weights, &err);
    for (size_t i = 0; i < MANY; i++)
        texts[i] = wanted.text[i % TEXTS];
    for (size_t k = 0; k < sizeof counts / sizeof *counts && CHECK_OK(err); k++) {
        mw_text_model_embed(model, texts, counts[k], NULL, out[0], &err);
        for (size_t i = 0; CHECK_OK(err) && i < counts[k]; i++) {
            const double d = distance(out[i], wanted.mean[i % TEXTS]);
            check_note(d < tolerance, __FILE__, __LINE__, "text %zu of %zu is off by %.2g", i, counts[k], d);
        }
    }
    mw_text_model_destroy(model);
}

static void test_embeddings_are_those_of_numpy(void) { check_means(MW_DEVICE_CPU, MW_F32, 1e-6); }
static void test_embeddings_of_fp16_weights_are_near(void) { check_means(MW_DEVICE_CPU, MW_F16, 5e-3); }
static void test_embeddings_on_the_ane_are_near(void) { check_means(MW_DEVICE_ANE, MW_F32, 2e-2); }

/* A folder's Normalize holds for every pooling. */
static void test_the_first_token_is_taken_where_it_is_asked_for(void)
{
    float out[TEXTS][WIDTH];
    mw_error err = {0};
    mw_embed_options o = mw_embed_defaults();
    o.pooling = MW_POOLING_CLS;
    mw_text_model *model = open_model(MINILM, MW_DEVICE_CPU, MW_F32, &err);
    mw_text_model_embed(model, wanted.text, TEXTS, &o, out[0], &err);
    for (size_t i = 0; CHECK_OK(err) && i < TEXTS; i++) {
        double squares = 0.0;
        for (size_t k = 0; k < WIDTH; k++)
            squares += (double)wanted.cls[i][k] * (double)wanted.cls[i][k];
        for (size_t k = 0; k < WIDTH; k++)
            CHECK_NEAR(out[i][k], (double)wanted.cls[i][k] / sqrt(squares), 1e-6);
    }
    mw_text_model_destroy(model);
}

/* ---- folders ---- */

static void copy_from(const char *from, const char *name)
{
    char path[600], *data = NULL;
    size_t size = 0;
    mw_error err = {0};
    snprintf(path, sizeof path, "%s/%s", from, name);
    mw__file_read(NULL, path, SIZE_MAX, &data, &size, &err);
    mw__file_write(NULL, name, data, size, false, &err);
    mw__free(mw__allocator_default(), data);
    CHECK_OK(err);
}

static void copy_in(const char *name) { copy_from(MINILM, name); }

static void enter_model(char folder[512])
{
    REQUIRE(folder_enter(folder));
    copy_in("config.json");
    copy_in("model.safetensors");
    copy_in("tokenizer.json");
    REQUIRE(mkdir("1_Pooling", 0777) == 0);
}

#define MODULE(kind, path) "{\"path\": \"" path "\", \"type\": \"sentence_transformers.models." kind "\"}"

/* Without modules the mean as it is; with `unit` of length 1. */
static void test_a_folder_without_modules_gives_plain_means(void)
{
    char folder[512];
    float plain[WIDTH], unit[WIDTH];
    mw_error err = {0};
    mw_embed_options o = mw_embed_defaults();
    enter_model(folder);
    mw_text_model *model = open_model(".", MW_DEVICE_CPU, MW_F32, &err);
    mw_text_model_embed(model, wanted.text, 1, &o, plain, &err);
    o.unit = true;
    mw_text_model_embed(model, wanted.text, 1, &o, unit, &err);
    REQUIRE(CHECK_OK(err));
    double length = 0.0;
    for (size_t k = 0; k < WIDTH; k++)
        length += (double)plain[k] * (double)plain[k];
    CHECK(fabs(length - 1.0) > 1e-3);
    CHECK(distance(unit, wanted.mean[0]) < 1e-6);
    for (size_t k = 0; k < WIDTH; k++)
        CHECK_NEAR(plain[k] / sqrt(length), wanted.mean[0][k], 1e-6);
    mw_text_model_destroy(model);
    folder_leave(folder);
}

static void check_cls(const char *pooling)
{
    float out[WIDTH];
    mw_error err = {0};
    folder_put("1_Pooling/config.json", pooling);
    mw_text_model *model = open_model(".", MW_DEVICE_CPU, MW_F32, &err);
    mw_text_model_embed(model, wanted.text, 1, NULL, out, &err);
    CHECK_OK(err);
    CHECK(distance(out, wanted.cls[0]) < 1e-5);
    mw_text_model_destroy(model);
}

/* By older files and newer ones. */
static void test_the_pooling_is_that_of_the_folder(void)
{
    char folder[512];
    enter_model(folder);
    folder_put("modules.json", "[" MODULE("Transformer", "") ", " MODULE("Pooling", "1_Pooling") "]");
    check_cls("{\"pooling_mode_cls_token\": true, \"pooling_mode_mean_tokens\": false}");
    check_cls("{\"pooling_mode\": \"cls\"}");
    folder_leave(folder);
}

static void refuse_modules(const char *modules, const char *pooling, mw_status status, const char *part)
{
    mw_error err = {0};
    folder_put("modules.json", modules);
    folder_put("1_Pooling/config.json", pooling);
    CHECK(open_model(".", MW_DEVICE_CPU, MW_F32, &err) == NULL);
    CHECK_ERROR(err, status, part);
}

static void test_modules_that_are_not_built_are_refused(void)
{
    char folder[512];
    enter_model(folder);
    const char *usual = "[" MODULE("Transformer", "") ", " MODULE("Pooling", "1_Pooling") "]";
    refuse_modules(usual, "{\"pooling_mode_max_tokens\": true}", MW_ERROR_UNSUPPORTED, "max");
    refuse_modules(usual, "{\"pooling_mode_mean_tokens\": true, \"pooling_mode_cls_token\": true}",
                   MW_ERROR_UNSUPPORTED, "behind each other");
    refuse_modules(usual, "{}", MW_ERROR_UNSUPPORTED, "no known kind");
    refuse_modules(usual, "{", MW_ERROR_FORMAT, "");
    refuse_modules("[" MODULE("Dense", "2_Dense") "]", "{}", MW_ERROR_UNSUPPORTED, "Dense");
    refuse_modules("[" MODULE("Pooling", "../other") "]", "{}", MW_ERROR_UNSUPPORTED, "../other");
    refuse_modules("[" MODULE("Pooling", "9_Pooling") "]", "{}", MW_ERROR_FILE, "9_Pooling");
    refuse_modules("[7]", "{}", MW_ERROR_UNSUPPORTED, "");
    refuse_modules("{}", "{}", MW_ERROR_FORMAT, "modules.json");
    folder_put("modules.json", "[]");
    folder_put("sentence_bert_config.json", "{\"max_seq_length\": -3}");
    mw_error err = {0};
    CHECK(open_model(".", MW_DEVICE_CPU, MW_F32, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "max_seq_length");
    folder_leave(folder);
}

/* ---- saved ---- */

enum { CUT = 4 }; /* the text that has more than the 12 tokens of sentence_bert_config.json */

static void check_saved(const char *from, const char *to, bool of_gguf)
{
    float out[TEXTS][WIDTH];
    mw_error err = {0};
    mw_embed_options o = mw_embed_defaults();
    mw_text_save(from, to, NULL, &err);
    mw_text_model *model = open_model(to, MW_DEVICE_CPU, MW_F32, &err);
    o.unit = of_gguf;
    mw_text_model_embed(model, wanted.text, TEXTS, &o, out[0], &err);
    check_note(err.status == MW_OK, __FILE__, __LINE__, "%s to %s: %s", from, to, err.message);
    for (size_t i = 0; err.status == MW_OK && i < TEXTS; i++) {
        const double d = distance(out[i], wanted.mean[i]);
        check_note((of_gguf && i == CUT) || d < 1e-6, __FILE__, __LINE__, "%s to %s: text %zu is off by %.2g", from, to,
                   i, d);
    }
    mw_text_model_destroy(model);
}

/* A folder stays what it was; GGUF does not say that vectors have the length 1, nor how long a text may be. */
static void test_what_is_saved_gives_the_same_embeddings(void)
{
    char folder[512];
    REQUIRE(folder_enter(folder));
    check_saved(MINILM, "copy", false);
    check_saved(MINILM, "mini.gguf", true);
    check_saved("mini.gguf", "back", true);
    check_saved("back", "again.gguf", true);
    struct stat found;
    CHECK(stat("copy/1_Pooling/config.json", &found) == 0 && stat("back/tokenizer.json", &found) == 0);
    folder_leave(folder);
}

/* ---- with a trainer ---- */

enum { BATCH = 2, LENGTH = 8, CELLS = BATCH * LENGTH };

static mw_trainer *make_trainer(mw_graph **graph, mw_text_tuning tuning, mw_error *err)
{
    mw_text_config config;
    mw_text_graph_options o = mw_text_graph_defaults();
    o.batch = BATCH;
    o.tokens = LENGTH;
    o.loss = true;
    o.tuning = tuning;
    mw_text_config_read(".", &config, err);
    *graph = mw_text_graph(&config, &o, err);
    mw_trainer_options made = mw_trainer_defaults(mw_graph_find(*graph, "loss"), mw_sgd(0.5F));
    made.compile.device = MW_DEVICE_CPU;
    mw_trainer *trainer = *graph != NULL ? mw_trainer_create(&made, err) : NULL;
    mw_text_load_weights(trainer, ".", err);
    return trainer;
}

static void learn_words(mw_trainer *trainer, mw_error *err)
{
    int32_t tokens[CELLS], types[CELLS] = {0}, mask[CELLS], labels[CELLS];
    float loss;
    for (int32_t i = 0; i < CELLS; i++) {
        tokens[i] = 5 + i % 9;
        mask[i] = i % LENGTH < 6;
        labels[i] = i % 3 == 0 ? 7 : -100;
    }
    const mw_feed feeds[] = {{.name = "tokens", .dtype = MW_I32, .data = tokens, .count = CELLS},
                             {.name = "types", .dtype = MW_I32, .data = types, .count = CELLS},
                             {.name = "mask", .dtype = MW_I32, .data = mask, .count = CELLS},
                             {.name = "labels", .dtype = MW_I32, .data = labels, .count = CELLS}};
    for (int i = 0; i < 2; i++)
        mw_trainer_step(trainer, &(mw_batch){.feeds = feeds, .feed_count = 4}, &loss, err);
}

static void embed_with(const char *folder, mw_trainer *trainer, mw_text_tuning tuning, float out[TEXTS][WIDTH],
                       mw_error *err)
{
    mw_compile_options compile = mw_compile_defaults();
    mw_text_model_options o = mw_text_model_defaults();
    compile.device = MW_DEVICE_CPU;
    compile.share.trainer = trainer;
    o.compile = &compile;
    o.tuning = tuning;
    mw_text_model *model = mw_text_model_open(folder, &o, err);
    mw_text_model_embed(model, wanted.text, TEXTS, NULL, out[0], err);
    mw_text_model_destroy(model);
}

static void check_trained(mw_text_tuning tuning)
{
    static const mw_text_tuning none = {0};
    float before[TEXTS][WIDTH], shared[TEXTS][WIDTH], after[TEXTS][WIDTH], saved[TEXTS][WIDTH];
    mw_error err = {0};
    mw_graph *graph;
    mw_trainer *trainer = make_trainer(&graph, tuning, &err);
    embed_with(".", NULL, none, before, &err);
    embed_with(".", trainer, tuning, shared, &err);
    learn_words(trainer, &err);
    embed_with(".", trainer, tuning, after, &err);
    mw_text_save_trained(trainer, ".", "tuned", NULL, &err);
    embed_with("tuned", NULL, none, saved, &err);
    CHECK_OK(err);
    CHECK(distance(before[0], shared[0]) < 1e-5 && distance(before[0], after[0]) > 1e-4);
    for (size_t i = 0; err.status == MW_OK && i < TEXTS; i++)
        CHECK(distance(after[i], saved[i]) < 1e-5);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
}

/* All weights, and adapters; the weights of the trainer as they are. */
static void test_a_trainer_that_learns_masked_words_lends_its_weights(void)
{
    char folder[512];
    REQUIRE(folder_enter(folder));
    copy_in("tokenizer.json");
    copy_from(MW_TESTS_DIR "/text/models/bert", "config.json");
    copy_from(MW_TESTS_DIR "/text/models/bert", "model.safetensors");
    check_trained((mw_text_tuning){0});
    check_trained((mw_text_tuning){.rank = 2});
    folder_leave(folder);
}

/* ---- what is refused ---- */

static void refuse_texts(mw_text_model *model, const char *const *texts, size_t count, const mw_embed_options *o,
                         mw_status status, const char *part)
{
    float out[2 * WIDTH];
    mw_error err = {0};
    mw_text_model_embed(model, texts, count, o, out, &err);
    CHECK_ERROR(err, status, part);
}

static void test_what_has_no_embedding_is_refused(void)
{
    const char *const texts[] = {"a", NULL};
    mw_error err = {0};
    mw_text_model *model = open_model(MINILM, MW_DEVICE_CPU, MW_F32, &err);
    mw_text_model *writer = open_model(MW_TESTS_DIR "/text/models/llama", MW_DEVICE_CPU, MW_F32, &err);
    mw_embed_options wrong = mw_embed_defaults();
    wrong.pooling = (mw_pooling)7;
    REQUIRE(CHECK_OK(err));
    refuse_texts(model, texts, 2, NULL, MW_ERROR_ARGUMENT, "text 1 is NULL");
    refuse_texts(model, NULL, 2, NULL, MW_ERROR_ARGUMENT, "no texts");
    refuse_texts(model, texts, 1, &wrong, MW_ERROR_ARGUMENT, "pooling is 7");
    refuse_texts(writer, texts, 1, NULL, MW_ERROR_UNSUPPORTED, "llama is no encoder");
    refuse_texts(model, NULL, 0, NULL, MW_OK, "");
    CHECK(mw_text_model_generate(model, "a", NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "bert is an encoder");
    mw_text_model_destroy(writer);
    mw_text_model_destroy(model);
}

static void test_texts_beyond_the_positions_are_refused_at_opening(void)
{
    mw_error err = {0};
    mw_text_model_options o = mw_text_model_defaults();
    o.cache = 65;
    CHECK(mw_text_model_open(MINILM, &o, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "64 positions");
}

/* A token beyond the table is named before the run. */
static void test_tokens_beyond_the_table_are_refused(void)
{
    char folder[512];
    const char *const texts[] = {"a", "zz"};
    mw_error err = {0};
    enter_model(folder);
    folder_put("vocab.txt",
               "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\nn\no\np\nq\nr\ns\nt\n"
               "u\nv\nw\nx\ny\n1\n2\n3\n4\n5\n6\n7\n8\n9\n0\n!\nzz\n");
    REQUIRE(remove("tokenizer.json") == 0);
    mw_text_model *model = open_model(".", MW_DEVICE_CPU, MW_F32, &err);
    REQUIRE(CHECK_OK(err));
    refuse_texts(model, texts, 2, NULL, MW_ERROR_ARGUMENT, "token 1 of text 1 has the number 41");
    mw_text_model_destroy(model);
    folder_leave(folder);
}

int main(void)
{
    CHECK(open_wanted());
    RUN(test_embeddings_are_those_of_numpy);
    RUN(test_embeddings_of_fp16_weights_are_near);
    RUN(test_embeddings_on_the_ane_are_near);
    RUN(test_the_first_token_is_taken_where_it_is_asked_for);
    RUN(test_a_folder_without_modules_gives_plain_means);
    RUN(test_the_pooling_is_that_of_the_folder);
    RUN(test_modules_that_are_not_built_are_refused);
    RUN(test_what_is_saved_gives_the_same_embeddings);
    RUN(test_a_trainer_that_learns_masked_words_lends_its_weights);
    RUN(test_what_has_no_embedding_is_refused);
    RUN(test_texts_beyond_the_positions_are_refused_at_opening);
    RUN(test_tokens_beyond_the_table_are_refused);
    mw__arena_deinit(&wanted.arena);
    return check_finish();
}
