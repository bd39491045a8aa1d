/* Models saved in every form and read again: equal weights, configurations and tokens; blocks within their step; what
 * was trained in place of the source's; and what a form has no place for. */
#include "base/file/file.h"
#include "base/text/text.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/on_engine.h"
#include "text/pretrained/pretrained.h"

#include <dirent.h>
#include <math.h>
#include <millwright/text.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { WORDS = 960 };

/* A family, the vocabulary that its models have here, and whether GGUF says all of it. */
static const struct {
    const char *family, *from, *to;
} rows[] = {
    {"gpt2", "vectors/gpt2.json", "tokenizer.json"},
    {"llama", "vectors/llama3.json", "tokenizer.json"},
    {"mistral", "files/spm_bpe.vocabulary.gguf", "tokenizer.gguf"},
    {"qwen2", "vectors/qwen2.json", "tokenizer.json"},
    {"qwen3", "vectors/qwen2.json", "tokenizer.json"},
    {"gemma2", "files/spm_bpe.vocabulary.gguf", "tokenizer.gguf"},
    {"bert", "files/bert.vocabulary.gguf", "tokenizer.gguf"},
    {"qwen2", "vectors/t5_table.json", "tokenizer.json"},
};
enum { ROWS = sizeof rows / sizeof *rows };

/* ---- folders ---- */

static mw_text_config config_of(const char *family)
{
    mw_text_config c = mw_text_config_defaults(family);
    const bool gemma = strcmp(family, "gemma2") == 0, gpt2 = strcmp(family, "gpt2") == 0;
    c.layers = 2;
    c.width = 32;
    c.heads = 4;
    c.kv_heads = gpt2 || strcmp(family, "bert") == 0 ? 4 : 2;
    c.head_width = 8;
    c.hidden = gpt2 ? 128 : 64;
    c.words = WORDS;
    c.positions = 64;
    c.norm_epsilon = 1e-5F;
    c.window = gemma || strcmp(family, "mistral") == 0 ? 16 : 0;
    c.score_softcap = gemma ? 50.0 : 0.0;
    c.logit_softcap = gemma ? 30.0 : 0.0;
    c.query_scale = gemma ? 8.0 : 0.0;
    if (strcmp(family, "llama") == 0) {
        c.rope_factor = 8.0;
        c.rope_low = 1.0;
        c.rope_high = 4.0;
        c.rope_original = 16.0;
    }
    return c;
}

static void put_text(const char *path, const char *text, size_t size, mw_error *err)
{
    mw__file_write(NULL, path, text, size, false, err);
}

static void copy_to(const char *from, const char *to, mw_error *err)
{
    char path[600], *text = NULL;
    size_t size = 0;
    snprintf(path, sizeof path, MW_TESTS_DIR "/text/%s", from);
    if (mw__file_read(NULL, path, SIZE_MAX, &text, &size, err) == MW_OK)
        put_text(to, text, size, err);
    mw__free(mw__allocator_default(), text);
}

/* A number from -1 to 1 that follows from a seed. */
static float drawn(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005U + 1442695040888963407U;
    return (float)((double)(*seed >> 33) / 4294967296.0 * 4.0 - 1.0);
}

static void put_weights(const mw_text_config *c, const char *folder, mw_error *err)
{
    mw__arena arena;
    char path[600];
    uint64_t seed = 7;
    mw__pretrained_weight *list = NULL;
    size_t count = 0;
    mw__arena_init(&arena, NULL);
    mw__pretrained_list(c, &arena, &list, &count, err);
    mw_tensor_values *values = mw__arena_alloc(&arena, count, sizeof *values, err);
    for (size_t i = 0; i < count; i++) {
        const size_t elements = (size_t)mw_shape_count(list[i].shape);
        float *data = mw__arena_alloc(&arena, elements, sizeof *data, err);
        for (size_t k = 0; k < elements; k++)
            data[k] = drawn(&seed);
        values[i] = (mw_tensor_values){.name = list[i].name, .dtype = MW_F32, .shape = list[i].shape, .data = data};
    }
    snprintf(path, sizeof path, "%s/model.safetensors", folder);
    mw_tensors_write(path, values, count, err);
    mw__arena_deinit(&arena);
}

static void put_folder(const mw_text_config *c, const char *from, const char *to, const char *folder, mw_error *err)
{
    char path[600];
    mw__text text;
    mkdir(folder, 0777);
    mw__text_init(&text, NULL);
    mw__pretrained_put_config(c, MW_F32, &text);
    snprintf(path, sizeof path, "%s/config.json", folder);
    put_text(path, text.data, text.size, err);
    mw__text_deinit(&text);
    snprintf(path, sizeof path, "%s/%s", folder, to);
    copy_to(from, path, err);
    put_weights(c, folder, err);
}

/* ---- comparisons ---- */

/* "1 + F32": Gemma's norms in GGUF, which have the 1 in them and lose what it takes. */
static double bound_of(const char *type, const float *row, size_t i)
{
    double largest = 0.0;
    if (strcmp(type, "1 + F32") == 0)
        return 0x1p-23;
    if (strcmp(type, "F16") == 0)
        return fabs((double)row[i]) * 0x1p-11 + 0x1p-25;
    if (strcmp(type, "BF16") == 0)
        return fabs((double)row[i]) * 0x1p-8;
    if (type[0] != 'Q')
        return 0.0; /* nothing is rounded, and a row may be shorter than a block */
    for (size_t k = i / 32 * 32; k < i / 32 * 32 + 32; k++)
        largest = fmax(largest, fabs((double)row[k]));
    /* half a step, and what a scale of 11 bits adds; of 4 bits a whole step at the end that has no code */
    return strcmp(type, "Q8_0") == 0 ? largest * (0.5 / 127.0 + 0x1p-10) : largest * (1.0 / 8.0 + 0x1p-10);
}

static void compare_weight(const char *name, const char *type, const float *a, const float *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(fabs((double)a[i] - (double)b[i]) <= bound_of(type, a, i))) {
            check_note(false, __FILE__, __LINE__, "%s of %s: element %zu was %.9g and is %.9g", name, type, i,
                       (double)a[i], (double)b[i]);
            return;
        }
}

/* Blocks run along the inputs of a weight, which is not how GPT-2's folders store it. */
static void in_rows(const mw__pretrained_weight *w, float *data)
{
    mw_error err = {0};
    mw__pretrained_turn(w, false, false, data, &err);
    CHECK_OK(err);
}

/* Every field, since the bytes between them may differ. 0 and the width of a head are one scale of queries. */
static void compare_configs(const mw_text_config *a, const mw_text_config *b)
{
    CHECK_STR(a->family, b->family);
#define SAME(field) CHECK(a->field == b->field)
    SAME(struct_size), SAME(layers), SAME(width), SAME(heads), SAME(kv_heads), SAME(head_width), SAME(hidden);
    SAME(words), SAME(positions), SAME(norm_epsilon), SAME(rope_theta), SAME(rope_factor), SAME(rope_low);
    SAME(rope_high), SAME(rope_original), SAME(tied), SAME(score_softcap), SAME(logit_softcap), SAME(window);
    SAME(types), SAME(pooler), SAME(word_head);
#undef SAME
}

/* `of_all`: vectors have the type, too, as in a folder. */
static void compare_as(const char *a, const char *b, const char *type, bool of_all)
{
    mw_error err = {0};
    mw__pretrained one, other;
    mw__pretrained_open(&one, a, &err);
    mw__pretrained_open(&other, b, &err);
    if (CHECK_OK(err)) {
        compare_configs(&one.config, &other.config);
        CHECK_INT(one.count, other.count);
    }
    for (size_t i = 0; i < one.count && i < other.count && err.status == MW_OK; i++) {
        const size_t count = (size_t)mw_shape_count(one.weights[i].shape);
        float *x = malloc(count * sizeof *x), *y = malloc(count * sizeof *y);
        mw__pretrained_read(&one, i, x, &err);
        mw__pretrained_read(&other, i, y, &err);
        in_rows(&one.weights[i], x);
        in_rows(&one.weights[i], y);
        CHECK(strcmp(one.weights[i].name, other.weights[i].name) == 0);
        const bool plain = !one.weights[i].product || one.weights[i].part == MW__PART_PLACES;
        const bool gemma = strcmp(one.config.family, "gemma2") == 0;
        const char *floats = gemma && one.weights[i].shape.rank == 1 ? "1 + F32" : "F32";
        compare_weight(one.weights[i].name, plain && !of_all ? floats : type, x, y, count);
        free(x);
        free(y);
    }
    CHECK_OK(err);
    mw__pretrained_deinit(&one);
    mw__pretrained_deinit(&other);
}

static void compare_files(const char *a, const char *b, const char *type) { compare_as(a, b, type, false); }

static void compare_tokens(const char *a, const char *b)
{
    static const char *const texts[] = {"", "Hello there, it's 12345 o'clock", "  two  spaces\n\nlines ",
                                        "\xc3\xa9t\xc3\xa9 \xe4\xb8\x80 \xf0\x9f\x98\x80", "</s> <|endoftext|> <s>"};
    mw_error err = {0};
    mw_tokenizer *one = mw__pretrained_tokenizer(a, &err), *other = mw__pretrained_tokenizer(b, &err);
    CHECK_OK(err);
    for (size_t i = 0; i < sizeof texts / sizeof *texts && err.status == MW_OK; i++) {
        mw_tokens x = {0}, y = {0};
        mw_tokenizer_encode(one, texts[i], strlen(texts[i]), NULL, &x, &err);
        mw_tokenizer_encode(other, texts[i], strlen(texts[i]), NULL, &y, &err);
        check_note(x.count == y.count && memcmp(x.ids, y.ids, x.count * sizeof *x.ids) == 0, __FILE__, __LINE__,
                   "%s and %s: \"%s\" has other tokens", a, b, texts[i]);
        char *text = mw_tokenizer_decode(other, y.ids, y.count, false, NULL, &err);
        char *own = mw_tokenizer_decode(one, x.ids, x.count, false, NULL, &err);
        CHECK(text != NULL && own != NULL && strcmp(text, own) == 0);
        mw_string_free(text);
        mw_string_free(own);
        mw_tokens_destroy(&x);
        mw_tokens_destroy(&y);
    }
    CHECK_OK(err);
    mw_tokenizer_destroy(one);
    mw_tokenizer_destroy(other);
}

static void save(const char *from, const char *to, const char *type, int version)
{
    mw_error err = {0};
    mw_text_save_options o = mw_text_save_defaults();
    o.type = type;
    o.version = version;
    mw_text_save(from, to, &o, &err);
    check_note(err.status == MW_OK, __FILE__, __LINE__, "%s to %s: %s", from, to, err.message);
}

/* ---- GGUF and folders ---- */

static void check_family(size_t row)
{
    static const char *const types[] = {"F16", "BF16", "Q8_0", "Q4_0"};
    const mw_text_config c = config_of(rows[row].family);
    mw_error err = {0};
    char name[64];
    put_folder(&c, rows[row].from, rows[row].to, "source", &err);
    CHECK_OK(err);
    save("source", "plain.gguf", NULL, 1);
    compare_files("source", "plain.gguf", "F32");
    compare_tokens("source", "plain.gguf");
    save("plain.gguf", "again", NULL, 1);
    compare_files("source", "again", "F32");
    compare_tokens("source", "again");
    save("again", "copy", "F32", 1);
    compare_files("source", "copy", "F32");
    for (size_t i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "%s.gguf", types[i]);
        save("source", name, types[i], 1);
        compare_files("source", name, types[i]);
    }
}

static void test_every_family_comes_back_from_gguf(void)
{
    for (size_t i = 0; i < ROWS; i++) {
        char folder[512];
        REQUIRE(folder_enter(folder));
        check_family(i);
        folder_leave(folder);
    }
}

/* ---- llama2.c ---- */

static void test_llama_comes_back_from_llama2c(void)
{
    char folder[512];
    mw_error err = {0};
    REQUIRE(folder_enter(folder));
    for (int tied = 0; tied < 2; tied++) {
        mw_text_config c = config_of("llama");
        c.rope_factor = 1.0;
        c.rope_low = c.rope_high = c.rope_original = 0.0;
        c.tied = tied != 0;
        put_folder(&c, "files/spm_bpe.vocabulary.gguf", "tokenizer.gguf", "source", &err);
        CHECK_OK(err);
        save("source", "v0.bin", NULL, 0);
        save("source", "v1.bin", NULL, 1);
        save("source", "v2.bin", NULL, 2);
        compare_files("source", "v0.bin", "F32");
        compare_files("source", "v1.bin", "F32");
        compare_files("source", "v2.bin", "Q8_0");
        save("v1.bin", "again", NULL, 1);
        compare_files("source", "again", "F32");
    }
    folder_leave(folder);
}

/* ---- what was trained ---- */

enum { RANK = 3 };
static const char adapter_config[] = "{\"peft_type\": \"LORA\", \"r\": 3, \"lora_alpha\": 6}";

/* Factors of the query of layer 1. */
static void put_adapter(const char *name, int64_t inputs, int64_t outputs, float *a, float *b, mw_error *err)
{
    char down[200], up[200];
    uint64_t seed = 3;
    for (int64_t i = 0; i < RANK * inputs; i++)
        a[i] = drawn(&seed);
    for (int64_t i = 0; i < RANK * outputs; i++)
        b[i] = drawn(&seed);
    snprintf(down, sizeof down, "base_model.model.%s.lora_A.weight", name);
    snprintf(up, sizeof up, "base_model.model.%s.lora_B.weight", name);
    mkdir("adapter", 0777);
    put_text("adapter/adapter_config.json", adapter_config, sizeof adapter_config - 1, err);
    mw_tensors_write(
        "adapter/adapter_model.safetensors",
        (mw_tensor_values[]){{down, MW_F32, MW_SHAPE(RANK, inputs), a}, {up, MW_F32, MW_SHAPE(outputs, RANK), b}}, 2,
        err);
}

static void check_merged(const char *family, const char *module, int64_t inputs, int64_t outputs, bool inputs_first)
{
    mw_error err = {0};
    char weight[200];
    float *a = calloc((size_t)(RANK * inputs), sizeof *a), *b = calloc((size_t)(RANK * outputs), sizeof *b);
    float *before = calloc((size_t)(inputs * outputs), sizeof *before);
    float *after = calloc((size_t)(inputs * outputs), sizeof *after);
    const mw_text_config c = config_of(family);
    mw_text_save_options o = mw_text_save_defaults();
    o.trained = "adapter";
    put_folder(&c, "vectors/gpt2.json", "tokenizer.json", "source", &err);
    put_adapter(module, inputs, outputs, a, b, &err);
    mw_text_save("source", "merged", &o, &err);
    snprintf(weight, sizeof weight, "%s.weight", module);
    mw_tensors *own = mw_tensors_open("source", &err), *merged = mw_tensors_open("merged", &err);
    mw_tensors_read(own, weight, MW_F32, before, (size_t)(inputs * outputs), &err);
    mw_tensors_read(merged, weight, MW_F32, after, (size_t)(inputs * outputs), &err);
    CHECK_OK(err);
    double most = 0.0;
    for (int64_t out = 0; out < outputs; out++)
        for (int64_t in = 0; in < inputs; in++) {
            const int64_t at = inputs_first ? in * outputs + out : out * inputs + in;
            double wanted = (double)before[at];
            for (int64_t k = 0; k < RANK; k++)
                wanted += 2.0 * (double)b[out * RANK + k] * (double)a[k * inputs + in];
            most = fmax(most, fabs(wanted - (double)after[at]));
        }
    check_note(most < 1e-6, __FILE__, __LINE__, "%s: %s is merged with a difference of %g", family, weight, most);
    mw_tensors_destroy(own);
    mw_tensors_destroy(merged);
    free(a);
    free(b);
    free(before);
    free(after);
}

static void test_adapters_are_merged(void)
{
    char folder[512];
    REQUIRE(folder_enter(folder));
    check_merged("qwen3", "model.layers.1.self_attn.q_proj", 32, 32, false);
    check_merged("gpt2", "h.1.attn.c_attn", 32, 96, true);
    folder_leave(folder);
}

/* When it is only checked, too. */
static void refuse(const char *from, const char *to, const char *type, const char *trained, mw_status status,
                   const char *part)
{
    mw_text_save_options o = mw_text_save_defaults();
    o.type = type;
    o.trained = trained;
    for (int i = 0; i < 2; i++) {
        mw_error err = {0};
        o.check_only = i == 0;
        mw_text_save(from, to, &o, &err);
        CHECK_ERROR(err, status, part);
    }
}

static void test_what_was_trained_replaces_weights(void)
{
    char folder[512];
    mw_error err = {0};
    float norm[32], read[32];
    const mw_text_config c = config_of("llama");
    mw_text_save_options o = mw_text_save_defaults();
    REQUIRE(folder_enter(folder));
    for (int i = 0; i < 32; i++)
        norm[i] = (float)i;
    put_folder(&c, "vectors/llama3.json", "tokenizer.json", "source", &err);
    mw_tensors_write("new.safetensors", &(mw_tensor_values){"model.norm.weight", MW_F32, MW_SHAPE(32), norm}, 1, &err);
    o.trained = "new.safetensors";
    mw_text_save("source", "source", &o, &err); /* over itself */
    mw_tensors *tensors = mw_tensors_open("source", &err);
    mw_tensors_read(tensors, "model.norm.weight", MW_F32, read, 32, &err);
    CHECK_OK(err);
    CHECK(memcmp(norm, read, sizeof norm) == 0);
    mw_tensors_destroy(tensors);
    mw_tensors_write("new.safetensors", &(mw_tensor_values){"no.such", MW_F32, MW_SHAPE(32), norm}, 1, &err);
    refuse("source", "x.gguf", NULL, "new.safetensors", MW_ERROR_ARGUMENT, "belongs to no weight");
    mw_tensors_write("new.safetensors", &(mw_tensor_values){"model.norm.weight", MW_F32, MW_SHAPE(4, 8), norm}, 1,
                     &err);
    refuse("source", "x.gguf", NULL, "new.safetensors", MW_ERROR_ARGUMENT, "another shape");
    mw_tensors_write("new.safetensors",
                     &(mw_tensor_values){"model.layers.0.mlp.up_proj.lora_A.weight", MW_F32, MW_SHAPE(1, 32), norm}, 1,
                     &err);
    refuse("source", "x.gguf", NULL, "new.safetensors", MW_ERROR_ARGUMENT, "alpha");
    CHECK_OK(err);
    folder_leave(folder);
}

/* ---- shards ---- */

static void test_shards_stay_shards(void)
{
    char folder[512];
    mw_error err = {0};
    const mw_text_config c = config_of("qwen2");
    REQUIRE(folder_enter(folder));
    put_folder(&c, "vectors/qwen2.json", "tokenizer.json", "source", &err);
    mw_tensors *tensors = mw_tensors_open("source", &err);
    mw__text index;
    mw__text_init(&index, NULL);
    mw__text_puts(&index, "{\"weight_map\": {");
    for (size_t i = 0; i < mw_tensors_get_info(tensors).count; i++)
        mw__text_printf(&index, "%s\"%s\": \"part-%d.safetensors\"", i > 0 ? ", " : "", mw_tensors_at(tensors, i)->name,
                        (int)(i % 3));
    mw__text_puts(&index, "}}");
    for (size_t part = 0; part < 3; part++) {
        mw_tensor_values values[64];
        float *data[64];
        char path[64];
        size_t count = 0;
        for (size_t i = part; i < mw_tensors_get_info(tensors).count; i += 3, count++) {
            const mw_tensor_info *info = mw_tensors_at(tensors, i);
            data[count] = malloc(info->size);
            mw_tensors_read(tensors, info->name, MW_F32, data[count], info->size / 4, &err);
            values[count] = (mw_tensor_values){info->name, MW_F32, info->shape, data[count]};
        }
        snprintf(path, sizeof path, "source/part-%zu.safetensors", part);
        mw_tensors_write(path, values, count, &err);
        while (count > 0)
            free(data[--count]);
    }
    put_text("source/model.safetensors.index.json", index.data, index.size, &err);
    mw__text_deinit(&index);
    mw_tensors_destroy(tensors);
    remove("source/model.safetensors");
    save("source", "copy", "BF16", 1);
    compare_as("source", "copy", "BF16", true);
    struct stat found;
    CHECK(stat("copy/part-2.safetensors", &found) == 0 && stat("copy/model.safetensors", &found) != 0);
    CHECK_OK(err);
    folder_leave(folder);
}

/* ---- adapters of a trainer ---- */

/* A step of a trainer with adapters, saved and merged: what it computes is what the merged network computes. */
static void test_adapters_of_a_trainer_are_merged(void)
{
    static const char *const patterns[] = {"*q_proj.weight", "*v_proj.weight"};
    char folder[512];
    mw_error err = {0};
    int32_t tokens[8] = {1, 2, 3, 4, 5, 6, 7, 8}, labels[8] = {2, 3, 4, 5, 6, 7, 8, 9};
    float before = 0.0F, loss = 0.0F, merged = 0.0F;
    mw_text_config c = config_of("qwen3");
    mw_text_graph_options o = mw_text_graph_defaults();
    o.tokens = 8;
    o.loss = true;
    REQUIRE(folder_enter(folder));
    put_folder(&c, "vectors/qwen2.json", "tokenizer.json", "source", &err);
    mw_graph *graph = mw_text_graph(&c, &o, &err);
    mw_lora_options lora = mw_lora_defaults(patterns, 2);
    lora.rank = 4;
    mw_graph *adapted = mw_graph_lora(graph, &lora, &err);
    mw_trainer *trainer = engine_trainer(mw_graph_find(adapted, "loss"), mw_sgd(0.05F), MW_DEVICE_CPU, 1, &err);
    mw_weights_options base = mw_weights_defaults();
    base.base = true;
    mw_trainer_load_weights(trainer, "source", &base, &err);
    const mw_feed feeds[2] = {{.name = "tokens", .dtype = MW_I32, .data = tokens, .count = 8},
                              {.name = "labels", .dtype = MW_I32, .data = labels, .count = 8}};
    const mw_batch batch = {.feeds = feeds, .feed_count = 2};
    mw_trainer_step(trainer, &batch, &before, &err);
    mw_trainer_step(trainer, &batch, &before, &err);
    mw_trainer_save_lora(trainer, "adapter", &err);
    mw_trainer_step(trainer, &batch, &loss, &err); /* of what was saved */
    mw_text_save_options save_options = mw_text_save_defaults();
    save_options.trained = "adapter";
    mw_text_save("source", "merged.gguf", &save_options, &err);
    mw_text_save("merged.gguf", "merged", NULL, &err);
    mw_program *program = engine_compile(graph, MW_DEVICE_CPU, 1, &err);
    mw_program_load_weights(program, "merged", NULL, &err);
    mw_program_write(program, "tokens", MW_I32, tokens, 8, &err);
    mw_program_write(program, "labels", MW_I32, labels, 8, &err);
    mw_program_run(program, &err);
    mw_program_read(program, "loss", MW_F32, &merged, 1, &err);
    CHECK_OK(err);
    CHECK(fabsf(before - loss) > 1e-3F);
    CHECK_NEAR(merged, loss, 1e-5 * fabs((double)loss));
    mw_program_destroy(program);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(adapted);
    mw_graph_destroy(graph);
    folder_leave(folder);
}

/* ---- refusals ---- */

static void refuse_options(mw_text_save_options o, const char *part)
{
    mw_error err = {0};
    mw_text_save("source", "x.bin", &o, &err);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, part);
}

static void test_options_that_are_none_are_refused(void)
{
    mw_text_save_options o = mw_text_save_defaults();
    mw_error err = {0};
    refuse_options((mw_text_save_options){0}, "mw_text_save_defaults");
    o.version = 3;
    refuse_options(o, "version 3");
    o.version = 1;
    o.type = "F16";
    refuse_options(o, "llama2.c has F32");
    mw_text_save(NULL, "x.bin", NULL, &err);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "no source");
    err = (mw_error){0};
    mw_text_save("source", NULL, NULL, &err);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "no path");
}

static void test_what_a_form_has_no_place_for_is_refused(void)
{
    char folder[512];
    mw_error err = {0};
    mw_text_config c = config_of("gemma2");
    REQUIRE(folder_enter(folder));
    put_folder(&c, "files/spm_bpe.vocabulary.gguf", "tokenizer.gguf", "source", &err);
    refuse("source", "x.bin", NULL, NULL, MW_ERROR_UNSUPPORTED, "networks of llama alone");
    refuse("source", "x.gguf", "Q3_K", NULL, MW_ERROR_ARGUMENT, "Q3_K");
    refuse("source", "x", "Q8_0", NULL, MW_ERROR_ARGUMENT, "a folder has F32");
    c.query_scale = 12.0;
    put_folder(&c, "files/spm_bpe.vocabulary.gguf", "tokenizer.gguf", "source", &err);
    refuse("source", "x.gguf", NULL, NULL, MW_ERROR_UNSUPPORTED, "query_pre_attn_scalar");
    c = config_of("llama");
    put_folder(&c, "vectors/bert.json", "tokenizer.json", "source", &err);
    refuse("source", "x.gguf", NULL, NULL, MW_ERROR_UNSUPPORTED, "WordPiece");
    put_folder(&c, "vectors/t5.json", "tokenizer.json", "source", &err); /* NFKC */
    refuse("source", "x.gguf", NULL, NULL, MW_ERROR_UNSUPPORTED, "Unigram");
    put_folder(&c, "vectors/other_pattern.json", "tokenizer.json", "source", &err);
    refuse("source", "x.gguf", NULL, NULL, MW_ERROR_UNSUPPORTED, "tokenizer.ggml.pre");
    c.words = 100;
    put_folder(&c, "vectors/llama3.json", "tokenizer.json", "source", &err);
    refuse("source", "x.gguf", NULL, NULL, MW_ERROR_FORMAT, "100 words");
    mkdir("mine", 0777);
    put_text("mine/notes.txt", "x", 1, &err);
    refuse("source", "mine", NULL, NULL, MW_ERROR_FILE, "no folder of a model");
    refuse("nowhere", "x", NULL, NULL, MW_ERROR_FILE, "nowhere");
    CHECK_OK(err);
    DIR *left = opendir(".");
    for (struct dirent *entry; (entry = readdir(left)) != NULL;)
        check_note(strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
                       (entry->d_name[0] != 'x' && entry->d_name[0] != '.'),
                   __FILE__, __LINE__, "%s is left", entry->d_name);
    closedir(left);
    folder_leave(folder);
}

static void test_a_check_writes_nothing(void)
{
    static const char *const places[] = {"x", "x.gguf", "x.bin"};
    char folder[512];
    mw_error err = {0};
    mw_text_config c = config_of("llama");
    mw_text_save_options o = mw_text_save_defaults();
    REQUIRE(folder_enter(folder));
    c.rope_factor = 1.0;
    put_folder(&c, "vectors/llama3.json", "tokenizer.json", "source", &err);
    o.check_only = true;
    for (int i = 0; i < 3; i++) {
        mw_text_save("source", places[i], &o, &err);
        CHECK_OK(err);
        CHECK_INT(folder_count("."), 1);
        char none[32];
        snprintf(none, sizeof none, "none/%s", places[i]);
        refuse("source", none, NULL, NULL, MW_ERROR_FILE, "none");
    }
    mkdir("taken.bin", 0777);
    refuse("source", "taken.bin", NULL, NULL, MW_ERROR_FILE, "taken.bin");
    put_text("taken", "x", 1, &err);
    refuse("source", "taken", NULL, NULL, MW_ERROR_FILE, "is to be a folder");
    CHECK_OK(err);
    folder_leave(folder);
}

int main(void)
{
    RUN(test_every_family_comes_back_from_gguf);
    RUN(test_llama_comes_back_from_llama2c);
    RUN(test_adapters_are_merged);
    RUN(test_what_was_trained_replaces_weights);
    RUN(test_shards_stay_shards);
    RUN(test_adapters_of_a_trainer_are_merged);
    RUN(test_options_that_are_none_are_refused);
    RUN(test_what_a_form_has_no_place_for_is_refused);
    RUN(test_a_check_writes_nothing);
    return check_finish();
}
