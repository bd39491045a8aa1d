/* What writers ask of an operation, by MIL's names of its arguments. */
#ifndef MW__FORMAT_ONNX_WRITE_WRITE_ARGS_H
#define MW__FORMAT_ONNX_WRITE_WRITE_ARGS_H

#include "format/onnx/write/write.h"

/* Names: of an argument, NULL if it is absent; of the first result. */
static inline const char *arg(mw__onnx_writer *w, const mw__op *op, const char *name)
{
    return mw__onnx_operand(w, op, name);
}
static inline const char *result(const mw__onnx_writer *w, const mw__op *op) { return mw__onnx_result(w, op, 0); }

static inline mw_dtype dtype_of(const mw__op *op) { return op->results[0]->type->dtype; }
static inline mw_shape result_shape(const mw__op *op) { return op->results[0]->type->shape; }

/* An axis from 0. */
static inline int64_t axis_of(const mw__op *op, const char *name, int rank)
{
    const int64_t axis = mw__arg_whole(op, name);
    return axis < 0 ? axis + rank : axis;
}

#endif
