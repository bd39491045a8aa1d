/* Fine-tuning a program with an lstm: its constants become parameters, the steps are written out for their gradients,
 * and what is written back is the lstm with other numbers. */
#include "runtime/files.h"
#include "support/check.h"
#include "support/on_engine.h"

#include <stdarg.h>
#include <stdlib.h>

enum { STEPS = 3, BATCH = 4, INPUTS = 2, HIDDEN = 2, GATES = 4 * HIDDEN };

typedef struct writer {
    char text[6000];
    size_t used;
} writer;

static void put(writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(writer *w, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    w->used += (size_t)vsnprintf(w->text + w->used, sizeof w->text - w->used, format, list);
    va_end(list);
}

/* A constant of small numbers, as an inline literal. */
static void put_constant(writer *w, const char *name, int rows, int columns)
{
    char type[40];
    if (rows > 0)
        snprintf(type, sizeof type, "tensor<fp32, [%d, %d]>", rows, columns);
    else
        snprintf(type, sizeof type, "tensor<fp32, [%d]>", columns);
    put(w, "%s %s = const()[name = string(\"%s\"), val = %s([", type, name, name, type);
    for (int i = 0; i < (rows > 0 ? rows : columns); i++) {
        put(w, "%s%s", i > 0 ? ", " : "", rows > 0 ? "[" : "");
        for (int k = 0; k < (rows > 0 ? columns : 1); k++)
            put(w, "%s%s0x1p-%d", k > 0 ? ", " : "", (i * 3 + k) % 2 == 0 ? "" : "-", 1 + (i + k * 5) % 4);
        put(w, "%s", rows > 0 ? "]" : "");
    }
    put(w, "])];\n");
}

/* x [3, 4, 2] and s [4, 2] give y, the last output [4, 2]. */
static mw_graph *read_source(mw_error *err)
{
    writer w = {.used = 0};
    put(&w,
        "program(1.3)\n[buildInfo = dict<string, string>({})]\n{\nfunc main<ios17>(tensor<fp32, [%d, %d, %d]> x, "
        "tensor<fp32, [%d, %d]> s) {\n",
        STEPS, BATCH, INPUTS, BATCH, HIDDEN);
    put_constant(&w, "w_ih", GATES, INPUTS);
    put_constant(&w, "w_hh", GATES, HIDDEN);
    put_constant(&w, "b", 0, GATES);
    put_constant(&w, "p", 0, 3 * HIDDEN);
    put(&w,
        "fp32 bound = const()[name = string(\"bound\"), val = fp32(0x1p+1)];\n"
        "tensor<fp32, [1, %d, %d]> o, tensor<fp32, [%d, %d]> y, tensor<fp32, [%d, %d]> c = lstm(bias = b, clip = "
        "bound, "
        "initial_c = s, initial_h = s, peephole = p, weight_hh = w_hh, weight_ih = w_ih, x = x)[name = "
        "string(\"l\")];\n} -> (y);\n}\n",
        BATCH, HIDDEN, BATCH, HIDDEN, BATCH, HIDDEN);
    return mw_graph_parse_mil(w.text, w.used, NULL, NULL, err);
}

typedef struct fed {
    float x[STEPS * BATCH * INPUTS], s[BATCH * HIDDEN];
    mw_feed feeds[2];
} fed;

static void fill(fed *f)
{
    for (int i = 0; i < STEPS * BATCH * INPUTS; i++)
        f->x[i] = (float)(i * 7 % 11 - 5) / 8.0F;
    for (int i = 0; i < BATCH * HIDDEN; i++)
        f->s[i] = (float)(i % 3 - 1) / 4.0F;
    f->feeds[0] = (mw_feed){.name = "x", .dtype = MW_F32, .data = f->x, .count = STEPS * BATCH * INPUTS, .scale = 1.0F};
    f->feeds[1] = (mw_feed){.name = "s", .dtype = MW_F32, .data = f->s, .count = BATCH * HIDDEN, .scale = 1.0F};
}

/* All outputs should become 0.4. */
static mw_trainer *create(const mw_graph *source, mw_device device, mw_error *err)
{
    static const char *const patterns[] = {"*"};
    const mw_tune_options tune = mw_tune_defaults(patterns, 1);
    mw_graph *graph = mw_graph_trainable(source, &tune, err);
    mw_tensor *y = graph != NULL ? mw_graph_output_at(graph, 0) : NULL;
    mw_tensor *apart = mw_add_scalar(y, -0.4);
    mw_trainer_options options =
        mw_trainer_defaults(mw_reduce_mean(mw_square(apart), MW_AXES(0, 1), false), mw_adam(0.05F));
    options.prediction = y;
    options.compile = engine_options(device, 1);
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(graph);
    return trainer;
}

/* The lstm of the folder, run as it is. */
static void run_written(const char *folder, const fed *f, float out[BATCH * HIDDEN], mw_error *err)
{
    char path[600];
    snprintf(path, sizeof path, "%s/model.mil", folder);
    mw_graph *graph = mw_graph_open_mil(path, NULL, err);
    char *text = graph != NULL ? mw_graph_print(graph, err) : NULL;
    CHECK(text != NULL && strstr(text, "lstm(") != NULL && strstr(text, "matmul(") == NULL);
    mw_program *program = graph != NULL ? engine_compile(graph, MW_DEVICE_CPU, 1, err) : NULL;
    mw_program_write(program, "x", MW_F32, f->x, STEPS * BATCH * INPUTS, err);
    mw_program_write(program, "s", MW_F32, f->s, BATCH * HIDDEN, err);
    mw_program_run(program, err);
    mw_program_read(program, "y", MW_F32, out, BATCH * HIDDEN, err);
    mw_program_destroy(program);
    mw_string_free(text);
    mw_graph_destroy(graph);
}

/* `rounded`: what fp16 adds to the distance of prediction and program. */
static void tune(mw_device device, double rounded)
{
    mw_error err = {0};
    fed f;
    float first = 0.0F, last = 1.0F, predicted[BATCH * HIDDEN] = {0}, written[BATCH * HIDDEN] = {1.0F};
    fill(&f);
    const mw_batch batch = {.feeds = f.feeds, .feed_count = 2, .examples = 1};
    mw_graph *source = read_source(&err);
    mw_trainer *trainer = create(source, device, &err);
    for (int step = 0; step < 150; step++)
        mw_trainer_step(trainer, &batch, step == 0 ? &first : &last, &err);
    mw_trainer_predict(trainer, &batch, MW_F32, predicted, BATCH * HIDDEN, &err);
    mw_trainer_export(trainer, source, scratch("tuned"), NULL, &err);
    CHECK_OK(err);
    CHECK(first > 0.02F && last < first / 20.0F);
    run_written(scratch("tuned"), &f, written, &err);
    CHECK_OK(err);
    for (int i = 0; i < BATCH * HIDDEN; i++)
        CHECK_NEAR(written[i], predicted[i], 2e-6 + rounded);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(source);
}

static void test_an_lstm_is_tuned_and_written_back(void)
{
    tune(MW_DEVICE_CPU, 0.0);
    tune(MW_DEVICE_ANE, 4e-3);
}

/* The weights are found as those of a layer; the bound, a number that shapes no weight, is none. */
static void test_which_constants_are_weights(void)
{
    mw_error err = {0};
    mw_graph *source = read_source(&err);
    mw_weight weights[8];
    size_t count = 0;
    mw_graph_weights(source, weights, 8, &count, &err);
    CHECK_OK(err);
    CHECK_INT(count, 5);
    for (size_t i = 0; i < count && i < 8; i++) {
        const bool is_bound = strcmp(weights[i].name, "bound") == 0;
        CHECK_STR(weights[i].operation, "lstm");
        CHECK((weights[i].obstacle != NULL) == is_bound);
        CHECK_INT(weights[i].role, is_bound ? MW_WEIGHT_NONE : MW_WEIGHT_KERNEL);
    }
    mw_graph_destroy(source);
}

int main(void)
{
    RUN(test_an_lstm_is_tuned_and_written_back);
    RUN(test_which_constants_are_weights);
    return check_finish();
}
