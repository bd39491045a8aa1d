/* Programs as a user runs and writes them: mw_chip_run of the public files, mw_hwx_emit from MIL. */
#include "base/number/fp16.h"
#include "support/check.h"
#include "support/failing.h"

#include <math.h>
#include <millwright/chip_all.h>
#include <millwright/millwright.h>
#include <stdlib.h>

#define FOLDER MW_SHARED_DATA "/hwx/tinygrad_ane_"

/* ---- numbers ---- */

static uint64_t state = 88172645463325252u;

static double number(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)mw__fp16_to_float(mw__fp16_from_double(((double)(state >> 11) * 0x1p-53 - 0.5) * 8.0));
}

static void fill(uint16_t *out, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = mw__fp16_from_double(number());
}

static double value(uint16_t half) { return (double)mw__fp16_to_float(half); }

static double half_step(double x)
{
    int power;
    frexp(fabs(x), &power);
    return ldexp(0.5, (power < -13 ? -13 : power) - 11);
}

/* ---- files ---- */

static void test_public_sum_runs_by_its_ports(void)
{
    mw_error err = {0};
    uint16_t a[64], b[64], sum[64] = {0};
    mw_hwx *hwx = mw_hwx_open(FOLDER "ops_sum_1b1855b8.hwx", &err);
    if (hwx == NULL && err.status == MW_ERROR_FILE)
        SKIP("no public files");
    REQUIRE(hwx != NULL);
    fill(a, 64);
    fill(b, 64);
    const mw_chip_buffer buffers[] = {
        {"probs@output", sum, sizeof sum}, {"image", a, sizeof a}, {"image2", b, sizeof b}};
    CHECK(mw_chip_run(hwx, buffers, 3, NULL, &err) == MW_OK);
    CHECK_OK(err);
    int wrong = 0;
    for (int i = 0; i < 64; i++)
        wrong += sum[i] != mw__fp16_from_double(value(a[i]) + value(b[i]));
    CHECK_INT(wrong, 0);
    mw_hwx_destroy(hwx);
}

static void test_buffers_must_be_those_of_the_ports(void)
{
    mw_error err = {0};
    uint16_t a[64] = {0}, b[64] = {0}, sum[64] = {0};
    mw_hwx *hwx = mw_hwx_open(FOLDER "ops_sum_1b1855b8.hwx", &err);
    if (hwx == NULL && err.status == MW_ERROR_FILE)
        SKIP("no public files");
    const struct {
        mw_chip_buffer buffers[4];
        size_t count;
        const char *part;
    } cases[] = {
        {{{"image", a, sizeof a}, {"image2", b, sizeof b}}, 2, "2 buffers for 3 ports"},
        {{{"image", a, sizeof a}, {"image", b, sizeof b}, {"probs@output", sum, sizeof sum}}, 3, "two buffers"},
        {{{"image", a, sizeof a}, {"other", b, sizeof b}, {"probs@output", sum, sizeof sum}}, 3, "input \"image2\""},
        {{{"image", a, 126}, {"image2", b, sizeof b}, {"probs@output", sum, sizeof sum}}, 3, "126 bytes"},
        {{{"image", a, sizeof a}, {"image2", b, sizeof b}, {"probs@output", NULL, 128}}, 3, "output"},
        {{{"image", a, sizeof a}, {NULL, b, sizeof b}, {"probs@output", sum, sizeof sum}}, 3, "no name"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mw_error why = {0};
        CHECK(mw_chip_run(hwx, cases[i].buffers, cases[i].count, NULL, &why) == MW_ERROR_ARGUMENT);
        CHECK_ERROR(why, MW_ERROR_ARGUMENT, cases[i].part);
    }
    mw_hwx_destroy(hwx);
}

static void test_limits_and_profiles_are_held(void)
{
    mw_error err = {0};
    uint16_t x[64] = {0}, y[64] = {0};
    mw_hwx *hwx = mw_hwx_open(FOLDER "ops_gemm_ef7e5c24.hwx", &err);
    if (hwx == NULL && err.status == MW_ERROR_FILE)
        SKIP("no public files");
    const mw_chip_buffer buffers[] = {{"image", x, sizeof x}, {"probs@output", y, sizeof y}};
    mw_chip_run_options options = mw_chip_run_defaults();
    options.work_limit = 64 * 65;
    CHECK(mw_chip_run(hwx, buffers, 2, &options, &err) == MW_OK);
    options.work_limit--;
    CHECK(mw_chip_run(hwx, buffers, 2, &options, &err) == MW_ERROR_ARGUMENT);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "work_limit");
    options = mw_chip_run_defaults();
    options.memory_limit = 8191; /* both windows are 4096 */
    err = (mw_error){0};
    CHECK(mw_chip_run(hwx, buffers, 2, &options, &err) == MW_ERROR_ARGUMENT);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "memory_limit");
    options = mw_chip_run_defaults();
    options.profile = "h12";
    err = (mw_error){0};
    CHECK(mw_chip_run(hwx, buffers, 2, &options, &err) == MW_ERROR_ARGUMENT);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "h12");
    mw_hwx_destroy(hwx);
}

/* The same program as a .ane, whose ports have no names of their own. */
static void test_a_ane_runs_like_its_hwx(void)
{
    mw_error err = {0};
    void *bytes = NULL;
    size_t size = 0;
    uint16_t x[64] = {0}, z[64] = {0}, y[64] = {0};
    mw_hwx *hwx = mw_hwx_open(FOLDER "ops_sum_1b1855b8.hwx", &err);
    if (hwx == NULL && err.status == MW_ERROR_FILE)
        SKIP("no public files");
    CHECK(mw_hwx_write_ane(hwx, NULL, &bytes, &size, &err) == MW_OK);
    mw_hwx *ane = mw_hwx_parse(bytes, size, NULL, &err);
    CHECK_OK(err);
    REQUIRE(ane != NULL);
    mw_chip_buffer buffers[3];
    uint16_t *inputs[2] = {x, z};
    fill(x, 64);
    fill(z, 64);
    for (size_t i = 0, n = 0; i < 3; i++) {
        const mw_hwx_port *port = mw_hwx_port_at(ane, i);
        REQUIRE(port != NULL);
        buffers[i] = (mw_chip_buffer){port->name, port->is_output ? y : inputs[n++], sizeof y};
    }
    CHECK(mw_chip_run(ane, buffers, 3, NULL, &err) == MW_OK);
    CHECK_OK(err);
    int wrong = 0;
    for (int i = 0; i < 64; i++)
        wrong += y[i] != mw__fp16_from_double(value(x[i]) + value(z[i]));
    CHECK_INT(wrong, 0);
    mw_hwx_destroy(ane);
    mw_hwx_destroy(hwx);
    mw_string_free(bytes);
}

static void test_a_closed_file_is_refused(void)
{
    mw_error err = {0};
    CHECK(mw_chip_run(NULL, NULL, 0, NULL, &err) == MW_ERROR_ARGUMENT);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "no open file");
}

/* ---- from MIL ---- */

#define HEAD "program(1.3)\n[buildInfo = dict<string, string>({})]\n{\n  func main<ios18>("
#define CONV_CONSTANTS                                                                                                 \
    "    string pt = const()[name = string(\"pt\"), val = string(\"same\")];\n"                                        \
    "    tensor<int32, [2]> st = const()[name = string(\"st\"), val = tensor<int32, [2]>([1, 1])];\n"                  \
    "    tensor<int32, [4]> pd = const()[name = string(\"pd\"), val = tensor<int32, [4]>([0, 0, 0, 0])];\n"            \
    "    tensor<int32, [2]> dl = const()[name = string(\"dl\"), val = tensor<int32, [2]>([1, 1])];\n"                  \
    "    int32 gp = const()[name = string(\"gp\"), val = int32(1)];\n"

static mw_graph *parse(const char *text)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_parse_mil(text, strlen(text), NULL, NULL, &err);
    check_note(graph != NULL, __FILE__, __LINE__, "%s", err.message);
    return graph;
}

/* Emits, opens; NULL after a note. */
static mw_hwx *emit(const char *text, bool verified)
{
    mw_error err = {0};
    mw_hwx_emission made = {0};
    mw_graph *graph = parse(text);
    check_note(mw_hwx_emit(graph, NULL, &made, &err) == MW_OK, __FILE__, __LINE__, "%s", err.message);
    CHECK(made.verified == verified);
    mw_hwx *hwx = made.data != NULL ? mw_hwx_parse(made.data, made.size, NULL, &err) : NULL;
    check_note(hwx != NULL, __FILE__, __LINE__, "%s", err.message);
    void *again = NULL;
    size_t size = 0;
    if (hwx != NULL && CHECK(mw_hwx_write_memory(hwx, &again, &size, &err) == MW_OK))
        CHECK(size == made.size && memcmp(again, made.data, size) == 0);
    if (hwx != NULL)
        CHECK((strstr(mw_hwx_get_info(hwx)->ident, "unverified") != NULL) == !verified);
    mw_string_free(again);
    mw_string_free(made.data);
    mw_graph_destroy(graph);
    return hwx;
}

static void run(const mw_hwx *hwx, const mw_chip_buffer *buffers, size_t count)
{
    mw_error err = {0};
    CHECK(mw_chip_run(hwx, buffers, count, NULL, &err) == MW_OK);
    CHECK_OK(err);
}

static void check_unary(const char *text, bool verified, double (*function)(double), size_t count, double allowed)
{
    uint16_t *x = calloc(count, sizeof *x), *y = calloc(count, sizeof *y);
    mw_hwx *hwx = emit(text, verified);
    fill(x, count);
    run(hwx, (mw_chip_buffer[]){{"x", x, 2 * count}, {"y", y, 2 * count}}, 2);
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++) {
        const double want = function(value(x[i]));
        wrong += !(fabs(value(y[i]) - want) <= half_step(want) + allowed);
    }
    CHECK_INT(wrong, 0);
    mw_hwx_destroy(hwx);
    free(x);
    free(y);
}

static double relu(double x) { return x > 0.0 ? x : 0.0; }
static double sigmoid(double x) { return 1.0 / (1.0 + exp(-x)); }

static void test_relu_of_any_shape(void)
{
    check_unary(HEAD "tensor<fp16, [1, 1, 1, 77]> x) {\n"
                     "    tensor<fp16, [1, 1, 1, 77]> y = relu(x = x)[name = string(\"y\")];\n  } -> (y);\n}\n",
                true, relu, 77, 0.0);
    check_unary(HEAD "tensor<fp16, [3, 9, 50]> x) {\n"
                     "    tensor<fp16, [3, 9, 50]> y = relu(x = x)[name = string(\"y\")];\n  } -> (y);\n}\n",
                false, relu, 3 * 9 * 50, 0.0);
}

static void test_sigmoid_of_any_shape(void)
{
    check_unary(HEAD "tensor<fp16, [77]> x) {\n"
                     "    tensor<fp16, [77]> y = sigmoid(x = x)[name = string(\"y\")];\n  } -> (y);\n}\n",
                true, sigmoid, 77, 0.0035);
    check_unary(HEAD "tensor<fp16, [1, 20, 6, 6]> x) {\n"
                     "    tensor<fp16, [1, 20, 6, 6]> y = sigmoid(x = x)[name = string(\"y\")];\n  } -> (y);\n}\n",
                false, sigmoid, 720, 0.0035);
}

static double binary(const char *name, double x, double y)
{
    if (strcmp(name, "add") == 0)
        return x + y;
    if (strcmp(name, "sub") == 0)
        return x - y;
    if (strcmp(name, "mul") == 0)
        return x * y;
    return strcmp(name, "maximum") == 0 ? fmax(x, y) : fmin(x, y);
}

static void check_binary(const char *name, bool turned)
{
    enum { COUNT = 64 * 3 * 5 };
    static uint16_t x[COUNT], z[COUNT], y[COUNT];
    char text[512];
    snprintf(text, sizeof text,
             HEAD "tensor<fp16, [1, 64, 3, 5]> x, tensor<fp16, [1, 64, 3, 5]> z) {\n"
                  "    tensor<fp16, [1, 64, 3, 5]> y = %s(x = %s, y = %s)[name = string(\"y\")];\n  } -> (y);\n}\n",
             name, turned ? "z" : "x", turned ? "x" : "z");
    mw_hwx *hwx = emit(text, false);
    fill(x, COUNT);
    fill(z, COUNT);
    run(hwx, (mw_chip_buffer[]){{"x", x, sizeof x}, {"z", z, sizeof z}, {"y", y, sizeof y}}, 3);
    int wrong = 0;
    for (int i = 0; i < COUNT; i++) {
        const double a = value(x[i]), b = value(z[i]), want = turned ? binary(name, b, a) : binary(name, a, b);
        wrong += !(fabs(value(y[i]) - want) <= half_step(want));
    }
    CHECK_INT(wrong, 0);
    mw_hwx_destroy(hwx);
}

static void test_two_operands_either_way_round(void)
{
    static const char *const names[] = {"add", "sub", "mul", "maximum", "minimum"};
    for (int i = 0; i < 5; i++) {
        check_binary(names[i], false);
        check_binary(names[i], true);
    }
}

static void check_concat(bool turned)
{
    enum { A = 3 * 2 * 7, B = 20 * 2 * 7 };
    uint16_t x[A], z[B], y[A + B];
    char text[512];
    snprintf(text, sizeof text,
             HEAD "tensor<fp16, [1, 3, 2, 7]> x, tensor<fp16, [1, 20, 2, 7]> z) {\n"
                  "    tensor<fp16, [1, 23, 2, 7]> y = concat(axis = int32(1), interleave = bool(false), values = (%s))"
                  "[name = string(\"y\")];\n  } -> (y);\n}\n",
             turned ? "z, x" : "x, z");
    mw_hwx *hwx = emit(text, false);
    fill(x, A);
    fill(z, B);
    run(hwx, (mw_chip_buffer[]){{"x", x, sizeof x}, {"z", z, sizeof z}, {"y", y, sizeof y}}, 3);
    CHECK(memcmp(y + (turned ? B : 0), x, sizeof x) == 0 && memcmp(y + (turned ? 0 : A), z, sizeof z) == 0);
    mw_hwx_destroy(hwx);
}

static void test_concat_of_channels_either_way_round(void)
{
    check_concat(false);
    check_concat(true);
}

/* Text of fp16 numbers, and their values. */
static void put_numbers(char *out, size_t size, double *values, size_t count)
{
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        values[i] = number();
        at += (size_t)snprintf(out + at, size - at, "%s%a", i > 0 ? ", " : "", values[i]);
    }
}

static void test_linear_with_bias_and_relu(void)
{
    enum { IN = 5, OUT = 7 };
    static char weights[4096], bias[1024], text[8192];
    double w[IN * OUT], b[OUT];
    uint16_t x[IN], y[OUT];
    put_numbers(weights, sizeof weights, w, IN * OUT);
    put_numbers(bias, sizeof bias, b, OUT);
    snprintf(text, sizeof text,
             HEAD "tensor<fp16, [1, 5]> x) {\n"
                  "    tensor<fp16, [7, 5]> w = const()[name = string(\"w\"), val = tensor<fp16, [7, 5]>([%s])];\n"
                  "    tensor<fp16, [7]> b = const()[name = string(\"b\"), val = tensor<fp16, [7]>([%s])];\n"
                  "    tensor<fp16, [1, 7]> h = linear(bias = b, weight = w, x = x)[name = string(\"h\")];\n"
                  "    tensor<fp16, [1, 7]> y = relu(x = h)[name = string(\"y\")];\n  } -> (y);\n}\n",
             weights, bias);
    mw_hwx *hwx = emit(text, false);
    fill(x, IN);
    run(hwx, (mw_chip_buffer[]){{"x", x, sizeof x}, {"y", y, sizeof y}}, 2);
    for (int o = 0; o < OUT; o++) {
        double sum = b[o];
        for (int i = 0; i < IN; i++)
            sum += w[o * IN + i] * value(x[i]);
        const double want = sum > 0.0 ? sum : 0.0;
        CHECK_NEAR(value(y[o]), want, half_step(want) + 0x1p-16);
    }
    mw_hwx_destroy(hwx);
}

static void test_conv_with_same_padding(void)
{
    enum { C = 2, O = 3, S = 6 };
    static char weights[4096], text[8192];
    double w[O * C * 9];
    uint16_t x[C * S * S], y[O * S * S];
    put_numbers(weights, sizeof weights, w, O * C * 9);
    snprintf(
        text, sizeof text,
        HEAD
        "tensor<fp16, [1, 2, 6, 6]> x) {\n" CONV_CONSTANTS
        "    tensor<fp16, [3, 2, 3, 3]> w = const()[name = string(\"w\"), val = tensor<fp16, [3, 2, 3, 3]>([%s])];\n"
        "    tensor<fp16, [1, 3, 6, 6]> y = conv(dilations = dl, groups = gp, pad = pd, pad_type = pt, strides = st, "
        "weight = w, x = x)[name = string(\"y\")];\n  } -> (y);\n}\n",
        weights);
    mw_hwx *hwx = emit(text, false);
    fill(x, C * S * S);
    run(hwx, (mw_chip_buffer[]){{"x", x, sizeof x}, {"y", y, sizeof y}}, 2);
    int wrong = 0;
    for (int o = 0; o < O; o++)
        for (int i = 0; i < S * S; i++) {
            double sum = 0.0;
            for (int k = 0; k < C * 9; k++) {
                const int row = i / S + k % 9 / 3 - 1, column = i % S + k % 3 - 1;
                if (row >= 0 && row < S && column >= 0 && column < S)
                    sum += w[o * C * 9 + k] * value(x[k / 9 * S * S + row * S + column]);
            }
            wrong += !(fabs(value(y[o * S * S + i]) - sum) <= half_step(sum) + 0x1p-14);
        }
    CHECK_INT(wrong, 0);
    mw_hwx_destroy(hwx);
}

/* ---- what is not written ---- */

static void check_refused(const char *text, mw_status status, const char *part)
{
    mw_error err = {0};
    mw_hwx_emission made = {.size = 1};
    mw_graph *graph = parse(text);
    CHECK(mw_hwx_emit(graph, NULL, &made, &err) == status);
    CHECK_ERROR(err, status, part);
    CHECK(made.data == NULL && made.size == 0);
    mw_graph_destroy(graph);
}

#define ONE(type, operation)                                                                                           \
    HEAD "tensor<" type "> x) {\n    tensor<" type "> y = " operation "[name = string(\"y\")];\n  } -> (y);\n}\n"

static void test_what_is_no_task_is_refused_by_name(void)
{
    check_refused(ONE("fp16, [1, 8]", "tanh(x = x)"), MW_ERROR_UNSUPPORTED, "tanh: not written");
    check_refused(ONE("fp32, [1, 8]", "relu(x = x)"), MW_ERROR_DTYPE, "\"x\" is fp32");
    check_refused(ONE("fp16, [2, 3, 4, 5]", "relu(x = x)"), MW_ERROR_UNSUPPORTED, "[1, C, H, W]");
    check_refused(ONE("fp16, [1, 8]", "add(x = x, y = x)"), MW_ERROR_UNSUPPORTED, "not the two inputs");
    check_refused(ONE("fp16, [1, 40000]", "relu(x = x)"), MW_ERROR_UNSUPPORTED, "up to 32767");
    check_refused(ONE("fp16, [128, 128, 128]", "relu(x = x)"), MW_ERROR_UNSUPPORTED, "in one tile");
    check_refused(HEAD "tensor<fp16, [4]> x, tensor<fp16, [4]> z) {\n"
                       "    tensor<fp16, [4]> h = add(x = x, y = z)[name = string(\"h\")];\n"
                       "    tensor<fp16, [4]> y = relu(x = h)[name = string(\"y\")];\n  } -> (y);\n}\n",
                  MW_ERROR_UNSUPPORTED, "second operation");
    check_refused(HEAD
                  "tensor<fp16, [1, 2, 4]> x, tensor<fp16, [1, 2, 4]> z) {\n"
                  "    tensor<fp16, [1, 2, 8]> y = concat(axis = int32(-1), interleave = bool(false), values = (x, z))"
                  "[name = string(\"y\")];\n  } -> (y);\n}\n",
                  MW_ERROR_UNSUPPORTED, "not of channels");
    check_refused(HEAD "tensor<fp16, [4]> x, tensor<fp16, [1]> z) {\n"
                       "    tensor<fp16, [4]> y = add(x = x, y = z)[name = string(\"y\")];\n  } -> (y);\n}\n",
                  MW_ERROR_UNSUPPORTED, "different shapes");
    check_refused(
        HEAD "tensor<fp16, [2, 4]> x) {\n"
             "    tensor<fp16, [3, 4]> w = const()[name = string(\"w\"), val = tensor<fp16, [3, 4]>([1, 2, 3, 4, 5, "
             "6, 7, 8, 9, 10, 11, 12])];\n"
             "    tensor<fp16, [2, 3]> y = linear(weight = w, x = x)[name = string(\"y\")];\n  } -> (y);\n}\n",
        MW_ERROR_UNSUPPORTED, "more than one row");
}

/* The engines of three channels read the same table. */
static void test_a_table_of_several_engines_is_one_kernel(void)
{
    mw_hwx *hwx = emit("program(1.3)\n{\n    func main<ios18>(tensor<fp16, [1, 3, 2, 5]> x) {\n"
                       "    tensor<fp16, [1, 3, 2, 5]> y = sigmoid(x = x);\n    } -> (y);\n}\n",
                       false);
    mw_error err = {0};
    mw_hwx_table table = {0};
    const mw_hwx_kernel *kernel = mw_hwx_kernel_at(hwx, 0);
    if (CHECK(kernel != NULL && mw_hwx_kernel_at(hwx, 1) == NULL)) {
        CHECK_INT(kernel->kind, MW_HWX_TABLE);
        CHECK_INT(kernel->tiles, 4);
        CHECK_INT(kernel->size, 128);
        CHECK(mw_hwx_get_table(hwx, 0, &table, &err) == MW_OK);
        CHECK_NEAR(table.knots[16], 0.5, 1e-3); /* sigmoid(0), of 33 knots from -8 to 8 */
    }
    mw_hwx_destroy(hwx);
}

static void test_options_are_looked_at(void)
{
    mw_error err = {0};
    mw_hwx_emission made;
    mw_graph *graph = parse(ONE("fp16, [1, 8]", "relu(x = x)"));
    mw_hwx_emit_options options = {0};
    CHECK(mw_hwx_emit(graph, &options, &made, &err) == MW_ERROR_ARGUMENT);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "mw_hwx_emit_defaults");
    options = mw_hwx_emit_defaults();
    options.kernel_name = "123";
    err = (mw_error){0};
    CHECK(mw_hwx_emit(graph, &options, &made, &err) == MW_ERROR_ARGUMENT);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "64 hexadecimal digits");
    mw_graph_destroy(graph);
}

/* ---- files that lie ---- */

enum { PORTS_MAX = 4, ELEMENTS_MAX = 1 << 12 };

/* Runs it with buffers of what its ports say, if that is little. */
static void run_whatever(const mw_hwx *hwx, int64_t *out_wrong)
{
    mw_chip_buffer buffers[PORTS_MAX] = {{0}};
    mw_chip_run_options options = mw_chip_run_defaults();
    mw_error err = {0};
    size_t count = 0;
    options.work_limit = 1 << 18;
    options.memory_limit = 1 << 22;
    for (; count < PORTS_MAX && mw_hwx_port_at(hwx, count) != NULL; count++) {
        const mw_hwx_port *port = mw_hwx_port_at(hwx, count);
        uint64_t elements = 1;
        for (int i = 0; i < 4; i++)
            elements = elements * port->extent[i] > ELEMENTS_MAX ? ELEMENTS_MAX : elements * port->extent[i];
        buffers[count] = (mw_chip_buffer){port->name != NULL ? port->name : "", calloc(elements + 1, 2), 2 * elements};
    }
    const mw_status status = mw_chip_run(hwx, buffers, count, &options, &err);
    *out_wrong += status != err.status || (status != MW_OK && err.message[0] == '\0');
    for (size_t i = 0; i < count; i++)
        free(buffers[i].data);
}

static void test_files_with_bytes_turned_run_or_are_refused(void)
{
    enum { ROUNDS = 4000, COMMANDS = 0x1000, TASK = 0x4000, TASK_SIZE = 628 };
    mw_error err = {0};
    mw_hwx_emission made = {0};
    int64_t wrong = 0, opened = 0;
    mw_graph *graph =
        parse(HEAD "tensor<fp16, [1, 3, 2, 7]> x, tensor<fp16, [1, 3, 2, 7]> z) {\n"
                   "    tensor<fp16, [1, 3, 2, 7]> y = mul(x = x, y = z)[name = string(\"y\")];\n  } -> (y);\n}\n");
    REQUIRE(mw_hwx_emit(graph, NULL, &made, &err) == MW_OK);
    char *bytes = malloc(made.size);
    for (int round = 0; round < ROUNDS; round++) {
        memcpy(bytes, made.data, made.size);
        for (int i = 0; i <= round % 3; i++) {
            number(); /* the next state */
            const size_t at = (state >> 8) % (round % 2 == 0 ? COMMANDS : TASK_SIZE) + (round % 2 == 0 ? 0 : TASK);
            bytes[at] = (char)(state >> 40);
        }
        mw_error why = {0};
        mw_hwx *hwx = mw_hwx_parse(bytes, made.size, NULL, &why);
        if (hwx != NULL)
            run_whatever(hwx, &wrong);
        opened += hwx != NULL;
        mw_hwx_destroy(hwx);
    }
    CHECK_INT(wrong, 0);
    CHECK(opened > ROUNDS / 4);
    free(bytes);
    mw_string_free(made.data);
    mw_graph_destroy(graph);
}

/* ---- memory ---- */

static const char small_program[] = ONE("fp16, [3, 2, 5]", "sigmoid(x = x)");

static void test_running_survives_allocations_that_fail(void)
{
    uint16_t x[30] = {0}, y[30] = {0};
    const mw_chip_buffer buffers[] = {{"x", x, sizeof x}, {"y", y, sizeof y}};
    mw_hwx *hwx = emit(small_program, false);
    bool failed = true;
    long n = 0;
    for (; failed && n < 100; n++) {
        mw_error err = {0};
        failing_allocator failing = {.fail_at = n};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_chip_run_options options = mw_chip_run_defaults();
        options.allocator = &allocator;
        const mw_status status = mw_chip_run(hwx, buffers, 2, &options, &err);
        failed = failing.failed;
        CHECK_INT(failing.live, 0);
        CHECK_INT(status, failed ? MW_ERROR_MEMORY : MW_OK);
    }
    CHECK(n > 5 && n < 100);
    mw_hwx_destroy(hwx);
}

int main(void)
{
    RUN(test_public_sum_runs_by_its_ports);
    RUN(test_buffers_must_be_those_of_the_ports);
    RUN(test_limits_and_profiles_are_held);
    RUN(test_a_ane_runs_like_its_hwx);
    RUN(test_a_closed_file_is_refused);
    RUN(test_relu_of_any_shape);
    RUN(test_sigmoid_of_any_shape);
    RUN(test_two_operands_either_way_round);
    RUN(test_concat_of_channels_either_way_round);
    RUN(test_linear_with_bias_and_relu);
    RUN(test_conv_with_same_padding);
    RUN(test_what_is_no_task_is_refused_by_name);
    RUN(test_a_table_of_several_engines_is_one_kernel);
    RUN(test_options_are_looked_at);
    RUN(test_files_with_bytes_turned_run_or_are_refused);
    RUN(test_running_survives_allocations_that_fail);
    return check_finish();
}
