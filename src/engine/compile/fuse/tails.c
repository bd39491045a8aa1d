/* Gives convolutions and products what is done to each of their results afterwards: a function of one number, or a sum
 * with another tensor (engine/core/tail.h). The steps that did it are gone, and a tensor between the two is never
 * stored. */
#include "engine/compile/fuse/ways.h"
#include "engine/core/planner.h"
#include "engine/core/tail.h"
#include "engine/kernels/fused/fused.h"

#include <string.h>

#define NONE SIZE_MAX

typedef struct attaching {
    const mw__pass *pass;
    mw__step **steps; /* NULL: part of another now */
    size_t count;
    uint32_t *readers; /* by buffer: reads of it */
    size_t *maker;     /* by buffer: the step that writes it, or NONE */
    size_t *reader;    /* by buffer: the last step that reads it, or NONE */
    mw_error *err;
} attaching;

static void look_at_steps(const attaching *a)
{
    for (size_t b = 0; b < a->pass->planner->buffer_count; b++)
        a->maker[b] = a->reader[b] = NONE;
    for (size_t s = 0; s < a->count; s++) {
        for (size_t i = 0; i < a->steps[s]->read_count; i++) {
            a->readers[a->steps[s]->reads[i].buffer]++;
            a->reader[a->steps[s]->reads[i].buffer] = s;
        }
        for (size_t i = 0; i < a->steps[s]->write_count; i++)
            a->maker[a->steps[s]->writes[i].buffer] = s;
    }
}

/* ---- what fits ---- */

static bool is_whole(const mw__element *element, const mw__element_operand *operand)
{
    return operand->dtype == MW_F32 && operand->fed == NULL && operand->inner == 1 && operand->period == element->count;
}

/* What the element-wise step does to the tensor; false if a tail cannot. */
static bool read_part(const mw__element *element, uint32_t buffer, mw__tail_part *out, uint32_t *out_other)
{
    *out = (mw__tail_part){.unary = element->unary, .binary = element->binary, .p = element->p, .q = element->q};
    *out_other = 0;
    if (element->dtype != MW_F32 || element->round != 0 || (element->unary == NULL) == (element->binary == NULL) ||
        element->operand_count != (element->unary != NULL ? 1 : 2))
        return false;
    for (int i = 0; i < element->operand_count; i++) {
        if (!is_whole(element, &element->operand[i]))
            return false;
        if (element->operand[i].buffer == buffer)
            out->turned = i == 1;
        else
            *out_other = element->operand[i].buffer;
    }
    return element->unary != NULL || *out_other != 0;
}

/* The step behind that reads the one write of `step`, and nobody else; NONE if there is none. */
static size_t reader_of(const attaching *a, const mw__step *step)
{
    const uint32_t buffer = step->writes[0].buffer;
    const size_t at = a->reader[buffer];
    const bool alone = a->pass->planner->buffers[buffer].kind == MW__BUFFER_LOCAL && a->readers[buffer] == 1;
    return alone && at != NONE && a->steps[at] != NULL ? at : NONE;
}

/* The tensor is there before the step at `at` runs. */
static bool is_before(const attaching *a, uint32_t buffer, size_t at)
{
    return a->maker[buffer] == NONE || a->maker[buffer] < at;
}

/* Doing it in the kernel's short runs takes no longer than storing and loading the tensor between. */
static bool is_worth_it(const attaching *a, const mw__tail *tail, const mw__element *element)
{
    const mw__fuse_terms terms = {.spared = tail->most, .again = element->additions, .fewer = 1.0};
    return mw__fuse_pays(a->pass->weights, &terms);
}

static bool may_take(const attaching *a, const mw__step *step, const mw__step *late)
{
    const mw__buffer *buffers = a->pass->planner->buffers;
    const mw__element *element = mw__step_as_element(late);
    return element != NULL && late->write_count == 1 && !late->varies && step->fusion.tail->count < MW__TAIL_MOST &&
           is_worth_it(a, step->fusion.tail, element) &&
           buffers[step->writes[0].buffer].size == (size_t)element->count * sizeof(float) &&
           buffers[late->writes[0].buffer].size == buffers[step->writes[0].buffer].size;
}

/* ---- joining ---- */

/* With what it did before, if that is more than its own operation. */
static mw_status add_op(const attaching *a, mw__step *step, const mw__step *late)
{
    const size_t before = step->group.ops != NULL ? step->group.count : 1;
    const size_t after = late->group.ops != NULL ? late->group.count : 1;
    const mw__op **ops = mw__arena_alloc(a->pass->arena, before + after, sizeof *ops, a->err);
    if (ops == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < before; i++)
        ops[i] = step->group.ops != NULL ? step->group.ops[i] : step->op;
    for (size_t i = 0; i < after; i++)
        ops[before + i] = late->group.ops != NULL ? late->group.ops[i] : late->op;
    step->group = (mw__step_group){.ops = ops, .count = before + after};
    return MW_OK;
}

static void read_other(mw__step *step, uint32_t other, mw__tail_part *part)
{
    part->read = step->read_count;
    for (size_t i = 0; i < step->read_count; i++)
        if (step->reads[i].buffer == other)
            step->reads[i].in_place = false;
    step->reads[step->read_count] = step->writes[0];
    step->reads[step->read_count].buffer = other;
    step->reads[step->read_count++].in_place = false;
}

/* *taken false: nothing fits any more. The step stands where the later one stood if it reads what is made between. */
static mw_status take_next(attaching *a, size_t *at, bool *taken)
{
    mw__step *step = a->steps[*at];
    const size_t next = reader_of(a, step);
    mw__tail_part part;
    uint32_t other;
    *taken = false;
    if (next == NONE || !may_take(a, step, a->steps[next]))
        return MW_OK;
    const mw__step *late = a->steps[next];
    if (!read_part(mw__step_as_element(late), step->writes[0].buffer, &part, &other) ||
        (other != 0 && (!step->fusion.tail->beside || step->read_count == step->capacity.reads)))
        return MW_OK;
    if (other != 0)
        read_other(step, other, &part);
    MW_TRY(add_op(a, step, late));
    step->fusion.tail->parts[step->fusion.tail->count++] = part;
    step->writes[0].buffer = late->writes[0].buffer;
    step->cost += late->cost;
    step->report.flops += late->report.flops;
    const size_t place = other == 0 || is_before(a, other, *at) ? *at : next;
    a->steps[next] = a->steps[*at] = NULL;
    a->steps[place] = step;
    a->maker[step->writes[0].buffer] = place;
    for (size_t i = 0; i < step->read_count; i++)
        if (a->reader[step->reads[i].buffer] == *at || a->reader[step->reads[i].buffer] == next)
            a->reader[step->reads[i].buffer] = place;
    *at = place;
    *taken = true;
    return MW_OK;
}

static mw_status attach_all(attaching *a)
{
    look_at_steps(a);
    for (size_t s = 0; s < a->count; s++) {
        size_t at = s;
        bool taken = a->steps[s] != NULL && a->steps[s]->fusion.tail != NULL && a->steps[s]->write_count == 1;
        while (taken)
            MW_TRY(take_next(a, &at, &taken));
    }
    return MW_OK;
}

mw_status mw__fuse_tails(const mw__pass *pass, mw_error *err)
{
    mw__planner *planner = pass->planner;
    mw__arena scratch;
    mw__arena_init(&scratch, pass->arena->allocator);
    attaching a = {.pass = pass,
                   .steps = planner->steps,
                   .count = planner->step_count,
                   .readers = mw__arena_alloc(&scratch, planner->buffer_count, sizeof *a.readers, err),
                   .maker = mw__arena_alloc(&scratch, planner->buffer_count, sizeof *a.maker, err),
                   .reader = mw__arena_alloc(&scratch, planner->buffer_count, sizeof *a.reader, err),
                   .err = err};
    mw_status status = MW_ERROR_MEMORY;
    if (a.readers != NULL && a.maker != NULL && a.reader != NULL)
        status = attach_all(&a);
    planner->step_count = 0;
    for (size_t s = 0; s < a.count; s++)
        if (planner->steps[s] != NULL)
            planner->steps[planner->step_count++] = planner->steps[s];
    mw__arena_deinit(&scratch);
    return status;
}
