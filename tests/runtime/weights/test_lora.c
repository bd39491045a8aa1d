/* LoRA on a program: nothing changes before training, the base stays, merging gives the same logits, and the files are
 * those of PEFT. */
#include "runtime/files.h"
#include "support/check.h"
#include "support/failing.h"
#include "support/setting.h"
#include "tuned.h"

#include <millwright/inspect.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const weights[] = {"conv_weight", "fc1_weight", "proj"};
static const char *const factors[] = {"conv.lora_A.weight", "conv.lora_B.weight", "fc1.lora_A.weight",
                                      "fc1.lora_B.weight",  "proj.lora_A.weight", "proj.lora_B.weight"};

static mw_graph *adapted_in(const mw_graph *source, mw_dtype dtype, mw_error *err)
{
    mw_lora_options options = mw_lora_defaults(weights, 3);
    options.rank = 2;
    options.alpha = 3.0f;
    options.dtype = dtype;
    return mw_graph_lora(source, &options, err);
}

static mw_graph *adapted(const mw_graph *source, mw_error *err) { return adapted_in(source, MW_DTYPE_NONE, err); }

static mw_graph *read_folder(const char *folder, mw_error *err)
{
    char path[500];
    snprintf(path, sizeof path, "%s/model.mil", scratch(folder));
    return mw_graph_open_mil(path, NULL, err);
}

/* ---- the graph ---- */

static void test_factors_have_the_shapes_of_peft(void)
{
    mw_error err = {0};
    const mw_shape shapes[] = {MW_SHAPE(2, 2, 3, 3), MW_SHAPE(3, 2, 1, 1), MW_SHAPE(2, 48),
                               MW_SHAPE(5, 2),       MW_SHAPE(2, 5),       MW_SHAPE(3, 2)};
    mw_graph *source = tuned_read(MW_F32, "source", &err), *graph = adapted(source, &err);
    CHECK_OK(err);
    for (int i = 0; i < 6; i++) {
        const mw_tensor *factor = mw_graph_find(graph, factors[i]);
        CHECK(factor != NULL && mw_shape_equal(mw_tensor_shape(factor), shapes[i]));
    }
    mw_graph_destroy(graph);
    mw_graph_destroy(source);
}

/* B starts at 0, so that what is added is exactly 0; the base operations are those of the source. */
static void test_adapters_start_at_the_source_bit_for_bit(void)
{
    static const mw_device devices[] = {MW_DEVICE_CPU, MW_DEVICE_ANE};
    setting_begin("MW_ENGINE_FOLD", "0"); /* a product that adapters are added to absorbs nothing */
    for (int i = 0; i < 4; i++) {
        mw_error err = {0};
        float expected[TUNED_LOGITS], actual[TUNED_LOGITS];
        mw_graph *source = tuned_read(i / 2 == 0 ? MW_F32 : MW_F16, "source", &err), *graph = adapted(source, &err);
        if (CHECK_OK(err) && tuned_run(source, devices[i % 2], expected, &err) &&
            tuned_run(graph, devices[i % 2], actual, &err))
            CHECK(memcmp(expected, actual, sizeof expected) == 0);
        mw_graph_destroy(graph);
        mw_graph_destroy(source);
    }
    setting_end("MW_ENGINE_FOLD");
}

/* The same product of factors, beside the weight's use and in the weight, in one formula that a reader can check:
 * y = x (W + s B A)' for a linear whose every number is known. */
static void test_adapter_adds_the_scaled_product(void)
{
    enum { IN = 3, OUT = 2 };
    const float w[OUT * IN] = {1, 2, 3, 4, 5, 6}, a[IN] = {1, -1, 2}, b[OUT] = {3, 5}, x[IN] = {1, 10, 100};
    for (int twice = 0; twice < 2; twice++) { /* a second use puts the adapter into the weight */
        mw_error err = {0};
        mw_graph *source = mw_graph_create(NULL, NULL);
        mw_tensor *in = mw_input(source, "x", MW_F32, MW_SHAPE(1, IN));
        mw_tensor *weight = mw_name(mw_constant(source, MW_F32, MW_SHAPE(OUT, IN), w), "fc.weight");
        mw_output(mw_linear(in, weight, NULL), "y");
        if (twice == 1)
            mw_output(mw_linear(mw_mul_scalar(in, 2.0), weight, NULL), "z");
        const char *const pattern[] = {"fc.weight"};
        mw_lora_options options = mw_lora_defaults(pattern, 1);
        options.rank = 1;
        options.alpha = 0.5f;
        mw_graph *graph = mw_graph_lora(source, &options, &err);
        mw_program *program = mw_program_create(graph, NULL, &err);
        float y[OUT], z[OUT] = {0};
        mw_program_write(program, "x", MW_F32, x, IN, &err);
        mw_program_write(program, "fc.lora_A.weight", MW_F32, a, IN, &err);
        mw_program_write(program, "fc.lora_B.weight", MW_F32, b, OUT, &err);
        mw_program_run(program, &err);
        mw_program_read(program, "y", MW_F32, y, OUT, &err);
        if (twice == 1)
            mw_program_read(program, "z", MW_F32, z, OUT, &err);
        CHECK_OK(err);
        /* x W' = 321, 654; x A' = 191; half of it times B = 286.5, 477.5 */
        CHECK_NEAR(y[0], 607.5, 0.0);
        CHECK_NEAR(y[1], 1131.5, 0.0);
        if (twice == 1)
            CHECK_NEAR(z[0] + z[1], 2 * (607.5 + 1131.5), 0.0);
        mw_program_destroy(program);
        mw_graph_destroy(graph);
        mw_graph_destroy(source);
    }
}

static void test_gradients_of_factors_agree_with_differences(void)
{
    mw_error err = {0};
    tuned_data data;
    mw_tensor *x[6];
    tuned_fill(&data);
    mw_graph *source = tuned_read(MW_F32, "source", &err), *graph = adapted(source, &err);
    for (int i = 0; i < 6; i++)
        CHECK((x[i] = mw_graph_find(graph, factors[i])) != NULL);
    mw_tensor *labels = mw_input(graph, "labels", MW_I32, MW_SHAPE(TUNED_N));
    mw_tensor *loss = mw_cross_entropy(mw_graph_output_at(graph, 0), labels);
    mw_gradcheck_options options = mw_gradcheck_defaults(loss, x, 6);
    mw_gradcheck_report report;
    options.batch = &data.batch;
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.threads = 1;
    CHECK_INT(mw_gradcheck_run(&options, &report, &err), MW_OK);
    CHECK_OK(err);
    CHECK(report.checked > 50);
    mw_graph_destroy(graph);
    mw_graph_destroy(source);
}

/* ---- merging ---- */

/* The base is frozen and has no state; what training made of the factors is in the weights that are written. */
static void check_merge(mw_dtype dtype, mw_dtype kept, mw_device device, double tolerance)
{
    mw_error err = {0};
    float before[TUNED_LOGITS], expected[TUNED_LOGITS], actual[TUNED_LOGITS];
    tuned_data data;
    tuned_fill(&data);
    mw_graph *source = tuned_read(dtype, "source", &err), *graph = adapted_in(source, kept, &err);
    mw_trainer *trainer = tuned_trainer(graph, device, 0.1f, &err);
    mw_port port;
    for (size_t i = 0; mw_program_port_at(mw_trainer_program(trainer), i, &port); i++)
        CHECK(!port.is_parameter || strstr(port.name, ".lora_") != NULL);
    const float first = tuned_steps(trainer, 1, &err), last = tuned_steps(trainer, 30, &err);
    CHECK(last < 0.8f * first);
    remove_model("merged");
    remove_model("same");
    mw_trainer_export(trainer, source, scratch("merged"), NULL, &err);
    mw_trainer_predict(trainer, &data.batch, MW_F32, expected, TUNED_LOGITS, &err);
    mw_graph *merged = read_folder("merged", &err);
    if (CHECK_OK(err) && tuned_run(merged, device, actual, &err) && tuned_run(source, device, before, &err)) {
        CHECK_NEAR(tuned_distance(actual, expected, TUNED_LOGITS), 0.0, tolerance);
        CHECK(tuned_distance(before, expected, TUNED_LOGITS) > 0.05); /* else the above says nothing */
        mw_graph_write(source, scratch("same"), NULL, &err);
        char one[500], other[500];
        size_t m = 0, n = 0;
        snprintf(one, sizeof one, "%s/model.mil", scratch("same"));
        snprintf(other, sizeof other, "%s/model.mil", scratch("merged"));
        unsigned char *a = get_file(one, &m), *b = get_file(other, &n);
        CHECK(m > 0 && m == n && memcmp(a, b, n) == 0); /* the text is the source's: weights are in the blob */
        free(a);
        free(b);
    }
    mw_graph_destroy(merged);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
    mw_graph_destroy(source);
}

static void test_merging_gives_the_same_logits(void)
{
    check_merge(MW_F32, MW_DTYPE_NONE, MW_DEVICE_CPU,
                2e-6); /* three layers and layer norm: some roundings of 2^-24 = 6e-8 */
    /* fp16: 2^-11 = 5e-4 for every weight and every partial sum that is rounded otherwise */
    check_merge(MW_F16, MW_DTYPE_NONE, MW_DEVICE_CPU, 5e-3);
    check_merge(MW_F16, MW_F32, MW_DEVICE_CPU, 5e-3);
    check_merge(MW_F32, MW_DTYPE_NONE, MW_DEVICE_ANE, 5e-3);
    check_merge(MW_F16, MW_DTYPE_NONE, MW_DEVICE_ANE, 5e-3);
    check_merge(MW_F16, MW_F32, MW_DEVICE_ANE, 5e-3);
}

/* Grouped convolution and a weight of two uses: the product is in the weight; matmul has the weight on either side. */
static void test_merging_where_the_product_is_in_the_weight(void)
{
    mw_error err = {0};
    const char *const all[] = {"*_weight"};
    float values[64], expected[TUNED_LOGITS], actual[TUNED_LOGITS];
    tuned_data data;
    tuned_fill(&data);
    for (int i = 0; i < 64; i++)
        values[i] = (float)((i * 37) % 19 - 9) / 12.0f;
    mw_graph *source = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(source, "x", MW_F32, MW_SHAPE(TUNED_N, 2, 6, 6));
    mw_conv_options grouped = mw_conv_defaults();
    grouped.groups = 2;
    mw_tensor *w = mw_name(mw_constant(source, MW_F32, MW_SHAPE(4, 1, 3, 3), values), "conv_weight");
    mw_tensor *h = mw_reduce_mean(mw_relu(mw_conv(x, w, NULL, &grouped)), MW_AXES(2, 3), false);
    mw_tensor *square = mw_name(mw_constant(source, MW_F32, MW_SHAPE(4, 4), values), "square_weight");
    h = mw_matmul(mw_tanh(mw_matmul(h, square, MW_TRANSPOSE_NONE)), square, MW_TRANSPOSE_NONE);
    mw_tensor *left = mw_name(mw_constant(source, MW_F32, MW_SHAPE(3, 4), values + 5), "left_weight");
    mw_output(mw_transpose(mw_matmul(left, h, MW_TRANSPOSE_Y), MW_AXES(1, 0)), "logits");
    const mw_lora_options options = mw_lora_defaults(all, 1);
    mw_graph *graph = mw_graph_lora(source, &options, &err);
    mw_trainer *trainer = tuned_trainer(graph, MW_DEVICE_CPU, 0.05f, &err);
    const float first = tuned_steps(trainer, 1, &err), last = tuned_steps(trainer, 40, &err);
    CHECK(last < first);
    mw_trainer_export(trainer, source, scratch("inside"), NULL, &err);
    mw_trainer_predict(trainer, &data.batch, MW_F32, expected, TUNED_LOGITS, &err);
    mw_graph *merged = read_folder("inside", &err);
    if (CHECK_OK(err) && tuned_run(merged, MW_DEVICE_CPU, actual, &err))
        CHECK_NEAR(tuned_distance(actual, expected, TUNED_LOGITS), 0.0, 2e-6);
    mw_graph_destroy(merged);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
    mw_graph_destroy(source);
}

/* In an old opset a trained bias leaves its conv, whose weight has a branch. */
static void test_branch_beside_an_expanded_conv(void)
{
    mw_error err = {0};
    const char *const low[] = {"conv_weight"}, *const full[] = {"conv_bias"};
    float expected[TUNED_LOGITS], actual[TUNED_LOGITS];
    tuned_data data;
    tuned_fill(&data);
    mw_graph *source = tuned_build(MW_F32, MW_IOS15, NULL, &err);
    mw_lora_options options = mw_lora_defaults(low, 1);
    options.full_patterns = full;
    options.full_count = 1;
    mw_graph *graph = mw_graph_lora(source, &options, &err);
    mw_trainer *trainer = tuned_trainer(graph, MW_DEVICE_CPU, 0.1f, &err);
    tuned_steps(trainer, 10, &err);
    mw_trainer_export(trainer, source, scratch("old"), NULL, &err);
    mw_trainer_predict(trainer, &data.batch, MW_F32, expected, TUNED_LOGITS, &err);
    mw_graph *merged = read_folder("old", &err);
    if (CHECK_OK(err) && tuned_run(merged, MW_DEVICE_CPU, actual, &err))
        CHECK_NEAR(tuned_distance(actual, expected, TUNED_LOGITS), 0.0, 2e-6);
    mw_graph_destroy(merged);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
    mw_graph_destroy(source);
}

/* ---- parameters of one's own ---- */

/* The base of a graph with parameters becomes states: weights of a file can be loaded into them, and they stay. */
static void test_parameters_of_the_source_stay(void)
{
    mw_error err = {0};
    float loaded[TUNED_X * 5], after[TUNED_X * 5], expected[TUNED_LOGITS], actual[TUNED_LOGITS];
    tuned_data data;
    tuned_fill(&data);
    mw_graph *source = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(source, "x", MW_F32, MW_SHAPE(TUNED_N, 2, 6, 6));
    mw_tensor *h = mw_tanh(mw_dense(mw_reshape(x, MW_SHAPE(TUNED_N, TUNED_X)), 5, "fc1"));
    mw_output(mw_dense(h, TUNED_C, "fc2"), "logits");
    const char *const first[] = {"fc1.weight"}, *const head[] = {"fc2.*"};
    mw_lora_options options = mw_lora_defaults(first, 1);
    options.full_patterns = head;
    options.full_count = 1;
    mw_graph *graph = mw_graph_lora(source, &options, &err);
    mw_trainer *trainer = tuned_trainer(graph, MW_DEVICE_CPU, 0.1f, &err);
    for (int i = 0; i < TUNED_X * 5; i++)
        loaded[i] = (float)(i % 7 - 3) / 20.0f;
    mw_trainer_write(trainer, "fc1.weight", MW_F32, loaded, TUNED_X * 5, &err);
    tuned_steps(trainer, 10, &err);
    mw_trainer_read(trainer, "fc1.weight", MW_F32, after, TUNED_X * 5, &err);
    CHECK(memcmp(loaded, after, sizeof loaded) == 0);
    mw_trainer_export(trainer, source, scratch("own"), NULL, &err);
    mw_trainer_predict(trainer, &data.batch, MW_F32, expected, TUNED_LOGITS, &err);
    mw_graph *merged = read_folder("own", &err);
    if (CHECK_OK(err) && tuned_run(merged, MW_DEVICE_CPU, actual, &err))
        CHECK_NEAR(tuned_distance(actual, expected, TUNED_LOGITS), 0.0, 2e-6);
    mw_graph_destroy(merged);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
    mw_graph_destroy(source);
}

/* ---- files ---- */

static mw_trainer *small_lora(mw_graph **out_graph, float alpha, mw_error *err)
{
    static const char *const low[] = {"conv_weight", "fc1_weight"}, *const full[] = {"proj_bias"};
    mw_graph *source = tuned_read(MW_F32, "source", err);
    mw_lora_options options = mw_lora_defaults(low, 2);
    options.rank = 2;
    options.alpha = alpha;
    options.full_patterns = full;
    options.full_count = 1;
    *out_graph = mw_graph_lora(source, &options, err);
    mw_graph_destroy(source);
    return tuned_trainer(*out_graph, MW_DEVICE_CPU, 0.1f, err);
}

/* As a failure between the two files leaves it. */
static void test_files_of_two_saves_are_refused(void)
{
    mw_error err = {0};
    mw_graph *graphs[2];
    mw_trainer *one = small_lora(&graphs[0], 3.0f, &err), *other = small_lora(&graphs[1], 5.0f, &err);
    mw_trainer_save_lora(one, scratch("first"), &err);
    mw_trainer_save_lora(other, scratch("second"), &err);
    CHECK_OK(err);
    CHECK(rename(scratch("second/adapter_model.safetensors"), scratch("first/adapter_model.safetensors")) == 0);
    CHECK_INT(mw_trainer_load_weights(one, scratch("first"), NULL, &err), MW_ERROR_FORMAT);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "was saved with lora_alpha = 5, the adapter_config.json beside it says 3");
    mw_trainer_destroy(one);
    mw_trainer_destroy(other);
    mw_graph_destroy(graphs[0]);
    mw_graph_destroy(graphs[1]);
}

static void test_adapters_come_back_from_their_files(void)
{
    mw_error err = {0};
    float a[TUNED_LOGITS], b[TUNED_LOGITS];
    tuned_data data;
    mw_graph *graphs[2];
    tuned_fill(&data);
    mw_trainer *one = small_lora(&graphs[0], 3.0f, &err), *other = small_lora(&graphs[1], 3.0f, &err);
    tuned_steps(one, 20, &err);
    mw_trainer_save_lora(one, scratch("adapter"), &err);
    mw_trainer_load_weights(other, scratch("adapter"), NULL, &err);
    mw_trainer_predict(one, &data.batch, MW_F32, a, TUNED_LOGITS, &err);
    mw_trainer_predict(other, &data.batch, MW_F32, b, TUNED_LOGITS, &err);
    CHECK_OK(err);
    CHECK(memcmp(a, b, sizeof a) == 0);
    mw_trainer_destroy(one);
    mw_trainer_destroy(other);
    mw_graph_destroy(graphs[0]);
    mw_graph_destroy(graphs[1]);
}

static mw_trainer *named_trainer(mw_graph **out_graph, const char *weight, mw_error *err)
{
    float values[TUNED_C * TUNED_X];
    for (int i = 0; i < TUNED_C * TUNED_X; i++)
        values[i] = (float)(i % 5 - 2) / 10.0f;
    mw_graph *source = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(source, "x", MW_F32, MW_SHAPE(TUNED_N, 2, 6, 6));
    mw_tensor *w = mw_name(mw_constant(source, MW_F32, MW_SHAPE(TUNED_C, TUNED_X), values), weight);
    mw_output(mw_linear(mw_reshape(x, MW_SHAPE(TUNED_N, TUNED_X)), w, NULL), "logits");
    const mw_lora_options options = mw_lora_defaults(&weight, 1);
    *out_graph = mw_graph_lora(source, &options, err);
    mw_graph_destroy(source);
    return tuned_trainer(*out_graph, MW_DEVICE_CPU, 0.1f, err);
}

/* An adapter of PyTorch's module encoder.layer.0.fc, for a program that names it with underscores. */
static void test_loading_takes_underscores_for_dots(void)
{
    mw_error err = {0};
    float a[TUNED_LOGITS], b[TUNED_LOGITS];
    tuned_data data;
    mw_graph *graphs[3];
    tuned_fill(&data);
    mw_trainer *one = named_trainer(&graphs[0], "encoder.layer.0.fc.weight", &err);
    mw_trainer *other = named_trainer(&graphs[1], "encoder_layer_0_fc_weight_to_fp16", &err);
    mw_trainer *third = named_trainer(&graphs[2], "encoder_layer_1_fc_weight", &err);
    tuned_steps(one, 5, &err);
    mw_trainer_save_lora(one, scratch("dots"), &err);
    mw_trainer_load_weights(other, scratch("dots"), NULL, &err);
    mw_trainer_predict(one, &data.batch, MW_F32, a, TUNED_LOGITS, &err);
    mw_trainer_predict(other, &data.batch, MW_F32, b, TUNED_LOGITS, &err);
    CHECK_OK(err);
    CHECK(memcmp(a, b, sizeof a) == 0);
    CHECK(mw_trainer_load_weights(third, scratch("dots"), NULL, &err) != MW_OK);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "has no parameter \"base_model.model.encoder_layer_1_fc.lora_A.weight\"");
    mw_trainer_destroy(one);
    mw_trainer_destroy(other);
    mw_trainer_destroy(third);
    for (int i = 0; i < 3; i++)
        mw_graph_destroy(graphs[i]);
}

/* Another reader, in another language, with the format's own words. */
static const char script[] =
    "import json, struct, sys\n"
    "folder = sys.argv[1]\n"
    "f = open(folder + '/adapter_model.safetensors', 'rb')\n"
    "header = json.loads(f.read(struct.unpack('<Q', f.read(8))[0]))\n"
    "header.pop('__metadata__')\n"
    "p = 'base_model.model.'\n"
    "shapes = {name: (t['dtype'], t['shape']) for name, t in header.items()}\n"
    "assert shapes == {p + 'conv.lora_A.weight': ('F32', [2, 2, 3, 3]), p + 'conv.lora_B.weight': ('F32', [3, 2, 1, "
    "1]),\n"
    "    p + 'fc1.lora_A.weight': ('F32', [2, 48]), p + 'fc1.lora_B.weight': ('F32', [5, 2]),\n"
    "    p + 'proj.bias': ('F32', [3])}, shapes\n"
    "c = json.load(open(folder + '/adapter_config.json'))\n"
    "assert c['peft_type'] == 'LORA' and c['r'] == 2 and c['lora_alpha'] == 3 and c['bias'] == 'none', c\n"
    "assert sorted(c['target_modules']) == ['conv', 'fc1'] and c['modules_to_save'] == ['proj'], c\n";

static void test_files_are_those_of_peft(void)
{
    mw_error err = {0};
    char command[1000];
    if (system("python3 -c '' 2>/dev/null") != 0)
        SKIP("there is no python3");
    mw_graph *graph;
    mw_trainer *trainer = small_lora(&graph, 3.0f, &err);
    mw_trainer_save_lora(trainer, scratch("peft"), &err);
    CHECK_OK(err);
    CHECK(put_file(scratch("read.py"), script, sizeof script - 1));
    snprintf(command, sizeof command, "python3 '%s' '%s'", scratch("read.py"), scratch("peft"));
    CHECK_INT(system(command), 0);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
}

/* What PEFT writes has more in its configuration than ours. */
static void test_loading_refuses_another_scale(void)
{
    static const char config[] = "{\"auto_mapping\": null, \"lora_alpha\": 16, \"inference_mode\": true, \"r\": 2}";
    mw_error err = {0};
    char path[500];
    mw_graph *graph;
    mw_trainer *trainer = small_lora(&graph, 3.0f, &err);
    mw_trainer_save_lora(trainer, scratch("scale"), &err);
    CHECK_OK(err);
    snprintf(path, sizeof path, "%s/adapter_config.json", scratch("scale"));
    CHECK(put_file(path, config, sizeof config - 1));
    CHECK(mw_trainer_load_weights(trainer, scratch("scale"), NULL, &err) != MW_OK);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "has r = 2 and lora_alpha = 16, the trainer 2 and 3");
    err = (mw_error){0};
    CHECK(put_file(path, "{}", 2));
    CHECK(mw_trainer_load_weights(trainer, scratch("scale"), NULL, &err) != MW_OK);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "has no lora_alpha and r");
    err = (mw_error){0};
    remove(path);
    CHECK(mw_trainer_load_weights(trainer, scratch("scale"), NULL, &err) != MW_OK);
    CHECK_ERROR(err, MW_ERROR_FILE, "adapter_config.json");
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
}

/* "r" may also be the name of a module, and files of other kinds have the same tensors. */
static void test_configuration_is_read_at_its_top(void)
{
    static const struct {
        const char *text;
        mw_status status;
        const char *message;
    } cases[] = {
        {"{\"target_modules\": [\"r\", \"\\\"r\\\": 9\"], \"alpha_pattern\": {}, \"lora_alpha\": 3.0, \"r\": 2}\n",
         MW_OK, ""},
        {"{\"auto_mapping\": {\"r\": 2}, \"lora_alpha\": 3, \"r\": 4}", MW_ERROR_FORMAT, "has r = 4 and"},
        {"{\"lora_alpha\": 3, \"auto_mapping\": {\"r\": 2}}", MW_ERROR_FORMAT, "has no lora_alpha and r"},
        {"{\"lora_alpha\": 3, \"r\": 2, \"use_rs", MW_ERROR_FORMAT, "a string without its end"},
        {"{\"lora_alpha\": 3, \"r\": 2, \"use_rslora\": true}", MW_ERROR_UNSUPPORTED, "use_rslora"},
        {"{\"lora_alpha\": 3, \"r\": 2, \"use_dora\": true}", MW_ERROR_UNSUPPORTED, "use_dora"},
        {"{\"lora_alpha\": 3, \"r\": 2, \"use_rslora\": false, \"use_dora\":false}", MW_OK, ""},
        {"{\"alpha_pattern\": { \"fc1\": 8}, \"lora_alpha\": 3, \"r\": 2}", MW_ERROR_UNSUPPORTED, "alpha_pattern"},
        {"{\"rank_pattern\": {\"fc1\": 8}, \"lora_alpha\": 3, \"r\": 2}", MW_ERROR_UNSUPPORTED, "rank_pattern"},
        /* what means something else */
        {"{\"peft_type\": \"IA3\", \"lora_alpha\": 3, \"r\": 2}", MW_ERROR_UNSUPPORTED, "peft_type \"IA3\""},
        {"{\"bias\": \"all\", \"lora_alpha\": 3, \"r\": 2}", MW_ERROR_UNSUPPORTED, "bias \"all\""},
        {"{\"bias\": true, \"lora_alpha\": 3, \"r\": 2}", MW_ERROR_UNSUPPORTED, "bias"},
        {"{\"fan_in_fan_out\": true, \"lora_alpha\": 3, \"r\": 2}", MW_ERROR_UNSUPPORTED, "fan_in_fan_out"},
        {"{\"init_lora_weights\": \"pissa\", \"lora_alpha\": 3, \"r\": 2}", MW_ERROR_UNSUPPORTED, "init_lora_weights"},
        {"{\"modules_to_save\": [\"head\"], \"lora_alpha\": 3, \"r\": 2}", MW_ERROR_UNSUPPORTED, "\"head\""},
        {"{\"modules_to_save\": [\"proj\"], \"lora_alpha\": 3, \"r\": 2}", MW_OK, ""},
        {"{\"trainable_token_indices\": [1], \"lora_alpha\": 3, \"r\": 2}", MW_ERROR_UNSUPPORTED, "trainable_token"},
        {"{\"of_a_later_year\": 1.5, \"lora_alpha\": 3, \"r\": 2}", MW_ERROR_UNSUPPORTED, "of_a_later_year"},
        {"{\"of_a_later_year\": [], \"lora_alpha\": 3, \"r\": 2}", MW_OK, ""},
        /* what is no strict JSON */
        {"{\"lora_alpha\": 3, \"r\": 2, \"r\": 4}", MW_ERROR_FORMAT, "\"r\" appears twice"},
        {"{\"lora_alpha\": 3, \"r\": 4, \"\\u0072\": 2}", MW_ERROR_FORMAT, "\"r\" appears twice"},
        {"{\"lora_alpha\": 3, \"r\": 2} {}", MW_ERROR_FORMAT, "text after the value"},
        {"{\"lora_alpha\": 3, \"r\": 2,}", MW_ERROR_FORMAT, "JSON"},
        {"{\"lora_alpha\": NaN, \"r\": 2}", MW_ERROR_FORMAT, "JSON"},
        {"{\"lora_alpha\": 03, \"r\": 2}", MW_ERROR_FORMAT, "JSON"},
        {"{\"lora_alpha\": \"3\", \"r\": 2}", MW_ERROR_FORMAT, "lora_alpha is no number"},
        {"[\"lora_alpha\", 3, \"r\", 2]", MW_ERROR_FORMAT, "holds no object"},
        /* escapes in a key are the key */
        {"{\"\\u0075se_dora\": true, \"lora_alpha\": 3, \"r\": 2}", MW_ERROR_UNSUPPORTED, "use_dora"},
        {"{\"lora\\u005falpha\": 3, \"\\u0072\": 2}", MW_OK, ""},
        /* all that PEFT 0.19 writes for a plain adapter */
        {"{\"alora_invocation_tokens\": null, \"alpha_pattern\": {}, \"arrow_config\": null, \"auto_mapping\": "
         "{\"base_model_class\": \"BertModel\"}, \"base_model_name_or_path\": \"b\", \"bias\": \"none\", "
         "\"corda_config\": null, \"ensure_weight_tying\": false, \"eva_config\": null, \"exclude_modules\": null, "
         "\"fan_in_fan_out\": false, \"inference_mode\": true, \"init_lora_weights\": true, \"layer_replication\": "
         "null, \"layers_pattern\": null, \"layers_to_transform\": null, \"loftq_config\": {}, \"lora_alpha\": 3.0, "
         "\"lora_bias\": false, \"lora_dropout\": 0.05, \"lora_ga_config\": null, \"megatron_config\": null, "
         "\"megatron_core\": \"megatron.core\", \"modules_to_save\": null, \"peft_type\": \"LORA\", "
         "\"peft_version\": \"0.19.1\", \"qalora_group_size\": 16, \"r\": 2, \"rank_pattern\": {}, \"revision\": "
         "null, \"target_modules\": [\"conv\", \"fc1\"], \"target_parameters\": null, \"task_type\": null, "
         "\"trainable_token_indices\": null, \"use_bdlora\": null, \"use_dora\": false, \"use_qalora\": false, "
         "\"use_rslora\": false}",
         MW_OK, ""},
    };
    mw_error err = {0};
    char path[500];
    mw_graph *graph;
    mw_trainer *trainer = small_lora(&graph, 3.0f, &err);
    mw_trainer_save_lora(trainer, scratch("top"), &err);
    CHECK_OK(err);
    snprintf(path, sizeof path, "%s/adapter_config.json", scratch("top"));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        err = (mw_error){0};
        CHECK(put_file(path, cases[i].text, strlen(cases[i].text)));
        CHECK_INT(mw_trainer_load_weights(trainer, scratch("top"), NULL, &err), cases[i].status);
        if (cases[i].status != MW_OK)
            CHECK_ERROR(err, cases[i].status, cases[i].message);
    }
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
}

static void test_files_want_adapters(void)
{
    mw_error err = {0};
    const char *const head[] = {"proj*"};
    mw_graph *source = tuned_read(MW_F32, "source", &err);
    const mw_tune_options options = mw_tune_defaults(head, 1);
    mw_graph *graph = mw_graph_trainable(source, &options, &err);
    mw_trainer *trainer = tuned_trainer(graph, MW_DEVICE_CPU, 0.1f, &err);
    CHECK_OK(err);
    CHECK(mw_trainer_save_lora(trainer, scratch("none"), &err) != MW_OK);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "the trainer has no adapter: make its graph with mw_graph_lora");
    err = (mw_error){0};
    CHECK_INT(mkdir(scratch("folder"), 0700), 0);
    CHECK(mw_trainer_load_weights(trainer, scratch("folder"), NULL, &err) != MW_OK);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "the trainer has no adapter");
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
    mw_graph_destroy(source);
}

/* ---- a program that nobody here wrote ---- */

static void test_convolutions_of_the_corpus_learn(void)
{
    static const char *const convolutions[] = {"Parameter5", "Parameter87"};
    if (!file_exists(TUNED_MNIST))
        SKIP("%s is not there", TUNED_MNIST);
    mw_error err = {0};
    mw_lora_options options = mw_lora_defaults(convolutions, 2);
    options.rank = 4;
    options.shapes = &tuned_mnist_batch;
    options.shape_count = 1;
    mw_graph *source = mw_graph_open_mil(TUNED_MNIST, NULL, &err), *graph = mw_graph_lora(source, &options, &err);
    tuned_check_mnist(source, graph, scratch("mnist"), &err);
    CHECK_OK(err);
    mw_graph_destroy(graph);
    mw_graph_destroy(source);
}

/* ---- memory ---- */

/* Writing, saving and loading: a failed allocation is told, leaks nothing, and the next try succeeds. */
static void test_files_survive_every_failed_allocation(void)
{
    mw_error err = {0};
    failing_allocator failing = {.fail_at = -1};
    const mw_allocator allocator = failing_allocator_of(&failing);
    mw_graph *source = tuned_read(MW_F32, "source", &err), *graph = adapted(source, &err);
    mw_tensor *labels = mw_input(graph, "labels", MW_I32, MW_SHAPE(TUNED_N));
    mw_tensor *loss = mw_cross_entropy(mw_graph_output_at(graph, 0), labels);
    mw_trainer_options options = mw_trainer_defaults(loss, mw_sgd(0.1f));
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.allocator = &allocator;
    mw_trainer *trainer = mw_trainer_create(&options, &err);
    REQUIRE(CHECK_OK(err));
    for (int kind = 0; kind < 3; kind++) {
        const long live = failing.live;
        long n = 0;
        for (bool done = false; !done && n < 2000; n++) {
            failing.failed = false;
            failing.fail_at = failing.requests + n;
            err = (mw_error){0};
            if (kind == 0)
                mw_trainer_export(trainer, source, scratch("faults"), NULL, &err);
            else if (kind == 1)
                mw_trainer_save_lora(trainer, scratch("faults"), &err);
            else
                mw_trainer_load_weights(trainer, scratch("faults"), NULL, &err);
            done = !failing.failed;
            CHECK_INT(err.status, done ? MW_OK : MW_ERROR_MEMORY);
            CHECK_INT(failing.live, live);
        }
        failing.fail_at = -1;
        check_note(n > 3 && n < 2000, __FILE__, __LINE__, "kind %d: %ld allocations", kind, n - 1);
    }
    mw_trainer_destroy(trainer);
    CHECK_INT(failing.live, 0);
    mw_graph_destroy(graph);
    mw_graph_destroy(source);
}

int main(void)
{
    setting_begin("MW_ENGINE_PROFILE", "ieee"); /* a chip does not round what it fuses, and an adapter stands between */
    RUN(test_factors_have_the_shapes_of_peft);
    RUN(test_adapters_start_at_the_source_bit_for_bit);
    RUN(test_adapter_adds_the_scaled_product);
    RUN(test_gradients_of_factors_agree_with_differences);
    RUN(test_merging_gives_the_same_logits);
    RUN(test_merging_where_the_product_is_in_the_weight);
    RUN(test_branch_beside_an_expanded_conv);
    RUN(test_parameters_of_the_source_stay);
    RUN(test_files_of_two_saves_are_refused);
    RUN(test_adapters_come_back_from_their_files);
    RUN(test_loading_takes_underscores_for_dots);
    RUN(test_files_are_those_of_peft);
    RUN(test_loading_refuses_another_scale);
    RUN(test_configuration_is_read_at_its_top);
    RUN(test_files_want_adapters);
    RUN(test_convolutions_of_the_corpus_learn);
    RUN(test_files_survive_every_failed_allocation);
    return check_finish();
}
