/* Every row of the plan's rules: a program where it applies, and one where it just does not. */
#include "engine/kernels/math/math.h"
#include "plan_text.h"
#include "support/check.h"

#include <millwright/chip_all.h>

#include <string.h>

#define X "tensor<fp16, [1, 16, 8, 8]> x"
#define CONV                                                                                                           \
    HALF("w", "[16, 16, 3, 3]")                                                                                        \
    "tensor<fp16, [1, 16, 8, 8]> c = conv(pad_type = string(\"same\"), weight = w, x = "                               \
    "x); "
#define T(name, expression)         "tensor<fp16, [1, 16, 8, 8]> " name " = " expression "; "
#define T2(name, shape, expression) "tensor<fp16, " shape "> " name " = " expression "; "
#define I8(name, shape, expression) "tensor<int8, " shape "> " name " = " expression "; "

typedef void plan_change(mw_chip_plan_options *options);

typedef struct rule_case {
    const char *rule, *inputs, *body, *outputs, *tensor; /* tensor: whose operation it is about */
    const char *with;                                    /* in whose layer it is; NULL = not asked */
    const char *outside, *outside_inputs;                /* where the row does not apply to the tensor */
    plan_change *change;
} rule_case;

static void fold_scales(mw_chip_plan_options *o) { o->scale = MW_CHIP_SCALE_WEIGHTS; }
static void fuse_concat(mw_chip_plan_options *o) { o->concat = MW_CHIP_CONCAT_CHANNELS; }

static const rule_case cases[] = {
    {"constant", X, CONV T("y", "relu(x = c)"), "y", "w", NULL, NULL, NULL, NULL},
    {"constant_folding", X, HALF("a", "[16]") T2("b", "[16]", "exp(x = a)") T("y", "relu(x = x)"), "y", "b", NULL,
     T2("b", "[1, 16, 8, 8]", "exp(x = x)") T("y", "relu(x = b)"), NULL, NULL},
    {"copy_elimination", X, CONV T("i", "identity(x = c)") T("y", "relu(x = i)"), "y", "i", NULL,
     CONV T2("i", "[16, 8, 8]", "squeeze(axes = tensor<int32, [1]>([0]), x = c)") T2("y", "[16, 8, 8]", "relu(x = i)"),
     NULL, NULL},
    {"kernel_scale", X,
     "tensor<fp16, [16, 16, 1, 1]> w = constexpr_affine_dequantize()[axis = int32(0), quantized_data = tensor<int8, "
     "[16, "
     "16, 1, 1]>(BLOBFILE(path = string(\"@model_path/w.bin\"), offset = uint64(64))), scale = fp16(0.5), zero_point = "
     "int8(0)]; " T("y", "conv(weight = w, x = x)"),
     "y", "w", NULL,
     "tensor<fp16, [1, 16, 1, 1]> w = constexpr_affine_dequantize()[axis = int32(0), quantized_data = tensor<int8, [1, "
     "16, 1, 1]>(BLOBFILE(path = string(\"@model_path/w.bin\"), offset = uint64(64))), scale = fp16(0.5), zero_point = "
     "int8(0)]; " T("y", "maximum(x = x, y = w)"),
     NULL, NULL},
    {"kernel_lut", X,
     BLOB("uint4", "n", "[16, 16, 1, 1]") HALF("l", "[1, 1, 1, 1, 16, 1]")
         T2("w", "[16, 16, 1, 1]", "constexpr_lut_to_dense(indices = n, lut = l)") T("y", "conv(weight = w, x = x)"),
     "y", "w", NULL,
     BLOB("uint4", "n", "[1, 16, 1, 1]") HALF("l", "[1, 1, 1, 1, 16, 1]")
         T2("w", "[1, 16, 1, 1]", "constexpr_lut_to_dense(indices = n, lut = l)") T("y", "maximum(x = x, y = w)"),
     NULL, NULL},
    {"quantize_pair", X,
     CONV I8("q", "[1, 16, 8, 8]", "quantize(input = c, output_dtype = string(\"int8\"), scale = fp16(0.5))")
         T("d", "dequantize(input = q, scale = fp16(0.5))") T("y", "relu(x = d)"),
     "y", "d", NULL,
     CONV I8("q", "[1, 16, 8, 8]", "quantize(input = c, output_dtype = string(\"int8\"), scale = fp16(0.5))")
         T("d", "dequantize(input = q, scale = fp16(0.25))") T("y", "relu(x = d)"),
     NULL, NULL},
    {"dequantize_across_concat", "tensor<int8, [1, 16, 8, 8]> a, tensor<int8, [1, 16, 8, 8]> b",
     T("d", "dequantize(input = a, scale = fp16(0.5))") T("e", "dequantize(input = b, scale = fp16(0.5))")
         T2("y", "[1, 32, 8, 8]", "concat(axis = int32(1), interleave = bool(false), values = (d, e))"),
     "y", "e", NULL,
     T("d", "dequantize(input = a, scale = fp16(0.5))") T("e", "dequantize(input = b, scale = fp16(0.25))")
         T2("y", "[1, 32, 8, 8]", "concat(axis = int32(1), interleave = bool(false), values = (d, e))"),
     NULL, NULL},
    {"collapse_transpose", X,
     CONV T2("t", "[16, 1, 8, 8]", "transpose(perm = tensor<int32, [4]>([1, 0, 2, 3]), x = c)")
         T2("y", "[8, 1, 16, 8]", "transpose(perm = tensor<int32, [4]>([2, 1, 0, 3]), x = t)"),
     "y", "t", NULL,
     CONV T2("t", "[16, 1, 8, 8]", "transpose(perm = tensor<int32, [4]>([1, 0, 2, 3]), x = c)")
         T2("y", "[8, 1, 16, 8]", "transpose(perm = tensor<int32, [4]>([2, 1, 0, 3]), x = t)")
             T2("z", "[16, 1, 8, 8]", "relu(x = t)"),
     NULL, NULL},
    {"transpose_pair", X,
     CONV T2("t", "[16, 1, 8, 8]", "transpose(perm = tensor<int32, [4]>([1, 0, 2, 3]), x = c)")
         T("u", "transpose(perm = tensor<int32, [4]>([1, 0, 2, 3]), x = t)") T("y", "relu(x = u)"),
     "y", "t", NULL,
     CONV T2("t", "[16, 1, 8, 8]", "transpose(perm = tensor<int32, [4]>([1, 0, 2, 3]), x = c)")
         T2("u", "[1, 16, 8, 8]", "transpose(perm = tensor<int32, [4]>([1, 0, 3, 2]), x = t)") T("y", "relu(x = u)"),
     NULL, NULL},
    {"transpose_into_matmul", "tensor<fp16, [8, 16]> x, tensor<fp16, [8, 16]> z",
     T2("t", "[16, 8]", "transpose(perm = tensor<int32, [2]>([1, 0]), x = z)")
         T2("y", "[8, 8]", "matmul(x = x, y = t)"),
     "y", "t", "y",
     T2("t", "[16, 8]", "transpose(perm = tensor<int32, [2]>([1, 0]), x = z)") T2("r", "[16, 8]", "relu(x = t)")
         T2("y", "[8, 8]", "matmul(x = x, y = t)"),
     NULL, NULL},
    {"pad_into_convolution", X,
     HALF("w", "[16, 16, 3, 3]") T2("p", "[1, 16, 10, 10]",
                                    "pad(constant_val = fp16(0), mode = string(\"constant\"), pad = tensor<int32, "
                                    "[4]>([1, 1, 1, 1]), x = x)") T("y", "conv(weight = w, x = p)"),
     "y", "p", "y",
     HALF("w", "[16, 16, 3, 3]") T2("p", "[1, 16, 10, 10]",
                                    "pad(constant_val = fp16(1), mode = string(\"constant\"), pad = tensor<int32, "
                                    "[4]>([1, 1, 1, 1]), x = x)") T("y", "conv(weight = w, x = p)"),
     NULL, NULL},
    {"texture_remap", X,
     CONV T2("y", "[1, 16, 16, 16]",
             "upsample_nearest_neighbor(scale_factor_height = fp32(2), scale_factor_width = "
             "fp32(2), x = c)"),
     "y", "y", "y",
     CONV T("s", "softmax(axis = int32(1), x = c)")
         T2("y", "[1, 16, 16, 16]",
            "upsample_nearest_neighbor(scale_factor_height = fp32(2), scale_factor_width = fp32(2), x = s)"),
     NULL, NULL},
    {"broadcast", "tensor<fp16, [1, 16, 1, 8]> x",
     HALF("w", "[16, 16, 1, 1]") T2("c", "[1, 16, 1, 8]", "conv(weight = w, x = x)")
         T("y", "tile(reps = tensor<int32, [4]>([1, 1, 8, 1]), x = c)"),
     "y", "y", "y",
     HALF("w", "[16, 16, 1, 1]") T2("c", "[1, 16, 1, 8]", "conv(weight = w, x = x)")
         T2("y", "[1, 16, 8, 16]", "tile(reps = tensor<int32, [4]>([1, 1, 8, 2]), x = c)"),
     NULL, NULL},
    {"bias_add", X, CONV HALF("b", "[1, 16, 1, 1]") T("y", "add(x = c, y = b)"), "y", "y", "y",
     CONV HALF("b", "[1, 16, 8, 1]") T("y", "add(x = c, y = b)"), NULL, NULL},
    {"scale", X, CONV T("y", "mul(x = c, y = fp16(2))"), "y", "y", "y",
     CONV T("b", "add(x = c, y = fp16(1))") T("y", "mul(x = b, y = fp16(2))"), NULL, NULL},
    {"scale_into_weights", X, CONV T("y", "mul(x = c, y = fp16(2))"), "y", "y", "y",
     CONV T("r", "relu(x = c)") T("y", "mul(x = r, y = fp16(2))"), NULL, fold_scales},
    {"batch_norm", X, CONV HALF("m", "[16]") T("y", "batch_norm(mean = m, variance = m, x = c)"), "y", "y", "y",
     CONV HALF("m", "[16]") T("b", "add(x = c, y = fp16(1))") T("y", "batch_norm(mean = m, variance = m, x = b)"), NULL,
     NULL},
    {"activation", X, CONV T("y", "relu(x = c)"), "y", "y", "y",
     CONV T("s", "softmax(axis = int32(1), x = c)") T("y", "relu(x = s)"), NULL, NULL},
    {"activation_table", X, CONV T("y", "sigmoid(x = c)"), "y", "y", "y",
     CONV T("a", "relu(x = c)") T("b", "abs(x = a)") T("y", "sigmoid(x = b)"), NULL, NULL},
    {"transpose_slot", X, CONV T2("y", "[1, 8, 8, 16]", "transpose(perm = tensor<int32, [4]>([0, 2, 3, 1]), x = c)"),
     "y", "y", "y", T2("y", "[1, 8, 8, 16]", "transpose(perm = tensor<int32, [4]>([0, 2, 3, 1]), x = x)"), NULL, NULL},
    {"quantize_slot", X,
     CONV I8("q", "[1, 16, 8, 8]", "quantize(input = c, output_dtype = string(\"int8\"), scale = fp16(0.5))")
         T("y", "dequantize(input = q, scale = fp16(0.25))"),
     "y", "q", "q",
     I8("q", "[1, 16, 8, 8]", "quantize(input = x, output_dtype = string(\"int8\"), scale = fp16(0.5))")
         T("y", "dequantize(input = q, scale = fp16(0.25))"),
     NULL, NULL},
    /* 1024 x 1024 halves are 2 MB, and a column more is beyond it */
    {"matmul_to_convolution", "tensor<fp16, [4, 1024]> x",
     HALF("w", "[1024, 1024]") T2("y", "[4, 1024]", "matmul(x = x, y = w)"), "y", "y", NULL,
     HALF("w", "[1024, 1025]") T2("y", "[4, 1025]", "matmul(x = x, y = w)"), NULL, NULL},
    {"matmul", "tensor<fp16, [4, 8]> x, tensor<fp16, [8, 4]> z", T2("y", "[4, 4]", "matmul(x = x, y = z)"), "y", "y",
     NULL, HALF("w", "[8, 4]") T2("y", "[4, 4]", "matmul(x = x, y = w)"), NULL, NULL},
    {"convolution", X, CONV T("y", "relu(x = c)"), "y", "c", NULL,
     T("c", "softmax(axis = int32(1), x = x)") T("y", "relu(x = c)"), NULL, NULL},
    {"layer", X, T("y", "softmax(axis = int32(1), x = x)"), "y", "y", NULL, T("y", "relu(x = x)"), NULL, NULL},
    {"concat_boundary", X,
     CONV T("r", "relu(x = x)")
         T2("j", "[1, 32, 8, 8]", "concat(axis = int32(1), interleave = bool(false), values = (c, r))")
             T2("y", "[1, 32, 8, 8]", "relu(x = j)"),
     "y", "j", NULL, T("j", "relu(x = x)") T("y", "abs(x = j)"), NULL, NULL},
    {"concat_fused", X,
     CONV T("r", "relu(x = x)")
         T2("j", "[1, 32, 8, 8]", "concat(axis = int32(1), interleave = bool(false), values = (c, r))")
             T2("y", "[1, 32, 8, 8]", "relu(x = j)"),
     "y", "j", NULL,
     CONV T("r", "relu(x = x)")
         T2("j", "[1, 16, 16, 8]", "concat(axis = int32(2), interleave = bool(false), values = (c, r))")
             T2("y", "[1, 16, 16, 8]", "relu(x = j)"),
     NULL, fuse_concat},
    {"sdpa_cut", "tensor<fp16, [1, 4, 8, 16]> x",
     T2("y", "[1, 4, 8, 16]", "scaled_dot_product_attention(key = x, query = x, value = x)"), "y", "y", NULL,
     T2("y", "[1, 4, 8, 8]", "matmul(transpose_y = bool(true), x = x, y = x)"), NULL, NULL},
    {"two_live_inputs", X, CONV T("r", "relu(x = x)") T("y", "add(x = c, y = r)"), "y", "y", NULL,
     CONV T("y", "add(x = c, y = fp16(1))"), NULL, NULL},
    {"constant_no_vector", X, CONV HALF("b", "[1, 16, 8, 1]") T("y", "add(x = c, y = b)"), "y", "y", NULL,
     CONV HALF("b", "[1, 1, 8, 1]") T("y", "add(x = c, y = b)"), NULL, NULL},
    {"several_readers", X, CONV T("z", "relu(x = c)") T("y", "add(x = c, y = z)"), "y", "z", NULL,
     CONV T("z", "relu(x = c)") T("y", "abs(x = z)"), NULL, NULL},
    {"of_an_output", X, CONV T("y", "relu(x = c)"), "c, y", "y", NULL, NULL, NULL, NULL},
    {"of_an_input", X, T("y", "relu(x = x)"), "y", "y", NULL, CONV T("y", "relu(x = c)"), NULL, NULL},
    {"slot_filled", X, CONV T("a", "relu(x = c)") T("b", "abs(x = a)") T("y", "sigmoid(x = b)"), "y", "y", NULL,
     CONV T("a", "relu(x = c)") T("y", "sigmoid(x = a)"), NULL, NULL},
    {"no_epilogue", X, T("s", "softmax(axis = int32(1), x = x)") T("y", "mul(x = s, y = fp16(2))"), "y", "y", NULL,
     T2("s", "[1, 16, 8, 8]",
        "max_pool(kernel_sizes = tensor<int32, [2]>([3, 3]), pad = tensor<int32, [4]>([1, 1, 1, "
        "1]), pad_type = string(\"custom\"), strides = tensor<int32, [2]>([1, 1]), x = x)")
         T("y", "mul(x = s, y = fp16(2))"),
     NULL, NULL},
};

/* A result that only the outside program has is an output of it, too. */
static mw_chip_plan *plan_case(const rule_case *c, bool outside)
{
    mw_chip_plan_options options = plan_options();
    if (c->change != NULL)
        c->change(&options);
    const char *body = outside ? c->outside : c->body;
    const bool extra = outside && strstr(body, "z = relu(x = t)") != NULL;
    const char *outputs = extra ? "y, z" : outside && strstr(body, " r = relu(x = t)") != NULL ? "y, r" : c->outputs;
    return plan_of_text(outside && c->outside_inputs != NULL ? c->outside_inputs : c->inputs, body, outputs,
                        MW_CHIP_H17, &options);
}

static void check_applies(const rule_case *c)
{
    mw_chip_plan *plan = plan_case(c, false);
    const mw_chip_plan_op *op = plan_op(plan, c->tensor);
    check_note(op != NULL && op->rule != NULL && strcmp(op->rule->id, c->rule) == 0, __FILE__, __LINE__,
               "%s: \"%s\" is %s: %s", c->rule, c->tensor, op != NULL ? op->rule->id : "absent",
               op != NULL ? op->reason : "");
    if (op != NULL && c->with != NULL) {
        const mw_chip_layer *layer = mw_chip_plan_layer_at(plan, op->layer);
        check_note(layer != NULL && strcmp(layer->name, c->with) == 0 && layer->op_count > 1, __FILE__, __LINE__,
                   "%s: it is in no layer with others that writes \"%s\"", c->rule, c->with);
    }
    mw_chip_plan_destroy(plan);
}

static void check_outside(const rule_case *c)
{
    if (c->outside == NULL)
        return;
    mw_chip_plan *plan = plan_case(c, true);
    const mw_chip_plan_op *op = plan_op(plan, c->tensor);
    check_note(op != NULL && strcmp(op->rule->id, c->rule) != 0, __FILE__, __LINE__,
               "%s: \"%s\" outside is it, too: %s", c->rule, c->tensor, op != NULL ? op->reason : "");
    mw_chip_plan_destroy(plan);
}

static void test_every_row_applies_and_stops(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check_applies(&cases[i]);
        check_outside(&cases[i]);
    }
}

/* Rows of limits, partitions and pairs have tests of their own in test_plan_phases.c. */
static bool is_elsewhere(const char *rule)
{
    static const char *const rules[] = {
        "refused",           "undone",        "kernel_memory", "working_set",   "transpose_recut",
        "partition_full",    "segment_end",   "co_issue",      "not_scheduled", "same_engine_class",
        "producer_consumer", "chained_input", "both_stream",   "already_issued"};
    bool found = false;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        found = found || strcmp(rules[i], rule) == 0;
    return found;
}

static void test_every_row_has_a_case(void)
{
    const mw_chip_plan_rule *r;
    for (size_t i = 0; (r = mw_chip_plan_rule_at(i)) != NULL; i++) {
        size_t found = 0;
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
            found += strcmp(cases[k].rule, r->id) == 0;
        check_note(found == (is_elsewhere(r->id) ? 0 : 1), __FILE__, __LINE__, "%s has %zu cases", r->id, found);
        check_note(r->pattern[0] != '\0' && r->becomes[0] != '\0' && r->source[0] != '\0', __FILE__, __LINE__,
                   "%s lacks something", r->id);
    }
}

/* The engine's loops of one operand are what the slots take for functions: one rule in two rooms. */
static void test_functions_of_slots_are_those_of_the_engine(void)
{
    for (size_t i = 0; i < MW__OP_COUNT; i++) {
        const bool is_function = mw__row_has(&mw__rows[i], MW__TRAIT_UNARY);
        check_note(is_function == (mw__function1_find((mw__op_id)i, NULL) != NULL), __FILE__, __LINE__, "%s",
                   mw__rows[i].name);
    }
}

int main(void)
{
    RUN(test_every_row_has_a_case);
    RUN(test_functions_of_slots_are_those_of_the_engine);
    RUN(test_every_row_applies_and_stops);
    return check_finish();
}
