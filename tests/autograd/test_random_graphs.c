/* Gradients of random graphs of 20 to 200 operation cases, in double by the oracle: u (J v) against differences of u y
 * along v, and against (u J) v. A failing graph is shrunk and printed with its seed. MW_TEST_SEED and MW_TEST_GRAPHS
 * choose others; MW_NIGHTLY=1 checks thousands. */
#include "random_graph.h"
#include "support/cases/op_case_rows.h"
#include "support/check.h"
#include "support/setting.h"

#include <stdlib.h>

/* Mostly small: they find as much in less time. */
static int nodes_of(uint64_t seed)
{
    mw__random random = {.seed = seed, .stream = 2};
    const uint64_t most = seed % 16 == 0 ? 181 : 30;
    return 20 + (int)mw__random_below(&random, most);
}

static void report(random_graph *g)
{
    char why[512] = "", text[8192];
    const int nodes = g->count;
    random_graph_shrink(g);
    random_graph_agrees(g, NULL, why, sizeof why);
    random_graph_print(g, text, sizeof text);
    check_note(false, __FILE__, __LINE__, "seed %llu, %d of %d nodes: %s\n%s", (unsigned long long)g->seed, g->count,
               nodes, why, text);
}

static void test_gradients_of_random_graphs(void)
{
    const uint64_t first = number_from("MW_TEST_SEED", 1);
    const uint64_t count = number_from("MW_TEST_GRAPHS", getenv("MW_NIGHTLY") != NULL ? 4000 : 150);
    uint64_t compared = 0;
    random_pool *pool = malloc(sizeof *pool);
    random_graph *g = malloc(sizeof *g);
    random_pool_init(pool);
    printf("seeds %llu to %llu, %d cases\n", (unsigned long long)first, (unsigned long long)(first + count - 1),
           pool->count);
    CHECK(pool->count > 50);
    for (uint64_t seed = first; seed < first + count; seed++) {
        char why[512];
        bool one = false;
        random_graph_make(g, pool, nodes_of(seed), seed);
        if (!random_graph_agrees(g, &one, why, sizeof why)) {
            report(g);
            break;
        }
        compared += one;
    }
    printf("%llu graphs by differences\n", (unsigned long long)compared); /* the others stand at a kink */
    CHECK(compared >= count - count / 4);
    free(g);
    free(pool);
}

/* ---- the test is able to fail, and shrinks ---- */

static mw_status doubled(const mw_custom_vjp_call *call, mw_tensor **out_dx, mw_error *err)
{
    (void)err;
    out_dx[0] = mw_mul_scalar(call->dy, 2.0);
    return MW_OK;
}

/* Not linear in dy: u J is wrong in size only, but J v is 0. */
static mw_status squared(const mw_custom_vjp_call *call, mw_tensor **out_dx, mw_error *err)
{
    (void)err;
    out_dx[0] = mw_square(call->dy);
    return MW_OK;
}

/* clang-format off */
BUILD(doubled, mw_custom_vjp("doubled", in[0], in, 1, doubled, NULL))
BUILD(squared, mw_custom_vjp("squared", in[0], in, 1, squared, NULL))
/* clang-format on */

static const op_case wrong_cases[2] = {
    EXACT("wrong", "doubled", b_doubled, F(1, -1, 1, 8)),
    EXACT("wrong", "squared", b_squared, F(1, -1, 1, 8)),
};

static bool holds(const random_graph *g, const op_case *c)
{
    for (int n = 0; n < g->count; n++)
        if (g->nodes[n].of == c)
            return true;
    return false;
}

static void check_wrong_case(const random_pool *pool, random_graph *g, const op_case *wrong)
{
    char why[512];
    int failed = 0;
    for (uint64_t seed = 1000; seed < 1004; seed++) {
        random_graph_make(g, pool, 40, seed);
        g->nodes[38].of = wrong;
        if (random_graph_agrees(g, NULL, why, sizeof why))
            continue; /* it is far from every root, or a kink hides it */
        failed++;
        random_graph_shrink(g);
        CHECK(holds(g, wrong));
        CHECK(g->count <= 3);
    }
    CHECK(failed > 0);
}

static void test_a_wrong_rule_is_found_and_shrunk_to(void)
{
    random_pool *pool = malloc(sizeof *pool);
    random_graph *g = malloc(sizeof *g);
    random_pool_init(pool);
    for (int i = 0; i < 2; i++)
        check_wrong_case(pool, g, &wrong_cases[i]);
    free(g);
    free(pool);
}

int main(void)
{
    RUN(test_gradients_of_random_graphs);
    RUN(test_a_wrong_rule_is_found_and_shrunk_to);
    return check_finish();
}
