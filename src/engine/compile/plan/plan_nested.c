/* Branches and loops: their blocks are planned like functions, whose inputs are those of the block and what it uses
 * from outside, and a step runs them (run/executor.c).
 *
 * Of a loop each variable that changes has one buffer: a step begins it with its first value, the body reads and writes
 * it in place, as if all were read before any is written (run/order.c), and it is the loop's result. One that its body
 * hands on as it is, is read where it is. */
#include "engine/compile/passes.h"
#include "engine/core/kernel.h"
#include "engine/core/planner.h"

#include "base/text/printable.h"

#include <stdio.h>
#include <string.h>

/* How often a loop is taken to turn, where a plan depends on what it costs. */
#define TURNS 8.0

typedef struct nesting {
    mw__planner *planner;
    const mw__plan_request *request;
    const mw__op *op;
    mw__nested *nested;
    unsigned char *marks; /* by value id: INSIDE, TAKEN */
    mw_tensor **captured; /* values from outside, in the order of use */
    size_t count, capacity;
    mw_error *err;
} nesting;

enum { INSIDE = 1, TAKEN = 2 };

/* ---- what blocks use from outside ---- */

static void mark_inside(const nesting *n, const mw__block *block)
{
    for (size_t i = 0; i < block->input_count; i++)
        n->marks[block->inputs[i]->id] |= INSIDE;
    for (size_t i = 0; i < block->op_count; i++) {
        const mw__op *op = block->ops[i];
        for (size_t r = 0; r < op->result_count; r++)
            n->marks[op->results[r]->id] |= INSIDE;
        for (size_t b = 0; b < op->block_count; b++)
            mark_inside(n, op->blocks[b]);
    }
}

static mw_status take_value(nesting *n, mw_tensor *value)
{
    if (value->payload != NULL || n->marks[value->id] != 0)
        return MW_OK;
    MW_TRY(
        mw__grow(n->planner->arena->allocator, &n->captured, &n->capacity, n->count + 1, sizeof(mw_tensor *), n->err));
    n->marks[value->id] |= TAKEN;
    n->captured[n->count++] = value;
    return MW_OK;
}

static mw_status take_operands(nesting *n, const mw__operand *operands, size_t count)
{
    for (size_t i = 0; i < count; i++)
        MW_TRY(operands[i].value != NULL ? take_value(n, operands[i].value)
                                         : take_operands(n, operands[i].members, operands[i].member_count));
    return MW_OK;
}

static mw_status take_block(nesting *n, const mw__block *block)
{
    for (size_t i = 0; i < block->op_count; i++) {
        const mw__op *op = block->ops[i];
        for (size_t s = 0; s < op->slot_count; s++)
            MW_TRY(take_operands(n, op->slots[s].operands, op->slots[s].operands != NULL ? op->slots[s].count : 0));
        for (size_t b = 0; b < op->block_count; b++)
            MW_TRY(take_block(n, op->blocks[b]));
    }
    for (size_t i = 0; i < block->output_count; i++)
        MW_TRY(take_value(n, block->outputs[i]));
    return MW_OK;
}

/* ---- blocks as functions ---- */

static bool is_loop(const nesting *n) { return n->nested->loop; }

/* True if the body hands variable i on as it is. */
static bool stays(const nesting *n, size_t i)
{
    return is_loop(n) && n->op->blocks[1]->outputs[i] == n->op->blocks[1]->inputs[i];
}

static mw_status fill_ports(const nesting *n, size_t which, mw__block *body, uint32_t *writes)
{
    const mw__block *from = n->op->blocks[which];
    mw__arena *arena = n->planner->arena;
    const size_t count = from->input_count + n->count;
    body->inputs = mw__arena_alloc(arena, count, sizeof(mw_tensor *), n->err);
    body->outputs = mw__arena_alloc(arena, from->output_count, sizeof(mw_tensor *), n->err);
    if (body->inputs == NULL || body->outputs == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++)
        body->inputs[i] = i < from->input_count ? from->inputs[i] : n->captured[i - from->input_count];
    body->input_count = body->input_capacity = count;
    const bool body_of_loop = is_loop(n) && which == 1;
    for (size_t i = 0; i < from->output_count; i++) {
        if (body_of_loop && stays(n, i))
            continue;
        writes[body->output_count] = (uint32_t)body->output_count;
        body->outputs[body->output_count++] = from->outputs[i];
    }
    body->output_capacity = from->output_count;
    return MW_OK;
}

/* "main/while_loop", for those who hear of the passes. */
static const char *name_of_block(const nesting *n)
{
    char name[2 * MW_NAME_MAX];
    const int length = snprintf(name, sizeof name, "%s/%s", n->request->name, n->op->kind);
    const size_t kept = length > 0 && (size_t)length < sizeof name ? (size_t)length : 0;
    return mw__arena_string(n->planner->arena, name, kept, n->err);
}

static mw_status plan_block(const nesting *n, size_t which)
{
    mw__arena *arena = n->planner->arena;
    const mw__block *from = n->op->blocks[which];
    mw__function *function = mw__arena_alloc(arena, 1, sizeof *function, n->err);
    mw__block *body = mw__arena_alloc(arena, 1, sizeof *body, n->err);
    uint32_t *writes = mw__arena_alloc(arena, from->output_count, sizeof *writes, n->err);
    if (function == NULL || body == NULL || writes == NULL)
        return MW_ERROR_MEMORY;
    *function = *n->request->function;
    function->body = body;
    *body = (mw__block){.function = function, .owner = from->owner, .ops = from->ops, .op_count = from->op_count};
    MW_TRY(fill_ports(n, which, body, writes));
    mw__plan_request request = *n->request;
    request.function = function;
    request.rounding = (mw__rounding){0};
    request.lowered = NULL;
    request.nested = true;
    if (mw__pass_is_watched(request.log))
        request.name = name_of_block(n);
    n->nested->writes[which] = writes;
    return mw__plan_function(&request, &n->nested->programs[which], n->err);
}

/* ---- the step ---- */

static double cost_of(const mw__program *program, bool *varies)
{
    double cost = 0;
    for (size_t s = 0; s < program->plan.step_count; s++) {
        cost += program->plan.steps[s]->cost;
        *varies = *varies || program->plan.steps[s]->varies;
    }
    return cost;
}

static const char *describe_nesting(const nesting *n)
{
    const mw__program *programs = n->nested->programs;
    char text[120];
    const size_t length = mw__printable_printf(
        text, sizeof text, is_loop(n) ? "condition of %zu steps, body of %zu" : "%zu steps if true, %zu else",
        programs[0].plan.step_count, programs[1].plan.step_count);
    return mw__arena_string(n->planner->arena, text, length, n->err);
}

/* The executor looks at step->nested instead. */
static void nested_run(const mw__kernel_call *call) { (void)call; }

static void read_whole(const nesting *n, mw__step *step, uint32_t buffer)
{
    mw__step_read(n->planner, step, buffer, MW__WHOLE, 0, false);
}

/* The buffer that holds a variable: begun with its first value, if it changes. */
static uint32_t begin_variable(const nesting *n, size_t i, const mw_tensor *initial)
{
    mw__planner *planner = n->planner;
    if (stays(n, i)) {
        mw__plan_view(planner, n->op->results[i], initial);
        return mw__plan_buffer(planner, initial);
    }
    const uint32_t from = mw__plan_buffer(planner, initial), to = mw__plan_buffer(planner, n->op->results[i]);
    mw__step *step = mw__hold_step(planner->arena, from, to, planner->buffers[to].size, &planner->error);
    if (step != NULL) {
        step->op = n->op;
        step->report.label = "while_loop.begin";
        planner->buffers[to].maker = step;
    }
    mw__planner_add_step(planner, step);
    return to;
}

static void add_operands(const nesting *n, const mw__operand *vars, const uint32_t *variables, mw__step *step)
{
    mw__planner *planner = n->planner;
    const mw__op *op = n->op;
    if (!is_loop(n))
        read_whole(n, step, mw__plan_buffer(planner, mw__arg(op, "pred")));
    for (size_t i = 0; is_loop(n) && i < op->result_count; i++)
        read_whole(n, step, variables[i]);
    for (size_t i = 0; i < n->count; i++)
        read_whole(n, step, mw__plan_buffer(planner, n->captured[i]));
    for (size_t i = 0; i < op->result_count; i++)
        if (!stays(n, i))
            mw__step_write(planner, step, mw__plan_buffer(planner, op->results[i]), MW__WHOLE, 0);
    (void)vars;
}

/* The condition writes into the last of what the step writes. */
static void add_flag(const nesting *n, mw__step *step)
{
    uint32_t *writes = (uint32_t *)(uintptr_t)n->nested->writes[0];
    writes[0] = (uint32_t)step->write_count;
    mw__step_write(n->planner, step, mw__plan_temporary(n->planner, 1), MW__WHOLE, 0);
}

static mw_status plan_step(const nesting *n)
{
    mw__planner *planner = n->planner;
    const mw__operand *vars = NULL;
    const size_t count = n->op->result_count;
    uint32_t variables[MW__HANDED_MAX];
    bool varies = false;
    if (is_loop(n))
        mw__arg_values(n->op, "loop_vars", &vars);
    for (size_t i = 0; is_loop(n) && i < count; i++)
        variables[i] = begin_variable(n, i, vars[i].value);
    MW_TRY(mw__plan_check(planner, n->err));
    const double cost = cost_of(&n->nested->programs[0], &varies) + cost_of(&n->nested->programs[1], &varies);
    planner->implementation = describe_nesting(n);
    mw__step *step = mw__plan_step_of(planner, nested_run, n->op->row->name, 1, is_loop(n) ? cost * TURNS : cost,
                                      count + n->count + 1, count + 1);
    MW_TRY(mw__plan_check(planner, n->err));
    step->nested = n->nested;
    step->varies = varies;
    add_operands(n, vars, variables, step);
    if (is_loop(n))
        add_flag(n, step);
    return mw__plan_check(planner, n->err);
}

static mw_status plan(nesting *n)
{
    for (size_t b = 0; b < 2; b++)
        mark_inside(n, n->op->blocks[b]);
    for (size_t b = 0; b < 2; b++)
        MW_TRY(take_block(n, n->op->blocks[b]));
    for (size_t b = 0; b < 2; b++)
        MW_TRY(plan_block(n, b));
    return plan_step(n);
}

mw_status mw__plan_nested(mw__planner *planner, const mw__plan_request *request, const mw__op *op, mw_error *err)
{
    const mw_allocator *heap = planner->arena->allocator;
    nesting n = {.planner = planner, .request = request, .op = op, .err = err};
    n.nested = mw__arena_alloc(planner->arena, 1, sizeof *n.nested, err);
    n.marks = mw__alloc(heap, op->block->function->graph->value_count, 1, err);
    mw_status status = MW_ERROR_MEMORY;
    if (n.nested != NULL && n.marks != NULL) {
        n.nested->loop = strcmp(op->kind, "while_loop") == 0;
        status = plan(&n);
    }
    mw__free(heap, n.captured);
    mw__free(heap, n.marks);
    return status;
}
