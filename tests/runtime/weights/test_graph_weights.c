/* Weights from files into graphs: the base of a program that was read, under adapters; networks whose large weights
 * stay as a GGUF file has them; what is missing, unfit or cut short leaves nothing behind. */
#include "base/number/fp16.h"
#include "graph/constants/compressed.h"
#include "runtime/files.h"
#include "support/check.h"
#include "support/failing.h"
#include "support/gguf_file.h"
#include "support/on_engine.h"
#include "support/setting.h"
#include "tuned.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- a program that was read ---- */

/* The weights of tuned.h by the names of a state dict, each element by a formula. */
static const struct {
    const char *weight, *tensor;
    mw_shape shape;
    float middle;
} base[] = {
    {"conv_weight", "m.conv.weight", {4, {3, 2, 3, 3}}, 0},
    {"conv_bias", "m.conv.bias", {1, {3}}, 0},
    {"bn_gamma", "m.bn_gamma", {1, {3}}, 1},
    {"bn_beta", "m.bn_beta", {1, {3}}, 0},
    {"bn_mean", "m.bn_mean", {1, {3}}, 0},
    {"bn_variance", "m.bn_variance", {1, {3}}, 1},
    {"fc1_weight", "m.fc1.weight", {2, {5, 48}}, 0},
    {"fc1_bias", "m.fc1.bias", {1, {5}}, 0},
    {"ln_gamma", "m.ln_gamma", {1, {5}}, 1},
    {"ln_beta", "m.ln_beta", {1, {5}}, 0},
    {"proj", "m.proj", {2, {5, 3}}, 0},
    {"proj_bias", "m.proj_bias", {1, {3}}, 0},
};
enum { WEIGHTS = sizeof base / sizeof *base, LARGEST = 5 * 48 };
static const mw_weights_prefix module = {"m.", ""};

static const char *write_base(const char *name, size_t count)
{
    static float values[WEIGHTS][LARGEST];
    mw_tensor_values tensors[WEIGHTS];
    mw_error err = {0};
    for (int i = 0; i < WEIGHTS; i++) {
        for (int k = 0; k < LARGEST; k++)
            values[i][k] = base[i].middle + 0.4f * (float)sin(1.7 * k + i);
        tensors[i] = (mw_tensor_values){base[i].tensor, MW_F32, base[i].shape, values[i]};
    }
    mw_tensors_write(scratch(name), tensors, count, &err);
    CHECK_OK(err);
    return scratch(name);
}

static mw_weights_options named(void)
{
    mw_weights_options options = mw_weights_defaults();
    options.prefixes = &module;
    options.prefix_count = 1;
    return options;
}

/* The logits when all of it was made trainable, and loaded into the trainer. */
static bool logits_when_trainable(const mw_graph *source, const char *path, float out[TUNED_LOGITS])
{
    const char *names[WEIGHTS];
    mw_error err = {0};
    tuned_data data;
    for (int i = 0; i < WEIGHTS; i++)
        names[i] = base[i].weight;
    const mw_tune_options tune = mw_tune_defaults(names, WEIGHTS);
    const mw_weights_options options = named();
    mw_graph *graph = mw_graph_trainable(source, &tune, &err);
    mw_trainer *trainer = tuned_trainer(graph, MW_DEVICE_CPU, 0.1f, &err);
    tuned_fill(&data);
    mw_trainer_load_weights(trainer, path, &options, &err);
    mw_trainer_predict(trainer, &data.batch, MW_F32, out, TUNED_LOGITS, &err);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
    return CHECK_OK(err);
}

static mw_graph *adapted(const mw_graph *source, mw_error *err)
{
    static const char *const weights[] = {"fc1_weight", "proj"};
    mw_lora_options lora = mw_lora_defaults(weights, 2);
    lora.rank = 2;
    return mw_graph_lora(source, &lora, err);
}

static void test_base_weights_come_under_the_adapters_of_a_program_that_was_read(void)
{
    mw_error err = {0};
    tuned_data data;
    float want[TUNED_LOGITS], before[TUNED_LOGITS], got[TUNED_LOGITS], after[TUNED_LOGITS];
    const mw_weights_options options = named();
    const char *path = write_base("base.safetensors", WEIGHTS);
    mw_graph *source = tuned_read(MW_F32, "source", &err);
    mw_graph *loaded = mw_graph_load_weights(source, path, &options, &err);
    mw_graph *graph = adapted(loaded, &err);
    REQUIRE(CHECK_OK(err) && logits_when_trainable(source, path, want));
    tuned_run(source, MW_DEVICE_CPU, before, &err);
    CHECK(tuned_distance(before, want, TUNED_LOGITS) > 0.1); /* the file has other weights */
    mw_trainer *trainer = tuned_trainer(graph, MW_DEVICE_CPU, 0.1f, &err);
    tuned_fill(&data);
    mw_trainer_predict(trainer, &data.batch, MW_F32, got, TUNED_LOGITS, &err);
    CHECK(tuned_distance(got, want, TUNED_LOGITS) < 1e-6); /* a constant is summed in another order */
    tuned_steps(trainer, 5, &err);
    mw_trainer_predict(trainer, &data.batch, MW_F32, got, TUNED_LOGITS, &err);
    CHECK(tuned_distance(got, want, TUNED_LOGITS) > 1e-3);
    /* merged into the base that was loaded */
    mw_trainer_export(trainer, loaded, scratch("merged"), NULL, &err);
    char text[500];
    snprintf(text, sizeof text, "%s/model.mil", scratch("merged"));
    mw_graph *merged = mw_graph_open_mil(text, NULL, &err);
    if (CHECK_OK(err) && tuned_run(merged, MW_DEVICE_CPU, after, &err))
        CHECK(tuned_distance(after, got, TUNED_LOGITS) < 1e-5);
    mw_graph_destroy(merged);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
    mw_graph_destroy(loaded);
    mw_graph_destroy(source);
}

static void test_a_program_of_fp16_takes_the_numbers_rounded_once(void)
{
    mw_error err = {0};
    const mw_weights_options options = named();
    mw_graph *source = tuned_read(MW_F16, "halves", &err);
    mw_graph *loaded = mw_graph_load_weights(source, write_base("halves.npz", WEIGHTS), &options, &err);
    REQUIRE(CHECK_OK(err) && loaded != NULL);
    for (int i = 0; i < WEIGHTS; i++) {
        const mw_tensor *weight = mw_graph_find(loaded, base[i].weight);
        REQUIRE(weight != NULL && weight->payload != NULL && mw_tensor_dtype(weight) == MW_F16);
        for (int k = 0; k < (int)mw_shape_count(base[i].shape); k++)
            CHECK(mw__payload_float(weight->payload, (size_t)k) ==
                  (double)mw__fp16_to_float(mw__fp16_from_float(base[i].middle + 0.4f * (float)sin(1.7 * k + i))));
    }
    mw_graph_destroy(loaded);
    mw_graph_destroy(source);
}

/* ---- what is missing, unfit, or not for a graph ---- */

static char told[2048];

static void note(void *user, const mw_weights_choice *choice)
{
    static const char *const words[] = {"taken", "missing", "shape", "unused"};
    const size_t at = strlen(told);
    (void)user;
    snprintf(told + at, sizeof told - at, "%s %s<%s;", words[choice->outcome],
             choice->parameter != NULL ? choice->parameter : "", choice->tensor != NULL ? choice->tensor : "");
}

static void expect_refused(const mw_graph *source, const char *path, const mw_weights_options *options,
                           mw_status status, const char *part)
{
    mw_error err = {0};
    CHECK(mw_graph_load_weights(source, path, options, &err) == NULL);
    CHECK_ERROR(err, status, part);
}

static void test_what_is_missing_or_unfit_is_named_as_for_a_trainer(void)
{
    static const float numbers[9] = {0};
    mw_error err = {0};
    mw_weights_options options = named();
    mw_graph *source = tuned_read(MW_F32, "refusing", &err);
    const char *path = write_base("some.npz", 10);
    options.report = note;
    told[0] = '\0';
    expect_refused(source, path, &options, MW_ERROR_FORMAT,
                   "has no tensor for 2 of the graph's weights: \"proj\", \"proj_bias\"; with `partial`");
    CHECK_CONTAINS(told, "taken conv_weight<m.conv.weight;");
    CHECK_CONTAINS(told, "missing proj_bias<;");
    options.partial = true;
    mw_graph *loaded = mw_graph_load_weights(source, path, &options, &err);
    CHECK_OK(err);
    const mw_tensor *kept = mw_graph_find(loaded, "proj"), *old = mw_graph_find(source, "proj");
    CHECK(kept != NULL && memcmp(kept->payload->data, old->payload->data, old->payload->size) == 0);
    mw_graph_destroy(loaded);
    const mw_tensor_values wrong = {"m.proj", MW_F32, MW_SHAPE(3, 3), numbers};
    mw_tensors_write(scratch("wrong.npz"), &wrong, 1, &err);
    expect_refused(source, scratch("wrong.npz"), &options, MW_ERROR_FORMAT,
                   "\"m.proj\" is [3, 3] in the file, but [5, 3] in the graph");
    expect_refused(NULL, path, &options, MW_ERROR_ARGUMENT, "NULL");
    expect_refused(source, "absent.npz", &options, MW_ERROR_FILE, "absent.npz");
    options.struct_size = 0;
    expect_refused(source, path, &options, MW_ERROR_ARGUMENT, "mw_weights_defaults");
    mw_graph_destroy(source);
}

/* ---- a network of this library ---- */

enum { BATCH = 8, IN = 64, HIDDEN = 96, OUT = 32 };

/* fc1 in blocks of 8 bits, fc2 in blocks of 4; each block has its own scale. */
typedef struct blocks {
    unsigned char fc1[HIDDEN * IN / 32 * 34], fc2[OUT * HIDDEN / 32 * 18];
    float bias1[HIDDEN], bias2[OUT];
    double w1[HIDDEN * IN], w2[OUT * HIDDEN]; /* by the formulas of the blocks, in double */
} blocks;

static void put_scale(unsigned char *block, float scale)
{
    const uint16_t half = mw__fp16_from_float(scale);
    block[0] = (unsigned char)(half & 255);
    block[1] = (unsigned char)(half >> 8);
}

static double scale_of(int block, double of) { return (1 + block % 5) * of; }

static void fill_blocks(blocks *b)
{
    for (int i = 0; i < HIDDEN * IN; i++) {
        const int code = i * 73 % 255 - 127;
        unsigned char *block = b->fc1 + i / 32 * 34;
        put_scale(block, (float)scale_of(i / 32, 0x1p-11));
        block[2 + i % 32] = (unsigned char)code;
        b->w1[i] = scale_of(i / 32, 0x1p-11) * code;
    }
    memset(b->fc2, 0, sizeof b->fc2);
    for (int i = 0; i < OUT * HIDDEN; i++) {
        const int code = i * 29 % 16, place = i % 32;
        unsigned char *block = b->fc2 + i / 32 * 18;
        put_scale(block, (float)scale_of(i / 32, 0x1p-7));
        block[2 + place % 16] |= (unsigned char)(code << (place / 16 * 4));
        b->w2[i] = scale_of(i / 32, 0x1p-7) * (code - 8);
    }
    for (int i = 0; i < HIDDEN; i++)
        b->bias1[i] = (float)(i % 7 - 3) / 16;
    for (int i = 0; i < OUT; i++)
        b->bias2[i] = (float)(i % 5 - 2) / 16;
}

static const char *write_blocks(const blocks *b)
{
    const gguf_tensor_bytes tensors[] = {{"fc1.weight", 8, HIDDEN, IN, b->fc1, sizeof b->fc1},
                                         {"fc2.weight", 2, OUT, HIDDEN, b->fc2, sizeof b->fc2}};
    CHECK(put_gguf(scratch("blocks.gguf"), tensors, 2));
    return scratch("blocks.gguf");
}

static mw_graph *build(mw_opset opset)
{
    mw_graph_options options = mw_graph_defaults();
    options.opset = opset;
    mw_graph *graph = mw_graph_create(&options, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(BATCH, IN));
    mw_output(mw_dense(mw_tanh(mw_dense(x, HIDDEN, "fc1")), OUT, "fc2"), "logits");
    return graph;
}

static void put_inputs(float x[BATCH * IN], int32_t labels[BATCH])
{
    for (int i = 0; i < BATCH * IN; i++)
        x[i] = (float)(i * 37 % 41 - 20) / 16;
    for (int i = 0; i < BATCH; i++)
        labels[i] = i * 11 % OUT;
}

/* In double, with biases of 0. */
static void compute(const blocks *b, const float *x, double logits[BATCH * OUT])
{
    double h[HIDDEN];
    for (int n = 0; n < BATCH; n++) {
        for (int j = 0; j < HIDDEN; j++) {
            double sum = 0;
            for (int i = 0; i < IN; i++)
                sum += (double)x[n * IN + i] * b->w1[j * IN + i];
            h[j] = tanh(sum);
        }
        for (int o = 0; o < OUT; o++) {
            double sum = 0;
            for (int j = 0; j < HIDDEN; j++)
                sum += h[j] * b->w2[o * HIDDEN + j];
            logits[n * OUT + o] = sum;
        }
    }
}

static size_t count_compressed(const mw_graph *graph)
{
    size_t count = 0;
    const mw__block *body = mw__graph_main(graph)->body;
    for (size_t i = 0; i < body->op_count; i++)
        count += mw__op_is_constexpr(body->ops[i]);
    return count;
}

/* Biases start at 0, so that `compute` is what the network gives; they are not in the file. */
static mw_graph *compressed_base(const char *path, mw_error *err)
{
    mw_weights_options options = mw_weights_defaults();
    mw_graph *graph = build(MW_IOS18), *zeroed = NULL;
    static const float zeros[HIDDEN];
    const mw_tensor_values biases[] = {{"fc1.bias", MW_F32, MW_SHAPE(HIDDEN), zeros},
                                       {"fc2.bias", MW_F32, MW_SHAPE(OUT), zeros}};
    mw_tensors_write(scratch("biases.npz"), biases, 2, err);
    options.partial = true;
    zeroed = mw_graph_load_weights(graph, scratch("biases.npz"), &options, err);
    options.compressed = true;
    mw_graph *loaded = mw_graph_load_weights(zeroed, path, &options, err);
    mw_graph_destroy(zeroed);
    mw_graph_destroy(graph);
    return loaded;
}

static mw_graph *with_adapters(const mw_graph *source, mw_error *err)
{
    static const char *const weights[] = {"fc1.weight", "fc2.weight"};
    mw_lora_options lora = mw_lora_defaults(weights, 2);
    lora.rank = 4;
    return mw_graph_lora(source, &lora, err);
}

/* Steps with the base packed or expanded; logits before and after, the loss after. */
static float train(mw_graph *graph, int steps, float before[BATCH * OUT], float after[BATCH * OUT], mw_error *err)
{
    static float x[BATCH * IN];
    int32_t labels[BATCH];
    float loss = NAN;
    put_inputs(x, labels);
    const mw_feed feeds[] = {{.name = "x", .dtype = MW_F32, .data = x, .count = BATCH * IN, .scale = 1},
                             {.name = "labels", .dtype = MW_I32, .data = labels, .count = BATCH, .scale = 1}};
    const mw_batch batch = {.feeds = feeds, .feed_count = 2, .examples = BATCH};
    mw_tensor *logits = mw_graph_output_at(graph, 0), *y = mw_input(graph, "labels", MW_I32, MW_SHAPE(BATCH));
    mw_trainer_options options = mw_trainer_defaults(mw_cross_entropy(logits, y), mw_adam(0.01f));
    options.prediction = logits;
    options.compile = engine_options(MW_DEVICE_CPU, 1);
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_trainer_predict(trainer, &batch, MW_F32, before, BATCH * OUT, err);
    for (int i = 0; i < steps; i++)
        mw_trainer_step(trainer, &batch, &loss, err);
    mw_trainer_predict(trainer, &batch, MW_F32, after, BATCH * OUT, err);
    mw_trainer_destroy(trainer);
    return loss;
}

static void test_adapters_are_trained_beside_a_base_that_stays_in_blocks(void)
{
    static blocks b;
    static float x[BATCH * IN], before[BATCH * OUT], after[BATCH * OUT], expanded[BATCH * OUT];
    static double want[BATCH * OUT];
    int32_t labels[BATCH];
    mw_error err = {0};
    fill_blocks(&b);
    put_inputs(x, labels);
    compute(&b, x, want);
    mw_graph *loaded = compressed_base(write_blocks(&b), &err);
    REQUIRE(CHECK_OK(err) && loaded != NULL);
    for (int turn = 0; turn < 2; turn++) {
        mw_graph *graph = with_adapters(loaded, &err);
        REQUIRE(CHECK_OK(err) && graph != NULL);
        CHECK_INT(count_compressed(graph), 2);
        setting_begin("MW_ENGINE_PACK", turn == 0 ? "0" : "1000000000");
        const float loss = train(graph, 40, before, turn == 0 ? after : expanded, &err);
        setting_end("MW_ENGINE_PACK");
        CHECK_OK(err);
        for (int i = 0; i < BATCH * OUT; i++) /* tanh and two sums of fp32 */
            CHECK_NEAR((double)before[i], want[i], 1e-5);
        CHECK(loss < 0.5f); /* from log(32) = 3.5 */
        mw_graph_destroy(graph);
    }
    CHECK(tuned_distance(after, expanded, BATCH * OUT) < 1e-4); /* 40 steps, sums in another order */
    mw_graph_destroy(loaded);
}

static void test_without_compressed_blocks_become_parameters_of_fp32(void)
{
    static blocks b;
    mw_error err = {0};
    float weight[HIDDEN * IN];
    fill_blocks(&b);
    mw_weights_options options = mw_weights_defaults();
    options.partial = true;
    mw_graph *source = build(MW_IOS17);
    mw_graph *graph = mw_graph_load_weights(source, write_blocks(&b), &options, &err);
    mw_program *program = engine_compile(graph, MW_DEVICE_CPU, 1, &err);
    mw_program_read(program, "fc1.weight", MW_F32, weight, HIDDEN * IN, &err);
    CHECK_OK(err);
    for (int i = 0; i < HIDDEN * IN; i++)
        CHECK((double)weight[i] == b.w1[i]);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
    options.compressed = true;
    expect_refused(source, scratch("blocks.gguf"), &options, MW_ERROR_UNSUPPORTED,
                   "\"fc1.weight\" (Q8_0) stays compressed from ios18 on");
    mw_graph_destroy(source);
}

static void test_parameters_of_a_program_are_not_compressed(void)
{
    mw_error err = {0};
    mw_weights_options options = mw_weights_defaults();
    mw_graph *graph = build(MW_IOS18);
    mw_program *program = engine_compile(graph, MW_DEVICE_CPU, 1, &err);
    CHECK_OK(err);
    options.compressed = true;
    mw_program_load_weights(program, "any.gguf", &options, &err);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "parameters are dense");
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

static void test_states_of_a_graph_are_loaded_too(void)
{
    const float mean[2] = {0.5f, -0.25f}, variance[2] = {2.0f, 3.0f};
    const mw_tensor_values tensors[] = {{"bn.running_mean", MW_F32, MW_SHAPE(2), mean},
                                        {"bn.running_var", MW_F32, MW_SHAPE(2), variance}};
    mw_error err = {0};
    float got[2];
    mw_graph *source = mw_graph_create(NULL, NULL);
    mw_output(mw_batch_norm_layer(mw_input(source, "x", MW_F32, MW_SHAPE(4, 2)), 0.1f, 1e-5f, "bn"), "y");
    mw_tensors_write(scratch("bn.npz"), tensors, 2, &err);
    mw_weights_options options = mw_weights_defaults();
    options.partial = true;
    mw_graph *graph = mw_graph_load_weights(source, scratch("bn.npz"), &options, &err);
    mw_graph *evaluation = mw_graph_evaluation(graph, &err);
    mw_program *program = engine_compile(evaluation, MW_DEVICE_CPU, 1, &err);
    mw_program_read(program, "bn.running_var", MW_F32, got, 2, &err);
    CHECK_OK(err);
    CHECK(memcmp(got, variance, sizeof got) == 0);
    mw_program_destroy(program);
    mw_graph_destroy(evaluation);
    mw_graph_destroy(graph);
    mw_graph_destroy(source);
}

/* ---- memory ---- */

static void test_loading_survives_failing_allocations(void)
{
    static blocks b;
    bool finished = false;
    fill_blocks(&b);
    const char *path = write_blocks(&b);
    mw_weights_options options = mw_weights_defaults();
    options.partial = options.compressed = true;
    for (long n = 0; !finished && n < 2000; n++) {
        failing_allocator failing = {.fail_at = -1};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_graph_options how = mw_graph_defaults();
        mw_error err = {0};
        how.allocator = &allocator;
        mw_graph *source = mw_graph_create(&how, NULL);
        mw_output(mw_dense(mw_input(source, "x", MW_F32, MW_SHAPE(BATCH, IN)), HIDDEN, "fc1"), "h");
        failing.fail_at = failing.requests + n;
        mw_graph *graph = mw_graph_load_weights(source, path, &options, &err);
        finished = !failing.failed;
        CHECK((graph != NULL) == finished);
        CHECK_INT(err.status, finished ? MW_OK : MW_ERROR_MEMORY);
        mw_graph_destroy(graph);
        mw_graph_destroy(source);
        CHECK_INT(failing.live, 0);
    }
    CHECK(finished);
}

int main(void)
{
    RUN(test_base_weights_come_under_the_adapters_of_a_program_that_was_read);
    RUN(test_a_program_of_fp16_takes_the_numbers_rounded_once);
    RUN(test_what_is_missing_or_unfit_is_named_as_for_a_trainer);
    RUN(test_adapters_are_trained_beside_a_base_that_stays_in_blocks);
    RUN(test_without_compressed_blocks_become_parameters_of_fp32);
    RUN(test_parameters_of_a_program_are_not_compressed);
    RUN(test_states_of_a_graph_are_loaded_too);
    RUN(test_loading_survives_failing_allocations);
    return check_finish();
}
