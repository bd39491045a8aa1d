/* Turns a function into steps over buffers, with the help of the kernel families (core/step.h). Gives outputs memory of
 * their own and drops steps that no output needs. Addresses come later, in run/encode.c. */
#include "engine/compile/compiled.h"
#include "engine/compile/fuse/schedule.h"
#include "engine/compile/passes.h"
#include "engine/compile/patterns/patterns.h"
#include "engine/compile/step_pass.h"
#include "engine/core/planner.h"
#include "engine/kernels/fused/fused.h"
#include "engine/kernels/kernel_table.h"
#include "engine/kernels/math/round.h"
#include "graph/constants/compressed.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The function on its way, beside what the kernels fill. */
typedef struct driver {
    mw__planner planner;
    const mw__plan_request *request;
    mw__program *program;
    mw__pattern *const *patterns; /* by operation; NULL = there are none */
} driver;

/* ---- the function's ports ---- */

static void add_port(mw__planner *planner, mw__port_info *port, const mw_tensor *value, mw__buffer_kind kind,
                     size_t index)
{
    size_t size;
    if (!mw__planner_size(planner, value, &size))
        return;
    const size_t bytes = (size_t)mw_dtype_bits(value->type->dtype) / 8;
    const mw__buffer buffer = {.kind = kind, .size = size, .port = index, .value = value};
    *port = (mw__port_info){.name = value->name != NULL ? value->name : value->hint,
                            .size = size,
                            .alignment = bytes > 0 ? bytes : 1,
                            .buffer = mw__planner_add_buffer(planner, buffer)};
}

static int by_name(const void *left, const void *right)
{
    const mw__port_info *a = *(const mw__port_info *const *)left, *b = *(const mw__port_info *const *)right;
    return strcmp(a->name, b->name);
}

static mw_status sort_ports(mw__arena *arena, const mw__port_info *ports, size_t count, const char *kind,
                            const mw__port_info ***out, mw_error *err)
{
    const mw__port_info **sorted = mw__arena_alloc(arena, count, sizeof *sorted, err);
    *out = sorted;
    if (sorted == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++)
        sorted[i] = &ports[i];
    if (count > 0)
        qsort(sorted, count, sizeof *sorted, by_name);
    for (size_t i = 1; i < count; i++)
        if (strcmp(sorted[i - 1]->name, sorted[i]->name) == 0)
            return mw__fail(err, MW_ERROR_UNSUPPORTED,
                            "%s \"%s\" appears twice: give the second an identity form of its own", kind,
                            sorted[i]->name);
    return MW_OK;
}

const mw__port_info *mw__plan_find_port(const mw__port_info *const *sorted, size_t count, const char *name)
{
    const mw__port_info wanted = {.name = name}, *const key = &wanted;
    const mw__port_info *const *found = count > 0 ? bsearch(&key, sorted, count, sizeof *sorted, by_name) : NULL;
    return found != NULL ? *found : NULL;
}

/* The last outputs are the next values of states, and have their names. */
static mw_status add_states(driver *d, mw_error *err)
{
    mw__program *program = d->program;
    const mw__lowered *lowered = d->request->lowered;
    const mw__block *body = d->request->function->body;
    const size_t count = lowered != NULL ? lowered->state_count : 0;
    program->states = mw__arena_alloc(d->planner.arena, count, sizeof *program->states, err);
    if (program->states == NULL)
        return MW_ERROR_MEMORY;
    program->state_count = count;
    for (size_t i = 0; i < count; i++) {
        mw__state_port *state = &program->states[i];
        state->output = body->output_count - count + i;
        while (strcmp(program->inputs[state->input].name, lowered->states[i].input->name) != 0)
            state->input++;
        program->outputs[state->output].name = program->inputs[state->input].name;
    }
    return MW_OK;
}

/* An output that an operation computes is that operation's buffer; one that is an input or a constant gets a copy. */
static mw_status add_ports(driver *d, mw_error *err)
{
    mw__planner *planner = &d->planner;
    mw__program *program = d->program;
    const mw__block *body = d->request->function->body;
    mw__arena *arena = planner->arena;
    program->inputs = mw__arena_alloc(arena, body->input_count, sizeof *program->inputs, err);
    program->outputs = mw__arena_alloc(arena, body->output_count, sizeof *program->outputs, err);
    if (program->inputs == NULL || program->outputs == NULL)
        return MW_ERROR_MEMORY;
    program->input_count = body->input_count;
    program->output_count = body->output_count;
    for (size_t i = 0; i < body->input_count; i++) {
        add_port(planner, &program->inputs[i], body->inputs[i], MW__BUFFER_INPUT, i);
        planner->buffer_of[body->inputs[i]->id] = program->inputs[i].buffer;
    }
    for (size_t i = 0; i < body->output_count; i++) {
        const mw_tensor *value = body->outputs[i];
        add_port(planner, &program->outputs[i], value, MW__BUFFER_OUTPUT, i);
        if (planner->buffer_of[value->id] == MW__NO_BUFFER && value->payload == NULL)
            planner->buffer_of[value->id] = program->outputs[i].buffer;
    }
    MW_TRY(mw__plan_check(planner, err));
    MW_TRY(add_states(d, err));
    if (d->request->nested)
        return MW_OK;
    MW_TRY(sort_ports(arena, program->inputs, mw__input_ports(program), "input", &program->inputs_by_name, err));
    return sort_ports(arena, program->outputs, program->output_count, "output", &program->outputs_by_name, err);
}

static void copy_outputs(driver *d)
{
    mw__planner *planner = &d->planner;
    const mw__block *body = d->request->function->body;
    planner->op = NULL;
    for (size_t i = 0; i < body->output_count; i++) {
        const uint32_t own = d->program->outputs[i].buffer;
        const uint32_t from = mw__plan_buffer(planner, body->outputs[i]);
        if (from != own && planner->error.status == MW_OK)
            mw__planner_add_copy(planner, from, own);
    }
}

/* ---- rounding ---- */

/* The one step that writes the result, by rows, and is not read again by its operation; NULL if that is not so. */
static mw__step *find_writer(const mw__planner *planner, uint32_t buffer, size_t first_step, size_t *out_write)
{
    mw__step *found = NULL;
    for (size_t s = first_step; s < planner->step_count; s++) {
        mw__step *step = planner->steps[s];
        for (size_t i = 0; i < step->read_count; i++)
            if (step->reads[i].buffer == buffer)
                return NULL;
        for (size_t i = 0; i < step->write_count; i++) {
            if (step->writes[i].buffer != buffer)
                continue;
            if (found != NULL || step->writes[i].access != MW__ROWS)
                return NULL;
            found = step;
            *out_write = i;
        }
    }
    return found;
}

static bool rounds_itself(const mw__planner *planner, size_t first_step)
{
    for (size_t s = first_step; s < planner->step_count; s++)
        if (!planner->steps[s]->rounds)
            return false;
    return true;
}

/* From step `first_step` on, `to` takes the place of `from`. */
static void rename_buffer(mw__planner *planner, uint32_t from, uint32_t to, size_t first_step)
{
    for (size_t s = first_step; s < planner->step_count; s++) {
        mw__step *step = planner->steps[s];
        for (size_t i = 0; i < step->read_count; i++)
            if (step->reads[i].buffer == from)
                step->reads[i].buffer = to;
        for (size_t i = 0; i < step->write_count; i++)
            if (step->writes[i].buffer == from)
                step->writes[i].buffer = to;
        mw__element *element = mw__step_as_element(step);
        for (int i = 0; element != NULL && i < element->operand_count; i++)
            if (element->operand[i].buffer == from)
                element->operand[i].buffer = to;
    }
}

/* Rounds an fp32 result that the steps from first_step on have written. */
static void round_result(mw__planner *planner, const mw_tensor *result, size_t first_step)
{
    const unsigned how = result != NULL ? mw__plan_rounds(planner, result) : 0;
    if (how == 0 || result->type->dtype != MW_F32 || planner->error.status != MW_OK ||
        rounds_itself(planner, first_step))
        return;
    size_t write = 0;
    const uint32_t buffer = mw__plan_buffer(planner, result);
    const size_t size = planner->buffers[buffer].size;
    mw__step *writer = find_writer(planner, buffer, first_step, &write);
    if (writer != NULL) {
        mw__round_rows(planner, writer, write, size, how);
        return;
    }
    const uint32_t exact = mw__plan_temporary(planner, size);
    rename_buffer(planner, buffer, exact, first_step);
    mw__round_step(planner, exact, buffer, size, how);
}

/* ---- operations ---- */

static mw_status plan_failed(const mw__op *op, mw_status status, mw_error *err)
{
    if (err != NULL && err->text_line == 0)
        mw__error_position(err, (int)op->line, (int)op->column);
    mw__error_subject(err, op->kind, NULL);
    return status;
}

/* Weights that stay as they are stored are expanded before the steps that read them whole; some kernels take them in
 * parts. */
static void unpack_operands(mw__planner *planner, const mw__op *op, bool alone)
{
    if (alone && op->row != NULL && mw__kernel_takes_packed(op))
        return;
    for (size_t i = 0; i < op->slot_count; i++)
        for (size_t k = 0; k < op->slots[i].count; k++)
            if (mw__is_packed(op->slots[i].operands[k].value))
                mw__plan_buffer(planner, op->slots[i].operands[k].value);
}

static mw_status plan_op(driver *d, const mw__op *op, const mw__pattern *pattern, mw_error *err)
{
    mw__planner *planner = &d->planner;
    char subject[160];
    if (op->row != NULL && (op->row->id == MW__OP_const || mw__op_is_constexpr(op)))
        return MW_OK;
    mw__kernel_plan *plan = op->row != NULL ? mw__kernel_find(op->row->id) : NULL;
    if (plan == NULL)
        return plan_failed(op,
                           mw__fail(err, MW_ERROR_UNSUPPORTED, "%s: the engine has no such operation",
                                    mw__op_subject(op, subject, sizeof subject)),
                           err);
    planner->op = op;
    planner->implementation = planner->declined = NULL;
    const size_t first = planner->step_count;
    mw_status status = mw__kernel_check(op, err);
    unpack_operands(planner, op, pattern == NULL);
    for (size_t i = 0; pattern != NULL && i < pattern->op_count; i++)
        unpack_operands(planner, pattern->ops[i], false);
    const size_t first_step = planner->step_count;
    if (status == MW_OK && op->block_count == 2)
        status = mw__plan_nested(planner, d->request, op, err);
    else if (status == MW_OK)
        status = pattern != NULL ? mw__plan_pattern(planner, pattern, err) : plan(planner, op, err);
    for (size_t i = 0; i < op->result_count; i++)
        round_result(planner, op->results[i], first_step);
    round_result(planner, pattern != NULL ? pattern->also : NULL, first_step);
    if (status == MW_OK)
        status = mw__plan_check(planner, err);
    for (size_t s = first; s < planner->step_count && pattern != NULL && pattern->op_count > 0; s++) {
        planner->steps[s]->group.ops = pattern->ops;
        planner->steps[s]->group.count = pattern->op_count;
        if (planner->steps[s]->report.flops == 0.0) /* one kernel does not work as its operations one by one would */
            planner->steps[s]->report.flops = MW__FLOPS_UNKNOWN;
    }
    return status == MW_OK ? MW_OK : plan_failed(op, status, err);
}

/* ---- finishing ---- */

/* An output that is a view of an intermediate: the intermediate is computed in the output's memory. */
static void elide_all_copies(mw__planner *planner)
{
    size_t kept = 0;
    for (size_t s = 0; s < planner->step_count; s++) {
        mw__step *step = planner->steps[s];
        if (!mw__step_is_copy(step))
            continue;
        const uint32_t from = step->reads[0].buffer, to = step->writes[0].buffer;
        const bool elide = planner->buffers[from].kind == MW__BUFFER_LOCAL &&
                           planner->buffers[to].kind == MW__BUFFER_OUTPUT &&
                           planner->buffers[from].size == planner->buffers[to].size;
        if (elide) {
            rename_buffer(planner, from, to, 0);
            step->run = NULL; /* marks it for the compaction below */
        }
    }
    for (size_t s = 0; s < planner->step_count; s++)
        if (planner->steps[s]->run != NULL)
            planner->steps[kept++] = planner->steps[s];
    planner->step_count = kept;
}

/* Keeps the steps that an output depends on. */
static mw_status keep_needed_steps(mw__planner *planner, mw_error *err)
{
    bool *live = NULL;
    const mw_status status = mw__steps_find_live(planner, &live, err);
    size_t kept = 0;
    for (size_t s = 0; status == MW_OK && s < planner->step_count; s++)
        if (live[s])
            planner->steps[kept++] = planner->steps[s];
    planner->step_count = status == MW_OK ? kept : planner->step_count;
    mw__free(planner->arena->allocator, live);
    return status;
}

static mw_status keep_plan(const driver *d, mw_error *err)
{
    const mw__planner *planner = &d->planner;
    mw__plan *plan = &d->program->plan;
    mw__arena *arena = planner->arena;
    plan->buffers = mw__arena_alloc(arena, planner->buffer_count, sizeof *plan->buffers, err);
    plan->steps = mw__arena_alloc(arena, planner->step_count, sizeof *plan->steps, err);
    if (plan->buffers == NULL || plan->steps == NULL)
        return MW_ERROR_MEMORY;
    memcpy(plan->buffers, planner->buffers, planner->buffer_count * sizeof *plan->buffers);
    for (size_t s = 0; s < planner->step_count; s++)
        plan->steps[s] = planner->steps[s];
    plan->buffer_count = planner->buffer_count;
    plan->step_count = planner->step_count;
    plan->partitions = planner->partitions;
    plan->wake = planner->config->wake;
    return MW_OK;
}

/* ---- the passes, in order ---- */

static mw_status find_patterns(driver *d, mw_error *err)
{
    d->patterns = mw__patterns_find(d->request, err);
    return d->patterns != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static mw_status plan_ops(driver *d, mw_error *err)
{
    const mw__block *body = d->request->function->body;
    for (size_t i = 0; i < body->op_count; i++)
        MW_TRY(plan_op(d, body->ops[i], d->patterns != NULL ? d->patterns[i] : NULL, err));
    copy_outputs(d);
    return mw__plan_check(&d->planner, err);
}

static mw_status elide_copies(driver *d, mw_error *err)
{
    (void)err;
    elide_all_copies(&d->planner);
    return MW_OK;
}

static mw_status drop_dead_steps(driver *d, mw_error *err)
{
    return d->planner.step_count > 0 ? keep_needed_steps(&d->planner, err) : MW_OK;
}

static mw__pass pass_over(driver *d)
{
    mw__planner *planner = &d->planner;
    return (mw__pass){.arena = planner->arena,
                      .config = planner->config,
                      .buffers = planner->buffers,
                      .buffer_count = planner->buffer_count,
                      .partitions = planner->partitions,
                      .planner = planner};
}

static mw_status fold_steps(driver *d, mw_error *err)
{
    const mw__pass pass = pass_over(d);
    return mw__plan_fold_steps(&pass, d->planner.steps, &d->planner.step_count, err);
}

static mw_status redo_steps(driver *d, mw_error *err)
{
    const mw__pass pass = pass_over(d);
    return mw__plan_redo_steps(&pass, err);
}

static const struct {
    mw__step_pass pass;
    mw_status (*run)(driver *d, mw_error *err);
} passes[] = {
#define MW_PASS_STEPS(id, need, function, invariant, sentence)                                                         \
    {{MW__RULE_##id, mw__steps_##invariant, #invariant}, function},
#include "passes/pipeline.def"
};

static mw_status run_planner(driver *d, mw_error *err)
{
    mw__planner *planner = &d->planner;
    /* buffer 0 is what failing calls return */
    mw__planner_add_buffer(planner, (mw__buffer){.kind = MW__BUFFER_LOCAL});
    MW_TRY(mw__plan_check(planner, err));
    MW_TRY(add_ports(d, err));
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) {
        mw__step_run run;
        MW_TRY(mw__step_pass_begin(&run, d->request, planner, &passes[i].pass, err));
        if (!mw__step_pass_is_off(d->request, passes[i].pass.id))
            MW_TRY(passes[i].run(d, err));
        MW_TRY(mw__step_pass_end(&run, planner, err));
    }
    MW_TRY(mw__fuse_schedule(d->request, planner, err));
    return keep_plan(d, err);
}

void mw__count_operands(const mw__block *body, uint32_t *counts)
{
    for (size_t i = 0; i < body->op_count; i++)
        for (size_t k = 0; k < body->ops[i]->slot_count; k++)
            for (size_t j = 0; j < body->ops[i]->slots[k].count; j++) {
                const mw_tensor *value = body->ops[i]->slots[k].operands[j].value;
                if (value != NULL)
                    counts[value->id]++;
            }
}

mw_status mw__plan_function(const mw__plan_request *request, mw__program *program, mw_error *err)
{
    const mw_allocator *heap = request->arena->allocator;
    const size_t values = request->function->graph->value_count;
    driver *d = mw__alloc(heap, 1, sizeof *d, err);
    if (d == NULL)
        return MW_ERROR_MEMORY;
    *d = (driver){.request = request, .program = program};
    mw__planner *planner = &d->planner;
    planner->arena = request->arena;
    planner->rounding = request->rounding;
    planner->partitions = request->partitions;
    planner->config = request->config;
    planner->buffer_of = mw__alloc(heap, values, sizeof *planner->buffer_of, err);
    planner->reads = mw__alloc(heap, values, sizeof *planner->reads, err);
    planner->turned = mw__alloc(heap, values, sizeof *planner->turned, err);
    mw_status status = MW_ERROR_MEMORY;
    if (planner->buffer_of != NULL && planner->reads != NULL && planner->turned != NULL) {
        for (size_t i = 0; i < values; i++)
            planner->buffer_of[i] = planner->turned[i] = MW__NO_BUFFER;
        mw__count_operands(request->function->body, planner->reads);
        status = run_planner(d, err);
    }
    mw__free(heap, planner->buffer_of);
    mw__free(heap, planner->reads);
    mw__free(heap, planner->turned);
    mw__free(heap, planner->buffers);
    mw__free(heap, planner->steps);
    mw__free(heap, d);
    return status;
}
