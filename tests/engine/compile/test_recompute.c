/* Recompute segments: the planned memory of a deep network falls, and its gradients keep their bits. */
#include "engine/run.h"
#include "support/check.h"
#include "support/on_engine.h"

#include <millwright/millwright.h>
#include <stdlib.h>

enum { LAYERS = 16, N = 64, D = 32 };

/* How the layers are cut into segments. */
typedef enum cut { WHOLE, FOURS, NESTED, OVERLAPPING } cut;

typedef struct net {
    mw_graph *graph;
    mw_tensor *w[LAYERS], *dw[LAYERS];
} net;

static void make_net(net *n, cut how, mw_error *err)
{
    *n = (net){.graph = mw_graph_create(NULL, NULL)};
    mw_tensor *x = mw_input(n->graph, "x", MW_F32, MW_SHAPE(N, D)), *start = x, *outer = x, *previous = x;
    for (int i = 0; i < LAYERS; i++) {
        char name[16];
        snprintf(name, sizeof name, "w%d", i);
        n->w[i] = mw_parameter(n->graph, name, MW_F32, MW_SHAPE(D, D), mw_init_xavier_normal());
        mw_tensor *h = mw_gelu(mw_matmul(x, n->w[i], MW_TRANSPOSE_Y), MW_GELU_TANH);
        x = mw_add(mw_tanh(h), x);
        const bool cut_here = i % 4 == 3;
        if (cut_here && how == OVERLAPPING)
            x = mw_recompute(x, &previous, 1);
        else if (cut_here && how != WHOLE)
            x = mw_recompute(x, &start, 1);
        if (cut_here && i % 8 == 7 && how == NESTED) {
            x = mw_recompute(x, &outer, 1);
            outer = x;
        }
        if (cut_here) {
            previous = start;
            start = x;
        }
    }
    mw_grad(mw_reduce_mean(mw_square(x), MW_ALL_AXES, false), n->w, LAYERS, n->dw, err);
    for (int i = 0; i < LAYERS; i++) {
        char name[16];
        snprintf(name, sizeof name, "dw%d", i);
        mw_output(n->dw[i], name);
    }
    mw_graph_check(n->graph, err);
}

/* ---- the plan ---- */

static size_t planned_memory(const net *n)
{
    mw_error err = {0};
    run_facts facts = {0};
    char *text = mw_graph_print_mil(n->graph, NULL, &err);
    if (CHECK_OK(err))
        run_find_facts(text, 1, &facts);
    mw_string_free(text);
    return facts.memory;
}

/* Each layer keeps three values of N D for the backward pass, 48 in all; four segments keep their 4 inputs and the 12
 * of the segment at work. */
static void test_the_planned_memory_falls(void)
{
    const cut cuts[] = {WHOLE, FOURS, NESTED};
    size_t size[3];
    for (int i = 0; i < 3; i++) {
        net n;
        mw_error err = {0};
        make_net(&n, cuts[i], &err);
        CHECK_OK(err);
        size[i] = planned_memory(&n);
        printf("  %zu values of [N, D] at once\n", size[i] / (N * D * sizeof(float)));
        mw_graph_destroy(n.graph);
    }
    CHECK(size[0] >= 40 * N * D * sizeof(float));
    CHECK(size[1] <= size[0] / 2 && size[1] > 0);
    CHECK(size[2] <= size[1]);
}

/* ---- the values ---- */

static bool evaluate(cut how, float *out) /* [LAYERS, D, D] */
{
    static float x[N * D];
    net n;
    mw_error err = {0};
    for (int i = 0; i < N * D; i++)
        x[i] = (float)(i % 23) / 11.0F - 1.0F;
    make_net(&n, how, &err);
    mw_program *program = err.status == MW_OK ? engine_compile(n.graph, MW_DEVICE_CPU, 0, &err) : NULL;
    if (program != NULL) {
        mw_program_write(program, "x", MW_F32, x, N * D, &err);
        mw_program_run(program, &err);
    }
    for (int i = 0; program != NULL && i < LAYERS; i++) {
        char name[16];
        snprintf(name, sizeof name, "dw%d", i);
        mw_program_read(program, name, MW_F32, out + i * D * D, D * D, &err);
    }
    CHECK_OK(err);
    mw_program_destroy(program);
    mw_graph_destroy(n.graph);
    return err.status == MW_OK;
}

static void test_gradients_keep_their_bits(void)
{
    static float whole[LAYERS * D * D], cut_up[LAYERS * D * D];
    const cut cuts[] = {FOURS, NESTED, OVERLAPPING};
    REQUIRE(evaluate(WHOLE, whole));
    CHECK(whole[5] != 0.0F);
    for (int i = 0; i < 3; i++) {
        REQUIRE(evaluate(cuts[i], cut_up));
        CHECK_INT(memcmp(whole, cut_up, sizeof whole), 0);
    }
}

int main(void)
{
    RUN(test_the_planned_memory_falls);
    RUN(test_gradients_keep_their_bits);
    return check_finish();
}
