/* Making, checking and shrinking random graphs of operation cases. Which graphs are made is up to the test. */
#include "random_graph.h"

#include <math.h>
#include <millwright/millwright.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- which cases ---- */

enum { IN_MAX = 160, OUT_MAX = 640 };

static bool is_float(const mw_tensor *value) { return mw_tensor_dtype(value) == MW_F32; }

/* Built twice, as a graph may hold a case more than once. */
static bool is_usable(const op_case *c)
{
    op_instance instance;
    mw_tensor *x[OP_CASE_INPUTS], *dx[OP_CASE_INPUTS];
    size_t count = 0;
    bool good = op_instance_init(&instance, c, MW_F32, 11) && is_float(instance.y) && oracle_count(instance.y) > 0 &&
                oracle_count(instance.y) <= OUT_MAX;
    for (size_t i = 0; good && i < instance.count; i++) {
        good = oracle_count(instance.in[i]) > 0 && oracle_count(instance.in[i]) <= IN_MAX;
        if (is_float(instance.in[i]))
            x[count++] = instance.in[i];
    }
    good = good && count > 0;
    if (good) {
        mw_tensor *again = c->build(instance.in);
        mw_tensor *u = mw_mul_scalar(instance.y, 1.0);
        good = again != NULL && mw_vjp(&instance.y, &u, 1, x, count, dx, NULL) == MW_OK;
    }
    op_instance_deinit(&instance);
    return good;
}

void random_pool_init(random_pool *pool)
{
    const op_case *c;
    pool->count = 0;
    for (size_t i = 0; (c = op_case_at(i)) != NULL && pool->count < RANDOM_CASES; i++)
        if (is_usable(c))
            pool->cases[pool->count++] = c;
}

/* ---- making ---- */

static int pick(mw__random *random, int count) { return (int)mw__random_below(random, (uint64_t)count); }

/* One of the last few values or any: long chains and wide joins both occur. */
static int pick_value(mw__random *random, int count)
{
    return count > 4 && pick(random, 2) == 0 ? count - 1 - pick(random, 4) : pick(random, count);
}

void random_graph_make(random_graph *g, const random_pool *pool, int nodes, uint64_t seed)
{
    mw__random random = {.seed = seed};
    *g = (random_graph){.count = nodes, .seed = seed};
    for (int n = 0; n < nodes; n++) {
        random_node *node = &g->nodes[n];
        node->of = pool->cases[pick(&random, pool->count)];
        node->seed = mw__random_u32(&random);
        for (int i = 0; i < OP_CASE_INPUTS; i++)
            node->from[i] = pick_value(&random, RANDOM_LEAVES + n);
    }
}

/* ---- building ---- */

static const int64_t leaf_counts[RANDOM_LEAVES] = {7, 24, 1};

typedef struct built {
    mw_graph *graph;
    mw_tensor *values[RANDOM_LEAVES + RANDOM_NODES];
    mw_tensor *roots[RANDOM_LEAVES + RANDOM_NODES]; /* the values that no node uses */
    mw_tensor *u[RANDOM_LEAVES + RANDOM_NODES], *v[RANDOM_LEAVES];
    size_t root_count;
    double *at[RANDOM_LEAVES], *direction[RANDOM_LEAVES];
} built;

/* Distinct offsets in [-1, 1), so that a value that is repeated makes neither ties nor a variance of 0. */
static mw_tensor *make_offsets(mw_graph *graph, int64_t count)
{
    float offsets[IN_MAX];
    for (int64_t i = 0; i < count; i++)
        offsets[i] = (float)((i * 37) % IN_MAX) * (2.0F / IN_MAX) - 1.0F;
    return mw_constant(graph, MW_F32, MW_SHAPE(count), offsets);
}

/* x in the shape of the input and inside its range: middle + half x / sqrt(1 + x^2), smooth and never flat. */
static mw_tensor *adapt(mw_tensor *x, const op_input *input)
{
    const int64_t has = mw_shape_count(mw_tensor_shape(x)), wants = mw_shape_count(input->shape);
    x = mw_reshape(x, MW_SHAPE(has));
    if (has < wants)
        x = mw_tile(x, MW_SHAPE((wants + has - 1) / has));
    x = mw_slice_by_size(x, (const int64_t[]){0}, (const int64_t[]){wants});
    if (has < wants)
        x = mw_add(x, make_offsets(mw_tensor_graph(x), wants));
    mw_tensor *r = mw_add_scalar(mw_square(x), 1.0);
    x = mw_mul(x, mw_rsqrt(r, 0.0F));
    x = mw_mul_scalar(x, 0.49 * (input->high - input->low));
    return mw_reshape(mw_add_scalar(x, 0.5 * (input->high + input->low)), input->shape);
}

static mw_tensor *draw_constant(mw_graph *graph, const op_input *input, mw__random *random)
{
    const int64_t count = mw_shape_count(input->shape);
    int32_t *integers = calloc((size_t)count + 1, sizeof *integers);
    bool *flags = calloc((size_t)count + 1, sizeof *flags);
    for (int64_t i = 0; i < count; i++) {
        integers[i] = (int32_t)floor(input->low + (double)mw__random_uniform(random) * (input->high - input->low));
        flags[i] = integers[i] != 0;
    }
    const void *data = input->dtype == MW_BOOL ? (const void *)flags : integers;
    mw_tensor *drawn = mw_constant(graph, input->dtype, input->shape, data);
    free(flags);
    free(integers);
    return drawn;
}

static mw_tensor *build_node(const built *b, const random_node *node)
{
    mw__random random = {.seed = node->seed};
    mw_tensor *in[OP_CASE_INPUTS] = {NULL};
    for (size_t i = 0; i < OP_CASE_INPUTS && node->of->in[i].dtype != MW_DTYPE_NONE; i++) {
        const op_input *input = &node->of->in[i];
        in[i] =
            input->dtype == MW_F32 ? adapt(b->values[node->from[i]], input) : draw_constant(b->graph, input, &random);
    }
    return node->of->build(in);
}

/* True if a node of g reads the value: integers are drawn. */
static bool is_read(const random_graph *g, int value)
{
    for (int n = 0; n < g->count; n++)
        for (size_t i = 0; i < OP_CASE_INPUTS; i++)
            if (g->nodes[n].of->in[i].dtype == MW_F32 && g->nodes[n].from[i] == value)
                return true;
    return false;
}

/* Random numbers in [-1, 1) as a constant like x; also to *out when it is not NULL. */
static mw_tensor *draw_like(mw_tensor *x, mw__random *random, double **out)
{
    const int64_t count = mw_shape_count(mw_tensor_shape(x));
    float *data = calloc((size_t)count + 1, sizeof *data);
    if (out != NULL)
        *out = calloc((size_t)count + 1, sizeof **out);
    for (int64_t i = 0; i < count; i++) {
        data[i] = 2.0F * mw__random_uniform(random) - 1.0F;
        if (out != NULL)
            (*out)[i] = (double)data[i];
    }
    mw_tensor *drawn = mw_constant(mw_tensor_graph(x), MW_F32, mw_tensor_shape(x), data);
    free(data);
    return drawn;
}

static bool build(built *b, const random_graph *g)
{
    static const char *const names[RANDOM_LEAVES] = {"a", "b", "c"};
    mw__random random = {.seed = g->seed, .stream = 1};
    *b = (built){.graph = mw_graph_create(NULL, NULL)};
    for (int i = 0; i < RANDOM_LEAVES; i++) {
        b->values[i] = mw_input(b->graph, names[i], MW_F32, MW_SHAPE(leaf_counts[i]));
        draw_like(b->values[i], &random, &b->at[i]);
        b->v[i] = draw_like(b->values[i], &random, &b->direction[i]);
    }
    for (int n = 0; n < g->count; n++)
        b->values[RANDOM_LEAVES + n] = build_node(b, &g->nodes[n]);
    for (int i = 0; i < RANDOM_LEAVES + g->count; i++) {
        if (b->values[i] == NULL || is_read(g, i))
            continue;
        b->u[b->root_count] = draw_like(b->values[i], &random, NULL);
        b->roots[b->root_count++] = b->values[i];
    }
    return mw_graph_check(b->graph, NULL) == MW_OK;
}

static void unbuild(built *b)
{
    for (int i = 0; i < RANDOM_LEAVES; i++) {
        free(b->at[i]);
        free(b->direction[i]);
    }
    mw_graph_destroy(b->graph);
}

/* ---- checking ---- */

static bool fails(char *why, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
static bool fails(char *why, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, size, format, arguments);
    va_end(arguments);
    return false;
}

/* Runs the oracle at x + t v. */
static bool run_at(const built *b, oracle *o, double t)
{
    oracle_init(o, b->graph);
    for (int i = 0; i < RANDOM_LEAVES; i++) {
        double moved[32];
        for (int64_t k = 0; k < leaf_counts[i]; k++)
            moved[k] = b->at[i][k] + t * b->direction[i][k];
        oracle_set(o, b->values[i], moved);
    }
    return oracle_run(o);
}

static double dot(const oracle *o, mw_tensor *const *a, mw_tensor *const *b, size_t count, double *size)
{
    double sum = 0.0;
    for (size_t r = 0; r < count; r++)
        for (int64_t i = 0; i < oracle_count(a[r]); i++) {
            const double term = oracle_get(o, a[r])[i] * oracle_get(o, b[r])[i];
            sum += term;
            *size += fabs(term);
        }
    return sum;
}

/* d (u y) / dt by differences of order 4 in the step t. */
static double slope(const built *b, double t)
{
    static const double factor[4] = {1.0 / 12.0, -8.0 / 12.0, 8.0 / 12.0, -1.0 / 12.0}, place[4] = {-2, -1, 1, 2};
    double sum = 0.0, size = 0.0;
    for (int k = 0; k < 4; k++) {
        oracle o;
        sum += run_at(b, &o, place[k] * t) ? factor[k] * dot(&o, b->u, b->roots, b->root_count, &size) : (double)NAN;
        oracle_deinit(&o);
    }
    return sum / t;
}

/* Slopes of two step sizes that differ mean a kink or a jump on the way (or curvature beyond the steps): no statement.
 * A bend that is nearer than both is seen by smaller steps, which are taken where the numbers differ: their rounding
 * errors are below 1e-16 / t of a sum. */
static bool is_settled(const built *b, double numeric, double t, double scale)
{
    return fabs(numeric - slope(b, t)) <= 1e-6 * scale;
}

static bool check_slope(const built *b, double analytic, double size, bool *out_compared, char *why, size_t why_size)
{
    const double numeric = slope(b, 1e-4), scale = 1.0 + fabs(numeric) + 1e-3 * size;
    const bool agrees = fabs(numeric - analytic) <= 1e-5 * scale;
    const bool settled = is_settled(b, numeric, 3e-5, scale) &&
                         (agrees || (is_settled(b, numeric, 1e-6, scale) && is_settled(b, numeric, 1e-7, scale)));
    if (out_compared != NULL)
        *out_compared = settled;
    if (!settled || agrees)
        return true;
    return fails(why, why_size, "u (J v) is %.12g, by differences %.12g", analytic, numeric);
}

static bool check_products(built *b, char *why, size_t why_size)
{
    mw_error err = {0};
    mw_tensor *dx[RANDOM_LEAVES], *dy[RANDOM_LEAVES + RANDOM_NODES];
    mw_vjp(b->roots, b->u, b->root_count, b->values, RANDOM_LEAVES, dx, &err);
    mw_jvp(b->roots, b->root_count, b->values, b->v, RANDOM_LEAVES, dy, &err);
    if (err.status != MW_OK)
        return fails(why, why_size, "%s", err.message);
    oracle o;
    bool good = run_at(b, &o, 0.0);
    if (!good)
        fails(why, why_size, "the oracle does not know %s", o.missing);
    double size = 1.0, forward = good ? dot(&o, b->u, dy, b->root_count, &size) : 0.0;
    double reverse = good ? dot(&o, dx, b->v, RANDOM_LEAVES, &size) : 0.0;
    oracle_deinit(&o);
    /* the same sums in double, but the rules' constants (1 / N) are fp32: 2^-24 of each operation, of up to 200, with
     * slopes of up to about 50; a rule that is not linear is wrong by all of it */
    if (good && !(fabs(forward - reverse) <= 1e-5 * size))
        good = fails(why, why_size, "u (J v) is %.15g, (u J) v is %.15g", forward, reverse);
    return good;
}

/* u (J v) from the reverse product alone; the differences want a graph without gradients, which is much smaller. */
static bool reverse_slope(const random_graph *g, double *out, double *out_size)
{
    built b;
    mw_tensor *dx[RANDOM_LEAVES];
    bool good = build(&b, g) && mw_vjp(b.roots, b.u, b.root_count, b.values, RANDOM_LEAVES, dx, NULL) == MW_OK;
    oracle o = {0};
    good = good && run_at(&b, &o, 0.0);
    *out = good ? dot(&o, dx, b.v, RANDOM_LEAVES, out_size) : 0.0;
    oracle_deinit(&o);
    unbuild(&b);
    return good;
}

bool random_graph_agrees(const random_graph *g, bool *out_compared, char *why, size_t size)
{
    built b;
    double analytic = 0.0, magnitude = 0.0;
    bool good = build(&b, g);
    if (!good) {
        mw_error err = {0};
        mw_graph_check(b.graph, &err);
        fails(why, size, "%s", err.message);
    }
    if (good && reverse_slope(g, &analytic, &magnitude))
        good = check_slope(&b, analytic, magnitude, out_compared, why, size);
    good = good && check_products(&b, why, size);
    unbuild(&b);
    return good;
}

/* ---- shrinking ---- */

/* Drops `count` nodes from `first`; their readers read what the dropped one read first. */
static void drop(random_graph *g, int first, int count)
{
    int map[RANDOM_LEAVES + RANDOM_NODES];
    for (int v = 0; v < RANDOM_LEAVES + first; v++)
        map[v] = v;
    for (int n = first; n < g->count; n++) {
        random_node *node = &g->nodes[n];
        const bool dropped = n < first + count;
        for (int i = 0; i < OP_CASE_INPUTS; i++)
            node->from[i] = map[node->from[i]];
        map[RANDOM_LEAVES + n] = dropped ? node->from[0] : RANDOM_LEAVES + n - count;
        if (!dropped)
            g->nodes[n - count] = *node;
    }
    g->count -= count;
}

static bool still_fails(const random_graph *g)
{
    char why[256];
    return !random_graph_agrees(g, NULL, why, sizeof why);
}

/* Cuts node `index` off from other nodes: it reads the variables. */
static bool isolate(random_graph *g, int index)
{
    bool changed = false;
    for (int i = 0; i < OP_CASE_INPUTS; i++) {
        changed = changed || g->nodes[index].from[i] >= RANDOM_LEAVES;
        g->nodes[index].from[i] %= RANDOM_LEAVES;
    }
    return changed;
}

void random_graph_shrink(random_graph *g)
{
    random_graph *smaller = malloc(sizeof *smaller);
    for (int chunk = g->count / 2; chunk > 0; chunk = chunk > 1 ? chunk / 2 : 0) {
        for (int first = g->count - chunk; first >= 0; first -= chunk) {
            *smaller = *g;
            drop(smaller, first, chunk);
            if (still_fails(smaller))
                *g = *smaller;
            if (first > g->count - chunk)
                first = g->count;
        }
    }
    for (int n = 0; n < g->count; n++) {
        *smaller = *g;
        if (isolate(smaller, n) && still_fails(smaller))
            *g = *smaller;
    }
    for (int n = g->count - 1; n >= 0; n--) {
        *smaller = *g;
        drop(smaller, n, 1);
        if (still_fails(smaller))
            *g = *smaller;
    }
    free(smaller);
}

void random_graph_print(const random_graph *g, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (int n = 0; n < g->count && used < size; n++) {
        const random_node *node = &g->nodes[n];
        int wrote =
            snprintf(out + used, size - used, "v%d = %s (%s) of", RANDOM_LEAVES + n, node->of->name, node->of->detail);
        used += wrote > 0 ? (size_t)wrote : 0;
        for (int i = 0; i < OP_CASE_INPUTS && node->of->in[i].dtype != MW_DTYPE_NONE && used < size; i++) {
            if (node->of->in[i].dtype != MW_F32)
                continue;
            wrote = snprintf(out + used, size - used, " v%d", node->from[i]);
            used += wrote > 0 ? (size_t)wrote : 0;
        }
        if (used < size)
            used += (size_t)snprintf(out + used, size - used, "\n");
    }
}
