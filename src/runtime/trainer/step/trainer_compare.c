/* The first step beside that of another device, and the next step for others to look at: its operations are built once
 * more, compiled with all inner values as outputs, and fed what the step has been fed. All write into memory of their
 * own. */
#include "runtime/trainer/step/trainer_compare.h"
#include "runtime/trainer/options/trainer_numbers.h"

#include "base/memory/live.h"
#include "base/number/float_mode.h"
#include "base/text/printable.h"
#include "runtime/compare/compare.h"
#include "runtime/trainer/build/trainer_programs.h"
#include "runtime/trainer/step/trainer_step.h"

#include <inttypes.h>

typedef struct mw__trainer_compared {
    mw_compare_options options;
    mw_comparison *comparison; /* the last; or NULL */
    bool passed;
} mw__trainer_compared;

mw_status mw__trainer_take_comparison(mw_trainer *t, const mw_compare_options *options, mw_error *err)
{
    mw__target reference;
    if (options == NULL)
        return MW_OK;
    MW_TRY(mw__compare_check_options(options, err));
    MW_TRY(mw__target_resolve(&options->reference, &reference, err));
    t->diagnosis.compared = mw__arena_alloc(&t->arena, 1, sizeof *t->diagnosis.compared, err);
    if (t->diagnosis.compared == NULL)
        return MW_ERROR_MEMORY;
    t->diagnosis.compared->options = *options;
    t->diagnosis.compared->options.device = t->compile;
    t->diagnosis.compared->options.batch = NULL;
    t->diagnosis.compared->options.allocator = t->allocator;
    return MW_OK;
}

void mw__trainer_drop_comparison(mw_trainer *t)
{
    if (t->diagnosis.compared == NULL)
        return;
    mw__comparison_destroy(t->diagnosis.compared->comparison, "mw_comparison_destroy");
    t->diagnosis.compared->comparison = NULL;
}

const mw_comparison *mw__trainer_comparison(const mw_trainer *trainer)
{
    return mw__live_has(trainer, MW__LIVE_TRAINER) && trainer->diagnosis.compared != NULL
               ? trainer->diagnosis.compared->comparison
               : NULL;
}

bool mw__trainer_compares(const mw_trainer *t)
{
    return t->diagnosis.compared != NULL && !t->diagnosis.compared->passed;
}

/* A mw__compare_fill. */
static mw_status fill_feeds(void *user, mw_program *reference, mw_program *device, mw_error *err)
{
    const mw_trainer *t = user;
    MW_TRY(mw__compare_copy_inputs(t->step.program, reference, err));
    return mw__compare_copy_inputs(t->step.program, device, err);
}

/* The step's operations once more. Building the update again must not count the scalars of the step a second time. */
static mw_status build_again(mw_trainer *t, mw__trainer_build *b, mw_error *err)
{
    mw__trainer_scalar *const kept = t->optimizer.scalars;
    const size_t kept_count = t->optimizer.scalar_count, most = mw__trainer_scalar_sets(t) * MW__OPTIMIZER_SCALARS;
    mw__arena scratch;
    mw__arena_init(&scratch, t->allocator);
    t->optimizer.scalars = mw__arena_alloc(&scratch, most, sizeof *t->optimizer.scalars, err);
    t->optimizer.scalar_count = 0;
    const mw_status status = t->optimizer.scalars != NULL ? mw__trainer_build_pass(b, err) : MW_ERROR_MEMORY;
    t->optimizer.scalars = kept, t->optimizer.scalar_count = kept_count;
    mw__arena_deinit(&scratch);
    return status;
}

static mw_status compare_devices(mw_trainer *t, mw_error *err)
{
    mw__trainer_build b = {.trainer = t};
    mw_status status = build_again(t, &b, err);
    const mw__compare_request request = {
        .graph = b.graph, .options = &t->diagnosis.compared->options, .fill = fill_feeds, .user = t};
    if (status == MW_OK) {
        t->diagnosis.compared->comparison = mw__compare_graph(&request, err);
        status = t->diagnosis.compared->comparison != NULL ? MW_OK : mw__status_or(err, MW_ERROR_DEVICE);
    }
    mw__graph_free(b.graph);
    mw__arena_deinit(&b.arena);
    return status;
}

/* ---- the next step, for others to look at ---- */

static mw_status show_step(mw_trainer *t, mw__trainer_look *look, void *user, mw_error *err)
{
    mw__target target;
    mw__trainer_build b = {.trainer = t};
    MW_TRY(mw__target_resolve(&t->compile, &target, err));
    mw_status status = build_again(t, &b, err);
    const bool is_fixed = (target.arithmetic & MW__ARITHMETIC(product_fixed_point)) != 0;
    const bool on_ane = target.device->mask == MW_DEVICE_ANE && (is_fixed || t->compile.profile != NULL);
    const mw__trainer_next_step step = {.graph = b.graph,
                                        .threads = t->compile.threads,
                                        .allocator = t->allocator,
                                        .profile = on_ane ? target.profile : NULL,
                                        .arithmetic = on_ane ? target.arithmetic : MW__ARITHMETIC_IEEE,
                                        .fill = fill_feeds,
                                        .user = t};
    if (status == MW_OK)
        status = look(user, &step, err);
    mw__graph_free(b.graph);
    mw__arena_deinit(&b.arena);
    return status;
}

/* Fed as the next step is, which feeds all of it anew. */
static mw_status feed_step(mw_trainer *t, const mw_batch *batch, const char *call, mw_error *err)
{
    uint64_t bytes = 0;
    if (t == NULL || batch == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: the %s is NULL", call, t == NULL ? "trainer" : "batch");
    MW_TRY(mw__trainer_check_batch(t, batch, err));
    if (t->ranks != NULL)
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "%s: the trainer has several ranks; measure one that has none",
                        call);
    MW_TRY(mw__feeder_feed(&t->step.feeder, batch, t->progress.steps + 1, &bytes, err));
    return mw__trainer_write_scalars(t, t->progress.steps + 1, err);
}

mw_status mw__trainer_look_at_step(mw_trainer *trainer, const mw_batch *batch, const char *call, mw__trainer_look *look,
                                   void *user, mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw_error own = {0};
    mw__entry entry;
    err = err != NULL ? err : &own;
    if (mw__failed(err) && mw__skipped(err, call))
        return err->status;
    MW_TRY(mw__trainer_enter(&entry, trainer, call, MW__LENT_NEVER, err));
    mw_status status = feed_step(trainer, batch, call, err);
    if (status == MW_OK)
        status = show_step(trainer, look, user, err);
    return mw__trainer_leave(&entry, status, err);
}

/* ---- refusing ---- */

static mw_status refuse_comparison(mw_trainer *t, mw_error *err)
{
    const mw_comparison *c = t->diagnosis.compared->comparison;
    const bool accumulated = t->diagnosis.compared->options.accumulated_only;
    const mw_compared *first = mw__comparison_first(c, accumulated);
    const mw_difference *d = accumulated ? &first->accumulated : &first->local;
    t->progress.counters.refused_steps++;
    mw__fail(err, MW_ERROR_NUMERIC,
             "step %" PRId64 " is refused: %.40s \"%.60s\" is the first operation on which the two devices differ: "
             "%zu of %zu elements by more than %g, at worst element %zu with %g and %g (%s; %s); parameters and state "
             "are as before",
             t->progress.steps + 1, first->operation, first->tensor, d->beyond, d->count, d->tolerance, d->worst, d->a,
             d->b, c->where[0], c->where[1]);
    mw__error_subject(err, first->operation, first->parameter != NULL ? first->parameter : first->tensor);
    return MW_ERROR_NUMERIC;
}

mw_status mw__trainer_compare(mw_trainer *t, mw_error *err)
{
    mw__trainer_drop_comparison(t);
    MW_TRY(compare_devices(t, err));
    const mw_comparison *c = t->diagnosis.compared->comparison;
    t->diagnosis.compared->passed = mw__comparison_first(c, c->accumulated_only) == NULL;
    return t->diagnosis.compared->passed ? MW_OK : refuse_comparison(t, err);
}
