/* Finds steps that may run block of units by block of units, one after the other (kernels/fused/unit_chain.c): rows of
 * a tensor from product to product, or the matrices of a batch through products too. What lies between them and nobody
 * else reads then exists for a block alone, and each finds in a cache what the one before it wrote.
 *
 * Steps are taken in the order in which they stand. A run is open for those that read what it makes, or what it reads
 * too, until another step touches what it makes or writes what it reads; it then stands where its last step stood. */
#include "engine/compile/fuse/ways.h"
#include "engine/core/planner.h"
#include "engine/kernels/fused/fused.h"

#include <string.h>

#define OPEN_RUNS 8
#define STAGES    24
#define WINDOW    16 /* steps after which a run closes that none has joined */
#define NONE      UINT32_MAX

typedef struct run {
    mw__step *stages[STAGES];
    size_t stage_count;
    uint32_t origins[STAGES]; /* places in the list */
    size_t origin_count;
    int64_t units; /* 0: there is no run */
} run;

typedef struct blocker {
    const mw__pass *pass;
    mw__step **steps; /* NULL: in a run that stands further down */
    size_t count;
    uint32_t *users; /* by buffer: steps that touch it */
    bool *inner;     /* by buffer, of the run that is being made */
    run *open;       /* OPEN_RUNS */
    mw_error *err;
} blocker;

static int64_t common(int64_t a, int64_t b) { return b == 0 ? a : common(b, a % b); }

static uint32_t last_of(const run *r) { return r->origins[r->origin_count - 1]; }

/* ---- operands ---- */

/* Equal parts of the buffer of which each range of the units touches but its own; 0 if there are none. */
static int64_t parts_of(const mw__buffer *buffers, const mw__step *step, const mw__step_operand *operand)
{
    if (operand->access == MW__WHOLE)
        return operand->parts;
    return operand->unit * (size_t)step->units == buffers[operand->buffer].size ? step->units : 0;
}

static const mw__step_operand *find_operand(const mw__step_operand *operands, size_t count, uint32_t buffer)
{
    for (size_t i = 0; i < count; i++)
        if (operands[i].buffer == buffer)
            return &operands[i];
    return NULL;
}

static bool touches(const mw__step *step, uint32_t buffer)
{
    return find_operand(step->reads, step->read_count, buffer) != NULL ||
           find_operand(step->writes, step->write_count, buffer) != NULL;
}

static bool run_writes(const run *r, uint32_t buffer)
{
    for (size_t s = 0; s < r->stage_count; s++)
        if (find_operand(r->stages[s]->writes, r->stages[s]->write_count, buffer) != NULL)
            return true;
    return false;
}

static bool run_touches(const run *r, uint32_t buffer)
{
    for (size_t s = 0; s < r->stage_count; s++)
        if (touches(r->stages[s], buffer))
            return true;
    return false;
}

/* The step must stand behind the run: it touches what that writes, or writes what it reads. */
static bool follows(const run *r, const mw__step *step)
{
    for (size_t i = 0; i < step->read_count; i++)
        if (run_writes(r, step->reads[i].buffer))
            return true;
    for (size_t i = 0; i < step->write_count; i++)
        if (run_touches(r, step->writes[i].buffer))
            return true;
    return false;
}

/* By rows, and worth to be read once. */
static bool is_large(const blocker *b, const mw__step_operand *operand)
{
    const mw__fuse_terms terms = {.saved = (double)b->pass->planner->buffers[operand->buffer].size};
    return operand->access == MW__ROWS && mw__fuse_pays(b->pass->weights, &terms);
}

static bool shares_read(const blocker *b, const run *r, const mw__step *step)
{
    for (size_t i = 0; i < step->read_count; i++)
        if (is_large(b, &step->reads[i]) && run_touches(r, step->reads[i].buffer))
            return true;
    return false;
}

/* ---- making a run's step ---- */

/* The greatest number of units, a divisor of `units`, for which each touches its own part of the buffer alone; 0 if
 * there is none. */
static int64_t units_for(const blocker *b, const run *r, uint32_t buffer, int64_t units)
{
    for (size_t s = 0; s < r->stage_count; s++) {
        const mw__step *step = r->stages[s];
        for (size_t i = 0; i < step->read_count + step->write_count; i++) {
            const mw__step_operand *operand =
                i < step->read_count ? &step->reads[i] : &step->writes[i - step->read_count];
            if (operand->buffer != buffer)
                continue;
            const int64_t parts = parts_of(b->pass->planner->buffers, step, operand);
            units = parts > 0 ? common(units, parts) : 0;
            if (units == 0)
                return 0;
        }
    }
    return units;
}

/* Steps of the list that are in the run and touch the buffer. */
static uint32_t users_in(const blocker *b, const run *r, uint32_t buffer)
{
    uint32_t users = 0;
    for (size_t i = 0; i < r->origin_count; i++)
        users += touches(b->steps[r->origins[i]], buffer);
    return users;
}

static void mark_inner(const blocker *b, const run *r, bool marked)
{
    for (size_t s = 0; s < r->stage_count; s++)
        for (size_t i = 0; i < r->stages[s]->write_count; i++) {
            const uint32_t buffer = r->stages[s]->writes[i].buffer;
            b->inner[buffer] = marked && b->pass->planner->buffers[buffer].kind == MW__BUFFER_LOCAL &&
                               users_in(b, r, buffer) == b->users[buffer] &&
                               units_for(b, r, buffer, r->units) == r->units;
        }
}

/* NULL after a failed allocation. */
static mw__step *make_step(const blocker *b, const run *r)
{
    if (r->stage_count == 1)
        return r->stages[0];
    mark_inner(b, r, true);
    const mw__unit_chain parts = {.steps = r->stages,
                                  .count = r->stage_count,
                                  .units = r->units,
                                  .buffers = b->pass->planner->buffers,
                                  .inner = b->inner};
    mw__step *step = mw__unit_chain_step(b->pass->arena, &parts, b->err);
    mark_inner(b, r, false);
    return step;
}

static mw_status close_run(const blocker *b, run *r)
{
    if (r->units == 0)
        return MW_OK;
    mw__step *step = make_step(b, r);
    if (step == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < r->origin_count; i++)
        b->steps[r->origins[i]] = NULL;
    b->steps[last_of(r)] = step;
    r->units = 0;
    return MW_OK;
}

/* ---- joining ---- */

static bool is_narrow(const mw__step *step)
{
    return step->read_count <= MW__CHAIN_OPERANDS && step->write_count <= MW__CHAIN_OPERANDS;
}

/* A run of that step alone; false if it runs better as a whole. */
static bool begin_run(const blocker *b, uint32_t at, run *out)
{
    mw__step *step = b->steps[at];
    if (step->span < 1 || step->units < 2 || step->units % step->span != 0 || step->nested != NULL || step->varies ||
        step->prepares || step->fusion.kind == MW__STEP_CHECK || !is_narrow(step))
        return false;
    *out = (run){.origins = {at}, .origin_count = 1, .units = step->units / step->span};
    const size_t stages = mw__unit_chain_stages(step);
    if (stages > STAGES || out->units < 2)
        return false;
    out->stage_count = stages > 0 ? stages : 1;
    out->stages[0] = step;
    for (size_t s = 0; s < stages; s++)
        out->stages[s] = mw__unit_chain_stage(step, s);
    return true;
}

/* With other units than before a run is one stage of the longer one, so that its own blocks stay as small. *fits is
 * false if it touches too much for that. */
static mw_status settle(const blocker *b, run *r, int64_t units, bool *fits)
{
    *fits = true;
    if (r->units == units || r->stage_count == 1)
        return MW_OK;
    mw__step *step = make_step(b, r);
    if (step == NULL)
        return MW_ERROR_MEMORY;
    *fits = is_narrow(step);
    if (*fits)
        r->stages[0] = step, r->stage_count = 1;
    return MW_OK;
}

/* What one makes and the other touches, or what both read and is large, is touched by such units. */
static int64_t common_units(const blocker *b, const run *early, const run *late)
{
    int64_t units = common(early->units, late->units);
    for (size_t s = 0; s < late->stage_count; s++) {
        const mw__step *step = late->stages[s];
        for (size_t i = 0; i < step->read_count + step->write_count && units > 1; i++) {
            const bool read = i < step->read_count;
            const mw__step_operand *operand = read ? &step->reads[i] : &step->writes[i - step->read_count];
            const bool matters =
                read ? run_writes(early, operand->buffer) || is_large(b, operand) : run_touches(early, operand->buffer);
            if (!matters || !run_touches(early, operand->buffer))
                continue;
            units = units_for(b, early, operand->buffer, units);
            units = units > 0 ? units_for(b, late, operand->buffer, units) : 0;
        }
    }
    return units;
}

/* Elements of all that the run touches. */
static double elements_of(const blocker *b, const run *r)
{
    size_t bytes = 0;
    for (size_t s = 0; s < r->stage_count; s++) {
        const mw__step *step = r->stages[s];
        for (size_t i = 0; i < step->read_count; i++)
            bytes += b->pass->planner->buffers[step->reads[i].buffer].size;
        for (size_t i = 0; i < step->write_count; i++)
            bytes += b->pass->planner->buffers[step->writes[i].buffer].size;
    }
    return (double)(bytes / sizeof(float));
}

/* Small steps between large ones are: they hold these together. */
static bool is_worth_joining(const blocker *b, const run *early, const run *late)
{
    const mw__fuse_terms terms = {.spared = elements_of(b, early) + elements_of(b, late), .again = MW__FUSE_BEGINS};
    return mw__fuse_pays(b->pass->weights, &terms);
}

/* Shares of the threads begin where they did, at whole grains. */
static bool allows(const blocker *b, const run *early, const run *late, int64_t units)
{
    bool grains = false, longer = false;
    for (size_t s = 0; s < early->stage_count + late->stage_count; s++) {
        const mw__step *step = s < early->stage_count ? early->stages[s] : late->stages[s - early->stage_count];
        const int64_t each = step->units / units;
        if (each % step->grain != 0 && each > 1)
            return false;
        longer = longer || each > 1, grains = grains || (each == 1 && step->grain > 1);
    }
    return b->pass->partitions == 1 || !longer || (!grains && units % b->pass->partitions == 0);
}

/* Puts the early run before the late one; *joined is false if they stay apart. */
static mw_status try_join(const blocker *b, run *early, run *late, bool *joined)
{
    const int64_t units = common_units(b, early, late);
    *joined = units > 1 && allows(b, early, late, units) && is_worth_joining(b, early, late) &&
              early->origin_count + late->origin_count <= STAGES && early->stage_count + late->stage_count <= STAGES;
    if (!*joined)
        return MW_OK;
    MW_TRY(settle(b, early, units, joined));
    if (*joined)
        MW_TRY(settle(b, late, units, joined));
    if (!*joined)
        return MW_OK;
    run both = *early;
    both.units = units;
    memcpy(both.stages + both.stage_count, late->stages, late->stage_count * sizeof *late->stages);
    memcpy(both.origins + both.origin_count, late->origins, late->origin_count * sizeof *late->origins);
    both.stage_count += late->stage_count, both.origin_count += late->origin_count;
    *late = both;
    early->units = 0;
    return MW_OK;
}

static mw_status find_slot(const blocker *b, run **out)
{
    *out = &b->open[0];
    for (size_t i = 0; i < OPEN_RUNS; i++) {
        if (b->open[i].units == 0) {
            *out = &b->open[i];
            return MW_OK;
        }
        if (last_of(&b->open[i]) < last_of(*out))
            *out = &b->open[i];
    }
    return close_run(b, *out);
}

static mw_status take_step(const blocker *b, uint32_t at)
{
    run made;
    const mw__step *step = b->steps[at];
    const bool may_join = begin_run(b, at, &made);
    for (size_t i = 0; i < OPEN_RUNS; i++) {
        run *r = &b->open[i];
        if (r->units == 0)
            continue;
        const bool behind = follows(r, step);
        bool joined = false;
        if (may_join && (behind || shares_read(b, r, step)))
            MW_TRY(try_join(b, r, &made, &joined));
        if (!joined && (behind || last_of(r) + WINDOW < at))
            MW_TRY(close_run(b, r));
    }
    if (!may_join)
        return MW_OK;
    run *slot;
    MW_TRY(find_slot(b, &slot));
    *slot = made;
    return MW_OK;
}

/* ---- sums that stand far behind what they read ---- */

/* The large operand of which the step makes little, unit by unit; NULL if there is none. */
static const mw__step_operand *summed_by(const blocker *b, const mw__step *step)
{
    if (step->span != 1 || step->write_count != 1 || step->nested != NULL || step->varies ||
        step->fusion.kind == MW__STEP_CHECK)
        return NULL;
    const mw__buffer *buffers = b->pass->planner->buffers;
    mw__fuse_terms terms = {.held = (double)buffers[step->writes[0].buffer].size, .fewer = 1.0};
    for (size_t i = 0; i < step->read_count; i++) {
        terms.saved = (double)buffers[step->reads[i].buffer].size;
        if (step->reads[i].access == MW__ROWS && mw__fuse_pays(b->pass->weights, &terms))
            return &step->reads[i];
    }
    return NULL;
}

static bool writes_any(const mw__step *step, const mw__step_operand *operands, size_t count)
{
    for (size_t i = 0; i < step->write_count; i++)
        if (find_operand(operands, count, step->writes[i].buffer) != NULL)
            return true;
    return false;
}

/* Whether the late step may stand before the early one. */
static bool is_apart(const mw__step *early, const mw__step *late)
{
    return !writes_any(early, late->reads, late->read_count) && !writes_any(early, late->writes, late->write_count) &&
           !writes_any(late, early->reads, early->read_count);
}

/* Lets it follow the step that makes what it sums, before others close the run of that. */
static void move_sum(const blocker *b, size_t at)
{
    mw__step *const sum = b->steps[at];
    const mw__step_operand *const summed = summed_by(b, sum);
    size_t to = at;
    while (summed != NULL && to > 0 && is_apart(b->steps[to - 1], sum))
        to--;
    if (to == at || to == 0 ||
        find_operand(b->steps[to - 1]->writes, b->steps[to - 1]->write_count, summed->buffer) == NULL)
        return;
    memmove(b->steps + to + 1, b->steps + to, (at - to) * sizeof *b->steps);
    b->steps[to] = sum;
}

/* ---- the whole ---- */

static void count_users(const blocker *b)
{
    for (size_t s = 0; s < b->count; s++) {
        const mw__step *step = b->steps[s];
        for (size_t i = 0; i < step->read_count; i++) /* each buffer once */
            b->users[step->reads[i].buffer] += find_operand(step->reads, i, step->reads[i].buffer) == NULL;
        for (size_t i = 0; i < step->write_count; i++)
            b->users[step->writes[i].buffer] +=
                find_operand(step->writes, i, step->writes[i].buffer) == NULL &&
                find_operand(step->reads, step->read_count, step->writes[i].buffer) == NULL;
    }
}

static mw_status block_all(const blocker *b)
{
    count_users(b);
    for (size_t s = 1; s < b->count; s++)
        move_sum(b, s);
    for (uint32_t s = 0; s < b->count; s++)
        MW_TRY(take_step(b, s));
    for (size_t i = 0; i < OPEN_RUNS; i++)
        MW_TRY(close_run(b, &b->open[i]));
    return MW_OK;
}

mw_status mw__fuse_blocks(const mw__pass *pass, mw_error *err)
{
    mw__planner *planner = pass->planner;
    mw__arena scratch;
    mw__arena_init(&scratch, pass->arena->allocator);
    const blocker b = {.pass = pass,
                       .steps = planner->steps,
                       .count = planner->step_count,
                       .users = mw__arena_alloc(&scratch, planner->buffer_count, sizeof(uint32_t), err),
                       .inner = mw__arena_alloc(&scratch, planner->buffer_count, sizeof(bool), err),
                       .open = mw__arena_alloc(&scratch, OPEN_RUNS, sizeof(run), err),
                       .err = err};
    mw_status status = MW_ERROR_MEMORY;
    if (b.users != NULL && b.inner != NULL && b.open != NULL)
        status = block_all(&b);
    planner->step_count = 0;
    for (size_t s = 0; s < b.count; s++)
        if (planner->steps[s] != NULL)
            planner->steps[planner->step_count++] = planner->steps[s];
    mw__arena_deinit(&scratch);
    return status;
}
