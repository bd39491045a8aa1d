/* Finds groups that run unit by unit, one after the other: a group that sums over rows or planes begins a chain, and
 * those join it that read of its values only what belongs to their own unit. So a normalization reads its tensor once
 * from memory, however many passes it takes over each row or channel. */
#include "engine/compile/fuse/fuse.h"

#include <string.h>

#define STAGES 12
#define RECIPE 6   /* steps that are done again rather than stored */
#define STORED 4.0 /* additions in whose time an element is stored and loaded */

/* What a buffer is to the open chain. */
enum { APART, FULL, UNIT, BEHIND };

typedef struct linker {
    const mw__pass *pass;
    mw__arena *scratch;
    mw__fuse_chain *out;
    size_t out_count;
    uint8_t *made;     /* by buffer */
    uint32_t *readers; /* by buffer: reads by groups, each of their operands, and by other steps */
    mw__fuse_item *open, *behind;
    size_t open_count, behind_count;
    size_t place; /* of the open chain in `out`: behind what stood there when a group last joined */
    mw__fused_view view;
    mw_error *err;
} linker;

/* ---- operands ---- */

static size_t read_count(const mw__fuse_item *item)
{
    return item->group != NULL ? item->group->read_count : item->step->read_count;
}

static uint32_t read_at(const mw__fuse_item *item, size_t i)
{
    return item->group != NULL ? item->group->reads[i].buffer : item->step->reads[i].buffer;
}

/* It reads what the chain makes or what waits for its end, or writes more of that. */
static bool depends(const linker *l, const mw__fuse_item *item)
{
    for (size_t i = 0; i < read_count(item); i++)
        if (l->made[read_at(item, i)] != APART)
            return true;
    for (size_t i = 0; item->group == NULL && i < item->step->write_count; i++)
        if (l->made[item->step->writes[i].buffer] != APART)
            return true;
    return false;
}

static void mark_group(const linker *l, const mw__fuse_group *group, uint8_t steps, uint8_t sums)
{
    for (size_t i = 0; i < group->count; i++)
        l->made[group->steps[i]->writes[0].buffer] = steps;
    for (size_t i = 0; i < group->watch_count; i++)
        l->made[group->watches[i]->writes[0].buffer] = sums;
    for (size_t i = 0; i < group->sum_count; i++)
        l->made[group->sums[i]->writes[0].buffer] =
            sums == UNIT && mw__sums_columns(mw__step_as_sum(group->sums[i]), &group->view) ? BEHIND : sums;
}

static void mark(const linker *l, const mw__fuse_item *item, uint8_t as)
{
    if (item->group != NULL)
        mark_group(l, item->group, as, as);
    for (size_t i = 0; item->group == NULL && i < item->step->write_count; i++)
        l->made[item->step->writes[i].buffer] = as;
}

static int64_t elements_of(const mw__fused_view *view) { return view->planes * view->units * view->run; }

/* ---- who joins ---- */

static bool is_own(const linker *l, const mw__fuse_group *group, const mw__element_operand *operand, bool full)
{
    switch (l->made[operand->buffer]) {
    case APART:
        return true;
    case FULL:
        return full && operand->inner == 1 && operand->period == group->elements;
    case UNIT:
        return full ? operand->inner == l->view.run && operand->period == l->view.units
                    : operand->inner == 1 && operand->period == l->view.units;
    default:
        return false;
    }
}

/* A tensor that a group of the chain reads too. */
static bool shares_read(const linker *l, const mw__fuse_group *group)
{
    for (size_t i = 0; i < group->read_count; i++)
        for (size_t s = 0; group->reads[i].period == group->elements && s < l->open_count; s++)
            if (mw__fuse_reads(l->open[s].group, &group->reads[i]))
                return true;
    return false;
}

static bool suits(const linker *l, const mw__fuse_item *item)
{
    const mw__fuse_group *group = item->group;
    if (group == NULL || l->open_count == STAGES || group->watch_count > 0)
        return false;
    const bool full = group->elements == elements_of(&l->view);
    if (!full && (group->elements != l->view.units || group->sum_count > 0))
        return false;
    if (group->sum_count > 0 && memcmp(&group->view, &l->view, sizeof l->view) != 0)
        return false;
    for (size_t i = 0; i < group->read_count; i++)
        if (!is_own(l, group, &group->reads[i], full))
            return false;
    return depends(l, item) || (group->sum_count > 0 && shares_read(l, group));
}

static void join_item(linker *l, const mw__fuse_item *item)
{
    mw__fuse_group *group = item->group;
    const bool full = group->elements == elements_of(&l->view);
    group->view = full ? l->view : (mw__fused_view){.planes = 1, .units = l->view.units, .run = 1};
    mark_group(l, group, full ? FULL : UNIT, UNIT);
    l->open[l->open_count++] = *item;
    l->place = l->out_count;
}

/* ---- what is computed again ---- */

typedef struct recipe {
    mw__step *steps[RECIPE];
    size_t count;
} recipe;

/* How often the chain's groups read a buffer. */
static uint32_t inner_readers(const linker *l, uint32_t buffer)
{
    uint32_t count = 0;
    for (size_t s = 0; s < l->open_count; s++)
        for (size_t i = 0; i < l->open[s].group->read_count; i++)
            count += l->open[s].group->reads[i].buffer == buffer;
    return count;
}

/* A tensor that nobody outside of the chain reads. */
static bool is_inner(const linker *l, uint32_t buffer)
{
    return l->made[buffer] == FULL && l->pass->buffers[buffer].kind != MW__BUFFER_OUTPUT &&
           l->readers[buffer] == inner_readers(l, buffer);
}

static mw__step *maker_of(const linker *l, size_t stages, uint32_t buffer)
{
    for (size_t s = 0; s < stages; s++)
        for (size_t i = 0; i < l->open[s].group->count; i++)
            if (l->open[s].group->steps[i]->writes[0].buffer == buffer)
                return l->open[s].group->steps[i];
    return NULL;
}

static bool makes(mw__step *const *steps, size_t count, uint32_t buffer)
{
    for (size_t i = 0; i < count; i++)
        if (steps[i]->writes[0].buffer == buffer)
            return true;
    return false;
}

/* Whether it takes no longer to compute it again. */
static bool is_cheap(const linker *l, const mw__element *element)
{
    const mw__fuse_terms terms = {.spared = STORED, .again = element->additions, .fewer = 1.0};
    return mw__fuse_pays(l->pass->weights, &terms);
}

/* The steps before `stage` that make the buffer, and what they need that is not stored either; false if they are many
 * or not cheap. */
static bool collect(const linker *l, size_t stage, uint32_t buffer, recipe *out)
{
    mw__step *step = maker_of(l, stage, buffer);
    if (makes(out->steps, out->count, buffer))
        return true;
    const mw__element *element = step != NULL ? mw__step_as_element(step) : NULL;
    if (element == NULL || !is_cheap(l, element) || element->dtype == MW_F16)
        return false;
    for (int i = 0; i < element->operand_count; i++) {
        const uint32_t operand = element->operand[i].buffer;
        const bool stored = l->made[operand] == FULL && !is_inner(l, operand);
        if (l->made[operand] == FULL && !stored && !collect(l, stage, operand, out))
            return false;
    }
    if (out->count == RECIPE)
        return false;
    out->steps[out->count++] = step;
    return true;
}

static bool add_read(mw__fuse_group *group, const mw__element_operand *operand)
{
    if (makes(group->steps, group->count, operand->buffer) || mw__fuse_reads(group, operand))
        return true;
    if (group->read_count == MW__STEP_READS)
        return false;
    group->reads[group->read_count++] = *operand;
    return true;
}

/* Lists anew what the group reads; false if that is too much. */
static bool list_reads(mw__fuse_group *group)
{
    group->read_count = 0;
    for (size_t i = 0; i < group->count; i++)
        for (int k = 0; k < mw__step_as_element(group->steps[i])->operand_count; k++)
            if (!add_read(group, &mw__step_as_element(group->steps[i])->operand[k]))
                return false;
    for (size_t i = 0; i < group->sum_count; i++) {
        const mw__element_operand x = {
            .buffer = group->sums[i]->reads[0].buffer, .dtype = MW_F32, .inner = 1, .period = group->elements};
        if (!add_read(group, &x))
            return false;
    }
    return true;
}

static void count_reads(const linker *l, const mw__fuse_group *group, int sign)
{
    for (size_t i = 0; i < group->read_count; i++)
        l->readers[group->reads[i].buffer] += (uint32_t)sign;
}

/* Puts the recipe's steps behind the first `again` of the group, which are those of earlier recipes and which they may
 * need; returns how many these are then. */
static size_t put_recipe(const linker *l, mw__fuse_group *group, const recipe *r, size_t again)
{
    mw__fuse_group longer = *group;
    longer.count = again;
    if (group->count + r->count > MW__FUSED_CODE)
        return again;
    for (size_t i = 0; i < r->count; i++)
        if (!makes(group->steps, group->count, r->steps[i]->writes[0].buffer))
            longer.steps[longer.count++] = r->steps[i];
    const size_t first = longer.count;
    for (size_t i = again; i < group->count; i++)
        longer.steps[longer.count++] = group->steps[i];
    if (!list_reads(&longer))
        return again;
    count_reads(l, group, -1);
    count_reads(l, &longer, 1);
    *group = longer;
    return first;
}

static void compute_again(const linker *l, size_t stage)
{
    mw__fuse_group *group = l->open[stage].group;
    const mw__fuse_group before = *group;
    for (size_t i = 0, again = 0; i < before.read_count; i++) {
        recipe r = {.count = 0};
        if (is_inner(l, before.reads[i].buffer) && collect(l, stage, before.reads[i].buffer, &r))
            again = put_recipe(l, group, &r, again);
    }
}

/* Drops steps whose values nobody needs any more. */
static void prune(const linker *l, mw__fuse_group *group)
{
    for (size_t i = group->count; i-- > 0;) {
        const uint32_t made = group->steps[i]->writes[0].buffer;
        bool needed = l->readers[made] > 0 || l->pass->buffers[made].kind == MW__BUFFER_OUTPUT;
        for (size_t k = i + 1; k < group->count; k++)
            for (int n = 0; n < mw__step_as_element(group->steps[k])->operand_count; n++)
                needed = needed || mw__step_as_element(group->steps[k])->operand[n].buffer == made;
        for (size_t k = 0; k < group->sum_count; k++)
            needed = needed || group->sums[k]->reads[0].buffer == made;
        if (needed)
            continue;
        group->count--;
        for (size_t k = i; k < group->count; k++)
            group->steps[k] = group->steps[k + 1];
    }
    count_reads(l, group, -1);
    list_reads(group); /* fewer */
    count_reads(l, group, 1);
}

/* ---- the list ---- */

static mw_status put_at(linker *l, size_t place, const mw__fuse_item *items, size_t count)
{
    mw__fuse_item *copy = mw__arena_alloc(l->scratch, count, sizeof *copy, l->err);
    if (copy == NULL)
        return MW_ERROR_MEMORY;
    memcpy(copy, items, count * sizeof *copy);
    memmove(&l->out[place + 1], &l->out[place], (l->out_count++ - place) * sizeof *l->out);
    l->out[place] = (mw__fuse_chain){.items = copy, .count = count};
    return MW_OK;
}

static mw_status put_items(linker *l, const mw__fuse_item *items, size_t count)
{
    return put_at(l, l->out_count, items, count);
}

static mw_status close_chain(linker *l)
{
    if (l->open_count == 0)
        return MW_OK;
    for (size_t s = 1; s < l->open_count; s++)
        compute_again(l, s);
    size_t kept = 0;
    for (size_t s = l->open_count; l->open_count > 1 && s-- > 0;)
        prune(l, l->open[s].group);
    for (size_t s = 0; s < l->open_count; s++) {
        mark(l, &l->open[s], APART);
        if (l->open[s].group->count + l->open[s].group->sum_count > 0) /* all of it may be done elsewhere */
            l->open[kept++] = l->open[s];
    }
    MW_TRY(put_at(l, l->place, l->open, kept));
    for (size_t i = 0; i < l->behind_count; i++)
        MW_TRY(put_items(l, &l->behind[i], 1));
    for (size_t i = 0; i < l->behind_count; i++)
        mark(l, &l->behind[i], APART);
    l->open_count = l->behind_count = 0;
    return MW_OK;
}

static double bytes_of(const linker *l, const mw__fuse_item *item)
{
    double bytes = 0.0;
    if (item->group != NULL)
        return (double)item->group->elements * sizeof(float);
    for (size_t i = 0; i < item->step->read_count; i++)
        bytes += (double)l->pass->buffers[item->step->reads[i].buffer].size;
    for (size_t i = 0; i < item->step->write_count; i++)
        bytes += (double)l->pass->buffers[item->step->writes[i].buffer].size;
    return bytes;
}

/* Whether it waits for the end of a chain that it does not join: what it reads is then still in a cache, also if it
 * fills that to the last byte. */
static bool may_wait(const linker *l, const mw__fuse_item *item)
{
    const mw__fuse_terms terms = {.spent = bytes_of(l, item) - 1.0, .fewer = 1.0};
    return (item->group != NULL || item->step->nested == NULL) && mw__fuse_pays(l->pass->weights, &terms);
}

static mw_status begin_or_put(linker *l, const mw__fuse_item *item)
{
    const mw__fuse_group *group = item->group;
    if (group == NULL || group->sum_count == 0 || group->watch_count > 0 ||
        mw__pass_is_off(l->pass->log, MW__RULE_chains))
        return put_items(l, item, 1);
    l->view = group->view;
    join_item(l, item);
    return MW_OK;
}

static mw_status take_item(linker *l, const mw__fuse_item *item)
{
    if (l->open_count == 0)
        return begin_or_put(l, item);
    if (suits(l, item)) {
        join_item(l, item);
        return MW_OK;
    }
    if (!depends(l, item))
        return put_items(l, item, 1);
    if (may_wait(l, item)) {
        mark(l, item, BEHIND);
        l->behind[l->behind_count++] = *item;
        return MW_OK;
    }
    MW_TRY(close_chain(l));
    return begin_or_put(l, item);
}

static mw_status find_chains(linker *l, const mw__fuse_item *items, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < read_count(&items[i]); k++)
            l->readers[read_at(&items[i], k)]++;
    for (size_t i = 0; i < count; i++)
        MW_TRY(take_item(l, &items[i]));
    return close_chain(l);
}

mw_status mw__fuse_find_chains(const mw__pass *pass, const mw__fuse_item *items, size_t count, mw__arena *scratch,
                               mw__fuse_chain **out, size_t *out_count, mw_error *err)
{
    linker l = {.pass = pass,
                .scratch = scratch,
                .out = mw__arena_alloc(scratch, count, sizeof *l.out, err),
                .made = mw__arena_alloc(scratch, pass->buffer_count, sizeof *l.made, err),
                .readers = mw__arena_alloc(scratch, pass->buffer_count, sizeof *l.readers, err),
                .open = mw__arena_alloc(scratch, STAGES, sizeof *l.open, err),
                .behind = mw__arena_alloc(scratch, count, sizeof *l.behind, err),
                .err = err};
    if (l.out == NULL || l.made == NULL || l.readers == NULL || l.open == NULL || l.behind == NULL)
        return MW_ERROR_MEMORY;
    const mw_status status = find_chains(&l, items, count);
    *out = l.out;
    *out_count = l.out_count;
    return status;
}
