/* Weights of a program that are exchanged without a compile: by values, by files, by adapters; and one set of them in
 * several programs. */
#include "runtime/files.h"
#include "runtime/weights/tuned.h"
#include "support/check.h"
#include "support/failing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { IN = 3, OUT = 2 };

static const mw_device devices[] = {MW_DEVICE_CPU, MW_DEVICE_ANE};
static const float first_w[OUT * IN] = {1, 2, 3, 4, 5, 6}, first_b[OUT] = {0.5f, -0.5f};
static const float other_w[OUT * IN] = {-1, 0.25f, 8, 0, 2, 7}, other_b[OUT] = {16, 32};
static const float x[2 * IN] = {1, 2, 4, -3, 0.5f, 1};

/* y = x W' + b for a batch, with W as a parameter, a frozen state or a constant. */
static mw_graph *build(int64_t batch, const char *kind)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    const mw_init w = mw_init_data(first_w), b = mw_init_data(first_b);
    mw_tensor *in = mw_input(graph, "x", MW_F32, MW_SHAPE(batch, IN));
    mw_tensor *weight = strcmp(kind, "param") == 0 ? mw_parameter(graph, "fc.weight", MW_F32, MW_SHAPE(OUT, IN), w)
                                                   : mw_state(graph, "fc.weight", MW_F32, MW_SHAPE(OUT, IN), w);
    mw_tensor *bias = mw_parameter(graph, "fc.bias", MW_F32, MW_SHAPE(1, OUT), b);
    mw_output(mw_add(mw_matmul(in, weight, MW_TRANSPOSE_Y), bias), "y");
    return graph;
}

static mw_program *compile_on(mw_graph *graph, mw_device device, mw_program *weights_of, mw_error *err)
{
    mw_compile_options options = mw_compile_defaults();
    options.device = device;
    options.provider = MW_PROVIDER_ENGINE;
    options.threads = 1;
    options.share.program = weights_of;
    mw_program *program = mw_program_create(graph, &options, err);
    mw_graph_destroy(graph);
    return program;
}

/* Every number here is exact in fp16, and so is every sum. */
static void check_y(mw_program *program, int batch, const float *w, const float *b, int line)
{
    mw_error err = {0};
    float y[2 * OUT];
    mw_program_write(program, "x", MW_F32, x, (size_t)batch * IN, &err);
    mw_program_run(program, &err);
    mw_program_read(program, "y", MW_F32, y, (size_t)batch * OUT, &err);
    check_note(err.status == MW_OK, __FILE__, line, "error %d: %s", (int)err.status, err.message);
    for (int n = 0; n < batch; n++)
        for (int o = 0; o < OUT; o++) {
            double sum = b[o];
            for (int i = 0; i < IN; i++)
                sum += (double)x[n * IN + i] * w[o * IN + i];
            check_near(y[n * OUT + o], sum, 0.0, __FILE__, line, "y");
        }
}
#define CHECK_Y(program, batch, w, b) check_y(program, batch, w, b, __LINE__)

static const mw_weight_values others[] = {{"fc.weight", MW_F32, other_w, OUT *IN}, {"fc.bias", MW_F32, other_b, OUT}};

static void test_values_are_exchanged_between_runs(void)
{
    for (int d = 0; d < 4; d++) {
        mw_error err = {0};
        mw_program *program = compile_on(build(2, d / 2 == 0 ? "param" : "state"), devices[d % 2], NULL, &err);
        const char *text = mw_program_get_info(program).mil;
        CHECK_Y(program, 2, first_w, first_b);
        CHECK_INT(mw_program_set_weights(program, others, 2, &err), MW_OK);
        CHECK_Y(program, 2, other_w, other_b);
        const mw_weight_values back = {"fc.weight", MW_F32, first_w, OUT * IN};
        CHECK_INT(mw_program_set_weights(program, &back, 1, &err), MW_OK);
        CHECK_Y(program, 2, first_w, other_b);
        CHECK(mw_program_get_info(program).mil == text);
        CHECK_INT(mw_program_set_weights(program, NULL, 0, &err), MW_OK);
        CHECK_OK(err);
        mw_program_destroy(program);
    }
}

/* The first of two is good each time: it must not have gone in. */
static void check_refused(mw_program *program, mw_weight_values bad, mw_status status, const char *part)
{
    mw_error err = {0};
    const mw_weight_values both[] = {others[0], bad};
    CHECK_INT(mw_program_set_weights(program, both, 2, &err), status);
    CHECK_ERROR(err, status, part);
    CHECK_Y(program, 2, first_w, first_b);
}

static void test_a_refused_value_leaves_all_weights(void)
{
    static const float nan_b[OUT] = {1, NAN}, infinite_b[OUT] = {INFINITY, 0}, large_b[OUT] = {1, 70000};
    for (int d = 0; d < 2; d++) {
        mw_error err = {0};
        mw_program *program = compile_on(build(2, "param"), devices[d], NULL, &err);
        check_refused(program, (mw_weight_values){"fc.bias", MW_F32, nan_b, OUT}, MW_ERROR_NUMERIC, "element 1");
        check_refused(program, (mw_weight_values){"fc.bias", MW_F32, infinite_b, OUT}, MW_ERROR_NUMERIC, "element 0");
        if (devices[d] == MW_DEVICE_ANE)
            check_refused(program, (mw_weight_values){"fc.bias", MW_F32, large_b, OUT}, MW_ERROR_NUMERIC, "70000");
        check_refused(program, (mw_weight_values){"fc.bias", MW_F32, other_b, 1}, MW_ERROR_SHAPE, "elements");
        check_refused(program, (mw_weight_values){"fc.bias", MW_F32, NULL, OUT}, MW_ERROR_ARGUMENT, "NULL");
        check_refused(program, (mw_weight_values){"fc.bias", MW_STRING, other_b, OUT}, MW_ERROR_DTYPE, "fc.bias");
        check_refused(program, (mw_weight_values){"x", MW_F32, x, 2 * IN}, MW_ERROR_ARGUMENT, "no parameter");
        check_refused(program, (mw_weight_values){"y", MW_F32, x, 2 * OUT}, MW_ERROR_ARGUMENT, "no parameter");
        check_refused(program, (mw_weight_values){"none", MW_F32, x, 1}, MW_ERROR_ARGUMENT, "\"none\"");
        check_refused(program, (mw_weight_values){NULL, MW_F32, x, 1}, MW_ERROR_ARGUMENT, "no parameter");
        check_refused(program, others[0], MW_ERROR_ARGUMENT, "twice");
        CHECK_INT(mw_program_set_weights(program, NULL, 1, &err), MW_ERROR_ARGUMENT);
        mw_error_clear(&err);
        CHECK_INT(mw_program_set_weights(NULL, others, 2, &err), MW_ERROR_ARGUMENT);
        mw_program_destroy(program);
    }
}

/* ---- files ---- */

static mw_trainer *trained(mw_graph *graph, mw_device device, int steps, mw_error *err)
{
    mw_trainer *trainer = tuned_trainer(graph, device, 0.1f, err);
    tuned_steps(trainer, steps, err);
    return trainer;
}

static mw_graph *adapted(const mw_graph *source, mw_error *err)
{
    static const char *const weights[] = {"conv_weight", "fc1_weight", "proj"};
    mw_lora_options options = mw_lora_defaults(weights, 3);
    options.rank = 2;
    options.alpha = 3.0f;
    return mw_graph_lora(source, &options, err);
}

static mw_graph *trainable(const mw_graph *source, mw_error *err)
{
    static const char *const all[] = {"*"};
    mw_tune_options options = mw_tune_defaults(all, 1);
    options.skip_fixed = true;
    return mw_graph_trainable(source, &options, err);
}

/* A program of the graph that tuned_trainer takes, which adds to it. */
static mw_program *compile_tuned(mw_graph *graph, mw_device device, mw_error *err)
{
    mw_compile_options options = mw_compile_defaults();
    options.device = device;
    options.provider = MW_PROVIDER_ENGINE;
    options.threads = 1;
    return mw_program_create(graph, &options, err);
}

static void predict(mw_program *program, float out[TUNED_LOGITS], mw_error *err)
{
    tuned_data data;
    tuned_fill(&data);
    mw_program_write(program, "x", MW_F32, data.x, TUNED_N * TUNED_X, err);
    mw_program_run(program, err);
    mw_program_read(program, "logits", MW_F32, out, TUNED_LOGITS, err);
}

typedef mw_graph *maker(const mw_graph *source, mw_error *err);
typedef mw_status saver(mw_trainer *trainer, const char *path, mw_error *err);

/* What two trainers learned is exchanged in one program, which predicts what each of them does. */
static void check_files(maker *make, saver *save, mw_device device)
{
    const char *name = save == mw_trainer_save_lora ? "adapters" : "weights";
    mw_error err = {0};
    tuned_data data;
    float expected[TUNED_LOGITS], actual[TUNED_LOGITS], before[TUNED_LOGITS];
    tuned_fill(&data);
    mw_graph *source = tuned_read(MW_F32, "source", &err), *served = make(source, &err);
    mw_program *program = compile_tuned(served, device, &err);
    predict(program, before, &err);
    for (int steps = 2; steps < 10 && CHECK_OK(err); steps += 5) {
        mw_graph *graph = make(source, &err);
        mw_trainer *trainer = trained(graph, device, steps, &err);
        mw_trainer_predict(trainer, &data.batch, MW_F32, expected, TUNED_LOGITS, &err);
        CHECK_INT(save(trainer, scratch(name), &err), MW_OK);
        CHECK_INT(mw_program_load_weights(program, scratch(name), NULL, &err), MW_OK);
        predict(program, actual, &err);
        CHECK_OK(err);
        CHECK(memcmp(actual, expected, sizeof actual) == 0);
        CHECK(tuned_distance(before, actual, TUNED_LOGITS) > 1e-3); /* else the above says nothing */
        mw_trainer_destroy(trainer);
        mw_graph_destroy(graph);
    }
    mw_program_destroy(program);
    mw_graph_destroy(served);
    mw_graph_destroy(source);
}

static void test_adapters_are_exchanged_in_one_program(void)
{
    for (int d = 0; d < 2; d++)
        check_files(adapted, mw_trainer_save_lora, devices[d]);
}

static void test_weight_files_are_exchanged_in_one_program(void)
{
    for (int d = 0; d < 2; d++)
        check_files(trainable, mw_trainer_save_weights, devices[d]);
}

/* A file whose data end early, one of another architecture, and none. */
static void test_a_bad_file_leaves_all_weights(void)
{
    mw_error err = {0};
    size_t size = 0;
    float before[TUNED_LOGITS], after[TUNED_LOGITS];
    mw_graph *source = tuned_read(MW_F32, "source", &err), *graph = trainable(source, &err);
    mw_graph *served = trainable(source, &err), *small = build(2, "param");
    mw_program *program = compile_tuned(served, MW_DEVICE_CPU, &err),
               *other = compile_tuned(small, MW_DEVICE_CPU, &err);
    mw_trainer *trainer = trained(graph, MW_DEVICE_CPU, 2, &err);
    mw_trainer_save_weights(trainer, scratch("whole"), &err);
    predict(program, before, &err);
    unsigned char *bytes = get_file(scratch("whole"), &size);
    CHECK_OK(err);
    for (size_t cut = 0; cut < size; cut += 1 + size / 40) {
        put_file(scratch("cut"), bytes, cut);
        CHECK(mw_program_load_weights(program, scratch("cut"), NULL, &err) != MW_OK);
        mw_error_clear(&err);
    }
    bytes[size - 1] ^= 1;
    put_file(scratch("cut"), bytes, size);
    CHECK_INT(mw_program_load_weights(program, scratch("cut"), NULL, &err), MW_ERROR_FORMAT);
    mw_error_clear(&err);
    CHECK_INT(mw_program_load_weights(program, scratch("none"), NULL, &err), MW_ERROR_FILE);
    mw_error_clear(&err);
    CHECK_INT(mw_program_load_weights(other, scratch("whole"), NULL, &err), MW_ERROR_FORMAT);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "has no tensor for 2 of the program's weights: \"fc.weight\"");
    mw_error_clear(&err);
    CHECK_INT(mkdir(scratch("adapter"), 0700), 0);
    CHECK_INT(mw_program_load_weights(program, scratch("adapter"), NULL, &err), MW_ERROR_ARGUMENT);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "the program has no adapter");
    mw_error_clear(&err);
    predict(program, after, &err);
    CHECK_OK(err);
    CHECK(memcmp(before, after, sizeof after) == 0);
    free(bytes);
    mw_trainer_destroy(trainer);
    mw_program_destroy(program);
    mw_program_destroy(other);
    mw_graph_destroy(small);
    mw_graph_destroy(served);
    mw_graph_destroy(graph);
    mw_graph_destroy(source);
}

static void test_a_program_without_parameters_is_refused(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(mw_neg(mw_input(graph, "x", MW_F32, MW_SHAPE(2))), "y");
    mw_program *program = compile_on(graph, MW_DEVICE_CPU, NULL, &err);
    CHECK_INT(mw_program_load_weights(program, scratch("any"), NULL, &err), MW_ERROR_ARGUMENT);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "has no parameter: make its graph with");
    mw_error_clear(&err);
    CHECK_INT(mw_program_load_weights(program, NULL, NULL, &err), MW_ERROR_ARGUMENT);
    mw_error_clear(&err);
    CHECK_INT(mw_program_load_weights(NULL, scratch("any"), NULL, &err), MW_ERROR_ARGUMENT);
    mw_program_destroy(program);
}

/* ---- one set of weights ---- */

static void test_programs_have_one_set_of_weights(void)
{
    for (int d = 0; d < 4; d++) {
        mw_error err = {0};
        const mw_device device = devices[d % 2];
        const char *kind = d / 2 == 0 ? "param" : "state";
        mw_program *base = compile_on(build(1, kind), device, NULL, &err);
        mw_program_set_weights(base, others, 2, &err);
        mw_program *two = compile_on(build(2, kind), device, base, &err),
                   *third = compile_on(build(2, kind), device, two, &err);
        CHECK_OK(err);
        CHECK(mw_program_view(base, "fc.weight", &err) == mw_program_view(two, "fc.weight", &err));
        CHECK(mw_program_view(base, "fc.bias", &err) == mw_program_view(third, "fc.bias", &err));
        CHECK(mw_program_view(two, "x", &err) != mw_program_view(third, "x", &err));
        CHECK_Y(two, 2, other_w, other_b); /* a compile leaves the lender's values */
        const mw_weight_values back = {"fc.weight", MW_F32, first_w, OUT * IN};
        CHECK_INT(mw_program_set_weights(third, &back, 1, &err), MW_OK);
        CHECK_Y(base, 1, first_w, other_b);
        CHECK_Y(two, 2, first_w, other_b);
        mw_program_destroy(base);
        CHECK_Y(two, 2, first_w, other_b);
        mw_program_destroy(two);
        CHECK_Y(third, 2, first_w, other_b);
        mw_program_destroy(third);
        CHECK_OK(err);
    }
}

/* What a program writes itself is no weight: it has its own. */
static void test_a_state_that_is_written_is_not_shared(void)
{
    static const char text[] =
        "program(1.3)\n{\n    func main<ios18>(tensor<fp32, [2]> x, state<tensor<fp32, [2]>> fc_bias) {\n"
        "        tensor<fp32, [2]> old = read_state(input = fc_bias)[name = string(\"old\")];\n"
        "        tensor<fp32, [2]> y = add(x = x, y = old)[name = string(\"y\")];\n"
        "        write_state(data = y, input = fc_bias)[name = string(\"write\")];\n"
        "    } -> (y);\n}\n";
    mw_error err = {0};
    mw_graph *graph = mw_graph_parse_mil(text, strlen(text), NULL, NULL, &err), *lender = mw_graph_create(NULL, NULL);
    mw_output(mw_neg(mw_parameter(lender, "fc_bias", MW_F32, MW_SHAPE(2), mw_init_data(first_b))), "y");
    mw_program *base = compile_on(lender, MW_DEVICE_CPU, NULL, &err);
    CHECK_OK(err);
    CHECK(compile_on(graph, MW_DEVICE_CPU, base, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "no weight of the same name, type and shape");
    mw_program_destroy(base);
}

static void check_lender(mw_graph *graph, mw_device device, mw_program *lender, mw_status status, const char *part)
{
    mw_error err = {0};
    CHECK(compile_on(graph, device, lender, &err) == NULL);
    CHECK_ERROR(err, status, part);
}

static mw_graph *open_graph(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    const int64_t any[] = {MW_DIM_UNKNOWN, IN};
    mw_tensor *in = mw_input(graph, "x", MW_F32, (mw_shape){.rank = 2, .dim = {any[0], any[1]}});
    mw_tensor *w = mw_parameter(graph, "fc.weight", MW_F32, MW_SHAPE(OUT, IN), mw_init_data(first_w));
    mw_tensor *b = mw_parameter(graph, "fc.bias", MW_F32, MW_SHAPE(1, OUT), mw_init_data(first_b));
    mw_output(mw_add(mw_matmul(in, w, MW_TRANSPOSE_Y), b), "y");
    return graph;
}

static void test_lenders_that_cannot_lend_are_refused(void)
{
    mw_error err = {0};
    mw_program *base = compile_on(build(1, "param"), MW_DEVICE_CPU, NULL, &err);
    mw_program *open = compile_on(open_graph(), MW_DEVICE_CPU, NULL, &err);
    CHECK_OK(err);
    check_lender(build(1, "param"), MW_DEVICE_CPU, open, MW_ERROR_UNSUPPORTED, "shapes of that program are chosen");
    check_lender(open_graph(), MW_DEVICE_CPU, base, MW_ERROR_UNSUPPORTED, "shapes of this program are chosen");
    /* fp16 there, fp32 here: nothing in common */
    check_lender(build(1, "param"), MW_DEVICE_ANE, base, MW_ERROR_ARGUMENT, "no weight of the same name");
    mw_program_destroy(base);
    check_lender(build(1, "param"), MW_DEVICE_CPU, base, MW_ERROR_STATE, "share.program");
    mw_program_destroy(open);
    mw_graph *source = tuned_read(MW_F32, "source", &err), *graph = trainable(source, &err);
    mw_trainer *trainer = trained(graph, MW_DEVICE_CPU, 1, &err);
    check_lender(build(1, "param"), MW_DEVICE_CPU, mw_trainer_program(trainer), MW_ERROR_UNSUPPORTED, "trainer");
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
    mw_graph_destroy(source);
}

static void test_a_trainer_refuses_weights_of(void)
{
    mw_error err = {0};
    mw_program *base = compile_on(build(1, "param"), MW_DEVICE_CPU, NULL, &err);
    mw_graph *graph = build(1, "param");
    mw_tensor *loss = mw_reduce_sum(mw_graph_output_at(graph, 0), MW_AXES(0, 1), false);
    mw_trainer_options options = mw_trainer_defaults(loss, mw_sgd(0.1f));
    options.compile.share.program = base;
    CHECK(mw_trainer_create(&options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "share.program");
    mw_graph_destroy(graph);
    mw_program_destroy(base);
}

/* The weights are those of the program, whatever shape it has at the moment. */
static void test_weights_of_chosen_shapes_are_exchanged(void)
{
    mw_error err = {0};
    mw_program *program = compile_on(open_graph(), MW_DEVICE_CPU, NULL, &err);
    for (int batch = 1; batch < 3; batch++) {
        const mw_input_shape shape = {"x", MW_SHAPE(batch, IN)};
        mw_program_set_shapes(program, &shape, 1, &err);
        CHECK_Y(program, batch, batch == 1 ? first_w : other_w, batch == 1 ? first_b : other_b);
        CHECK_INT(mw_program_set_weights(program, others, 2, &err), MW_OK);
        CHECK_Y(program, batch, other_w, other_b);
    }
    CHECK_OK(err);
    mw_program_destroy(program);
}

int main(void)
{
    RUN(test_values_are_exchanged_between_runs);
    RUN(test_a_refused_value_leaves_all_weights);
    RUN(test_adapters_are_exchanged_in_one_program);
    RUN(test_weight_files_are_exchanged_in_one_program);
    RUN(test_a_bad_file_leaves_all_weights);
    RUN(test_a_program_without_parameters_is_refused);
    RUN(test_programs_have_one_set_of_weights);
    RUN(test_a_state_that_is_written_is_not_shared);
    RUN(test_lenders_that_cannot_lend_are_refused);
    RUN(test_a_trainer_refuses_weights_of);
    RUN(test_weights_of_chosen_shapes_are_exchanged);
    return check_finish();
}
