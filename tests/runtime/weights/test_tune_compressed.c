/* Fine-tuning a program with compressed weights: as dense parameters, or with adapters beside weights that stay
 * compressed; written back, the program has dense weights where it was trained, and runs by itself. */
#include "graph/constants/compressed.h"
#include "runtime/files.h"
#include "support/check.h"
#include "support/on_engine.h"

#include <millwright/millwright.h>
#include <stdio.h>
#include <string.h>

enum { BATCH = 6, IN = 4, HIDDEN = 8, OUT = 3 };

/* Two layers: int8 with a scale for each row, and 2 bits with a table. */
static const char text[] =
    "program(1.3)\n[buildInfo = dict<string, string>({{\"coremlc-version\", \"1\"}})]\n{\n"
    "    func main<ios17>(tensor<fp32, [6, 4]> x) {\n"
    "            tensor<fp32, [8, 4]> fc1_weight = constexpr_affine_dequantize()[axis = int32(0), name = "
    "string(\"fc1_weight\"), quantized_data = tensor<int8, [8, 4]>([[10, -20, 30, 5], [7, 99, -3, 12], [-60, 2, 8, "
    "40], "
    "[1, 1, -70, 9], [33, -12, 4, 4], [-5, -6, 50, -8], [9, 80, -10, 11], [12, 13, 14, -90]]), scale = tensor<fp32, "
    "[8]>([0x1p-6, 0x1p-6, 0x1p-5, 0x1p-6, 0x1p-6, 0x1p-5, 0x1p-6, 0x1p-6]), zero_point = int8(3)];\n"
    "            tensor<fp32, [8]> fc1_bias = const()[name = string(\"fc1_bias\"), val = tensor<fp32, [8]>([0x1p-2, "
    "0x0p+0, "
    "0x1p-3, 0x0p+0, 0x1p-2, 0x0p+0, 0x0p+0, 0x1p-3])];\n"
    "            tensor<fp32, [6, 8]> h = linear(bias = fc1_bias, weight = fc1_weight, x = x)[name = string(\"h\")];\n"
    "            tensor<fp32, [6, 8]> a = relu(x = h)[name = string(\"a\")];\n"
    "            tensor<fp32, [3, 8]> fc2_weight = constexpr_lut_to_dense()[indices = tensor<uint8, [6]>([27, 228, 57, "
    "147, "
    "78, 177]), lut = tensor<fp32, [4]>([-0x1p-1, -0x1p-3, 0x1p-3, 0x1p-1]), name = string(\"fc2_weight\"), shape = "
    "tensor<uint32, [2]>([3, 8])];\n"
    "            tensor<fp32, [6, 3]> y = linear(weight = fc2_weight, x = a)[name = string(\"y\")];\n"
    "        } -> (y);\n}";

static mw_graph *parse(mw_error *err) { return mw_graph_parse_mil(text, sizeof text - 1, NULL, NULL, err); }

typedef struct data {
    float x[BATCH * IN];
    int32_t labels[BATCH];
    mw_feed feeds[2];
    mw_batch batch;
} data;

static void fill(data *d)
{
    for (int i = 0; i < BATCH * IN; i++)
        d->x[i] = (float)((i * 37 + 11) % 17 - 8) / 8.0f;
    for (int i = 0; i < BATCH; i++)
        d->labels[i] = (i * 5) % OUT;
    d->feeds[0] = (mw_feed){.name = "x", .dtype = MW_F32, .data = d->x, .count = BATCH * IN, .scale = 1.0f};
    d->feeds[1] = (mw_feed){.name = "labels", .dtype = MW_I32, .data = d->labels, .count = BATCH, .scale = 1.0f};
    d->batch = (mw_batch){.feeds = d->feeds, .feed_count = 2, .examples = BATCH};
}

static bool logits_of(const mw_graph *graph, mw_device device, const data *d, float out[BATCH * OUT])
{
    mw_error err = {0};
    mw_program *program = engine_compile(graph, device, 1, &err);
    mw_program_write(program, "x", MW_F32, d->x, BATCH * IN, &err);
    mw_program_run(program, &err);
    mw_program_read(program, "y", MW_F32, out, BATCH * OUT, &err);
    mw_program_destroy(program);
    return CHECK_OK(err);
}

static mw_trainer *trainer_of(mw_graph *graph, mw_device device, mw_error *err)
{
    mw_tensor *labels = mw_input(graph, "labels", MW_I32, MW_SHAPE(BATCH));
    return engine_trainer(mw_cross_entropy(mw_graph_output_at(graph, 0), labels), mw_adam(0.02f), device, 1, err);
}

static double loss_of(const float *logits, const int32_t *labels)
{
    double loss = 0.0;
    for (int i = 0; i < BATCH; i++) {
        double sum = 0.0;
        for (int c = 0; c < OUT; c++)
            sum += exp((double)logits[i * OUT + c]);
        loss += log(sum) - (double)logits[i * OUT + labels[i]];
    }
    return loss / BATCH;
}

static size_t count_constexprs(const mw_graph *graph)
{
    size_t count = 0;
    const mw__block *body = mw__graph_main(graph)->body;
    for (size_t i = 0; i < body->op_count; i++)
        count += mw__op_is_constexpr(body->ops[i]);
    return count;
}

/* Trains, writes, reads: the loss has fallen, and the program that is read has it by itself. `kept`: how many weights
 * of the copy stay compressed, `left`: of the program that is written. */
static void check_training(mw_graph *source, mw_graph *graph, mw_device device, size_t kept, size_t left)
{
    mw_error err = {0};
    data d;
    float before[BATCH * OUT], after[BATCH * OUT], loss = 0.0f;
    fill(&d);
    CHECK_INT(count_constexprs(graph), kept);
    REQUIRE(logits_of(source, device, &d, before));
    mw_trainer *trainer = trainer_of(graph, device, &err);
    for (int i = 0; i < 60; i++)
        mw_trainer_step(trainer, &d.batch, &loss, &err);
    mw_trainer_export(trainer, source, scratch("tuned"), NULL, &err);
    CHECK_OK(err);
    mw_trainer_destroy(trainer);
    char path[500];
    snprintf(path, sizeof path, "%s/model.mil", scratch("tuned"));
    mw_graph *tuned = mw_graph_open_mil(path, NULL, &err);
    mw_graph_verify(tuned, &err);
    REQUIRE(CHECK_OK(err));
    CHECK_INT(count_constexprs(tuned), left);
    if (logits_of(tuned, device, &d, after)) {
        const double first = loss_of(before, d.labels), last = loss_of(after, d.labels);
        check_note(last < 0.5 * first, __FILE__, __LINE__, "the loss goes from %g to %g", first, last);
        check_note(fabs(last - (double)loss) < 0.1 * first, __FILE__, __LINE__, "%g written, %g trained", last,
                   (double)loss);
    }
    mw_graph_destroy(tuned);
}

static void test_compressed_weights_are_trained_as_dense_ones(void)
{
    static const char *const patterns[] = {"fc1_weight", "fc2_*"};
    static const mw_device devices[] = {MW_DEVICE_CPU, MW_DEVICE_ANE};
    for (int i = 0; i < 2; i++) {
        mw_error err = {0};
        mw_graph *source = parse(&err);
        const mw_tune_options options = mw_tune_defaults(patterns, 2);
        mw_graph *graph = mw_graph_trainable(source, &options, &err);
        if (CHECK_OK(err))
            check_training(source, graph, devices[i], 0, 0);
        mw_graph_destroy(graph);
        mw_graph_destroy(source);
    }
}

/* The copy starts where the source is. */
static void test_dense_parameters_start_at_the_compressed_values(void)
{
    static const char *const patterns[] = {"fc*"};
    mw_error err = {0};
    data d;
    float before[BATCH * OUT], after[BATCH * OUT];
    fill(&d);
    mw_graph *source = parse(&err);
    const mw_tune_options options = mw_tune_defaults(patterns, 1);
    mw_graph *graph = mw_graph_trainable(source, &options, &err);
    mw_trainer *trainer = trainer_of(graph, MW_DEVICE_CPU, &err);
    mw_trainer_export(trainer, source, scratch("start"), NULL, &err);
    mw_trainer_destroy(trainer);
    char path[500];
    snprintf(path, sizeof path, "%s/model.mil", scratch("start"));
    mw_graph *written = mw_graph_open_mil(path, NULL, &err);
    if (CHECK_OK(err) && logits_of(source, MW_DEVICE_CPU, &d, before) && logits_of(written, MW_DEVICE_CPU, &d, after))
        CHECK(memcmp(before, after, sizeof before) == 0);
    mw_graph_destroy(written);
    mw_graph_destroy(graph);
    mw_graph_destroy(source);
}

static void test_adapters_stand_beside_weights_that_stay_compressed(void)
{
    static const char *const patterns[] = {"fc1_weight", "fc2_weight"};
    static const mw_device devices[] = {MW_DEVICE_CPU, MW_DEVICE_ANE};
    for (int i = 0; i < 2; i++) {
        mw_error err = {0};
        mw_graph *source = parse(&err);
        mw_lora_options options = mw_lora_defaults(patterns, 2);
        options.rank = 2;
        mw_graph *graph = mw_graph_lora(source, &options, &err);
        if (CHECK_OK(err))
            check_training(source, graph, devices[i], 2, 0);
        mw_graph_destroy(graph);
        mw_graph_destroy(source);
    }
}

/* What is not trained stays as it is stored. */
static void test_one_of_two_stays_compressed(void)
{
    static const char *const patterns[] = {"fc1_weight"};
    mw_error err = {0};
    mw_graph *source = parse(&err);
    const mw_tune_options options = mw_tune_defaults(patterns, 1);
    mw_graph *graph = mw_graph_trainable(source, &options, &err);
    if (CHECK_OK(err))
        check_training(source, graph, MW_DEVICE_CPU, 1, 1);
    mw_graph_destroy(graph);
    mw_graph_destroy(source);
}

int main(void)
{
    RUN(test_dense_parameters_start_at_the_compressed_values);
    RUN(test_compressed_weights_are_trained_as_dense_ones);
    RUN(test_adapters_stand_beside_weights_that_stay_compressed);
    RUN(test_one_of_two_stays_compressed);
    return check_finish();
}
