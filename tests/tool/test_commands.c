/* Every command of mw: what it answers, as text and as JSON, and what it says of what is wrong. */
#include "support/check.h"
#include "support/folder.h"
#include "tool/shell.h"

#include <millwright/millwright.h>
#include <millwright/ops/operation.h>
#include <stdlib.h>
#include <unistd.h>

enum { D = 6, C = 3 };

/* A small network with batch norm, as a folder of MIL; and the same as a package where those can be written. */
static void write_models(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(4, D));
    mw_output(mw_dense(mw_tanh(mw_batch_norm_layer(mw_dense(x, 8, "fc1"), 0.1f, 1e-5f, "bn")), C, "fc2"), "scores");
    mw_graph *evaluation = mw_graph_evaluation(graph, &err);
    mw_model_options options = mw_model_defaults();
    options.read_only = true;
    mw_model *model = mw_model_create(evaluation, &options, &err);
    CHECK_INT(mw_model_get_info(model).port_count, 0);
    CHECK_INT(mw_model_get_info(model).batch, 0);
    mw_model_write(model, "net", NULL, &err);
    CHECK_OK(err);
    CHECK(mw_predictor_create(model, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_STATE, "read_only");
    mw_model_destroy(model);
    mw_graph_destroy(evaluation);
    mw_graph_destroy(graph);
}

static void write_tensors(void)
{
    mw_error err = {0};
    const float a[] = {1, 2, 3, 4}, b[] = {3, 2, 1, 0};
    const int64_t n = 7;
    const mw_tensor_values first[] = {{"w", MW_F32, MW_SHAPE(2, 2), a}, {"n", MW_I64, mw_shape_scalar(), &n}};
    const mw_tensor_values second[] = {{"w", MW_F32, MW_SHAPE(2, 2), b}, {"n", MW_I64, mw_shape_scalar(), &n}};
    mw_tensors_write("a.safetensors", first, 2, &err);
    mw_tensors_write("b.npz", second, 2, &err);
    CHECK_OK(err);
}

static void check_json(const char *const *words)
{
    shell_result r = shell_mw(words);
    CHECK_INT(r.code, 0);
    check_note(shell_is_json(r.out), __FILE__, __LINE__, "mw %s --json is no JSON: %.300s", words[0], r.out);
    shell_free(&r);
}
#define CHECK_JSON(...) check_json((const char *const[]){__VA_ARGS__, "--json", NULL})

/* ---- looking ---- */

static void test_info_lists_ports_and_layers(void)
{
    CHECK_MW(0, "input   x  fp32 [4, 6]", NULL, "info", "net");
    CHECK_MW(0, "output  scores  fp32 [4, 3]", NULL, "info", "net/model.mil");
    CHECK_MW(0, "fc1", NULL, "info", "net", "--weights");
    CHECK_MW(0, "2 tensors", NULL, "info", "a.safetensors");
    CHECK_JSON("info", "net", "--weights");
}

static const char gate[] =
    "program(1.3)\n{func main<ios18>(tensor<fp32, [2, 3]> x) {"
    "tensor<fp32, [3, 3]> gate_w = const()[val = tensor<fp32, [3, 3]>([[1, 2, 3], [4, 5, 6], [7, 8, 9]])];"
    "tensor<fp32, [3]> gamma = const()[val = tensor<fp32, [3]>([0.3, 0.7, 1.1])];"
    "tensor<fp32, [2, 3]> mask = const()[val = tensor<fp32, [2, 3]>([[0, -1e9, 0], [0, 0, 0]])];"
    "fp32 leak = const()[val = fp32(0.1)];"
    "tensor<fp32, [2, 3]> h = linear(weight = gate_w, x = x); tensor<fp32, [2, 3]> s = mul(x = h, y = gamma);"
    "tensor<fp32, [2, 3]> m = add(x = s, y = mask); tensor<fp32, [2, 3]> y = leaky_relu(alpha = leak, x = m);} -> "
    "(y);}\n";

/* What patterns take, what only a whole name does, what nothing does, and why. */
static void test_info_lists_what_can_be_trained(void)
{
    folder_put("gate.mil", gate);
    CHECK_MW(0, "  yes      kernel         1  gate_w  fp32 [3, 3]  of h\n", NULL, "info", "gate.mil", "--trainable");
    CHECK_MW(0, "  yes      scale          1  gamma  fp32", NULL, "info", "gate.mil", "--trainable");
    CHECK_MW(0, "  by name  none           1  mask  fp32 [2, 3]  of m  y of add: it is added, and not as", NULL, "info",
             "gate.mil", "--trainable");
    CHECK_MW(0, "  never    none           1  leak", NULL, "info", "gate.mil", "--trainable");
    CHECK_JSON("info", "gate.mil", "--trainable");
}

static void test_ops_are_those_of_the_table(void)
{
    mw_operation operation;
    size_t count = 0, lines = 0;
    while (mw_operation_at(count, &operation))
        count++;
    shell_result r = MW("ops");
    for (const char *at = r.out; *at != '\0'; at++)
        lines += *at == '\n';
    CHECK_INT(lines, count);
    CHECK(count > 168);
    shell_free(&r);
    CHECK_MW(0, "conv_transpose", NULL, "ops", "conv*");
    CHECK_MW(1, NULL, "no operation matches", "ops", "nothing");
    CHECK_JSON("ops", "softmax");
}

static void test_tensors_are_listed_with_statistics(void)
{
    CHECK_MW(0, "w  F32 [2, 2]  1 .. 4, mean 2.5", NULL, "tensors", "a.safetensors", "--statistics");
    CHECK_MW(0, "npz, 2 tensors, 5 elements", NULL, "tensors", "b.npz");
    CHECK_JSON("tensors", "b.npz", "--statistics", "--match", "w");
}

static void test_a_text_without_its_weights_can_be_looked_at(void)
{
    CHECK_MW(0, NULL, NULL, "convert", "net", "bare");
    CHECK_INT(unlink("bare/weights/weight.bin"), 0);
    CHECK_MW(0, "fc1", "the weights are not there", "info", "bare");
    CHECK_MW(0, "takes it", NULL, "check", "bare/model.mil", "-c", "m1");
    CHECK_MW(1, NULL, "cannot open", "run", "bare");
}

/* ---- files ---- */

static void test_convert_goes_both_ways(void)
{
    CHECK_MW(0, "passes", NULL, "convert", "net", "copy", "--verify");
    CHECK_MW(0, NULL, NULL, "convert", "a.safetensors", "a.npz");
    CHECK_MW(0, "w  <f4 [2, 2]  1 .. 4, mean 2.5", NULL, "tensors", "a.npz", "-s");
    CHECK_MW(0, NULL, NULL, "convert", "a.npz", "half.safetensors", "--weights", "fp16");
    CHECK_MW(0, "F16", NULL, "tensors", "half.safetensors");
    CHECK_MW(2, NULL, "none of fp16, int8, palette", "convert", "net", "small", "--weights", "int9");
    CHECK_MW(0, "fc1", NULL, "convert", "net", "small", "--weights", "int8", "--least", "8", "--verify");
}

static void test_average_is_the_mean(void)
{
    CHECK_MW(0, NULL, NULL, "average", "a.safetensors", "b.npz", "--out", "mean.safetensors");
    CHECK_MW(0, "w  F32 [2, 2]  2 .. 2, mean 2", NULL, "tensors", "mean.safetensors", "-s");
    CHECK_MW(2, NULL, "--out FILE is missing", "average", "a.safetensors");
    CHECK_MW(1, NULL, "gone.npz", "average", "a.safetensors", "half.safetensors", "gone.npz", "-o", "x.npz");
    CHECK(access("x.npz", F_OK) != 0);
}

/* ---- running ---- */

static void test_run_feeds_what_it_is_told(void)
{
    CHECK_MW(0, "scores  [4, 3]", NULL, "run", "net", "-b", "4");
    CHECK_MW(0, "scores  [1, 3]", NULL, "run", "net", "--input", "x=0.5", "--out", "half.npz");
    mw_error err = {0};
    const float x[] = {0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 1, 2, 3, 4, 5, 6};
    mw_tensors_write("x.npy", &(mw_tensor_values){"x", MW_F32, MW_SHAPE(2, D), x}, 1, &err);
    CHECK_MW(0, "scores  [2, 3]", NULL, "run", "net", "--input", "x=x.npy", "-o", "both.npz");
    float one[C], two[2 * C];
    mw_tensors *half = mw_tensors_open("half.npz", &err), *both = mw_tensors_open("both.npz", &err);
    mw_tensors_read(half, "scores", MW_F32, one, C, &err);
    mw_tensors_read(both, "scores", MW_F32, two, 2 * C, &err);
    CHECK_OK(err);
    for (int i = 0; i < C; i++)
        CHECK_NEAR(one[i], two[i], 1e-6);
    mw_tensors_destroy(half);
    mw_tensors_destroy(both);
    CHECK_MW(2, NULL, "no input \"y\"", "run", "net", "--input", "y=1");
    CHECK_MW(2, NULL, "is not NAME=VALUE", "run", "net", "--input", "x");
    CHECK_MW(1, NULL, "cannot open", "run", "net", "--input", "x=gone.npy");
    CHECK_JSON("run", "net");
}

static void test_bench_and_profile_measure(void)
{
    CHECK_MW(0, "runs a second", NULL, "bench", "net", "--seconds", "0.05", "-t", "1");
    CHECK_MW(2, NULL, "is not in 0 .. 86400", "bench", "net", "--seconds", "-1");
    CHECK_MW(0, "median", NULL, "profile", "net", "--trace", "trace.json", "--runs", "3");
    CHECK(access("trace.json", F_OK) == 0);
    CHECK_JSON("bench", "net", "--seconds", "0.01");
    CHECK_JSON("profile", "net");
}

/* Those of a batch, where the first axis counts them. */
static void test_bench_counts_the_examples_of_a_run(void)
{
    static const struct {
        mw_shape x, y;
        const char *says, *json;
    } rows[] = {{{.rank = 2, .dim = {128, 4}}, {0}, "(128 a run)", "\"examples_per_run\": 128"},
                {{.rank = 2, .dim = {8, 4}}, {.rank = 2, .dim = {24, 2}}, "(8 a run)", "\"examples_per_run\": 8"},
                {{.rank = 1, .dim = {7}}, {0}, "(1 a run)", "\"examples_per_run\": 1"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mw_error err = {0};
        mw_graph *graph = mw_graph_create(NULL, NULL);
        mw_tensor *x = mw_input(graph, "x", MW_F32, rows[i].x);
        mw_output(i == 2 ? mw_reduce_sum(x, MW_AXES(0), true) : mw_relu(x), "a");
        if (rows[i].y.rank > 0)
            mw_output(mw_relu(mw_input(graph, "y", MW_F32, rows[i].y)), "b");
        mw_graph_write(graph, "counted", NULL, &err);
        CHECK_OK(err);
        mw_graph_destroy(graph);
        CHECK_MW(0, rows[i].says, NULL, "bench", "counted", "--seconds", "0", "-t", "1");
        CHECK_MW(0, rows[i].json, NULL, "bench", "counted", "--seconds", "0", "-t", "1", "--json");
    }
}

/* ---- comparing ---- */

static void test_compare_says_no_by_its_exit_code(void)
{
    CHECK_MW(0, "scores", NULL, "compare", "net");
    CHECK_MW(3, "!", NULL, "compare", "net", "--relative", "0", "--absolute", "0");
    CHECK_MW(0, "passes", NULL, "compare", "net", "copy");
    CHECK_MW(3, "differs", NULL, "compare", "net", "small", "--relative", "1e-9");
    CHECK_JSON("compare", "net");
    CHECK_JSON("compare", "net", "copy");
}

/* 400 x 400 is beyond fp16; 3 is not. */
static void test_ranges_say_no_by_their_exit_code(void)
{
    mw_error err = {0};
    const float much[4] = {400, 1, 2, 3}, little[4] = {3, 1, 2, 3};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(mw_square(mw_input(graph, "x", MW_F32, MW_SHAPE(4))), "y");
    mw_graph_write(graph, "square", NULL, &err);
    mw_tensors_write("much.safetensors", &(mw_tensor_values){"x", MW_F32, MW_SHAPE(4), much}, 1, &err);
    mw_tensors_write("little.safetensors", &(mw_tensor_values){"x", MW_F32, MW_SHAPE(4), little}, 1, &err);
    CHECK_OK(err);
    mw_graph_destroy(graph);
    CHECK_MW(0, "all values fit", NULL, "ranges", "net");
    CHECK_MW(0, "square \"y\" [4]", NULL, "ranges", "square", "--inputs", "little.safetensors");
    CHECK_MW(3, "1 beyond its range", NULL, "ranges", "square", "--inputs", "much.safetensors");
    CHECK_MW(3, "\"overflowed\": 1", NULL, "ranges", "square", "--inputs", "much.safetensors", "--json");
    CHECK_MW(1, NULL, "gone.safetensors", "ranges", "square", "--inputs", "gone.safetensors");
    CHECK_MW(2, NULL, "--device is the CPU", "ranges", "net", "--device", "ane");
    CHECK_MW(1, NULL, "cannot open", "ranges", "gone.mil");
    CHECK_JSON("ranges", "net");
}

static void test_gradients_of_a_model_pass(void)
{
    CHECK_MW(0, "passes", NULL, "gradcheck", "net");
    CHECK_MW(1, NULL, "nothing", "gradcheck", "net", "--layers", "nothing*");
    CHECK_JSON("gradcheck", "net", "--elements", "4");
}

static void test_check_and_plan_know_chips(void)
{
    CHECK_MW(0, "h13: takes it", NULL, "check", "net", "--chip", "m1");
    CHECK_MW(2, NULL, "none of m1 to m6", "check", "net", "--chip", "m9");
    CHECK_MW(0, "layers", NULL, "plan", "net", "--chip", "m5", "--svg", "plan.svg");
    CHECK(access("plan.svg", F_OK) == 0);
    CHECK_MW(0, "steps", NULL, "plan", "net");
    CHECK_JSON("check", "net", "--chip", "h14");
    CHECK_JSON("plan", "net", "--chip", "m1");
    CHECK_MW(0, "h18g (M6): 1 dispatch", NULL, "plan", "net", "--time");
    CHECK_MW(0, "h13 (M1): 1 dispatch", NULL, "plan", "net", "--time");
    CHECK_MW(0, "a step, back to back", NULL, "plan", "net", "--chip", "m4", "--time");
    CHECK_MW(0, "nothing was measured", NULL, "plan", "net", "--chip", "m2", "--time");
    CHECK_JSON("plan", "net", "--time");
    CHECK_JSON("plan", "net");
}

/* A norm by hand, which is 0 there for inputs of some hundreds: it is written in another form, but not of a program
 * that is compiled as it is, and not x / (x^2 + 1). */
static void test_check_says_what_comes_to_nothing(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F16, MW_SHAPE(1, 8));
    mw_output(mw_rms_norm(x, MW_AXES(1), NULL, 1e-3f), "y");
    mw_graph_write(graph, "norm", NULL, &err);
    CHECK_OK(err);
    mw_graph_destroy(graph);
    graph = mw_graph_create(NULL, NULL);
    x = mw_input(graph, "x", MW_F16, MW_SHAPE(1, 8));
    mw_output(mw_real_div(x, mw_add_scalar(mw_square(x), 1.0)), "y");
    mw_graph_write(graph, "share", NULL, &err);
    CHECK_OK(err);
    mw_graph_destroy(graph);
    CHECK_MW(0, "0 warned, 1 noted", NULL, "check", "norm");
    CHECK_MW(0, "1 warned", NULL, "check", "norm", "--as-it-is");
    CHECK_MW(0, "1 warned", NULL, "check", "share");
    CHECK_MW(0, "the square of a number beyond 255.9 is infinite in fp16", NULL, "check", "share", "--chip", "m1");
    CHECK_MW(0, "\"rule\": \"fp16_overflow\"", NULL, "check", "share", "--json");
    shell_result r = MW("check", "net");
    CHECK(strstr(r.out, "fp16_overflow") == NULL);
    shell_free(&r);
}

static void test_what_a_chip_refuses_is_said(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(mw_add(mw_input(graph, "x", MW_F32, MW_SHAPE(1, 1, 1, 1, 2, 2)), NULL), "y");
    mw_graph_destroy(graph);
    graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(1, 1, 1, 1, 2, 2));
    mw_output(mw_relu(x), "y");
    mw_graph_write(graph, "six", NULL, &err);
    CHECK_OK(err);
    mw_graph_destroy(graph);
    CHECK_MW(3, "refuses it", NULL, "check", "six", "--chip", "m1", "--as-it-is");
    CHECK_MW(3, "leaves a part of it to the CPU", NULL, "check", "six", "--chip", "m4", "--as-it-is", "--judge",
             "coreml");
    CHECK_MW(0, "offers all of it", NULL, "check", "net", "--chip", "m4", "--judge", "coreml");
    CHECK_MW(3, "\"judge\": \"coreml\"", NULL, "check", "six", "--as-it-is", "--judge", "coreml", "--json");
    CHECK_MW(2, NULL, "neither direct nor coreml", "check", "six", "--judge", "jury");
}

/* ---- pictures ---- */

static bool begins_with(const char *path, const char *start)
{
    char text[64] = "";
    FILE *file = fopen(path, "rb");
    const bool good =
        file != NULL && fgets(text, sizeof text, file) != NULL && strncmp(text, start, strlen(start)) == 0;
    if (file != NULL)
        fclose(file);
    return good;
}

static void test_models_and_runs_become_pictures(void)
{
    folder_put("run.csv", "step,loss,accuracy\n1,2.5,0.1\n2,1.5,0.5\n3,0.5,0.9\n");
    CHECK_MW(0, NULL, NULL, "draw", "net", "-o", "net.svg");
    CHECK_MW(0, NULL, NULL, "draw", "net", "-o", "net.dot", "--operations", "--title", "a \"net\"");
    CHECK_MW(0, NULL, NULL, "plot", "run.csv", "-o", "run.svg", "--series", "loss", "--log");
    CHECK_MW(0, NULL, NULL, "plot", "run.csv", "run.csv", "-o", "two.svg");
    CHECK(begins_with("net.svg", "<svg") || begins_with("net.svg", "<?xml"));
    CHECK(begins_with("net.dot", "digraph"));
    CHECK(begins_with("run.svg", "<svg") || begins_with("run.svg", "<?xml"));
    CHECK_MW(2, NULL, "--out FILE is missing", "draw", "net");
    CHECK_MW(2, NULL, "--out FILE is missing", "plot", "run.csv");
    CHECK_MW(1, NULL, "nothing", "plot", "run.csv", "-o", "none.svg", "--series", "nothing*");
    CHECK_MW(1, NULL, "gone.csv", "plot", "gone.csv", "-o", "none.svg");
    CHECK(access("none.svg", F_OK) != 0);
    shell_result r = MW("plot", "run.csv", "-o", "run.png"); /* by rsvg-convert, if that is there */
    CHECK(r.code == 0 ? begins_with("run.png", "\x89PNG") : strstr(r.errs, "librsvg2-bin") != NULL);
    shell_free(&r);
}

static void test_doctor_finds_nothing_wrong(void)
{
    CHECK_MW(0, "elements wrong", NULL, "doctor");
    CHECK_JSON("doctor");
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(write_models);
    RUN(write_tensors);
    RUN(test_info_lists_ports_and_layers);
    RUN(test_info_lists_what_can_be_trained);
    RUN(test_ops_are_those_of_the_table);
    RUN(test_tensors_are_listed_with_statistics);
    RUN(test_a_text_without_its_weights_can_be_looked_at);
    RUN(test_convert_goes_both_ways);
    RUN(test_average_is_the_mean);
    RUN(test_run_feeds_what_it_is_told);
    RUN(test_bench_and_profile_measure);
    RUN(test_bench_counts_the_examples_of_a_run);
    RUN(test_compare_says_no_by_its_exit_code);
    RUN(test_ranges_say_no_by_their_exit_code);
    RUN(test_gradients_of_a_model_pass);
    RUN(test_check_and_plan_know_chips);
    RUN(test_check_says_what_comes_to_nothing);
    RUN(test_what_a_chip_refuses_is_said);
    RUN(test_models_and_runs_become_pictures);
    RUN(test_doctor_finds_nothing_wrong);
    folder_leave(folder);
    return check_finish();
}
