/* The planner: turns a function into steps over buffers, with the help of the kernel families (engine/plan.h). Gives
 * outputs memory of their own and drops steps that nobody needs. Knows no addresses; engine/encode.c does. */
#include "base/checked.h"
#include "engine/engine.h"
#include "engine/idiom.h"
#include "engine/region.h"
#include "engine/round.h"
#include "engine/within.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct mw__planner {
    const mw__plan_request *request;
    mw__program *program;
    uint32_t *buffer_of; /* by value id */
    mw__buffer *buffers;
    mw__step **steps;
    size_t buffer_count, buffer_capacity, step_count, step_capacity;
    const mw__op *op; /* being planned */
    mw_error error;   /* the first failure */
    mw__step dummy;
};

static const mw_allocator *heap_of(const mw__planner *planner) { return planner->request->arena->allocator; }

/* ---- copies ---- */

typedef struct copy_block {
    size_t unit, size;
} copy_block;

static void copy_run(const mw__kernel_call *call)
{
    const copy_block *block = call->block;
    const size_t begin = (size_t)call->begin * block->unit;
    const size_t end = (size_t)call->end * block->unit < block->size ? (size_t)call->end * block->unit : block->size;
    if (begin < end)
        memmove((char *)call->out[0] + begin, (const char *)call->in[0] + begin, end - begin);
}

static bool is_copy(const mw__step *step) { return step->run == copy_run; }

static double copy_cost(size_t size) { return 10.0 + (double)size / 8.0; }

static void fill_copy(mw__step *step, copy_block *block, uint32_t from, uint32_t to)
{
    const size_t unit = block->unit;
    step->block = block;
    step->reads[0] = (mw__step_operand){.buffer = from, .access = MW__ROWS, .unit = unit, .in_place = true};
    step->writes[0] = (mw__step_operand){.buffer = to, .access = MW__ROWS, .unit = unit};
    step->read_count = step->write_count = 1;
}

/* The units cut the buffer from end to end; the last may be short. */
static bool covers(const mw__step *step, const mw__step_operand *operand, size_t size)
{
    size_t bytes;
    return mw__mul_size(operand->unit, (size_t)step->units, &bytes) && bytes >= size && bytes - operand->unit < size;
}

mw__step *mw__copy_step(mw__arena *arena, uint32_t from, uint32_t to, size_t size, const mw__step *like,
                        const mw__step_operand *like_operand, mw_error *err)
{
    copy_block *block = mw__arena_alloc(arena, 1, sizeof *block, err);
    mw__step *step = mw__arena_alloc(arena, 1, sizeof *step, err);
    if (block == NULL || step == NULL)
        return NULL;
    *block = (copy_block){.unit = 4096, .size = size};
    *step = (mw__step){.label = "copy", .run = copy_run, .grain = 1, .cost = copy_cost(size)};
    step->units = (int64_t)((size + block->unit - 1) / block->unit);
    /* the split of the producer keeps the copy in the producer's phase */
    if (like != NULL && like_operand->access == MW__ROWS && like->units > 0 && like_operand->unit > 0 &&
        covers(like, like_operand, size)) {
        block->unit = like_operand->unit;
        step->units = like->units;
        step->grain = like->grain;
        step->op = like->op;
    }
    fill_copy(step, block, from, to);
    return step;
}

/* ---- buffers ---- */

static uint32_t add_buffer(mw__planner *planner, mw__buffer buffer)
{
    if (planner->buffer_count >= MW__NO_BUFFER ||
        mw__grow(heap_of(planner), &planner->buffers, &planner->buffer_capacity, planner->buffer_count + 1,
                 sizeof *planner->buffers, &planner->error) != MW_OK) {
        mw__fail(&planner->error, MW_ERROR_MEMORY, "too many buffers");
        return 0; /* there is always a first one */
    }
    planner->buffers[planner->buffer_count] = buffer;
    return (uint32_t)planner->buffer_count++;
}

static bool value_size(mw__planner *planner, const mw_tensor *value, size_t *out)
{
    if (value->type->kind == MW__TENSOR && mw__type_bytes(value->type, out))
        return true;
    mw__fail(&planner->error, MW_ERROR_UNSUPPORTED,
             "\"%s\" has no fixed size: the engine runs tensors of known shape; give `?` extents a number first",
             value->name != NULL ? value->name : value->hint);
    *out = 0;
    return false;
}

static const void *expand_splat(mw__planner *planner, const mw__payload *payload, size_t size)
{
    char *data = mw__arena_alloc(planner->request->arena, size, 1, &planner->error);
    for (size_t at = 0; data != NULL && payload->size > 0 && at + payload->size <= size; at += payload->size)
        memcpy(data + at, payload->data, payload->size);
    return data;
}

static uint32_t add_constant(mw__planner *planner, const mw_tensor *value, size_t size)
{
    const mw__payload *payload = value->payload;
    const int bits = mw_dtype_bits(value->type->dtype);
    if (payload->data == NULL || (payload->splat && bits % 8 != 0)) {
        mw__fail(&planner->error, MW_ERROR_UNSUPPORTED, "constant \"%s\" has no data that a kernel could read",
                 value->name != NULL ? value->name : value->hint);
        return 0;
    }
    const void *data = payload->splat ? expand_splat(planner, payload, size) : payload->data;
    return add_buffer(planner, (mw__buffer){.kind = MW__BUFFER_CONSTANT, .size = size, .data = data, .value = value});
}

uint32_t mw__plan_buffer(mw__planner *planner, const mw_tensor *value)
{
    if (value == NULL) {
        mw__fail(&planner->error, MW_ERROR_ARGUMENT, "a kernel asked for the buffer of an absent argument");
        return 0;
    }
    uint32_t *slot = &planner->buffer_of[value->id];
    size_t size;
    if (*slot != MW__NO_BUFFER || !value_size(planner, value, &size))
        return *slot != MW__NO_BUFFER ? *slot : 0;
    if (value->payload != NULL)
        *slot = add_constant(planner, value, size);
    else
        *slot = add_buffer(planner, (mw__buffer){.kind = MW__BUFFER_LOCAL, .size = size, .value = value});
    return *slot;
}

uint32_t mw__plan_temporary(mw__planner *planner, size_t size)
{
    return add_buffer(planner, (mw__buffer){.kind = MW__BUFFER_LOCAL, .size = size});
}

/* ---- steps ---- */

static void add_step(mw__planner *planner, mw__step *step)
{
    if (step == NULL || mw__grow(heap_of(planner), &planner->steps, &planner->step_capacity, planner->step_count + 1,
                                 sizeof(mw__step *), &planner->error) != MW_OK)
        return;
    planner->steps[planner->step_count++] = step;
}

static void add_copy(mw__planner *planner, uint32_t from, uint32_t to)
{
    mw__step *step =
        mw__copy_step(planner->request->arena, from, to, planner->buffers[to].size, NULL, NULL, &planner->error);
    if (step != NULL) {
        step->op = planner->op;
        planner->buffers[to].maker = step;
    }
    add_step(planner, step);
}

void mw__plan_view(mw__planner *planner, const mw_tensor *result, const mw_tensor *source)
{
    const uint32_t from = mw__plan_buffer(planner, source);
    const uint32_t own = planner->buffer_of[result->id];
    if (own != MW__NO_BUFFER)
        add_copy(planner, from, own); /* an output has memory of its own; see elide_copies */
    else
        planner->buffer_of[result->id] = from;
}

void *mw__plan_block(mw__planner *planner, size_t size)
{
    return mw__arena_alloc(planner->request->arena, 1, size, &planner->error);
}

mw__step *mw__plan_step(mw__planner *planner, mw__kernel *run, const char *label, int64_t units, double cost)
{
    mw__step *step = mw__arena_alloc(planner->request->arena, 1, sizeof *step, &planner->error);
    mw__step *filled = step != NULL ? step : &planner->dummy;
    *filled = (mw__step){
        .op = planner->op, .label = label, .run = run, .units = units < 0 ? 0 : units, .grain = 1, .cost = cost};
    add_step(planner, step);
    return filled;
}

void mw__step_read(mw__planner *planner, mw__step *step, uint32_t buffer, mw__access access, size_t unit, bool in_place)
{
    if (step->read_count == MW__STEP_READS) {
        mw__fail(&planner->error, MW_ERROR_UNSUPPORTED, "a step reads more than %d buffers", MW__STEP_READS);
        return;
    }
    step->reads[step->read_count++] =
        (mw__step_operand){.buffer = buffer, .access = access, .unit = unit, .in_place = in_place};
}

void mw__step_write(mw__planner *planner, mw__step *step, uint32_t buffer, mw__access access, size_t unit)
{
    if (step->write_count == MW__STEP_WRITES) {
        mw__fail(&planner->error, MW_ERROR_UNSUPPORTED, "a step writes more than %d buffers", MW__STEP_WRITES);
        return;
    }
    const mw__buffer_kind kind = planner->buffers[buffer].kind;
    if (kind == MW__BUFFER_INPUT || kind == MW__BUFFER_CONSTANT)
        mw__fail(&planner->error, MW_ERROR_UNSUPPORTED, "a step writes an input or a constant");
    step->writes[step->write_count++] = (mw__step_operand){.buffer = buffer, .access = access, .unit = unit};
    planner->buffers[buffer].maker = step;
}

bool mw__plan_rounds(const mw__planner *planner, const mw_tensor *result)
{
    const mw__rounding *rounding = &planner->request->rounding;
    if (rounding->wanted == NULL)
        return result->type->dtype == MW_F16;
    return result->id < rounding->count && rounding->wanted[result->id];
}

bool mw__plan_is_half(const mw__planner *planner, const mw_tensor *result)
{
    const mw__rounding *rounding = &planner->request->rounding;
    return result->type->dtype == MW_F16 || (result->id < rounding->count && rounding->half[result->id]);
}

int mw__plan_lanes(const mw__planner *planner) { return planner->request->lanes; }

mw_status mw__plan_check(const mw__planner *planner, mw_error *err)
{
    if (planner->error.status == MW_OK)
        return MW_OK;
    if (err != NULL && err->status == MW_OK)
        *err = planner->error;
    return planner->error.status;
}

/* ---- the function's ports ---- */

static void add_port(mw__planner *planner, mw__port_info *port, const mw_tensor *value, mw__buffer_kind kind,
                     size_t index)
{
    size_t size;
    if (!value_size(planner, value, &size))
        return;
    const size_t bytes = (size_t)mw_dtype_bits(value->type->dtype) / 8;
    const mw__buffer buffer = {.kind = kind, .size = size, .port = index, .value = value};
    *port = (mw__port_info){.name = value->name != NULL ? value->name : value->hint,
                            .size = size,
                            .alignment = bytes > 0 ? bytes : 1,
                            .buffer = add_buffer(planner, buffer)};
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

const mw__port_info *mw__port_find(const mw__port_info *const *sorted, size_t count, const char *name)
{
    const mw__port_info wanted = {.name = name}, *const key = &wanted;
    const mw__port_info *const *found = count > 0 ? bsearch(&key, sorted, count, sizeof *sorted, by_name) : NULL;
    return found != NULL ? *found : NULL;
}

/* An output that an operation computes is that operation's buffer; one that is an input or a constant gets a copy. */
static mw_status add_ports(mw__planner *planner, mw_error *err)
{
    mw__program *program = planner->program;
    const mw__block *body = planner->request->function->body;
    mw__arena *arena = planner->request->arena;
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
    MW_TRY(sort_ports(arena, program->inputs, program->input_count, "input", &program->inputs_by_name, err));
    return sort_ports(arena, program->outputs, program->output_count, "output", &program->outputs_by_name, err);
}

static void copy_outputs(mw__planner *planner)
{
    const mw__block *body = planner->request->function->body;
    planner->op = NULL;
    for (size_t i = 0; i < body->output_count; i++) {
        const uint32_t own = planner->program->outputs[i].buffer;
        const uint32_t from = mw__plan_buffer(planner, body->outputs[i]);
        if (from != own && planner->error.status == MW_OK)
            add_copy(planner, from, own);
    }
}

/* ---- rounding ---- */

static void rename_buffer(mw__planner *planner, uint32_t from, uint32_t to, size_t first_step);

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

/* Rounds an fp32 result that the steps from first_step on have written. */
static void round_result(mw__planner *planner, const mw_tensor *result, size_t first_step)
{
    if (result == NULL || !mw__plan_rounds(planner, result) || result->type->dtype != MW_F32 ||
        planner->error.status != MW_OK || rounds_itself(planner, first_step))
        return;
    size_t write = 0;
    mw__arena *arena = planner->request->arena;
    const uint32_t buffer = mw__plan_buffer(planner, result);
    const size_t size = planner->buffers[buffer].size;
    mw__step *writer = find_writer(planner, buffer, first_step, &write);
    if (writer != NULL) {
        mw__round_rows(arena, writer, write, size, &planner->error);
        return;
    }
    const uint32_t exact = mw__plan_temporary(planner, size);
    rename_buffer(planner, buffer, exact, first_step);
    mw__step *step = mw__round_step(arena, exact, buffer, size, &planner->error);
    if (step != NULL)
        step->op = planner->op;
    add_step(planner, step);
}

bool mw__plan_is_element(const mw__planner *planner, uint32_t buffer)
{
    const mw__step *maker = planner->buffers[buffer].maker;
    return maker != NULL && maker->element != NULL;
}

/* ---- operations ---- */

static mw_status plan_failed(const mw__op *op, mw_status status, mw_error *err)
{
    if (err != NULL && err->text_line == 0)
        mw__error_position(err, (int)op->line, (int)op->column);
    mw__error_subject(err, op->kind, NULL);
    return status;
}

static mw_status plan_op(mw__planner *planner, const mw__op *op, const mw__idiom *idiom, mw_error *err)
{
    char subject[160];
    if (op->row != NULL && op->row->id == MW__OP_const)
        return MW_OK;
    mw__kernel_plan *plan = op->row != NULL ? mw__kernel_find(op->row->id) : NULL;
    if (plan == NULL)
        return plan_failed(op,
                           mw__fail(err, MW_ERROR_UNSUPPORTED, "%s: the engine has no such operation",
                                    mw__op_subject(op, subject, sizeof subject)),
                           err);
    planner->op = op;
    const size_t first = planner->step_count;
    mw_status status = mw__kernel_check(op, err);
    const size_t first_step = planner->step_count;
    if (status == MW_OK)
        status = idiom->kind != MW__IDIOM_NONE ? mw__plan_idiom(planner, idiom, err) : plan(planner, op, err);
    for (size_t i = 0; i < op->result_count; i++)
        round_result(planner, op->results[i], first_step);
    round_result(planner, idiom->dbias, first_step);
    if (status == MW_OK)
        status = mw__plan_check(planner, err);
    for (size_t s = first; s < planner->step_count && idiom->op_count > 0; s++) {
        planner->steps[s]->ops = idiom->ops;
        planner->steps[s]->op_count = idiom->op_count;
        if (planner->steps[s]->flops == 0.0) /* one kernel does not work as its operations one by one would */
            planner->steps[s]->flops = MW__FLOPS_UNKNOWN;
    }
    return status == MW_OK ? MW_OK : plan_failed(op, status, err);
}

/* ---- finishing ---- */

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
        for (int i = 0; step->element != NULL && i < step->element->arm_count; i++)
            if (step->element->arm[i].buffer == from)
                step->element->arm[i].buffer = to;
    }
}

/* An output that is a view of an intermediate: the intermediate is computed in the output's memory. */
static void elide_copies(mw__planner *planner)
{
    size_t kept = 0;
    for (size_t s = 0; s < planner->step_count; s++) {
        mw__step *step = planner->steps[s];
        const uint32_t from = step->reads[0].buffer, to = step->writes[0].buffer;
        const bool elide = is_copy(step) && planner->buffers[from].kind == MW__BUFFER_LOCAL &&
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
static mw_status drop_dead_steps(mw__planner *planner, mw_error *err)
{
    bool *needed = mw__alloc(heap_of(planner), planner->buffer_count, sizeof *needed, err);
    if (needed == NULL)
        return MW_ERROR_MEMORY;
    for (size_t b = 0; b < planner->buffer_count; b++)
        needed[b] = planner->buffers[b].kind == MW__BUFFER_OUTPUT;
    size_t kept = planner->step_count;
    for (size_t s = planner->step_count; s-- > 0;) {
        mw__step *step = planner->steps[s];
        bool live = false;
        for (size_t i = 0; i < step->write_count; i++)
            live = live || needed[step->writes[i].buffer];
        for (size_t i = 0; live && i < step->read_count; i++)
            needed[step->reads[i].buffer] = true;
        if (live)
            planner->steps[--kept] = step;
    }
    memmove(planner->steps, planner->steps + kept, (planner->step_count - kept) * sizeof(mw__step *));
    planner->step_count -= kept;
    mw__free(heap_of(planner), needed);
    return MW_OK;
}

static mw_status keep_plan(const mw__planner *planner, mw_error *err)
{
    mw__plan *plan = &planner->program->plan;
    mw__arena *arena = planner->request->arena;
    plan->buffers = mw__arena_alloc(arena, planner->buffer_count, sizeof *plan->buffers, err);
    plan->steps = mw__arena_alloc(arena, planner->step_count, sizeof *plan->steps, err);
    if (plan->buffers == NULL || plan->steps == NULL)
        return MW_ERROR_MEMORY;
    memcpy(plan->buffers, planner->buffers, planner->buffer_count * sizeof *plan->buffers);
    for (size_t s = 0; s < planner->step_count; s++)
        plan->steps[s] = planner->steps[s];
    plan->buffer_count = planner->buffer_count;
    plan->step_count = planner->step_count;
    plan->lanes = planner->request->lanes;
    return MW_OK;
}

static mw_status run_planner(mw__planner *planner, mw_error *err)
{
    /* buffer 0 is what failing calls return */
    add_buffer(planner, (mw__buffer){.kind = MW__BUFFER_LOCAL});
    MW_TRY(mw__plan_check(planner, err));
    MW_TRY(add_ports(planner, err));
    const mw__block *body = planner->request->function->body;
    const mw__idiom *idioms =
        mw__idioms_find(planner->request->function, &planner->request->rounding, planner->request->arena, err);
    if (idioms == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < body->op_count; i++)
        MW_TRY(plan_op(planner, body->ops[i], &idioms[i], err));
    copy_outputs(planner);
    MW_TRY(mw__plan_check(planner, err));
    elide_copies(planner);
    if (planner->step_count > 0)
        MW_TRY(drop_dead_steps(planner, err));
    const mw__fold fold = {.arena = planner->request->arena,
                           .buffers = planner->buffers,
                           .buffer_count = planner->buffer_count,
                           .lanes = planner->request->lanes};
    MW_TRY(mw__hoist_watches(planner->steps, planner->step_count, planner->buffer_count, heap_of(planner), err));
    MW_TRY(mw__fold_steps(&fold, planner->steps, &planner->step_count, err));
    MW_TRY(mw__fuse_steps(planner->request->arena, planner->buffers, planner->buffer_count, planner->steps,
                          &planner->step_count, err));
    return keep_plan(planner, err);
}

mw_status mw__plan_function(const mw__plan_request *request, mw__program *program, mw_error *err)
{
    const size_t values = request->function->graph->value_count;
    mw__planner *planner = mw__alloc(request->arena->allocator, 1, sizeof *planner, err);
    if (planner == NULL)
        return MW_ERROR_MEMORY;
    planner->request = request;
    planner->program = program;
    planner->buffer_of = mw__alloc(heap_of(planner), values, sizeof *planner->buffer_of, err);
    mw_status status = MW_ERROR_MEMORY;
    if (planner->buffer_of != NULL) {
        for (size_t i = 0; i < values; i++)
            planner->buffer_of[i] = MW__NO_BUFFER;
        status = run_planner(planner, err);
    }
    mw__free(heap_of(planner), planner->buffer_of);
    mw__free(heap_of(planner), planner->buffers);
    mw__free(heap_of(planner), planner->steps);
    mw__free(heap_of(planner), planner);
    return status;
}
