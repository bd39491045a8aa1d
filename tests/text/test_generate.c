/* Texts that a model writes: greedy ones are what the network without a cache says token by token; draws have the
 * probabilities they should; stops, ends and limits. */
#include "base/file/file.h"
#include "base/text/text.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/on_engine.h"
#include "text/generate/sampler.h"

#include <math.h>
#include <millwright/text.h>
#include <stdlib.h>

enum { WORDS = 40 };

/* ---- a folder with a model ---- */

static void copy_file(const char *from, const char *to)
{
    char *data = NULL;
    size_t size = 0;
    mw_error err = {0};
    mw__file_read(NULL, from, SIZE_MAX, &data, &size, &err);
    mw__file_write(NULL, to, data, size, false, &err);
    mw__free(mw__allocator_default(), data);
    CHECK_OK(err);
}

/* Letters are the tokens 0 to 25, "end" is 39; 26 to 38 are digits and signs. */
static void write_tokenizer(void)
{
    mw__text text;
    mw_error err = {0};
    mw__text_init(&text, NULL);
    mw__text_puts(&text, "{\"model\": {\"type\": \"BPE\", \"merges\": [], \"vocab\": {");
    for (int i = 0; i < 39; i++)
        mw__text_printf(&text, "%s\"%c\": %d", i > 0 ? ", " : "", "abcdefghijklmnopqrstuvwxyz0123456789-+."[i], i);
    mw__text_puts(&text, "}}, \"added_tokens\": [{\"id\": 39, \"content\": \"<end>\", \"special\": true}]}");
    mw__file_write(NULL, "tokenizer.json", text.data, text.size, false, &err);
    mw__text_deinit(&text);
    CHECK_OK(err);
}

static mw_text_model *open_on(const char *family, mw_device device, mw_error *err)
{
    char path[600];
    snprintf(path, sizeof path, MW_TESTS_DIR "/text/models/%s/config.json", family);
    copy_file(path, "config.json");
    snprintf(path, sizeof path, MW_TESTS_DIR "/text/models/%s/model.safetensors", family);
    copy_file(path, "model.safetensors");
    write_tokenizer();
    mw_text_model_options options = mw_text_model_defaults();
    const mw_compile_options compile = engine_options(device, 1);
    options.compile = &compile;
    return mw_text_model_open(".", &options, err);
}

static mw_text_model *open_model(const char *family, mw_error *err) { return open_on(family, MW_DEVICE_CPU, err); }

/* ---- greedy ---- */

/* The likeliest token after these, by the network without a cache. */
static int32_t likeliest_after(const mw_text_config *config, const int32_t *tokens, int64_t count, mw_device device,
                               mw_error *err)
{
    static float logits[64 * WORDS];
    mw_text_graph_options o = mw_text_graph_defaults();
    o.tokens = count;
    mw_graph *graph = mw_text_graph(config, &o, err);
    mw_program *program = graph != NULL ? engine_compile(graph, device, 1, err) : NULL;
    mw_program_load_weights(program, ".", NULL, err);
    mw_program_write(program, "tokens", MW_I32, tokens, (size_t)count, err);
    mw_program_run(program, err);
    mw_program_read(program, "logits", MW_F32, logits, (size_t)count * WORDS, err);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
    const float *last = logits + (count - 1) * WORDS;
    int32_t best = 0;
    for (int32_t i = 1; i < WORDS; i++)
        best = last[i] > last[best] ? i : best;
    return best;
}

static void check_greedy(const char *family, const char *prompt, mw_device device)
{
    mw_error err = {0};
    mw_text_model *model = open_on(family, device, &err);
    REQUIRE(CHECK_OK(err));
    mw_generate_options o = mw_generate_defaults();
    char *text = NULL, wanted[64] = "";
    int32_t tokens[64];
    int64_t count = 0;
    o.temperature = 0.0F;
    o.tokens = 8;
    text = mw_text_model_generate(model, prompt, &o, &err);
    for (const char *at = prompt; *at != '\0'; at++)
        tokens[count++] = mw_tokenizer_id(mw_text_model_get_tokenizer(model), (char[]){*at, '\0'});
    for (int i = 0; i < 8 && err.status == MW_OK; i++) {
        tokens[count] = likeliest_after(mw_text_model_get_config(model), tokens, count, device, &err);
        if (tokens[count] == 39)
            break;
        strcat(wanted, mw_tokenizer_text(mw_text_model_get_tokenizer(model), tokens[count++], NULL));
    }
    CHECK_OK(err);
    CHECK_STR(text, wanted);
    mw_string_free(text);
    mw_text_model_destroy(model);
}

static void test_greedy_texts_are_those_without_a_cache_on_both_devices(void)
{
    static const char *const families[] = {"gpt2", "llama", "mistral", "qwen2", "qwen3", "gemma2"};
    char folder[512];
    REQUIRE(folder_enter(folder));
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        check_greedy(families[i], "a", MW_DEVICE_CPU);
        check_greedy(families[i], "abc", MW_DEVICE_ANE);
        /* in two runs and more */
        check_greedy(families[i], "hello.world.this.is.a.prompt.of.more.than.a.run", MW_DEVICE_CPU);
    }
    folder_leave(folder);
}

/* Prompts of one token, of some, and of more than a run takes; each text is that of its prompt alone. */
static void check_each(const char *family)
{
    enum { TEXTS = 4 };
    static const char *const prompts[TEXTS] = {"a", "hello.world.this.is.a.prompt.of.more.than.a.run", "bcd", "0123"};
    char *texts[TEXTS] = {NULL};
    mw_error err = {0};
    mw_text_model *model = open_model(family, &err);
    mw_generate_options o = mw_generate_defaults();
    o.temperature = 0.0F;
    o.tokens = 12;
    for (size_t count = TEXTS; count >= 2; count -= 2) { /* and another number after it */
        mw_text_model_generate_each(model, prompts, count, &o, texts, &err);
        for (size_t i = 0; i < count; i++) {
            char *alone = mw_text_model_generate(model, prompts[i], &o, &err);
            check_note(alone != NULL && texts[i] != NULL && strcmp(alone, texts[i]) == 0, __FILE__, __LINE__,
                       "%s: text %zu of %zu is \"%s\", alone \"%s\"", family, i, count, texts[i], alone);
            mw_string_free(alone);
            mw_string_free(texts[i]);
        }
    }
    CHECK_OK(err);
    mw_text_model_destroy(model);
}

static void test_texts_at_a_time_are_those_alone(void)
{
    static const char *const families[] = {"gpt2", "llama", "mistral", "qwen2", "qwen3", "gemma2"};
    char folder[512], *texts[2] = {NULL};
    const char *const prompts[] = {"abc", ""};
    mw_error err = {0};
    REQUIRE(folder_enter(folder));
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        check_each(families[i]);
    mw_text_model *model = open_model("llama", &err);
    mw_text_model_generate_each(model, prompts, 2, NULL, texts, &err);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "0 tokens");
    CHECK(texts[0] == NULL && texts[1] == NULL);
    mw_error_clear(&err);
    mw_text_model_generate_each(model, prompts, 0, NULL, texts, &err);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "0 prompts");
    mw_text_model_destroy(model);
    folder_leave(folder);
}

/* ---- options ---- */

typedef struct heard {
    char text[256];
    int calls, most;
} heard;

static bool hear(void *user, const char *text)
{
    heard *h = user;
    strncat(h->text, text, sizeof h->text - strlen(h->text) - 1);
    return ++h->calls < h->most;
}

static void test_seeds_stops_and_listeners(void)
{
    char folder[512], *first = NULL, *again = NULL, *other = NULL, *cut = NULL, *told = NULL;
    mw_error err = {0};
    REQUIRE(folder_enter(folder));
    mw_text_model *model = open_model("llama", &err);
    mw_generate_options o = mw_generate_defaults();
    o.tokens = 30;
    o.temperature = 1.5F;
    o.seed = 3;
    first = mw_text_model_generate(model, "abc", &o, &err);
    again = mw_text_model_generate(model, "abc", &o, &err);
    o.seed = 4;
    other = mw_text_model_generate(model, "abc", &o, &err);
    REQUIRE(CHECK_OK(err) && strlen(first) > 6);
    CHECK_STR(first, again);
    CHECK(strcmp(first, other) != 0);
    const char stop[3] = {first[3], first[4], '\0'}, *const stops[] = {"zzzz", stop};
    o.seed = 3;
    o.stops = stops;
    o.stop_count = 2;
    heard all = {.most = 100}, few = {.most = 2};
    o.token = hear;
    o.user = &all;
    cut = mw_text_model_generate(model, "abc", &o, &err);
    CHECK(strstr(first, stop) == first + strlen(cut) && strncmp(first, cut, strlen(cut)) == 0);
    CHECK_STR(all.text, cut);
    o.stop_count = 0;
    o.user = &few;
    told = mw_text_model_generate(model, "abc", &o, &err);
    CHECK_INT(few.calls, 2);
    CHECK_STR(few.text, told);
    CHECK_OK(err);
    o.stop_count = 1;
    o.stops = (const char *const[]){""};
    CHECK(mw_text_model_generate(model, "abc", &o, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "stop 0 is empty");
    char *const texts[] = {first, again, other, cut, told};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        mw_string_free(texts[i]);
    mw_text_model_destroy(model);
    folder_leave(folder);
}

static void test_what_does_not_fit_is_refused(void)
{
    char folder[512], text[80], *out = NULL;
    mw_error err = {0};
    REQUIRE(folder_enter(folder));
    mw_text_model *model = open_model("llama", &err);
    mw_generate_options o = mw_generate_defaults();
    memset(text, 'a', sizeof text);
    text[64] = '\0';
    out = mw_text_model_generate(model, text, &o, &err);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "64 tokens; 1 to 63");
    mw_error_clear(&err);
    text[63] = '\0';
    o.temperature = 0.0F;
    out = mw_text_model_generate(model, text, &o, &err); /* two more: one where the cache ends, one beyond it */
    CHECK_OK(err);
    CHECK(out != NULL && strlen(out) <= 2);
    mw_string_free(out);
    out = mw_text_model_generate(model, "", &o, &err);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "0 tokens");
    mw_error_clear(&err);
    o.top_p = 0.0F;
    out = mw_text_model_generate(model, "a", &o, &err);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "top_p");
    mw_error_clear(&err);
    mw_text_model_destroy(model);
    CHECK(mw_text_model_open("nowhere", NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_FILE, "nowhere");
    folder_leave(folder);
}

/* ---- draws ---- */

static void set_logits(mw__sampler *s)
{
    for (size_t i = 0; i < s->words; i++)
        s->values[i] = logf((float)(i + 1)); /* probabilities 1 to 10, of 55 */
}

/* Draws many times, and holds how often each came to its probability among those that may come. */
static void check_draws(const mw_generate_options *o, size_t least, double temperature)
{
    enum { MANY = 40000 };
    mw_error err = {0};
    mw__sampler s;
    int counts[10] = {0};
    double sum = 0.0, chi = 0.0;
    REQUIRE(mw__sampler_init(&s, mw__allocator_default(), 10, 9, &err) == MW_OK);
    for (int i = 0; i < MANY; i++) {
        set_logits(&s);
        counts[mw__sampler_next(&s, o)]++;
    }
    for (size_t i = least; i < 10; i++)
        sum += pow((double)(i + 1), 1.0 / temperature);
    for (size_t i = 0; i < 10; i++) {
        const double wanted = i < least ? 0.0 : MANY * pow((double)(i + 1), 1.0 / temperature) / sum;
        if (i < least)
            CHECK_INT(counts[i], 0);
        else
            chi += (counts[i] - wanted) * (counts[i] - wanted) / wanted;
    }
    CHECK(chi < 35.0); /* of 9 degrees of freedom once in 15,000 */
    mw__sampler_deinit(&s);
}

static void test_draws_have_their_probabilities(void)
{
    mw_generate_options o = mw_generate_defaults();
    o.temperature = 1.0F;
    o.top_k = 0;
    o.top_p = 1.0F;
    check_draws(&o, 0, 1.0);
    o.temperature = 2.0F;
    check_draws(&o, 0, 2.0);
    o.temperature = 1.0F;
    o.top_k = 3;
    check_draws(&o, 7, 1.0);
    o.top_k = 0;
    o.top_p = 0.5F; /* 10 + 9 + 8 of 55 are 0.49, so 7 comes too */
    check_draws(&o, 6, 1.0);
    o.top_p = 1.0F;
    o.min_p = 0.75F;
    check_draws(&o, 7, 1.0);
}

static void test_what_came_already_comes_less(void)
{
    mw_error err = {0};
    mw__sampler s;
    mw_generate_options o = mw_generate_defaults();
    o.temperature = 0.0F;
    REQUIRE(mw__sampler_init(&s, mw__allocator_default(), 10, 9, &err) == MW_OK);
    set_logits(&s);
    CHECK_INT(mw__sampler_next(&s, &o), 9);
    mw__sampler_note(&s, 9);
    mw__sampler_note(&s, 100); /* none of its words */
    o.repetition = 1.5F;
    set_logits(&s);
    CHECK_INT(mw__sampler_next(&s, &o), 8);
    mw__sampler_deinit(&s);
}

int main(void)
{
    RUN(test_greedy_texts_are_those_without_a_cache_on_both_devices);
    RUN(test_texts_at_a_time_are_those_alone);
    RUN(test_seeds_stops_and_listeners);
    RUN(test_what_does_not_fit_is_refused);
    RUN(test_draws_have_their_probabilities);
    RUN(test_what_came_already_comes_less);
    return check_finish();
}
