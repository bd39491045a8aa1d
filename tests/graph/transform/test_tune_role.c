/* What the constants of a program are, and which of them patterns take: scales, masks, statistics and what is both a
 * weight and a scale are left alone unless they are named, and every match is reported. */
#include "graph/ir/ir.h"
#include "graph/transform/tune/trainable.h"
#include "support/check.h"

#include <millwright/millwright.h>

/* Those of data/mil/roles.mil: an attention, norms, an embedding, a convolution, and what looks like weights there. */
static const struct {
    const char *name;
    mw_weight_role role;
    const char *operation, *argument, *reason;
} wanted[] = {
    {.name = "wq", .role = MW_WEIGHT_KERNEL, .operation = "matmul", .argument = "y"},
    {.name = "wk", .role = MW_WEIGHT_KERNEL, .operation = "matmul", .argument = "y"},
    {.name = "wv", .role = MW_WEIGHT_KERNEL, .operation = "matmul", .argument = "y"},
    {.name = "bq", .role = MW_WEIGHT_BIAS, .operation = "add", .argument = "y"},
    {.name = "attention_scale",
     .role = MW_WEIGHT_NONE,
     .operation = "mul",
     .argument = "y",
     .reason = "it scales values"},
    {.name = "causal_mask",
     .role = MW_WEIGHT_NONE,
     .operation = "add",
     .argument = "y",
     .reason = "not as the bias of a product with a weight: a mask"},
    {.name = "wo", .role = MW_WEIGHT_KERNEL, .operation = "linear", .argument = "weight"},
    {.name = "bo", .role = MW_WEIGHT_BIAS, .operation = "linear", .argument = "bias"},
    {.name = "ln_gamma", .role = MW_WEIGHT_NORM, .operation = "layer_norm", .argument = "gamma"},
    {.name = "ln_beta", .role = MW_WEIGHT_NORM, .operation = "layer_norm", .argument = "beta"},
    {.name = "shared", .role = MW_WEIGHT_NORM, .operation = "layer_norm", .argument = "gamma"}, /* a scale elsewhere */
    {.name = "rms_gamma", .role = MW_WEIGHT_NORM, .operation = "mul", .argument = "y"},
    {.name = "layer_scale", .role = MW_WEIGHT_SCALE, .operation = "mul", .argument = "y"},
    {.name = "offset", .role = MW_WEIGHT_NONE, .operation = "add", .argument = "y", .reason = "an offset"},
    {.name = "table", .role = MW_WEIGHT_TABLE, .operation = "gather", .argument = "x"},
    {.name = "positions", .role = MW_WEIGHT_TABLE, .operation = "add", .argument = "y"},
    {.name = "conv_w", .role = MW_WEIGHT_KERNEL, .operation = "conv", .argument = "weight"},
    {.name = "conv_b", .role = MW_WEIGHT_BIAS, .operation = "add", .argument = "y"},
    {.name = "bn_mean",
     .role = MW_WEIGHT_STATISTIC,
     .operation = "batch_norm",
     .argument = "mean",
     .reason = "running statistic"},
    {.name = "bn_variance",
     .role = MW_WEIGHT_STATISTIC,
     .operation = "batch_norm",
     .argument = "variance",
     .reason = "running statistic"},
    {.name = "bn_gamma", .role = MW_WEIGHT_NORM, .operation = "batch_norm", .argument = "gamma"},
    {.name = "bn_beta", .role = MW_WEIGHT_NORM, .operation = "batch_norm", .argument = "beta"},
    {.name = "slope", .role = MW_WEIGHT_SLOPE, .operation = "prelu", .argument = "alpha"},
    {.name = "leak",
     .role = MW_WEIGHT_NONE,
     .operation = "leaky_relu",
     .argument = "alpha",
     .reason = "no layer has a weight there"}};
enum { WANTED = sizeof wanted / sizeof *wanted };

static mw_graph *parse(mw_error *err)
{
    mw_graph *graph = mw_graph_open_mil(MW_TESTS_DIR "/data/mil/roles.mil", NULL, err);
    if (graph != NULL)
        mw_graph_verify(graph, err);
    return graph;
}

static void test_constants_are_told_by_their_uses(void)
{
    mw_error err = {0};
    mw_weight weights[64];
    size_t count = 0;
    mw_graph *graph = parse(&err);
    mw_graph_weights(graph, weights, 64, &count, &err);
    REQUIRE(CHECK_OK(err) && CHECK_INT(count, WANTED));
    for (size_t i = 0; i < WANTED; i++) {
        const mw_weight *weight = NULL;
        for (size_t k = 0; k < count; k++)
            weight = strcmp(weights[k].name, wanted[i].name) == 0 ? &weights[k] : weight;
        REQUIRE(weight != NULL);
        check_note(weight->role == wanted[i].role, __FILE__, __LINE__, "%s is %s, not %s", weight->name,
                   mw__tune_role_name(weight->role), mw__tune_role_name(wanted[i].role));
        CHECK_STR(weight->operation, wanted[i].operation);
        CHECK_STR(weight->argument, wanted[i].argument);
        if (CHECK((weight->reason != NULL) == (wanted[i].reason != NULL)) && weight->reason != NULL)
            CHECK_CONTAINS(weight->reason, wanted[i].reason);
    }
    mw_graph_destroy(graph);
}

/* ---- what patterns take ---- */

typedef struct notes {
    int trained, left;
    bool in_order;
    size_t last;
    char reasons[4000];
} notes;

static void note(void *user, const mw_tune_choice *choice)
{
    notes *l = user;
    l->trained += choice->outcome == MW_TUNE_TRAINED;
    l->left += choice->outcome == MW_TUNE_LEFT;
    l->in_order = l->in_order && choice->weight->size <= l->last;
    l->last = choice->weight->size;
    CHECK((choice->reason != NULL) == (choice->outcome == MW_TUNE_LEFT));
    const size_t used = strlen(l->reasons);
    if (choice->reason != NULL)
        snprintf(l->reasons + used, sizeof l->reasons - used, "%s by %s: %s;", choice->weight->name, choice->pattern,
                 choice->reason);
}

static mw_graph *tune(const mw_graph *source, const char *const *patterns, size_t count, notes *l, mw_error *err)
{
    mw_tune_options options = mw_tune_defaults(patterns, count);
    *l = (notes){.in_order = true, .last = SIZE_MAX};
    options.report = note;
    options.report_user = l;
    return mw_graph_trainable(source, &options, err);
}

static bool is_trained(const mw_graph *graph, const char *name)
{
    const mw_tensor *value = mw_graph_find(graph, name);
    return value != NULL && value->role == MW__PARAMETER;
}

static void test_a_star_takes_the_weights_of_layers(void)
{
    static const char *const all[] = {"*"};
    mw_error err = {0};
    notes l;
    mw_graph *source = parse(&err), *graph = tune(source, all, 1, &l, &err);
    REQUIRE(CHECK_OK(err));
    int expected = 0;
    for (size_t i = 0; i < WANTED; i++) {
        expected += wanted[i].reason == NULL;
        check_note(is_trained(graph, wanted[i].name) == (wanted[i].reason == NULL), __FILE__, __LINE__, "%s",
                   wanted[i].name);
    }
    CHECK_INT(l.trained, expected);
    CHECK_INT(l.left, WANTED - expected);
    CHECK(l.in_order);
    CHECK_CONTAINS(l.reasons, "attention_scale by *: it scales values");
    CHECK_CONTAINS(l.reasons, "bn_variance by *: it is a running statistic");
    mw_graph_destroy(graph);
    mw_graph_destroy(source);
}

static void test_a_whole_name_takes_anything(void)
{
    static const char *const names[] = {"w?", "causal_mask", "bn_mean", "bn_*", "attention_scale"};
    mw_error err = {0};
    notes l;
    mw_graph *source = parse(&err), *graph = tune(source, names, 5, &l, &err);
    REQUIRE(CHECK_OK(err));
    CHECK(is_trained(graph, "wq") && is_trained(graph, "causal_mask") && is_trained(graph, "attention_scale"));
    CHECK(is_trained(graph, "bn_mean") && is_trained(graph, "bn_gamma") && !is_trained(graph, "bn_variance"));
    CHECK_INT(l.trained, 9);
    CHECK_INT(l.left, 1);
    CHECK_CONTAINS(l.reasons, "bn_variance by bn_*: ");
    mw_graph_destroy(graph);
    mw_graph_destroy(source);
}

static void test_patterns_that_take_nothing_say_why(void)
{
    static const char *const cases[][2] = {
        {"attention_*", "pattern \"attention_*\" matches no weight of a layer (a name given whole is taken): "
                        "\"attention_scale\" (y of mul: it scales values"},
        {"*_mask", "\"causal_mask\" (y of add: it is added, and not as the bias"},
        {"bn_[mv]*", "\"bn_mean\" (mean of batch_norm: it is a running statistic, which follows the data"}};
    for (int i = 0; i < 3; i++) {
        mw_error err = {0};
        notes l;
        mw_graph *source = parse(&err);
        CHECK(tune(source, &cases[i][0], 1, &l, &err) == NULL);
        CHECK_ERROR(err, MW_ERROR_ARGUMENT, cases[i][1]);
        CHECK_INT(l.trained + l.left, 0);
        mw_graph_destroy(source);
    }
}

/* Adapters follow the same rule; what cannot have one is left out with skip_fixed, and said. */
static void test_adapters_follow_the_same_rule(void)
{
    static const char *const all[] = {"w*", "attention_*"}, *const head[] = {"table"};
    mw_error err = {0};
    notes l = {.in_order = true, .last = SIZE_MAX};
    mw_graph *source = parse(&err);
    mw_lora_options options = mw_lora_defaults(all, 2);
    CHECK(mw_graph_lora(source, &options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "pattern \"attention_*\" matches no weight of a layer");
    err = (mw_error){0};
    options.pattern_count = 1;
    options.full_patterns = head;
    options.full_count = 1;
    options.report = note;
    options.report_user = &l;
    mw_graph *graph = mw_graph_lora(source, &options, &err);
    REQUIRE(CHECK_OK(err));
    CHECK(mw_graph_find(graph, "wq.lora_A.weight") != NULL);
    CHECK(is_trained(graph, "table"));
    CHECK_INT(l.trained, 1);
    mw_graph_destroy(graph);
    mw_graph_destroy(source);
}

/* ---- one constant, two uses ---- */

#define V3(name) "tensor<fp32, [3]> " name " = const()[name = string(\"" name "\"), val = tensor<fp32, [3]>(0x1p-1)];"
#define M33(name)                                                                                                      \
    "tensor<fp32, [3, 3]> " name " = const()[name = string(\"" name "\"), val = tensor<fp32, [3, 3]>(0x1p-2)];"
#define ONE(name)  "fp32 " name " = const()[name = string(\"" name "\"), val = fp32(0x1p-3)];"
#define OUT        "tensor<fp32, [2, 3]> "
#define NAME(name) "[name = string(\"" name "\")];"
#define NO         "transpose_x = bool(false), transpose_y = bool(false)"

static const char two_uses[] = "program(1.3){func main<ios18>(tensor<fp32, [2, 3]> x){" M33("w") V3("g") OUT
    "a = matmul(" NO ", x = x, y = w)" NAME("a") OUT "b = mul(x = a, y = g)" NAME("b") OUT
    "c = linear(bias = g, weight = w, x = b)" NAME("c") "tensor<fp32, [3, 3]> d = mul(x = w, y = fp32(0x1p+1))" NAME(
        "d") OUT "e = matmul(" NO ", x = c, y = d)" NAME("e") "} -> (e);}";

/* g is a bias and a factor of what a layer makes, both of which are learned; w a weight and an operand of mul. */
static void test_a_constant_that_is_also_a_number_is_left(void)
{
    static const char *const all[] = {"*"}, *const both[] = {"w", "g"};
    mw_error err = {0};
    notes l;
    mw_graph *source = mw_graph_parse_mil(two_uses, sizeof two_uses - 1, NULL, NULL, &err);
    REQUIRE(CHECK_OK(err));
    mw_graph *some = tune(source, all, 1, &l, &err);
    CHECK_OK(err);
    CHECK(some != NULL && is_trained(some, "g") && !is_trained(some, "w"));
    CHECK_CONTAINS(l.reasons, "w by *: it scales values");
    mw_graph *graph = tune(source, both, 2, &l, &err);
    CHECK_OK(err);
    CHECK(is_trained(graph, "w") && is_trained(graph, "g"));
    mw_graph_destroy(some);
    mw_graph_destroy(graph);
    mw_graph_destroy(source);
}

/* ---- what only a framework calls a parameter ---- */

typedef struct guess {
    const char *name;
    mw_weight_role role; /* NONE: left */
    const char *values;  /* of the constant, with its type and name before it */
    const char *use;     /* makes y [2, 4, 3] of h [2, 4, 3], which a linear layer made, or of x, the input */
} guess;

#define C(shape, name, value) "tensor<fp32, " shape "> " name " = const()[val = tensor<fp32, " shape ">(" value ")];"
#define Y(operation)          "tensor<fp32, [2, 4, 3]> y = " operation ";"
#define ROW                   "[0.31, -1.27, 0.83]"
#define ROWS                  "[[0.31, -1.27, 0.83], [0.11, 0.27, -0.33], [1.31, 2.27, 0.13], [-0.31, 0.77, 0.23]]"
#define GRID                  "[[0.5, 1, 1.5], [2, 2.5, 3], [0, 1, 2], [3, 4, 5]]"
#define MASK                  "[[0, -10000, -10000], [0, 0, -10000], [0, 0, 0], [0, 0, 0]]"
#define JOIN(name)                                                                                                     \
    "tensor<fp32, [2, 5, 3]> j = concat(axis = int32(1), interleave = bool(false), values = (" name ", h));"           \
    "tensor<fp32, [2, 4, 3]> y = slice_by_size(begin = tensor<int32, [3]>([0, 0, 0]), size = tensor<int32, [3]>([2, "  \
    "4, 3]), x = j);"

/* n [2, 4, 3] is a norm of h, r one of h that is spelled out, k [2, 3, 3] a product whose outputs are as many as its
 * rows; g [4, 3] gathered rows. */
#define LAYER_NORM "tensor<fp32, [2, 4, 3]> n = layer_norm(axes = tensor<int32, [1]>([-1]), epsilon = fp32(0.001), x = "
#define NORM       LAYER_NORM "h);"
#define SPELLED                                                                                                        \
    "tensor<fp32, [2, 4, 3]> s = mul(x = h, y = h); tensor<fp32, [2, 4, 1]> m = reduce_mean(axes = tensor<int32, "     \
    "[1]>([-1]), keep_dims = bool(true), x = s); tensor<fp32, [2, 4, 1]> d = rsqrt(epsilon = fp32(0.001), x = m);"     \
    "tensor<fp32, [2, 4, 3]> r = mul(x = h, y = d);"
#define POWER(exponent)                                                                                                \
    "tensor<fp32, [2, 4, 3]> s = pow(x = h, y = fp32(" exponent ")); tensor<fp32, [2, 4, 3]> r = mul(x = h, y = s);"
#define SQUARE                                                                                                         \
    "tensor<fp32, [2, 3, 3]> u = slice_by_size(begin = tensor<int32, [3]>([0, 0, 0]), size = tensor<int32, [3]>([2, "  \
    "3, 3]), x = x); tensor<fp32, [2, 3, 3]> k = linear(weight = w, x = u);"
#define Z(operation) "tensor<fp32, [2, 3, 3]> z = " operation "; tensor<fp32, [2, 3, 3]> y = relu(x = z);"
#define TURNED       "tensor<fp32, [2, 3, 4]> t = transpose(perm = tensor<int32, [3]>([0, 2, 1]), x = h);"
#define T(operation) "tensor<fp32, [2, 3, 4]> y = " operation ";"
#define ROW_SIDE     "[[0.31], [-1.27], [0.83]]"
#define KEPT         "[[1], [1], [0], [0]]"
#define GATHERED(table)                                                                                                \
    "tensor<fp32, [4, 3]> g = gather(axis = int32(0), batch_dims = int32(0), indices = tensor<int32, [4]>([1, 0, 2, "  \
    "3]), validate_indices = bool(false), x = " table ");" Y("add(x = h, y = g)")

static const guess guesses[] = {
    {"gamma", MW_WEIGHT_SCALE, C("[3]", "gamma", ROW), Y("mul(x = h, y = gamma)")},
    {"onnx::Mul_7", MW_WEIGHT_SCALE, C("[3]", "%s", ROW), Y("mul(x = h, y = %s)")},
    {"layer_scale", MW_WEIGHT_SCALE, C("[3]", "layer_scale", "1e-6"), Y("mul(x = layer_scale, y = h)")},
    {"temperature", MW_WEIGHT_SCALE, C("[]", "temperature", "0.7"), Y("real_div(x = h, y = temperature)")},
    {"scale", MW_WEIGHT_NONE, C("[]", "scale", "0.57735026"), Y("mul(x = h, y = scale)")},
    {"std", MW_WEIGHT_NONE, C("[3]", "std", ROW), Y("mul(x = h, y = std)")},
    {"factor", MW_WEIGHT_NONE, C("[3]", "factor", ROW), Y("mul(x = x, y = factor)")}, /* of data */
    {"var_5", MW_WEIGHT_NONE, C("[4, 1]", "var_5", "[[0.31], [0.7], [0.9], [0.2]]"), Y("mul(x = h, y = var_5)")},
    {"shift", MW_WEIGHT_BIAS, C("[4, 1]", "shift", "[[0.31], [0.7], [0.9], [0.2]]"), Y("add(x = h, y = shift)")},
    {"pos_embed", MW_WEIGHT_TABLE, C("[4, 3]", "pos_embed", ROWS), Y("add(x = h, y = pos_embed)")},
    {"var_9", MW_WEIGHT_TABLE, C("[4, 3]", "var_9", ROWS), Y("add(x = h, y = var_9)")},
    {"grid_points", MW_WEIGHT_NONE, C("[4, 3]", "grid_points", GRID), Y("add(x = h, y = grid_points)")},
    {"causal", MW_WEIGHT_NONE, C("[4, 3]", "causal", MASK), Y("add(x = h, y = causal)")},
    {"added", MW_WEIGHT_NONE, C("[4, 3]", "added", ROWS), Y("add(x = x, y = added)")}, /* to data */
    {"cls_token", MW_WEIGHT_TABLE, C("[2, 1, 3]", "cls_token", "[[" ROW "], [" ROW "]]"), JOIN("cls_token")},
    {"const_3", MW_WEIGHT_NONE, C("[2, 1, 3]", "const_3", "0"), JOIN("const_3")}, /* padding */
    {"slope", MW_WEIGHT_SLOPE, C("[]", "slope", "0.25"),
     "tensor<bool, [2, 4, 3]> n = less(x = h, y = fp32(0)); tensor<fp32, [2, 4, 3]> m = mul(x = h, y = slope);" Y(
         "select(a = m, b = h, cond = n)")},
    {"alphas", MW_WEIGHT_SLOPE, C("[3]", "alphas", ROW),
     "tensor<fp32, [2, 4, 3]> n = minimum(x = h, y = fp32(0)); tensor<fp32, [2, 4, 3]> p = relu(x = h);"
     "tensor<fp32, [2, 4, 3]> m = mul(x = n, y = alphas);" Y("add(x = p, y = m)")},
    {"logit_scale", MW_WEIGHT_SCALE, C("[]", "logit_scale", "2.6592"),
     "fp32 e = exp(x = logit_scale);" Y("mul(x = h, y = e)")},
    /* beside a norm: along its axes, and neither named as a mask nor one of zeros and ones */
    {"var_5", MW_WEIGHT_NORM, C("[3]", "var_5", ROW), NORM Y("mul(x = n, y = var_5)")},
    {"gamma", MW_WEIGHT_NORM, C("[3]", "gamma", "1"), NORM Y("mul(x = n, y = gamma)")},
    {"offset_weight", MW_WEIGHT_NORM, C("[3]", "offset_weight", ROW), NORM Y("mul(x = n, y = offset_weight)")},
    {"pad_mask", MW_WEIGHT_NONE, C("[4, 1]", "pad_mask", KEPT), NORM Y("mul(x = n, y = pad_mask)")},
    {"var_5", MW_WEIGHT_NONE, C("[4, 1]", "var_5", KEPT), NORM Y("mul(x = n, y = var_5)")},
    {"var_5", MW_WEIGHT_NONE, C("[4, 1]", "var_5", KEPT), LAYER_NORM "x);" Y("mul(x = n, y = var_5)")},
    {"var_5", MW_WEIGHT_NONE, C("[4, 1]", "var_5", KEPT), SPELLED Y("mul(x = r, y = var_5)")},
    {"window_mask", MW_WEIGHT_NONE, C("[3]", "window_mask", ROW), NORM Y("mul(x = n, y = window_mask)")},
    {"window", MW_WEIGHT_NONE, C("[4, 1]", "window", KEPT), NORM Y("mul(x = n, y = window)")},
    {"var_5", MW_WEIGHT_NONE, C("[3]", "var_5", "[1, 0, 1]"), NORM Y("mul(x = n, y = var_5)")},
    {"var_5", MW_WEIGHT_NONE, C("[4, 1]", "var_5", "[[0.31], [0.7], [0.9], [0.2]]"), NORM Y("mul(x = n, y = var_5)")},
    {"var_5", MW_WEIGHT_NORM, C("[3]", "var_5", ROW), SPELLED Y("mul(x = r, y = var_5)")},
    {"var_5", MW_WEIGHT_NORM, C("[3]", "var_5", ROW), POWER("-0.5") Y("mul(x = r, y = var_5)")},
    /* one number is none, whatever its rank; a square is no deviation */
    {"var_5", MW_WEIGHT_NONE, C("[1, 1, 1]", "var_5", "[[[1.732]]]"), SPELLED Y("mul(x = r, y = var_5)")},
    {"var_5", MW_WEIGHT_NONE, C("[1, 1, 1]", "var_5", "[[[0.044715]]]"), POWER("2") Y("mul(x = r, y = var_5)")},
    {"var_5", MW_WEIGHT_SCALE, C("[3]", "var_5", ROW), POWER("2") Y("mul(x = r, y = var_5)")},
    /* beside a product: along its outputs, and neither named as a mask nor with large numbers */
    {"var_5", MW_WEIGHT_BIAS, C("[3]", "var_5", "[0, 1, 2]"), Y("add(x = h, y = var_5)")},
    {"mask_head_bias", MW_WEIGHT_BIAS, C("[3]", "mask_head_bias", ROW), Y("add(x = h, y = mask_head_bias)")},
    {"mask_1_BiasAdd_ReadVariableOp", MW_WEIGHT_BIAS, C("[3]", "mask_1_BiasAdd_ReadVariableOp", ROW),
     Y("add(x = h, y = mask_1_BiasAdd_ReadVariableOp)")},
    {"token_mask", MW_WEIGHT_NONE, C("[3]", "token_mask", "[0, -1e9, 0]"), Y("add(x = h, y = token_mask)")},
    {"var_5", MW_WEIGHT_NONE, C("[3]", "var_5", "[0, -1e9, 0]"), Y("add(x = h, y = var_5)")},
    {"grid", MW_WEIGHT_NONE, C("[3]", "grid", "[0, 1, 2]"), Y("add(x = h, y = grid)")},
    {"var_5", MW_WEIGHT_BIAS, C("[1, 3]", "var_5", "[" ROW "]"), SQUARE Z("add(x = k, y = var_5)")},
    {"var_5", MW_WEIGHT_NONE, C("[3, 1]", "var_5", ROW_SIDE), SQUARE Z("add(x = k, y = var_5)")},
    {"offset", MW_WEIGHT_NONE, C("[3, 1]", "offset", ROW_SIDE), SQUARE Z("add(x = k, y = offset)")},
    {"var_5", MW_WEIGHT_BIAS, C("[3, 1]", "var_5", ROW_SIDE), TURNED T("add(x = t, y = var_5)")},
    /* gathered */
    {"table", MW_WEIGHT_TABLE, C("[4, 3]", "table", GRID), GATHERED("table")},
    {"offset_weight", MW_WEIGHT_TABLE, C("[4, 3]", "offset_weight", ROWS), GATHERED("offset_weight")},
    {"rotary_cos_cached", MW_WEIGHT_NONE, C("[4, 3]", "rotary_cos_cached", ROWS), GATHERED("rotary_cos_cached")},
    {"causal_mask", MW_WEIGHT_NONE, C("[4, 3]", "causal_mask", ROWS), GATHERED("causal_mask")},
    {"var_5", MW_WEIGHT_NONE, C("[4, 3]", "var_5", MASK), GATHERED("var_5")},
    /* one number in every place, however it is spelled */
    {"var_5", MW_WEIGHT_NONE, C("[3]", "var_5", "1"), Y("mul(x = h, y = var_5)")},
    {"var_5", MW_WEIGHT_NONE, C("[3]", "var_5", "[1, 1, 1]"), Y("mul(x = h, y = var_5)")},
    {"var_5", MW_WEIGHT_NONE, C("[3]", "var_5", "-1.5"), Y("mul(x = h, y = var_5)")},
    {"var_5", MW_WEIGHT_SCALE, C("[3]", "var_5", "0.3"), Y("mul(x = h, y = var_5)")},
    {"ls_gamma", MW_WEIGHT_SCALE, C("[3]", "ls_gamma", "1"), Y("mul(x = h, y = ls_gamma)")},
    {"ls_gamma", MW_WEIGHT_SCALE, C("[3]", "ls_gamma", "[1, 1, 1]"), Y("mul(x = h, y = ls_gamma)")},
};

static void test_what_a_framework_calls_a_parameter_is_taken(void)
{
    static const char *const all[] = {"*"};
    for (size_t i = 0; i < sizeof guesses / sizeof *guesses; i++) {
        const guess *g = &guesses[i];
        char text[2048], *at = text;
        mw_error err = {0};
        notes l;
        at += sprintf(
            at, "program(1.3){func main<ios18>(tensor<fp32, [2, 4, 3]> x){" M33("w") "tensor<fp32, [2, 4, 3]> h = "
                                                                                     "linear(weight = w, x = x);");
        const char *safe = strchr(g->name, ':') != NULL ? "onnx__Mul_7" : g->name;
        at += sprintf(at, g->values, safe);
        at += sprintf(at, g->use, safe);
        sprintf(at, "} -> (y);}");
        mw_graph *source = mw_graph_parse_mil(text, strlen(text), NULL, NULL, &err);
        mw_graph *graph = tune(source, all, 1, &l, &err);
        check_note(err.status == MW_OK, __FILE__, __LINE__, "%s: %s", g->name, err.message);
        mw_weight weights[4];
        size_t count = 0;
        mw_graph_weights(source, weights, 4, &count, &err);
        for (size_t k = 0; k < count; k++)
            if (strcmp(weights[k].name, safe) == 0)
                check_note(weights[k].role == g->role, __FILE__, __LINE__, "%s is %s, not %s", g->use,
                           mw__tune_role_name(weights[k].role), mw__tune_role_name(g->role));
        CHECK_INT(count, 2);
        check_note(graph != NULL && is_trained(graph, safe) == (g->role != MW_WEIGHT_NONE), __FILE__, __LINE__,
                   "%s is %s", g->name, g->role != MW_WEIGHT_NONE ? "left" : "trained");
        mw_graph_destroy(graph);
        mw_graph_destroy(source);
    }
}

int main(void)
{
    RUN(test_constants_are_told_by_their_uses);
    RUN(test_a_star_takes_the_weights_of_layers);
    RUN(test_a_whole_name_takes_anything);
    RUN(test_patterns_that_take_nothing_say_why);
    RUN(test_adapters_follow_the_same_rule);
    RUN(test_a_constant_that_is_also_a_number_is_left);
    RUN(test_what_a_framework_calls_a_parameter_is_taken);
    return check_finish();
}
