/* einsum: the two contractions that MIL knows, in any letters. */
#include <millwright/ops/matmul.h>

#include "graph/ir/rule.h"

#include <ctype.h>
#include <string.h>

/* True if `equation`, spaces aside, is `pattern` with other letters: one letter for each, the same each time. */
static bool is_renaming(const char *equation, const char *pattern)
{
    char as[128] = {0};
    for (; *equation != '\0'; equation++) {
        const unsigned char c = (unsigned char)*equation;
        if (c == ' ')
            continue;
        const unsigned char wanted = (unsigned char)*pattern++;
        if (c >= sizeof as || (isalpha(wanted) != 0) != (isalpha(c) != 0))
            return false;
        if (isalpha(wanted) == 0) {
            if (c != wanted)
                return false;
            continue;
        }
        if (as[wanted] == 0 && memchr(as, c, sizeof as) != NULL)
            return false;
        if (as[wanted] != 0 && as[wanted] != (char)c)
            return false;
        as[wanted] = (char)c;
    }
    return *pattern == '\0';
}

static mw_status fail_operands(const mw__infer *infer, const char *what, mw_shape a, mw_shape b)
{
    char first[200], second[200];
    return mw__rule_fail(infer, MW_ERROR_SHAPE, "%s: %s and %s of equation \"%s\"", what,
                         mw__shape_print(a, first, sizeof first), mw__shape_print(b, second, sizeof second),
                         mw__arg_string(infer->op, "equation"));
}

/* a [n, c, h, w] and b [n, w, h, u] give [n, c, h, u]; without n for rank 3. */
mw_status mw__shape_einsum(mw__infer *infer)
{
    const mw__operand *values;
    const char *equation = mw__arg_string(infer->op, "equation");
    const size_t count = mw__arg_values(infer->op, "values", &values);
    const int rank = equation == NULL                           ? 0
                     : is_renaming(equation, "nchw,nwhu->nchu") ? 4
                     : is_renaming(equation, "chw,whr->chr")    ? 3
                                                                : 0;
    if (rank == 0)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT,
                             "equation \"%s\" is neither \"nchw,nwhu->nchu\" nor \"chw,whr->chr\" in any letters; use "
                             "transpose and matmul",
                             equation != NULL ? equation : "");
    if (count != 2)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "has %zu values, the equation wants 2", count);
    const mw_shape a = mw_tensor_shape(values[0].value), b = mw_tensor_shape(values[1].value);
    if (a.rank != rank || b.rank != rank)
        return fail_operands(infer, "ranks differ from those", a, b);
    const int c = rank - 3, h = rank - 2, w = rank - 1;
    const mw_shape batch_a = MW_SHAPE(rank == 4 ? a.dim[0] : 1, a.dim[h]);
    const mw_shape batch_b = MW_SHAPE(rank == 4 ? b.dim[0] : 1, b.dim[h]);
    mw_shape batch, shape = a;
    if (!mw__dim_fits(a.dim[w], b.dim[c]))
        return fail_operands(infer, "the contracted extents differ", a, b);
    if (!mw__broadcast_shapes(batch_a, batch_b, &batch))
        return fail_operands(infer, "shared extents do not broadcast", a, b);
    if (rank == 4)
        shape.dim[0] = batch.dim[0];
    shape.dim[h] = batch.dim[1];
    shape.dim[w] = b.dim[w];
    return mw__rule_result(infer, mw_tensor_dtype(values[0].value), shape);
}

mw_tensor *mw_einsum(mw_tensor *a, mw_tensor *b, const char *equation)
{
    if (a == NULL || b == NULL)
        return NULL;
    mw_tensor *const values[] = {a, b};
    mw__build build = mw__build_begin("einsum", a);
    mw__build_set_many(&build, "values", values, 2);
    mw__build_string(&build, "equation", equation != NULL ? equation : "");
    return mw__build_end(&build);
}
