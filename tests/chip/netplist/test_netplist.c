/* Netplists: what is written is read back as the same operations, and runs with the same bits; files that Python wrote
 * compute what they say. */
#include "netplist_folder.h"
#include "support/check.h"
#include "support/on_engine.h"
#include "support/page.h"

#include <math.h>
#include <millwright/chip_all.h>
#include <millwright/millwright.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES_MAX = 1 << 14 };

/* ---- running ---- */

static mw_program *compile(const mw_graph *graph)
{
    mw_error err = {0};
    mw_program *program = engine_compile(graph, MW_DEVICE_ANE, 1, &err);
    CHECK_OK(err);
    return program;
}

static float value_at(size_t i) { return (float)((double)((i * 2654435761U) >> 8 & 1023) / 256.0 - 2.0); }

static void feed(mw_program *program)
{
    static float values[VALUES_MAX];
    mw_error err = {0};
    mw_port port;
    for (size_t i = 0; mw_program_port_at(program, i, &port); i++) {
        const size_t count = (size_t)mw_shape_count(port.shape);
        if (port.is_output || !CHECK(count <= VALUES_MAX))
            continue;
        for (size_t k = 0; k < count; k++)
            values[k] = value_at(k + 31 * strlen(port.name));
        mw_program_write(program, port.name, MW_F32, values, count, &err);
    }
    mw_program_run(program, &err);
    CHECK_OK(err);
}

/* Outputs of the same name have the same bits, or differ by no more than `tolerance` where units round in between. */
static void compare(mw_program *a, mw_program *b, double tolerance)
{
    static float x[VALUES_MAX], y[VALUES_MAX];
    mw_error err = {0};
    mw_port port;
    size_t outputs = 0;
    for (size_t i = 0; mw_program_port_at(a, i, &port); i++) {
        const size_t count = (size_t)mw_shape_count(port.shape);
        if (!port.is_output)
            continue;
        outputs++;
        mw_program_read(a, port.name, MW_F32, x, count, &err);
        mw_program_read(b, port.name, MW_F32, y, count, &err);
        if (!CHECK_OK(err))
            return;
        bool good = true;
        for (size_t k = 0; k < count; k++)
            good = good && (tolerance == 0 ? memcmp(&x[k], &y[k], sizeof x[k]) == 0
                                           : fabs((double)x[k] - (double)y[k]) <= tolerance * (1 + fabs((double)x[k])));
        check_note(good, __FILE__, __LINE__, "\"%s\" differs: %g and %g, %g and %g", port.name, (double)x[0],
                   (double)y[0], (double)x[count - 1], (double)y[count - 1]);
    }
    CHECK(outputs > 0);
}

/* The graph and what becomes of it on its way through a file. */
static void check_round(mw_graph *graph, bool as_it_is, double tolerance)
{
    mw_error err = {0};
    mw_netplist_options options = mw_netplist_defaults();
    options.as_it_is = as_it_is;
    mw_graph_write_netplist(graph, in_folder("net.plist"), &options, &err);
    mw_graph *read = mw_graph_open_netplist(in_folder("net.plist"), NULL, &err);
    if (!CHECK_OK(err) || read == NULL) {
        mw_graph_destroy(graph);
        return;
    }
    mw_program *a = compile(graph), *b = compile(read);
    if (a != NULL && b != NULL) {
        feed(a);
        feed(b);
        compare(a, b, tolerance);
    }
    mw_program_destroy(a);
    mw_program_destroy(b);
    mw_graph_destroy(read);
    mw_graph_destroy(graph);
}

/* One statement of MIL on inputs, as a graph; `outputs` after it. */
static mw_graph *parse(const char *inputs, const char *body)
{
    char text[4096];
    mw_error err = {0};
    snprintf(text, sizeof text, "program(1.3)\n{\n    func main<ios18>(%s) {\n%s\n    } -> (y);\n}\n", inputs, body);
    mw_graph *graph = mw_graph_parse_mil(text, strlen(text), NULL, NULL, &err);
    check_note(graph != NULL, __FILE__, __LINE__, "%s in %s", err.message, text);
    return graph;
}

typedef struct round_case {
    const char *inputs, *body;
    double tolerance; /* 0: the operations are the same, and so are the bits */
} round_case;

#define X4   "tensor<fp16, [1, 2, 3, 4]> x"
#define XY   "tensor<fp16, [1, 2, 3, 4]> x, tensor<fp16, [1, 2, 3, 4]> z"
#define OUT4 "tensor<fp16, [1, 2, 3, 4]> y = "
#define UNARY(op)                                                                                                      \
    {                                                                                                                  \
        X4, OUT4 op "(x = x)[name = string(\"y\")];", 0                                                                \
    }
#define BINARY(op)                                                                                                     \
    {                                                                                                                  \
        XY, OUT4 op "(x = x, y = z)[name = string(\"y\")];", 0                                                         \
    }
#define COMPARE(op)                                                                                                    \
    {                                                                                                                  \
        XY,                                                                                                            \
            "tensor<bool, [1, 2, 3, 4]> c = " op "(x = x, y = z)[name = string(\"c\")];" OUT4                          \
            "cast(dtype = string(\"fp16\"), x = c)[name = string(\"y\")];",                                            \
            0                                                                                                          \
    }
#define REDUCE(op)                                                                                                     \
    {X4,                                                                                                               \
     "tensor<fp16, [1, 2, 1, 4]> y = " op                                                                              \
     "(axes = tensor<int32, [1]>([2]), keep_dims = bool(true), x = x)[name = string(\"y\")];",                         \
     0},                                                                                                               \
    {                                                                                                                  \
        X4,                                                                                                            \
            "tensor<fp16, [1, 4]> y = " op                                                                             \
            "(axes = tensor<int32, [2]>([1, -2]), keep_dims = bool(false), x = x)[name = string(\"y\")];",             \
            0                                                                                                          \
    }

static const round_case rounds[] = {
    UNARY("relu"),
    UNARY("sigmoid"),
    UNARY("tanh"),
    UNARY("exp2"),
    UNARY("sin"),
    UNARY("cos"),
    UNARY("ceil"),
    UNARY("floor"),
    UNARY("round"),
    UNARY("sign"),
    UNARY("abs"),
    UNARY("identity"),
    UNARY("relu6"),
    {X4, OUT4 "sqrt(x = a)[name = string(\"y\")];", 0},
    {X4, OUT4 "gelu(mode = string(\"EXACT\"), x = x)[name = string(\"y\")];", 0},
    {X4, OUT4 "rsqrt(epsilon = fp16(0x1p+2), x = x)[name = string(\"y\")];", 0x1p-9},
    {X4, OUT4 "elu(alpha = fp16(0x1.8p-1), x = x)[name = string(\"y\")];", 0},
    {X4, OUT4 "leaky_relu(alpha = fp16(0x1p-3), x = x)[name = string(\"y\")];", 0},
    {X4, OUT4 "clip(alpha = fp16(-0x1p+0), beta = fp16(0x1p-1), x = x)[name = string(\"y\")];", 0},
    {X4, OUT4 "linear_activation(alpha = fp16(-0x1.8p+0), beta = fp16(0x1p-2), x = x)[name = string(\"y\")];", 0},
    {X4, OUT4 "add(x = x, y = fp16(0x1.8p+1))[name = string(\"y\")];", 0},
    {X4, OUT4 "sub(x = x, y = fp16(0x1.8p+1))[name = string(\"y\")];", 0},
    {X4, OUT4 "sub(x = fp16(0x1.8p+1), y = x)[name = string(\"y\")];", 0},
    {X4, OUT4 "mul(x = fp16(0x1.4p-3), y = x)[name = string(\"y\")];", 0},
    {X4, OUT4 "square(x = x)[name = string(\"y\")];",
     0x1p-10}, /* a chip squares with another rounding than it multiplies */
    {X4, OUT4 "exp(x = x)[name = string(\"y\")];", 0x1p-7},
    {X4, OUT4 "silu(x = x)[name = string(\"y\")];", 0x1p-9},
    {X4,
     "tensor<fp16, [1, 2, 3, 4]> a = square(x = x)[name = string(\"a\")];" OUT4
     "log(epsilon = fp16(0x1p+0), x = a)[name = string(\"y\")];",
     0x1p-7},
    BINARY("add"),
    BINARY("sub"),
    BINARY("mul"),
    BINARY("minimum"),
    BINARY("maximum"),
    {XY, OUT4 "real_div(x = x, y = z)[name = string(\"y\")];", 0x1p-6},
    {"tensor<fp16, [1, 2, 3, 4]> x, tensor<fp16, [3, 1]> z", OUT4 "add(x = x, y = z)[name = string(\"y\")];", 0},
    {X4, OUT4 "mul(x = x, y = tensor<fp16, [4]>([0x1p+0, 0x1p+1, -0x1p+1, 0x1p-2]))[name = string(\"y\")];", 0},
    COMPARE("greater"),
    COMPARE("less"),
    COMPARE("equal"),
    COMPARE("not_equal"),
    COMPARE("less_equal"),
    COMPARE("greater_equal"),
    {X4, OUT4 "softmax(axis = int32(-1), x = x)[name = string(\"y\")];", 0},
    {X4, OUT4 "softmax(axis = int32(1), x = x)[name = string(\"y\")];", 0},
    REDUCE("reduce_sum"),
    REDUCE("reduce_mean"),
    REDUCE("reduce_max"),
    REDUCE("reduce_min"),
    {X4,
     "tensor<fp16, [4, 1, 3, 2]> y = transpose(perm = tensor<int32, [4]>([3, 0, 2, 1]), x = x)[name = string(\"y\")];",
     0},
    {"tensor<fp16, [5, 7]> x",
     "tensor<fp16, [7, 5]> y = transpose(perm = tensor<int32, [2]>([1, 0]), x = x)[name = string(\"y\")];", 0},
    {X4, "tensor<fp16, [6, 4]> y = reshape(shape = tensor<int32, [2]>([6, 4]), x = x)[name = string(\"y\")];", 0},
    {X4, "tensor<fp16, [2, 3, 4]> y = squeeze(axes = tensor<int32, [1]>([0]), x = x)[name = string(\"y\")];", 0},
    {XY,
     "tensor<fp16, [1, 2, 6, 4]> y = concat(axis = int32(2), interleave = bool(false), values = (x, z))[name = "
     "string(\"y\")];",
     0},
    {X4,
     "tensor<fp16, [1, 1, 2, 4]> y = slice_by_size(begin = tensor<int32, [4]>([0, 1, 1, 0]), size = tensor<int32, "
     "[4]>([1, 1, 2, -1]), x = x)[name = string(\"y\")];",
     0},
    {X4,
     "tensor<fp16, [1, 2, 3]> y = slice_by_index(begin = tensor<int32, [4]>([0, 0, 0, -1]), end = tensor<int32, "
     "[4]>([1, 2, 3, 4]), squeeze_mask = tensor<bool, [4]>([false, false, false, true]), x = x)[name = string(\"y\")];",
     0},
    {"tensor<fp16, [1, 2, 3, 1]> x", OUT4 "tile(reps = tensor<int32, [4]>([1, 1, 1, 4]), x = x)[name = string(\"y\")];",
     0},
    {"tensor<fp16, [1, 3, 5, 6]> x",
     "tensor<fp16, [1, 3, 3, 3]> y = max_pool(ceil_mode = bool(false), kernel_sizes = tensor<int32, [2]>([3, 2]), pad "
     "= tensor<int32, [4]>([1, 1, 0, 0]), pad_type = string(\"custom\"), strides = tensor<int32, [2]>([2, 2]), x = "
     "x)[name = string(\"y\")];",
     0},
    {"tensor<fp16, [1, 3, 5, 6]> x",
     "tensor<fp16, [1, 3, 5, 6]> y = avg_pool(ceil_mode = bool(false), exclude_padding_from_average = bool(true), "
     "kernel_sizes = tensor<int32, [2]>([3, 3]), pad_type = string(\"same\"), strides = tensor<int32, [2]>([1, 1]), x "
     "= x)[name = string(\"y\")];",
     0},
    {"tensor<fp16, [3, 4]> x, tensor<fp16, [4, 5]> z",
     "tensor<fp16, [3, 5]> y = matmul(transpose_x = bool(false), transpose_y = bool(false), x = x, y = z)[name = "
     "string(\"y\")];",
     0},
    {"tensor<fp16, [2, 4, 3]> x, tensor<fp16, [5, 4]> z",
     "tensor<fp16, [2, 3, 5]> y = matmul(transpose_x = bool(true), transpose_y = bool(true), x = x, y = z)[name = "
     "string(\"y\")];",
     0},
    {"tensor<fp16, [1, 4, 3, 3]> x",
     "tensor<fp16, [1, 1, 6, 6]> y = pixel_shuffle(upscale_factor = int32(2), x = x)[name = string(\"y\")];", 0},
    {"tensor<fp16, [1, 1, 4, 4]> x",
     "tensor<fp16, [1, 4, 2, 2]> y = pixel_unshuffle(downscale_factor = uint32(2), x = x)[name = string(\"y\")];", 0},
    {"tensor<fp16, [1, 8, 3, 3]> x",
     "tensor<fp16, [1, 2, 6, 6]> y = depth_to_space(block_size = int32(2), x = x)[name = string(\"y\")];", 0},
    {"tensor<fp16, [1, 2, 4, 4]> x",
     "tensor<fp16, [1, 8, 2, 2]> y = space_to_depth(block_size = int32(2), x = x)[name = string(\"y\")];", 0},
    {"tensor<fp16, [1, 2, 4, 6]> x",
     "tensor<fp16, [6, 2, 2, 2]> y = space_to_batch(block_shape = tensor<int32, [2]>([2, 3]), paddings = tensor<int32, "
     "[2, 2]>([[0, 0], [0, 0]]), x = x)[name = string(\"y\")];",
     0},
    {"tensor<fp16, [6, 2, 2, 2]> x",
     "tensor<fp16, [1, 2, 4, 6]> y = batch_to_space(block_shape = tensor<int32, [2]>([2, 3]), crops = tensor<int32, "
     "[2, 2]>([[0, 0], [0, 0]]), x = x)[name = string(\"y\")];",
     0},
    {"tensor<fp16, [1, 2, 5, 4]> q, tensor<fp16, [1, 2, 6, 4]> k, tensor<fp16, [1, 2, 6, 4]> v",
     "tensor<fp16, [1, 2, 5, 4]> y = scaled_dot_product_attention(key = k, query = q, value = v)[name = "
     "string(\"y\")];",
     0},
    {"tensor<fp16, [1, 2, 5, 4]> q, tensor<fp16, [1, 2, 6, 4]> k, tensor<fp16, [1, 2, 6, 4]> v, tensor<fp16, [1, 1, 5, "
     "6]> m",
     "tensor<fp16, [1, 2, 5, 4]> y = scaled_dot_product_attention(attn_mask = m, key = k, query = q, value = v)[name = "
     "string(\"y\")];",
     0},
    {X4,
     "tensor<fp16, [1, 2, 2, 4]> y = gather(axis = int32(2), batch_dims = int32(0), indices = tensor<int32, [2]>([2, "
     "0]), validate_indices = bool(false), x = x)[name = string(\"y\")];",
     0},
    {X4,
     "tensor<int32, [1, 2, 3, 1]> i = reduce_argmax(axis = int32(3), keep_dims = bool(true), x = x)[name = "
     "string(\"i\")]; tensor<fp16, [1, 2, 3, 1]> y = cast(dtype = string(\"fp16\"), x = i)[name = string(\"y\")];",
     0},
    {"tensor<fp16, [1, 1, 1, 9]> x",
     "tensor<int32, [1, 1, 1, 9]> i = argsort(ascending = bool(true), axis = int32(-1), x = x)[name = string(\"i\")]; "
     "tensor<fp16, [1, 1, 1, 9]> y = cast(dtype = string(\"fp16\"), x = i)[name = string(\"y\")];",
     0},
    {"tensor<fp16, [1, 3, 2, 2]> x",
     "tensor<fp16, [1, 3, 2, 2]> y = local_response_norm(alpha = fp16(0x1p+0), beta = fp16(0x1.8p-1), k = "
     "fp16(0x1p+0), size = int32(5), x = x)[name = string(\"y\")];",
     0x1p-8},
    {"tensor<fp16, [1, 2, 3, 4, 5]> x",
     "tensor<fp16, [1, 2, 1, 4, 5]> y = reduce_max(axes = tensor<int32, [1]>([2]), keep_dims = bool(true), x = x)[name "
     "= string(\"y\")];",
     0},
};

static void test_operations_come_back_with_the_same_bits(void)
{
    for (size_t i = 0; i < sizeof rounds / sizeof *rounds; i++) {
        char body[1024];
        const bool root = strstr(rounds[i].body, "sqrt(x = a)") != NULL;
        snprintf(body, sizeof body, "%s%s",
                 root ? "tensor<fp16, [1, 2, 3, 4]> a = abs(x = x)[name = string(\"a\")];" : "", rounds[i].body);
        const int before = check_global.failures_here;
        mw_graph *graph = parse(rounds[i].inputs, body);
        if (graph != NULL)
            check_round(graph, true, rounds[i].tolerance);
        if (check_global.failures_here > before)
            printf("  in: %s\n", rounds[i].body);
    }
}

/* ---- whole networks ---- */

static mw_tensor *random_constant(mw_graph *graph, mw_shape shape)
{
    static float values[VALUES_MAX];
    const size_t count = (size_t)mw_shape_count(shape);
    for (size_t i = 0; i < count && i < VALUES_MAX; i++)
        values[i] = value_at(7 * i + 3) / 8;
    return mw_constant(graph, MW_F32, shape, values);
}

static void test_networks_in_fp32_are_written_as_mw_compile_does(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(4, 12));
    mw_tensor *h = mw_relu(mw_matmul(x, random_constant(graph, MW_SHAPE(12, 16)), 0));
    h = mw_add(mw_matmul(h, random_constant(graph, MW_SHAPE(16, 5)), 0), random_constant(graph, MW_SHAPE(5)));
    mw_output(mw_softmax(h, -1), "p");
    check_round(graph, false, 0);
}

static void test_convolutions_keep_weights_groups_and_pads(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(1, 4, 6, 7));
    mw_conv_options options = mw_conv_defaults();
    options.groups = 2;
    options.pad_type = MW_PAD_SAME;
    mw_tensor *bias = random_constant(graph, MW_SHAPE(6));
    mw_tensor *y = mw_conv(x, random_constant(graph, MW_SHAPE(6, 2, 3, 2)), bias, &options);
    mw_pool_options two = mw_pool_defaults(MW_SHAPE(2, 2));
    mw_output(mw_max_pool(mw_relu(y), &two), "y");
    check_round(graph, false, 0);
}

static void test_parameters_are_inputs_or_baked(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F16, MW_SHAPE(2, 3));
    mw_tensor *w = mw_parameter(graph, "fc.weight", MW_F16, MW_SHAPE(3, 4), mw_init_constant(0.5F));
    mw_output(mw_matmul(x, w, 0), "y");
    mw_graph_write_netplist(graph, in_folder("net.plist"), NULL, &err);
    mw_graph *read = mw_graph_open_netplist(in_folder("net.plist"), NULL, &err);
    CHECK_OK(err);
    CHECK(mw_graph_find(read, "fc.weight") != NULL);
    mw_graph_destroy(read);
    mw_graph_destroy(graph);
}

static const void *bake_ones(void *user, const char *name)
{
    static const float ones[] = {1, 1, 1, 1, 1, 1};
    return strcmp(name, user) == 0 ? ones : NULL;
}

static void test_baked_parameters_are_constants(void)
{
    mw_error err = {0};
    char name[] = "w";
    mw_netplist_options options = mw_netplist_defaults();
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(2, 3));
    mw_output(mw_matmul(x, mw_parameter(graph, name, MW_F32, MW_SHAPE(3, 2), mw_init_zeros()), 0), "y");
    options.bake = bake_ones;
    options.bake_user = name;
    mw_graph_write_netplist(graph, in_folder("net.plist"), &options, &err);
    mw_graph *read = mw_graph_open_netplist(in_folder("net.plist"), NULL, &err);
    CHECK_OK(err);
    CHECK(read != NULL && mw_graph_find(read, "w") == NULL);
    mw_program *program = compile(read);
    const float x_values[] = {1, 2, 3, 4, 5, 6};
    float y[4] = {0};
    mw_program_write(program, "x", MW_F32, x_values, 6, &err);
    mw_program_run(program, &err);
    mw_program_read(program, "y", MW_F32, y, 4, &err);
    CHECK_OK(err);
    CHECK(y[0] == 6 && y[1] == 6 && y[2] == 15 && y[3] == 15);
    mw_program_destroy(program);
    mw_graph_destroy(read);
    char other[] = "v";
    options.bake_user = other;
    CHECK(mw_graph_write_netplist(graph, in_folder("net.plist"), &options, &err) != MW_OK);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "parameter \"w\" has no value");
    mw_graph_destroy(graph);
}

static void test_functions_are_procedures(void)
{
    static const char text[] =
        "program(1.3)\n{\n    func main<ios18>(tensor<fp16, [4]> x) { tensor<fp16, [4]> y = relu(x = x)[name = "
        "string(\"y\")]; } -> (y);\n    func decode<ios18>(tensor<fp16, [2, 4]> x) { tensor<fp16, [2, 4]> y = "
        "tanh(x = x)[name = string(\"y\")]; } -> (y);\n}\n";
    mw_error err = {0};
    mw_graph *graph = mw_graph_parse_mil(text, strlen(text), NULL, NULL, &err);
    mw_graph_write_netplist(graph, in_folder("net.plist"), NULL, &err);
    mw_graph *read = mw_graph_open_netplist(in_folder("net.plist"), NULL, &err);
    CHECK_OK(err);
    REQUIRE(read != NULL);
    CHECK(mw_graph_function_at(read, 1) != NULL && mw_graph_function_at(read, 2) == NULL);
    CHECK_STR(mw_graph_function_at(read, 0), "main");
    CHECK_STR(mw_graph_function_at(read, 1), "decode");
    mw_graph *decode = mw_graph_function(read, "decode", &err);
    CHECK(mw_shape_count(mw_tensor_shape(mw_graph_find(decode, "x"))) == 8);
    mw_graph_destroy(decode);
    mw_graph_destroy(read);
    mw_graph_destroy(graph);
}

static void test_same_graph_gives_the_same_bytes(void)
{
    mw_error err = {0};
    mw_graph *graph = parse(rounds[0].inputs, rounds[0].body);
    mw_graph_write_netplist(graph, in_folder("net.plist"), NULL, &err);
    char *first = page_read(in_folder("net.plist"));
    mw_graph_write_netplist(graph, in_folder("net.plist"), NULL, &err);
    char *second = page_read(in_folder("net.plist"));
    CHECK_OK(err);
    REQUIRE(first != NULL && second != NULL);
    CHECK(strcmp(first, second) == 0);
    CHECK_CONTAINS(first, "<string>1.0.10</string>");
    CHECK_CONTAINS(first, "<key>ProcedureList</key>");
    CHECK_CONTAINS(first, "<string>ReLU</string>");
    free(first);
    free(second);
    mw_graph_destroy(graph);
}

/* ---- files of Python's plistlib ---- */

static mw_program *open_file(const char *name)
{
    char path[1024];
    mw_error err = {0};
    snprintf(path, sizeof path, "%s/data/netplist/%s.plist", MW_TESTS_DIR, name);
    mw_graph *graph = mw_graph_open_netplist(path, NULL, &err);
    check_note(graph != NULL, __FILE__, __LINE__, "%s: %s", name, err.message);
    mw_program *program = graph != NULL ? compile(graph) : NULL;
    mw_graph_destroy(graph);
    return program;
}

static void write_port(mw_program *program, const char *port, const float *values, size_t count)
{
    mw_error err = {0};
    mw_program_write(program, port, MW_F32, values, count, &err);
    CHECK_OK(err);
}

static void run(mw_program *program, float *out, size_t count)
{
    mw_error err = {0};
    mw_program_run(program, &err);
    mw_program_read(program, "y", MW_F32, out, count, &err);
    CHECK_OK(err);
}

static void test_softsign_of_python_computes(void)
{
    const float x[] = {-3, -0.5F, 0, 1};
    float y[4] = {0};
    mw_program *program = open_file("softsign");
    REQUIRE(program != NULL);
    write_port(program, "x", x, 4);
    run(program, y, 4);
    for (int i = 0; i < 4; i++)
        CHECK_NEAR(y[i], (double)x[i] / (1 + fabs((double)x[i])), 0x1p-9);
    mw_program_destroy(program);
}

static void test_matmul_of_python_computes(void)
{
    const float a[] = {1, 2, 3, 4, 5, 6}, x[] = {1, -1, 2, 0.5F, 3, 1};
    float y[4] = {0};
    mw_program *program = open_file("matmul");
    REQUIRE(program != NULL);
    write_port(program, "a", a, 6);
    write_port(program, "x", x, 6);
    run(program, y, 4);
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++) {
            double sum = 0;
            for (int j = 0; j < 3; j++)
                sum += (double)a[3 * i + j] * (double)x[2 * j + k];
            CHECK_NEAR(y[2 * i + k], sum, 0);
        }
    mw_program_destroy(program);
}

static void test_convolution_of_python_computes(void)
{
    const float x[] = {1, 2, -1, 0.5F, 3, -2, 0, 1};
    float y[12] = {0};
    mw_program *program = open_file("conv");
    REQUIRE(program != NULL);
    write_port(program, "x", x, 8);
    run(program, y, 12);
    for (int o = 0; o < 3; o++)
        for (int at = 0; at < 4; at++) {
            double sum = 0;
            for (int c = 0; c < 2; c++)
                for (int k = 0; k < 2; k++)
                    if (at + k - 1 >= 0)
                        sum += (0.5 * (o * 4 + c * 2 + k) - 2) * (double)x[4 * c + at + k - 1];
            CHECK_NEAR(y[4 * o + at], fmin(fmax(2 * sum + 1, 0), 6), 0x1p-8);
        }
    mw_program_destroy(program);
}

/* softmax(0.25 q k^T + mask) v: sequences in the channels, heads in the height. */
static void test_attention_of_python_computes(void)
{
    float q[24], k[24], v[24], mask[9], y[24] = {0};
    mw_program *program = open_file("sdpa");
    REQUIRE(program != NULL);
    for (int i = 0; i < 24; i++) {
        q[i] = value_at((size_t)i);
        k[i] = value_at((size_t)i + 100);
        v[i] = value_at((size_t)i + 200);
        mask[i % 9] = i % 3 > i % 9 / 3 ? -8 : 0;
    }
    write_port(program, "q", q, 24);
    write_port(program, "k", k, 24);
    write_port(program, "v", v, 24);
    write_port(program, "mask", mask, 9);
    run(program, y, 24);
    for (int s = 0; s < 3; s++)
        for (int h = 0; h < 2; h++)
            for (int d = 0; d < 4; d++) {
                double weights[3], total = 0, sum = 0;
                for (int t = 0; t < 3; t++) {
                    double product = 0;
                    for (int e = 0; e < 4; e++)
                        product += (double)q[8 * s + 4 * h + e] * (double)k[8 * t + 4 * h + e];
                    weights[t] = exp(0.25 * product + (double)mask[3 * s + t]);
                    total += weights[t];
                }
                for (int t = 0; t < 3; t++)
                    sum += weights[t] / total * (double)v[8 * t + 4 * h + d];
                CHECK_NEAR(y[8 * s + 4 * h + d], sum, 0x1p-6);
            }
    mw_program_destroy(program);
}

static void test_older_version_computes(void)
{
    const float x[] = {1, -2, 4};
    float y[2] = {0};
    mw_error err = {0};
    mw_program *program = open_file("older");
    REQUIRE(program != NULL);
    write_port(program, "image", x, 3);
    mw_program_run(program, &err);
    mw_program_read(program, "probs@output", MW_F32, y, 2, &err);
    CHECK_OK(err);
    CHECK_NEAR(y[0], 1 - 4 + 12 + 0.5, 0);
    CHECK_NEAR(y[1], -1 - 1 + 1 - 2, 0);
    mw_program_destroy(program);
}

static void test_procedures_of_python_are_functions(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_open_netplist(MW_TESTS_DIR "/data/netplist/two.plist", NULL, &err);
    CHECK_OK(err);
    REQUIRE(graph != NULL);
    CHECK(mw_graph_function_at(graph, 1) != NULL && mw_graph_function_at(graph, 2) == NULL);
    CHECK_STR(mw_graph_function_at(graph, 1), "again");
    mw_graph *again = mw_graph_function(graph, "again", &err);
    mw_program *program = compile(again);
    const float x[] = {1, -2, 3, -4};
    float y[4] = {0};
    write_port(program, "x", x, 4);
    run(program, y, 4);
    CHECK(y[0] == 1 && y[1] == 4 && y[2] == 9 && y[3] == 16);
    mw_program_destroy(program);
    mw_graph_destroy(again);
    mw_graph_destroy(graph);
}

int main(void)
{
    if (!netplist_folder_make())
        return 1;
    RUN(test_operations_come_back_with_the_same_bits);
    RUN(test_networks_in_fp32_are_written_as_mw_compile_does);
    RUN(test_convolutions_keep_weights_groups_and_pads);
    RUN(test_parameters_are_inputs_or_baked);
    RUN(test_baked_parameters_are_constants);
    RUN(test_functions_are_procedures);
    RUN(test_same_graph_gives_the_same_bytes);
    RUN(test_softsign_of_python_computes);
    RUN(test_matmul_of_python_computes);
    RUN(test_convolution_of_python_computes);
    RUN(test_attention_of_python_computes);
    RUN(test_older_version_computes);
    RUN(test_procedures_of_python_are_functions);
    netplist_folder_remove();
    return check_finish();
}
