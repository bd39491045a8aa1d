/* The phases of plans, each claim of the guide by a program in which it shows. */
#include "plan_properties.h"
#include "plan_text.h"
#include "support/check.h"

#include <millwright/chip_all.h>
#include <millwright/millwright.h>
#include <string.h>

#define IMAGE(name)                "tensor<fp16, [1, 16, 8, 8]> " name
#define V(shape, name, expression) "tensor<fp16, " shape "> " name " = " expression "; "
#define W3                         HALF("w", "[16, 16, 3, 3]")
#define CONV(name, x)              V("[1, 16, 8, 8]", name, "conv(pad_type = string(\"same\"), weight = w, x = " x ")")

static mw_chip_plan *plan_checked(const char *inputs, const char *body, const char *outputs,
                                  const mw_chip_plan_options *options)
{
    mw_chip_plan *plan = plan_of_text(inputs, body, outputs, MW_CHIP_H13, options);
    plan_check_properties(plan, body);
    return plan;
}

static bool is_state(const mw_chip_plan *plan, const char *name, mw_chip_allocation wanted)
{
    const mw_chip_value *v = plan_value(plan, name);
    return check_note(v != NULL && v->allocation == wanted, __FILE__, __LINE__, "\"%s\" is %s: %s", name,
                      v != NULL ? mw_chip_allocation_name(v->allocation) : "absent", v != NULL ? v->reason : "");
}

/* ---- what is published of dispatches and forms ---- */

static void test_a_fused_graph_is_one_dispatch_and_a_bridge_adds_one(void)
{
    mw_chip_plan *plan =
        plan_checked(IMAGE("x"),
                     W3 CONV("c", "x") HALF("b", "[1, 16, 1, 1]") V("[1, 16, 8, 8]", "d", "add(x = c, y = b)")
                         V("[1, 16, 8, 8]", "y", "relu(x = d)"),
                     "y", NULL);
    CHECK_INT(mw_chip_plan_get_totals(plan).segments, 1);
    CHECK_INT(mw_chip_plan_get_totals(plan).layers, 1); /* conv + bias + relu */
    mw_chip_plan_destroy(plan);
    const char *around = V("[1, 4, 8, 16]", "a", "relu(x = x)")
        V("[1, 4, 8, 16]", "s", "scaled_dot_product_attention(key = a, query = a, value = a)")
            V("[1, 4, 8, 16]", "y", "abs(x = s)");
    plan = plan_checked("tensor<fp16, [1, 4, 8, 16]> x", around, "y", NULL);
    CHECK_INT(mw_chip_plan_get_totals(plan).segments, 3);
    CHECK_INT(mw_chip_plan_get_totals(plan).bridges, 1);
    CHECK(plan_layer(plan, "s")->engine == MW_CHIP_ENGINE_BRIDGE && plan_layer(plan, "s")->segment == 1);
    is_state(plan, "a", MW_CHIP_ALLOCATION_STREAMED); /* it goes from program to program */
    mw_chip_plan_destroy(plan);
}

static size_t inferences(const mw_e5 *e5)
{
    size_t count = 0;
    const mw_e5_program *program = mw_e5_program_of(e5);
    for (size_t i = 0; i < program->operation_count; i++)
        count += strcmp(mw_e5_kind_name(program->operations[i].kind), "AneInference") == 0;
    return count;
}

/* Two files of this library cut a program, each by its own source: dispatches here are inferences there. */
static void test_dispatches_are_the_inferences_of_a_descriptor(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *h = mw_relu(mw_input(graph, "x", MW_F16, MW_SHAPE(1, 2, 4, 8))), *attention[1];
    const mw_argument arguments[] = {{"query", &h, 1}, {"key", &h, 1}, {"value", &h, 1}};
    mw_op(graph, "scaled_dot_product_attention", arguments, 3, attention, 1, &err);
    mw_output(mw_add(mw_tanh(attention[0]), h), "y");
    const mw_chip_plan_options options = plan_options();
    mw_chip_plan *plan = mw_chip_plan_create(graph, MW_CHIP_H13, &options, &err);
    mw_e5 *e5 = mw_e5_create(graph, NULL, &err);
    CHECK_OK(err);
    if (CHECK(plan != NULL && e5 != NULL))
        CHECK_INT(mw_chip_plan_get_totals(plan).segments, inferences(e5));
    mw_e5_destroy(e5);
    mw_chip_plan_destroy(plan);
    mw_graph_destroy(graph);
}

static void test_matmul_with_bias_and_gelu_is_one_layer(void)
{
    mw_chip_plan *plan = plan_checked("tensor<fp16, [8, 64]> x",
                                      HALF("w", "[64, 32]") HALF("b", "[32]") V("[8, 32]", "m", "matmul(x = x, y = w)")
                                          V("[8, 32]", "d", "add(x = m, y = b)")
                                              V("[8, 32]", "y", "gelu(mode = string(\"EXACT\"), x = d)"),
                                      "y", NULL);
    const mw_chip_layer *l = mw_chip_plan_layer_at(plan, 0);
    CHECK_INT(mw_chip_plan_get_totals(plan).layers, 1);
    CHECK(l != NULL && strcmp(l->kind, "convolution") == 0 && l->op_count == 3);
    CHECK(plan_op(plan, "d")->slot == MW_CHIP_SLOT_OFFSET && plan_op(plan, "y")->slot == MW_CHIP_SLOT_AFTER);
    /* the weights, the bias and the table of gelu: 64 x 32 and 32 halves, and 86 bytes on H13 */
    CHECK_INT(l->weight_bytes, 2 * (64 * 32 + 32) + 86);
    CHECK_NEAR(l->flops, 2.0 * 8 * 64 * 32, 0);
    mw_chip_plan_destroy(plan);
}

static void test_two_convolutions_that_are_added_stay_three_layers(void)
{
    mw_chip_plan *plan = plan_checked(IMAGE("x"),
                                      W3 CONV("c", "x") CONV("d", "x") V("[1, 16, 8, 8]", "a", "add(x = c, y = d)")
                                          V("[1, 16, 8, 8]", "y", "relu(x = a)"),
                                      "y", NULL);
    CHECK_INT(mw_chip_plan_get_totals(plan).layers, 3);
    CHECK(plan_op(plan, "y")->layer == plan_op(plan, "a")->layer); /* in the slot of the add */
    mw_chip_plan_destroy(plan);
}

/* ---- limits ---- */

static void test_what_a_chip_refuses_is_a_bridge_and_undoes_a_fusion(void)
{
    /* H13 has no sine: as it stands the program has a bridge, and the sine leaves the layer that it was fused into */
    mw_chip_plan *plan = plan_checked(
        IMAGE("x"), W3 CONV("c", "x") V("[1, 16, 8, 8]", "s", "sin(x = c)") V("[1, 16, 8, 8]", "y", "abs(x = s)"), "y",
        NULL);
    const mw_chip_plan_op *op = plan_op(plan, "s");
    CHECK(op != NULL && strcmp(op->rule->id, "refused") == 0);
    CHECK_INT(mw_chip_plan_get_totals(plan).layers, 3);
    CHECK_INT(mw_chip_plan_get_totals(plan).segments, 3);
    const mw_chip_split *split = mw_chip_plan_split_at(plan, 0);
    CHECK(split != NULL && strcmp(split->rule->id, "undone") == 0 && split->layer == op->layer);
    mw_chip_plan_destroy(plan);
    /* as mw_program_create writes it there is none */
    mw_chip_plan_options options = mw_chip_plan_defaults();
    plan = plan_of_text(IMAGE("x"), V("[1, 16, 8, 8]", "y", "sin(x = x)"), "y", MW_CHIP_H13, &options);
    CHECK_INT(mw_chip_plan_get_totals(plan).bridges, 0);
    CHECK(mw_chip_plan_get_totals(plan).layers > 0);
    mw_chip_plan_destroy(plan);
}

static void test_large_weights_are_cut_by_kernel_memory(void)
{
    mw_chip_plan_options options = plan_options();
    options.kernel_max = 16 * 16 * 9 * 2;
    mw_chip_plan *plan = plan_checked(IMAGE("x"), W3 CONV("y", "x"), "y", &options);
    CHECK_INT(plan_layer(plan, "y")->kernel_parts, 1);
    mw_chip_plan_destroy(plan);
    options.kernel_max--;
    plan = plan_checked(IMAGE("x"), W3 CONV("y", "x"), "y", &options);
    CHECK_INT(plan_layer(plan, "y")->kernel_parts, 2);
    CHECK(strcmp(mw_chip_plan_split_at(plan, 0)->rule->id, "kernel_memory") == 0);
    mw_chip_plan_destroy(plan);
}

/* 16 x 256 x 256 halves are 2 MB: in and out are two working sets. */
#define BIG "tensor<fp16, [1, 16, 256, 256]> "
static void test_large_values_are_cut_into_tiles_and_give_up_a_transpose(void)
{
    const char *body =
        W3 BIG "c = conv(pad_type = string(\"same\"), weight = w, x = x); tensor<fp16, [1, 256, 256, 16]> "
               "y = transpose(perm = tensor<int32, [4]>([0, 2, 3, 1]), x = c); ";
    mw_chip_plan_options options = plan_options();
    mw_chip_plan *plan = plan_checked(BIG "x", body, "y", NULL);
    CHECK(strcmp(plan_op(plan, "y")->rule->id, "transpose_recut") == 0);
    CHECK_INT(mw_chip_plan_get_totals(plan).layers, 2);
    CHECK_INT(plan_layer(plan, "c")->tiles, 2);
    mw_chip_plan_destroy(plan);
    options.keep_fusions = true;
    plan = plan_checked(BIG "x", body, "y", &options);
    CHECK_INT(mw_chip_plan_get_totals(plan).layers, 1);
    mw_chip_plan_destroy(plan);
}

/* ---- partitions ---- */

/* Layers of 16 x 128 x 128 halves, 512 KB each: two of them and the operand of the third pass 1.8 MB or not. */
#define HALF_MB "tensor<fp16, [1, 16, 128, 128]> "
static void test_a_partition_is_closed_where_the_margin_is_passed(void)
{
    const char *body = HALF_MB
        "a = softmax(axis = int32(1), x = x); " HALF_MB "b = softmax(axis = int32(1), x = a); " HALF_MB
        "c = softmax(axis = int32(1), x = b); " HALF_MB "d = add(x = a, y = b); " HALF_MB "y = add(x = c, y = d); ";
    mw_chip_plan_options options = plan_options();
    options.stream_tile = 0;
    options.margin = 0.75; /* of 2 MB: three values */
    mw_chip_plan *plan = plan_checked(HALF_MB "x", body, "y", &options);
    /* a, b and c are three; with d it would be four, but the scheduler may take d before c */
    const mw_chip_plan_totals t = mw_chip_plan_get_totals(plan);
    CHECK_INT(t.budget, 3 * 512 * 1024);
    CHECK(mw_chip_plan_partition_at(plan, 0)->peak <= t.budget);
    CHECK_INT(t.partitions, 1);
    mw_chip_plan_destroy(plan);
    options.margin = 0.74;
    plan = plan_checked(HALF_MB "x", body, "y", &options);
    CHECK(mw_chip_plan_get_totals(plan).partitions > 1);
    const mw_chip_partition *first = mw_chip_plan_partition_at(plan, 0);
    CHECK(strcmp(first->closed_by->id, "partition_full") == 0 && first->refused_peak == 3 * 512 * 1024);
    mw_chip_plan_destroy(plan);
}

/* ---- order ---- */

static size_t position(const mw_chip_plan *plan, const char *name)
{
    const mw_chip_layer *l = plan_layer(plan, name);
    for (size_t i = 0; mw_chip_plan_layer_at(plan, i) != NULL; i++)
        if (mw_chip_plan_layer_at(plan, i) == l)
            return i;
    return MW_CHIP_NONE;
}

/* Two branches of softmaxes behind one, of 8 and 32 channels by a slice, that a concat joins. */
static void test_of_a_diamond_the_larger_branch_goes_first_while_it_fits(void)
{
#define BRANCH(size, to, n)                                                                                            \
    "tensor<fp16, [1, " size ", 64, 64]> " n "1 = slice_by_size(begin = tensor<int32, [4]>([0, 0, 0, 0]), size = "     \
    "tensor<int32, [4]>([1, " size ", 64, 64]), x = s); tensor<fp16, [1, " size ", 64, 64]> " n                        \
    "2 = softmax(axis = int32(1), x = " n "1); "
    const char *body = "tensor<fp16, [1, 32, 64, 64]> s = softmax(axis = int32(1), x = x); " BRANCH("8", "", "a")
        BRANCH("24", "",
               "b") "tensor<fp16, [1, 32, 64, 64]> y = concat(axis = int32(1), interleave = bool(false), values "
                    "= (a2, b2)); ";
    mw_chip_plan *plan = plan_checked("tensor<fp16, [1, 32, 64, 64]> x", body, "y", NULL);
    CHECK(position(plan, "b1") < position(plan, "a1")); /* though it stands behind it */
    mw_chip_plan_destroy(plan);
}

static void test_the_order_of_the_program_decides_last(void)
{
    const char *body = V("[1, 16, 8, 8]", "a", "softmax(axis = int32(1), x = x)")
        V("[1, 16, 8, 8]", "b", "softmax(axis = int32(2), x = x)")
            V("[1, 16, 8, 8]", "c", "softmax(axis = int32(3), x = x)");
    mw_chip_plan *plan = plan_checked(IMAGE("x"), body, "a, b, c", NULL);
    CHECK(position(plan, "a") == 0 && position(plan, "b") == 1 && position(plan, "c") == 2);
    mw_chip_plan_destroy(plan);
}

/* Behind p stand a and c, behind q stands b: when a is scheduled, its sibling c goes before b. */
static void test_siblings_of_a_branch_go_together(void)
{
#define SOFT(name, x) V("[1, 16, 8, 8]", name, "softmax(axis = int32(1), x = " x ")")
    const char *body = SOFT("p", "x") SOFT("q", "x") SOFT("a", "p") SOFT("b", "q") SOFT("c", "p");
    mw_chip_plan_options options = plan_options();
    mw_chip_plan *plan = plan_checked(IMAGE("x"), body, "a, b, c", &options);
    CHECK(position(plan, "a") < position(plan, "c") && position(plan, "c") < position(plan, "b"));
    mw_chip_plan_destroy(plan);
    options.branch_score = MW_CHIP_SCORE_NONE;
    plan = plan_checked(IMAGE("x"), body, "a, b, c", &options);
    CHECK(position(plan, "b") < position(plan, "c"));
    mw_chip_plan_destroy(plan);
}

/* d wants b and c: when b is scheduled, c goes before the others, which stand before it. */
static void test_what_a_merge_waits_for_goes_first(void)
{
    const char *body =
        SOFT("b", "x") SOFT("e", "x") SOFT("f", "x") SOFT("c", "x") V("[1, 16, 8, 8]", "d", "add(x = b, y = c)");
    mw_chip_plan_options options = plan_options();
    mw_chip_plan *plan = plan_checked(IMAGE("x"), body, "d, e, f", &options);
    CHECK(position(plan, "b") == 0 && position(plan, "c") == 1);
    mw_chip_plan_destroy(plan);
    options.merge_score = MW_CHIP_SCORE_NONE;
    plan = plan_checked(IMAGE("x"), body, "d, e, f", &options);
    CHECK(position(plan, "c") == 3);
    mw_chip_plan_destroy(plan);
}

/* ---- pairs ---- */

static const mw_chip_pair *pair_of(const mw_chip_plan *plan, const char *first, const char *second)
{
    const mw_chip_pair *pair;
    for (size_t i = 0; (pair = mw_chip_plan_pair_at(plan, i)) != NULL; i++)
        if (pair->first == position(plan, first) && pair->second == position(plan, second))
            return pair;
    return NULL;
}

static void check_pair(const char *inputs, const char *body, const char *outputs, const char *first, const char *second,
                       const char *rule)
{
    mw_chip_plan *plan = plan_checked(inputs, body, outputs, NULL);
    const mw_chip_pair *pair = pair_of(plan, first, second);
    check_note(pair != NULL && strcmp(pair->rule->id, rule) == 0, __FILE__, __LINE__, "%s and %s: %s, not %s", first,
               second, pair != NULL ? pair->rule->id : "no neighbors", rule);
    mw_chip_plan_destroy(plan);
}

#define SEQ "tensor<fp16, [64, 64]> "
static void test_pairs_are_issued_or_say_why_not(void)
{
    /* attention: the softmax of the scores beside the product of the values */
    const char *attention = HALF("wv", "[64, 64]") SEQ "s = matmul(transpose_y = bool(true), x = x, y = x); " SEQ
                                                       "p = softmax(axis = int32(1), x = s); " SEQ
                                                       "v = matmul(x = x, y = wv); " SEQ "o = matmul(x = p, y = v); ";
    check_pair(SEQ "x", attention, "o", "p", "v", "co_issue");
    check_pair(SEQ "x", attention, "o", "s", "p", "producer_consumer");
    const char *same = SEQ "a = softmax(axis = int32(0), x = x); " SEQ "b = softmax(axis = int32(1), x = x); ";
    check_pair(SEQ "x", same, "a, b", "a", "b", "same_engine_class");
    /* both results are ports, and no weights are resident */
    const char *stream = SEQ "a = softmax(axis = int32(0), x = x); " SEQ "b = matmul(x = x, y = x); ";
    check_pair(SEQ "x", stream, "a, b", "a", "b", "both_stream");
    const char *exempt =
        HALF("w", "[64, 64]") SEQ "a = softmax(axis = int32(0), x = x); " SEQ "b = matmul(x = x, y = w); ";
    check_pair(SEQ "x", exempt, "a, b", "a", "b", "co_issue");
    /* the second of two softmaxes is chained to the first */
    const char *chained = HALF("w", "[64, 64]") SEQ "a = softmax(axis = int32(0), x = x); " SEQ
                                                    "c = softmax(axis = int32(1), x = a); " SEQ
                                                    "b = matmul(x = x, y = w); " SEQ "y = add(x = b, y = c); ";
    check_pair(SEQ "x", chained, "y", "c", "b", "chained_input");
    /* three in a row: the one in the middle has a partner */
    const char *three =
        HALF("w", "[64, 64]") SEQ "a = softmax(axis = int32(0), x = x); " SEQ "b = matmul(x = x, y = w); " SEQ
                                  "c = softmax(axis = int32(1), x = x); ";
    check_pair(SEQ "x", three, "a, b, c", "b", "c", "already_issued");
    const char *apart =
        "tensor<fp16, [1, 4, 8, 16]> a = softmax(axis = int32(1), x = x); tensor<fp16, [1, 4, 8, 16]> s = "
        "scaled_dot_product_attention(key = a, query = a, value = a); ";
    check_pair("tensor<fp16, [1, 4, 8, 16]> x", apart, "s", "a", "s", "not_scheduled");
}

/* ---- allocation ---- */

static void test_a_chain_wants_all_that_the_guide_names(void)
{
    const char *body = W3 CONV("a", "x") CONV("b", "a") V("[1, 16, 8, 8]", "s", "softmax(axis = int32(1), x = b)")
        V("[1, 16, 8, 8]", "t", "softmax(axis = int32(2), x = s)") V("[1, 16, 8, 8]", "y", "add(x = t, y = s)");
    mw_chip_plan *plan = plan_checked(IMAGE("x"), body, "y", NULL);
    is_state(plan, "a", MW_CHIP_ALLOCATION_CHAINED);
    is_state(plan, "b", MW_CHIP_ALLOCATION_DEPENDENT); /* its reader is on the other engine */
    is_state(plan, "s", MW_CHIP_ALLOCATION_RESIDENT);  /* two readers */
    mw_chip_plan_destroy(plan);
    mw_chip_plan_options options = plan_options();
    options.no_chaining = true;
    plan = plan_checked(IMAGE("x"), body, "y", &options);
    is_state(plan, "a", MW_CHIP_ALLOCATION_RESIDENT);
    mw_chip_plan_destroy(plan);
}

static void test_values_are_written_over_what_ends(void)
{
    const char *body = W3 V("[1, 16, 8, 8]", "s", "softmax(axis = int32(1), x = x)")
        V("[1, 16, 8, 8]", "u", "softmax(axis = int32(2), x = s)") V("[1, 16, 8, 8]", "a", "add(x = u, y = s)")
            CONV("y", "a");
    mw_chip_plan_options options = plan_options();
    options.no_chaining = true; /* u would be chained into the add */
    mw_chip_plan *plan = plan_checked(IMAGE("x"), body, "y", &options);
    is_state(plan, "a", MW_CHIP_ALLOCATION_IN_PLACE);
    CHECK(plan_value(plan, "a")->offset == mw_chip_plan_value_at(plan, plan_value(plan, "a")->over)->offset);
    mw_chip_plan_destroy(plan);
    plan = plan_checked(IMAGE("x"), body, "y", NULL);
    is_state(plan, "u", MW_CHIP_ALLOCATION_CHAINED);
    is_state(plan, "a", MW_CHIP_ALLOCATION_IN_PLACE_DEPENDENT); /* over s */
    mw_chip_plan_destroy(plan);
    options = plan_options();
    options.no_in_place = true;
    plan = plan_checked(IMAGE("x"), body, "y", &options);
    is_state(plan, "a", MW_CHIP_ALLOCATION_DEPENDENT);
    mw_chip_plan_destroy(plan);
}

static void test_tiled_values_are_rings_or_in_dram(void)
{
    const char *body = W3 BIG "a = conv(pad_type = string(\"same\"), weight = w, x = x); " BIG
                              "b = conv(pad_type = string(\"same\"), weight = w, x = a); " BIG
                              "c = conv(pad_type = string(\"same\"), weight = w, x = b); " BIG
                              "d = sigmoid(x = c); " BIG "s = softmax(axis = int32(1), x = d); " BIG
                              "e = add(x = s, y = fp16(1)); " BIG "y = softmax(axis = int32(2), x = e); ";
    mw_chip_plan *plan = plan_checked(BIG "x", body, "y", NULL);
    is_state(plan, "a", MW_CHIP_ALLOCATION_RING);
    is_state(plan, "b", MW_CHIP_ALLOCATION_RING_DEPENDENT);
    is_state(plan, "d", MW_CHIP_ALLOCATION_STREAMED); /* softmax reads no windows */
    is_state(plan, "e", MW_CHIP_ALLOCATION_IN_PLACE_DRAM);
    CHECK(plan_value(plan, "a")->extent < plan_value(plan, "a")->bytes);
    mw_chip_plan_destroy(plan);
    mw_chip_plan_options options = plan_options();
    options.no_ring_buffers = true;
    plan = plan_checked(BIG "x", body, "y", &options);
    is_state(plan, "a", MW_CHIP_ALLOCATION_STREAMED);
    mw_chip_plan_destroy(plan);
}

/* ---- writing ---- */

static void test_names_of_a_program_are_no_markup(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F16, MW_SHAPE(1, 16, 64, 64));
    mw_tensor *hidden = mw_name(mw_softmax(x, 1), "</text><script>\"&");
    mw_output(mw_softmax(hidden, 2), "y");
    mw_chip_plan *plan = mw_chip_plan_create(graph, MW_CHIP_H13, NULL, &err);
    CHECK_OK(err);
    plan_check_properties(plan, "names");
    char *svg = mw_chip_plan_print_svg(plan, &err), *json = mw_chip_plan_print_json(plan, &err);
    CHECK(svg != NULL && strstr(svg, "<script") == NULL && strstr(svg, "&lt;script&gt;&quot;&amp;") != NULL);
    CHECK(json != NULL && strstr(json, "<script>\\\"&") != NULL);
    mw_string_free(svg);
    mw_string_free(json);
    mw_chip_plan_destroy(plan);
    mw_graph_destroy(graph);
}

int main(void)
{
    RUN(test_a_fused_graph_is_one_dispatch_and_a_bridge_adds_one);
    RUN(test_dispatches_are_the_inferences_of_a_descriptor);
    RUN(test_matmul_with_bias_and_gelu_is_one_layer);
    RUN(test_two_convolutions_that_are_added_stay_three_layers);
    RUN(test_what_a_chip_refuses_is_a_bridge_and_undoes_a_fusion);
    RUN(test_large_weights_are_cut_by_kernel_memory);
    RUN(test_large_values_are_cut_into_tiles_and_give_up_a_transpose);
    RUN(test_a_partition_is_closed_where_the_margin_is_passed);
    RUN(test_of_a_diamond_the_larger_branch_goes_first_while_it_fits);
    RUN(test_the_order_of_the_program_decides_last);
    RUN(test_siblings_of_a_branch_go_together);
    RUN(test_what_a_merge_waits_for_goes_first);
    RUN(test_pairs_are_issued_or_say_why_not);
    RUN(test_a_chain_wants_all_that_the_guide_names);
    RUN(test_values_are_written_over_what_ends);
    RUN(test_tiled_values_are_rings_or_in_dram);
    RUN(test_names_of_a_program_are_no_markup);
    return check_finish();
}
