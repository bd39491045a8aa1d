/* Copy with substitution: what goes along, what roots leave out, element types, rules, operations without a row. */
#include "graph/graph_check.h"

#include "graph/transform/clone/clone.h"
#include "support/op_count.h"

#define S MW_SHAPE

/* A target graph with a clone of main into it; the caller checks status and frees both. */
typedef struct copied {
    mw_graph *to;
    mw__clone clone;
    mw_status status;
    mw_error err;
} copied;

static copied run_clone(const mw_graph *from, const mw__clone_options *options)
{
    copied result = {.to = mw_graph_create(NULL, NULL)};
    result.status = mw__clone_run(&result.clone, mw__graph_main(from), result.to, options, &result.err);
    return result;
}

static void end_clone(copied *result)
{
    mw__clone_deinit(&result->clone);
    mw_graph_destroy(result->to);
}

static mw_graph *make_mlp(void)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(g, "x", MW_F32, S(4, 3));
    mw_tensor *h = mw_name(mw_gelu(mw_dense(x, 5, "fc1"), MW_GELU_TANH), "h");
    mw_output(mw_softmax(mw_dense(h, 2, "fc2"), -1), "p");
    mw_output(mw_reduce_sum(h, MW_ALL_AXES, false), "total");
    return g;
}

static mw_dtype to_half(void *user, const mw_tensor *value)
{
    (void)user;
    return mw_tensor_dtype(value) == MW_F32 ? MW_F16 : mw_tensor_dtype(value);
}

static void test_everything_prints_the_same(void)
{
    mw_graph *g = make_mlp();
    const mw__clone_options options = {.keep_outputs = true};
    copied copy = run_clone(g, &options);
    CHECK_OK(copy.err);
    char *before = mw_graph_print(g, NULL), *after = mw_graph_print(copy.to, NULL);
    REQUIRE(before != NULL && after != NULL);
    CHECK_STR(after, before);
    CHECK_INT(copy.to->value_count, g->value_count);
    mw_string_free(before);
    mw_string_free(after);
    end_clone(&copy);
    mw_graph_destroy(g);
}

static void test_copy_outlives_its_source(void)
{
    mw_graph *g = make_mlp();
    mw_name(mw_constant(g, MW_F32, S(2), (const float[]){1, 2}), "c");
    const float start[] = {3, 4};
    mw_parameter(g, "w", MW_F32, S(2), mw_init_data(start));
    const mw__clone_options options = {.keep_outputs = true};
    copied copy = run_clone(g, &options);
    mw_graph_destroy(g);
    CHECK_OK(copy.err);
    const mw_tensor *w = mw_graph_find(copy.to, "w");
    REQUIRE(w != NULL && w->init != NULL);
    CHECK(w->role == MW__PARAMETER && ((const float *)w->init->data)[1] == 4);
    CHECK(mw__payload_float(mw_graph_find(copy.to, "c")->payload, 1) == 2);
    char *text = mw_graph_print(copy.to, NULL); /* ASan sees any pointer into the source */
    REQUIRE(text != NULL);
    CHECK_CONTAINS(text, "fc1.weight");
    mw_string_free(text);
    end_clone(&copy);
}

static void test_roots_leave_out_the_rest(void)
{
    mw_graph *g = make_mlp();
    mw_tensor *root = mw_graph_find(g, "total");
    const mw__clone_options options = {.roots = &root, .root_count = 1, .keep_outputs = true};
    copied copy = run_clone(g, &options);
    CHECK_OK(copy.err);
    const mw__block *body = copy.to->current->body;
    CHECK_INT(body->output_count, 1);
    CHECK_INT(body->input_count, 3); /* x, fc1.weight, fc1.bias */
    CHECK(mw_graph_find(copy.to, "fc2.weight") == NULL);
    CHECK_INT(op_count(body, "softmax"), 0);
    CHECK_INT(op_count(body, "matmul"), 1);
    CHECK(mw__clone_get(&copy.clone, mw_graph_find(g, "p")) == NULL);
    CHECK(mw__clone_get(&copy.clone, root) == body->outputs[0]);
    end_clone(&copy);
    mw_graph_destroy(g);
}

static void test_root_of_another_graph_is_refused(void)
{
    mw_graph *g = make_mlp(), *other = make_mlp();
    mw_tensor *root = mw_graph_find(other, "p");
    const mw__clone_options options = {.roots = &root, .root_count = 1};
    copied copy = run_clone(g, &options);
    CHECK_ERROR(copy.err, MW_ERROR_ARGUMENT, "root 0 is no tensor of the source graph");
    end_clone(&copy);
    mw_graph_destroy(other);
    mw_graph_destroy(g);
}

/* ---- element types ---- */

static void test_dtype_reaches_every_float(void)
{
    mw_graph *g = make_mlp();
    mw_tensor *p = mw_graph_find(g, "p");
    mw_tensor *c = mw_constant(g, MW_F32, S(2), (const float[]){0.1f, 2});
    mw_tensor *y = mw_log(mw_add(p, c), 1e-3f);
    y = mw_linear(y, mw_constant(g, MW_F32, S(1, 2), (const float[]){1, 2}), NULL);
    y = mw_mul(y, mw_fill(g, MW_F32, S(1), 3));
    y = mw_gather(y, mw_constant(g, MW_I32, S(1), (const int32_t[]){0}), 0);
    mw_output(mw_clip(y, 0, 1), "y");
    CHECK_INT(mw_graph_check(g, NULL), MW_OK);
    const mw__clone_options options = {.dtype = to_half, .keep_outputs = true};
    copied copy = run_clone(g, &options);
    CHECK_OK(copy.err);
    for (size_t i = 0; i < copy.to->value_count; i++)
        CHECK(mw_tensor_dtype(copy.to->values[i]) != MW_F32);
    CHECK_INT(copy.to->value_count, g->value_count); /* nothing is made twice */
    const mw_tensor *sum = mw__clone_get(&copy.clone, c);
    REQUIRE(sum != NULL);
    CHECK_NEAR(mw__payload_float(sum->payload, 0), 0.0999755859375, 0); /* 0.1 in fp16 */
    end_clone(&copy);
    mw_graph_destroy(g);
}

static void test_constant_that_overflows_half_is_refused(void)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(g, "x", MW_F32, S(2));
    mw_output(mw_add(x, mw_name(mw_scalar(g, MW_F32, 1e6), "bias")), "y");
    const mw__clone_options options = {.dtype = to_half, .keep_outputs = true};
    copied copy = run_clone(g, &options);
    CHECK_ERROR(copy.err, MW_ERROR_NUMERIC, "holds 1e+06, which fp16 cannot");
    CHECK_STR(copy.err.tensor, "bias");
    end_clone(&copy);
    mw_graph_destroy(g);
}

static void test_parameter_data_follow_the_dtype(void)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    const float start[] = {1, -2};
    mw_parameter(g, "w", MW_F32, S(2), mw_init_data(start));
    const mw__clone_options options = {.dtype = to_half};
    copied copy = run_clone(g, &options);
    CHECK_OK(copy.err);
    const mw_tensor *w = mw_graph_find(copy.to, "w");
    REQUIRE(w != NULL);
    CHECK_INT(((const uint16_t *)w->init->data)[0], 0x3c00);
    CHECK_INT(((const uint16_t *)w->init->data)[1], 0xc000);
    end_clone(&copy);
    mw_graph_destroy(g);
}

/* ---- rules ---- */

/* relu becomes clip to [0, 6]; counts what it is asked. */
static bool relu_to_clip(void *user, mw__clone *clone, const mw__op *op)
{
    (*(int *)user)++;
    if (strcmp(op->kind, "relu") != 0)
        return false;
    mw__clone_set(clone, op->results[0], mw_clip(mw__clone_get(clone, mw__arg(op, "x")), 0, 6));
    return true;
}

static void test_rule_replaces_and_the_name_goes_along(void)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *h = mw_name(mw_relu(mw_input(g, "x", MW_F32, S(2))), "h");
    mw_output(mw_exp(h), "y");
    int asked = 0;
    const mw__clone_options options = {.rule = relu_to_clip, .user = &asked, .keep_outputs = true};
    copied copy = run_clone(g, &options);
    CHECK_OK(copy.err);
    CHECK_INT(asked, 2);
    const mw_tensor *named = mw_graph_find(copy.to, "h");
    REQUIRE(named != NULL && named->op != NULL);
    CHECK_STR(named->op->kind, "clip");
    CHECK(mw__arg(mw_graph_find(copy.to, "y")->op, "x") == named);
    end_clone(&copy);
    mw_graph_destroy(g);
}

/* The input halves: everything after it is inferred again. */
static bool halve(void *user, mw__clone *clone, const mw__op *op)
{
    (void)user;
    if (strcmp(op->kind, "identity") != 0)
        return false;
    mw_tensor *x = mw__clone_get(clone, mw__arg(op, "x"));
    mw__clone_set(clone, op->results[0], mw_slice_by_size(x, (const int64_t[]){0, 0}, (const int64_t[]){2, 3}));
    return true;
}

static void test_shapes_follow_what_a_rule_changed(void)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_output(mw_exp(mw_identity(mw_input(g, "x", MW_F32, S(4, 3)))), "y");
    const mw__clone_options options = {.rule = halve, .keep_outputs = true};
    copied copy = run_clone(g, &options);
    CHECK_OK(copy.err);
    CHECK_TYPE(mw_graph_find(copy.to, "y"), MW_F32, S(2, 3));
    end_clone(&copy);
    mw_graph_destroy(g);
}

static bool fail_rule(void *user, mw__clone *clone, const mw__op *op)
{
    (void)user;
    mw__graph_fail(clone->to, MW_ERROR_UNSUPPORTED, "rule: no %s here", op->kind);
    return true;
}

static bool lose_result(void *user, mw__clone *clone, const mw__op *op)
{
    (void)user;
    (void)clone;
    return strcmp(op->kind, "exp") == 0;
}

static void test_errors_of_rules_come_out(void)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_output(mw_abs(mw_exp(mw_input(g, "x", MW_F32, S(1)))), "y");
    copied copy = run_clone(g, &(const mw__clone_options){.rule = fail_rule});
    CHECK_ERROR(copy.err, MW_ERROR_UNSUPPORTED, "rule: no exp here");
    end_clone(&copy);
    copy = run_clone(g, &(const mw__clone_options){.rule = lose_result});
    CHECK_ERROR(copy.err, MW_ERROR_STATE, "abs \"y\" uses a value that was not copied");
    end_clone(&copy);
    mw_graph_destroy(g);
}

/* ---- more of rules ---- */

static bool identity_to_half(void *user, mw__clone *clone, const mw__op *op)
{
    (void)user;
    if (strcmp(op->kind, "identity") != 0)
        return false;
    mw__clone_set(clone, op->results[0], mw_cast(mw__clone_get(clone, mw__arg(op, "x")), MW_F16));
    return true;
}

/* Makes an argument a literal in the text's sense: no statement, spelled where it is used. */
static void make_literal(mw_tensor *y, const char *arg)
{
    mw_tensor *literal = mw__value_create(y->graph, mw__arg(y->op, arg)->type, arg, NULL);
    literal->payload = mw__arg(y->op, arg)->payload;
    for (size_t i = 0; i < y->op->slot_count; i++) {
        if (strcmp(y->op->slots[i].name, arg) == 0) {
            y->op->slots[i].operands[0].value = literal;
            y->op->slots[i].operands[0].inlined = true;
        }
    }
}

static void test_constants_follow_a_type_that_a_rule_changed(void)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *y = mw_identity(mw_input(g, "x", MW_F32, S(2)));
    y = mw_log(mw_add(y, mw_scalar(g, MW_F32, 2)), 1e-3f);
    y = mw_clip(y, -1, 1);
    make_literal(y, "alpha");
    mw_output(y, "y");
    const mw__clone_options options = {.rule = identity_to_half, .keep_outputs = true};
    copied copy = run_clone(g, &options);
    CHECK_OK(copy.err);
    const mw_tensor *clip = mw_graph_find(copy.to, "y");
    REQUIRE(clip != NULL);
    CHECK_TYPE(clip, MW_F16, S(2));
    CHECK_TYPE(mw__arg(clip->op, "alpha"), MW_F16, mw_shape_scalar());
    CHECK(mw__arg(clip->op, "alpha")->op == NULL && clip->op->slots[0].operands[0].inlined);
    const mw__op *log_op = mw__arg(clip->op, "x")->op;
    CHECK_TYPE(mw__arg(log_op, "epsilon"), MW_F16, mw_shape_scalar());
    CHECK_TYPE(mw__arg(mw__arg(log_op, "x")->op, "y"), MW_F16, mw_shape_scalar());
    end_clone(&copy);
    mw_graph_destroy(g);
}

static bool drop_identity(void *user, mw__clone *clone, const mw__op *op)
{
    (void)user;
    if (strcmp(op->kind, "identity") != 0)
        return false;
    mw__clone_set(clone, op->results[0], mw__clone_get(clone, mw__arg(op, "x")));
    return true;
}

static void test_stop_mark_does_not_land_on_an_older_value(void)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_output(mw_exp(mw_stop_gradient(mw_input(g, "x", MW_F32, S(2)))), "y");
    const mw__clone_options options = {.rule = drop_identity, .keep_outputs = true};
    copied copy = run_clone(g, &options);
    CHECK_OK(copy.err);
    CHECK(!mw_graph_find(copy.to, "x")->stop_gradient);
    CHECK(mw__arg(mw_graph_find(copy.to, "y")->op, "x")->stop_gradient);
    end_clone(&copy);
    mw_graph_destroy(g);
}

static void test_declared_extents_that_no_rule_knows_are_kept(void)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(g, "x", MW_F32, S(6));
    mw_tensor *y = op(g, "reshape", "x", x, "shape", mw_input(g, "s", MW_I32, S(2)), NULL);
    y->type = mw__type_tensor(g, MW_F32, S(2, 3), NULL);
    copied copy = run_clone(g, NULL);
    CHECK_OK(copy.err);
    CHECK_TYPE(mw__clone_get(&copy.clone, y), MW_F32, S(2, 3));
    end_clone(&copy);
    mw_graph_destroy(g);
}

static void test_second_clone_needs_inputs_of_its_own(void)
{
    mw_graph *g = make_mlp();
    copied copy = run_clone(g, NULL);
    CHECK_OK(copy.err);
    mw__clone second;
    mw__clone_run(&second, g->current, copy.to, NULL, &copy.err);
    CHECK_ERROR(copy.err, MW_ERROR_ARGUMENT, "the target has a \"x\" already");
    mw__clone_deinit(&second);
    end_clone(&copy);
    mw_graph_destroy(g);
}

/* ---- marks and records ---- */

static void test_stop_marks_and_composites_go_along(void)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(g, "x", MW_F32, S(2)), *s = mw_name(mw_stop_gradient(x), "s");
    mw_tensor *unused = mw_name(mw_exp(x), "examples"), *counts = mw_name(mw_exp(unused), "weights");
    const mw__composite record = {
        .name = "squared", .inputs = (mw_tensor *[]){x, s}, .input_count = 2, .examples = unused, .weights = counts};
    const int64_t ignored = -1;
    mw_tensor *y = mw_mul(s, s);
    mw__composite_attach(y, &record);
    mw__limit_indices(x, 7, &ignored);
    const mw__clone_options options = {.roots = &y, .root_count = 1};
    copied copy = run_clone(g, &options);
    CHECK_OK(copy.err);
    const mw_tensor *after = mw__clone_get(&copy.clone, y);
    REQUIRE(after != NULL && after->composite != NULL);
    CHECK_STR(after->composite->name, "squared");
    CHECK(after->composite->inputs[0] == mw_graph_find(copy.to, "x"));
    CHECK(after->composite->inputs[1] == mw_graph_find(copy.to, "s"));
    CHECK(after->composite->examples == mw_graph_find(copy.to, "examples"));
    CHECK(mw_graph_find(copy.to, "s")->stop_gradient && !mw_graph_find(copy.to, "x")->stop_gradient);
    CHECK(after->composite->weights != NULL && after->composite->weights == mw_graph_find(copy.to, "weights"));
    CHECK_INT(mw_graph_find(copy.to, "x")->index_limit, 7);
    CHECK_INT(mw_graph_find(copy.to, "x")->index_ignored, -1);
    CHECK_INT(mw_graph_find(copy.to, "x")->index_use, MW__INDEX_IGNORES);
    end_clone(&copy);
    mw_graph_destroy(g);
}

/* ---- operations without a row, nested blocks ---- */

/* cond(pred) { relu(x) } { exp(x) }, as a parser would make it; its result is declared. */
static mw_tensor *add_cond(mw_graph *g, mw_tensor *pred, mw_tensor *x)
{
    mw__op *op = mw__arena_alloc(&g->arena, 1, sizeof *op, NULL);
    mw__slot *slot = mw__arena_alloc(&g->arena, 1, sizeof *slot, NULL);
    mw__operand *operand = mw__arena_alloc(&g->arena, 1, sizeof *operand, NULL);
    mw__block **blocks = mw__arena_alloc(&g->arena, 2, sizeof *blocks, NULL);
    mw_tensor **results = mw__arena_alloc(&g->arena, 1, sizeof *results, NULL);
    operand->value = pred;
    *slot = (mw__slot){.name = "pred", .operands = operand, .count = 1};
    *op = (mw__op){.kind = "cond", .name = "branch", .slots = slot, .slot_count = 1, .results = results};
    op->blocks = blocks;
    op->block_count = 2;
    for (int i = 0; i < 2; i++) {
        blocks[i] = mw__block_create(g->current, op, NULL);
        g->block = blocks[i];
        mw_tensor *y = i == 0 ? mw_relu(x) : mw_exp(x);
        y->name = "inner"; /* sibling blocks may reuse a name */
        mw__block_add_output(blocks[i], y, NULL);
    }
    g->block = g->current->body;
    results[0] = mw__value_create(g, x->type, "cond", NULL);
    results[0]->op = op;
    op->result_count = 1;
    mw__block_add_op(g->block, op, NULL);
    return results[0];
}

static void test_operation_without_a_row_is_copied_verbatim(void)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *h = mw_abs(mw_input(g, "x", MW_F32, S(2)));
    mw_tensor *p = mw_input(g, "p", MW_BOOL, mw_shape_scalar());
    mw_tensor *y = add_cond(g, p, h);
    const mw__clone_options options = {.roots = &y, .root_count = 1};
    copied copy = run_clone(g, &options);
    CHECK_OK(copy.err);
    const mw_tensor *after = mw__clone_get(&copy.clone, y);
    REQUIRE(after != NULL && after->op->block_count == 2);
    CHECK_STR(after->op->kind, "cond");
    CHECK_STR(after->op->name, "branch");
    CHECK_TYPE(after, MW_F32, S(2));
    CHECK(mw__arg(after->op, "pred") == mw_graph_find(copy.to, "p"));
    const mw__block *second = after->op->blocks[1];
    CHECK_INT(second->op_count, 1);
    CHECK_STR(second->ops[0]->kind, "exp");
    CHECK(second->outputs[0] == second->ops[0]->results[0] && second->owner == after->op);
    CHECK(mw__arg(second->ops[0], "x") == mw__clone_get(&copy.clone, h)); /* an outer value was needed */
    CHECK(copy.to->block == copy.to->current->body);
    end_clone(&copy);
    mw_graph_destroy(g);
}

/* ---- other opsets, misuse ---- */

static void test_newer_opset_gets_the_new_defaults(void)
{
    mw_graph *g = make_graph(MW_IOS15, NULL);
    mw_output(mw_gather(mw_input(g, "x", MW_F32, S(3)), mw_input(g, "i", MW_I32, S(2)), 0), "y");
    copied copy = run_clone(g, &(const mw__clone_options){.keep_outputs = true});
    CHECK_OK(copy.err);
    const mw_tensor *y = mw_graph_find(copy.to, "y");
    REQUIRE(y != NULL);
    CHECK_INT(y->op->row->id, MW__OP_gather_ios17);
    CHECK(mw__arg(y->op, "validate_indices") != NULL && mw__arg(y->op, "batch_dims") != NULL);
    end_clone(&copy);
    mw_graph_destroy(g);
}

static void test_older_opset_refuses_new_arguments(void)
{
    mw_graph *g = make_graph(MW_IOS18, NULL), *to = make_graph(MW_IOS15, NULL);
    mw_gather(mw_input(g, "x", MW_F32, S(3)), mw_input(g, "i", MW_I32, S(2)), 0);
    mw__clone clone;
    mw_error err = {0};
    const mw__clone_options options = {.rule = NULL};
    mw__clone_run(&clone, g->current, to, &options, &err);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "gather: has no argument batch_dims in opset ios15");
    mw__clone_deinit(&clone);
    mw_graph_destroy(to);
    mw_graph_destroy(g);
}

static void test_clone_into_itself_or_from_a_failed_graph_is_refused(void)
{
    mw_graph *g = make_mlp();
    mw__clone clone;
    mw_error err = {0};
    const mw__clone_options options = {.rule = NULL};
    mw__clone_run(&clone, g->current, g, &options, &err);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "source and target are one graph");
    mw__clone_deinit(&clone);
    mw_softmax(mw_graph_find(g, "x"), 5);
    copied copy = run_clone(g, &options);
    CHECK_ERROR(copy.err, MW_ERROR_ARGUMENT, "softmax #2: axis 5");
    end_clone(&copy);
    mw_graph_destroy(g);
}

int main(void)
{
    RUN(test_everything_prints_the_same);
    RUN(test_copy_outlives_its_source);
    RUN(test_roots_leave_out_the_rest);
    RUN(test_root_of_another_graph_is_refused);
    RUN(test_dtype_reaches_every_float);
    RUN(test_constant_that_overflows_half_is_refused);
    RUN(test_parameter_data_follow_the_dtype);
    RUN(test_rule_replaces_and_the_name_goes_along);
    RUN(test_shapes_follow_what_a_rule_changed);
    RUN(test_errors_of_rules_come_out);
    RUN(test_constants_follow_a_type_that_a_rule_changed);
    RUN(test_stop_mark_does_not_land_on_an_older_value);
    RUN(test_declared_extents_that_no_rule_knows_are_kept);
    RUN(test_second_clone_needs_inputs_of_its_own);
    RUN(test_stop_marks_and_composites_go_along);
    RUN(test_operation_without_a_row_is_copied_verbatim);
    RUN(test_newer_opset_gets_the_new_defaults);
    RUN(test_older_opset_refuses_new_arguments);
    RUN(test_clone_into_itself_or_from_a_failed_graph_is_refused);
    return check_finish();
}
