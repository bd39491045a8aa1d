/* What writers ask of an operation, by MIL's names of its arguments. */
#ifndef MW__FORMAT_ONNX_WRITE_WRITE_ARGS_H
#define MW__FORMAT_ONNX_WRITE_WRITE_ARGS_H

#include "format/onnx/write/write.h"

#include <string.h>

/* True if the row of the operation, of its operator set, has that argument: what follows asks for such alone. */
static inline bool takes(const mw__op *op, const char *name)
{
    for (size_t i = 0; i < op->row->arg_count; i++)
        if (strcmp(op->row->args[i].name, name) == 0)
            return true;
    return false;
}

/* Names: of an argument, NULL if it is absent; of the first result. */
static inline const char *arg(mw__onnx_writer *w, const mw__op *op, const char *name)
{
    return mw__onnx_operand(w, op, name);
}
static inline const char *result(const mw__onnx_writer *w, const mw__op *op) { return mw__onnx_result(w, op, 0); }

static inline mw_dtype dtype_of(const mw__op *op) { return op->results[0]->type->dtype; }
static inline mw_shape result_shape(const mw__op *op) { return op->results[0]->type->shape; }
static inline mw_shape shape_of(const mw__op *op, const char *name) { return mw__arg(op, name)->type->shape; }

/* Constants; 0 or false if there is none. */
static inline double number_arg(const mw__op *op, const char *name)
{
    double value = 0;
    mw__arg_float(op, name, &value);
    return value;
}

static inline bool is_set(const mw__op *op, const char *name)
{
    bool value = false;
    return mw__arg_bool(op, name, &value) && value;
}

static inline int64_t whole(const mw__op *op, const char *name)
{
    int64_t value = 0;
    mw__arg_int(op, name, &value);
    return value;
}

/* An axis from 0. */
static inline int64_t axis_of(const mw__op *op, const char *name, int rank)
{
    const int64_t axis = whole(op, name);
    return axis < 0 ? axis + rank : axis;
}

#endif
