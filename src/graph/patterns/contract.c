/* Contractions of any number of tensors: each operand made ready, then two at a time. */
#include "graph/patterns/contract.h"
#include "base/number/types.h"
#include "graph/ir/rule.h"

#include <millwright/ops/matmul.h>
#include <millwright/ops/reduce.h>
#include <millwright/ops/shape.h>

#include <string.h>

typedef mw__contraction_term term;
typedef mw__contraction_piece piece;

/* ---- one operand ---- */

/* [.., n n] -> [.., n, 1 or n + 1]: elements 0, n + 1, 2 (n + 1) .. are column 0. Floats get n elements more and are
 * rows of n + 1: a slice with a stride would have a scatter as its gradient, which a chip lacks. Integers have none,
 * and no pad. */
static mw_tensor *by_diagonal(mw_tensor *x, mw_shape flat, int64_t n)
{
    mw_shape rows = flat;
    mw_slice slices[MW_RANK_MAX] = {{0}};
    const int last = flat.rank - 1;
    rows.rank++;
    rows.dim[last] = n;
    rows.dim[last + 1] = n + 1;
    if (mw__number_dtype_is_float(mw_tensor_dtype(x)))
        return mw_reshape(mw_pad(x, (const int64_t[]){0, n}, 1, MW_PAD_CONSTANT, 0.0f), rows);
    for (int i = 0; i < flat.rank; i++)
        slices[i] = (mw_slice){.from_start = true, .to_end = true, .stride = i == last ? n + 1 : 1};
    return mw_expand_dims(mw_slice_by_index(x, slices), MW_AXES(-1));
}

/* [.., n, n] -> [.., n]. Nothing of nothing is a sum, as a reshape cannot say an extent of 0. */
static mw_tensor *last_diagonal(mw_tensor *x)
{
    mw_shape flat = mw_tensor_shape(x);
    mw_slice slices[MW_RANK_MAX] = {{0}};
    const int last = flat.rank - 2;
    const int64_t n = flat.dim[last];
    if (mw_shape_count(flat) == 0)
        return mw_reduce_sum(x, MW_AXES(last), false);
    for (int i = 0; i < flat.rank; i++)
        slices[i] = (mw_slice){.from_start = true, .to_end = true};
    slices[last + 1] = (mw_slice){.squeeze = true};
    flat.rank--;
    flat.dim[last] = n * n;
    return mw_slice_by_index(by_diagonal(mw_reshape(x, flat), flat, n), slices);
}

/* The axes `first` and `second` of one label become one, the last. */
static piece take_diagonal(piece x, int first, int second)
{
    piece made = {.term = {0}};
    mw_axes perm = {0};
    for (int i = 0; i < x.term.rank; i++)
        if (i != first && i != second) {
            made.term.label[made.term.rank++] = x.term.label[i];
            perm.axis[perm.count++] = i;
        }
    perm.axis[perm.count++] = first;
    perm.axis[perm.count++] = second;
    made.term.label[made.term.rank++] = x.term.label[first];
    mw_tensor *turned = mw_transpose(x.x, perm);
    made.x = turned != NULL ? last_diagonal(turned) : NULL;
    return made;
}

static piece take_diagonals(piece x)
{
    for (int i = 0; x.x != NULL && i < x.term.rank; i++)
        for (int j = i + 1; j < x.term.rank; j++)
            if (x.term.label[i] == x.term.label[j]) {
                x = take_diagonal(x, i, j);
                i = -1;
                break;
            }
    return x;
}

/* Drops the axes of x that `drop` names. */
static term without(const term *t, mw_axes drop)
{
    term left = {0};
    for (int i = 0; i < t->rank; i++) {
        bool dropped = false;
        for (int k = 0; k < drop.count; k++)
            dropped = dropped || drop.axis[k] == i;
        if (!dropped)
            left.label[left.rank++] = t->label[i];
    }
    return left;
}

/* An extent of 1 that broadcasts changes nothing: the operand loses its letter. */
static piece drop_broadcast(const mw__contraction *c, piece x)
{
    mw_axes axes = {0};
    for (int i = 0; x.x != NULL && i < x.term.rank; i++)
        if (mw_tensor_shape(x.x).dim[i] == 1 && c->extent[x.term.label[i]] != 1)
            axes.axis[axes.count++] = i;
    if (axes.count == 0)
        return x;
    return (piece){.x = mw_squeeze(x.x, axes), .term = without(&x.term, axes)};
}

/* The sum over what nobody else has. */
static piece sum_alone(piece x, mw__label_set others)
{
    mw_axes axes = {0};
    for (int i = 0; i < x.term.rank; i++)
        if ((others & MW__LABEL_BIT(x.term.label[i])) == 0)
            axes.axis[axes.count++] = i;
    if (axes.count == 0)
        return x;
    return (piece){.x = mw_reduce_sum(x.x, axes, false), .term = without(&x.term, axes)};
}

/* ---- all of them ---- */

typedef struct pieces {
    piece item[MW__CONTRACTION_OPERANDS];
    mw__label_set set[MW__CONTRACTION_OPERANDS];
    size_t count;
} pieces;

/* The labels of the result, and of all pieces but these two. */
static mw__label_set labels_outside(const mw__contraction *c, const pieces *p, size_t first, size_t second)
{
    mw__label_set set = mw__contraction_labels(&c->result);
    for (size_t i = 0; i < p->count; i++)
        if (i != first && i != second)
            set |= p->set[i];
    return set;
}

static void prepare(const mw__contraction *c, mw_tensor *const *operands, pieces *out)
{
    out->count = c->count;
    for (size_t i = 0; i < c->count; i++) {
        const piece x = {.x = operands[i], .term = c->term[i]};
        out->item[i] = drop_broadcast(c, take_diagonals(x));
        out->set[i] = mw__contraction_labels(&out->item[i].term);
    }
    for (size_t i = 0; i < c->count; i++) {
        out->item[i] = sum_alone(out->item[i], labels_outside(c, out, i, i));
        out->set[i] = mw__contraction_labels(&out->item[i].term);
    }
}

/* Whether the result is nearer to its order with the pair the other way round: its first label of either alone. */
static bool wants_swap(const mw__contraction *c, const pieces *p, size_t first, size_t second)
{
    for (int i = 0; p->count == 2 && i < c->result.rank; i++) {
        const mw__label_set bit = MW__LABEL_BIT(c->result.label[i]);
        const bool of_first = (p->set[first] & bit) != 0, of_second = (p->set[second] & bit) != 0;
        if (of_first != of_second)
            return of_second;
    }
    return false;
}

static void contract_two(const mw__contraction *c, pieces *p, size_t first, size_t second)
{
    const mw__label_set keep = labels_outside(c, p, first, second) & (p->set[first] | p->set[second]);
    const bool swap = wants_swap(c, p, first, second);
    const size_t left = swap ? second : first, right = swap ? first : second;
    p->item[first] = mw__contraction_pair(c, p->item[left], p->item[right], keep);
    p->set[first] = mw__contraction_labels(&p->item[first].term);
    p->count--;
    memmove(&p->item[second], &p->item[second + 1], (p->count - second) * sizeof *p->item);
    memmove(&p->set[second], &p->set[second + 1], (p->count - second) * sizeof *p->set);
}

mw_tensor *mw__contraction_build(const mw__contraction *contraction, mw_tensor *const *operands)
{
    pieces p;
    prepare(contraction, operands, &p);
    while (p.count > 1) {
        size_t first = 0, second = 0;
        if (!mw__contraction_choose(contraction, p.set, p.count, &first, &second))
            return mw__graph_fail(operands[0]->graph, MW_ERROR_UNSUPPORTED,
                                  "contract: in every order two operands make a tensor of more than %d axes; contract "
                                  "some of them by themselves, with merged axes",
                                  MW_RANK_MAX);
        contract_two(contraction, &p, first, second);
    }
    mw_tensor *made = mw__contraction_arrange(p.item[0], &contraction->result);
    return made == operands[0] ? mw_identity(made) : made;
}

/* ---- for users ---- */

static bool are_operands(mw_tensor *const *operands, size_t count)
{
    for (size_t i = 0; operands != NULL && i < count; i++)
        if (operands[i] == NULL)
            return false;
    return operands != NULL && count > 0;
}

static mw_status check_operands(mw_tensor *const *operands, size_t count, mw_error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (mw_tensor_dtype(operands[i]) == MW_DTYPE_NONE)
            return mw__fail(err, MW_ERROR_DTYPE, "contract: operand %zu is no tensor", i);
        if (mw_tensor_dtype(operands[i]) != mw_tensor_dtype(operands[0]))
            return mw__fail(err, MW_ERROR_DTYPE, "contract: operand %zu is %s but operand 0 is %s", i,
                            mw_dtype_name(mw_tensor_dtype(operands[i])), mw_dtype_name(mw_tensor_dtype(operands[0])));
    }
    return MW_OK;
}

mw_tensor *mw_contract(const char *equation, mw_tensor *const *operands, size_t count)
{
    mw__contraction contraction;
    mw_shape shapes[MW__CONTRACTION_OPERANDS];
    mw_error err = {0};
    if (!are_operands(operands, count))
        return NULL;
    for (size_t i = 1; i < count; i++)
        if (operands[i]->graph != operands[0]->graph)
            return mw__graph_mixed(operands[i], operands[0]->graph, "contract", "operands");
    for (size_t i = 0; i < count && i < MW__CONTRACTION_OPERANDS; i++)
        shapes[i] = mw_tensor_shape(operands[i]);
    if (check_operands(operands, count, &err) != MW_OK ||
        mw__contraction_read(equation, shapes, count, &contraction, &err) != MW_OK)
        return mw__graph_fail(operands[0]->graph, err.status, "%s", err.message);
    return mw__contraction_build(&contraction, operands);
}
