#include "random_control.h"

#include <stdint.h>

enum { VARIABLES = 3, DEPTH = 3, STATEMENTS = 3 };

/* What a block knows: the variables, and the counter of the loop around it (NULL = none). */
typedef struct scope {
    mw_tensor *v[VARIABLES], *counter;
    int depth;
} scope;

typedef struct maker {
    uint32_t random;
    bool recompute;
    mw_graph *graph;
    mw_tensor *w;
    scope now;
} maker;

static void write_statements(maker *m, scope *s);

static int draw(maker *m, int below)
{
    m->random = m->random * 1664525u + 1013904223u;
    return (int)(m->random >> 16) % below;
}

/* No number of the programs is a sum of others, so that no truth is at its edge. */
static double draw_number(maker *m) { return draw(m, 33) / 16.13 - 1.017; }

static mw_tensor *integer(const maker *m, int value) { return mw_scalar(m->graph, MW_I32, value); }

/* A truth that depends on the data. */
static mw_tensor *data_truth(maker *m, const scope *s)
{
    mw_tensor *sum = mw_reduce_sum(s->v[draw(m, VARIABLES)], MW_ALL_AXES, false);
    mw_tensor *level = mw_scalar(m->graph, MW_F32, draw_number(m));
    return draw(m, 2) == 0 ? mw_greater(sum, level) : mw_less(sum, level);
}

/* ---- loops ---- */

typedef struct loop {
    maker *m;
    const scope *outer;
    int kind, bound;
} loop;

enum { COUNTED, COUNTED_DOWN, BY_OUTER, OPEN, OPEN_NESTED, LOOP_KINDS };

static scope inside(const loop *l, mw_tensor *const *vars)
{
    scope s = {.counter = vars[0], .depth = l->outer->depth + 1};
    for (int i = 0; i < VARIABLES; i++)
        s.v[i] = vars[1 + i];
    return s;
}

static mw_tensor *write_condition(void *user, mw_tensor *const *vars, size_t count)
{
    const loop *l = user;
    maker *m = l->m;
    const scope s = inside(l, vars);
    (void)count;
    mw_tensor *bound = mw_less(vars[0], integer(m, l->bound)), *going = data_truth(m, &s), *ending = data_truth(m, &s);
    switch (l->kind) {
    case COUNTED_DOWN:
        return mw_greater(vars[0], integer(m, 0));
    case BY_OUTER:
        return mw_less(vars[0], l->outer->counter != NULL ? l->outer->counter : integer(m, l->bound));
    case OPEN:
        return mw_logical_and(bound, going);
    case OPEN_NESTED:
        return mw_logical_and(mw_logical_and(going, bound), mw_logical_not(ending));
    default:
        return bound;
    }
}

static void write_body(void *user, mw_tensor *const *vars, size_t count, mw_tensor **out)
{
    const loop *l = user;
    maker *m = l->m;
    scope s = inside(l, vars);
    (void)count;
    write_statements(m, &s);
    out[0] = mw_add(vars[0], integer(m, l->kind == COUNTED_DOWN ? -1 : 1));
    for (int i = 0; i < VARIABLES; i++)
        out[1 + i] = s.v[i];
}

static void write_loop(maker *m, scope *s)
{
    loop l = {.m = m, .outer = s, .kind = draw(m, LOOP_KINDS)};
    l.bound = draw(m, 4);
    mw_tensor *vars[1 + VARIABLES] = {integer(m, l.kind == COUNTED_DOWN ? l.bound : 0)}, *results[1 + VARIABLES];
    for (int i = 0; i < VARIABLES; i++)
        vars[1 + i] = s->v[i];
    if (mw_while_loop(vars, 1 + VARIABLES, write_condition, write_body, &l, results) != MW_OK)
        return;
    for (int i = 0; i < VARIABLES; i++)
        s->v[i] = results[1 + i];
}

/* ---- branches ---- */

typedef struct branch {
    maker *m;
    const scope *outer;
} branch;

static void write_side(void *user, mw_tensor **out, size_t count)
{
    const branch *b = user;
    scope s = *b->outer;
    (void)count;
    s.depth++;
    write_statements(b->m, &s);
    for (int i = 0; i < VARIABLES; i++)
        out[i] = s.v[i];
}

/* By the data, or by the counter of the loop around, which is known when the loop is unrolled. */
static void write_branch(maker *m, scope *s)
{
    branch b = {m, s};
    mw_tensor *results[VARIABLES];
    mw_tensor *pred =
        s->counter != NULL && draw(m, 2) == 0 ? mw_equal(s->counter, integer(m, draw(m, 3))) : data_truth(m, s);
    if (mw_cond(pred, write_side, write_side, &b, results, VARIABLES) != MW_OK)
        return;
    for (int i = 0; i < VARIABLES; i++)
        s->v[i] = results[i];
}

/* ---- the rest ---- */

/* Writes two variables into a list of three, at the counter or at a known place, and reads one. */
static mw_tensor *write_list(maker *m, const scope *s)
{
    const bool counted = s->counter != NULL && draw(m, 2) == 0;
    mw_tensor *at = counted ? mw_minimum(s->counter, integer(m, 2)) : integer(m, draw(m, 3));
    mw_tensor *list = mw_make_list(m->graph, MW_F32, MW_SHAPE(CONTROL_WIDTH), 3, false);
    mw_tensor *middle = integer(m, 1);
    list = mw_list_write(list, middle, s->v[0]);
    list = mw_list_write(list, at, s->v[1]);
    return mw_list_read(list, integer(m, draw(m, 3)));
}

static mw_tensor *compute(maker *m, const scope *s)
{
    mw_tensor *a = s->v[draw(m, VARIABLES)], *b = s->v[draw(m, VARIABLES)];
    switch (draw(m, 5)) {
    case 0:
        return mw_tanh(mw_add(mw_mul(a, m->w), b));
    case 1:
        return mw_mul(a, m->w);
    case 2:
        return mw_add_scalar(mw_mul_scalar(a, 0.5), draw_number(m));
    case 3:
        return write_list(m, s);
    default:
        a = mw_tanh(a);
        return mw_sub(a, mw_mul_scalar(b, draw_number(m)));
    }
}

static void write_statement(maker *m, scope *s)
{
    const int what = draw(m, 6);
    if (what == 0 && s->depth < DEPTH)
        write_loop(m, s);
    else if (what == 1 && s->depth < DEPTH)
        write_branch(m, s);
    else
        s->v[draw(m, VARIABLES)] = compute(m, s);
}

/* A segment starts where the statements do, or goes back to the leaves. */
static void write_statements(maker *m, scope *s)
{
    const scope before = *s;
    const int count = 1 + draw(m, STATEMENTS), marked = draw(m, 2 * VARIABLES), from = draw(m, 2);
    for (int i = 0; i < count && mw_graph_check(m->graph, NULL) == MW_OK; i++)
        write_statement(m, s);
    if (s->depth == 0)
        write_loop(m, s); /* one at least */
    if (!m->recompute || marked >= VARIABLES || s->v[marked] == before.v[marked])
        return;
    s->v[marked] = mw_recompute(s->v[marked], before.v, from == 0 ? VARIABLES : 0);
}

mw_graph *random_control(unsigned seed, bool recompute)
{
    maker m = {.random = seed * 2654435761u + 1, .recompute = recompute, .graph = mw_graph_create(NULL, NULL)};
    mw_tensor *x = mw_input(m.graph, "x", MW_F32, MW_SHAPE(CONTROL_WIDTH));
    m.w = mw_input(m.graph, "w", MW_F32, MW_SHAPE(CONTROL_WIDTH));
    mw_tensor *second = mw_tanh(mw_add(x, m.w));
    scope s = {.v = {x, second, mw_mul_scalar(x, -0.75)}};
    write_statements(&m, &s);
    mw_output(mw_add(mw_add(s.v[0], s.v[1]), s.v[2]), "y");
    return m.graph;
}
