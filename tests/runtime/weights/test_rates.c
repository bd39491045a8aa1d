/* Learning rates by depth and by selector: with SGD each parameter moves by its factor times what it moves without. */
#include "runtime/trainer/object/trainer_object.h"
#include "support/check.h"
#include "support/on_engine.h"

#include <math.h>
#include <millwright/millwright.h>

enum { N = 4, D = 4, PARTS = 6 };

static const char *const names[PARTS] = {"a_weight", "a_bias", "b_weight", "b_bias", "c_weight", "c_bias"};

/* a -> b -> c, as a program that was read has them. */
static mw_graph *make_source(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *h = mw_input(graph, "x", MW_F32, MW_SHAPE(N, D));
    for (int i = 0; i < 3; i++) {
        static const char *const layers[] = {"enc/a", "enc/b", "head"};
        float values[D * D];
        for (int k = 0; k < D * D; k++)
            values[k] = (float)((k + 5 * i) * 37 % 23) / 32.0f - 0.3f;
        mw_tensor *w = mw_name(mw_constant(graph, MW_F32, MW_SHAPE(D, D), values), names[2 * i]);
        mw_tensor *b = mw_name(mw_constant(graph, MW_F32, MW_SHAPE(D), values), names[2 * i + 1]);
        h = mw_name(mw_linear(h, w, b), layers[i]);
        h = mw_tanh(h);
    }
    mw_output(h, "y");
    return graph;
}

/* The values after one step, and what they were before. */
typedef struct moved {
    float before[PARTS][D * D], after[PARTS][D * D];
} moved;

static void train(const mw_graph *source, const mw_trainer_rates *rates, mw_parameter_group *group, moved *out,
                  mw_error *err)
{
    static const char *const all[] = {"*"};
    float x[N * D], y[N * D], loss;
    for (int i = 0; i < N * D; i++) {
        x[i] = (float)(i * 29 % 17) / 10.0f - 0.8f;
        y[i] = (float)(i * 13 % 19) / 10.0f;
    }
    const mw_feed feeds[] = {{.name = "x", .data = x, .dtype = MW_F32, .count = N * D},
                             {.name = "target", .data = y, .dtype = MW_F32, .count = N * D}};
    const mw_batch batch = {.feeds = feeds, .feed_count = 2, .examples = N};
    const mw_tune_options tune = mw_tune_defaults(all, 1);
    mw_graph *graph = mw_graph_trainable(source, &tune, err);
    mw_tensor *target = mw_input(graph, "target", MW_F32, MW_SHAPE(N, D));
    mw_trainer_options options = mw_trainer_defaults(mw_mse(mw_graph_output_at(graph, 0), target), mw_sgd(0.125f));
    options.rates = rates != NULL ? *rates : options.rates;
    options.groups = group;
    options.group_count = group != NULL;
    options.compile = engine_options(MW_DEVICE_CPU, 1);
    mw_trainer *trainer = mw_trainer_create(&options, err);
    for (int i = 0; trainer != NULL && i < PARTS; i++)
        mw_trainer_read(trainer, names[i], MW_F32, out->before[i], i % 2 == 0 ? D * D : D, err);
    mw_trainer_step(trainer, &batch, &loss, err);
    for (int i = 0; trainer != NULL && i < PARTS; i++)
        mw_trainer_read(trainer, names[i], MW_F32, out->after[i], i % 2 == 0 ? D * D : D, err);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
}

static void note_rate(void *user, const mw_rate_choice *choice)
{
    int *told = user;
    ++*told;
    CHECK(choice->depth == 1 + ('c' - choice->parameter[0]) && choice->factor > 0);
}

static void check_factors(const mw_trainer_rates *rates, mw_parameter_group *group, const double factors[PARTS])
{
    static moved plain, own;
    mw_error err = {0};
    mw_graph *source = make_source();
    mw_trainer_rates asked = *rates;
    int told = 0;
    asked.report = note_rate;
    asked.report_user = &told;
    asked.source = asked.factor_count > 0 ? source : NULL;
    train(source, NULL, NULL, &plain, &err);
    train(source, &asked, group, &own, &err);
    CHECK_OK(err);
    CHECK_INT(told, PARTS);
    for (int i = 0; i < PARTS; i++)
        for (int k = 0; k < (i % 2 == 0 ? D * D : D); k++) {
            const double step = (double)(plain.after[i][k] - plain.before[i][k]);
            CHECK_NEAR((double)(own.after[i][k] - own.before[i][k]), factors[i] * step, 1e-6);
            CHECK(fabs(step) > 1e-5);
        }
    mw_graph_destroy(source);
}

static void test_each_layer_is_slower_than_the_one_behind_it(void)
{
    check_factors(&(mw_trainer_rates){.decay = 0.5f}, NULL, (double[]){0.25, 0.25, 0.5, 0.5, 1, 1});
    check_factors(&(mw_trainer_rates){.decay = 1.0f}, NULL, (double[]){1, 1, 1, 1, 1, 1});
}

/* By a parameter's name, by that of its layer; the first counts; beside decay and the group's own factor. */
static void test_selectors_multiply(void)
{
    const mw_rate_factor factors[] = {{"*_bias", 2.0f}, {"enc:b", 0.5f}, {"head", 3.0f}};
    const mw_trainer_rates rates = {.decay = 0.5f, .factors = factors, .factor_count = 3};
    check_factors(&rates, NULL, (double[]){0.25, 0.5, 0.25, 1, 3, 2});
    mw_parameter_group group = mw_parameter_group_defaults("a_*");
    mw_parameter_group_set(&group, MW_GROUP_RATE_FACTOR, 4);
    check_factors(&rates, &group, (double[]){1, 2, 0.25, 1, 3, 2});
}

/* ---- adapters ---- */

/* Adapters follow the layer of what they adapt, by its depth and its name. */
static void test_adapters_have_the_rate_of_their_layer(void)
{
    static const char *const all[] = {"*_weight"};
    const mw_rate_factor factors[] = {{"enc/a", 3.0f}};
    mw_error err = {0};
    mw_graph *source = make_source();
    mw_lora_options lora = mw_lora_defaults(all, 1);
    lora.rank = 2;
    mw_graph *graph = mw_graph_lora(source, &lora, &err);
    mw_tensor *target = mw_input(graph, "target", MW_F32, MW_SHAPE(N, D));
    mw_trainer_options options = mw_trainer_defaults(mw_mse(mw_graph_output_at(graph, 0), target), mw_sgd(0.125f));
    options.rates = (mw_trainer_rates){.decay = 0.5f, .factors = factors, .factor_count = 1, .source = source};
    options.compile = engine_options(MW_DEVICE_CPU, 1);
    mw_trainer *trainer = mw_trainer_create(&options, &err);
    REQUIRE(CHECK_OK(err));
    const char *said = trainer->record.description;
    CHECK_CONTAINS(said, "rate_factor=0.75"); /* a: 3 / 4; b: 1 / 2; c: 1 */
    CHECK_CONTAINS(said, "rate_factor=0.5");
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
    mw_graph_destroy(source);
}

/* ---- refusals ---- */

static void check_refused(mw_trainer_rates rates, const char *message)
{
    moved m;
    mw_error err = {0};
    mw_graph *source = make_source();
    train(source, &rates, NULL, &m, &err);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, message);
    mw_graph_destroy(source);
}

static void test_rates_without_an_effect_are_refused(void)
{
    const mw_rate_factor none[] = {{"a_wieght", 2.0f}}, zero[] = {{"a_*", 0.0f}}, nameless[] = {{NULL, 1.0f}};
    check_refused((mw_trainer_rates){.decay = 1.5f}, "rates.decay is 1.5; it must be in (0, 1]");
    check_refused((mw_trainer_rates){.decay = NAN}, "rates.decay is nan");
    check_refused((mw_trainer_rates){.factor_count = 1}, "rates.factors is NULL, factor_count 1");
    check_refused((mw_trainer_rates){.factors = none, .factor_count = 1},
                  "factor 1 of rates, \"a_wieght\", gets no parameter: it matches none that is trained and no layer of "
                  "one, or an earlier factor took them; near it are \"a_weight\"");
    check_refused((mw_trainer_rates){.factors = zero, .factor_count = 1}, "\"a_*\", is 0; it must be above 0");
    check_refused((mw_trainer_rates){.factors = nameless, .factor_count = 1}, "factor 1 of rates has no pattern");
    mw_graph *source = make_source();
    check_refused((mw_trainer_rates){.decay = 0.5f, .source = source}, "rates.source has no effect without");
    mw_graph_destroy(source);
}

int main(void)
{
    RUN(test_each_layer_is_slower_than_the_one_behind_it);
    RUN(test_selectors_multiply);
    RUN(test_adapters_have_the_rate_of_their_layer);
    RUN(test_rates_without_an_effect_are_refused);
    return check_finish();
}
