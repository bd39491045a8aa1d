/* Rewrites for devices whose ports are fp16: constants, operands, integers that are combined with fp16 ones. */
#include "base/number/fp16.h"
#include "base/number/number.h"
#include "graph/constants/compressed.h"
#include "graph/patterns/digits.h"
#include "mil/legalize/rewrites.h"

#include <math.h>
#include <millwright/ops/elementwise.h>
#include <millwright/ops/shape.h>
#include <string.h>

/* ---- constants ---- */

static mw_status lost_number(const mw__legalizer *legalizer, const mw_tensor *value, double number, const char *becomes)
{
    char text[MW__NUMBER_MAX], subject[160] = "constant";
    const mw__value_facts *facts = &legalizer->facts[value->id];
    mw__number_print_float(text, (float)number);
    if (facts->user != NULL)
        mw__op_subject(facts->user, subject, sizeof subject);
    mw__graph_fail(legalizer->to, MW_ERROR_NUMERIC,
                   "%s: %s%s%s = %s %s in fp16 (source: IEEE 754, largest 65504, smallest 6e-08, integers exact up to "
                   "2048); rescale it",
                   subject, facts->arg != NULL ? facts->arg : "", value->name != NULL ? " " : "",
                   value->name != NULL ? value->name : "", text, becomes);
    mw__error_subject(&legalizer->to->error, facts->user != NULL ? facts->user->kind : NULL,
                      value->name != NULL ? value->name : value->hint);
    return MW_ERROR_NUMERIC;
}

/* How a number is lost, or NULL. A tensor of weights may hold numbers too small for fp16; a scalar that vanishes
 * changes the program. */
static const char *loss_of(const mw__legalizer *legalizer, const mw_tensor *value, double number, bool scalar)
{
    const float stored = mw__fp16_to_float(mw__fp16_from_double(number));
    if (isfinite(number) && !isfinite(stored))
        return "becomes infinite";
    if (scalar && number != 0 && stored == 0 && !legalizer->facts[value->id].default_only)
        return "becomes 0";
    return mw_tensor_dtype(value) == MW_I32 && (double)stored != number ? "is not exact" : NULL;
}

/* An entry in the list of what was replaced. */
static mw__narrowing *note_narrowing(const mw__legalizer *legalizer, const mw_tensor *value, double number)
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
    note->operation = mw__graph_string(to, user != NULL ? user->kind : "");
    note->argument = mw__graph_string(to, user != NULL ? legalizer->facts[value->id].arg : "");
    note->tensor = mw__graph_string(to, value->name != NULL ? value->name : made != NULL ? made : "");
    note->subject = mw__graph_string(to, subject);
    return to->error.status == MW_OK ? note : NULL;
}

/* One element; *note is made when the first of a constant is replaced. */
static mw_status narrow(mw__legalizer *legalizer, const mw_tensor *value, double number, bool scalar,
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

static void list_narrowing(mw__legalizer *legalizer, mw__narrowing *note)
{
    if (note == NULL || legalizer->narrowed == NULL)
        return;
    *legalizer->narrowed = note;
    legalizer->narrowed = &note->next;
}

static mw_status narrow_elements(mw__legalizer *legalizer, const mw_tensor *value, const mw__payload *from,
                                 size_t count, bool scalar, uint16_t *out)
{
    mw__narrowing *note = NULL;
    for (size_t i = 0; i < count; i++) {
        const double number =
            mw_tensor_dtype(value) == MW_F32 ? mw__payload_float(from, i) : (double)mw__payload_int(from, i);
        MW_TRY(narrow(legalizer, value, number, scalar, &note, &out[i]));
    }
    list_narrowing(legalizer, note);
    return MW_OK;
}

/* What a constant holds, `from`, in fp16, in the arena of the copy; NULL leaves an error there. */
static const mw__payload *narrow_payload(mw__legalizer *legalizer, const mw_tensor *value, const mw__payload *from)
{
    mw_graph *to = legalizer->to;
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
        narrow_elements(legalizer, value, from, count, elements == 1 || from->splat, data) != MW_OK)
        return NULL;
    *payload = (mw__payload){.type = mw__type_tensor(to, MW_F16, shape, &to->error),
                             .data = data,
                             .size = count * sizeof *data,
                             .splat = from->splat,
                             .in_blob = from->in_blob || from->blob_path != NULL};
    return payload->type != NULL ? payload : NULL;
}

mw_tensor *mw__half_of_payload(mw__legalizer *legalizer, const mw_tensor *value, const mw__payload *from)
{
    const mw__payload *payload = narrow_payload(legalizer, value, from);
    return payload != NULL ? mw__payload_emit(legalizer->to, payload, value->hint, &legalizer->to->error) : NULL;
}

bool mw__half_is_constant(const mw__rewriting *pass, const mw__op *op)
{
    (void)pass;
    return mw_tensor_dtype(op->results[0]) == MW_F32;
}

mw_tensor *mw__half_constant(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    mw__legalizer *legalizer = pass->legalizer;
    const mw_tensor *value = op->results[0];
    const bool exact = legalizer->facts[value->id].factor_only;
    mw__clone_set(clone, value,
                  exact ? mw__half_literal(legalizer->to, value)
                        : mw__half_of_payload(legalizer, value, value->payload));
    return NULL;
}

/* A scale that fp16 rounds would move all weights of its block, each of which is then rounded again. Where there is one
 * the constant is expanded as it is declared, in fp32, and rounded once. */
static bool is_rounded(const mw_tensor *value)
{
    mw_error err = {0};
    const mw__payload *payload = value != NULL ? mw__constant_payload(value, &err) : NULL;
    if (payload == NULL || payload->data == NULL || mw_tensor_dtype(value) != MW_F32)
        return false;
    const size_t count = payload->splat ? 1 : mw__payload_count(payload);
    for (size_t i = 0; i < count; i++) {
        const double number = mw__payload_float(payload, i);
        if ((double)mw__fp16_to_float(mw__fp16_from_double(number)) != number)
            return true;
    }
    return false;
}

bool mw__half_is_scaled(const mw__rewriting *pass, const mw__op *op)
{
    const bool affine = strcmp(op->kind, "constexpr_affine_dequantize") == 0;
    (void)pass;
    return mw_tensor_dtype(op->results[0]) == MW_F32 &&
           (is_rounded(mw__arg(op, "scale")) || is_rounded(mw__arg(op, affine ? "zero_point" : "offset")));
}

mw_tensor *mw__half_scaled(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    mw__legalizer *legalizer = pass->legalizer;
    mw_graph *to = legalizer->to;
    const mw__payload *dense = mw__constant_payload(op->results[0], &to->error);
    if (dense != NULL)
        mw__clone_set(clone, op->results[0], mw__half_of_payload(legalizer, op->results[0], dense));
    else
        mw__graph_fail(to, MW_ERROR_STATE, "%s: its operands have no values; read the program with its weight files",
                       op->kind);
    return NULL;
}

/* ---- operands ---- */

/* The fp16 form of an int32 operand that is combined with a half one: a constant of its own, or a cast. */
static mw_tensor *half_form(mw__legalizer *legalizer, mw__clone *clone, const mw_tensor *value)
{
    mw__value_facts *facts = &legalizer->facts[value->id];
    if (facts->half == NULL)
        facts->half = value->payload != NULL ? mw__half_of_payload(legalizer, value, value->payload)
                                             : mw_cast(mw__clone_get(clone, value), MW_F16);
    return facts->half;
}

/* True if the operand must be replaced for this operation only. */
static bool wants_half(const mw__legalizer *legalizer, const mw__op *op, size_t slot, const mw_tensor *value)
{
    if (value == NULL || op->row == NULL || !mw__half_is_t(&op->row->args[slot]) || legalizer->half[value->id])
        return false;
    return mw_tensor_dtype(value) == MW_I32;
}

/* True if fp32 constants of this operation are literals in the argument, which the clone would keep. */
static bool inlined_single(const mw__operand *operand)
{
    return operand->inlined && mw_tensor_dtype(operand->value) == MW_F32;
}

static bool has_half_operand(const mw__legalizer *legalizer, const mw__op *op)
{
    for (size_t i = 0; op->row != NULL && i < op->slot_count; i++)
        for (size_t k = 0; k < op->slots[i].count; k++)
            if (mw__half_is_t(&op->row->args[i]) &&
                mw__legality_half(&legalizer->legality, op->slots[i].operands[k].value))
                return true;
    return false;
}

static bool has_inlined_single(const mw__op *op)
{
    for (size_t i = 0; i < op->slot_count; i++)
        for (size_t k = 0; k < op->slots[i].count; k++)
            if (op->slots[i].operands[k].value != NULL && inlined_single(&op->slots[i].operands[k]))
                return true;
    return false;
}

bool mw__half_has_operands(const mw__rewriting *pass, const mw__op *op)
{
    const mw__legalizer *legalizer = pass->legalizer;
    return has_half_operand(legalizer, op) || has_inlined_single(op);
}

typedef struct halving {
    mw__legalizer *legalizer;
    bool with_half; /* the operation has a half operand */
} halving;

static mw_tensor *half_of_operand(void *user, mw__clone *clone, const mw__op *op, size_t slot,
                                  const mw__operand *operand)
{
    const halving *h = user;
    const bool integer = h->with_half && wants_half(h->legalizer, op, slot, operand->value);
    return integer || inlined_single(operand) ? half_form(h->legalizer, clone, operand->value) : NULL;
}

/* Copies an operation with some operands in fp16 form, for this operation only. */
mw_tensor *mw__half_operands(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    mw__legalizer *legalizer = pass->legalizer;
    halving h = {.legalizer = legalizer, .with_half = has_half_operand(legalizer, op)};
    mw__clone_op_with(clone, op, half_of_operand, &h);
    return NULL;
}

/* ---- results ---- */

static bool makes_integer(const mw__rewriting *pass, const mw__op *op)
{
    const mw__legalizer *legalizer = pass->legalizer;
    return op->result_count > 0 && legalizer->half[op->results[0]->id] && mw_tensor_dtype(op->results[0]) == MW_I32 &&
           mw__half_has_operands(pass, op);
}

bool mw__half_is_fraction(const mw__rewriting *pass, const mw__op *op) { return makes_integer(pass, op); }

bool mw__half_is_mixed_fraction(const mw__rewriting *pass, const mw__op *op)
{
    return makes_integer(pass, op) && mw__op_is_mixed(op);
}

/* What the CPU drops behind the point is dropped here. */
mw_tensor *mw__half_fraction(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    mw__half_operands(pass, clone, op);
    mw_tensor *result = mw__clone_get(clone, op->results[0]);
    if (result == NULL)
        return NULL;
    mw_tensor *sign = mw_sign(result);
    mw__clone_set(clone, op->results[0], mw_mul(sign, mw_floor(mw_abs(result))));
    return NULL;
}

/* ---- ranges ---- */

static bool is_counted(int64_t number) { return number >= -MW__COUNTED_MAX && number <= MW__COUNTED_MAX; }

static bool read_range(const mw__op *op, int64_t *out_start, int64_t *out_end, int64_t *out_step)
{
    return mw__arg_int(op, "start", out_start) && mw__arg_int(op, "end", out_end) && mw__arg_int(op, "step", out_step);
}

bool mw__half_counts_range(const mw__op *op)
{
    int64_t start, end, step;
    return read_range(op, &start, &end, &step) && is_counted(start) && is_counted(end) && is_counted(step);
}

bool mw__half_is_range(const mw__rewriting *pass, const mw__op *op)
{
    const mw__legalizer *legalizer = pass->legalizer;
    int64_t start, end, step;
    return legalizer->half[op->results[0]->id] && read_range(op, &start, &end, &step);
}

mw_tensor *mw__half_range(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    mw__legalizer *legalizer = pass->legalizer;
    int64_t start = 0, end = 0, step = 1;
    read_range(op, &start, &end, &step);
    mw__clone_set(clone, op->results[0], mw_range_1d(legalizer->to, MW_F16, (double)start, (double)end, (double)step));
    return NULL;
}

bool mw__half_is_far_range(const mw__rewriting *pass, const mw__op *op)
{
    const mw__legalizer *legalizer = pass->legalizer;
    int64_t start, end, step;
    return legalizer->facts[op->results[0]->id].used_with_half && read_range(op, &start, &end, &step) &&
           (!is_counted(start) || !is_counted(end - step));
}

mw_tensor *mw__half_refuse_range(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    mw__legalizer *legalizer = pass->legalizer;
    char subject[160];
    int64_t start = 0, end = 0, step = 1;
    (void)clone;
    read_range(op, &start, &end, &step);
    mw__graph_fail(
        legalizer->to, MW_ERROR_NUMERIC,
        "%s: integers from %lld to %lld meet an integer input, which is an fp16 port on the ANE; they are "
        "exact up to 2048 there (source: fp16, and ports of ANEForge), so that more classes need another device",
        mw__op_subject(op, subject, sizeof subject), (long long)start, (long long)(end - step));
    return NULL;
}

/* ---- casts ---- */

/* Of a value that has a copy, which a literal in the argument has not. */
bool mw__half_is_cast(const mw__rewriting *pass, const mw__op *op)
{
    const char *dtype = mw__arg_string(op, "dtype");
    const mw_tensor *x = mw__arg(op, "x");
    (void)pass;
    return dtype != NULL && strcmp(dtype, "fp32") == 0 && x != NULL && (x->payload == NULL || x->op != NULL);
}

mw_tensor *mw__half_cast(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    mw_tensor *x = mw__clone_get(clone, mw__arg(op, "x"));
    (void)pass;
    mw__clone_set(clone, op->results[0], mw_tensor_dtype(x) == MW_F16 ? x : mw_cast(x, MW_F16));
    return NULL;
}

bool mw__half_is_constexpr_cast(const mw__rewriting *pass, const mw__op *op)
{
    (void)pass;
    return mw__arg(op, "source_val") != NULL;
}

/* A const of the copy, of a literal among the attributes. */
mw_tensor *mw__half_literal(mw_graph *to, const mw_tensor *source)
{
    const mw__payload *from = source->payload;
    const mw__type *type = mw__type_tensor(to, mw_tensor_dtype(source), mw_tensor_shape(source), &to->error);
    mw__payload *payload = mw__arena_alloc(&to->arena, 1, sizeof *payload, &to->error);
    void *data = mw__arena_alloc(&to->arena, from->size, 1, &to->error);
    if (type == NULL || payload == NULL || data == NULL)
        return NULL;
    if (from->data == NULL)
        return mw__graph_fail(to, MW_ERROR_STATE, "a literal has no values; read the program with its weight files");
    memcpy(data, from->data, from->size);
    *payload = (mw__payload){.type = type,
                             .data = data,
                             .size = from->size,
                             .splat = from->splat,
                             .in_blob = from->in_blob || from->blob_path != NULL};
    return mw__payload_emit(to, payload, source->hint, &to->error);
}

mw_tensor *mw__half_constexpr_cast(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    mw__legalizer *legalizer = pass->legalizer;
    const mw_tensor *source = mw__arg(op, "source_val");
    mw_tensor *copy = mw__clone_get(clone, source);
    if (copy == NULL && source->payload != NULL)
        copy = mw__half_literal(legalizer->to, source);
    mw__clone_set(clone, op->results[0], copy);
    return NULL;
}
