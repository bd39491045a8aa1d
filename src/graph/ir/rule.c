/* What shape rules have in common: messages, axes, vectors of integers, broadcasting. */
#include "graph/ir/rule.h"
#include "base/text/printable.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- messages ---- */

/* The user's word for an operation: its result's name, or the layer that is being built. */
static const char *subject_name(const mw__op *op)
{
    if (op->result_count > 0 && op->results[0] != NULL && op->results[0]->name != NULL)
        return op->results[0]->name;
    if (op->name != NULL)
        return op->name;
    return op->block != NULL ? op->block->function->graph->scope : NULL;
}

/* Which of its kind an operation is, in the order of construction, from 1. *out_built: it is in its block already. */
static size_t place_of(const mw__op *op, bool *out_built)
{
    size_t place = 1;
    const mw__block *block = op->block;
    *out_built = false;
    for (size_t i = 0; block != NULL && i < block->op_count && !*out_built; i++) {
        *out_built = block->ops[i] == op;
        place += !*out_built && strcmp(block->ops[i]->kind, op->kind) == 0;
    }
    return place;
}

const char *mw__op_subject(const mw__op *op, char *buffer, size_t size)
{
    const char *name = subject_name(op);
    bool built;
    const size_t place = place_of(op, &built);
    if (name != NULL)
        mw__printable_printf(buffer, size, "%s \"%s\"", op->kind, name);
    else if (!built)
        mw__printable_printf(buffer, size, "%s #%zu", op->kind, place);
    else
        mw__printable_printf(buffer, size, "%s", op->kind);
    return buffer;
}

static void print_constant(const mw_tensor *x, char *buffer, size_t size)
{
    char shape[100];
    mw__printable_printf(buffer, size, "a constant %s %s", mw_dtype_name(mw_tensor_dtype(x)),
                         mw__shape_print(mw_tensor_shape(x), shape, sizeof shape));
}

const char *mw__tensor_print(const mw_tensor *x, char *buffer, size_t size)
{
    bool built;
    if (x == NULL)
        mw__printable_printf(buffer, size, "NULL");
    else if (x->name != NULL && x->name[0] != '\0')
        mw__printable_printf(buffer, size, "\"%s\"", x->name);
    else if (x->payload != NULL)
        print_constant(x, buffer, size);
    else if (x->op != NULL)
        mw__printable_printf(buffer, size, "%s result of %s #%zu", x->op->result_count == 1 ? "the" : "a", x->op->kind,
                             place_of(x->op, &built));
    else
        mw__printable_printf(buffer, size, "a tensor without a name");
    return buffer;
}

mw_status mw__rule_fail(const mw__infer *infer, mw_status status, const char *format, ...)
{
    char message[sizeof infer->err->message];
    char subject[160];
    mw__op_subject(infer->op, subject, sizeof subject);
    va_list arguments;
    va_start(arguments, format);
    mw__printable_vprintf(message, sizeof message - strlen(subject) - strlen(": "), format, arguments);
    va_end(arguments);
    mw__fail(infer->err, status, "%s: %s", subject, message);
    mw__error_subject(infer->err, infer->op->kind, subject_name(infer->op));
    return status;
}

/* ---- operands and results ---- */

mw_shape mw__rule_shape(const mw__infer *infer, const char *arg) { return mw_tensor_shape(mw__arg(infer->op, arg)); }

mw_dtype mw__rule_dtype(const mw__infer *infer, const char *arg) { return mw_tensor_dtype(mw__arg(infer->op, arg)); }

mw_status mw__rule_result(mw__infer *infer, mw_dtype dtype, mw_shape shape)
{
    infer->result_count = 1;
    infer->dtype[0] = dtype;
    infer->shape[0] = shape;
    return MW_OK;
}

/* ---- numbers ---- */

static mw_status from_front(const mw__infer *infer, const char *arg, int64_t axis, int rank, int *out)
{
    if (axis < -rank || axis >= rank)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "%s %" PRId64 " is outside [%d, %d)", arg, axis, -rank, rank);
    *out = (int)(axis < 0 ? axis + rank : axis);
    return MW_OK;
}

static mw_status not_loaded(const mw__infer *infer, const char *arg)
{
    return mw__rule_fail(infer, MW_ERROR_UNSUPPORTED, "the value of %s is not loaded", arg);
}

mw_status mw__rule_results(mw__infer *infer, size_t count)
{
    if (count > infer->room)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "has %zu results, room is given for %zu", count, infer->room);
    infer->result_count = count;
    if (count <= MW__INFER_OWN)
        return MW_OK;
    mw__arena *arena = &infer->op->block->function->graph->arena;
    infer->dtype = mw__arena_alloc(arena, count, sizeof *infer->dtype, infer->err);
    infer->shape = mw__arena_alloc(arena, count, sizeof *infer->shape, infer->err);
    infer->type = mw__arena_alloc(arena, count, sizeof *infer->type, infer->err);
    return infer->dtype != NULL && infer->shape != NULL && infer->type != NULL ? MW_OK : MW_ERROR_MEMORY;
}

mw_status mw__rule_int(const mw__infer *infer, const char *arg, int64_t *out)
{
    size_t count;
    bool known;
    MW_TRY(mw__rule_ints(infer, arg, out, 1, &count, &known));
    if (count != 1)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "%s must be one integer", arg);
    return known ? MW_OK : not_loaded(infer, arg);
}

mw_status mw__rule_axis(const mw__infer *infer, const char *arg, int rank, int *out)
{
    int64_t axis;
    MW_TRY(mw__rule_int(infer, arg, &axis));
    return from_front(infer, arg, axis, rank, out);
}

mw_status mw__rule_bool(const mw__infer *infer, const char *arg, bool *out)
{
    return mw__arg_bool(infer->op, arg, out)
               ? MW_OK
               : mw__rule_fail(infer, MW_ERROR_ARGUMENT, "%s must be one constant true or false", arg);
}

mw_status mw__rule_ints(const mw__infer *infer, const char *arg, int64_t *out, size_t capacity, size_t *out_count,
                        bool *out_known)
{
    *out_count = 0;
    *out_known = true;
    if (!mw__arg_present(infer->op, arg)) {
        mw__arg_ints(infer->op, arg, out, capacity, out_count);
        return MW_OK;
    }
    char text[200];
    const mw_shape shape = mw__rule_shape(infer, arg);
    if (shape.rank > 1)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "%s must be a vector, not %s", arg,
                             mw__shape_print(shape, text, sizeof text));
    const int64_t count = mw_shape_count(shape);
    if (count < 0)
        return mw__rule_fail(infer, MW_ERROR_UNSUPPORTED, "the length of %s is not known", arg);
    if ((uint64_t)count > capacity)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "%s has %" PRId64 " elements, at most %zu are allowed", arg,
                             count, capacity);
    *out_count = (size_t)count;
    *out_known = mw__arg_payload(infer->op, arg) != NULL;
    size_t read;
    if (*out_known && !mw__arg_ints(infer->op, arg, out, capacity, &read))
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "%s does not hold integers", arg);
    if (!*out_known && mw__row_arg(infer->op->row, arg)->kind == MW__CONST)
        return not_loaded(infer, arg);
    return MW_OK;
}

mw_status mw__rule_axes(const mw__infer *infer, const char *arg, int rank, bool out_marks[MW_RANK_MAX],
                        size_t *out_count)
{
    int64_t axes[MW_RANK_MAX];
    bool known;
    MW_TRY(mw__rule_ints(infer, arg, axes, MW_RANK_MAX, out_count, &known));
    memset(out_marks, 0, MW_RANK_MAX * sizeof out_marks[0]);
    for (size_t i = 0; i < *out_count; i++) {
        int axis = 0;
        MW_TRY(from_front(infer, arg, axes[i], rank, &axis));
        if (out_marks[axis])
            return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "%s names axis %d twice", arg, axis);
        out_marks[axis] = true;
    }
    return MW_OK;
}

/* ---- broadcasting ---- */

/* Extents that meet: equal, or one of them 1. An unknown one takes the other, but beside 1 stays unknown. */
static bool broadcast_dim(int64_t a, int64_t b, int64_t *out)
{
    if (a == b || b == 1)
        *out = a;
    else if (a == 1 || a == MW_DIM_UNKNOWN)
        *out = b;
    else if (b == MW_DIM_UNKNOWN)
        *out = a;
    else
        return false;
    return true;
}

bool mw__broadcast_shapes(mw_shape a, mw_shape b, mw_shape *out)
{
    const int rank = a.rank > b.rank ? a.rank : b.rank;
    mw_shape result = {.rank = rank};
    for (int i = 1; i <= rank; i++) {
        const int64_t x = i <= a.rank ? a.dim[a.rank - i] : 1;
        const int64_t y = i <= b.rank ? b.dim[b.rank - i] : 1;
        if (!broadcast_dim(x, y, &result.dim[rank - i]))
            return false;
    }
    *out = result;
    return true;
}

mw_status mw__rule_broadcast(const mw__infer *infer, const char *const *args, size_t count, mw_shape *out)
{
    mw_shape shape = mw__rule_shape(infer, args[0]);
    for (size_t i = 1; i < count; i++) {
        if (mw__broadcast_shapes(shape, mw__rule_shape(infer, args[i]), &shape))
            continue;
        char first[200], second[200], third[200] = "";
        mw__arg_print(infer->op, args[0], first, sizeof first);
        mw__arg_print(infer->op, args[1], second, sizeof second);
        if (count > 2)
            mw__arg_print(infer->op, args[2], third, sizeof third);
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "shapes do not broadcast: %s%s%s%s%s", first,
                             count > 2 ? ", " : " and ", second, count > 2 ? " and " : "", third);
    }
    *out = shape;
    return MW_OK;
}
