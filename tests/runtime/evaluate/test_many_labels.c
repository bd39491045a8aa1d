/* Losses and metrics of more classes than fp16 counts to and than an axis of the chip has: against double precision. */
#include "runtime/model/words.h"
#include "support/check.h"

#include <stdlib.h>

enum { N = 3 };

/* ---- cross-entropy and its gradient ---- */

typedef struct problem {
    int64_t classes;
    float *logits; /* [N, classes] */
    int32_t labels[N];
    float *gradient; /* as found */
    float loss;
} problem;

static bool problem_init(problem *p, int64_t classes)
{
    const size_t count = (size_t)(N * classes);
    *p = (problem){.classes = classes};
    p->logits = malloc(count * sizeof *p->logits);
    p->gradient = calloc(count, sizeof *p->gradient);
    if (p->logits == NULL || p->gradient == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        p->logits[i] = 4.0f * words_value((int64_t)i * 3 + 1);
    words_choose(classes, p->labels, N, 0);
    p->logits[p->labels[1] + classes] = 20.0f; /* a confident prediction */
    return true;
}

static void problem_deinit(problem *p)
{
    free(p->logits);
    free(p->gradient);
}

/* Loss and gradient of mean over the rows of log sum exp(x) - x at the label. */
static double expect(const problem *p, double *out_gradient)
{
    double loss = 0.0;
    for (int n = 0; n < N; n++) {
        const float *x = p->logits + n * p->classes;
        double most = -1e300, sum = 0.0;
        for (int64_t c = 0; c < p->classes; c++)
            most = fmax(most, (double)x[c]);
        for (int64_t c = 0; c < p->classes; c++)
            sum += exp((double)x[c] - most);
        for (int64_t c = 0; c < p->classes; c++)
            out_gradient[n * p->classes + c] = (exp((double)x[c] - most) / sum - (c == p->labels[n])) / N;
        loss += (log(sum) + most - (double)x[p->labels[n]]) / N;
    }
    return loss;
}

static void solve(problem *p, mw_chip chip)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(N, p->classes)), *gradient = NULL;
    mw_tensor *loss = mw_cross_entropy(x, mw_input(graph, "y", MW_I32, MW_SHAPE(N)));
    mw_grad(loss, &x, 1, &gradient, &err);
    mw_output(loss, "loss");
    mw_output(gradient, "gradient");
    const mw_compile_options options = words_compile(MW_DEVICE_ANE, chip);
    mw_program *program = mw_program_create(graph, &options, &err);
    mw_graph_destroy(graph);
    REQUIRE(CHECK_OK(err) && program != NULL);
    const size_t count = (size_t)(N * p->classes);
    CHECK(words_longest_axis(mw_program_get_info(program).mil) <= words_axis_max(chip));
    mw_program_write(program, "x", MW_F32, p->logits, count, &err);
    mw_program_write(program, "y", MW_I32, p->labels, N, &err);
    mw_program_run(program, &err);
    mw_program_read(program, "loss", MW_F32, &p->loss, 1, &err);
    mw_program_read(program, "gradient", MW_F32, p->gradient, count, &err);
    CHECK_OK(err);
    const int32_t wrong[N] = {0, (int32_t)p->classes, 1};
    CHECK_INT(mw_program_write(program, "y", MW_I32, wrong, N, &err), MW_ERROR_ARGUMENT);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "port \"y\" element 1");
    mw_program_destroy(program);
}

/* What a gradient in fp16 may be off: three roundings of 2^-11 in softmax, twice the unit of subnormal numbers, 2^-24,
 * and for a confident label, whose gradient is the sum of all other powers, half a unit of each. */
static double allowed(const problem *p, int64_t i, double gradient)
{
    const bool confident = i == p->classes + p->labels[1];
    return 4e-3 * fabs(gradient) + 1.2e-7 + (confident ? (double)p->classes * 0x1p-25 : 0.0);
}

static void check_cross_entropy(int64_t classes, mw_chip chip)
{
    problem p;
    double *gradient = malloc((size_t)(N * classes) * sizeof *gradient), worst = 0.0;
    REQUIRE(problem_init(&p, classes) && gradient != NULL);
    const double loss = expect(&p, gradient);
    solve(&p, chip);
    CHECK_NEAR(p.loss, loss, 2e-3 * loss); /* four roundings to fp16 of the logarithm */
    for (int64_t i = 0; i < N * classes; i++)
        worst = fmax(worst, fabs((double)p.gradient[i] - gradient[i]) / allowed(&p, i, gradient[i]));
    CHECK_NEAR(worst, 0.0, 1.0);
    free(gradient);
    problem_deinit(&p);
}

static void test_cross_entropy_and_its_gradient_are_those_of_double(void)
{
    for (int s = 0; s < WORDS_SIZES; s++)
        for (int c = 0; c < WORDS_CHIPS; c++)
            check_cross_entropy(words_sizes[s], words_chips[c]);
}

/* ---- the other losses of labels: like those of the CPU ---- */

enum { C = 16385, KINDS = 5 };

static mw_tensor *make_loss(int kind, mw_tensor *x, mw_tensor *y)
{
    static float weights[C];
    mw_cross_entropy_options options = mw_cross_entropy_defaults();
    for (int i = 0; i < C; i++)
        weights[i] = 0.5f + (float)(i % 3);
    switch (kind) {
    case 0:
        options.label_smoothing = 0.125f;
        return mw_cross_entropy_with(x, y, &options);
    case 1:
        options.class_weights = weights;
        options.class_count = C;
        return mw_cross_entropy_with(x, y, &options);
    case 2:
        options.ignore_index = -100;
        return mw_cross_entropy_with(x, y, &options);
    case 3:
        return mw_nll(mw_log_softmax(x, -1), y);
    default:
        return mw_multi_margin(x, y, 0.5f);
    }
}

static void run_loss(const problem *p, int kind, mw_device device, float *out_loss, float *out_gradient)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(N, C)), *gradient = NULL;
    mw_tensor *loss = make_loss(kind, x, mw_input(graph, "y", MW_I32, MW_SHAPE(N)));
    mw_grad(loss, &x, 1, &gradient, &err);
    mw_output(loss, "loss");
    mw_output(gradient, "gradient");
    const mw_compile_options options = words_compile(device, MW_CHIP_H13);
    mw_program *program = mw_program_create(graph, &options, &err);
    mw_graph_destroy(graph);
    REQUIRE(CHECK_OK(err) && program != NULL);
    if (device == MW_DEVICE_ANE)
        CHECK(words_longest_axis(mw_program_get_info(program).mil) <= words_axis_max(MW_CHIP_H13));
    mw_program_write(program, "x", MW_F32, p->logits, (size_t)N * C, &err);
    mw_program_write(program, "y", MW_I32, p->labels, N, &err);
    mw_program_run(program, &err);
    mw_program_read(program, "loss", MW_F32, out_loss, 1, &err);
    mw_program_read(program, "gradient", MW_F32, out_gradient, (size_t)N * C, &err);
    CHECK_OK(err);
    mw_program_destroy(program);
}

static void test_every_loss_of_labels_is_that_of_the_cpu(void)
{
    problem p;
    static float gradients[2][N * C];
    REQUIRE(problem_init(&p, C));
    for (int kind = 0; kind < KINDS; kind++) {
        float losses[2] = {0.0f, 1e9f};
        double worst = 0.0;
        p.labels[2] = kind == 2 ? -100 : 1000;
        run_loss(&p, kind, MW_DEVICE_CPU, &losses[0], gradients[0]);
        run_loss(&p, kind, MW_DEVICE_ANE, &losses[1], gradients[1]);
        check_near((double)losses[1], (double)losses[0], 4e-3 * fabs((double)losses[0]), __FILE__, __LINE__, "loss");
        for (int i = 0; i < N * C; i++) /* twice: coefficients and logarithms are rounded too */
            worst = fmax(worst, fabs((double)gradients[1][i] - (double)gradients[0][i]) /
                                    (2.0 * allowed(&p, i, (double)gradients[0][i])));
        check_note(worst <= 1.0, __FILE__, __LINE__, "loss %d: gradient off by %g of what is allowed", kind, worst);
    }
    problem_deinit(&p);
}

/* ---- accuracy ---- */

static float accuracy(int64_t classes, mw_chip chip, const float *logits, const int32_t *labels, bool ignores)
{
    mw_error err = {0};
    float found = -1.0f;
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(N, classes)), *y = mw_input(graph, "y", MW_I32, MW_SHAPE(N));
    mw_output(ignores ? mw_accuracy_ignoring(x, y, -1) : mw_accuracy(x, y), "accuracy");
    const mw_compile_options options = words_compile(MW_DEVICE_ANE, chip);
    mw_program *program = mw_program_create(graph, &options, &err);
    mw_graph_destroy(graph);
    if (program != NULL) {
        CHECK(words_longest_axis(mw_program_get_info(program).mil) <= words_axis_max(chip));
        mw_program_write(program, "x", MW_F32, logits, (size_t)(N * classes), &err);
        mw_program_write(program, "y", MW_I32, labels, N, &err);
        mw_program_run(program, &err);
        mw_program_read(program, "accuracy", MW_F32, &found, 1, &err);
    }
    CHECK_OK(err);
    mw_program_destroy(program);
    return found;
}

/* The first of several largest wins, be it in another block; neighbors are told apart. */
static void check_accuracy(int64_t classes, mw_chip chip)
{
    float *x = calloc((size_t)(N * classes), sizeof *x);
    int32_t right[N], wrong[N];
    REQUIRE(x != NULL);
    words_choose(classes, right, N, 3); /* 256, 257, 2047 */
    right[2] = (int32_t)classes - 1;
    for (int n = 0; n < N; n++) {
        x[n * classes + right[n]] = 2.0f;
        wrong[n] = n == 2 ? right[n] - 1 : right[n] + 1;
    }
    x[0 * classes + classes - 1] = 2.0f;                             /* as large, but later */
    x[1 * classes + 1000] = 1.5f;                                    /* earlier, but smaller */
    CHECK_NEAR(accuracy(classes, chip, x, right, false), 1.0, 1e-3); /* a mean of three in fp16 */
    CHECK_NEAR(accuracy(classes, chip, x, wrong, false), 0.0, 0.0);
    wrong[1] = -1;
    wrong[0] = right[0];
    CHECK_NEAR(accuracy(classes, chip, x, wrong, true), 0.5, 1e-3);
    free(x);
}

static void test_accuracy_counts_the_first_largest(void)
{
    for (int s = 0; s < WORDS_SIZES; s++)
        for (int c = 0; c < WORDS_CHIPS; c++)
            check_accuracy(words_sizes[s], words_chips[c]);
}

int main(void)
{
    RUN(test_cross_entropy_and_its_gradient_are_those_of_double);
    RUN(test_every_loss_of_labels_is_that_of_the_cpu);
    RUN(test_accuracy_counts_the_first_largest);
    return check_finish();
}
