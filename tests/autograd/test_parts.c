/* Gradients of tensors that are cut into parts: their values over random families of slices, splits and constant rows
 * are those of adding each part by itself and of differences, also those of the second order; and the backward pass
 * grows with the parts as the forward pass does, not with their square. */
#include "support/check.h"
#include "support/op_count.h"
#include "support/oracles/oracle.h"

#include "base/number/random.h"

#include <millwright/millwright.h>
#include <stdlib.h>

enum { CUTS = 24, ELEMENTS = 400 };

/* A graph y = sum over cuts of sum(part^3 c) of one x. */
typedef struct problem {
    mw_graph *graph;
    mw_tensor *x, *v, *y;
    mw_tensor *parts[CUTS];
    double factors[CUTS];
    int count;
} problem;

static mw_shape random_shape(mw__random *random)
{
    mw_shape shape = {.rank = 1 + (int)mw__random_below(random, 4)};
    for (int i = 0; i < shape.rank; i++)
        shape.dim[i] = 1 + (int64_t)mw__random_below(random, shape.rank > 2 ? 4 : 9);
    return shape;
}

/* Adds the term of one part. */
static void use(problem *p, mw_tensor *part, double factor)
{
    p->parts[p->count] = part;
    p->factors[p->count++] = factor;
    mw_tensor *cube = mw_mul(mw_mul(part, part), part);
    mw_tensor *term = mw_mul_scalar(mw_reduce_sum(cube, MW_ALL_AXES, false), factor);
    p->y = p->y == NULL ? term : mw_add(p->y, term);
}

static double factor_of(mw__random *random) { return (double)(1 + mw__random_below(random, 8)) / 4.0; }

/* Some of the axes whole, others a range with a stride of either sign, or one element whose axis is dropped. */
static mw_tensor *random_slice(mw__random *random, mw_tensor *x)
{
    const mw_shape shape = mw_tensor_shape(x);
    mw_slice slices[MW_RANK_MAX] = {0};
    for (int i = 0; i < shape.rank; i++) {
        const int64_t n = shape.dim[i], first = (int64_t)mw__random_below(random, (uint64_t)n);
        const int64_t steps[] = {1, 1, 1, 2, 2, 3, -1, -2};
        slices[i] =
            (mw_slice){.begin = first, .end = first + 1 + (int64_t)mw__random_below(random, (uint64_t)(n - first))};
        slices[i].stride = steps[mw__random_below(random, 8)];
        if (slices[i].stride < 0)
            slices[i].begin = slices[i].end - 1, slices[i].end = first - 1, slices[i].to_end = first == 0;
        if (mw__random_below(random, 3) == 0)
            slices[i] = (mw_slice){.from_start = true, .to_end = true};
        else if (mw__random_below(random, 4) == 0)
            slices[i] = (mw_slice){.begin = first - (mw__random_below(random, 2) ? n : 0), .squeeze = true};
    }
    return mw_slice_by_index(x, slices);
}

static mw_tensor *random_box(mw__random *random, mw_tensor *x)
{
    const mw_shape shape = mw_tensor_shape(x);
    int64_t begin[MW_RANK_MAX], size[MW_RANK_MAX];
    for (int i = 0; i < shape.rank; i++) {
        begin[i] = (int64_t)mw__random_below(random, (uint64_t)shape.dim[i]);
        size[i] = 1 + (int64_t)mw__random_below(random, (uint64_t)(shape.dim[i] - begin[i]));
    }
    return mw_slice_by_size(x, begin, size);
}

/* Constant rows that count up or down, or any. */
static mw_tensor *random_rows(mw__random *random, mw_tensor *x)
{
    const mw_shape shape = mw_tensor_shape(x);
    const int axis = (int)mw__random_below(random, (uint64_t)shape.rank);
    const int64_t n = shape.dim[axis], count = 1 + (int64_t)mw__random_below(random, (uint64_t)n);
    const bool any = mw__random_below(random, 3) == 0, down = mw__random_below(random, 2) == 0;
    int32_t rows[16];
    for (int64_t i = 0; i < count; i++)
        rows[i] = (int32_t)(any ? (int64_t)mw__random_below(random, (uint64_t)n) : down ? n - 1 - i : i);
    return mw_gather(x, mw_constant(mw_tensor_graph(x), MW_I32, MW_SHAPE(count), rows), axis);
}

/* One result a position of an axis, some of which nobody uses. */
static void use_split(mw__random *random, problem *p)
{
    const mw_shape shape = mw_tensor_shape(p->x);
    const int axis = (int)mw__random_below(random, (uint64_t)shape.rank);
    mw_tensor *results[16];
    mw_split(p->x, (size_t)shape.dim[axis], axis, results);
    for (int64_t i = 0; i < shape.dim[axis] && p->count < CUTS; i++)
        if (mw__random_below(random, 4) != 0)
            use(p, results[i], factor_of(random));
}

/* Every position of an axis, or every residue of a stride. */
static void use_tiles(mw__random *random, problem *p)
{
    const mw_shape shape = mw_tensor_shape(p->x);
    const int axis = (int)mw__random_below(random, (uint64_t)shape.rank);
    const int64_t n = shape.dim[axis], stride = 1 + (int64_t)mw__random_below(random, (uint64_t)n);
    mw_slice slices[MW_RANK_MAX] = {0};
    for (int i = 0; i < shape.rank; i++)
        slices[i] = (mw_slice){.from_start = true, .to_end = true};
    for (int64_t i = 0; i < stride && p->count < CUTS; i++) {
        slices[axis] = (mw_slice){.begin = i, .to_end = true, .stride = stride};
        use(p, mw_slice_by_index(p->x, slices), factor_of(random));
    }
}

static void make_problem(problem *p, uint64_t seed)
{
    mw__random random = {.seed = seed};
    *p = (problem){.graph = mw_graph_create(NULL, NULL)};
    p->x = mw_input(p->graph, "x", MW_F32, random_shape(&random));
    p->v = mw_input(p->graph, "v", MW_F32, mw_tensor_shape(p->x));
    const int wanted = 1 + (int)mw__random_below(&random, 8);
    while (p->count < wanted) {
        const uint64_t kind = mw__random_below(&random, 8);
        if (kind == 0)
            use_split(&random, p);
        else if (kind == 1)
            use_tiles(&random, p);
        else if (kind == 2 && p->count > 0) /* the same place twice */
            use(p, mw_identity(p->parts[0]), 0.5);
        else
            use(p,
                kind == 3   ? random_rows(&random, p->x)
                : kind == 4 ? random_box(&random, p->x)
                            : random_slice(&random, p->x),
                factor_of(&random));
    }
    if (mw__random_below(&random, 4) == 0) /* and all of it */
        use(p, mw_identity(p->x), 1.0);
}

/* ---- values ---- */

static const double *values_at(oracle *o, const problem *p, const double *x, const double *v, const mw_tensor *of)
{
    oracle_set(o, p->x, x);
    oracle_set(o, p->v, v);
    return CHECK(oracle_run(o)) ? oracle_get(o, of) : NULL;
}

/* dx and H v by adding every element of every part by itself: where an element comes from is asked of the forward pass,
 * which carries the numbers of the elements. */
static void add_one_by_one(oracle *o, const problem *p, const double *x, const double *v, double *dx, double *hv)
{
    double numbers[ELEMENTS];
    const int64_t n = oracle_count(p->x);
    for (int64_t i = 0; i < n; i++)
        numbers[i] = (double)i, dx[i] = hv[i] = 0.0;
    if (values_at(o, p, numbers, v, p->y) == NULL)
        return;
    for (int k = 0; k < p->count; k++) {
        const double *from = oracle_get(o, p->parts[k]);
        for (int64_t j = 0; j < oracle_count(p->parts[k]); j++) {
            const int64_t i = (int64_t)from[j];
            dx[i] += 3.0 * p->factors[k] * x[i] * x[i];
            hv[i] += 6.0 * p->factors[k] * x[i] * v[i];
        }
    }
}

/* (f(x + h v) - f(x - h v)) / 2h; a cubic, of which h^2 f'''(v, v, v) / 6 is left over. */
static void difference(oracle *o, const problem *p, const double *x, const double *v, const mw_tensor *of, double *out)
{
    enum { SIDES = 2 };
    const double h = 1e-4;
    const int64_t n = oracle_count(p->x), m = oracle_count(of);
    double moved[ELEMENTS];
    for (int64_t j = 0; j < m; j++)
        out[j] = 0.0;
    for (int side = 0; side < SIDES; side++) {
        const double sign = side == 0 ? 1.0 : -1.0;
        for (int64_t i = 0; i < n; i++)
            moved[i] = x[i] + sign * h * v[i];
        const double *f = values_at(o, p, moved, v, of);
        for (int64_t j = 0; f != NULL && j < m; j++)
            out[j] += sign * f[j] / (2.0 * h);
    }
}

static bool check_values(uint64_t seed)
{
    problem p;
    mw_error err = {0};
    mw_tensor *dx = NULL, *hv = NULL;
    double x[ELEMENTS], v[ELEMENTS], wanted_dx[ELEMENTS], wanted_hv[ELEMENTS], along[ELEMENTS], sum = 0.0;
    mw__random random = {.seed = seed, .stream = 1};
    make_problem(&p, seed);
    mw_grad(p.y, &p.x, 1, &dx, &err);
    mw_hvp(p.y, &p.x, &p.v, 1, &hv, &err);
    bool good = CHECK_OK(err);
    const int64_t n = oracle_count(p.x);
    for (int64_t i = 0; i < n; i++)
        x[i] = (double)mw__random_uniform(&random) + 0.5, v[i] = (double)mw__random_uniform(&random) - 0.5;
    oracle o;
    oracle_init(&o, p.graph);
    if (good) {
        add_one_by_one(&o, &p, x, v, wanted_dx, wanted_hv);
        difference(&o, &p, x, v, p.y, along);
        const double *got = values_at(&o, &p, x, v, dx);
        for (int64_t i = 0; got != NULL && i < n; i++) {
            good = CHECK_NEAR(got[i], wanted_dx[i], 1e-12 * (1.0 + fabs(wanted_dx[i]))) && good;
            sum += got[i] * v[i];
        }
        good = CHECK_NEAR(sum, along[0], 1e-6 * (1.0 + fabs(sum))) && good;
        difference(&o, &p, x, v, dx, along);
        got = values_at(&o, &p, x, v, hv);
        for (int64_t i = 0; got != NULL && i < n; i++) {
            good = CHECK_NEAR(got[i], wanted_hv[i], 1e-12 * (1.0 + fabs(wanted_hv[i]))) && good;
            good = CHECK_NEAR(got[i], along[i], 1e-6 * (1.0 + fabs(got[i]))) && good;
        }
    }
    oracle_deinit(&o);
    mw_graph_destroy(p.graph);
    return good;
}

static void test_parts_of_random_families_add_up_in_both_orders(void)
{
    for (uint64_t seed = 1; seed <= 600; seed++)
        if (!check_values(seed)) {
            check_note(false, __FILE__, __LINE__, "seed %llu", (unsigned long long)seed);
            return;
        }
}

/* ---- growth ---- */

/* How the T positions of x [4, T, 8] are read. */
typedef mw_tensor *cutting(mw_tensor *x, int64_t t, int64_t count);

static mw_tensor *one_position(mw_tensor *x, int64_t t, int64_t count)
{
    const mw_slice slices[3] = {
        {.from_start = true, .to_end = true}, {.begin = t, .squeeze = true}, {.from_start = true, .to_end = true}};
    (void)count;
    return mw_slice_by_index(x, slices);
}

static mw_tensor *one_position_by_size(mw_tensor *x, int64_t t, int64_t count)
{
    (void)count;
    return mw_slice_by_size(x, (int64_t[]){0, t, 0}, (int64_t[]){4, 1, 8});
}

static mw_tensor *one_row(mw_tensor *x, int64_t t, int64_t count)
{
    const int32_t row = (int32_t)t;
    (void)count;
    return mw_gather(x, mw_constant(mw_tensor_graph(x), MW_I32, MW_SHAPE(1), &row), 1);
}

static mw_tensor *half_of_a_position(mw_tensor *x, int64_t t, int64_t count)
{
    (void)count;
    return mw_slice_by_size(x, (int64_t[]){0, t, 4 * (t % 2)}, (int64_t[]){4, 1, 4});
}

static mw_tensor *three_positions(mw_tensor *x, int64_t t, int64_t count)
{
    return mw_slice_by_size(x, (int64_t[]){0, t < count - 3 ? t : count - 3, 0}, (int64_t[]){4, 3, 8});
}

static mw_tensor *every_fourth_from_here(mw_tensor *x, int64_t t, int64_t count)
{
    const mw_slice slices[3] = {{.from_start = true, .to_end = true},
                                {.begin = t / 4 * 4 % count + t % 4, .end = t / 4 * 4 + 16, .stride = 4},
                                {.from_start = true, .to_end = true}};
    return mw_slice_by_index(x, slices);
}

static mw_tensor *the_first(mw_tensor *x, int64_t t, int64_t count)
{
    (void)t;
    return one_position_by_size(x, 0, count);
}

static mw_tensor *every_third(mw_tensor *x, int64_t t, int64_t count)
{
    return t % 3 == 0 ? one_position_by_size(x, t, count) : NULL;
}

/* Operations of the backward pass and elements that they make. */
typedef struct work {
    double operations, elements;
} work;

static work work_of(cutting *cut, int64_t count)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(4, count, 8)), *y = NULL, *dx = NULL;
    for (int64_t t = 0; t < count; t++) {
        mw_tensor *part = cut(x, t, count);
        mw_tensor *term = part == NULL ? NULL : mw_reduce_sum(mw_mul(part, part), MW_ALL_AXES, false);
        y = y == NULL ? term : term == NULL ? y : mw_add(y, term);
    }
    const mw__block *body = graph->current->body;
    const size_t before = body->op_count;
    mw_grad(y, &x, 1, &dx, &err);
    CHECK_OK(err);
    work all = {0};
    for (size_t i = before; i < body->op_count; i++) {
        all.operations++;
        for (size_t r = 0; r < body->ops[i]->result_count; r++)
            all.elements += (double)mw_shape_count(mw_tensor_shape(body->ops[i]->results[r]));
    }
    mw_graph_destroy(graph);
    return all;
}

/* Four times the parts take four times the work; at the ends they overlap less, which weighs more for few. */
static void test_the_backward_pass_of_n_parts_grows_with_n(void)
{
    cutting *const all[] = {one_position,    one_position_by_size,   one_row,   half_of_a_position,
                            three_positions, every_fourth_from_here, the_first, every_third};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const work few = work_of(all[i], 48), many = work_of(all[i], 4 * 48);
        check_note(many.operations <= 4.5 * few.operations && many.elements <= 4.5 * few.elements, __FILE__, __LINE__,
                   "family %zu: %g operations and %g elements for 48 parts, %g and %g for 192", i, few.operations,
                   few.elements, many.operations, many.elements);
    }
}

/* ---- forms ---- */

static void test_tiles_become_one_concat(void)
{
    cutting *const all[] = {one_position, one_position_by_size, one_row};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        mw_error err = {0};
        mw_graph *graph = mw_graph_create(NULL, NULL);
        mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(4, 6, 8)), *y = NULL, *dx = NULL;
        for (int64_t t = 0; t < 6; t++) {
            mw_tensor *term = mw_reduce_sum(mw_exp(all[i](x, t, 6)), MW_ALL_AXES, false);
            y = y == NULL ? term : mw_add(y, term);
        }
        mw_grad(y, &x, 1, &dx, &err);
        CHECK_OK(err);
        const mw__block *body = graph->current->body;
        CHECK_INT(op_count(body, "concat"), 1);
        CHECK_INT(op_count(body, "pad"), 0);
        CHECK_INT(op_count(body, "scatter"), 0);
        CHECK(dx != NULL && strcmp(dx->op->kind, "concat") == 0);
        mw_graph_destroy(graph);
    }
}

/* Rows by indices that are not known yet: each gather adds to the sum of those before. */
static void test_gathers_of_one_table_share_one_tensor_of_its_size(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *table = mw_input(graph, "table", MW_F32, MW_SHAPE(50, 8)), *y = NULL, *dx = NULL;
    for (int i = 0; i < 5; i++) {
        char name[8];
        snprintf(name, sizeof name, "at%d", i);
        mw_tensor *at = mw_input(graph, name, MW_I32, MW_SHAPE(3));
        mw_tensor *term = mw_reduce_sum(mw_exp(mw_gather(table, at, 0)), MW_ALL_AXES, false);
        y = y == NULL ? term : mw_add(y, term);
    }
    const mw__block *body = graph->current->body;
    const size_t adds = op_count(body, "add");
    mw_grad(y, &table, 1, &dx, &err);
    CHECK_OK(err);
    CHECK_INT(op_count(body, "scatter"), 5);
    CHECK_INT(op_count(body, "add") - adds, 0);
    int full = 0;
    for (size_t i = 0; i < body->op_count; i++)
        full +=
            strcmp(body->ops[i]->kind, "fill") == 0 && mw_shape_count(mw_tensor_shape(body->ops[i]->results[0])) == 400;
    CHECK_INT(full, 1);
    mw_graph_destroy(graph);
}

int main(void)
{
    RUN(test_parts_of_random_families_add_up_in_both_orders);
    RUN(test_the_backward_pass_of_n_parts_grows_with_n);
    RUN(test_tiles_become_one_concat);
    RUN(test_gathers_of_one_table_share_one_tensor_of_its_size);
    return check_finish();
}
