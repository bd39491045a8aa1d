/* From package to package: real ones are read, their last layers trained, and the tuned programs written as packages
 * that compute, bit for bit, what was tuned. 50 steps in the nightly run, a few otherwise. */
#include "format/package.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/on_engine.h"

#include <stdlib.h>

typedef struct tune_case {
    const char *package, *pattern;
    size_t output; /* that is learned */
    bool adapters; /* LoRA in the place of the weights themselves */
} tune_case;

static const tune_case cases[] = {
    {REAL "silero-vad-unified-v6.0.0.mlpackage", "decoder_final_conv_*", 0, false},
    {REAL "silero-vad-unified-v6.0.0.mlpackage", "encoder_layers_*_weight_to_fp16", 0, true},
    {REAL "basic-pitch.mlpackage", "conv_1_*", 2, false},
    {REAL "basic-pitch.mlpackage", "conv_*_weight_0", 2, true},
    {REAL "DTLN_AEC_128_Part1.mlpackage", "DTLN_AEC_Part1_dense_mask_*", 0, false},
    {REAL "DTLN_AEC_128_Part1.mlpackage", "DTLN_AEC_Part1_dense_mask_1_Tensordot_ReadVariableOp", 0, true},
};

enum { INPUTS = 8 };

typedef struct data {
    char names[INPUTS][96]; /* the graph that had them goes */
    float *values[INPUTS];
    mw_feed feeds[INPUTS];
    mw_batch batch;
} data;

static void add_feed(data *d, const mw_tensor *input, float fixed)
{
    uint32_t state = 11;
    const size_t at = d->batch.feed_count++, count = (size_t)mw_shape_count(mw_tensor_shape(input));
    snprintf(d->names[at], sizeof d->names[at], "%s", mw_tensor_name(input));
    d->values[at] = malloc((count + 1) * sizeof(float));
    for (size_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        d->values[at][i] = fixed > 0 ? fixed : (float)(state >> 8) / 16777216.0f + 0.01f; /* DTLN takes logarithms */
    }
    d->feeds[at] = (mw_feed){.name = d->names[at], .dtype = MW_F32, .data = d->values[at], .count = count, .scale = 1};
    d->batch.feeds = d->feeds;
    d->batch.examples = 1;
}

static mw_graph *make_trainable(const tune_case *c, const mw_graph *source, mw_error *err)
{
    mw_tune_options options = mw_tune_defaults(&c->pattern, 1);
    mw_lora_options lora = mw_lora_defaults(&c->pattern, 1);
    options.skip_fixed = lora.skip_fixed = true;
    lora.rank = 2;
    return c->adapters ? mw_graph_lora(source, &lora, err) : mw_graph_trainable(source, &options, err);
}

/* Trains the weights of the pattern towards a constant, and writes the tuned program as the folder "tuned" and the
 * package "Tuned.mlpackage". */
static void tune(const tune_case *c, const mw_coreml *model, data *d, mw_error *err)
{
    const int steps = getenv("MW_NIGHTLY") != NULL ? 50 : 3;
    const mw_graph *source = mw_coreml_graph(model, err);
    mw_graph *fixed = mw_graph_specialize(source, NULL, 0, err); /* extents that only the shapes of inputs say */
    mw_write_options write = mw_write_defaults();
    mw_tensor *input;
    float first = 0, last = 0;
    write.description = mw_coreml_get_info(model).description;
    mw_graph *graph = make_trainable(c, fixed, err);
    mw_graph_destroy(fixed);
    if (!CHECK(graph != NULL))
        return;
    mw_tensor *y = mw_graph_output_at(graph, c->output);
    mw_tensor *target = mw_input(graph, "target", mw_tensor_dtype(y), mw_tensor_shape(y));
    for (size_t i = 0; (input = mw_graph_input_at(graph, i)) != NULL && input != target; i++)
        add_feed(d, input, 0);
    add_feed(d, target, 0.75f);
    mw_trainer_options how = mw_trainer_defaults(mw_mse(y, target), mw_adam(c->adapters ? 1e-3f : 1e-2f));
    how.prediction = y;
    how.compile = engine_options(MW_DEVICE_CPU, 1);
    mw_trainer *trainer = mw_trainer_create(&how, err);
    for (int i = 0; trainer != NULL && i < steps; i++)
        mw_trainer_step(trainer, &d->batch, i == 0 ? &first : &last, err);
    check_note(last < first, __FILE__, __LINE__, "%s, %s: the loss goes from %g to %g", c->package, c->pattern,
               (double)first, (double)last);
    mw_trainer_export(trainer, source, "tuned", NULL, err);
    mw_graph *tuned = mw_graph_open_mil("tuned/model.mil", NULL, err);
    mw_graph_write(tuned, "Tuned.mlpackage", &write, err);
    mw_graph_destroy(tuned);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
}

/* Every result of the program for the fed inputs. */
static float *run(const mw_graph *graph, const data *d, size_t *out_count, mw_error *err)
{
    mw_port port;
    float *results = NULL;
    *out_count = 0;
    mw_program *program = engine_compile(graph, MW_DEVICE_CPU, 1, err);
    for (size_t i = 0; i + 1 < d->batch.feed_count; i++) /* the target is the trainer's */
        mw_program_write(program, d->feeds[i].name, MW_F32, d->values[i], d->feeds[i].count, err);
    mw_program_run(program, err);
    for (size_t i = 0; err->status == MW_OK && mw_program_port_at(program, i, &port); i++) {
        const size_t count = (size_t)mw_shape_count(port.shape);
        if (!port.is_output)
            continue;
        results = realloc(results, (*out_count + count) * sizeof *results);
        mw_program_read(program, port.name, MW_F32, results + *out_count, count, err);
        *out_count += count;
    }
    mw_program_destroy(program);
    return results;
}

static void check_case(const tune_case *c)
{
    char folder[512];
    size_t counts[2];
    data d = {0};
    mw_error err = {0};
    REQUIRE(folder_enter(folder));
    mw_coreml *model = mw_coreml_open(c->package, NULL, &err);
    tune(c, model, &d, &err);
    mw_graph *tuned = mw_graph_open_mil("tuned/model.mil", NULL, &err);
    mw_coreml *written = mw_coreml_open("Tuned.mlpackage", NULL, &err);
    CHECK_OK(err);
    float *a = run(tuned, &d, &counts[0], &err);
    float *b = run(mw_coreml_graph(written, &err), &d, &counts[1], &err);
    float *before = run(mw_coreml_graph(model, &err), &d, &counts[0], &err);
    CHECK_OK(err);
    CHECK_INT(counts[0], counts[1]);
    const bool all = a != NULL && b != NULL && before != NULL && counts[0] > 0;
    CHECK(all && memcmp(a, b, counts[0] * sizeof *a) == 0);
    CHECK(all && memcmp(a, before, counts[0] * sizeof *a) != 0); /* the training did something */
    char *text = mw_description_print(mw_coreml_get_info(written).description, &err);
    char *said = mw_description_print(mw_coreml_get_info(model).description, &err);
    if (CHECK(text != NULL && said != NULL))
        CHECK_STR(text, said);
    mw_string_free(text);
    mw_string_free(said);
    free(a);
    free(b);
    free(before);
    for (size_t i = 0; i < d.batch.feed_count; i++)
        free(d.values[i]);
    mw_graph_destroy(tuned);
    mw_coreml_destroy(written);
    mw_coreml_destroy(model);
    folder_leave(folder);
}

static void test_tuned_packages_compute_what_was_tuned(void)
{
    if (!package_exists(REAL))
        SKIP("no packages at " REAL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_case(&cases[i]);
}

int main(void)
{
    RUN(test_tuned_packages_compute_what_was_tuned);
    return check_finish();
}
