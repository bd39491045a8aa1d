/* Cases of ops/random.def, with fixed seeds. To cover a row: one builder if none fits, one line in the table. */
#include "support/cases/op_case_rows.h"

#define DRAWN mw_tensor_graph(in[0]), mw_tensor_dtype(in[0])

/* clang-format off */
BUILD(normal, mw_random_normal(DRAWN, MW_SHAPE(7, 33), 0.0f, 1.0f, 3))
BUILD(normal_moved, mw_random_normal(DRAWN, MW_SHAPE(3, 5, 7), -2.0f, 0.25f, 2147483647))
BUILD(normal_constant, mw_random_normal(DRAWN, MW_SHAPE(3), 1.5f, 0.0f, 0))
BUILD(uniform, mw_random_uniform(DRAWN, MW_SHAPE(7, 33), 0.0f, 1.0f, 3))
BUILD(uniform_wide, mw_random_uniform(DRAWN, MW_SHAPE(1000), -3.0f, 5.0f, 11))
BUILD(bernoulli, mw_mul(in[0], mw_random_bernoulli(DRAWN, MW_SHAPE(7, 33), 0.5f, 3)))
BUILD(bernoulli_rare, mw_random_bernoulli(DRAWN, MW_SHAPE(500), 0.03f, 1))
BUILD(bernoulli_never, mw_random_bernoulli(DRAWN, MW_SHAPE(50), 0.0f, 1))
BUILD(bernoulli_always, mw_random_bernoulli(DRAWN, MW_SHAPE(50), 1.0f, 1))
BUILD(categorical, mw_random_categorical(in[0], MW_CATEGORICAL_LOGITS, 40, 5))
BUILD(categorical_probs, mw_random_categorical(in[0], MW_CATEGORICAL_PROBS, 9, 6))
BUILD(categorical_one, mw_random_categorical(in[0], MW_CATEGORICAL_PROBS, 1, 7))

#define DOUBLE "computed in double and rounded; libm may differ in the last bit of that"

static const op_case rows[] = {
    LOOSE("random_normal", "", b_normal, 2, 8, DOUBLE, F(1, -1, 1, 1)),
    LOOSE("random_normal", "moved", b_normal_moved, 2, 8, DOUBLE, F(1, -1, 1, 1)),
    EXACT("random_normal", "no spread", b_normal_constant, F(1, -1, 1, 1)),
    EXACT("random_uniform", "", b_uniform, F(1, -1, 1, 1)),
    LOOSE("random_uniform", "wide", b_uniform_wide, 2, 8, "a number that rounds to high is the one below", F(1, -1, 1, 1)),
    EXACT("random_bernoulli", "", b_bernoulli, F(2, -1, 1, 7, 33)),
    EXACT("random_bernoulli", "rare", b_bernoulli_rare, F(1, -1, 1, 1)),
    EXACT("random_bernoulli", "never", b_bernoulli_never, F(1, -1, 1, 1)),
    EXACT("random_bernoulli", "always", b_bernoulli_always, F(1, -1, 1, 1)),
    EXACT("random_categorical", "", b_categorical, F(3, -2, 2, 2, 3, 9)),
    EXACT("random_categorical", "probs", b_categorical_probs, F(2, 0, 1, 5, 17)),
    EXACT("random_categorical", "one class", b_categorical_one, F(1, 0, 1, 1)),
};
/* clang-format on */

static const op_unrecorded unrecorded[] = {
    {"random_bernoulli", "PyTorch draws other numbers; test_random.c has the moments"},
    {"random_categorical", "as random_bernoulli"},
    {"random_normal", "as random_bernoulli"},
    {"random_uniform", "as random_bernoulli"},
    {NULL, NULL},
};

OP_CASES_UNRECORDED(random, rows, unrecorded)
