/* Makes a program that a device accepts: a clone in which, on the ANE, every fp32 value and every int32 input is fp16,
 * with outputs brought into a form that the compiler takes. What cannot be rewritten is refused by name here or by the
 * rows of legality.c. Half means: an int32 value of the source that becomes fp16. */
#include "base/fp16.h"
#include "base/number.h"
#include "graph/clone.h"
#include "mil/legality.h"
#include "mil/narrow.h"
#include "mil/rewrite.h"
#include <math.h>
#include <millwright/op_elementwise.h>
#include <millwright/op_shape.h>
#include <stdio.h>
#include <string.h>

/* What is found out about a value of the source before cloning. */
typedef struct value_facts {
    const mw__op *user; /* the first operation that reads it, for messages */
    const char *arg;    /* and as what */
    bool default_only;  /* every use is a constant argument for which this is MIL's default */
    bool meets_half;    /* some use combines it with a half value */
    bool needs_integer; /* some use does not */
    mw_tensor *half;    /* fp16 copy of an int32 value, made when first wanted */
} value_facts;

typedef struct legalizer_state {
    const mw_graph *from;
    mw_graph *to;
    mw__legality legality;
    value_facts *facts;
    bool *half;
    bool strict; /* what fp16 does not hold is refused */
    mw__narrow_flow flow;
    mw__narrowing **narrowed; /* the end of the list of constants that were replaced; NULL = nobody asks */
} legalizer_state;

static bool is_t(const mw__arg_row *row) { return mw__arg_type_is_t(row->type) || mw__arg_type_is_u(row->type); }

/* Arguments whose element type is that of the result. */
static bool carries_type(const mw__arg_row *row)
{
    return row->kind != MW__CONST && (is_t(row) || row->type == MW__ANY);
}

/* ---- what becomes fp16, found in one pass ---- */

static bool is_default(const mw_tensor *value, const mw__arg_row *row)
{
    double standard;
    if (value->payload == NULL || value->payload->data == NULL || row->kind != MW__CONST || row->fallback == NULL)
        return false;
    if (mw_tensor_dtype(value) != MW_F32 || mw_shape_count(mw_tensor_shape(value)) != 1)
        return false;
    return mw__number_read(row->fallback, strlen(row->fallback), MW__NUMBER_F32, &standard) &&
           mw__payload_float(value->payload, 0) == standard;
}

/* A cast says its own result type; everything else passes the type of its operands on. */
static void note_operand(legalizer_state *legalizer, const mw__op *op, size_t slot, const mw_tensor *value,
                         bool *any_half)
{
    if (value == NULL)
        return;
    value_facts *facts = &legalizer->facts[value->id];
    const mw__arg_row *row = op->row != NULL ? &op->row->args[slot] : NULL;
    const bool standard = row != NULL && is_default(value, row);
    facts->default_only = facts->user == NULL ? standard : facts->default_only && standard;
    if (facts->user == NULL) {
        facts->user = op;
        facts->arg = op->slots[slot].name;
    }
    if (row != NULL && carries_type(row) && legalizer->half[value->id] && strcmp(op->kind, "cast") != 0)
        *any_half = true;
}

static void note_company(legalizer_state *legalizer, const mw__op *op, bool any_half)
{
    for (size_t i = 0; i < op->slot_count; i++)
        for (size_t k = 0; k < op->slots[i].count; k++) {
            const mw_tensor *value = op->slots[i].operands[k].value;
            const bool half = any_half && op->row != NULL && is_t(&op->row->args[i]);
            if (value != NULL)
                *(half ? &legalizer->facts[value->id].meets_half : &legalizer->facts[value->id].needs_integer) = true;
        }
}

static void note_op(legalizer_state *legalizer, const mw__op *op)
{
    bool any_half = false;
    for (size_t i = 0; i < op->slot_count; i++)
        for (size_t k = 0; k < op->slots[i].count; k++)
            note_operand(legalizer, op, i, op->slots[i].operands[k].value, &any_half);
    note_company(legalizer, op, any_half);
    for (size_t i = 0; any_half && i < op->result_count; i++)
        if (mw_tensor_dtype(op->results[i]) == MW_I32)
            legalizer->half[op->results[i]->id] = true;
}

/* A range of small integers that only meets half values is made in fp16, which saves a cast that the ANE lacks. */
static bool is_half_range(const legalizer_state *legalizer, const mw__op *op)
{
    int64_t start, end, step;
    if (op->row == NULL || op->row->id != MW__OP_range_1d || mw_tensor_dtype(op->results[0]) != MW_I32)
        return false;
    const value_facts *facts = &legalizer->facts[op->results[0]->id];
    if (!facts->meets_half || facts->needs_integer || !mw__arg_int(op, "start", &start) ||
        !mw__arg_int(op, "end", &end) || !mw__arg_int(op, "step", &step))
        return false;
    return start >= -2048 && start <= 2048 && end >= -2048 && end <= 2048 && step >= -2048 && step <= 2048;
}

static void note_function(legalizer_state *legalizer, const mw__function *function)
{
    const mw__block *body = function->body;
    for (size_t i = 0; i < body->input_count; i++)
        legalizer->half[body->inputs[i]->id] = mw_tensor_dtype(body->inputs[i]) == MW_I32;
    for (size_t i = 0; i < body->op_count; i++)
        note_op(legalizer, body->ops[i]);
    for (size_t i = 0; i < body->output_count; i++)
        legalizer->facts[body->outputs[i]->id].needs_integer = true;
    for (size_t i = 0; i < body->op_count; i++)
        if (is_half_range(legalizer, body->ops[i]))
            legalizer->half[body->ops[i]->results[0]->id] = true;
}

/* ---- constants ---- */

static mw_status lost_number(const legalizer_state *legalizer, const mw_tensor *value, double number,
                             const char *becomes)
{
    char text[MW__NUMBER_MAX], subject[160] = "constant";
    const value_facts *facts = &legalizer->facts[value->id];
    mw__number_print_float(text, (float)number);
    if (facts->user != NULL)
        mw__op_subject(facts->user, subject, sizeof subject);
    mw__graph_fail(legalizer->to, MW_ERROR_NUMERIC,
                   "%s: %s%s%s = %s %s in fp16 (largest 65504, smallest 6e-08, integers exact up to 2048); rescale it",
                   subject, facts->arg != NULL ? facts->arg : "", value->name != NULL ? " " : "",
                   value->name != NULL ? value->name : "", text, becomes);
    mw__error_subject(&legalizer->to->error, facts->user != NULL ? facts->user->kind : NULL,
                      value->name != NULL ? value->name : value->hint);
    return MW_ERROR_NUMERIC;
}

/* How a number is lost, or NULL. A tensor of weights may hold numbers too small for fp16; a scalar that vanishes
 * changes the program. */
static const char *loss_of(const legalizer_state *legalizer, const mw_tensor *value, double number, bool scalar)
{
    const float stored = mw__fp16_to_float(mw__fp16_from_double(number));
    if (isfinite(number) && !isfinite(stored))
        return "becomes infinite";
    if (scalar && number != 0 && stored == 0 && !legalizer->facts[value->id].default_only)
        return "becomes 0";
    return mw_tensor_dtype(value) == MW_I32 && (double)stored != number ? "is not exact" : NULL;
}

static const char *keep_string(mw_graph *to, const char *text)
{
    return mw__arena_string(&to->arena, text, strlen(text), &to->error);
}

/* An entry in the list of what was replaced. */
static mw__narrowing *note_narrowing(const legalizer_state *legalizer, const mw_tensor *value, double number)
{
    mw_graph *to = legalizer->to;
    const mw__op *user = legalizer->facts[value->id].user;
    const char *made = user != NULL && user->result_count > 0 ? user->results[0]->name : NULL;
    char subject[160] = "constant";
    if (user != NULL)
        mw__op_subject(user, subject, sizeof subject);
    mw__narrowing *note = mw__arena_alloc(&to->arena, 1, sizeof *note, &to->error);
    if (note == NULL)
        return NULL;
    *note = (mw__narrowing){.value = number};
    note->operation = keep_string(to, user != NULL ? user->kind : "");
    note->argument = keep_string(to, user != NULL ? legalizer->facts[value->id].arg : "");
    note->tensor = keep_string(to, value->name != NULL ? value->name : made != NULL ? made : "");
    note->subject = keep_string(to, subject);
    return to->error.status == MW_OK ? note : NULL;
}

/* One element; *note is made when the first of a constant is replaced. */
static mw_status narrow(legalizer_state *legalizer, const mw_tensor *value, double number, bool scalar,
                        mw__narrowing **note, uint16_t *out)
{
    const char *loss = loss_of(legalizer, value, number, scalar);
    *out = mw__fp16_from_double(number);
    if (loss == NULL)
        return MW_OK;
    if (legalizer->strict || mw_tensor_dtype(value) == MW_I32)
        return lost_number(legalizer, value, number, loss);
    double replaced;
    MW_TRY(mw__narrow_replace(&legalizer->flow, value, number, &replaced, &legalizer->to->error));
    *out = mw__fp16_from_double(replaced);
    if (*note == NULL) {
        *note = note_narrowing(legalizer, value, number);
        if (*note == NULL)
            return MW_ERROR_MEMORY;
        (*note)->replaced = replaced;
    }
    (*note)->count++;
    return MW_OK;
}

static void list_narrowing(legalizer_state *legalizer, mw__narrowing *note)
{
    if (note == NULL || legalizer->narrowed == NULL)
        return;
    *legalizer->narrowed = note;
    legalizer->narrowed = &note->next;
}

static mw_status narrow_elements(legalizer_state *legalizer, const mw_tensor *value, size_t count, bool scalar,
                                 uint16_t *out)
{
    mw__narrowing *note = NULL;
    for (size_t i = 0; i < count; i++) {
        const double number = mw_tensor_dtype(value) == MW_F32 ? mw__payload_float(value->payload, i)
                                                               : (double)mw__payload_int(value->payload, i);
        MW_TRY(narrow(legalizer, value, number, scalar, &note, &out[i]));
    }
    list_narrowing(legalizer, note);
    return MW_OK;
}

/* The payload of a constant in fp16, in the arena of the copy; NULL leaves an error there. */
static const mw__payload *narrow_payload(legalizer_state *legalizer, const mw_tensor *value)
{
    mw_graph *to = legalizer->to;
    const mw__payload *from = value->payload;
    const mw_shape shape = mw_tensor_shape(value);
    const int64_t elements = mw_shape_count(shape);
    const size_t count = from->splat ? 1 : (size_t)elements;
    if (elements < 0 || from->data == NULL) {
        mw__graph_fail(to, MW_ERROR_STATE, "constant \"%s\" has no values; read the program with its weight files",
                       mw_tensor_name(value));
        return NULL;
    }
    mw__payload *payload = mw__arena_alloc(&to->arena, 1, sizeof *payload, &to->error);
    uint16_t *data = mw__arena_alloc(&to->arena, count, sizeof *data, &to->error);
    if (payload == NULL || data == NULL ||
        narrow_elements(legalizer, value, count, elements == 1 || from->splat, data) != MW_OK)
        return NULL;
    *payload = (mw__payload){.type = mw__type_tensor(to, MW_F16, shape, &to->error),
                             .data = data,
                             .size = count * sizeof *data,
                             .splat = from->splat,
                             .in_blob = from->in_blob || from->blob_path != NULL};
    return payload->type != NULL ? payload : NULL;
}

/* A const statement with that payload; NULL leaves an error on the graph. */
static mw_tensor *emit_constant(mw_graph *to, const mw__payload *payload, const char *hint)
{
    mw_tensor *value = mw__value_create(to, payload->type, hint, &to->error);
    mw__op *op = mw__arena_alloc(&to->arena, 1, sizeof *op, &to->error);
    mw_tensor **results = mw__arena_alloc(&to->arena, 1, sizeof *results, &to->error);
    if (value == NULL || op == NULL || results == NULL)
        return NULL;
    results[0] = value;
    value->op = op;
    value->payload = payload;
    op->row = &mw__rows[MW__OP_const];
    op->kind = op->row->name;
    op->block = to->block;
    op->results = results;
    op->result_count = 1;
    return mw__block_add_op(to->block, op, &to->error) == MW_OK ? value : NULL;
}

static mw_tensor *half_constant(legalizer_state *legalizer, const mw_tensor *value)
{
    const mw__payload *payload = narrow_payload(legalizer, value);
    return payload != NULL ? emit_constant(legalizer->to, payload, value->hint) : NULL;
}

/* ---- rules of the clone ---- */

static void pass_on(mw_graph *to, const mw_error *error)
{
    if (error->status != MW_OK && to->error.status == MW_OK)
        to->error = *error;
}

static void rewrite_constant(legalizer_state *legalizer, mw__clone *clone, const mw__op *op)
{
    const mw_tensor *value = op->results[0];
    mw__clone_set(clone, value, half_constant(legalizer, value));
}

/* The fp16 form of an int32 operand that meets a half one: a constant of its own, or a cast. */
static mw_tensor *half_form(legalizer_state *legalizer, mw__clone *clone, const mw_tensor *value)
{
    value_facts *facts = &legalizer->facts[value->id];
    if (facts->half == NULL)
        facts->half =
            value->payload != NULL ? half_constant(legalizer, value) : mw_cast(mw__clone_get(clone, value), MW_F16);
    return facts->half;
}

typedef struct swapped {
    const mw_tensor *source;
    mw_tensor *copy; /* what the clone had for it */
} swapped;

/* True if the operand must be replaced for this operation only. */
static bool wants_half(const legalizer_state *legalizer, const mw__op *op, size_t slot, const mw_tensor *value)
{
    if (value == NULL || op->row == NULL || !is_t(&op->row->args[slot]) || legalizer->half[value->id])
        return false;
    return mw_tensor_dtype(value) == MW_I32;
}

/* True if fp32 constants of this operation are literals in the argument, which the clone would keep. */
static bool inlined_single(const mw__operand *operand)
{
    return operand->inlined && mw_tensor_dtype(operand->value) == MW_F32;
}

static size_t swap_operands(legalizer_state *legalizer, mw__clone *clone, const mw__op *op, bool meets_half,
                            swapped *swaps)
{
    size_t count = 0;
    for (size_t i = 0; i < op->slot_count; i++)
        for (size_t k = 0; k < op->slots[i].count; k++) {
            const mw__operand *operand = &op->slots[i].operands[k];
            const bool integer = meets_half && wants_half(legalizer, op, i, operand->value);
            if (!integer && (operand->value == NULL || !inlined_single(operand)))
                continue;
            mw_tensor *half = half_form(legalizer, clone, operand->value);
            swaps[count++] = (swapped){operand->value, mw__clone_get(clone, operand->value)};
            mw__clone_set(clone, operand->value, half);
        }
    return count;
}

static bool meets_half(const legalizer_state *legalizer, const mw__op *op)
{
    for (size_t i = 0; op->row != NULL && i < op->slot_count; i++)
        for (size_t k = 0; k < op->slots[i].count; k++)
            if (is_t(&op->row->args[i]) && mw__legality_half(&legalizer->legality, op->slots[i].operands[k].value))
                return true;
    return false;
}

/* Copies an operation with some operands in fp16 form, for this operation only. */
static void rewrite_operands(legalizer_state *legalizer, mw__clone *clone, const mw__op *op)
{
    size_t most = 0;
    mw_graph *to = legalizer->to;
    for (size_t i = 0; i < op->slot_count; i++)
        most += op->slots[i].count;
    swapped *swaps = mw__alloc(to->allocator, most, sizeof *swaps, &to->error);
    if (swaps == NULL)
        return;
    const size_t count = swap_operands(legalizer, clone, op, meets_half(legalizer, op), swaps);
    mw_error error = to->error;
    if (error.status == MW_OK)
        mw__clone_op(clone, op, &error);
    pass_on(to, &error);
    for (size_t i = count; i-- > 0;)
        mw__clone_set(clone, swaps[i].source, swaps[i].copy);
    mw__free(to->allocator, swaps);
}

/* Operations that make fractions of integers. */
static bool makes_fractions(const mw__op *op)
{
    static const char *const names[] = {
        "real_div", "pow", "exp2", "reduce_mean", "reduce_l2_norm", "reduce_log_sum", "reduce_log_sum_exp", "resize"};
    bool makes = mw__op_is_mixed(op);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        makes = makes || strcmp(op->kind, names[i]) == 0;
    return makes && mw_tensor_dtype(op->results[0]) == MW_I32;
}

/* A result that is declared int32 is one though it is fp16: what the CPU drops behind the point is dropped here. */
static void drop_fraction(mw__clone *clone, const mw__op *op)
{
    mw_tensor *result = mw__clone_get(clone, op->results[0]);
    if (result == NULL || !makes_fractions(op))
        return;
    mw_tensor *sign = mw_sign(result);
    mw__clone_set(clone, op->results[0], mw_mul(sign, mw_floor(mw_abs(result))));
}

/* Rounded, the numbers of two classes would be one. */
static void check_range(const legalizer_state *legalizer, const mw__op *op, int64_t start, int64_t last)
{
    char subject[160];
    if (!legalizer->facts[op->results[0]->id].meets_half ||
        (start >= -2048 && start <= 2048 && last >= -2048 && last <= 2048))
        return;
    mw__graph_fail(legalizer->to, MW_ERROR_NUMERIC,
                   "%s: integers from %lld to %lld meet an integer input, which is an fp16 port on the ANE; they are "
                   "exact up to 2048 there, so that more classes need another device",
                   mw__op_subject(op, subject, sizeof subject), (long long)start, (long long)last);
}

static bool rewrite_range(legalizer_state *legalizer, mw__clone *clone, const mw__op *op)
{
    int64_t start = 0, end = 0, step = 1;
    if (op->row->id != MW__OP_range_1d || !mw__arg_int(op, "start", &start) || !mw__arg_int(op, "end", &end) ||
        !mw__arg_int(op, "step", &step))
        return false;
    if (!legalizer->half[op->results[0]->id]) {
        check_range(legalizer, op, start, end - step);
        return false;
    }
    mw__clone_set(clone, op->results[0], mw_range_1d(legalizer->to, MW_F16, (double)start, (double)end, (double)step));
    return true;
}

/* cast to fp32 is cast to fp16 here, and nothing at all for what is fp16 already */
static bool rewrite_cast(legalizer_state *legalizer, mw__clone *clone, const mw__op *op)
{
    const char *dtype = mw__arg_string(op, "dtype");
    mw_tensor *x = mw__clone_get(clone, mw__arg(op, "x"));
    (void)legalizer;
    if (dtype == NULL || x == NULL || strcmp(dtype, "fp32") != 0)
        return false;
    mw__clone_set(clone, op->results[0], mw_tensor_dtype(x) == MW_F16 ? x : mw_cast(x, MW_F16));
    return true;
}

/* What the rows of rewrite.c write otherwise. */
static bool rewrite_op(legalizer_state *legalizer, mw__clone *clone, const mw__op *op)
{
    const mw__rewrite *row = mw__rewrite_find(legalizer->legality.device, op);
    if (row == NULL)
        return false;
    mw__clone_set(clone, op->results[0], row->emit(clone, op));
    return true;
}

static bool has_inlined_single(const mw__op *op)
{
    for (size_t i = 0; i < op->slot_count; i++)
        for (size_t k = 0; k < op->slots[i].count; k++)
            if (op->slots[i].operands[k].value != NULL && inlined_single(&op->slots[i].operands[k]))
                return true;
    return false;
}

static bool rule(void *user, mw__clone *clone, const mw__op *op)
{
    legalizer_state *self = user;
    if (op->row == NULL)
        return false;
    if (op->row->id == MW__OP_const) {
        if (mw_tensor_dtype(op->results[0]) != MW_F32)
            return false;
        rewrite_constant(self, clone, op);
        return true;
    }
    if ((op->row->id == MW__OP_cast && rewrite_cast(self, clone, op)) || rewrite_range(self, clone, op) ||
        rewrite_op(self, clone, op))
        return true;
    if (!meets_half(self, op) && !has_inlined_single(op))
        return false;
    rewrite_operands(self, clone, op);
    if (self->half[op->results[0]->id])
        drop_fraction(clone, op);
    return true;
}

static mw_dtype port_dtype(void *user, const mw_tensor *value)
{
    const mw_dtype dtype = mw_tensor_dtype(value);
    (void)user;
    return dtype == MW_F32 || (dtype == MW_I32 && value->role == MW__INPUT) ? MW_F16 : dtype;
}

/* ---- outputs ---- */

/* The name of the output, or a free one when it is that of an input or of an earlier output. */
static mw_status output_name(mw_graph *to, const mw_tensor *copy, const char *wanted, char *buffer, size_t size,
                             mw_error *err)
{
    const mw_tensor *owner = mw_graph_find(to, wanted);
    const bool taken = owner != NULL && (owner != copy || copy->role != MW__VALUE || copy->is_output);
    if (!taken && copy->payload == NULL)
        return (size_t)snprintf(buffer, size, "%s", wanted) < size
                   ? MW_OK
                   : mw__fail(err, MW_ERROR_ARGUMENT, "output \"%.60s...\": the name is longer than %zu bytes", wanted,
                              size - 1);
    for (int i = 1; i < 10000; i++) {
        snprintf(buffer, size, i == 1 ? "%.200s_out" : "%.200s_out_%d", wanted, i);
        if (mw_graph_find(to, buffer) == NULL)
            return MW_OK;
    }
    return mw__fail(err, MW_ERROR_ARGUMENT, "output \"%.60s\" is repeated too often", wanted);
}

/* An output that is an input, a constant or repeated becomes an identity: an empty program crashes Espresso. */
static mw_status declare_outputs(legalizer_state *legalizer, const mw__clone *clone, mw_error *err)
{
    const mw__block *body = clone->from->body;
    mw_graph *to = legalizer->to;
    for (size_t i = 0; i < body->output_count; i++) {
        char name[MW_NAME_MAX + 1], automatic[32];
        mw_tensor *copy = mw__clone_get(clone, body->outputs[i]);
        snprintf(automatic, sizeof automatic, "output_%zu", i);
        if (copy == NULL)
            return mw__fail(err, MW_ERROR_STATE, "output %zu was not copied", i);
        const char *wanted = body->outputs[i]->name != NULL ? body->outputs[i]->name : automatic;
        MW_TRY(output_name(to, copy, wanted, name, sizeof name, err));
        mw_tensor *output = mw_output(copy, name);
        MW_TRY(mw_graph_check(to, err));
        output->part = mw__part_copy(to, body->outputs[i]->part);
        MW_TRY(mw_graph_check(to, err));
    }
    return MW_OK;
}

/* ---- the whole ---- */

static mw_status check_source(const legalizer_state *legalizer, const mw__function *function, mw_error *err)
{
    const mw__legality *legality = &legalizer->legality;
    for (size_t i = 0; i < function->body->op_count; i++)
        if (mw__rewrite_find(legality->device, function->body->ops[i]) == NULL)
            MW_TRY(mw__legality_check_op(legality, function->body->ops[i], err));
    return MW_OK;
}

/* The results, and every input: a port of its own even where nothing reads it. */
static mw_tensor **list_roots(const legalizer_state *legalizer, const mw__block *body, size_t *out_count, mw_error *err)
{
    const size_t count = body->input_count + body->output_count;
    mw_tensor **roots = mw__alloc(legalizer->to->allocator, count, sizeof(mw_tensor *), err);
    for (size_t i = 0; roots != NULL && i < count; i++)
        roots[i] = i < body->input_count ? body->inputs[i] : body->outputs[i - body->input_count];
    *out_count = count;
    return roots;
}

/* Operations that no result needs stay behind, such as those that mw_jvp differentiates on its way. */
static mw_status run(legalizer_state *legalizer, const mw__function *function, mw_error *err)
{
    const bool half = legalizer->legality.device->half_ports;
    mw__clone_options options = {.rule = half ? rule : NULL, .dtype = half ? port_dtype : NULL, .user = legalizer};
    mw__clone clone = {0};
    note_function(legalizer, function);
    MW_TRY(check_source(legalizer, function, err));
    mw_tensor **roots = list_roots(legalizer, function->body, &options.root_count, err);
    if (roots == NULL)
        return MW_ERROR_MEMORY;
    options.roots = roots;
    mw_status status = mw__clone_run(&clone, function, legalizer->to, &options, err);
    if (status == MW_OK)
        status = mw_graph_check(legalizer->to, err);
    if (status == MW_OK)
        status = declare_outputs(legalizer, &clone, err);
    mw__clone_deinit(&clone);
    mw__free(legalizer->to->allocator, roots);
    return status == MW_OK ? mw__mil_check_legal(legalizer->to, legalizer->legality.device, err) : status;
}

mw_status mw__mil_legalize(const mw_graph *from, mw_graph *to, const mw__device_traits *device, mw_error *err)
{
    return mw__mil_legalize_with(from, to, &(mw__legalize_options){.device = device}, err);
}

mw_status mw__mil_legalize_with(const mw_graph *from, mw_graph *to, const mw__legalize_options *options, mw_error *err)
{
    if (options->out_narrowed != NULL)
        *options->out_narrowed = NULL;
    if (mw__failed(err))
        return err->status;
    MW_TRY(mw_graph_check(from, err));
    MW_TRY(mw__rewrite_check(err));
    const mw__function *function = mw__function_find(from, "main");
    if (function == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "the program has no function main");
    legalizer_state self = {.from = from, .to = to, .strict = options->strict, .narrowed = options->out_narrowed};
    self.flow = (mw__narrow_flow){.arena = &to->arena, .function = function, .count = from->value_count};
    self.facts = mw__alloc(to->allocator, from->value_count, sizeof *self.facts, err);
    self.half = mw__alloc(to->allocator, from->value_count, sizeof *self.half, err);
    mw_status status = MW_ERROR_MEMORY;
    if (self.facts != NULL && self.half != NULL) {
        const bool *known = options->device->half_ports ? self.half : NULL;
        self.legality = (mw__legality){.device = options->device, .half = known, .count = from->value_count};
        status = run(&self, function, err);
    }
    mw__free(to->allocator, self.facts);
    mw__free(to->allocator, self.half);
    return status;
}
