/* Shape rules of branches, loops and lists: what they give and what they refuse. The rules of states, and what texts
 * alone can break, are in tests/engine/run/test_control.c. */
#include "shape_words.h"

/* ---- functions of blocks: `user` is the graph ---- */

static mw_tensor *below(void *user, mw_tensor *const *vars, size_t count)
{
    (void)count;
    return mw_less(vars[0], mw_scalar(user, MW_I32, 5));
}

static mw_tensor *many(void *user, mw_tensor *const *vars, size_t count)
{
    (void)user;
    return mw_less(vars[count - 1], vars[count - 1]);
}

static mw_tensor *nothing(void *user, mw_tensor *const *vars, size_t count)
{
    (void)user;
    (void)vars;
    (void)count;
    return NULL;
}

static void again(void *user, mw_tensor *const *vars, size_t count, mw_tensor **out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = vars[i];
    out[0] = mw_add(vars[0], mw_scalar(user, MW_I32, 1));
}

static void narrow(void *user, mw_tensor *const *vars, size_t count, mw_tensor **out)
{
    again(user, vars, count, out);
    out[1] = mw_cast(vars[1], MW_F16);
}

static void shorten(void *user, mw_tensor *const *vars, size_t count, mw_tensor **out)
{
    again(user, vars, count, out);
    out[1] = mw_reduce_sum(vars[1], MW_AXES(0), true);
}

static mw_tensor *loop(mw_graph *g, mw_tensor *x, mw_loop_condition *condition, mw_loop_body *body)
{
    mw_tensor *vars[2] = {mw_scalar(g, MW_I32, 0), x}, *y[2];
    mw_while_loop(vars, 2, condition, body, g, y);
    return y[1];
}

static void test_while_loop(void)
{
    GIVES(MW_F32, S(2, 3), loop(g, F(2, 3), below, again));
    GIVES(MW_F16, S(-1), loop(g, H(-1), below, again));
    REFUSES(MW_ERROR_DTYPE, "while_loop: its body gives another type than loop_vars[1] has",
            loop(g, F(2), below, narrow));
    REFUSES(MW_ERROR_DTYPE, "another type than loop_vars[1] has", loop(g, F(2), below, shorten));
    REFUSES(MW_ERROR_SHAPE, "its condition must be one bool", loop(g, F(2), many, again));
    REFUSES(MW_ERROR_ARGUMENT, "while_loop: its function gave no value 0", loop(g, F(2), nothing, again));
    REFUSES(MW_ERROR_ARGUMENT, "while_loop: a function is NULL", loop(g, F(2), below, NULL));
}

/* ---- branches ---- */

typedef struct sides {
    mw_tensor *yes, *no;
} sides;

static void give_yes(void *user, mw_tensor **out, size_t count)
{
    const sides *s = user;
    (void)count;
    out[0] = mw_identity(s->yes);
}

static void give_no(void *user, mw_tensor **out, size_t count)
{
    const sides *s = user;
    (void)count;
    out[0] = mw_identity(s->no);
}

static mw_tensor *choose(mw_tensor *pred, mw_tensor *yes, mw_tensor *no)
{
    sides s = {yes, no};
    mw_tensor *y = NULL;
    mw_cond(pred, give_yes, give_no, &s, &y, 1);
    return y;
}

static mw_tensor *leak(mw_graph *g)
{
    sides s = {F(2), F(2)};
    mw_tensor *y = NULL;
    mw_cond(B(1), give_yes, give_no, &s, &y, 1);
    return y != NULL ? mw_abs(y->op->blocks[0]->outputs[0]) : y; /* made inside, used outside */
}

static void test_cond(void)
{
    GIVES(MW_F32, S(2, 3), choose(B(1), F(2, 3), F(2, 3)));
    GIVES(MW_F32, S(-1, 3), choose(leaf(g, MW_BOOL, mw_shape_scalar()), F(2, 3), F(4, 3)));
    GIVES(MW_F32, S(2, 3), choose(B(1), F(-1, 3), F(2, -1)));
    REFUSES(MW_ERROR_DTYPE, "cond: its branches give result 0 values of different types", choose(B(1), F(2), H(2)));
    REFUSES(MW_ERROR_DTYPE, "values of different types", choose(B(1), F(2), F(2, 1)));
    REFUSES(MW_ERROR_SHAPE, "cond: pred must be one bool", choose(B(2), F(2), F(2)));
    REFUSES(MW_ERROR_DTYPE, "pred is fp32, not bool", choose(F(1), F(2), F(2)));
    REFUSES(MW_ERROR_ARGUMENT, "is made in a block that ended", leak(g));
    REFUSES(MW_ERROR_FORMAT, "cond: has 0 blocks; it needs two", op(g, "cond", "pred", B(1), NULL));
}

/* ---- lists ---- */

static mw_tensor *list(mw_graph *g) { return mw_make_list(g, MW_F32, S(3), 4, false); }

static void test_lists(void)
{
    GIVES(MW_F32, S(3), mw_list_read(list(g), N(1)));
    GIVES(MW_F32, S(3), mw_list_read(mw_list_write(list(g), SCALARI, F(3)), SCALARI));
    GIVES(MW_F32, S(2, 3), mw_list_gather(mw_list_scatter(list(g), N(5), F(5, 3)), N(2)));
    GIVES(MW_F32, S(-1, 3), mw_list_gather(list(g), N(-1)));
    GIVES(MW_I32, mw_shape_scalar(), mw_list_length(list(g)));
    GIVES(MW_F16, mw_shape_scalar(), mw_list_read(mw_make_list(g, MW_F16, mw_shape_scalar(), 2, true), SCALARI));
    REFUSES(MW_ERROR_DTYPE, "list_read: ls is not a list", mw_list_read(F(2), SCALARI));
    REFUSES(MW_ERROR_SHAPE, "index must be one integer", mw_list_read(list(g), N(2)));
    REFUSES(MW_ERROR_ARGUMENT, "index -1 is outside of the list", mw_list_read(list(g), mw_scalar(g, MW_I32, -1)));
    REFUSES(MW_ERROR_DTYPE, "index is fp32, not int32", mw_list_read(list(g), SCALAR));
    REFUSES(MW_ERROR_SHAPE, "value is fp32 [2] where fp32 [3] is wanted", mw_list_write(list(g), SCALARI, F(2)));
    REFUSES(MW_ERROR_SHAPE, "value is fp16 [3] where fp32 [3] is wanted", mw_list_write(list(g), SCALARI, H(3)));
    REFUSES(MW_ERROR_SHAPE, "value is fp32 [2, 3] where fp32 [5, 3] is wanted",
            mw_list_scatter(list(g), N(5), F(2, 3)));
    REFUSES(MW_ERROR_SHAPE, "indices must be a vector", mw_list_gather(list(g), SCALARI));
    REFUSES(MW_ERROR_ARGUMENT, "indices[1] is -2, outside of the list", mw_list_gather(list(g), INTS(0, -2)));
    REFUSES(MW_ERROR_DTYPE, "abs: x is not a tensor", mw_abs(list(g)));
    REFUSES(MW_ERROR_ARGUMENT, "init_length is -1; 0 or more is wanted", mw_make_list(g, MW_F32, S(3), -1, false));
    REFUSES(MW_ERROR_SHAPE, "make_list: extent -1 of an element", mw_make_list(g, MW_F32, S(-1), 2, false));
    REFUSES(MW_ERROR_DTYPE, "dtype \"string\" is no element type", mw_make_list(g, MW_STRING, S(2), 2, false));
    REFUSES(MW_ERROR_DTYPE, "is a list, not a tensor", mw_output(list(g), "y"));
}

static void test_a_list_goes_through_loops_and_branches(void)
{
    GIVES(MW_F32, S(3), mw_list_read(loop(g, list(g), below, again), SCALARI));
}

int main(void)
{
    RUN(test_while_loop);
    RUN(test_cond);
    RUN(test_lists);
    RUN(test_a_list_goes_through_loops_and_branches);
    return check_finish();
}
