/* Choosing weights of a program: what is listed, what is refused and how, what the copy holds, and that no failed
 * allocation does harm. What training makes of it is tested in tests/runtime. */
#include "graph/ir/ir.h"
#include "support/check.h"
#include "support/failing.h"

#include <millwright/millwright.h>

enum { MAX_REQUESTS = 20000 };

/* Everything that can stand in the way, and things that do not. */
static const char text[] =
    "program(1.3)\n"
    "{\n"
    "    func main<ios18>(tensor<fp32, [1, 4]> x, tensor<fp32, [?, 3]> y) {\n"
    "            tensor<fp32, [3, 4]> fc_weight = const()[name = string(\"fc_weight\"), val = tensor<fp32, [3, "
    "4]>(0x1p-1)];\n"
    "            tensor<fp32, [3]> fc_bias = const()[name = string(\"fc_bias\"), val = tensor<fp32, [3]>([0x1p+0, "
    "0x1p+1, 0x1p+2])];\n"
    "            tensor<fp32, [1, 3]> h = linear(bias = fc_bias, weight = fc_weight, x = x)[name = string(\"h\")];\n"
    "            fp32 slope = const()[name = string(\"slope\"), val = fp32(0x1p-3)];\n"
    "            tensor<fp32, [1, 3]> l = leaky_relu(alpha = slope, x = h)[name = string(\"l\")];\n"
    "            tensor<fp32, [3]> gamma = const()[name = string(\"gamma\"), val = tensor<fp32, [3]>([0x1p+0, 0x1p+0, "
    "0x1p+0])];\n"
    "            tensor<int32, [1]> axes = const()[name = string(\"axes\"), val = tensor<int32, [1]>([1])];\n"
    "            fp32 epsilon = const()[name = string(\"epsilon\"), val = fp32(0x1p-10)];\n"
    "            tensor<fp32, [1, 3]> n = layer_norm(axes = axes, epsilon = epsilon, gamma = gamma, x = l)[name = "
    "string(\"n\")];\n"
    "            tensor<fp32, [1, 3]> packed = constexpr_affine_dequantize()[axis = int32(0), name = "
    "string(\"packed\"), "
    "quantized_data = tensor<int8, [1, 3]>([[1, 2, 3]]), scale = fp32(0x1p-1), zero_point = int8(-1)];\n"
    "            tensor<fp32, [1, 3]> p = add(x = n, y = packed)[name = string(\"p\")];\n"
    "            tensor<fp32, [3]> odd = const()[name = string(\"odd\"), val = tensor<fp32, [3]>([0x1p+0, 0x1p+0, "
    "0x1p+0])];\n"
    "            tensor<fp32, [1, 3]> q = unheard_of(w = odd, x = p)[name = string(\"q\")];\n"
    "            tensor<fp32, [5, 3, 2]> cube = const()[name = string(\"cube\"), val = tensor<fp32, [5, 3, "
    "2]>(0x1p+0)];\n"
    "            bool no = const()[name = string(\"no\"), val = bool(false)];\n"
    "            tensor<fp32, [5, 1, 2]> c = matmul(transpose_x = no, transpose_y = no, x = p, y = cube)[name = "
    "string(\"c\")];\n"
    "            tensor<fp32, [?, 3]> z = relu(x = y)[name = string(\"z\")];\n"
    "        } -> (q, c, z);\n"
    "}\n";

/* The same without what no operation of the table can use. */
static const char plain[] =
    "program(1.3)\n"
    "{\n"
    "    func main<ios18>(tensor<fp32, [1, 4]> x, tensor<fp32, [?, 3]> y) {\n"
    "            tensor<fp32, [3, 4]> fc_weight = const()[name = string(\"fc_weight\"), val = tensor<fp32, [3, "
    "4]>(0x1p-1)];\n"
    "            tensor<fp32, [3]> fc_bias = const()[name = string(\"fc_bias\"), val = tensor<fp32, [3]>([0x1p+0, "
    "0x1p+1, 0x1p+2])];\n"
    "            tensor<fp32, [1, 3]> h = linear(bias = fc_bias, weight = fc_weight, x = x)[name = string(\"h\")];\n"
    "            tensor<int32, [3]> shape = const()[name = string(\"shape\"), val = tensor<int32, [3]>([1, 3, 1])];\n"
    "            tensor<fp32, [1, 3, 1]> r = reshape(shape = shape, x = h)[name = string(\"r\")];\n"
    "            tensor<fp32, [?, 3]> z = relu(x = y)[name = string(\"z\")];\n"
    "        } -> (r, z);\n"
    "}\n";

static mw_graph *parse(const char *program, mw_error *err)
{
    return mw_graph_parse_mil(program, strlen(program), NULL, NULL, err);
}

static const mw_weight *find(const mw_weight *weights, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(weights[i].name, name) == 0)
            return &weights[i];
    return NULL;
}

/* ---- the list ---- */

static void test_weights_are_listed_with_their_obstacles(void)
{
    static const struct {
        const char *name, *operation, *argument, *obstacle;
    } wanted[] = {
        {.name = "fc_weight", .operation = "linear", .argument = "weight"},
        {.name = "fc_bias", .operation = "linear", .argument = "bias"},
        {.name = "slope", .operation = "leaky_relu", .argument = "alpha", .obstacle = "nothing but a constant"},
        {.name = "gamma", .operation = "layer_norm", .argument = "gamma"},
        {.name = "epsilon", .operation = "layer_norm", .argument = "epsilon", .obstacle = "nothing but a constant"},
        {.name = "packed", .operation = "add", .argument = "y"},
        {.name = "odd", .operation = "unheard_of", .argument = "w", .obstacle = "not in the table"},
        {.name = "cube", .operation = "matmul", .argument = "y"}};
    mw_error err = {0};
    mw_weight weights[16];
    size_t count = 0;
    mw_graph *graph = parse(text, &err);
    REQUIRE(mw_graph_weights(graph, weights, 16, &count, &err) == MW_OK);
    REQUIRE(CHECK_INT(count, sizeof wanted / sizeof *wanted));
    CHECK_STR(weights[0].name, "cube");
    CHECK_STR(weights[1].name, "fc_weight");
    CHECK_INT(weights[1].size, 48);
    CHECK_INT(weights[count - 1].size, 4);
    for (size_t i = 0; i < count; i++) {
        const mw_weight *weight = find(weights, count, wanted[i].name);
        REQUIRE(weight != NULL);
        CHECK_STR(weight->operation, wanted[i].operation);
        CHECK_STR(weight->argument, wanted[i].argument);
        CHECK((weight->obstacle != NULL) == (wanted[i].obstacle != NULL));
        if (weight->obstacle != NULL && wanted[i].obstacle != NULL)
            CHECK_CONTAINS(weight->obstacle, wanted[i].obstacle);
    }
    size_t again = 0;
    mw_weight largest;
    CHECK_INT(mw_graph_weights(graph, &largest, 1, &again, &err), MW_OK);
    CHECK_INT(again, count);
    CHECK_STR(largest.name, "cube");
    mw_graph_destroy(graph);
}

static void test_ports_are_found_by_index(void)
{
    mw_error err = {0};
    mw_graph *graph = parse(text, &err);
    CHECK_STR(mw_tensor_name(mw_graph_input_at(graph, 0)), "x");
    CHECK_STR(mw_tensor_name(mw_graph_input_at(graph, 1)), "y");
    CHECK(mw_graph_input_at(graph, 2) == NULL);
    CHECK_STR(mw_tensor_name(mw_graph_output_at(graph, 1)), "c");
    CHECK(mw_graph_output_at(graph, 3) == NULL);
    mw_graph_destroy(graph);
    graph = mw_graph_create(NULL, NULL);
    mw_parameter(graph, "w", MW_F32, MW_SHAPE(2), mw_init_zeros());
    mw_input(graph, "in", MW_F32, MW_SHAPE(2));
    CHECK_STR(mw_tensor_name(mw_graph_input_at(graph, 0)), "in");
    CHECK(mw_graph_input_at(graph, 1) == NULL);
    mw_graph_destroy(graph);
}

/* ---- the copy ---- */

static void test_constants_become_parameters_with_their_values(void)
{
    static const char *const patterns[] = {"fc_*"};
    mw_error err = {0};
    mw_graph *source = parse(plain, &err);
    const mw_tune_options options = mw_tune_defaults(patterns, 1);
    mw_graph *graph = mw_graph_trainable(source, &options, &err);
    REQUIRE(CHECK_OK(err));
    const mw_tensor *weight = mw_graph_find(graph, "fc_weight"), *bias = mw_graph_find(graph, "fc_bias");
    REQUIRE(weight != NULL && bias != NULL);
    CHECK_INT(weight->role, MW__PARAMETER);
    for (int i = 0; i < 12; i++)
        CHECK_NEAR(((const float *)weight->init->data)[i], 0.5, 0.0); /* one element stood for all */
    CHECK_NEAR(((const float *)bias->init->data)[2], 4.0, 0.0);
    const mw_tensor *h = mw_graph_find(graph, "h");
    REQUIRE(h != NULL && h->op != NULL);
    CHECK_STR(h->op->kind, "add"); /* linear = matmul and add */
    CHECK(mw_graph_find(source, "h")->op->row->id == MW__OP_linear);
    mw_graph_destroy(graph);
    mw_graph_destroy(source);
}

/* A flexible input gets extents; a reshape that keeps axis 0 follows the batch. */
static void test_inputs_get_the_shapes_asked_for(void)
{
    static const char *const patterns[] = {"fc_weight"};
    const mw_input_shape shapes[] = {{"x", MW_SHAPE(7, 4)}, {"y", MW_SHAPE(5, 3)}};
    mw_error err = {0};
    mw_graph *source = parse(plain, &err);
    mw_tune_options options = mw_tune_defaults(patterns, 1);
    options.shapes = shapes;
    options.shape_count = 2;
    mw_graph *graph = mw_graph_trainable(source, &options, &err);
    REQUIRE(CHECK_OK(err));
    CHECK(mw_shape_equal(mw_tensor_shape(mw_graph_output_at(graph, 0)), MW_SHAPE(7, 3, 1)));
    CHECK(mw_shape_equal(mw_tensor_shape(mw_graph_output_at(graph, 1)), MW_SHAPE(5, 3)));
    mw_graph_destroy(graph);
    mw_graph_destroy(source);
}

/* One of two inputs of a first extent of 1 has no examples. */
static void test_an_input_that_is_not_named_keeps_its_shape(void)
{
    static const char *const patterns[] = {"w"};
    static const char *const source_text =
        "program(1.3){func main<ios18>(tensor<fp32, [1, 4]> x, tensor<fp32, [1, 4]> table){"
        "tensor<fp32, [4]> w = const()[name = string(\"w\"), val = tensor<fp32, [4]>([1, 2, 3, 4])];"
        "tensor<fp32, [1, 4]> a = mul(x = table, y = w)[name = string(\"a\")];"
        "tensor<fp32, [1, 4]> z = add(x = x, y = a)[name = string(\"z\")];} -> (z);}";
    const mw_input_shape wide = {"x", MW_SHAPE(7, 4)};
    mw_error err = {0};
    mw_graph *source = parse(source_text, &err);
    mw_tune_options options = mw_tune_defaults(patterns, 1);
    options.shapes = &wide;
    options.shape_count = 1;
    mw_graph *graph = mw_graph_trainable(source, &options, &err);
    REQUIRE(CHECK_OK(err));
    CHECK(mw_shape_equal(mw_tensor_shape(mw_graph_output_at(graph, 0)), MW_SHAPE(7, 4)));
    CHECK(mw_shape_equal(mw_tensor_shape(mw_graph_find(graph, "table")), MW_SHAPE(1, 4)));
    mw_graph_destroy(graph);
    mw_graph_destroy(source);
}

/* Rows that are picked by constant numbers are as many in any batch: examples would be left out without a word. */
static const struct {
    const char *what, *picked; /* an operation of x [4, 3, 5], named p */
} pickings[] = {
    {"slice_by_size", "tensor<fp32, [2, 3, 5]> p = slice_by_size(begin = tensor<int32, [3]>([2, 0, 0]), size = "
                      "tensor<int32, [3]>([2, -1, -1]), x = x)[name = string(\"p\")];"},
    {"slice_by_index", "tensor<fp32, [2, 3, 5]> p = slice_by_index(begin = tensor<int32, [3]>([0, 0, 0]), end = "
                       "tensor<int32, [3]>([2, 0, 0]), end_mask = tensor<bool, [3]>([false, true, true]), x = x)"
                       "[name = string(\"p\")];"},
    {"slice_by_index", "tensor<fp32, [3, 5]> p = slice_by_index(begin = tensor<int32, [3]>([-1, 0, 0]), end = "
                       "tensor<int32, [3]>([0, 0, 0]), end_mask = tensor<bool, [3]>([true, true, true]), squeeze_mask "
                       "= tensor<bool, [3]>([true, false, false]), x = x)[name = string(\"p\")];"},
    {"slice_update", "tensor<fp32, [2, 1, 5]> u = const()[val = tensor<fp32, [2, 1, 5]>(1)];"
                     "tensor<fp32, [4, 3, 5]> p = slice_update(begin = tensor<int32, [3]>([0, 1, 0]), end = "
                     "tensor<int32, [3]>([2, 2, 0]), end_mask = tensor<bool, [3]>([false, false, true]), update = u, "
                     "x = x)[name = string(\"p\")];"},
    {"gather", "tensor<fp32, [4, 3, 5]> p = gather(axis = int32(0), batch_dims = int32(0), indices = "
               "tensor<int32, [4]>([3, 2, 1, 0]), validate_indices = bool(false), x = x)[name = string(\"p\")];"},
    {"gather_along_axis", "tensor<int32, [2, 3, 5]> i = const()[val = tensor<int32, [2, 3, 5]>(1)];"
                          "tensor<fp32, [2, 3, 5]> p = gather_along_axis(axis = int32(0), indices = i, "
                          "validate_indices = bool(false), x = x)[name = string(\"p\")];"},
    {"gather_nd", "tensor<fp32, [2, 5]> p = gather_nd(batch_dims = int32(0), indices = tensor<int32, [2, 2]>([[0, 1], "
                  "[3, 2]]), validate_indices = bool(false), x = x)[name = string(\"p\")];"},
    {"scatter",
     "tensor<fp32, [1, 3, 5]> u = const()[val = tensor<fp32, [1, 3, 5]>(1)];"
     "tensor<fp32, [4, 3, 5]> p = scatter(axis = int32(0), data = x, indices = tensor<int32, [1]>([3]), mode "
     "= string(\"add\"), updates = u, validate_indices = bool(false))[name = string(\"p\")];"},
    {"scatter_nd", "tensor<fp32, [1, 5]> u = const()[val = tensor<fp32, [1, 5]>(1)];"
                   "tensor<fp32, [4, 3, 5]> p = scatter_nd(data = x, indices = tensor<int32, [1, 2]>([[3, 0]]), mode = "
                   "string(\"add\"), updates = u, validate_indices = bool(false))[name = string(\"p\")];"},
};

static mw_graph *picking(const char *picked, mw_error *err)
{
    char program[2000];
    snprintf(program, sizeof program,
             "program(1.3){func main<ios18>(tensor<fp32, [4, 3, 5]> x, tensor<fp32, [1, 1]> other){"
             "tensor<fp32, [5]> w = const()[name = string(\"w\"), val = tensor<fp32, [5]>([1, 2, 3, 4, 5])];%s"
             "tensor<fp32, []> l = reduce_sum(keep_dims = bool(false), x = p)"
             "[name = string(\"l\")];tensor<fp32, [5]> h = mul(x = w, y = l)[name = string(\"h\")];"
             "tensor<fp32, [1, 5]> z = add(x = h, y = other)[name = string(\"z\")];} -> (z);}",
             picked);
    return parse(program, err);
}

/* x alone, with the other input, or with a further extent. */
static mw_graph *tune_more(const mw_graph *source, int how, mw_error *err)
{
    static const char *const patterns[] = {"w"};
    const mw_input_shape shapes[] = {{"x", how == 2 ? MW_SHAPE(12, 3, 5) : MW_SHAPE(12, 4, 5)},
                                     {"other", MW_SHAPE(1, 1)}};
    mw_tune_options tune = mw_tune_defaults(patterns, 1);
    tune.shapes = shapes;
    tune.shape_count = how == 0 ? 1 : 2;
    return mw_graph_trainable(source, &tune, err);
}

static void test_rows_picked_by_constants_are_refused_in_another_batch(void)
{
    for (size_t i = 0; i < sizeof pickings / sizeof *pickings; i++)
        for (int how = 0; how < 3; how++) {
            mw_error err = {0};
            mw_graph *source = picking(pickings[i].picked, &err);
            REQUIRE(CHECK_OK(err));
            mw_graph *graph = tune_more(source, how, &err);
            check_note(graph == NULL && strstr(err.message, pickings[i].what) != NULL, __FILE__, __LINE__,
                       "%s, %d: \"%s\"", pickings[i].what, how, err.message);
            mw_graph_destroy(graph);
            mw_graph_destroy(source);
        }
}

/* All but the first example, every second one, the last words of each: those follow. */
static void test_rows_picked_relative_to_the_batch_follow(void)
{
    static const char *const follows[] = {
        "tensor<fp32, [3, 3, 5]> p = slice_by_index(begin = tensor<int32, [3]>([1, 0, 0]), end = tensor<int32, "
        "[3]>([0, 0, 0]), end_mask = tensor<bool, [3]>([true, true, true]), x = x)[name = string(\"p\")];",
        "tensor<fp32, [3, 3, 5]> p = slice_by_size(begin = tensor<int32, [3]>([1, 0, 0]), size = tensor<int32, "
        "[3]>([-1, -1, -1]), x = x)[name = string(\"p\")];",
        "tensor<fp32, [2, 3, 5]> p = slice_by_index(begin = tensor<int32, [3]>([0, 0, 0]), end = tensor<int32, "
        "[3]>([0, 0, 0]), end_mask = tensor<bool, [3]>([true, true, true]), stride = tensor<int32, [3]>([2, 1, 1]), x "
        "= x)[name = string(\"p\")];",
        "tensor<fp32, [4, 3, 2]> p = slice_by_size(begin = tensor<int32, [3]>([0, 0, 3]), size = tensor<int32, "
        "[3]>([-1, -1, 2]), x = x)[name = string(\"p\")];",
        "tensor<fp32, [4, 3, 2]> p = gather(axis = int32(2), batch_dims = int32(0), indices = tensor<int32, [2]>([3, "
        "2]), validate_indices = bool(false), x = x)[name = string(\"p\")];"};
    for (size_t i = 0; i < sizeof follows / sizeof *follows; i++) {
        mw_error err = {0};
        mw_graph *source = picking(follows[i], &err), *graph = tune_more(source, 1, &err);
        check_note(graph != NULL, __FILE__, __LINE__, "%zu: \"%s\"", i, err.message);
        mw_graph_destroy(graph);
        mw_graph_destroy(source);
    }
}

static void test_skip_fixed_leaves_out_what_cannot_be_trained(void)
{
    static const char *const patterns[] = {"*"};
    mw_error err = {0};
    mw_graph *source = parse(text, &err);
    mw_tune_options options = mw_tune_defaults(patterns, 1);
    options.skip_fixed = true;
    mw_graph *graph = mw_graph_trainable(source, &options, &err);
    REQUIRE(CHECK_OK(err));
    CHECK_INT(mw_graph_find(graph, "gamma")->role, MW__PARAMETER);
    CHECK_INT(mw_graph_find(graph, "cube")->role, MW__PARAMETER);
    CHECK(mw_graph_find(graph, "slope")->payload != NULL);
    CHECK(mw_graph_find(graph, "epsilon")->payload != NULL);
    CHECK(mw_graph_find(graph, "odd")->payload != NULL);
    mw_graph_destroy(graph);
    mw_lora_options lora = mw_lora_defaults(patterns, 1);
    lora.skip_fixed = true;
    graph = mw_graph_lora(source, &lora, &err);
    REQUIRE(CHECK_OK(err));
    CHECK(mw_graph_find(graph, "fc.lora_A.weight") != NULL);
    CHECK(mw_graph_find(graph, "cube.lora_A.weight") == NULL);
    mw_graph_destroy(graph);
    mw_graph_destroy(source);
}

/* Names as coremltools makes them are brought back to those of PyTorch. */
static void test_adapters_are_named_after_the_module(void)
{
    static const char *const names[][2] = {{"a.weight", "a.lora_A.weight"},
                                           {"b_weight", "b.lora_A.weight"},
                                           {"c_weight_to_fp16", "c.lora_A.weight"},
                                           {"d_to_fp16", "d.lora_A.weight"},
                                           {"e", "e.lora_A.weight"}};
    static const char *const patterns[] = {"*"};
    const float values[4] = {1, 2, 3, 4};
    for (int i = 0; i < 5; i++) {
        mw_error err = {0};
        mw_graph *source = mw_graph_create(NULL, NULL);
        mw_tensor *x = mw_input(source, "x", MW_F32, MW_SHAPE(1, 2));
        mw_tensor *w = mw_name(mw_constant(source, MW_F32, MW_SHAPE(2, 2), values), names[i][0]);
        mw_output(mw_linear(x, w, NULL), "y");
        const mw_lora_options options = mw_lora_defaults(patterns, 1);
        mw_graph *graph = mw_graph_lora(source, &options, &err);
        CHECK_OK(err);
        check_note(mw_graph_find(graph, names[i][1]) != NULL, __FILE__, __LINE__, "no \"%s\"", names[i][1]);
        mw_graph_destroy(graph);
        mw_graph_destroy(source);
    }
}

/* ---- refusals ---- */

typedef struct refusal {
    const char *patterns[2];
    mw_status status;
    const char *message;
} refusal;

static void test_bad_choices_are_refused_by_name(void)
{
    static const refusal cases[] = {
        {{"fc2.*"},
         MW_ERROR_ARGUMENT,
         "trainable: pattern \"fc2.*\" matches none of 8 weights and no layer; near it are \"fc_weight\", \"fc_bias\""},
        {{"fc_*", ""}, MW_ERROR_ARGUMENT, "trainable: pattern 1 is empty"},
        {{"slope"}, MW_ERROR_UNSUPPORTED, "trainable: \"slope\" (alpha of leaky_relu) cannot be chosen: the operation"},
        {{"epsilon"},
         MW_ERROR_UNSUPPORTED,
         "(epsilon of layer_norm) cannot be chosen: the operation takes nothing but"},
        {{"odd"}, MW_ERROR_UNSUPPORTED, "(w of unheard_of) cannot be chosen: the operation is not in the table"},
        {{"o*"},
         MW_ERROR_ARGUMENT,
         "trainable: pattern \"o*\" matches no weight of a layer (a name given whole is taken): \"odd\" (w of "
         "unheard_of: "
         "no layer has a weight there)"},
        {{"odd"}, MW_ERROR_UNSUPPORTED, "(narrow the pattern, or set skip_fixed)"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mw_error err = {0};
        mw_graph *source = parse(text, &err);
        const mw_tune_options options = mw_tune_defaults(cases[i].patterns, cases[i].patterns[1] != NULL ? 2 : 1);
        CHECK(mw_graph_trainable(source, &options, &err) == NULL);
        CHECK_ERROR(err, cases[i].status, cases[i].message);
        mw_graph_destroy(source);
    }
}

static void test_bad_options_are_refused(void)
{
    static const char *const fc[] = {"fc_weight"}, *const slope[] = {"slope"};
    const mw_input_shape unknown = {"w", MW_SHAPE(1, 4)}, rank = {"x", MW_SHAPE(4)}, width = {"x", MW_SHAPE(1, 5)};
    mw_error err = {0};
    mw_graph *source = parse(text, &err);
    mw_tune_options options = {0};
    CHECK(mw_graph_trainable(source, &options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "trainable: the options were not made by mw_tune_defaults");
#define REFUSE(status, part)                                                                                           \
    err = (mw_error){0};                                                                                               \
    CHECK(mw_graph_trainable(source, &options, &err) == NULL);                                                         \
    CHECK_ERROR(err, status, part)
    options = mw_tune_defaults(NULL, 0);
    REFUSE(MW_ERROR_ARGUMENT, "trainable: nothing is left to be trained: there are no patterns");
    options = mw_tune_defaults(NULL, 1);
    REFUSE(MW_ERROR_ARGUMENT, "trainable: the patterns are NULL");
    options = mw_tune_defaults(slope, 1);
    options.skip_fixed = true;
    REFUSE(MW_ERROR_ARGUMENT, "nothing is left to be trained: every match is fixed");
    options = mw_tune_defaults(fc, 1);
    options.dtype = MW_F16;
    REFUSE(MW_ERROR_ARGUMENT, "trainable: dtype is fp16; fp32, or MW_DTYPE_NONE for that of each weight");
    options.dtype = MW_F32;
    options.shape_count = 1;
    REFUSE(MW_ERROR_ARGUMENT, "trainable: shapes is NULL, shape_count 1");
    options.shapes = &unknown;
    REFUSE(MW_ERROR_ARGUMENT, "a shape is given for \"w\", which is no input; the first is \"x\"");
    options.shapes = &rank;
    REFUSE(MW_ERROR_SHAPE, "input \"x\" is [1, 4], so that it cannot be [4]");
    options.shapes = &width;
    REFUSE(MW_ERROR_SHAPE, "inner dimensions differ");
#undef REFUSE
    mw_graph_destroy(source);
    err = (mw_error){0};
    source = mw_graph_create(NULL, NULL);
    mw_output(mw_relu(mw_input(source, "x", MW_F32, MW_SHAPE(2))), "y");
    options = mw_tune_defaults(fc, 1);
    CHECK(mw_graph_trainable(source, &options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "trainable: the program has no fp16 or fp32 constant with a name");
    mw_graph_destroy(source);
}

static void test_bad_adapters_are_refused(void)
{
    static const char *const fc[] = {"fc_weight"}, *const bias[] = {"fc_bias"}, *const cube[] = {"cube"},
                             *const none[] = {"none"};
    mw_error err = {0};
    mw_graph *source = parse(text, &err);
    mw_lora_options options = {0};
    CHECK(mw_graph_lora(source, &options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "lora: the options were not made by mw_lora_defaults");
#define REFUSE(status, part)                                                                                           \
    err = (mw_error){0};                                                                                               \
    CHECK(mw_graph_lora(source, &options, &err) == NULL);                                                              \
    CHECK_ERROR(err, status, part)
    options = mw_lora_defaults(NULL, 0);
    REFUSE(MW_ERROR_ARGUMENT, "lora: there are no patterns for weights with an adapter");
    options = mw_lora_defaults(fc, 1);
    options.rank = 0;
    REFUSE(MW_ERROR_ARGUMENT, "lora: rank 0 is below 1");
    options = mw_lora_defaults(fc, 1);
    options.alpha = 0.0f;
    REFUSE(MW_ERROR_ARGUMENT, "lora: alpha 0 is not a positive finite number");
    options.alpha = NAN;
    REFUSE(MW_ERROR_ARGUMENT, "lora: alpha nan");
    options = mw_lora_defaults(none, 1);
    REFUSE(MW_ERROR_ARGUMENT, "lora: pattern \"none\" matches none of 8 weights");
    options = mw_lora_defaults(bias, 1);
    REFUSE(MW_ERROR_UNSUPPORTED, "\"fc_bias\" (bias of linear) cannot be chosen: it is no weight of linear, matmul");
    options = mw_lora_defaults(cube, 1);
    REFUSE(MW_ERROR_UNSUPPORTED, "an adapter of a matrix product wants a weight of two axes");
    options = mw_lora_defaults(fc, 1);
    options.full_patterns = fc;
    options.full_count = 1;
    REFUSE(MW_ERROR_ARGUMENT, "lora: patterns and full_patterns both match \"fc_weight\"");
#undef REFUSE
    mw_graph_destroy(source);
}

/* Without its folder a program has blobs without data. */
static void test_weights_that_were_not_read_are_refused(void)
{
    static const char blob[] =
        "program(1.3)\n{\n    func main<ios18>(tensor<fp32, [2]> x) {\n"
        "            tensor<fp32, [2]> w = const()[name = string(\"w\"), val = tensor<fp32, [2]>(BLOBFILE(path = "
        "string(\"@model_path/weights/weight.bin\"), offset = uint64(64)))];\n"
        "            tensor<fp32, [2]> y = mul(x = x, y = w)[name = string(\"y\")];\n        } -> (y);\n}\n";
    static const char *const patterns[] = {"w"};
    mw_error err = {0};
    mw_graph *source = parse(blob, &err);
    const mw_tune_options options = mw_tune_defaults(patterns, 1);
    CHECK(mw_graph_trainable(source, &options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "\"w\" (y of mul) cannot be chosen: its weight file was not read");
    mw_graph_destroy(source);
}

/* ---- memory ---- */

static mw_graph *make_copy(const mw_graph *source, int kind, mw_error *err)
{
    static const char *const all[] = {"*"}, *const bias[] = {"fc_bias"};
    mw_tune_options tune = mw_tune_defaults(all, 1);
    mw_lora_options lora = mw_lora_defaults(all, 1);
    tune.skip_fixed = lora.skip_fixed = true;
    if (kind == 0)
        return mw_graph_trainable(source, &tune, err);
    if (kind == 1)
        return mw_graph_lora(source, &lora, err);
    tune = mw_tune_defaults(bias, 1);
    return mw_graph_trainable(source, &tune, err);
}

static void test_copies_survive_every_failed_allocation(void)
{
    for (int kind = 0; kind < 3; kind++) {
        long n = 0;
        for (bool done = false; !done && n < MAX_REQUESTS; n++) {
            failing_allocator failing = {.fail_at = -1};
            const mw_allocator allocator = failing_allocator_of(&failing);
            mw_graph_options options = mw_graph_defaults();
            options.allocator = &allocator;
            mw_error err = {0};
            mw_graph *source = mw_graph_parse_mil(text, sizeof text - 1, NULL, &options, &err);
            REQUIRE(CHECK_OK(err));
            failing.fail_at = failing.requests + n;
            mw_graph *graph = make_copy(source, kind, &err);
            done = !failing.failed;
            CHECK_INT(err.status, done ? MW_OK : MW_ERROR_MEMORY);
            CHECK((graph != NULL) == done);
            mw_graph_destroy(graph);
            mw_graph_destroy(source);
            CHECK_INT(failing.live, 0);
        }
        CHECK(n > 5 && n < MAX_REQUESTS);
    }
}

int main(void)
{
    RUN(test_weights_are_listed_with_their_obstacles);
    RUN(test_ports_are_found_by_index);
    RUN(test_constants_become_parameters_with_their_values);
    RUN(test_inputs_get_the_shapes_asked_for);
    RUN(test_an_input_that_is_not_named_keeps_its_shape);
    RUN(test_rows_picked_by_constants_are_refused_in_another_batch);
    RUN(test_rows_picked_relative_to_the_batch_follow);
    RUN(test_skip_fixed_leaves_out_what_cannot_be_trained);
    RUN(test_adapters_are_named_after_the_module);
    RUN(test_bad_choices_are_refused_by_name);
    RUN(test_bad_options_are_refused);
    RUN(test_bad_adapters_are_refused);
    RUN(test_weights_that_were_not_read_are_refused);
    RUN(test_copies_survive_every_failed_allocation);
    return check_finish();
}
