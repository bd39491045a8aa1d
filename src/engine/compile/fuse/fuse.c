/* Decides which element-wise steps become one fusion group. Steps are taken in the order of the text. A fusion group
 * collects steps of one count and split; it is closed, and stands in the new order, as soon as something outside it
 * reads one of its values, so that no order is ever changed for anybody else. */
#include "engine/compile/fuse/fuse.h"
#include "engine/core/planner.h"

#include <string.h>

#define OPEN_GROUPS  16
#define WHOLE_CODE   7
#define WATCHED_CODE 4 /* momentum has as many, Adam's first mean has 3 */
#define NONE         UINT32_MAX

typedef struct fuser {
    const mw__pass *pass;
    mw__arena *scratch;
    mw__fuse_item *items; /* the new list */
    size_t count;
    uint32_t *readers;    /* by buffer: reads that are still to come, or more than all for an output */
    uint32_t *maker;      /* by buffer: the open group that computes it */
    uint32_t *splat;      /* by buffer: that of the one number in it, or 0 */
    uint32_t *place;      /* by buffer: where the step that writes it stands in the text */
    uint32_t places;      /* steps so far */
    mw__fuse_group *open; /* OPEN_GROUPS */
    mw_error *err;
} fuser;

static bool is_empty(const mw__fuse_group *group) { return group->count + group->sum_count == 0; }

/* ---- closing ---- */

static mw_status close_group(fuser *f, uint32_t index)
{
    mw__fuse_group *open = &f->open[index];
    if (is_empty(open))
        return MW_OK;
    for (size_t i = 0; i < open->count; i++)
        f->maker[open->steps[i]->writes[0].buffer] = NONE;
    for (size_t i = 0; i < open->watch_count; i++)
        f->maker[open->watches[i]->writes[0].buffer] = NONE;
    for (size_t i = 0; i < open->sum_count; i++)
        f->maker[open->sums[i]->writes[0].buffer] = NONE;
    mw__fuse_group *group = mw__arena_alloc(f->scratch, 1, sizeof *group, f->err);
    if (group == NULL)
        return MW_ERROR_MEMORY;
    *group = *open;
    f->items[f->count++] = (mw__fuse_item){.group = group};
    memset(open, 0, sizeof *open);
    return MW_OK;
}

/* ---- joining ---- */

bool mw__fuse_reads(const mw__fuse_group *fused, const mw__element_operand *operand)
{
    for (size_t i = 0; i < fused->read_count; i++)
        if (fused->reads[i].buffer == operand->buffer && fused->reads[i].inner == operand->inner &&
            fused->reads[i].period == operand->period)
            return true;
    return false;
}

uint32_t mw__fuse_times_read(const mw__step *step, uint32_t buffer)
{
    uint32_t count = 0;
    for (size_t i = 0; i < step->read_count; i++)
        count += step->reads[i].buffer == buffer;
    return count;
}

/* Values that would have to be stored if the fusion group were closed after `step`. */
static size_t count_stores(const fuser *f, const mw__fuse_group *fused, const mw__step *step)
{
    size_t stores = 1 + fused->watch_count; /* its own */
    for (size_t i = 0; i < fused->count; i++) {
        const uint32_t made = fused->steps[i]->writes[0].buffer;
        stores += f->readers[made] > mw__fuse_times_read(step, made);
    }
    return stores;
}

/* Of an operand in a view: a tensor, a number for each unit or for each run, a row, a single number. */
static bool suits_view(const mw__fused_view *view, const mw__element_operand *operand, int64_t count)
{
    return operand->period == 1 || (operand->inner == 1 && operand->period == count) ||
           (operand->inner == view->run &&
            (operand->period == view->units || operand->period == view->planes * view->units)) ||
           (operand->inner == 1 && operand->period == view->run);
}

static bool same_units(const mw__fuse_group *fused, const mw__element *element)
{
    if (fused->elements != element->count)
        return false;
    if (fused->view.units > 0) {
        for (int i = 0; i < element->operand_count; i++)
            if (!suits_view(&fused->view, &element->operand[i], element->count))
                return false;
        return true;
    }
    const mw__element *first = mw__step_as_element(fused->steps[0]);
    return first->split.units == element->split.units && first->split.elements == element->split.elements;
}

static bool fits_group(const fuser *f, uint32_t index, const mw__step *step)
{
    const mw__fuse_group *fused = &f->open[index];
    const mw__element *element = mw__step_as_element(step);
    if (fused->count == MW__FUSED_CODE || !same_units(fused, element))
        return false;
    size_t reads = fused->read_count;
    for (int i = 0; i < element->operand_count; i++) {
        const mw__element_operand *operand = &element->operand[i];
        const bool inside = f->maker[operand->buffer] == index;
        if (inside && operand->period != element->count)
            return false; /* a value of the group, seen through a broadcast, or a sum */
        reads += !inside && !mw__fuse_reads(fused, operand);
    }
    return reads <= MW__STEP_READS && count_stores(f, fused, step) <= MW__STEP_WRITES;
}

static bool ends_watched(const mw__fuse_group *fused)
{
    if (fused->watch_count == 0)
        return false;
    const uint32_t last = fused->steps[fused->count - 1]->writes[0].buffer;
    return fused->watches[fused->watch_count - 1]->reads[0].buffer == last;
}

/* A long computation of which nothing is left to be read but outputs, or whose last result is watched: an update, say.
 * What is independent of it stays apart, so that the same update is the same fusion group wherever it stands; short
 * ones are worth joining. */
static bool is_whole(const fuser *f, const mw__fuse_group *fused)
{
    if (ends_watched(fused))
        return fused->count >= WATCHED_CODE;
    for (size_t i = 0; i < fused->count; i++) {
        const uint32_t left = f->readers[fused->steps[i]->writes[0].buffer];
        if (left != 0 && left != NONE)
            return false;
    }
    return fused->count >= WHOLE_CODE;
}

/* The group reads a whole tensor that the step reads. */
static bool shares_tensor(const mw__fuse_group *fused, const mw__step *step)
{
    const mw__element *element = mw__step_as_element(step);
    for (int i = 0; i < element->operand_count; i++)
        if (element->operand[i].period == element->count && mw__fuse_reads(fused, &element->operand[i]))
            return true;
    return false;
}

static double bytes_of(const mw__element *element) { return (double)element->count * sizeof(float); }

/* Whether it may stand with what it has nothing to do with, but that they may read one tensor. Of large tensors that
 * share none only choices by one truth do, which touch half of what they name: a state's updates may stand between each
 * other in the text, as those of the parts of a split one, and are one group each. */
static bool is_worth_joining(const fuser *f, uint32_t index, const mw__step *step)
{
    const mw__fuse_group *group = &f->open[index];
    const mw__element *element = mw__step_as_element(step);
    mw__fuse_terms terms = {.spent = element->select == NULL ? bytes_of(element) : 0.0, .fewer = 1.0};
    if (is_whole(f, group))
        return false;
    if (mw__fuse_pays(f->pass->weights, &terms))
        return true;
    terms.saved = shares_tensor(group, step) ? bytes_of(element) : 0.0;
    return mw__fuse_pays(f->pass->weights, &terms);
}

/* The first open group that the step fits into, of those whose values it reads. */
static uint32_t find_maker(const fuser *f, const mw__step *step)
{
    const mw__element *element = mw__step_as_element(step);
    uint32_t found = NONE;
    for (int operand = 0; operand < element->operand_count; operand++) {
        const uint32_t maker = f->maker[element->operand[operand].buffer];
        if (maker < found && !is_empty(&f->open[maker]) && fits_group(f, maker, step))
            found = maker;
    }
    return found;
}

/* The open fusion group that the step joins: one whose values it reads before any other. */
static uint32_t find_group(const fuser *f, const mw__step *step)
{
    const uint32_t maker = find_maker(f, step);
    if (maker != NONE)
        return maker;
    for (uint32_t i = 0; i < OPEN_GROUPS; i++)
        if (!is_empty(&f->open[i]) && is_worth_joining(f, i, step) && fits_group(f, i, step))
            return i;
    return NONE;
}

/* What the step reads of other open fusion groups must be computed before it. */
static mw_status close_sources(fuser *f, const mw__step *step, uint32_t except)
{
    for (size_t i = 0; i < step->read_count; i++) {
        const uint32_t maker = f->maker[step->reads[i].buffer];
        if (maker != NONE && maker != except)
            MW_TRY(close_group(f, maker));
    }
    return MW_OK;
}

/* Where its last step stands in the text. */
static uint32_t last_place(const fuser *f, const mw__fuse_group *fused)
{
    const mw__step *last = fused->count > 0 ? fused->steps[fused->count - 1] : fused->sums[fused->sum_count - 1];
    return f->place[last->writes[0].buffer];
}

/* If all are open, that to which nothing was added for longest gives way. */
static mw_status find_slot(fuser *f, uint32_t *out)
{
    *out = 0;
    for (uint32_t i = 0; i < OPEN_GROUPS; i++) {
        if (is_empty(&f->open[i])) {
            *out = i;
            return MW_OK;
        }
        *out = last_place(f, &f->open[i]) < last_place(f, &f->open[*out]) ? i : *out;
    }
    return close_group(f, *out);
}

static void join_step(fuser *f, uint32_t index, mw__step *step)
{
    mw__fuse_group *fused = &f->open[index];
    const mw__element *element = mw__step_as_element(step);
    for (int i = 0; i < element->operand_count; i++) {
        const mw__element_operand *operand = &element->operand[i];
        if (f->maker[operand->buffer] != index && !mw__fuse_reads(fused, operand))
            fused->reads[fused->read_count++] = *operand;
    }
    fused->elements = element->count;
    fused->steps[fused->count++] = step;
    f->maker[step->writes[0].buffer] = index;
}

/* ---- two groups that a step reads ---- */

/* Neither needs the other, or it would be closed. */
static bool may_merge(const fuser *f, uint32_t a, uint32_t b, const mw__step *step)
{
    const mw__fuse_group *one = &f->open[a], *other = &f->open[b];
    size_t reads = one->read_count;
    for (size_t i = 0; i < other->read_count; i++)
        reads += !mw__fuse_reads(one, &other->reads[i]);
    return one->count > 0 && other->count > 0 && one->sum_count + other->sum_count == 0 &&
           one->count + other->count < MW__FUSED_CODE && same_units(one, mw__step_as_element(step)) &&
           same_units(other, mw__step_as_element(step)) && reads <= MW__STEP_READS &&
           count_stores(f, one, step) + count_stores(f, other, step) - 1 <= MW__STEP_WRITES;
}

/* In the order of the text. */
static void merge(fuser *f, uint32_t a, uint32_t b)
{
    const mw__fuse_group one = f->open[a], other = f->open[b];
    memset(&f->open[a], 0, sizeof f->open[a]);
    memset(&f->open[b], 0, sizeof f->open[b]);
    for (size_t i = 0, j = 0; i < one.count || j < other.count;) {
        const bool first = j == other.count || (i < one.count && f->place[one.steps[i]->writes[0].buffer] <
                                                                     f->place[other.steps[j]->writes[0].buffer]);
        join_step(f, a, first ? one.steps[i++] : other.steps[j++]);
    }
    for (size_t i = 0; i < one.watch_count + other.watch_count; i++) {
        mw__step *watch = i < one.watch_count ? one.watches[i] : other.watches[i - one.watch_count];
        f->open[a].watches[f->open[a].watch_count++] = watch;
        f->maker[watch->writes[0].buffer] = a;
    }
}

/* Groups of large tensors that the step reads become one: each of the tensors between is then stored or loaded less. */
static void merge_sources(fuser *f, const mw__step *step)
{
    const mw__element *element = mw__step_as_element(step);
    const mw__fuse_terms terms = {.saved = element != NULL ? bytes_of(element) : 0.0};
    const int operands = element != NULL && mw__fuse_pays(f->pass->weights, &terms) ? element->operand_count : 0;
    uint32_t first = NONE;
    for (int i = 0; i < operands; i++) {
        const uint32_t maker = f->maker[element->operand[i].buffer];
        if (maker == NONE || maker == first || element->operand[i].period != element->count)
            continue;
        if (first == NONE)
            first = maker;
        else if (may_merge(f, first, maker, step))
            merge(f, first, maker);
    }
}

/* ---- sums ---- */

/* The view that a group has which adds this sum. */
static mw__fused_view view_of(const mw__sum *sum)
{
    return sum->run == 1 ? (mw__fused_view){.planes = 1, .units = sum->planes, .run = sum->results}
                         : (mw__fused_view){.planes = sum->planes, .units = sum->results, .run = sum->run};
}

/* Shares of the units, or of the rows of a partial column sum, are even enough. A sum of rows is then a step fewer; one
 * of columns is loaded once less, and a step adds its partial sums. */
static bool is_shared(const fuser *f, const mw__sum *sum)
{
    const int64_t partitions = f->pass->partitions, units = view_of(sum).units;
    const int64_t shares = sum->run == 1 ? (units + 63) / 64 : units;
    const bool even = partitions == 1 || shares >= 4 * partitions || shares % partitions == 0;
    const bool columns = sum->run == 1;
    const mw__fuse_terms terms = {.idle = !even,
                                  .spared = columns ? (double)(sum->planes * sum->results) : 0.0,
                                  .again = columns ? MW__FUSE_BEGINS : 0.0,
                                  .fewer = columns ? 0.0 : 1.0};
    return mw__fuse_pays(f->pass->weights, &terms);
}

static mw__element_operand summand(const mw__step *step)
{
    const mw__sum *sum = mw__step_as_sum(step);
    return (mw__element_operand){
        .buffer = step->reads[0].buffer, .dtype = MW_F32, .inner = 1, .period = sum->planes * sum->results * sum->run};
}

static bool fits_sum(const fuser *f, uint32_t index, const mw__step *step)
{
    const mw__fuse_group *fused = &f->open[index];
    const mw__fused_view view = view_of(mw__step_as_sum(step));
    const mw__element_operand x = summand(step);
    if (is_empty(fused) || fused->watch_count > 0 || fused->sum_count == MW__FUSED_SUMS || fused->elements != x.period)
        return false;
    if (fused->view.units > 0) {
        if (memcmp(&fused->view, &view, sizeof view) != 0)
            return false;
    } else {
        for (size_t i = 0; i < fused->read_count; i++)
            if (!suits_view(&view, &fused->reads[i], fused->elements))
                return false;
    }
    return f->maker[x.buffer] == index || mw__fuse_reads(fused, &x);
}

static uint32_t find_sum_group(const fuser *f, const mw__step *step)
{
    const uint32_t maker = f->maker[step->reads[0].buffer];
    if (maker != NONE)
        return fits_sum(f, maker, step) ? maker : NONE;
    for (uint32_t i = 0; i < OPEN_GROUPS; i++)
        if (fits_sum(f, i, step))
            return i;
    return NONE;
}

static void join_sum(fuser *f, uint32_t index, mw__step *step)
{
    mw__fuse_group *fused = &f->open[index];
    const mw__element_operand x = summand(step);
    if (f->maker[x.buffer] != index && !mw__fuse_reads(fused, &x))
        fused->reads[fused->read_count++] = x;
    fused->elements = x.period;
    fused->view = view_of(mw__step_as_sum(step));
    fused->sums[fused->sum_count++] = step;
    f->maker[step->writes[0].buffer] = index;
}

/* The open fusion group that makes what the step looks at and has room for what it says; NONE if there is none. */
static uint32_t find_watched(const fuser *f, const mw__step *step)
{
    const uint32_t index = step->fusion.kind == MW__STEP_CHECK ? f->maker[step->reads[0].buffer] : NONE;
    if (index == NONE || f->open[index].sum_count > 0)
        return NONE;
    const mw__fuse_group *fused = &f->open[index];
    size_t writes = fused->watch_count;
    for (size_t i = 0; i < fused->count; i++)
        writes += f->readers[fused->steps[i]->writes[0].buffer] > 0;
    return writes < MW__STEP_WRITES ? index : NONE;
}

static void watch(fuser *f, uint32_t index, mw__step *step)
{
    mw__fuse_group *fused = &f->open[index];
    fused->watches[fused->watch_count++] = step;
    f->maker[step->writes[0].buffer] = index;
    if (f->readers[step->reads[0].buffer] != NONE)
        f->readers[step->reads[0].buffer]--;
}

/* A tensor of one number is that number, wherever it stands. The step by itself reads the tensor. */
static void read_splats(const fuser *f, const mw__step *step)
{
    mw__element *element = mw__step_as_element(step);
    for (int i = 0; element != NULL && i < element->operand_count; i++) {
        mw__element_operand *operand = &element->operand[i];
        if (f->splat[operand->buffer] != 0)
            *operand = (mw__element_operand){
                .buffer = f->splat[operand->buffer], .dtype = operand->dtype, .inner = 1, .period = 1};
    }
}

/* Nobody else will read what the group sums: while it waits it only keeps that in memory. */
static bool is_idle(const fuser *f, const mw__fuse_group *group)
{
    for (size_t i = 0; i < group->read_count; i++)
        if (f->readers[group->reads[i].buffer] > 0)
            return false;
    return group->count == 0 && group->sum_count > 0;
}

/* Closes groups that the step has made so, as the last to read something. */
static mw_status close_idle(fuser *f, const mw__step *step)
{
    bool last = false;
    for (size_t i = 0; i < step->read_count; i++)
        last = last || f->readers[step->reads[i].buffer] == 0;
    for (uint32_t i = 0; last && i < OPEN_GROUPS; i++)
        if (is_idle(f, &f->open[i]))
            MW_TRY(close_group(f, i));
    return MW_OK;
}

static mw_status take_step(fuser *f, mw__step *step)
{
    const uint32_t watched = find_watched(f, step);
    if (watched != NONE) {
        watch(f, watched, step);
        return MW_OK;
    }
    const bool sums = step->fusion.kind == MW__STEP_REDUCTION && !mw__pass_is_off(f->pass->log, MW__RULE_sums) &&
                      is_shared(f, mw__step_as_sum(step));
    if (step->write_count > 0)
        f->place[step->writes[0].buffer] = f->places++;
    merge_sources(f, step);
    uint32_t index = step->fusion.kind == MW__STEP_ELEMENT ? find_group(f, step)
                     : sums                                ? find_sum_group(f, step)
                                                           : NONE;
    MW_TRY(close_sources(f, step, index));
    for (size_t i = 0; i < step->read_count; i++)
        if (f->readers[step->reads[i].buffer] != NONE)
            f->readers[step->reads[i].buffer]--;
    if (step->fusion.kind != MW__STEP_ELEMENT && !sums) {
        f->items[f->count++] = (mw__fuse_item){.step = step};
        return close_idle(f, step);
    }
    if (index == NONE)
        MW_TRY(find_slot(f, &index));
    if (sums)
        join_sum(f, index, step);
    else
        join_step(f, index, step);
    return close_idle(f, step);
}

/* ---- the whole ---- */

static void count_readers(fuser *f, mw__step *const *steps, size_t step_count)
{
    for (size_t s = 0; s < step_count; s++) {
        if (mw__step_as_number(steps[s]) != 0)
            f->splat[steps[s]->writes[0].buffer] = mw__step_as_number(steps[s]);
        read_splats(f, steps[s]);
        for (size_t i = 0; i < steps[s]->read_count; i++)
            f->readers[steps[s]->reads[i].buffer]++;
    }
    for (size_t b = 0; b < f->pass->buffer_count; b++) {
        f->maker[b] = NONE;
        if (f->pass->buffers[b].kind == MW__BUFFER_OUTPUT)
            f->readers[b] = NONE;
    }
}

static mw_status fuse_all(fuser *f, mw__step **steps, size_t step_count)
{
    for (size_t s = 0; s < step_count; s++)
        MW_TRY(take_step(f, steps[s]));
    for (uint32_t i = 0; i < OPEN_GROUPS; i++)
        MW_TRY(close_group(f, i));
    return mw__fuse_emit(f->pass, f->items, f->count, f->scratch, f->err);
}

mw_status mw__fuse_groups(const mw__pass *pass, mw_error *err)
{
    mw__planner *planner = pass->planner;
    const size_t buffer_count = pass->buffer_count;
    mw__arena scratch;
    mw__arena_init(&scratch, pass->arena->allocator);
    fuser f = {.pass = pass,
               .scratch = &scratch,
               .items = mw__arena_alloc(&scratch, planner->step_count, sizeof *f.items, err),
               .readers = mw__arena_alloc(&scratch, buffer_count, sizeof(uint32_t), err),
               .maker = mw__arena_alloc(&scratch, buffer_count, sizeof(uint32_t), err),
               .splat = mw__arena_alloc(&scratch, buffer_count, sizeof(uint32_t), err),
               .place = mw__arena_alloc(&scratch, buffer_count, sizeof(uint32_t), err),
               .open = mw__arena_alloc(&scratch, OPEN_GROUPS, sizeof(mw__fuse_group), err),
               .err = err};
    mw_status status = MW_ERROR_MEMORY;
    if (f.items != NULL && f.readers != NULL && f.maker != NULL && f.splat != NULL && f.place != NULL &&
        f.open != NULL) {
        count_readers(&f, planner->steps, planner->step_count);
        status = fuse_all(&f, planner->steps, planner->step_count);
    }
    mw__arena_deinit(&scratch);
    return status;
}
