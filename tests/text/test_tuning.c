/* Language models that are trained on texts: a run that is interrupted at any step gives the same bits as one that is
 * not; adapters sit where PEFT puts them, and merged ones say what they said beside the weights; what a trainer writes
 * is what the folder that it is saved in writes. */
#include "base/file/file.h"
#include "base/text/text.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/on_engine.h"

#include <math.h>
#include <millwright/text.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const families[] = {"gpt2", "llama", "mistral", "qwen2", "qwen3", "gemma2"};
enum { FAMILIES = sizeof families / sizeof *families, TOKENS = 8, BATCH = 2 };

/* ---- a folder with a model and a text ---- */

static void copy_file(const char *family, const char *name)
{
    char from[600], to[64], *data = NULL;
    size_t size = 0;
    mw_error err = {0};
    snprintf(from, sizeof from, MW_TESTS_DIR "/text/models/%s/%s", family, name);
    snprintf(to, sizeof to, "base/%s", name);
    mw__file_read(NULL, from, SIZE_MAX, &data, &size, &err);
    mw__file_write(NULL, to, data, size, false, &err);
    mw__free(mw__allocator_default(), data);
    CHECK_OK(err);
}

static void make_folder(const char *family)
{
    mw__text text;
    mkdir("base", 0777);
    copy_file(family, "config.json");
    copy_file(family, "model.safetensors");
    mw__text_init(&text, NULL);
    mw__text_puts(&text, "{\"model\": {\"type\": \"BPE\", \"merges\": [], \"vocab\": {");
    for (int i = 0; i < 39; i++)
        mw__text_printf(&text, "%s\"%c\": %d", i > 0 ? ", " : "", "abcdefghijklmnopqrstuvwxyz0123456789-+."[i], i);
    mw__text_puts(&text, "}}, \"added_tokens\": [{\"id\": 39, \"content\": \"<end>\", \"special\": true}]}");
    folder_put("base/tokenizer.json", text.data);
    mw__text_deinit(&text);
    mw__text_init(&text, NULL);
    for (int i = 0; i < 100; i++) /* 12 windows of 8, and the token behind them */
        mw__text_printf(&text, "%c", 'a' + i * i % 26);
    folder_put("notes.txt", text.data);
    mw__text_deinit(&text);
}

typedef struct run {
    mw_text_config config;
    mw_text_tuning tuning;
    mw_text_data *data;
    mw_trainer *trainer;
    int64_t stop; /* after this step; 0 = never */
} run;

static bool stop_run(void *user, const mw_progress *p)
{
    const run *r = user;
    return !p->epoch_end && p->step == r->stop;
}

/* decay: of averages of the weights, which then are what is read; 0 = none. */
static bool open_averaged(run *r, int rank, mw_device device, float decay, mw_error *err)
{
    mw_text_data_options o = mw_text_data_defaults();
    mw_text_graph_options form = mw_text_graph_defaults();
    *r = (run){.tuning.rank = rank};
    form.batch = BATCH;
    o.tokens = form.tokens = TOKENS;
    form.loss = true;
    form.tuning = r->tuning;
    mw_text_config_read("base", &r->config, err);
    r->data = mw_text_data_open("notes.txt", "base", &o, err);
    mw_graph *graph = r->data != NULL ? mw_text_graph(&r->config, &form, err) : NULL;
    if (graph != NULL) {
        mw_trainer_options options = mw_trainer_defaults(mw_graph_find(graph, "loss"), mw_adam(1e-2F));
        options.compile = engine_options(device, 1);
        options.average_decay = decay;
        r->trainer = mw_trainer_create(&options, err);
    }
    mw_graph_destroy(graph);
    if (r->trainer != NULL && decay > 0.0F)
        mw_trainer_use_averages(r->trainer, true, err);
    return r->trainer != NULL && mw_text_load_weights(r->trainer, "base", err) == MW_OK;
}

static bool open_run(run *r, int rank, mw_device device, mw_error *err)
{
    return open_averaged(r, rank, device, 0.0F, err);
}

static void close_run(run *r)
{
    mw_trainer_destroy(r->trainer);
    mw_text_data_destroy(r->data);
}

static mw_status fit_run(run *r, int64_t epochs, const char *checkpoint, mw_error *err)
{
    mw_fit_options fit = mw_fit_defaults(mw_text_data_training(r->data), epochs);
    fit.data.validation = mw_text_data_validation(r->data);
    fit.data.seed = 3;
    fit.checkpoint.path = checkpoint;
    fit.progress.quiet = fit.progress.no_warnings = true;
    fit.progress.function = stop_run;
    fit.progress.user = r;
    return mw_trainer_fit(r->trainer, &fit, err);
}

/* ---- interrupted runs ---- */

static bool same_files(const char *a, const char *b)
{
    char *x = NULL, *y = NULL;
    size_t n = 0, m = 1;
    mw_error err = {0};
    mw__file_read(NULL, a, SIZE_MAX, &x, &n, &err);
    mw__file_read(NULL, b, SIZE_MAX, &y, &m, &err);
    const bool same = err.status == MW_OK && n == m && memcmp(x, y, n) == 0;
    mw__free(mw__allocator_default(), x);
    mw__free(mw__allocator_default(), y);
    return same;
}

static void train_through(int rank, int64_t stop, const char *weights)
{
    mw_error err = {0};
    run r;
    unlink("run.safetensors");
    if (open_run(&r, rank, MW_DEVICE_CPU, &err)) {
        r.stop = stop;
        fit_run(&r, 2, "run.safetensors", &err);
    }
    if (stop > 0 && CHECK_INT(err.status, MW_ERROR_STOPPED)) {
        mw_error_clear(&err);
        close_run(&r); /* a new process begins with the folder, too */
        if (open_run(&r, rank, MW_DEVICE_CPU, &err))
            fit_run(&r, 2, "run.safetensors", &err);
    }
    mw_trainer_save_weights(r.trainer, weights, &err);
    CHECK_OK(err);
    close_run(&r);
}

static void test_a_run_that_is_stopped_anywhere_gives_the_same_bits(void)
{
    char folder[512];
    REQUIRE(folder_enter(folder));
    make_folder("llama");
    for (int rank = 0; rank <= 2; rank += 2) {
        train_through(rank, 0, "whole.safetensors");
        for (int64_t stop = 1; stop <= 10; stop += 2) {
            train_through(rank, stop, "parts.safetensors");
            check_note(same_files("whole.safetensors", "parts.safetensors"), __FILE__, __LINE__,
                       "rank %d, stopped at step %lld", rank, (long long)stop);
        }
    }
    folder_leave(folder);
}

/* ---- buckets ---- */

/* Documents of 2 to 60 letters. */
static void write_lengths(void)
{
    mw__text text;
    mw__text_init(&text, NULL);
    for (int i = 0; i < 61; i++)
        mw__text_printf(&text, "{\"text\": \"%.*s\"}\n", 2 + i * i % 59,
                        "thequickbrownfoxjumpsoverthelazydogsandthenitrestsinthesunshine");
    folder_put("lines.jsonl", text.data);
    mw__text_deinit(&text);
    folder_put("base/tokenizer_config.json", "{\"eos_token\": \"<end>\"}");
}

/* A trainer on documents of up to 64 tokens: all filled up, or each to its bucket. */
static bool open_padded(run *r, bool buckets, int rank, mw_error *err)
{
    mw_text_data_options o = mw_text_data_defaults();
    mw_text_graph_options form = mw_text_graph_defaults();
    mw_tensor *variants[MW_VARIANTS_MAX];
    *r = (run){.tuning.rank = rank};
    o.tokens = 64;
    o.padded = form.loss = true;
    o.buckets = buckets;
    form.batch = BATCH;
    form.tuning = r->tuning;
    mw_text_config_read("base", &r->config, err);
    r->data = mw_text_data_open("lines.jsonl", "base", &o, err);
    const mw_text_data_info info = mw_text_data_get_info(r->data);
    const size_t count = buckets ? info.bucket_count : 1;
    for (size_t i = 0; i < count; i++) {
        form.tokens = buckets ? info.buckets[i] : o.tokens;
        mw_graph *graph = mw_text_graph(&r->config, &form, err);
        variants[i] = graph != NULL ? mw_graph_find(graph, "loss") : NULL;
    }
    if (err->status == MW_OK) {
        mw_trainer_options options = mw_trainer_defaults(variants[count - 1], mw_adam(1e-2F));
        options.variants = variants;
        options.variant_count = count - 1;
        options.compile = engine_options(MW_DEVICE_CPU, 1);
        r->trainer = mw_trainer_create(&options, err);
    }
    for (size_t i = 0; i < count; i++)
        mw_graph_destroy(mw_tensor_graph(variants[i]));
    return r->trainer != NULL && mw_text_load_weights(r->trainer, "base", err) == MW_OK;
}

static double validation_of(run *r, mw_error *err)
{
    mw_evaluation found = {0};
    mw_trainer_evaluate(r->trainer, mw_text_data_validation(r->data), NULL, &found, err);
    return found.loss;
}

static void test_buckets_measure_what_full_length_does(void)
{
    char folder[512];
    mw_error err = {0};
    run some, all;
    REQUIRE(folder_enter(folder));
    make_folder("llama");
    write_lengths();
    if (open_padded(&some, true, 0, &err) && open_padded(&all, false, 0, &err)) {
        const mw_text_data_info info = mw_text_data_get_info(some.data);
        CHECK(info.bucket_count == 2 && info.buckets[0] == 32 && info.buckets[1] == 64);
        const double cut = validation_of(&some, &err), whole = validation_of(&all, &err);
        check_note(fabs(cut - whole) < 1e-6 * whole, __FILE__, __LINE__, "%.9g in buckets, %.9g", cut, whole);
        fit_run(&some, 3, NULL, &err);
        fit_run(&all, 3, NULL, &err);
        CHECK(validation_of(&some, &err) < 0.95 * cut); /* the order of batches is another, and it learns as well */
        check_note(fabs(validation_of(&some, &err) - validation_of(&all, &err)) < 0.1 * whole, __FILE__, __LINE__,
                   "%g in buckets, %g", validation_of(&some, &err), validation_of(&all, &err));
    }
    CHECK_OK(err);
    close_run(&some);
    close_run(&all);
    folder_leave(folder);
}

static void train_buckets(int rank, int64_t stop, const char *weights)
{
    mw_error err = {0};
    run r;
    unlink("run.safetensors");
    if (open_padded(&r, true, rank, &err)) {
        r.stop = stop;
        fit_run(&r, 2, "run.safetensors", &err);
    }
    if (stop > 0 && CHECK_INT(err.status, MW_ERROR_STOPPED)) {
        mw_error_clear(&err);
        close_run(&r);
        if (open_padded(&r, true, rank, &err))
            fit_run(&r, 2, "run.safetensors", &err);
    }
    mw_trainer_save_weights(r.trainer, weights, &err);
    CHECK_OK(err);
    close_run(&r);
}

static void test_a_run_in_buckets_gives_the_same_bits_wherever_it_stops(void)
{
    char folder[512];
    REQUIRE(folder_enter(folder));
    make_folder("llama");
    write_lengths();
    for (int rank = 0; rank <= 2; rank += 2) {
        train_buckets(rank, 0, "whole.safetensors");
        for (int64_t stop = 1; stop < 50; stop += 7) {
            train_buckets(rank, stop, "parts.safetensors");
            check_note(same_files("whole.safetensors", "parts.safetensors"), __FILE__, __LINE__,
                       "rank %d, stopped at step %lld", rank, (long long)stop);
        }
    }
    folder_leave(folder);
}

/* ---- validation ---- */

/* The mean loss of the labels of a text's documents, by a trainer on batches of two. */
static double padded_loss(const char *path, double *labels, mw_error *err)
{
    mw_text_config config;
    mw_evaluation found = {0};
    mw_text_data_options o = mw_text_data_defaults();
    mw_text_graph_options form = mw_text_graph_defaults();
    o.tokens = form.tokens = TOKENS;
    o.padded = form.loss = true;
    o.validation = 0.0;
    form.batch = BATCH;
    mw_text_config_read("base", &config, err);
    mw_text_data *data = mw_text_data_open(path, "base", &o, err);
    mw_graph *graph = data != NULL ? mw_text_graph(&config, &form, err) : NULL;
    mw_trainer *trainer =
        graph != NULL ? engine_trainer(mw_graph_find(graph, "loss"), mw_adam(1e-2F), MW_DEVICE_CPU, 1, err) : NULL;
    if (trainer != NULL && mw_text_load_weights(trainer, "base", err) == MW_OK)
        mw_trainer_evaluate(trainer, mw_text_data_training(data), NULL, &found, err);
    *labels = (double)mw_text_data_get_info(data).tokens - (double)mw_text_data_get_info(data).documents;
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
    mw_text_data_destroy(data);
    return found.loss;
}

/* Documents of 1 to 8 letters, two in a batch: each label counts once, in whichever company it comes. */
static void test_the_loss_of_padded_documents_is_that_of_their_labels(void)
{
    enum { DOCUMENTS = 7 };
    static const int sizes[DOCUMENTS] = {8, 1, 7, 2, 2, 6, 3};
    char folder[512];
    double sum = 0.0, labels = 0.0, all, mean = 0.0;
    mw_error err = {0};
    mw__text text;
    REQUIRE(folder_enter(folder));
    make_folder("llama");
    folder_put("base/tokenizer_config.json", "{\"eos_token\": \"<end>\"}");
    folder_put("one.jsonl", "");
    mw__text_init(&text, NULL);
    for (int i = 0; i < DOCUMENTS; i++) {
        char line[64];
        double own = 0.0;
        snprintf(line, sizeof line, "{\"text\": \"%.*s\"}\n", sizes[i], &"qwertyuiopasdfgh"[i]);
        mw__text_puts(&text, line);
        folder_put("one.jsonl", line);
        const double loss = padded_loss("one.jsonl", &own, &err);
        check_note(own > 0.0, __FILE__, __LINE__, "document %d has labels", i);
        sum += loss * own;
        labels += own;
        mean += loss / DOCUMENTS;
    }
    folder_put("all.jsonl", text.data);
    mw__text_deinit(&text);
    const double found = padded_loss("all.jsonl", &all, &err);
    CHECK_OK(err);
    CHECK(all == labels);
    check_note(fabs(found - sum / labels) < 1e-6 * found, __FILE__, __LINE__, "%.9g of all, %.9g of each", found,
               sum / labels);
    CHECK(fabs(found - mean) > 1e-3 * found); /* not that of documents */
    folder_leave(folder);
}

/* ---- adapters ---- */

static double loss_of(mw_trainer *trainer, mw_text_data *data, mw_error *err)
{
    mw_evaluation found = {0};
    mw_trainer_evaluate(trainer, mw_text_data_training(data), NULL, &found, err);
    return found.loss;
}

static char *write_text(const char *folder, mw_trainer *trainer, const mw_text_tuning *tuning, mw_error *err)
{
    mw_text_model_options options = mw_text_model_defaults();
    mw_compile_options compile = engine_options(MW_DEVICE_CPU, 1);
    compile.share.trainer = trainer;
    options.compile = &compile;
    options.tuning = *tuning;
    mw_generate_options write = mw_generate_defaults();
    write.temperature = 0.0F;
    write.tokens = 20;
    mw_text_model *model = mw_text_model_open(folder, &options, err);
    char *text = model != NULL ? mw_text_model_generate(model, "abc", &write, err) : NULL;
    mw_text_model_destroy(model);
    return text;
}

static void check_saved(const char *family, int rank, float decay)
{
    static const mw_text_tuning none = {0};
    mw_error err = {0};
    run r, again;
    make_folder(family);
    if (open_averaged(&r, rank, MW_DEVICE_CPU, decay, &err) && fit_run(&r, 2, NULL, &err) == MW_OK)
        mw_text_save_trained(r.trainer, "base", "tuned", NULL, &err);
    char *ours = write_text("base", r.trainer, &r.tuning, &err);
    const double before = loss_of(r.trainer, r.data, &err);
    if (decay > 0.0F) {
        mw_trainer_use_averages(r.trainer, false, &err);
        CHECK(fabs(loss_of(r.trainer, r.data, &err) - before) > 1e-3 * fabs(before));
    }
    close_run(&r);
    char *theirs = write_text("tuned", NULL, &none, &err);
    CHECK_OK(err);
    check_note(ours != NULL && theirs != NULL && strcmp(ours, theirs) == 0, __FILE__, __LINE__,
               "%s, rank %d: \"%s\", and saved \"%s\"", family, rank, ours != NULL ? ours : "",
               theirs != NULL ? theirs : "");
    rename("base/model.safetensors", "base/old");
    rename("tuned/model.safetensors", "base/model.safetensors");
    if (open_run(&again, 0, MW_DEVICE_CPU, &err)) {
        const double after = loss_of(again.trainer, again.data, &err);
        check_note(fabs(before - after) < 1e-5 * fabs(before), __FILE__, __LINE__, "%s, rank %d: %.8g, saved %.8g",
                   family, rank, before, after);
    }
    CHECK_OK(err);
    close_run(&again);
    mw_string_free(ours);
    mw_string_free(theirs);
}

static void test_saved_folders_say_what_the_trainer_said(void)
{
    for (size_t i = 0; i < 4 * FAMILIES; i++) {
        char folder[512];
        REQUIRE(folder_enter(folder));
        check_saved(families[i / 4], i % 2 == 0 ? 0 : 4, i % 4 < 2 ? 0.0F : 1.0F);
        folder_leave(folder);
    }
}

/* The rest is frozen: the table of words has the bits of the file. */
static void test_adapters_sit_where_peft_puts_them(void)
{
    for (size_t i = 0; i < FAMILIES; i++) {
        const bool joined = strcmp(families[i], "gpt2") == 0;
        const char *const there =
            joined ? "h.1.attn.c_attn.lora_A.weight" : "model.layers.1.self_attn.v_proj.lora_A.weight";
        const char *const none =
            joined ? "h.1.attn.c_proj.lora_A.weight" : "model.layers.1.self_attn.k_proj.lora_A.weight";
        char folder[512];
        float values[3 * 16 * 4];
        mw_error err = {0};
        run r;
        REQUIRE(folder_enter(folder));
        make_folder(families[i]);
        if (open_run(&r, 4, MW_DEVICE_CPU, &err)) {
            mw_trainer_read(r.trainer, there, MW_F32, values, 4 * 16, &err);
            CHECK_OK(err);
            mw_trainer_read(r.trainer, none, MW_F32, values, 4 * 16, &err);
            CHECK(err.status != MW_OK);
        }
        close_run(&r);
        folder_leave(folder);
    }
}

int main(void)
{
    RUN(test_a_run_that_is_stopped_anywhere_gives_the_same_bits);
    RUN(test_buckets_measure_what_full_length_does);
    RUN(test_a_run_in_buckets_gives_the_same_bits_wherever_it_stops);
    RUN(test_the_loss_of_padded_documents_is_that_of_their_labels);
    RUN(test_saved_folders_say_what_the_trainer_said);
    RUN(test_adapters_sit_where_peft_puts_them);
    return check_finish();
}
