/* memory_limit: what a step takes is read from its plan, and if that is too much, from those of steps whose forward
 * pass is computed again in twice as many pieces each time. */
#include "runtime/trainer/trainer_memory.h"

#include "autograd/recompute_cut.h"
#include "base/text/log.h"
#include "graph/transform/clone/clone.h"
#include "runtime/plan/plan_read.h"
#include "runtime/trainer/trainer_model.h"

#include <millwright/autograd.h>

#define PIECES_MAX 4096

/* ---- marking the model ---- */

typedef struct marker {
    const mw_tensor *const *ends;
    size_t count, next;
    mw_tensor *previous; /* in the copy; NULL = the leaves */
} marker;

/* The end keeps its record: a batch norm has a form for evaluation and a gradient of its own. */
static bool mark_end(void *user, mw__clone *clone, const mw__op *op)
{
    marker *m = user;
    if (m->next == m->count || m->ends[m->next]->op != op)
        return false;
    const mw_tensor *end = m->ends[m->next++];
    if (mw__clone_op(clone, op, &clone->to->error) != MW_OK || mw__clone_carry_record(clone, end) != MW_OK)
        return true;
    m->previous = mw_recompute(mw__clone_get(clone, end), &m->previous, m->previous != NULL ? 1 : 0);
    mw__clone_set(clone, end, m->previous);
    return true;
}

mw_status mw__trainer_recompute(mw_trainer *t, size_t pieces, mw_error *err)
{
    marker m = {0};
    mw__trainer_roots held;
    mw__arena arena;
    mw__arena_init(&arena, t->allocator);
    mw_status status = mw__recompute_cut(&arena, t->model.loss, pieces, &m.ends, &m.count, err);
    if (status == MW_OK)
        status = mw__trainer_hold_roots(t, &held, err);
    const mw__clone_options options = {.rule = mark_end,
                                       .user = &m,
                                       .roots = status == MW_OK ? held.roots : NULL,
                                       .root_count = status == MW_OK ? held.count : 0};
    mw_graph *marked =
        status == MW_OK ? mw__clone_graph(t->allocator, t->model.graph, &options, held.copies, err) : NULL;
    if (status == MW_OK)
        mw__trainer_take_roots(t, &held, marked != NULL);
    mw__arena_deinit(&arena);
    if (marked == NULL)
        return mw__status_or(err, MW_ERROR_MEMORY);
    mw__graph_free(t->model.graph);
    t->model.graph = marked;
    t->record.recomputation.stretches = m.next;
    return MW_OK;
}

/* ---- the search ---- */

static mw_status measure_trainer(mw_trainer *t, uint64_t *out_bytes, double *out_flops, mw_error *err)
{
    mw_plan *plan = mw__trainer_plan_create(t, MW_TRAINER_STEP, err);
    if (plan == NULL)
        return mw__status_or(err, MW_ERROR_MEMORY);
    *out_bytes = mw__program_plan_bytes(plan);
    *out_flops = plan->totals.flops;
    mw__program_plan_destroy(plan, __func__);
    return MW_OK;
}

static void say_cost(const mw_trainer_recomputation *r, uint64_t limit)
{
    mw__log(
        MW_LOG_INFO,
        "trainer: a step would take %.1f MB, more than memory.limit, %.1f MB; %zu stretches of the forward pass are "
        "computed again: %.1f MB, for %.1f %% more floating-point operations",
        (double)r->bytes_before / 1e6, (double)limit / 1e6, r->stretches, (double)r->bytes / 1e6,
        r->flops_before > 0.0 ? 100.0 * (r->flops / r->flops_before - 1.0) : 0.0);
}

static mw_status refuse_memory_limit(uint64_t limit, uint64_t before, uint64_t least, size_t stretches, mw_error *err)
{
    return mw__fail(err, MW_ERROR_MEMORY,
                    "trainer: a step takes %llu bytes, and %llu with the forward pass computed again in %zu stretches; "
                    "the limit of memory is %llu: take a smaller batch (accumulation adds up the gradients of several)",
                    (unsigned long long)before, (unsigned long long)least, stretches, (unsigned long long)limit);
}

/* The best of the tries so far, for the message. */
typedef struct search {
    const mw_trainer_options *options;
    uint64_t before, least;
    double flops_before;
    size_t stretches; /* of the least */
    size_t tried;     /* of the last try: as many again mean that there are no more places */
} search;

/* True if the trainer will do, or the search is at its end. */
static bool suits_memory(search *s, mw_trainer *t, mw_error *err)
{
    mw_trainer_recomputation *r = &t->record.recomputation;
    r->bytes_before = s->before;
    r->flops_before = s->flops_before;
    if (measure_trainer(t, &r->bytes, &r->flops, err) != MW_OK || r->bytes <= s->options->memory.limit)
        return true;
    if (r->bytes < s->least) {
        s->least = r->bytes;
        s->stretches = r->stretches;
    }
    const bool more = r->stretches > s->tried;
    s->tried = r->stretches;
    return !more;
}

static mw_trainer *search_pieces(search *s, mw_error *err)
{
    mw_trainer *t = NULL;
    for (size_t pieces = 2; pieces <= PIECES_MAX; pieces *= 2) {
        mw_trainer_destroy(t);
        t = mw__trainer_create_in(s->options, pieces, NULL, err);
        if (t == NULL || suits_memory(s, t, err))
            break;
    }
    if (t != NULL && err->status == MW_OK && t->record.recomputation.bytes <= s->options->memory.limit) {
        say_cost(&t->record.recomputation, s->options->memory.limit);
        return t;
    }
    mw_trainer_destroy(t);
    if (err->status == MW_OK)
        refuse_memory_limit(s->options->memory.limit, s->before, s->least, s->stretches, err);
    return NULL;
}

mw_trainer *mw__trainer_within_memory(mw_trainer *t, const mw_trainer_options *options, mw_error *err)
{
    mw_error own = {0};
    mw_error *said = err != NULL ? err : &own;
    mw_trainer_recomputation *r = &t->record.recomputation;
    if (measure_trainer(t, &r->bytes, &r->flops, said) == MW_OK && r->bytes <= options->memory.limit) {
        r->bytes_before = r->bytes;
        r->flops_before = r->flops;
        return t;
    }
    search s = {.options = options, .before = r->bytes, .least = r->bytes, .flops_before = r->flops};
    mw_trainer_destroy(t);
    return said->status == MW_OK ? search_pieces(&s, said) : NULL;
}
