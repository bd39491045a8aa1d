/* Losses taken apart into means over examples: known networks leave nothing over, and graphs that are long, deep or
 * shared end. */
#include "autograd/terms.h"
#include "nets.h"
#include "runtime/trainer/object/trainer_object.h"
#include "support/check.h"
#include "support/failing.h"

#include <millwright/millwright.h>

enum { N = 6, D = 3 };

static size_t count_kind(const mw__term *terms, mw__term_kind kind)
{
    size_t count = 0;
    for (const mw__term *term = terms; term != NULL; term = term->next)
        count += term->kind == kind;
    return count;
}

/* Terms of a scalar for a batch of N; `arena` is initialized here. */
static mw__term *terms_of(mw__arena *arena, mw_tensor *scalar, int64_t batch, mw_error *err)
{
    mw__term *terms = NULL;
    mw__arena_init(arena, mw_tensor_graph(scalar)->allocator);
    const mw__function *main = mw__graph_main(mw_tensor_graph(scalar));
    const mw__batch_rows *table = mw__batch_find(arena, main, batch, err);
    if (table != NULL)
        mw__terms_make(arena, table, scalar, &terms, err);
    return terms;
}

static void test_known_networks_are_means_over_examples(void)
{
    static const char *const names[] = {"conv", "resnet", "transformer", "vae"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        mw_error err = {0};
        mw__arena arena;
        mw_trainer *trainer = nets_trainer(names[i], mw_sgd(0.1f), &err);
        REQUIRE(CHECK_OK(err));
        const mw__term *terms = terms_of(&arena, trainer->model.loss, nets_batch(names[i]), &err);
        CHECK_OK(err);
        check_note(count_kind(terms, MW__TERM_OTHER) == 0 && count_kind(terms, MW__TERM_EXAMPLES) > 0, __FILE__,
                   __LINE__, "%s: a term is no mean over examples", names[i]);
        mw__arena_deinit(&arena);
        mw_trainer_destroy(trainer);
    }
}

typedef struct parts {
    mw_graph *graph;
    mw_tensor *x, *w, *mean, *norm;
} parts;

static parts make_parts(void)
{
    parts p = {.graph = mw_graph_create(NULL, NULL)};
    p.x = mw_input(p.graph, "x", MW_F32, MW_SHAPE(N, D));
    p.w = mw_parameter(p.graph, "w", MW_F32, MW_SHAPE(D), mw_init_constant(2.0f));
    p.mean = mw_reduce_mean(mw_mul(p.x, p.w), MW_ALL_AXES, false);
    p.norm = mw_reduce_sum(mw_square(p.w), MW_ALL_AXES, false);
    return p;
}

/* As an L2 term for each of many weights is added, from either side. */
static void test_long_sums_are_taken_apart(void)
{
    enum { LONG = 3000 };
    for (int side = 0; side < 2; side++) {
        mw_error err = {0};
        mw__arena arena;
        parts p = make_parts();
        mw_tensor *sum = p.mean;
        for (int i = 0; i < LONG; i++) {
            mw_tensor *next = i % 2 == 0 ? p.norm : mw_reduce_mean(mw_square(p.x), MW_ALL_AXES, false);
            sum = side == 0 ? mw_add(sum, next) : mw_add(next, sum);
        }
        const mw__term *terms = terms_of(&arena, sum, N, &err);
        CHECK_OK(err);
        CHECK_INT(count_kind(terms, MW__TERM_FIXED), LONG / 2);
        CHECK_INT(count_kind(terms, MW__TERM_EXAMPLES), LONG / 2 + 1);
        CHECK_INT(count_kind(terms, MW__TERM_OTHER), 0);
        mw__arena_deinit(&arena);
        mw_graph_destroy(p.graph);
    }
}

/* 2^60 terms, if it were written out. */
static void test_sums_of_shared_operands_end(void)
{
    mw_error err = {0};
    mw__arena arena;
    parts p = make_parts();
    mw_tensor *sum = p.mean;
    for (int i = 0; i < 60; i++)
        sum = mw_add(sum, sum);
    const mw__term *terms = terms_of(&arena, sum, N, &err);
    CHECK_OK(err);
    CHECK(terms != NULL);
    mw__arena_deinit(&arena);
    mw_graph_destroy(p.graph);
}

static void test_factors_and_numbers_are_kept(void)
{
    mw_error err = {0};
    mw__arena arena;
    parts p = make_parts();
    mw_tensor *k = mw_parameter(p.graph, "k", MW_F32, mw_shape_scalar(), mw_init_constant(3.0f));
    mw_tensor *scaled = mw_mul_scalar(mw_real_div(mw_mul(k, p.mean), mw_exp(k)), -2.5);
    const mw__term *terms = terms_of(&arena, scaled, N, &err);
    CHECK_OK(err);
    REQUIRE(terms != NULL && terms->next == NULL);
    CHECK_INT(terms->kind, MW__TERM_EXAMPLES);
    CHECK_NEAR(terms->number, -2.5, 0.0);
    REQUIRE(terms->factors != NULL && terms->factors->next != NULL);
    CHECK(terms->factors->value == k && !terms->factors->divides);
    CHECK(terms->factors->next->divides && terms->factors->next->next == NULL);
    mw__arena_deinit(&arena);
    mw_graph_destroy(p.graph);
}

/* What is linear in no mean stays whole, with the operation that is to blame. */
static void test_what_is_not_linear_stays_whole(void)
{
    parts p = make_parts();
    mw_tensor *const whole[] = {
        mw_sqrt(p.mean),
        mw_mul(p.mean, p.mean),
        mw_maximum(p.mean, mw_scalar(p.graph, MW_F32, 0.5)),
        mw_reduce_max(p.x, MW_ALL_AXES, false),
        mw_reduce_log_sum_exp(p.x, MW_ALL_AXES, false),
        mw_real_div(p.mean, mw_sqrt(p.mean)),
    };
    static const char *const kinds[] = {"sqrt", "mul", "maximum", "reduce_max", "reduce_log_sum_exp", "real_div"};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        mw_error err = {0};
        mw__arena arena;
        const mw__term *terms = terms_of(&arena, mw_add(p.mean, whole[i]), N, &err);
        CHECK_OK(err);
        if (CHECK(terms != NULL && terms->next != NULL && terms->next->next == NULL)) {
            const mw__term *other = terms->kind == MW__TERM_OTHER ? terms : terms->next;
            CHECK_INT(count_kind(terms, MW__TERM_OTHER), 1);
            CHECK_INT(count_kind(terms, MW__TERM_EXAMPLES), 1);
            CHECK(other->reason != NULL && strcmp(other->reason->kind, kinds[i]) == 0);
            CHECK(other->value == whole[i]);
        }
        mw__arena_deinit(&arena);
    }
    mw_graph_destroy(p.graph);
}

/* A weighted mean whose record was lost in text is still one. */
static void test_a_weighted_mean_survives_text(void)
{
    mw_error err = {0};
    mw__arena arena;
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *logits = mw_input(graph, "x", MW_F32, MW_SHAPE(N, D)), *y = mw_input(graph, "y", MW_I32, MW_SHAPE(N));
    mw_cross_entropy_options options = mw_cross_entropy_defaults();
    options.ignore_index = -1;
    mw_output(mw_cross_entropy_with(logits, y, &options), "loss");
    char *text = mw_graph_print_mil(graph, NULL, &err);
    mw_graph *parsed = mw_graph_parse_mil(text, text != NULL ? strlen(text) : 0, NULL, NULL, &err);
    mw_string_free(text);
    REQUIRE(CHECK_OK(err));
    const mw__term *terms = terms_of(&arena, mw_graph_find(parsed, "loss"), N, &err);
    CHECK_OK(err);
    REQUIRE(terms != NULL && terms->next == NULL);
    CHECK_INT(terms->kind, MW__TERM_QUOTIENT);
    CHECK_INT(terms->above->kind, MW__TERM_EXAMPLES);
    CHECK_INT(terms->below->kind, MW__TERM_EXAMPLES);
    mw__arena_deinit(&arena);
    mw_graph_destroy(parsed);
    mw_graph_destroy(graph);
}

/* A lack of memory must not pass for a lack of linearity. */
static void test_failing_allocations_are_errors(void)
{
    parts p = make_parts();
    mw_tensor *k = mw_parameter(p.graph, "k", MW_F32, mw_shape_scalar(), mw_init_constant(3.0f));
    mw_tensor *sum = mw_add(mw_mul(k, p.mean), p.norm);
    for (int i = 0; i < 300; i++)
        sum = mw_add(sum, mw_real_div(p.mean, mw_reduce_sum(p.x, MW_ALL_AXES, false)));
    const mw__function *main = mw__graph_main(p.graph);
    bool done = false;
    for (long n = 0; !done && n < 100; n++) {
        failing_allocator failing = {.fail_at = n};
        const mw_allocator allocator = failing_allocator_of(&failing);
        for (int with_error = 0; with_error < 2; with_error++) {
            mw_error err = {0};
            mw__arena arena;
            mw__term *terms = NULL;
            failing.fail_at = failing.requests + n;
            failing.failed = false;
            mw__arena_init(&arena, &allocator);
            const mw__batch_rows *table = mw__batch_find(&arena, main, N, with_error ? &err : NULL);
            mw_status status = MW_ERROR_MEMORY;
            if (table != NULL)
                status = mw__terms_make(&arena, table, sum, &terms, with_error ? &err : NULL);
            done = !failing.failed;
            CHECK((status == MW_OK) == done);
            CHECK(!with_error || err.status == status);
            CHECK(status != MW_OK || count_kind(terms, MW__TERM_OTHER) == 0);
            mw__arena_deinit(&arena);
        }
        CHECK_INT(failing.live, 0);
    }
    CHECK(done);
    mw_graph_destroy(p.graph);
}

int main(void)
{
    RUN(test_known_networks_are_means_over_examples);
    RUN(test_long_sums_are_taken_apart);
    RUN(test_sums_of_shared_operands_end);
    RUN(test_factors_and_numbers_are_kept);
    RUN(test_what_is_not_linear_stays_whole);
    RUN(test_a_weighted_mean_survives_text);
    RUN(test_failing_allocations_are_errors);
    return check_finish();
}
