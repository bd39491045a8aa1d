/* Why a step was refused: the same batch is run once more by a program that looks at every value, and the first
 * operation in the order of execution whose result is not finite is named, with the forward operation and the parameter
 * that it belongs to. Made for one refusal and thrown away; where that fails, the message goes without it. */
#include "runtime/trainer/step/trainer_nan_origin.h"

#include "base/text/printable.h"
#include "graph/ir/names.h"
#include "graph/ir/op_table.h"
#include "runtime/trainer/build/trainer_alias.h"
#include "runtime/trainer/build/trainer_check.h"
#include "runtime/trainer/build/trainer_programs.h"
#include "runtime/trainer/options/trainer_numbers.h"
#include "runtime/trainer/options/trainer_options.h"
#include "runtime/trainer/step/trainer_replay.h"
#include "runtime/trainer/step/trainer_step.h"

#include <math.h>
#include <millwright/millwright.h>
#include <stdio.h>
#include <string.h>

#define GROUP 256 /* numbers of an output */

/* What one number stands for: all of a value is within a limit. */
typedef struct watched {
    const mw__op *op;
    const mw_tensor *parameter; /* whose update or gradient it is; NULL = neither */
    double limit;               /* of this gradient or parameter; 0 = it is finite */
} watched;

typedef struct nan_search {
    mw__trainer_build b;
    mw_trainer *trainer;
    const mw__trainer_pass *pass;
    watched *items;
    mw_tensor **good; /* [count], rank 0 */
    size_t count;
    bool *expected; /* by value: may hold what is not finite, as constants do */
    mw__names names;
    mw_program *program;
} nan_search;

/* ---- what is looked at ---- */

static bool is_const_finite(const mw_tensor *value)
{
    if (value->payload == NULL || value->payload->data == NULL)
        return true;
    const size_t count = value->payload->splat ? 1 : (size_t)mw__payload_count(value->payload);
    for (size_t i = 0; i < count; i++)
        if (!isfinite(mw__payload_float(value->payload, i)))
            return false;
    return true;
}

/* They pass on what they are given, and compute nothing. */
static bool moves(const mw__op *op)
{
    static const char *const kinds[] = {"concat", "split", "stack", "gather", "select", "fill"};
    bool found = mw__op_has(op, MW__TRAIT_MOVES);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        found = found || strcmp(op->kind, kinds[i]) == 0;
    return found;
}

/* A mask of -inf in the program is meant, and what it is added to also. */
static bool is_expected(const nan_search *a, const mw__op *op)
{
    for (size_t i = 0; i < op->slot_count; i++)
        for (size_t k = 0; k < op->slots[i].count; k++) {
            const mw_tensor *value = op->slots[i].operands[k].value;
            if (value == NULL || !mw__trainer_is_checked(value))
                continue;
            if (!is_const_finite(value) || (moves(op) && a->expected[value->id]))
                return true;
        }
    return false;
}

static void watch(nan_search *a, const mw__op *op, mw_tensor *value, const mw_tensor *parameter, double limit)
{
    mw_tensor *good = mw__trainer_within(&a->b, value, limit > 0.0 ? limit : mw__trainer_largest(a->trainer, value));
    a->items[a->count] = (watched){op, parameter, limit};
    a->good[a->count++] = good;
}

static void watch_operation(nan_search *a, const mw__op *op, const mw_tensor *parameter)
{
    const bool expected = is_expected(a, op);
    for (size_t i = 0; i < op->result_count; i++) {
        if (!mw__trainer_is_checked(op->results[i]) || op->results[i]->payload != NULL)
            continue;
        a->expected[op->results[i]->id] = expected;
        if (!expected)
            watch(a, op, op->results[i], parameter, 0.0);
    }
}

static void watch_limits(nan_search *a, size_t index)
{
    mw__trainer_build *b = &a->b;
    mw_tensor *parameter = b->parameters[index];
    const mw__optimizer_limits *limits = mw__trainer_limits(a->trainer, parameter);
    if (limits->gradient > 0.0 && mw__trainer_is_checked(b->raw[index]))
        watch(a, NULL, b->raw[index], parameter, limits->gradient);
    if (limits->gradient > 0.0 && isfinite(limits->parameter) && mw__trainer_is_checked(parameter))
        watch(a, NULL, parameter, parameter, limits->parameter);
}

/* ---- the program ---- */

static size_t op_count(const nan_search *a) { return mw__graph_main(a->b.graph)->body->op_count; }

static mw_status make_room(nan_search *a, mw_error *err)
{
    const mw__block *body = mw__graph_main(a->b.graph)->body;
    size_t most = 2 * a->b.count;
    for (size_t i = 0; i < body->op_count; i++)
        most += body->ops[i]->result_count;
    a->items = mw__arena_alloc(&a->b.arena, most, sizeof *a->items, err);
    a->good = mw__arena_alloc(&a->b.arena, most, sizeof *a->good, err);
    a->expected = mw__arena_alloc(&a->b.arena, a->b.graph->value_count, sizeof *a->expected, err);
    return a->items != NULL && a->good != NULL && a->expected != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static mw_status write_groups(nan_search *a, mw_error *err)
{
    for (size_t i = 0; i < a->count; i++)
        a->good[i] = mw_expand_dims(a->good[i], MW_AXES(0));
    for (size_t at = 0; at < a->count; at += GROUP) {
        char name[32];
        const size_t left = a->count - at, size = left < GROUP ? left : GROUP;
        snprintf(name, sizeof name, "watched.%zu", at / GROUP);
        mw_output(size > 1 ? mw_concat(a->good + at, size, 0) : a->good[at], name);
    }
    return mw_graph_check(a->b.graph, err);
}

/* Whose update operation i belongs to: those of parameter k end before end[k]. */
static const mw_tensor *updated_by(const nan_search *a, const size_t *end, size_t first, size_t i)
{
    for (size_t k = 0; i >= first && k < a->b.count; k++)
        if (i < end[k])
            return a->b.parameters[k];
    return NULL;
}

static mw_status build_nan_search(nan_search *a, mw_error *err)
{
    size_t *end = mw__arena_alloc(&a->b.arena, a->b.count, sizeof *end, err);
    const size_t first = op_count(a);
    if (end == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < a->b.count; i++) {
        mw__trainer_changes changes;
        MW_TRY(mw__trainer_changes_of(&a->b, i, &changes, err));
        end[i] = op_count(a);
    }
    MW_TRY(make_room(a, err));
    const mw__block *body = mw__graph_main(a->b.graph)->body;
    for (size_t i = 0, count = body->op_count; i < count; i++)
        watch_operation(a, body->ops[i], updated_by(a, end, first, i));
    for (size_t i = 0; i < a->b.count; i++)
        watch_limits(a, i);
    MW_TRY(write_groups(a, err));
    return mw__names_assign(mw__graph_main(a->b.graph), &a->names, err);
}

/* Building the update again must not count the scalars of the step a second time. */
static mw_status build_again(nan_search *a, mw_error *err)
{
    mw_trainer *t = a->trainer;
    mw__trainer_scalar *const kept = t->optimizer.scalars;
    const size_t kept_count = t->optimizer.scalar_count, most = mw__trainer_scalar_sets(t) * MW__OPTIMIZER_SCALARS;
    mw__arena scratch;
    mw__arena_init(&scratch, t->allocator);
    t->optimizer.scalars = mw__arena_alloc(&scratch, most, sizeof *t->optimizer.scalars, err);
    t->optimizer.scalar_count = 0;
    mw_status status = t->optimizer.scalars != NULL ? mw__trainer_build_pass(&a->b, err) : MW_ERROR_MEMORY;
    if (status == MW_OK)
        status = build_nan_search(a, err);
    t->optimizer.scalars = kept, t->optimizer.scalar_count = kept_count;
    mw__arena_deinit(&scratch);
    return status;
}

/* The program reads what the step has read. */
static mw_status run_nan_search(nan_search *a, mw_error *err)
{
    const mw__program_request request = {.graph = a->b.graph,
                                         .options = &a->trainer->compile,
                                         .target = &a->trainer->target,
                                         .bind = mw__trainer_bind_inputs,
                                         .user = a->pass->program};
    a->program = mw__program_create(&request, err);
    if (a->program == NULL)
        return mw__status_or(err, MW_ERROR_DEVICE);
    mw__program_copy_staged(a->program, a->pass->program);
    return mw__program_run(a->program, err);
}

/* ---- the message ---- */

static const watched *find_first(const nan_search *a)
{
    for (size_t i = 0; i < a->count; i++) {
        char name[32];
        snprintf(name, sizeof name, "watched.%zu", i / GROUP);
        const size_t port = mw__program_find(a->program, name);
        if (port == a->program->port_count)
            return NULL;
        const mw_dtype dtype = a->program->ports[port].dtype;
        const char *data = mw__program_data(a->program, port);
        if (mw__trainer_scalar_read(data + i % GROUP * (dtype == MW_F16 ? 2 : 4), dtype) != 1.0f)
            return &a->items[i];
    }
    return NULL;
}

static bool is_trained(const nan_search *a, const mw_tensor *value)
{
    return value->role == MW__PARAMETER &&
           !a->trainer->optimizer.groups[mw__trainer_group_of(a->trainer, value->name)].frozen;
}

/* The trained parameter that reaches the operation first, going back; NULL if none is near. */
static const mw_tensor *nearest_parameter(const nan_search *a, const mw__op *op)
{
    enum { NEAR = 64 };
    const mw__op *queue[NEAR] = {op};
    size_t count = 1;
    for (size_t at = 0; at < count; at++)
        for (size_t i = 0; i < queue[at]->slot_count; i++)
            for (size_t k = 0; k < queue[at]->slots[i].count; k++) {
                const mw_tensor *value = queue[at]->slots[i].operands[k].value;
                if (value != NULL && is_trained(a, value))
                    return value;
                if (value != NULL && value->op != NULL && value->payload == NULL && count < NEAR)
                    queue[count++] = value->op;
            }
    return NULL;
}

static void subject(const nan_search *a, const mw__op *op, char *out, size_t size)
{
    const char *name = op->result_count > 0 ? mw__names_get(&a->names, op->results[0]) : NULL;
    mw__printable_printf(out, size, "%.40s \"%.60s\"", op->kind, name != NULL ? name : "");
}

/* A layer with a gradient of its own goes by its own name. */
static void forward_subject(const nan_search *a, const mw__op *op, char *out, size_t size)
{
    const mw__composite *layer = op->result_count == 1 ? op->results[0]->composite : NULL;
    const char *name = op->result_count > 0 ? mw__names_get(&a->names, op->results[0]) : NULL;
    if (layer != NULL && (layer->vjp != NULL || layer->transposed != NULL))
        mw__printable_printf(out, size, "%.40s \"%.60s\"", layer->name, name != NULL ? name : "");
    else
        subject(a, op, out, size);
}

static void describe_origin(const nan_search *a, const watched *first, mw__nan_origin *out)
{
    char own[112], of[160] = "", whose[128] = "";
    if (first->parameter != NULL)
        mw__printable_printf(out->tensor, sizeof out->tensor, "%s", mw_tensor_name(first->parameter));
    if (first->op == NULL) {
        mw__printable_printf(
            out->text, sizeof out->text, "%s \"%.80s\" is beyond %g, from where an update can overflow",
            first->limit == mw__trainer_limits(a->trainer, first->parameter)->gradient ? "the gradient of"
                                                                                       : "parameter",
            mw_tensor_name(first->parameter), first->limit);
        return;
    }
    const mw__op *forward = first->op->forward;
    const mw_tensor *parameter =
        first->parameter != NULL ? first->parameter : nearest_parameter(a, forward != NULL ? forward : first->op);
    subject(a, first->op, own, sizeof own);
    mw__printable_printf(out->operation, sizeof out->operation, "%s", first->op->kind);
    if (forward != NULL) {
        char name[112];
        forward_subject(a, forward, name, sizeof name);
        mw__printable_printf(of, sizeof of, " in the gradient of %s", name);
    }
    if (parameter != NULL)
        mw__printable_printf(whose, sizeof whose, " (%s \"%.80s\")",
                             first->parameter != NULL ? "the update of" : "parameter", mw_tensor_name(parameter));
    if (parameter != NULL)
        mw__printable_printf(out->tensor, sizeof out->tensor, "%s", mw_tensor_name(parameter));
    mw__printable_printf(out->text, sizeof out->text, "the first result that is not finite is that of %s%s%s", own, of,
                         whose);
}

static void describe_item(const void *user, size_t index, mw__nan_origin *out)
{
    const nan_search *a = user;
    describe_origin(a, &a->items[index], out);
}

void mw__trainer_find_nan_origin(mw_trainer *t, const mw__trainer_pass *pass, mw__nan_origin *out)
{
    mw_error ignored = {0};
    nan_search a = {.b = {.trainer = t,
                          .kind = pass == &t->accumulation      ? MW__PASS_SUM
                                  : t->strategy->sums_gradients ? MW__PASS_EXCHANGE
                                                                : MW__PASS_UPDATE,
                          .ends_before_check = true},
                    .trainer = t,
                    .pass = pass};
    *out = (mw__nan_origin){{0}, {0}, {0}};
    if (build_again(&a, &ignored) == MW_OK && run_nan_search(&a, &ignored) == MW_OK) {
        const watched *first = find_first(&a);
        if (first != NULL)
            describe_origin(&a, first, out);
        mw__replay_save(t, &(mw__replay_step){.graph = a.b.graph,
                                              .names = &a.names,
                                              .program = a.program,
                                              .count = a.count,
                                              .describe = describe_item,
                                              .user = &a});
    }
    mw_program_destroy(a.program);
    mw__names_deinit(&a.names);
    mw__graph_free(a.b.graph);
    mw__arena_deinit(&a.b.arena);
}
