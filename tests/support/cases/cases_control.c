/* Cases of ops/control.def. To cover a row: one builder if none fits, one line in the table. */
#include "support/cases/op_case_rows.h"

/* ---- branches ---- */

static void yes(void *user, mw_tensor **out, size_t count)
{
    mw_tensor *const *in = user;
    (void)count;
    out[0] = mw_add(in[0], in[0]);
}

static void no(void *user, mw_tensor **out, size_t count)
{
    mw_tensor *const *in = user;
    (void)count;
    out[0] = mw_abs(in[0]);
}

static mw_tensor *b_cond(mw_tensor *const *in)
{
    mw_tensor *y = NULL;
    mw_cond(mw_squeeze(in[1], MW_AXES(0)), yes, no, (void *)(uintptr_t)in, &y, 1);
    return y;
}

static mw_tensor *b_cond_not(mw_tensor *const *in)
{
    mw_tensor *y = NULL;
    mw_cond(mw_logical_not(mw_squeeze(in[1], MW_AXES(0))), yes, no, (void *)(uintptr_t)in, &y, 1);
    return y;
}

/* ---- loops ---- */

/* i < 9 and i < in[1]: bounded, so that it can be flattened. */
static mw_tensor *below(void *user, mw_tensor *const *vars, size_t count)
{
    mw_tensor *const *in = user;
    (void)count;
    return mw_logical_and(mw_less(vars[0], mw_scalar(mw_tensor_graph(in[0]), MW_I32, 9)),
                          mw_less(vars[0], mw_squeeze(in[1], MW_AXES(0))));
}

/* i + 1, and -w, v for v, w. */
static void turn(void *user, mw_tensor *const *vars, size_t count, mw_tensor **out)
{
    mw_tensor *const *in = user;
    (void)count;
    out[0] = mw_add(vars[0], mw_scalar(mw_tensor_graph(in[0]), MW_I32, 1));
    out[1] = mw_neg(vars[2]);
    out[2] = vars[1];
}

static mw_tensor *b_loop(mw_tensor *const *in)
{
    mw_tensor *vars[3] = {mw_scalar(mw_tensor_graph(in[0]), MW_I32, 0), in[0], mw_abs(in[0])}, *y[3];
    mw_while_loop(vars, 3, below, turn, (void *)(uintptr_t)in, y);
    return y[1];
}

/* ---- lists ---- */

static mw_tensor *number(mw_tensor *const *in, double value)
{
    return mw_scalar(mw_tensor_graph(in[0]), MW_I32, value);
}

static mw_tensor *three(mw_tensor *const *in, int32_t a, int32_t b, int32_t c)
{
    return mw_constant(mw_tensor_graph(in[0]), MW_I32, MW_SHAPE(3), (const int32_t[]){a, b, c});
}

/* x [3, 4] in a list of `length`, at 2, 0, 2 (the last counts); index in[1]. */
static mw_tensor *filled(mw_tensor *const *in, int64_t length, bool dynamic)
{
    mw_tensor *list = mw_make_list(mw_tensor_graph(in[0]), mw_tensor_dtype(in[0]), MW_SHAPE(4), length, dynamic);
    return mw_list_scatter(list, three(in, 2, 0, 2), in[0]);
}

static mw_tensor *row(mw_tensor *const *in) { return mw_reduce_sum(mw_mul(in[0], in[0]), MW_AXES(0), false); }

/* clang-format off */
BUILD(made, mw_list_read(mw_make_list(mw_tensor_graph(in[0]), mw_tensor_dtype(in[0]), MW_SHAPE(2), 3, false), in[1]))
BUILD(scattered, mw_list_gather(filled(in, 4, false), three(in, 0, 2, 3)))
BUILD(grown, mw_list_gather(filled(in, 1, true), three(in, 2, 1, 0)))
BUILD(read, mw_list_read(filled(in, 3, false), in[1]))
BUILD(written, mw_list_gather(mw_list_write(filled(in, 3, false), in[1], mw_abs(mw_list_read(filled(in, 3, false), number(in, 2)))), three(in, 0, 1, 2)))
BUILD(length, mw_list_length(mw_list_write(filled(in, 1, true), number(in, 6), row(in))))
BUILD(fixed_length, mw_list_length(filled(in, 5, false)))
/* clang-format on */

/* ---- states ---- */

/* An input of a state's type; there is no constructor, as graphs that are built have mw_state. */
static mw_tensor *state_like(mw_tensor *x)
{
    mw_graph *graph = mw_tensor_graph(x);
    if (graph == NULL || mw_graph_check(graph, NULL) != MW_OK)
        return NULL;
    mw_error *err = &graph->error;
    mw__type *type = mw__arena_alloc(&graph->arena, 1, sizeof *type, err);
    const mw__type **element = mw__arena_alloc(&graph->arena, 1, sizeof *element, err);
    if (type == NULL || element == NULL)
        return NULL;
    element[0] = x->type;
    *type = (mw__type){.kind = MW__STATE, .count = 1, .element = element};
    mw_tensor *state = mw__value_create(graph, type, "state", err);
    if (state == NULL || mw__block_add_input(graph->current->body, state, err) != MW_OK)
        return NULL;
    state->role = MW__INPUT;
    state->name = "state";
    return state;
}

static mw_tensor *read_of(mw_tensor *state)
{
    const mw_argument arguments[] = {{"input", &state, 1}};
    mw_tensor *y = NULL;
    mw_op(mw_tensor_graph(state), "read_state", arguments, 1, &y, 1, NULL);
    return y;
}

static mw_tensor *b_state(mw_tensor *const *in)
{
    mw_tensor *state = state_like(in[0]);
    if (state == NULL)
        return NULL;
    mw_tensor *before = read_of(state), *next = mw_add(before, in[0]);
    const mw_argument arguments[] = {{"data", &next, 1}, {"input", &state, 1}};
    mw_op(mw_tensor_graph(state), "write_state", arguments, 2, NULL, 0, NULL);
    return mw_add(read_of(state), in[0]);
}

/* ---- classifiers ---- */

static mw_tensor *b_classify(mw_tensor *const *in)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
    mw_tensor *label, *probabilities;
    mw_classify(mw_cast(in[0], MW_F32), &(mw_classes){.count = 6, .names = names}, &label, &probabilities);
    return label;
}

/* clang-format off */
static const op_case rows[] = {
    EXACT("cond", "", b_cond, F(2, -2, 2, 3, 5), B(1, 1)),
    EXACT("cond", "the other side", b_cond_not, F(2, -2, 2, 3, 5), B(1, 1)),
    EXACT("while_loop", "variables that are swapped", b_loop, F(2, -2, 2, 3, 5), I(1, 3, 8, 1)),
    EXACT("while_loop", "not once", b_loop, F(2, -2, 2, 3, 5), I(1, 0, 1, 1)),
    EXACT("make_list", "zeros", b_made, F(1, -2, 2, 2), I(1, 0, 3, 1)),
    EXACT("list_gather", "", b_scattered, F(2, -2, 2, 3, 4)),
    EXACT("list_scatter", "a list that grows", b_grown, F(2, -2, 2, 3, 4)),
    EXACT("list_read", "", b_read, F(2, -2, 2, 3, 4), I(1, -3, 5, 1)),
    EXACT("list_read", "integers", b_read, I(2, -20, 20, 3, 4), I(1, 0, 3, 1)),
    EXACT("list_write", "", b_written, F(2, -2, 2, 3, 4), I(1, 0, 3, 1)),
    EXACT("list_length", "a list that grows", b_length, F(2, -2, 2, 3, 4)),
    EXACT("list_length", "", b_fixed_length, F(2, -2, 2, 3, 4)),
    EXACT("read_state", "", b_state, F(2, -2, 2, 3, 4)),
    EXACT("write_state", "", b_state, F(2, -2, 2, 3, 4)),
    EXACT("classify", "the index of the label", b_classify, F(2, -2, 2, 2, 3)),
};
/* clang-format on */

static const op_unrecorded unrecorded[] = {
    {"cond", "PyTorch has no such operation"},         {"while_loop", "PyTorch has no such operation"},
    {"make_list", "PyTorch has no such operation"},    {"list_gather", "PyTorch has no such operation"},
    {"list_scatter", "PyTorch has no such operation"}, {"list_read", "PyTorch has no such operation"},
    {"list_write", "PyTorch has no such operation"},   {"list_length", "PyTorch has no such operation"},
    {"read_state", "PyTorch has no such operation"},   {"write_state", "PyTorch has no such operation"},
    {"classify", "PyTorch has no such operation"},     {NULL, NULL}};

OP_CASES_UNRECORDED(control, rows, unrecorded)
