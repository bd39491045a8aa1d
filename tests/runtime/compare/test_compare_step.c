/* The first step of a trainer beside that of another device: it trains as without, or is refused by name with its state
 * untouched. */
#include "runtime/small.h"
#include "support/check.h"
#include "support/on_engine.h"

#include <math.h>
#include <millwright/inspect.h>

static mw_trainer *make_trainer(small_net *net, mw_device device, const mw_compare_options *compare, int steps,
                                mw_error *err)
{
    *net = small_create(NULL);
    mw_trainer_options options = mw_trainer_defaults(net->loss, mw_adam(0.01F));
    options.compile = engine_options(device, 1);
    options.metric = net->accuracy;
    options.prediction = net->logits;
    options.watch.compare = compare;
    options.dispatch_steps = steps;
    return mw_trainer_create(&options, err);
}

static mw_compare_options cpu_reference(void)
{
    mw_compare_options compare = mw_compare_defaults();
    compare.reference = engine_options(MW_DEVICE_CPU, 1);
    return compare;
}

/* Bit for bit what a trainer does that compares nothing. */
static void test_a_step_that_passes_trains_as_without(void)
{
    static const mw_device devices[] = {MW_DEVICE_CPU, MW_DEVICE_ANE};
    for (int i = 0; i < 2; i++) {
        mw_error err = {0};
        small_net nets[2];
        const mw_compare_options compare = cpu_reference();
        mw_trainer *with = make_trainer(&nets[0], devices[i], &compare, 0, &err);
        mw_trainer *without = make_trainer(&nets[1], devices[i], NULL, 0, &err);
        const small_data data = small_make_data();
        CHECK(mw_trainer_comparison(with) == NULL);
        for (int step = 0; step < 3; step++) {
            float a = 0, b = 1;
            small_batch batch;
            small_fill_batch(&batch, &data, step * SMALL_N);
            mw_trainer_step(with, &batch.batch, &a, &err);
            mw_trainer_step(without, &batch.batch, &b, &err);
            CHECK_OK(err);
            CHECK(a == b);
        }
        const small_snapshot a = small_take(with), b = small_take(without);
        small_check_same(&a, &b);
        const mw_comparison *c = mw_trainer_comparison(with);
        CHECK(mw_comparison_get_info(c).passes && mw_comparison_get_info(c).count > 30); /* backward and update, too */
        CHECK(mw_trainer_comparison(without) == NULL);
        mw_trainer_destroy(with);
        mw_trainer_destroy(without);
        mw_graph_destroy(nets[0].graph);
        mw_graph_destroy(nets[1].graph);
    }
}

static void test_a_step_that_differs_is_refused_by_name(void)
{
    mw_error err = {0};
    small_net net;
    small_batch batch;
    mw_compare_options compare = cpu_reference();
    compare.relative = 0x1p-20; /* fp16 cannot keep that */
    compare.absolute = 0.0;
    mw_trainer *t = make_trainer(&net, MW_DEVICE_ANE, &compare, 0, &err);
    const small_data data = small_make_data();
    small_fill_batch(&batch, &data, 0);
    const small_snapshot before = small_take(t);
    float loss = 5;
    CHECK_INT(mw_trainer_step(t, &batch.batch, &loss, &err), MW_ERROR_NUMERIC);
    CHECK_ERROR(err, MW_ERROR_NUMERIC, "step 1 is refused: ");
    CHECK_ERROR(err, MW_ERROR_NUMERIC, "is the first operation on which the two devices differ");
    CHECK(loss == 0);
    const small_snapshot after = small_take(t);
    small_check_same(&before, &after);
    CHECK_INT(mw_trainer_steps(t), 0);
    CHECK_INT(mw_trainer_get_counters(t).refused_steps, 1);
    const mw_compared *first = mw_comparison_get_info(mw_trainer_comparison(t)).first_local;
    REQUIRE(first != NULL);
    CHECK_CONTAINS(err.message, first->tensor);
    CHECK_STR(err.operation, first->operation);
    mw_error_clear(&err);
    CHECK_INT(mw_trainer_step(t, &batch.batch, &loss, &err), MW_ERROR_NUMERIC); /* until one passes */
    mw_trainer_destroy(t);
    mw_graph_destroy(net.graph);
}

/* The first of many is a step of its own. */
static void test_dispatches_of_many_steps_begin_after_it(void)
{
    mw_error err = {0};
    small_net nets[2];
    const mw_compare_options compare = cpu_reference();
    mw_trainer *with = make_trainer(&nets[0], MW_DEVICE_ANE, &compare, 4, &err);
    mw_trainer *without = make_trainer(&nets[1], MW_DEVICE_ANE, NULL, 4, &err);
    const small_data data = small_make_data();
    small_batch batches[4];
    mw_batch plain[4];
    for (int i = 0; i < 4; i++) {
        small_fill_batch(&batches[i], &data, i * SMALL_N);
        plain[i] = batches[i].batch;
    }
    for (int round = 0; round < 2; round++) {
        mw_trainer_step_many(with, plain, 4, NULL, &err);
        mw_trainer_step_many(without, plain, 4, NULL, &err);
    }
    CHECK_OK(err);
    CHECK(mw_comparison_get_info(mw_trainer_comparison(with)).passes);
    const small_snapshot a = small_take(with), b = small_take(without);
    small_check_same(&a, &b);
    mw_trainer_destroy(with);
    mw_trainer_destroy(without);
    mw_graph_destroy(nets[0].graph);
    mw_graph_destroy(nets[1].graph);
}

static void test_bad_options_are_refused_at_creation(void)
{
    mw_error err = {0};
    small_net net;
    mw_compare_options compare = cpu_reference();
    compare.relative = -1.0;
    CHECK(make_trainer(&net, MW_DEVICE_CPU, &compare, 0, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "tolerances");
    mw_graph_destroy(net.graph);
    mw_error_clear(&err);
    compare = cpu_reference();
    compare.reference.device = (mw_device)77;
    CHECK(make_trainer(&net, MW_DEVICE_CPU, &compare, 0, &err) == NULL);
    CHECK(err.status == MW_ERROR_ARGUMENT || err.status == MW_ERROR_UNSUPPORTED);
    mw_graph_destroy(net.graph);
}

int main(void)
{
    RUN(test_a_step_that_passes_trains_as_without);
    RUN(test_a_step_that_differs_is_refused_by_name);
    RUN(test_dispatches_of_many_steps_begin_after_it);
    RUN(test_bad_options_are_refused_at_creation);
    return check_finish();
}
